/* cxx.cpp - kvo.hpp: classes of C++, observers that are functions, objects that C and C++ share. */
#include "held.hpp"

#include <thread>

extern "C" {
#include "fixture.h"
}

struct Point {
  double x, y;
};
KVO_STRUCT(Point, x, y)

namespace {

enum class Color : unsigned char { red, green };

/* Neither C nor libkvo can interpret it. */
struct Opaque {
  std::vector<std::string> names;
};

class Author : public kvo::object {
public:
  kvo::property<std::string> name{this, "Ada"};
  KVO_PROPERTIES(Author, kvo::object, name)
};

class Document : public kvo::object {
public:
  kvo::property<double> zoom{this, 1.0};
  kvo::property<int> pages{this, 1};
  kvo::property<std::string> title{this, "Untitled"};
  kvo::property<Point> origin{this, Point{1, 2}};
  kvo::property<Color> color{this, Color::red};
  kvo::property<Author *> author{this, nullptr};
  kvo::property<std::shared_ptr<Author>> editor{this};
  kvo::property<std::vector<int>> marks{this};
  kvo::property<std::optional<long>> limit{this};
  kvo::property<Opaque> extra{this};
  kvo::property<int> unnamed{this, 0}; /* not in KVO_PROPERTIES */
  KVO_PROPERTIES(Document, kvo::object, zoom, pages, title, origin, color, author, editor, marks, limit, extra)
};

class Book : public Document {
public:
  kvo::property<bool> open{this, false};
  KVO_PROPERTIES(Book, Document, open)
};

/* With a base class before kvo::object, so that the object does not begin with it. */
struct Other {
  virtual ~Other() = default;
  int other = 7;
};
class Mixed : public Other, public kvo::object {
public:
  kvo::property<int> value{this, 1};
  KVO_PROPERTIES(Mixed, kvo::object, value)
};

/* Writes the changes of a number, as "old>new ". */
struct log {
  std::string text;
  kvo::token token;
  explicit log(Document &document)
      : token(kvo::observe(document, &Document::pages, [this](const kvo::change<int> &change) {
          text += std::to_string(*change.old_value) + ">" + std::to_string(*change.new_value) + " ";
        })) {}
};

/* Sets a property, and returns whether its observer gets these values. */
template <class T> bool delivers(Document &document, kvo::property<T> Document::*property, T before, T after) {
  bool is_right = false;
  auto token = kvo::observe(document, property, [&](const kvo::change<T> &change) {
    is_right = *change.old_value == before && *change.new_value == after;
  });
  document.*property = after;
  return is_right;
}

} // namespace

/* --------------------------------------------------------------------------------------------------------- Observing -- */

TEST("a lambda observes a property with the old and the new value") {
  Document document;
  log changes(document);
  document.pages = 2;
  document.pages += 3;
  ++document.pages;
  CHECK_EQ(changes.text, "1>2 2>5 5>6 ");
  CHECK_EQ(document.pages.get(), 6);
}

TEST("values of every kind of type come with old and new value") {
  Document document;
  Author ada;
  CHECK(delivers<std::string>(document, &Document::title, "Untitled", "Report"));
  CHECK(delivers(document, &Document::color, Color::red, Color::green));
  CHECK(delivers<Author *>(document, &Document::author, nullptr, &ada));
  CHECK(delivers<std::shared_ptr<Author>>(document, &Document::editor, nullptr, std::make_shared<Author>()));
  CHECK(delivers<std::vector<int>>(document, &Document::marks, {}, {1, 2}));
  CHECK(delivers<std::optional<long>>(document, &Document::limit, std::nullopt, 9));
  std::size_t extra = 0;
  double origin = 0;
  auto a = kvo::observe(document, &Document::extra, [&](const kvo::change<Opaque> &change) {
    extra = change.new_value->names.size() - change.old_value->names.size();
  });
  auto b = kvo::observe(document, &Document::origin,
                        [&](const kvo::change<Point> &change) { origin = change.new_value->y - change.old_value->y; });
  document.extra.modify([](Opaque &opaque) { opaque.names = {"a", "b"}; });
  document.origin = Point{3, 4};
  CHECK_EQ(extra, 2u);
  CHECK_EQ(origin, 2.0);
}

TEST("a change of one element of a vector comes with its kind, its index and the element") {
  Document document;
  document.marks = std::vector<int>{1, 2, 3};
  std::string log;
  auto token = kvo::observe(document, &Document::marks, [&](const kvo::change<std::vector<int>> &change) {
    log += std::to_string(int(change.kind)) + "@" + std::to_string(change.index_count > 0 ? change.indexes[0] : 99);
    if (change.old_value != nullptr) log += " old " + std::to_string(change.old_value->at(0));
    if (change.new_value != nullptr) log += " new " + std::to_string(change.new_value->at(0));
    log += "; ";
  });
  document.marks.insert_at(1, 7);
  document.marks.remove_at(0);
  document.marks.replace_at(2, 9);
  CHECK_EQ(log, "2@1 new 7; 3@0 old 1; 4@2 old 3 new 9; ");
  CHECK(document.marks.get() == (std::vector<int>{7, 2, 9}));
}

TEST("an expression is observed through what it reads, also of objects that nobody observes otherwise") {
  Document first;
  Book second;
  std::string log;
  auto token = kvo::observe(
      first, [&] { return first.zoom * second.pages; },
      [&](const kvo::change<double> &change) {
        log += std::to_string(int(*change.old_value)) + ">" + std::to_string(int(*change.new_value)) + " ";
      });
  first.zoom = 3;
  second.pages = 4;
  second.title = "not read";
  CHECK_EQ(log, "1>3 3>12 ");
}

TEST("inherited properties and those of the derived class are observed") {
  Book book;
  std::string log;
  auto a = kvo::observe(book, &Book::title, [&](const kvo::change<std::string> &) { log += "title "; });
  auto b = kvo::observe(book, &Book::open, [&](const kvo::change<bool> &) { log += "open "; });
  auto c = kvo::observe(book, "open", [&](const kvo::record &) { log += "text "; });
  book.title = "B";
  book.open = true;
  CHECK_EQ(log, "title text open ");
}

namespace {

class Titled : public Book {
public:
  kvo::property<int> title{this, 7};
  KVO_PROPERTIES(Titled, Book, title)
};

} // namespace

TEST("a property with the name of an inherited one is refused, with the names of both classes") {
  Titled titled;
  auto observe = [&] { auto token = kvo::observe(titled, &Document::title, [](const auto &) {}); };
  CHECK_THROWS(KVO_ERROR_DUPLICATE_KEY, observe());
  CHECK_EQ(thrown_by<kvo::error>(observe), "KVO_PROPERTIES: \"title\" of Titled has the name of a property of Book");
}

TEST("key-value coding reads and sets by path, and refuses other types") {
  Document document;
  Author ada;
  kvo::set(document, "title", "Set");
  kvo::set(document, "author", &ada);
  kvo::set(document, "author.name", std::string("Grace"));
  CHECK_EQ(ada.name.get(), "Grace");
  CHECK_EQ(kvo::get<std::string>(document, "author.name"), "Grace");
  CHECK_EQ(kvo::get<Point>(document, "origin").y, 2.0);
  CHECK(!kvo::get<std::optional<long>>(document, "limit"));
  CHECK_THROWS(KVO_ERROR_UNDEFINED_KEY, kvo::get<int>(document, "nothing"));
  CHECK_THROWS(KVO_ERROR_TYPE_MISMATCH, kvo::get<int>(document, "title"));
  CHECK_THROWS(KVO_ERROR_TYPE_MISMATCH, kvo::get<long>(document, "limit")); /* nil */
  CHECK_CONTAINS(thrown_by<kvo::error>([&] { kvo::set(document, "title", 3); }).c_str(), "title");
  CHECK_EQ(document.title.get(), "Set");
}

TEST_REPORTED("a wrong key on a path is reported with the class that lacks it, and with its keys") {
  ignore_faults();
  Document document;
  Author ada;
  document.author = &ada;
  std::string error = thrown_by<kvo::error>([&] { auto token = kvo::observe(document, "author.nmae", [](auto &) {}); });
  CHECK_CONTAINS(error.c_str(), "has no key 'nmae'");
  CHECK_CONTAINS(faults.report, "did you mean \"name\"? the keys of ");
}

TEST("a property that KVO_PROPERTIES does not name cannot be observed, nor set while its object is observed") {
  Document document;
  document.unnamed = 3;
  CHECK_THROWS(KVO_ERROR_UNDEFINED_KEY, auto token = kvo::observe(document, &Document::unnamed, [](const auto &) {}));
  log changes(document);
  CHECK_THROWS(KVO_ERROR_UNDEFINED_KEY, document.unnamed = 4);
  CHECK_EQ(document.unnamed.get(), 3);
}

/* ---------------------------------------------------------------------------------------------------------- C and C++ -- */

TEST("an object that does not begin with kvo::object is observed, and found again from C") {
  Mixed mixed;
  int value = 0;
  auto token = kvo::observe(mixed, &Mixed::value, [&](const kvo::change<int> &change) { value = *change.new_value; });
  mixed.value = 5;
  CHECK_EQ(value, 5);
  CHECK_EQ(mixed.other, 7);
  CHECK(kvo::object::from(mixed.kvo()) == &mixed);
  CHECK_EQ(kvo::get<int>(mixed, "value"), 5);
}

TEST("C code observes a C++ object: strings, structures, objects, vectors and their changed elements") {
  Document document;
  Author ada;
  static std::string log;
  kvo_observer observer{};
  observer.struct_size = sizeof observer;
  observer.options = KVO_NEW | KVO_ENDS_WITH_OBJECT;
  observer.callback = [](const kvo_change *change, void *) {
    log += std::string(change->key_path) + " " + change->new_value->type + " ";
    if (change->new_value->type[0] == '*') log += *static_cast<const char *const *>(change->new_value->bytes);
    auto write = [](const kvo_value *value, void *) { log += std::to_string(*static_cast<const int *>(value->bytes)); };
    for (std::size_t i = 0; i < kvo_change_count(change, KVO_NEW); i++)
      kvo_change_element(change, KVO_NEW, i, write, nullptr);
    log += change->index_count > 0 ? "@" + std::to_string(change->indexes[0]) + "; " : "; ";
  };
  for (const char *key : {"title", "origin", "author", "marks"}) {
    observer.key_path = key;
    CHECK_OK(kvo_add_observer(document.kvo(), &observer, nullptr));
  }
  document.title = "Seen";
  document.origin = Point{0, 0};
  document.author = &ada;
  document.marks = std::vector<int>{1, 2};
  document.marks.insert_at(1, 7);
  CHECK_EQ(log, "title * Seen; origin {Point=dd} ; author @ ; marks [i] 12; marks [i] 7@1; ");
}

TEST("C++ observes an object of a class that C has registered") {
  item *thing = item_make(3);
  std::string log;
  auto token = kvo::observe(&thing->header, "value", [&](const kvo::record &change) {
    log += std::to_string(change.old_value<int>().value()) + ">" + std::to_string(change.new_value<int>().value());
    CHECK(change.new_value<double>() == 4.0);
    CHECK(!change.new_value<std::string>());
  });
  kvo::set(&thing->header, "value", 4);
  CHECK_EQ(log, "3>4");
  CHECK_EQ(kvo::get<int>(&thing->header, "value"), 4);
  CHECK(kvo::object::from(&thing->header) == nullptr);
  token.cancel();
  item_destroy(thing);
}

/* --------------------------------------------------------------------------------------------------------- Exceptions -- */

TEST("an exception of an observer does not leave it, and the other observers are called") {
  static std::string handled;
  kvo::set_exception_handler([](std::exception_ptr, const char *key_path) { handled += key_path; });
  Document document;
  log changes(document);
  auto second = kvo::observe(document, &Document::pages, [&](const auto &) { throw std::runtime_error("no"); });
  document.pages = 9;
  CHECK_EQ(document.pages.get(), 9);
  CHECK_EQ(changes.text, "1>9 ");
  CHECK_EQ(handled, "pages");
}

TEST("the default handler of exceptions prints what is no std::exception, too") {
  Document document;
  auto token = kvo::observe(document, &Document::zoom, [](const auto &) { throw 3; });
  document.zoom = 2;
  CHECK_EQ(document.zoom.get(), 2.0);
}

/* Copies of it throw when it has this value. */
struct Throwing {
  int value = 0;
  Throwing() = default;
  explicit Throwing(int v) : value(v) {}
  Throwing(const Throwing &other) : value(other.value) {
    if (value == 13) throw std::runtime_error("13");
  }
  Throwing(Throwing &&) = default;
  Throwing &operator=(Throwing &&) = default;
  Throwing &operator=(const Throwing &) = default;
};

TEST("an exception of a value's copy leaves the setter, notifies nobody, and the next set works") {
  Holder<Throwing> risky;
  int calls = 0;
  auto count = [&](const kvo::change<Throwing> &) { calls++; };
  const kvo_options copies = KVO_OLD | KVO_NEW | KVO_PRIOR; /* otherwise values are only moved */
  auto token = kvo::observe(risky, &Holder<Throwing>::value, count, copies);
  risky.value = Throwing(13);
  CHECK_EQ(thrown_by<std::runtime_error>([&] { risky.value = Throwing(14); }), "13"); /* of the old value */
  CHECK_EQ(calls, 2);
  token.cancel();
  risky.value = Throwing(15);
  token = kvo::observe(risky, &Holder<Throwing>::value, count, copies);
  risky.value = Throwing(16);
  CHECK_EQ(calls, 4);
  CHECK_EQ(risky.value->value, 16);
}

TEST("several threads set objects of their own, and end observations of a shared one") {
  Document shared;
  std::atomic<int> calls{0};
  std::vector<std::thread> threads;
  for (int t = 0; t < 4; t++)
    threads.emplace_back([&] {
      Book own;
      int own_calls = 0;
      auto token = kvo::observe(own, &Document::pages, [&](const auto &) { own_calls++; });
      for (int i = 0; i < 1000; i++) {
        own.pages = i;
        auto other = kvo::observe(shared, &Document::title, [&](const auto &) { calls++; });
        other.cancel_and_wait();
      }
      CHECK_EQ(own_calls, 1000);
    });
  for (int i = 0; i < 200; i++) shared.title = std::to_string(i);
  for (auto &thread : threads) thread.join();
  int at_end = calls;
  shared.title = "nobody observes it";
  CHECK_EQ(calls.load(), at_end);
}

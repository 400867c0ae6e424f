/* cxx.cpp - kvo.hpp: classes of C++, observers that are functions, values as C++ types. */
#include <kvo/kvo.hpp>

#include <thread>

#include "harness.h"
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

template <class T> struct heard {
  std::vector<T> before, after;
  void operator()(const kvo::change<T> &change) {
    if (change.old_value != nullptr) before.push_back(*change.old_value);
    if (change.new_value != nullptr) after.push_back(*change.new_value);
  }
};

} // namespace

TEST("a lambda observes a property with the old and the new value") {
  Document document;
  std::string log;
  auto token = kvo::observe(document, &Document::zoom, [&](const kvo::change<double> &change) {
    log += std::to_string(int(*change.old_value)) + ">" + std::to_string(int(*change.new_value)) + " ";
  });
  document.zoom = 2;
  document.zoom += 3;
  ++document.zoom;
  CHECK_EQ(log, "1>2 2>5 5>6 ");
  CHECK_EQ(document.zoom.get(), 6.0);
}

TEST("values of every kind of type come with old and new value") {
  Document document;
  Author ada, bob;
  bob.name = "Bob";
  heard<std::string> title;
  heard<Point> origin;
  heard<Color> color;
  heard<Author *> author;
  heard<std::shared_ptr<Author>> editor;
  heard<std::vector<int>> marks;
  heard<std::optional<long>> limit;
  int extra = 0;
  auto a = kvo::observe(document, &Document::title, std::ref(title));
  auto b = kvo::observe(document, &Document::origin, std::ref(origin));
  auto c = kvo::observe(document, &Document::color, std::ref(color));
  auto d = kvo::observe(document, &Document::author, std::ref(author));
  auto e = kvo::observe(document, &Document::editor, std::ref(editor));
  auto f = kvo::observe(document, &Document::marks, std::ref(marks));
  auto g = kvo::observe(document, &Document::limit, std::ref(limit));
  auto h = kvo::observe(document, &Document::extra, [&](const kvo::change<Opaque> &change) {
    extra = int(change.new_value->names.size() - change.old_value->names.size());
  });
  document.title = "Report";
  document.origin = Point{3, 4};
  document.color = Color::green;
  document.author = &bob;
  document.editor = std::make_shared<Author>();
  document.marks = std::vector<int>{1, 2};
  document.limit = 9;
  document.extra.modify([](Opaque &opaque) { opaque.names = {"a", "b"}; });
  CHECK_EQ(title.before[0], "Untitled");
  CHECK_EQ(title.after[0], "Report");
  CHECK_EQ(origin.before[0].y, 2.0);
  CHECK_EQ(origin.after[0].y, 4.0);
  CHECK_EQ(int(color.before[0]), 0);
  CHECK_EQ(int(color.after[0]), 1);
  CHECK(author.before[0] == nullptr && author.after[0] == &bob);
  CHECK(editor.before[0] == nullptr && editor.after[0] == document.editor.get());
  CHECK(marks.before[0].empty() && marks.after[0] == (std::vector<int>{1, 2}));
  CHECK(!limit.before[0] && limit.after[0] == 9);
  CHECK_EQ(extra, 2);
}

TEST("a change of one element of a vector is told with its kind, its index and the element") {
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
  bool thrown = false;
  try {
    document.marks.remove_at(3);
  } catch (const std::out_of_range &) {
    thrown = true;
  }
  CHECK(thrown);
}

TEST("a key path through pointers follows the objects") {
  Document document;
  Author ada, bob;
  bob.name = "Bob";
  std::string log;
  auto token = kvo::observe(document, "author.name", [&](const kvo::record &change) {
    log +=
        change.old_value<std::string>().value_or("nil") + ">" + change.new_value<std::string>().value_or("nil") + " ";
  });
  document.author = &ada;
  document.author = &bob;
  ada.name = "not seen";
  bob.name = "Robert";
  document.author = nullptr;
  CHECK_EQ(log, "nil>Ada Ada>Bob Bob>Robert Robert>nil ");
}

TEST("a key path through shared pointers follows the objects") {
  Document document;
  int calls = 0;
  auto token = kvo::observe(document, "editor.name", [&](const kvo::record &) { calls++; });
  document.editor = std::make_shared<Author>();
  document.editor.get()->name = "Eve";
  document.editor = nullptr;
  CHECK_EQ(calls, 3);
}

TEST("an expression is observed through what it reads, also of objects that nobody observes otherwise") {
  Document first;
  Book second;
  heard<double> area;
  auto token = kvo::observe(
      first, [&] { return first.zoom * second.pages; }, std::ref(area));
  first.zoom = 3;
  second.pages = 4;
  second.title = "not read";
  CHECK_EQ(area.before.size(), 2u);
  CHECK_EQ(area.before[1], 3.0);
  CHECK_EQ(area.after[1], 12.0);
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

TEST("an object that does not begin with kvo::object is observed, and found again from C") {
  Mixed mixed;
  heard<int> value;
  auto token = kvo::observe(mixed, &Mixed::value, std::ref(value));
  mixed.value = 5;
  CHECK_EQ(value.after[0], 5);
  CHECK_EQ(mixed.other, 7);
  CHECK(kvo::object::from(mixed.kvo()) == &mixed);
  CHECK_EQ(kvo::get<int>(mixed, "value"), 5);
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
  for (int i = 0; i < 4; i++) {
    kvo_status status = KVO_OK;
    try {
      if (i == 0) kvo::get<int>(document, "title");
      if (i == 1) kvo::get<int>(document, "nothing");
      if (i == 2) kvo::set(document, "title", 3);
      if (i == 3) kvo::get<long>(document, "limit"); /* nil */
    } catch (const kvo::error &error) {
      status = error.status();
      CHECK(std::string(error.what()).size() > 10);
    }
    CHECK_STATUS(status, i == 1 ? KVO_ERROR_UNDEFINED_KEY : KVO_ERROR_TYPE_MISMATCH);
  }
  CHECK_EQ(document.title.get(), "Set");
}

TEST("C code observes a C++ object, and sees strings, structures and objects") {
  Document document;
  Author ada;
  static std::string log;
  kvo_observer observer{};
  observer.struct_size = sizeof observer;
  observer.options = KVO_OLD | KVO_NEW;
  observer.callback = [](const kvo_change *change, void *) {
    log += std::string(change->key_path) + " " + change->new_value->type + " ";
    if (change->new_value->type[0] == '*') log += *static_cast<const char *const *>(change->new_value->bytes);
  };
  kvo_observation ids[3];
  int made = 0;
  for (const char *key : {"title", "origin", "author"}) {
    observer.key_path = key;
    CHECK_OK(kvo_add_observer(document.kvo(), &observer, &ids[made++]));
  }
  document.title = "Seen";
  document.origin = Point{0, 0};
  document.author = &ada;
  CHECK_EQ(log, "title * Seenorigin {Point=dd} author @ ");
  for (kvo_observation id : ids) CHECK_OK(kvo_remove_observer(id));
}

TEST("C code enumerates the elements of a vector, and those that have changed") {
  Document document;
  static std::string log;
  kvo_observer observer{};
  observer.struct_size = sizeof observer;
  observer.key_path = "marks";
  observer.options = KVO_OLD | KVO_NEW;
  observer.callback = [](const kvo_change *change, void *) {
    for (kvo_options which : {KVO_OLD, KVO_NEW})
      for (std::size_t i = 0; i < kvo_change_count(change, which); i++)
        kvo_change_element(
            change, which, i,
            [](const kvo_value *value, void *) {
              log += std::to_string(*static_cast<const int *>(value->bytes)) + ",";
            },
            nullptr);
    log += change->index_count > 0 ? "@" + std::to_string(change->indexes[0]) + " " : " ";
  };
  kvo_observation id;
  CHECK_OK(kvo_add_observer(document.kvo(), &observer, &id));
  document.marks = std::vector<int>{1, 2};
  document.marks.insert_at(1, 7);
  document.marks.remove_at(0);
  CHECK_EQ(log, "1,2, 7,@1 1,@0 ");
  CHECK_OK(kvo_remove_observer(id));
  CHECK(kvo::get<std::vector<int>>(document, "marks") == (std::vector<int>{7, 2}));
  kvo::set(document, "marks", std::vector<int>{3});
  CHECK(document.marks.get() == std::vector<int>{3});
}

TEST("C++ observes an object of a class that C has registered") {
  item *thing = item_make(3);
  heard<int> unused;
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

static int exceptions;
static std::string observed_path;

TEST("an exception of an observer does not leave it, and the other observers are called") {
  kvo::set_exception_handler([](std::exception_ptr, const char *key_path) {
    exceptions++;
    observed_path = key_path;
  });
  Document document;
  int calls = 0;
  auto first = kvo::observe(document, &Document::pages, [&](const auto &) { calls++; });
  auto second = kvo::observe(document, &Document::pages, [&](const auto &) { throw std::runtime_error("no"); });
  document.pages = 9;
  CHECK_EQ(document.pages.get(), 9);
  CHECK_EQ(calls, 1);
  CHECK_EQ(exceptions, 1);
  CHECK_EQ(observed_path, "pages");
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
class Risky : public kvo::object {
public:
  kvo::property<Throwing> value{this, Throwing{}};
  KVO_PROPERTIES(Risky, kvo::object, value)
};

TEST("an exception of a value's copy leaves the setter, notifies nobody, and the next set works") {
  Risky risky;
  int calls = 0;
  auto token = kvo::observe(risky, &Risky::value, [&](const kvo::change<Throwing> &) { calls++; });
  risky.value = Throwing(13);
  CHECK_EQ(calls, 1);
  bool thrown = false;
  try {
    risky.value = Throwing(14); /* the old value cannot be copied */
  } catch (const std::runtime_error &) {
    thrown = true;
  }
  CHECK(thrown);
  CHECK_EQ(calls, 1);
  token.cancel();
  risky.value = Throwing(15);
  token = kvo::observe(risky, &Risky::value, [&](const kvo::change<Throwing> &) { calls++; });
  risky.value = Throwing(16);
  CHECK_EQ(calls, 2);
  CHECK_EQ(risky.value->value, 16);
}

TEST("a property that KVO_PROPERTIES does not name cannot be observed, nor set while its object is observed") {
  Document document;
  document.unnamed = 3;
  bool thrown = false;
  try {
    auto token = kvo::observe(document, &Document::unnamed, [](const auto &) {});
  } catch (const kvo::error &error) {
    thrown = error.status() == KVO_ERROR_UNDEFINED_KEY;
  }
  CHECK(thrown);
  CHECK_EQ(document.unnamed.get(), 3);
  auto token = kvo::observe(document, &Document::pages, [](const auto &) {});
  thrown = false;
  try {
    document.unnamed = 4;
  } catch (const kvo::error &error) {
    thrown = error.status() == KVO_ERROR_UNDEFINED_KEY;
  }
  CHECK(thrown);
  CHECK_EQ(document.unnamed.get(), 3);
}

TEST("an observer may end its own observation, and set the property again") {
  Document document;
  int calls = 0;
  kvo::token token;
  token = kvo::observe(document, &Document::pages, [&](const kvo::change<int> &change) {
    calls++;
    if (*change.new_value < 5) document.pages = *change.new_value + 1;
    if (*change.new_value == 5) token.cancel();
  });
  document.pages = 2;
  CHECK_EQ(document.pages.get(), 5);
  CHECK_EQ(calls, 4);
  document.pages = 1;
  CHECK_EQ(calls, 4);
}

TEST("options ask for the initial value and for a call before the change") {
  Document document;
  std::string log;
  auto token = kvo::observe(
      document, &Document::pages,
      [&](const kvo::change<int> &change) {
        log += change.is_prior               ? "prior "
               : change.new_value != nullptr ? std::to_string(*change.new_value) + " "
                                             : "- ";
      },
      KVO_NEW | KVO_INITIAL | KVO_PRIOR);
  document.pages = 8;
  CHECK_EQ(log, "1 prior 8 ");
}

TEST("several threads set objects of their own, and end observations of a shared one") {
  Document shared;
  std::atomic<int> calls{0};
  std::vector<std::thread> threads;
  for (int t = 0; t < 4; t++)
    threads.emplace_back([&] {
      Book own;
      int heard_here = 0;
      auto token = kvo::observe(own, &Document::pages, [&](const auto &) { heard_here++; });
      for (int i = 0; i < 1000; i++) {
        own.pages = i;
        auto other = kvo::observe(shared, &Document::title, [&](const auto &) { calls++; });
        other.cancel_and_wait();
      }
      CHECK_EQ(heard_here, 1000);
    });
  for (int i = 0; i < 200; i++) shared.title = std::to_string(i);
  for (auto &thread : threads) thread.join();
  shared.title = "end";
  int at_end = calls;
  shared.title = "nobody";
  CHECK_EQ(calls.load(), at_end);
}

/* cxx_elements.cpp - kvo.hpp: changes of elements of vectors whose observers change the vector before the change. */
#include <kvo/kvo.hpp>
#include <kvo/kvo_scope.h>

#include <functional>

#include "harness.h"

namespace {

using strings = std::vector<std::string>;

class Document : public kvo::object {
public:
  kvo::property<strings> marks{this, strings{"a", "b", "c"}};
  KVO_PROPERTIES(Document, kvo::object, marks)
};

/* Logs each change, and does something once before a change. */
struct watched {
  Document document;
  std::function<void()> before;
  std::string log;
  kvo::token token = kvo::observe(
      document, &Document::marks,
      [this](const kvo::change<strings> &change) {
        log += change.is_prior ? "will" : "did";
        log += std::to_string(int(change.kind));
        for (std::size_t i = 0; i < change.index_count; i++) log += "@" + std::to_string(change.indexes[i]);
        if (change.kind != KVO_CHANGE_SETTING && change.old_value != nullptr) log += " old " + change.old_value->at(0);
        if (change.kind != KVO_CHANGE_SETTING && change.new_value != nullptr) log += " new " + change.new_value->at(0);
        log += "; ";
        if (change.is_prior && before) std::exchange(before, nullptr)();
      },
      KVO_OLD | KVO_NEW | KVO_PRIOR);

  void empties() {
    before = [this] { document.marks = strings{}; };
  }
  void inserts_first() {
    before = [this] { document.marks.modify([](strings &marks) { marks.insert(marks.begin(), "first"); }); };
  }
  bool throws(void (*change)(Document &)) {
    try {
      change(document);
    } catch (const std::out_of_range &) {
      return true;
    }
    return false;
  }
};

void remove_last(Document &document) { document.marks.remove_at(2); }
void insert_last(Document &document) { document.marks.insert_at(3, "z"); }
void replace_last(Document &document) { document.marks.replace_at(2, "z"); }

} // namespace

TEST("an element that an observer has removed before the change is an std::out_of_range, and nobody is told") {
  for (auto change : {remove_last, insert_last, replace_last}) {
    watched seen;
    seen.empties();
    CHECK(seen.throws(change));
    CHECK(seen.document.marks.get().empty());
    CHECK_EQ(seen.log.find("did1;"), seen.log.rfind("did"));
    seen.log.clear();
    seen.document.marks.insert_at(0, "n");
    CHECK_EQ(seen.log, "will2@0; did2@0 new n; ");
  }
}

TEST("the element told as removed or replaced is the one that was, also if an observer has moved the elements") {
  watched seen;
  seen.inserts_first();
  seen.document.marks.remove_at(2);
  CHECK(seen.document.marks.get() == (strings{"first", "a", "c"}));
  CHECK_EQ(seen.log, "will3@2 old c; will1; did1; did3@2 old b; ");
  seen.log.clear();
  seen.inserts_first();
  seen.document.marks.replace_at(1, "z");
  CHECK(seen.document.marks.get() == (strings{"first", "z", "a", "c"}));
  CHECK_EQ(seen.log, "will4@1 old a; will1; did1; did4@1 old first new z; ");
  seen.log.clear();
  seen.inserts_first();
  seen.document.marks.insert_at(4, "end");
  CHECK(seen.document.marks.get() == (strings{"first", "first", "z", "a", "end", "c"}));
  CHECK_EQ(seen.log, "will2@4; will1; did1; did2@4 new end; ");
}

TEST("in a scope the index is checked after the observers that are called before the change") {
  watched seen;
  kvo_object *object = seen.document.kvo();
  kvo_scope scope;
  CHECK_OK(kvo_scope_begin(&scope, KVO_SCOPE_COALESCES, &object, 1, nullptr, 0));
  seen.empties();
  CHECK(seen.throws(remove_last));
  kvo_scope_end(&scope);
  CHECK(seen.document.marks.get().empty());
}

TEST("a wrong index is an std::out_of_range that says how many elements there are, observed or not") {
  watched seen;
  for (int i = 0; i < 2; i++) {
    std::string what;
    try {
      seen.document.marks.insert_at(4, "z");
    } catch (const std::out_of_range &error) {
      what = error.what();
    }
    CHECK_CONTAINS(what.c_str(), "index 4 of 3 elements");
    CHECK(seen.throws([](Document &document) { document.marks.remove_at(3); }));
    CHECK(seen.throws([](Document &document) { document.marks.replace_at(3, "z"); }));
    seen.token.cancel();
  }
  CHECK_EQ(seen.log, "");
}

/* Copies of it throw while `fails`. */
struct Fragile {
  static inline bool fails = false;
  int value = 0;
  explicit Fragile(int v = 1) : value(v) {}
  Fragile(const Fragile &other) : value(other.value) {
    if (fails) throw std::runtime_error("copy");
  }
  Fragile &operator=(const Fragile &) = default;
};
class Box : public kvo::object {
public:
  kvo::property<std::vector<Fragile>> content{this, std::vector<Fragile>(3, Fragile(1))};
  KVO_PROPERTIES(Box, kvo::object, content)
};

TEST("an exception of an element's copy leaves a change of elements, tells nobody, and the next change works") {
  Box box;
  int did = 0;
  bool thrown = false;
  auto token = kvo::observe(
      box, &Box::content,
      [&](const kvo::change<std::vector<Fragile>> &change) {
        if (change.is_prior)
          Fragile::fails = !thrown;
        else
          did++;
      },
      KVO_OLD | KVO_NEW | KVO_PRIOR);
  try {
    box.content.remove_at(0);
  } catch (const std::runtime_error &) {
    thrown = true;
  }
  Fragile::fails = false;
  CHECK(thrown);
  CHECK_EQ(did, 0);
  CHECK_EQ(box.content->size(), 3u);
  box.content.remove_at(0);
  CHECK_EQ(did, 1);
  CHECK_EQ(box.content->size(), 2u);
  token.cancel_and_wait();
}

template <class T> class Listed : public kvo::object {
public:
  kvo::property<std::vector<T>> items{this};
  KVO_PROPERTIES(Listed, kvo::object, items)
};

TEST("an element is inserted and replaced from everything that push_back accepts, and converted as there") {
  int number = 5;
  Listed<std::size_t> sizes;
  sizes.items.insert_at(0, number);
  sizes.items.replace_at(0, number + 1);
  CHECK(sizes.items.get() == (std::vector<std::size_t>{6}));
  Listed<float> floats;
  double half = 0.5;
  floats.items.insert_at(0, half);
  CHECK(floats.items.get() == (std::vector<float>{0.5f}));
  Listed<std::pair<int, std::string>> pairs;
  pairs.items.insert_at(0, {number, "five"});
  pairs.items.replace_at(0, {6, "six"});
  const std::pair<int, std::string> seven{7, "seven"};
  pairs.items.insert_at(0, seven);
  CHECK_EQ(pairs.items->at(0).second + pairs.items->at(1).second, "sevensix");
  Listed<std::vector<int>> lists;
  lists.items.insert_at(0, {1, 2});
  lists.items.insert_at(0, std::vector<int>(3));
  CHECK(lists.items.get() == (std::vector<std::vector<int>>{{0, 0, 0}, {1, 2}}));
}

template <class T, class Element, class = void> struct takes : std::false_type {};
template <class T, class Element>
struct takes<
    T, Element,
    std::void_t<decltype(std::declval<kvo::property<std::vector<T>> &>().insert_at(0, std::declval<Element>())),
                decltype(std::declval<kvo::property<std::vector<T>> &>().replace_at(0, std::declval<Element>()))>>
    : std::true_type {};

TEST("a number of elements is no element, and neither is a vector") {
  CHECK(!(takes<std::string, int>::value));
  CHECK(!(takes<std::string, std::size_t>::value));
  CHECK(!(takes<std::string, strings>::value));
  CHECK((takes<std::string, const char *>::value));
  CHECK((takes<std::string, std::string &>::value));
}

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

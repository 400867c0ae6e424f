/* cxx_bindings.cpp - kvo.hpp: kvo::bind and kvo::bind_two_way. */
#include <kvo/kvo.hpp>

#include <stdexcept>

#include "harness.h"
extern "C" {
#include "fixture.h"
}

namespace {

struct Opaque {
  int value;
};

class Cell : public kvo::object {
public:
  kvo::property<int> value{this, 0};
  kvo::property<double> factor{this, 1.5};
  kvo::property<std::string> name{this, "cell"};
  kvo::property<std::vector<int>> marks{this};
  kvo::property<std::optional<std::string>> note{this};
  kvo::property<Cell *> next{this, nullptr};
  kvo::property<Opaque> extra{this};
  KVO_PROPERTIES(Cell, kvo::object, value, factor, name, marks, note, next, extra)
};

std::string log_of(const kvo::change<int> &change) {
  return std::to_string(*change.old_value) + " -> " + std::to_string(*change.new_value) + "; ";
}

} // namespace

TEST("a bound property takes the value at once and after each change, converted, until its token ends") {
  Cell source, target;
  source.value = 3;
  {
    kvo::token token = kvo::bind(target, &Cell::factor, source, &Cell::value);
    CHECK(token.is_active());
    CHECK_EQ(*target.factor, 3.0);
    source.value = 4;
    CHECK_EQ(*target.factor, 4.0);
  }
  source.value = 5;
  CHECK_EQ(*target.factor, 4.0);
}

TEST("a key path may be a text, lead through nil, and be of an object of C; so may the target") {
  Cell head, first, second, target;
  first.name = "first";
  second.name = "second";
  kvo::token name = kvo::bind(target, &Cell::note, head, "next.name");
  CHECK(!target.note->has_value());
  head.next = &first;
  CHECK_EQ(**target.note, "first");
  head.next = &second;
  second.name = "other";
  CHECK_EQ(**target.note, "other");
  head.next = nullptr;
  CHECK(!target.note->has_value());

  item *object = item_make(1);
  target.factor = 1.0; /* whole, so that it can be converted */
  kvo::token to_c = kvo::bind(as_object(object), "other", target, &Cell::factor);
  kvo::token from_c = kvo::bind(target.kvo(), "value", as_object(object), "other");
  target.factor = 7.0;
  CHECK_EQ(object->other, 7);
  CHECK_EQ(*target.value, 7);
  item_destroy(object);
}

TEST("a bound vector has the elements of the other one after a change of one element, too") {
  Cell source, target;
  kvo::token token = kvo::bind(target, &Cell::marks, source, &Cell::marks);
  source.marks = {1, 2};
  source.marks.insert_at(1, 7);
  CHECK_EQ(target.marks->size(), 3u);
  CHECK_EQ(target.marks->at(1), 7);
}

TEST("the end of a diamond of bindings is computed once for a change, and its observer is told once, of no mixture") {
  Cell source, left, right, sum;
  int evaluated = 0;
  std::string log;
  kvo::token tokens[] = {kvo::bind(left, &Cell::value, [&] { return source.value + 1; }),
                         kvo::bind(right, &Cell::value, [&] { return source.value * 10; }),
                         kvo::bind(sum, &Cell::value, [&] {
                           evaluated++;
                           return left.value + right.value;
                         })};
  kvo::token told = kvo::observe(sum, &Cell::value, [&](const kvo::change<int> &change) { log += log_of(change); });
  evaluated = 0;
  source.value = 1;
  CHECK_EQ(evaluated, 1);
  source.value = 2;
  CHECK_EQ(evaluated, 2);
  CHECK_EQ(log, "1 -> 12; 12 -> 23; ");
}

TEST("an expression may return a property, a text, nil and an object") {
  Cell source, target, other;
  source.name = "Ada";
  kvo::token name = kvo::bind(
      target, &Cell::name, [&]() -> const auto & { return source.name; });
  kvo::token note = kvo::bind(target, "note", [&]() -> const char * { return source.value > 0 ? "some" : nullptr; });
  kvo::token next = kvo::bind(target, &Cell::next, [&]() -> Cell * { return source.value > 0 ? &other : nullptr; });
  CHECK_EQ(*target.name, "Ada");
  CHECK(!target.note->has_value());
  CHECK(*target.next == nullptr);
  source.value = 1;
  CHECK_EQ(**target.note, "some");
  CHECK(*target.next == &other);
}

TEST("two properties bound in two ways are equal, observers are told once, and the token ends both directions") {
  Cell one, other;
  std::string log;
  other.value = 3;
  {
    kvo::token token = kvo::bind_two_way(one, &Cell::value, other, &Cell::value);
    CHECK_EQ(*one.value, 3);
    kvo::token told[] = {
        kvo::observe(one, &Cell::value, [&](const kvo::change<int> &change) { log += "one " + log_of(change); }),
        kvo::observe(other, &Cell::value, [&](const kvo::change<int> &change) { log += "other " + log_of(change); })};
    one.value = 4;
    CHECK_EQ(log, "one 3 -> 4; other 3 -> 4; ");
    other.value = 5;
    CHECK_EQ(*one.value, 5);
  }
  one.value = 6;
  CHECK_EQ(*other.value, 5);
  other.value = 7;
  CHECK_EQ(*one.value, 6);
}

TEST("a binding ends with its target and with its source, and its token does nothing then") {
  for (int first = 0; first < 2; first++) {
    auto target = std::make_unique<Cell>(), source = std::make_unique<Cell>();
    kvo::token tokens[] = {kvo::bind(*target, &Cell::value, *source, &Cell::value),
                           kvo::bind_two_way(*target, &Cell::name, *source, &Cell::name)};
    (first == 0 ? target : source).reset();
    Cell &rest = first == 0 ? *source : *target;
    for (kvo::token &token : tokens) CHECK(!token.is_active());
    CHECK(!kvo_object_is_observed(rest.kvo()));
    rest.value = 5;
  }
}

TEST("what an expression holds is destroyed with the binding, also if it cannot be made") {
  auto held = std::make_shared<int>(2);
  Cell source;
  {
    Cell target;
    kvo::token token = kvo::bind(target, &Cell::value, [&source, held] { return source.value * *held; });
    CHECK_EQ(held.use_count(), 2);
    source.value = 4;
    CHECK_EQ(*target.value, 8);
  }
  CHECK_EQ(held.use_count(), 1);
  try {
    kvo::token token = kvo::bind(source, "unknown", [held] { return *held; });
    CHECK(false);
  } catch (const kvo::error &error) {
    CHECK_EQ((int)error.status(), KVO_ERROR_UNDEFINED_KEY);
  }
  CHECK_EQ(held.use_count(), 1);
}

static std::string thrown;

static void note_exception(std::exception_ptr exception, const char *key_path) {
  try {
    std::rethrow_exception(exception);
  } catch (const std::exception &error) {
    thrown += std::string(key_path) + ": " + error.what() + "; ";
  }
}

TEST("an expression that throws leaves the target as it is, and is evaluated at the next change") {
  thrown = "";
  kvo::exception_handler before = kvo::set_exception_handler(note_exception);
  Cell source, target;
  kvo::token token = kvo::bind(target, &Cell::value, [&] {
    if (source.value < 0) throw std::runtime_error("negative");
    return source.value * 2;
  });
  source.value = 2;
  source.value = -1;
  CHECK_EQ(*target.value, 4);
  CHECK_EQ(thrown, "value: negative; ");
  source.value = 3;
  CHECK_EQ(*target.value, 6);
  kvo::set_exception_handler(before);
}

TEST("a property whose type only C++ can interpret cannot be bound") {
  Cell source, target;
  try {
    kvo::token token = kvo::bind(target, &Cell::extra, source, &Cell::extra);
    CHECK(false);
  } catch (const kvo::error &error) {
    CHECK_EQ((int)error.status(), KVO_ERROR_TYPE_MISMATCH);
    CHECK_CONTAINS(error.what(), "extra");
  }
}

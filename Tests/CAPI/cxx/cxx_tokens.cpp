/* cxx_tokens.cpp - kvo.hpp: tokens, which end, pause and resume observations and bindings; scopes. */
#include "held.hpp"

#include <atomic>
#include <chrono>
#include <thread>

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

/* Writes the changes of a value, as "old>new ". */
struct log {
  std::string text;
  kvo::token token;
  explicit log(Cell &cell)
      : token(kvo::observe(cell, &Cell::value, [this](const kvo::change<int> &change) {
          text += std::to_string(*change.old_value) + ">" + std::to_string(*change.new_value) + " ";
        })) {}
};

} // namespace

/* ------------------------------------------------------------------------------------------------------------- Tokens -- */

/* Calls everything that a token without an observation does. */
static void use(kvo::token &token) {
  token.pause();
  token.resume();
  token.resume(false);
  CHECK(!token.is_active());
  token.cancel();
  token.cancel_and_wait();
  CHECK(!token.is_active());
  token.detach();
  CHECK_EQ(token.id(), 0u);
}

TEST("the observation ends with its token, and a token that is assigned to ends the one that it had") {
  Cell cell;
  int calls = 0;
  auto count = [&](const auto &) { calls++; };
  {
    auto token = kvo::observe(cell, &Cell::value, count);
    CHECK(token.is_active());
    cell.value = 2;
    CHECK_EQ(calls, 1);
    token = kvo::observe(cell, &Cell::value, count);
    cell.value = 3;
    CHECK_EQ(calls, 2);
    kvo::token moved = std::move(token);
    use(token);
    CHECK(moved.is_active());
    cell.value = 4;
    CHECK_EQ(calls, 3);
  }
  cell.value = 5;
  CHECK_EQ(calls, 3);
}

TEST(
    "a token does nothing when it is empty or detached, and after its observation has ended with its object or by id") {
  Cell cell;
  kvo::token token;
  use(token);
  {
    Cell other;
    token = kvo::observe(other, &Cell::value, [](const auto &) {});
    CHECK(token.is_active());
  }
  use(token);
  log changes(cell);
  CHECK_OK(kvo_cancel_observer(changes.token.id()));
  use(changes.token);
  int calls = 0;
  token = kvo::observe(cell, &Cell::value, [&](const auto &) { calls++; });
  token.detach();
  use(token);
  cell.value = 2;
  CHECK_EQ(calls, 1);
}

TEST("a token whose observation has ended waits for a call on another thread all the same") {
  Cell cell;
  std::atomic<int> step{0};
  kvo::token token = kvo::observe(cell, &Cell::value, [&](const auto &) {
    step = 1;
    std::this_thread::sleep_for(std::chrono::milliseconds(100));
    step = 2;
  });
  std::thread setter([&] { cell.value = 1; });
  while (step == 0) std::this_thread::yield();
  token.cancel();
  token.cancel_and_wait();
  CHECK_EQ(step.load(), 2);
  setter.join();
}

TEST("a paused observation is notified once of what it has missed, or not at all if it is not asked to") {
  Cell cell;
  log changes(cell);
  changes.token.pause();
  cell.value = 2;
  cell.value = 3;
  CHECK_EQ(changes.text, "");
  changes.token.resume();
  CHECK_EQ(changes.text, "0>3 ");
  changes.token.pause();
  cell.value = 4;
  changes.token.resume(false);
  CHECK_EQ(changes.text, "0>3 ");
}

TEST_REPORTED(
    "a fault of a token has the line of the program, and where the language knows none no line of the headers") {
  ignore_faults();
  unsigned expected = 0;
  Cell cell;
  kvo::token self;
  self = kvo::observe(cell, &Cell::value, [&](const auto &) {
    expected = __LINE__ + 1;
    self.cancel_and_wait();
  });
  cell.value = 2;
  CHECK_EQ(faults.code, KVO_FAULT_ENDLESS_WAIT);
  CHECK_EQ(static_cast<const char *>(faults.file), __FILE__);
  CHECK_EQ(faults.line, expected);
  kvo::unique_object object = kvo::make_object(item_class());
  watcher w{};
  watch(reinterpret_cast<item *>(object.get()), "value", KVO_NEW, &w);
  object.reset(); /* in the destructor the language knows no line */
  CHECK_EQ(faults.code, KVO_FAULT_DEALLOCATED_WHILE_OBSERVED);
  CHECK_EQ(static_cast<const char *>(faults.file), "");
}

/* ------------------------------------------------------------------------------------------------------------- Scopes -- */

TEST(
    "a scope delivers each property once at the end of its block: of its objects, also of C, or of all if it has none") {
  Cell one, other;
  log first(one), second(other);
  {
    kvo::scope together(one, other.kvo());
    one.value = 2;
    one.value = 3;
    other.value = 4;
    CHECK_EQ(first.text + second.text, "");
  }
  CHECK_EQ(first.text + second.text, "0>3 0>4 ");
  {
    kvo::scope all;
    one.value = 5;
    CHECK_EQ(first.text, "0>3 ");
  }
  CHECK_EQ(first.text, "0>3 3>5 ");
}

TEST("a scope delivers only what differs, or nothing, if its kind says so, and also if an exception leaves it") {
  Cell cell;
  log changes(cell);
  {
    kvo::scope differing(KVO_SCOPE_COALESCES_IF_CHANGED, cell);
    cell.value = 2;
    cell.value = 0;
  }
  {
    kvo::scope silent(KVO_SCOPE_SILENCES, cell);
    cell.value = 9;
  }
  CHECK_EQ(changes.text, "");
  try {
    kvo::scope together(cell);
    cell.value = 2;
    throw std::runtime_error("left");
  } catch (const std::runtime_error &) {}
  CHECK_EQ(changes.text, "9>2 ");
}

/* ----------------------------------------------------------------------------------------------------------- Bindings -- */

TEST("a bound property takes the value at once and after each change, converted, until its token ends") {
  Cell source, target;
  source.value = 3;
  {
    kvo::token tokens[] = {kvo::bind(target, &Cell::factor, source, &Cell::value),
                           kvo::bind(target, &Cell::marks, source, &Cell::marks)};
    CHECK(tokens[0].is_active());
    CHECK_EQ(*target.factor, 3.0);
    source.value = 4;
    CHECK_EQ(*target.factor, 4.0);
    source.marks = {1, 2};
    source.marks.insert_at(1, 7);
    CHECK(*target.marks == (std::vector<int>{1, 7, 2}));
  }
  source.value = 5;
  CHECK_EQ(*target.factor, 4.0);
}

TEST("a key path may be a text, lead through nil, and be of an object of C; so may the target") {
  Cell head, first, target;
  first.name = "first";
  kvo::token name = kvo::bind(target, &Cell::note, head, "next.name");
  CHECK(!target.note->has_value());
  head.next = &first;
  CHECK_EQ(**target.note, "first");
  first.name = "other";
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

TEST("an expression may return a property, a text, nil and an object") {
  Cell source, target, other;
  source.name = "Ada";
  kvo::token name = kvo::bind(
      target, &Cell::name, [&]() -> const auto & { return source.name; });
  kvo::token note = kvo::bind(target, "note", [&]() -> const char * { return source.value > 0 ? "some" : nullptr; });
  kvo::token next = kvo::bind(target, &Cell::next, [&]() -> Cell * { return source.value > 0 ? &other : nullptr; });
  CHECK_EQ(*target.name, "Ada");
  CHECK(!target.note->has_value() && *target.next == nullptr);
  source.value = 1;
  CHECK_EQ(**target.note, "some");
  CHECK(*target.next == &other);
}

TEST("two properties bound in two ways are equal, observers are notified once, and the token ends both directions") {
  Cell one, other;
  log of_one(one), of_other(other);
  other.value = 3;
  {
    kvo::token token = kvo::bind_two_way(one, &Cell::value, other, &Cell::value);
    one.value = 4;
    other.value = 5;
  }
  CHECK_EQ(of_one.text, "0>3 3>4 4>5 ");
  CHECK_EQ(of_other.text, "0>3 3>4 4>5 ");
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
  CHECK_THROWS(KVO_ERROR_UNDEFINED_KEY, auto token = kvo::bind(source, "unknown", [held] { return *held; }));
  CHECK_EQ(held.use_count(), 1);
}

static std::string thrown;

static void note_exception(std::exception_ptr exception, const char *key_path) {
  thrown = key_path + (": " + thrown_by<std::exception>([&] { std::rethrow_exception(exception); }));
}

TEST("an expression that throws leaves the target as it is, and is evaluated at the next change") {
  kvo::set_exception_handler(note_exception);
  Cell source, target;
  kvo::token token = kvo::bind(target, &Cell::value, [&] {
    if (source.value < 0) throw std::runtime_error("negative");
    return source.value * 2;
  });
  source.value = 2;
  source.value = -1;
  CHECK_EQ(*target.value, 4);
  CHECK_EQ(thrown, "value: negative");
  source.value = 3;
  CHECK_EQ(*target.value, 6);
}

TEST("a property whose type only C++ can interpret cannot be bound") {
  Cell source, target;
  auto bind = [&] { kvo::token token = kvo::bind(target, &Cell::extra, source, &Cell::extra); };
  CHECK_STATUS(status_of(bind), KVO_ERROR_TYPE_MISMATCH);
  CHECK_CONTAINS(thrown_by<kvo::error>(bind).c_str(), "extra");
}

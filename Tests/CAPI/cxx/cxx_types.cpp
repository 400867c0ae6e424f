/* cxx_types.cpp - kvo.hpp: properties and expressions of any type that can be copied, comparable and constructible by default or not. */
#include "held.hpp"

#include <array>
#include <chrono>
#include <deque>
#include <functional>
#include <list>
#include <map>
#include <mutex>
#include <queue>
#include <set>
#include <tuple>
#include <unordered_map>
#include <variant>

/* Has no ==. */
struct Plain {
  int x = 0;
};

/* Has no default constructor; C can copy it. */
struct Money {
  long cents;
  explicit Money(long amount) : cents(amount) {}
  bool operator==(const Money &other) const { return cents == other.cents; }
};
KVO_STRUCT(Money, cents)

/* Has no default constructor, and C cannot copy it. */
struct Named {
  std::string name;
  explicit Named(const char *text) : name(text) {}
};

/* Its == gives a class, and throws. */
struct Answer {
  bool is_yes;
  explicit operator bool() const { return is_yes; }
};
struct Asked {
  int value = 0;
  friend Answer operator==(const Asked &one, const Asked &other) {
    if (one.value == 13) throw std::runtime_error("13");
    return {one.value == other.value};
  }
};

/* Has its elements as values. */
struct Tree : std::map<std::string, Tree> {};
struct Recursive {
  using value_type = std::vector<Recursive>;
  const value_type *begin() const { return nullptr; }
  const value_type *end() const { return nullptr; }
  bool operator==(const Recursive &) const { return true; }
};

struct Explicit {
  int value = 0;
  Explicit() = default;
  explicit Explicit(int v) : value(v) {}
  explicit Explicit(const Explicit &) = default;
  Explicit &operator=(const Explicit &) = default;
};

/* Its == does not compile. */
template <class T> struct Wrong {
  T value{};
  friend bool operator==(const Wrong &one, const Wrong &other) { return one.value == other.value; }
};
template <> struct kvo::may_compare<Wrong<Plain>> : std::false_type {};

/* Refers to a value, and is no container of it. */
template <class T> struct Handle {
  using value_type = T;
  std::shared_ptr<T> to = std::make_shared<T>();
  friend bool operator==(const Handle &one, const Handle &other) { return one.to == other.to; }
};

/* Its copy is declared and does not compile. */
struct Album {
  std::vector<std::unique_ptr<Plain>> pictures;
  bool operator==(const Album &other) const { return pictures == other.pictures; }
};
template <> struct kvo::may_copy<Album> : std::false_type {};

/* Shares its elements with its copies. */
template <class T> struct Shared {
  using value_type = T;
  std::shared_ptr<std::vector<T>> to = std::make_shared<std::vector<T>>();
  const T *begin() const { return to->data(); }
  const T *end() const { return begin() + to->size(); }
  friend bool operator==(const Shared &one, const Shared &other) { return one.to == other.to; }
};
using Unshared = std::unique_ptr<int>;
template <> struct kvo::may_copy<Shared<Unshared>> : std::true_type {};
template <> struct kvo::may_compare<Shared<Unshared>> : std::true_type {};

/* Has members of every kind that C lays out. */
struct Inner {
  float real;
  bool flag;
};
KVO_STRUCT(Inner, real, flag)
struct Matrix {
  float row[3];
  int grid[2][2];
  char name[8];
  const long fixed;
  volatile short changing;
  std::array<Inner, 2> inner;
  const char *const text;
  long double wide;
};
KVO_STRUCT(Matrix, row, grid, name, fixed, changing, inner, text, wide)

/* Derived: its members are in two classes. */
struct Derived : Inner {
  double more;
};
KVO_STRUCT(Derived, real, flag, more)

/* C has no encoding of its members. */
struct Unclear {
  std::optional<int> number;
  std::chrono::seconds duration;
};
KVO_STRUCT(Unclear, number, duration)

namespace {

/* Sets a value, and then the same again in a scope that compares, which notifies unless the values are the same: the observer of the
 * property as well as that of an expression. */
template <class T> void check(bool is_same, T first, T second) {
  Holder<T> holder(std::move(first));
  int sets = 0, expressions = 0;
  auto a = kvo::observe(holder, &Holder<T>::value, [&](const kvo::change<T> &change) {
    CHECK(change.old_value != nullptr && change.new_value != nullptr);
    sets++;
  });
  auto b = kvo::observe(
      holder, [&]() -> T { return T(holder.value.get()); }, [&](const kvo::change<T> &) { expressions++; });
  holder.value = T(second);
  CHECK(sets == 1 && expressions == 1);
  {
    kvo::scope comparing(KVO_SCOPE_COALESCES_IF_CHANGED, holder);
    holder.value = T(second);
  }
  CHECK_EQ(sets, is_same ? 1 : 2);
  CHECK_EQ(expressions, is_same ? 1 : 2);
}

template <class T> void check_never_same(T first, T second) { check<T>(false, std::move(first), std::move(second)); }
template <class T> void check_compared(T first, T second) { check<T>(true, std::move(first), std::move(second)); }

/* Sets a value that cannot be copied: observers get the old and the new one. */
template <class T> void check_moved(T value) {
  Holder<T> holder;
  int calls = 0;
  auto token = kvo::observe(holder, &Holder<T>::value, [&](const kvo::change<T> &change) {
    CHECK(change.old_value != nullptr && change.new_value != nullptr);
    calls++;
  });
  holder.value.set(std::move(value));
  CHECK_EQ(calls, 1);
}

class Exact : public kvo::object {
public:
  kvo::property<Explicit> value{this};
  KVO_PROPERTIES(Exact, kvo::object, value)
};

} // namespace

/* -------------------------------------------------------------------------------------------- Comparing and copying -- */

TEST("containers of what has no == are observed, and are never the same") {
  check_never_same<std::map<int, Plain>>({}, {{1, {2}}});
  check_never_same<std::pair<int, Plain>>({}, {1, {2}});
  check_never_same<std::tuple<int, Plain>>({}, {1, {}});
  check_never_same<std::variant<int, Plain>>({}, 2);
  check_never_same<std::array<Plain, 2>>({}, {});
  check_never_same<std::deque<Plain>>({}, {{}});
  check_never_same<std::vector<Plain>>({}, {{}});
  check_never_same<std::optional<Plain>>({}, Plain{});
  check_never_same<std::vector<std::optional<std::list<Plain>>>>({}, {{}});
  check_never_same<std::map<int, std::function<void()>>>({}, {{1, nullptr}});
  check_never_same<std::function<void()>>({}, [] {});
  check_never_same<Wrong<Plain>>({}, {});
}

TEST("what can be compared is, in containers and on its own") {
  check_compared<std::map<std::string, std::vector<int>>>({}, {{"a", {1}}});
  check_compared<std::unordered_map<int, std::string>>({}, {{1, "a"}});
  check_compared<std::set<int>>({}, {1});
  check_compared<std::vector<std::vector<bool>>>({}, {{true}});
  check_compared<std::array<std::string, 2>>({}, {"a", "b"});
  check_compared<std::tuple<int, std::optional<std::string>>>({}, {1, "a"});
  check_compared<std::variant<int, std::string>>(1, "a");
  check_compared<std::chrono::system_clock::time_point>({}, std::chrono::system_clock::now());
  check_compared<std::vector<std::shared_ptr<Plain>>>({}, {std::make_shared<Plain>()});
  check_compared<Wrong<int>>({}, {2});
  check_compared<Recursive>({}, {});
  check_compared<Tree>({}, {});
  std::list<Plain> list(2);
  check_compared<std::list<Plain>::iterator>(list.begin(), list.end());
}

TEST("an == that gives a class is called, and one that throws takes the values for different") {
  check_compared<Asked>({1}, {2});
  check_never_same<Asked>({1}, {13});
}

TEST("a type without a default constructor is observed, alone and in containers") {
  check_compared<Money>(Money(1), Money(2));
  check_compared<std::vector<Money>>({}, {Money(2)});
  check_compared<std::optional<Money>>({}, Money(2));
  check_never_same<Named>(Named("a"), Named("b"));
  check_never_same<std::vector<Named>>({}, {Named("b")});
  check_never_same<std::optional<Named>>({}, Named("b"));
  check_never_same<std::array<Named, 1>>({Named("a")}, {Named("b")});
}

TEST("a type with explicit copies is observed, and set and changed in place") {
  Exact exact;
  int sum = 0;
  auto token = kvo::observe(exact, &Exact::value, [&](const kvo::change<Explicit> &change) {
    sum += 10 * change.old_value->value + change.new_value->value;
  });
  exact.value = Explicit(1);
  exact.value.modify([](Explicit &value) { value.value++; });
  CHECK_EQ(sum, 13);
}

TEST("what refers to a value is copied and compared itself, whatever the value can") {
  check_compared<Handle<std::mutex>>({}, {}); /* and has an old value */
  check_compared<std::vector<Handle<std::mutex>>>({}, {{}});
}

TEST("a program says with may_copy and may_compare what a type can, against what it declares or its elements can") {
  check_moved<Album>({});
  check_moved<std::vector<Album>>(std::vector<Album>(2));
  check_compared<Shared<Unshared>>({}, {});
  check_compared<std::vector<Shared<Unshared>>>({}, {Shared<Unshared>()});
}

TEST("a value that can only be moved, also in containers, is observed with its old value") {
  check_moved<std::unique_ptr<Plain>>(std::make_unique<Plain>());
  check_moved<std::vector<std::unique_ptr<Plain>>>({});
  check_moved<std::map<int, std::vector<std::unique_ptr<Plain>>>>({});
  check_moved<std::queue<std::unique_ptr<Plain>>>({});
}

TEST("of a value that can only be moved every record has the new value, and those of sets the old one") {
  using Pointer = std::unique_ptr<Plain>;
  Holder<Pointer> holder(std::make_unique<Plain>());
  std::string log;
  auto token = kvo::observe(
      holder, &Holder<Pointer>::value,
      [&](const kvo::change<Pointer> &change) {
        CHECK(change.new_value != nullptr && *change.new_value != nullptr);
        log += change.old_value != nullptr ? "old " : "none ";
      },
      KVO_OLD | KVO_NEW | KVO_INITIAL);
  CHECK_EQ(log, "none ");
  holder.value = std::make_unique<Plain>();
  CHECK_EQ(log, "none old ");
  token.pause();
  holder.value = std::make_unique<Plain>();
  token.resume();
  CHECK_EQ(log, "none old none ");
  {
    kvo::scope together(holder);
    holder.value = std::make_unique<Plain>();
  }
  CHECK_OK(kvo_will_change(holder.kvo(), "value"));
  CHECK_OK(kvo_did_change(holder.kvo(), "value"));
  CHECK_EQ(log, "none old none none none ");
}

TEST("an expression that has thrown is delivered without a new value, and without an old one when it has one again") {
  Holder<int> holder(1);
  kvo::set_exception_handler([](std::exception_ptr, const char *) {});
  std::string log;
  auto text = [](const int *value) { return value != nullptr ? std::to_string(*value) : "none"; };
  auto token = kvo::observe(
      holder,
      [&] {
        if (holder.value == 2) throw std::runtime_error("2");
        return holder.value.get();
      },
      [&](const kvo::change<int> &change) { log += text(change.old_value) + ">" + text(change.new_value) + " "; });
  for (int value : {2, 3}) holder.value = value;
  CHECK_EQ(log, "1>none none>3 ");
}

/* ---------------------------------------------------------------------------------------------------------- By key -- */

TEST("a type without a default constructor is read and set by key if C can copy it, and is a mismatch otherwise") {
  Holder<Money> money(Money(1));
  kvo::set(money, "value", Money(7));
  CHECK_EQ(money.value->cents, 7);
  CHECK_EQ(kvo::get<Money>(money, "value").cents, 7);
  CHECK_EQ(kvo::get<std::optional<Money>>(money, "value")->cents, 7);
  CHECK_THROWS(KVO_ERROR_TYPE_MISMATCH, kvo::set(money, "value", 7));
  long seen = 0;
  auto token = kvo::observe(money, "value", [&](const kvo::record &change) {
    seen = change.new_value<Money>()->cents;
    CHECK(!change.new_value<Named>());
  });
  money.value = Money(8);
  CHECK_EQ(seen, 8);
  Holder<std::vector<Money>> list;
  kvo::set(list, "value", std::vector<Money>{Money(1), Money(2)});
  CHECK_EQ(kvo::get<std::vector<Money>>(list, "value").at(1).cents, 2);
  CHECK_THROWS(KVO_ERROR_TYPE_MISMATCH, kvo::set(list, "value", std::vector<int>{1}));
  CHECK_EQ(list.value->size(), 2u);
  Holder<Named> named(Named("a"));
  CHECK_THROWS(KVO_ERROR_TYPE_MISMATCH, kvo::set(named, "value", std::string("b")));
  CHECK_THROWS(KVO_ERROR_TYPE_MISMATCH, kvo::get<Named>(named, "value"));
  CHECK_EQ(named.value->name, "a");
}

TEST("elements without a default constructor and without == are inserted, replaced and removed") {
  using List = std::vector<Named>;
  Holder<List> holder;
  int calls = 0;
  auto token = kvo::observe(holder, &Holder<List>::value, [&](const kvo::change<List> &) { calls++; });
  holder.value.insert_at(0, Named("a"));
  holder.value.replace_at(0, Named("b"));
  CHECK_EQ(holder.value->at(0).name, "b");
  holder.value.remove_at(0);
  CHECK_EQ(calls, 3);
}

TEST("a structure with arrays, structures and constants has the encoding and the size that C gives it") {
  CHECK_EQ(std::string(kvo::encoding<Matrix>::text()), "{Matrix=[3f][2[2i]][8c]ls[2{Inner=fB}]*D}");
  CHECK_EQ(std::string(kvo::encoding<Derived>::text()), "{Derived=fBd}");
  std::size_t size = 0, alignment = 0;
  CHECK_OK(kvo_type_size(kvo::encoding<Matrix>::text(), &size, &alignment));
  CHECK_EQ(size, sizeof(Matrix));
  CHECK_EQ(alignment, alignof(Matrix));
  CHECK_OK(kvo_type_size(kvo::encoding<Derived>::text(), &size, nullptr));
  CHECK_EQ(size, sizeof(Derived));
  Holder<Derived> holder;
  Derived made{};
  made.more = 2.5;
  kvo::set(holder, "value", made);
  CHECK_EQ(kvo::get<Derived>(holder, "value").more, 2.5);
}

TEST("a structure with a member that has no encoding in C is set and read by C++ only") {
  Holder<Unclear> holder;
  const kvo_property *property = kvo_class_property(kvo_object_class(holder.kvo()), "value");
  CHECK_STATUS(kvo_type_size(kvo_property_type(property), nullptr, nullptr), KVO_ERROR_BAD_TYPE_ENCODING);
  kvo::set(holder, "value", Unclear{7, std::chrono::seconds(3)});
  CHECK_EQ(kvo::get<Unclear>(holder, "value").number.value_or(0), 7);
}

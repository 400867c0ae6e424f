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

/* Its == throws. */
struct Asked {
  int value = 0;
  friend bool operator==(const Asked &, const Asked &) { throw std::runtime_error("asked"); }
};

/* Contains itself. */
struct Tree : std::map<std::string, Tree> {};
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

} // namespace

/* -------------------------------------------------------------------------------------------- Comparing and copying -- */

TEST("containers of what has no == are observed, and are never the same, nor is what throws when it is compared") {
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
  check_never_same<Asked>({1}, {1});
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
  check_compared<Tree>({}, {});
  std::list<Plain> list(2);
  check_compared<std::list<Plain>::iterator>(list.begin(), list.end());
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

TEST("what refers to a value is copied and compared itself, whatever the value can") {
  check_compared<Handle<std::mutex>>({}, {}); /* and has an old value */
  check_compared<std::vector<Handle<std::mutex>>>({}, {{}});
}

TEST("a program says with may_copy and may_compare that a type cannot do what it declares") {
  check_moved<Album>({});
  check_moved<std::vector<Album>>(std::vector<Album>(2));
  check_never_same<Wrong<Plain>>({}, {});
  check_never_same<std::vector<Wrong<Plain>>>({}, {{}});
}

TEST("a value that can only be moved, also in containers, is observed with its old value") {
  check_moved<std::unique_ptr<Plain>>(std::make_unique<Plain>());
  check_moved<std::vector<std::unique_ptr<Plain>>>({});
  check_moved<std::map<int, std::vector<std::unique_ptr<Plain>>>>({});
  check_moved<std::queue<std::unique_ptr<Plain>>>({});
}

/* ---------------------------------------------------------------------------------------------------------- By key -- */

TEST("a type without a default constructor is read and set by key if C can copy it, and is a mismatch otherwise") {
  Holder<Money> money(Money(1));
  long seen = 0;
  auto token = kvo::observe(money, "value", [&](const kvo::record &change) {
    seen = change.new_value<Money>()->cents;
    CHECK(!change.new_value<Named>());
  });
  kvo::set(money, "value", Money(7));
  CHECK(money.value->cents == 7 && seen == 7);
  CHECK_EQ(kvo::get<Money>(money, "value").cents, 7);
  CHECK_EQ(kvo::get<std::optional<Money>>(money, "value")->cents, 7);
  CHECK_THROWS(KVO_ERROR_TYPE_MISMATCH, kvo::set(money, "value", 7));
  Holder<std::vector<Money>> list;
  kvo::set(list, "value", std::vector<Money>{Money(1), Money(2)});
  CHECK_EQ(kvo::get<std::vector<Money>>(list, "value").at(1).cents, 2);
  CHECK_THROWS(KVO_ERROR_TYPE_MISMATCH, kvo::set(list, "value", std::vector<int>{1}));
  Holder<Named> named(Named("a"));
  CHECK_THROWS(KVO_ERROR_TYPE_MISMATCH, kvo::set(named, "value", std::string("b")));
  CHECK_THROWS(KVO_ERROR_TYPE_MISMATCH, kvo::get<Named>(named, "value"));
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

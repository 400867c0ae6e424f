/* cxx_pointers.cpp - kvo.hpp: properties that hold objects by pointers of every kind, and elements. */
#include "held.hpp"

#include <kvo/kvo_scope.h>

#include <functional>

namespace {

class Child : public kvo::object {
public:
  explicit Child(const char *first = "kid", int years = 1) : name(this, first), age(this, years) {}
  ~Child() override { ended += name.get() + " "; }
  kvo::property<std::string> name;
  kvo::property<int> age;
  static inline std::string ended;
  KVO_PROPERTIES(Child, kvo::object, name, age)
};

using Owner = Holder<std::unique_ptr<Child>>;
using Family = Holder<std::vector<std::unique_ptr<Child>>>;
using strings = std::vector<std::string>;

/* What an observer of a key path to a string gets, as "old>new ". */
struct log {
  std::string text;
  kvo::token token;
  log(kvo::object &object, const char *key_path)
      : token(kvo::observe(object, key_path, [this](const kvo::record &change) {
          text += change.old_value<std::string>().value_or("nil") + ">" +
                  change.new_value<std::string>().value_or("nil") + " ";
        })) {}
};

/* Whether a key path through a value is notified of a change of the object, and of another value. */
template <class T> void check_followed(T first, T second, Child &of_first, Child &of_second) {
  Holder<T> holder(std::move(first));
  log changes(holder, "value.name");
  of_first.name = "A";
  holder.value = std::move(second);
  of_second.name = "B";
  CHECK_EQ(changes.text, "kid>A A>kid kid>B ");
  CHECK_EQ(kvo::get<std::string>(holder, "value.name"), "B");
}

} // namespace

/* ---------------------------------------------------------------------------------------------------------- Pointers -- */

TEST("a key path leads through every kind of pointer and through a reference") {
  auto raw = [&](auto wrap) {
    Child one, other;
    check_followed(wrap(one), wrap(other), one, other);
  };
  raw([](Child &child) { return &child; });
  raw([](Child &child) { return static_cast<const Child *>(&child); });
  raw([](Child &child) { return static_cast<kvo::object *>(&child); });
  raw([](Child &child) { return std::ref(child); });
  raw([](Child &child) { return std::cref(child); });
  raw([](Child &child) { return std::optional<Child *>(&child); });
  raw([](Child &child) { return std::make_optional(std::ref(child)); });
  raw([](Child &child) { return child.kvo(); });
  auto shared = [&](auto wrap) {
    auto one = std::make_shared<Child>(), other = std::make_shared<Child>();
    check_followed(wrap(one), wrap(other), *one, *other);
  };
  shared([](std::shared_ptr<Child> child) { return child; });
  shared([](std::shared_ptr<Child> child) { return std::shared_ptr<const Child>(child); });
  shared([](std::shared_ptr<Child> child) { return std::weak_ptr<Child>(child); });
  shared([](std::shared_ptr<Child> child) { return std::optional<std::shared_ptr<Child>>(child); });
  auto unique = [&](auto wrap) {
    auto one = std::make_unique<Child>(), other = std::make_unique<Child>();
    Child &first = *one, &second = *other;
    check_followed(wrap(std::move(one)), wrap(std::move(other)), first, second);
  };
  unique([](std::unique_ptr<Child> child) { return child; });
  unique([](std::unique_ptr<Child> child) { return std::unique_ptr<const Child>(std::move(child)); });
  unique([](std::unique_ptr<Child> child) { return std::optional<std::unique_ptr<Child>>(std::move(child)); });
  unique([](std::unique_ptr<Child> child) {
    return std::unique_ptr<Child, std::function<void(Child *)>>(child.release(), [](Child *ended) { delete ended; });
  });
}

TEST("an empty pointer is nil in a key path, and so is the object of a weak pointer that has died") {
  Owner unique;
  Holder<std::weak_ptr<Child>> weak;
  log of_unique(unique, "value.name"), of_weak(weak, "value.name");
  CHECK(!kvo::get<std::optional<std::string>>(unique, "value.name"));
  unique.value = std::make_unique<Child>("Ada");
  unique.value = nullptr;
  CHECK_EQ(of_unique.text, "nil>Ada Ada>nil ");
  auto child = std::make_shared<Child>("Bob");
  weak.value = child;
  child.reset();
  CHECK_EQ(of_weak.text, "nil>Bob Bob>nil ");
}

TEST("an object that a property owns lives until the observers of its replacement have been called") {
  Owner holder(std::make_unique<Child>("Ada"));
  std::string text;
  auto names = [&](const Child &before, const Child &after) {
    text += before.name.get() + ">" + after.name.get() + " ";
  };
  auto a = kvo::observe(holder, &Owner::value, [&](const kvo::change<std::unique_ptr<Child>> &change) {
    names(**change.old_value, **change.new_value);
    CHECK_EQ(Child::ended, "");
  });
  auto b = kvo::observe(holder, "value", [&](const kvo::record &change) {
    names(**change.old_value<Child *>(), **change.new_value<Child *>());
  });
  log path(holder, "value.name");
  holder.value = std::make_unique<Child>("Bob");
  CHECK_EQ(text + path.text, "Ada>Bob Ada>Bob Ada>Bob ");
  CHECK_EQ(Child::ended, "Ada ");
}

TEST(
    "observers of an owner and of a path through it get the objects at the end of a scope, after a pause and initially") {
  Owner holder(std::make_unique<Child>("Ada"));
  std::string text;
  auto token = kvo::observe(
      holder, "value",
      [&](const kvo::record &change) {
        text += (change.old_value<Child *>() ? "old " : "") + (*change.new_value<Child *>())->name.get() + " ";
      },
      KVO_OLD | KVO_NEW | KVO_INITIAL);
  log path(holder, "value.name");
  {
    kvo::scope together(holder);
    holder.value = std::make_unique<Child>("Bob");
    holder.value = std::make_unique<Child>("Carl");
  }
  token.pause();
  path.token.pause();
  holder.value = nullptr;
  holder.value = std::make_unique<Child>("Dora");
  path.token.resume();
  token.resume();
  CHECK_EQ(path.text, "Ada>Carl Carl>Dora ");
  CHECK_EQ(text, "Ada Carl Dora ");
}

TEST("a reference and a pointer to a constant object are read and set by key, and what owns an object is not set") {
  Child one("Ada"), other("Bob");
  Holder<std::reference_wrapper<Child>> reference{one};
  Holder<const Child *> constant{&one};
  Owner owner{std::make_unique<Child>("Carl")};
  kvo::set(reference, "value", &other);
  kvo::set(constant, "value", &other);
  CHECK_EQ(reference.value->get().name.get(), "Bob");
  CHECK(kvo::get<const Child *>(constant, "value") == &other);
  CHECK(&kvo::get<std::reference_wrapper<Child>>(reference, "value").get() == &other);
  CHECK_THROWS(KVO_ERROR_TYPE_MISMATCH, kvo::set(reference, "value", nullptr));
  CHECK_THROWS(KVO_ERROR_TYPE_MISMATCH, kvo::set(reference, "value", static_cast<kvo::object *>(&constant)));
  CHECK_THROWS(KVO_ERROR_TYPE_MISMATCH, kvo::set(owner, "value", &one));
  CHECK_EQ(owner.value->name.get(), "Carl");
  kvo::set(owner, "value", nullptr);
  CHECK(owner.value.get() == nullptr);
}

/* ---------------------------------------------------------------------------------------------------------- Elements -- */

TEST("a vector that owns objects: operators compute with them, and elements are delivered as old ones only") {
  Family family;
  std::string sums, text;
  auto a = kvo::observe(family, "value.@sum.age",
                        [&](const kvo::record &change) { sums += std::to_string(*change.new_value<int>()) + " "; });
  auto b = kvo::observe(family, &Family::value, [&](const kvo::change<std::vector<std::unique_ptr<Child>>> &change) {
    CHECK(change.new_value == nullptr);
    text += std::to_string(int(change.kind)) + "@" + std::to_string(change.indexes[0]);
    text += change.old_value != nullptr ? " old " + change.old_value->at(0)->name.get() + " " : " ";
  });
  family.value.insert_at(0, std::make_unique<Child>("Ada", 5));
  family.value.insert_at(1, std::make_unique<Child>("Bob", 7));
  family.value->at(0)->age = 6;
  family.value.replace_at(0, std::make_unique<Child>("Carl", 1));
  family.value.remove_at(1);
  CHECK_EQ(sums, "5 12 13 8 1 ");
  CHECK_EQ(text, "2@0 2@1 4@0 old Ada 3@1 old Bob ");
  CHECK_EQ(kvo::get<strings>(family, "value.name").at(0), "Carl");
  CHECK_EQ(kvo::get<int>(family, "value.@count"), 1);
}

namespace {

/* Logs each change, and does something once before a change. */
struct watched {
  Holder<strings> holder{{"a", "b", "c"}};
  std::function<void()> before;
  std::string log;
  kvo::token token = kvo::observe(
      holder, &Holder<strings>::value,
      [this](const kvo::change<strings> &change) {
        log += (change.is_prior ? "will" : "did") + std::to_string(int(change.kind));
        for (std::size_t i = 0; i < change.index_count; i++) log += "@" + std::to_string(change.indexes[i]);
        if (change.kind != KVO_CHANGE_SETTING && change.old_value != nullptr) log += " old " + change.old_value->at(0);
        if (change.kind != KVO_CHANGE_SETTING && change.new_value != nullptr) log += " new " + change.new_value->at(0);
        log += "; ";
        if (change.is_prior && before) std::exchange(before, nullptr)();
      },
      KVO_OLD | KVO_NEW | KVO_PRIOR);
};

using change_of_list = void (*)(kvo::property<strings> &);
const change_of_list changes_of_last[] = {[](auto &list) { list.remove_at(2); },
                                          [](auto &list) { list.insert_at(3, "z"); },
                                          [](auto &list) { list.replace_at(2, "z"); }};

} // namespace

TEST("an element that an observer has removed before the change is an std::out_of_range, and nobody is notified") {
  for (auto change : changes_of_last) {
    watched seen;
    seen.before = [&] { seen.holder.value = strings{}; };
    CHECK(thrown_by<std::out_of_range>([&] { change(seen.holder.value); }) != "");
    CHECK(seen.holder.value.get().empty());
    CHECK_EQ(seen.log.find("did1;"), seen.log.rfind("did"));
    seen.log.clear();
    seen.holder.value.insert_at(0, "n");
    CHECK_EQ(seen.log, "will2@0; did2@0 new n; ");
  }
}

TEST("the element delivered as removed or replaced is the one that was, also if an observer has moved the elements") {
  static const char *const logs[] = {"will3@2 old c; will1; did1; did3@2 old b; ",
                                     "will2@3; will1; did1; did2@3 new z; ",
                                     "will4@2 old c; will1; did1; did4@2 old b new z; "};
  for (int i = 0; i < 3; i++) {
    watched seen;
    seen.before = [&] { seen.holder.value.modify([](strings &list) { list.insert(list.begin(), "first"); }); };
    changes_of_last[i](seen.holder.value);
    CHECK_EQ(seen.log, logs[i]);
  }
}

TEST("a wrong index is an std::out_of_range that says how many elements there are, observed or not") {
  watched seen;
  auto &list = seen.holder.value;
  for (int i = 0; i < 2; i++) {
    CHECK_CONTAINS(thrown_by<std::out_of_range>([&] { list.insert_at(4, "z"); }).c_str(), "index 4 of 3 elements");
    CHECK(thrown_by<std::out_of_range>([&] { list.remove_at(3); }) != "");
    CHECK(thrown_by<std::out_of_range>([&] { list.replace_at(3, "z"); }) != "");
    seen.token.cancel();
  }
  CHECK_EQ(seen.log, "");
}

TEST("an element is inserted and replaced from everything that push_back accepts, and converted as there") {
  int number = 5;
  Holder<std::vector<std::size_t>> sizes;
  sizes.value.insert_at(0, number);
  sizes.value.replace_at(0, number + 1);
  CHECK(sizes.value.get() == (std::vector<std::size_t>{6}));
  Holder<std::vector<float>> floats;
  floats.value.insert_at(0, double{0.5});
  CHECK(floats.value.get() == (std::vector<float>{0.5f}));
  Holder<std::vector<std::pair<int, std::string>>> pairs;
  pairs.value.insert_at(0, {number, "five"});
  pairs.value.replace_at(0, {6, "six"});
  const std::pair<int, std::string> seven{7, "seven"};
  pairs.value.insert_at(0, seven);
  CHECK_EQ(pairs.value->at(0).second + pairs.value->at(1).second, "sevensix");
  Holder<std::vector<std::vector<int>>> lists;
  lists.value.insert_at(0, {1, 2});
  lists.value.insert_at(0, std::vector<int>(3));
  CHECK(lists.value.get() == (std::vector<std::vector<int>>{{0, 0, 0}, {1, 2}}));
}

template <class Element, class = void> struct takes : std::false_type {};
template <class Element>
struct takes<Element,
             std::void_t<decltype(std::declval<kvo::property<strings> &>().insert_at(0, std::declval<Element>())),
                         decltype(std::declval<kvo::property<strings> &>().replace_at(0, std::declval<Element>()))>>
    : std::true_type {};

TEST("a number of elements is no element, and neither is a vector") {
  CHECK(!takes<int>::value && !takes<std::size_t>::value && !takes<strings>::value);
  CHECK(takes<const char *>::value && takes<std::string &>::value);
}

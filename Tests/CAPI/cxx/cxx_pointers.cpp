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

TEST("an expression is notified once an object that it reads has been replaced in an observer, or in a scope, of it") {
  Owner holder(std::make_unique<Child>());
  std::string seen;
  auto ages = kvo::observe(
      holder, [&] { return (*holder.value)->age.get(); },
      [&](const kvo::change<int> &change) { seen += std::to_string(*change.new_value) + " "; });
  auto replaces =
      kvo::observe(**holder.value, &Child::age, [&](auto &) { holder.value = std::make_unique<Child>("", 3); });
  (*holder.value)->age = 2;
  {
    kvo::scope together(**holder.value);
    (*holder.value)->age = 4;
    holder.value = std::make_unique<Child>("", 5);
    CHECK_EQ(seen, "3 ");
  }
  CHECK_EQ(seen, "3 5 ");
}

TEST("a shared object lives as long, whether or not an observer has asked for the old value or for the prior change") {
  using List = std::vector<std::shared_ptr<Child>>;
  for (kvo_options options : {kvo_options(KVO_NEW), KVO_NEW | KVO_PRIOR, KVO_NEW | KVO_OLD | KVO_PRIOR}) {
    Child::ended = "";
    Holder<std::shared_ptr<Child>> one(std::make_shared<Child>("Ada"));
    Holder<List> many({std::make_shared<Child>("Bob"), std::make_shared<Child>("Carl")});
    std::string seen;
    auto see = [&](const auto &change) {
      if (!change.is_prior) seen += Child::ended + ";";
    };
    auto a = kvo::observe(one, &Holder<std::shared_ptr<Child>>::value, see, options);
    auto b = kvo::observe(many, &Holder<List>::value, see, options);
    one.value = std::make_shared<Child>("Dan");
    many.value.replace_at(0, std::make_shared<Child>("Eve"));
    many.value.remove_at(1);
    CHECK_EQ(seen, ";Ada ;Ada Bob ;");
    CHECK_EQ(Child::ended, "Ada Bob Carl ");
  }
}

TEST("the object of a weak pointer at the end of a path has died, and is no old value") {
  Holder<std::weak_ptr<Child>> document;
  Holder<Holder<std::weak_ptr<Child>> *> root(&document);
  std::string seen;
  auto token = kvo::observe(root, "value.value", [&](const kvo::record &change) {
    auto name = [](std::optional<Child *> child) { return child && *child != nullptr ? (*child)->name.get() : "nil"; };
    seen += name(change.old_value<Child *>()) + ">" + name(change.new_value<Child *>()) + " ";
  });
  std::shared_ptr<Child> child(new Child("Ada"));
  document.value = child;
  child.reset();
  std::shared_ptr<Child> other(new Child("Bob")); /* often in the memory of the first one */
  document.value = other;
  document.value = std::weak_ptr<Child>();
  CHECK_EQ(seen, "nil>Ada nil>Bob Bob>nil ");
}

TEST("the death of an object does not evaluate an expression that has read it, which goes on with the others") {
  std::vector<std::shared_ptr<Child>> kids; /* no property: its changes do not notify */
  for (int i = 1; i < 4; i++) kids.push_back(std::make_shared<Child>("kid", i));
  Holder<int> root(10), target;
  int evaluations = 0;
  auto sum = [&] {
    evaluations++;
    int made = root.value;
    for (const auto &kid : kids) made += kid->age;
    return made;
  };
  std::string seen;
  auto token = kvo::observe(root, sum, [&](const kvo::change<int> &change) {
    seen += std::to_string(*change.old_value) + ">" + std::to_string(*change.new_value) + " ";
  });
  auto bound = kvo::bind(target, &Holder<int>::value, sum);
  int before = evaluations;
  kids.erase(kids.begin()); /* in the middle of which the first one is destroyed */
  CHECK_EQ(evaluations, before);
  kids[0]->age = 7;
  CHECK_EQ(seen, "16>20 ");
  CHECK_EQ(target.value.get(), 20);
}

TEST("an expression is notified of the death of an object behind a weak pointer that it has read") {
  Holder<std::weak_ptr<Child>> one;
  Holder<std::optional<std::weak_ptr<Child>>> maybe;
  Holder<std::vector<std::weak_ptr<Child>>> many;
  std::shared_ptr<Child> ada(new Child("Ada")), bob(new Child("Bob")), carl(new Child("Carl"));
  one.value = ada;
  maybe.value = bob;
  many.value = {carl, std::weak_ptr<Child>()};
  std::string seen;
  auto count = [&](const kvo::change<int> &change) { seen += std::to_string(*change.new_value) + " "; };
  auto is_there = [](const std::weak_ptr<Child> &child) { return child.lock() != nullptr ? 1 : 0; };
  auto token = kvo::observe(
      one, [&] { return is_there(one.value) + is_there(**maybe.value) + is_there(many.value[0]); }, count);
  ada.reset();
  bob.reset();
  carl.reset();
  CHECK_EQ(seen, "2 1 0 ");
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

TEST("a wrong index is an std::out_of_range that says how many elements there are, observed or not") {
  Holder<strings> holder({"a", "b", "c"});
  int calls = 0;
  auto token = kvo::observe(holder, &Holder<strings>::value, [&](const auto &) { calls++; });
  for (int i = 0; i < 2; i++) {
    CHECK_CONTAINS(thrown_by<std::out_of_range>([&] { holder.value.insert_at(4, "z"); }).c_str(),
                   "index 4 of 3 elements");
    CHECK(thrown_by<std::out_of_range>([&] { holder.value.remove_at(3); }) != "");
    CHECK(thrown_by<std::out_of_range>([&] { holder.value.replace_at(3, "z"); }) != "");
    token.cancel();
  }
  CHECK_EQ(calls, 0);
}

namespace {

/* Has neither == nor a default constructor. */
struct Named {
  std::string name;
  explicit Named(const char *text) : name(text) {}
};

} // namespace

TEST("an element of any type is inserted and replaced from everything that push_back accepts, and converted as there") {
  int number = 5;
  Holder<std::vector<std::size_t>> sizes;
  sizes.value.insert_at(0, number);
  sizes.value.replace_at(0, number + 1);
  CHECK(sizes.value.get() == (std::vector<std::size_t>{6}));
  Holder<std::vector<std::pair<int, std::string>>> pairs;
  const std::pair<int, std::string> seven{7, "seven"};
  pairs.value.insert_at(0, {number, "five"});
  pairs.value.replace_at(0, {6, "six"});
  pairs.value.insert_at(0, seven);
  CHECK_EQ(pairs.value->at(0).second + pairs.value->at(1).second, "sevensix");
  using List = std::vector<Named>;
  Holder<List> list;
  int calls = 0;
  auto token = kvo::observe(list, &Holder<List>::value, [&](const kvo::change<List> &) { calls++; });
  list.value.insert_at(0, Named("a"));
  list.value.replace_at(0, Named("b"));
  CHECK_EQ(list.value->at(0).name, "b");
  list.value.remove_at(0);
  CHECK_EQ(calls, 3);
}

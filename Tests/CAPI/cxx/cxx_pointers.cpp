/* cxx_pointers.cpp - kvo.hpp: key paths through pointers of every kind, and what owns an object. */
#include <kvo/kvo.hpp>
#include <kvo/kvo_scope.h>

#include <functional>

#include "harness.h"

namespace {

class Child : public kvo::object {
public:
  explicit Child(const char *first = "kid", int years = 1) : name(this, first), age(this, years) {}
  ~Child() override { *ended += name.get() + " "; }
  kvo::property<std::string> name;
  kvo::property<int> age;
  static std::string *ended;
  KVO_PROPERTIES(Child, kvo::object, name, age)
};
std::string nothing;
std::string *Child::ended = &nothing;

template <class T> class Holder : public kvo::object {
public:
  explicit Holder(T first = T()) : value(this, std::move(first)) {}
  kvo::property<T> value;
  KVO_PROPERTIES(Holder, kvo::object, value)
};

/* What an observer of a key path to a string gets, as "old>new ". */
struct log {
  std::string text;
  kvo::token token;
  log(kvo::object &object, const char *key_path, kvo_options options = KVO_OLD | KVO_NEW)
      : token(kvo::observe(
            object, key_path,
            [this](const kvo::record &change) {
              text += change.old_value<std::string>().value_or("nil") + ">" +
                      change.new_value<std::string>().value_or("nil") + " ";
            },
            options)) {}
};

/* Whether a key path through a value is notified of a change of the object, and of another value, and is nil where there is no object. */
template <class T> std::string followed(T first, T second, Child &of_first, Child &of_second) {
  Holder<T> holder(std::move(first));
  log heard(holder, "value.name");
  of_first.name = "A";
  holder.value = std::move(second);
  of_second.name = "B";
  heard.text += kvo::get<std::string>(holder, "value.name");
  heard.token.cancel();
  return heard.text;
}

} // namespace

TEST("a key path leads through every kind of pointer and through a reference") {
  const std::string expected = "kid>A A>kid kid>B B";
  auto raw = [&](auto wrap) {
    Child one, other;
    CHECK_EQ(followed(wrap(one), wrap(other), one, other), expected);
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
    CHECK_EQ(followed(wrap(one), wrap(other), *one, *other), expected);
  };
  shared([](std::shared_ptr<Child> child) { return child; });
  shared([](std::shared_ptr<Child> child) { return std::shared_ptr<const Child>(child); });
  shared([](std::shared_ptr<Child> child) { return std::weak_ptr<Child>(child); });
  shared([](std::shared_ptr<Child> child) { return std::optional<std::shared_ptr<Child>>(child); });
  auto unique = [&](auto wrap) {
    auto one = std::make_unique<Child>(), other = std::make_unique<Child>();
    Child &first = *one, &second = *other;
    CHECK_EQ(followed(wrap(std::move(one)), wrap(std::move(other)), first, second), expected);
  };
  unique([](std::unique_ptr<Child> child) { return child; });
  unique([](std::unique_ptr<Child> child) { return std::unique_ptr<const Child>(std::move(child)); });
  unique([](std::unique_ptr<Child> child) { return std::optional<std::unique_ptr<Child>>(std::move(child)); });
  unique([](std::unique_ptr<Child> child) {
    return std::unique_ptr<Child, std::function<void(Child *)>>(child.release(), [](Child *ended) { delete ended; });
  });
}

TEST("an empty pointer is nil in a key path, and so is the object of a weak pointer that has died") {
  Holder<std::unique_ptr<Child>> unique;
  Holder<std::weak_ptr<Child>> weak;
  log a(unique, "value.name"), b(weak, "value.name");
  CHECK(!kvo::get<std::optional<std::string>>(unique, "value.name"));
  unique.value = std::make_unique<Child>("Ada");
  unique.value = nullptr;
  CHECK_EQ(a.text, "nil>Ada Ada>nil ");
  auto child = std::make_shared<Child>("Bob");
  weak.value = child;
  child.reset();
  CHECK_EQ(b.text, "nil>Bob Bob>nil ");
  CHECK(!kvo::get<std::optional<std::string>>(weak, "value.name"));
}

TEST("an object that a property owns lives until the observers of its replacement have been called") {
  std::string ended;
  Child::ended = &ended;
  {
    Holder<std::unique_ptr<Child>> holder(std::make_unique<Child>("Ada"));
    std::string text;
    auto a = kvo::observe(
        holder, &Holder<std::unique_ptr<Child>>::value,
        [&](const kvo::change<std::unique_ptr<Child>> &change) {
          if (change.is_prior) CHECK(change.new_value == nullptr);
          text += (*change.old_value)->name.get() + (change.is_prior ? "? " : ">" + (*change.new_value)->name.get());
          CHECK_EQ(ended, "");
        },
        KVO_OLD | KVO_NEW | KVO_PRIOR);
    auto b = kvo::observe(holder, "value", [&](const kvo::record &change) {
      CHECK_EQ((*change.old_value<Child *>())->name.get(), "Ada");
      CHECK_EQ((*change.new_value<Child *>())->name.get(), "Bob");
      text += " text";
    });
    log path(holder, "value.name");
    holder.value = std::make_unique<Child>("Bob");
    CHECK_EQ(text, "Ada? "
                   " textAda>Bob");
    CHECK_EQ(path.text, "Ada>Bob ");
    CHECK_EQ(ended, "Ada ");
  }
  CHECK_EQ(ended, "Ada Bob ");
  Child::ended = &nothing;
}

TEST("an observer of a key gets the object that a property owns initially, after a pause and at the end of a scope") {
  using Owner = Holder<std::unique_ptr<Child>>;
  Owner holder(std::make_unique<Child>("Ada"));
  std::string text;
  auto token = kvo::observe(
      holder, "value",
      [&](const kvo::record &change) {
        text += (change.old_value<Child *>() ? "old " : "") + (*change.new_value<Child *>())->name.get() + " ";
      },
      KVO_OLD | KVO_NEW | KVO_INITIAL);
  token.pause();
  holder.value = std::make_unique<Child>("Bob");
  token.resume();
  kvo_object *object = holder.kvo();
  kvo_scope scope;
  CHECK_OK(kvo_scope_begin(&scope, KVO_SCOPE_COALESCES_IF_CHANGED, &object, 1, nullptr, 0));
  holder.value = std::make_unique<Child>("Carl");
  holder.value = std::make_unique<Child>("Dora");
  kvo_scope_end(&scope);
  CHECK_EQ(text, "Ada Bob Dora ");
}

TEST(
    "a key path through an owner is told at the end of a scope and after a pause what it leads to, and what it led to") {
  Holder<std::unique_ptr<Child>> holder(std::make_unique<Child>("Ada"));
  log path(holder, "value.name");
  kvo_object *object = holder.kvo();
  kvo_scope scope;
  CHECK_OK(kvo_scope_begin(&scope, KVO_SCOPE_COALESCES, &object, 1, nullptr, 0));
  holder.value = std::make_unique<Child>("Bob");
  holder.value = std::make_unique<Child>("Carl");
  kvo_scope_end(&scope);
  path.token.pause();
  holder.value = nullptr;
  holder.value = std::make_unique<Child>("Dora");
  path.token.resume();
  CHECK_EQ(path.text, "Ada>Carl Carl>Dora ");
}

TEST("operators compute with the objects that a vector owns, also after its elements have changed") {
  using Family = Holder<std::vector<std::unique_ptr<Child>>>;
  Family family;
  std::string counts, sums;
  auto a = kvo::observe(family, "value.@count", [&](const kvo::record &change) {
    counts += std::to_string(*change.old_value<int>()) + ">" + std::to_string(*change.new_value<int>()) + " ";
  });
  auto b = kvo::observe(family, "value.@sum.age",
                        [&](const kvo::record &change) { sums += std::to_string(*change.new_value<int>()) + " "; });
  family.value.insert_at(0, std::make_unique<Child>("Ada", 5));
  family.value.insert_at(1, std::make_unique<Child>("Bob", 7));
  family.value->at(0)->age = 6;
  family.value.replace_at(0, std::make_unique<Child>("Carl", 1));
  family.value.remove_at(1);
  CHECK_EQ(counts, "0>1 1>2 2>2 2>1 ");
  CHECK_EQ(sums, "5 12 13 8 1 ");
  CHECK_EQ(kvo::get<std::vector<std::string>>(family, "value.name").at(0), "Carl");
  std::size_t count = 0;
  CHECK_OK(kvo_list_count(family.kvo(), "value", &count));
  CHECK_EQ(count, 1u);
}

TEST("an element that a vector owns is inserted without its new value, and removed and replaced with its old one") {
  using Family = Holder<std::vector<std::unique_ptr<Child>>>;
  Family family;
  std::string text;
  auto token =
      kvo::observe(family, &Family::value, [&](const kvo::change<std::vector<std::unique_ptr<Child>>> &change) {
        CHECK(change.new_value == nullptr);
        text += std::to_string(int(change.kind)) + "@" + std::to_string(change.indexes[0]);
        text += change.old_value != nullptr ? " old " + change.old_value->at(0)->name.get() + " " : " ";
      });
  family.value.insert_at(0, std::make_unique<Child>("Ada"));
  family.value.replace_at(0, std::make_unique<Child>("Bob"));
  family.value.remove_at(0);
  CHECK_EQ(text, "2@0 4@0 old Ada 3@0 old Bob ");
}

TEST("a reference and a pointer to a constant object are read and set by key, and what owns an object is not set") {
  Child one("Ada"), other("Bob");
  Holder<std::reference_wrapper<Child>> reference{one};
  Holder<const Child *> constant{&one};
  Holder<std::unique_ptr<Child>> owner{std::make_unique<Child>("Carl")};
  auto status = [&](auto &holder, auto value) {
    try {
      kvo::set(holder, "value", value);
    } catch (const kvo::error &error) {
      return error.status();
    }
    return KVO_OK;
  };
  CHECK_OK(status(reference, &other));
  CHECK_OK(status(constant, &other));
  CHECK_EQ(reference.value->get().name.get(), "Bob");
  CHECK(constant.value.get() == &other);
  CHECK(kvo::get<const Child *>(constant, "value") == &other);
  CHECK(&kvo::get<std::reference_wrapper<Child>>(reference, "value").get() == &other);
  CHECK_STATUS(status(reference, nullptr), KVO_ERROR_TYPE_MISMATCH);
  CHECK_STATUS(status(reference, static_cast<kvo::object *>(&constant)), KVO_ERROR_TYPE_MISMATCH);
  CHECK_STATUS(status(owner, &one), KVO_ERROR_TYPE_MISMATCH);
  CHECK_EQ(owner.value->name.get(), "Carl");
  CHECK_OK(status(owner, nullptr));
  CHECK(owner.value.get() == nullptr);
}

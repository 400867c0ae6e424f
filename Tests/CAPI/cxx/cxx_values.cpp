/* cxx_values.cpp - kvo.hpp: values that are read and set as another type of C++ than the property's; with the extensions of GNU, which make
 * integers of 128 bits arithmetic types. */
#include "held.hpp"

#include <cmath>
#include <cstdint>
#include <limits>

extern "C" {
#include "fixture.h"
}

#ifdef __SIZEOF_INT128__
__extension__ using Large = __int128;
struct Pair {
  Large large;
  int number;
};
KVO_STRUCT(Pair, large, number)
#endif

namespace {

enum class Level : std::uint8_t { low = 1, high = 250 };
enum class Wide { value = 7 };

class Parent : public kvo::object {
public:
  kvo::property<std::vector<std::shared_ptr<Parent>>> kids{this};
  kvo::property<Parent *> first{this, nullptr};
  kvo::property<std::shared_ptr<Parent>> shared{this};
  kvo::property<std::optional<std::string>> note{this};
  kvo::property<double> real{this, 0.1};
  kvo::property<float> narrow{this, 0.1f};
  kvo::property<long double> wide{this, 3};
  kvo::property<int> number{this, 300};
  kvo::property<unsigned long long> large{this, UINT64_MAX};
  kvo::property<bool> flag{this, true};
  kvo::property<Level> level{this, Level::low};
  kvo::property<std::string> text{this, "42"};
  kvo::property<std::vector<int>> marks{this};
  KVO_PROPERTIES(Parent, kvo::object, kids, first, shared, note, real, narrow, wide, number, large, flag, level, text,
                 marks)
};

template <class T> void check_mismatch(Parent &parent, const char *key_path) {
  CHECK_THROWS(KVO_ERROR_TYPE_MISMATCH, kvo::get<T>(parent, key_path));
}

} // namespace

/* ----------------------------------------------------------------------------------------------------------- Numbers -- */

TEST("a count is read and observed as every type that can represent it") {
  Parent parent;
  int calls = 0;
  auto token = kvo::observe(parent, "kids.@count", [&](const kvo::record &change) {
    CHECK(change.old_value<double>() == 0 && change.new_value<long>() == 1 && !change.new_value<std::string>());
    calls++;
  });
  parent.kids.insert_at(0, std::make_shared<Parent>());
  CHECK_EQ(calls, 1);
  CHECK_EQ(kvo::get<unsigned char>(parent, "kids.@count"), 1);
  CHECK_EQ(kvo::get<std::size_t>(parent, "kids.@count"), 1u);
  CHECK_EQ(kvo::get<long double>(parent, "kids.@count"), 1.0L);
  CHECK(kvo::get<bool>(parent, "kids.@count"));
  CHECK(kvo::get<std::optional<long>>(parent, "kids.@count") == 1);
}

TEST("an integer is read as another type if that represents it, and refused otherwise") {
  Parent parent;
  CHECK_EQ(kvo::get<long>(parent, "number"), 300);
  check_mismatch<signed char>(parent, "number");
  check_mismatch<unsigned char>(parent, "number");
  check_mismatch<bool>(parent, "number");
  check_mismatch<Level>(parent, "number");
  CHECK_EQ(kvo::get<std::uint64_t>(parent, "large"), UINT64_MAX);
  if (std::numeric_limits<long double>::digits >= 64)
    CHECK(kvo::get<long double>(parent, "large") == static_cast<long double>(UINT64_MAX));
  check_mismatch<std::int64_t>(parent, "large");
  check_mismatch<int>(parent, "real");
  CHECK_EQ(kvo::get<int>(parent, "wide"), 3);
  CHECK_EQ(kvo::get<int>(parent, "flag"), 1);
  CHECK_EQ(kvo::get<int>(parent, "level"), 1);
  CHECK(kvo::get<Wide>(parent, "level") == Wide{1});
  const std::uint64_t odd = (UINT64_C(1) << 53) + 1; /* no double represents it */
  parent.large = odd;
  check_mismatch<double>(parent, "large");
  check_mismatch<std::optional<double>>(parent, "large");
  check_mismatch<float>(parent, "large");
  parent.large = odd - 1;
  CHECK(kvo::get<double>(parent, "large") == 9007199254740992.0);
}

TEST("a float and a double are the same number if their shortest notations are, and a text is the number that it is") {
  Parent parent;
  CHECK(kvo::get<float>(parent, "real") == 0.1f);
  CHECK(kvo::get<double>(parent, "narrow") == static_cast<double>(0.1f));
  parent.real = 0.1 + 0.2;
  check_mismatch<float>(parent, "real");
  parent.real = 1e300;
  check_mismatch<float>(parent, "real");
  parent.real = std::nan("");
  CHECK(std::isnan(kvo::get<float>(parent, "real")) && std::isnan(kvo::get<long double>(parent, "real")));
  CHECK_EQ(kvo::get<int>(parent, "text"), 42);
  check_mismatch<std::string>(parent, "number");
  parent.text = "x";
  check_mismatch<int>(parent, "text");
}

TEST("set converts to the property's type, also the elements of a vector, and refuses what would be lost") {
  Parent parent;
  kvo::set(parent, "narrow", 3);
  kvo::set(parent, "number", 7.0);
  kvo::set(parent, "level", 250);
  kvo::set(parent, "marks", std::vector<long>{1, 1000});
  CHECK(parent.narrow.get() == 3.0f && parent.level.get() == Level::high);
  CHECK(parent.marks.get() == (std::vector<int>{1, 1000}));
  CHECK(kvo::get<std::vector<double>>(parent, "marks") == (std::vector<double>{1, 1000}));
  check_mismatch<std::vector<signed char>>(parent, "marks");
  CHECK_THROWS(KVO_ERROR_TYPE_MISMATCH, kvo::set(parent, "number", 7.5));
  CHECK_EQ(parent.number.get(), 7);
}

#ifdef __SIZEOF_INT128__
#endif

/* -------------------------------------------------------------------------------------------------- Strings and nil -- */

TEST("a string of C that is NULL is an empty optional, and no std::string") {
  item *object = item_make(1);
  CHECK(!kvo::get<std::optional<std::string>>(&object->header, "name"));
  CHECK_THROWS(KVO_ERROR_TYPE_MISMATCH, kvo::get<std::string>(&object->header, "name"));
  item_destroy(object);
}

TEST("every string of C++ and of C is set as a string, and a null pointer to characters is nil") {
  Parent parent;
  char array[] = "array", *pointer = array + 1, *const constant = array + 2;
  const char fixed[] = "fixed", *none = nullptr;
  auto set = [&](const auto &value) {
    kvo::set(parent, "note", value);
    kvo::set(parent.kvo(), "text", value);
    CHECK(parent.note.get() == parent.text.get());
    return parent.text.get();
  };
  CHECK_EQ(set(array), "array");
  CHECK_EQ(set(pointer), "rray");
  CHECK_EQ(set(constant), "ray");
  CHECK_EQ(set(fixed), "fixed");
  CHECK_EQ(set("literal"), "literal");
  CHECK_EQ(set(std::string_view("view").substr(1)), "iew");
  CHECK_EQ(set(std::string("string")), "string");
  kvo::set(parent, "note", none);
  CHECK(!parent.note->has_value());
  CHECK_THROWS(KVO_ERROR_TYPE_MISMATCH, kvo::set(parent.kvo(), "text", none));
}

TEST("nullptr, std::nullopt and an empty optional are set as nil, and a property as its value") {
  Parent parent, other;
  auto check_nil = [&](auto nil) {
    parent.note = "note";
    kvo::set(parent, "note", nil);
    CHECK(!parent.note->has_value());
  };
  check_nil(nullptr);
  check_nil(std::nullopt);
  check_nil(std::optional<std::string_view>());
  kvo::set(parent, "note", std::optional(std::string_view("a view", 1)));
  CHECK(parent.note.get() == "a");
  CHECK_THROWS(KVO_ERROR_TYPE_MISMATCH, kvo::set(parent, "number", nullptr));
  other.first = &parent;
  other.marks.set({1, 2});
  kvo::set(parent, "first", other.first);
  kvo::set(parent, "number", other.text);
  kvo::set(parent.kvo(), "marks", other.marks);
  CHECK(parent.first.get() == &parent && parent.number.get() == 42 && parent.marks->size() == 2);
}

TEST("a property that refers to characters is read by key, and set by C++ only, because they may not outlive a call") {
  char buffer[] = "value";
  Holder<const char *> one("value");
  Holder<std::optional<const char *>> maybe("value");
  Holder<std::vector<const char *>> many({"value"});
  Holder<char *> variable(buffer);
  std::string observed;
  auto token = kvo::observe(one, "value", [&](const kvo::record &change) {
    observed += change.old_value<std::string>().value_or("?") + change.new_value<const char *>().value_or("?");
  });
  for (kvo_object *object : {one.kvo(), maybe.kvo(), variable.kvo()}) {
    CHECK_STATUS(kvo_set_string(object, "value", "a string that dies soon"), KVO_ERROR_READ_ONLY);
    CHECK_STATUS(kvo_set_string(object, "value", nullptr), KVO_ERROR_READ_ONLY);
    CHECK_EQ(kvo::get<std::string>(object, "value"), "value");
  }
  CHECK_THROWS(KVO_ERROR_READ_ONLY, kvo::set(many, "value", std::vector<std::string>{"a string that dies soon"}));
  CHECK_CONTAINS(kvo_last_error(), "the property has no setter");
  CHECK_EQ(kvo::get<std::vector<std::string>>(many, "value").at(0), "value");
  one.value = "two";
  CHECK_EQ(observed, "valuetwo");
}

TEST("the new value of a record is a copy, which stays as it was whatever the observer sets") {
  Parent parent;
  std::string seen;
  auto token = kvo::observe(parent, "text", [&](const kvo::record &change) {
    if (parent.text.get()[0] == 'a') parent.text = std::string(100, 'b');
    seen += *change.new_value<std::string>() + " ";
  });
  parent.text = std::string(100, 'a');
  CHECK_EQ(seen, std::string(100, 'b') + " " + std::string(100, 'a') + " ");
}

TEST("a string with a NUL inside is observed in C++, and a mismatch for C, which would cut it") {
  Parent parent;
  const std::string cut("a\0b", 3);
  std::string seen;
  auto typed = kvo::observe(parent, &Parent::text, [&](const auto &change) { seen += *change.new_value; });
  auto text = kvo::observe(parent, "text", [&](const kvo::record &change) {
    CHECK(!change.new_value<std::string>());
    CHECK(change.old_value<std::string>() == "42");
  });
  parent.text = cut;
  CHECK(seen == cut);
  check_mismatch<std::string>(parent, "text");
  check_mismatch<std::optional<std::string>>(parent, "text");
  CHECK_THROWS(KVO_ERROR_TYPE_MISMATCH, kvo::set(parent, "note", cut));
  CHECK_THROWS(KVO_ERROR_TYPE_MISMATCH, kvo::set(parent, "note", std::string_view(cut)));
  CHECK(!parent.note->has_value());
}

/* ----------------------------------------------------------------------------------------------------------- Objects -- */

TEST("an object is read as the header of every language, and nil as a null pointer") {
  Parent parent, child;
  CHECK(kvo::get<kvo_object *>(parent, "first") == nullptr);
  CHECK(kvo::get<Parent *>(parent, "first") == nullptr);
  parent.first = &child;
  CHECK(kvo::get<kvo_object *>(parent, "first") == child.kvo());
  CHECK(kvo::get<Parent *>(parent, "first") == &child);
  check_mismatch<Holder<int> *>(parent, "first");
}

TEST("an arrow leads to the members of the object that a pointer refers to, and to those of another value") {
  Parent parent, child;
  std::string log;
  parent.first = &child;
  parent.shared = std::make_shared<Parent>();
  auto token = kvo::observe(
      parent, [&] { return parent.first->text.get(); },
      [&](const kvo::change<std::string> &change) { log += *change.new_value; });
  parent.first->text = "Ann";
  parent.shared->text = "Bob";
  CHECK_EQ(log + child.text.get() + parent.shared.get()->text.get(), "AnnAnnBob");
  CHECK_EQ(parent.text->size(), 2u);
  CHECK(!parent.note->has_value());
}

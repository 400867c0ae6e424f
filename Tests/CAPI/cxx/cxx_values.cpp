/* cxx_values.cpp - kvo.hpp: values that are read and set as another type of C++ than the property's. */
#include <kvo/kvo.hpp>

#include <cmath>
#include <cstdint>
#include <limits>

#include "harness.h"

namespace {

enum class Level : std::uint8_t { low = 1, high = 250 };
enum class Wide { value = 7 };

class Child : public kvo::object {
public:
  kvo::property<std::string> name{this, "kid"};
  kvo::property<float> price{this, 0.1f};
  KVO_PROPERTIES(Child, kvo::object, name, price)
};

class Parent : public kvo::object {
public:
  kvo::property<std::vector<std::shared_ptr<Child>>> kids{this};
  kvo::property<Child *> first{this, nullptr};
  kvo::property<std::shared_ptr<Child>> shared{this};
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

/* The status with which reading a key path as a T fails; KVO_OK if it does not. */
template <class T> kvo_status read_status(Parent &parent, const char *key_path) {
  try {
    kvo::get<T>(parent, key_path);
  } catch (const kvo::error &error) {
    return error.status();
  }
  return KVO_OK;
}

} // namespace

TEST("a count is read as every type of integer, and as a double") {
  Parent parent;
  parent.kids.insert_at(0, std::make_shared<Child>());
  CHECK_EQ(kvo::get<std::int64_t>(parent, "kids.@count"), 1);
  CHECK_EQ(kvo::get<int>(parent, "kids.@count"), 1);
  CHECK_EQ(kvo::get<unsigned char>(parent, "kids.@count"), 1);
  CHECK_EQ(kvo::get<std::size_t>(parent, "kids.@count"), 1u);
  CHECK_EQ(kvo::get<double>(parent, "kids.@count"), 1.0);
  CHECK_EQ(kvo::get<long double>(parent, "kids.@count"), 1.0L);
  CHECK(kvo::get<bool>(parent, "kids.@count"));
  CHECK(kvo::get<std::optional<long>>(parent, "kids.@count") == 1);
}

TEST("an observed count is given as every type that can represent it") {
  Parent parent;
  std::string log;
  auto token = kvo::observe(parent, "kids.@count", [&](const kvo::record &change) {
    log += std::to_string(change.new_value<long>().value_or(-1)) +
           std::to_string(change.new_value<int>().value_or(-1)) +
           std::to_string(int(change.old_value<double>().value_or(-1))) + " ";
    CHECK(!change.new_value<std::string>());
  });
  parent.kids.insert_at(0, std::make_shared<Child>());
  parent.kids.insert_at(0, std::make_shared<Child>());
  CHECK_EQ(log, "110 221 ");
}

TEST("a number is read as another type if that represents it, and refused otherwise") {
  Parent parent;
  CHECK_EQ(kvo::get<long>(parent, "number"), 300);
  CHECK_STATUS(read_status<signed char>(parent, "number"), KVO_ERROR_TYPE_MISMATCH);
  CHECK_STATUS(read_status<unsigned char>(parent, "number"), KVO_ERROR_TYPE_MISMATCH);
  CHECK_STATUS(read_status<bool>(parent, "number"), KVO_ERROR_TYPE_MISMATCH);
  CHECK_STATUS(read_status<std::int64_t>(parent, "large"), KVO_ERROR_TYPE_MISMATCH);
  CHECK_EQ(kvo::get<std::uint64_t>(parent, "large"), UINT64_MAX);
  if (std::numeric_limits<long double>::digits >= 64)
    CHECK(kvo::get<long double>(parent, "large") == static_cast<long double>(UINT64_MAX));
  CHECK_STATUS(read_status<int>(parent, "real"), KVO_ERROR_TYPE_MISMATCH);
  CHECK_EQ(kvo::get<int>(parent, "wide"), 3);
  CHECK_EQ(kvo::get<int>(parent, "flag"), 1);
  CHECK_EQ(kvo::get<int>(parent, "level"), 1);
  CHECK(kvo::get<Wide>(parent, "level") == Wide{1});
  CHECK_STATUS(read_status<Level>(parent, "number"), KVO_ERROR_TYPE_MISMATCH);
}

TEST("an integer that a double does not represent is neither read as one nor set, and a long double has it") {
  Parent parent;
  const std::int64_t odd = (INT64_C(1) << 53) + 1;
  parent.large = static_cast<unsigned long long>(odd);
  CHECK_STATUS(read_status<double>(parent, "large"), KVO_ERROR_TYPE_MISMATCH);
  CHECK_STATUS(read_status<std::optional<double>>(parent, "large"), KVO_ERROR_TYPE_MISMATCH);
  CHECK_STATUS(read_status<float>(parent, "large"), KVO_ERROR_TYPE_MISMATCH);
  CHECK_STATUS(kvo_set_int64(parent.kvo(), "real", odd), KVO_ERROR_TYPE_MISMATCH);
  CHECK_STATUS(kvo_set_uint64(parent.kvo(), "real", UINT64_MAX), KVO_ERROR_TYPE_MISMATCH);
  CHECK(parent.real.get() == 0.1);
  if (std::numeric_limits<long double>::digits >= 64) {
    CHECK(kvo::get<long double>(parent, "large") == static_cast<long double>(odd));
    CHECK_OK(kvo_set_int64(parent.kvo(), "wide", odd));
    CHECK(parent.wide.get() == static_cast<long double>(odd));
  }
  parent.large = static_cast<unsigned long long>(odd - 1);
  CHECK(kvo::get<double>(parent, "large") == 9007199254740992.0);
  CHECK_OK(kvo_set_int64(parent.kvo(), "real", odd - 1));
  CHECK(parent.real.get() == 9007199254740992.0);
}

TEST("a float and a double are the same number if their shortest notations are") {
  Parent parent;
  CHECK(kvo::get<float>(parent, "real") == 0.1f);
  CHECK(kvo::get<double>(parent, "narrow") == static_cast<double>(0.1f));
  parent.real = 1.5;
  CHECK(kvo::get<float>(parent, "real") == 1.5f);
  parent.real = 0.1 + 0.2;
  CHECK_STATUS(read_status<float>(parent, "real"), KVO_ERROR_TYPE_MISMATCH);
  parent.real = 1e300;
  CHECK_STATUS(read_status<float>(parent, "real"), KVO_ERROR_TYPE_MISMATCH);
  parent.real = -std::numeric_limits<double>::infinity();
  CHECK(kvo::get<float>(parent, "real") == -std::numeric_limits<float>::infinity());
  parent.real = std::nan("");
  CHECK(std::isnan(kvo::get<float>(parent, "real")));
  CHECK(std::isnan(kvo::get<long double>(parent, "real")));
}

TEST("a text is read as the number that it is, and a number never as a text") {
  Parent parent;
  CHECK_EQ(kvo::get<int>(parent, "text"), 42);
  CHECK_EQ(kvo::get<double>(parent, "text"), 42.0);
  CHECK_STATUS(read_status<std::string>(parent, "number"), KVO_ERROR_TYPE_MISMATCH);
  parent.text = "x";
  CHECK_STATUS(read_status<int>(parent, "text"), KVO_ERROR_TYPE_MISMATCH);
}

TEST("the elements of a vector are converted, all of them or none") {
  Parent parent;
  kvo::set(parent, "marks", std::vector<long>{1, 2});
  CHECK(parent.marks.get() == (std::vector<int>{1, 2}));
  CHECK(kvo::get<std::vector<double>>(parent, "marks") == (std::vector<double>{1, 2}));
  parent.marks = std::vector<int>{1, 1000};
  CHECK_STATUS(read_status<std::vector<signed char>>(parent, "marks"), KVO_ERROR_TYPE_MISMATCH);
}

TEST("set converts to the property's type, and refuses what would be lost") {
  Parent parent;
  kvo::set(parent, "narrow", 3);
  kvo::set(parent, "number", 7.0);
  kvo::set(parent, "level", 250);
  CHECK(parent.narrow.get() == 3.0f);
  CHECK_EQ(parent.number.get(), 7);
  CHECK(parent.level.get() == Level::high);
  bool thrown = false;
  try {
    kvo::set(parent, "number", 7.5);
  } catch (const kvo::error &error) {
    thrown = error.status() == KVO_ERROR_TYPE_MISMATCH;
  }
  CHECK(thrown);
  CHECK_EQ(parent.number.get(), 7);
}

static char *no_text(const kvo_object *) { return nullptr; }

TEST("a string of C that is NULL is an empty optional, and no std::string") {
  kvo_property_spec property{};
  property.name = "text";
  property.type = "r*";
  property.getter = reinterpret_cast<kvo_function>(no_text);
  kvo_class_spec spec{};
  spec.struct_size = sizeof spec;
  spec.name = "Texts";
  spec.instance_size = sizeof(kvo_object);
  spec.properties = &property;
  spec.property_count = 1;
  spec.property_size = sizeof property;
  kvo_class *made = nullptr;
  CHECK_OK(kvo_class_register(&spec, &made));
  kvo::unique_object object = kvo::make_object(made);
  CHECK(!kvo::get<std::optional<std::string>>(object.get(), "text"));
  kvo_status status = KVO_OK;
  try {
    kvo::get<std::string>(object.get(), "text");
  } catch (const kvo::error &error) {
    status = error.status();
  }
  CHECK_STATUS(status, KVO_ERROR_TYPE_MISMATCH);
}

TEST("every string of C++ and of C is set as a string, and a null pointer to characters is nil") {
  Parent parent;
  char array[8] = "array";
  char *pointer = array + 1;
  char *const constant = array + 2;
  const char fixed[] = "fixed";
  const char *none = nullptr;
  auto set = [&](const auto &value) {
    kvo::set(parent, "text", value);
    std::string first = parent.text;
    kvo::set(parent, "text", "");
    kvo::set(parent.kvo(), "text", value);
    CHECK_EQ(first, parent.text.get());
    return first;
  };
  CHECK_EQ(set(array), "array");
  CHECK_EQ(set(pointer), "rray");
  CHECK_EQ(set(constant), "ray");
  CHECK_EQ(set(fixed), "fixed");
  CHECK_EQ(set("literal"), "literal");
  CHECK_EQ(set(std::string_view("view").substr(1)), "iew");
  CHECK_EQ(set(std::string("string")), "string");
  kvo::set(parent.kvo(), "number", pointer = strcpy(array, "17"));
  CHECK_EQ(parent.number.get(), 17);
  kvo::set(parent, "note", pointer);
  CHECK(parent.note.get() == "17");
  kvo::set(parent, "note", none);
  CHECK(!parent.note->has_value());
  pointer = nullptr;
  kvo_status status = KVO_OK;
  try {
    kvo::set(parent.kvo(), "text", pointer);
  } catch (const kvo::error &error) {
    status = error.status();
  }
  CHECK_STATUS(status, KVO_ERROR_TYPE_MISMATCH);
}

TEST("nullptr, std::nullopt and an empty optional are set as nil, and a property as its value") {
  Parent parent, other;
  Child child;
  parent.first = &child;
  kvo::set(parent, "first", nullptr);
  CHECK(parent.first.get() == nullptr);
  parent.first = &child;
  kvo::set(parent.kvo(), "first", std::nullopt);
  CHECK(parent.first.get() == nullptr);
  for (int i = 0; i < 3; i++) {
    parent.note = "note";
    if (i == 0) kvo::set(parent, "note", nullptr);
    if (i == 1) kvo::set(parent, "note", std::nullopt);
    if (i == 2) kvo::set(parent.kvo(), "note", std::optional<std::string_view>());
    CHECK(!parent.note->has_value());
  }
  kvo::set(parent, "note", std::optional(std::string_view("a view", 1)));
  CHECK(parent.note.get() == "a");
  kvo_status status = KVO_OK;
  try {
    kvo::set(parent, "number", nullptr);
  } catch (const kvo::error &error) {
    status = error.status();
  }
  CHECK_STATUS(status, KVO_ERROR_TYPE_MISMATCH);
  other.first = &child;
  other.text = "17";
  other.marks.set({1, 2});
  kvo::set(parent, "first", other.first);
  kvo::set(parent, "number", other.text);
  kvo::set(parent.kvo(), "marks", other.marks);
  CHECK(parent.first.get() == &child && parent.number.get() == 17 && parent.marks->size() == 2);
}

class Literals : public kvo::object {
public:
  kvo::property<const char *> one{this, "one"};
  kvo::property<std::optional<const char *>> maybe{this, "maybe"};
  kvo::property<std::vector<const char *>> many{this, std::vector<const char *>{"many"}};
  char buffer[9] = "variable";
  kvo::property<char *> variable{this, buffer};
  KVO_PROPERTIES(Literals, kvo::object, one, maybe, many, variable)
};

TEST("a property that refers to characters is read by key, and set by C++ only, because they may not outlive a call") {
  Literals literals;
  std::string observed;
  auto token = kvo::observe(literals, "one", [&](const kvo::record &change) {
    observed += change.old_value<std::string>().value_or("?") + change.new_value<const char *>().value_or("?");
  });
  for (const char *key : {"one", "maybe", "variable"}) {
    std::string text = "a string that dies soon";
    CHECK_STATUS(kvo_set_string(literals.kvo(), key, text.c_str()), KVO_ERROR_READ_ONLY);
    CHECK_STATUS(kvo_set_string(literals.kvo(), key, nullptr), KVO_ERROR_READ_ONLY);
    CHECK_EQ(kvo::get<std::string>(literals, key), key);
  }
  std::string what;
  try {
    kvo::set(literals, "many", std::vector<std::string>{"a string that dies soon"});
  } catch (const kvo::error &error) {
    CHECK_STATUS(error.status(), KVO_ERROR_READ_ONLY);
    what = error.what();
  }
  CHECK_CONTAINS(what.c_str(), "\"many\" of class 'Literals': the property has no setter");
  CHECK_EQ(kvo::get<std::vector<std::string>>(literals, "many").at(0), "many");
  literals.one = "two";
  CHECK_EQ(observed, "onetwo");
}

TEST("an object is read as the header of every language, and nil as a null pointer") {
  Parent parent;
  Child child;
  CHECK(kvo::get<kvo_object *>(parent, "first") == nullptr);
  CHECK(kvo::get<Child *>(parent, "first") == nullptr);
  parent.first = &child;
  CHECK(kvo::get<kvo_object *>(parent, "first") == child.kvo());
  CHECK(kvo::get<Child *>(parent, "first") == &child);
  CHECK_STATUS(read_status<Parent *>(parent, "first"), KVO_ERROR_TYPE_MISMATCH);
}

TEST(
    "an arrow leads to the members of the object that a pointer refers to, plain or shared, and to those of another value") {
  Parent parent;
  Child child;
  parent.first = &child;
  parent.shared = std::make_shared<Child>();
  parent.first->name = "Ann";
  parent.shared->name = "Bob";
  CHECK_EQ(child.name.get(), "Ann");
  CHECK_EQ(parent.first->name.get(), "Ann");
  CHECK_EQ(parent.shared.get()->name.get(), "Bob");
  CHECK_EQ(parent.text->size(), 2u);
  CHECK(!parent.note->has_value());
  std::string log;
  auto token = kvo::observe(
      parent, [&] { return parent.first->name.get(); },
      [&](const kvo::change<std::string> &change) { log += *change.new_value; });
  parent.first->name = "Eve";
  CHECK_EQ(log, "Eve");
}

/* values.hpp - C++ values as kvo_value, and back. Part of kvo.hpp. */
#ifndef KVO_CXX_VALUES_HPP
#define KVO_CXX_VALUES_HPP

#include <kvo/cxx/errors.hpp>
#include <kvo/cxx/types.hpp>
#include <kvo/kvo_coding.h>

#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <exception>
#include <limits>
#include <memory>
#include <optional>
#include <string>
#include <type_traits>
#include <utility>
#include <vector>

namespace kvo {

namespace detail {

/** What C sees of a value. Specialised for what is not simply memory with an encoding. */
template <class T, class = void> struct bridge {
  static void view(const T &value, kvo_value_reader reader, void *arg) {
    kvo_value seen = {encoding<T>::text(), sizeof(T), &value};
    reader(&seen, arg);
  }
  static kvo_status assign(T &to, const kvo_value &from) {
    if constexpr (std::is_trivially_copyable_v<T>) {
      const char *type = encoding<T>::text();
      if (type[0] == '?' || from.bytes == nullptr || from.size != sizeof(T) || std::strcmp(type, from.type) != 0)
        return KVO_ERROR_TYPE_MISMATCH;
      std::memcpy(static_cast<void *>(&to), from.bytes, sizeof(T));
      return KVO_OK;
    } else {
      return KVO_ERROR_TYPE_MISMATCH;
    }
  }
};

/** Makes a T of what C passes, and calls `use` with it. A T that has no default constructor is made from memory, if it can be. */
template <class T, class Use> kvo_status make(const kvo_value &from, Use &&use) {
  if constexpr (std::is_default_constructible_v<T>) {
    T made{};
    kvo_status status = bridge<T>::assign(made, from);
    if (status == KVO_OK) use(std::move(made));
    return status;
  } else if constexpr (std::is_trivially_copyable_v<T>) {
    union room {
      unsigned char none;
      T made;
      room() : none() {}
    } in;
    kvo_status status = bridge<T>::assign(in.made, from); /* copies bytes */
    if (status == KVO_OK) use(std::move(in.made));
    return status;
  } else {
    return KVO_ERROR_TYPE_MISMATCH;
  }
}

/** Whether a T refers to the characters of a string that somebody else owns. C code passes values that are valid during a call, so such a T
 * is neither kept nor returned. */
template <class T> struct refers_to_characters : std::false_type {};
template <> struct refers_to_characters<const char *> : std::true_type {};
template <> struct refers_to_characters<char *> : std::true_type {};
template <class T> struct refers_to_characters<std::optional<T>> : refers_to_characters<T> {};
template <class T> struct refers_to_characters<std::vector<T>> : refers_to_characters<T> {};

/** Whether a T is a string of C: a pointer to characters, or an array of them. */
template <class T>
constexpr bool is_c_string = std::is_same_v<std::decay_t<T>, char *> || std::is_same_v<std::decay_t<T>, const char *>;

/** Whether it is a string that is NULL. */
inline bool is_null(const kvo_value &value) {
  const char *text = "";
  return kvo_value_string(&value, &text) == KVO_OK && text == nullptr;
}

template <> struct bridge<std::string> {
  /** C would cut a string with a NUL inside, so it is of a type that only C++ interprets. */
  static void view(const std::string &value, kvo_value_reader reader, void *arg) {
    const char *text = value.c_str();
    kvo_value seen = {"*", sizeof text, &text};
    if (value.find('\0') != std::string::npos) seen = {"?", sizeof value, &value};
    reader(&seen, arg);
  }
  static kvo_status assign(std::string &to, const kvo_value &from) {
    const char *text = nullptr;
    kvo_status status = kvo_value_string(&from, &text);
    if (status == KVO_OK && text == nullptr) return KVO_ERROR_TYPE_MISMATCH;
    if (status == KVO_OK) to = text;
    return status;
  }
};

/** A number, which may come from one of another type, or from a text. */
template <class T> struct bridge<T, std::enable_if_t<is_number<T>>> {
  static void view(const T &value, kvo_value_reader reader, void *arg) {
    kvo_value seen = {encoding<T>::text(), sizeof(T), &value};
    reader(&seen, arg);
  }
  static kvo_status assign(T &to, const kvo_value &from) {
    if (from.bytes == nullptr) return KVO_ERROR_TYPE_MISMATCH;
    if (from.size == sizeof(T) && std::strcmp(encoding<T>::text(), from.type) == 0) {
      std::memcpy(static_cast<void *>(&to), from.bytes, sizeof(T));
      return KVO_OK;
    }
    if constexpr (std::is_enum_v<T>) {
      std::underlying_type_t<T> number{};
      kvo_status status = bridge<std::underlying_type_t<T>>::assign(number, from);
      if (status == KVO_OK) to = static_cast<T>(number);
      return status;
    } else if constexpr (std::is_same_v<T, bool>) {
      return kvo_value_bool(&from, &to);
    } else if constexpr (std::is_integral_v<T>) {
      if constexpr (std::is_signed_v<T>) return in_range<std::int64_t>(to, from, kvo_value_int64);
      return in_range<std::uint64_t>(to, from, kvo_value_uint64);
    } else {
      return real(to, from);
    }
  }

private:
  template <class Wide>
  static kvo_status in_range(T &to, const kvo_value &from, kvo_status (*read)(const kvo_value *, Wide *)) {
    Wide number{};
    kvo_status status = read(&from, &number);
    if (status != KVO_OK) return status;
    if (static_cast<Wide>(static_cast<T>(number)) != number) return KVO_ERROR_TYPE_MISMATCH;
    to = static_cast<T>(number);
    return KVO_OK;
  }
  static kvo_status real(T &to, const kvo_value &from) {
    double number = 0;
    std::int64_t whole = 0;
    std::uint64_t positive = 0;
    kvo_status status = kvo_value_double(&from, &number);
    if constexpr (std::is_same_v<T, float>) {
      if (status == KVO_OK && !narrow(number, to)) status = KVO_ERROR_TYPE_MISMATCH;
      if (status != KVO_OK) return status;
    } else if constexpr (std::numeric_limits<T>::digits < 64) { /* double, and long double where it is the same */
      if (status != KVO_OK) return status;
      to = number;
    } else {                               /* it has all integers */
      if (status == KVO_OK && number == 0) /* also -0 */
        to = number;
      else if (kvo_value_int64(&from, &whole) == KVO_OK)
        to = static_cast<T>(whole);
      else if (kvo_value_uint64(&from, &positive) == KVO_OK)
        to = static_cast<T>(positive);
      else if (status == KVO_OK)
        to = number;
      else
        return status;
    }
    return KVO_OK;
  }
  /** Makes a float of a double that is equal, or has the same shortest notation: of 0.1, not of 0.1 + 0.2. */
  static bool narrow(double from, float &to) {
    float made = static_cast<float>(from);
    bool is_same = !(from < static_cast<double>(made) || from > static_cast<double>(made)); /* also of no number */
    for (int digits = 6; !is_same && digits <= 9; digits++) {
      char text[40];
      std::snprintf(text, sizeof text, "%.*g", digits, static_cast<double>(made));
      float back = std::strtof(text, nullptr);
      if (back < made || back > made) continue; /* it has more digits */
      double wide = std::strtod(text, nullptr);
      if (wide < from || wide > from) return false;
      is_same = true;
    }
    if (is_same) to = made;
    return is_same;
  }
};

template <> struct bridge<kvo_object *> {
  static void view(kvo_object *const &value, kvo_value_reader reader, void *arg) {
    kvo_value seen = {"@", sizeof value, value != nullptr ? &value : nullptr};
    reader(&seen, arg);
  }
  static kvo_status assign(kvo_object *&to, const kvo_value &from) { return kvo_value_object(&from, &to); }
};

template <class T> struct bridge<std::optional<T>> {
  static void view(const std::optional<T> &value, kvo_value_reader reader, void *arg) {
    if (value) return bridge<T>::view(*value, reader, arg);
    kvo_value nil = {encoding<T>::text(), sizeof(T), nullptr};
    reader(&nil, arg);
  }
  static kvo_status assign(std::optional<T> &to, const kvo_value &from) {
    if (from.bytes == nullptr) return to.reset(), KVO_OK;
    if constexpr (std::is_same_v<T, std::string>)
      if (is_null(from)) return to.reset(), KVO_OK;
    return make<T>(from, [&](T &&value) { to.emplace(std::move(value)); });
  }
};

/** C enumerates the elements of a vector. */
template <class T> struct bridge<std::vector<T>, std::enable_if_t<!std::is_same_v<T, bool>>> {
  struct enumerated {
    kvo_collection header;
    const std::vector<T> *elements;
  };
  static void view(const std::vector<T> &value, kvo_value_reader reader, void *arg) {
    enumerated collection{{sizeof(kvo_collection), value.size(), element}, &value};
    kvo_value seen = {encoding<std::vector<T>>::text(), sizeof(kvo_collection), &collection};
    reader(&seen, arg);
  }
  static kvo_status element(const kvo_collection *self, std::size_t position, kvo_value_reader reader, void *arg) {
    const std::vector<T> &elements = *reinterpret_cast<const enumerated *>(self)->elements;
    if (position >= elements.size()) return KVO_ERROR_OUT_OF_RANGE;
    bridge<T>::view(elements[position], reader, arg);
    return KVO_OK;
  }
  /** Takes every element, or none. */
  static kvo_status assign(std::vector<T> &to, const kvo_value &from) {
    if (kvo_value_collection(&from) == nullptr) return KVO_ERROR_TYPE_MISMATCH;
    struct reading {
      std::vector<T> elements;
      kvo_status status = KVO_OK;
      std::exception_ptr exception;
    } made;
    for (std::size_t i = 0; i < kvo_value_count(&from); i++) {
      kvo_status status = kvo_value_element(
          &from, i,
          [](const kvo_value *value, void *arg) {
            auto &read = *static_cast<reading *>(arg);
            read.exception = caught([&] {
              read.status = make<T>(*value, [&](T &&element) { read.elements.push_back(std::move(element)); });
            });
          },
          &made);
      if (made.exception) std::rethrow_exception(made.exception);
      if (status != KVO_OK || made.status != KVO_OK) return status != KVO_OK ? status : made.status;
    }
    to = std::move(made.elements);
    return KVO_OK;
  }
};

template <class T> struct bridge<T, std::enable_if_t<refers_to_object<T>::value>> {
  static void view(const T &value, kvo_value_reader reader, void *arg);
  static kvo_status assign(T &to, const kvo_value &from);
};

} // namespace detail

} // namespace kvo

#endif /* KVO_CXX_VALUES_HPP */

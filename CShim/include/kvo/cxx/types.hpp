/* types.hpp - the type encodings of C++ types. Part of kvo.hpp. */
#ifndef KVO_CXX_TYPES_HPP
#define KVO_CXX_TYPES_HPP

#include <kvo/cxx/each.hpp>
#include <kvo/kvo.h>

#include <memory>
#include <optional>
#include <string>
#include <type_traits>
#include <vector>

namespace kvo {

class object;

/** The type encoding of a C++ type, as kvo.h describes it. "?" for a type that only C++ can interpret: it can be observed and used through
 * key paths, but C code does not see its content. KVO_STRUCT makes the encoding of a structure. */
template <class T, class = void> struct encoding {
  /** The encoding; the string is static. */
  static const char *text() { return "?"; }
};

namespace detail {

template <class T> constexpr const char *integer_encoding() {
  using U = std::make_signed_t<T>;
  constexpr bool is_signed = std::is_signed_v<T>;
  if constexpr (std::is_same_v<U, signed char>) return is_signed ? "c" : "C";
  if constexpr (std::is_same_v<U, short>) return is_signed ? "s" : "S";
  if constexpr (std::is_same_v<U, int>) return is_signed ? "i" : "I";
  if constexpr (std::is_same_v<U, long>) return is_signed ? "l" : "L";
  if constexpr (std::is_same_v<U, long long>) return is_signed ? "q" : "Q";
  if constexpr (sizeof(T) == 2) return is_signed ? "s" : "S"; /* char16_t, wchar_t */
  return is_signed ? "i" : "I";
}

template <class T> constexpr bool is_integer = std::is_integral_v<T> && !std::is_same_v<std::remove_cv_t<T>, bool>;

template <class T> struct pointee {};
template <class T> struct pointee<T *> { using type = T; };
template <class T> struct pointee<std::shared_ptr<T>> { using type = T; };

/** Whether T is a pointer, plain or shared, to a class derived from kvo::object. */
template <class T, class = void> struct refers_to_object : std::false_type {};
template <class T>
struct refers_to_object<T, std::void_t<typename pointee<T>::type>>
    : std::is_base_of<object, std::remove_cv_t<typename pointee<T>::type>> {};

} // namespace detail

//! @cond the encodings that kvo.h describes
template <> struct encoding<bool> {
  static const char *text() { return "B"; }
};
template <class T> struct encoding<T, std::enable_if_t<detail::is_integer<T>>> {
  static const char *text() { return detail::integer_encoding<T>(); }
};
template <class T> struct encoding<T, std::enable_if_t<std::is_enum_v<T>>> : encoding<std::underlying_type_t<T>> {};
template <> struct encoding<float> {
  static const char *text() { return "f"; }
};
template <> struct encoding<double> {
  static const char *text() { return "d"; }
};
template <> struct encoding<long double> {
  static const char *text() { return "D"; }
};
template <class T> struct encoding<T *, std::enable_if_t<std::is_same_v<std::remove_const_t<T>, char>>> {
  static const char *text() { return "*"; }
};
template <> struct encoding<std::string> {
  static const char *text() { return "*"; }
};
template <class T> struct encoding<std::optional<T>> : encoding<T> {};
template <class T> struct encoding<std::vector<T>, std::enable_if_t<!std::is_same_v<T, bool>>> {
  static const char *text() {
    static const std::string &encoded = *new std::string(std::string("[") + encoding<T>::text() + "]"); /* for ever */
    return encoded.c_str();
  }
};
template <class T> struct encoding<T, std::enable_if_t<detail::refers_to_object<T>::value>> {
  static const char *text() { return "@"; }
};
template <> struct encoding<kvo_object *> {
  static const char *text() { return "@"; }
};
template <class T>
struct encoding<T *, std::enable_if_t<!detail::refers_to_object<T *>::value && !std::is_same_v<T, kvo_object> &&
                                      !std::is_same_v<std::remove_const_t<T>, char> && !std::is_function_v<T>>> {
  static const char *text() { return "^v"; }
};
//! @endcond

} // namespace kvo

/** Describes a structure of trivial members, at global scope: `KVO_STRUCT(Point, x, y)`. All its members are named, in order. */
#define KVO_STRUCT(Type, ...)                                                                                          \
  template <> struct kvo::encoding<Type> {                                                                             \
    static_assert(std::is_trivially_copyable_v<Type>, "KVO_STRUCT is for structures that C can copy");                 \
    static const char *text() {                                                                                        \
      static const std::string &encoded =                                                                              \
          *new std::string(std::string("{" #Type "=") KVO_FOR_EACH(KVO_MEMBER_ENCODING, Type, __VA_ARGS__) + "}");     \
      return encoded.c_str();                                                                                          \
    }                                                                                                                  \
  };
/** For KVO_STRUCT. */
#define KVO_MEMBER_ENCODING(Type, member) +::kvo::encoding<decltype(Type::member)>::text()

#endif /* KVO_CXX_TYPES_HPP */

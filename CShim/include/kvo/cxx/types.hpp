/* types.hpp - the type encodings of C++ types. Part of kvo.hpp. */
#ifndef KVO_CXX_TYPES_HPP
#define KVO_CXX_TYPES_HPP

#include <kvo/cxx/each.hpp>
#include <kvo/kvo.h>

#include <array>
#include <cstddef>
#include <functional>
#include <initializer_list>
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

/** Whether T is an integer type of C. What has more than 64 bits, as __int128, has no encoding. */
template <class T>
constexpr bool is_integer =
    std::is_integral_v<T> && !std::is_same_v<std::remove_cv_t<T>, bool> && sizeof(T) <= sizeof(long long);

/** Whether C can read a T as a number. */
template <class T>
constexpr bool is_number = is_integer<T> || std::is_same_v<T, bool> || std::is_same_v<T, float> ||
                           std::is_same_v<T, double> || std::is_same_v<T, long double> ||
                           (std::is_enum_v<T> && sizeof(T) <= sizeof(long long));

template <class T> struct pointee {};
template <class T> struct pointee<T *> { using type = T; };
template <class T> struct pointee<std::shared_ptr<T>> { using type = T; };
template <class T> struct pointee<std::weak_ptr<T>> { using type = T; };
template <class T, class Deleter> struct pointee<std::unique_ptr<T, Deleter>> { using type = T; };
template <class T> struct pointee<std::reference_wrapper<T>> { using type = T; };

/** What a value refers to; nullptr for none. The owner of an object that is shared is kept while `use` is called. */
template <class T, class Use> void with_pointee(const T &value, Use &&use) {
  use(value != nullptr ? &*value : nullptr);
}
template <class T, class Use> void with_pointee(const std::weak_ptr<T> &value, Use &&use) { use(value.lock().get()); }
template <class T, class Use> void with_pointee(const std::reference_wrapper<T> &value, Use &&use) {
  use(&value.get());
}

/** Whether T is a class derived from kvo::object. Nobody knows that of a class which is only declared. */
template <class T, class = void> struct is_defined : std::negation<std::is_class<T>> {};
template <class T> struct is_defined<T, std::void_t<decltype(sizeof(T))>> : std::true_type {};
template <class T, bool = is_defined<T>::value> struct is_object : std::is_base_of<object, T> {};
template <class T> struct is_object<T, false> : std::false_type {
  static_assert(!std::is_same_v<T, T>, "kvo: a pointer to a class that is only declared: include the class's header, "
                                       "because it may be a kvo::object; of a type that no header defines use void *");
};

/** Whether T is a pointer of any kind, or a reference, to a class derived from kvo::object. */
template <class T, class = void> struct refers_to_object : std::false_type {};
template <class T>
struct refers_to_object<T, std::void_t<typename pointee<T>::type>>
    : is_object<std::remove_cv_t<typename pointee<T>::type>> {};

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

namespace detail {

/** The encoding of a member of a structure: an array has one there, and an optional value is not simply the value. */
template <class T> struct member_encoding {
  static std::string text() { return encoding<T>::text(); }
};
template <class T> struct member_encoding<const T> : member_encoding<T> {};
template <class T> struct member_encoding<volatile T> : member_encoding<T> {};
template <class T> struct member_encoding<const volatile T> : member_encoding<T> {};
template <class T> struct member_encoding<std::optional<T>> {
  static std::string text() { return "?"; }
};
template <class T, std::size_t count> struct member_encoding<T[count]> {
  static std::string text() { return "[" + std::to_string(count) + member_encoding<T>::text() + "]"; }
};
template <class T, std::size_t count> struct member_encoding<const T[count]> : member_encoding<T[count]> {};
template <class T, std::size_t count> struct member_encoding<volatile T[count]> : member_encoding<T[count]> {};
template <class T, std::size_t count> struct member_encoding<const volatile T[count]> : member_encoding<T[count]> {};
template <class T, std::size_t count> struct member_encoding<std::array<T, count>> : member_encoding<T[count]> {};
template <class T> struct member_encoding<std::array<T, 0>> {
  static_assert(!std::is_same_v<T, T>, "KVO_STRUCT: C has no array without elements");
};

/** Where a member of a structure is. */
struct place {
  std::size_t offset, size, alignment;
};
template <class T> struct after_char {
  char first;
  T second;
};
/** On i386 the alignment within a structure is less than alignof says. */
template <class T> constexpr std::size_t alignment_of = sizeof(after_char<T>) - sizeof(T);

/** Whether the members, in this order, are the structure that C makes of them. */
constexpr bool is_structure(std::initializer_list<place> members, std::size_t size) {
  std::size_t end = 0, alignment = 1;
  for (const place &each : members) {
    end = (end + each.alignment - 1) / each.alignment * each.alignment;
    if (end != each.offset) return false;
    end += each.size;
    alignment = each.alignment > alignment ? each.alignment : alignment;
  }
  return (end + alignment - 1) / alignment * alignment == size;
}

} // namespace detail

} // namespace kvo

/** Describes a structure of trivial members, at global scope: `KVO_STRUCT(Point, x, y)`. All its members are named, in order; arrays are
 * members, too. A structure that C would lay out in another way, such as a packed one, and one with bit-fields, do not compile. A member
 * whose type has no encoding is "?", and only C++ interprets the structure then. */
#define KVO_STRUCT(Type, ...)                                                                                          \
  _Pragma("GCC diagnostic push") _Pragma("GCC diagnostic ignored \"-Winvalid-offsetof\"") template <>                  \
  struct kvo::encoding<Type> {                                                                                         \
    static_assert(std::is_trivially_copyable_v<Type>, "KVO_STRUCT is for structures that C can copy");                 \
    static_assert(::kvo::detail::is_structure({KVO_FOR_EACH(KVO_MEMBER_PLACE, Type, __VA_ARGS__)}, sizeof(Type)),      \
                  "KVO_STRUCT names all members, in order; they are not packed, and aligned as their types are");      \
    static const char *text() {                                                                                        \
      static const std::string &encoded =                                                                              \
          *new std::string(std::string("{" #Type "=") KVO_FOR_EACH(KVO_MEMBER_ENCODING, Type, __VA_ARGS__) + "}");     \
      return encoded.c_str();                                                                                          \
    }                                                                                                                  \
  };                                                                                                                   \
  _Pragma("GCC diagnostic pop")
/** For KVO_STRUCT. */
#define KVO_MEMBER_ENCODING(Type, member) +::kvo::detail::member_encoding<decltype(Type::member)>::text()
/** For KVO_STRUCT. */
#define KVO_MEMBER_PLACE(Type, member)                                                                                 \
  ::kvo::detail::place{offsetof(Type, member), sizeof(Type::member),                                                   \
                       ::kvo::detail::alignment_of<decltype(Type::member)>},

#endif /* KVO_CXX_TYPES_HPP */

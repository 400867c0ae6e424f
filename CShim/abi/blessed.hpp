#include "blessed.h"
#ifndef KVO_HPP
#define KVO_HPP
#ifndef KVO_CXX_BINDINGS_HPP
#define KVO_CXX_BINDINGS_HPP
#ifndef KVO_CXX_CODING_HPP
#define KVO_CXX_CODING_HPP
#ifndef KVO_CXX_PROPERTY_HPP
#define KVO_CXX_PROPERTY_HPP
#ifndef KVO_CXX_OBJECTS_HPP
#define KVO_CXX_OBJECTS_HPP
#ifndef KVO_CXX_ERRORS_HPP
#define KVO_CXX_ERRORS_HPP
#include <atomic>
#include <cstdio>
#include <cstdlib>
#include <exception>
#include <new>
#include <stdexcept>
#include <string>
#include <utility>
namespace kvo {
class KVO_API error : public std::runtime_error {
public:
  error(kvo_status status, const std::string &what) : std::runtime_error(what), status_(status) {}
  kvo_status status() const noexcept { return status_; }
private:
  kvo_status status_;
};
using exception_handler = void (*)(std::exception_ptr exception, const char *key_path);
namespace detail {
template <class Error> [[noreturn]] void raise(const Error &thrown) {
#if defined(__cpp_exceptions)
  throw thrown;
#else
  std::fprintf(stderr, "kvo: %s\n", thrown.what());
  std::abort();
#endif
}
inline void check(kvo_status status, const char *function) {
  if (status == KVO_OK) return;
  if (status == KVO_ERROR_OUT_OF_MEMORY) raise(std::bad_alloc());
  const char *why = kvo_last_error();
  raise(error(status, why[0] != '\0' ? why : std::string(function) + ": " + kvo_status_string(status)));
}
template <class Call> std::exception_ptr caught(Call &&call) {
#if defined(__cpp_exceptions)
  try {
    call();
  } catch (...) {
    std::exception_ptr thrown = std::current_exception();
    if (thrown == nullptr) throw;
    return thrown;
  }
#else
  call();
#endif
  return nullptr;
}
inline kvo_status status_of(const std::exception_ptr &thrown) {
#if defined(__cpp_exceptions)
  try {
    std::rethrow_exception(thrown);
  } catch (const std::bad_alloc &) {
    return KVO_ERROR_OUT_OF_MEMORY;
  } catch (...) {}
#endif
  (void)thrown;
  return KVO_ERROR_INVALID_ARGUMENT;
}
inline void print_exception(std::exception_ptr exception, const char *key_path) {
#if defined(__cpp_exceptions)
  try {
    std::rethrow_exception(exception);
  } catch (const std::exception &thrown) {
    std::fprintf(stderr, "kvo: an observer of \"%s\" has thrown: %s\n", key_path, thrown.what());
    return;
  } catch (...) {}
#endif
  (void)exception;
  std::fprintf(stderr, "kvo: an observer of \"%s\" has thrown: no std::exception\n", key_path);
}
inline KVO_API std::atomic<exception_handler> on_exception{print_exception};
template <class Call> void stop_exceptions(const char *key_path, Call &&call) {
  std::exception_ptr thrown = caught(call);
  if (thrown == nullptr) return;
  if (caught([&] { on_exception.load()(std::move(thrown), key_path); }) != nullptr) std::terminate();
}
}
inline exception_handler set_exception_handler(exception_handler handler) {
  return detail::on_exception.exchange(handler != nullptr ? handler : detail::print_exception);
}
}
#endif
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <string>
#include <utility>
#include <vector>
namespace kvo {
namespace detail {
struct operations {
  kvo_value_ops ops;
  const char *(*encoding)();
  std::uint32_t flags;
};
struct member {
  std::string name;
  kvo_key key;
  std::ptrdiff_t offset;
  const void *address;
  const operations *functions;
};
struct known_class {
  const kvo_class *registered;
  const known_class *next;
};
inline KVO_API std::atomic<const known_class *> known_classes{nullptr};
}
class path {
public:
  path(const char *key_path) noexcept : characters_(key_path) {}
  path(const std::string &key_path) noexcept : characters_(key_path.c_str()) {}
  const char *c_str() const noexcept { return characters_; }
private:
  const char *characters_;
};
class token;
class type;
template <class T> class property;
class KVO_API object {
public:
  object(const object &) = delete;
  object &operator=(const object &) = delete;
  kvo_object *kvo() const;
  static object *from(kvo_object *header) noexcept;
  virtual const type *kvo_type() const = 0;
protected:
  object() noexcept = default;
  virtual ~object() { kvo_object_finish(&header_, nullptr, 0); }
private:
  template <class T> friend class property;
  friend class type;
  friend class ending;
  static object *around(kvo_object *header) noexcept;
  mutable kvo_object header_{};
};
inline const type *object::kvo_type() const { return nullptr; }
inline object *object::around(kvo_object *header) noexcept {
#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Winvalid-offsetof"
  return reinterpret_cast<object *>(reinterpret_cast<char *>(header) - offsetof(object, header_));
#pragma GCC diagnostic pop
}
class KVO_API type {
public:
  type(const char *name, const type *base, const object *owner, std::vector<detail::member> members)
      : members_(std::move(members)) {
    const char *header = reinterpret_cast<const char *>(&owner->header_);
    std::vector<kvo_raw_property> properties;
    for (detail::member &each : members_) {
      each.key = kvo_key_hash(each.name.data(), each.name.size());
      each.offset = static_cast<const char *>(each.address) - header;
      kvo_raw_property property{};
      property.name = each.name.c_str();
      property.type = each.functions->encoding();
      property.ops = &each.functions->ops;
      property.user = &each;
      property.flags = each.functions->flags;
      properties.push_back(property);
    }
    kvo_raw_class described{};
    described.struct_size = sizeof described;
    described.name = name;
    described.superclass = base != nullptr ? base->registered_ : nullptr;
    described.header_offset = static_cast<std::size_t>(header - reinterpret_cast<const char *>(owner));
    described.properties = properties.data();
    described.property_count = properties.size();
    described.property_size = sizeof(kvo_raw_property);
    detail::check(kvo_raw_class_register(&described, &registered_), name);
    known_.registered = registered_;
    known_.next = detail::known_classes.load();
    while (!detail::known_classes.compare_exchange_weak(known_.next, &known_)) {}
  }
  type(const type &) = delete;
  kvo_class *registered() const noexcept { return registered_; }
  static bool is_known(const kvo_class *registered) noexcept {
    for (const detail::known_class *each = detail::known_classes.load(); each != nullptr; each = each->next)
      if (each->registered == registered) return true;
    return false;
  }
private:
  std::vector<detail::member> members_;
  kvo_class *registered_ = nullptr;
  detail::known_class known_{};
};
inline kvo_object *object::kvo() const {
  if (__atomic_load_n(&header_.kvo_private_word, __ATOMIC_ACQUIRE) == 0)
    kvo_object_adopt(&header_, kvo_type()->registered());
  return &header_;
}
namespace detail {
inline kvo_object *header_of(kvo_object *object) noexcept { return object; }
inline kvo_object *header_of(const object &object) { return object.kvo(); }
}
inline object *object::from(kvo_object *header) noexcept {
  if (header == nullptr || !type::is_known(kvo_object_class(header))) return nullptr;
  return static_cast<object *>(kvo_object_instance(header));
}
class ending {
public:
  explicit ending(object *owner) noexcept : owner_(owner) {}
  ~ending() { kvo_object_finish(&owner_->header_, nullptr, 0); }
  ending(const ending &) = delete;
  ending &operator=(const ending &) = delete;
private:
  object *owner_;
};
}
#endif
#ifndef KVO_CXX_TRAITS_HPP
#define KVO_CXX_TRAITS_HPP
#include <tuple>
#include <type_traits>
#include <utility>
#include <variant>
namespace kvo {
namespace detail {
struct as_elements : std::true_type {};
}
template <class T> struct may_compare : detail::as_elements {};
template <class T> struct may_copy : detail::as_elements {};
namespace detail {
template <class... Types> struct types {};
template <class Operation, class T, class... Outer> constexpr bool has_operation();
template <class T, class = void> struct parts_of { using type = types<>; };
template <class T, class = void> struct has_range : std::false_type {};
template <class T>
struct has_range<T, std::void_t<decltype(std::declval<T &>().begin(), std::declval<T &>().end())>> : std::true_type {};
template <class T, class = void> struct has_maybe : std::false_type {};
template <class T> struct has_maybe<T, std::void_t<decltype(std::declval<T &>().has_value())>> : std::true_type {};
template <class T, class = void> struct has_container : std::false_type {};
template <class T>
struct has_container<T, std::void_t<typename T::container_type, decltype(std::declval<T &>().empty())>>
    : std::true_type {};
template <class T>
struct parts_of<T, std::enable_if_t<std::disjunction_v<has_range<T>, has_maybe<T>, has_container<T>>,
                                    std::void_t<typename T::value_type>>> {
  using type = types<typename T::value_type>;
};
template <class First, class Second> struct parts_of<std::pair<First, Second>> { using type = types<First, Second>; };
template <class... Types> struct parts_of<std::tuple<Types...>> { using type = types<Types...>; };
template <class... Types> struct parts_of<std::variant<Types...>> { using type = types<Types...>; };
template <class Operation, class... Outer, class... Parts> constexpr bool parts_have(types<Parts...>) {
  return (has_operation<Operation, std::remove_cv_t<std::remove_reference_t<Parts>>, Outer...>() && ...);
}
template <class Operation, class T, class... Outer> constexpr bool has_operation() {
  if constexpr ((std::is_same_v<T, Outer> || ...) || std::is_void_v<T>)
    return true;
  else if constexpr (!Operation::template on<T>())
    return false;
  else if constexpr (Operation::template is_whole<T>)
    return true;
  else
    return parts_have<Operation, T, Outer...>(typename parts_of<T>::type());
}
template <class T, class = void> struct has_equality : std::false_type {};
template <class T>
struct has_equality<T, std::void_t<decltype(static_cast<bool>(std::declval<const T &>() == std::declval<const T &>()))>>
    : std::true_type {};
template <class May> constexpr bool is_specialised = !std::is_base_of_v<as_elements, May>;
struct comparing {
  template <class T> static constexpr bool is_whole = is_specialised<may_compare<T>>;
  template <class T> static constexpr bool on() { return std::conjunction_v<may_compare<T>, has_equality<T>>; }
};
struct copying {
  template <class T>
  static constexpr bool is_whole = is_specialised<may_copy<T>> || std::is_trivially_copyable_v<T>;
  template <class T> static constexpr bool on() {
    return std::conjunction_v<may_copy<T>, std::is_copy_constructible<T>>;
  }
};
template <class T> struct is_comparable : std::bool_constant<has_operation<comparing, T>()> {};
template <class T> struct is_copyable : std::bool_constant<has_operation<copying, T>()> {};
}
}
#endif
#ifndef KVO_CXX_VALUES_HPP
#define KVO_CXX_VALUES_HPP
#ifndef KVO_CXX_TYPES_HPP
#define KVO_CXX_TYPES_HPP
#ifndef KVO_CXX_EACH_HPP
#define KVO_CXX_EACH_HPP
#define KVO_FOR_EACH(M, C, ...) KVO_SCAN(KVO_EACH_1(M, C, __VA_ARGS__, ()()(), ()()(), ()()(), 0))
#define KVO_EACH_1(M, C, A, next, ...) M(C, A) KVO_EACH_GO(next, KVO_EACH_2)(M, C, next, __VA_ARGS__)
#define KVO_EACH_2(M, C, A, next, ...) M(C, A) KVO_EACH_GO(next, KVO_EACH_1)(M, C, next, __VA_ARGS__)
#define KVO_EACH_GO(next, more) KVO_EACH_PICK(KVO_EACH_END next, more)
#define KVO_EACH_PICK(end, more) KVO_EACH_SECOND(end, more, 0)
#define KVO_EACH_SECOND(first, second, ...) second KVO_EACH_NOTHING
#define KVO_EACH_NOTHING
#define KVO_EACH_END(...) KVO_EACH_END_1
#define KVO_EACH_END_1(...) KVO_EACH_END_2
#define KVO_EACH_END_2() 0, KVO_EACH_SKIP
#define KVO_EACH_SKIP(...)
#define KVO_SCAN(...) KVO_SCAN_1(KVO_SCAN_1(KVO_SCAN_1(__VA_ARGS__)))
#define KVO_SCAN_1(...) KVO_SCAN_2(KVO_SCAN_2(KVO_SCAN_2(__VA_ARGS__)))
#define KVO_SCAN_2(...) KVO_SCAN_3(KVO_SCAN_3(KVO_SCAN_3(__VA_ARGS__)))
#define KVO_SCAN_3(...) KVO_SCAN_4(KVO_SCAN_4(KVO_SCAN_4(__VA_ARGS__)))
#define KVO_SCAN_4(...) KVO_SCAN_5(KVO_SCAN_5(KVO_SCAN_5(__VA_ARGS__)))
#define KVO_SCAN_5(...) __VA_ARGS__
#endif
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
template <class T, class = void> struct encoding {
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
  if constexpr (sizeof(T) == 2) return is_signed ? "s" : "S";
  return is_signed ? "i" : "I";
}
template <class T>
constexpr bool is_integer =
    std::is_integral_v<T> && !std::is_same_v<std::remove_cv_t<T>, bool> && sizeof(T) <= sizeof(long long);
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
template <class T, class Use> void with_pointee(const T &value, Use &&use) {
  use(value != nullptr ? &*value : nullptr);
}
template <class T, class Use> void with_pointee(const std::weak_ptr<T> &value, Use &&use) { use(value.lock().get()); }
template <class T, class Use> void with_pointee(const std::reference_wrapper<T> &value, Use &&use) {
  use(&value.get());
}
template <class T, class = void> struct refers_to_object : std::false_type {};
template <class T>
struct refers_to_object<T, std::void_t<typename pointee<T>::type>>
    : std::is_base_of<object, std::remove_cv_t<typename pointee<T>::type>> {};
}
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
    static const std::string &encoded = *new std::string(std::string("[") + encoding<T>::text() + "]");
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
namespace detail {
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
struct place {
  std::size_t offset, size, alignment;
};
template <class T> struct after_char {
  char first;
  T second;
};
template <class T> constexpr std::size_t alignment_of = sizeof(after_char<T>) - sizeof(T);
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
}
}
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
#define KVO_MEMBER_ENCODING(Type, member) +::kvo::detail::member_encoding<decltype(Type::member)>::text()
#define KVO_MEMBER_PLACE(Type, member)                                                                                 \
  ::kvo::detail::place{offsetof(Type, member), sizeof(Type::member),                                                   \
                       ::kvo::detail::alignment_of<decltype(Type::member)>},
#endif
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
    kvo_status status = bridge<T>::assign(in.made, from);
    if (status == KVO_OK) use(std::move(in.made));
    return status;
  } else {
    return KVO_ERROR_TYPE_MISMATCH;
  }
}
template <class T> struct refers_to_characters : std::false_type {};
template <> struct refers_to_characters<const char *> : std::true_type {};
template <> struct refers_to_characters<char *> : std::true_type {};
template <class T> struct refers_to_characters<std::optional<T>> : refers_to_characters<T> {};
template <class T> struct refers_to_characters<std::vector<T>> : refers_to_characters<T> {};
template <class T>
constexpr bool is_c_string = std::is_same_v<std::decay_t<T>, char *> || std::is_same_v<std::decay_t<T>, const char *>;
inline bool is_null(const kvo_value &value) {
  const char *text = "";
  return kvo_value_string(&value, &text) == KVO_OK && text == nullptr;
}
template <> struct bridge<std::string> {
  static void view(const std::string &value, kvo_value_reader reader, void *arg) {
    const char *text = value.c_str();
    kvo_value seen = {"*", sizeof text, &text};
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
    } else if constexpr (std::numeric_limits<T>::digits < 64) {
      if (status != KVO_OK) return status;
      to = number;
    } else {
      if (status == KVO_OK && number == 0)
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
  static bool narrow(double from, float &to) {
    float made = static_cast<float>(from);
    bool is_same = !(from < static_cast<double>(made) || from > static_cast<double>(made));
    for (int digits = 6; !is_same && digits <= 9; digits++) {
      char text[40];
      std::snprintf(text, sizeof text, "%.*g", digits, static_cast<double>(made));
      float back = std::strtof(text, nullptr);
      if (back < made || back > made) continue;
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
}
}
#endif
#include <initializer_list>
#include <iterator>
#include <optional>
#include <stdexcept>
#include <type_traits>
#include <utility>
#include <vector>
namespace kvo {
namespace detail {
struct change_frame {
  kvo_frame frame;
  std::uint32_t wants;
  change_frame(kvo_object *object, kvo_key key) : wants(kvo_frame_enter(&frame, object, key)) {}
  change_frame(kvo_object *object, kvo_key key, kvo_change_kind kind, const std::size_t *index)
      : wants(kvo_frame_begin_change(&frame, object, key, kind, index, 1)) {}
  change_frame(const change_frame &) = delete;
  ~change_frame() {
    if (wants != 0) kvo_frame_end(&frame);
  }
  void will(const void *old_value) {
    if ((wants & KVO_FRAME_WANTS_WILL) != 0) kvo_frame_will(&frame, old_value);
  }
  void finish(const void *old_value, const void *new_value) {
    if (std::exchange(wants, 0) != 0) kvo_frame_finish_with(&frame, old_value, new_value);
  }
};
template <class T, class = void> struct is_vector : std::false_type {};
template <class T> struct is_vector<std::vector<T>, std::enable_if_t<!std::is_same_v<T, bool>>> : std::true_type {};
struct no_element {
  template <class Any> no_element(const Any &);
};
template <class T, class = void> struct element_of { using type = no_element; };
template <class T> struct element_of<T, std::enable_if_t<is_vector<T>::value>> { using type = typename T::value_type; };
template <class T, class = void> struct is_smart_pointer : std::false_type {};
template <class T>
struct is_smart_pointer<T, std::void_t<typename T::element_type, decltype(std::declval<const T &>().operator->())>>
    : std::true_type {};
template <class T> struct property_functions;
template <class T> struct is_property : std::false_type {};
template <class T> struct is_property<property<T>> : std::true_type {};
template <class T> const T &plain(const T &value) { return value; }
template <class T> const T &plain(const property<T> &value) { return value.get(); }
template <class T> using plain_type = std::decay_t<decltype(plain(std::declval<const T &>()))>;
template <class T, class Index, class = void> struct index_type { using type = const Index &; };
template <class T, class Index>
struct index_type<T, Index, std::enable_if_t<std::is_integral_v<Index>, std::void_t<typename T::size_type>>> {
  using type = typename T::size_type;
};
template <class T, class Index> typename index_type<T, Index>::type index_of(const Index &index) {
  return static_cast<typename index_type<T, Index>::type>(index);
}
template <class T, class U> constexpr bool is_lost = kvo_loses<T, plain_type<U>>::is_lossy;
template <class T, class U> constexpr bool is_lost<std::optional<T>, U> = is_lost<T, U>;
template <class T, class U> using if_lost = std::enable_if_t<is_lost<T, U>, int>;
template <class U> void refuse_lost() {
  static_assert(!std::is_same_v<U, U>, "kvo::property: the value would be lost: a floating-point number that becomes "
                                       "an integer, or a pointer that becomes a number. Convert it explicitly");
}
struct naming {
  template <class T> static const char *of(const property<T> &named) { return named.name(); }
};
}
template <class T> class property {
  static_assert(std::is_same_v<T, std::decay_t<T>>,
                "kvo::property: neither const nor a reference nor an array: use T, a "
                "pointer or std::reference_wrapper, or std::array");
  static_assert(
      !std::is_base_of_v<object, T>,
      "kvo::property: objects are not moved, so one cannot be a value: use a pointer, such as std::unique_ptr");
  using element_type = typename detail::element_of<T>::type;
public:
  using value_type = T;
  explicit property(object *owner, T value = T())
      : value_(std::move(value)), distance_(static_cast<std::int32_t>(reinterpret_cast<char *>(this) -
                                                                      reinterpret_cast<char *>(&owner->header_))) {}
  template <class U, detail::if_lost<T, U> = 0> property(object *owner, const U &) : property(owner) {
    detail::refuse_lost<U>();
  }
  property(const property &) = delete;
  const T &get() const {
    if (kvo_is_tracking()) record();
    return value_;
  }
  operator const T &() const { return get(); }
  const T &operator*() const { return get(); }
  auto operator->() const {
    if constexpr (std::is_pointer_v<T>)
      return get();
    else if constexpr (detail::is_smart_pointer<T>::value)
      return get().operator->();
    else
      return &get();
  }
  template <class Value = T,
            std::enable_if_t<std::is_class_v<Value> && std::is_constructible_v<bool, const Value &>, int> = 0>
  explicit operator bool() const {
    return static_cast<bool>(get());
  }
  template <class Index, class Value = T>
  auto operator[](const Index &index) const -> decltype(std::declval<const Value &>()[detail::index_of<Value>(index)]) {
    return get()[detail::index_of<T>(index)];
  }
  template <class Value = T> auto begin() const -> decltype(std::begin(std::declval<const Value &>())) {
    return std::begin(get());
  }
  template <class Value = T> auto end() const -> decltype(std::end(std::declval<const Value &>())) {
    return std::end(get());
  }
  template <class Value = T> auto size() const -> decltype(std::size(std::declval<const Value &>())) {
    return std::size(get());
  }
  template <class Value = T> auto empty() const -> decltype(std::empty(std::declval<const Value &>())) {
    return std::empty(get());
  }
  void set(T value) { store(std::move(value)); }
  template <class U, detail::if_lost<T, U> = 0> void set(const U &) { detail::refuse_lost<U>(); }
  property &operator=(T value) {
    store(std::move(value));
    return *this;
  }
  property &operator=(const property &other) {
    store(T(other.get()));
    return *this;
  }
  template <class Value = T, class Element = typename Value::value_type,
            std::enable_if_t<std::is_constructible_v<Value, std::initializer_list<Element>>, int> = 0>
  property &operator=(std::initializer_list<Element> elements) {
    store(T(elements));
    return *this;
  }
  template <class U, detail::if_lost<T, U> = 0> property &operator=(const U &) {
    return detail::refuse_lost<U>(), *this;
  }
  template <class Body> void modify(Body &&body) {
    static_assert(detail::is_copyable<T>::value, "modify changes a copy, and this type has none: use set(), or "
                                                 "insert_at(), remove_at() and replace_at() of a std::vector");
    T value(value_);
    std::forward<Body>(body)(value);
    store(std::move(value));
  }
#define KVO_PROPERTY_COMBINES(op)                                                                                      \
                                                                               \
  template <class Operand> property &operator op##=(const Operand &operand) {                                          \
    if constexpr (std::is_arithmetic_v<T>) {                                                                           \
      auto result = get() op detail::plain(operand);                                                                   \
      if constexpr (detail::is_lost<T, decltype(result)>) detail::refuse_lost<decltype(result)>();                     \
      store(static_cast<T>(result));                                                                                   \
    } else {                                                                                                           \
      T value(get());                                                                                                  \
      value op## = detail::plain(operand);                                                                             \
      store(std::move(value));                                                                                         \
    }                                                                                                                  \
    return *this;                                                                                                      \
  }
  KVO_PROPERTY_COMBINES(+)
  KVO_PROPERTY_COMBINES(-)
  KVO_PROPERTY_COMBINES(*)
  KVO_PROPERTY_COMBINES(/)
  KVO_PROPERTY_COMBINES(%)
  KVO_PROPERTY_COMBINES(&)
  KVO_PROPERTY_COMBINES(|)
  KVO_PROPERTY_COMBINES(^)
  KVO_PROPERTY_COMBINES(<<)
  KVO_PROPERTY_COMBINES(>>)
#undef KVO_PROPERTY_COMBINES
  property &operator++() {
    T value(get());
    store(std::move(++value));
    return *this;
  }
  property &operator--() {
    T value(get());
    store(std::move(--value));
    return *this;
  }
  T operator++(int) {
    T before(get());
    ++*this;
    return before;
  }
  T operator--(int) {
    T before(get());
    --*this;
    return before;
  }
  void insert_at(std::size_t index, const element_type &element) { insert(index, element); }
  void insert_at(std::size_t index, element_type &&element) { insert(index, std::move(element)); }
  void remove_at(std::size_t index) {
    static_assert(detail::is_vector<T>::value, "remove_at is for a std::vector");
    check_index(KVO_CHANGE_REMOVAL, index);
    change_at(KVO_CHANGE_REMOVAL, index, nullptr, [&](T &taken) {
      if constexpr (!detail::is_copyable<T>::value) taken.push_back(std::move(value_[index]));
      value_.erase(value_.begin() + static_cast<std::ptrdiff_t>(index));
    });
  }
  void replace_at(std::size_t index, const element_type &element) { replace(index, element); }
  void replace_at(std::size_t index, element_type &&element) { replace(index, std::move(element)); }
private:
  template <class Value> friend struct detail::property_functions;
  friend struct detail::naming;
  kvo_object *owner() const {
    return reinterpret_cast<kvo_object *>(reinterpret_cast<char *>(const_cast<property *>(this)) - distance_);
  }
  const char *name() const {
    key();
    return described(kvo_object_class(owner()), index_.load(std::memory_order_relaxed))->name.c_str();
  }
  kvo_key key() const {
    const kvo_class *cls = kvo_object_class(owner());
    std::uint32_t index = index_.load(std::memory_order_relaxed);
    if (index == unknown) {
      for (index = 0; described(cls, index)->offset != distance_;) index++;
      index_.store(index, std::memory_order_relaxed);
    }
    return described(cls, index)->key;
  }
  static const detail::member *described(const kvo_class *cls, std::uint32_t index) {
    const kvo_property *each = kvo_class_property_at(cls, index);
    if (each == nullptr)
      detail::raise(error(KVO_ERROR_UNDEFINED_KEY,
                          std::string("a property is not named in KVO_PROPERTIES of ") + kvo_class_name(cls) +
                              ", or the object was observed before the constructors of its derived classes"));
    return static_cast<const detail::member *>(kvo_property_user(each));
  }
  void record() const {
    if (!kvo_track_is_recording()) return;
    kvo_object *header = object::around(owner())->kvo();
    kvo_track_read(header, key());
  }
  void store(T &&value) {
    kvo_object *header = owner();
    if (kvo_word_is_observed(header)) return change(header, std::move(value));
    value_ = std::move(value);
    if (kvo_word_is_observed(header)) kvo_binding_stored(header, key());
  }
  void change(kvo_object *header, T &&value) {
    if constexpr (std::is_trivially_copyable_v<T> && sizeof(T) == 8 && alignof(T) == 8) {
      std::uint64_t word;
      std::memcpy(&word, &value, sizeof word);
      kvo_change_word(header, key(), reinterpret_cast<std::uint64_t *>(&value_), word);
    } else {
      detail::change_frame frame(header, key());
      if (frame.wants == 0) {
        value_ = std::move(value);
        kvo_binding_stored(header, key());
        return;
      }
      const bool wants_old = (frame.wants & KVO_FRAME_WANTS_OLD) != 0;
      std::optional<T> old;
      if constexpr (detail::is_copyable<T>::value) {
        if (wants_old) old.emplace(value_);
        frame.will(old ? &*old : nullptr);
      } else {
        frame.will(wants_old ? &value_ : nullptr);
        if constexpr (std::is_nothrow_move_assignable_v<T>) old.emplace(std::move(value_));
      }
      value_ = std::move(value);
      frame.finish(wants_old && old ? &*old : nullptr, &value_);
    }
  }
  void check_index(kvo_change_kind kind, std::size_t index) const {
    std::size_t count = value_.size();
    if (kind == KVO_CHANGE_INSERTION ? index <= count : index < count) return;
    detail::raise(std::out_of_range("kvo::property: index " + std::to_string(index) + " of " + std::to_string(count) +
                                    " elements"));
  }
  template <class Element> void insert(std::size_t index, Element &&element) {
    static_assert(detail::is_vector<T>::value, "insert_at is for a std::vector");
    check_index(KVO_CHANGE_INSERTION, index);
    T inserted;
    inserted.push_back(std::forward<Element>(element));
    change_at(KVO_CHANGE_INSERTION, index, delivered(inserted), [&](T &) {
      value_.insert(value_.begin() + static_cast<std::ptrdiff_t>(index), copied_or_moved(inserted.front()));
    });
  }
  template <class Element> void replace(std::size_t index, Element &&element) {
    static_assert(detail::is_vector<T>::value, "replace_at is for a std::vector");
    check_index(KVO_CHANGE_REPLACEMENT, index);
    T inserted;
    inserted.push_back(std::forward<Element>(element));
    change_at(KVO_CHANGE_REPLACEMENT, index, delivered(inserted), [&](T &taken) {
      if constexpr (!detail::is_copyable<T>::value) taken.push_back(std::move(value_[index]));
      value_[index] = copied_or_moved(inserted.front());
    });
  }
  static const T *delivered(const T &inserted) { return detail::is_copyable<T>::value ? &inserted : nullptr; }
  static decltype(auto) copied_or_moved(element_type &element) {
    if constexpr (detail::is_copyable<T>::value)
      return static_cast<const element_type &>(element);
    else
      return static_cast<element_type &&>(element);
  }
  template <class Store> void change_at(kvo_change_kind kind, std::size_t index, const T *inserted, Store &&store) {
    kvo_object *header = owner();
    T taken;
    if (!kvo_word_is_observed(header)) {
      store(taken);
      if (kvo_word_is_observed(header)) kvo_binding_stored(header, key());
      return;
    }
    detail::change_frame frame(header, key(), kind, &index);
    std::optional<T> removed;
    auto read_removed = [&]() -> const T * {
      check_index(kind, index);
      if (kind == KVO_CHANGE_INSERTION || (frame.wants & KVO_FRAME_WANTS_OLD) == 0) return nullptr;
      if constexpr (detail::is_copyable<T>::value) removed.emplace(std::size_t{1}, value_[index]);
      return removed ? &*removed : nullptr;
    };
    const T *old_value = read_removed();
    if ((frame.wants & KVO_FRAME_WANTS_WILL) != 0) {
      frame.will(old_value);
      old_value = read_removed();
    }
    store(taken);
    if (frame.wants == 0) return kvo_binding_stored(header, key());
    if (!taken.empty() && (frame.wants & KVO_FRAME_WANTS_OLD) != 0) old_value = &taken;
    frame.finish(old_value, inserted);
  }
  static constexpr std::uint32_t unknown = UINT32_MAX;
  T value_;
  std::int32_t distance_;
  mutable std::atomic<std::uint32_t> index_{unknown};
};
}
#endif
#include <cstddef>
#include <exception>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <type_traits>
#include <utility>
namespace kvo {
namespace detail {
template <class T> void pass(const T &value, kvo_value_reader reader, void *arg) {
  if constexpr (is_property<T>::value) {
    pass(value.get(), reader, arg);
  } else if constexpr (std::is_same_v<T, std::nullptr_t> || std::is_same_v<T, std::nullopt_t>) {
    kvo_value nil = {"@", sizeof(kvo_object *), nullptr};
    reader(&nil, arg);
  } else if constexpr (is_c_string<T>) {
    const char *text = value;
    kvo_value seen = {"*", sizeof text, text != nullptr ? &text : nullptr};
    reader(&seen, arg);
  } else if constexpr (std::is_same_v<T, std::string_view>) {
    bridge<std::string>::view(std::string(value), reader, arg);
  } else if constexpr (std::is_same_v<T, std::optional<std::string_view>>) {
    bridge<std::optional<std::string>>::view(std::optional<std::string>(value), reader, arg);
  } else {
    bridge<T>::view(value, reader, arg);
  }
}
}
template <class T>
T get(kvo_object *object, path key_path, const char *file = __builtin_FILE(), unsigned line = __builtin_LINE()) {
  struct reading {
    std::optional<T> value;
    kvo_status status = KVO_ERROR_TYPE_MISMATCH;
    std::exception_ptr exception;
  } made;
  static_assert(!detail::refers_to_characters<T>::value, "read a std::string: the characters do not outlive the call");
  kvo_status status = kvo_get_value_at(
      object, key_path.c_str(),
      [](const kvo_value *value, void *arg) {
        auto &read = *static_cast<reading *>(arg);
        read.exception = detail::caught([&] {
          read.status = detail::make<T>(*value, [&](T &&value_read) { read.value.emplace(std::move(value_read)); });
        });
      },
      &made, file, line);
  if (made.exception) std::rethrow_exception(made.exception);
  detail::check(status, key_path.c_str());
  if (made.status != KVO_OK)
    detail::raise(error(made.status, std::string(key_path.c_str()) +
                                         ": the value cannot be read as the C++ type with the encoding " +
                                         encoding<T>::text()));
  return std::move(*made.value);
}
template <class T>
T get(const object &object, path key_path, const char *file = __builtin_FILE(), unsigned line = __builtin_LINE()) {
  return get<T>(object.kvo(), key_path, file, line);
}
template <class T>
void set(kvo_object *object, path key_path, const T &value, const char *file = __builtin_FILE(),
         unsigned line = __builtin_LINE()) {
  struct setting {
    kvo_object *object;
    const char *key_path, *file;
    unsigned line;
    kvo_status status;
  } made{object, key_path.c_str(), file, line, KVO_OK};
  detail::pass(
      value,
      [](const kvo_value *seen, void *arg) {
        auto &call = *static_cast<setting *>(arg);
        call.status = kvo_set_value_at(call.object, call.key_path, seen, call.file, call.line);
      },
      &made);
  detail::check(made.status, key_path.c_str());
}
template <class T>
void set(object &object, path key_path, const T &value, const char *file = __builtin_FILE(),
         unsigned line = __builtin_LINE()) {
  set(object.kvo(), key_path, value, file, line);
}
struct object_destroyer {
  void operator()(kvo_object *object) const noexcept { kvo_object_destroy(object, nullptr, 0); }
};
using unique_object = std::unique_ptr<kvo_object, object_destroyer>;
inline unique_object make_object(kvo_class *cls) {
  kvo_object *made = nullptr;
  detail::check(kvo_object_create(cls, &made), "kvo_object_create");
  return unique_object(made);
}
}
#endif
#ifndef KVO_CXX_OBSERVATIONS_HPP
#define KVO_CXX_OBSERVATIONS_HPP
#ifndef KVO_CXX_DESCRIBED_HPP
#define KVO_CXX_DESCRIBED_HPP
#include <cstring>
#include <memory>
#include <new>
#include <type_traits>
#include <utility>
#include <vector>
namespace kvo {
namespace detail {
template <class T> struct property_functions {
  static property<T> &in(void *instance, void *user) {
    char *header = reinterpret_cast<char *>(static_cast<object *>(instance)->kvo());
    return *reinterpret_cast<property<T> *>(header + static_cast<member *>(user)->offset);
  }
  static void *copy(void *instance, void *user, const kvo_selection *selection) {
    if constexpr (!is_copyable<T>::value) {
      return selection == nullptr ? const_cast<T *>(&in(instance, user).get()) : nullptr;
    } else {
      std::unique_ptr<T> made;
      caught([&] {
                   const T &value = in(instance, user).get();
                   if (selection == nullptr) {
                     made.reset(new T(value));
                   } else if constexpr (is_vector<T>::value) {
                     auto selected = std::make_unique<T>();
                     for (std::size_t i = 0; i < selection->count; i++)
                       selected->push_back(value.at(selection->indexes[i]));
                     made = std::move(selected);
                   }
      });
      return made.release();
    }
  }
  static void release(void *value, void *) { delete static_cast<T *>(value); }
  static void view(const void *value, void *, kvo_value_reader reader, void *arg) {
    bridge<T>::view(*static_cast<const T *>(value), reader, arg);
  }
  static kvo_status assign(void *instance, void *user, const kvo_value *from) {
    if constexpr (refers_to_characters<T>::value) {
      return KVO_ERROR_READ_ONLY;
    } else {
      kvo_status status = KVO_OK;
      std::exception_ptr thrown =
          caught([&] { status = make<T>(*from, [&](T &&value) { in(instance, user).store(std::move(value)); }); });
      return thrown == nullptr ? status : status_of(thrown);
    }
  }
  static bool same(const void *one, const void *other, void *) {
    bool is_same = false;
    if constexpr (is_comparable<T>::value)
      caught([&] { is_same = static_cast<bool>(*static_cast<const T *>(one) == *static_cast<const T *>(other)); });
    return is_same;
  }
  static const operations &all() {
    static const operations functions{{copy, release, view, assign, is_comparable<T>::value ? same : nullptr},
                                      encoding<T>::text,
                                      is_copyable<T>::value ? 0u : static_cast<std::uint32_t>(KVO_PROPERTY_IN_PLACE)};
    return functions;
  }
};
template <class T> using pointer_to = T *;
template <class Class, class = void> struct has_object_in_place : std::false_type {};
template <class Class>
struct has_object_in_place<Class, std::void_t<decltype(pointer_to<Class>(std::declval<object *>()))>> : std::true_type {
};
template <class Member> member member_of(const Member &of) {
  static_assert(is_property<Member>::value, "KVO_PROPERTIES names members that are a kvo::property");
  return {"", 0, 0, &of, &property_functions<typename Member::value_type>::all()};
}
template <class... Members> std::vector<member> members_of(const char *names, const Members &...properties) {
  std::vector<member> made{member_of(properties)...};
  for (member &each : made) {
    std::size_t length = std::strcspn(names, ", ");
    each.name.assign(names, length);
    names += length + std::strspn(names + length, ", ");
  }
  return made;
}
template <class T>
void bridge<T, std::enable_if_t<refers_to_object<T>::value>>::view(const T &value, kvo_value_reader reader, void *arg) {
  with_pointee(value, [&](const object *referred) {
    kvo_object *header = referred != nullptr ? referred->kvo() : nullptr;
    kvo_value seen = {"@", sizeof header, header != nullptr ? &header : nullptr};
    reader(&seen, arg);
  });
}
template <class T>
kvo_status bridge<T, std::enable_if_t<refers_to_object<T>::value>>::assign(T &to, const kvo_value &from) {
  kvo_object *header = nullptr;
  kvo_status status = from.bytes != nullptr ? kvo_value_object(&from, &header) : KVO_OK;
  if (status != KVO_OK) return status;
  if constexpr (std::is_trivially_copyable_v<T>) {
#if defined(__cpp_rtti)
    auto *referred = dynamic_cast<typename pointee<T>::type *>(object::from(header));
#else
    typename pointee<T>::type *referred = nullptr;
#endif
    if (referred == nullptr && header != nullptr) return KVO_ERROR_TYPE_MISMATCH;
    if constexpr (std::is_pointer_v<T>)
      return to = referred, KVO_OK;
    else if (referred != nullptr)
      return to = *referred, KVO_OK;
  } else if (header == nullptr) {
    return to = T(), KVO_OK;
  }
  return KVO_ERROR_TYPE_MISMATCH;
}
}
}
#define KVO_PROPERTIES(Class, Base, ...)                                                                               \
public:                                                                                                                \
  const ::kvo::type *kvo_type() const override {                                                                       \
    static_assert(::kvo::detail::has_object_in_place<Class>::value,                                                    \
                  "KVO_PROPERTIES: kvo::object must not be a virtual base of " #Class ", nor in one");                 \
    static const ::kvo::type &kvo_described =                                                                          \
        *new ::kvo::type(#Class, Base::kvo_type(), this, ::kvo::detail::members_of(#__VA_ARGS__, __VA_ARGS__));        \
    return &kvo_described;                                                                                             \
  }                                                                                                                    \
                                                                                                                       \
private:                                                                                                               \
  ::kvo::ending kvo_ending_{this};
#endif
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <utility>
namespace kvo {
class token {
public:
  token() noexcept = default;
  explicit token(kvo_observation observation) noexcept : observation_(observation) {}
  token(token &&other) noexcept : observation_(std::exchange(other.observation_, 0)) {}
  token &operator=(token &&other) noexcept {
    if (this != &other) {
      cancel(nullptr, 0);
      observation_ = std::exchange(other.observation_, 0);
    }
    return *this;
  }
  ~token() { cancel(nullptr, 0); }
  void cancel(const char *file = __builtin_FILE(), unsigned line = __builtin_LINE()) noexcept {
    if (observation_ != 0) kvo_cancel_observer(std::exchange(observation_, 0), file, line);
  }
  void cancel_and_wait(const char *file = __builtin_FILE(), unsigned line = __builtin_LINE()) noexcept {
    if (observation_ != 0) kvo_cancel_observer_and_wait(std::exchange(observation_, 0), file, line);
  }
  kvo_observation detach() noexcept { return std::exchange(observation_, 0); }
  bool is_active() const noexcept { return observation_ != 0 && kvo_observation_is_registered(observation_); }
  void pause() { check(kvo_observation_pause(observation_), "kvo_observation_pause"); }
  void resume(bool tell_missed = true) {
    check(kvo_observation_resume(observation_, tell_missed), "kvo_observation_resume");
  }
  kvo_observation id() const noexcept { return observation_; }
private:
  static void check(kvo_status status, const char *function) {
    if (status != KVO_ERROR_NOT_REGISTERED) detail::check(status, function);
  }
  kvo_observation observation_ = 0;
};
template <class T> struct change {
  const T *old_value;
  const T *new_value;
  kvo_change_kind kind;
  bool is_prior;
  const std::size_t *indexes;
  std::size_t index_count;
  kvo_observation observation;
};
class record {
public:
  explicit record(const kvo_change &change) noexcept : change_(change) {}
  template <class T> std::optional<T> old_value() const { return value<T>(change_.old_value); }
  template <class T> std::optional<T> new_value() const { return value<T>(change_.new_value); }
  const kvo_change *operator->() const noexcept { return &change_; }
private:
  template <class T> static std::optional<T> value(const kvo_value *from) {
    std::optional<T> to;
    if (from == nullptr || from->bytes == nullptr || from->type == nullptr) return to;
    detail::make<T>(*from, [&](T &&value) { to.emplace(std::move(value)); });
    return to;
  }
  const kvo_change &change_;
};
namespace detail {
template <class T, class Handler> struct typed_observer {
  Handler handler;
  std::string key_path;
  static void call(const kvo_raw_change *raw, void *user_data) {
    auto &self = *static_cast<typed_observer *>(user_data);
    change<T> made{static_cast<const T *>(raw->old_value),
                   static_cast<const T *>(raw->new_value),
                   raw->kind,
                   raw->is_prior,
                   raw->indexes,
                   raw->index_count,
                   raw->observation};
    stop_exceptions(self.key_path.c_str(), [&] { self.handler(made); });
  }
  static void destroy(void *user_data) { delete static_cast<typed_observer *>(user_data); }
  static kvo_observer_ops ops() {
    kvo_observer_ops made{};
    made.callback = call;
    made.destroy = made.abandon = destroy;
    return made;
  }
};
template <class T, class Expression, class Handler> struct expression_observer : typed_observer<T, Handler> {
  Expression expression;
  expression_observer(Expression &&evaluated, Handler &&called)
      : typed_observer<T, Handler>{std::move(called), "expression"}, expression(std::move(evaluated)) {}
  static void *evaluate(void *user_data) {
    auto &self = *static_cast<expression_observer *>(user_data);
    T *value = nullptr;
    stop_exceptions("expression", [&] { value = new T(self.expression()); });
    return value;
  }
  static void release(void *value, void *) { delete static_cast<T *>(value); }
  static bool same(const void *one, const void *other, void *) {
    return property_functions<T>::same(one, other, nullptr);
  }
  static void call(const kvo_raw_change *raw, void *user_data) {
    typed_observer<T, Handler>::call(raw, static_cast<expression_observer *>(user_data));
  }
  static void destroy(void *user_data) { delete static_cast<expression_observer *>(user_data); }
  static kvo_observer_ops ops() {
    kvo_observer_ops made{};
    made.callback = call;
    made.destroy = made.abandon = destroy;
    made.evaluate = evaluate;
    made.release = release;
    made.same = is_comparable<T>::value ? same : nullptr;
    return made;
  }
};
template <class Handler> struct text_observer {
  Handler handler;
  static void call(const kvo_change *made, void *user_data) {
    stop_exceptions(made->key_path, [&] { static_cast<text_observer *>(user_data)->handler(record(*made)); });
  }
  static void destroy(void *user_data) { delete static_cast<text_observer *>(user_data); }
};
inline kvo_raw_observer raw_observer(const char *key_path, kvo_options options, const kvo_observer_ops *ops,
                                     void *user_data, const char *file, unsigned line) {
  kvo_raw_observer observer{};
  observer.struct_size = sizeof observer;
  observer.key_path = key_path;
  observer.options = options | KVO_ENDS_WITH_OBJECT;
  observer.ops = ops;
  observer.user_data = user_data;
  observer.identity = {"C++ function", user_data};
  observer.file = file;
  observer.line = line;
  return observer;
}
constexpr kvo_options old_and_new = KVO_OLD | KVO_NEW;
}
template <class Class, class Owner, class T, class Handler>
[[nodiscard]] token observe(Class &object, property<T> Owner::*member, Handler handler,
                            kvo_options options = detail::old_and_new, const char *file = __builtin_FILE(),
                            unsigned line = __builtin_LINE()) {
  using observer_type = detail::typed_observer<T, Handler>;
  static const kvo_observer_ops ops = observer_type::ops();
  kvo_object *header = object.kvo();
  const char *name = detail::naming::of(object.*member);
  auto observer = std::unique_ptr<observer_type>(new observer_type{std::move(handler), name});
  kvo_raw_observer described = detail::raw_observer(name, options, &ops, observer.get(), file, line);
  kvo_observation observation = 0;
  observer.release();
  detail::check(kvo_raw_observe(header, kvo_key_hash(name, std::strlen(name)), &described, &observation),
                "kvo::observe");
  return token(observation);
}
template <class Expression, class Handler, class T = std::decay_t<std::invoke_result_t<Expression &>>>
[[nodiscard]] token observe(const object &root, Expression expression, Handler handler,
                            kvo_options options = detail::old_and_new, const char *file = __builtin_FILE(),
                            unsigned line = __builtin_LINE()) {
  using observer_type = detail::expression_observer<T, Expression, Handler>;
  static const kvo_observer_ops ops = observer_type::ops();
  auto observer = std::make_unique<observer_type>(std::move(expression), std::move(handler));
  kvo_raw_observer described = detail::raw_observer("expression", options, &ops, observer.get(), file, line);
  kvo_observation observation = 0;
  kvo_object *header = root.kvo();
  observer.release();
  detail::check(kvo_raw_observe_expression(header, &described, true, &observation), "kvo::observe");
  return token(observation);
}
template <class Handler>
[[nodiscard]] token observe(kvo_object *object, path key_path, Handler handler,
                            kvo_options options = detail::old_and_new, const char *file = __builtin_FILE(),
                            unsigned line = __builtin_LINE()) {
  using observer_type = detail::text_observer<Handler>;
  auto observer = std::unique_ptr<observer_type>(new observer_type{std::move(handler)});
  kvo_observer described{};
  described.struct_size = sizeof described;
  described.key_path = key_path.c_str();
  described.options = options | KVO_ENDS_WITH_OBJECT;
  described.callback = observer_type::call;
  described.user_data = observer.get();
  described.destroy = observer_type::destroy;
  described.file = file;
  described.line = line;
  kvo_observation observation = 0;
  detail::check(kvo_add_observer(object, &described, &observation), "kvo::observe");
  observer.release();
  return token(observation);
}
template <class Handler>
[[nodiscard]] token observe(const object &object, path key_path, Handler handler,
                            kvo_options options = detail::old_and_new, const char *file = __builtin_FILE(),
                            unsigned line = __builtin_LINE()) {
  return observe(object.kvo(), key_path, std::move(handler), options, file, line);
}
}
#endif
#include <cstring>
#include <memory>
#include <string>
#include <type_traits>
#include <utility>
namespace kvo {
namespace detail {
template <class T>
struct can_be_set : std::bool_constant<!refers_to_characters<T>::value &&
                                       (!refers_to_object<T>::value || std::is_trivially_copyable_v<T>)> {};
template <class T> struct can_be_set<std::optional<T>> : can_be_set<T> {};
template <class T> struct can_be_set<std::vector<T>> : can_be_set<T> {};
template <class Object> const char *key_of(Object &, const path &key_path) noexcept { return key_path.c_str(); }
template <class Object, class Owner, class T> const char *key_of(Object &object, property<T> Owner::*member) {
  return naming::of(object.*member);
}
template <class Object> const char *target_of(Object &, const path &key) noexcept {
  static_assert(!std::is_base_of_v<object, Object> || !std::is_const_v<Object>, "kvo::bind: the target is constant");
  return key.c_str();
}
template <class Object, class Owner, class T> const char *target_of(Object &object, property<T> Owner::*member) {
  static_assert(!std::is_const_v<Object>, "kvo::bind: the target is constant");
  static_assert(can_be_set<T>::value, "kvo::bind passes values through C, which sets neither what owns an object nor a "
                                      "const char *: bind a plain pointer or a std::string, or use kvo::observe");
  const char *key = naming::of(object.*member), *type = encoding<T>::text();
  if (type[std::strspn(type, "[")] == '?')
    raise(error(KVO_ERROR_TYPE_MISMATCH, std::string("kvo::bind: \"") + key + "\" has a type that only C++ can set"));
  return key;
}
template <class Expression> struct bound_expression {
  Expression expression;
  std::string key;
  static void compute(void *user_data, kvo_value_reader reader, void *arg) {
    auto &self = *static_cast<bound_expression *>(user_data);
    stop_exceptions(self.key.c_str(), [&] {
      auto &&value = self.expression();
      pass(value, reader, arg);
    });
  }
  static void destroy(void *user_data) { delete static_cast<bound_expression *>(user_data); }
};
}
template <class Target, class Key, class Source, class Path,
          class = decltype(detail::header_of(std::declval<Source &>()))>
[[nodiscard]] token bind(Target &&target, Key key, Source &&source, Path key_path, const char *file = __builtin_FILE(),
                         unsigned line = __builtin_LINE()) {
  kvo_object *to = detail::header_of(target), *from = detail::header_of(source);
  kvo_observation binding = 0;
  detail::check(
      kvo_bind(to, detail::target_of(target, key), from, detail::key_of(source, key_path), &binding, file, line),
      "kvo::bind");
  return token(binding);
}
template <class Target, class Key, class Expression, class = std::invoke_result_t<Expression &>>
[[nodiscard]] token bind(Target &&target, Key key, Expression expression, const char *file = __builtin_FILE(),
                         unsigned line = __builtin_LINE()) {
  using bound_type = detail::bound_expression<Expression>;
  kvo_object *to = detail::header_of(target);
  const char *name = detail::target_of(target, key);
  auto bound = std::unique_ptr<bound_type>(new bound_type{std::move(expression), name != nullptr ? name : ""});
  kvo_observation binding = 0;
  detail::check(
      kvo_bind_computed(to, name, bound_type::compute, bound.get(), bound_type::destroy, &binding, file, line),
      "kvo::bind");
  bound.release();
  return token(binding);
}
template <class One, class Key, class Other, class OtherKey>
[[nodiscard]] token bind_two_way(One &&one, Key key, Other &&other, OtherKey other_key,
                                 const char *file = __builtin_FILE(), unsigned line = __builtin_LINE()) {
  kvo_object *to = detail::header_of(one), *from = detail::header_of(other);
  kvo_observation binding = 0;
  detail::check(kvo_bind_two_way(to, detail::target_of(one, key), from, detail::target_of(other, other_key), &binding,
                                 file, line),
                "kvo::bind_two_way");
  return token(binding);
}
}
#endif
#ifndef KVO_CXX_OPERATORS_HPP
#define KVO_CXX_OPERATORS_HPP
#include <type_traits>
namespace kvo {
namespace detail {
template <class T, class U>
constexpr bool is_built_in = std::is_scalar_v<plain_type<T>> &&std::is_scalar_v<plain_type<U>>;
template <class T, class U>
using if_combined = std::enable_if_t<(is_property<T>::value || is_property<U>::value) && !is_built_in<T, U>, int>;
}
#define KVO_PROPERTY_OPERATOR(op)                                                                                      \
                                                                    \
  template <class T, class U, detail::if_combined<T, U> = 0>                                                           \
  auto operator op(const T &one, const U &other)->decltype(detail::plain(one) op detail::plain(other)) {               \
    return detail::plain(one) op detail::plain(other);                                                                 \
  }
KVO_PROPERTY_OPERATOR(==)
KVO_PROPERTY_OPERATOR(!=)
KVO_PROPERTY_OPERATOR(<)
KVO_PROPERTY_OPERATOR(<=)
KVO_PROPERTY_OPERATOR(>)
KVO_PROPERTY_OPERATOR(>=)
KVO_PROPERTY_OPERATOR(+)
KVO_PROPERTY_OPERATOR(-)
KVO_PROPERTY_OPERATOR(*)
KVO_PROPERTY_OPERATOR(/)
KVO_PROPERTY_OPERATOR(%)
#undef KVO_PROPERTY_OPERATOR
template <class Stream, class T, detail::if_combined<Stream, property<T>> = 0>
auto operator<<(Stream &stream, const property<T> &value) -> decltype(stream << value.get()) {
  return stream << value.get();
}
}
#endif
#ifndef KVO_CXX_SCOPE_HPP
#define KVO_CXX_SCOPE_HPP
#include <array>
namespace kvo {
class [[nodiscard]] scope {
public:
  template <class... Objects> explicit scope(const Objects &...objects) : scope(KVO_SCOPE_COALESCES, objects...) {}
  template <class... Objects> explicit scope(kvo_scope_kind kind, const Objects &...objects) {
    const std::array<kvo_object *, sizeof...(Objects)> headers{detail::header_of(objects)...};
    detail::check(kvo_scope_begin(&scope_, kind, headers.data(), headers.size(), nullptr, 0), "kvo_scope_begin");
  }
  ~scope() { kvo_scope_end(&scope_); }
  scope(const scope &) = delete;
  scope &operator=(const scope &) = delete;
private:
  kvo_scope scope_;
};
}
#endif
#endif

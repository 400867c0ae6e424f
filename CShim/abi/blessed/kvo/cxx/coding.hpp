/* coding.hpp - values by key path, and objects of C classes. Part of kvo.hpp. */
#ifndef KVO_CXX_CODING_HPP
#define KVO_CXX_CODING_HPP

#include <kvo/cxx/property.hpp>

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

/** Passes a value to a reader as kvo::set describes. */
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

} // namespace detail

/** The value of a key path, of an object of any language. Numbers and texts are converted as kvo_coding.h describes, without loss; other
 * types have to be the property's. nil is an empty std::optional, a null pointer or an error. */
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
/** The same for an object of C++. */
template <class T>
T get(const object &object, path key_path, const char *file = __builtin_FILE(), unsigned line = __builtin_LINE()) {
  return get<T>(object.kvo(), key_path, file, line);
}

/** Sets the last key of a key path, of an object of any language, and notifies its observers. The value is converted to the property's type
 * as kvo_coding.h describes, without loss; one that cannot be is an error. A pointer to char and an array of char are strings, which are
 * copied; a null pointer to char, nullptr and std::nullopt are nil. Of a kvo::property it is the value. */
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
/** The same for an object of C++. */
template <class T>
void set(object &object, path key_path, const T &value, const char *file = __builtin_FILE(),
         unsigned line = __builtin_LINE()) {
  set(object.kvo(), key_path, value, file, line);
}

/** Destroys an object of C. */
struct object_destroyer {
  /** Calls kvo_object_destroy. */
  void operator()(kvo_object *object) const noexcept { kvo_object_destroy(object, nullptr, 0); }
};

/** An object of a class that C code has registered, destroyed with this. */
using unique_object = std::unique_ptr<kvo_object, object_destroyer>;

/** Creates an object of a class that C code has registered. */
inline unique_object make_object(kvo_class *cls) {
  kvo_object *made = nullptr;
  detail::check(kvo_object_create(cls, &made), "kvo_object_create");
  return unique_object(made);
}

} // namespace kvo

#endif /* KVO_CXX_CODING_HPP */

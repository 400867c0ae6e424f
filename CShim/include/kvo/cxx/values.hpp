/* values.hpp - C++ values as kvo_value, and back. Part of kvo.hpp. */
#ifndef KVO_CXX_VALUES_HPP
#define KVO_CXX_VALUES_HPP

#include <kvo/cxx/types.hpp>

#include <cstring>
#include <exception>
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

template <> struct bridge<std::string> {
  static void view(const std::string &value, kvo_value_reader reader, void *arg) {
    const char *text = value.c_str();
    kvo_value seen = {"*", sizeof text, &text};
    reader(&seen, arg);
  }
  static kvo_status assign(std::string &to, const kvo_value &from) {
    if (from.bytes == nullptr || std::strcmp(from.type, "*") != 0) return KVO_ERROR_TYPE_MISMATCH;
    to = *static_cast<const char *const *>(from.bytes);
    return KVO_OK;
  }
};

template <class T> struct bridge<std::optional<T>> {
  static void view(const std::optional<T> &value, kvo_value_reader reader, void *arg) {
    if (value) return bridge<T>::view(*value, reader, arg);
    kvo_value nil = {encoding<T>::text(), sizeof(T), nullptr};
    reader(&nil, arg);
  }
  static kvo_status assign(std::optional<T> &to, const kvo_value &from) {
    if (from.bytes == nullptr) return to.reset(), KVO_OK;
    T value{};
    kvo_status status = bridge<T>::assign(value, from);
    if (status == KVO_OK) to = std::move(value);
    return status;
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
      T element{};
      kvo_status status = KVO_OK;
      std::exception_ptr exception;
    };
    std::vector<T> elements;
    for (std::size_t i = 0; i < kvo_value_count(&from); i++) {
      reading made;
      kvo_status status = kvo_value_element(
          &from, i,
          [](const kvo_value *value, void *arg) {
            auto &read = *static_cast<reading *>(arg);
            try {
              read.status = bridge<T>::assign(read.element, *value);
            } catch (...) {
              read.exception = std::current_exception();
            }
          },
          &made);
      if (made.exception) std::rethrow_exception(made.exception);
      if (status != KVO_OK || made.status != KVO_OK) return status != KVO_OK ? status : made.status;
      elements.push_back(std::move(made.element));
    }
    to = std::move(elements);
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

/* described.hpp - what libkvo gets to know about the properties of a class. Part of kvo.hpp. */
#ifndef KVO_CXX_DESCRIBED_HPP
#define KVO_CXX_DESCRIBED_HPP

#include <kvo/cxx/property.hpp>

#include <cstring>
#include <memory>
#include <new>
#include <type_traits>
#include <utility>
#include <vector>

namespace kvo {

namespace detail {

/** The operations of libkvo on the values of property<T>. */
template <class T> struct property_functions {
  static property<T> &in(void *instance, void *user) {
    char *header = reinterpret_cast<char *>(static_cast<object *>(instance)->kvo());
    return *reinterpret_cast<property<T> *>(header + static_cast<member *>(user)->offset);
  }
  static void *copy(void *instance, void *user, const kvo_selection *selection) {
    if constexpr (!is_copyable<T>::value) {
      return selection == nullptr ? const_cast<T *>(&in(instance, user).by_key()) : nullptr; /* KVO_PROPERTY_IN_PLACE */
    } else {
      std::unique_ptr<T> made;
      caught([&] { /* no memory, or no such element: it cannot be read */
                   const T &value = in(instance, user).by_key();
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
      return KVO_ERROR_READ_ONLY; /* the characters may not outlive the call */
    } else {
      kvo_status status = KVO_OK;
      std::exception_ptr thrown =
          caught([&] { status = make<T>(*from, [&](T &&value) { in(instance, user).store(std::move(value)); }); });
      return thrown == nullptr ? status : status_of(thrown);
    }
  }
  static bool same(const void *one, const void *other, void *) {
    bool is_same = false; /* unknown, if == throws */
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

/** Whether kvo::object is at the same place in all objects of a class, also within those of derived classes: then a pointer to it can be
 * cast down. In this form the cast does not ask whether the base is accessible. */
template <class T> using pointer_to = T *;
template <class Class, class = void> struct has_object_in_place : std::false_type {};
template <class Class>
struct has_object_in_place<Class, std::void_t<decltype(pointer_to<Class>(std::declval<object *>()))>> : std::true_type {
};

template <class Member> member member_of(const Member &of) {
  static_assert(is_property<Member>::value, "KVO_PROPERTIES names members that are a kvo::property");
  return {"", 0, 0, &of, &property_functions<typename Member::value_type>::all()};
}

/** The properties of a class. `names` is the list of them as KVO_PROPERTIES has it. */
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
  if constexpr (std::is_trivially_copyable_v<T>) { /* a pointer or a reference; what owns cannot take an object of C */
#if defined(__cpp_rtti)
    auto *referred = dynamic_cast<typename pointee<T>::type *>(object::from(header));
#else
    typename pointee<T>::type *referred = nullptr; /* its class is unknown */
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

} // namespace detail

} // namespace kvo

/** Names the properties of a class, inherited ones excepted, as the last line of the class: `KVO_PROPERTIES(Document, kvo::object, zoom,
 * title)`. `Base` is kvo::object or the base class that has this line. A property that is left out cannot be observed, and setting it
 * fails once its object is observed. With the name of an inherited property, the first use of an object by libkvo throws kvo::error
 * (DUPLICATE_KEY). Does not compile if kvo::object, or a base class that has it, is a virtual base. */
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

#endif /* KVO_CXX_DESCRIBED_HPP */

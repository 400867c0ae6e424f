/* property.hpp - members of objects that can be observed. Part of kvo.hpp. */
#ifndef KVO_CXX_PROPERTY_HPP
#define KVO_CXX_PROPERTY_HPP

#include <kvo/cxx/objects.hpp>
#include <kvo/cxx/traits.hpp>
#include <kvo/cxx/values.hpp>

#include <initializer_list>
#include <iterator>
#include <memory>
#include <optional>
#include <stdexcept>
#include <type_traits>
#include <utility>
#include <vector>

namespace kvo {

namespace detail {

/** A change in progress. It ends also if an exception leaves. */
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
  void will(const void *old_value) { kvo_frame_will(&frame, old_value); }
  void finish(const void *old_value, const void *new_value) {
    if (std::exchange(wants, 0) != 0) kvo_frame_finish_with(&frame, old_value, new_value);
  }
};

template <class T, class = void> struct is_vector : std::false_type {};
template <class T> struct is_vector<std::vector<T>, std::enable_if_t<!std::is_same_v<T, bool>>> : std::true_type {};

/** The elements of a vector. For other types anything, so that the error is that of the function that is called. */
struct no_element {
  template <class Any> no_element(const Any &);
};
template <class T, class = void> struct element_of { using type = no_element; };
template <class T> struct element_of<T, std::enable_if_t<is_vector<T>::value>> { using type = typename T::value_type; };

/** std::shared_ptr, std::unique_ptr and their like. */
template <class T, class = void> struct is_smart_pointer : std::false_type {};
template <class T>
struct is_smart_pointer<T, std::void_t<typename T::element_type, decltype(std::declval<const T &>().operator->())>>
    : std::true_type {};

/** Has an expression that reads a std::weak_ptr notified of the death of its object, which makes the pointer empty. */
template <class T> void record_deaths(const T &) {}
template <class T> void record_deaths(const std::weak_ptr<T> &value) {
  if constexpr (refers_to_object<std::weak_ptr<T>>::value) {
    if (!kvo_track_is_recording()) return;
    constexpr kvo_key death = 0;
    if (std::shared_ptr<T> found = value.lock()) kvo_track_read(found->kvo(), death);
  }
}
template <class T> void record_deaths(const std::optional<T> &value) {
  if (value) record_deaths(*value);
}
template <class T> void record_deaths(const std::vector<T> &value) {
  if constexpr (refers_to_object<T>::value)
    for (const T &each : value) record_deaths(each);
}

template <class T> struct property_functions;

template <class T> struct is_property : std::false_type {};
template <class T> struct is_property<property<T>> : std::true_type {};

/** The value of a property; of anything else itself. */
template <class T> const T &plain(const T &value) { return value; }
template <class T> const T &plain(const property<T> &value) { return value.get(); }
template <class T> using plain_type = std::decay_t<decltype(plain(std::declval<const T &>()))>;

/** What is between the brackets. A number becomes what the container takes, as it does without a warning for a constant. */
template <class T, class Index, class = void> struct index_type { using type = const Index &; };
template <class T, class Index>
struct index_type<T, Index, std::enable_if_t<std::is_integral_v<Index>, std::void_t<typename T::size_type>>> {
  using type = typename T::size_type;
};
template <class T, class Index> typename index_type<T, Index>::type index_of(const Index &index) {
  return static_cast<typename index_type<T, Index>::type>(index);
}

/** Whether a T would not represent a U that C++ converts: 3.5 as an int, a pointer as a bool. */
template <class T, class U> constexpr bool is_lost = kvo_loses<T, plain_type<U>>::is_lossy;
template <class T, class U> constexpr bool is_lost<std::optional<T>, U> = is_lost<T, U>;
template <class T, class U> using if_lost = std::enable_if_t<is_lost<T, U>, int>;
template <class U> void refuse_lost() {
  static_assert(!std::is_same_v<U, U>, "kvo::property: the value would be lost: a floating-point number that becomes "
                                       "an integer, or a pointer that becomes a number. Convert it explicitly");
}

/** The key of a property, for what takes a pointer to the member. The object has its class already. */
struct naming {
  template <class T> static const char *of(const property<T> &named) { return named.name(); }
};

} // namespace detail

/** A member that can be observed. It behaves like a T: assign to it, read it. What other code does with `get()` is the same. A T of
 * `const char *` or `char *` cannot be set by key (READ_ONLY), because the characters may not outlive the call; use std::string.
 *
 * Key paths lead through a T that is a pointer to a kvo::object, plain, shared, weak or unique, a std::reference_wrapper of one, or a
 * std::optional of these. The death of the object of a std::weak_ptr notifies observers of key paths through the property, and of
 * expressions that read it, but not those of the property itself. An object that a property owns lives until the observers of its
 * replacement have been called. What a pause or a scope has kept of it is as of a plain pointer: an observer of a key path that ends at the
 * pointer must not use that old value. */
template <class T> class property {
  static_assert(std::is_same_v<T, std::decay_t<T>>,
                "kvo::property: neither const nor a reference nor an array: use T, a "
                "pointer or std::reference_wrapper, or std::array");
  static_assert(
      !std::is_base_of_v<object, T>,
      "kvo::property: objects are not moved, so one cannot be a value: use a pointer, such as std::unique_ptr");
  using element_type = typename detail::element_of<T>::type;

public:
  /** The type of the value. */
  using value_type = T;

  /** `owner` is the object that has the property: `this`, in a default member initialiser. */
  explicit property(object *owner, T value = T())
      : value_(std::move(value)), distance_(static_cast<std::int32_t>(reinterpret_cast<char *>(this) -
                                                                      reinterpret_cast<char *>(&owner->header_))) {}
  /** Does not compile. */
  template <class U, detail::if_lost<T, U> = 0> property(object *owner, const U &) : property(owner) {
    detail::refuse_lost<U>();
  }
  property(const property &) = delete;

  /** The value. The reference is valid until the next change. */
  const T &get() const {
    if (kvo_is_tracking()) {
      record();
      detail::record_deaths(value_);
    }
    return value_;
  }
  /** The same as get(). */
  operator const T &() const { return get(); }
  /** The same as get(). */
  const T &operator*() const { return get(); }
  /** A member of the value; of a pointer, plain or smart, one of what it points to: `document.author->name`. */
  auto operator->() const {
    if constexpr (std::is_pointer_v<T>)
      return get();
    else if constexpr (detail::is_smart_pointer<T>::value)
      return get().operator->();
    else
      return &get();
  }

  /** Whether the value is there, for a T that can be tested: `if (document.editor)`. */
  template <class Value = T,
            std::enable_if_t<std::is_class_v<Value> && std::is_constructible_v<bool, const Value &>, int> = 0>
  explicit operator bool() const {
    return static_cast<bool>(get());
  }
  /** An element of the value, which is not assigned to: use replace_at() or modify(). */
  template <class Index, class Value = T>
  auto operator[](const Index &index) const -> decltype(std::declval<const Value &>()[detail::index_of<Value>(index)]) {
    const auto &element = by_key()[detail::index_of<T>(index)];
    if (kvo_is_tracking()) detail::record_deaths(element);
    return element;
  }
  /** The first element of the value, for loops. The value must not be set while they run. */
  template <class Value = T> auto begin() const -> decltype(std::begin(std::declval<const Value &>())) {
    return std::begin(get());
  }
  /** The end of the value, for loops. */
  template <class Value = T> auto end() const -> decltype(std::end(std::declval<const Value &>())) {
    return std::end(by_key());
  }
  /** The number of elements of the value. */
  template <class Value = T> auto size() const -> decltype(std::size(std::declval<const Value &>())) {
    return std::size(by_key());
  }
  /** Whether the value has no element. */
  template <class Value = T> auto empty() const -> decltype(std::empty(std::declval<const Value &>())) {
    return std::empty(by_key());
  }

  /** Stores a value and notifies the observers. A floating-point number for an integer, or a pointer for a number, does not compile;
   * integers are converted as by C++. An exception of T's assignment leaves as usual; nobody is notified then. Throws kvo::error with
   * UNDEFINED_KEY if KVO_PROPERTIES does not name the property, but only while the object is observed: then the value is not stored. */
  void set(T value) { store(std::move(value)); }
  /** Does not compile. */
  template <class U, detail::if_lost<T, U> = 0> void set(const U &) { detail::refuse_lost<U>(); }
  /** The same as set(). */
  property &operator=(T value) {
    store(std::move(value));
    return *this;
  }
  /** Sets the value of the other property. */
  property &operator=(const property &other) {
    store(T(other.get()));
    return *this;
  }
  /** Sets a container of these elements. */
  template <class Value = T, class Element = typename Value::value_type,
            std::enable_if_t<std::is_constructible_v<Value, std::initializer_list<Element>>, int> = 0>
  property &operator=(std::initializer_list<Element> elements) {
    store(T(elements));
    return *this;
  }
  /** Does not compile. */
  template <class U, detail::if_lost<T, U> = 0> property &operator=(const U &) {
    return detail::refuse_lost<U>(), *this;
  }

  /** Changes the value in place and notifies once: `names.modify([](auto &names) { names.push_back("Ada"); })`. */
  template <class Body> void modify(Body &&body) {
    static_assert(detail::is_copyable<T>::value, "modify changes a copy, and this type has none: use set(), or "
                                                 "insert_at(), remove_at() and replace_at() of a std::vector");
    T value(value_);
    std::forward<Body>(body)(value);
    store(std::move(value));
  }

/** For the operators below. */
#define KVO_PROPERTY_COMBINES(op)                                                                                      \
  /** Sets the result of the operation. */                                                                             \
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
  /** Sets the next value. */
  property &operator++() {
    T value(get());
    store(std::move(++value));
    return *this;
  }
  /** Sets the previous value. */
  property &operator--() {
    T value(get());
    store(std::move(--value));
    return *this;
  }
  /** Sets the next value, and returns the one before. */
  T operator++(int) {
    T before(get());
    ++*this;
    return before;
  }
  /** Sets the previous value, and returns the one before. */
  T operator--(int) {
    T before(get());
    --*this;
    return before;
  }

  /** For a std::vector: changes one element; observers get its index and the element. It takes what push_back takes. Throws
   * std::out_of_range, also if observers that are called before the change (KVO_PRIOR) have changed the vector so that it does not have the
   * index any more; nothing is changed then, and no other observer called. Exceptions of copies leave it in the same way; after one of a
   * move or an assignment of an element, the vector is as std::vector leaves it, and nobody is notified. */
  void insert_at(std::size_t index, const element_type &element) { insert(index, element); }
  /** The same. */
  void insert_at(std::size_t index, element_type &&element) { insert(index, std::move(element)); }
  /** Does not compile. */
  template <class U, detail::if_lost<element_type, U> = 0> void insert_at(std::size_t, const U &) {
    detail::refuse_lost<U>();
  }
  /** The same for a removal. */
  void remove_at(std::size_t index) {
    static_assert(detail::is_vector<T>::value, "remove_at is for a std::vector");
    check_index(KVO_CHANGE_REMOVAL, index);
    change_at(KVO_CHANGE_REMOVAL, index, nullptr, [&](T *taken) {
      if (taken != nullptr) taken->push_back(std::move_if_noexcept(value_[index]));
      value_.erase(value_.begin() + static_cast<std::ptrdiff_t>(index));
    });
  }
  /** The same for a replacement. */
  void replace_at(std::size_t index, const element_type &element) { replace(index, element); }
  /** The same. */
  void replace_at(std::size_t index, element_type &&element) { replace(index, std::move(element)); }
  /** Does not compile. */
  template <class U, detail::if_lost<element_type, U> = 0> void replace_at(std::size_t, const U &) {
    detail::refuse_lost<U>();
  }

private:
  template <class Value> friend struct detail::property_functions;
  friend struct detail::naming;

  /** The value, as key paths read it: a path follows the objects themselves on which it goes on. */
  const T &by_key() const {
    if (kvo_is_tracking()) record();
    return value_;
  }

  kvo_object *owner() const {
    return reinterpret_cast<kvo_object *>(reinterpret_cast<char *>(const_cast<property *>(this)) - distance_);
  }

  const char *name() const {
    key();
    return described(kvo_object_class(owner()), index_.load(std::memory_order_relaxed))->name.c_str();
  }

  /** The key. The index of the property is looked up once for each object. */
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
      constexpr bool is_moved = std::is_nothrow_move_constructible_v<T> && std::is_nothrow_move_assignable_v<T>;
      if constexpr (is_moved) {
        if ((frame.wants & KVO_FRAME_WANTS_WILL) == 0) {
          T old(std::move(value_)); /* lives, with the object that it owns, until the observers have been notified */
          value_ = std::move(value);
          frame.finish((frame.wants & KVO_FRAME_WANTS_OLD) != 0 ? &old : nullptr, &value_);
          return;
        }
      }
      change_copied(frame, value);
    }
  }

  /** The same if observers are called before the change, which may set the value, or if a move of it may throw. Out of line, so that the
   * usual change is inlined. */
  __attribute__((noinline)) void change_copied(detail::change_frame &frame, T &value) {
    const bool wants_old = (frame.wants & KVO_FRAME_WANTS_OLD) != 0;
    std::optional<T> copy;
    if constexpr (detail::is_copyable<T>::value)
      if (wants_old || !std::is_nothrow_swappable_v<T>) copy.emplace(value_);
    const T *old_value = copy ? &*copy : &value_;
    if ((frame.wants & KVO_FRAME_WANTS_WILL) != 0) frame.will(wants_old ? old_value : nullptr);
    if constexpr (std::is_nothrow_swappable_v<T>) {
      using std::swap;
      swap(value_, value);
      if (!copy) old_value = &value;
    } else {
      value_ = std::move(value);
      if (!copy) old_value = nullptr;
    }
    frame.finish(wants_old ? old_value : nullptr, &value_);
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
    change_at(KVO_CHANGE_INSERTION, index, delivered(inserted), [&](T *) {
      value_.insert(value_.begin() + static_cast<std::ptrdiff_t>(index), copied_or_moved(inserted.front()));
    });
  }

  template <class Element> void replace(std::size_t index, Element &&element) {
    static_assert(detail::is_vector<T>::value, "replace_at is for a std::vector");
    check_index(KVO_CHANGE_REPLACEMENT, index);
    T inserted;
    inserted.push_back(std::forward<Element>(element));
    change_at(KVO_CHANGE_REPLACEMENT, index, delivered(inserted), [&](T *taken) {
      element_type stored(copied_or_moved(inserted.front())); /* first, because a copy may throw */
      if (taken != nullptr) taken->push_back(std::move_if_noexcept(value_[index]));
      value_[index] = std::move(stored);
    });
  }

  /** The elements that observers get as the new ones: none, if they cannot be both there and in the vector. */
  static const T *delivered(const T &inserted) { return detail::is_copyable<T>::value ? &inserted : nullptr; }
  static decltype(auto) copied_or_moved(element_type &element) {
    if constexpr (detail::is_copyable<T>::value)
      return static_cast<const element_type &>(element);
    else
      return static_cast<element_type &&>(element);
  }

  /** A change of one element of a vector, whose index has been checked. `inserted` has the new element; nullptr for a removal. `store` gets
   * room for the element that it takes out, or nullptr if nobody needs that. */
  template <class Store> void change_at(kvo_change_kind kind, std::size_t index, const T *inserted, Store &&store) {
    kvo_object *header = owner();
    T taken; /* lives, with the objects that it owns, until the observers have been notified */
    if (!kvo_word_is_observed(header)) {
      store(nullptr);
      if (kvo_word_is_observed(header)) kvo_binding_stored(header, key());
      return;
    }
    detail::change_frame frame(header, key(), kind, &index);
    const bool wants_old = (frame.wants & KVO_FRAME_WANTS_OLD) != 0 && kind != KVO_CHANGE_INSERTION;
    check_index(kind, index); /* observers, also those of a scope, have been called and may have changed the vector */
    if ((frame.wants & KVO_FRAME_WANTS_WILL) != 0) {
      std::optional<T> copy;
      if constexpr (detail::is_copyable<T>::value)
        if (wants_old) copy.emplace(std::size_t{1}, value_[index]);
      frame.will(copy ? &*copy : nullptr);
      check_index(kind, index);
    }
    store(&taken);
    if (frame.wants == 0) return kvo_binding_stored(header, key());
    frame.finish(wants_old ? &taken : nullptr, inserted);
  }

  static constexpr std::uint32_t unknown = UINT32_MAX;
  T value_;
  std::int32_t distance_;
  mutable std::atomic<std::uint32_t> index_{unknown};
};

} // namespace kvo

#endif /* KVO_CXX_PROPERTY_HPP */

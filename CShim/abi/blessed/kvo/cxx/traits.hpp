/* traits.hpp - which operations the values of a type have. Part of kvo.hpp. */
#ifndef KVO_CXX_TRAITS_HPP
#define KVO_CXX_TRAITS_HPP

#include <tuple>
#include <type_traits>
#include <utility>
#include <variant>

namespace kvo {

namespace detail {

/** What may_compare and may_copy are without a specialisation: of a container, its elements decide. */
struct as_elements : std::true_type {};

} // namespace detail

/** Whether kvo.hpp may call the == of T, if T has one. Specialise it as std::false_type for a type whose == is declared but does not
 * compile, and as std::true_type for a container whose == does not use that of its elements. Values that are not compared are never the
 * same: KVO_SCOPE_COALESCES_IF_CHANGED tells each change of them. */
template <class T> struct may_compare : detail::as_elements {};

/** Whether kvo.hpp may copy a T, if T has a copy constructor. Specialise it as std::false_type for a type whose copy is declared but does
 * not compile, such as a structure with a std::vector<std::unique_ptr<...>>, and as std::true_type for a container that shares its
 * elements with its copies. A change moves values that are not copied: see kvo::change. */
template <class T> struct may_copy : detail::as_elements {};

namespace detail {

/* Containers declare a copy constructor and == also if their elements have none, and a call then does not compile. So both traits ask for
 * the parts of a type as well. `Outer` are the types of which it is a part: a type may contain itself. */

template <class... Types> struct types {};

/** An operation that T has if all its parts have it, and `Operation::on<T>` does. */
template <class Operation, class T, class... Outer> constexpr bool has_operation();

/** The types of which T consists. */
template <class T, class = void> struct parts_of { using type = types<>; };

/** Containers, std::optional, std::stack and their like. What has only a value_type may refer to a value that it does not contain. */
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

/** Whether T has a specialisation of `May`, which decides alone. */
template <class May> constexpr bool is_specialised = !std::is_base_of_v<as_elements, May>;

struct comparing {
  template <class T> static constexpr bool is_whole = is_specialised<may_compare<T>>;
  template <class T> static constexpr bool on() { return std::conjunction_v<may_compare<T>, has_equality<T>>; }
};
struct copying {
  template <class T>
  static constexpr bool is_whole = is_specialised<may_copy<T>> || std::is_trivially_copyable_v<T>; /* also a view */
  template <class T> static constexpr bool on() {
    return std::conjunction_v<may_copy<T>, std::is_copy_constructible<T>>;
  }
};

template <class T> struct is_comparable : std::bool_constant<has_operation<comparing, T>()> {};
template <class T> struct is_copyable : std::bool_constant<has_operation<copying, T>()> {};

} // namespace detail

} // namespace kvo

#endif /* KVO_CXX_TRAITS_HPP */

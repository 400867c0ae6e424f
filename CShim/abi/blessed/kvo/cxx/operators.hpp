/* operators.hpp - properties in comparisons, in sums and on streams. Part of kvo.hpp.
 *
 * The operators of C++ itself convert a property to its number or pointer. Those of a library are often templates, as those of
 * std::string, which take no conversion: the functions here call them with the value. */
#ifndef KVO_CXX_OPERATORS_HPP
#define KVO_CXX_OPERATORS_HPP

#include <kvo/cxx/property.hpp>

#include <type_traits>

namespace kvo {

namespace detail {

/** Whether an operator of C++ itself takes the operands, of which at least one is a property. */
template <class T, class U>
constexpr bool is_built_in = std::is_scalar_v<plain_type<T>> &&std::is_scalar_v<plain_type<U>>;

/** Whether the operators here take the operands. */
template <class T, class U>
using if_combined = std::enable_if_t<(is_property<T>::value || is_property<U>::value) && !is_built_in<T, U>, int>;

} // namespace detail

/** For the operators below. */
#define KVO_PROPERTY_OPERATOR(op)                                                                                      \
  /** The operation with the values of properties. */                                                                  \
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

/** Writes the value to a stream. */
template <class Stream, class T, detail::if_combined<Stream, property<T>> = 0>
auto operator<<(Stream &stream, const property<T> &value) -> decltype(stream << value.get()) {
  return stream << value.get();
}

} // namespace kvo

#endif /* KVO_CXX_OPERATORS_HPP */

/* bindings.hpp - properties that follow other properties, or an expression: kvo_bind.h for C++. Part of kvo.hpp.
 *
 * An object is a kvo::object, or a kvo_object * of any language; a key of it is a pointer to a member, such as &Document::zoom, or a text.
 * The binding ends with its token, and when one of its objects dies, as the observations of kvo.hpp do. */
#ifndef KVO_CXX_BINDINGS_HPP
#define KVO_CXX_BINDINGS_HPP

#include <kvo/cxx/coding.hpp>
#include <kvo/cxx/observations.hpp>
#include <kvo/kvo_bind.h>

#include <cstring>
#include <memory>
#include <string>
#include <type_traits>
#include <utility>

namespace kvo {

namespace detail {

/** Whether C can set a T: not what owns an object, nor characters that somebody else owns. */
template <class T>
struct can_be_set : std::bool_constant<!refers_to_characters<T>::value &&
                                       (!refers_to_object<T>::value || std::is_trivially_copyable_v<T>)> {};
template <class T> struct can_be_set<std::optional<T>> : can_be_set<T> {};
template <class T> struct can_be_set<std::vector<T>> : can_be_set<T> {};

/** The key path at one end of a binding. The object has its class already. */
template <class Object> const char *key_of(Object &, const path &key_path) noexcept { return key_path.c_str(); }
template <class Object, class Owner, class T> const char *key_of(Object &object, property<T> Owner::*member) {
  return naming::of(object.*member);
}

/** The key that a binding sets. */
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

/** The expression of a binding. */
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

} // namespace detail

/** Binds a property of `target` to a key path of `source`: `kvo::bind(label, &Label::text, document, &Document::title)`,
 * `kvo::bind(label, &Label::text, document, "author.name")`. The target takes the value at once and after each change, before anyone is
 * notified of the change: see kvo_bind.h, also for values that cannot be converted. A property whose T C cannot set does not compile, or is
 * TYPE_MISMATCH. Throws kvo::error as kvo_bind fails. Keep the token. */
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

/** Binds a property to an expression: `kvo::bind(invoice, &Invoice::total, [&] { return invoice.price * invoice.count; })`. It may return
 * what kvo::set takes, and is evaluated again when a property that it has read changes, of whatever object, on the threads of these
 * changes; it should have no effects. The binding ends with `target`; what the expression reads must live as long, or be
 * removed from what it reads before. The death of an object is no change, except behind a property<std::weak_ptr<...>>. If it throws, the
 * target keeps its value, and the exception goes to the function of kvo::set_exception_handler. Otherwise as above. */
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

/** Keeps two properties equal: `kvo::bind_two_way(field, &Field::text, document, &Document::title)`. First the one of `one` takes the value
 * of the other, then each follows the other. The token ends both directions. Otherwise as kvo_bind_two_way. */
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

} // namespace kvo

#endif /* KVO_CXX_BINDINGS_HPP */

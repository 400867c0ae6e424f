/* observations.hpp - observations, and the tokens that end them. Part of kvo.hpp. */
#ifndef KVO_CXX_OBSERVATIONS_HPP
#define KVO_CXX_OBSERVATIONS_HPP

#include <kvo/cxx/described.hpp>

#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <utility>

namespace kvo {

/** An observation, which ends when its token is destroyed, or its object. Movable. A token that is empty, or whose observation has ended,
 * does nothing; only cancel_and_wait() waits. */
class token {
public:
  token() noexcept = default;
  /** Takes the responsibility for this observation. */
  explicit token(kvo_observation observation) noexcept : observation_(observation) {}
  /** Takes the observation of another token, which is empty then. */
  token(token &&other) noexcept : observation_(std::exchange(other.observation_, 0)) {}
  /** The same, after the end of its own observation. */
  token &operator=(token &&other) noexcept {
    if (this != &other) {
      cancel(nullptr, 0);
      observation_ = std::exchange(other.observation_, 0);
    }
    return *this;
  }
  ~token() { cancel(nullptr, 0); }

  /** Ends the observation. No call of the observer begins after that; one on another thread may still be running. */
  void cancel(const char *file = __builtin_FILE(), unsigned line = __builtin_LINE()) noexcept {
    if (observation_ != 0) kvo_cancel_observer(observation_, file, line);
  }
  /** Ends the observation, and waits until no other thread calls the observer; also if the observation has ended before. */
  void cancel_and_wait(const char *file = __builtin_FILE(), unsigned line = __builtin_LINE()) noexcept {
    if (observation_ != 0) kvo_cancel_observer_and_wait(observation_, file, line);
  }
  /** Gives the observation up: it lasts until its object dies, or until it is removed by this id. */
  kvo_observation detach() noexcept { return std::exchange(observation_, 0); }
  /** Whether the observation has not ended. */
  bool is_active() const noexcept { return observation_ != 0 && kvo_observation_is_registered(observation_); }
  /** Pauses the observation, as kvo_observation_pause does. */
  void pause() { check(kvo_observation_pause(observation_), "kvo_observation_pause"); }
  /** Resumes the observation, as kvo_observation_resume does. */
  void resume(bool tell_missed = true) {
    check(kvo_observation_resume(observation_, tell_missed), "kvo_observation_resume");
  }
  /** The id, also of an observation that has ended; 0 after detach(), and of a token that was moved from or never had one. */
  kvo_observation id() const noexcept { return observation_; }

private:
  static void check(kvo_status status, const char *function) {
    if (status != KVO_ERROR_NOT_REGISTERED) detail::check(status, function);
  }
  kvo_observation observation_ = 0;
};

/** A change, as an observer of a property or an expression receives it. The pointers are valid until the observer returns. */
template <class T> struct change {
  /** nullptr without KVO_OLD, for an insertion, and if an expression had thrown before. Of an insertion, removal or replacement, values
   * have the elements concerned. A property whose T can only be moved has an old value only where that has been moved to: after a set, a
   * removal or a replacement. There is none before a removal or a replacement, after a pause, at the end of a scope and after
   * kvo_did_change, nor if T's swap may throw. */
  const T *old_value;
  /** nullptr without KVO_NEW, before the change, for a removal, after an expression has thrown, and for an insertion or a replacement in
   * a std::vector whose elements can only be moved. After a set it is the property's value itself: another set, also by this observer,
   * changes it. */
  const T *new_value;
  /** What kind of change it is. */
  kvo_change_kind kind;
  /** Whether this is the call before the change, which KVO_PRIOR asks for. */
  bool is_prior;
  /** Of an insertion, removal or replacement, ascending. */
  const std::size_t *indexes;
  /** The number of indexes; 0 for a setting. */
  std::size_t index_count;
  /** The id of the observation. */
  kvo_observation observation;
};

/** A change, as an observer of a key path given as text receives it. Valid until the observer returns. */
class record {
public:
  /** The record of a change that a callback has got. */
  explicit record(const kvo_change &change) noexcept : change_(change) {}
  /** The value as a T, converted without loss as by kvo::get; empty if it was not asked for, is unknown or nil, or cannot be converted. */
  template <class T> std::optional<T> old_value() const { return value<T>(change_.old_value); }
  /** The same for the new value. */
  template <class T> std::optional<T> new_value() const { return value<T>(change_.new_value); }
  /** A member of the kvo_change, such as its indexes. */
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

/** The observer of a property or an expression. */
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

/** The observer of an expression. */
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
    stop_exceptions(made->key_path, [&] {
      const record of(*made);
      static_cast<text_observer *>(user_data)->handler(of);
    });
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

} // namespace detail

/** Observes a property. `handler` takes a `const kvo::change<T> &`; it is called on the thread of the change, before the setter returns.
 * Keep the token. */
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
  observer.release(); /* the runtime destroys it, also on failure */
  detail::check(kvo_raw_observe(header, kvo_key_hash(name, std::strlen(name)), &described, &observation),
                "kvo::observe");
  return token(observation);
}

/** Observes an expression: `kvo::observe(invoice, [&] { return invoice.price * invoice.count; }, handler)`. It is evaluated again when a
 * property that it has read changes, of whatever object; it should have no effects. The observation ends with `root`. `expression` is
 * called on the threads of these changes, possibly on several at the same time. The death of an object that it has read is no change,
 * except behind a property<std::weak_ptr<...>>: what leads to the object has to be a property, whose change notifies. */
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
  described.is_opaque = true;
  observer.release();
  detail::check(kvo_raw_observe_expression(header, &described, true, &observation), "kvo::observe");
  return token(observation);
}

/** Observes a key path given as text, of an object of any language. `handler` takes a `const kvo::record &`. */
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
/** The same for an object of C++. */
template <class Handler>
[[nodiscard]] token observe(const object &object, path key_path, Handler handler,
                            kvo_options options = detail::old_and_new, const char *file = __builtin_FILE(),
                            unsigned line = __builtin_LINE()) {
  return observe(object.kvo(), key_path, std::move(handler), options, file, line);
}

} // namespace kvo

#endif /* KVO_CXX_OBSERVATIONS_HPP */

/* errors.hpp - errors as exceptions, and exceptions of observers. Part of kvo.hpp. */
#ifndef KVO_CXX_ERRORS_HPP
#define KVO_CXX_ERRORS_HPP

#include <kvo/kvo.h>

#include <atomic>
#include <cstdio>
#include <exception>
#include <new>
#include <stdexcept>
#include <string>

namespace kvo {

/** A function of libkvo has failed. `what()` names it and says why. */
class error : public std::runtime_error {
public:
  /** The error with this status and text. */
  error(kvo_status status, const std::string &what) : std::runtime_error(what), status_(status) {}
  /** The status of the function. */
  kvo_status status() const noexcept { return status_; }

private:
  kvo_status status_;
};

/** Receives an exception that an observer has thrown, and the key path observed. */
using exception_handler = void (*)(std::exception_ptr exception, const char *key_path);

namespace detail {

inline void check(kvo_status status, const char *function) {
  if (status == KVO_OK) return;
  if (status == KVO_ERROR_OUT_OF_MEMORY) throw std::bad_alloc();
  const char *why = kvo_last_error();
  throw error(status, why[0] != '\0' ? why : std::string(function) + ": " + kvo_status_string(status));
}

inline void print_exception(std::exception_ptr exception, const char *key_path) {
  const char *what = "no std::exception";
  try {
    std::rethrow_exception(exception);
  } catch (const std::exception &thrown) {
    std::fprintf(stderr, "kvo: an observer of \"%s\" has thrown: %s\n", key_path, thrown.what());
    return;
  } catch (...) {}
  std::fprintf(stderr, "kvo: an observer of \"%s\" has thrown: %s\n", key_path, what);
}

inline std::atomic<exception_handler> on_exception{print_exception};

/** Calls code of an observer. The setter that notifies it may be C code, so no exception may pass. */
template <class Call> void stop_exceptions(const char *key_path, Call &&call) noexcept {
  try {
    call();
  } catch (...) {
    on_exception.load()(std::current_exception(), key_path);
  }
}

} // namespace detail

/** Sets the function that receives what observers throw, and returns the previous one. The default writes a line to standard error. The
 * other observers are called all the same. The function is called on the thread of the change; it must not throw. Any thread. */
inline exception_handler set_exception_handler(exception_handler handler) {
  return detail::on_exception.exchange(handler != nullptr ? handler : detail::print_exception);
}

} // namespace kvo

#endif /* KVO_CXX_ERRORS_HPP */

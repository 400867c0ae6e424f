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
#include <utility>

namespace kvo {

/** A function of libkvo has failed. `what()` names it and says why. */
class KVO_API error : public std::runtime_error {
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

/** In a `catch (...)`: goes on with what is no exception of C++, such as the end of the thread by pthread_exit or cancellation. It has no
 * exception_ptr, and the thread may not go on without it. */
inline void pass_unwinding() {
  if (std::current_exception() == nullptr) throw;
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

inline KVO_API std::atomic<exception_handler> on_exception{print_exception};

/** Calls the handler of exceptions, which must not throw; the thread may end in it. */
inline void tell_exception(std::exception_ptr exception, const char *key_path) {
  try {
    on_exception.load()(std::move(exception), key_path);
  } catch (...) {
    pass_unwinding();
    std::terminate();
  }
}

/** Calls code of an observer. The setter that notifies it may be C code, so no exception may pass; the end of the thread does. */
template <class Call> void stop_exceptions(const char *key_path, Call &&call) {
  std::exception_ptr thrown;
  try {
    call();
  } catch (...) {
    pass_unwinding();
    thrown = std::current_exception();
  }
  if (thrown != nullptr) tell_exception(std::move(thrown), key_path);
}

} // namespace detail

/** Sets the function that receives what observers throw, and returns the previous one. The default writes a line to standard error. The
 * other observers are called all the same. The function is called on the thread of the change; it must not throw. Any thread. A thread may
 * end (pthread_exit) or be cancelled in an observer and in this function. A program in C++ that uses
 * kvo.hpp and its plug-ins have one function, also if symbols are hidden, if the program exports its own (-rdynamic; ENABLE_EXPORTS in
 * CMake). Otherwise, also if the program is in C, each may have one; plug-ins share that of one that was opened before them with
 * RTLD_GLOBAL. */
inline exception_handler set_exception_handler(exception_handler handler) {
  return detail::on_exception.exchange(handler != nullptr ? handler : detail::print_exception);
}

} // namespace kvo

#endif /* KVO_CXX_ERRORS_HPP */

/* errors.hpp - errors as exceptions, and exceptions of observers. Part of kvo.hpp. */
#ifndef KVO_CXX_ERRORS_HPP
#define KVO_CXX_ERRORS_HPP

#include <kvo/kvo.h>

#include <atomic>
#include <cstdio>
#include <cstdlib>
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

/** Throws. In code that is compiled with -fno-exceptions it prints the error and aborts, as the C++ library does there. */
template <class Error> [[noreturn]] void raise(const Error &thrown) {
#if defined(__cpp_exceptions)
  throw thrown;
#else
  std::fprintf(stderr, "kvo: %s\n", thrown.what());
  std::abort();
#endif
}

inline void check(kvo_status status, const char *function) {
  if (status == KVO_OK) return;
  if (status == KVO_ERROR_OUT_OF_MEMORY) raise(std::bad_alloc());
  const char *why = kvo_last_error();
  raise(error(status, why[0] != '\0' ? why : std::string(function) + ": " + kvo_status_string(status)));
}

/** Calls code that may throw where no exception may pass, because the caller is C. Returns what was thrown, or nullptr. The end of the
 * thread by pthread_exit or cancellation passes: it is no exception of C++ and has no exception_ptr, and the thread may not go on. */
template <class Call> std::exception_ptr caught(Call &&call) {
#if defined(__cpp_exceptions)
  try {
    call();
  } catch (...) {
    std::exception_ptr thrown = std::current_exception();
    if (thrown == nullptr) throw;
    return thrown;
  }
#else
  call();
#endif
  return nullptr;
}

/** What C gets for an exception. */
inline kvo_status status_of(const std::exception_ptr &thrown) {
#if defined(__cpp_exceptions)
  try {
    std::rethrow_exception(thrown);
  } catch (const std::bad_alloc &) {
    return KVO_ERROR_OUT_OF_MEMORY;
  } catch (...) {}
#endif
  (void)thrown;
  return KVO_ERROR_INVALID_ARGUMENT;
}

inline void print_exception(std::exception_ptr exception, const char *key_path) {
#if defined(__cpp_exceptions)
  try {
    std::rethrow_exception(exception);
  } catch (const std::exception &thrown) {
    std::fprintf(stderr, "kvo: an observer of \"%s\" has thrown: %s\n", key_path, thrown.what());
    return;
  } catch (...) {}
#endif
  (void)exception;
  std::fprintf(stderr, "kvo: an observer of \"%s\" has thrown: no std::exception\n", key_path);
}

inline KVO_API std::atomic<exception_handler> on_exception{print_exception};

/** Calls code of an observer. The setter that notifies it may be C code, so no exception may pass. The handler must not throw. */
template <class Call> void stop_exceptions(const char *key_path, Call &&call) {
  std::exception_ptr thrown = caught(call);
  if (thrown == nullptr) return;
  if (caught([&] { on_exception.load()(std::move(thrown), key_path); }) != nullptr) std::terminate();
}

} // namespace detail

/** Sets the function that receives what observers throw, and returns the previous one. The default writes a line to standard error. The
 * other observers are called all the same. The function is called on the thread of the change; it must not throw. Any thread. A thread may
 * end (pthread_exit) or be cancelled in an observer and in this function; not where the destructor of an object has called it, because
 * C++ ends the process then. A program in C++ that uses kvo.hpp and its plug-ins have one function, also if symbols are hidden, if the
 * program exports its own (-rdynamic; ENABLE_EXPORTS in CMake). Otherwise, also if the program is in C, each may have one; plug-ins share
 * that of one that was opened before them with RTLD_GLOBAL. */
inline exception_handler set_exception_handler(exception_handler handler) {
  return detail::on_exception.exchange(handler != nullptr ? handler : detail::print_exception);
}

} // namespace kvo

#endif /* KVO_CXX_ERRORS_HPP */

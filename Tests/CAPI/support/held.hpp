/* held.hpp - what the tests of kvo.hpp share: a class with one property of any type, and what calls throw. */
#ifndef KVO_TEST_HELD_HPP
#define KVO_TEST_HELD_HPP

#include <kvo/kvo.hpp>

#include "harness.h"

/* Key: value. */
template <class T> class Holder : public kvo::object {
public:
  explicit Holder(T first = T()) : value(this, std::move(first)) {}
  kvo::property<T> value;
  KVO_PROPERTIES(Holder, kvo::object, value)
};

/* The status of the kvo::error that a call throws; KVO_OK if it throws none. */
template <class Call> kvo_status status_of(Call &&call) {
  try {
    call();
  } catch (const kvo::error &error) {
    return error.status();
  }
  return KVO_OK;
}
#define CHECK_THROWS(status, ...) CHECK_STATUS(status_of([&] { __VA_ARGS__; }), status)

/* What an exception of this type says that a call throws; empty if it throws none. */
template <class Exception, class Call> std::string thrown_by(Call &&call) {
  try {
    call();
  } catch (const Exception &exception) {
    return exception.what();
  }
  return "";
}

#endif

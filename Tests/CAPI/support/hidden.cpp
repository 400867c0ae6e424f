/* hidden.cpp - a plug-in in C++ whose symbols are hidden: cxx_process.cpp loads it. */
#include "hidden.h"

namespace {

class Gauge : public kvo::object {
public:
  kvo::property<int> level{this, 1};
  KVO_PROPERTIES(Gauge, kvo::object, level)
};

Gauge &gauge() {
  static Gauge gauge;
  return gauge;
}

} // namespace

kvo_object *hidden_gauge() { return gauge().kvo(); }
kvo::object *hidden_object(kvo_object *header) { return kvo::object::from(header); }
void hidden_throw() {
  auto token =
      kvo::observe(gauge(), &Gauge::level, [](const auto &) { throw kvo::error(KVO_ERROR_REFUSED, "hidden"); });
  gauge().level = gauge().level + 1;
}

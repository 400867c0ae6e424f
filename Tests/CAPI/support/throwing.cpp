/* throwing.cpp - see throwing.h. */
#include "throwing.h"

#include <kvo/kvo.h>

namespace app {
__attribute__((noinline)) void misuse(kvo_observation id) {
  kvo_remove_observer(id);
  __asm__ volatile("");
}
} // namespace app

void misuse_in_cpp(void) { app::misuse(UINT64_MAX); }

void throw_out(void) { throw 1; }

bool catch_from(void (*body)(void *arg), void *arg) {
  try {
    body(arg);
  } catch (int) {
    return true;
  }
  return false;
}

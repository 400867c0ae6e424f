/* bare.c - see bare.h; the build gives it -fomit-frame-pointer. */
#include "bare.h"

__attribute__((noinline)) static void bare_inner(void (*body)(void *arg), void *arg) {
  body(arg);
  __asm__ volatile("");
}

void bare_call(void (*body)(void *arg), void *arg) {
  bare_inner(body, arg);
  __asm__ volatile("");
}

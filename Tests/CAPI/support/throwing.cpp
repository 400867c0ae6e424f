/* throwing.cpp - see throwing.h. */
#include "throwing.h"

void throw_out(void) { throw 1; }

bool catch_from(void (*body)(void *arg), void *arg) {
  try {
    body(arg);
  } catch (int) {
    return true;
  }
  return false;
}

/* below.c - calls in a stack frame far below the caller's. */
#include "below.h"

enum { FAR = 32 * 1024 };

/* Uses all of an array: the compiler would make it as small as what is read and written. */
#define USE(room) __asm__ volatile("" : : "r"(room) : "memory")

__attribute__((noinline)) void call_below(void (*body)(void)) {
  char room[FAR];
  USE(room);
  body();
  USE(room);
}

__attribute__((noinline)) void set_below(item *object, int value) {
  char room[FAR];
  USE(room);
  item_set_value(object, value);
  USE(room);
}

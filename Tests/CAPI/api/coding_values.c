/* coding_values.c - key-value coding: values are stored whole, and behind them nothing is written. */
#include "harness.h"

#include <string.h>

/* Reads a value into the beginning of a buffer that is full of 0xee. */
#define CHECK_READ(read, T, given, T_of_value, encoding)                                                               \
  do {                                                                                                                 \
    union {                                                                                                            \
      T value;                                                                                                         \
      unsigned char bytes[sizeof(T) + 16];                                                                             \
    } to, expected;                                                                                                    \
    T_of_value from = (given);                                                                                         \
    T wanted = (T)from;                                                                                                \
    memset(&to, 0xee, sizeof to);                                                                                      \
    memset(&expected, 0xee, sizeof expected);                                                                          \
    memcpy(&expected, &wanted, sizeof wanted);                                                                         \
    CHECK_OK(read(&(kvo_value){encoding, sizeof from, &from}, &to.value));                                             \
    CHECK_BYTES(&to, &expected, sizeof to);                                                                            \
  } while (0)

TEST("a value of the wanted type, and a converted one, is stored in its own bytes only") {
  int target = 0;
  CHECK_READ(kvo_value_int64, int64_t, INT64_C(-0x7060504030201), int64_t, "q");
  CHECK_READ(kvo_value_int64, int64_t, INT64_C(0x7f01020304050607), int64_t, "q");
  CHECK_READ(kvo_value_uint64, uint64_t, UINT64_C(0xf102030405060708), uint64_t, "Q");
  CHECK_READ(kvo_value_double, double, -1.2345678901234567e-300, double, "d");
  CHECK_READ(kvo_value_bool, bool, true, bool, "B");
  CHECK_READ(kvo_value_string, const char *, "text", const char *, "*");
  CHECK_READ(kvo_value_object, kvo_object *, (kvo_object *)(void *)&target, kvo_object *, "@");
  CHECK_READ(kvo_value_int64, int64_t, -1234567890, int, "i");
  CHECK_READ(kvo_value_uint64, uint64_t, 1234567890, int, "i");
  CHECK_READ(kvo_value_double, double, -1234567890, int, "i");
  CHECK_READ(kvo_value_bool, bool, 1, int, "i");
}

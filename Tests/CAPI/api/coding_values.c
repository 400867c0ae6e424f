/* coding_values.c - key-value coding: values are stored whole, and behind them nothing is written. */
#include "harness.h"
#include "registered.h"

#include <stdio.h>
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

/* ------------------------------------------------------------------------------------------------------- Structures -- */

enum { SIZES = 40, LARGEST = 80, ROOM = 96 };

static size_t size_at(size_t i) { return i + 1 < SIZES ? i + 1 : LARGEST; }

typedef struct sized {
  kvo_object header;
  unsigned char bytes[SIZES][ROOM];
} sized;

typedef struct wanted {
  const char *type;
  size_t size;
  const unsigned char *bytes;
} wanted;

static void check_view(const kvo_value *value, void *arg) {
  const wanted *expected = arg;
  CHECK_EQ(value->type, expected->type);
  CHECK_EQ(value->size, expected->size);
  CHECK_EQ((uintptr_t)value->bytes % 16, 0);
  CHECK_BYTES(value->bytes, expected->bytes, expected->size);
}

static void check_refused(kvo_object *object, const char *key, const char *type, kvo_value value) {
  CHECK_STATUS(kvo_set_value(object, key, &value), KVO_ERROR_TYPE_MISMATCH);
  CHECK_CONTAINS(kvo_last_error(), key);
  CHECK_CONTAINS(kvo_last_error(), "of class 'Sized'");
  CHECK_CONTAINS(kvo_last_error(), type);
}

TEST("a structure of any size and name is set and read whole and aligned, by its type only, and its neighbours stay") {
  static char keys[SIZES][8], types[SIZES][64];
  kvo_property_spec properties[SIZES];
  for (size_t i = 0; i < SIZES; i++) { /* each with a name of i letters */
    snprintf(keys[i], sizeof keys[i], "of%zu", i);
    snprintf(types[i], sizeof types[i], "{%.*s=[%zuC]}", (int)i, "ssssssssssssssssssssssssssssssssssssssss",
             size_at(i));
    properties[i] = (kvo_property_spec){.name = keys[i],
                                        .type = types[i],
                                        .flags = KVO_PROPERTY_AT_OFFSET,
                                        .offset = offsetof(sized, bytes) + ROOM * i + 1};
  }
  kvo_object *object = object_of(register_class((kvo_class_spec){
      .name = "Sized", .instance_size = sizeof(sized), .properties = properties, .property_count = SIZES}));
  unsigned char value[ROOM], (*stored)[ROOM] = ((sized *)object)->bytes;
  for (size_t k = 0; k < ROOM; k++) value[k] = (unsigned char)(k + 1);
  for (size_t i = 0; i < SIZES; i++) {
    const size_t size = size_at(i);
    unsigned char expected[ROOM];
    char constant[80];
    snprintf(constant, sizeof constant, "r%.63s", types[i]);
    memset(stored, 0xee, SIZES * ROOM);
    memset(expected, 0xee, sizeof expected);
    memcpy(expected + 1, value, size);
    CHECK_OK(kvo_set_value(object, keys[i], &(kvo_value){i % 2 == 0 ? types[i] : constant, size, value}));
    check_refused(object, keys[i], types[i], (kvo_value){types[(i + 1) % SIZES], size, expected});
    check_refused(object, keys[i], types[i], (kvo_value){types[i], size + 1, expected});
    check_refused(object, keys[i], types[i], (kvo_value){types[i], size, NULL});
    check_refused(object, keys[i], types[i], (kvo_value){"C", 1, expected});
    CHECK_BYTES(stored[i], expected, sizeof expected);
    CHECK_OK(kvo_get_value(object, keys[i], check_view, &(wanted){types[i], size, value}));
  }
  kvo_object_destroy(object);
}

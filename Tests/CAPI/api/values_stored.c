/* values_stored.c - a value that is read or set is stored whole, and behind it nothing is written. */
#include "harness.h"

#include <kvo/kvo_coding.h>

#include <stdio.h>
#include <string.h>

#define BEHIND 16

/* Reads a value into the beginning of a buffer that is full of 0xee. */
#define CHECK_READ(read, encoding, T, given)                                                                           \
  do {                                                                                                                 \
    union {                                                                                                            \
      T value;                                                                                                         \
      unsigned char bytes[sizeof(T) + BEHIND];                                                                         \
    } to, expected;                                                                                                    \
    T from = (given);                                                                                                  \
    memset(&to, 0xee, sizeof to);                                                                                      \
    memset(&expected, 0xee, sizeof expected);                                                                          \
    memcpy(&expected, &from, sizeof from);                                                                             \
    CHECK_OK(read(&(kvo_value){encoding, sizeof from, &from}, &to.value));                                             \
    CHECK_BYTES(&to, &expected, sizeof to);                                                                            \
  } while (0)

TEST("a value of the wanted type is stored in its own bytes only") {
  int target = 0;
  CHECK_READ(kvo_value_int64, "q", int64_t, INT64_C(-0x7060504030201));
  CHECK_READ(kvo_value_int64, "q", int64_t, INT64_C(0x7f01020304050607));
  CHECK_READ(kvo_value_uint64, "Q", uint64_t, UINT64_C(0xf102030405060708));
  CHECK_READ(kvo_value_double, "d", double, -1.2345678901234567e-300);
  CHECK_READ(kvo_value_bool, "B", bool, true);
  CHECK_READ(kvo_value_string, "*", const char *, "text");
  CHECK_READ(kvo_value_object, "@", kvo_object *, (kvo_object *)(void *)&target);
}

/* Reads an int into the beginning of such a buffer, where it is a value of another type. */
#define CHECK_CONVERTED(read, T, given)                                                                                \
  do {                                                                                                                 \
    union {                                                                                                            \
      T value;                                                                                                         \
      unsigned char bytes[sizeof(T) + BEHIND];                                                                         \
    } to, expected;                                                                                                    \
    int from = (given);                                                                                                \
    T wanted = (T)from;                                                                                                \
    memset(&to, 0xee, sizeof to);                                                                                      \
    memset(&expected, 0xee, sizeof expected);                                                                          \
    memcpy(&expected, &wanted, sizeof wanted);                                                                         \
    CHECK_OK(read(&(kvo_value){"i", sizeof from, &from}, &to.value));                                                  \
    CHECK_BYTES(&to, &expected, sizeof to);                                                                            \
  } while (0)

TEST("a converted value is stored in its own bytes only") {
  CHECK_CONVERTED(kvo_value_int64, int64_t, -1234567890);
  CHECK_CONVERTED(kvo_value_uint64, uint64_t, 1234567890);
  CHECK_CONVERTED(kvo_value_double, double, -1234567890);
  CHECK_CONVERTED(kvo_value_bool, bool, 1);
}

enum { SIZES = 40, ROOM = 48 };

typedef struct sized {
  kvo_object header;
  unsigned char bytes[SIZES][ROOM];
} sized;

typedef struct read_bytes {
  size_t size;
  unsigned char bytes[ROOM];
} read_bytes;

static void keep_bytes(const kvo_value *value, void *arg) {
  read_bytes *to = arg;
  to->size = value->size;
  CHECK(value->size <= ROOM);
  memcpy(to->bytes, value->bytes, value->size);
}

TEST("a structure of any size is set and read by its key, whole, and its neighbours stay as they are") {
  static char names[SIZES][8], types[SIZES][16];
  kvo_property_spec properties[SIZES];
  for (size_t i = 0; i < SIZES; i++) {
    snprintf(names[i], sizeof names[i], "of%zu", i + 1);
    snprintf(types[i], sizeof types[i], "{s=[%zuC]}", i + 1);
    properties[i] = (kvo_property_spec){.name = names[i],
                                        .type = types[i],
                                        .flags = KVO_PROPERTY_AT_OFFSET,
                                        .offset = offsetof(sized, bytes) + ROOM * i + 1};
  }
  kvo_class_spec spec = {.struct_size = sizeof spec,
                         .name = "Sized",
                         .instance_size = sizeof(sized),
                         .properties = properties,
                         .property_count = SIZES};
  kvo_class *cls;
  kvo_object *object;
  CHECK_OK(kvo_class_register(&spec, &cls));
  CHECK_OK(kvo_object_create(cls, &object));
  sized *of = (sized *)object;
  for (size_t i = 0; i < SIZES; i++) {
    unsigned char value[ROOM], expected[ROOM];
    read_bytes found = {0, {0}};
    memset(of->bytes, 0xee, sizeof of->bytes);
    memset(expected, 0xee, sizeof expected);
    for (size_t k = 0; k < ROOM; k++) value[k] = (unsigned char)(k + 1);
    memcpy(expected + 1, value, i + 1);
    CHECK_OK(kvo_set_value(object, names[i], &(kvo_value){types[i], i + 1, value}));
    CHECK_BYTES(of->bytes[i], expected, sizeof expected);
    CHECK_OK(kvo_get_value(object, names[i], keep_bytes, &found));
    CHECK_EQ(found.size, i + 1);
    CHECK_BYTES(found.bytes, value, i + 1);
    kvo_status status = kvo_set_value(object, names[i], &(kvo_value){types[(i + 1) % SIZES], i + 1, value});
    CHECK_STATUS(status, KVO_ERROR_TYPE_MISMATCH);
    status = kvo_set_value(object, names[i], &(kvo_value){types[i], i + 2, value});
    CHECK_STATUS(status, KVO_ERROR_TYPE_MISMATCH);
  }
  kvo_object_destroy(object);
}

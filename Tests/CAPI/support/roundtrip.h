/* roundtrip.h - sets values of one C type through trampolines and checks where they arrive.
 *
 * DEFINE_ROUNDTRIP(tag, T, encoding, same) makes `check_tag(values, count)`. It registers a class with one property of type T, observes it,
 * and sets each value. It checks what the program's setter gets, the old and the new value of the record, how often each is called, the
 * neighbouring members of the object, and the stack next to the argument. `same(a, b)` compares two T. */
#ifndef KVO_TEST_ROUNDTRIP_H
#define KVO_TEST_ROUNDTRIP_H

#include "harness.h"

#include <string.h>

#define GUARD UINT64_C(0x5afe5afe5afe5afe)

/* For types without padding bytes. */
#define SAME_BYTES(a, b) (memcmp(&(a), &(b), sizeof(a)) == 0)

#define DEFINE_ROUNDTRIP(tag, T, encoding, same)                                                                       \
  typedef struct holder_##tag {                                                                                        \
    kvo_object header;                                                                                                 \
    uint64_t before;                                                                                                   \
    T value;                                                                                                           \
    uint64_t after;                                                                                                    \
  } holder_##tag;                                                                                                      \
  static int sets_##tag, notes_##tag;                                                                                  \
  static const T *old_##tag, *new_##tag;                                                                               \
  static T get_##tag(const holder_##tag *of) { return of->value; }                                                     \
  static void set_##tag(holder_##tag *of, T value) {                                                                   \
    of->value = value;                                                                                                 \
    sets_##tag++;                                                                                                      \
  }                                                                                                                    \
  static void look_##tag(const kvo_value *value, void *wanted) {                                                       \
    T found;                                                                                                           \
    CHECK_EQ(value->type, encoding);                                                                                   \
    CHECK_EQ(value->size, sizeof(T));                                                                                  \
    memset(&found, 0, sizeof found); /* of a nil pointer */                                                            \
    if (value->bytes != NULL) memcpy(&found, value->bytes, sizeof found);                                              \
    CHECK(same(found, *(const T *)wanted));                                                                            \
  }                                                                                                                    \
  static void note_##tag(const kvo_change *change, void *user_data) {                                                  \
    notes_##tag++;                                                                                                     \
    look_##tag(change->old_value, (void *)(uintptr_t)old_##tag);                                                       \
    look_##tag(change->new_value, (void *)(uintptr_t)new_##tag);                                                       \
  }                                                                                                                    \
  /* Arguments, results and locals around the call must survive it. */                                                 \
  __attribute__((noinline)) static void call_##tag(holder_##tag *object, const T *value) {                             \
    volatile struct {                                                                                                  \
      uint64_t before[4];                                                                                              \
      T copy;                                                                                                          \
      uint64_t after[4];                                                                                               \
    } stack;                                                                                                           \
    for (int i = 0; i < 4; i++) stack.before[i] = stack.after[i] = GUARD + (uint64_t)i;                                \
    stack.copy = *value;                                                                                               \
    T copy = stack.copy;                                                                                               \
    KVO_SET(object, "value", T, copy);                                                                                 \
    for (int i = 0; i < 4; i++)                                                                                        \
      CHECK(stack.before[i] == GUARD + (uint64_t)i && stack.after[i] == GUARD + (uint64_t)i);                          \
    T after = stack.copy;                                                                                              \
    CHECK(same(after, *value));                                                                                        \
  }                                                                                                                    \
  static void check_##tag(const T *values, size_t count) {                                                             \
    kvo_property_spec property = {                                                                                     \
        .name = "value", .type = encoding, .getter = (kvo_function)get_##tag, .setter = (kvo_function)set_##tag};      \
    kvo_class_spec spec = {.struct_size = sizeof spec,                                                                 \
                           .name = "Holder_" #tag,                                                                     \
                           .instance_size = sizeof(holder_##tag),                                                      \
                           .properties = &property,                                                                    \
                           .property_count = 1};                                                                       \
    kvo_class *cls;                                                                                                    \
    kvo_object *made;                                                                                                  \
    CHECK_OK(kvo_class_register(&spec, &cls));                                                                         \
    CHECK_OK(kvo_object_create(cls, &made));                                                                           \
    holder_##tag *object = (holder_##tag *)made;                                                                       \
    object->before = object->after = GUARD;                                                                            \
    kvo_observer observer = {.struct_size = sizeof observer,                                                           \
                             .key_path = "value",                                                                      \
                             .options = (kvo_options)(KVO_OLD | KVO_NEW),                                              \
                             .callback = note_##tag,                                                                   \
                             KVO_HERE};                                                                                \
    kvo_observation id;                                                                                                \
    CHECK_OK(kvo_add_observer(made, &observer, &id));                                                                  \
    CHECK(kvo_object_setter(made, "value") != (kvo_function)set_##tag);                                                \
    static T zero;                                                                                                     \
    const T *previous = &zero;                                                                                         \
    for (size_t round = 0; round < 2 * count; round++) {                                                               \
      const T *value = &values[round / 2];                                                                             \
      old_##tag = previous;                                                                                            \
      new_##tag = value;                                                                                               \
      if (round % 2 == 0) {                                                                                            \
        call_##tag(object, value);                                                                                     \
      } else { /* the same through the call by signature */                                                            \
        kvo_value boxed = {encoding, sizeof(T), value};                                                                \
        CHECK_OK(kvo_set_value(made, "value", &boxed));                                                                \
      }                                                                                                                \
      CHECK_EQ(sets_##tag, (int)round + 1);                                                                            \
      CHECK_EQ(notes_##tag, (int)round + 1);                                                                           \
      CHECK(same(object->value, *value));                                                                              \
      CHECK_OK(kvo_get_value(made, "value", look_##tag, (void *)(uintptr_t)value));                                    \
      CHECK(object->before == GUARD && object->after == GUARD);                                                        \
      previous = value;                                                                                                \
    }                                                                                                                  \
    kvo_value other = {"{other=[300C]}", 300, values}; /* refused before it is read */                                 \
    CHECK_STATUS(kvo_set_value(made, "value", &other), KVO_ERROR_TYPE_MISMATCH);                                       \
    CHECK_OK(kvo_remove_observer(id));                                                                                 \
    CHECK(kvo_object_setter(made, "value") == (kvo_function)set_##tag);                                                \
    kvo_object_destroy(made);                                                                                          \
  }

/* A test of a structure type: 32 values of pseudo-random bytes. T must have no padding that `same` looks at, no bool and no
 * long double, whose bytes are not all valid. */
#define TEST_STRUCTURE(sentence, tag, T, encoding, same)                                                               \
  DEFINE_ROUNDTRIP(tag, T, encoding, same)                                                                             \
  TEST(sentence) {                                                                                                     \
    static T values[32];                                                                                               \
    fill_bytes(values, sizeof values);                                                                                 \
    check_##tag(values, 32);                                                                                           \
    size_t size, alignment;                                                                                            \
    CHECK_OK(kvo_type_size(encoding, &size, &alignment));                                                              \
    CHECK_EQ(size, sizeof(T));                                                                                         \
    CHECK_EQ(alignment, _Alignof(T));                                                                                  \
  }

static inline void fill_bytes(void *memory, size_t size) {
  uint32_t state = 12345;
  for (size_t i = 0; i < size; i++) {
    state = state * 1664525u + 1013904223u;
    ((unsigned char *)memory)[i] = (unsigned char)(state >> 24);
  }
}

#endif

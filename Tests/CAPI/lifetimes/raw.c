/* raw.c - classes and observations of a language with values of its own, described in the structures of any version of kvo_raw.h. */
#include <kvo/kvo_raw.h>

#include <stdlib.h>
#include <string.h>

#include "harness.h"

typedef struct number {
  kvo_object header;
  int value;
} number;

static void *copy(void *instance, void *user, const kvo_selection *selection) {
  (void)user, (void)selection;
  int *made = malloc(sizeof *made);
  if (made != NULL) *made = ((number *)instance)->value;
  return made;
}
static void release(void *value, void *user) {
  (void)user;
  free(value);
}
static void view(const void *value, void *user, kvo_value_reader reader, void *arg) {
  (void)user;
  kvo_value seen = {"i", sizeof(int), value};
  reader(&seen, arg);
}
static kvo_status assign(void *instance, void *user, const kvo_value *value) {
  (void)user;
  ((number *)instance)->value = *(const int *)value->bytes;
  return KVO_OK;
}
static const kvo_value_ops ops = {copy, release, view, assign, NULL};

static void set(number *of, int value) {
  kvo_frame frame;
  uint32_t wants = kvo_frame_enter(&frame, &of->header, kvo_key_hash("value", 5));
  int old = of->value;
  of->value = value;
  if (wants != 0)
    kvo_frame_finish_with(&frame, &old, &of->value);
  else
    kvo_binding_stored(&of->header, kvo_key_hash("value", 5));
}

/* What a later version of a structure may look like. */
typedef struct later_property {
  kvo_raw_property known;
  void *unknown;
} later_property;
typedef struct later_class {
  kvo_raw_class known;
  void *unknown;
} later_class;
typedef struct later_observer {
  kvo_raw_observer known;
  void *unknown;
} later_observer;

static int sum;
static void add(const kvo_raw_change *change, void *user_data) {
  CHECK_SAME(user_data, &sum);
  sum += 100 * *(const int *)change->old_value + *(const int *)change->new_value;
}
static const kvo_observer_ops observer_ops = {.callback = add};

static later_class describe(const later_property *properties) {
  later_class made = {.known = {.struct_size = sizeof made,
                                .name = "Number",
                                .properties = &properties->known,
                                .property_count = 2,
                                .property_size = sizeof *properties}};
  return made;
}

TEST("descriptions of a later version are taken if what this one does not know is zero, and refused otherwise") {
  later_property properties[] = {{.known = {.name = "value", .type = "i", .ops = &ops}},
                                 {.known = {.name = "other", .type = "i", .ops = &ops}}};
  later_class described = describe(properties);
  kvo_class *cls = NULL;
  described.unknown = &sum;
  CHECK_STATUS(kvo_raw_class_register(&described.known, &cls), KVO_ERROR_INVALID_ARGUMENT);
  described.unknown = NULL;
  properties[1].unknown = &sum;
  CHECK_STATUS(kvo_raw_class_register(&described.known, &cls), KVO_ERROR_INVALID_ARGUMENT);
  properties[1].unknown = NULL;
  CHECK_OK(kvo_raw_class_register(&described.known, &cls));
  CHECK(strcmp(kvo_property_name(kvo_class_property_at(cls, 1)), "other") == 0);
  number object = {.value = 1};
  kvo_object_adopt(&object.header, cls);
  later_observer observer = {.known = {.struct_size = sizeof observer,
                                       .key_path = "value",
                                       .options = (kvo_options)(KVO_NEW | KVO_OLD | KVO_ENDS_WITH_OBJECT),
                                       .ops = &observer_ops,
                                       .user_data = &sum}};
  kvo_observation id = 0;
  CHECK_OK(kvo_raw_observe(&object.header, kvo_key_hash("value", 5), &observer.known, &id));
  set(&object, 2);
  CHECK_EQ(sum, 102);
  kvo_object_finish(&object.header);
}

/* raw.c - classes and observations of a language with its own values, described in any version of kvo_raw.h. */
#include "harness.h"

#include <kvo/kvo_raw.h>

typedef struct number {
  kvo_object header;
  int value;
} number;

/* The observer gets values that the setter passes, so these are not called. */
static void *copy(void *instance, void *user, const kvo_selection *selection) { return NULL; }
static void release(void *value, void *user) {}
static void view(const void *value, void *user, kvo_value_reader reader, void *arg) {}
static kvo_status assign(void *instance, void *user, const kvo_value *value) { return KVO_ERROR_READ_ONLY; }
static const kvo_value_ops ops = {copy, release, view, assign, NULL};

static int sum;
static void add(const kvo_raw_change *change, void *user_data) {
  CHECK_SAME(user_data, &sum);
  sum += 100 * *(const int *)change->old_value + *(const int *)change->new_value;
}
static const kvo_observer_ops observer_ops = {.callback = add};

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

TEST("descriptions of a later version are taken if what this one does not know is zero, and refused otherwise") {
  later_property properties[] = {{.known = {.name = "value", .type = "i", .ops = &ops}},
                                 {.known = {.name = "other", .type = "i", .ops = &ops}}};
  later_class described = {.known = {.struct_size = sizeof described,
                                     .name = "Number",
                                     .properties = &properties->known,
                                     .property_count = 2,
                                     .property_size = sizeof *properties},
                           .unknown = &sum};
  kvo_class *cls = NULL;
  CHECK_STATUS(kvo_raw_class_register(&described.known, &cls), KVO_ERROR_INVALID_ARGUMENT);
  described.unknown = NULL;
  properties[1].unknown = &sum;
  CHECK_STATUS(kvo_raw_class_register(&described.known, &cls), KVO_ERROR_INVALID_ARGUMENT);
  properties[1].unknown = NULL;
  CHECK_OK(kvo_raw_class_register(&described.known, &cls));
  CHECK_EQ(kvo_property_name(kvo_class_property_at(cls, 1)), "other");
  number object = {.value = 1};
  kvo_object_adopt(&object.header, cls);
  later_observer observer = {.known = {.struct_size = sizeof observer,
                                       .key_path = "value",
                                       .options = (kvo_options)(KVO_NEW | KVO_OLD | KVO_ENDS_WITH_OBJECT),
                                       .ops = &observer_ops,
                                       .user_data = &sum}};
  kvo_observation id = 0;
  CHECK_OK(kvo_raw_observe(&object.header, kvo_key_hash("value", 5), &observer.known, &id));
  kvo_frame frame;
  CHECK(kvo_frame_enter(&frame, &object.header, kvo_key_hash("value", 5)) != 0);
  int old = object.value;
  object.value = 2;
  kvo_frame_finish_with(&frame, &old, &object.value);
  CHECK_EQ(sum, 102);
  kvo_object_finish(&object.header);
}

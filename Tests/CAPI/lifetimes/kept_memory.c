/* kept_memory.c - memory that is freed while objects live: that of observations removed in deliveries, and of long texts in reports. */
#include "allocator.h"
#include "fixture.h"

#include <stdio.h>
#include <string.h>

/* ------------------------------------------------------------------------------------------------------------- Endings -- */

static kvo_observation coming_and_going;
static watcher other;

static void replace_the_other(watcher *self, const kvo_change *change) {
  (void)self;
  CHECK_OK(kvo_cancel_observer(coming_and_going));
  coming_and_going = watch((item *)change->object, "value", KVO_NEW, &other);
}

TEST("observations removed in deliveries are freed while their object is still observed and set") {
  use_counting_allocator();
  item *object = item_make(0);
  coming_and_going = watch(object, "value", KVO_NEW, &other);
  watcher replacing = {.then = replace_the_other};
  kvo_observation id = watch(object, "value", KVO_NONE, &replacing);
  long before = 0;
  for (int i = 1; i <= 2000; i++) {
    item_set_value(object, i);
    if (i == 1000) before = live_blocks;
  }
  CHECK(live_blocks < before + 10);
  CHECK_OK(kvo_cancel_observer(id));
  CHECK_OK(kvo_cancel_observer(coming_and_going));
  item_destroy(object);
}

/* --------------------------------------------------------------------------------------------------------------- Texts -- */

/* Longer than the buffers of a report. */
static char name[1500], other_key[1500], path[3200];
static kvo_class *named;

static int get_value(const item *object) { return object->value; }
static void set_value(item *object, int value) { object->value = value; }

static void name_all(void) {
  memset(name, 'n', sizeof name - 1);
  memset(other_key, 'o', sizeof other_key - 1);
  snprintf(path, sizeof path, "%s.%s", name, other_key);
  kvo_property_spec properties[] = {
      {.name = name, .type = "i", .getter = (kvo_function)get_value, .setter = (kvo_function)set_value},
      {.name = "quiet", .type = "i", .getter = (kvo_function)get_value}};
  kvo_class_spec spec = {.struct_size = sizeof spec,
                         .name = name,
                         .instance_size = sizeof(item),
                         .properties = properties,
                         .property_count = 2};
  CHECK_OK(kvo_class_register(&spec, &named));
}

static kvo_observation observe(kvo_object *object, const char *key_path) {
  static watcher seen;
  kvo_observer observer = watcher_observer(key_path, KVO_NEW, &seen);
  kvo_observation id = 0;
  return kvo_add_observer(object, &observer, &id) == KVO_OK ? id : 0;
}

static void try_to_observe(kvo_object *object, const char *key_path) {
  kvo_observation id = observe(object, key_path);
  if (id != 0) CHECK_OK(kvo_remove_observer(id));
}

/* Each misuse whose report names a class, a key or both. */
static void misuse_all(void) {
  kvo_object *object;
  CHECK_OK(kvo_object_create(named, &object));
  try_to_observe(object, other_key);
  try_to_observe(object, "quiet");
  try_to_observe(object, path);
  strcat(path, ".");
  try_to_observe(object, path);
  path[strlen(path) - 1] = '\0';
  kvo_observation id = observe(object, name);
  (void)KVO_SET(object, name, double, 1.0);
  (void)KVO_SET(object, other_key, int, 1);
  (void)kvo_did_change(object, name);
  size_t falling[] = {2, 1};
  (void)kvo_will_change_indexes(object, KVO_CHANGE_REMOVAL, name, falling, 2);
  (void)kvo_did_change(object, name);
  CHECK_OK(kvo_will_change(object, name));
  (void)kvo_did_change_indexes(object, KVO_CHANGE_INSERTION, name, falling, 1);
  (void)kvo_will_change(object, other_key);
  (void)kvo_remove_observer_for(object, object, name);
  (void)kvo_remove_observer_for(object, object, other_key);
  (void)kvo_get_value(object, other_key, NULL, NULL);
  CHECK_OK(kvo_remove_observer(id));
  (void)kvo_remove_observer(id);
  id = observe(object, name);
  CHECK_OK(kvo_will_change(object, name));
  kvo_object_destroy(object);
  (void)kvo_remove_observer(id);
}

TEST_REPORTED("no report about a long name leaks memory") {
  use_counting_allocator();
  ignore_faults();
  name_all();
  long before = 0;
  for (int round = 0; round < 20; round++) {
    misuse_all();
    if (round == 9) before = live_blocks; /* by now the log of ended observations is allocated */
  }
  CHECK(faults.count >= 20 * 12);
  CHECK_EQ((long)live_blocks, before);
}

/* collections.c - functions for bindings that notify changes of collections: kinds and indexes, mutes during a store, passed values. */
#include "fixture.h"

#include <kvo/kvo_binding.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>

static kvo_key key(const char *name) { return kvo_key_hash(name, strlen(name)); }

/* ---------------------------------------------------------------------------------------------- Kinds and positions -- */

/* Notifies an insertion into a key of `object` as a binding does, with 7 as the elements. */
static uint32_t insert_at(item *object, const char *name, const size_t *indexes, size_t count) {
  kvo_frame frame;
  int elements = 7;
  uint32_t wants = kvo_frame_begin_change(&frame, as_object(object), key(name), KVO_CHANGE_INSERTION, indexes, count);
  if (wants == 0) return 0;
  if ((wants & KVO_FRAME_WANTS_WILL) != 0) kvo_frame_will(&frame, NULL);
  while (kvo_frame_next(&frame)) kvo_frame_deliver(&frame, NULL, &elements);
  kvo_frame_end(&frame);
  return wants;
}

TEST("a frame with a kind and indexes delivers both, before and after the change, with its elements") {
  item *object = item_make(1);
  watcher w = {0};
  watch(object, "value", KVO_NEW | KVO_OLD | KVO_PRIOR, &w);
  size_t indexes[] = {2, 5};
  CHECK(insert_at(object, "value", indexes, 2) != 0);
  CHECK_EQ(w.priors, 1);
  CHECK_EQ(w.calls, 1);
  CHECK_EQ((int)w.kind, KVO_CHANGE_INSERTION);
  CHECK_EQ(w.index_count, 2);
  CHECK_EQ(w.indexes[1], 5);
  CHECK_EQ(w.new_value.integer, 7);
  CHECK(!w.old_value.told);
  CHECK_OK(kvo_remove_observer(w.id));
  item_destroy(object);
}

TEST_REPORTED("a frame with a kind between a will and its did is reported: observers are notified twice") {
  ignore_faults();
  item *object = item_make(1);
  watcher w = {0};
  size_t index = 0;
  watch(object, "value", KVO_NEW, &w);
  CHECK(insert_at(object, "value", &index, 1) != 0);
  CHECK_EQ(faults.count, 0);
  CHECK_OK(kvo_will_change(as_object(object), "other"));
  CHECK(insert_at(object, "value", &index, 1) != 0);
  CHECK_EQ(faults.count, 0);
  CHECK_OK(kvo_will_change(as_object(object), "value"));
  CHECK(insert_at(object, "value", &index, 1) != 0);
  CHECK_EQ(faults.count, 1);
  CHECK_EQ((int)faults.code, KVO_FAULT_DOUBLE_NOTIFICATION);
  CHECK_CONTAINS(faults.summary, "\"value\" of Item@");
  CHECK_CONTAINS(faults.summary,
                 " is set between willChange and didChange, and its setter also notifies: observers are "
                 "notified twice");
  CHECK_OK(kvo_did_change(as_object(object), "value"));
  CHECK_OK(kvo_did_change(as_object(object), "other"));
  CHECK_OK(kvo_remove_observer(w.id));
  item_destroy(object);
}

TEST("a frame without indexes is a change of a collection that has none") {
  item *object = item_make(1);
  watcher w = {0};
  watch(object, "value", KVO_NEW, &w);
  CHECK(insert_at(object, "value", NULL, 0) != 0);
  CHECK_EQ((int)w.kind, KVO_CHANGE_INSERTION);
  CHECK_EQ(w.index_count, 0);
  CHECK_OK(kvo_remove_observer(w.id));
  item_destroy(object);
}

TEST("kvo_frame_begin_change returns 0 for a manual key and for one that nobody observes") {
  item *object = item_make(1);
  watcher w = {0};
  size_t index = 0;
  watch(object, "quiet", KVO_NEW, &w);
  CHECK_EQ(insert_at(object, "quiet", &index, 1), 0);
  CHECK_EQ(insert_at(object, "value", &index, 1), 0);
  CHECK_EQ(w.calls, 0);
  CHECK_OK(kvo_remove_observer(w.id));
  item_destroy(object);
}

TEST("a key path that ends in the key gets kind and indexes, an expression that reads it gets a setting") {
  item *root = item_make(0), *leaf = item_make(1);
  root->next = leaf;
  watcher path = {0}, doubled = {0};
  watch(root, "next.value", KVO_NEW, &path);
  watch(leaf, "doubled", KVO_NEW, &doubled);
  size_t index = 4;
  CHECK(insert_at(leaf, "value", &index, 1) != 0);
  CHECK_EQ((int)path.kind, KVO_CHANGE_INSERTION);
  CHECK_EQ(path.indexes[0], 4);
  CHECK_EQ(path.new_value.integer, 7);
  CHECK_EQ((int)doubled.kind, KVO_CHANGE_SETTING);
  CHECK_EQ(doubled.index_count, 0);
  CHECK_EQ(doubled.new_value.integer, 2);
  CHECK_OK(kvo_remove_observer(path.id));
  CHECK_OK(kvo_remove_observer(doubled.id));
  item_destroy(root);
  item_destroy(leaf);
}

/* ------------------------------------------------------------------------------------------------------------ Silence -- */

TEST("a mute suppresses one change of its key by a setter, and nothing else") {
  item *object = item_make(1), *second = item_make(1);
  watcher value = {.tag = 'V'}, other = {.tag = 'O'}, foreign = {.tag = 'S'};
  watch(object, "value", KVO_NONE, &value);
  watch(object, "other", KVO_NONE, &other);
  watch(second, "value", KVO_NONE, &foreign);
  kvo_mute mute;
  kvo_mute_begin(&mute, as_object(object), key("value"));
  item_set_other(object, 2);
  item_set_value(second, 2);
  item_set_value(object, 2);
  CHECK_EQ(object->value, 2);
  item_set_value(object, 3);
  kvo_mute_end(&mute);
  item_set_value(object, 4);
  CHECK_EQ((const char *)trace, "OSVV");
  CHECK_OK(kvo_remove_observer(value.id));
  CHECK_OK(kvo_remove_observer(other.id));
  CHECK_OK(kvo_remove_observer(foreign.id));
  item_destroy(object);
  item_destroy(second);
}

TEST("a mute under which nothing was stored ends at kvo_mute_end") {
  item *object = item_make(1);
  watcher w = {0};
  watch(object, "value", KVO_NONE, &w);
  kvo_mute mute;
  kvo_mute_begin(&mute, as_object(object), key("value"));
  kvo_mute_end(&mute);
  item_set_value(object, 2);
  CHECK_EQ(w.calls, 1);
  CHECK_OK(kvo_remove_observer(w.id));
  item_destroy(object);
}

TEST("mutes nest, and each suppresses one change") {
  item *object = item_make(1);
  watcher w = {0};
  watch(object, "value", KVO_NONE, &w);
  kvo_mute outer, inner;
  kvo_mute_begin(&outer, as_object(object), key("value"));
  kvo_mute_begin(&inner, as_object(object), key("value"));
  item_set_value(object, 2);
  kvo_mute_end(&inner);
  item_set_value(object, 3);
  CHECK_EQ(w.calls, 0);
  item_set_value(object, 4);
  CHECK_EQ(w.calls, 1);
  kvo_mute_end(&outer);
  CHECK_OK(kvo_remove_observer(w.id));
  item_destroy(object);
}

static void *set_elsewhere(void *arg) {
  item_set_value(arg, 2);
  return NULL;
}

TEST("a mute applies to its thread only") {
  item *object = item_make(1);
  watcher w = {0};
  watch(object, "value", KVO_NONE, &w);
  kvo_mute mute;
  kvo_mute_begin(&mute, as_object(object), key("value"));
  pthread_t thread;
  CHECK(pthread_create(&thread, NULL, set_elsewhere, object) == 0);
  CHECK(pthread_join(thread, NULL) == 0);
  CHECK_EQ(w.calls, 1);
  kvo_mute_end(&mute);
  CHECK_OK(kvo_remove_observer(w.id));
  item_destroy(object);
}

/* ------------------------------------------------------------------------------------------------------- Given values -- */

/* A binding's class with the property "bag", an int; counts reads and values that have not been released. */
static int reads, values;

static void *make_value(int number) {
  int *made = malloc(sizeof *made);
  CHECK(made != NULL);
  *made = number;
  values++;
  return made;
}

static void *copy_bag(void *instance, void *user, const kvo_selection *selection) {
  (void)instance, (void)user, (void)selection;
  reads++;
  return make_value(1000);
}

static void release_bag(void *value, void *user) {
  (void)user;
  values--;
  free(value);
}

static void view_bag(const void *value, void *user, kvo_value_reader reader, void *arg) {
  (void)user;
  kvo_value view = {"i", sizeof(int), value};
  reader(&view, arg);
}

static kvo_status assign_bag(void *instance, void *user, const kvo_value *value) {
  (void)instance, (void)user, (void)value;
  return KVO_ERROR_READ_ONLY;
}

static item *bag_make(void) {
  static kvo_class *cls;
  static const kvo_value_ops ops = {copy_bag, release_bag, view_bag, assign_bag, NULL};
  kvo_binding_property property = {.name = "bag", .type = "i", .ops = &ops};
  if (cls == NULL) CHECK_OK(kvo_binding_class_register("Bag", NULL, 0, &property, 1, &cls));
  item *made = calloc(1, sizeof *made);
  CHECK(made != NULL);
  CHECK_OK(kvo_object_init(as_object(made), cls));
  return made;
}

static void bag_destroy(item *bag) {
  kvo_object_finish(as_object(bag));
  free(bag);
}

static void will(item *bag, kvo_change_kind kind, int old_value, int new_value) {
  CHECK_OK(kvo_binding_will_change_values(as_object(bag), key("bag"), kind,
                                          old_value != 0 ? make_value(old_value) : NULL,
                                          new_value != 0 ? make_value(new_value) : NULL));
}

TEST("values passed with the will are delivered and the property is not read; then they are released") {
  item *bag = bag_make();
  watcher w = {0};
  watch(bag, "bag", KVO_NEW | KVO_OLD | KVO_PRIOR, &w);
  will(bag, KVO_CHANGE_REPLACEMENT, 3, 4);
  CHECK_EQ(w.priors, 1);
  CHECK_EQ(w.old_value.integer, 3);
  CHECK(!w.new_value.told);
  CHECK_EQ(values, 2);
  CHECK_OK(kvo_did_change(as_object(bag), "bag"));
  CHECK_EQ(w.calls, 1);
  CHECK_EQ((int)w.kind, KVO_CHANGE_REPLACEMENT);
  CHECK_EQ(w.index_count, 0);
  CHECK_EQ(w.old_value.integer, 3);
  CHECK_EQ(w.new_value.integer, 4);
  CHECK_EQ(values, 0);
  CHECK_EQ(reads, 0);
  CHECK_OK(kvo_remove_observer(w.id));
  bag_destroy(bag);
}

TEST("an insertion announced without an old value delivers none, a removal no new one") {
  item *bag = bag_make();
  watcher w = {0};
  watch(bag, "bag", KVO_NEW | KVO_OLD, &w);
  will(bag, KVO_CHANGE_INSERTION, 0, 4);
  CHECK_OK(kvo_did_change(as_object(bag), "bag"));
  CHECK(!w.old_value.told);
  CHECK_EQ(w.new_value.integer, 4);
  will(bag, KVO_CHANGE_REMOVAL, 3, 0);
  CHECK_OK(kvo_did_change(as_object(bag), "bag"));
  CHECK(!w.new_value.told);
  CHECK_EQ(w.old_value.integer, 3);
  CHECK_EQ(reads + values, 0);
  CHECK_OK(kvo_remove_observer(w.id));
  bag_destroy(bag);
}

TEST("values passed for a change that notifies nobody are released at once, those for an undefined key not at all") {
  item *bag = bag_make(), *object = item_make(1);
  will(bag, KVO_CHANGE_REPLACEMENT, 3, 4);
  CHECK_EQ(values, 0);
  CHECK_OK(kvo_did_change(as_object(bag), "bag"));
  int mine = 1;
  CHECK_STATUS(kvo_binding_will_change_values(as_object(bag), key("imaginary"), KVO_CHANGE_REMOVAL, &mine, NULL),
               KVO_ERROR_UNDEFINED_KEY);
  CHECK_STATUS(kvo_binding_will_change_values(as_object(object), key("value"), KVO_CHANGE_REMOVAL, &mine, NULL),
               KVO_ERROR_INVALID_ARGUMENT);
  item_destroy(object);
  bag_destroy(bag);
}

TEST("pairs with passed values nest with other pairs, each with its own values") {
  item *bag = bag_make();
  watcher w = {0};
  watch(bag, "bag", KVO_NEW | KVO_OLD, &w);
  will(bag, KVO_CHANGE_REPLACEMENT, 1, 2);
  CHECK_OK(kvo_will_change(as_object(bag), "bag"));
  will(bag, KVO_CHANGE_REPLACEMENT, 3, 4);
  CHECK_OK(kvo_did_change(as_object(bag), "bag"));
  CHECK_EQ(w.new_value.integer, 4);
  CHECK_OK(kvo_did_change(as_object(bag), "bag"));
  CHECK_EQ((int)w.kind, KVO_CHANGE_SETTING);
  CHECK_EQ(w.new_value.integer, 1000);
  CHECK_OK(kvo_did_change(as_object(bag), "bag"));
  CHECK_EQ(w.new_value.integer, 2);
  CHECK_EQ(w.calls, 3);
  CHECK_EQ(values, 0);
  CHECK_OK(kvo_remove_observer(w.id));
  bag_destroy(bag);
}

static void *leave_open(void *arg) {
  will(arg, KVO_CHANGE_REPLACEMENT, 3, 4);
  return NULL;
}

TEST("values of a pair that is left open are released at the end of the thread") {
  item *bag = bag_make();
  watcher w = {0};
  watch(bag, "bag", KVO_OLD, &w);
  pthread_t thread;
  CHECK(pthread_create(&thread, NULL, leave_open, bag) == 0);
  CHECK(pthread_join(thread, NULL) == 0);
  CHECK_EQ(values, 0);
  CHECK_EQ(w.calls, 0);
  CHECK_OK(kvo_remove_observer(w.id));
  bag_destroy(bag);
}

static void *outlive(void *arg) {
  item *bag = bag_make();
  watch(bag, "bag", KVO_OLD | KVO_ENDS_WITH_OBJECT, arg);
  will(bag, KVO_CHANGE_REPLACEMENT, 3, 4);
  bag_destroy(bag);
  return NULL;
}

TEST("values of an open pair outlive the object until the thread ends, and are released then") {
  watcher w = {0};
  pthread_t thread;
  CHECK(pthread_create(&thread, NULL, outlive, &w) == 0);
  CHECK(pthread_join(thread, NULL) == 0);
  CHECK_EQ(values, 0);
  CHECK_EQ(w.calls, 0);
  CHECK_EQ(w.destroyed, 1);
}

TEST("kvo_observation_is_registered is true from the registration to the removal, and never again for that id") {
  item *object = item_make(1);
  watcher w = {0}, next = {0};
  CHECK(!kvo_observation_is_registered(0));
  watch(object, "value", KVO_NONE, &w);
  CHECK(kvo_observation_is_registered(w.id));
  CHECK_OK(kvo_remove_observer(w.id));
  CHECK(!kvo_observation_is_registered(w.id));
  watch(object, "value", KVO_ENDS_WITH_OBJECT, &next);
  CHECK(!kvo_observation_is_registered(w.id));
  CHECK(kvo_observation_is_registered(next.id));
  item_destroy(object);
  CHECK(!kvo_observation_is_registered(next.id));
}

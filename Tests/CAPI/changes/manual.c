/* manual.c - kvo_will_change and kvo_did_change: pairs match by object and key, nest, and may interleave. */
#include "fixture.h"

#include <limits.h>
#include <pthread.h>

static void will(item *object, const char *key) { CHECK_OK(kvo_will_change(as_object(object), key)); }
static void did(item *object, const char *key) { CHECK_OK(kvo_did_change(as_object(object), key)); }

TEST("a pair around a store without a setter notifies like a set") {
  item *object = item_make(1);
  watcher w = {0};
  watch(object, "value", KVO_NEW | KVO_OLD | KVO_PRIOR, &w);
  will(object, "value");
  CHECK_EQ(w.priors, 1);
  CHECK_EQ(w.old_value.integer, 1);
  object->value = 2;
  CHECK_EQ(w.calls, 0);
  did(object, "value");
  CHECK_EQ(w.calls, 1);
  CHECK_EQ(w.old_value.integer, 1);
  CHECK_EQ(w.new_value.integer, 2);
  CHECK_EQ((int)w.kind, KVO_CHANGE_SETTING);
  CHECK_OK(kvo_remove_observer(w.id));
  item_destroy(object);
}

TEST("nested pairs each notify, with the old value of their own will") {
  item *object = item_make(1);
  watcher w = {0};
  watch(object, "value", KVO_NEW | KVO_OLD, &w);
  will(object, "value");
  object->value = 2;
  will(object, "value");
  object->value = 3;
  did(object, "value");
  CHECK_EQ(w.calls, 1);
  CHECK_EQ(w.old_value.integer, 2);
  did(object, "value");
  CHECK_EQ(w.calls, 2);
  CHECK_EQ(w.old_value.integer, 1);
  CHECK_EQ(w.new_value.integer, 3);
  CHECK_STATUS(kvo_did_change(as_object(object), "value"), KVO_ERROR_UNBALANCED);
  CHECK_EQ(w.calls, 2);
  CHECK_OK(kvo_remove_observer(w.id));
  item_destroy(object);
}

TEST("interleaved pairs of two keys and of two objects match by key and object") {
  item *one = item_make(1), *two = item_make(10);
  watcher value = {.tag = 'V'}, other = {.tag = 'O'}, second = {.tag = 'S'};
  watch(one, "value", KVO_OLD | KVO_PRIOR, &value);
  watch(one, "other", KVO_OLD | KVO_PRIOR, &other);
  watch(two, "value", KVO_OLD | KVO_PRIOR, &second);
  will(one, "value");
  will(one, "other");
  will(two, "value");
  did(one, "value");
  did(two, "value");
  did(one, "other");
  CHECK_EQ((const char *)trace, "vosVSO");
  CHECK_EQ(second.old_value.integer, 10);
  CHECK_OK(kvo_remove_observer(value.id));
  CHECK_OK(kvo_remove_observer(other.id));
  CHECK_OK(kvo_remove_observer(second.id));
  item_destroy(one);
  item_destroy(two);
}

TEST("a pair for a key that nobody observes is no error and notifies nobody") {
  item *object = item_make(1);
  watcher w = {0};
  will(object, "value");
  did(object, "value");
  watch(object, "other", KVO_NONE, &w);
  will(object, "value");
  did(object, "value");
  will(object, "imaginary");
  did(object, "imaginary");
  CHECK_EQ(w.calls, 0);
  CHECK_OK(kvo_remove_observer(w.id));
  item_destroy(object);
}

TEST("did without will, for an observed key, notifies nobody and is a fault") {
  item *object = item_make(1);
  watcher w = {0};
  watch(object, "value", KVO_NONE, &w);
  CHECK_STATUS(kvo_did_change(as_object(object), "value"), KVO_ERROR_UNBALANCED);
  CHECK_EQ(w.calls, 0);
  CHECK_OK(kvo_remove_observer(w.id));
  item_destroy(object);
}

TEST("an observer registered between will and did is not notified of that did") {
  item *object = item_make(1);
  watcher before = {0}, between = {0};
  watch(object, "value", KVO_NONE, &before);
  will(object, "value");
  watch(object, "value", KVO_NONE, &between);
  did(object, "value");
  CHECK_EQ(before.calls, 1);
  CHECK_EQ(between.calls, 0);
  CHECK_OK(kvo_remove_observer(before.id));
  CHECK_OK(kvo_remove_observer(between.id));
  item_destroy(object);
}

TEST("an observer removed between will and did is not notified, and is destroyed by the did at the latest") {
  item *object = item_make(1);
  watcher w = {0};
  watch(object, "value", KVO_OLD | KVO_NEW, &w);
  will(object, "value");
  CHECK_OK(kvo_remove_observer(w.id));
  did(object, "value");
  CHECK_EQ(w.calls, 0);
  CHECK_EQ(w.destroyed, 1);
  item_destroy(object);
}

TEST("the setter of a manual property does not notify, a pair does") {
  item *object = item_make(0);
  watcher w = {0};
  watch(object, "quiet", KVO_NEW, &w);
  KVO_SET(object, "quiet", int, 5);
  CHECK_EQ(object->quiet, 5);
  CHECK_EQ(w.calls, 0);
  will(object, "quiet");
  KVO_SET(object, "quiet", int, 6);
  did(object, "quiet");
  CHECK_EQ(w.calls, 1);
  CHECK_EQ(w.new_value.integer, 6);
  CHECK_OK(kvo_remove_observer(w.id));
  item_destroy(object);
}

TEST("a pair notifies observers of a key path and of an affected key") {
  item *root = item_make(0), *leaf = item_make(1);
  root->next = leaf;
  watcher path = {0}, doubled = {0};
  watch(root, "next.value", KVO_NEW | KVO_OLD, &path);
  watch(leaf, "doubled", KVO_NEW | KVO_OLD, &doubled);
  will(leaf, "value");
  leaf->value = 4;
  did(leaf, "value");
  CHECK_EQ(path.calls, 1);
  CHECK_EQ(path.old_value.integer, 1);
  CHECK_EQ(path.new_value.integer, 4);
  CHECK_EQ(doubled.calls, 1);
  CHECK_EQ(doubled.old_value.integer, 2);
  CHECK_EQ(doubled.new_value.integer, 8);
  CHECK_OK(kvo_remove_observer(path.id));
  CHECK_OK(kvo_remove_observer(doubled.id));
  item_destroy(root);
  item_destroy(leaf);
}

TEST("a key whose hash would be 0 is an ordinary key, not that of dependencies on an object's death") {
  item *root = item_make(0), *leaf = item_make(1);
  root->next = leaf;
  watcher w = {0};
  watch(root, "next.value", KVO_NONE, &w);
  will(root, "!0IC=VloaY"); /* its FNV-1a hash is 0 */
  did(root, "!0IC=VloaY");
  CHECK_EQ(w.calls, 0);
  CHECK_OK(kvo_remove_observer(w.id));
  item_destroy(root);
  item_destroy(leaf);
}

TEST("in a process without free thread-specific keys the program's own keys keep their values") {
  static pthread_key_t keys[PTHREAD_KEYS_MAX];
  int count = 0;
  while (count < PTHREAD_KEYS_MAX && pthread_key_create(&keys[count], NULL) == 0) {
    CHECK(pthread_setspecific(keys[count], &keys[count]) == 0);
    count++;
  }
  item *object = item_make(0);
  watcher w = {0};
  watch(object, "value", KVO_NONE, &w);
  will(object, "value");
  did(object, "value");
  CHECK_EQ(w.calls, 1);
  for (int i = 0; i < count; i++) CHECK_SAME(pthread_getspecific(keys[i]), &keys[i]);
  CHECK_OK(kvo_remove_observer(w.id));
  item_destroy(object);
}

TEST(
    "a path that is registered between a will and a did of its first key follows the new value, and is not notified of it") {
  item *object = item_make(0), *next = item_make(1);
  watcher w = {0};
  will(object, "next");
  watch(object, "next.value", KVO_NEW | KVO_OLD, &w);
  object->next = next;
  ignore_faults();
  CHECK_OK(kvo_did_change(as_object(object), "next"));
  CHECK_EQ(faults.count, 0); /* there was a will, when nobody observed */
  CHECK_EQ(w.calls, 0);
  KVO_SET(next, "value", int, 2);
  CHECK_EQ(w.calls, 1);
  CHECK_EQ(w.old_value.integer, 1);
  CHECK_EQ(w.new_value.integer, 2);
  CHECK_OK(kvo_remove_observer(w.id));
  item_destroy(object);
  item_destroy(next);
}

TEST("the same holds if others observe the first key, and they are notified") {
  item *object = item_make(0), *next = item_make(1);
  watcher head = {0}, path = {0};
  watch(object, "next", KVO_NONE, &head);
  will(object, "next");
  watch(object, "next.value", KVO_NONE, &path);
  object->next = next;
  did(object, "next");
  CHECK_EQ(head.calls, 1);
  CHECK_EQ(path.calls, 0);
  KVO_SET(next, "value", int, 2);
  CHECK_EQ(path.calls, 1);
  CHECK_OK(kvo_remove_observer(path.id));
  CHECK_OK(kvo_remove_observer(head.id));
  item_destroy(object);
  item_destroy(next);
}

/* ----------------------------------------------------------------------------------------------------------- Getters -- */

static int reads;

static int read_counted(const item *object) {
  reads++;
  return object->value;
}

static void store_counted(item *object, int value) { object->value = value; }

static item *counted_make(void) {
  static kvo_class *counted;
  kvo_property_spec property = {
      .name = "value", .type = "i", .getter = (kvo_function)read_counted, .setter = (kvo_function)store_counted};
  kvo_class_spec spec = {.struct_size = sizeof spec,
                         .name = "Counted",
                         .instance_size = sizeof(item),
                         .properties = &property,
                         .property_count = 1};
  if (counted == NULL) CHECK_OK(kvo_class_register(&spec, &counted));
  kvo_object *made;
  CHECK_OK(kvo_object_create(counted, &made));
  return (item *)made;
}

TEST("the getter is called for an observer that wants values, and not after that has been removed") {
  item *object = counted_make();
  watcher plain = {0}, wanting = {0};
  watch(object, "value", KVO_NONE, &plain);
  watch(object, "value", KVO_OLD, &wanting);
  item_set_value(object, 1);
  CHECK(reads > 0);
  CHECK_OK(kvo_remove_observer(wanting.id));
  reads = 0;
  item_set_value(object, 2);
  CHECK_EQ(reads, 0);
  CHECK_EQ(plain.calls, 2);
  CHECK_OK(kvo_remove_observer(plain.id));
  kvo_object_destroy(as_object(object));
}

TEST("a did reads the new value for each observer that wants it, and for no other") {
  item *object = counted_make();
  watcher plain = {0}, wanting = {0};
  watch(object, "value", KVO_NONE, &plain);
  watch(object, "value", KVO_NEW, &wanting);
  will(object, "value");
  CHECK_EQ(reads, 0);
  object->value = 1;
  did(object, "value");
  CHECK_EQ(reads, 1);
  CHECK_EQ(wanting.new_value.integer, 1);
  CHECK(!plain.new_value.told);
  CHECK_OK(kvo_remove_observer(wanting.id));
  CHECK_OK(kvo_remove_observer(plain.id));
  kvo_object_destroy(as_object(object));
}

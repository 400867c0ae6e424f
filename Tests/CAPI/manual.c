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

TEST_REPORTED("a will without did is reported with its key, whoever observes it, and also if nobody does any more") {
  ignore_faults();
  for (int i = 0; i < 3; i++) {
    item *root = item_make(1), *near = item_make(2);
    root->next = near;
    watcher w = {0};
    const char *key = i == 2 ? "undeclared" : "value";
    if (i == 0)
      watch(root, "next.value", KVO_NONE, &w); /* an expression depends on it */
    else
      watch(near, key, KVO_NONE, &w);
    will(near, key);
    if (i > 0) kvo_cancel_observer(w.id);
    root->next = NULL;
    faults.count = 0;
    item_destroy(near);
    CHECK_EQ(faults.count, 1);
    CHECK_EQ(faults.code, KVO_FAULT_UNFINISHED_CHANGE);
    CHECK_CONTAINS(faults.summary,
                   i == 2 ? "willChange of \"undeclared\" of Item@" : "willChange of \"value\" of Item@");
    kvo_cancel_observer(w.id);
    item_destroy(root);
  }
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

/* ---------------------------------------------------------------------------------------------- Ordered collections -- */

static void check_indexes(kvo_change_kind kind) {
  item *object = item_make(1);
  watcher w = {0};
  watch(object, "value", KVO_PRIOR, &w);
  size_t indexes[] = {2, 5, 9};
  CHECK_OK(kvo_will_change_indexes(as_object(object), kind, "value", indexes, 3));
  indexes[0] = 77; /* the runtime has copied them */
  CHECK_EQ(w.priors, 1);
  CHECK_EQ(w.index_count, 3);
  did(object, "value");
  CHECK_EQ(w.calls, 1);
  CHECK_EQ((int)w.kind, (int)kind);
  CHECK_EQ(w.index_count, 3);
  CHECK_EQ(w.indexes[0], 2);
  CHECK_EQ(w.indexes[2], 9);
  CHECK_OK(kvo_remove_observer(w.id));
  item_destroy(object);
}

TEST("an insertion delivers its indexes") { check_indexes(KVO_CHANGE_INSERTION); }
TEST("a removal delivers its indexes") { check_indexes(KVO_CHANGE_REMOVAL); }
TEST("a replacement delivers its indexes") { check_indexes(KVO_CHANGE_REPLACEMENT); }

TEST_REPORTED("a setting has no indexes, and indexes must be an ascending array") {
  ignore_faults();
  item *object = item_make(1);
  size_t index = 0, falling[] = {2, 1}, twice[] = {1, 1};
  CHECK_STATUS(kvo_will_change_indexes(as_object(object), KVO_CHANGE_SETTING, "value", &index, 1),
               KVO_ERROR_INVALID_ARGUMENT);
  CHECK_STATUS(kvo_will_change_indexes(as_object(object), KVO_CHANGE_REMOVAL, "value", NULL, 1),
               KVO_ERROR_INVALID_ARGUMENT);
  CHECK_EQ((int)faults.code, KVO_FAULT_INVALID_ARGUMENT);
  CHECK_STATUS(kvo_will_change_indexes(as_object(object), KVO_CHANGE_REMOVAL, "value", falling, 2),
               KVO_ERROR_INVALID_ARGUMENT);
  CHECK_EQ((int)faults.code, KVO_FAULT_BAD_INDEXES);
  CHECK_CONTAINS(faults.summary, "KVO0033 error: a change of elements of \"value\" of Item@");
  CHECK_CONTAINS(faults.summary, " has indexes that are not ascending: number 1 is 1, after 2");
  CHECK_CONTAINS(faults.report, "help: pass each index once, in ascending order");
  CHECK_STATUS(kvo_will_change_indexes(as_object(object), KVO_CHANGE_REMOVAL, "value", twice, 2),
               KVO_ERROR_INVALID_ARGUMENT);
  CHECK_CONTAINS(faults.summary, ": number 1 is 1, after 1");
  CHECK_EQ(faults.count, 4);
  CHECK_OK(kvo_will_change_indexes(as_object(object), KVO_CHANGE_REMOVAL, "value", NULL, 0));
  item_destroy(object);
}

/* ----------------------------------------------------------------------------------------------------- What is left -- */

TEST("a will whose object dies before its did is harmless, also if a new object has the same address") {
  item memory = {0};
  watcher first = {0}, second = {0};
  CHECK_OK(kvo_object_init(as_object(&memory), item_class()));
  watch(&memory, "value", KVO_ENDS_WITH_OBJECT | KVO_OLD, &first);
  will(&memory, "value");
  kvo_object_finish(as_object(&memory));
  CHECK_OK(kvo_object_init(as_object(&memory), item_class()));
  watch(&memory, "value", KVO_NONE, &second);
  CHECK_STATUS(kvo_did_change(as_object(&memory), "value"), KVO_ERROR_UNBALANCED);
  CHECK_EQ(first.calls, 0);
  CHECK_EQ(second.calls, 0);
  CHECK_OK(kvo_remove_observer(second.id));
  kvo_object_finish(as_object(&memory));
}

static void *leave_open(void *arg) {
  will(arg, "value");
  return NULL;
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

TEST("a pair belongs to its thread, and what a thread leaves open is ended with the thread") {
  item *object = item_make(1);
  watcher w = {0};
  pthread_t thread;
  watch(object, "value", KVO_OLD, &w);
  CHECK(pthread_create(&thread, NULL, leave_open, object) == 0);
  CHECK(pthread_join(thread, NULL) == 0);
  CHECK_STATUS(kvo_did_change(as_object(object), "value"), KVO_ERROR_UNBALANCED);
  CHECK_OK(kvo_remove_observer(w.id));
  CHECK_EQ(w.destroyed, 1); /* the open frame no longer keeps the node */
  CHECK_EQ(w.calls, 0);
  item_destroy(object);
}

TEST_REPORTED("unobserved wills are each ended by their own did, in any order") {
  static const char *const keys[] = {"value", "other", "quiet"};
  static const int orders[][3] = {{0, 1, 2}, {1, 2, 0}, {2, 1, 0}};
  ignore_faults();
  for (int n = 0; n < 3; n++) {
    item *object = item_make(1);
    watcher w[3] = {{0}};
    for (int i = 0; i < 3; i++) will(object, keys[i]);
    for (int i = 0; i < 3; i++)
      watch(object, keys[i], KVO_NONE, &w[i]); /* from here on a did without a will is reported */
    for (int i = 0; i < 3; i++) did(object, keys[orders[n][i]]);
    CHECK_EQ(faults.count, n);
    CHECK_STATUS(kvo_did_change(as_object(object), "value"), KVO_ERROR_UNBALANCED);
    CHECK_EQ((int)faults.code, KVO_FAULT_DID_WITHOUT_WILL);
    for (int i = 0; i < 3; i++) CHECK_OK(kvo_remove_observer(w[i].id));
    item_destroy(object);
  }
}

static void *end_elsewhere(void *arg) {
  CHECK_STATUS(kvo_did_change(as_object(arg), "value"), KVO_ERROR_UNBALANCED);
  return NULL;
}

static void *begin_and_let_another_end(void *arg) {
  pthread_t thread;
  will(arg, "value");
  CHECK(pthread_create(&thread, NULL, end_elsewhere, arg) == 0);
  CHECK(pthread_join(thread, NULL) == 0);
  return NULL;
}

TEST_REPORTED(
    "an unobserved will is forgotten with its object only: a did of another object at its address is reported") {
  ignore_faults();
  item memory = {0}, *others[] = {item_make(0), item_make(0)};
  watcher w = {0}, of_others[2] = {0};
  CHECK_OK(kvo_object_init(as_object(&memory), item_class()));
  will(others[0], "value");
  will(&memory, "value");
  will(others[1], "value");
  kvo_object_finish(as_object(&memory));
  for (int i = 0; i < 2; i++) {
    watch(others[i], "value", KVO_NONE, &of_others[i]);
    did(others[i], "value");
    CHECK_OK(kvo_remove_observer(of_others[i].id));
    item_destroy(others[i]);
  }
  CHECK_EQ(faults.count, 0);
  CHECK_OK(kvo_object_init(as_object(&memory), item_class()));
  watch(&memory, "value", KVO_NONE, &w);
  CHECK_STATUS(kvo_did_change(as_object(&memory), "value"), KVO_ERROR_UNBALANCED);
  CHECK_EQ((int)faults.code, KVO_FAULT_DID_WITHOUT_WILL);
  CHECK_OK(kvo_remove_observer(w.id));
  kvo_object_finish(as_object(&memory));
}

TEST_REPORTED("of 65 unobserved wills that are open the oldest is forgotten, and the others are ended by their dids") {
  enum { OPEN = 65 };
  ignore_faults();
  item *objects[OPEN];
  watcher w[OPEN] = {{0}};
  for (int i = 0; i < OPEN; i++) {
    objects[i] = item_make(0);
    will(objects[i], "value");
  }
  for (int i = 0; i < OPEN; i++) watch(objects[i], "value", KVO_NONE, &w[i]);
  for (int i = 1; i < OPEN; i++) did(objects[i], "value");
  CHECK_EQ(faults.count, 0);
  CHECK_STATUS(kvo_did_change(as_object(objects[0]), "value"), KVO_ERROR_UNBALANCED);
  CHECK_EQ((int)faults.code, KVO_FAULT_DID_WITHOUT_WILL);
  for (int i = 0; i < OPEN; i++) {
    CHECK_EQ(w[i].calls, 0);
    CHECK_OK(kvo_remove_observer(w[i].id));
    item_destroy(objects[i]);
  }
}

TEST_REPORTED("of a thousand unobserved pairs nothing is left: a did after them is reported") {
  ignore_faults();
  item *object = item_make(1);
  for (int i = 0; i < 1000; i++) {
    will(object, "value");
    will(object, "other");
    did(object, "value");
    did(object, "other");
  }
  watcher w = {0};
  watch(object, "value", KVO_NONE, &w);
  CHECK_EQ(faults.count, 0);
  CHECK_STATUS(kvo_did_change(as_object(object), "value"), KVO_ERROR_UNBALANCED);
  CHECK_EQ((int)faults.code, KVO_FAULT_DID_WITHOUT_WILL);
  CHECK_OK(kvo_remove_observer(w.id));
  item_destroy(object);
}

TEST_REPORTED("a pair split between two threads is reported once, not again as unfinished when the first one ends") {
  ignore_faults();
  item *object = item_make(1);
  watcher w = {0};
  pthread_t thread;
  watch(object, "value", KVO_NONE, &w);
  CHECK(pthread_create(&thread, NULL, begin_and_let_another_end, object) == 0);
  CHECK(pthread_join(thread, NULL) == 0);
  CHECK_EQ((int)faults.code, KVO_FAULT_CROSSED_THREADS);
  CHECK_EQ(faults.count, 1);
  CHECK_OK(kvo_remove_observer(w.id));
  item_destroy(object);
}

enum { ITEMS = 12, NESTED = 4 };
static item *items[ITEMS];
static watcher of_items[ITEMS];

/* The pairs of each object nest, and those of different objects interleave: 48 are open at the same time. */
static void begin_all(void) {
  for (int i = 0; i < ITEMS; i++) {
    items[i] = item_make(0);
    watch(items[i], "value", KVO_OLD, &of_items[i]);
  }
  for (int depth = 1; depth <= NESTED; depth++)
    for (int i = 0; i < ITEMS; i++) {
      will(items[i], "value");
      items[i]->value = depth;
    }
}

static void end_in_order(bool oldest_first) {
  begin_all();
  for (int depth = NESTED; depth-- > 0;)
    for (int i = 0; i < ITEMS; i++) {
      int one = oldest_first ? i : i * 5 % ITEMS;
      did(items[one], "value");
      CHECK_EQ(of_items[one].calls, NESTED - depth);
      CHECK_EQ(of_items[one].old_value.integer, depth);
    }
  for (int i = 0; i < ITEMS; i++) {
    CHECK_STATUS(kvo_did_change(as_object(items[i]), "value"), KVO_ERROR_UNBALANCED);
    CHECK_OK(kvo_remove_observer(of_items[i].id));
    item_destroy(items[i]);
    of_items[i] = (watcher){0};
  }
}

TEST("of many open pairs each did ends the innermost of its object and key, in whatever order they end") {
  end_in_order(true);
  end_in_order(false);
}

static void *begin_all_and_let_another_end(void *arg) {
  pthread_t thread;
  begin_all();
  CHECK(pthread_create(&thread, NULL, end_elsewhere, items[ITEMS / 2]) == 0);
  CHECK(pthread_join(thread, NULL) == 0);
  CHECK_EQ(faults.code, KVO_FAULT_CROSSED_THREADS);
  item_set_value(items[ITEMS / 3], 9);
  CHECK_EQ(faults.code, KVO_FAULT_DOUBLE_NOTIFICATION);
  item_destroy(items[0]);
  CHECK_EQ(faults.code, KVO_FAULT_DEALLOCATED_WHILE_OBSERVED);
  CHECK_EQ(faults.count, 1 + 1 + NESTED + 1);
  faults.count = 0;
  return arg;
}

TEST_REPORTED(
    "among many open pairs another thread's did, a setter, an object's death and the end of the thread each find the right one") {
  ignore_faults();
  pthread_t thread;
  CHECK(pthread_create(&thread, NULL, begin_all_and_let_another_end, NULL) == 0);
  CHECK(pthread_join(thread, NULL) == 0);
  CHECK_EQ(faults.count, (ITEMS - 1) * NESTED - 1); /* the did of another thread was reported already */
  CHECK_EQ(faults.code, KVO_FAULT_UNFINISHED_CHANGE);
  for (int i = 1; i < ITEMS; i++) {
    CHECK_OK(kvo_remove_observer(of_items[i].id));
    CHECK_EQ(of_items[i].destroyed, 1);
    item_destroy(items[i]);
  }
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

TEST_REPORTED("KVO0033 shows both halves of a change, the first eight indexes of each, and how many more") {
  ignore_faults();
  item *object = item_make(1);
  watcher seen = {0};
  watch(object, "value", KVO_NEW, &seen);
  size_t many[] = {0, 1, 2, 3, 4, 5, 6, 7, 8, 9}, eight[] = {1, 2, 3, 4, 5, 6, 7, 8};
  CHECK_OK(kvo_will_change_indexes(as_object(object), KVO_CHANGE_REMOVAL, "value", many, 10));
  CHECK_OK(kvo_did_change_indexes(as_object(object), KVO_CHANGE_REPLACEMENT, "value", eight, 8));
  CHECK_EQ((int)faults.code, KVO_FAULT_BAD_INDEXES);
  CHECK_CONTAINS(faults.summary, " announced a removal at 0, 1, 2, 3, 4, 5, 6, 7 and 2 more, and didChange a "
                                 "replacement at 1, 2, 3, 4, 5, 6, 7, 8: ");
  CHECK_OK(kvo_will_change_indexes(as_object(object), KVO_CHANGE_INSERTION, "value", NULL, 0));
  CHECK_OK(kvo_did_change(as_object(object), "value"));
  CHECK_EQ(faults.count, 1);
  CHECK_OK(kvo_will_change_indexes(as_object(object), KVO_CHANGE_INSERTION, "value", NULL, 0));
  CHECK_OK(kvo_did_change_indexes(as_object(object), KVO_CHANGE_INSERTION, "value", many, 1));
  CHECK_CONTAINS(faults.summary, " announced an insertion at no index, and didChange an insertion at 0: ");
  CHECK_OK(kvo_remove_observer(seen.id));
  item_destroy(object);
}

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

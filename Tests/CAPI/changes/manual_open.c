/* manual_open.c - changes announced by hand that stay open or are ended elsewhere: each did finds its own will, and what
 * is left is reported. */
#include "fixture.h"

#include <pthread.h>

static void will(item *object, const char *key) { CHECK_OK(kvo_will_change(as_object(object), key)); }
static void did(item *object, const char *key) { CHECK_OK(kvo_did_change(as_object(object), key)); }

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

TEST_REPORTED(
    "of any number of unobserved wills that are open each is ended by its did, and one more did is reported") {
  enum { OPEN = 200 };
  ignore_faults();
  item *objects[OPEN];
  watcher w[OPEN] = {{0}};
  for (int i = 0; i < OPEN; i++) {
    objects[i] = item_make(0);
    will(objects[i], "value");
  }
  for (int i = 0; i < OPEN; i++) watch(objects[i], "value", KVO_NONE, &w[i]);
  for (int i = OPEN / 2; i < OPEN; i++) did(objects[i], "value");
  for (int i = 0; i < OPEN / 2; i++) did(objects[i], "value");
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

/* -------------------------------------------------------------------------------------------------------------- Many -- */

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

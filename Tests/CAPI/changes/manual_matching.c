/* manual_matching.c - which will a did ends: not one whose observers are still being told, nor that of an earlier object at the address;
 * and what a refused will leaves. */
#include "fixture.h"
#include "shared.h"

#include <pthread.h>
#include <string.h>

static void will(item *object, const char *key) { CHECK_OK(kvo_will_change(as_object(object), key)); }
static void did(item *object, const char *key) { CHECK_OK(kvo_did_change(as_object(object), key)); }

/* ------------------------------------------------------------------------------------------------------- Indexes -- */

TEST("a change announced by hand may have a thousand indexes") {
  enum { MANY = 1000 };
  item *object = item_make(1);
  watcher w = {0};
  static size_t indexes[MANY];
  for (size_t i = 0; i < MANY; i++) indexes[i] = 2 * i;
  watch(object, "value", KVO_NONE, &w);
  static size_t given[MANY];
  memcpy(given, indexes, sizeof given);
  CHECK_OK(kvo_will_change_indexes(as_object(object), KVO_CHANGE_REMOVAL, "value", given, MANY));
  memset(given, 0, sizeof given);
  CHECK_OK(kvo_did_change_indexes(as_object(object), KVO_CHANGE_REMOVAL, "value", indexes, MANY));
  CHECK_EQ(w.calls, 1);
  CHECK_EQ(w.index_count, MANY);
  CHECK_EQ(w.indexes[7], 14);
  CHECK_OK(kvo_remove_observer(w.id));
  item_destroy(object);
}

TEST_REPORTED(
    "a did after a will that was refused, for its indexes or for its kind, is no misuse, and notifies nobody") {
  ignore_faults();
  item *object = item_make(1);
  watcher w = {0};
  size_t falling[] = {2, 1};
  watch(object, "value", KVO_NONE, &w);
  CHECK_STATUS(kvo_will_change_indexes(as_object(object), KVO_CHANGE_REMOVAL, "value", falling, 2),
               KVO_ERROR_INVALID_ARGUMENT);
  did(object, "value");
  CHECK_STATUS(kvo_will_change_indexes(as_object(object), KVO_CHANGE_SETTING, "value", falling, 2),
               KVO_ERROR_INVALID_ARGUMENT);
  did(object, "value");
  CHECK_EQ(faults.count, 2); /* those of the wills */
  CHECK_STATUS(kvo_did_change(as_object(object), "value"), KVO_ERROR_UNBALANCED);
  CHECK_EQ((int)faults.code, KVO_FAULT_DID_WITHOUT_WILL);
  CHECK_EQ(w.calls, 0);
  CHECK_OK(kvo_remove_observer(w.id));
  item_destroy(object);
}

TEST_REPORTED(
    "a did that names another kind, none, or as many other indexes, is reported, and one that names the same is not") {
  ignore_faults();
  item *object = item_make(1);
  watcher w = {0};
  size_t one = 1, two[] = {1, 4}, others[] = {1, 5};
  watch(object, "value", KVO_NONE, &w);
  CHECK_OK(kvo_will_change_indexes(as_object(object), KVO_CHANGE_REMOVAL, "value", &one, 1));
  CHECK_OK(kvo_did_change_indexes(as_object(object), KVO_CHANGE_REPLACEMENT, "value", &one, 1));
  CHECK_EQ(faults.count, 1);
  CHECK_EQ((int)faults.code, KVO_FAULT_BAD_INDEXES);
  CHECK_CONTAINS(faults.summary, " announced a removal at 1, and didChange a replacement at 1: ");
  CHECK_OK(kvo_will_change_indexes(as_object(object), KVO_CHANGE_REMOVAL, "value", two, 2));
  CHECK_OK(kvo_did_change_indexes(as_object(object), KVO_CHANGE_REMOVAL, "value", others, 2));
  CHECK_EQ(faults.count, 2);
  CHECK_CONTAINS(faults.summary, " announced a removal at 1, 4, and didChange a removal at 1, 5: ");
  CHECK_OK(kvo_will_change_indexes(as_object(object), KVO_CHANGE_REMOVAL, "value", two, 2));
  CHECK_OK(kvo_did_change_indexes(as_object(object), KVO_CHANGE_REMOVAL, "value", two, 2));
  CHECK_EQ(faults.count, 2);
  CHECK_OK(kvo_will_change_indexes(as_object(object), KVO_CHANGE_REMOVAL, "value", &one, 1));
  did(object, "value");
  CHECK_EQ(faults.count, 3);
  CHECK_CONTAINS(faults.summary, " announced a removal at 1, and didChange a setting: ");
  will(object, "value");
  CHECK_OK(kvo_did_change_indexes(as_object(object), KVO_CHANGE_REMOVAL, "value", &one, 1));
  CHECK_EQ(faults.count, 4);
  CHECK_CONTAINS(faults.summary, " announced a setting, and didChange a removal at 1: ");
  CHECK_EQ(w.calls, 5);
  CHECK_OK(kvo_remove_observer(w.id));
  item_destroy(object);
}

/* ---------------------------------------------------------------------------------------------- While it is told -- */

static kvo_status status_of_did;

static void end_too_early(watcher *self, const kvo_change *change) {
  (void)self;
  if (change->is_prior) status_of_did = kvo_did_change(change->object, "value");
}

TEST("a did in a callback before the announced change does not end it: its will has not returned") {
  ignore_faults();
  item *object = item_make(1);
  watcher w = {.then = end_too_early};
  watch(object, "value", KVO_PRIOR, &w);
  will(object, "value");
  CHECK_STATUS(status_of_did, KVO_ERROR_UNBALANCED);
  CHECK_EQ(w.calls, 0);
  did(object, "value");
  CHECK_EQ(w.calls, 1);
  CHECK_OK(kvo_remove_observer(w.id));
  item_destroy(object);
}

static void finish_before(watcher *self, const kvo_change *change) {
  (void)self;
  if (!change->is_prior) return;
  kvo_object_finish(change->object);
  CHECK_EQ(faults.count, 1);
  CHECK_EQ((int)faults.code, KVO_FAULT_INVALID_ARGUMENT);
}

static void announce(void *object) { will(object, "value"); }

TEST_REPORTED(
    "a will whose object is finished in a callback before the change, which is reported, ends with its thread") {
  ignore_faults();
  static item memory;
  static watcher w = {.then = finish_before};
  CHECK_OK(kvo_object_init(as_object(&memory), item_class()));
  watch(&memory, "value", KVO_PRIOR | KVO_ENDS_WITH_OBJECT, &w);
  join_thread(start_thread(announce, &memory));
  CHECK_EQ(faults.count, 2);
  CHECK_EQ((int)faults.code, KVO_FAULT_UNFINISHED_CHANGE);
  CHECK_EQ(w.priors, 1);
  CHECK_EQ(w.calls, 0);
  CHECK_EQ(w.destroyed, 1);
}

/* ------------------------------------------------------------------------------------------------- Other objects -- */

static item reused;
static _Atomic int announced, replaced;

static void announce_for_the_first(void *arg) {
  (void)arg;
  will(&reused, "value");
  atomic_store(&announced, 1);
  await(&replaced);
  CHECK_STATUS(kvo_did_change(as_object(&reused), "value"), KVO_ERROR_UNBALANCED);
}

TEST("a did does not end the will of an object that another thread has finished since, with a new one at its address") {
  ignore_faults();
  static watcher first, second;
  CHECK_OK(kvo_object_init(as_object(&reused), item_class()));
  watch(&reused, "value", KVO_ENDS_WITH_OBJECT, &first);
  running *thread = start_thread(announce_for_the_first, NULL);
  await(&announced);
  kvo_object_finish(as_object(&reused));
  CHECK_OK(kvo_object_init(as_object(&reused), item_class()));
  watch(&reused, "value", KVO_NONE, &second);
  atomic_store(&replaced, 1);
  join_thread(thread);
  CHECK_EQ(first.calls + second.calls, 0);
  CHECK_EQ(first.destroyed, 1); /* with the thread, which left the will open */
  CHECK_OK(kvo_remove_observer(second.id));
  kvo_object_finish(as_object(&reused));
}

/* ---------------------------------------------------------------------------------------------- Unobserved wills -- */

TEST_REPORTED("of 60 unobserved wills each is ended by its own did, also if the newest ends first") {
  enum { OPEN = 60 };
  ignore_faults();
  item *objects[OPEN];
  watcher w[OPEN] = {{0}};
  for (int i = 0; i < OPEN; i++) {
    objects[i] = item_make(0);
    will(objects[i], "value");
  }
  for (int i = 0; i < OPEN; i++) watch(objects[i], "value", KVO_NONE, &w[i]);
  for (int i = OPEN; i-- > 0;) did(objects[i], "value");
  CHECK_EQ(faults.count, 0);
  for (int i = 0; i < OPEN; i++) {
    CHECK_STATUS(kvo_did_change(as_object(objects[i]), "value"), KVO_ERROR_UNBALANCED);
    CHECK_EQ(w[i].calls, 0);
    CHECK_OK(kvo_remove_observer(w[i].id));
    item_destroy(objects[i]);
  }
}

static item *late;
static pthread_key_t late_key;
static kvo_status late_status;

/* After the runtime has forgotten the thread. */
static void end_late(void *observer) {
  watch(late, "value", KVO_NONE, observer);
  late_status = kvo_did_change(as_object(late), "value");
}

static void announce_and_leave(void *observer) {
  will(late, "value");
  CHECK(pthread_setspecific(late_key, observer) == 0);
}

TEST_REPORTED("the did of an unobserved will is no misuse in a destructor of the thread either") {
  if (harness_is_instrumented()) return; /* ThreadSanitizer may have ended by then */
  ignore_faults();
  static watcher w, other;
  late = item_make(1);
  watch(late, "other", KVO_NONE, &other);
  /* After the runtime's key, so that it runs after that in each round. */
  CHECK(pthread_key_create(&late_key, end_late) == 0);
  late_status = KVO_ERROR_BUSY;
  join_thread(start_thread(announce_and_leave, &w));
  CHECK_OK(late_status);
  CHECK_EQ(faults.count, 0);
  CHECK_EQ(w.calls, 0);
  CHECK_OK(kvo_remove_observer(w.id));
  CHECK_OK(kvo_remove_observer(other.id));
  item_destroy(late);
}

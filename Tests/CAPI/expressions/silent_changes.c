/* silent_changes.c - KVO0032 is raised if it is certain that an object on a path was replaced without notification,
 * and never if another thread may be about to notify. */
#include "counted.h"
#include "shared.h"

static _Atomic int silent_changes, other_faults;

static kvo_action count_fault(const kvo_fault *fault, void *arg) {
  if (fault->code == KVO_FAULT_SILENT_CHANGE)
    silent_changes++;
  else
    other_faults++;
  return KVO_ACTION_IGNORE;
}

/* A root, and a path of this many objects after it. */
static counted *root;
static counted_watcher watcher;

static counted *make_path(int depth) {
  counted *first = counted_make(depth);
  if (depth > 0) counted_set_next(first, make_path(depth - 1));
  return first;
}

static void begin(int depth, int options) {
  kvo_set_fault_handler(count_fault, NULL);
  root = make_path(depth);
  counted_watch(&watcher, root, depth, options);
}

static void finish(void) {
  CHECK_OK(kvo_cancel_observer_and_wait(watcher.id));
  CHECK_EQ((int)watcher.destroyed, 1);
  counted_release(root);
  CHECK_EQ((int)other_faults, 0);
}

/* ----------------------------------------------------------------------------------------------------- Certain -- */

TEST("an object that was replaced without notification is reported at the next change of the path") {
  begin(3, KVO_OLD);
  counted *first = counted_next(root), *second = counted_next(first), *kept = counted_next(second);
  counted_store_next(root, make_path(2));
  counted_set_next(second, make_path(0));
  CHECK_EQ((int)silent_changes, 1);
  counted_set_next(root, make_path(2));
  CHECK_EQ((int)silent_changes, 1); /* the reported change has updated the subscriptions */
  counted *all[] = {kept, second, first};
  for (int i = 0; i < 3; i++) counted_release(all[i]);
  finish();
}

TEST("KVO0032 is not raised for a change announced by hand before anybody observed, and not ended yet") {
  kvo_set_fault_handler(count_fault, NULL);
  root = make_path(1);
  counted *before = counted_next(root);
  CHECK_OK(kvo_will_change(counted_object(root), "next"));
  counted_watch(&watcher, root, 1, KVO_OLD);
  counted_store_next(root, make_path(0));
  counted_set_count(before, 1);
  counted_set_next(root, make_path(0));
  CHECK_EQ((int)silent_changes, 0);
  CHECK_OK(kvo_did_change(counted_object(root), "next"));
  counted_release(before);
  finish();
}

static void replace_elsewhere(void *arg) { counted_set_next(root, make_path(1)); }

TEST("KVO0032 is not raised once another thread has changed the path, because that thread may be storing") {
  begin(2, KVO_OLD);
  join_thread(start_thread(replace_elsewhere, NULL));
  counted *kept = counted_next(root);
  counted_store_next(root, make_path(1));
  counted_set_next(root, make_path(1));
  CHECK_EQ((int)silent_changes, 0);
  counted_release(kept);
  finish();
}

static void replace_middle(counted *of) {
  if (of != root) return;
  counted_has_read = NULL;
  counted_store_next(root, make_path(1));
}

TEST("an object may die while a path is read through it before a change, and is not accessed any more") {
  begin(2, KVO_OLD);
  counted *middle = counted_next(root), *end = counted_next(middle);
  counted_store_next(middle, make_path(0));
  counted_release(middle);
  counted_has_read = replace_middle; /* only the evaluation keeps it alive now */
  counted_set_next(root, make_path(1));
  CHECK(watcher.calls >= 1);
  CHECK_EQ((int)silent_changes, 0);
  counted_release(end);
  finish();
}

/* ----------------------------------------------------------------------------------------------------- Threads -- */

static _Atomic int has_stored, has_read;

static void note_read(counted *of) {
  if (of == root) has_read = 1;
}

/* As a setter that was called when nobody observed the key: it has stored, and has yet to look for observers. */
static void store_and_look(void *arg) {
  counted_store_next(root, make_path(2));
  has_stored = 1;
  await(&has_read);
  kvo_object_stored(counted_object(root), "next");
}

TEST("KVO0032 is not raised for another thread's store that looks for observers a moment later") {
  begin(3, KVO_OLD);
  counted *first = counted_next(root), *second = counted_next(first), *kept = counted_next(second);
  running *storing = start_thread(store_and_look, NULL);
  await(&has_stored);
  counted_has_read = note_read;
  counted_set_next(second, make_path(0));
  join_thread(storing);
  counted_has_read = NULL;
  CHECK_EQ((int)silent_changes, 0);
  counted *all[] = {kept, second, first};
  for (int i = 0; i < 3; i++) counted_release(all[i]);
  finish();
}

static void replace_path(int number) {
  if (number > 2) return;
  for (int i = 0; i < rounds(20000); i++) {
    if (number == 0) {
      counted_set_next(root, make_path(1));
      continue;
    }
    counted *at = counted_next(root);
    if (number == 2 && at != NULL) {
      counted *end = counted_next(at);
      if (end != NULL) counted_set_count(end, i);
      counted_release(end);
    }
    if (at != NULL) counted_set_next(at, i % 7 == 0 ? NULL : counted_make(i));
    counted_release(at);
  }
}

TEST(
    "threads that replace the objects of a path, with the old value wanted, are no misuse, and no freed memory is accessed") {
  begin(2, KVO_OLD | KVO_NEW);
  on_threads(replace_path);
  CHECK_EQ((int)silent_changes, 0);
  CHECK(watcher.calls > 0);
  finish();
}

static void replace_both(int number) {
  if (number > 1) return;
  for (int i = 0; i < rounds(200); i++) counted_set_next(root, make_path(1));
}

TEST("the same holds for a path that is registered again, and whose other objects are observed too") {
  for (int round = 0; round < rounds(300); round++) {
    begin(1, KVO_OLD);
    counted_watcher more;
    counted *at = counted_next(root);
    counted_watch(&more, at, 1, KVO_OLD | KVO_ENDS_WITH_OBJECT);
    counted_release(at);
    on_threads(replace_both);
    CHECK_EQ((int)silent_changes, 0);
    finish();
  }
}

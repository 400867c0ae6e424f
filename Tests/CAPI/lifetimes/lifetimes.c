/* lifetimes.c - when user data is destroyed, the death of an observed object, and ends that are misuse. */
#include "made.h"

#include <string.h>

static const char *const paths[] = {"value", "next.value", "doubled"};
enum { PATHS = 3 };

/* --------------------------------------------------------------------------------------------------- User data -- */

TEST("destroy runs once, in the removal, when no callback runs") {
  item *object = item_make(0);
  watcher w = {0};
  watch(object, "value", KVO_NONE, &w);
  item_set_value(object, 1);
  CHECK_EQ(w.destroyed, 0);
  CHECK_OK(kvo_remove_observer(w.id));
  CHECK_EQ(w.destroyed, 1);
  item_destroy(object);
  CHECK_EQ(w.destroyed, 1);
}

static void remove_and_look(watcher *self, const kvo_change *change) {
  CHECK_OK(kvo_remove_observer(self->id));
  CHECK_EQ(self->destroyed, 0);
}

TEST("destroy runs after the callback that removed its own observation has returned") {
  for (int i = 0; i < PATHS; i++) {
    item *object = item_make(0);
    object->next = object;
    watcher w = {.then = remove_and_look};
    watch(object, paths[i], KVO_NEW | KVO_OLD, &w);
    for (int value = 1; value <= 2; value++) item_set_value(object, value);
    CHECK_EQ(w.calls, 1);
    CHECK_EQ(w.destroyed, 1);
    CHECK(!w.destroyed_in_callback);
    item_destroy(object);
  }
}

TEST("user data is not destroyed when the registration fails") {
  ignore_faults();
  item *object = item_make(0);
  watcher w = {0};
  kvo_observer malformed = watcher_observer("next..value", KVO_NONE, &w),
               undefined = watcher_observer("imaginary.value", KVO_NONE, &w);
  CHECK_STATUS(kvo_add_observer(as_object(object), &malformed, NULL), KVO_ERROR_MALFORMED_KEY_PATH);
  CHECK_STATUS(kvo_add_observer(as_object(object), &undefined, NULL), KVO_ERROR_UNDEFINED_KEY);
  CHECK_EQ(w.destroyed, 0);
  CHECK_EQ(w.calls, 0);
  item_destroy(object);
}

/* ------------------------------------------------------------------------------------------ The object's death -- */

TEST("the death of an object ends its observations, without a fault if they may end with it, and destroys user data") {
  ignore_faults();
  for (int may_end = 0; may_end < 2; may_end++) {
    item *object = item_make(0);
    watcher direct = {0}, path = {0};
    watch(object, "value", may_end ? KVO_ENDS_WITH_OBJECT : KVO_NONE, &direct);
    watch(object, "next.value", may_end ? KVO_ENDS_WITH_OBJECT : KVO_NONE, &path);
    faults.count = 0;
    item_destroy(object);
    CHECK_EQ(faults.count, !may_end && HAS_REPORTS);
    if (faults.count > 0) {
      CHECK_EQ((int)faults.code, KVO_FAULT_DEALLOCATED_WHILE_OBSERVED);
      CHECK_EQ(faults.observation_count, 2);
    }
    CHECK_EQ(direct.destroyed, 1);
    CHECK_EQ(path.destroyed, 1);
    CHECK_EQ(direct.calls + path.calls, 0);
    CHECK_STATUS(kvo_cancel_observer(direct.id), KVO_ERROR_NOT_REGISTERED);
    CHECK_STATUS(kvo_cancel_observer(path.id), KVO_ERROR_NOT_REGISTERED);
  }
}

static void destroy_object(watcher *self, const kvo_change *change) {
  if (change->is_prior) return;
  item_destroy(self->then_arg);
  CHECK_EQ(self->destroyed, 0);
}

TEST("an observed object may be destroyed in a callback of its own change: the remaining observers are not notified") {
  for (int i = 0; i < PATHS; i++) {
    item *object = item_make(0), *next = item_make(0);
    object->next = next;
    watcher before = {0}, w = {.then = destroy_object, .then_arg = object}, after = {0};
    watch(object, paths[i], KVO_ENDS_WITH_OBJECT | KVO_NEW | KVO_OLD, &before);
    watch(object, paths[i], KVO_ENDS_WITH_OBJECT | KVO_NEW | KVO_OLD | KVO_PRIOR, &w);
    watch(object, paths[i], KVO_ENDS_WITH_OBJECT | KVO_NEW | KVO_OLD, &after);
    item_set_value(strcmp(paths[i], "next.value") == 0 ? next : object, 1);
    CHECK_EQ(after.calls, 1);
    CHECK_EQ(w.calls, 1);
    CHECK_EQ(before.calls, 0); /* otherwise it would get a dead object */
    CHECK_EQ(after.destroyed, 1);
    CHECK_EQ(w.destroyed, 1);
    CHECK(!w.destroyed_in_callback);
    CHECK_EQ(before.destroyed, 1);
    CHECK_STATUS(kvo_cancel_observer(before.id), KVO_ERROR_NOT_REGISTERED);
    item_destroy(next);
  }
}

/* ---------------------------------------------------------------------------------- Ends that are no good ends -- */

static void destroy_before(watcher *self, const kvo_change *change) {
  if (change->is_prior) kvo_object_destroy(self->then_arg);
}

TEST_REPORTED("an object destroyed in a callback before its change is reported, and is not destroyed") {
  ignore_faults();
  for (int i = 0; i < 2; i++) {
    item *object = item_make(0), *next = item_make(0), *changes = i == 0 ? object : next;
    object->next = next;
    watcher w = {.then = destroy_before, .then_arg = changes};
    watch(object, paths[i], KVO_PRIOR, &w);
    faults.count = 0;
    item_set_value(changes, 1);
    CHECK_FAULTS(1, KVO_FAULT_INVALID_ARGUMENT);
    CHECK_EQ(changes->value, 1); /* it is alive */
    CHECK_EQ(w.calls, 1);
    kvo_cancel_observer(w.id);
    item_destroy(object);
    item_destroy(next);
    CHECK_EQ(faults.count, 1);
  }
}

TEST_REPORTED(
    "a copy of an observed object is no object: its end is reported, and ends none of the original's observations") {
  item *object = item_make(0), copy;
  watcher w = {0};
  watch(object, "value", KVO_NONE, &w);
  memcpy(&copy, object, sizeof copy);
  ignore_faults();
  kvo_object_finish(as_object(&copy));
  CHECK_EQ(faults.code, KVO_FAULT_UNSUPPORTED_OBJECT);
  item_set_value(object, 1);
  CHECK_EQ(w.calls, 1);
  kvo_cancel_observer(w.id);
  item_destroy(object);
}

static void destroy_itself(kvo_object *object) { kvo_object_destroy(object); }

TEST_REPORTED(
    "an object whose finalize destroys it is reported; one that is finished twice is ignored, and then is none") {
  kvo_class *cls = register_class((kvo_class_spec){.name = "Odd", .finalize = destroy_itself});
  kvo_object *object = object_of(cls), own;
  ignore_faults();
  kvo_object_destroy(object);
  CHECK_EQ(faults.count, 1);
  CHECK_CONTAINS(faults.summary, "it is being destroyed already");
  CHECK_OK(kvo_object_init(&own, cls));
  kvo_object_finish(&own);
  kvo_object_finish(&own); /* the header is zero: nothing to finish */
  CHECK_EQ(faults.count, 1);
  KVO_SET(&own, "value", int, 3);
  CHECK_CONTAINS(faults.summary, "KVO0012 fatal: KVO_SET of 0x");
  CHECK_EQ(faults.count, 2);
}

TEST_REPORTED("an object that is destroyed twice is reported, unless its memory is another object by then") {
  if (harness_is_instrumented()) return; /* they report the read */
  ignore_faults();
  for (int observed = 0; observed < 2; observed++) {
    item *object = item_make(0), *keep = item_make(1);
    watcher w = {0};
    if (observed != 0) {
      watch(object, "value", KVO_NONE, &w);
      kvo_cancel_observer(w.id);
    }
    item *volatile hidden = object;
    faults.count = 0;
    kvo_object_destroy(as_object(object));
    kvo_object_destroy(as_object(hidden));
    CHECK_FAULTS(1, KVO_FAULT_UNSUPPORTED_OBJECT);
    item_destroy(keep);
  }
}

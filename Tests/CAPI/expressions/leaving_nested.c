/* leaving_nested.c - longjmp out of callbacks inside of others: what is reported, and what goes on. */
#include "below.h"
#include "shared.h"

#include <setjmp.h>
#include <stdio.h>
#include <string.h>

/* Memory used by calls that a jump crosses is never freed: disable LeakSanitizer. */
const char *__asan_default_options(void);
const char *__asan_default_options(void) { return "detect_leaks=0:detect_stack_use_after_return=0"; }

static jmp_buf out;
static item *objects[6];
static watcher outer, inner, after;

static void make_objects(void) {
  ignore_faults();
  for (int i = 0; i < 6; i++) objects[i] = item_make(0);
}

static void leave(watcher *self, const kvo_change *change) { longjmp(out, 1); }

static void catch_and_return(watcher *self, const kvo_change *change) {
  if (setjmp(out) == 0) set_below(objects[1], 1);
}

/* --------------------------------------------------------------------------------------------------- Callbacks -- */

TEST_REPORTED(
    "a callback that another one has caught is reported when that one returns, once, with what was left, and only it") {
  make_objects();
  outer.then = catch_and_return;
  inner.then = leave;
  watch(objects[0], "value", KVO_NONE, &outer);
  watch(objects[1], "value", KVO_NONE, &after); /* after the one that is left, which is newer */
  watch(objects[1], "value", KVO_NONE, &inner);
  char name[64];
  snprintf(name, sizeof name, "\"value\" of Item@0x%llx (", (unsigned long long)(uintptr_t)objects[1]);
  for (int i = 1; i <= 3; i++) {
    set_below(objects[0], i);
    CHECK_FAULTS(i, KVO_FAULT_ABANDONED_DELIVERY);
    CHECK_CONTAINS(faults.summary, name);
    CHECK_SAME(strstr(faults.summary, "and with it that of"), NULL);
    CHECK_EQ(outer.calls, i);
  }
  CHECK_EQ(after.calls, 0);
  item_set_value(objects[2], 1);
  CHECK_EQ(faults.count, 3);
  CHECK_OK(kvo_cancel_observer_and_wait(inner.id)); /* it is over */
  CHECK_EQ(faults.count, 3);
}

/* ----------------------------------------------------------------------------------------- Deferred deliveries -- */

static watcher links[2], next_one;

/* The first one has the second one called; that one defers two deliveries, the first of which is left. */
static void set_next_objects(watcher *self, const kvo_change *change) {
  if (self == &links[0])
    set_below(objects[1], 1);
  else
    for (int i = 2; i < 4; i++) item_set_value(objects[i], 6);
}

static void leave_with_deferred(void *arg) {
  make_objects();
  for (int i = 0; i < 2; i++) {
    links[i].then = set_next_objects;
    watch(objects[i], "value", KVO_NONE, &links[i]);
  }
  outer.then = leave;
  watch(objects[2], "value", KVO_NONE, &outer);
  watch(objects[3], "value", KVO_NEW, &inner);
  watch(objects[3], "doubled", KVO_NEW, &after);
  if (setjmp(out) == 0) set_below(objects[0], 1);
  CHECK_EQ(outer.calls, 1);
  CHECK_EQ(inner.calls + after.calls, 0);
}

TEST("deliveries that were deferred behind one that was left are made at the next change") {
  harness_environment("KVO_MAX_DEPTH", "2");
  leave_with_deferred(NULL);
  watch(objects[4], "value", KVO_NONE, &next_one);
  item_set_value(objects[4], 7);
  CHECK_EQ(next_one.calls, 1);
  CHECK_NEW(inner, 1, 6);
  CHECK_NEW(after, 1, 12);
}

TEST("a thread that ends with deferred deliveries drops them, and leaves nothing of their observations") {
  harness_environment("KVO_MAX_DEPTH", "2");
  join_thread(start_thread(leave_with_deferred, NULL));
  item_set_value(objects[3], 3);
  CHECK_EQ(inner.calls, 1);
  CHECK_NEW(after, 1, 6);
  CHECK_OK(kvo_cancel_observer_and_wait(inner.id));
  CHECK_OK(kvo_cancel_observer_and_wait(after.id));
  CHECK_EQ(inner.destroyed, 1);
  CHECK_EQ(after.destroyed, 1);
  item_destroy(objects[3]);
}

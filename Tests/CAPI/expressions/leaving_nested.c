/* leaving_nested.c - longjmp out of callbacks, getters and changes inside of others, also where a limit defers deliveries: which one is
 * reported, and what goes on. */
#include "below.h"
#include "expression.h"
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

static void leave(watcher *self, const kvo_change *change) {
  (void)self, (void)change;
  longjmp(out, 1);
}

static void catch_and_return(watcher *self, const kvo_change *change) {
  (void)self, (void)change;
  if (setjmp(out) == 0) set_below(objects[1], 1);
}

/* ---------------------------------------------------------------------------------------------------------- Callbacks -- */

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
    CHECK_EQ(faults.count, i);
    CHECK_EQ((int)faults.code, KVO_FAULT_ABANDONED_DELIVERY);
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

static int faults_seen;

static kvo_action jump_from_handler(const kvo_fault *fault, void *arg) {
  (void)arg;
  faults_seen++;
  if (fault->code == KVO_FAULT_NOT_REGISTERED) longjmp(out, 1);
  return KVO_ACTION_IGNORE;
}

static void cause_fault(watcher *self, const kvo_change *change) {
  (void)self, (void)change;
  kvo_remove_observer(UINT64_MAX);
}

TEST_REPORTED("a callback that a fault handler has left for another one is no fault when that one returns") {
  make_objects();
  outer.then = catch_and_return;
  inner.then = cause_fault;
  watch(objects[0], "value", KVO_NONE, &outer);
  watch(objects[1], "value", KVO_NONE, &inner);
  kvo_set_fault_handler(jump_from_handler, NULL);
  set_below(objects[0], 1);
  item_set_value(objects[2], 1);
  CHECK_EQ(faults_seen, 1);
  CHECK_EQ(inner.calls, 1);
}

TEST_REPORTED("callbacks that were left do not count as nested, however many they are") {
  harness_environment("KVO_MAX_DEPTH", "10");
  make_objects();
  inner.then = leave;
  watch(objects[1], "value", KVO_NONE, &inner);
  for (volatile int i = 1; i <= 40; i++) {
    if (setjmp(out) == 0) set_below(objects[1], i);
    CHECK_EQ(inner.calls, (int)i);
  }
  watch(objects[2], "value", KVO_NONE, &after);
  item_set_value(objects[2], 1);
  CHECK_EQ(after.calls, 1);
  CHECK_EQ(faults.count, 40);
  CHECK_EQ((int)faults.code, KVO_FAULT_ABANDONED_DELIVERY);
}

/* -------------------------------------------------------------------------------------------- Evaluations and changes -- */

static bool leaves;

static int read_and_leave(expression *self) {
  (void)self;
  int value = read_value(objects[1]);
  if (leaves) longjmp(out, 1);
  return value;
}

/* Catches what the evaluation of another expression has left, and goes on reading. */
static int catch_and_read(expression *self) {
  (void)self;
  read_value(objects[0]);
  if (leaves) {
    if (setjmp(out) == 0) set_below(objects[1], 1);
  }
  return read_value(objects[5]);
}

TEST("an evaluation that catches what another one has left in it goes on recording") {
  make_objects();
  static expression catching = {.body = catch_and_read}, left = {.body = read_and_leave};
  catching.root = as_object(objects[0]);
  left.root = as_object(objects[1]);
  expression_begin(&catching, KVO_NEW);
  expression_begin(&left, KVO_NEW);
  leaves = true;
  item_set_value(objects[0], 1);
  leaves = false;
  CHECK_EQ(catching.notified, 1);
  CHECK_EQ(left.notified, 0);
  CHECK_EQ((int)kvo_tracking_count, 0);
  item_set_value(objects[5], 1);
  CHECK_EQ(catching.notified, 2);
}

__attribute__((noinline)) static void begin_and_leave(void) {
  kvo_frame frame;
  CHECK(kvo_frame_enter(&frame, as_object(objects[0]), key_of("value")) != 0);
  longjmp(out, 1);
}

TEST("a binding's change that was left before its end is over at the next change, also if a path was read before it") {
  make_objects();
  objects[1]->next = objects[2];
  watch(objects[0], "value", KVO_NONE, &after);
  for (volatile int i = 0; i < 5; i++) {
    item_set_value(objects[0], 2);
    watch(objects[1], "next.value", KVO_NONE, &inner);
    if (setjmp(out) == 0) call_below(begin_and_leave);
    CHECK_EQ(after.calls, 2 * i + 1);
    item_set_value(objects[0], 3);
    CHECK_EQ(after.calls, 2 * i + 2);
    CHECK_OK(kvo_remove_observer(inner.id));
  }
  CHECK_OK(kvo_remove_observer(after.id));
  CHECK_EQ(after.destroyed, 1);
  CHECK_EQ(inner.destroyed, 5);
  CHECK_EQ(inner.calls, 0);
}

/* ----------------------------------------------------------------------------------------------- Deferred deliveries -- */

static watcher links[2];

static void set_next_object(watcher *self, const kvo_change *change) {
  (void)change;
  set_below(objects[self - links + 1], 1);
}

static void set_and_leave(watcher *self, const kvo_change *change) {
  item_set_value(objects[3], 6);
  leave(self, change);
}

/* A chain of three callbacks, the last of which sets where no further delivery may begin, and leaves all. */
static void leave_with_deferred(void *arg) {
  (void)arg;
  make_objects();
  for (int i = 0; i < 2; i++) {
    links[i].then = set_next_object;
    watch(objects[i], "value", KVO_NONE, &links[i]);
  }
  outer.then = set_and_leave;
  watch(objects[2], "value", KVO_NONE, &outer);
  watch(objects[3], "value", KVO_NEW, &inner);
  watch(objects[3], "doubled", KVO_NEW, &after);
  if (setjmp(out) == 0) set_below(objects[0], 1);
  CHECK_EQ(inner.calls + after.calls, 0);
}

TEST("deliveries that a callback has deferred which was then left are made at the next change") {
  harness_environment("KVO_MAX_DEPTH", "3");
  leave_with_deferred(NULL);
  watcher next = {0};
  watch(objects[4], "value", KVO_NONE, &next);
  item_set_value(objects[4], 7);
  CHECK_EQ(next.calls, 1);
  CHECK_EQ(inner.calls, 1);
  CHECK_EQ(inner.new_value.integer, 6);
  CHECK_EQ(after.calls, 1);
  CHECK_EQ(after.new_value.integer, 12);
}

TEST("a thread that ends with deferred deliveries drops them, and leaves nothing of their observations") {
  harness_environment("KVO_MAX_DEPTH", "3");
  join_thread(start_thread(leave_with_deferred, NULL));
  item_set_value(objects[3], 3);
  CHECK_EQ(inner.calls, 1);
  CHECK_EQ(after.calls, 1);
  CHECK_EQ(after.new_value.integer, 6);
  CHECK_OK(kvo_cancel_observer_and_wait(inner.id));
  CHECK_OK(kvo_cancel_observer_and_wait(after.id));
  CHECK_EQ(inner.destroyed, 1);
  CHECK_EQ(after.destroyed, 1);
  item_destroy(objects[3]);
}

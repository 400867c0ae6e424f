/* leaving_nested.c - longjmp out of callbacks and getters inside others: which one is reported, what is let go, and what goes on. */
#include "below.h"

#include <kvo/kvo_binding.h>
#include <linux/membarrier.h>
#include <setjmp.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

/* Memory used by calls that a jump crosses is never freed: disable LeakSanitizer. */
const char *__asan_default_options(void);
const char *__asan_default_options(void) { return "detect_leaks=0:detect_stack_use_after_return=0"; }

static jmp_buf out;
/* A chain of objects, each observed by an observer that sets the next one. */
enum { LENGTH = 6 };
static item *objects[LENGTH];
static watcher links[LENGTH];

static void make_objects(void) {
  ignore_faults();
  for (int i = 0; i < LENGTH; i++) objects[i] = item_make(0);
}

static void leave(watcher *self, const kvo_change *change) {
  (void)self, (void)change;
  longjmp(out, 1);
}

static void leave_once(watcher *self, const kvo_change *change) {
  self->then = NULL;
  leave(self, change);
}

static void set_next_object(watcher *self, const kvo_change *change) {
  (void)change;
  set_below(objects[self - links + 1], 1);
}

static void link_objects(int count) {
  for (int i = 0; i < count; i++) {
    links[i] = (watcher){.then = set_next_object};
    watch(objects[i], "value", KVO_NONE, &links[i]);
  }
}

static void check_named(const item *object) {
  char name[64];
  snprintf(name, sizeof name, "\"value\" of Item@0x%llx (", (unsigned long long)(uintptr_t)object);
  CHECK_EQ((int)faults.code, KVO_FAULT_ABANDONED_DELIVERY);
  CHECK_CONTAINS(faults.summary, name);
}

/* ------------------------------------------------------------------------------------------------------ Expressions -- */

/* An expression whose values are counted. */
typedef struct expression {
  void (*body)(void);
  kvo_observation id;
  int told, made, released;
} expression;

static void *evaluate(void *user_data) {
  expression *self = user_data;
  self->body();
  self->made++;
  return calloc(1, 1);
}

static void note(const kvo_raw_change *change, void *user_data) {
  (void)change;
  ((expression *)user_data)->told++;
}

static void release(void *value, void *user_data) {
  ((expression *)user_data)->released++;
  free(value);
}

static void begin(expression *self, item *root, int options) {
  static const kvo_observer_ops ops = {.callback = note, .evaluate = evaluate, .release = release};
  kvo_binding_observer described = {
      .key_path = "expression", .options = (kvo_options)options, .ops = &ops, .user_data = self, KVO_HERE};
  CHECK_OK(kvo_binding_observe_tracked(as_object(root), &described, false, &self->id));
}

static void read_key(item *of, const char *key) { kvo_track_read(as_object(of), kvo_key_hash(key, strlen(key))); }

static bool leaves, catches;

static void read_and_leave(void) {
  read_key(objects[1], "value");
  if (leaves) longjmp(out, 1);
}

/* ------------------------------------------------------------------------------------------------- What is reported -- */

static watcher inner, after;
static int faults_before;

static void catch_from_inner(watcher *self, const kvo_change *change) {
  (void)self, (void)change;
  if (setjmp(out) == 0) set_below(objects[1], 1);
  item_set_value(objects[2], 1);
  CHECK_EQ(faults.count, 1);
  CHECK_EQ(after.calls, 1);
}

TEST_REPORTED("a callback that another one has called and caught is the one that is reported") {
  make_objects();
  watcher outer = {.then = catch_from_inner};
  inner = (watcher){.then = leave};
  watch(objects[0], "value", KVO_NONE, &outer);
  watch(objects[1], "value", KVO_NONE, &inner);
  watch(objects[2], "value", KVO_NONE, &after);
  item_set_value(objects[0], 1);
  check_named(objects[1]);
  item_set_value(objects[2], 2);
  CHECK_EQ(faults.count, 1);
  CHECK_EQ(after.calls, 2);
}

static void catch_and_return(watcher *self, const kvo_change *change) {
  (void)self, (void)change;
  if (setjmp(out) == 0) set_below(objects[1], 1);
}

TEST(
    "a callback that another one has caught before it returned is over then: nobody waits for it, and no later change finds it") {
  make_objects();
  watcher outer = {.then = catch_and_return};
  inner = (watcher){.then = leave_once};
  watch(objects[0], "value", KVO_NONE, &outer);
  watch(objects[1], "value", KVO_NONE, &inner);
  watch(objects[2], "value", KVO_NONE, &after);
  set_below(objects[0], 1);
  faults_before = faults.count;
  CHECK_OK(kvo_cancel_observer_and_wait(inner.id));
  item_set_value(objects[2], 1);
  CHECK_EQ(after.calls, 1);
  CHECK_EQ(faults.count, faults_before);
}

TEST_REPORTED("a getter that was left is reported as a getter, whatever was delivered before") {
  make_objects();
  link_objects(3);
  item_set_value(objects[0], 1); /* three deliveries, one in the other */
  for (int i = 0; i < 3; i++) CHECK_OK(kvo_remove_observer(links[i].id));
  static expression left = {.body = read_and_leave};
  begin(&left, objects[1], KVO_NEW);
  watch(objects[3], "value", KVO_NONE, &after);
  leaves = true;
  if (setjmp(out) == 0) set_below(objects[1], 2);
  leaves = false;
  item_set_value(objects[3], 1);
  CHECK_EQ(after.calls, 1);
  CHECK_EQ(faults.count, 1);
  CHECK_EQ((int)faults.code, KVO_FAULT_ABANDONED_DELIVERY);
  CHECK_CONTAINS(faults.summary, "a getter that was called for observers was left");
}

/* --------------------------------------------------------------------------------------------------- What is let go -- */

static void remove_and_leave(watcher *self, const kvo_change *change) {
  (void)change;
  CHECK_OK(kvo_remove_observer(self->id));
  longjmp(out, 1);
}

static bool can_let_go(void) {
  long supported = syscall(SYS_membarrier, MEMBARRIER_CMD_QUERY, 0, 0);
  return !harness_is_emulated() && supported > 0 && (supported & MEMBARRIER_CMD_PRIVATE_EXPEDITED) != 0;
}

TEST_REPORTED("an observer that removes itself and leaves its callback is reported, and then destroyed") {
  if (!can_let_go()) harness_skip("changes are counted, and one that was left stays counted");
  for (volatile int nested = 0; nested < 2; nested++) {
    static watcher removed;
    make_objects();
    faults.count = 0;
    after = (watcher){0};
    watch(objects[4], "value", KVO_NONE, &after);
    item_set_value(objects[4], 1); /* the first change of a thread is a counted one */
    removed = (watcher){.then = remove_and_leave};
    if (nested) link_objects(2); /* both are reported; the innermost has removed itself */
    watch(objects[nested ? 2 : 0], "value", KVO_NONE, &removed);
    if (setjmp(out) == 0) set_below(objects[0], 1);
    item_set_value(objects[4], 2);
    CHECK_EQ(after.calls, 2);
    CHECK_EQ(faults.count, 1);
    check_named(objects[0]);
    CHECK_EQ(faults.observation_count, nested ? 2 : 1);
    CHECK_EQ(faults.first.observation, removed.id);
    CHECK_EQ(removed.calls, 1);
    CHECK_EQ(removed.destroyed, 1);
  }
}

static void read_value(void) { read_key(objects[0], "value"); }

TEST("the old value of a change that a callback has left is released when the next one is told") {
  make_objects();
  static expression of = {.body = read_value};
  inner = (watcher){.then = leave_once};
  begin(&of, objects[0], KVO_OLD);
  watch(objects[0], "value", KVO_NONE, &inner);
  watch(objects[1], "value", KVO_NONE, &after);
  if (setjmp(out) == 0) set_below(objects[0], 1);
  item_set_value(objects[1], 1);
  CHECK_EQ(after.calls, 1);
  CHECK_EQ(of.told, 0);
  item_set_value(objects[0], 2);
  CHECK_EQ(of.told, 1);
  CHECK_EQ(of.released, of.made);
}

TEST("after a getter was left, the registration of a key path finds that, and records for itself only") {
  make_objects();
  static expression left = {.body = read_and_leave};
  begin(&left, objects[1], KVO_NEW);
  leaves = true;
  if (setjmp(out) == 0) set_below(objects[1], 2);
  leaves = false;
  objects[2]->next = objects[3];
  watch(objects[2], "next.value", KVO_NEW, &after);
  CHECK_EQ((int)kvo_tracking_count, 0);
  CHECK(!kvo_track_is_recording());
  item_set_value(objects[3], 4);
  CHECK_EQ(after.calls, 1);
  CHECK_EQ(after.new_value.integer, 4);
}

/* ------------------------------------------------------------------------------------------------------ Evaluations -- */

TEST_REPORTED(
    "a callback that another one has caught is reported when that one returns, once, with what was left, and only it") {
  make_objects();
  watcher outer = {.then = catch_and_return};
  inner = (watcher){.then = leave};
  watch(objects[0], "value", KVO_NONE, &outer);
  watch(objects[1], "value", KVO_NONE, &after); /* after the one that is left, which is newer */
  watch(objects[1], "value", KVO_NONE, &inner);
  for (int i = 1; i <= 3; i++) {
    set_below(objects[0], i);
    CHECK_EQ(faults.count, i);
    check_named(objects[1]);
    CHECK_SAME(strstr(faults.summary, "and with it that of"), NULL);
    CHECK_EQ(outer.calls, i);
  }
  CHECK_EQ(after.calls, 0);
  item_set_value(objects[2], 1);
  CHECK_EQ(faults.count, 3);
}

static kvo_action jump_from_handler(const kvo_fault *fault, void *arg) {
  (void)arg;
  faults_before++;
  if (fault->code == KVO_FAULT_NOT_REGISTERED) longjmp(out, 1);
  return KVO_ACTION_IGNORE;
}

static void cause_fault(watcher *self, const kvo_change *change) {
  (void)self, (void)change;
  kvo_remove_observer(UINT64_MAX);
}

TEST_REPORTED("a callback that a fault handler has left for another one is no fault when that one returns") {
  make_objects();
  watcher outer = {.then = catch_and_return};
  inner = (watcher){.then = cause_fault};
  watch(objects[0], "value", KVO_NONE, &outer);
  watch(objects[1], "value", KVO_NONE, &inner);
  kvo_set_fault_handler(jump_from_handler, NULL);
  set_below(objects[0], 1);
  item_set_value(objects[2], 1);
  CHECK_EQ(faults_before, 1);
  CHECK_EQ(inner.calls, 1);
}

/* Catches what the evaluation of another expression has left, and goes on reading. */
static void catch_and_read(void) {
  read_key(objects[0], "value");
  if (catches) {
    if (setjmp(out) == 0) set_below(objects[1], 1);
  }
  read_key(objects[5], "value");
}

TEST("an evaluation that catches what another one has left in it goes on recording") {
  make_objects();
  static expression outer = {.body = catch_and_read}, left = {.body = read_and_leave};
  begin(&outer, objects[0], KVO_NEW);
  begin(&left, objects[1], KVO_NEW);
  catches = leaves = true;
  item_set_value(objects[0], 1);
  catches = leaves = false;
  CHECK_EQ(outer.told, 1);
  CHECK_EQ(left.told, 0);
  CHECK_EQ((int)kvo_tracking_count, 0);
  item_set_value(objects[5], 1);
  CHECK_EQ(outer.told, 2);
}

static kvo_action jump(const kvo_fault *fault, void *arg) {
  (void)arg;
  if (fault->code == KVO_FAULT_SILENT_CHANGE) longjmp(out, 1);
  return KVO_ACTION_IGNORE;
}

static void read_path(void) {
  read_key(objects[0], "next");
  read_key(objects[0]->next, "value");
}

TEST_REPORTED("a fault handler that leaves the evaluation before a change leaves none that counts") {
  make_objects();
  static expression path = {.body = read_path};
  objects[0]->next = objects[1];
  begin(&path, objects[0], KVO_OLD);
  watch(objects[3], "value", KVO_NONE, &after);
  kvo_set_fault_handler(jump, NULL);
  objects[0]->next = objects[2];
  volatile bool jumped = false;
  if (setjmp(out) == 0)
    set_below(objects[1], 1);
  else
    jumped = true;
  CHECK(jumped);
  item_set_value(objects[3], 1);
  CHECK_EQ(after.calls, 1);
  CHECK_EQ((int)kvo_tracking_count, 0);
  CHECK(!kvo_track_is_recording());
}

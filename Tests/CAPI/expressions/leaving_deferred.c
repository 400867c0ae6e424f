/* leaving_deferred.c - longjmp while deliveries are deferred because a limit was reached: what was not left is delivered later, and the end
 * of a thread drops it. */
#include "below.h"
#include "shared.h"

#include <kvo/kvo_binding.h>
#include <setjmp.h>
#include <string.h>

/* Memory used by calls that a jump crosses is never freed: disable LeakSanitizer. */
const char *__asan_default_options(void);
const char *__asan_default_options(void) { return "detect_leaks=0:detect_stack_use_after_return=0"; }

static jmp_buf out;
/* The first ones are observed by observers that each set the next one. */
enum { LENGTH = 10 };
static item *objects[LENGTH];
static watcher links[LENGTH];
static int length;
static void (*at_the_end)(void);

static void leave_once(watcher *self, const kvo_change *change) {
  (void)change;
  self->then = NULL;
  longjmp(out, 1);
}

static void set_next_object(watcher *self, const kvo_change *change) {
  (void)change;
  if (self - links + 1 == length)
    at_the_end();
  else
    set_below(objects[self - links + 1], 1);
}

static void make_objects(int count, void (*end)(void)) {
  ignore_faults();
  for (int i = 0; i < LENGTH; i++) objects[i] = item_make(0);
  length = count;
  at_the_end = end;
  for (int i = 0; i < count; i++) {
    links[i] = (watcher){.then = set_next_object};
    watch(objects[i], "value", KVO_NONE, &links[i]);
  }
}

static watcher leaving, next_one, later;

/* ------------------------------------------------------------------------------------------------ What was not left -- */

static void set_both(void) {
  item_set_value(objects[5], 5);
  item_set_value(objects[6], 6);
}

TEST("deliveries that were deferred behind one that was left are made at the next change") {
  harness_environment("KVO_MAX_DEPTH", "4");
  make_objects(4, set_both);
  leaving = (watcher){.then = leave_once};
  watch(objects[5], "value", KVO_NEW, &leaving);
  watch(objects[6], "value", KVO_NEW, &next_one);
  watch(objects[7], "value", KVO_NEW, &later);
  if (setjmp(out) == 0) set_below(objects[0], 1);
  CHECK_EQ(leaving.calls, 1);
  CHECK_EQ(next_one.calls, 0);
  item_set_value(objects[7], 7);
  CHECK_EQ(next_one.calls, 1);
  CHECK_EQ(next_one.new_value.integer, 6);
  CHECK_EQ(later.calls, 1);
  item_set_value(objects[6], 8);
  item_set_value(objects[5], 9);
  CHECK_EQ(next_one.calls, 2);
  CHECK_EQ(leaving.calls, 2);
  CHECK_EQ(links[0].calls, 1);
}

static void set_and_leave(void) {
  item_set_value(objects[6], 6);
  longjmp(out, 1);
}

static void catch_and_set(watcher *self, const kvo_change *change) {
  (void)self, (void)change;
  if (setjmp(out) == 0) set_below(objects[0], 1);
  CHECK_EQ(next_one.calls, 0);
  item_set_value(objects[7], 7);
  CHECK_EQ(next_one.calls, 1);
  CHECK_EQ(next_one.new_value.integer, 6);
  CHECK_EQ(later.calls, 1);
}

TEST(
    "what a callback has deferred that was left in another one is delivered at the next change of that one, and this at once") {
  harness_environment("KVO_MAX_DEPTH", "4");
  make_objects(3, set_and_leave);
  watcher outer = {.then = catch_and_set};
  watch(objects[9], "value", KVO_NONE, &outer);
  watch(objects[6], "value", KVO_NEW, &next_one);
  watch(objects[7], "value", KVO_NEW, &later);
  item_set_value(objects[9], 1);
  CHECK_EQ(outer.calls, 1);
  CHECK_EQ(next_one.calls, 1);
  CHECK_EQ(later.calls, 1);
}

static void leave(watcher *self, const kvo_change *change) {
  (void)self, (void)change;
  longjmp(out, 1);
}

TEST_REPORTED("callbacks that were left do not count as nested, however many they are") {
  harness_environment("KVO_MAX_DEPTH", "10");
  make_objects(0, NULL);
  leaving = (watcher){.then = leave};
  watch(objects[5], "value", KVO_NONE, &leaving);
  watch(objects[7], "value", KVO_NONE, &later);
  for (volatile int i = 1; i <= 40; i++) {
    if (setjmp(out) == 0) set_below(objects[5], i);
    CHECK_EQ(leaving.calls, (int)i);
  }
  item_set_value(objects[7], 1);
  CHECK_EQ(later.calls, 1);
  CHECK_EQ(faults.count, 40);
  CHECK_EQ((int)faults.code, KVO_FAULT_ABANDONED_DELIVERY);
}

/* ------------------------------------------------------------------------------------------------------ Evaluations -- */

static bool catches;

static void read_value(item *of) { kvo_track_read(as_object(of), kvo_key_hash("value", strlen("value"))); }

/* Catches what a callback has left, and goes on reading. */
static void *evaluate(void *user_data) {
  (void)user_data;
  read_value(objects[7]);
  if (catches) {
    if (setjmp(out) == 0) set_below(objects[8], 1);
  }
  read_value(objects[9]);
  return NULL;
}

static int told;

static void note(const kvo_raw_change *change, void *user_data) {
  (void)change, (void)user_data;
  told++;
}

static void release(void *value, void *user_data) { (void)value, (void)user_data; }

static int sets;

static void set_again(watcher *self, const kvo_change *change) {
  (void)self, (void)change;
  if (++sets < 3)
    set_below(objects[8], sets);
  else
    item_set_value(objects[5], sets);
}

TEST("an evaluation that catches what a callback has left whose delivery was deferred goes on recording") {
  harness_environment("KVO_MAX_DEPTH", "4");
  make_objects(0, NULL);
  static const kvo_observer_ops ops = {.callback = note, .evaluate = evaluate, .release = release};
  kvo_binding_observer described = {.key_path = "expression", .options = KVO_NEW, .ops = &ops, KVO_HERE};
  kvo_observation id;
  CHECK_OK(kvo_binding_observe_tracked(as_object(objects[7]), &described, false, &id));
  watcher setting = {.then = set_again};
  leaving = (watcher){.then = leave_once};
  watch(objects[8], "value", KVO_NONE, &setting);
  watch(objects[5], "value", KVO_NONE, &leaving);
  catches = true;
  item_set_value(objects[7], 1);
  catches = false;
  CHECK_EQ(setting.calls, 3);
  CHECK_EQ(leaving.calls, 1);
  CHECK_EQ(told, 1);
  CHECK_EQ((int)kvo_tracking_count, 0);
  item_set_value(objects[9], 1);
  CHECK_EQ(told, 2);
  CHECK_OK(kvo_remove_observer(id));
}

/* ---------------------------------------------------------------------------------------------- The end of a thread -- */

static watcher direct, twice;

static void leave_and_end(void *arg) {
  (void)arg;
  if (setjmp(out) == 0) set_below(objects[0], 1);
}

TEST("a thread that ends with deferred deliveries drops them, and leaves nothing of their observations") {
  harness_environment("KVO_MAX_DEPTH", "4");
  make_objects(4, set_and_leave);
  watch(objects[6], "value", KVO_NEW, &direct);
  watch(objects[6], "doubled", KVO_NEW, &twice);
  join_thread(start_thread(leave_and_end, NULL));
  CHECK_EQ(direct.calls + twice.calls, 0);
  item_set_value(objects[6], 3);
  CHECK_EQ(direct.calls, 1);
  CHECK_EQ(twice.calls, 1);
  CHECK_EQ(twice.new_value.integer, 6);
  CHECK_OK(kvo_cancel_observer_and_wait(direct.id));
  CHECK_OK(kvo_cancel_observer_and_wait(twice.id));
  CHECK_EQ(direct.destroyed, 1);
  CHECK_EQ(twice.destroyed, 1);
  item_destroy(objects[6]);
}

/* leaving_stacks.c - callbacks and getters that were left, or have returned, below others that are suspended on another stack: nobody waits
 * for them any more. */
#include "below.h"
#include "shared.h"

#include <kvo/kvo_binding.h>
#include <setjmp.h>
#include <sys/mman.h>
#include <ucontext.h>
#include <unistd.h>

/* Memory used by calls that a jump crosses is never freed: disable LeakSanitizer. */
const char *__asan_default_options(void);
const char *__asan_default_options(void) { return "detect_leaks=0"; }

enum { STACK = 256 * 1024 };
static jmp_buf out;
static ucontext_t main_context, coroutines[2];

static void make_coroutines(void (*first)(void), void (*second)(void)) {
  alarm(30); /* instead of a hang */
  void (*bodies[])(void) = {first, second};
  for (int i = 0; i < 2; i++) {
    void *memory = mmap(NULL, STACK, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    CHECK(memory != MAP_FAILED);
    CHECK(getcontext(&coroutines[i]) == 0);
    coroutines[i].uc_stack.ss_sp = memory;
    coroutines[i].uc_stack.ss_size = STACK;
    coroutines[i].uc_link = &main_context;
    makecontext(&coroutines[i], bodies[i], 0);
  }
}

static void run(int number) { CHECK(swapcontext(&main_context, &coroutines[number]) == 0); }
static void yield(int number) { CHECK(swapcontext(&coroutines[number], &main_context) == 0); }

/* -------------------------------------------------------------------------------------------------------- Callbacks -- */

static item *objects[3];

static void set_in_coroutine(void) { item_set_value(objects[1], 1); }

static void stay(watcher *self, const kvo_change *change) {
  (void)self, (void)change;
  yield(0);
}

static void start_and_leave(watcher *self, const kvo_change *change) {
  (void)change;
  self->then = NULL;
  run(0);
  longjmp(out, 1);
}

TEST_REPORTED("nobody waits for a callback that was left while one that it had begun on another stack goes on") {
  ignore_faults();
  make_coroutines(set_in_coroutine, set_in_coroutine);
  for (int i = 0; i < 3; i++) objects[i] = item_make(0);
  static watcher left, staying, after;
  left = (watcher){.then = start_and_leave};
  staying = (watcher){.then = stay};
  watch(objects[0], "value", KVO_NONE, &left);
  watch(objects[1], "value", KVO_NONE, &staying);
  watch(objects[2], "value", KVO_NONE, &after);
  if (setjmp(out) == 0) set_below(objects[0], 1);
  CHECK_EQ(staying.calls, 1);
  item_set_value(objects[2], 1);
  CHECK_EQ(after.calls, 1);
  CHECK_EQ(faults.count, 1);
  CHECK_EQ((int)faults.code, KVO_FAULT_ABANDONED_DELIVERY);
  CHECK_OK(kvo_cancel_observer_and_wait(left.id));
  CHECK_EQ(faults.count, 1);
  run(0); /* to its end */
  CHECK_OK(kvo_cancel_observer_and_wait(staying.id));
  CHECK_EQ(staying.destroyed, 1);
  CHECK_EQ(faults.count, 1);
}

static void set_in_other_coroutine(void) { item_set_value(objects[2], 1); }

static void stay_in_other(watcher *self, const kvo_change *change) {
  (void)self, (void)change;
  yield(1);
}

TEST("callbacks that are suspended on several stacks may return in any order while KVO_SLOW_MS watches them") {
  harness_environment("KVO_SLOW_MS", "3600000");
  make_coroutines(set_in_coroutine, set_in_other_coroutine);
  for (int i = 0; i < 3; i++) objects[i] = item_make(0);
  static watcher first, second;
  first = (watcher){.then = stay};
  second = (watcher){.then = stay_in_other};
  watch(objects[1], "value", KVO_NONE, &first);
  watch(objects[2], "value", KVO_NONE, &second);
  run(0);
  run(1);
  run(0); /* the first one to its end */
  run(1);
  CHECK_EQ(first.calls + second.calls, 2);
  second.then = NULL;
  item_set_value(objects[2], 2);
  CHECK_EQ(second.calls, 2);
  kvo_cancel_observer(first.id);
  kvo_cancel_observer(second.id);
  for (int i = 0; i < 3; i++) item_destroy(objects[i]);
}

/* ---------------------------------------------------------------------------------------------------------- Getters -- */

static shared *roots[2], *middles[2];
static kvo_observation ids[2];
static _Atomic int told[2];

static void change_first(void) { set_next(middles[0], NULL); }
static void change_second(void) { set_next(middles[1], NULL); }

static void make_paths(void) {
  for (int i = 0; i < 2; i++) {
    roots[i] = shared_make();
    middles[i] = shared_make();
    set_next(roots[i], middles[i]);
    ids[i] = observe(roots[i], "slow", KVO_NEW, &told[i], NULL);
  }
}

static void destroy_first_root(void *arg) {
  (void)arg;
  shared_destroy(roots[0]);
}

static int getters;

static void yield_in_getter(const shared *of) {
  (void)of;
  int own = getters++;
  if (own < 2) yield(own);
}

TEST("the death of an object does not wait for its evaluation that has returned below one that is suspended") {
  make_paths();
  make_coroutines(change_first, change_second);
  in_slow_getter = yield_in_getter;
  run(0);
  run(1);
  run(0); /* the first one to its end */
  CHECK_EQ((int)told[0], 1);
  CHECK_OK(kvo_cancel_observer(ids[0]));
  join_thread(start_thread(destroy_first_root, NULL));
  run(1);
  CHECK_EQ((int)told[1], 1);
  CHECK_OK(kvo_cancel_observer_and_wait(ids[1]));
  CHECK_EQ((int)kvo_tracking_count, 0);
}

static void start_and_leave_getter(const shared *of) {
  if (of == roots[1]) yield(1);
  if (of != roots[0] || getters++ > 0) return;
  run(1);
  longjmp(out, 1);
}

static void cut_first(void) { set_next(middles[0], NULL); }

TEST("nor does it wait for one that was left below it") {
  ignore_faults();
  make_paths();
  make_coroutines(change_first, change_second);
  in_slow_getter = start_and_leave_getter;
  if (setjmp(out) == 0) call_below(cut_first);
  shared *other = shared_make();
  _Atomic int others = 0;
  kvo_observation other_id = observe(other, "value", KVO_NONE, &others, NULL);
  set(other, 1);
  CHECK_EQ((int)others, 1);
  CHECK_OK(kvo_cancel_observer(ids[0]));
  join_thread(start_thread(destroy_first_root, NULL));
  run(1); /* to its end */
  CHECK_EQ((int)told[1], 1);
  CHECK_OK(kvo_cancel_observer_and_wait(ids[1]));
  CHECK_EQ((int)kvo_tracking_count, 0);
  CHECK_OK(kvo_cancel_observer(other_id));
}

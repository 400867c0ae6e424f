/* leaving.c - calls left with longjmp, and stacks that are switched in callbacks and getters: no pointer dangles,
 * nobody waits for ever, and the detection does not confuse the two. */
#include "hooked.h"
#include "shared.h"

#include <kvo/kvo_binding.h>
#include <setjmp.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <ucontext.h>
#include <unistd.h>

/* Memory used by calls that a jump crosses is never freed: disable LeakSanitizer. */
const char *__asan_default_options(void);
const char *__asan_default_options(void) { return "detect_leaks=0"; }

static jmp_buf out;
static shared *root, *middle, *end;
static _Atomic int calls, faults_reported, last_code;

static kvo_action count_fault(const kvo_fault *fault, void *arg) {
  last_code = (int)fault->code;
  faults_reported++;
  return KVO_ACTION_IGNORE;
}

static void make_path(void) {
  alarm(30); /* instead of a hang */
  kvo_set_fault_handler(count_fault, NULL);
  root = shared_make();
  middle = shared_make();
  end = shared_make();
  set_next(root, middle);
  set_next(middle, end);
}

/* ---------------------------------------------------------------------------------------------- Fault handlers -- */

static kvo_action jump(const kvo_fault *fault, void *arg) { longjmp(out, 1); }

static void cause_fault(const shared *of) { kvo_remove_observer(UINT64_MAX); }

/* Leaves an evaluation of root.slow with a longjmp out of the fault handler. */
static kvo_observation leave_evaluation(void) {
  make_path();
  kvo_observation id = observe(root, "slow", KVO_NEW | KVO_OLD, &calls, NULL);
  kvo_set_fault_handler(jump, NULL);
  in_slow_getter = cause_fault;
  if (setjmp(out) == 0) set_next(middle, NULL);
  in_slow_getter = NULL;
  kvo_set_fault_handler(count_fault, NULL);
  return id;
}

TEST("after a fault handler left an evaluation with longjmp, nothing records, and the next delivery is no fault") {
  kvo_observation id = leave_evaluation();
  shared *other = shared_make();
  _Atomic int others = 0;
  kvo_observation other_id = observe(other, "value", KVO_NEW, &others, NULL);
  set(other, 1);
  CHECK_EQ((int)others, 1);
  CHECK_EQ((int)kvo_tracking_count, 0);
  CHECK(!kvo_track_is_recording());
  CHECK_OK(kvo_cancel_observer(other_id));
  CHECK_OK(kvo_cancel_observer_and_wait(id));
  CHECK_EQ((int)faults_reported, 0);
}

TEST("the same holds if an object on the path dies next, and the observation follows the present objects") {
  kvo_observation id = leave_evaluation();
  set_next(root, end);
  shared_destroy(middle);
  CHECK_EQ((int)kvo_tracking_count, 0);
  int before = calls;
  set_next(end, root);
  CHECK(calls > before);
  CHECK_OK(kvo_cancel_observer_and_wait(id));
  CHECK_EQ((int)faults_reported, 0);
}

static void wait_for(void *id) { (void)kvo_cancel_observer_and_wait(*(kvo_observation *)id); }

TEST("another thread's wait for the observation ends once the thread that jumped uses observations again") {
  kvo_observation id = leave_evaluation();
  running *waiting = start_thread(wait_for, &id);
  shared *other = shared_make();
  observe(other, "value", KVO_NEW, NULL, NULL);
  set(other, 1);
  join_thread(waiting);
}

TEST("another thread's wait for the observation ends also if the thread that jumped is waiting itself") {
  harness_skip_if_emulated("the kernel knows the stack pointer of qemu-user only");
  kvo_observation id = leave_evaluation();
  join_thread(start_thread(wait_for, &id));
}

TEST("a child that is forked after the jump can do everything") {
  kvo_observation id = leave_evaluation();
  pid_t child = fork();
  if (child == 0) {
    set_next(root, end);
    bool right = kvo_tracking_count == 0 && kvo_cancel_observer_and_wait(id) == KVO_OK;
    _exit(right ? 0 : 1);
  }
  int status;
  CHECK(waitpid(child, &status, 0) == child);
  CHECK_EQ(status, 0);
}

static void leave_and_end(void *id) { *(kvo_observation *)id = leave_evaluation(); }

TEST("after the thread that jumped has ended, other threads can use the objects") {
  kvo_observation id = 0;
  join_thread(start_thread(leave_and_end, &id));
  CHECK_EQ((int)kvo_tracking_count, 0);
  CHECK_OK(kvo_cancel_observer_and_wait(id));
  shared_destroy(root);
}

/* A getter that catches the jump, like an exception. */
static void catch_jump(const shared *of) {
  if (setjmp(out) == 0) cause_fault(of);
}

TEST("a getter that catches the jump is still observed, with what it reads afterwards") {
  make_path();
  kvo_set_fault_handler(jump, NULL);
  in_slow_getter = catch_jump;
  kvo_observation id = observe(root, "slow", KVO_NEW, &calls, NULL);
  in_slow_getter = NULL;
  set_next(middle, root);
  CHECK_EQ((int)calls, 1);
  CHECK_OK(kvo_cancel_observer(id));
}

/* --------------------------------------------------------------------------------------- Getters and callbacks -- */

static void jump_out(const shared *of) { longjmp(out, 1); }

TEST_REPORTED("a getter left in an evaluation is KVO0025, once, and the evaluation leaves nothing behind") {
  make_path();
  kvo_observation id = observe(root, "slow", KVO_NEW | KVO_OLD, &calls, NULL);
  for (int i = 1; i <= 3; i++) {
    in_slow_getter = jump_out;
    if (setjmp(out) == 0) set_next(middle, i % 2 != 0 ? NULL : end);
    in_slow_getter = NULL;
    set_next(root, middle);
    CHECK_EQ((int)last_code, KVO_FAULT_ABANDONED_DELIVERY);
    CHECK_EQ((int)faults_reported, i);
    CHECK_EQ((int)kvo_tracking_count, 0);
    CHECK(!kvo_track_is_recording());
  }
  CHECK_OK(kvo_cancel_observer_and_wait(id));
  CHECK_EQ((int)faults_reported, 3);
}

static void leave(const kvo_change *change, void *user_data) { longjmp(out, 1); }

TEST("after a callback was left, the death of an object on a path still notifies") {
  make_path();
  kvo_observation path = observe(root, "next.value", KVO_NEW | KVO_OLD, &calls, NULL);
  kvo_observation id = observe_with(root, "next", KVO_NEW, leave, NULL);
  if (setjmp(out) == 0) set_next(root, end);
  CHECK_OK(kvo_cancel_observer(id));
  int before = calls;
  shared_destroy(middle); /* still on the path, which was not notified */
  CHECK_EQ((int)calls, before + 1);
  CHECK_OK(kvo_cancel_observer_and_wait(path));
}

/* ------------------------------------------------------------------------------- Setters and destroy functions -- */

static void jump_in_setter(item *of) { longjmp(out, 1); }

TEST("a setter left with longjmp is a change that notifies nobody; later changes notify") {
  kvo_set_fault_handler(count_fault, NULL);
  item *object = hooked_make(0);
  watcher w = {0};
  watch(object, "value", KVO_NEW | KVO_OLD | KVO_PRIOR, &w);
  in_setter = jump_in_setter;
  for (int i = 1; i <= 3; i++) {
    if (setjmp(out) == 0) item_set_value(object, 7);
    CHECK_EQ(w.priors, i);
    CHECK_EQ(w.calls, 0);
  }
  in_setter = NULL;
  item_set_value(object, 5);
  CHECK_NOTIFIED(w, 1, 0, 5);
  CHECK_OK(kvo_cancel_observer_and_wait(w.id));
  CHECK(!kvo_object_is_observed(as_object(object)));
  kvo_object_destroy(as_object(object));
  CHECK_EQ((int)faults_reported, 0);
}

static _Atomic int destructions;

static void jump_in_destroy(void *user_data) {
  destructions++;
  longjmp(out, 1);
}

TEST("a destroy function left with longjmp is not called again, and the object can still be used") {
  kvo_set_fault_handler(count_fault, NULL);
  item *object = item_make(0);
  watcher w = {0}, left = {0};
  watch(object, "value", KVO_NEW, &w);
  kvo_observer observer = watcher_observer("value", KVO_NONE, &left);
  observer.destroy = jump_in_destroy;
  kvo_observation id;
  CHECK_OK(kvo_add_observer(as_object(object), &observer, &id));
  if (setjmp(out) == 0) kvo_cancel_observer(id);
  CHECK_EQ((int)destructions, 1);
  CHECK_STATUS(kvo_cancel_observer_and_wait(id), KVO_ERROR_NOT_REGISTERED);
  CHECK_EQ(kvo_object_observation_count(as_object(object)), 1);
  item_set_value(object, 1);
  CHECK_EQ(w.calls, 1);
  CHECK_OK(kvo_cancel_observer_and_wait(w.id));
  CHECK_EQ(w.destroyed, 1);
  item_destroy(object);
  CHECK_EQ((int)destructions, 1);
  CHECK_EQ((int)faults_reported, 0);
}

/* --------------------------------------------------------------------------------------------- Switched stacks -- */

enum { STACK = 256 * 1024 };
static ucontext_t main_context, coroutines[2];
static char *stacks[2];
static item *objects[3];

static void make_coroutines(bool ascending, void (*first)(void), void (*second)(void)) {
  char *memory = mmap(NULL, 2 * STACK, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  CHECK(memory != MAP_FAILED);
  alarm(30);
  kvo_set_fault_handler(count_fault, NULL);
  void (*bodies[])(void) = {first, second};
  for (int i = 0; i < 2; i++) {
    stacks[i] = memory + (ascending ? i : 1 - i) * STACK;
    CHECK(getcontext(&coroutines[i]) == 0);
    coroutines[i].uc_stack.ss_sp = stacks[i];
    coroutines[i].uc_stack.ss_size = STACK;
    coroutines[i].uc_link = &main_context;
    makecontext(&coroutines[i], bodies[i], 0);
  }
  for (int i = 0; i < 3; i++) objects[i] = item_make(0);
}

static void run(int number) { CHECK(swapcontext(&main_context, &coroutines[number]) == 0); }
static void yield(int number) { CHECK(swapcontext(&coroutines[number], &main_context) == 0); }

static void yield_in_callback(watcher *self, const kvo_change *change) { yield((int)(intptr_t)self->then_arg); }

static void set_first(void) { item_set_value(objects[0], 1); }
static void set_second(void) { item_set_value(objects[1], 1); }

/* Two coroutines are suspended in a callback each, and resume in the order in which they began, not in reverse. */
static void interleave(bool ascending) {
  make_coroutines(ascending, set_first, set_second);
  watcher w[3] = {{.then = yield_in_callback, .then_arg = (void *)0},
                  {.then = yield_in_callback, .then_arg = (void *)1},
                  {.then = NULL}};
  for (int i = 0; i < 3; i++) watch(objects[i], "value", KVO_NEW | KVO_OLD, &w[i]);
  run(0);
  run(1);
  item_set_value(objects[2], 1);
  CHECK_EQ(w[0].calls + w[1].calls + w[2].calls, 3);
  run(0); /* to its end; the second one is still in its callback */
  item_set_value(objects[2], 2);
  CHECK_OK(kvo_cancel_observer_and_wait(w[0].id));
  CHECK_EQ((int)faults_reported, 0);
  (void)kvo_cancel_observer_and_wait(w[1].id);
  CHECK_EQ((int)last_code, KVO_FAULT_ENDLESS_WAIT);
  run(1);
  CHECK_EQ(w[2].calls, 2);
  faults_reported = 0;
  CHECK_OK(kvo_cancel_observer_and_wait(w[2].id));
  CHECK_EQ((int)faults_reported, 0);
  for (int i = 0; i < 3; i++) CHECK_EQ(w[i].destroyed, 1);
}

TEST_REPORTED("coroutines that are suspended in callbacks resume in any order") { interleave(true); }
TEST_REPORTED("the same holds with their stacks at addresses in the opposite order") { interleave(false); }

static shared *roots[2], *middles[2];

static void yield_in_getter(const shared *of) {
  static int number;
  int own = number++;
  if (own < 2) yield(own);
}

static void change_first(void) { set_next(middles[0], NULL); }
static void change_second(void) { set_next(middles[1], NULL); }
static void destroy_first_root(void *arg) { shared_destroy(roots[0]); }

TEST("evaluations on several stacks end in any order") {
  make_coroutines(true, change_first, change_second);
  kvo_observation ids[2];
  _Atomic int notified[2] = {0};
  for (int i = 0; i < 2; i++) {
    roots[i] = shared_make();
    middles[i] = shared_make();
    set_next(roots[i], middles[i]);
    ids[i] = observe(roots[i], "slow", KVO_NEW, &notified[i], NULL);
  }
  in_slow_getter = yield_in_getter;
  run(0);
  run(1);
  run(0); /* to its end: the death of its object does not wait for it */
  CHECK_EQ((int)notified[0], 1);
  set_next(middles[0], middles[0]);
  CHECK_EQ((int)notified[0], 2);
  CHECK_OK(kvo_cancel_observer(ids[0]));
  join_thread(start_thread(destroy_first_root, NULL));
  run(1);
  CHECK_EQ((int)kvo_tracking_count, 0);
  CHECK_EQ((int)notified[1], 1);
  set_next(middles[1], middles[1]);
  CHECK_EQ((int)notified[1], 2);
  CHECK_OK(kvo_cancel_observer_and_wait(ids[1]));
}

static void nest_on_this_stack(void) { item_set_value(objects[0], 1000000); }

static void set_down(watcher *self, const kvo_change *change) {
  if (objects[0]->value > 0) item_set_value(objects[0], objects[0]->value - 1);
}

TEST_REPORTED("a coroutine's stack does not overflow if it ends with a guard page") {
  make_coroutines(true, nest_on_this_stack, nest_on_this_stack);
  CHECK(mprotect(stacks[1], 8192, PROT_NONE) == 0);
  watcher w = {.then = set_down};
  watch(objects[0], "value", KVO_NONE, &w);
  run(1);
  CHECK_EQ((int)last_code, KVO_FAULT_RECURSION);
  CHECK_EQ((int)faults_reported, 1);
}

/* leaving.c - calls left with longjmp, and stacks that are switched in callbacks and getters: no pointer dangles, nobody waits for ever,
 * and the detection does not confuse the two. */
#include "fixture.h"
#include "shared.h"

#include <kvo/kvo_binding.h>
#include <fcntl.h>
#include <pthread.h>
#include <setjmp.h>
#include <stdlib.h>
#include <string.h>
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
  (void)arg;
  last_code = (int)fault->code;
  faults_reported++;
  return KVO_ACTION_IGNORE;
}

static void make_path(void) {
  alarm(30); /* instead of a hang */
  root = shared_make();
  middle = shared_make();
  end = shared_make();
  set_next(root, middle);
  set_next(middle, end);
}

/* --------------------------------------------------------------------------------------------------- Fault handlers -- */

static kvo_action jump(const kvo_fault *fault, void *arg) {
  (void)fault, (void)arg;
  longjmp(out, 1);
}

static void cause_fault(const shared *of) {
  (void)of;
  kvo_remove_observer(UINT64_MAX);
}

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
  CHECK_EQ((int)faults_reported, 0);
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

static int sets;

static void jump_once(const kvo_change *change, void *user_data) {
  (void)change;
  (void)user_data;
  if (sets++ == 0) longjmp(out, 1);
}

TEST("a callback left with longjmp is detected by the next change, even if the same function makes it") {
  make_path();
  kvo_set_fault_handler(count_fault, NULL);
  kvo_observation other = observe(root, "value", KVO_NONE, &calls, NULL);
  kvo_observation id = observe_with(root, "value", KVO_NONE, jump_once, NULL);
  for (volatile int i = 0; i < 3; i++)
    if (setjmp(out) == 0) set(root, i);
  CHECK_EQ((int)calls, 2);
  CHECK_EQ(sets, 3);
  CHECK_EQ((int)faults_reported, HAS_REPORTS);
  if (HAS_REPORTS) CHECK_EQ((int)last_code, KVO_FAULT_ABANDONED_DELIVERY);
  CHECK_OK(kvo_cancel_observer(other));
  CHECK_OK(kvo_cancel_observer(id));
  shared_destroy(root);
}

static void *wait_for(void *id) {
  (void)kvo_cancel_observer_and_wait(*(kvo_observation *)id);
  return NULL;
}

static int calls_within;

static void go_on_after_jump(const kvo_change *change, void *user_data) {
  (void)change, (void)user_data;
  if (setjmp(out) == 0) set(middle, 1);
  for (int i = 0; i < 3; i++) {
    set(end, i);
    if (calls == i + 1) calls_within++;
  }
}

TEST("after a callback was left inside another one, what that one sets notifies at once") {
  make_path();
  kvo_set_fault_handler(count_fault, NULL);
  kvo_observation ids[] = {observe_with(root, "value", KVO_NONE, go_on_after_jump, NULL),
                           observe_with(middle, "value", KVO_NONE, jump_once, NULL),
                           observe(end, "value", KVO_NONE, &calls, NULL)};
  set(root, 1);
  CHECK_EQ(calls_within, 3);
  CHECK_EQ((int)calls, 3);
  for (int i = 0; i < 3; i++) CHECK_OK(kvo_cancel_observer(ids[i]));
}

TEST("another thread's wait for the observation ends once the thread that jumped uses observations again") {
  kvo_observation id = leave_evaluation();
  pthread_t thread;
  CHECK(pthread_create(&thread, NULL, wait_for, &id) == 0);
  shared *other = shared_make();
  kvo_observation other_id = observe(other, "value", KVO_NEW, NULL, NULL);
  set(other, 1);
  CHECK(pthread_join(thread, NULL) == 0);
  CHECK_OK(kvo_cancel_observer(other_id));
}

TEST("another thread's wait for the observation ends also if the thread that jumped is waiting itself") {
  harness_skip_if_emulated("the kernel knows the stack pointer of qemu-user only");
  kvo_observation id = leave_evaluation();
  pthread_t thread;
  CHECK(pthread_create(&thread, NULL, wait_for, &id) == 0);
  CHECK(pthread_join(thread, NULL) == 0);
}

TEST("such a wait leaves no file open, also where a file has the number 0") {
  harness_skip_if_emulated("the kernel knows the stack pointer of qemu-user only");
  close(STDIN_FILENO);
  kvo_observation id = leave_evaluation();
  pthread_t thread;
  CHECK(pthread_create(&thread, NULL, wait_for, &id) == 0);
  CHECK(pthread_join(thread, NULL) == 0);
  CHECK_EQ(open("/dev/null", O_RDONLY), 0);
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

static void *leave_and_end(void *arg) {
  *(kvo_observation *)arg = leave_evaluation();
  return NULL;
}

TEST("after the thread that jumped has ended, other threads can use the objects") {
  kvo_observation id = 0;
  pthread_t thread;
  CHECK(pthread_create(&thread, NULL, leave_and_end, &id) == 0);
  CHECK(pthread_join(thread, NULL) == 0);
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

/* ---------------------------------------------------------------------------------------------------------- Getters -- */

static void jump_out(const shared *of) {
  (void)of;
  longjmp(out, 1);
}

TEST_REPORTED("a getter left in an evaluation is KVO0025, once, and the evaluation leaves nothing behind") {
  make_path();
  kvo_set_fault_handler(count_fault, NULL);
  kvo_observation id = observe(root, "slow", KVO_NEW | KVO_OLD, &calls, NULL);
  for (int i = 1; i <= 3; i++) {
    in_slow_getter = jump_out;
    if (setjmp(out) == 0) set_next(middle, i % 2 != 0 ? NULL : end);
    in_slow_getter = NULL;
    set_next(root, middle);
    CHECK_EQ((int)last_code, KVO_FAULT_ABANDONED_DELIVERY);
    CHECK_EQ((int)faults_reported, i);
    CHECK_EQ((int)kvo_tracking_count, 0);
  }
  CHECK_OK(kvo_cancel_observer_and_wait(id));
  CHECK_EQ((int)faults_reported, 3);
}

static void leave(const kvo_change *change, void *user_data) {
  (void)change, (void)user_data;
  longjmp(out, 1);
}

TEST("after a callback was left, the death of an object on a path still notifies") {
  make_path();
  kvo_set_fault_handler(count_fault, NULL);
  kvo_observation path = observe(root, "next.value", KVO_NEW | KVO_OLD, &calls, NULL);
  kvo_observation id = observe_with(root, "next", KVO_NEW, leave, NULL);
  if (setjmp(out) == 0) set_next(root, end);
  CHECK_OK(kvo_cancel_observer(id));
  int before = calls;
  shared_destroy(middle); /* still on the path, which was not notified */
  CHECK_EQ((int)calls, before + 1);
  CHECK_OK(kvo_cancel_observer_and_wait(path));
}

/* ---------------------------------------------------------------------------------- Setters and destroy functions -- */

typedef struct jumper {
  kvo_object header;
  int value;
} jumper;

static bool setter_jumps;

static int get_value(const kvo_object *of) { return ((const jumper *)(const void *)of)->value; }

static void set_value(kvo_object *of, int value) {
  if (setter_jumps) longjmp(out, 1);
  ((jumper *)(void *)of)->value = value;
}

static jumper *jumper_make(void) {
  static kvo_class *cls;
  kvo_property_spec properties[] = {
      {.name = "value", .type = "i", .getter = (kvo_function)get_value, .setter = (kvo_function)set_value}};
  kvo_class_spec spec = {.struct_size = sizeof spec,
                         .name = "Jumper",
                         .instance_size = sizeof(jumper),
                         .properties = properties,
                         .property_count = 1};
  if (cls == NULL) CHECK_OK(kvo_class_register(&spec, &cls));
  kvo_object *made;
  CHECK_OK(kvo_object_create(cls, &made));
  return (jumper *)(void *)made;
}

TEST("a setter left with longjmp is a change that notifies nobody; later changes notify") {
  kvo_set_fault_handler(count_fault, NULL);
  jumper *object = jumper_make();
  watcher w = {0};
  kvo_observer observer = watcher_observer("value", KVO_NEW | KVO_OLD | KVO_PRIOR, &w);
  CHECK_OK(kvo_add_observer(&object->header, &observer, &w.id));
  setter_jumps = true;
  for (int i = 1; i <= 3; i++) {
    if (setjmp(out) == 0) KVO_SET(&object->header, "value", int, 7);
    CHECK_EQ(w.priors, i);
    CHECK_EQ(w.calls, 0);
  }
  setter_jumps = false;
  KVO_SET(&object->header, "value", int, 5);
  CHECK_EQ(w.calls, 1);
  CHECK_EQ(w.old_value.integer, 0);
  CHECK_EQ(w.new_value.integer, 5);
  CHECK_OK(kvo_cancel_observer_and_wait(w.id));
  CHECK(!kvo_object_is_observed(&object->header));
  kvo_object_destroy(&object->header);
  CHECK_EQ((int)faults_reported, 0);
}

static _Atomic int destructions;

static void jump_in_destroy(void *user_data) {
  (void)user_data;
  destructions++;
  longjmp(out, 1);
}

static void do_nothing(const kvo_change *change, void *user_data) { (void)change, (void)user_data; }

TEST("a destroy function left with longjmp is not called again, and the object can still be used") {
  kvo_set_fault_handler(count_fault, NULL);
  item *object = item_make(0);
  watcher w = {0};
  watch(object, "value", KVO_NEW, &w);
  kvo_observer observer = {.struct_size = sizeof observer,
                           .key_path = "value",
                           .callback = do_nothing,
                           .user_data = &w,
                           .destroy = jump_in_destroy,
                           KVO_HERE};
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

/* ------------------------------------------------------------------------------------------------- Switched stacks -- */

enum { STACK = 256 * 1024 };
static ucontext_t main_context, coroutines[2];
static char *stacks[2];
static item *objects[3];

static void make_coroutines(bool ascending, void (*first)(void), void (*second)(void)) {
  char *memory = mmap(NULL, 2 * STACK, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  CHECK(memory != MAP_FAILED);
  alarm(30);
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

static void yield_to_main(watcher *self, const kvo_change *change) {
  (void)change;
  int number = (int)(intptr_t)self->then_arg;
  CHECK(swapcontext(&coroutines[number], &main_context) == 0);
}

static void (*set_in_coroutine)(item *object, int value) = item_set_value;

static void set_by_word(item *object, int value) {
  uint64_t storage = 0;
  kvo_change_word(as_object(object), kvo_key_hash("value", 5), &storage, (uint64_t)value);
}

static void set_first(void) { set_in_coroutine(objects[0], 1); }
static void set_second(void) { set_in_coroutine(objects[1], 1); }

/* Two coroutines are suspended in a callback each, and resume in the order in which they began, not in reverse. */
static void interleave(bool ascending) {
  kvo_set_fault_handler(count_fault, NULL);
  make_coroutines(ascending, set_first, set_second);
  watcher w[3] = {{.then = yield_to_main, .then_arg = (void *)0}, {.then = yield_to_main, .then_arg = (void *)1}, {0}};
  for (int i = 0; i < 3; i++) watch(objects[i], "value", KVO_NEW | KVO_OLD, &w[i]);
  CHECK(swapcontext(&main_context, &coroutines[0]) == 0);
  CHECK(swapcontext(&main_context, &coroutines[1]) == 0);
  item_set_value(objects[2], 1);
  CHECK_EQ(w[0].calls + w[1].calls + w[2].calls, 3);
  CHECK(swapcontext(&main_context, &coroutines[0]) == 0); /* runs to its end */
  item_set_value(objects[2], 2);
  /* The second coroutine is still in its callback. */
  CHECK_OK(kvo_cancel_observer_and_wait(w[0].id));
  CHECK_EQ((int)faults_reported, 0);
  (void)kvo_cancel_observer_and_wait(w[1].id);
  CHECK_EQ((int)last_code, KVO_FAULT_ENDLESS_WAIT);
  CHECK(swapcontext(&main_context, &coroutines[1]) == 0);
  CHECK_EQ(w[2].calls, 2);
  faults_reported = 0;
  CHECK_OK(kvo_cancel_observer_and_wait(w[2].id));
  CHECK_EQ((int)faults_reported, 0);
  for (int i = 0; i < 3; i++) CHECK_EQ(w[i].destroyed, 1);
  for (int i = 0; i < 3; i++) item_destroy(objects[i]);
}

TEST_REPORTED("coroutines that are suspended in callbacks resume in any order") { interleave(true); }
TEST_REPORTED("the same holds with their stacks at addresses in the opposite order") { interleave(false); }

TEST_REPORTED("the same holds for changes that a binding makes") {
  set_in_coroutine = set_by_word;
  interleave(true);
}

static void yield_in_getter(const shared *of) {
  (void)of;
  static int number;
  int own = number++;
  if (own < 2) CHECK(swapcontext(&coroutines[own], &main_context) == 0);
}

static shared *roots[2], *middles[2];

static void change_first(void) { set_next(middles[0], NULL); }
static void change_second(void) { set_next(middles[1], NULL); }

TEST("evaluations on several stacks end in any order") {
  make_coroutines(true, change_first, change_second);
  kvo_observation ids[2];
  _Atomic int told[2] = {0};
  for (int i = 0; i < 2; i++) {
    roots[i] = shared_make();
    middles[i] = shared_make();
    set_next(roots[i], middles[i]);
    ids[i] = observe(roots[i], "slow", KVO_NEW, &told[i], NULL);
  }
  in_slow_getter = yield_in_getter;
  CHECK(swapcontext(&main_context, &coroutines[0]) == 0);
  CHECK(swapcontext(&main_context, &coroutines[1]) == 0);
  CHECK(swapcontext(&main_context, &coroutines[0]) == 0);
  CHECK(swapcontext(&main_context, &coroutines[1]) == 0);
  CHECK_EQ((int)kvo_tracking_count, 0);
  for (int i = 0; i < 2; i++) {
    CHECK_EQ((int)told[i], 1);
    set_next(middles[i], middles[i]);
    CHECK_EQ((int)told[i], 2);
    CHECK_OK(kvo_cancel_observer_and_wait(ids[i]));
    shared_destroy(roots[i]);
  }
}

static void nest_on_this_stack(void) { item_set_value(objects[0], 1000000); }

static void set_down(watcher *self, const kvo_change *change) {
  (void)self, (void)change;
  if (objects[0]->value > 0) item_set_value(objects[0], objects[0]->value - 1);
}

TEST_REPORTED("a coroutine's stack does not overflow if it ends with a guard page") {
  kvo_set_fault_handler(count_fault, NULL);
  make_coroutines(true, nest_on_this_stack, nest_on_this_stack);
  CHECK(mprotect(stacks[1], 8192, PROT_NONE) == 0);
  watcher w = {.then = set_down};
  watch(objects[0], "value", KVO_NONE, &w);
  CHECK(swapcontext(&main_context, &coroutines[1]) == 0);
  CHECK_EQ((int)last_code, KVO_FAULT_RECURSION);
  CHECK_EQ((int)faults_reported, 1);
}

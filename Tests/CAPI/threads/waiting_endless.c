/* waiting_endless.c - endless waits are KVO0017: for the own callback, and in a circle of callbacks and deaths. */
#include "shared.h"

#include <pthread.h>
#include <signal.h>

static shared *object, *other, *leaf;
static _Atomic int calls, destroyed;
static kvo_observation ids[3];
/* Where the callbacks or getters of two threads meet. */
static pthread_barrier_t meeting;

static void set_one(void *arg) { set(arg, 1); }

static void run_both(void (*first)(void *arg), void *first_arg, void (*second)(void *arg), void *second_arg) {
  running *one = start_thread(first, first_arg), *two = start_thread(second, second_arg);
  join_thread(one);
  join_thread(two);
}

/* Faults are counted, and the process goes on. */
static _Atomic int endless_waits;
static char last_report[4096];
static _Thread_local bool gives_up;

static kvo_action count_fault(const kvo_fault *fault, void *arg) {
  CHECK_EQ((int)fault->code, (int)KVO_FAULT_ENDLESS_WAIT);
  CHECK_CONTAINS(fault->summary, "KVO0017");
  kvo_fault_format(fault, KVO_REPORT_TEXT, last_report, sizeof last_report);
  endless_waits++;
  gives_up = true;
  return KVO_ACTION_IGNORE;
}

static void prepare(void) {
  kvo_set_fault_handler(count_fault, NULL);
  pthread_barrier_init(&meeting, NULL, 2);
}

/* --------------------------------------------------------------------------------------------------- Callbacks -- */

static void wait_for_itself(const kvo_change *change, void *user_data) {
  calls++;
  CHECK_OK(kvo_cancel_observer_and_wait(change->observation));
}

static void wait_in_own_callback(void *key_path) {
  object = shared_make();
  set_next(object, object);
  (void)observe_with(object, key_path, KVO_NEW, wait_for_itself, NULL);
  calls = 0;
  set(object, 1);
  set(object, 2);
  CHECK_EQ((int)calls, 1);
  shared_destroy(object);
}

TEST_REPORTED("kvo_cancel_observer_and_wait in its own callback is KVO0017, ends the observation and returns") {
  kvo_set_fault_handler(count_fault, NULL);
  wait_in_own_callback("value");
  CHECK_EQ((int)endless_waits, 1);
  CHECK_CONTAINS(last_report, "KVO0017 error: waiting for the deliveries of observation 0x");
  CHECK_CONTAINS(last_report, " would never end: this call is inside one of them");
  CHECK_CONTAINS(last_report, "help: inside a callback end an observation without waiting: ");
  wait_in_own_callback("next.value");
  CHECK_EQ((int)endless_waits, 2);
  object = shared_make();
  (void)observe_with(object, "value", KVO_INITIAL, wait_for_itself, NULL);
  CHECK_EQ((int)endless_waits, 3);
  CHECK(!kvo_object_is_observed(&object->header));
  shared_destroy(object);
}

TEST_REPORTED("KVO0017 is reported by default, and ends the process under a policy that says so") {
  child_result by_default = harness_run_child(wait_in_own_callback, (char[]){"value"}, NULL);
  CHECK_EQ(by_default.signal, 0);
  CHECK_EQ(by_default.exit_code, 0);
  CHECK_CONTAINS(by_default.errors, "KVO0017 error");
  child_result strict = harness_run_child(wait_in_own_callback, (char[]){"value"}, "error:abort");
  CHECK_EQ(strict.signal, SIGABRT);
  CHECK_CONTAINS(strict.errors, "KVO0017");
}

static shared *third;
static _Atomic int has_returned;

/* Both callbacks are running, and each waits for the other. One wait is given up, and the other one lasts. */
static void meet_and_wait(const kvo_change *change, void *user_data) {
  gives_up = false;
  pthread_barrier_wait(&meeting);
  CHECK_OK(kvo_cancel_observer_and_wait(ids[(intptr_t)user_data]));
  calls++;
  if (!gives_up) {
    CHECK_EQ((int)has_returned, 1);
    return;
  }
  for (int i = 0; i < 200; i++) set(third, i); /* each end of a callback has the other thread look again */
  has_returned = 1;
}

TEST_REPORTED("two callbacks that wait for each other on two threads are KVO0017, and both return") {
  prepare();
  third = shared_make();
  kvo_observation of_third = observe(third, "value", KVO_NONE, NULL, NULL);
  for (int round = 0; round < rounds(100); round++) {
    object = shared_make();
    other = shared_make();
    calls = endless_waits = has_returned = 0;
    ids[0] = observe_with(object, "value", KVO_NEW, meet_and_wait, (void *)1);
    ids[1] = observe_with(other, "value", KVO_NEW, meet_and_wait, (void *)0);
    run_both(set_one, object, set_one, other);
    CHECK_EQ((int)calls, 2);
    CHECK_EQ((int)endless_waits, 1);
    shared_destroy(object);
    shared_destroy(other);
  }
  CHECK_OK(kvo_cancel_observer(of_third));
  shared_destroy(third);
}

/* The first callback waits for the second, that for the third, and the third for nobody. */
static _Atomic int has_entered[3];

static void enter_and_wait(const kvo_change *change, void *user_data) {
  int number = (int)(intptr_t)user_data;
  has_entered[number] = 1;
  for (int i = 0; i < 3; i++) await(&has_entered[i]);
  if (number == 2)
    a_moment();
  else
    CHECK_OK(kvo_cancel_observer_and_wait(ids[number + 1]));
  calls++;
}

TEST("a callback that waits for one which waits for a third is no fault: all return") {
  kvo_set_fault_handler(count_fault, NULL);
  shared *objects[3];
  running *threads[3];
  for (int i = 0; i < 3; i++) {
    objects[i] = shared_make();
    ids[i] = observe_with(objects[i], "value", KVO_NEW, enter_and_wait, (void *)(intptr_t)i);
  }
  for (int i = 0; i < 3; i++) threads[i] = start_thread(set_one, objects[i]);
  for (int i = 0; i < 3; i++) join_thread(threads[i]);
  CHECK_EQ((int)calls, 3);
  CHECK_EQ((int)endless_waits, 0);
  CHECK_OK(kvo_remove_observer(ids[0]));
  for (int i = 0; i < 3; i++) shared_destroy(objects[i]);
}

/* ---------------------------------------------------------------------------------------- Deaths in the circle -- */

static shared *middles[2];
static _Atomic int gone_on;

static void set_middle(void *middle) { set_next(middle, leaf); }

/* A root with an observer of "slow", whose getter is called at each set of the intermediate object's `next`. */
static shared *make_slow_root(int number) {
  shared *root = shared_make();
  middles[number] = shared_make();
  set_next(root, middles[number]);
  set(root, 7);
  observe(root, "slow", KVO_ENDS_WITH_OBJECT, NULL, &destroyed);
  return root;
}

static void wait_in_getter(const shared *of) {
  pthread_barrier_wait(&meeting);
  (void)kvo_cancel_observer_and_wait(ids[0]);
  CHECK_EQ((int)of->value, 7); /* it is still alive */
  gone_on++;
}

static void destroy_object(const kvo_change *change, void *user_data) {
  pthread_barrier_wait(&meeting);
  shared_destroy(object);
  calls++;
}

TEST_REPORTED(
    "a getter that waits for a callback which destroys the getter's object is KVO0017, and the object lives until the getter returns") {
  prepare();
  for (int round = 0; round < rounds(200); round++) {
    leaf = shared_make();
    object = make_slow_root(0);
    calls = endless_waits = gone_on = destroyed = 0;
    ids[0] = observe_with(leaf, "value", KVO_NEW, destroy_object, NULL);
    in_slow_getter = wait_in_getter;
    run_both(set_middle, middles[0], set_one, leaf);
    in_slow_getter = NULL;
    CHECK_EQ((int)endless_waits, 1);
    CHECK_EQ((int)gone_on, 1);
    CHECK_EQ((int)calls, 1);
    CHECK_EQ((int)destroyed, 1);
    shared_destroy(middles[0]);
    shared_destroy(leaf);
  }
}

static shared *roots[2];

static void destroy_other_root(const shared *of) {
  shared *self = roots[of == roots[1]];
  pthread_barrier_wait(&meeting);
  shared_destroy(roots[of == roots[0]]);
  CHECK_EQ((int)self->value, 7);
  gone_on++;
}

TEST_REPORTED("two getters that destroy each other's objects are KVO0017, and the memory of one is leaked") {
  prepare();
  for (int round = 0; round < rounds(200); round++) {
    leaf = shared_make();
    for (int i = 0; i < 2; i++) roots[i] = make_slow_root(i);
    endless_waits = gone_on = destroyed = 0;
    in_slow_getter = destroy_other_root;
    run_both(set_middle, middles[0], set_middle, middles[1]);
    in_slow_getter = NULL;
    CHECK_EQ((int)endless_waits, 1);
    CHECK_CONTAINS(last_report, "KVO0017 error: waiting for the evaluations of Shared@0x");
    CHECK_CONTAINS(last_report, ", which is being destroyed, would never end: another thread is running one and "
                                "waits for this thread, at ");
    CHECK_CONTAINS(last_report, "help: do not destroy an object inside a getter that evaluates another");
    CHECK_EQ((int)gone_on, 2);
    CHECK_EQ((int)destroyed, 2);
    for (int i = 0; i < 2; i++) shared_destroy(middles[i]);
    shared_destroy(leaf);
  }
}

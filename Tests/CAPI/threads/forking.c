/* forking.c - fork(2) with live observations: they work in the child, whatever other threads were doing. */
#include "shared.h"

#include <kvo/kvo_binding.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

static shared *object, *quiet, *leaf;
static _Atomic int calls, path_calls, destroyed, working;
static kvo_observation stable, path;

enum { SECONDS = 30 };

/* Runs `body` in a forked process, which must exit with 0 before its alarm. */
static void fork_and(void (*body)(void)) {
  pid_t child = fork();
  CHECK(child >= 0);
  if (child == 0) {
    alarm(SECONDS);
    body();
    _exit(0); /* without a leak check: what the parent's other threads held is never freed */
  }
  int status;
  CHECK(waitpid(child, &status, 0) == child);
  if (WIFSIGNALED(status)) harness_fail(__FILE__, __LINE__, "the child ended by signal %d", WTERMSIG(status));
  CHECK_EQ(WEXITSTATUS(status), 0);
}

/* All operations on observations, for an object that has two. */
static void use_all(shared *of) {
  calls = path_calls = destroyed = 0;
  set(of, 1);
  CHECK_EQ((int)calls, 1);
  set(leaf, 1);
  CHECK_EQ((int)path_calls, 1);
  set_next(of, of);
  CHECK_EQ((int)path_calls, 2);
  set_next(of, leaf);
  CHECK_EQ((int)path_calls, 3);
  CHECK_OK(kvo_will_change(&of->header, "value"));
  CHECK_OK(kvo_did_change(&of->header, "value"));
  CHECK_EQ((int)calls, 2);
  CHECK_OK(kvo_cancel_observer_and_wait(stable));
  CHECK_OK(kvo_remove_observer(path));
  set(of, 2);
  set(leaf, 2);
  CHECK_EQ((int)calls, 2);
  CHECK_EQ((int)path_calls, 3);
  _Atomic int anew = 0;
  kvo_observation id = observe(of, "value", KVO_NEW | KVO_OLD, &anew, NULL);
  set(of, 3);
  CHECK_EQ((int)anew, 1);
  CHECK_OK(kvo_remove_observer(id));
  (void)observe(of, "next.value", KVO_ENDS_WITH_OBJECT, &anew, NULL);
  kvo_class *fresh;
  CHECK_OK(shared_register("OfTheChild", &fresh));
  shared *made = shared_make_of(fresh);
  id = observe(made, "value", KVO_NEW, &anew, NULL);
  set(made, 1);
  CHECK_EQ((int)anew, 2);
  CHECK_OK(kvo_cancel_observer_and_wait(id));
  shared_destroy(made);
}

static void use_quiet_object(void) {
  use_all(quiet);
  CHECK_EQ((int)destroyed, 2); /* no other thread was using it */
  shared_destroy(quiet);
}

static void use_hammered_object(void) {
  use_all(object);
  shared_destroy(object);
}

static void observe_twice(shared *of) {
  set_next(of, leaf);
  stable = observe(of, "value", KVO_NEW, &calls, &destroyed);
  path = observe(of, "next.value", KVO_NEW | KVO_OLD, &path_calls, &destroyed);
}

static void clean_up(shared *of) {
  CHECK_OK(kvo_remove_observer(stable));
  CHECK_OK(kvo_remove_observer(path));
  shared_destroy(of);
  shared_destroy(leaf);
}

TEST("the child of a fork sets, is notified, removes and registers, and so does the parent") {
  leaf = shared_make();
  quiet = shared_make();
  observe_twice(quiet);
  fork_and(use_quiet_object);
  set(quiet, 1);
  CHECK_EQ((int)calls, 1);
  fork_and(use_quiet_object);
  clean_up(quiet);
}

static shared *of_parent, *of_child;
static int ready[2];

static int get_value(const kvo_object *of) { return ((const shared *)of)->value; }
static void store_negative(kvo_object *of, int value) { ((shared *)of)->value = -value; }

/* Calls the trampoline; KVO_SET needs none. */
static void call_setter(shared *of, int value) {
  ((void (*)(kvo_object *, int))kvo_object_setter(&of->header, "value"))(&of->header, value);
}

static kvo_class *register_negative(void) {
  kvo_property_spec property = {
      .name = "value", .type = "i", .getter = (kvo_function)get_value, .setter = (kvo_function)store_negative};
  kvo_class_spec spec = {.struct_size = sizeof spec,
                         .name = "Negative",
                         .instance_size = sizeof(shared),
                         .properties = &property,
                         .property_count = 1};
  kvo_class *cls;
  CHECK_OK(kvo_class_register(&spec, &cls));
  return cls;
}

/* The parent has made setters of its own between the two sets. */
static void set_after_parent(void) {
  _Atomic int heard = 0;
  (void)observe(of_child, "value", KVO_ENDS_WITH_OBJECT, &heard, NULL);
  call_setter(of_child, 1);
  char byte;
  CHECK_EQ((int)read(ready[0], &byte, 1), 1);
  call_setter(of_child, 2);
  CHECK_EQ((int)heard, 2);
  CHECK_EQ((int)of_child->value, 2);
  shared_destroy(of_child);
}

/* The trampolines are in memory that the processes share. */
TEST("setters that are first observed after a fork are of the process that observes them") {
  kvo_class *in_child;
  CHECK_OK(shared_register("ObservedInChild", &in_child));
  shared *before = shared_make(); /* its setters use the memory in part */
  (void)observe(before, "value", KVO_ENDS_WITH_OBJECT, &calls, NULL);
  of_parent = shared_make_of(register_negative());
  of_child = shared_make_of(in_child);
  CHECK(pipe(ready) == 0);
  pid_t child = fork();
  CHECK(child >= 0);
  if (child == 0) {
    alarm(SECONDS);
    set_after_parent();
    _exit(0);
  }
  usleep(100000); /* usually the child has observed by now; if not, the test is still right */
  _Atomic int heard = 0;
  (void)observe(of_parent, "value", KVO_ENDS_WITH_OBJECT, &heard, NULL);
  call_setter(of_parent, 7);
  CHECK_EQ((int)write(ready[1], "", 1), 1);
  int status;
  CHECK(waitpid(child, &status, 0) == child);
  CHECK(WIFEXITED(status) && WEXITSTATUS(status) == 0);
  call_setter(of_parent, 8);
  CHECK_EQ((int)heard, 2);
  CHECK_EQ((int)of_parent->value, -8);
  shared_destroy(of_parent);
  shared_destroy(of_child);
  shared_destroy(before);
}

/* ---------------------------------------------------------------------------------------------------- With threads -- */

/* ThreadSanitizer checks the parent only: its allocator does not support a fork while other threads allocate, and a child that allocates
 * may deadlock. */
static void do_nothing(void) {}
static bool child_can_allocate(void) {
  return !harness_is_instrumented() || strcmp(getenv("KVO_TEST_TOOL"), "tsan") != 0;
}

static void hammer(int number) {
  shared *end = atomic_load(&object->next);
  while (working > 0) {
    kvo_observation id =
        observe(object, number % 2 == 0 ? "value" : "next.value", KVO_NEW | KVO_ENDS_WITH_OBJECT, NULL, NULL);
    set(number % 3 == 0 ? end : object, number);
    if (number % 4 == 0) set_next(object, end);
    (void)kvo_cancel_observer_and_wait(id);
    shared *own = shared_make();
    set_next(own, end);
    (void)observe(own, "next.value", KVO_OLD | KVO_ENDS_WITH_OBJECT, NULL, NULL);
    shared_destroy(own);
  }
}

static void fork_or_hammer(int number) {
  if (number != 0) {
    hammer(number);
    return;
  }
  for (int i = 0; i < rounds(60); i++) {
    usleep(500);
    fork_and(child_can_allocate() ? use_hammered_object : do_nothing);
  }
  working = 0;
}

TEST("a child that is forked while other threads set, register, evaluate and wait can do all of these") {
  leaf = shared_make();
  object = shared_make();
  observe_twice(object);
  working = 1;
  on_threads(fork_or_hammer);
  clean_up(object);
}

static void use_quiet_object_under_hammer(void) {
  use_all(quiet);
  CHECK_EQ((int)destroyed, 2);
}

static void fork_quiet_or_hammer(int number) {
  if (number != 0) {
    hammer(number);
    return;
  }
  for (int i = 0; i < rounds(60); i++) fork_and(child_can_allocate() ? use_quiet_object_under_hammer : do_nothing);
  working = 0;
}

TEST("a fork loses no memory of an object that no other thread was using") {
  object = shared_make();
  set_next(object, object);
  leaf = shared_make();
  quiet = shared_make();
  observe_twice(quiet);
  working = 1;
  on_threads(fork_quiet_or_hammer);
  clean_up(quiet);
  shared_destroy(object);
}

/* --------------------------------------------------------------------------------------------------- In a callback -- */

static _Atomic int inside, let_go;

static void stay(const kvo_change *change, void *user_data) {
  (void)change;
  (void)user_data;
  atomic_store(&inside, 1);
  await(&let_go);
}

static void set_object(void *arg) {
  (void)arg;
  set(object, 1);
}

static void remove_the_held(void) {
  /* The thread that ran it does not exist in the child: there is nothing to wait for, and what its set used is never freed. */
  CHECK_OK(kvo_cancel_observer_and_wait(stable));
  calls = 0;
  kvo_observation id = observe(object, "value", KVO_NEW, &calls, &destroyed);
  set(object, 2);
  CHECK_EQ((int)calls, 1);
  CHECK_OK(kvo_remove_observer(id));
  CHECK_EQ((int)destroyed, 0);
  CHECK(!kvo_object_is_observed(&object->header));
  shared_destroy(object);
}

TEST("the child does not wait for a callback of another thread, and what that thread used is not freed") {
  object = shared_make();
  stable = observe_with(object, "value", KVO_NEW, stay, NULL);
  running *setter = start_thread(set_object, NULL);
  await(&inside);
  fork_and(remove_the_held);
  atomic_store(&let_go, 1);
  join_thread(setter);
  CHECK_OK(kvo_remove_observer(stable));
  shared_destroy(object);
}

static _Atomic int forked;

static void hold_section(void *arg) {
  (void)arg;
  static kvo_guard guard;
  kvo_guard_lock(&guard);
  atomic_store(&inside, 1);
  await(&let_go);
  kvo_guard_unlock(&guard);
}

static void fork_idle(void *arg) {
  (void)arg;
  fork_and(do_nothing);
  atomic_store(&forked, 1);
}

TEST("a fork waits until a binding has released a lock of its own") {
  running *holder = start_thread(hold_section, NULL);
  await(&inside);
  running *forking = start_thread(fork_idle, NULL);
  a_moment();
  CHECK_EQ((int)forked, 0);
  atomic_store(&let_go, 1);
  join_thread(forking);
  join_thread(holder);
  CHECK_EQ((int)forked, 1);
}

static void fork_within(const kvo_change *change, void *user_data) {
  (void)change;
  (void)user_data;
  pid_t child = fork();
  CHECK(child >= 0);
  calls++;
  if (child == 0) {
    alarm(SECONDS);
    working = 1; /* in the child */
    return;
  }
  int status;
  CHECK(waitpid(child, &status, 0) == child);
  CHECK(WIFEXITED(status) && WEXITSTATUS(status) == 0);
}

TEST("a callback may fork: in both processes the change is delivered to the other observers") {
  object = shared_make();
  kvo_observation older = observe(object, "value", KVO_NEW, &path_calls, &destroyed);
  kvo_observation forking = observe_with(object, "value", KVO_NEW, fork_within, NULL);
  set(object, 1);
  CHECK_EQ((int)calls, 1);
  CHECK_EQ((int)path_calls, 1);
  CHECK_OK(kvo_cancel_observer_and_wait(forking));
  CHECK_OK(kvo_cancel_observer_and_wait(older));
  CHECK_EQ((int)destroyed, 1);
  shared_destroy(object);
  if (working) _exit(0);
}

static kvo_action expect_no_will(const kvo_fault *fault, void *arg) {
  (void)arg;
  CHECK_EQ((int)fault->code, KVO_FAULT_DID_WITHOUT_WILL); /* not KVO0030: the other thread does not exist */
  calls++;
  return KVO_ACTION_IGNORE;
}

static void end_what_another_began(void) {
  calls = 0;
  kvo_set_fault_handler(expect_no_will, NULL);
  CHECK_STATUS(kvo_did_change(&object->header, "value"), KVO_ERROR_UNBALANCED);
  CHECK_EQ((int)calls, 1);
}

static void fork_and_end(void *arg) {
  (void)arg;
  shared_destroy(shared_make()); /* gives this thread a record, later than the thread with the will */
  kvo_observation id = observe(object, "next", KVO_NEW, NULL, NULL);
  set_next(object, NULL);
  CHECK_OK(kvo_remove_observer(id));
  fork_and(child_can_allocate() ? end_what_another_began : do_nothing);
}

TEST_REPORTED("in the child of a fork changes announced by other threads do not exist") {
  object = shared_make();
  kvo_observation id = observe(object, "value", KVO_NEW, &calls, NULL);
  CHECK_OK(kvo_will_change(&object->header, "value"));
  join_thread(start_thread(fork_and_end, NULL));
  CHECK_OK(kvo_did_change(&object->header, "value"));
  CHECK_EQ((int)calls, 1);
  CHECK_OK(kvo_remove_observer(id));
  shared_destroy(object);
}

static void fork_often(int number) {
  (void)number;
  for (int i = 0; i < rounds(100); i++) {
    pid_t child = fork();
    CHECK(child >= 0);
    if (child == 0) {
      alarm(SECONDS);
      set(quiet, i);
      kvo_observation id = observe(quiet, "value", KVO_NEW, NULL, NULL);
      _exit(kvo_cancel_observer(id) == KVO_OK ? 0 : 1);
    }
    int status;
    CHECK(waitpid(child, &status, 0) == child);
    CHECK_EQ(status, 0);
  }
}

TEST("of several threads that fork at the same time each has a child that can do everything") {
  quiet = shared_make();
  on_threads(fork_often);
  shared_destroy(quiet);
}

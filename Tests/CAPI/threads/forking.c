/* forking.c - fork(2) with live observations: they work in the child, whatever other threads were doing. */
#include "made.h"
#include "staying.h"

#include <kvo/kvo_binding.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

static shared *object, *quiet, *leaf;
static _Atomic int calls, path_calls, destroyed, working;
static kvo_observation stable, path;

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

/* All operations on observations, for an object that has these two. */
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

static void do_nothing(void) {}

/* ThreadSanitizer checks the parent only: its allocator does not support a fork while other threads allocate, and
 * a child that allocates may deadlock. */
static void fork_beside_threads_and(void (*body)(void)) {
  const char *tool = getenv("KVO_TEST_TOOL");
  fork_and(tool != NULL && strcmp(tool, "tsan") == 0 ? do_nothing : body);
}

/* -------------------------------------------------------------------------------------------------- One thread -- */

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

static int get_value(const shared *of) { return of->value; }
static void store_negative(shared *of, int value) { of->value = -value; }

/* The trampolines are in memory that the processes share: the child makes one after the parent has made its own. */
TEST("setters that are first observed after a fork are of the process that observes them") {
  kvo_property_spec property = PROPERTY("value", "i", get_value, store_negative);
  kvo_class *negative = class_made("Negative", sizeof(shared), &property, 1), *positive;
  CHECK_OK(shared_register("Positive", &positive));
  shared *before = shared_make(), *of_parent = shared_make_of(negative), *of_child = shared_make_of(positive);
  observe(before, "value", KVO_ENDS_WITH_OBJECT, NULL, NULL); /* its trampolines use the memory in part */
  _Atomic int *parent_has_observed = mmap(NULL, 4096, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
  CHECK(parent_has_observed != MAP_FAILED);
  pid_t child = fork();
  shared *own = child == 0 ? of_child : of_parent;
  if (child == 0) await(parent_has_observed);
  observe(own, "value", KVO_ENDS_WITH_OBJECT, &calls, NULL);
  *parent_has_observed = 1;
  if (child != 0) await_child(child);
  SETTER(&own->header, "value", int)(&own->header, 7); /* the trampoline; KVO_SET needs none */
  CHECK_EQ((int)own->value, child == 0 ? 7 : -7);
  CHECK_EQ((int)calls, 1);
  if (child == 0) _exit(0);
  shared *all[] = {before, of_parent, of_child};
  for (int i = 0; i < 3; i++) shared_destroy(all[i]);
}

/* --------------------------------------------------------------------------------------------- Several threads -- */

static void hammer(shared *end) {
  for (int i = 0; working > 0; i++) {
    kvo_observation id =
        observe(object, i % 2 == 0 ? "value" : "next.value", KVO_NEW | KVO_ENDS_WITH_OBJECT, NULL, NULL);
    set(i % 3 == 0 ? end : object, i);
    if (i % 4 == 0) set_next(object, end);
    (void)kvo_cancel_observer_and_wait(id);
    shared *own = shared_make();
    set_next(own, end);
    (void)observe(own, "next.value", KVO_OLD | KVO_ENDS_WITH_OBJECT, NULL, NULL);
    shared_destroy(own);
  }
}

static void (*in_child)(void);

static void fork_or_hammer(int number) {
  if (number != 0) {
    hammer(atomic_load(&object->next));
    return;
  }
  for (int i = 0; i < rounds(60); i++) {
    usleep(500);
    fork_beside_threads_and(in_child);
  }
  working = 0;
}

TEST("a child that is forked while other threads set, register, evaluate and wait can do all of these") {
  leaf = shared_make();
  object = shared_make();
  observe_twice(object);
  working = 1;
  in_child = use_hammered_object;
  on_threads(fork_or_hammer);
  clean_up(object);
}

TEST("a fork loses no memory of an object that no other thread was using") {
  object = shared_make();
  set_next(object, object);
  leaf = shared_make();
  quiet = shared_make();
  observe_twice(quiet);
  working = 1;
  in_child = use_quiet_object;
  on_threads(fork_or_hammer);
  clean_up(quiet);
  shared_destroy(object);
}

static void set_and_observe(void) {
  set(quiet, 1);
  CHECK_OK(kvo_cancel_observer(observe(quiet, "value", KVO_NEW, NULL, NULL)));
}

static void fork_often(int number) {
  for (int i = 0; i < rounds(100); i++) fork_and(set_and_observe);
}

TEST("of several threads that fork at the same time each has a child that can do everything") {
  quiet = shared_make();
  on_threads(fork_often);
  shared_destroy(quiet);
}

/* ---------------------------------------------------------------------------------------- Callbacks and guards -- */

static void remove_the_held(void) {
  /* The thread that ran it does not exist in the child: there is nothing to wait for, and what its set used is
   * never freed. */
  CHECK_OK(kvo_cancel_observer_and_wait(stable));
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
  running *setter = start_staying(set_once, object);
  fork_and(remove_the_held);
  end_staying(setter);
  CHECK_OK(kvo_remove_observer(stable));
  shared_destroy(object);
}

static void fork_within(const kvo_change *change, void *is_child) {
  pid_t child = fork();
  CHECK(child >= 0);
  calls++;
  *(bool *)is_child = child == 0;
  if (child != 0) await_child(child);
}

TEST("a callback may fork: in both processes the change is delivered to the other observers") {
  object = shared_make();
  bool is_child = false;
  kvo_observation older = observe(object, "value", KVO_NEW, &path_calls, &destroyed);
  kvo_observation forking = observe_with(object, "value", KVO_NEW, fork_within, &is_child);
  set(object, 1);
  CHECK_EQ((int)calls, 1);
  CHECK_EQ((int)path_calls, 1);
  CHECK_OK(kvo_cancel_observer_and_wait(forking));
  CHECK_OK(kvo_cancel_observer_and_wait(older));
  CHECK_EQ((int)destroyed, 1);
  shared_destroy(object);
  if (is_child) _exit(0);
}

static void hold_guard(void *arg) {
  static kvo_guard guard;
  kvo_guard_lock(&guard);
  stay(NULL, NULL);
  kvo_guard_unlock(&guard);
}

static void fork_idle(void *forked) {
  fork_and(do_nothing);
  atomic_store((_Atomic int *)forked, 1);
}

TEST("a fork waits until a binding has released a lock of its own") {
  _Atomic int forked = 0;
  running *holder = start_staying(hold_guard, NULL);
  running *forking = start_thread(fork_idle, &forked);
  a_moment();
  CHECK_EQ((int)forked, 0);
  end_staying(holder);
  join_thread(forking);
  CHECK_EQ((int)forked, 1);
}

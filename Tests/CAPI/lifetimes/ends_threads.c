/* ends_threads.c - ends of observations and of objects that several threads cause, or ask for, at the same moment. */
#include "fixture.h"
#include "shared.h"

#include <kvo/kvo_binding.h>
#include <pthread.h>
#include <sched.h>

enum { PER_ROUND = 4, MOST_STEPS = 4 };

static item *object;
static kvo_observation id;
static _Atomic int called, destroyed, accepted, registered;

static void count_destroyed(void *user_data) { destroyed++; }
static const kvo_observer_ops ops = {.callback = ignore_raw, .destroy = count_destroyed};
static const kvo_observer_ops death_ops = {.destroy = count_destroyed};

static kvo_observation receive(item *of, const void *receiver) {
  kvo_binding_observer observer = {.ops = &ops, .options = KVO_ENDS_WITH_OBJECT, .is_receiver = true};
  return observe_named(as_object(of), "value", "Receiver", receiver, observer);
}

/* In each round every step runs on a thread of its own, all released at the same moment. */
typedef void (*step)(void);
static pthread_barrier_t gate;

static void run(void *arg) {
  for (int round = 0; round < rounds(3000); round++) {
    pthread_barrier_wait(&gate);
    (*(const step *)arg)();
    pthread_barrier_wait(&gate);
  }
}

static void race(const step *steps, int count, step before, step after) {
  running *threads[MOST_STEPS];
  pthread_barrier_init(&gate, NULL, (unsigned)count + 1);
  for (int i = 0; i < count; i++) threads[i] = start_thread(run, (void *)(uintptr_t)&steps[i]);
  for (int round = 0; round < rounds(3000); round++) {
    before();
    pthread_barrier_wait(&gate);
    pthread_barrier_wait(&gate);
    after();
  }
  for (int i = 0; i < count; i++) join_thread(threads[i]);
}

static bool is_in_time(kvo_status status) { return status == KVO_OK || status == KVO_ERROR_NOT_REGISTERED; }
static void cancel(void) { CHECK(is_in_time(kvo_cancel_observer(id))); }
static void set_object(void) { item_set_value(object, 2); }
static void destroy(void) { item_destroy(object); }

/* ------------------------------------------------------------------------------------------- Of an observation -- */

static void make_observed(void) {
  object = item_make(1);
  called = destroyed = accepted = 0;
  id = receive(object, &gate);
}

static void note_end(kvo_end end, void *arg) {
  CHECK_EQ((int)(intptr_t)arg, 7);
  CHECK_EQ((int)destroyed, 1); /* the user data goes first */
  called++;
}

static void ask(void) {
  for (int i = 0; i < PER_ROUND; i++) {
    kvo_status status = kvo_observation_on_end(id, note_end, (void *)7);
    CHECK(is_in_time(status));
    accepted += status == KVO_OK;
  }
}

static void check_ended(void) {
  CHECK_EQ((int)destroyed, 1);
  CHECK_EQ((int)called, (int)accepted);
}

static void check_ended_and_destroy(void) {
  check_ended();
  destroy();
}

TEST(
    "an end that is asked for while other threads cancel the observation and destroy its object is delivered once, or refused") {
  race((step[]){ask, cancel, destroy}, 3, make_observed, check_ended);
}

TEST("an end is delivered once when two threads cancel the observation while it is delivered") {
  race((step[]){ask, cancel, cancel, set_object}, 4, make_observed, check_ended_and_destroy);
}

/* ------------------------------------------------------------------------------------------------ Of an object -- */

static void make_watched(void) {
  object = item_make(1);
  destroyed = 0;
  CHECK_OK(kvo_binding_observe_death(as_object(object), &death_ops, NULL, &id));
}

static void check_destroyed(void) { CHECK_EQ((int)destroyed, 1); }

TEST("a watch of a death that two threads cancel while a third one destroys the object is destroyed once") {
  race((step[]){cancel, cancel, destroy}, 3, make_watched, check_destroyed);
}

/* As a receiver does: an observation, and the watch that ends it at the death of the receiver. */
static void watch_and_cancel(void) {
  kvo_observation watch;
  for (int i = 0; i < PER_ROUND; i++) {
    CHECK_OK(kvo_binding_observe_death(as_object(object), &death_ops, NULL, &watch));
    if (i % 2 == 0) CHECK(is_in_time(kvo_cancel_observer(watch)));
  }
}

static void make_object(void) {
  object = item_make(1);
  destroyed = 0;
}

static void destroy_and_check_all(void) {
  destroy();
  CHECK_EQ((int)destroyed, 2 * PER_ROUND);
}

TEST("every watch that several threads make and cancel is destroyed once, at the latest with the object") {
  race((step[]){watch_and_cancel, watch_and_cancel}, 2, make_object, destroy_and_check_all);
}

/* --------------------------------------------------------------------------------------------- Of many at once -- */

enum { OBJECTS = 3, REGISTERING = 2, MOST_ALIVE = 10000 };
static item *items[OBJECTS];
static _Atomic bool stops;
static char me, other;

static void register_and_cancel(void *arg) {
  for (int i = 0; !stops; i++) {
    kvo_observation mine = receive(items[i % OBJECTS], &me), others = receive(items[i % OBJECTS], &other);
    if (i % 3 == 0) CHECK(is_in_time(kvo_cancel_observer(mine)));
    CHECK_OK(kvo_cancel_observer(others)); /* not found by the search for the other receiver */
    registered += 2;
    while (registered - destroyed > MOST_ALIVE && !stops) sched_yield();
  }
}

/* Receivers that come and go with objects of their own. */
static void live_and_die(void *arg) {
  while (!stops) {
    item *own = item_make(1);
    receive(own, &me);
    registered++;
    item_destroy(own);
  }
}

TEST("the observations of a receiver everywhere are ended while other threads register, cancel, and destroy objects") {
  for (int i = 0; i < OBJECTS; i++) items[i] = item_make(1);
  running *threads[REGISTERING + 1];
  for (int i = 0; i <= REGISTERING; i++)
    threads[i] = start_thread(i < REGISTERING ? register_and_cancel : live_and_die, NULL);
  size_t ended = 0;
  for (int i = 0; i < 300 || ended < 100; i++) { /* on a busy machine the other threads may begin late */
    ended += kvo_binding_end_all(NULL, &me, "value", true, NULL, 0);
    sched_yield();
  }
  stops = true;
  for (int i = 0; i <= REGISTERING; i++) join_thread(threads[i]);
  kvo_binding_end_all(NULL, &me, NULL, true, NULL, 0);
  CHECK_EQ((int)destroyed, (int)registered);
  CHECK_EQ((int)kvo_binding_end_all(NULL, &me, NULL, true, NULL, 0), 0);
  for (int i = 0; i < OBJECTS; i++) {
    CHECK_EQ((int)kvo_object_observation_count(as_object(items[i])), 0);
    item_destroy(items[i]);
  }
}

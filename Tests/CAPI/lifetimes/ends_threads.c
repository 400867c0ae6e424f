/* ends_threads.c - ends of observations and of objects that several threads cause, or ask for, at the same moment. */
#include "fixture.h"

#include <kvo/kvo_binding.h>
#include <pthread.h>
#include <sched.h>
#include <stdlib.h>
#include <string.h>

enum { ROUNDS = 3000, PER_ROUND = 4 };

static pthread_barrier_t gate;
static kvo_object *object;
static kvo_observation id;
static _Atomic int called, destroyed;
static int accepted;

static void note_end(kvo_end end, void *arg) {
  (void)end;
  CHECK_EQ((int)(intptr_t)arg, 7);
  CHECK_EQ(destroyed, 1); /* the user data goes first */
  called++;
}

static void count_destroyed(void *user_data) { (void)user_data, destroyed++; }
static void ignore(const kvo_raw_change *change, void *user_data) { (void)change, (void)user_data; }
static const kvo_observer_ops ops = {.callback = ignore, .destroy = count_destroyed};

static kvo_observation observe(kvo_object *of, const void *receiver) {
  kvo_binding_observer observer = {.key_path = "value",
                                   .ops = &ops,
                                   .identity = {"Receiver", receiver},
                                   .options = KVO_ENDS_WITH_OBJECT,
                                   .is_receiver = true};
  kvo_observation made;
  CHECK_OK(kvo_binding_observe_key(of, kvo_key_hash("value", 5), &observer, &made));
  return made;
}

static bool is_in_time(kvo_status status) { return status == KVO_OK || status == KVO_ERROR_NOT_REGISTERED; }

/* Each round: one thread per function, released at the same moment. */
typedef void (*step)(int round);

static void *run(void *arg) {
  step does = *(step *)arg;
  for (int round = 0; round < ROUNDS; round++) {
    pthread_barrier_wait(&gate);
    does(round);
    pthread_barrier_wait(&gate);
  }
  return NULL;
}

static void race(step *steps, unsigned count, void (*before)(int round), void (*after)(int round)) {
  pthread_t threads[4];
  pthread_barrier_init(&gate, NULL, count + 1);
  for (unsigned i = 0; i < count; i++) CHECK(pthread_create(&threads[i], NULL, run, &steps[i]) == 0);
  for (int round = 0; round < ROUNDS; round++) {
    before(round);
    pthread_barrier_wait(&gate);
    pthread_barrier_wait(&gate);
    after(round);
  }
  for (unsigned i = 0; i < count; i++) pthread_join(threads[i], NULL);
  pthread_barrier_destroy(&gate);
}

static void cancel(int round) {
  (void)round;
  CHECK(is_in_time(kvo_cancel_observer(id)));
}

static void destroy(int round) {
  (void)round;
  item_destroy((item *)object);
}

/* ------------------------------------------------------------------------------------------------ Of an observation -- */

static void make_observed(int round) {
  (void)round;
  object = as_object(item_make(1));
  called = destroyed = accepted = 0;
  id = observe(object, &gate);
}

static void ask(int round) {
  (void)round;
  for (int i = 0; i < PER_ROUND; i++) {
    kvo_status status = kvo_observation_on_end(id, note_end, (void *)7);
    CHECK(is_in_time(status));
    accepted += status == KVO_OK;
  }
}

static void check_told(int round) {
  (void)round;
  CHECK_EQ(destroyed, 1);
  CHECK_EQ(called, accepted);
}

TEST(
    "an end that is asked for while other threads cancel the observation and destroy its object is told once, or refused") {
  step steps[] = {ask, cancel, destroy};
  race(steps, 3, make_observed, check_told);
}

static void set(int round) { item_set_value((item *)object, round); }

static void check_told_and_destroy(int round) {
  check_told(round);
  destroy(round);
}

TEST("an end is told once when two threads cancel the observation while it is delivered") {
  step steps[] = {ask, cancel, cancel, set};
  race(steps, 4, make_observed, check_told_and_destroy);
}

/* ----------------------------------------------------------------------------------------------------- Of an object -- */

static const kvo_observer_ops death_ops = {.destroy = count_destroyed};

static void watch_death(int round) {
  (void)round;
  object = as_object(item_make(1));
  destroyed = 0;
  CHECK_OK(kvo_binding_observe_death(object, &death_ops, NULL, &id));
}

static void check_destroyed(int round) {
  (void)round;
  CHECK_EQ(destroyed, 1);
}

TEST("a watch of a death that two threads cancel while a third one destroys the object is destroyed once") {
  step steps[] = {cancel, cancel, destroy};
  race(steps, 3, watch_death, check_destroyed);
}

static _Atomic int watched;

/* As a receiver does: an observation, and the watch that ends it at the death of the receiver. */
static void observe_and_watch(int round) {
  (void)round;
  kvo_observation watch;
  for (int i = 0; i < PER_ROUND; i++) {
    kvo_status status = kvo_binding_observe_death(object, &death_ops, NULL, &watch);
    CHECK(status == KVO_OK || status == KVO_ERROR_DYING_OBJECT);
    if (status != KVO_OK) continue;
    watched++;
    if (i % 2 == 0) CHECK(is_in_time(kvo_cancel_observer(watch)));
  }
}

static void make_watched(int round) {
  (void)round;
  object = as_object(item_make(1));
  destroyed = watched = 0;
}

static void check_all_destroyed(int round) {
  (void)round;
  item_destroy((item *)object);
  CHECK_EQ(destroyed, watched);
  CHECK(watched >= 2 * PER_ROUND);
}

TEST("every watch that several threads make and cancel is destroyed once, at the latest with the object") {
  step steps[] = {observe_and_watch, observe_and_watch};
  race(steps, 2, make_watched, check_all_destroyed);
}

/* --------------------------------------------------------------------------------------------------- Of many at once -- */

enum { OBJECTS = 3, REGISTERING = 2, MOST_ALIVE = 10000 };
static item *items[OBJECTS];
static _Atomic int registered;
static _Atomic bool stops;
static char me, other;

static void *register_and_cancel(void *arg) {
  (void)arg;
  for (int i = 0; !stops; i++) {
    kvo_observation mine = observe(as_object(items[i % OBJECTS]), &me);
    kvo_observation others = observe(as_object(items[i % OBJECTS]), &other);
    if (i % 3 == 0) CHECK(is_in_time(kvo_cancel_observer(mine)));
    CHECK_OK(kvo_cancel_observer(others)); /* not found by the search for the other receiver */
    registered += 2;
    while (registered - destroyed > MOST_ALIVE && !stops) sched_yield();
  }
  return NULL;
}

/* Receivers that come and go with objects of their own. */
static void *live_and_die(void *arg) {
  (void)arg;
  while (!stops) {
    item *own = item_make(1);
    observe(as_object(own), &me);
    registered++;
    item_destroy(own);
  }
  return NULL;
}

TEST("the observations of a receiver everywhere are ended while other threads register, cancel, and destroy objects") {
  for (int i = 0; i < OBJECTS; i++) items[i] = item_make(1);
  pthread_t threads[REGISTERING + 1];
  for (int i = 0; i < REGISTERING; i++) CHECK(pthread_create(&threads[i], NULL, register_and_cancel, NULL) == 0);
  CHECK(pthread_create(&threads[REGISTERING], NULL, live_and_die, NULL) == 0);
  size_t ended = 0;
  for (int i = 0; i < 300 || ended < 100; i++) { /* on a busy machine the other threads may begin late */
    ended += kvo_binding_end_all(NULL, &me, "value", true, NULL, 0);
    sched_yield();
  }
  stops = true;
  for (int i = 0; i < REGISTERING + 1; i++) pthread_join(threads[i], NULL);
  kvo_binding_end_all(NULL, &me, NULL, true, NULL, 0);
  CHECK_EQ(destroyed, registered);
  CHECK_EQ((int)kvo_binding_end_all(NULL, &me, NULL, true, NULL, 0), 0);
  for (int i = 0; i < OBJECTS; i++) {
    CHECK_EQ((int)kvo_object_observation_count(as_object(items[i])), 0);
    item_destroy(items[i]);
  }
}

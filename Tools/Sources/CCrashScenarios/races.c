/* races.c - K79 to K86: threads. */
#define _GNU_SOURCE
#include "scenarios.h"

#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

enum { THREADS = 4, SETS = 500 };

static void set_pages_often(size_t index, void *arg) {
  for (int i = 0; i < SETS; i++) document_set_pages(arg, (int)index * SETS + i);
}

static void each_set_is_told(void) {
  panel sidebar = {.name = "sidebar"};
  document *letter = document_make("A letter");
  kvo_observation id = OBSERVE(&sidebar, letter, "pages", KVO_NEW | KVO_OLD);
  kvo_crash_in_threads(THREADS, set_pages_often, letter);
  CHECK(sidebar.calls == THREADS * SETS);
  kvo_remove_observer(id);
  document_destroy(letter);
}

static void register_or_set(size_t index, void *arg) {
  document *letter = arg;
  panel own = {.name = "own"};
  for (int i = 0; i < SETS; i++) {
    if (index % 2 == 0) {
      document_set_pages(letter, i);
      continue;
    }
    kvo_observation id = OBSERVE(&own, letter, "pages", KVO_NEW);
    kvo_cancel_observer_and_wait(id); /* `own` is on this thread's stack */
  }
}

static void register_while_others_set(void) {
  document *letter = document_make("A letter");
  kvo_crash_in_threads(THREADS, register_or_set, letter);
  CHECK(!kvo_object_is_observed(&letter->header));
  document_destroy(letter);
}

typedef struct replacing {
  document *letter;
  author *authors[THREADS];
} replacing;

static void replace_author(size_t index, void *arg) {
  replacing *of = arg;
  for (int i = 0; i < SETS; i++) document_set_author(of->letter, of->authors[(index + (size_t)i) % THREADS]);
}

static void replace_on_the_path(void) {
  panel sidebar = {.name = "sidebar"};
  replacing of = {.letter = document_make("A letter")};
  for (size_t i = 0; i < THREADS; i++) of.authors[i] = author_make("An author");
  kvo_observation id = OBSERVE(&sidebar, of.letter, "author.name", KVO_NEW);
  kvo_crash_in_threads(THREADS, replace_author, &of);
  int before = sidebar.calls;
  author_set_name(of.letter->author, "The last one");
  CHECK(sidebar.calls == before + 1); /* it follows the author that is there now */
  kvo_remove_observer(id);
  document_destroy(of.letter);
  for (size_t i = 0; i < THREADS; i++) author_destroy(of.authors[i]);
}

/* -------------------------------------------------------------------------------------------------------------- Locks -- */

static void set_the_other(panel *self, const kvo_change *change) {
  (void)change;
  if (self->of->pages % 2 == 0) document_set_pages(self->of, 1); /* an odd number goes no further */
}

static void set_one_of_two(size_t index, void *arg) {
  document *const *both = arg;
  for (int i = 0; i < SETS; i++) document_set_pages(both[index], 2 * i);
}

static void callbacks_set_each_other(void) {
  document *both[] = {document_make("A letter"), document_make("A reply")};
  panel left = {.name = "left", .of = both[1], .then = set_the_other};
  panel right = {.name = "right", .of = both[0], .then = set_the_other};
  OBSERVE(&left, both[0], "pages", KVO_NEW);
  OBSERVE(&right, both[1], "pages", KVO_NEW);
  kvo_crash_in_threads(2, set_one_of_two, both);
  CHECK(left.calls >= SETS && right.calls >= SETS);
  kvo_remove_observer(left.observation);
  kvo_remove_observer(right.observation);
  document_destroy(both[0]);
  document_destroy(both[1]);
}

static pthread_mutex_t of_the_program = PTHREAD_MUTEX_INITIALIZER;
static _Atomic int is_locked, is_in_callback;

/* Gives up after a while, so that the scenario ends. */
static void lock_in_callback(panel *self, const kvo_change *change) {
  (void)self;
  (void)change;
  struct timespec end;
  is_in_callback = 1;
  clock_gettime(CLOCK_REALTIME, &end);
  end.tv_nsec += 300000000;
  end.tv_sec += end.tv_nsec / 1000000000;
  end.tv_nsec %= 1000000000;
  if (pthread_mutex_timedlock(&of_the_program, &end) == 0) pthread_mutex_unlock(&of_the_program);
}

static void set_or_wait_locked(size_t index, void *arg) {
  panel *sidebar = arg;
  if (index == 0) {
    await(&is_locked);
    document_set_pages(sidebar->of, 2);
    return;
  }
  pthread_mutex_lock(&of_the_program);
  is_locked = 1;
  await(&is_in_callback);
  kvo_cancel_observer_and_wait(sidebar->observation); /* for a callback that wants the lock */
  pthread_mutex_unlock(&of_the_program);
}

static void wait_with_a_lock(void) {
  panel sidebar = {.name = "sidebar", .of = document_make("A letter"), .then = lock_in_callback};
  OBSERVE(&sidebar, sidebar.of, "pages", KVO_NEW); // site K83c: registered
  kvo_crash_in_threads(2, set_or_wait_locked, &sidebar);
  CHECK(sidebar.calls == 1);
  document_destroy(sidebar.of);
}

/* ------------------------------------------------------------------------------------------------------ First and last -- */

static void set_nothing(kvo_object *object, int value) {
  (void)object;
  (void)value;
}

static void be_first(size_t index, void *arg) {
  kvo_class *cls = arg;
  kvo_object *object = NULL;
  (void)index;
  panel own = {.name = "own"};
  CHECK(kvo_object_create(cls, &object) == KVO_OK);
  kvo_observation id = panel_observe(&own, object, "value", KVO_NEW, NULL, __FILE__, __LINE__);
  KVO_SET(object, "value", int, 1);
  CHECK(own.calls == 1);
  kvo_remove_observer(id);
  kvo_object_destroy(object);
}

static void first_observations_of_a_class(void) {
  for (int round = 0; round < 50; round++) {
    static int number;
    char name[32];
    snprintf(name, sizeof name, "Fresh%d", number++);
    kvo_property_spec property = {.name = "value", .type = "i", .setter = (kvo_function)set_nothing};
    kvo_class_spec spec = {.struct_size = sizeof spec,
                           .name = name,
                           .instance_size = sizeof(kvo_object),
                           .properties = &property,
                           .property_count = 1};
    kvo_class *fresh;
    CHECK(kvo_class_register(&spec, &fresh) == KVO_OK);
    kvo_crash_in_threads(THREADS, be_first, fresh);
  }
}

static void set_or_remove(size_t index, void *arg) {
  panel *sidebar = arg;
  if (index == 0)
    for (int i = 0; i < 20; i++) document_set_pages(sidebar->of, i);
  else
    kvo_cancel_observer_and_wait(sidebar->observation);
}

static void last_removal_and_a_set(void) {
  panel sidebar = {.name = "sidebar", .of = document_make("A letter")};
  for (int round = 0; round < 200; round++) {
    OBSERVE(&sidebar, sidebar.of, "pages", KVO_NEW | KVO_OLD);
    kvo_crash_in_threads(2, set_or_remove, &sidebar);
    CHECK(!kvo_object_is_observed(&sidebar.of->header));
    CHECK(sidebar.of->pages == 19);
  }
  document_destroy(sidebar.of);
}

static const kvo_crash_scenario list[] = {
    SCENARIO("K79c", each_set_is_told, "", .variation = "more threads, more observers"),
    SCENARIO("K80c", register_while_others_set, "", .variation = "of key paths"),
    SCENARIO("K81c", replace_on_the_path, "", .variation = "two levels, nil among them"),
    SCENARIO("K82c", callbacks_set_each_other, "", .variation = "three objects"),
    SCENARIO("K83c", wait_with_a_lock, "27", .environment = "KVO_SLOW_MS=50",
             .variation = "the runtime does not know the program's locks: it can only tell that a callback takes long"),
    SCENARIO("K84c", first_observations_of_a_class, "", .variation = "a class with a superclass"),
    SCENARIO("K85c", last_removal_and_a_set, "", .variation = "of an affected key"),
    IMPOSSIBLE("K86c", "in C who registers guarantees that the object lives until the call returns: nothing could tell "
                       "memory that was freed from an object"),
};

const crash_part crash_races = CRASH_PART(list);

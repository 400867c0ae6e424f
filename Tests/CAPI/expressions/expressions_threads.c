/* expressions_threads.c - expressions that are evaluated and registered while other threads change what they read. */
#include "expression.h"
#include "shared.h"

#include <stdlib.h>

static const char *const value_name = "value";

static int read_shared(shared *of) {
  kvo_track_read(&of->header, key_of(value_name));
  return 0;
}

/* --------------------------------------------------------------------------------------------- What is dropped -- */

/* Two objects that have the expression evaluated, one on each thread, and one that it reads only sometimes. */
static shared *one, *two, *third;
static _Atomic int has_begun_later, has_linked, has_dropped;
static bool races;
static _Thread_local bool is_second_thread, is_nested;

static int read_in_a_race(expression *self) {
  if (races && is_nested) return read_shared(one) + read_shared(two);
  bool is_older = races && !is_second_thread, is_later = races && is_second_thread;
  if (is_older) { /* it adds a dependency after a newer evaluation has ended */
    is_nested = true;
    set(two, 1);
    is_nested = false;
  }
  if (is_later) { /* it expects the dependency; but that is dropped when the older evaluation ends */
    has_begun_later = 1;
    await(&has_dropped);
    races = false;
  }
  int sum = read_shared(one) + read_shared(two) + read_shared(third);
  if (is_older) {
    has_linked = 1;
    await(&has_begun_later);
  }
  return sum;
}

static void change_two(void *arg) {
  is_second_thread = true;
  await(&has_linked);
  set(two, 2);
}

TEST("an evaluation that has read what another thread then drops is repeated, and depends on it") {
  one = shared_make(), two = shared_make(), third = shared_make();
  races = true;
  is_nested = true; /* at the registration it reads two of the three */
  expression sum = {.root = &one->header, .body = read_in_a_race};
  expression_begin(&sum, KVO_NONE);
  is_nested = false;
  running *second = start_thread(change_two, NULL);
  set(one, 1);
  has_dropped = 1;
  join_thread(second);
  int before = sum.notified;
  set(third, 1);
  CHECK_EQ(sum.notified, before + 1);
  expression_end(&sum);
  CHECK_EQ(kvo_object_observation_count(&third->header), 0);
}

/* ------------------------------------------------------------------------------------------------------- Churn -- */

enum { MANY = 20 };
static shared *all[MANY];
static _Atomic int working;

static int read_many(expression *self) {
  for (int i = 0; i < MANY; i++) read_shared(all[i]);
  return 0;
}

static void evaluate_or_churn(int number) {
  if (number < 2) {
    for (int i = 0; i < rounds(3000); i++) set(all[0], i);
    working--;
    return;
  }
  /* Not on the stack: a thread that has evaluated it may release the value later. */
  static expression churned[THREADS];
  churned[number] = (expression){.root = &all[0]->header, .body = read_many};
  while (working > 0) { /* expressions again, so that nodes next to those of the tested one are freed */
    expression_begin(&churned[number], KVO_NONE);
    CHECK_OK(kvo_cancel_observer_and_wait(churned[number].id));
  }
}

TEST("an expression of many keys is evaluated while others that read them are registered and removed") {
  for (int i = 0; i < MANY; i++) all[i] = shared_make();
  expression tested = {.root = &all[0]->header, .body = read_many};
  expression_begin(&tested, KVO_NONE);
  working = 2;
  on_threads(evaluate_or_churn);
  expression_end(&tested);
  for (int i = 0; i < MANY; i++) CHECK_EQ(kvo_object_observation_count(&all[i]->header), 0);
}

/* ----------------------------------------------------------------------------------------------- Registrations -- */

static item *object;
static _Atomic bool stop;
static _Atomic int abandoned, destroyed;

static void set_for_ever(void *unused) {
  while (!stop) item_set_value(object, 1);
}

static void while_set(void (*body)(void)) {
  running *setter = start_thread(set_for_ever, NULL);
  body();
  stop = true;
  join_thread(setter);
}

static void never_called(const kvo_raw_change *change, void *user_data) {
  harness_fail(__FILE__, __LINE__, "a registration that has failed or ended was notified");
}

static void count_destroyed(void *user_data) { destroyed++; }

static void abandon(void *user_data) {
  abandoned++;
  free(user_data);
}

/* Reads what the other thread sets, and then an object without a class, so that the evaluation fails. */
static void *fail(void *user_data) {
  static kvo_object no_object;
  for (int i = 0; i < 100; i++) ++*(volatile int *)user_data;
  kvo_track_read(as_object(object), key_of(value_name));
  kvo_track_read(&no_object, 1);
  return NULL;
}

static void release_nothing(void *value, void *user_data) {}

static const kvo_observer_ops failing = {.callback = never_called,
                                         .destroy = count_destroyed,
                                         .abandon = abandon,
                                         .evaluate = fail,
                                         .release = release_nothing};

static void fail_often(void) {
  for (int i = 0; i < rounds(2000); i++) {
    kvo_binding_observer observer = {.key_path = "expression", .ops = &failing, .user_data = calloc(1, sizeof(int))};
    kvo_observation id;
    CHECK_STATUS(kvo_binding_observe_tracked(as_object(object), &observer, false, &id), KVO_ERROR_INVALID_ARGUMENT);
  }
}

TEST("an expression whose registration fails is never notified, and its user data is abandoned once, when unused") {
  object = item_make(0);
  watcher keeps_observed = {.tag = 'k'};
  watch(object, "value", 0, &keeps_observed);
  while_set(fail_often);
  CHECK_EQ((int)abandoned, rounds(2000));
  CHECK_EQ((int)destroyed, 0);
  CHECK_OK(kvo_remove_observer(keeps_observed.id));
  CHECK_EQ(kvo_object_observation_count(as_object(object)), 0);
}

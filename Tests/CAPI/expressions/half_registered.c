/* half_registered.c - registrations of expressions that fail while other threads already change what they have read; those that another
 * thread ends before they return; and changes of a node's kind during notifications before a change. */
#include "fixture.h"
#include "shared.h"

#include <kvo/kvo_binding.h>
#include <pthread.h>
#include <stdlib.h>

static item *object;
static _Atomic bool stop;
static _Atomic int abandoned;

static void *set_for_ever(void *unused) {
  while (!stop) item_set_value(object, 1);
  return unused;
}

static void with_setter(void (*body)(void)) {
  pthread_t setter;
  stop = false;
  CHECK_EQ(pthread_create(&setter, NULL, set_for_ever, NULL), 0);
  body();
  stop = true;
  pthread_join(setter, NULL);
}

/* ------------------------------------------------------------------------------------------------------- Failing -- */

static void never_called(const kvo_raw_change *change, void *user_data) {
  (void)change, (void)user_data;
  harness_fail(__FILE__, __LINE__, "a registration that has failed was told");
}

static void never_destroyed(void *user_data) {
  (void)user_data;
  harness_fail(__FILE__, __LINE__, "a registration that has failed was destroyed, not abandoned");
}

static void abandon(void *user_data) {
  abandoned++;
  free(user_data);
}

/* Reads what the other thread sets, and then an object without a class, so that the evaluation fails. */
static void *fail(void *user_data) {
  static kvo_object no_object;
  for (int i = 0; i < 100; i++) ++*(volatile int *)user_data;
  kvo_track_read(as_object(object), kvo_key_hash("value", 5));
  kvo_track_read(&no_object, 1);
  return NULL;
}

static void release_nothing(void *value, void *user_data) { (void)value, (void)user_data; }

static void fail_often(void) {
  static const kvo_observer_ops ops = {.callback = never_called,
                                       .destroy = never_destroyed,
                                       .abandon = abandon,
                                       .evaluate = fail,
                                       .release = release_nothing};
  for (int i = 0; i < rounds(2000); i++) {
    kvo_binding_observer observer = {.key_path = "expression", .ops = &ops, .user_data = calloc(1, sizeof(int))};
    kvo_observation id;
    CHECK_STATUS(kvo_binding_observe_tracked(as_object(object), &observer, false, &id), KVO_ERROR_INVALID_ARGUMENT);
  }
}

TEST(
    "an expression whose registration fails is never notified, and its user data is abandoned once, when nobody uses it") {
  object = item_make(0);
  watcher keeps_observed = {.tag = 'k'};
  watch(object, "value", 0, &keeps_observed);
  abandoned = 0;
  with_setter(fail_often);
  CHECK_EQ((int)abandoned, rounds(2000));
  CHECK_OK(kvo_remove_observer(keeps_observed.id));
  CHECK_EQ(kvo_object_observation_count(as_object(object)), 0);
  item_destroy(object);
}

/* ---------------------------------------------------------------------------------------------------- Ended meanwhile -- */

/* Another thread ends the observations of `watched` as soon as there are any: within the next allocation after that. */
static struct {
  item *_Atomic of;
  void (*end)(void *user_data);
  void *user_data;
} ending;

static void *end_and_allocate(size_t size, void *arg) {
  (void)arg;
  item *watched = ending.of;
  if (watched != NULL && kvo_object_is_observed(as_object(watched)) &&
      atomic_compare_exchange_strong(&ending.of, &watched, NULL))
    join_thread(start_thread(ending.end, ending.user_data));
  return malloc(size);
}

static void release(void *memory, void *arg) {
  (void)arg;
  free(memory);
}

static void end_when_registered(item *of, void (*end)(void *user_data), void *user_data) {
  kvo_set_allocator(end_and_allocate, release, NULL);
  ending.end = end;
  ending.user_data = user_data;
  ending.of = of;
}

static void remove_path(void *watcher) { CHECK_OK(kvo_remove_observer_for(as_object(object), watcher, "next.value")); }

TEST(
    "a key path that another thread removes while it is registered was registered, and has ended: it is not called, and is destroyed "
    "once") {
  ignore_faults();
  object = item_make(1);
  object->next = item_make(2);
  static watcher w;
  end_when_registered(object, remove_path, &w);
  watch(object, "next.value", KVO_INITIAL | KVO_NEW, &w);
  CHECK(ending.of == NULL);
  CHECK(w.id != 0 && !kvo_observation_is_registered(w.id));
  CHECK_EQ(w.destroyed, 1);
  item_set_value(object->next, 3);
  CHECK_EQ(w.calls, 0);
  CHECK_EQ(faults.count, 0);
  CHECK_EQ(kvo_object_observation_count(as_object(object)), 0);
  item_destroy(object->next);
  item_destroy(object);
}

static void must_not_abandon(void *user_data) {
  (void)user_data;
  harness_fail(__FILE__, __LINE__, "a registration that has succeeded was abandoned");
}

static void count_destroyed(void *user_data) { ++*(int *)user_data; }

static void end_receiver(void *receiver) {
  CHECK_EQ(kvo_binding_end_all(as_object(object), receiver, NULL, true, NULL, 0), 1);
}

static void *read_next(void *user_data) {
  kvo_track_read(as_object(object), kvo_key_hash("next", 4));
  return user_data;
}

TEST("an expression whose receiver is ended while it is registered was registered, and has ended") {
  static const kvo_observer_ops ops = {.callback = never_called,
                                       .destroy = count_destroyed,
                                       .abandon = must_not_abandon,
                                       .evaluate = read_next,
                                       .release = release_nothing};
  static int destroyed, receiver;
  object = item_make(1);
  kvo_binding_observer observer = {.key_path = "expression",
                                   .options = KVO_INITIAL | KVO_NEW,
                                   .ops = &ops,
                                   .user_data = &destroyed,
                                   .identity = {"Panel", &receiver},
                                   .is_receiver = true};
  kvo_observation id = 0;
  end_when_registered(object, end_receiver, &receiver);
  CHECK_OK(kvo_binding_observe_tracked(as_object(object), &observer, false, &id));
  CHECK(id != 0 && !kvo_observation_is_registered(id));
  CHECK_EQ(destroyed, 1);
  CHECK_EQ(kvo_object_observation_count(as_object(object)), 0);
  item_destroy(object);
}

/* ------------------------------------------------------------------------------------------------------- Turning -- */

static _Atomic bool is_end;

static void ignore(const kvo_raw_change *change, void *user_data) { (void)change, (void)user_data; }

/* The result is, alternately, the value of the key itself and a computed one. */
static void *read_value(void *user_data) {
  kvo_key value = kvo_key_hash("value", 5), other = kvo_key_hash("other", 5);
  kvo_track_read(as_object(object), other);
  kvo_track_read(as_object(object), value);
  if (is_end) kvo_track_value_is_of(as_object(object), value);
  return user_data;
}

static void turn_often(void) {
  for (int i = 0; i < rounds(20000); i++) {
    is_end = !is_end;
    item_set_other(object, i);
  }
}

TEST("a key that alternates between leaf and dependency may be notified before a change at any moment") {
  static const kvo_observer_ops ops = {.callback = ignore, .evaluate = read_value, .release = release_nothing};
  kvo_binding_observer observer = {.key_path = "expression", .options = KVO_PRIOR, .ops = &ops, .user_data = &stop};
  kvo_observation id;
  object = item_make(0);
  is_end = true;
  CHECK_OK(kvo_binding_observe_tracked(as_object(object), &observer, false, &id));
  with_setter(turn_often);
  CHECK_OK(kvo_remove_observer(id));
  item_destroy(object);
}

/* ends.c - who is notified of the end of an observation or of an object, and the end of all observations of a
 * receiver. */
#include "fixture.h"

#include <kvo/kvo_binding.h>

/* ------------------------------------------------------------------------------------------- Of an observation -- */

typedef struct ending {
  int calls;
  kvo_end reason;
  int destroyed_before;
  const watcher *of;
} ending;

static void note_end(kvo_end end, void *arg) {
  ending *into = arg;
  into->calls++;
  into->reason = end;
  into->destroyed_before = into->of->destroyed;
}

static void check_end(const ending *of, kvo_end reason) {
  CHECK_EQ(of->calls, 1);
  CHECK_EQ((int)of->reason, (int)reason);
  CHECK_EQ(of->destroyed_before, 1);
}

TEST("who has asked for the end of an observation is notified once, with the reason, after user data is destroyed") {
  static const char *const paths[] = {"value", "next.value"};
  for (int path = 0; path < 2; path++) {
    item *object = item_make(1);
    object->next = item_make(2);
    watcher removed = {0}, died = {0};
    ending of_removed = {.of = &removed}, of_died[3] = {{.of = &died}, {.of = &died}, {.of = &died}};
    watch(object, paths[path], KVO_NEW | KVO_ENDS_WITH_OBJECT, &removed);
    watch(object, paths[path], KVO_NEW | KVO_ENDS_WITH_OBJECT, &died);
    CHECK_OK(kvo_observation_on_end(removed.id, note_end, &of_removed));
    for (int i = 0; i < 3; i++) CHECK_OK(kvo_observation_on_end(died.id, note_end, &of_died[i]));
    CHECK_OK(kvo_cancel_observer(removed.id));
    check_end(&of_removed, KVO_END_REMOVED);
    CHECK_STATUS(kvo_observation_on_end(removed.id, note_end, &of_removed), KVO_ERROR_NOT_REGISTERED);
    CHECK_EQ(of_died[0].calls, 0);
    item *next = object->next;
    item_destroy(object);
    item_destroy(next);
    for (int i = 0; i < 3; i++) check_end(&of_died[i], KVO_END_OBJECT_DIED);
    CHECK_EQ(of_removed.calls, 1);
  }
}

static ending asked, too_late;

static void end_within(watcher *self, const kvo_change *change) {
  CHECK_OK(kvo_cancel_observer(self->id));
  CHECK_EQ(asked.calls, 0);
  CHECK_STATUS(kvo_observation_on_end(self->id, note_end, &too_late), KVO_ERROR_NOT_REGISTERED);
}

TEST("an end within the callback notifies, after the callback has returned, only who has asked before it") {
  item *object = item_make(1);
  watcher own = {.then = end_within};
  watch(object, "value", KVO_NEW, &own);
  asked.of = too_late.of = &own;
  CHECK_OK(kvo_observation_on_end(own.id, note_end, &asked));
  item_set_value(object, 2);
  check_end(&asked, KVO_END_REMOVED);
  CHECK_EQ(too_late.calls, 0);
  item_destroy(object);
}

/* ------------------------------------------------------------------------------------------------ Of an object -- */

static void count(void *user_data) { ++*(int *)user_data; }
static const kvo_observer_ops death_ops = {.destroy = count};

static watcher of_dying;
static void look_at_death(void *destroyed_before) { *(int *)destroyed_before = of_dying.destroyed; }

TEST("a watch of an object's death is called once, after the object's observations have ended, or when cancelled") {
  static const kvo_observer_ops looking_ops = {.destroy = look_at_death};
  item *object = item_make(1);
  int calls = 0, cancelled_calls = 0, destroyed_before = -1;
  kvo_observation id, cancelled, looking;
  watch(object, "value", KVO_ENDS_WITH_OBJECT, &of_dying);
  CHECK_OK(kvo_binding_observe_death(as_object(object), &death_ops, &calls, &id));
  CHECK_OK(kvo_binding_observe_death(as_object(object), &death_ops, &cancelled_calls, &cancelled));
  CHECK_OK(kvo_binding_observe_death(as_object(object), &looking_ops, &destroyed_before, &looking));
  CHECK_OK(kvo_cancel_observer(cancelled));
  CHECK_EQ(cancelled_calls, 1);
  CHECK_EQ(calls, 0);
  item_destroy(object);
  CHECK_EQ(calls, 1);
  CHECK_EQ(cancelled_calls, 1);
  CHECK_EQ(destroyed_before, 1);
  CHECK_STATUS(kvo_cancel_observer(id), KVO_ERROR_NOT_REGISTERED);
}

static void see_observation(const kvo_fault_observation *each, void *arg) { ++*(int *)arg; }

TEST("a watch of a death is no observation: the object is not observed by it, and it cannot be paused") {
  item *object = item_make(1);
  kvo_function plain = kvo_object_setter(as_object(object), "value");
  watcher w = {0};
  int calls = 0, seen = 0;
  kvo_observation id, other;
  CHECK_OK(kvo_binding_observe_death(as_object(object), &death_ops, &calls, &id));
  CHECK(!kvo_object_is_observed(as_object(object)));
  CHECK(kvo_object_setter(as_object(object), "value") == plain);
  CHECK_EQ((int)kvo_object_observation_count(as_object(object)), 0);
  kvo_object_visit_observations(as_object(object), see_observation, &seen);
  CHECK_EQ(seen, 0);
  CHECK_STATUS(kvo_observation_pause(id), KVO_ERROR_NOT_REGISTERED);
  CHECK_STATUS(kvo_observation_resume(id, true), KVO_ERROR_NOT_REGISTERED);
  CHECK(!kvo_observation_is_paused(id));
  watch(object, "value", KVO_NEW, &w);
  CHECK_OK(kvo_binding_observe_death(as_object(object), &death_ops, &calls, &other));
  item_set_value(object, 2);
  CHECK_EQ(w.calls, 1);
  CHECK_OK(kvo_cancel_observer(id));
  CHECK(kvo_object_is_observed(as_object(object)));
  CHECK_OK(kvo_cancel_observer(w.id));
  CHECK(!kvo_object_is_observed(as_object(object)));
  item_destroy(object);
  CHECK_EQ(calls, 2);
}

static void observe_again(void *user_data) {
  kvo_observation id;
  CHECK_STATUS(kvo_binding_observe_death(user_data, &death_ops, NULL, &id), KVO_ERROR_DYING_OBJECT);
}

TEST("nothing is registered with an object in the watch of its death") {
  static const kvo_observer_ops ops = {.destroy = observe_again};
  kvo_object *object = as_object(item_make(1));
  kvo_observation id;
  CHECK_OK(kvo_binding_observe_death(object, &ops, object, &id));
  kvo_object_destroy(object);
  CHECK(!kvo_observation_is_registered(id));
}

static watcher late;
static int ended_before, asked_count;

static void count_nothing(void *object) {}

static void use_when_asked(kvo_observation watch_id, void *user_data) {
  static const kvo_observer_ops same_ops = {.destroy = count_nothing, .ask = use_when_asked};
  item *object = user_data;
  kvo_observation id;
  CHECK(kvo_observation_is_registered(watch_id));
  CHECK_EQ(of_dying.destroyed, ended_before);
  item_set_value(object, object->value + 1);
  if (asked_count++ > 0) return;
  kvo_object_destroy(as_object(object));
  if (HAS_REPORTS) CHECK_EQ((int)faults.code, KVO_FAULT_UNSUPPORTED_OBJECT); /* it is being destroyed already */
  watch(object, "value", KVO_NEW | KVO_ENDS_WITH_OBJECT, &late);
  CHECK_OK(kvo_binding_observe_death(as_object(object), &same_ops, object, &id));
}

TEST("who watches a death is asked when it begins, while the object can still be set, observed and watched") {
  static const kvo_observer_ops ops = {.destroy = count_nothing, .ask = use_when_asked};
  item *object = item_make(1);
  kvo_observation id;
  ignore_faults();
  watch(object, "value", KVO_ENDS_WITH_OBJECT, &of_dying);
  ended_before = of_dying.destroyed;
  CHECK_OK(kvo_binding_observe_death(as_object(object), &ops, object, &id));
  item_destroy(object);
  CHECK_EQ(asked_count, 2);
  CHECK_EQ(late.calls, 1);
  CHECK_EQ(late.destroyed, 1);
}

TEST("objects of one path end in any order when their memory stays, and are nil on it from then on") {
  item links[3] = {{.value = 1}, {.value = 2}, {.value = 3}};
  watcher w = {0};
  for (int i = 0; i < 3; i++) {
    CHECK_OK(kvo_object_init(as_object(&links[i]), item_class()));
    links[i].next = i > 0 ? &links[i - 1] : NULL;
  }
  watch(&links[2], "next.next.value", KVO_OLD | KVO_NEW | KVO_ENDS_WITH_OBJECT, &w);
  CHECK(kvo_object_end(as_object(&links[0]))); /* the end of the path */
  CHECK_EQ(w.calls, 1);
  CHECK_EQ(w.old_value.integer, 1);
  CHECK(w.new_value.nil);
  CHECK_SAME(kvo_object_class(as_object(&links[0])), NULL);
  CHECK(kvo_object_end(as_object(&links[1]))); /* which refers to one that has ended: nil stays nil */
  CHECK(w.new_value.nil);
  CHECK(kvo_object_end(as_object(&links[2])));
  CHECK_EQ(w.destroyed, 1);
  CHECK(kvo_object_end(as_object(&links[2]))); /* again: nothing happens */
}

/* ----------------------------------------------------------------------------------------------- Of a receiver -- */

static const kvo_observer_ops ops = {.callback = ignore_raw, .destroy = count};
static char me, other;

static kvo_observation receive(item *object, const char *key, const void *receiver, bool is_receiver, int *ended) {
  kvo_binding_observer observer = {
      .ops = &ops, .user_data = ended, .options = KVO_ENDS_WITH_OBJECT, .is_receiver = is_receiver};
  return observe_named(as_object(object), key, "Receiver", receiver, observer);
}

TEST("the observations of one receiver are ended by object and key path, by object, or everywhere") {
  item *first = item_make(1), *second = item_make(2);
  int ended = 0, others = 0;
  for (int i = 0; i < 20; i++) receive(first, "value", &me, true, &ended);
  receive(first, "other", &me, true, &ended);
  receive(second, "value", &me, true, &ended);
  receive(first, "value", &other, true, &others);
  kvo_observation classic = receive(first, "value", &me, false, &others);
  CHECK_EQ((int)kvo_binding_end_all(as_object(first), &me, "name", true, NULL, 0), 0);
  CHECK_EQ((int)kvo_binding_end_all(as_object(first), &me, "value", true, NULL, 0), 20);
  CHECK_EQ(ended, 20);
  CHECK_EQ((int)kvo_binding_end_all(as_object(first), &me, NULL, true, NULL, 0), 1);
  CHECK_EQ((int)kvo_binding_end_all(as_object(first), &me, NULL, true, NULL, 0), 0);
  for (int i = 0; i < 20; i++) receive(i % 2 == 0 ? first : second, "value", &me, true, &ended);
  CHECK_EQ((int)kvo_binding_end_all(NULL, &me, NULL, true, NULL, 0), 21);
  CHECK_EQ(ended, 42);
  CHECK_EQ(others, 0);
  CHECK(kvo_observation_is_registered(classic));
  CHECK_EQ((int)kvo_binding_end_all(NULL, &me, NULL, false, NULL, 0), 1);
  CHECK_EQ(others, 1);
  item_destroy(first);
  item_destroy(second);
}

TEST_REPORTED("removal by observer does not find the observation of a receiver, and says what ends it") {
  static const char *const keys[] = {"value", "doubled"}; /* the second one as an expression, too */
  item *object = item_make(0);
  int ended = 0;
  ignore_faults();
  for (int i = 0; i < 2; i++) {
    watcher w = {.context = &other};
    receive(object, keys[i], &w, true, &ended);
    CHECK_STATUS(kvo_remove_observer_for(as_object(object), &w, keys[i]), KVO_ERROR_NOT_REGISTERED);
    CHECK_CONTAINS(faults.report, "as the receiver of a closure, not as an observer");
    CHECK_EQ(ended, 0);
    watch(object, keys[i], KVO_NONE, &w);
    CHECK_STATUS(kvo_remove_observer_for_context(as_object(object), &w, keys[i], &me), KVO_ERROR_NOT_REGISTERED);
    CHECK_CONTAINS(faults.report, "this observer observes this key path with context 0x");
    CHECK_OK(kvo_remove_observer(w.id));
  }
  item_destroy(object);
}

/* registrations.c - registrations are separate: duplicates, contexts, ids, and which observation a removal takes. */
#include "fixture.h"

#include <kvo/kvo_binding.h>
#include <stdlib.h>

static int one, two; /* their addresses are contexts */

/* ----------------------------------------------------------------------------------------------- Registrations -- */

TEST("a callback gets the context of its registration, and the key path as it was then") {
  item *object = item_make(0);
  watcher with = {.context = &one}, without = {0};
  char path[] = "next.value";
  watch(object, path, KVO_NONE, &with);
  watch(object, "next", KVO_NONE, &without);
  path[0] = '#';
  item_set_next(object, NULL);
  CHECK_SAME(with.seen_context, &one);
  CHECK_EQ((const char *)with.key_path, "next.value");
  CHECK_SAME(without.seen_context, NULL);
  CHECK_OK(kvo_remove_observer(with.id));
  CHECK_OK(kvo_remove_observer(without.id));
  item_destroy(object);
}

TEST("65 537 observers of one object are each called once, and removed in any order") {
  enum { COUNT = 65537 };
  item *object = item_make(0);
  watcher w = {0};
  kvo_observation *ids = malloc(COUNT * sizeof *ids);
  for (int i = 0; i < COUNT; i++) ids[i] = watch(object, "value", KVO_NONE, &w);
  CHECK_EQ(kvo_object_observation_count(as_object(object)), COUNT);
  item_set_value(object, 1);
  CHECK_EQ(w.calls, COUNT);
  for (int i = 0; i < COUNT; i++) CHECK_OK(kvo_cancel_observer(ids[(long long)i * 7919 % COUNT])); /* two primes */
  CHECK(!kvo_object_is_observed(as_object(object)));
  item_set_value(object, 2);
  CHECK_EQ(w.calls, COUNT);
  free(ids);
  item_destroy(object);
}

static void collect(const kvo_fault_observation *observation, void *arg) {
  kvo_fault_observation **next = arg;
  *(*next)++ = *observation;
}

TEST("enumeration lists the observations, oldest first, with their source locations") {
  item *object = item_make(0);
  watcher first = {.context = &one}, second = {0}, third = {0};
  watch(object, "next.value", KVO_OLD, &first);
  watch(object, "value", KVO_NEW, &second);
  watch(object, "next.value", KVO_NEW, &third);
  kvo_fault_observation all[4], *next = all;
  kvo_object_visit_observations(as_object(object), collect, &next);
  CHECK_EQ(next - all, 3);
  CHECK_EQ(all[0].key_path, "next.value");
  CHECK(all[0].observation == first.id);
  CHECK_SAME(all[0].observer, &first);
  CHECK_SAME(all[0].context, &one);
  CHECK_EQ((int)all[0].options, KVO_OLD);
  CHECK_CONTAINS(all[0].file, "fixture.c");
  CHECK(all[0].line > 0);
  CHECK_EQ(all[1].key_path, "value");
  CHECK(all[2].observation == third.id);
  watcher *watchers[] = {&first, &second, &third};
  for (int i = 0; i < 3; i++) CHECK_OK(kvo_remove_observer(watchers[i]->id));
  item_destroy(object);
}

/* ---------------------------------------------------------------------------------------------------- Removals -- */

TEST("of many observations by one observer, or without an observer, removal takes the newest") {
  enum { MANY = 40 };
  item *object = item_make(0);
  for (int has_observer = 0; has_observer < 2; has_observer++) {
    watcher w = {0};
    kvo_observer observer =
        has_observer ? watcher_observer("value", KVO_NONE, &w) : observer_by("value", KVO_NONE, ignore_change, NULL);
    kvo_observation ids[MANY];
    for (int i = 0; i < MANY; i++) CHECK_OK(kvo_add_observer(as_object(object), &observer, &ids[i]));
    for (int left = MANY; left-- > 0;) {
      CHECK_OK(kvo_remove_observer_for(as_object(object), observer.user_data, "value"));
      CHECK(!kvo_observation_is_registered(ids[left]));
      CHECK_EQ((int)kvo_object_observation_count(as_object(object)), left);
      w.calls = 0;
      item_set_value(object, left);
      CHECK_EQ(w.calls, has_observer ? left : 0);
    }
  }
  item_destroy(object);
}

TEST_REPORTED("removal removes only the observation of that object, observer and key path") {
  item *object = item_make(0), *other = item_make(0);
  ignore_faults();
  watcher w = {0}, unregistered = {0};
  watch(object, "next.value", KVO_NONE, &w);
  CHECK_STATUS(kvo_remove_observer_for(as_object(other), &w, "next.value"), KVO_ERROR_NOT_REGISTERED);
  CHECK_STATUS(kvo_remove_observer_for(as_object(object), &unregistered, "next.value"), KVO_ERROR_NOT_REGISTERED);
  CHECK_STATUS(kvo_remove_observer_for(as_object(object), &w, "next"), KVO_ERROR_NOT_REGISTERED);
  CHECK_EQ(faults.count, 3);
  CHECK_EQ(w.destroyed, 0);
  CHECK_OK(kvo_remove_observer_for(as_object(object), &w, "next.value"));
  CHECK_EQ(w.destroyed, 1);
  item_destroy(object);
  item_destroy(other);
}

TEST_REPORTED("removal with a context removes the observation with exactly that context, which may be NULL") {
  item *object = item_make(0);
  ignore_faults();
  watcher w = {0};
  void *contexts[] = {&one, NULL, &two};
  kvo_observation ids[3];
  for (int i = 0; i < 3; i++) {
    w.context = contexts[i];
    ids[i] = watch(object, "value", KVO_NONE, &w);
  }
  CHECK_OK(kvo_remove_observer_for_context(as_object(object), &w, "value", NULL));
  CHECK(!kvo_observation_is_registered(ids[1]));
  CHECK_STATUS(kvo_remove_observer_for_context(as_object(object), &w, "value", NULL), KVO_ERROR_NOT_REGISTERED);
  CHECK_EQ(faults.count, 1);
  CHECK_OK(kvo_remove_observer_for_context(as_object(object), &w, "value", &one));
  CHECK(!kvo_observation_is_registered(ids[0]));
  CHECK_OK(kvo_cancel_observer(ids[2]));
  item_destroy(object);
}

TEST("of an observer with many contexts a removal with context takes the newest one with that context") {
  enum { CONTEXTS = 20, COUNT = 3 * CONTEXTS };
  static const char *const paths[] = {"value", "next.value"};
  static char contexts[CONTEXTS];
  item *object = item_make(0);
  for (int path = 0; path < 2; path++) {
    watcher w = {0};
    kvo_observation ids[COUNT];
    for (int i = 0; i < COUNT; i++) {
      w.context = &contexts[i % CONTEXTS];
      ids[i] = watch(object, paths[path], KVO_NEW, &w);
    }
    for (int i = COUNT; i-- > 0;) {
      int newest = i / CONTEXTS * CONTEXTS + i * 7 % CONTEXTS;
      CHECK_OK(kvo_remove_observer_for_context(as_object(object), &w, paths[path], &contexts[newest % CONTEXTS]));
      CHECK(!kvo_observation_is_registered(ids[newest]));
    }
    CHECK_EQ(w.destroyed, COUNT);
  }
  item_destroy(object);
}

/* Of a computed key: one observation as an expression, the next one of the key itself. */
static kvo_observation observe_in_turn(item *object, int number, watcher *observer) {
  if (number % 2 == 0) return watch(object, "doubled", KVO_NONE, observer);
  return observe_named(as_object(object), "doubled", NULL, observer,
                       (kvo_binding_observer){.context = observer->context});
}

TEST_REPORTED("removal without a context takes the newest, and is KVO0016, with up to four, if other contexts match") {
  enum { COUNT = 6 };
  static char contexts[COUNT];
  item *object = item_make(0);
  watcher w = {0};
  kvo_observation ids[COUNT];
  ignore_faults();
  for (int i = 0; i < COUNT; i++) {
    w.context = i > 0 ? &contexts[i] : NULL;
    ids[i] = observe_in_turn(object, i, &w);
  }
  for (int i = COUNT; i-- > 0;) {
    faults.count = 0;
    CHECK_OK(kvo_remove_observer_for(as_object(object), &w, "doubled"));
    CHECK(!kvo_observation_is_registered(ids[i]));
    CHECK_EQ(faults.count, i > 0);
    if (i == 0) break;
    CHECK_EQ((int)faults.code, KVO_FAULT_AMBIGUOUS_REMOVAL);
    CHECK_EQ(faults.observation_count, i < 3 ? i + 1 : 4);
    CHECK(faults.first.observation == ids[i]);
    CHECK_CONTAINS(faults.summary, "observations: the newest, with context 0x");
  }
  item_destroy(object);
}

TEST_REPORTED("the id of an observation that has ended does not remove a later one") {
  item *object = item_make(0);
  ignore_faults();
  watcher first = {0}, second = {0};
  watch(object, "value", KVO_NONE, &first);
  CHECK_OK(kvo_remove_observer(first.id));
  watch(object, "value", KVO_NONE, &second);
  CHECK_STATUS(kvo_remove_observer(first.id), KVO_ERROR_NOT_REGISTERED);
  CHECK_EQ((int)faults.code, KVO_FAULT_REMOVED_TWICE);
  CHECK_STATUS(kvo_cancel_observer(first.id), KVO_ERROR_NOT_REGISTERED);
  CHECK_EQ(faults.count, 1); /* no fault for kvo_cancel_observer */
  item_set_value(object, 1);
  CHECK_EQ(second.calls, 1);
  CHECK_OK(kvo_remove_observer(second.id));
  item_destroy(object);
}

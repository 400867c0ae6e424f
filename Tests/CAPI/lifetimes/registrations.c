/* registrations.c - each registration is separate: duplicates, contexts, ids, and large numbers of them. */
#include "fixture.h"

#include <kvo/kvo_binding.h>
#include <stdlib.h>

static int one, two; /* their addresses are contexts */

TEST("an observer registered three times is called three times, and removed one by one, newest first") {
  item *object = item_make(0);
  watcher w = {0};
  kvo_observation ids[3];
  for (int i = 0; i < 3; i++) ids[i] = watch(object, "value", KVO_NONE, &w);
  item_set_value(object, 1);
  CHECK_EQ(w.calls, 3);
  for (int left = 2; left >= 0; left--) {
    CHECK_OK(kvo_remove_observer_for(as_object(object), &w, "value"));
    CHECK_STATUS(kvo_cancel_observer(ids[left]), KVO_ERROR_NOT_REGISTERED); /* it was the newest one */
    CHECK_EQ(w.destroyed, 3 - left);
    w.calls = 0;
    item_set_value(object, 2);
    CHECK_EQ(w.calls, left);
  }
  item_destroy(object);
}

TEST("a callback gets the context of its registration") {
  item *object = item_make(0);
  watcher with = {.context = &one}, without = {0};
  watch(object, "value", KVO_NONE, &with);
  watch(object, "next.value", KVO_NONE, &without);
  item_set_value(object, 1);
  CHECK_SAME(with.seen_context, &one);
  item_set_next(object, NULL);
  CHECK_SAME(without.seen_context, NULL);
  CHECK_OK(kvo_remove_observer(with.id));
  CHECK_OK(kvo_remove_observer(without.id));
  item_destroy(object);
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
  CHECK_STATUS(kvo_cancel_observer(ids[1]), KVO_ERROR_NOT_REGISTERED);
  CHECK_STATUS(kvo_remove_observer_for_context(as_object(object), &w, "value", NULL), KVO_ERROR_NOT_REGISTERED);
  CHECK_EQ(faults.count, 1);
  CHECK_OK(kvo_remove_observer_for_context(as_object(object), &w, "value", &one));
  CHECK_STATUS(kvo_cancel_observer(ids[0]), KVO_ERROR_NOT_REGISTERED);
  CHECK_OK(kvo_cancel_observer(ids[2]));
  item_destroy(object);
}

TEST_REPORTED(
    "removal without a context removes the newest, whatever its context, and reports the contexts that matched") {
  ignore_faults();
  item *object = item_make(0);
  watcher w = {.context = &one};
  watch(object, "value", KVO_NONE, &w);
  w.context = NULL;
  kvo_observation newest = watch(object, "value", KVO_NONE, &w);
  CHECK_OK(kvo_remove_observer_for(as_object(object), &w, "value"));
  CHECK_STATUS(kvo_cancel_observer(newest), KVO_ERROR_NOT_REGISTERED);
  CHECK_EQ(faults.count, 1);
  CHECK_EQ((int)faults.code, KVO_FAULT_AMBIGUOUS_REMOVAL);
  CHECK_CONTAINS(faults.summary, "matches 2 observations: the newest, with context 0x0, is removed");
  CHECK(faults.first.observation == newest);
  CHECK_OK(kvo_remove_observer_for_context(as_object(object), &w, "value", &one));
  item_destroy(object);
}

enum { CONTEXTS = 20, EACH = 3 };

/* Registers an observer EACH times with each of many contexts, and removes by context. */
static void remove_by_context(const char *key_path) {
  item *object = item_make(0), *next = item_make(0);
  item_set_next(object, next);
  static char contexts[CONTEXTS];
  kvo_observation ids[EACH][CONTEXTS];
  watcher w = {0}, other = {.context = &contexts[0]};
  watch(object, key_path, KVO_NEW, &other);
  for (int turn = 0; turn < EACH; turn++)
    for (int i = 0; i < CONTEXTS; i++) {
      w.context = &contexts[i];
      ids[turn][i] = watch(object, key_path, KVO_NEW, &w);
    }
  for (int turn = EACH; turn-- > 0;)
    for (int i = 0; i < CONTEXTS; i++) {
      int one = i * 7 % CONTEXTS;
      CHECK_OK(kvo_remove_observer_for_context(as_object(object), &w, key_path, &contexts[one]));
      CHECK_STATUS(kvo_cancel_observer(ids[turn][one]),
                   KVO_ERROR_NOT_REGISTERED); /* it was the newest with that context */
      CHECK_EQ(w.destroyed, (EACH - 1 - turn) * CONTEXTS + i + 1);
      if (i == CONTEXTS / 2 && turn > 0) { /* a new registration is the newest */
        w.context = &contexts[one];
        kvo_observation again = watch(object, key_path, KVO_NEW, &w);
        CHECK_OK(kvo_remove_observer_for_context(as_object(object), &w, key_path, &contexts[one]));
        CHECK_STATUS(kvo_cancel_observer(again), KVO_ERROR_NOT_REGISTERED);
        w.destroyed--;
      }
    }
  CHECK_STATUS(kvo_remove_observer_for_context(as_object(object), &w, key_path, &contexts[0]),
               KVO_ERROR_NOT_REGISTERED);
  CHECK_EQ(other.destroyed, 0);
  CHECK_OK(kvo_remove_observer_for_context(as_object(object), &other, key_path, &contexts[0]));
  CHECK_EQ(kvo_object_observation_count(as_object(object)), 0);
  item_destroy(object);
  item_destroy(next);
}

TEST("of an observer with many contexts a removal with context takes the newest one with that context") {
  ignore_faults();
  remove_by_context("value");
  remove_by_context("next.value");
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

static int compare_ids(const void *left, const void *right) {
  kvo_observation l = *(const kvo_observation *)left, r = *(const kvo_observation *)right;
  return (l > r) - (l < r);
}

TEST("ids are never 0 and never reused, over 100 000 registrations") {
  enum { COUNT = 100000 };
  item *object = item_make(0);
  watcher w = {0};
  kvo_observation *ids = malloc(COUNT * sizeof *ids);
  for (int i = 0; i < COUNT; i++) {
    ids[i] = watch(object, "value", KVO_NONE, &w);
    CHECK(ids[i] != 0);
    CHECK_OK(kvo_remove_observer(ids[i]));
  }
  qsort(ids, COUNT, sizeof *ids, compare_ids);
  for (int i = 1; i < COUNT; i++) CHECK(ids[i] != ids[i - 1]);
  CHECK_EQ(w.destroyed, COUNT);
  free(ids);
  item_destroy(object);
}

TEST_REPORTED("a stale id does not remove a later registration") {
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

TEST("numbers that were never ids are refused") {
  static const kvo_observation forged[] = {
      0, 1, 0xff, UINT64_C(1) << 32, UINT64_C(0xffffffffffffffff), UINT64_C(0x1000000ff), UINT64_C(0x1ffffff00)};
  item *object = item_make(0);
  watcher w = {0};
  watch(object, "value", KVO_NONE, &w);
  for (size_t i = 0; i < sizeof forged / sizeof *forged; i++)
    if (forged[i] != w.id) CHECK_STATUS(kvo_cancel_observer(forged[i]), KVO_ERROR_NOT_REGISTERED);
  item_set_value(object, 1);
  CHECK_EQ(w.calls, 1);
  CHECK_OK(kvo_remove_observer(w.id));
  item_destroy(object);
}

static long long counted;
static void count(const kvo_change *change, void *user_data) {
  (void)change, (void)user_data;
  counted++;
}

TEST("65 537 observers of one object are each called once, and removed in any order") {
  enum { COUNT = 65537 };
  item *object = item_make(0);
  kvo_observation *ids = malloc(COUNT * sizeof *ids);
  kvo_observer observer = {.struct_size = sizeof observer, .key_path = "value", .callback = count};
  for (int i = 0; i < COUNT; i++) CHECK_OK(kvo_add_observer(as_object(object), &observer, &ids[i]));
  CHECK_EQ(kvo_object_observation_count(as_object(object)), COUNT);
  item_set_value(object, 1);
  CHECK_EQ(counted, COUNT);
  for (int i = 0; i < COUNT; i++) CHECK_OK(kvo_remove_observer(ids[(long long)i * 7919 % COUNT])); /* both are prime */
  CHECK(!kvo_object_is_observed(as_object(object)));
  item_set_value(object, 2);
  CHECK_EQ(counted, COUNT);
  free(ids);
  item_destroy(object);
}

TEST("a single undefined key is accepted, for changes announced by hand") {
  item *object = item_make(0);
  watcher w = {0};
  watch(object, "imaginary", KVO_NONE, &w);
  item_set_value(object, 1);
  CHECK_EQ(w.calls, 0);
  CHECK_OK(kvo_will_change(as_object(object), "imaginary"));
  CHECK_OK(kvo_did_change(as_object(object), "imaginary"));
  CHECK_EQ(w.calls, 1);
  CHECK_EQ(w.key_path, "imaginary");
  CHECK_OK(kvo_remove_observer_for(as_object(object), &w, "imaginary"));
  item_destroy(object);
}

TEST("the strings of a registration are copied") {
  item *object = item_make(0);
  watcher w = {0};
  char path[] = "next.value";
  watch(object, path, KVO_NONE, &w);
  path[0] = '#';
  item_set_next(object, NULL);
  CHECK_EQ(w.key_path, "next.value");
  CHECK_OK(kvo_remove_observer_for(as_object(object), &w, "next.value"));
  item_destroy(object);
}

static void collect(const kvo_fault_observation *observation, void *arg) {
  kvo_fault_observation **next = arg;
  *(*next)++ = *observation;
}

TEST("enumeration lists the observations of all keys in the order of their registration") {
  static const char *const keys[] = {"value", "other", "value", "next.value", "other", "value", "next.value"};
  enum { COUNT = sizeof keys / sizeof *keys };
  item *object = item_make(0);
  watcher watchers[COUNT] = {{0}};
  for (int i = 0; i < COUNT; i++) watch(object, keys[i], KVO_NONE, &watchers[i]);
  kvo_fault_observation all[COUNT], *next = all;
  kvo_object_visit_observations(as_object(object), collect, &next);
  CHECK_EQ(next - all, COUNT);
  for (int i = 0; i < COUNT; i++) {
    CHECK(all[i].observation == watchers[i].id);
    CHECK_OK(kvo_remove_observer(watchers[i].id));
  }
  item_destroy(object);
}

TEST("enumeration lists the observations, oldest first, with their source locations") {
  item *object = item_make(0);
  watcher first = {.context = &one}, second = {0};
  watch(object, "next.value", KVO_OLD, &first);
  watch(object, "value", KVO_NEW, &second);
  kvo_fault_observation all[4], *next = all;
  kvo_object_visit_observations(as_object(object), collect, &next);
  CHECK_EQ(next - all, 2);
  CHECK_EQ(all[0].key_path, "next.value");
  CHECK(all[0].observation == first.id);
  CHECK_SAME(all[0].observer, &first);
  CHECK_SAME(all[0].context, &one);
  CHECK_EQ((int)all[0].options, KVO_OLD);
  CHECK_CONTAINS(all[0].file, "fixture.c");
  CHECK(all[0].line > 0);
  CHECK_EQ(all[1].key_path, "value");
  CHECK_OK(kvo_remove_observer(first.id));
  CHECK_OK(kvo_remove_observer(second.id));
  item_destroy(object);
}

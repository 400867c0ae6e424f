/* memory.c - many observations, changes and deaths: no memory is left behind. */
#include "allocator.h"
#include "fixture.h"

#include <kvo/kvo_binding.h>

static void short_lives(int count) {
  item *leaf = item_make(0);
  for (int i = 0; i < count; i++) {
    item *object = item_make(0);
    watcher direct = {0}, path = {0};
    object->next = leaf;
    watch(object, "value", KVO_NEW | KVO_OLD, &direct);
    watch(object, "next.value", KVO_NEW | KVO_ENDS_WITH_OBJECT, &path);
    item_set_value(object, i);
    item_set_value(leaf, i);
    CHECK_EQ(direct.calls, 1);
    CHECK_EQ(path.calls, 1);
    if (i % 100 == 0) /* a report takes time */
      CHECK_STATUS(kvo_remove_observer_for(as_object(object), &path, "value"), KVO_ERROR_NOT_REGISTERED);
    CHECK_OK(kvo_remove_observer(direct.id));
    item_destroy(object);
    CHECK_EQ(path.destroyed, 1);
  }
  CHECK(!kvo_object_is_observed(as_object(leaf)));
  item_destroy(leaf);
}

TEST("20 000 short-lived observed objects leave no memory behind, nor do removals that fail") {
  use_counting_allocator();
  ignore_faults();
  short_lives(1000); /* by now the log of ended observations is allocated */
  long before = live_blocks;
  short_lives(harness_is_instrumented() ? 2000 : 20000);
  CHECK_EQ((long)live_blocks, before);
}

static watcher renewed;

static void renew(watcher *self, const kvo_change *change) {
  (void)self;
  CHECK_OK(kvo_cancel_observer(renewed.id));
  watch((item *)change->object, "value", KVO_NEW, &renewed);
}

TEST("thousands of observations and changes of one object leave no memory behind, also if deliveries renew observers") {
  use_counting_allocator();
  item *object = item_make(0), *leaves[] = {item_make(1), item_make(2)};
  watcher path = {0}, direct = {0}, renewing = {.then = renew};
  watch(object, "next.value", KVO_NEW | KVO_OLD, &path);
  watch(object, "value", KVO_NEW, &renewed);
  watch(object, "value", KVO_NONE, &renewing);
  int rounds = harness_is_instrumented() ? 1000 : 20000;
  long before = 0;
  for (int i = 0; i < rounds; i++) {
    watch(object, "other", KVO_NONE, &direct);
    item_set_next(object, leaves[i % 2]);
    item_set_value(object, i);
    CHECK_OK(kvo_remove_observer(direct.id));
    if (i == rounds / 2) before = live_blocks;
  }
  CHECK(live_blocks < before + 10);
  CHECK_EQ(path.calls, rounds);
  kvo_observation ids[] = {path.id, renewed.id, renewing.id};
  for (int i = 0; i < 3; i++) CHECK_OK(kvo_remove_observer(ids[i]));
  item *all[] = {object, leaves[0], leaves[1]};
  for (int i = 0; i < 3; i++) item_destroy(all[i]);
}

TEST("the memory of observations that end is freed, and their ids name nothing when it is used again") {
  enum { MANY = 5000 };
  static kvo_observation ids[MANY], later[MANY];
  use_counting_allocator();
  item *object = item_make(0);
  watcher w = {0};
  for (int i = 0; i < MANY; i++) ids[i] = watch(object, "value", KVO_NONE, &w);
  long most = live_blocks;
  for (int i = 0; i < MANY; i++) CHECK_OK(kvo_cancel_observer(ids[(long long)i * 7919 % MANY]));
  /* Some slabs stay, and those of the free nodes that the thread keeps; with AddressSanitizer more of them. */
  if (!harness_is_instrumented()) CHECK(live_blocks < most - 10);
  for (int i = 0; i < MANY; i++) later[i] = watch(object, "value", KVO_NONE, &w);
  CHECK(live_blocks <= most + 2);
  for (int i = 0; i < MANY; i++) {
    CHECK(!kvo_observation_is_registered(ids[i]));
    CHECK_STATUS(kvo_cancel_observer(ids[i]), KVO_ERROR_NOT_REGISTERED);
  }
  CHECK_EQ(w.destroyed, MANY);
  for (int i = 0; i < MANY; i++) CHECK_OK(kvo_cancel_observer(later[i]));
  CHECK_EQ(w.destroyed, 2 * MANY);
  item_destroy(object);
}

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

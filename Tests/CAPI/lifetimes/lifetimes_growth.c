/* lifetimes_growth.c - many observations, changes and deaths: no memory is left behind, and time grows in proportion. */
#include "allocator.h"
#include "fixture.h"

#include <kvo/kvo_binding.h>
#include <malloc.h>
#include <time.h>

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
    CHECK_OK(kvo_remove_observer(direct.id));
    item_destroy(object);
    CHECK_EQ(path.destroyed, 1);
  }
  CHECK(!kvo_object_is_observed(as_object(leaf)));
  item_destroy(leaf);
}

TEST("100 000 short-lived observed objects leave no memory behind") {
  use_counting_allocator();
  short_lives(10);
  long blocks = live_blocks;
  struct mallinfo2 before = mallinfo2();
  short_lives(harness_is_instrumented() ? 2000 : 100000);
  struct mallinfo2 after = mallinfo2();
  CHECK_EQ((long)live_blocks, blocks);
  if (!harness_is_instrumented()) CHECK(after.uordblks <= before.uordblks + 4096);
}

TEST("one object that is observed and changed 100 000 times leaves no memory behind") {
  use_counting_allocator();
  item *object = item_make(0), *one = item_make(1), *two = item_make(2);
  watcher path = {0}, w = {0};
  watch(object, "next.value", KVO_NEW | KVO_OLD, &path);
  item_set_next(object, one);
  item_set_next(object, two);
  long blocks = live_blocks;
  int rounds = harness_is_instrumented() ? 1000 : 50000;
  for (int i = 0; i < rounds; i++) {
    watch(object, "value", KVO_NONE, &w);
    item_set_next(object, one);
    item_set_next(object, two);
    CHECK_OK(kvo_remove_observer(w.id));
  }
  CHECK_EQ((long)live_blocks, blocks + 1); /* the slot of "value" */
  CHECK_EQ(path.calls, 2 * rounds + 2);
  CHECK_OK(kvo_remove_observer(path.id));
  item_destroy(object);
  item_destroy(one);
  item_destroy(two);
}

enum { CROWD = 20000 };
static item *crowd[2][CROWD];

static void *read_crowd(void *user_data) {
  item **members = crowd[*(int *)user_data];
  for (int i = 0; i < CROWD; i++) kvo_track_read(as_object(members[i]), kvo_key_hash("value", 5));
  return NULL;
}

static void release_nothing(void *value, void *user_data) { (void)value, (void)user_data; }
static void note_nothing(const kvo_raw_change *change, void *user_data) { (void)change, (void)user_data; }

TEST("an expression that changes from 20 000 objects to 20 000 others does so in time proportional to their number") {
  for (int i = 0; i < 2 * CROWD; i++) crowd[i / CROWD][i % CROWD] = item_make(i);
  item *root = item_make(0);
  int which = 0;
  static const kvo_observer_ops ops = {.callback = note_nothing, .evaluate = read_crowd, .release = release_nothing};
  kvo_binding_observer described = {.key_path = "crowd", .ops = &ops, .user_data = &which};
  kvo_observation id;
  CHECK_OK(kvo_binding_observe_tracked(as_object(root), &described, false, &id));
  which = 1;
  clock_t start = clock();
  item_set_value(crowd[0][0], 1);
  double seconds = (double)(clock() - start) / CLOCKS_PER_SEC;
  CHECK(!kvo_object_is_observed(as_object(crowd[0][CROWD - 1])));
  CHECK(kvo_object_is_observed(as_object(crowd[1][CROWD - 1])));
  if (!harness_is_instrumented()) CHECK(seconds < 1); /* quadratic time would be 4 s */
  CHECK_OK(kvo_remove_observer(id));
  for (int i = 0; i < 2 * CROWD; i++) item_destroy(crowd[i / CROWD][i % CROWD]);
  item_destroy(root);
}

/* delivery_lists.c - the deliveries in progress in a fault: which are listed, how cycles are folded, and what the first line has of one. */
#include "nested.h"

#include <string.h>

enum { LISTED = 40, DEEPEST = 300 };

/* The list of the last fault. */
static struct {
  size_t count, skipped, rounds[LISTED], repeats[LISTED];
  kvo_observation ids[LISTED];
} list;

static kvo_action keep_list(const kvo_fault *fault, void *arg) {
  memset(&list, 0, sizeof list);
  list.count = fault->chain_count;
  CHECK(list.count <= LISTED);
  for (size_t i = 0; i < list.count; i++) {
    list.skipped += fault->chain[i].skipped; /* only the first step has any */
    list.rounds[i] = fault->chain[i].round;
    list.repeats[i] = fault->chain[i].repeats;
    list.ids[i] = fault->chain[i].observation.observation;
  }
  return KVO_ACTION_IGNORE;
}

static item *links[DEEPEST + 1];
static kvo_observation link_ids[DEEPEST];

static void set_next_or_fail(const kvo_change *change, void *user_data) {
  item **next = user_data;
  if (*next != NULL)
    item_set_value(*next, 1);
  else
    kvo_remove_observer(7);
}

/* A fault inside this many nested deliveries, each of another observation. */
static void fail_inside(int deep) {
  for (int i = 0; i < deep; i++) links[i] = item_make(0);
  links[deep] = NULL;
  for (int i = 0; i < deep; i++) link_ids[i] = observe_value(links[i], set_next_or_fail, &links[i + 1]);
  item_set_value(links[0], 1);
  for (int i = 0; i < deep; i++) {
    CHECK_OK(kvo_remove_observer(link_ids[i]));
    item_destroy(links[i]);
  }
}

TEST("of the deliveries in progress the innermost forty are listed, outermost first, and how many others there are") {
  static const int depths[] = {1, 2, 39, 40, 41, 255, 256, 257, DEEPEST};
  kvo_set_fault_handler(keep_list, NULL);
  for (size_t n = 0; n < sizeof depths / sizeof *depths; n++) {
    int deep = depths[n], count = deep < LISTED ? deep : LISTED;
    fail_inside(deep);
    CHECK_EQ(list.count, count);
    CHECK_EQ(list.skipped, deep - count);
    for (int i = 0; i < count; i++) {
      CHECK_EQ(list.ids[i], link_ids[deep - count + i]);
      CHECK_EQ(list.rounds[i] + list.repeats[i], 0);
    }
  }
}

static int rounds_left;

static void set_or_fail(const kvo_change *change, void *user_data) {
  if (--rounds_left > 0)
    item_set_value(user_data, rounds_left);
  else
    kvo_remove_observer(7);
}

static kvo_observation first_id, cycle_ids[2];

/* A fault inside a delivery and, nested in it, this many of two observers that set what the other one observes. */
static void fail_in_cycle(int deep) {
  item *first = item_make(0), *pair[] = {item_make(0), item_make(0)};
  first_id = observe_value(first, set_or_fail, pair[0]);
  for (int i = 0; i < 2; i++) cycle_ids[i] = observe_value(pair[i], set_or_fail, pair[1 - i]);
  rounds_left = deep + 1;
  item_set_value(first, 1);
  CHECK_OK(kvo_remove_observer(first_id));
  for (int i = 0; i < 2; i++) CHECK_OK(kvo_remove_observer(cycle_ids[i]));
  for (int i = 0; i < 2; i++) item_destroy(pair[i]);
  item_destroy(first);
}

TEST("three rounds of a cycle are folded, without what led to it, and with the part of a round behind it") {
  kvo_set_fault_handler(keep_list, NULL);
  for (int deep = 6; deep < 12; deep++) {
    fail_in_cycle(deep);
    CHECK_EQ(list.count, 3 + deep % 2);
    CHECK_EQ(list.ids[0], first_id);
    CHECK_EQ(list.ids[1], cycle_ids[0]);
    CHECK_EQ(list.rounds[1], 2);
    CHECK_EQ(list.repeats[1], deep / 2 - 1);
    CHECK_EQ(list.ids[2], cycle_ids[1]);
    CHECK_EQ(list.rounds[0] + list.rounds[2] + list.skipped, 0);
    if (deep % 2 != 0) CHECK_EQ(list.ids[3], cycle_ids[0]);
  }
  fail_in_cycle(4);
  CHECK_EQ(list.count, 5);
  for (size_t i = 0; i < list.count; i++) CHECK_EQ(list.rounds[i] + list.repeats[i], 0);
}

/* avalanche.c - KVO_AVALANCHE: a set that causes more notifications than that is reported, once, with what it has set. */
#include "fixture.h"

#include <stdio.h>

enum { OBSERVERS = 4 };

static item *first, *second;
static watcher of_first[OBSERVERS], of_second[OBSERVERS];

static void set_second(watcher *self, const kvo_change *change) {
  (void)self, (void)change;
  item_set_value(second, second->value + 1);
}

/* Two objects with four observers each. Those of the first one set the second one. */
static void make_objects(void) {
  ignore_faults();
  first = item_make(0);
  second = item_make(0);
  for (int i = 0; i < OBSERVERS; i++) {
    of_first[i].then = set_second;
    watch(first, "value", KVO_NEW | KVO_ENDS_WITH_OBJECT, &of_first[i]);
    watch(second, "value", KVO_NEW | KVO_ENDS_WITH_OBJECT, &of_second[i]);
  }
}

static void destroy_objects(void) {
  item_destroy(first);
  item_destroy(second);
}

TEST("a set with as many notifications as KVO_AVALANCHE is no fault, each set with more is one") {
  harness_environment("KVO_AVALANCHE", "4");
  make_objects();
  watcher one_more = {0};
  char summary[200];
  item_set_value(second, 1);
  item_set_value(second, 2);
  CHECK_EQ(faults.count, 0);
  watch(second, "value", KVO_NEW | KVO_ENDS_WITH_OBJECT, &one_more);
  item_set_value(second, 3);
  snprintf(summary, sizeof summary,
           "KVO0027 warning: one set of \"value\" of Item@%p has caused more than 4 notifications (KVO_AVALANCHE)",
           (void *)second);
  CHECK_CONTAINS(faults.summary, (const char *)summary);
  CHECK_CONTAINS(faults.report, "a scope with KVO_SCOPE_COALESCES");
  CHECK_EQ(faults.count, 1);
  item_set_value(second, 4);
  CHECK_EQ(faults.count, 2);
  CHECK_EQ(one_more.calls, 2);
  destroy_objects();
}

static size_t in_chain;
static char summary[512];

static kvo_action keep_chain(const kvo_fault *fault, void *arg) {
  (void)arg;
  in_chain = fault->chain_count;
  snprintf(summary, sizeof summary, "%s", fault->summary);
  faults.count++;
  return KVO_ACTION_IGNORE;
}

TEST("the notifications that observers cause count too, and the report names the outermost set") {
  harness_environment("KVO_AVALANCHE", "6");
  make_objects();
  kvo_set_fault_handler(keep_chain, NULL);
  char named[64];
  item_set_value(second, 1);
  CHECK_EQ(faults.count, 0);
  item_set_value(first, 1); /* 4 and 4 times 4 */
  CHECK_EQ(faults.count, 1);
  snprintf(named, sizeof named, "one set of \"value\" of Item@%p ", (void *)first);
  CHECK_CONTAINS((const char *)summary, (const char *)named);
  CHECK_EQ(in_chain, 2);
  destroy_objects();
}

TEST("an initial notification is caused by no set") {
  harness_environment("KVO_AVALANCHE", "1");
  ignore_faults();
  first = item_make(0);
  for (int i = 0; i < OBSERVERS; i++) watch(first, "value", KVO_INITIAL | KVO_ENDS_WITH_OBJECT, &of_first[i]);
  CHECK_EQ(faults.count, 0);
  item_destroy(first);
}

TEST("without KVO_AVALANCHE nothing is reported") {
  make_objects();
  for (int i = 0; i < 25; i++) item_set_value(first, i);
  CHECK_EQ(faults.count, 0);
  destroy_objects();
}

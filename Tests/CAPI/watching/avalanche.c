/* avalanche.c - KVO_AVALANCHE: a set that causes more notifications than that is reported, once. */
#include "fixture.h"
#include "texts.h"

enum { OBSERVERS = 4 };

static item *first, *second;
static watcher of_first[OBSERVERS], of_second[OBSERVERS];

static void set_second(watcher *self, const kvo_change *change) { item_set_value(second, second->value + 1); }

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

/* Checks the last report, which is about this object. */
static void check_report(const item *object, int most) {
  kvo_observer at = watcher_observer("", 0, of_first);
  CHECK_WHOLE(faults.summary,
              "KVO0027 warning: one set of \"value\" of Item@%p has caused more than %d notifications (KVO_AVALANCHE), "
              "with those that its observers cause, and goes on, registered at %s:%u",
              (const void *)object, most, at.file, at.line);
}

TEST("a set with as many notifications as KVO_AVALANCHE is no fault, each set with more is one") {
  harness_environment("KVO_AVALANCHE", "4");
  make_objects();
  watcher one_more = {0};
  item_set_value(second, 1);
  item_set_value(second, 2);
  CHECK_EQ(faults.count, 0);
  watch(second, "value", KVO_NEW | KVO_ENDS_WITH_OBJECT, &one_more);
  item_set_value(second, 3);
  CHECK_EQ(faults.count, 1);
  item_set_value(second, 4);
  CHECK_EQ(faults.count, 2);
  check_report(second, 4);
  CHECK_CONTAINS(faults.report, "a scope with KVO_SCOPE_COALESCES");
  CHECK_EQ(one_more.calls, 2);
}

TEST("the notifications that observers cause count too, and the report names the outermost set") {
  harness_environment("KVO_AVALANCHE", "6");
  make_objects();
  item_set_value(second, 1);
  CHECK_EQ(faults.count, 0);
  item_set_value(first, 1); /* 4 and 4 times 4 */
  CHECK_EQ(faults.count, 1);
  check_report(first, 6);
  CHECK_EQ(occurrences(faults.report, " notified 0x"), 2); /* deliveries in progress */
}

TEST("without KVO_AVALANCHE nothing is reported") {
  make_objects();
  for (int i = 0; i < 25; i++) item_set_value(first, i);
  CHECK_EQ(faults.count, 0);
}

static kvo_action cancel_reported(const kvo_fault *fault, void *arg) {
  CHECK_OK(kvo_cancel_observer(fault->observations[0].observation));
  return KVO_ACTION_IGNORE;
}

TEST("an observer that the fault's handler cancels is not called any more") {
  harness_environment("KVO_AVALANCHE", "1");
  make_objects();
  kvo_set_fault_handler(cancel_reported, NULL);
  item_set_value(second, 1);
  CHECK_EQ(of_second[0].calls + of_second[1].calls + of_second[2].calls + of_second[3].calls, OBSERVERS - 1);
}

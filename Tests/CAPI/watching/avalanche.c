/* avalanche.c - KVO_AVALANCHE: a set that causes more notifications than that is reported, once, with what it has set. */
#include "fixture.h"

#include <stdio.h>
#include <string.h>

static int reports;
static char said[512], helped[512];
static size_t in_chain;

static kvo_action note_fault(const kvo_fault *fault, void *arg) {
  (void)arg;
  if (fault->code != KVO_FAULT_SLOW_CALLBACK) return KVO_ACTION_DEFAULT;
  reports++;
  snprintf(said, sizeof said, "%s", fault->summary);
  snprintf(helped, sizeof helped, "%s", fault->help);
  in_chain = fault->chain_count;
  return KVO_ACTION_IGNORE;
}

enum { OBSERVERS = 4 };

static void watch_all(item *object, watcher *watchers) {
  for (size_t i = 0; i < OBSERVERS; i++) watch(object, "value", KVO_NEW, &watchers[i]);
}

static void end_all(const watcher *watchers) {
  for (size_t i = 0; i < OBSERVERS; i++) CHECK_OK(kvo_cancel_observer(watchers[i].id));
}

TEST("a set with as many notifications as KVO_AVALANCHE is no fault, each with more is one") {
  harness_environment("KVO_AVALANCHE", "4");
  kvo_set_fault_handler(note_fault, NULL);
  item *object = item_make(0);
  watcher watchers[OBSERVERS] = {0}, one_more = {0};
  watch_all(object, watchers);
  item_set_value(object, 1);
  item_set_value(object, 2);
  CHECK_EQ(reports, 0);
  watch(object, "value", KVO_NEW, &one_more);
  item_set_value(object, 3);
  CHECK_EQ(reports, 1);
  CHECK_CONTAINS(said, "KVO0027 warning: one set of \"value\" of Item@0x");
  CHECK_CONTAINS(said, " has caused more than 4 notifications (KVO_AVALANCHE)");
  CHECK_CONTAINS(helped, "a scope with KVO_SCOPE_COALESCES");
  item_set_value(object, 4);
  CHECK_EQ(reports, 2);
  CHECK_EQ(one_more.calls, 2);
  CHECK_OK(kvo_cancel_observer(one_more.id));
  end_all(watchers);
  item_destroy(object);
}

static item *second;
static void set_second(watcher *self, const kvo_change *change) {
  (void)self, (void)change;
  item_set_value(second, second->value + 1);
}

TEST("the notifications that observers cause count too, and the report names the outermost set") {
  harness_environment("KVO_AVALANCHE", "6");
  kvo_set_fault_handler(note_fault, NULL);
  item *object = item_make(0);
  second = item_make(0);
  watcher first[OBSERVERS] = {0}, others[OBSERVERS] = {0};
  for (size_t i = 0; i < OBSERVERS; i++) first[i].then = set_second;
  watch_all(object, first);
  watch_all(second, others);
  item_set_value(second, 1);
  CHECK_EQ(reports, 0);
  item_set_value(object, 1); /* 4 and 4 times 4 */
  CHECK_EQ(reports, 1);
  char named[64];
  snprintf(named, sizeof named, "one set of \"value\" of Item@%p ", (void *)object);
  CHECK_CONTAINS(said, named);
  CHECK_EQ(in_chain, 2);
  end_all(first);
  end_all(others);
  item_destroy(object);
  item_destroy(second);
}

TEST("an initial notification is caused by no set") {
  harness_environment("KVO_AVALANCHE", "1");
  kvo_set_fault_handler(note_fault, NULL);
  item *object = item_make(0);
  watcher w[3] = {0};
  item_set_value(object, 1);
  for (size_t i = 0; i < 3; i++) watch(object, "value", KVO_NEW | KVO_INITIAL, &w[i]);
  CHECK_EQ(reports, 0);
  for (size_t i = 0; i < 3; i++) CHECK_OK(kvo_cancel_observer(w[i].id));
  item_destroy(object);
}

TEST("without the setting nothing is reported") {
  kvo_set_fault_handler(note_fault, NULL);
  item *object = item_make(0);
  watcher watchers[OBSERVERS] = {0};
  watch_all(object, watchers);
  for (int i = 0; i < 100; i++) item_set_value(object, i);
  CHECK_EQ(reports, 0);
  end_all(watchers);
  item_destroy(object);
}

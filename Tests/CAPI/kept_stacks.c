/* kept_stacks.c - with KVO_STACKS: the calls of registrations and removals, in reports of what is wrong later. */
#include "fixture.h"
#include "json.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define CALLED __attribute__((noinline))
#define FRAME_STAYS() __asm__ volatile("")

CALLED static kvo_observation open_sidebar(item *object, watcher *sidebar) {
  kvo_observation id = watch(object, "value", KVO_NEW, sidebar);
  FRAME_STAYS();
  return id;
}

CALLED static void close_sidebar(kvo_observation id) {
  kvo_remove_observer(id);
  FRAME_STAYS();
}

static void leave_observed(void *arg) {
  (void)arg;
  static watcher sidebar;
  item *object = item_make(0);
  open_sidebar(object, &sidebar);
  kvo_object_destroy(as_object(object));
}

TEST("a report of KVO0001 has the calls that registered the observation") {
  harness_environment("KVO_STACKS", "8");
  child_result run = harness_run_child(leave_observed, NULL, "log");
  CHECK_CONTAINS(run.errors, "KVO0001 ");
  const char *registered = strstr(run.errors, "        registered");
  CHECK(registered != NULL);
  const char *call = strstr(registered, " open_sidebar  ");
  CHECK(call != NULL);
  CHECK(call < strstr(run.errors, "\n  fault"));
}

TEST("in JSON an observation has the calls that registered it") {
  harness_environment("KVO_STACKS", "8");
  setenv("KVO_REPORT", "json", 1);
  child_result run = harness_run_child(leave_observed, NULL, "log");
  CHECK(json_is_valid(run.errors));
  CHECK_CONTAINS(run.errors, "\"symbol\":\"open_sidebar\"");
}

static void remove_twice(void *arg) {
  (void)arg;
  static watcher sidebar;
  kvo_observation id = open_sidebar(item_make(0), &sidebar);
  close_sidebar(id);
  kvo_remove_observer(id);
}

TEST("a report of KVO0003 has the calls of the first removal") {
  harness_environment("KVO_STACKS", "8");
  child_result run = harness_run_child(remove_twice, NULL, "log");
  CHECK_CONTAINS(run.errors, "KVO0003 ");
  CHECK_CONTAINS(run.errors, " close_sidebar  ");
}

TEST("without KVO_STACKS neither is kept") {
  child_result run = harness_run_child(remove_twice, NULL, "log");
  CHECK_CONTAINS(run.errors, "KVO0003 ");
  CHECK(strstr(run.errors, " close_sidebar  ") == NULL);
}

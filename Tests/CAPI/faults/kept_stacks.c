/* kept_stacks.c - KVO_STACKS: the calls of registrations and removals in later reports. */
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
  harness_skip_without_frames();
  harness_environment("KVO_STACKS", "8");
  child_result run = harness_run_child(leave_observed, NULL, "log");
  CHECK_CONTAINS(run.errors, "KVO0001 ");
  const char *registered = strstr(run.errors, "        registered");
  CHECK(registered != NULL);
  const char *call = strstr(registered, " open_sidebar  ");
  CHECK(call != NULL);
  CHECK(call < strstr(run.errors, "\n  fault"));
}

TEST("JSON contains the calls that registered an observation") {
  harness_skip_without_frames();
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

TEST("a report of KVO0003 has the calls of the first removal, those of the registration, and the callback") {
  harness_skip_without_frames();
  harness_environment("KVO_STACKS", "8");
  child_result run = harness_run_child(remove_twice, NULL, "log");
  CHECK_CONTAINS(run.errors, "KVO0003 ");
  const char *removed = strstr(run.errors, "  first removed"), *registered = strstr(run.errors, "        registered");
  CHECK(removed != NULL && registered != NULL);
  const char *removal = strstr(removed, " close_sidebar  "), *registration = strstr(registered, " open_sidebar  ");
  CHECK(removal != NULL && removal < registered);
  CHECK(registration != NULL && registration < strstr(run.errors, "\n  fault"));
  const char *callback = strstr(registered, ", callback note  ");
  CHECK(callback != NULL && callback < registration);
}

CALLED static void close_below(kvo_observation id, int calls) {
  if (calls > 0)
    close_below(id, calls - 1);
  else
    close_sidebar(id);
  FRAME_STAYS();
}

CALLED static void close_far_below(kvo_observation id) {
  close_below(id, 20);
  FRAME_STAYS();
}

static void remove_twice_far_below(void *arg) {
  (void)arg;
  static watcher sidebar;
  kvo_observation id = open_sidebar(item_make(0), &sidebar);
  close_far_below(id);
  kvo_remove_observer(id);
}

TEST("as many calls are kept of a removal as KVO_STACKS says") {
  harness_skip_without_frames();
  harness_environment("KVO_STACKS", "32");
  setenv("KVO_REPORT", "json", 1);
  child_result run = harness_run_child(remove_twice_far_below, NULL, "log");
  CHECK_CONTAINS(run.errors, "\"symbol\":\"close_far_below\"");
}

TEST("without KVO_STACKS no calls of registrations and removals are kept") {
  child_result run = harness_run_child(remove_twice, NULL, "log");
  CHECK_CONTAINS(run.errors, "KVO0003 ");
  CHECK(strstr(run.errors, " close_sidebar  ") == NULL);
}

static long reads_so_far(void) {
  FILE *file = fopen("/proc/self/io", "r");
  long reads = -1;
  char line[80];
  while (file != NULL && fgets(line, sizeof line, file) != NULL)
    if (sscanf(line, "syscr: %ld", &reads) == 1) break;
  if (file != NULL) fclose(file);
  return reads;
}

/* Makes the stack show a caller in memory that is not code. */
CALLED static kvo_observation observe_from_nowhere(item *object, watcher *w) {
  static long nowhere[16];
  void *volatile *frame = __builtin_frame_address(0), *caller = frame[1];
  frame[1] = &nowhere[8];
  kvo_observation id = watch(object, "value", KVO_NEW, w);
  frame[1] = caller;
  return id;
}

TEST("an address outside of all modules is looked up once, not at each registration") {
  harness_environment("KVO_STACKS", "8");
  if (harness_is_instrumented() || reads_so_far() < 0) return; /* a tool reads files, too */
  item *object = item_make(0);
  watcher w = {0};
  CHECK_OK(kvo_cancel_observer(observe_from_nowhere(object, &w)));
  long before = reads_so_far(), around = reads_so_far() - before;
  before = reads_so_far();
  for (int i = 0; i < 20; i++) CHECK_OK(kvo_cancel_observer(observe_from_nowhere(object, &w)));
  CHECK_EQ(reads_so_far() - before, around);
  item_destroy(object);
}

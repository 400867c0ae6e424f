/* kept_stacks.c - KVO_STACKS: the calls of registrations and removals in later reports. */
#include "fixture.h"
#include "json.h"
#include "reported.h"

#include <stdio.h>
#include <string.h>

CALLED static kvo_observation open_sidebar(item *object, watcher *sidebar) {
  kvo_observation id = watch(object, "value", KVO_NEW, sidebar);
  FRAME_STAYS();
  return id;
}

CALLED static void close_sidebar(kvo_observation id, int depth) {
  if (depth > 0)
    close_sidebar(id, depth - 1);
  else
    kvo_remove_observer(id);
  FRAME_STAYS();
}

/* Registers, removes far down in the stack, and removes again. */
static void remove_twice(void *arg) {
  static watcher sidebar;
  kvo_observation id = open_sidebar(item_make(0), &sidebar);
  close_sidebar(id, 20);
  kvo_remove_observer(id);
}

TEST("a report of KVO0003 has the calls of the first removal, those of the registration, and the callback") {
  harness_skip_without_frames();
  harness_environment("KVO_STACKS", "8");
  child_result run = harness_run_child(remove_twice, NULL, "log");
  static const char *const in_this_order[] = {"  first removed",    "\n      #0 close_sidebar  ",
                                              "        registered", ", callback note  ",
                                              " open_sidebar  ",    "\n  fault"};
  const char *at = run.errors;
  for (size_t i = 0; i < sizeof in_this_order / sizeof *in_this_order; i++) {
    CHECK_CONTAINS(at, in_this_order[i]);
    at = strstr(at, in_this_order[i]);
  }
  run = run_with("KVO_REPORT", "json", remove_twice, "log");
  CHECK(json_is_valid(run.errors));
  CHECK_CONTAINS(run.errors, "\"symbol\":\"open_sidebar\"");
}

TEST("without KVO_STACKS no calls of registrations and removals are kept") {
  child_result run = harness_run_child(remove_twice, NULL, "log");
  CHECK_CONTAINS(run.errors, "KVO0003 ");
  CHECK_SAME(strstr(run.errors, " close_sidebar  "), NULL);
}

static kvo_action print_count(const kvo_fault *fault, void *arg) {
  fprintf(stderr, "kept %zu of a removal\n", fault->sites[0].frame_count);
  return KVO_ACTION_IGNORE;
}

static void remove_twice_and_count(void *arg) {
  kvo_set_fault_handler(print_count, NULL);
  remove_twice(arg);
}

TEST("as many calls are kept as KVO_STACKS says") {
  harness_skip_without_frames();
  harness_environment("KVO_STACKS", "16");
  CHECK_CONTAINS(harness_run_child(remove_twice_and_count, NULL, NULL).errors, "kept 16 of a removal\n");
}

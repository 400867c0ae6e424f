/* leaks.c - KVO_REPORT=leaks: at exit the runtime reports what is still observed, and where it was registered. */
#include "fixture.h"
#include "json.h"
#include "reported.h"

#include <signal.h>
#include <stdlib.h>
#include <string.h>

static watcher w;

static void leave(kvo_object *object, const char *key_path, int options, uint32_t line) {
  kvo_observer observer = watcher_observer(key_path, options, &w);
  observer.file = "some/where.c";
  observer.line = line;
  CHECK_OK(kvo_add_observer(object, &observer, NULL));
}

static void leave_some(void *arg) {
  item *object = item_make(0), *other = item_make(0);
  object->next = other;
  for (int i = 0; i < 10000; i++) leave(as_object(object), "value", KVO_NEW, 1);
  leave(as_object(object), "next.value", KVO_NEW, 2);
  leave(as_object(other), "other", KVO_ENDS_WITH_OBJECT, 4711);
  exit(0);
}

TEST("observations that remain at exit are reported, one entry per source location, the largest groups first") {
  harness_environment("KVO_REPORT", "leaks");
  child_result run = harness_run_child(leave_some, NULL, NULL);
  CHECK_EQ(run.exit_code, 0);
  static const char first[] =
      "KVO0014 warning: 10002 observations, registered at 3 places, had not ended when the process ended; "
      "10000 of them: \"value\" of Item, at some/where.c:1\n";
  CHECK_EQ(strncmp(run.errors, first, strlen(first)), 0);
  CHECK_CONTAINS(run.errors, "some/where.c:1, as were 9999 others like it, callback note  ");
  CHECK_CONTAINS(run.errors, "\"next.value\" of Item@0x");
  CHECK_CONTAINS(run.errors, "some/where.c:4711, callback note  ");
  CHECK(strstr(run.errors, "\"value\" of Item@") < strstr(run.errors, "\"next.value\" of Item@"));
  CHECK(occurrences(run.errors, "\n") < 40);
}

TEST("with KVO_REPORT=json,leaks the report of leaks is one line of JSON") {
  harness_environment("KVO_REPORT", "json,leaks");
  child_result run = harness_run_child(leave_some, NULL, NULL);
  CHECK_EQ(occurrences(run.errors, "\n"), 1);
  CHECK(json_is_valid(run.errors));
  CHECK_CONTAINS(run.errors, "\"code\":\"KVO0014\"");
  CHECK_CONTAINS(run.errors, "\"duplicateCount\":9999");
}

static void exit_in_callback(watcher *self, const kvo_change *change) { exit(0); }

static void leave_in_callback(void *arg) {
  item *object = item_make(0);
  w.then = exit_in_callback;
  watch(object, "value", KVO_NEW, &w);
  item_set_value(object, 1);
}

TEST("exit in a callback ends the process, with a report of leaks") {
  harness_environment("KVO_REPORT", "leaks");
  child_result run = harness_run_child(leave_in_callback, NULL, NULL);
  CHECK_EQ(run.exit_code, 0);
  CHECK_CONTAINS(run.errors, "KVO0014 warning: 1 observation, registered at 1 place, had not ended");
}

TEST("no leaks are reported unless KVO_REPORT asks for it") {
  child_result run = harness_run_child(leave_some, NULL, NULL);
  CHECK_EQ(run.exit_code, 0);
  CHECK_EQ((const char *)run.errors, "");
}

static void end_all(void *arg) {
  item *object = item_make(0);
  kvo_cancel_observer(watch(object, "value", KVO_NEW, &w));
  watch(object, "value", KVO_NEW | KVO_ENDS_WITH_OBJECT, &w);
  item_destroy(object);
  exit(0);
}

TEST("no leaks are reported if all observations have ended") {
  harness_environment("KVO_REPORT", "leaks");
  child_result run = harness_run_child(end_all, NULL, NULL);
  CHECK_EQ(run.exit_code, 0);
  CHECK_EQ((const char *)run.errors, "");
}

TEST("KVO_POLICY can make leaks end the process, so that a test run fails") {
  harness_environment("KVO_REPORT", "leaks");
  CHECK_EQ(harness_run_child(leave_some, NULL, "KVO0014:abort").signal, SIGABRT);
}

TEST("with KVO_STACKS the report of leaks shows the calls that registered") {
  harness_environment("KVO_REPORT", "leaks");
  harness_environment("KVO_STACKS", "8");
  child_result run = harness_run_child(leave_some, NULL, NULL);
  CHECK_CONTAINS(run.errors, " leave_some  ");
}

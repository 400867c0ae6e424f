/* leaks.c - KVO_REPORT=leaks: at exit the runtime reports what is still observed, and where it was registered. */
#include "fixture.h"
#include "json.h"

#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static watcher w;

static void leave_some(void *arg) {
  (void)arg;
  item *object = item_make(0), *other = item_make(0);
  object->next = other;
  for (int i = 0; i < 10000; i++) watch(object, "value", KVO_NEW, &w);
  watch(object, "next.value", KVO_NEW, &w);
  kvo_observer observer = watcher_observer("other", KVO_ENDS_WITH_OBJECT, &w);
  observer.file = "some/where.c";
  observer.line = 4711;
  CHECK_OK(kvo_add_observer(as_object(other), &observer, NULL));
  exit(0);
}

static void end_all(void *arg) {
  (void)arg;
  item *object = item_make(0);
  kvo_cancel_observer(watch(object, "value", KVO_NEW, &w));
  watch(object, "value", KVO_NEW | KVO_ENDS_WITH_OBJECT, &w);
  item_destroy(object);
  exit(0);
}

static int lines_of(const char *text) {
  int lines = 0;
  while ((text = strchr(text, '\n')) != NULL) {
    text++;
    lines++;
  }
  return lines;
}

TEST("observations that remain at exit are reported, one line per source location, largest groups first") {
  harness_environment("KVO_REPORT", "leaks");
  child_result ended = harness_run_child(leave_some, NULL, NULL);
  CHECK_EQ(ended.exit_code, 0);
  const char *first =
      "KVO0014 warning: 10002 observations, registered at 2 places, had not ended when the process ended; "
      "10000 of them: \"value\" of Item, at ";
  CHECK_EQ(strncmp(ended.errors, first, strlen(first)), 0);
  unsigned line = watcher_observer("", 0, &w).line;
  char most[100];
  snprintf(most, sizeof most, "fixture.c:%u, as were 9999 others like it\n", line);
  CHECK_CONTAINS(ended.errors, most);
  CHECK_CONTAINS(ended.errors, "\"next.value\" of Item@0x");
  CHECK_CONTAINS(ended.errors, "some/where.c:4711\n");
  CHECK(strstr(ended.errors, "\"value\" of Item@") < strstr(ended.errors, "\"next.value\" of Item@"));
  CHECK(lines_of(ended.errors) < 40);
}

TEST("with KVO_REPORT=json the report of leaks is one line of JSON") {
  harness_environment("KVO_REPORT", "json,leaks");
  child_result ended = harness_run_child(leave_some, NULL, NULL);
  CHECK_EQ(lines_of(ended.errors), 1);
  CHECK(json_is_valid(ended.errors));
  CHECK_CONTAINS(ended.errors, "\"code\":\"KVO0014\"");
  CHECK_CONTAINS(ended.errors, "\"duplicateCount\":9999");
}

TEST("no leaks are reported if all observations have ended") {
  harness_environment("KVO_REPORT", "leaks");
  child_result ended = harness_run_child(end_all, NULL, NULL);
  CHECK_EQ(ended.exit_code, 0);
  CHECK_EQ(ended.errors, "");
}

TEST("no leaks are reported unless KVO_REPORT asks for it") {
  child_result ended = harness_run_child(leave_some, NULL, NULL);
  CHECK_EQ(ended.exit_code, 0);
  CHECK_EQ(ended.errors, "");
}

TEST("KVO_POLICY can make leaks end the process, so that a test run fails") {
  harness_environment("KVO_REPORT", "leaks");
  CHECK_EQ(harness_run_child(leave_some, NULL, "KVO0014:abort").signal, SIGABRT);
}

static void exit_in_callback(watcher *self, const kvo_change *change) {
  (void)self;
  (void)change;
  exit(0);
}

static void leave_in_callback(void *arg) {
  (void)arg;
  item *object = item_make(0);
  w.then = exit_in_callback;
  watch(object, "value", KVO_NEW, &w);
  item_set_value(object, 1);
}

TEST("exit in a callback ends the process, with a report of leaks") {
  harness_environment("KVO_REPORT", "leaks");
  child_result ended = harness_run_child(leave_in_callback, NULL, NULL);
  CHECK_EQ(ended.exit_code, 0);
  CHECK_CONTAINS(ended.errors, "KVO0014 warning: 1 observation, registered at 1 place, had not ended");
}

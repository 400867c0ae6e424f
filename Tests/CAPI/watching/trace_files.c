/* trace_files.c - the file of a trace: JSON however the process ends, and refused if it cannot be written. */
#include "served.h"
#include "texts.h"
#include "traced.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>

/* ----------------------------------------------------------------------------------------------------- Endings -- */

static char path_of_parent[64];

static void kill_itself(item *object) {
  for (int i = 0; i < 5000; i++) item_set_value(object, i);
  kill(getpid(), SIGKILL);
}

static void exit_in_a_change(item *object) {
  kvo_will_change(as_object(object), "value");
  exit(0);
}

static void record_and_end(void *arg) {
  void (*const *end)(item * object) = arg;
  CHECK_OK(kvo_trace_begin(path_of_parent));
  item *object = observed();
  item_set_value(object, 1);
  (*end)(object);
}

TEST("the file is JSON however the process ends, and has the last events if it exits or a fault ends it") {
  static const struct {
    void (*end)(item *object);
    int signal;
    const char *recorded;
  } rows[] = {{kill_itself, SIGKILL, "\"set Item.value\""},
              {item_destroy, SIGABRT, "\"name\":\"KVO0001 fatal\",\"cat\":\"fault\""},
              {exit_in_a_change, 0, "\"ts\":"}};
  snprintf(path_of_parent, sizeof path_of_parent, "%s", trace_path());
  for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
    CHECK_EQ(harness_run_child(record_and_end, (void *)(uintptr_t)&rows[i].end, NULL).signal, rows[i].signal);
    const char *text = content();
    CHECK_CONTAINS(text, rows[i].recorded);
    if (rows[i].signal != SIGKILL) CHECK_EQ(occurrences(text, "\"ph\":\"B\""), occurrences(text, "\"ph\":\"E\""));
    unlink(trace_path());
  }
}

TEST("the child of a fork is not recorded, does not change its parent's file, and may record itself") {
  item *object = observed();
  begin();
  item_set_value(object, 1);
  CHECK_OK(kvo_will_change(as_object(object), "value"));
  pid_t child = fork();
  if (child == 0) {
    item *own = item_make(0);
    watcher w = {0};
    watch(own, "value", KVO_NONE, &w);
    for (int i = 0; i < 1000; i++) item_set_value(own, 2);
    CHECK_OK(kvo_trace_end());
    begin(); /* another file: the path has the process id */
    item_set_value(own, 2);
    const char *text = ended();
    char own_events[64];
    snprintf(own_events, sizeof own_events, "\"pid\":%ld,\"tid\":%ld,", (long)getpid(), (long)getpid());
    CHECK_EQ(occurrences(text, "\"set Item.value\""), 1);
    CHECK_EQ(occurrences(text, own_events), occurrences(text, "\"ph\":"));
    exit(0);
  }
  CHECK_EQ(status_of(child), 0);
  CHECK_OK(kvo_did_change(as_object(object), "value"));
  check_trace("(set Item.value(observer @ (value)))(set Item.value(observer @ (value)))");
}

/* ---------------------------------------------------------------------------------------------------- Refusals -- */

static void limit_files(rlim_t size) {
  struct rlimit limit;
  CHECK_EQ(getrlimit(RLIMIT_FSIZE, &limit), 0);
  limit.rlim_cur = size < limit.rlim_max ? size : limit.rlim_max;
  CHECK_EQ(setrlimit(RLIMIT_FSIZE, &limit), 0);
}

TEST("at the size limit of its file a trace is valid up to there, and only kvo_trace_end says so") {
  item *object = observed();
  begin();
  limit_files(200000);
  errno = 7;
  for (int i = 0; i < 5000; i++) {
    item_set_value(object, i);
    CHECK_EQ(errno, 7);
  }
  CHECK_STATUS(kvo_trace_end(), KVO_ERROR_FILE);
  const char *text = content();
  unlink(trace_path());
  CHECK_CONTAINS(text, "set Item.value");
  CHECK_EQ(text + strlen(text) - 4, "}\n]\n");
}

static int next_descriptor(void) {
  int opened = open("/dev/null", O_RDONLY);
  close(opened);
  return opened;
}

TEST("a file that cannot be written is refused, and so is a second recording; the next one is not") {
  int before = next_descriptor();
  CHECK_STATUS(kvo_trace_begin("no/such/folder/trace.json"), KVO_ERROR_FILE);
  CHECK_STATUS(kvo_trace_begin("/dev/full"), KVO_ERROR_FILE);
  CHECK_EQ(mkfifo(trace_path(), 0600), 0);
  CHECK_STATUS(kvo_trace_begin(trace_path()), KVO_ERROR_FILE); /* nobody reads it */
  unlink(trace_path());
  limit_files(0); /* no room for the beginning */
  CHECK_STATUS(kvo_trace_begin(trace_path()), KVO_ERROR_FILE);
  limit_files(RLIM_INFINITY);
  CHECK_OK(kvo_trace_end());
  begin();
  CHECK_STATUS(kvo_trace_begin(trace_path()), KVO_ERROR_BUSY);
  ended();
  CHECK_EQ(next_descriptor(), before); /* none was left open */
}

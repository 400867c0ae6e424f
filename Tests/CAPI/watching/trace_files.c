/* trace_files.c - the file of a trace: it is JSON however the process ends, and one that cannot be written is refused. */
#include "fixture.h"
#include "traced.h"

#include <fcntl.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

/* ----------------------------------------------------------------------------------------------------------- Endings -- */

static void kill_itself(void *arg) {
  (void)arg;
  item *object = item_make(0);
  watcher w = {0};
  CHECK_OK(kvo_trace_begin(path));
  watch(object, "value", KVO_NONE, &w);
  for (int i = 0; i < 5000; i++) item_set_value(object, i);
  kvo_will_change(as_object(object), "value");
  kill(getpid(), SIGKILL);
}

TEST("the file of a process that is killed is JSON") {
  snprintf(path, sizeof path, "trace-%ld.json", (long)getpid());
  child_result died = harness_run_child(kill_itself, NULL, NULL);
  CHECK_EQ(died.signal, SIGKILL);
  char *text = content();
  unlink(path);
  CHECK_CONTAINS(text, "set Item.value");
  free(text);
}

static void die_of_fault(void *arg) {
  (void)arg;
  item *object = item_make(0);
  watcher w = {0};
  CHECK_OK(kvo_trace_begin(path));
  watch(object, "value", KVO_NONE, &w);
  item_set_value(object, 1);
  item_destroy(object);
}

TEST("the trace contains the events that led to a fault") {
  snprintf(path, sizeof path, "trace-%ld.json", (long)getpid());
  child_result died = harness_run_child(die_of_fault, NULL, NULL);
  CHECK_EQ(died.signal, SIGABRT);
  char *text = content();
  unlink(path);
  CHECK_CONTAINS(text, "Item died");
  CHECK_CONTAINS(text, "\"name\":\"KVO0001 fatal\",\"cat\":\"fault\"");
  free(text);
}

static void exit_early(void *arg) {
  (void)arg;
  item *object = item_make(0);
  watcher w = {0};
  CHECK_OK(kvo_trace_begin(path));
  watch(object, "value", KVO_NONE, &w);
  kvo_will_change(as_object(object), "value");
  exit(0);
}

TEST("exit ends a recording") {
  snprintf(path, sizeof path, "trace-%ld.json", (long)getpid());
  CHECK_EQ(harness_run_child(exit_early, NULL, NULL).exit_code, 0);
  char *text = content();
  unlink(path);
  CHECK_CONTAINS(text, "{\"ph\":\"E\"");
  free(text);
}

static off_t file_size(void) {
  struct stat is;
  CHECK_EQ(stat(path, &is), 0);
  return is.st_size;
}

TEST("events within a change are written together: a few at its end, many before the buffer overflows") {
  enum { MANY = 3000 };
  item *object = item_make(0);
  watcher w = {0};
  begin();
  watch(object, "value", KVO_NONE, &w);
  watch(object, "other", KVO_NONE, &w);
  CHECK_OK(kvo_will_change(as_object(object), "other"));
  off_t size = file_size();
  for (int i = 0; i < 20; i++) item_set_value(object, i);
  CHECK_EQ((long)file_size(), (long)size);
  for (int i = 0; i < MANY; i++) item_set_value(object, i);
  CHECK(file_size() > size);
  CHECK_OK(kvo_did_change(as_object(object), "other"));
  char *text = ended();
  check_order(text);
  int sets = 0;
  for (const char *at = text; (at = strstr(at, "set Item.value")) != NULL; at++) sets++;
  CHECK(sets >= MANY + 20);
  free(text);
}

static void *leave_open(void *arg) {
  CHECK_OK(kvo_will_change(arg, "value"));
  return NULL;
}

TEST("a trace is recorded also where its file has the number 0: of threads that end, and until a child is forked") {
  item *object = item_make(0);
  watcher w = {0};
  pthread_t thread;
  ignore_faults(); /* the change of the other thread */
  close(0);
  begin();
  watch(object, "value", KVO_NONE, &w);
  CHECK_STATUS(kvo_trace_begin(path), KVO_ERROR_BUSY);
  CHECK_EQ(pthread_create(&thread, NULL, leave_open, object), 0);
  pthread_join(thread, NULL);
  pid_t child = fork();
  if (child == 0) {
    CHECK_EQ(fcntl(0, F_GETFD), -1); /* closed in the child */
    for (int i = 0; i < 1000; i++) item_set_value(object, 2);
    exit(0);
  }
  int status;
  waitpid(child, &status, 0);
  CHECK_EQ(status, 0);
  item_set_value(object, 1);
  char *text = ended();
  CHECK_CONTAINS(text, "set Item.value");
  check_order(text);
  free(text);
}

TEST("the child of a fork is not recorded, and does not change its parent's file") {
  item *object = item_make(0);
  watcher w = {0};
  watch(object, "value", KVO_NONE, &w);
  begin();
  item_set_value(object, 1);
  pid_t child = fork();
  if (child == 0) {
    for (int i = 0; i < 1000; i++) item_set_value(object, 2);
    CHECK_OK(kvo_trace_end());
    begin(); /* another file: the path has the process id */
    item_set_value(object, 2);
    char *text = ended();
    CHECK_CONTAINS(text, "set Item.value");
    check_order(text);
    free(text);
    exit(0);
  }
  int status;
  waitpid(child, &status, 0);
  CHECK_EQ(status, 0);
  item_set_value(object, 3);
  char *text = ended(), expected[200];
  unsigned line = watcher_observer("", 0, &w).line;
  snprintf(expected, sizeof expected,
           "(set Item.value(observer fixture.c:%u (value)))(set Item.value(observer fixture.c:%u (value)))", line,
           line);
  check_shape(text, expected);
  free(text);
}

TEST("at the size limit of its file kvo_trace_end says so, no SIGXFSZ arrives, and the file is valid up to there") {
  item *object = item_make(0);
  watcher w = {0};
  watch(object, "value", KVO_NONE, &w);
  begin();
  struct rlimit small = {200000, RLIM_INFINITY};
  CHECK_EQ(setrlimit(RLIMIT_FSIZE, &small), 0);
  for (int i = 0; i < 5000; i++) item_set_value(object, i);
  CHECK_STATUS(kvo_trace_end(), KVO_ERROR_FILE);
  char *text = content();
  unlink(path);
  CHECK_CONTAINS(text, "set Item.value");
  CHECK_EQ((const char *)text + strlen(text) - 4, "}\n]\n");
  free(text);
}

/* ------------------------------------------------------------------------------------------------------- Refusals -- */

static int next_descriptor(void) {
  int opened = open("/dev/null", O_RDONLY);
  close(opened);
  return opened;
}

TEST("a file that cannot be written is refused, and so is a second recording") {
  int before = next_descriptor();
  CHECK_STATUS(kvo_trace_begin(NULL), KVO_ERROR_INVALID_ARGUMENT);
  CHECK_STATUS(kvo_trace_begin("no/such/folder/trace.json"), KVO_ERROR_FILE);
  CHECK_STATUS(kvo_trace_begin("."), KVO_ERROR_FILE);
  CHECK_STATUS(kvo_trace_begin("/dev/null"), KVO_ERROR_FILE);
  CHECK_OK(kvo_trace_end());
  begin();
  CHECK_STATUS(kvo_trace_begin(path), KVO_ERROR_BUSY);
  free(ended());
  CHECK_STATUS(kvo_trace_begin("/dev/full"), KVO_ERROR_FILE);
  begin();
  free(ended());
  CHECK_EQ(next_descriptor(), before); /* none was left open */
}

TEST("a recording whose file has no room for its beginning is refused, and the next one is not") {
  int before = next_descriptor();
  struct rlimit limit, none;
  CHECK_EQ(getrlimit(RLIMIT_FSIZE, &limit), 0);
  none = (struct rlimit){0, limit.rlim_max};
  CHECK_EQ(setrlimit(RLIMIT_FSIZE, &none), 0);
  snprintf(path, sizeof path, "trace-%ld.json", (long)getpid());
  CHECK_STATUS(kvo_trace_begin(path), KVO_ERROR_FILE);
  CHECK_EQ(next_descriptor(), before);
  CHECK_EQ(setrlimit(RLIMIT_FSIZE, &limit), 0);
  begin();
  free(ended());
}

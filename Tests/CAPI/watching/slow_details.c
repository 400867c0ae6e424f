/* slow_details.c - KVO_SLOW_MS: what the report of a slow callback says, and the thread that watches. */
#include "fixture.h"

#include <dirent.h>
#include <glob.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

static _Atomic int told;
static unsigned long long told_milliseconds;
static char told_file[128];
static size_t told_length;

static kvo_action note_fault(const kvo_fault *fault, void *arg) {
  static const char before[] = " has not returned for ";
  (void)arg;
  if (fault->code != KVO_FAULT_SLOW_CALLBACK) return KVO_ACTION_DEFAULT;
  const char *at = strstr(fault->summary, before);
  if (at != NULL) told_milliseconds = strtoull(at + strlen(before), NULL, 10);
  const char *file = fault->observations[0].file;
  snprintf(told_file, sizeof told_file, "%s", file != NULL ? file : "(none)");
  told_length = fault->observations[0].file_length;
  told++;
  return KVO_ACTION_IGNORE;
}

static void nap(int milliseconds) { usleep((useconds_t)milliseconds * 1000); }

static void hang_until_reported(watcher *self, const kvo_change *change) {
  (void)change;
  int before = self->calls - 1; /* each call waits for a report of its own */
  while (told <= before) nap(1);
}

static long long now(void) {
  struct timespec time;
  clock_gettime(CLOCK_MONOTONIC, &time);
  return time.tv_sec * 1000ll + time.tv_nsec / 1000000;
}

TEST("a report of a slow callback says for how many milliseconds it has not returned") {
  harness_environment("KVO_SLOW_MS", "20");
  kvo_set_fault_handler(note_fault, NULL);
  item *object = item_make(0);
  watcher w = {.then = hang_until_reported};
  watch(object, "value", KVO_NEW, &w);
  for (int i = 1; i <= 2; i++) {
    long long begun = now();
    item_set_value(object, i);
    long long took = now() - begun;
    CHECK_EQ(told, i);
    CHECK(told_milliseconds >= 20);
    CHECK((long long)told_milliseconds <= took + 1);
  }
  CHECK_OK(kvo_cancel_observer(w.id));
  item_destroy(object);
}

TEST("a limit of one millisecond is a limit, too") {
  harness_environment("KVO_SLOW_MS", "1");
  kvo_set_fault_handler(note_fault, NULL);
  alarm(60); /* a hang ends the test */
  item *object = item_make(0);
  watcher w = {.then = hang_until_reported};
  watch(object, "value", KVO_NEW, &w);
  item_set_value(object, 1);
  CHECK_EQ(told, 1);
  CHECK(told_milliseconds >= 1);
  CHECK_OK(kvo_cancel_observer(w.id));
  item_destroy(object);
}

TEST("the file where a slow observer was registered is told whole, and that there is none if it is not known") {
  harness_environment("KVO_SLOW_MS", "20");
  kvo_set_fault_handler(note_fault, NULL);
  item *object = item_make(0);
  watcher w = {.then = hang_until_reported};
  kvo_observer observer = watcher_observer("value", KVO_NEW, &w);
  observer.file = "Some/where.c";
  CHECK_OK(kvo_add_observer(as_object(object), &observer, &w.id));
  item_set_value(object, 1);
  CHECK_EQ((const char *)told_file, "Some/where.c");
  CHECK_EQ(told_length, strlen("Some/where.c"));
  CHECK_OK(kvo_remove_observer(w.id));
  observer.file = NULL;
  observer.line = 0;
  CHECK_OK(kvo_add_observer(as_object(object), &observer, &w.id));
  item_set_value(object, 2);
  CHECK_EQ((const char *)told_file, "(none)");
  CHECK_EQ(told_length, 0);
  CHECK_OK(kvo_remove_observer(w.id));
  item_destroy(object);
}

static int count_threads(void) {
  int count = 0;
  DIR *tasks = opendir("/proc/self/task");
  CHECK(tasks != NULL);
  for (const struct dirent *each; (each = readdir(tasks)) != NULL;) count += each->d_name[0] != '.';
  closedir(tasks);
  return count;
}

TEST("one thread watches all deliveries") {
  harness_environment("KVO_SLOW_MS", "3600000");
  item *object = item_make(0);
  watcher w = {0};
  watch(object, "value", KVO_NEW, &w);
  item_set_value(object, 1);
  int threads = count_threads();
  for (int i = 0; i < 50; i++) item_set_value(object, i);
  CHECK_EQ(count_threads(), threads);
  CHECK_OK(kvo_cancel_observer(w.id));
  item_destroy(object);
}

/* The signals that the thread of this name blocks; false if there is no such thread yet. */
static bool find_blocked(const char *thread, unsigned long long *blocked) {
  glob_t files;
  bool found = false;
  char wanted[64];
  snprintf(wanted, sizeof wanted, "Name:\t%s\n", thread);
  CHECK_EQ(glob("/proc/self/task/*/status", 0, NULL, &files), 0);
  for (size_t i = 0; i < files.gl_pathc && !found; i++) {
    FILE *file = fopen(files.gl_pathv[i], "r");
    char line[256];
    bool is_it = file != NULL && fgets(line, sizeof line, file) != NULL && strcmp(line, wanted) == 0;
    while (is_it && !found && fgets(line, sizeof line, file) != NULL)
      found = sscanf(line, "SigBlk: %llx", blocked) == 1;
    if (file != NULL) fclose(file);
  }
  globfree(&files);
  return found;
}

TEST("the thread that watches takes no signals but those of a crash of its own") {
  static const int of_crashes[] = {SIGABRT, SIGTRAP, SIGSEGV, SIGBUS, SIGILL, SIGFPE},
                   of_program[] = {SIGHUP, SIGINT, SIGUSR1, SIGUSR2, SIGALRM, SIGTERM, SIGCHLD, SIGPROF};
  harness_skip_if_emulated("its threads and their signals are qemu-user's");
  if (harness_is_instrumented()) return; /* ThreadSanitizer changes the masks of threads */
  harness_environment("KVO_SLOW_MS", "3600000");
  item *object = item_make(0);
  watcher w = {0};
  watch(object, "value", KVO_NEW, &w);
  item_set_value(object, 1);
  unsigned long long blocked = 0;
  while (!find_blocked("kvo-slow", &blocked)) nap(1); /* the thread sets its own name */
  for (size_t i = 0; i < sizeof of_crashes / sizeof *of_crashes; i++) CHECK_EQ(blocked >> (of_crashes[i] - 1) & 1, 0);
  for (size_t i = 0; i < sizeof of_program / sizeof *of_program; i++) CHECK_EQ(blocked >> (of_program[i] - 1) & 1, 1);
  CHECK_OK(kvo_cancel_observer(w.id));
  item_destroy(object);
}

/* ------------------------------------------------------------------------------------------------------- The report -- */

static _Atomic bool may_return;

static void hang(const kvo_change *change, void *user_data) {
  (void)change, (void)user_data;
  while (!may_return) nap(1);
}

static kvo_action note_details(const kvo_fault *fault, void *arg) {
  static char report[8192];
  if (fault->code != KVO_FAULT_SLOW_CALLBACK) return KVO_ACTION_DEFAULT;
  const kvo_fault_observation *of = fault->observations;
  CHECK(of->callback == (void (*)(void))hang);
  CHECK_SAME(of->observer, arg);
  CHECK_SAME(of->context, &may_return);
  kvo_fault_format(fault, KVO_REPORT_TEXT, report, sizeof report);
  CHECK_CONTAINS(report, ", callback hang  ");
  may_return = true;
  return KVO_ACTION_IGNORE;
}

TEST("a report of a slow callback has the observer, the context and the name of the C function") {
  harness_environment("KVO_SLOW_MS", "20");
  item *object = item_make(0);
  kvo_set_fault_handler(note_details, object);
  kvo_observer observer = {sizeof observer, "value", KVO_NEW, hang, object, .context = &may_return, KVO_HERE};
  kvo_observation id;
  CHECK_OK(kvo_add_observer(as_object(object), &observer, &id));
  item_set_value(object, 1);
  CHECK(may_return);
  CHECK_OK(kvo_remove_observer(id));
  item_destroy(object);
}

/* Reports appear after the limit, and before the callback returns. */
static void hang_longer(const kvo_change *change, void *user_data) {
  (void)change, (void)user_data;
  nap(200);
}

static void observe_slowly(item *object, const char *file, uint32_t line) {
  kvo_observer observer = {sizeof observer, "value", KVO_NEW, hang_longer, NULL, .file = file, .line = line};
  CHECK_OK(kvo_add_observer(as_object(object), &observer, NULL));
}

static void set_slowly(void *arg) {
  (void)arg;
  item *first = item_make(0), *second = item_make(0);
  observe_slowly(first, "a.c", 10);
  observe_slowly(second, "a.c", 10);
  observe_slowly(first, "a.c", 11);
  observe_slowly(first, NULL, 0);
  observe_slowly(first, NULL, 0);
  for (int i = 1; i <= 2; i++) {
    item_set_value(first, i);
    item_set_value(second, i);
  }
}

static int count_of(const char *text, const char *part) {
  int count = 0;
  for (const char *at = text; (at = strstr(at, part)) != NULL; at++) count++;
  return count;
}

TEST("by default each line that registers slow callbacks is reported once, and each observation without a line") {
  harness_environment("KVO_SLOW_MS", "20");
  child_result run = harness_run_child(set_slowly, NULL, NULL);
  CHECK_EQ(run.signal, 0);
  CHECK_EQ(count_of(run.errors, "KVO0027 warning: "), 4);
  CHECK_EQ(count_of(run.errors, "ms, on thread"), 4);
  CHECK_EQ(count_of(run.errors, ", registered at a.c:10\n"), 1);
  CHECK_EQ(count_of(run.errors, ", registered at a.c:11\n"), 1);
}

/* slow.c - KVO_SLOW_MS: slow callbacks are reported once each, even if they never return; the thread that watches. */
#include "served.h"
#include "shared.h"
#include "texts.h"

#include <glob.h>
#include <inttypes.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

/* How many reports there were, their observations, and the last one's text. */
static _Atomic int reports;
static kvo_fault_observation reported[4];
static char summary[600], report[8192];

static kvo_action keep(const kvo_fault *fault, void *arg) {
  if (fault->code != KVO_FAULT_SLOW_CALLBACK) return KVO_ACTION_DEFAULT;
  snprintf(summary, sizeof summary, "%s", fault->summary);
  kvo_fault_format(fault, KVO_REPORT_TEXT, report, sizeof report);
  reported[reports % 4] = fault->observations[0];
  reports++;
  return KVO_ACTION_IGNORE;
}

/* Reports callbacks that take longer. */
static void report_after(const char *milliseconds) {
  harness_environment("KVO_SLOW_MS", milliseconds);
  kvo_set_fault_handler(keep, NULL);
}

static void nap(int milliseconds) { usleep((useconds_t)milliseconds * 1000); }

/* Observers whose callbacks return after so many reports. There is no other limit, because machines differ. */
static void hang_until_reported(watcher *self, const kvo_change *change) {
  while (reports < (int)(intptr_t)self->then_arg) nap(1);
}
#define HANGS_UNTIL(count)                                                                                             \
  { .then = hang_until_reported, .then_arg = (void *)(intptr_t)(count) }

static item *item_for(watcher *w) {
  item *object = item_make(0);
  watch(object, "value", KVO_NEW | KVO_ENDS_WITH_OBJECT, w);
  return object;
}

/* -------------------------------------------------------------------------------------------------- The report -- */

static int awaited = 1;

static void hang(const kvo_change *change, void *user_data) {
  while (reports < awaited) nap(1);
}

TEST("a callback that does not return is reported once while it runs, with its time, thread, place and function") {
  report_after("20");
  item *object = item_make(0);
  kvo_observer observer = observer_by("value", KVO_NONE, hang, object);
  observer.context = &reports;
  observer.file = "Some/where.c";
  observer.line = 7;
  kvo_observation id;
  CHECK_OK(kvo_add_observer(as_object(object), &observer, &id));
  time_t begun = time(NULL);
  item_set_value(object, 1);
  CHECK_WHOLE((const char *)summary,
              "KVO0027 warning: an observer of \"value\" of Item@%p has not returned for ~ ms, on thread %ld (main), "
              "registered at Some/where.c:7",
              (void *)object, (long)getpid());
  long long milliseconds = number_after(summary, "", "returned for ");
  CHECK(milliseconds >= 20 && milliseconds < 1000 * (time(NULL) - begun + 1));
  CHECK_CONTAINS((const char *)report, ", callback hang  ");
  CHECK(reported[0].observation == id);
  CHECK(reported[0].callback == (void (*)(void))hang);
  CHECK_SAME(reported[0].observer, object);
  CHECK_SAME(reported[0].context, &reports);
  nap(60);
  CHECK_EQ(reports, 1);
  awaited = 2; /* the next delivery is another one */
  item_set_value(object, 2);
  CHECK_EQ(reports, 2);
  CHECK_OK(kvo_remove_observer(id));
  item_destroy(object);
}

/* Reports appear after the limit, and before the callback returns. */
static void hang_longer(const kvo_change *change, void *user_data) { nap(200); }

static void observe_slowly(item *object, const char *file, uint32_t line) {
  kvo_observer observer = {sizeof observer, "value", KVO_NEW, hang_longer, NULL, .file = file, .line = line};
  CHECK_OK(kvo_add_observer(as_object(object), &observer, NULL));
}

static void set_slowly(void *arg) {
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

TEST("by default each line that registers slow callbacks is reported once, and each observation without a line") {
  harness_environment("KVO_SLOW_MS", "20");
  child_result run = harness_run_child(set_slowly, NULL, NULL);
  CHECK_EQ(run.signal, 0);
  CHECK_EQ(occurrences(run.errors, "KVO0027 warning: "), 4);
  CHECK_EQ(occurrences(run.errors, ", registered at a.c:10\n"), 1);
  CHECK_EQ(occurrences(run.errors, ", registered at a.c:11\n"), 1);
}

TEST("KVO_POLICY can end a process with a callback that hangs") {
  harness_environment("KVO_SLOW_MS", "20");
  child_result ended = harness_run_child(set_slowly, NULL, "KVO0027:abort");
  CHECK_EQ(ended.signal, SIGABRT);
  CHECK_CONTAINS(ended.errors, "KVO0027 warning: an observer of \"value\"");
}

/* ------------------------------------------------------------------------------- Several callbacks and threads -- */

static _Atomic int is_inside, may_leave, has_begun;

static void stay_inside(watcher *self, const kvo_change *change) {
  is_inside = 1;
  await(&may_leave);
}

static void begin_and_hang(watcher *self, const kvo_change *change) {
  has_begun = 1;
  hang_until_reported(self, change);
}

static void set_on_painter(void *arg) {
  pthread_setname_np(pthread_self(), "painter");
  item_set_value(arg, 1);
}

TEST("callbacks of several threads end in any order; reports name their threads, and none that has ended") {
  report_after("100");
  watcher older = {.then = stay_inside}, newer = {.then = begin_and_hang, .then_arg = (void *)(intptr_t)2};
  item *first = item_for(&older), *second = item_for(&newer);
  running *thread = start_thread(set_on_painter, first);
  await(&is_inside);
  while (reports == 0) nap(1);
  CHECK(reported[0].observation == older.id);
  CHECK_CONTAINS((const char *)summary, " painter");
  running *other = start_thread(set_on_painter, second);
  await(&has_begun);
  may_leave = 1;
  join_thread(thread);
  join_thread(other);
  CHECK_EQ(reports, 2);
  CHECK(reported[1].observation == newer.id);
  item_destroy(first);
  item_destroy(second);
}

TEST("the child of a fork has a watchdog, and reports no callbacks of threads that it does not have") {
  if (is_under_tsan()) return;
  report_after("300");
  watcher older = {.then = stay_inside}, own = HANGS_UNTIL(1);
  item *first = item_for(&older), *second = item_for(&own);
  running *thread = start_thread(set_on_painter, first);
  await(&is_inside);
  pid_t child = fork();
  if (child == 0) {
    reports = 0;
    item_set_value(second, 1);
    _exit(reported[0].observation == own.id ? 0 : 7);
  }
  CHECK_EQ(status_of(child), 0);
  may_leave = 1;
  join_thread(thread);
}

/* ------------------------------------------------------------------------------------------------ The watchdog -- */

/* The thread sets its own name. It goes when no callback has been running for a second. */
static void await_watchdogs(watcher *self, const kvo_change *change) {
  while (count_threads("kvo-slow") != (int)(intptr_t)self->then_arg) nap(1);
}

TEST("one thread watches all deliveries from the first one on; without KVO_SLOW_MS there is none") {
  bool is_asked = getenv("KVO_SLOW_MS") != NULL;
  kvo_set_fault_handler(keep, NULL);
  watcher w = {0};
  item *object = item_for(&w);
  CHECK_EQ(count_threads("kvo-slow"), 0);
  for (int i = 0; i < 10000; i++) item_set_value(object, i);
  w.then = await_watchdogs;
  w.then_arg = (void *)(intptr_t)is_asked;
  item_set_value(object, -1);
  CHECK_EQ(reports, 0);
  item_destroy(object);
  if (!is_asked) report_after("3600000");
}

TEST("a process whose threads have ended ends, although its deliveries are watched") {
  static watcher w;
  report_after("3600000");
  pid_t child = is_under_tsan() ? -1 : fork();
  if (child == 0) {
    item_set_value(item_for(&w), 1);
    pthread_exit(NULL);
  }
  if (child > 0) CHECK_EQ(status_of(child), 0);
}

/* The signals that the thread of this name blocks, as bits, when there is such a thread. */
static uint64_t blocked_by(const char *thread) {
  for (;; nap(1)) {
    glob_t files;
    char name[32] = "", line[256];
    uint64_t blocked = 0;
    CHECK_EQ(glob("/proc/self/task/*/status", 0, NULL, &files), 0);
    for (size_t i = 0; i < files.gl_pathc && strcmp(name, thread) != 0; i++) {
      FILE *file = fopen(files.gl_pathv[i], "r");
      while (file != NULL && fgets(line, sizeof line, file) != NULL)
        if (sscanf(line, "Name: %31s", name) == 0) sscanf(line, "SigBlk: %" SCNx64, &blocked);
      if (file != NULL) fclose(file);
    }
    globfree(&files);
    if (strcmp(name, thread) == 0) return blocked;
  }
}

static uint64_t by_watchdog;

/* While a callback runs there is one. */
static void look_at_watchdog(watcher *self, const kvo_change *change) { by_watchdog = blocked_by("kvo-slow"); }

#define BIT(signal) ((uint64_t)1 << (signal - 1))

TEST("the library's threads block all signals but those of crashes, and not those of the thread that starts them") {
  static const uint64_t of_crashes =
                            BIT(SIGABRT) | BIT(SIGTRAP) | BIT(SIGSEGV) | BIT(SIGBUS) | BIT(SIGILL) | BIT(SIGFPE),
                        of_program = BIT(SIGHUP) | BIT(SIGINT) | BIT(SIGUSR1) | BIT(SIGALRM) | BIT(SIGTERM) |
                                     BIT(SIGCHLD) | BIT(SIGPROF);
  harness_skip_if_emulated("its threads and their signals are qemu-user's");
  if (harness_is_instrumented()) return; /* ThreadSanitizer changes the masks of threads */
  harness_environment("KVO_SLOW_MS", "3600000");
  uint64_t before = blocked_by("test_slow");
  watcher w = {.then = look_at_watchdog};
  item *object = served();
  watch(object, "value", KVO_NEW | KVO_ENDS_WITH_OBJECT, &w);
  item_set_value(object, 1);
  CHECK_EQ(by_watchdog & (of_crashes | of_program), of_program);
  CHECK_EQ(blocked_by("kvo") & (of_crashes | of_program), of_program);
  CHECK_EQ(blocked_by("test_slow"), before);
}

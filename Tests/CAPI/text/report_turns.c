/* report_turns.c - threads whose reports go to the same file: each waits for its turn, and the child of a fork waits for none. */
#include "fixture.h"

#include <fcntl.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

static void never_was(kvo_observation id) { kvo_remove_observer(id); }

/* The pipe of the reports, which is full at first, so that the first report holds its turn. */
static int ends[2];
static size_t filling;

static void fill_pipe(void) {
  static char bytes[4096];
  CHECK_EQ(pipe(ends), 0);
  CHECK_EQ(fcntl(ends[1], F_SETFL, O_NONBLOCK), 0);
  for (ssize_t written; (written = write(ends[1], bytes, sizeof bytes)) > 0;) filling += (size_t)written;
  CHECK_EQ(fcntl(ends[1], F_SETFL, 0), 0);
  CHECK(dup2(ends[1], STDERR_FILENO) == STDERR_FILENO);
}

/* How often a thread has waited in the kernel so far. */
static long waits_of(long thread) {
  char path[64], line[128];
  long waits = -1;
  snprintf(path, sizeof path, "/proc/self/task/%ld/status", thread);
  FILE *file = fopen(path, "r");
  CHECK(file != NULL);
  while (fgets(line, sizeof line, file) != NULL) sscanf(line, "voluntary_ctxt_switches: %ld", &waits);
  fclose(file);
  return waits;
}

static _Atomic long first_thread, second_thread;

static void *report_first(void *arg) {
  atomic_store(&first_thread, syscall(SYS_gettid));
  never_was(0x101);
  never_was(0x102);
  return arg;
}

static void *report_second(void *arg) {
  atomic_store(&second_thread, syscall(SYS_gettid));
  never_was(0x201);
  return arg;
}

/* Waits until a thread has set its number, and, for a while, until it has waited that often since. */
static void await_waits(const _Atomic long *thread, long more) {
  while (atomic_load(thread) == 0) usleep(100);
  long begun = waits_of(atomic_load(thread));
  for (int i = 0; i < 20 && waits_of(atomic_load(thread)) < begun + more; i++) usleep(1000);
}

static pthread_t threads[2];

/* The first thread is writing a report, and the second one waits for it: it looks each millisecond. */
static void let_one_wait(void) {
  fill_pipe();
  CHECK_EQ(pthread_create(&threads[0], NULL, report_first, NULL), 0);
  await_waits(&first_thread, 1);
  CHECK_EQ(pthread_create(&threads[1], NULL, report_second, NULL), 0);
  await_waits(&second_thread, 5);
}

static char text[1 << 18];

/* Reads all that is written until the threads have ended. */
static void let_both_end(void) {
  size_t size = 0;
  while (size < filling) {
    ssize_t got = read(ends[0], text, sizeof text < filling - size ? sizeof text : filling - size);
    CHECK(got > 0);
    size += (size_t)got;
  }
  for (int i = 0; i < 2; i++) pthread_join(threads[i], NULL);
  CHECK_EQ(fcntl(ends[0], F_SETFL, O_NONBLOCK), 0);
  ssize_t got = read(ends[0], text, sizeof text - 1);
  CHECK(got > 0);
  text[got] = '\0';
}

static size_t place_of(const char *id) {
  char line[64];
  snprintf(line, sizeof line, "KVO0008 fatal: %s is not an observation's id", id);
  const char *found = strstr(text, line);
  if (found == NULL) harness_fail(__FILE__, __LINE__, "there is no report of %s", id);
  return (size_t)(found - text);
}

enum { IN_TURN = 7 };

static void report_in_turn(void *arg) {
  (void)arg;
  let_one_wait();
  let_both_end();
  size_t first = place_of("0x101"), other = place_of("0x201"), second = place_of("0x102");
  _exit(first < other && other < second ? IN_TURN : 0);
}

TEST("a thread that makes one report after the other lets those first that wait already") {
  harness_skip_if_emulated("threads of qemu-user wait for other things, too");
  if (harness_is_instrumented()) return; /* slower than the time for which a thread waits */
  int in_turn = 0;
  for (int i = 0; i < 9; i++) in_turn += harness_run_child(report_in_turn, NULL, "log").exit_code == IN_TURN;
  CHECK(in_turn >= 5); /* a thread may be late on a busy machine */
}

static void report_in_fork(void *arg) {
  (void)arg;
  let_one_wait();
  pid_t child = fork();
  CHECK(child >= 0);
  if (child == 0) {
    struct rusage before, after;
    int nowhere = open("/dev/null", O_WRONLY);
    CHECK(nowhere >= 0 && dup2(nowhere, STDERR_FILENO) == STDERR_FILENO);
    getrusage(RUSAGE_SELF, &before);
    for (int i = 0; i < 100; i++) never_was(0x301);
    getrusage(RUSAGE_SELF, &after);
    _exit(after.ru_nvcsw - before.ru_nvcsw >= 50);
  }
  int status;
  CHECK(waitpid(child, &status, 0) == child);
  CHECK(WIFEXITED(status));
  CHECK_EQ(WEXITSTATUS(status), 0);
  let_both_end();
}

TEST("in the child of a fork no report waits for those that the parent's threads were making or waiting to make") {
  harness_skip_if_emulated("a fork while other threads run may block qemu-user");
  if (harness_is_instrumented()) return;
  child_result run = harness_run_child(report_in_fork, NULL, "log");
  CHECK_EQ(run.signal, 0);
  CHECK_EQ(run.exit_code, 0);
}

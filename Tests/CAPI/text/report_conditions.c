/* report_conditions.c - reports are whole in difficult conditions: on many threads at the same time, in the child of a fork, in a signal
 * handler that interrupted another report. */
#include "fixture.h"

#include <limits.h>
#include <pthread.h>
#include <setjmp.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

static void never_was(void) { kvo_remove_observer(0); }

/* ---------------------------------------------------------------------------------------------------- Fault handlers -- */

static jmp_buf way_out;
static kvo_action leave(const kvo_fault *fault, void *arg) {
  (void)fault, (void)arg;
  longjmp(way_out, 1);
}

TEST("a fault handler left with longjmp ten thousand times leaks no memory") {
  if (harness_is_instrumented()) return; /* AddressSanitizer's frames are not freed */
  kvo_set_fault_handler(leave, NULL);
  struct rusage before, after;
  for (volatile int i = 0; i < 10000; i++) {
    if (i == 100) getrusage(RUSAGE_SELF, &before);
    if (setjmp(way_out) == 0) never_was();
  }
  getrusage(RUSAGE_SELF, &after);
  CHECK(after.ru_maxrss - before.ru_maxrss < 1024); /* KiB */
  kvo_set_fault_handler(NULL, NULL);
}

static kvo_action fault_deeper(const kvo_fault *fault, void *arg) {
  (void)fault, (void)arg;
  for (int i = 0; i < 3; i++) never_was();
  return KVO_ACTION_IGNORE;
}

static void *fault_within_handler(void *arg) {
  for (int i = 0; i < 200; i++) never_was();
  return arg;
}

static void fault_on_many_threads(void *arg) {
  kvo_set_fault_handler(fault_deeper, NULL);
  pthread_t threads[16];
  for (int i = 0; i < 16; i++) pthread_create(&threads[i], NULL, fault_within_handler, arg);
  for (int i = 0; i < 16; i++) pthread_join(threads[i], NULL);
  fputs("went on\n", stderr);
}

TEST("more threads than there are report stacks fault at the same time, and in fault handlers") {
  child_result run = harness_run_child(fault_on_many_threads, NULL, "ignore");
  CHECK_EQ((const char *)run.errors, "went on\n");
}

static pthread_barrier_t in_handlers;

static kvo_action meet_in_handler(const kvo_fault *fault, void *arg) {
  (void)fault, (void)arg;
  pthread_barrier_wait(&in_handlers);
  return KVO_ACTION_IGNORE;
}

static void *fault_and_meet(void *arg) {
  never_was();
  return arg;
}

static long mapped_pages(void) {
  long pages = 0;
  FILE *file = fopen("/proc/self/statm", "r");
  CHECK(file != NULL && fscanf(file, "%ld", &pages) == 1);
  fclose(file);
  return pages;
}

TEST("the memory of reports that were made at the same time is given back") {
  harness_skip_if_emulated("the process's memory is qemu-user's");
  if (harness_is_instrumented()) return;
  enum { AT_ONCE = 32 };
  kvo_set_fault_handler(meet_in_handler, NULL);
  pthread_barrier_init(&in_handlers, NULL, AT_ONCE);
  long least = LONG_MAX;
  for (int round = 0; round < 10; round++) {
    long before = mapped_pages();
    pthread_t threads[AT_ONCE];
    for (int i = 0; i < AT_ONCE; i++) pthread_create(&threads[i], NULL, fault_and_meet, NULL);
    for (int i = 0; i < AT_ONCE; i++) pthread_join(threads[i], NULL);
    long grown = mapped_pages() - before;
    if (grown < least) least = grown;
  }
  CHECK(least <= 0); /* in some rounds the C library maps stacks */
}

/* ------------------------------------------------------------------------------------------------------------- Turns -- */

static void *report_often(void *arg) {
  for (int i = 0; i < 100; i++) never_was();
  return arg;
}

static void report_after_others(void *arg) {
  pthread_t threads[4];
  struct rusage before, after;
  for (int i = 0; i < 4; i++) pthread_create(&threads[i], NULL, report_often, arg);
  for (int i = 0; i < 4; i++) pthread_join(threads[i], NULL);
  getrusage(RUSAGE_THREAD, &before);
  for (int i = 0; i < 100; i++) never_was();
  getrusage(RUSAGE_THREAD, &after);
  fprintf(stderr, after.ru_nvcsw - before.ru_nvcsw < 50 ? "went on" : "waited");
}

TEST("threads wait for each other's reports, and a thread that reports alone does not wait") {
  setenv("KVO_REPORT_PATH", "/dev/null", 1);
  child_result run = harness_run_child(report_after_others, NULL, "log");
  CHECK_EQ((const char *)run.errors, "went on");
}

/* ------------------------------------------------------------------------------------------------------------- Forks -- */

static _Atomic bool over;
static void *fault_all_the_time(void *arg) {
  char text[4096];
  while (!over) {
    never_was();
    kvo_call_format((void *)(uintptr_t)never_was, text, sizeof text);
  }
  return arg;
}

static char formatted[1 << 15];

static void fork_while_others_fault(void *arg) {
  pthread_t threads[3];
  for (int i = 0; i < 3; i++) pthread_create(&threads[i], NULL, fault_all_the_time, arg);
  for (int i = 0; i < 400; i++) {
    pid_t child = fork();
    if (child == 0) {
      struct timespec begun, ended;
      alarm(20); /* SIGALRM ends it */
      clock_gettime(CLOCK_MONOTONIC, &begun);
      never_was();
      kvo_call_format((void *)(uintptr_t)never_was, formatted, sizeof formatted);
      clock_gettime(CLOCK_MONOTONIC, &ended);
      double seconds = (double)(ended.tv_sec - begun.tv_sec) + (double)(ended.tv_nsec - begun.tv_nsec) / 1e9;
      _exit(seconds > 0.4); /* it would be waiting for a thread that does not exist */
    }
    int status;
    waitpid(child, &status, 0);
    if (WIFSIGNALED(status)) harness_fail(__FILE__, __LINE__, "child %d ended by signal %d", i, WTERMSIG(status));
    if (!harness_is_instrumented()) CHECK_EQ(WEXITSTATUS(status), 0);
  }
  over = true;
  for (int i = 0; i < 3; i++) pthread_join(threads[i], NULL);
  fputs("all came back", stderr);
}

TEST("a child that is forked while other threads fault makes its report without delay") {
  harness_skip_if_emulated("a fork while other threads run may block qemu-user");
  setenv("KVO_REPORT_PATH", "/dev/null", 1);
  CHECK_CONTAINS(harness_run_child(fork_while_others_fault, NULL, "log").errors, "all came back");
}

/* ----------------------------------------------------------------------------------------------------- Interruptions -- */

static const void *a_call;
static void format_again(int number) {
  char text[1024];
  (void)number;
  kvo_call_format(a_call, text, sizeof text);
}

static void interrupt_often(void *arg) {
  (void)arg;
  a_call = (const char *)(uintptr_t)never_was + 1;
  signal(SIGPROF, format_again);
  struct sigevent event = {.sigev_notify = SIGEV_SIGNAL, .sigev_signo = SIGPROF};
  timer_t timer;
  struct itimerspec often = {{0, 1000000}, {0, 1000000}};
  timer_create(CLOCK_MONOTONIC, &event, &timer);
  timer_settime(timer, 0, &often, NULL);
  for (int i = 0; i < 1000; i++) never_was();
  often = (struct itimerspec){{0, 0}, {0, 0}};
  timer_settime(timer, 0, &often, NULL);
  fputs("came through", stderr);
}

TEST("a signal handler that has interrupted a report formats a call, and neither waits for the other") {
  setenv("KVO_REPORT_PATH", "/dev/null", 1);
  CHECK_CONTAINS(harness_run_child(interrupt_often, NULL, "log").errors, "came through");
}

/* report_signals.c - a report changes neither the signals that its thread blocks nor its errno, whether it can be written or not. */
#include "fixture.h"

#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

static void never_was(void) { kvo_remove_observer(0); }

/* Standard error becomes a pipe that nobody reads; returns the file that it was. */
static int break_errors(void) {
  int ends[2], errors = dup(STDERR_FILENO);
  CHECK_EQ(pipe(ends), 0);
  close(ends[0]);
  dup2(ends[1], STDERR_FILENO);
  close(ends[1]);
  return errors;
}

/* Whether this thread blocks exactly SIGUSR1. */
static bool blocks_as_before(void) {
  static const int others[] = {SIGPIPE, SIGXFSZ, SIGTERM, SIGINT, SIGUSR2, SIGSEGV};
  sigset_t mask;
  CHECK_EQ(pthread_sigmask(SIG_SETMASK, NULL, &mask), 0);
  for (size_t i = 0; i < sizeof others / sizeof *others; i++)
    if (sigismember(&mask, others[i])) return false;
  return sigismember(&mask, SIGUSR1);
}

static void report_with_mask(void *arg) {
  sigset_t mask;
  sigemptyset(&mask);
  sigaddset(&mask, SIGUSR1);
  CHECK_EQ(pthread_sigmask(SIG_SETMASK, &mask, NULL), 0);
  int errors = arg != NULL ? break_errors() : dup(STDERR_FILENO);
  never_was();
  if (blocks_as_before()) dprintf(errors, "blocks as before\n");
}

TEST("after a report its thread blocks the signals that it blocked before, also if the report could not be written") {
  static char is_broken;
  CHECK_CONTAINS(harness_run_child(report_with_mask, NULL, "log").errors, "\nblocks as before\n");
  CHECK_EQ((const char *)harness_run_child(report_with_mask, &is_broken, "log").errors, "blocks as before\n");
}

static void report_to_nobody(void *arg) {
  (void)arg;
  int errors = break_errors();
  errno = 0;
  never_was();
  int error = errno;
  dprintf(errors, error != EPIPE ? "not told\n" : "EPIPE\n");
}

TEST("the program is not told by errno that a report could not be written") {
  CHECK_EQ((const char *)harness_run_child(report_to_nobody, NULL, "log").errors, "not told\n");
}

/* SIGUSR1 is blocked and pending, for the program to take later. */
static void report_with_pending_signal(void *arg) {
  sigset_t mask, pending;
  (void)arg;
  int errors = break_errors();
  sigemptyset(&mask);
  sigaddset(&mask, SIGUSR1);
  CHECK_EQ(pthread_sigmask(SIG_BLOCK, &mask, NULL), 0);
  raise(SIGUSR1);
  never_was();
  sigpending(&pending);
  if (sigismember(&pending, SIGUSR1) && !sigismember(&pending, SIGPIPE)) dprintf(errors, "still pending\n");
}

TEST("a report takes no signal that is pending for the program, but the one that it has caused") {
  CHECK_EQ((const char *)harness_run_child(report_with_pending_signal, NULL, "log").errors, "still pending\n");
}

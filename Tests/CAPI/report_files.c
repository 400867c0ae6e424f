/* report_files.c - reports are whole on a full disk, in a FIFO without a reader, and in a pipe that is broken or full. */
#include "fixture.h"

#include <fcntl.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>

static void never_was(void) { kvo_remove_observer(0); }

static void fault_once(void *arg) {
  (void)arg;
  never_was();
}

TEST("a report that its file cannot hold goes to standard error, whole, and this is reported") {
  if (access("/dev/full", W_OK) != 0) return;
  setenv("KVO_REPORT_PATH", "/dev/full", 1);
  child_result run = harness_run_child(fault_once, NULL, NULL);
  CHECK_EQ(run.signal, SIGABRT);
  CHECK_EQ(strncmp(run.errors, "KVO0034 warning: KVO_REPORT_PATH: \"/dev/full\" cannot be written to", 60), 0);
  CHECK_CONTAINS(run.errors, "\nKVO0008 fatal: ");
  CHECK_CONTAINS(run.errors, "\n  more: ");
}

/* The kernel sends SIGXFSZ, which would end the process. */
static void fault_with_small_files(void *arg) {
  struct rlimit small = {100, 100};
  setrlimit(RLIMIT_FSIZE, &small);
  int ends[2], written = dup(STDERR_FILENO);
  char line[64] = "";
  CHECK_EQ(pipe(ends), 0);
  dup2(ends[1], STDERR_FILENO); /* standard error is a file here */
  fault_once(arg);
  small.rlim_cur = small.rlim_max;
  CHECK(read(ends[0], line, sizeof line - 1) > 0);
  CHECK(write(written, line, strlen(line)) > 0);
}

TEST("the same holds if the file has reached its size limit") {
  harness_skip_if_emulated("qemu-user takes the signal of the limit");
  char path[64];
  snprintf(path, sizeof path, "kvo-small-%ld.txt", (long)getpid());
  setenv("KVO_REPORT_PATH", path, 1);
  child_result run = harness_run_child(fault_with_small_files, NULL, "log");
  unlink(path);
  CHECK_EQ(run.signal, 0);
  CHECK_CONTAINS(run.errors, "KVO0034 warning: KVO_REPORT_PATH");
}

TEST("a FIFO without a reader does not block the process") {
  char path[64];
  snprintf(path, sizeof path, "kvo-pipe-%ld", (long)getpid());
  CHECK_EQ(mkfifo(path, 0600), 0);
  setenv("KVO_REPORT_PATH", path, 1);
  child_result run = harness_run_child(fault_once, NULL, NULL);
  unlink(path);
  CHECK_EQ(run.signal, SIGABRT);
  CHECK_CONTAINS(run.errors, "\nKVO0008 fatal: ");
}

static void fault_into_broken_pipe(void *arg) {
  int ends[2];
  CHECK_EQ(pipe(ends), 0);
  close(ends[0]);
  int errors = dup(STDERR_FILENO);
  dup2(ends[1], STDERR_FILENO);
  fault_once(arg);
  sigset_t pending;
  sigpending(&pending);
  CHECK(!sigismember(&pending, SIGPIPE));
  dprintf(errors, "went on\n");
}

TEST("if standard error is a broken pipe the process ends with SIGABRT or goes on, and no SIGPIPE arrives") {
  CHECK_EQ(harness_run_child(fault_into_broken_pipe, NULL, NULL).signal, SIGABRT);
  child_result run = harness_run_child(fault_into_broken_pipe, NULL, "log");
  CHECK_EQ(run.signal, 0);
  CHECK_EQ((const char *)run.errors, "went on\n");
}

static void keep_pending_signal(void *arg) {
  sigset_t pipe_signal, pending;
  sigemptyset(&pipe_signal);
  sigaddset(&pipe_signal, SIGPIPE);
  sigprocmask(SIG_BLOCK, &pipe_signal, NULL);
  raise(SIGPIPE);
  fault_once(arg);
  sigpending(&pending);
  if (sigismember(&pending, SIGPIPE)) fputs("still pending\n", stderr);
}

TEST("a SIGPIPE that the program had pending stays pending") {
  CHECK_CONTAINS(harness_run_child(keep_pending_signal, NULL, "log").errors, "still pending\n");
}

/* A non-blocking pipe that is full for a moment. */
static void *read_later(void *arg) {
  int *ends = arg;
  static char bytes[1 << 20];
  usleep(100000);
  size_t total = 0;
  for (ssize_t got; (got = read(ends[0], bytes, sizeof bytes)) > 0;) total += (size_t)got;
  CHECK(total > 1 << 16);
  return NULL;
}

static void fault_into_full_pipe(void *arg) {
  int ends[2];
  char filling[4096] = "";
  CHECK_EQ(pipe(ends), 0);
  fcntl(ends[1], F_SETFL, O_NONBLOCK);
  while (write(ends[1], filling, sizeof filling) > 0) continue;
  pthread_t reader;
  pthread_create(&reader, NULL, read_later, ends);
  int errors = dup(STDERR_FILENO);
  dup2(ends[1], STDERR_FILENO);
  fault_once(arg);
  dup2(errors, STDERR_FILENO);
  close(ends[1]);
  pthread_join(reader, NULL);
  fputs("all was read\n", stderr);
}

TEST("a non-blocking pipe that is full for a moment gets the whole report") {
  CHECK_EQ((const char *)harness_run_child(fault_into_full_pipe, NULL, "log").errors, "all was read\n");
}

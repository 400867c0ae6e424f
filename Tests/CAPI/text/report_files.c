/* report_files.c - reports are whole on a full disk, in a FIFO without a reader, and in a pipe that is broken or full. */
#include "fixture.h"

#include <kvo/kvo_binding.h>

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

/* A non-blocking pipe that stays full. */
static void fault_into_unread_pipe(void *arg) {
  int ends[2], errors = dup(STDERR_FILENO);
  char filling[4096] = "";
  CHECK_EQ(pipe(ends), 0);
  fcntl(ends[1], F_SETFL, O_NONBLOCK);
  while (write(ends[1], filling, sizeof filling) > 0) continue;
  dup2(ends[1], STDERR_FILENO);
  alarm(60); /* a hang ends the process */
  fault_once(arg);
  dprintf(errors, "went on\n");
}

TEST("a pipe that nobody reads does not stop the process") {
  child_result run = harness_run_child(fault_into_unread_pipe, NULL, "log");
  CHECK_EQ(run.signal, 0);
  CHECK_EQ((const char *)run.errors, "went on\n");
}

/* A pipe of one page that is almost full, and that is read late, while several threads report. */
enum { FAULTS = 3 };
static char late[1 << 16];

static void *fault_on_thread(void *arg) {
  kvo_remove_observer(0);
  return arg;
}

static void *read_all(void *arg) {
  size_t total = 0;
  for (ssize_t got; (got = read(*(int *)arg, late + total, sizeof late - 1 - total)) > 0;) total += (size_t)got;
  return NULL;
}

static void fault_into_stalled_pipe(void *arg) {
  int ends[2], errors = dup(STDERR_FILENO);
  char filling[3001];
  memset(filling, ' ', sizeof filling);
  filling[3000] = '\n';
  CHECK_EQ(pipe(ends), 0);
  fcntl(ends[1], F_SETPIPE_SZ, 4096);
  CHECK_EQ(write(ends[1], filling, sizeof filling), 3001);
  dup2(ends[1], STDERR_FILENO);
  close(ends[1]);
  pthread_t threads[FAULTS], reader;
  for (int i = 0; i < FAULTS; i++) pthread_create(&threads[i], NULL, fault_on_thread, arg);
  usleep(1500000);
  pthread_create(&reader, NULL, read_all, ends);
  for (int i = 0; i < FAULTS; i++) pthread_join(threads[i], NULL);
  dup2(errors, STDERR_FILENO);
  pthread_join(reader, NULL);
  dprintf(errors, "%s", late + sizeof filling);
}

TEST("where nobody reads for a while, threads wait for each other's reports, and each is whole") {
  harness_environment("KVO_REPORT", "json");
  child_result run = harness_run_child(fault_into_stalled_pipe, NULL, "log");
  CHECK_EQ(run.signal, 0);
  int lines = 0;
  for (char *line = strtok(run.errors, "\n"); line != NULL; line = strtok(NULL, "\n"), lines++) {
    CHECK_SAME(strstr(line, "{\"schema\":1,\"code\":\"KVO0008\""), line);
    CHECK_EQ(line[strlen(line) - 1], '}');
    CHECK_CONTAINS(line, "isLibrary");
  }
  CHECK_EQ(lines, FAULTS);
}

static void fault_without_input(void *arg) {
  close(STDIN_FILENO); /* the file of the reports gets its number */
  fault_once(arg);
}

TEST("a process without standard input has its reports in their file") {
  char path[64], begin[16] = "";
  snprintf(path, sizeof path, "kvo-zero-%ld.txt", (long)getpid());
  setenv("KVO_REPORT_PATH", path, 1);
  child_result run = harness_run_child(fault_without_input, NULL, "log");
  CHECK_EQ((const char *)run.errors, "");
  FILE *written = fopen(path, "r");
  CHECK(written != NULL && fgets(begin, sizeof begin, written) != NULL);
  fclose(written);
  unlink(path);
  CHECK_EQ((const char *)begin, "KVO0008 fatal: ");
}

/* Faults whose reports differ in their lengths by one byte each, up to more than one block of writing. */
static void fault_at_all_lengths(void *arg) {
  char detail[900] = "", help[200] = "";
  (void)arg;
  for (size_t length = 0; length < 1030; length++) {
    char *next = length < sizeof detail - 1 ? &detail[length] : &help[length - (sizeof detail - 1)];
    *next = 'x';
    kvo_fault_raise(KVO_FAULT_NEVER_NOTIFIES, detail, NULL, help, NULL, 0, NULL, 0);
  }
}

TEST("a report of any length is written whole") {
  char path[64];
  snprintf(path, sizeof path, "kvo-lengths-%ld.txt", (long)getpid());
  setenv("KVO_REPORT_PATH", path, 1);
  child_result run = harness_run_child(fault_at_all_lengths, NULL, "log");
  CHECK_EQ(run.signal, 0);
  CHECK_EQ((const char *)run.errors, ""); /* and no KVO0034: it cannot be written */
  CHECK_EQ(unlink(path), 0);
}

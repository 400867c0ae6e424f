/* report_files.c - where reports go: the file of KVO_REPORT_PATH, and files and pipes that cannot be written to. */
#include "reported.h"

#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

/* The name of a file of this test. */
static const char *own_path(void) {
  static char path[64];
  snprintf(path, sizeof path, "kvo-report-%ld.txt", (long)getpid());
  return path;
}

/* ------------------------------------------------------------------------------------------------------------- The file -- */

/* The file among the open ones; -1 if it is not open. */
static int number_of_file(const char *name) {
  for (int fd = 0; fd < 256; fd++) {
    char link[64], path[4096];
    snprintf(link, sizeof link, "/proc/self/fd/%d", fd);
    ssize_t length = readlink(link, path, sizeof path - 1);
    if (length < 0) continue;
    path[length] = '\0';
    if (strstr(path, name) != NULL) return fd;
  }
  return -1;
}

static void fault_and_take_file(void *arg) {
  char path[64];
  fault_once(arg);
  snprintf(path, sizeof path, "kvo-%ld-report-%ld.txt", (long)getpid(), (long)getpid());
  int fd = number_of_file(path);
  CHECK(fd > STDERR_FILENO);
  CHECK((fcntl(fd, F_GETFD) & FD_CLOEXEC) != 0); /* programs that this one executes do not inherit it */
  CHECK_CONTAINS(take_file(path), "KVO0008 fatal: ");
}

TEST("each %p in KVO_REPORT_PATH is the process id, and nothing goes to standard error") {
  child_result run = run_with("KVO_REPORT_PATH", "kvo-%p-report-%p.txt", fault_and_take_file, "log");
  CHECK_EQ(run.exit_code, 0);
  CHECK_EQ((const char *)run.errors, "");
}

static void fault_without_input(void *arg) {
  close(STDIN_FILENO); /* the file of the reports gets its number */
  fault_once(arg);
}

TEST("reports are appended to what the file has, also in a process without standard input") {
  FILE *file = fopen(own_path(), "w");
  CHECK(file != NULL && fputs("before\n", file) >= 0 && fclose(file) == 0);
  CHECK_EQ((const char *)run_with("KVO_REPORT_PATH", own_path(), fault_once, "log").errors, "");
  CHECK_EQ((const char *)run_with("KVO_REPORT_PATH", own_path(), fault_without_input, "log").errors, "");
  const char *text = take_file(own_path());
  CHECK_EQ(strncmp(text, "before\nKVO0008 fatal: ", 22), 0);
  CHECK_EQ(occurrences(text, "\nKVO0008 fatal: "), 2);
  CHECK_EQ(occurrences(text, " never_was  "), 2);
  CHECK_EQ(occurrences(text, "\n  more: "), 2);
}

TEST("a report that its file cannot hold goes to standard error, whole, and this is reported") {
  const char *const paths[] = {"/nowhere/at/all", "/dev/full", own_path()}; /* the last is a FIFO without a reader */
  CHECK_EQ(mkfifo(own_path(), 0600), 0);
  for (int i = 0; i < 3; i++) {
    child_result run = run_with("KVO_REPORT_PATH", paths[i], fault_once, NULL);
    CHECK_EQ(run.signal, SIGABRT);
    CHECK_EQ(strncmp(run.errors, "KVO0034 warning: KVO_REPORT_PATH: \"", 35), 0);
    CHECK_CONTAINS(run.errors, paths[i]);
    CHECK_CONTAINS(run.errors, "\nKVO0008 fatal: ");
    CHECK_CONTAINS(run.errors, "\n  more: ");
  }
  unlink(own_path());
}

/* The file is a FIFO, whose reader is gone at the second fault. */
static void fault_without_environment(void *arg) {
  int reader = open(getenv("KVO_REPORT_PATH"), O_RDONLY | O_NONBLOCK);
  CHECK(reader >= 0);
  fault_once(arg);
  close(reader);
  unsetenv("KVO_REPORT_PATH");
  fault_once(arg);
}

TEST("a file that fails when the program has changed its environment is reported by its name") {
  CHECK_EQ(mkfifo(own_path(), 0600), 0);
  child_result run = run_with("KVO_REPORT_PATH", own_path(), fault_without_environment, "log");
  CHECK_EQ(run.signal, 0);
  CHECK_CONTAINS(run.errors, own_path());
  CHECK_CONTAINS(run.errors, "\nKVO0008 fatal: ");
  unlink(own_path());
}

/* ---------------------------------------------------------------------------------------------------------------- Pipes -- */

/* Blocks SIGUSR1, makes standard error a pipe that nobody reads, and prints to the former one what a report has changed. */
static void fault_into_broken_pipe(void *arg) {
  int ends[2], errors = dup(STDERR_FILENO);
  sigset_t blocked, after, pending;
  CHECK_EQ(pipe(ends), 0);
  close(ends[0]);
  dup2(ends[1], STDERR_FILENO);
  sigemptyset(&blocked);
  sigaddset(&blocked, SIGUSR1);
  CHECK_EQ(pthread_sigmask(SIG_SETMASK, &blocked, NULL), 0);
  raise(SIGUSR1);
  errno = 0;
  fault_once(arg);
  if (errno == EPIPE) dprintf(errors, "errno has changed\n");
  CHECK_EQ(pthread_sigmask(SIG_SETMASK, NULL, &after), 0);
  sigpending(&pending);
  for (int number = 1; number < 32; number++) {
    if (sigismember(&after, number) != (number == SIGUSR1)) dprintf(errors, "signal %d is blocked or not\n", number);
    if (sigismember(&pending, number) != (number == SIGUSR1)) dprintf(errors, "signal %d is pending or not\n", number);
  }
  dprintf(errors, "went on\n");
}

TEST("a broken pipe ends no process, and changes neither errno nor the signals that are blocked and pending") {
  CHECK_EQ(harness_run_child(fault_into_broken_pipe, NULL, NULL).signal, SIGABRT);
  child_result run = harness_run_child(fault_into_broken_pipe, NULL, "log");
  CHECK_EQ(run.signal, 0);
  CHECK_EQ((const char *)run.errors, "went on\n");
}

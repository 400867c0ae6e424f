/* report_output.c - what a program has printed to standard output before a fault ends it. */
#include "reported.h"

#include <fcntl.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* Standard output of the child. */
static int to[2];

static void print_to_pipe(const char *text) {
  static char buffer[1 << 19];
  alarm(20); /* a hang ends the process */
  dup2(to[1], STDOUT_FILENO);
  setvbuf(stdout, buffer, _IOFBF, sizeof buffer);
  fputs(text, stdout);
}

static void print_and_die(void *arg) {
  print_to_pipe("before the fault");
  fault_once(arg);
}

static void print_and_go_on(void *arg) {
  print_to_pipe("before the fault");
  setenv("KVO_POLICY", "log", 1);
  fault_once(arg);
}

static void print_fork_and_die(void *arg) {
  print_to_pipe("before the fault");
  if (fork() == 0) fault_once(arg);
  usleep(200000);
  fflush(stdout);
}

static void die_of_signal(int number) { fault_once(&number); }

static void die_in_handler(void *arg) {
  (void)arg;
  signal(SIGUSR1, die_of_signal);
  print_to_pipe("half a line");
  raise(SIGUSR1);
}

static void *print_for_ever(void *arg) {
  flockfile(stdout);
  *(_Atomic bool *)arg = true;
  pause();
  return NULL;
}

static void die_while_another_prints(void *arg) {
  static _Atomic bool has_lock;
  pthread_t other;
  print_to_pipe("half a line");
  pthread_create(&other, NULL, print_for_ever, (void *)&has_lock);
  while (!has_lock) usleep(100);
  fault_once(arg);
}

static void fill_and_die(void *arg) {
  static char bytes[4096];
  CHECK_EQ(fcntl(to[1], F_SETFL, O_NONBLOCK), 0);
  while (write(to[1], bytes, sizeof bytes) > 0) continue;
  CHECK_EQ(fcntl(to[1], F_SETFL, 0), 0);
  print_to_pipe("nobody reads this");
  fault_once(arg);
}

static void print_much_and_die(void *arg) {
  static char bytes[1 << 18];
  memset(bytes, 'x', sizeof bytes - 1);
  print_to_pipe(bytes);
  fault_once(arg);
}

static void close_and_die(void *arg) {
  close(to[0]);
  print_to_pipe("nobody can read this");
  fault_once(arg);
}

/* What arrives in a pipe from a child, and the signal that ends the child. */
static void check_output(void (*body)(void *arg), const char *expected, int signal) {
  static char printed[1 << 17];
  CHECK_EQ(pipe(to), 0);
  CHECK_EQ(harness_run_child(body, NULL, NULL).signal, signal);
  close(to[1]);
  ssize_t size = read(to[0], printed, sizeof printed - 1);
  printed[size > 0 ? size : 0] = '\0';
  close(to[0]);
  if (expected != NULL) CHECK_EQ((const char *)printed, expected);
}

TEST("a fault that ends the process loses nothing of what was printed before") {
  check_output(print_and_die, "before the fault", SIGABRT);
}

TEST("a fault after which the process goes on writes nothing to standard output") {
  check_output(print_and_go_on, "", 0);
}

TEST("the child of a fork does not write again what its parent has printed") {
  check_output(print_fork_and_die, "before the fault", 0);
}

TEST("a fault leaves standard output alone in a signal handler, and while another thread is printing") {
  check_output(die_in_handler, "", SIGABRT);
  check_output(die_while_another_prints, "", SIGABRT);
}

TEST("a process that a fault ends does not wait for the reader of a pipe: of a full one, a small one, or none") {
  check_output(fill_and_die, NULL, SIGABRT);
  check_output(print_much_and_die, NULL, SIGABRT);
  check_output(close_and_die, NULL, SIGABRT);
}

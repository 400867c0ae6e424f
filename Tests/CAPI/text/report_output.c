/* report_output.c - what a program has printed to standard output before a fault ends it. */
#include "reported.h"

#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
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

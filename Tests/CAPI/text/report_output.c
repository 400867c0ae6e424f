/* report_output.c - what a program has printed to standard output before a fault ends it. */
#include "fixture.h"

#include <fcntl.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* Standard output of the child: a pipe, or a file. */
static int to[2];
static char printed[1 << 16];

static void make_pipe(void) { CHECK_EQ(pipe(to), 0); }

static void print_to_it(const char *text) {
  static char buffer[BUFSIZ];
  dup2(to[1], STDOUT_FILENO);
  setvbuf(stdout, buffer, _IOFBF, sizeof buffer);
  fputs(text, stdout);
}

static void die(void) { kvo_remove_observer(0); }

/* Runs a child that prints and aborts, and returns what arrived. */
static const char *printed_by(void (*body)(void *), child_result *died) {
  *died = harness_run_child(body, NULL, NULL);
  close(to[1]);
  ssize_t size = read(to[0], printed, sizeof printed - 1);
  printed[size > 0 ? size : 0] = '\0';
  close(to[0]);
  return printed;
}

static void print_and_die(void *arg) {
  (void)arg;
  print_to_it("before the fault");
  die();
}

TEST("a fault that ends the process loses nothing of what was printed before") {
  child_result died;
  make_pipe();
  CHECK_EQ(printed_by(print_and_die, &died), "before the fault");
  CHECK_EQ(died.signal, SIGABRT);
}

static void print_and_go_on(void *arg) {
  (void)arg;
  print_to_it("before the fault");
  setenv("KVO_POLICY", "log", 1);
  die();
}

TEST("a fault after which the process goes on writes nothing to standard output") {
  child_result died;
  make_pipe();
  CHECK_EQ(printed_by(print_and_go_on, &died), "");
  CHECK_EQ(died.exit_code, 0);
}

static void print_fork_and_die(void *arg) {
  (void)arg;
  print_to_it("printed once");
  if (fork() == 0) die();
  usleep(200000);
  fflush(stdout);
}

TEST("the child of a fork does not write again what its parent has printed") {
  child_result died;
  make_pipe();
  CHECK_EQ(printed_by(print_fork_and_die, &died), "printed once");
}

/* -------------------------------------------------------------------------------------------------- Where it could hang -- */

static void fill_and_die(void *arg) {
  static char bytes[4096];
  (void)arg;
  CHECK_EQ(fcntl(to[1], F_SETFL, O_NONBLOCK), 0);
  while (write(to[1], bytes, sizeof bytes) > 0) continue;
  CHECK_EQ(fcntl(to[1], F_SETFL, 0), 0);
  alarm(20);
  print_to_it("nobody reads this");
  die();
}

TEST("a process that a fault ends does not wait for the reader of a pipe that is full") {
  make_pipe();
  CHECK_EQ(harness_run_child(fill_and_die, NULL, NULL).signal, SIGABRT);
}

static void print_much_and_die(void *arg) {
  static char bytes[1 << 18], buffer[1 << 19];
  (void)arg;
  alarm(20);
  dup2(to[1], STDOUT_FILENO);
  setvbuf(stdout, buffer, _IOFBF, sizeof buffer);
  memset(bytes, 'x', sizeof bytes - 1);
  fputs(bytes, stdout);
  die();
}

TEST("nor does it if the pipe has less room than was printed") {
  make_pipe();
  CHECK_EQ(harness_run_child(print_much_and_die, NULL, NULL).signal, SIGABRT);
}

static void close_and_die(void *arg) {
  (void)arg;
  close(to[0]);
  print_to_it("nobody can read this");
  die();
}

TEST("nor is it ended by another signal if the reader is gone") {
  make_pipe();
  close(to[0]);
  CHECK_EQ(harness_run_child(close_and_die, NULL, NULL).signal, SIGABRT);
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
  (void)arg;
  alarm(20);
  print_to_it("half a line");
  pthread_create(&other, NULL, print_for_ever, (void *)&has_lock);
  while (!has_lock) usleep(100);
  die();
}

TEST("nor does it wait for a thread that is printing") {
  child_result died;
  make_pipe();
  CHECK_EQ(printed_by(die_while_another_prints, &died), "");
  CHECK_EQ(died.signal, SIGABRT);
}

static void die_of_signal(int number) {
  (void)number;
  die();
}

static void die_in_handler(void *arg) {
  (void)arg;
  alarm(20);
  signal(SIGUSR1, die_of_signal);
  print_to_it("half a line");
  raise(SIGUSR1);
}

TEST("a fault in a signal handler leaves standard output alone, because the interrupted code may be printing") {
  child_result died;
  make_pipe();
  CHECK_EQ(printed_by(die_in_handler, &died), "");
  CHECK_EQ(died.signal, SIGABRT);
}

/* report_stacks.c - the stack in a report: names of functions, with and without frame pointers, in signal handlers, on other stacks. */
#include "bare.h"
#include "json.h"
#include "reported.h"

#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

CALLED static void remove_it(void *arg) {
  kvo_remove_observer_at(7, NULL, 0);
  FRAME_STAYS();
}

CALLED static void close_document(void *arg) {
  remove_it(arg);
  FRAME_STAYS();
}

/* Lines `#n name`, with only the digits of n and one space. */
static void check_calls(const char *report, const char *const *names, size_t count) {
  for (size_t i = 0; i < count; i++) {
    char call[128];
    snprintf(call, sizeof call, "\n      #%zu %s  ", i, names[i]);
    CHECK_CONTAINS(report, call);
  }
}

static const char *const calls[] = {"remove_it", "close_document"};

TEST("the stack of a fault begins with the program's own call, and includes static functions") {
  child_result run = harness_run_child(close_document, NULL, "log");
  CHECK_CONTAINS(run.errors, "\n  fault  thread ");
  check_calls(run.errors, calls, 2);
  CHECK_CONTAINS(run.errors, " main  test_report_stacks+0x");
  CHECK_CONTAINS(run.errors, "\n  modules: ");
}

TEST("in JSON each call has its module, offset, build-id and symbol") {
  child_result run = run_with("KVO_REPORT", "json", close_document, "log");
  CHECK(json_is_valid(run.errors));
  const char *call = strstr(run.errors, "\"symbol\":\"close_document\"");
  CHECK(call != NULL);
  while (*call != '{') call--;
  CHECK_EQ(strncmp(call, "{\"address\":\"0x", 14), 0);
  CHECK_CONTAINS(call, ",\"module\":\"test_report_stacks\",\"offset\":\"0x");
  CHECK_CONTAINS(call, ",\"buildId\":");
}

TEST("KVO_STACKS=full also shows the library's calls, and JSON marks them") {
  harness_environment("KVO_STACKS", "full");
  child_result run = harness_run_child(close_document, NULL, "log");
  CHECK_CONTAINS(run.errors, "kvo_remove_observer_at  libkvo.so.");
  CHECK_CONTAINS(run.errors, " remove_it  test_report_stacks+0x");
  CHECK_CONTAINS(run.errors, " libc.so");
  run = run_with("KVO_REPORT", "json", close_document, "log");
  CHECK_CONTAINS(run.errors, "\"symbol\":\"kvo_remove_observer_at\",\"isLibrary\":true}");
  CHECK_CONTAINS(run.errors, "\"symbol\":\"remove_it\",\"isLibrary\":false}");
}

static void fault_bare(void *arg) { bare_call(remove_it, arg); }

TEST("a stack includes code without frame pointers") {
  child_result run = harness_run_child(fault_bare, NULL, "log");
  static const char *const through_bare[] = {"remove_it", "bare_inner", "bare_call"};
  check_calls(run.errors, through_bare, 3);
}

/* -------------------------------------------------------------------------------------------------- Signals, threads -- */

static void on_signal(int number) { close_document(&number); }

static void fault_in_handler(void *arg) {
  stack_t stack = {.ss_sp = arg, .ss_size = 1 << 16};
  struct sigaction action = {.sa_handler = on_signal, .sa_flags = arg != NULL ? SA_ONSTACK : 0};
  if (arg != NULL) sigaltstack(&stack, NULL);
  sigaction(SIGUSR1, &action, NULL);
  raise(SIGUSR1);
  fputs("went on\n", stderr);
}

TEST("a fault in a signal handler has a whole report that shows the signal, on either stack") {
  static char stack[1 << 16];
  for (int i = 0; i < 2; i++) {
    child_result run = harness_run_child(fault_in_handler, i == 0 ? NULL : stack, "log");
    check_calls(run.errors, calls, 2);
/* Elsewhere the return of a handler is not recognised. */
#if (defined(__x86_64__) && defined(__GLIBC__)) || defined(__aarch64__)
    if (!harness_is_instrumented() && !harness_is_emulated()) CHECK_CONTAINS(run.errors, " (a signal came)  ");
#endif
    CHECK_CONTAINS(run.errors, "\n  more: ");
    CHECK_CONTAINS(run.errors, "went on\n");
    CHECK_EQ(harness_run_child(fault_in_handler, i == 0 ? NULL : stack, NULL).signal, SIGABRT);
  }
}

static const char *thread_name;

static void *on_thread(void *arg) {
  if (thread_name != NULL) pthread_setname_np(pthread_self(), thread_name);
  close_document(arg);
  return NULL;
}

static void fault_on_thread(void *arg) {
  pthread_t thread;
  close(STDIN_FILENO); /* the files that are read for names have other numbers */
  pthread_create(&thread, NULL, on_thread, arg);
  pthread_join(thread, NULL);
}

TEST("the thread of a fault is reported with its number, and with its name if it has one of its own") {
  static const char *const names[][2] = {{"render", " \"render\"\n"}, {"r", " \"r\"\n"}, {"", "\n"}, {NULL, "\n"}};
  for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
    thread_name = names[i][0];
    child_result run = harness_run_child(fault_on_thread, NULL, "log");
    const char *thread = strstr(run.errors, "\n  fault  thread ");
    CHECK(thread != NULL);
    thread += strlen("\n  fault  thread ");
    CHECK_EQ(strncmp(thread + strspn(thread, "0123456789"), names[i][1], strlen(names[i][1])), 0);
    check_calls(run.errors, calls, 2);
  }
}

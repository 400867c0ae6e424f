/* report_stacks.c - the stack in a report: names of functions, with and without frame pointers, in signal handlers, on other stacks. */
#include "bare.h"
#include "fixture.h"
#include "json.h"

#include <pthread.h>
#include <setjmp.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <unistd.h>

/* Not inlined and without tail calls: each function must have a frame. */
#define CALLED __attribute__((noinline))
#define FRAME_STAYS() __asm__ volatile("")

CALLED static void remove_it(void *arg) {
  (void)arg;
  kvo_remove_observer_at(7, NULL, 0);
  FRAME_STAYS();
}

CALLED static void close_document(void *arg) {
  remove_it(arg);
  FRAME_STAYS();
}

static void fault_from_document(void *arg) { close_document(arg); }

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
  child_result run = harness_run_child(fault_from_document, NULL, "log");
  CHECK_CONTAINS(run.errors, "\n  fault  thread ");
  check_calls(run.errors, calls, 2);
  CHECK_CONTAINS(run.errors, " main  test_report_stacks+0x");
  CHECK_CONTAINS(run.errors, "\n  modules: ");
}

TEST("in JSON each call has its module, offset, build-id and symbol") {
  setenv("KVO_REPORT", "json", 1);
  child_result run = harness_run_child(fault_from_document, NULL, "log");
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
  child_result run = harness_run_child(fault_from_document, NULL, "log");
  CHECK_CONTAINS(run.errors, "kvo_remove_observer_at  libkvo.so.");
  CHECK_CONTAINS(run.errors, " remove_it  test_report_stacks+0x");
  CHECK_CONTAINS(run.errors, " libc.so");
  setenv("KVO_REPORT", "json", 1);
  run = harness_run_child(fault_from_document, NULL, "log");
  CHECK(json_is_valid(run.errors));
  CHECK_CONTAINS(run.errors, "\"symbol\":\"kvo_remove_observer_at\",\"isLibrary\":true}");
  CHECK_CONTAINS(run.errors, "\"symbol\":\"remove_it\",\"isLibrary\":false}");
}

static kvo_action count_frames(const kvo_fault *fault, void *arg) {
  size_t *counts = arg;
  counts[0] = fault->observations[0].frame_count;
  counts[1] = fault->sites[0].frame_count;
  return KVO_ACTION_LOG;
}

/* Deeper than what is kept of a removal's stack. */
CALLED static void remove_deeply(int depth, kvo_observation id) {
  if (depth > 0)
    remove_deeply(depth - 1, id);
  else
    kvo_remove_observer(id);
  FRAME_STAYS();
}

static void remove_again(void *arg) {
  static watcher w;
  item *object = item_make(0);
  kvo_observation id = watch(object, "value", KVO_NEW, &w);
  remove_deeply(20, id);
  kvo_set_fault_handler(count_frames, arg);
  kvo_remove_observer(id);
  const size_t *counts = arg;
  fprintf(stderr, "kept %zu and %zu\n", counts[0], counts[1]);
}

TEST("as many calls of a removal are kept as KVO_STACKS says") {
  harness_skip_without_frames();
  static size_t counts[2];
  harness_environment("KVO_STACKS", "3");
  CHECK_CONTAINS(harness_run_child(remove_again, counts, "ignore").errors, " and 3\n");
}

TEST("of a removal that is deep in the stack, too, as many calls are kept as KVO_STACKS says") {
  harness_skip_without_frames();
  static size_t counts[2];
  harness_environment("KVO_STACKS", "16");
  child_result run = harness_run_child(remove_again, counts, "ignore");
  CHECK_CONTAINS(run.errors, " and 16\n");
  CHECK_CONTAINS(run.errors, "\n      #0 remove_deeply  "); /* below "first removed" */
}

static void leave_observed(void *arg) {
  (void)arg;
  static watcher w;
  item *object = item_make(0);
  watch(object, "value", KVO_NEW, &w);
  item_destroy(object);
}

TEST("the calls that registered an observation are printed below it") {
  harness_skip_without_frames();
  harness_environment("KVO_STACKS", "16");
  child_result run = harness_run_child(leave_observed, NULL, "log");
  const char *observation = strstr(run.errors, "\n        registered at ");
  CHECK(observation != NULL);
  CHECK_CONTAINS(observation, "\n          #0 watch  test_report_stacks+0x");
  CHECK_CONTAINS(observation, "\n          #1 leave_observed  test_report_stacks+0x");
}

/* Its frame names itself as that of its caller, as code that uses the register of frames for something else may. */
CALLED static void leave_observed_in_circle(void *arg) {
  void *volatile *frame = __builtin_frame_address(0);
  void *caller = frame[0];
  frame[0] = (void *)frame;
  leave_observed(arg);
  frame[0] = caller;
  FRAME_STAYS();
}

TEST("a frame that names itself as its caller ends what is kept of a stack") {
  harness_skip_without_frames();
  harness_environment("KVO_STACKS", "16");
  child_result run = harness_run_child(leave_observed_in_circle, NULL, "log");
  char *observation = strstr(run.errors, "\n        registered at ");
  CHECK(observation != NULL);
  char *behind = strstr(observation, "\n  fault at ");
  CHECK(behind != NULL);
  *behind = '\0';
  const char *first = strstr(observation, "\n          #0 watch  ");
  CHECK(first != NULL);
  int calls = 0;
  for (const char *at = first; (at = strstr(at, "\n          #")) != NULL; at++) calls++;
  CHECK(calls >= 3 && calls <= 4); /* fewer if the compiler has made one function of two */
}

static void fault_bare(void *arg) { bare_call(remove_it, arg); }

TEST("a stack includes code without frame pointers") {
  child_result run = harness_run_child(fault_bare, NULL, "log");
  static const char *const through_bare[] = {"remove_it", "bare_inner", "bare_call"};
  check_calls(run.errors, through_bare, 3);
}

/* -------------------------------------------------------------------------------------------------- Signals, threads -- */

static void on_signal(int number) {
  (void)number;
  close_document(NULL);
}

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

static kvo_action interrupt(const kvo_fault *fault, void *arg) {
  (void)fault, (void)arg;
  raise(SIGUSR1);
  return KVO_ACTION_LOG;
}

static void fault_within_handler(void *arg) {
  kvo_set_fault_handler(interrupt, NULL);
  signal(SIGUSR1, on_signal);
  close_document(arg);
}

TEST("a fault in a signal handler that has interrupted a fault handler is reported separately") {
  child_result run = harness_run_child(fault_within_handler, NULL, "log");
  const char *first = strstr(run.errors, "KVO0008 fatal");
  CHECK(first != NULL && strstr(first + 1, "KVO0008 fatal") != NULL);
}

static const char *thread_name;

static void *on_thread(void *arg) {
  pthread_setname_np(pthread_self(), thread_name);
  close_document(arg);
  return NULL;
}

static void fault_on_thread(void *arg) {
  pthread_t thread;
  pthread_create(&thread, NULL, on_thread, arg);
  pthread_join(thread, NULL);
}

TEST("the thread of a fault is reported with number and name") {
  thread_name = "render";
  child_result run = harness_run_child(fault_on_thread, NULL, "log");
  const char *thread = strstr(run.errors, "\n  fault  thread ");
  CHECK(thread != NULL);
  thread += strlen("\n  fault  thread ");
  CHECK_CONTAINS(thread + strspn(thread, "0123456789"), " \"render\"\n");
  check_calls(run.errors, calls, 2);
  CHECK_CONTAINS(harness_run_child(fault_from_document, NULL, "log").errors, " (main)\n");
  thread_name = "r";
  CHECK_CONTAINS(harness_run_child(fault_on_thread, NULL, "log").errors, " \"r\"\n");
}

static void *on_plain_thread(void *arg) {
  close_document(arg);
  return NULL;
}

static void fault_on_plain_thread(void *arg) {
  pthread_t thread;
  pthread_create(&thread, NULL, on_plain_thread, arg);
  pthread_join(thread, NULL);
}

/* What a report says of the fault's thread behind its number. */
static const char *behind_thread(const child_result *run) {
  const char *thread = strstr(run->errors, "\n  fault  thread ");
  CHECK(thread != NULL);
  thread += strlen("\n  fault  thread ");
  return thread + strspn(thread, "0123456789");
}

TEST("of a thread without a name of its own, or with an empty one, only the number is reported") {
  child_result run = harness_run_child(fault_on_plain_thread, NULL, "log");
  CHECK_EQ((int)*behind_thread(&run), '\n');
  thread_name = "";
  run = harness_run_child(fault_on_thread, NULL, "log");
  CHECK_EQ((int)*behind_thread(&run), '\n');
}

static void fault_without_input(void *arg) {
  close(STDIN_FILENO);
  fault_on_thread(arg);
}

TEST("the name of a thread is reported also in a process without standard input") {
  thread_name = "render";
  child_result run = harness_run_child(fault_without_input, NULL, "log");
  CHECK_CONTAINS(behind_thread(&run), " \"render\"\n");
}

/* ---------------------------------------------------------------------------------------------- Memory, other handlers -- */

static void fault_without_memory(void *arg) {
  struct rlimit none = {0, 0};
  setrlimit(RLIMIT_AS, &none);
  CHECK_SAME(malloc(1 << 24), NULL);
  close_document(arg);
}

TEST("in a process without any free memory the report is whole, without names from files") {
  harness_skip_if_emulated("qemu-user does not limit the program's memory");
  if (harness_is_instrumented()) return;
  child_result run = harness_run_child(fault_without_memory, NULL, NULL);
  CHECK_EQ(run.signal, SIGABRT);
  CHECK_CONTAINS(run.errors, " test_report_stacks+0x");
  CHECK_CONTAINS(run.errors, "\n  modules: ");
  CHECK_CONTAINS(run.errors, "\n  more: ");
}

static jmp_buf way_out;
static int asked;
static kvo_action leave(const kvo_fault *fault, void *arg) {
  (void)fault, (void)arg;
  asked++;
  longjmp(way_out, 1);
}

TEST("a handler left with longjmp is called for the next fault again, and observations still work") {
  item *object = item_make(0);
  watcher w = {0};
  watch(object, "value", KVO_NEW, &w);
  kvo_set_fault_handler(leave, NULL);
  for (volatile int i = 0; i < 3; i++)
    if (setjmp(way_out) == 0) kvo_remove_observer(7); /* allocates nothing that could leak */
  CHECK_EQ(asked, 3);
  item_set_value(object, 4);
  CHECK_EQ(w.new_value.integer, 4);
  CHECK_OK(kvo_remove_observer(w.id));
  kvo_set_fault_handler(NULL, NULL);
}

static kvo_action fault_again(const kvo_fault *fault, void *arg) {
  (void)fault;
  close_document(arg);
  return KVO_ACTION_LOG;
}

static void fault_in_fault_handler(void *arg) {
  kvo_set_fault_handler(fault_again, NULL);
  close_document(arg);
  fputs("went on\n", stderr);
}

TEST("a fault in a handler takes the default action: one report, then the process ends") {
  child_result run = harness_run_child(fault_in_fault_handler, NULL, NULL);
  CHECK_EQ(run.signal, SIGABRT);
  const char *first = strstr(run.errors, "KVO0008 fatal");
  CHECK(first != NULL);
  CHECK_SAME(strstr(first + 1, "KVO0008 fatal"), NULL);
  CHECK_SAME(strstr(run.errors, "went on"), NULL);
}

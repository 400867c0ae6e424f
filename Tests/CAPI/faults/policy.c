/* policy.c - a fault ends the process with SIGABRT and a report, unless KVO_POLICY or a handler says otherwise. */
#include "fixture.h"

#include <kvo/kvo_binding.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ptrace.h>
#include <sys/wait.h>
#include <unistd.h>

/* --------------------------------------------------------------------------------------------------- The misuses -- */

static void die_observed(void *arg) {
  (void)arg;
  item *object = item_make(0);
  static watcher w;
  watch(object, "value", KVO_NEW, &w);
  item_destroy(object);
  fputs("went on\n", stderr);
}

static void remove_unregistered(void *arg) {
  (void)arg;
  item *object = item_make(0);
  static watcher w, other;
  watch(object, "value", KVO_NONE, &w);
  kvo_status status = kvo_remove_observer_for(as_object(object), &other, "value");
  fprintf(stderr, "went on: %s\n", kvo_status_string(status));
}

static void observe(const char *key_path) {
  item *object = item_make(0);
  object->next = object;
  static watcher w;
  kvo_observer observer = watcher_observer(key_path, KVO_NONE, &w);
  kvo_status status = kvo_add_observer(as_object(object), &observer, NULL);
  fprintf(stderr, "went on: %s\n", kvo_status_string(status));
}

static void observe_undefined(void *arg) {
  (void)arg;
  observe("next.imaginary");
}

static void observe_malformed(void *arg) {
  (void)arg;
  observe("next..value");
}

/* ---------------------------------------------------------------------------------------------------------- Aborting -- */

static void check_end(int signal, void (*misuse)(void *), const char *first_line, const char *apple) {
  child_result died = harness_run_child(misuse, NULL, NULL);
  CHECK_EQ(died.signal, signal);
  if (strncmp(died.errors, first_line, strlen(first_line)) != 0)
    harness_fail(__FILE__, __LINE__, "the report does not begin with \"%s\" but is:\n%.600s", first_line, died.errors);
  if (apple != NULL) CHECK_CONTAINS(died.errors, apple);
  watcher w = {0};
  char place[64];
  snprintf(place, sizeof place, "fixture.c:%u", (unsigned)watcher_observer("value", 0, &w).line);
  CHECK_CONTAINS(died.errors, place);
  CHECK_CONTAINS(died.errors, "; KVO_HELP=1 lists all settings\n");
  CHECK_EQ(strstr(died.errors, "went on") != NULL, signal == 0);
}

static void check_abort(void (*misuse)(void *), const char *first_line, const char *apple) {
  check_end(SIGABRT, misuse, first_line, apple);
}

TEST("KVO0001 aborts with Apple's sentence and the line of the registration") {
  check_abort(die_observed, "KVO0001 fatal: Item@0x",
              "was deallocated while key value observers were still registered with it. Current observation info: "
              "<NSKeyValueObservationInfo 0x");
}

TEST("KVO0002 aborts with Apple's sentence and the lines of what is registered") {
  check_abort(remove_unregistered, "KVO0002 fatal: cannot remove observer@0x",
              "Apple says: Cannot remove an observer <observer 0x");
}

TEST("KVO0009 of a registration in C is logged with Apple's sentence and the line of the registration") {
  check_end(0, observe_undefined, "KVO0009 error: cannot observe \"next.imaginary\" of Item@0x",
            "was sent to an object that is not KVC-compliant for the \"next.imaginary\" property.");
}

TEST("KVO0010 of a registration in C is logged with the line of the registration") {
  check_end(0, observe_malformed, "KVO0010 error: cannot observe \"next..value\" of Item@0x", NULL);
}

/* ------------------------------------------------------------------------------------------------------------ Policy -- */

TEST("KVO_POLICY=abort is the default") { CHECK_EQ(harness_run_child(die_observed, NULL, "abort").signal, SIGABRT); }

static void die_ignoring_the_signal(void *arg) {
  signal(SIGABRT, SIG_IGN);
  die_observed(arg);
}

static void return_from_signal(int number) { (void)number; }

static void die_handling_the_signal(void *arg) {
  signal(SIGABRT, return_from_signal);
  die_observed(arg);
}

static void die_blocking_the_signal(void *arg) {
  sigset_t all;
  sigfillset(&all);
  sigprocmask(SIG_BLOCK, &all, NULL);
  die_observed(arg);
}

TEST("abort ends the process also if it ignores, handles or blocks SIGABRT") {
  static void (*const misuses[])(void *) = {die_ignoring_the_signal, die_handling_the_signal, die_blocking_the_signal};
  for (int i = 0; i < 3; i++) {
    child_result died = harness_run_child(misuses[i], NULL, "abort");
    CHECK_EQ(died.signal, SIGABRT);
    CHECK_SAME(strstr(died.errors, "went on"), NULL);
  }
}

TEST("KVO_POLICY=log reports and goes on; the call returns its error") {
  child_result logged = harness_run_child(remove_unregistered, NULL, "log");
  CHECK_EQ(logged.signal, 0);
  CHECK_CONTAINS(logged.errors, "KVO0002 fatal:");
  CHECK_CONTAINS(logged.errors, "went on: no such observation is registered");
  CHECK_CONTAINS(harness_run_child(observe_undefined, NULL, "log").errors, "went on: the class has no such key");
  CHECK_CONTAINS(harness_run_child(observe_malformed, NULL, "log").errors, "went on: malformed key path");
}

TEST("KVO_POLICY=ignore goes on without a report") {
  child_result ignored = harness_run_child(die_observed, NULL, "ignore");
  CHECK_EQ(ignored.signal, 0);
  CHECK_EQ((const char *)ignored.errors, "went on\n");
}

static void raise_code(void *arg) { kvo_fault_raise(*(kvo_fault_code *)arg, "by hand", NULL, NULL, NULL, 0, NULL, 0); }

TEST("KVO_POLICY=ignore does not hide what makes the rest of the process unreliable") {
  kvo_fault_code codes[] = {KVO_FAULT_DANGLING_OBSERVER, KVO_FAULT_ABANDONED_DELIVERY, KVO_FAULT_INVALID_ARGUMENT};
  CHECK_CONTAINS(harness_run_child(raise_code, &codes[0], "ignore").errors, "KVO0004 fatal: by hand");
  CHECK_CONTAINS(harness_run_child(raise_code, &codes[1], "ignore").errors, "KVO0025 fatal: by hand");
  CHECK_EQ((const char *)harness_run_child(raise_code, &codes[2], "ignore").errors, "");
}

static void misuse_three_times(void *arg) {
  (void)arg;
  for (int i = 0; i < 2; i++) die_observed(NULL);
  remove_unregistered(NULL);
}

TEST("KVO_POLICY=once reports a fault at its first time, at each place") {
  child_result once = harness_run_child(misuse_three_times, NULL, "once");
  CHECK_EQ(once.signal, 0);
  const char *first = strstr(once.errors, "KVO0001 fatal: ");
  CHECK(first != NULL && strstr(first + 1, "KVO0001 fatal: ") == NULL);
  CHECK_CONTAINS(once.errors, "KVO0002 fatal: ");
  CHECK_CONTAINS(strstr(strstr(once.errors, "went on\n") + 1, "went on\n"), "went on: ");
}

/* How often a child with this policy stops with SIGTRAP under a debugger. It has to go on to its end. */
static int traps_under_debugger(const char *policy) {
  pid_t child = fork();
  if (child == 0) {
    if (ptrace(PTRACE_TRACEME, 0, NULL, NULL) != 0) _exit(77);
    if (freopen("/dev/null", "w", stderr) == NULL) _exit(1);
    setenv("KVO_POLICY", policy, 1);
    die_observed(NULL);
    _exit(0);
  }
  int status, traps = 0;
  while (waitpid(child, &status, 0) == child && WIFSTOPPED(status)) {
    CHECK_EQ(WSTOPSIG(status), SIGTRAP);
    traps++;
    ptrace(PTRACE_CONT, child, NULL, NULL);
  }
  CHECK(WIFEXITED(status));
  CHECK(WEXITSTATUS(status) == 0 || WEXITSTATUS(status) == 77);
  return WEXITSTATUS(status) == 77 ? -1 : traps; /* a container may forbid it */
}

TEST("KVO_POLICY=trap reports, stops in a debugger if there is one, and goes on") {
  child_result run = harness_run_child(die_observed, NULL, "trap");
  CHECK_EQ(run.signal, 0);
  CHECK_CONTAINS(run.errors, "KVO0001 fatal: ");
  CHECK_CONTAINS(run.errors, "went on\n");
  if (harness_is_instrumented()) return;
  int traps = traps_under_debugger("trap");
  CHECK(traps == 1 || traps == -1);
  CHECK(traps_under_debugger("log") == 0 || traps == -1);
}

TEST("an item with a code applies to that code only, wherever it is in the list") {
  static const char *const lists[] = {"abort,KVO0001:ignore", "KVO0001:ignore,abort", "KVO0001:ignore"};
  for (int i = 0; i < 3; i++) {
    CHECK_EQ((const char *)harness_run_child(die_observed, NULL, lists[i]).errors, "went on\n");
    CHECK_EQ(harness_run_child(remove_unregistered, NULL, lists[i]).signal, SIGABRT);
  }
  CHECK_EQ(harness_run_child(die_observed, NULL, "log,KVO0001:abort").signal, SIGABRT);
  CHECK_EQ(harness_run_child(remove_unregistered, NULL, "log,KVO0001:abort").signal, 0);
}

TEST("an unknown item is reported as KVO0034 and skipped; the other items apply") {
  static const char *const lists[] = {"nonsense,ignore", "ignore,KVO9999:log", "KVO0002:nonsense,ignore",
                                      "KVO2:log,ignore", "Ignore,ignore",      "KVO0002:,ignore",
                                      "ignore,:",        "abort ,ignore"};
  for (size_t i = 0; i < sizeof lists / sizeof *lists; i++) {
    child_result run = harness_run_child(die_observed, NULL, lists[i]);
    CHECK_EQ(run.signal, 0);
    CHECK_CONTAINS(run.errors, "KVO0034 warning: KVO_POLICY: \"");
    CHECK_CONTAINS(run.errors, "went on\n");
  }
}

TEST("KVO_POLICY can ignore KVO0034, wherever its item is, and abort and log at it only report it") {
  static const struct {
    const char *policy;
    bool reports;
  } rows[] = {{"KVO0034:ignore,nonsense,log", false}, {"log,nonsense,KVO0034:ignore", false},
              {"log,nonsense,warning:ignore", false}, {"nonsense,ignore", true},
              {"nonsense,log,warning:abort", true},   {"warning:ignore,KVO0034:log,nonsense,log", true}};
  for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
    child_result run = harness_run_child(die_observed, NULL, rows[i].policy);
    CHECK_EQ(run.signal, 0);
    CHECK_EQ(strstr(run.errors, "KVO0034 warning: KVO_POLICY: \"nonsense\"") != NULL, rows[i].reports);
  }
}

TEST("a malformed policy leaves the default: abort") {
  child_result died = harness_run_child(die_observed, NULL, "please do not abort");
  CHECK_EQ(died.signal, SIGABRT);
  CHECK_CONTAINS(died.errors, "KVO0034 warning: KVO_POLICY: \"please do not abort\" is invalid and ignored");
}

TEST("an empty policy leaves the default: abort") {
  CHECK_EQ(harness_run_child(die_observed, NULL, "").signal, SIGABRT);
}

/* --------------------------------------------------------------------------------------------------- Handler's answers -- */

static kvo_action answer(const kvo_fault *fault, void *arg) {
  (void)fault;
  return *(kvo_action *)arg;
}

static void die_with_answer(void *arg) {
  kvo_set_fault_handler(answer, arg);
  die_observed(NULL);
}

TEST("the handler's action overrides the policy, and DEFAULT leaves the decision to the policy") {
  kvo_action action = KVO_ACTION_IGNORE;
  CHECK_EQ((const char *)harness_run_child(die_with_answer, &action, "abort").errors, "went on\n");
  action = KVO_ACTION_LOG;
  child_result logged = harness_run_child(die_with_answer, &action, "abort");
  CHECK_CONTAINS(logged.errors, "KVO0001 fatal:");
  CHECK_CONTAINS(logged.errors, "went on\n");
  action = KVO_ACTION_ABORT;
  CHECK_EQ(harness_run_child(die_with_answer, &action, "ignore").signal, SIGABRT);
  action = KVO_ACTION_DEFAULT;
  CHECK_EQ(harness_run_child(die_with_answer, &action, "abort").signal, SIGABRT);
  CHECK_EQ(harness_run_child(die_with_answer, &action, "ignore").signal, 0);
}

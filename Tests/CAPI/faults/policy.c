/* policy.c - a fault ends the process with SIGABRT and a report, unless KVO_POLICY or a handler says otherwise. */
#include "fixture.h"
#include "reported.h"

#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ptrace.h>
#include <sys/wait.h>
#include <unistd.h>

/* --------------------------------------------------------------------------------------------------- The misuses -- */

static void die_observed(void *arg) {
  item *object = item_make(0);
  static watcher w;
  watch(object, "value", KVO_NEW, &w);
  item_destroy(object);
  fputs("went on\n", stderr);
}

static void remove_unregistered(void *arg) {
  item *object = item_make(0);
  static watcher w;
  kvo_status status = kvo_remove_observer_for(as_object(object), &w, "value");
  fprintf(stderr, "went on: %s\n", kvo_status_string(status));
}

static void raise_code(void *arg) { kvo_fault_raise(*(kvo_fault_code *)arg, "by hand", NULL, NULL, NULL, 0, NULL, 0); }

TEST("a fatal fault ends the process with SIGABRT, with a report that names Apple's sentence and the registration") {
  child_result died = harness_run_child(die_observed, NULL, NULL);
  CHECK_EQ(died.signal, SIGABRT);
  CHECK_EQ(strncmp(died.errors, "KVO0001 fatal: Item@0x", 22), 0);
  CHECK_CONTAINS(died.errors, "was deallocated while key value observers were still registered with it. ");
  CHECK_CONTAINS(died.errors, "registered at ");
  CHECK_SAME(strstr(died.errors, "went on"), NULL);
}

static void return_from_signal(int number) {}

static void die_ignoring_the_signal(void *arg) {
  signal(SIGABRT, SIG_IGN);
  die_observed(arg);
}

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

typedef enum outcome { ENDS, REPORTED, NOT_REPORTED } outcome;

static void check_outcome(void (*misuse)(void *arg), kvo_fault_code code, const char *policy, outcome expected) {
  child_result run = harness_run_child(misuse, &code, policy);
  outcome actual = run.signal == SIGABRT ? ENDS : strstr(run.errors, "\n  process ") != NULL ? REPORTED : NOT_REPORTED;
  if (actual != expected)
    harness_fail(__FILE__, __LINE__, "with the policy \"%s\" the outcome of KVO%04d is %d", policy, (int)code,
                 (int)actual);
}

TEST("the most specific item applies: that of the code, then that of the severity, then the one for all but infos") {
  static const struct {
    const char *policy;
    outcome of_0001, of_0002, of_error, of_warning, of_info;
  } rows[] = {{NULL, ENDS, ENDS, REPORTED, REPORTED, NOT_REPORTED},
              {"", ENDS, ENDS, REPORTED, REPORTED, NOT_REPORTED},
              {"abort", ENDS, ENDS, REPORTED, REPORTED, NOT_REPORTED},
              {"log", REPORTED, REPORTED, REPORTED, REPORTED, NOT_REPORTED},
              {"once", REPORTED, REPORTED, REPORTED, REPORTED, NOT_REPORTED},
              {"ignore", NOT_REPORTED, NOT_REPORTED, NOT_REPORTED, NOT_REPORTED, NOT_REPORTED},
              {"abort,KVO0001:ignore", NOT_REPORTED, ENDS, REPORTED, REPORTED, NOT_REPORTED},
              {"KVO0001:ignore,abort", NOT_REPORTED, ENDS, REPORTED, REPORTED, NOT_REPORTED},
              {"log,KVO0001:abort", ENDS, REPORTED, REPORTED, REPORTED, NOT_REPORTED},
              {"fatal:log,KVO0002:abort", REPORTED, ENDS, REPORTED, REPORTED, NOT_REPORTED},
              {"error:abort", ENDS, ENDS, ENDS, REPORTED, NOT_REPORTED},
              {"error:abort,KVO0011:ignore", ENDS, ENDS, NOT_REPORTED, REPORTED, NOT_REPORTED},
              {"warning:abort,info:log", ENDS, ENDS, REPORTED, ENDS, REPORTED},
              {"info:abort", ENDS, ENDS, REPORTED, REPORTED, ENDS}};
  for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
    check_outcome(raise_code, KVO_FAULT_DEALLOCATED_WHILE_OBSERVED, rows[i].policy, rows[i].of_0001);
    check_outcome(raise_code, KVO_FAULT_NOT_REGISTERED, rows[i].policy, rows[i].of_0002);
    check_outcome(raise_code, KVO_FAULT_NEVER_NOTIFIES, rows[i].policy, rows[i].of_error);
    check_outcome(raise_code, KVO_FAULT_AMBIGUOUS_REMOVAL, rows[i].policy, rows[i].of_warning);
    check_outcome(raise_code, KVO_FAULT_ENDED_UNUSED, rows[i].policy, rows[i].of_info);
  }
}

TEST("with log the call that caused the fault returns its error") {
  child_result logged = harness_run_child(remove_unregistered, NULL, "log");
  CHECK_CONTAINS(logged.errors, "KVO0002 fatal:");
  CHECK_CONTAINS(logged.errors, "went on: no such observation is registered");
}

TEST("KVO_POLICY=ignore does not hide what makes the rest of the process unreliable") {
  kvo_fault_code codes[] = {KVO_FAULT_DANGLING_OBSERVER, KVO_FAULT_ABANDONED_DELIVERY};
  CHECK_CONTAINS(harness_run_child(raise_code, &codes[0], "ignore").errors, "KVO0004 fatal: by hand");
  CHECK_CONTAINS(harness_run_child(raise_code, &codes[1], "ignore").errors, "KVO0025 fatal: by hand");
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
  check_outcome(die_observed, KVO_FAULT_DEALLOCATED_WHILE_OBSERVED, "trap", REPORTED);
  if (harness_is_instrumented()) return;
  int traps = traps_under_debugger("trap");
  CHECK(traps == 1 || traps == -1);
  CHECK(traps_under_debugger("log") == 0 || traps == -1);
}

TEST("an unknown item is reported as KVO0034 and skipped; the other items apply") {
  static const char *const lists[] = {"nonsense,ignore",     "ignore,KVO9999:log",    "KVO0002:nonsense,ignore",
                                      "KVO2:log,ignore",     "KVO0001x:abort,ignore", "KVO001:abort,ignore",
                                      "Ignore,ignore",       "KVO0002:,ignore",       "unknown:ignore,ignore",
                                      "fatale:abort,ignore", "fata:abort,ignore",     "ignore,:",
                                      "abort ,ignore"};
  for (size_t i = 0; i < sizeof lists / sizeof *lists; i++) {
    child_result run = harness_run_child(die_observed, NULL, lists[i]);
    CHECK_EQ(run.signal, 0);
    CHECK_CONTAINS(run.errors, "KVO0034 warning: KVO_POLICY: \"");
    CHECK_SAME(strstr(run.errors, "KVO0001 fatal: "), NULL);
  }
}

TEST("a malformed policy leaves the default: abort") {
  child_result died = harness_run_child(die_observed, NULL, "please do not abort");
  CHECK_EQ(died.signal, SIGABRT);
  CHECK_CONTAINS(died.errors, "KVO0034 warning: KVO_POLICY: \"please do not abort\" is invalid and ignored");
}

/* --------------------------------------------------------------------------------------------------- Handler's answers -- */

static kvo_action next_answer;

static kvo_action answer(const kvo_fault *fault, void *arg) { return next_answer; }

static void die_with_answer(void *arg) {
  kvo_set_fault_handler(answer, arg);
  for (int i = 0; i < 2; i++) die_observed(arg);
}

TEST("the handler's action overrides the policy, and DEFAULT leaves the decision to the policy") {
  static const struct {
    kvo_action action;
    const char *policy;
    bool ends;
    size_t reports;
  } rows[] = {{KVO_ACTION_IGNORE, "abort", false, 0}, {KVO_ACTION_LOG, "abort", false, 2},
              {KVO_ACTION_ONCE, "abort", false, 1},   {KVO_ACTION_ABORT, "ignore", true, 1},
              {KVO_ACTION_DEFAULT, "abort", true, 1}, {KVO_ACTION_DEFAULT, "ignore", false, 0}};
  for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
    next_answer = rows[i].action;
    child_result run = harness_run_child(die_with_answer, NULL, rows[i].policy);
    CHECK_EQ(run.signal, rows[i].ends ? SIGABRT : 0);
    CHECK_EQ(occurrences(run.errors, "KVO0001 fatal: "), rows[i].reports);
  }
}

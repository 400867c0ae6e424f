/* report_memory.c - reports when there is no memory for one more: who waits for whom, and what has to be free again by then. */
#include "harness.h"

#include <pthread.h>
#include <semaphore.h>
#include <signal.h>
#include <stdio.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

static void never_was(void) { kvo_remove_observer(0); }

/* From now on no memory can be mapped. */
static void forbid_memory(void) {
  struct rlimit none = {0, 0};
  CHECK_EQ(setrlimit(RLIMIT_AS, &none), 0);
}

static bool has_limits(void) {
  harness_skip_if_emulated("qemu-user does not limit the program's memory");
  return !harness_is_instrumented();
}

/* More reports than can be made without mapping memory. */
enum { BUSY = 12 };
static pthread_t threads[BUSY];
static sem_t is_asked, may_return;

static kvo_action stay(const kvo_fault *fault, void *arg) {
  (void)fault, (void)arg;
  sem_post(&is_asked);
  while (sem_wait(&may_return) != 0) continue;
  return KVO_ACTION_IGNORE;
}

static void *fault_and_stay(void *arg) {
  kvo_set_thread_fault_handler(stay, NULL);
  never_was();
  return arg;
}

/* Other threads make reports, which do not end before let_go. */
static void keep_busy(void) {
  sem_init(&is_asked, 0, 0);
  sem_init(&may_return, 0, 0);
  for (int i = 0; i < BUSY; i++) CHECK_EQ(pthread_create(&threads[i], NULL, fault_and_stay, NULL), 0);
  for (int i = 0; i < BUSY; i++)
    while (sem_wait(&is_asked) != 0) continue;
}

static void *let_go(void *arg) {
  for (int i = 0; i < BUSY; i++) sem_post(&may_return);
  return arg;
}

static void join_all(void) {
  for (int i = 0; i < BUSY; i++) pthread_join(threads[i], NULL);
}

static void check_whole(const child_result *run) {
  CHECK_EQ(run->signal, 0);
  CHECK_EQ(run->exit_code, 0);
  CHECK_CONTAINS(run->errors, "KVO0008 fatal: 0x0 is not an observation's id: did the registration fail?");
  CHECK_CONTAINS(run->errors, " test_report_memory+0x");
  CHECK_CONTAINS(run->errors, "\n  modules: ");
}

static void fault_while_others_stay(void *arg) {
  (void)arg;
  keep_busy();
  forbid_memory();
  never_was();
  fputs("went on\n", stderr);
}

TEST("a fault for whose report there is no memory ends the process, even if it is to go on, and says so in a line") {
  if (!has_limits()) return;
  child_result run = harness_run_child(fault_while_others_stay, NULL, "log");
  CHECK_EQ(run.signal, SIGABRT);
  CHECK_EQ((const char *)run.errors, "KVO: there is no memory for a report\n");
}

static void *let_go_soon(void *arg) {
  usleep(30000);
  return let_go(arg);
}

static void fault_until_others_go(void *arg) {
  pthread_t helper;
  keep_busy();
  CHECK_EQ(pthread_create(&helper, NULL, let_go_soon, arg), 0);
  forbid_memory();
  never_was();
  pthread_join(helper, NULL);
  join_all();
}

TEST("without memory a report waits for those of other threads") {
  if (!has_limits()) return;
  child_result run = harness_run_child(fault_until_others_go, NULL, "log");
  check_whole(&run);
}

static void fault_in_fork(void *arg) {
  keep_busy();
  pid_t child = fork();
  CHECK(child >= 0);
  if (child == 0) {
    forbid_memory();
    never_was();
    _exit(0);
  }
  int status;
  CHECK(waitpid(child, &status, 0) == child);
  CHECK(WIFEXITED(status));
  CHECK_EQ(WEXITSTATUS(status), 0);
  let_go(arg);
  join_all();
}

TEST("in the child of a fork the reports of the parent's other threads take no memory") {
  if (!has_limits()) return;
  child_result run = harness_run_child(fault_in_fork, NULL, "log");
  check_whole(&run);
}

static void fault_after_formatting(void *arg) {
  char text[256];
  kvo_fault fault = {.code = KVO_FAULT_NEVER_NOTIFIES, .severity = KVO_SEVERITY_ERROR, .summary = "x"};
  (void)arg;
  for (int i = 0; i < BUSY; i++) {
    kvo_call_format((const char *)(uintptr_t)never_was + 1, text, sizeof text);
    kvo_fault_format(&fault, KVO_REPORT_TEXT, text, sizeof text);
  }
  forbid_memory();
  never_was();
}

TEST("faults and calls that the program formats keep no memory of reports") {
  if (!has_limits()) return;
  child_result run = harness_run_child(fault_after_formatting, NULL, "log");
  check_whole(&run);
}

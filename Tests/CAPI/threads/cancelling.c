/* cancelling.c - thread cancellation: never inside the runtime, possible in code of the program that it calls. */
#include "fixture.h"
#include "shared.h"

#include <kvo/kvo_binding.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <pthread.h>
#include <signal.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

enum { SECONDS = 20 };

static item *object;

/* Runs `body` on a new thread and waits for its end. */
static void on_a_thread(void *(*body)(void *arg)) {
  pthread_t thread;
  void *result;
  alarm(SECONDS); /* a hang ends the test */
  CHECK(pthread_create(&thread, NULL, body, NULL) == 0);
  CHECK(pthread_join(thread, &result) == 0);
  CHECK_SAME(result, PTHREAD_CANCELED);
}

/* The next cancellation point ends this thread. */
static void cancel_self(void) { pthread_cancel(pthread_self()); }

static void *set_while_cancelled(void *arg) {
  (void)arg;
  cancel_self();
  item_set_value(object, 1);
  item_set_value(object, 2);
  pthread_testcancel();
  return NULL;
}

TEST("a thread with a pending cancellation writes its events of a trace, and blocks no other thread") {
  char path[64];
  snprintf(path, sizeof path, "cancelled-%ld.json", (long)getpid());
  object = item_make(0);
  watcher w = {0};
  watch(object, "value", KVO_NEW, &w);
  CHECK_OK(kvo_trace_begin(path));
  usleep(30000); /* the trace is flushed after 10 ms, so at the next end of a change */
  on_a_thread(set_while_cancelled);
  CHECK_EQ(w.calls, 2);
  item_set_value(object, 3);
  CHECK_EQ(w.calls, 3);
  CHECK_OK(kvo_trace_end());
  CHECK_OK(kvo_remove_observer(w.id));
  item_destroy(object);
  unlink(path);
}

static void *trace_while_cancelled(void *arg) {
  char *path = arg != NULL ? arg : (char[]){"cancelled-begin.json"};
  cancel_self();
  CHECK_OK(kvo_trace_begin(path));
  CHECK_OK(kvo_trace_end());
  unlink(path);
  pthread_testcancel();
  return NULL;
}

TEST("beginning and ending a trace are no cancellation points") {
  on_a_thread(trace_while_cancelled);
  trace_while_cancelled((char[]){"cancelled-again.json"});
}

static void *fault_while_cancelled(void *arg) {
  (void)arg;
  cancel_self();
  kvo_remove_observer(UINT64_MAX);
  pthread_testcancel();
  return NULL;
}

static void fault_twice(void *arg) {
  (void)arg;
  on_a_thread(fault_while_cancelled);
  CHECK_STATUS(kvo_remove_observer(UINT64_MAX), KVO_ERROR_NOT_REGISTERED);
}

TEST("a thread with a pending cancellation writes its whole report, and the next report is whole, too") {
  child_result child = harness_run_child(fault_twice, NULL, "log");
  CHECK_EQ(child.signal, 0);
  const char *first = strstr(child.errors, "KVO0008 fatal"), *stack = strstr(child.errors, "fault_while_cancelled");
  CHECK(first != NULL && stack != NULL && first < stack);
  const char *second = strstr(first + 1, "KVO0008 fatal");
  CHECK(second != NULL && stack < second && strstr(second, "fault_twice") != NULL);
}

static kvo_action be_cancelled(const kvo_fault *fault, void *arg) {
  (void)fault, (void)arg;
  pthread_testcancel();
  return KVO_ACTION_IGNORE;
}

static void *fault_with_handler(void *arg) {
  kvo_set_thread_fault_handler(be_cancelled, NULL);
  return fault_while_cancelled(arg);
}

TEST("a thread may be cancelled in its fault handler, and faults of other threads are reported") {
  on_a_thread(fault_with_handler);
  ignore_faults();
  CHECK_STATUS(kvo_remove_observer(UINT64_MAX), KVO_ERROR_NOT_REGISTERED);
  CHECK_EQ(faults.count, 1);
}

/* The runtime has to sleep where it can make no barrier. */
static void enter_sandbox(void) {
  struct sock_filter filter[] = {
      BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, nr)),
      BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, SYS_membarrier, 0, 1),
      BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ERRNO | 1 /* EPERM */),
      BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW),
  };
  struct sock_fprog program = {sizeof filter / sizeof *filter, filter};
  CHECK_EQ(prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0), 0);
  if (prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &program) != 0) harness_skip("no seccomp filter can be set");
}

static kvo_observation observed[2];
static bool has_returned;

static void *end_while_cancelled(void *arg) {
  cancel_self();
  kvo_cancel_observer(observed[0]);
  has_returned = true;
  pthread_testcancel();
  return arg;
}

static void make_observed(watcher *w) {
  object = item_make(0);
  for (int i = 0; i < 2; i++) observed[i] = watch(object, "value", KVO_NEW, w);
}

static void set_by_marks(void *arg) {
  (void)arg;
  for (int i = 1; i < 10; i++) item_set_value(object, i);
}

TEST("ending an observation in a sandbox that refuses the barrier is no cancellation point") {
  harness_skip_if_emulated("qemu-user has no seccomp");
  watcher w = {0};
  make_observed(&w);
  join_thread(start_thread(set_by_marks, NULL)); /* the object's readers are found by their marks */
  enter_sandbox();
  on_a_thread(end_while_cancelled);
  CHECK(has_returned);
  CHECK_OK(kvo_cancel_observer(observed[1]));
  item_destroy(object);
}

static watcher registered_late;

static void *observe_while_cancelled(void *arg) {
  cancel_self();
  watch(object, "value", KVO_NONE, &registered_late);
  has_returned = true;
  pthread_testcancel();
  return arg;
}

TEST("with KVO_STACKS, beginning an observation is no cancellation point") {
  harness_environment("KVO_STACKS", "8");
  object = item_make(0);
  on_a_thread(observe_while_cancelled);
  CHECK(has_returned);
}

/* ------------------------------------------------------------------------------------------ In the program's own code -- */

static void end_here(watcher *self, const kvo_change *change) {
  (void)self, (void)change;
  pthread_testcancel();
}

TEST("a wait for an observation does not wait for a callback whose thread was cancelled in it") {
  object = item_make(0);
  watcher w = {.then = end_here};
  watch(object, "value", KVO_NEW, &w);
  on_a_thread(set_while_cancelled);
  CHECK_EQ(w.calls, 1);
  item_set_value(object, 3);
  CHECK_EQ(w.calls, 2);
  CHECK_OK(kvo_cancel_observer_and_wait(w.id));
  item_destroy(object);
}

static _Atomic int is_staying;

static void stay_until_cancelled(watcher *self, const kvo_change *change) {
  (void)self, (void)change;
  for (is_staying = 1;;) usleep(100);
}

static void *set_and_stay(void *arg) {
  item_set_value(object, 1);
  return arg;
}

static void wait_for(void *id) { CHECK_OK(kvo_cancel_observer_and_wait(*(kvo_observation *)id)); }

static long long now(void) {
  struct timespec time;
  clock_gettime(CLOCK_MONOTONIC, &time);
  return time.tv_sec * 1000000000ll + time.tv_nsec;
}

TEST("a wait ends as soon as the thread was cancelled in the callback") {
  alarm(SECONDS);
  object = item_make(0);
  long long least = INT64_MAX;
  for (int round = 0; round < 5; round++) {
    is_staying = 0;
    watcher w = {.then = stay_until_cancelled};
    watch(object, "value", KVO_NONE, &w);
    pthread_t setter;
    CHECK(pthread_create(&setter, NULL, set_and_stay, NULL) == 0);
    await(&is_staying);
    running *waiting = start_thread(wait_for, &w.id);
    usleep(10000); /* it has begun to wait, and would next look after 50 ms */
    long long began = now();
    pthread_cancel(setter);
    join_thread(waiting);
    long long time = now() - began;
    if (time < least) least = time;
    CHECK(pthread_join(setter, NULL) == 0);
  }
  CHECK(least < 20000000);
  item_destroy(object);
}

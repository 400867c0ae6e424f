/* slow.c - KVO_SLOW_MS: slow callbacks are reported, once each, even if they never return. */
#include "served.h"

#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

static _Atomic int told;
static char summary[600];
static kvo_observation told_of[8];
static uint32_t told_line;

static kvo_action note_fault(const kvo_fault *fault, void *arg) {
  (void)arg;
  if (fault->code != KVO_FAULT_SLOW_CALLBACK) return KVO_ACTION_DEFAULT;
  snprintf(summary, sizeof summary, "%s", fault->summary);
  if (told < 8) told_of[told] = fault->observations[0].observation;
  told_line = fault->observations[0].line;
  told++;
  return KVO_ACTION_IGNORE;
}

static void nap(int milliseconds) { usleep((useconds_t)milliseconds * 1000); }

/* Without a limit, because machines differ; the test as a whole has one. */
static void wait_until_notified(int count) {
  while (told < count) nap(1);
}

static void hang_until_reported(watcher *self, const kvo_change *change) {
  (void)change;
  wait_until_notified((int)(intptr_t)self->then_arg);
}

TEST("a callback that does not return is reported once while it runs, with its source location and thread") {
  harness_environment("KVO_SLOW_MS", "20");
  kvo_set_fault_handler(note_fault, NULL);
  item *object = item_make(0);
  watcher w = {.then = hang_until_reported, .then_arg = (void *)(intptr_t)1};
  watch(object, "value", KVO_NEW, &w);
  item_set_value(object, 1);
  CHECK_CONTAINS(summary, "KVO0027 warning: an observer of \"value\" of Item@0x");
  CHECK_CONTAINS(summary, "has not returned for ");
  char thread[40];
  snprintf(thread, sizeof thread, "on thread %ld (main)", (long)getpid());
  CHECK_CONTAINS(summary, thread);
  CHECK_EQ(told_of[0], w.id);
  CHECK_EQ(told_line, watcher_observer("", 0, &w).line);
  nap(60);
  CHECK_EQ(told, 1);
  w.then_arg = (void *)(intptr_t)2; /* the next delivery is a different one */
  item_set_value(object, 2);
  CHECK_EQ(told, 2);
  kvo_cancel_observer(w.id);
  item_destroy(object);
}

static void pass(watcher *self, const kvo_change *change) {
  (void)self;
  (void)change;
}

TEST("callbacks that have returned are not reported, however many and however long ago") {
  harness_environment("KVO_SLOW_MS", "3600000");
  kvo_set_fault_handler(note_fault, NULL);
  item *object = item_make(0);
  watcher w = {.then = pass};
  watch(object, "value", KVO_NEW, &w);
  for (int i = 0; i < 10000; i++) item_set_value(object, i);
  nap(20);
  CHECK_EQ(told, 0);
  kvo_cancel_observer(w.id);
  item_destroy(object);
}

TEST("there is no watchdog unless KVO_SLOW_MS asks for it; then from the first delivery on") {
  bool is_asked = getenv("KVO_SLOW_MS") != NULL;
  item *object = item_make(0);
  watcher w = {0};
  watch(object, "value", KVO_NEW, &w);
  CHECK_EQ(count_threads("kvo-slow"), 0);
  item_set_value(object, 1);
  while (is_asked && count_threads("kvo-slow") == 0) nap(1); /* the watchdog sets its own name */
  CHECK_EQ(count_threads("kvo-slow"), is_asked);
  kvo_cancel_observer(w.id);
  item_destroy(object);
  if (!is_asked) harness_environment("KVO_SLOW_MS", "1000");
}

static watcher inner = {.then = hang_until_reported, .then_arg = (void *)(intptr_t)2};

static void set_inner(watcher *self, const kvo_change *change) {
  (void)self;
  KVO_SET(change->object, "other", int, 1);
}

TEST("of nested callbacks the innermost is reported first") {
  harness_environment("KVO_SLOW_MS", "20");
  kvo_set_fault_handler(note_fault, NULL);
  item *object = item_make(0);
  watcher outer = {.then = set_inner};
  watch(object, "value", KVO_NEW, &outer);
  watch(object, "other", KVO_NEW, &inner);
  /* Both are due at nearly the same time. The watchdog wakes up for the outer one, and usually finds both due. */
  item_set_value(object, 1);
  CHECK(told_of[0] == inner.id || told_of[0] == outer.id);
  CHECK(told_of[1] == inner.id || told_of[1] == outer.id);
  CHECK(told_of[0] != told_of[1]);
  kvo_cancel_observer(inner.id);
  kvo_cancel_observer(outer.id);
  item_destroy(object);
}

static void *set_on_thread(void *arg) {
  pthread_setname_np(pthread_self(), "painter");
  item_set_value(arg, 1);
  return NULL;
}

TEST("a slow callback is reported with the name of its thread") {
  harness_environment("KVO_SLOW_MS", "20");
  kvo_set_fault_handler(note_fault, NULL);
  item *object = item_make(0);
  watcher w = {.then = hang_until_reported, .then_arg = (void *)(intptr_t)1};
  watch(object, "value", KVO_NEW, &w);
  pthread_t thread;
  pthread_create(&thread, NULL, set_on_thread, object);
  pthread_join(thread, NULL);
  CHECK_CONTAINS(summary, " painter");
  kvo_cancel_observer(w.id);
  item_destroy(object);
}

static _Atomic bool is_inside, may_leave, has_begun;

static void stay_inside(watcher *self, const kvo_change *change) {
  (void)self;
  (void)change;
  is_inside = true;
  while (!may_leave) nap(1);
}

static void begin_and_hang(watcher *self, const kvo_change *change) {
  has_begun = true;
  hang_until_reported(self, change);
}

TEST("callbacks of several threads end in any order, and none that has ended is reported") {
  harness_environment("KVO_SLOW_MS", "100");
  kvo_set_fault_handler(note_fault, NULL);
  alarm(60); /* a hang ends the test */
  item *first = item_make(0), *second = item_make(0);
  watcher older = {.then = stay_inside}, newer = {.then = begin_and_hang, .then_arg = (void *)(intptr_t)2};
  watch(first, "value", KVO_NEW, &older);
  watch(second, "value", KVO_NEW, &newer);
  pthread_t thread;
  pthread_create(&thread, NULL, set_on_thread, first);
  while (!is_inside) nap(1);
  while (told == 0) nap(1); /* the older callback */
  CHECK_EQ(told_of[0], older.id);
  pthread_t other;
  pthread_create(&other, NULL, set_on_thread, second);
  while (!has_begun) nap(1);
  may_leave = true;
  pthread_join(thread, NULL);
  pthread_join(other, NULL);
  CHECK_EQ(told, 2);
  CHECK_EQ(told_of[1], newer.id);
  kvo_cancel_observer(older.id);
  kvo_cancel_observer(newer.id);
  item_destroy(first);
  item_destroy(second);
}

static void leave_thread(watcher *self, const kvo_change *change) {
  (void)self;
  (void)change;
  pthread_exit(NULL);
}

TEST("a callback left with pthread_exit is not reported") {
  harness_skip_if_emulated("the end of a thread takes longer than 20 ms");
  harness_environment("KVO_SLOW_MS", "20");
  kvo_set_fault_handler(note_fault, NULL);
  item *object = item_make(0);
  watcher w = {.then = leave_thread};
  watch(object, "value", KVO_NEW, &w);
  pthread_t thread;
  pthread_create(&thread, NULL, set_on_thread, object);
  pthread_join(thread, NULL);
  nap(60);
  CHECK_EQ(told, 0);
}

TEST("the child of a fork has a watchdog, too") {
  const char *tool = getenv("KVO_TEST_TOOL");
  if (tool != NULL && strcmp(tool, "tsan") == 0) return; /* ThreadSanitizer cannot start threads in a child */
  harness_environment("KVO_SLOW_MS", "20");
  kvo_set_fault_handler(note_fault, NULL);
  item *object = item_make(0);
  watcher w = {.then = hang_until_reported, .then_arg = (void *)(intptr_t)1};
  watch(object, "value", KVO_NEW, &w);
  item_set_value(object, 1);
  pid_t child = fork();
  if (child == 0) {
    told = 0;
    item_set_value(object, 2);
    _exit(told == 1 ? 0 : 7);
  }
  int status;
  waitpid(child, &status, 0);
  CHECK_EQ(status, 0);
}

TEST("the child of a fork is not told of callbacks of threads that it does not have") {
  const char *tool = getenv("KVO_TEST_TOOL");
  if (tool != NULL && strcmp(tool, "tsan") == 0) return;
  harness_environment("KVO_SLOW_MS", "300");
  kvo_set_fault_handler(note_fault, NULL);
  item *first = item_make(0), *second = item_make(0);
  watcher older = {.then = stay_inside}, own = {.then = hang_until_reported, .then_arg = (void *)(intptr_t)1};
  watch(first, "value", KVO_NEW, &older);
  watch(second, "value", KVO_NEW, &own);
  pthread_t thread;
  pthread_create(&thread, NULL, set_on_thread, first);
  while (!is_inside) nap(1);
  pid_t child = fork();
  if (child == 0) {
    told = 0;
    item_set_value(second, 1);
    _exit(told_of[0] == own.id ? 0 : 7);
  }
  int status;
  waitpid(child, &status, 0);
  CHECK_EQ(status, 0);
  may_leave = true;
  pthread_join(thread, NULL);
}

static volatile sig_atomic_t signals;
static void count_signal(int number) {
  (void)number;
  signals++;
}

TEST("signals are for the program's threads, not for the watchdog, and the thread that starts it is as before") {
  const char *tool = getenv("KVO_TEST_TOOL");
  if (tool != NULL && strcmp(tool, "tsan") == 0) return; /* it delivers signals later */
  harness_environment("KVO_SLOW_MS", "3600000");
  signal(SIGUSR1, count_signal);
  item *object = item_make(0);
  watcher w = {.then = pass};
  watch(object, "value", KVO_NEW, &w);
  item_set_value(object, 1);
  while (count_threads("kvo-slow") == 0) nap(1);
  sigset_t mask, pending;
  CHECK_EQ(pthread_sigmask(SIG_SETMASK, NULL, &mask), 0);
  CHECK(!sigismember(&mask, SIGUSR1) && !sigismember(&mask, SIGTERM));
  sigemptyset(&mask);
  sigaddset(&mask, SIGUSR1);
  CHECK_EQ(pthread_sigmask(SIG_BLOCK, &mask, NULL), 0);
  CHECK_EQ(kill(getpid(), SIGUSR1), 0);
  nap(50);
  CHECK_EQ((int)signals, 0);
  CHECK(sigpending(&pending) == 0 && sigismember(&pending, SIGUSR1));
  CHECK_EQ(pthread_sigmask(SIG_UNBLOCK, &mask, NULL), 0);
  CHECK_EQ((int)signals, 1);
  kvo_cancel_observer(w.id);
  item_destroy(object);
}

static void hang_for_ever(watcher *self, const kvo_change *change) {
  (void)self;
  (void)change;
  for (;;) pause();
}

static void set_and_hang(void *arg) {
  (void)arg;
  item *object = item_make(0);
  watcher w = {.then = hang_for_ever};
  watch(object, "value", KVO_NEW, &w);
  item_set_value(object, 1);
}

TEST("KVO_POLICY can end a process with a callback that hangs") {
  harness_environment("KVO_SLOW_MS", "20");
  child_result ended = harness_run_child(set_and_hang, NULL, "KVO0027:abort");
  CHECK_EQ(ended.signal, SIGABRT);
  CHECK_CONTAINS(ended.errors, "KVO0027 warning: an observer of \"value\"");
}

/* interrupting.c - signal handlers that call the runtime: waiting for the interrupted code is a fault, not a hang. */
#include "fixture.h"

#include <kvo/kvo_binding.h>
#include <kvo/kvo_graph.h>
#include <signal.h>
#include <stdlib.h>
#include <unistd.h>

static item *object;
static watcher w, in_handler;

/* The allocator is code of the program that runs while the runtime holds locks: the n-th call raises the signal. */
static _Atomic int signal_in;

static void *allocate(size_t size, void *arg) {
  if (signal_in > 0 && --signal_in == 0) raise(SIGUSR1);
  return malloc(size);
}

static void release(void *memory, void *arg) {
  if (signal_in > 0 && --signal_in == 0) raise(SIGUSR1);
  free(memory);
}

static void observe_in_handler(int number) {
  kvo_observer observer = watcher_observer("other", KVO_NEW, &in_handler);
  kvo_observation id;
  kvo_add_observer(as_object(object), &observer, &id);
}

static void prepare(void) {
  alarm(20);
  kvo_set_allocator(allocate, release, NULL);
  signal(SIGUSR1, observe_in_handler);
  object = item_make(0);
  watch(object, "value", KVO_NEW, &w);
}

/* Runs a body that is interrupted at each of its allocations and releases in turn. */
static void interrupt(void (*body)(void *n), int most) {
  int reported = 0;
  for (int n = 1; n <= most; n++) {
    child_result child = harness_run_child(body, &n, NULL);
    if (child.signal == 0) continue;
    CHECK_EQ(child.signal, SIGABRT);
    CHECK_CONTAINS(child.errors,
                   "KVO0017 fatal: a signal handler called a function that waits for the code it interrupted");
    CHECK_CONTAINS(child.errors, "\n  the interrupted code holds a lock that the function needs, so neither could ");
    CHECK_CONTAINS(child.errors,
                   "\n  help: in a signal handler only record what happened, and observe, remove and set");
    CHECK_CONTAINS(child.errors, "observe_in_handler");
    reported++;
  }
  CHECK(reported > 0);
}

static void observe_set_and_remove(void *n) {
  prepare();
  item *other = item_make(0);
  item_set_next(object, other);
  signal_in = *(int *)n;
  kvo_observation id = watch(object, "next.value", KVO_NEW | KVO_OLD, &w);
  item_set_value(other, 1);
  CHECK_OK(kvo_remove_observer(id));
}

TEST("a signal handler that calls the runtime it has interrupted never hangs: it is reported, or the call succeeds") {
  if (harness_is_valgrind()) harness_skip("valgrind's system calls do not say which memory of a stack can be read");
  interrupt(observe_set_and_remove, 40);
}

/* The graph is copied while all threads that need a lock are stopped: the allocation is made there. */
static void copy_graph(void *n) {
  prepare();
  signal_in = *(int *)n;
  kvo_graph *graph;
  CHECK_OK(kvo_snapshot(&graph));
  kvo_graph_free(graph);
  CHECK_OK(kvo_remove_observer(w.id));
}

TEST("a signal handler that interrupts a call which has stopped the other threads is reported, and never hangs") {
  interrupt(copy_graph, 4);
}

static void lock_twice(void *arg) {
  static kvo_guard guard;
  kvo_guard_lock(&guard);
  kvo_guard_lock(&guard);
}

TEST("locking a guard that this thread already holds is KVO0017, which ends the process instead of a deadlock") {
  child_result child = harness_run_child(lock_twice, NULL, NULL);
  CHECK_EQ(child.signal, SIGABRT);
  CHECK_CONTAINS(child.errors, "KVO0017 fatal: kvo_guard_lock of a guard that this thread already holds");
  CHECK_CONTAINS(child.errors, "\n  the thread would wait for itself forever\n");
}

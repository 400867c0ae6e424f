/* cancelling.c - thread cancellation: never inside the runtime, possible in code of the program that it calls. */
#include "fixture.h"
#include "staying.h"
#include "traced.h"

#include <pthread.h>
#include <string.h>
#include <unistd.h>

static item *object;
static watcher w;
static bool has_returned;

static void *cancelled(void *body) {
  pthread_cancel(pthread_self()); /* the next cancellation point ends this thread */
  (*(void (**)(void))body)();
  pthread_testcancel();
  return NULL;
}

/* Runs `body` on a new thread with a pending cancellation, and waits for the end of that. */
static void run_cancelled(void (*body)(void)) {
  pthread_t thread;
  void *result;
  CHECK(pthread_create(&thread, NULL, cancelled, &body) == 0);
  CHECK(pthread_join(thread, &result) == 0);
  CHECK_SAME(result, PTHREAD_CANCELED);
}

/* ---------------------------------------------------------------------------------------------- In the runtime -- */

static void set_twice(void) {
  item_set_value(object, 1);
  item_set_value(object, 2);
}

TEST("a thread with a pending cancellation writes its events of a trace, and blocks no other thread") {
  object = item_make(0);
  watch(object, "value", KVO_NEW, &w);
  begin();
  usleep(30000); /* the trace is flushed after 10 ms, so at the next end of a change */
  run_cancelled(set_twice);
  CHECK_EQ(w.calls, 2);
  item_set_value(object, 3);
  CHECK_EQ(w.calls, 3);
  (void)ended(); /* it checks the file */
  CHECK_OK(kvo_remove_observer(w.id));
  item_destroy(object);
}

static void trace_nothing(void) {
  CHECK_OK(kvo_trace_begin("cancelled.json"));
  CHECK_OK(kvo_trace_end());
  unlink("cancelled.json");
}

TEST("beginning and ending a trace are no cancellation points") {
  run_cancelled(trace_nothing);
  trace_nothing();
}

static void fault_while_cancelled(void) { CHECK_STATUS(kvo_remove_observer(UINT64_MAX), KVO_ERROR_NOT_REGISTERED); }

static void fault_twice(void *arg) {
  run_cancelled(fault_while_cancelled);
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

static void end_observation(void) {
  CHECK_OK(kvo_cancel_observer(w.id));
  has_returned = true;
}

static void set_by_marks(void *arg) {
  for (int i = 1; i < 10; i++) item_set_value(object, i);
}

TEST("ending an observation in a sandbox that refuses the barrier is no cancellation point") {
  watcher second = {0};
  object = item_make(0);
  watch(object, "value", KVO_NEW, &w);
  watch(object, "value", KVO_NEW, &second);
  join_thread(start_thread(set_by_marks, NULL)); /* the object's readers are found by their marks */
  refuse_membarrier();                           /* so that the runtime has to sleep */
  run_cancelled(end_observation);
  CHECK(has_returned);
  CHECK_OK(kvo_cancel_observer(second.id));
  item_destroy(object);
}

static void begin_observation(void) {
  watch(object, "value", KVO_NONE, &w);
  has_returned = true;
}

TEST("with KVO_STACKS, beginning an observation is no cancellation point") {
  harness_environment("KVO_STACKS", "8");
  object = item_make(0);
  run_cancelled(begin_observation);
  CHECK(has_returned);
}

static void replace_silently(void) {
  watch(object, "next.value", KVO_OLD, &w);
  item *first = object->next, *stored = item_make(2);
  object->next = stored;
  item_set_next(object, first); /* the report waits for a setter that is about to notify */
  has_returned = true;
  item_destroy(stored);
}

TEST("the report of a silent change is no cancellation point") {
  ignore_faults();
  object = item_make(0);
  object->next = item_make(1);
  run_cancelled(replace_silently);
  CHECK(has_returned);
  CHECK_FAULTS(1, KVO_FAULT_SILENT_CHANGE);
}

/* ----------------------------------------------------------------------------------- In the program's own code -- */

static kvo_action be_cancelled(const kvo_fault *fault, void *arg) {
  pthread_testcancel();
  return KVO_ACTION_IGNORE;
}

static void fault_with_handler(void) {
  kvo_set_thread_fault_handler(be_cancelled, NULL);
  fault_while_cancelled();
  harness_fail(__FILE__, __LINE__, "the handler has returned");
}

TEST("a thread may be cancelled in its fault handler, and faults of other threads are reported") {
  run_cancelled(fault_with_handler);
  ignore_faults();
  CHECK_STATUS(kvo_remove_observer(UINT64_MAX), KVO_ERROR_NOT_REGISTERED);
  CHECK_EQ(faults.count, 1);
}

static void end_here(watcher *self, const kvo_change *change) { pthread_testcancel(); }

TEST("a wait for an observation does not wait for a callback whose thread was cancelled in it") {
  object = item_make(0);
  w.then = end_here;
  watch(object, "value", KVO_NEW, &w);
  run_cancelled(set_twice);
  CHECK_EQ(w.calls, 1);
  item_set_value(object, 3);
  CHECK_EQ(w.calls, 2);
  CHECK_OK(kvo_cancel_observer_and_wait(w.id));
  item_destroy(object);
}

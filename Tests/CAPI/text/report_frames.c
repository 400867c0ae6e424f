/* report_frames.c - the calls of a fault: how many there are, that they are named without standard input, and what stays as it was. */
#include "fixture.h"

#include <pthread.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

/* Not inlined and without tail calls: each function must have a frame. */
#define CALLED __attribute__((noinline))
#define FRAME_STAYS() __asm__ volatile("")

static size_t frame_count;

static kvo_action count_frames(const kvo_fault *fault, void *arg) {
  (void)arg;
  frame_count = fault->frame_count;
  return KVO_ACTION_IGNORE;
}

CALLED static void fault_inside(int deep) {
  if (deep > 0)
    fault_inside(deep - 1);
  else
    kvo_remove_observer(0);
  FRAME_STAYS();
}

TEST("of a deep stack the innermost 64 calls are in the fault") {
  kvo_set_fault_handler(count_frames, NULL);
  fault_inside(70);
  CHECK_EQ(frame_count, 64);
  fault_inside(200);
  CHECK_EQ(frame_count, 64);
}

CALLED static void close_document(void) {
  kvo_remove_observer(0);
  FRAME_STAYS();
}

static void fault_without_input(void *arg) {
  (void)arg;
  close(STDIN_FILENO);
  close_document();
}

TEST("calls are named also in a process without standard input, whose files have other numbers") {
  child_result run = harness_run_child(fault_without_input, NULL, "log");
  CHECK_CONTAINS(run.errors, " close_document  test_report_frames+0x");
  CHECK_CONTAINS(run.errors, "\n  modules: ");
}

/* ---------------------------------------------------------------------------------------------------------- Cancellation -- */

static void check_state(int expected) {
  int present;
  CHECK_EQ(pthread_setcancelstate(expected, &present), 0);
  CHECK_EQ(present, expected);
}

/* What reads files of the system: the bounds of the stack, the names of functions, the mappings. */
static void *use_all(void *arg) {
  int state = *(int *)arg;
  char text[256];
  item *object = item_make(0);
  watcher w = {0};
  check_state(PTHREAD_CANCEL_ENABLE);
  CHECK_EQ(pthread_setcancelstate(state, NULL), 0);
  watch(object, "value", KVO_NEW, &w);
  check_state(state);
  item_set_value(object, 1);
  check_state(state);
  kvo_call_format((const char *)(uintptr_t)close_document + 1, text, sizeof text);
  check_state(state);
  kvo_call_format((const char *)(uintptr_t)strlen + 1, text, sizeof text);
  check_state(state);
  kvo_remove_observer(0);
  check_state(state);
  CHECK_OK(kvo_remove_observer(w.id));
  check_state(state);
  item_destroy(object);
  return NULL;
}

TEST("whether a thread can be cancelled is as before after each call") {
  static int states[] = {PTHREAD_CANCEL_ENABLE, PTHREAD_CANCEL_DISABLE};
  ignore_faults();
  for (int i = 0; i < 2; i++) {
    pthread_t thread;
    CHECK_EQ(pthread_create(&thread, NULL, use_all, &states[i]), 0);
    CHECK_EQ(pthread_join(thread, NULL), 0);
  }
}

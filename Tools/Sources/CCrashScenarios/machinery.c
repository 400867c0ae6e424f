/* machinery.c - K87 to K97: policies, handlers and reports. */
#define _GNU_SOURCE
#include "scenarios.h"

#include <setjmp.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static void misuse(void) {
  panel sidebar = {.name = "sidebar"};
  document *letter = document_make("A letter");
  OBSERVE(&sidebar, letter, "pages", KVO_NEW);
  document_destroy(letter);
}

/* ----------------------------------------------------------------------------------------------------------- Handlers -- */

static int handled;

static kvo_action go_on(const kvo_fault *fault, void *arg) {
  (void)fault;
  (void)arg;
  handled++;
  return KVO_ACTION_IGNORE;
}

static void handler_goes_on(void) {
  panel sidebar = {.name = "sidebar"};
  void *outer_arg;
  kvo_fault_handler outer = kvo_get_thread_fault_handler(&outer_arg);
  handled = 0;
  kvo_set_thread_fault_handler(go_on, NULL);
  misuse();
  document *letter = document_make("A letter");
  kvo_remove_observer_for(&letter->header, &sidebar, "pages");
  OBSERVE(&sidebar, letter, "pages..", KVO_NEW);
  CHECK(handled == 3);
  kvo_observation id = OBSERVE(&sidebar, letter, "pages", KVO_NEW);
  document_set_pages(letter, 2);
  CHECK(sidebar.calls == 1);
  kvo_remove_observer(id);
  document_destroy(letter);
  CHECK(handled == 3);
  kvo_set_thread_fault_handler(outer, outer_arg);
}

static kvo_action fault_again(const kvo_fault *fault, void *arg) {
  panel toolbar = {.name = "toolbar"};
  (void)fault;
  (void)arg;
  document *reply = document_make("A reply");
  kvo_remove_observer_for(&reply->header, &toolbar, "title"); // site K88c: the fault in the handler
  return KVO_ACTION_IGNORE;
}

static void handler_faults(void) {
  kvo_set_fault_handler(fault_again, NULL);
  misuse();
}

static jmp_buf outside;

static kvo_action jump_out(const kvo_fault *fault, void *arg) {
  (void)fault;
  (void)arg;
  longjmp(outside, 1);
}

static void handler_is_left(void) {
  kvo_set_fault_handler(jump_out, NULL);
  if (setjmp(outside) == 0) {
    panel sidebar = {.name = "sidebar"};
    document *letter = document_make("A letter");
    kvo_remove_observer_for(&letter->header, &sidebar, "pages");
  }
  kvo_set_fault_handler(NULL, NULL); /* it would be asked again */
  misuse();
}

/* ------------------------------------------------------------------------------------------------------------- Memory -- */

static bool has_memory = true;

static void *allocate(size_t size, void *arg) {
  (void)arg;
  return has_memory ? malloc(size) : NULL;
}

static void release(void *memory, void *arg) {
  (void)arg;
  free(memory);
}

static void out_of_memory(void) {
  kvo_set_allocator(allocate, release, NULL);
  panel sidebar = {.name = "sidebar"};
  document *letter = document_make("A letter");
  for (int i = 0; i < 40; i++) OBSERVE(&sidebar, letter, "pages", KVO_NEW); // site K90c: registered
  has_memory = false;
  document_destroy(letter);
}

static panel *interrupted;
static document *of_interrupted;

static void on_signal(int number) {
  (void)number;
  kvo_remove_observer_for(&of_interrupted->header, interrupted, "title"); // site K90.2c: removed
}

static void in_a_signal_handler(void) {
  static panel sidebar = {.name = "sidebar"};
  interrupted = &sidebar;
  of_interrupted = document_make("A letter");
  OBSERVE(&sidebar, of_interrupted, "pages", KVO_NEW);
  signal(SIGUSR1, on_signal);
  raise(SIGUSR1);
}

/* -------------------------------------------------------------------------------------------------------- Two at once -- */

static void fault_here(size_t index, void *arg) {
  (void)index;
  (void)arg;
  misuse();
}

static void two_fault_at_once(void) { kvo_crash_in_threads(2, fault_here, NULL); }
static void eight_fault_at_once(void) { kvo_crash_in_threads(8, fault_here, NULL); }

static void standard_error_is_closed(void) {
  close(STDERR_FILENO);
  misuse();
}

static void values_are_private(void) {
  panel sidebar = {.name = "sidebar"};
  document *letter = document_make("A letter");
  OBSERVE(&sidebar, letter, "title", KVO_NEW | KVO_OLD); // site K95c: registered
  document_set_title(letter, "Dear Anna, hush");
  document_set_title(letter, "Dear Bert");
  document_destroy(letter);
}

static const kvo_crash_scenario list[] = {
    SCENARIO("K87c", handler_goes_on, "", .variation = "a handler of the process; other faults"),
    SCENARIO("K88c", handler_faults, "2", .flags = KVO_CRASH_ALONE, .variation = "under KVO_POLICY=log both are told"),
    SCENARIO("K89c", handler_is_left, "1", .flags = KVO_CRASH_ALONE, .variation = "a handler of the thread"),
    SCENARIO("K90c", out_of_memory, "1", .flags = KVO_CRASH_ALONE, .variation = "other faults"),
    SCENARIO("K90.2c", in_a_signal_handler, "2", .flags = KVO_CRASH_ALONE, .variation = "while a report is written"),
    SCENARIO("K91c", two_fault_at_once, "1", .flags = KVO_CRASH_ALONE | KVO_CRASH_OR_MORE,
             .variation = "more threads: one of them ends the process"),
    SCENARIO("K91.2c", eight_fault_at_once, "1*8", .environment = "KVO_POLICY=log", .ending = KVO_CRASH_ENDS_WELL,
             .variation = "other faults: each report is in one piece"),
    SCENARIO("K92c", misuse, "34 1", .environment = "KVO_POLICY=foo", .contains = "foo", .flags = KVO_CRASH_GOLDEN,
             .variation = "other variables: KVO_STACKS=many"),
    SCENARIO("K93c", standard_error_is_closed, "1", .flags = KVO_CRASH_ALONE | KVO_CRASH_UNREADABLE,
             .variation = "a pipe that nobody reads"),
    SCENARIO("K93.2c", misuse, "1", .environment = "KVO_REPORT=json", .contains = "{\"schema\":1,",
             .variation = "all codes"),
    SCENARIO("K93.3c", misuse, "1", .environment = "KVO_REPORT=json KVO_REPORT_PATH=/dev/fd/2",
             .contains = "{\"schema\":1,", .variation = "a file, with %p in its name"),
    SCENARIO("K94c", misuse, "1", .environment = "KVO_STACKS=8",
             .variation = "scripts/check-crashes.sh strips the program"),
    SCENARIO("K95c", values_are_private, "1", .environment = "KVO_HISTORY=16", .lacks = "hush|Bert",
             .variation = "other types"),
    SCENARIO("K95.2c", values_are_private, "1", .environment = "KVO_HISTORY=16 KVO_VALUES=1", .contains = "hush|Bert",
             .variation = "long values, control characters"),
    IMPOSSIBLE("K96c",
               "see K09c: what an observer in C points to, only AddressSanitizer knows, and it speaks for itself"),
    IMPOSSIBLE("K97c", "a program in C has no Swift runtime to write a backtrace"),
};

const crash_part crash_machinery = CRASH_PART(list);

/* machinery.c - K87 to K97: policies, handlers and reports. */
#define _GNU_SOURCE
#include "scenarios.h"

#include <setjmp.h>
#include <signal.h>
#include <stdlib.h>

static void misuse(void) {
  panel sidebar = {.name = "sidebar"};
  document *letter = document_make("A letter");
  OBSERVE(&sidebar, letter, "pages", KVO_NEW);
  document_destroy(letter);
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

static const kvo_crash_scenario list[] = {
    SCENARIO("K89c", handler_is_left, "1", .flags = KVO_CRASH_ALONE),
    SCENARIO("K90c", out_of_memory, "1", .flags = KVO_CRASH_ALONE),
    SCENARIO("K90.2c", in_a_signal_handler, "2", .flags = KVO_CRASH_ALONE),
    SCENARIO("K92c", misuse, "34 1", .environment = "KVO_POLICY=foo", .contains = "foo"),
};

const crash_part crash_machinery = CRASH_PART(list);

/* report_conditions.c - reports are whole without memory and on small stacks. */
#include "fixture.h"
#include "reported.h"

#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <unistd.h>

/* ------------------------------------------------------------------------------------------------------------ No memory -- */

/* From now on no memory can be mapped. */
static void forbid_memory(void) {
  struct rlimit none = {0, 0};
  CHECK_EQ(setrlimit(RLIMIT_AS, &none), 0);
}

static bool has_limits(void) {
  harness_skip_if_emulated("qemu-user does not limit the program's memory");
  return !harness_is_instrumented();
}

static void fault_without_memory(void *arg) {
  forbid_memory();
  fault_once(arg);
}

TEST("in a process without any free memory the report is whole, without names from files") {
  if (!has_limits()) return;
  child_result run = harness_run_child(fault_without_memory, NULL, NULL);
  CHECK_EQ(run.signal, SIGABRT);
  CHECK_CONTAINS(run.errors, " test_report_conditions+0x");
  CHECK_CONTAINS(run.errors, "\n  modules: ");
  CHECK_CONTAINS(run.errors, "\n  more: ");
}

/* --------------------------------------------------------------------------------------------------------- Small stacks -- */

static item *object;
static watcher first, unregistered;

static void remove_unregistered(void) { kvo_remove_observer_for(as_object(object), &unregistered, "valeu"); }
static void remove_twice(void) {
  kvo_remove_observer(first.id);
  kvo_remove_observer(first.id);
}
static void did_alone(void) { kvo_did_change(as_object(object), "value"); }
static void malformed(void) {
  kvo_observer observer = watcher_observer("next..value", KVO_NEW, &unregistered);
  kvo_add_observer(as_object(object), &observer, NULL);
}
static void die_observed(void) { kvo_object_destroy(as_object(object)); }

typedef struct misuse {
  void (*cause)(void);
  const char *begin;
} misuse;

static const misuse misuses[] = {{never_was, "KVO0008 fatal: "},    {remove_unregistered, "KVO0002 fatal: "},
                                 {remove_twice, "KVO0003 fatal: "}, {did_alone, "KVO0028 error: "},
                                 {malformed, "KVO0010 error: "},    {die_observed, "KVO0001 fatal: "}};
enum { MISUSES = sizeof misuses / sizeof *misuses };

static void prepare(void) {
  object = item_make(0);
  watch(object, "value", KVO_NEW | KVO_PRIOR, &first);
}

static const misuse *caused;
static void cause_in_handler(int number) { caused->cause(); }

/* Causes a misuse in a signal handler on a stack of this size, which has a guard page behind its end. Returns the stack. */
static unsigned char *cause_on_stack(size_t size, const misuse *of, int paint) {
  size_t page = (size_t)sysconf(_SC_PAGESIZE);
  unsigned char *memory = mmap(NULL, page + size, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  CHECK(memory != MAP_FAILED && mprotect(memory, page, PROT_NONE) == 0);
  caused = of;
  prepare();
  memset(memory + page, paint, size);
  stack_t stack = {.ss_sp = memory + page, .ss_size = size};
  CHECK_EQ(sigaltstack(&stack, NULL), 0);
  struct sigaction action = {.sa_handler = cause_in_handler, .sa_flags = SA_ONSTACK};
  sigaction(SIGUSR1, &action, NULL);
  raise(SIGUSR1);
  return memory + page;
}

static bool stacks_are_small(void) {
#if !defined(__x86_64__) && !defined(__aarch64__)
  harness_skip("reports have a stack of their own only on x86-64 and aarch64");
#endif
  harness_skip_if_emulated("signal frames are qemu-user's");
#ifdef _SC_MINSIGSTKSZ
  return sysconf(_SC_MINSIGSTKSZ) <= 4096 && !harness_is_instrumented();
#else
  return !harness_is_instrumented();
#endif
}

static kvo_action format_it(const kvo_fault *fault, void *arg) {
  CHECK_CONTAINS(formatted(fault, KVO_REPORT_TEXT), "\n  more: ");
  return KVO_ACTION_LOG;
}

static void cause_on_small_stack(void *arg) {
  kvo_set_fault_handler(format_it, NULL);
  cause_on_stack(8192, arg, 0);
  fputs("went on\n", stderr);
}

TEST("a report is made, and formatted by a handler, in a signal handler on an alternate stack of 8 KiB") {
  if (!stacks_are_small()) return;
  for (size_t i = 0; i < MISUSES; i++) {
    child_result run = harness_run_child(cause_on_small_stack, (void *)(uintptr_t)&misuses[i], NULL);
    CHECK_EQ(run.signal, 0);
    CHECK_EQ(strncmp(run.errors, misuses[i].begin, strlen(misuses[i].begin)), 0);
    CHECK_CONTAINS(run.errors, "\n  modules");
    CHECK_CONTAINS(run.errors, "\n  more: ");
    CHECK_CONTAINS(run.errors, "went on\n");
  }
}

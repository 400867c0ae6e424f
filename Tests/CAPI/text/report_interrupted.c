/* report_interrupted.c - signals that come while a report is written: what their handlers may do, and that the report is whole. */
#include "reported.h"

#include <signal.h>
#include <stdio.h>
#include <string.h>

/* Called, unless NULL, once while a report is written. */
static void (*while_writing)(void);
static int demanglings;

/* Replaces the Swift runtime's demangler, which is not linked: a report calls it. */
char *swift_demangle(const char *name, size_t length, char *buffer, size_t *size, uint32_t flags);
char *swift_demangle(const char *name, size_t length, char *buffer, size_t *size, uint32_t flags) {
  void (*now)(void) = while_writing;
  while_writing = NULL;
  demanglings++;
  if (now != NULL) now();
  snprintf(buffer, *size, "App.demo()");
  return buffer;
}

/* A symbol with a Swift name; quoted for gcc, because the assembler takes a dollar for an immediate operand. */
#ifdef __clang__
void demo(void) __asm__("$s4demo");
#else
void demo(void) __asm__("\"$s4demo\"");
#endif
CALLED void demo(void) {
  never_was();
  FRAME_STAYS();
}

static void raise_signal(void) { raise(SIGUSR1); }

/* Makes a report, and has `handler` called while it is written: on the report's own stack, which valgrind then takes for unused memory. */
static void be_interrupted(void (*handler)(int number)) {
  signal(SIGUSR1, handler);
  while_writing = raise_signal;
  demo();
  CHECK(while_writing == NULL);
}

static void check_all(const child_result *run) {
  check_report(run);
  CHECK_CONTAINS(run->errors, " App.demo()  test_report_interrupted+0x");
}

static char detail[600];
static double waited;

static void fault_in_handler(int number) {
  double began = seconds();
  kvo_fault_raise(KVO_FAULT_NEVER_NOTIFIES, detail, NULL, "nothing", NULL, 0, NULL, 0);
  waited = seconds() - began;
}

static void fault_while_written(void *arg) {
  memset(detail, 'y', sizeof detail - 1);
  be_interrupted(fault_in_handler);
  if (!harness_is_instrumented()) CHECK(waited < 0.4); /* its own thread is writing: no wait can help */
}

TEST("of a fault in a handler that has interrupted a report the first line is written, and the report is whole") {
  if (harness_is_valgrind()) return;
  child_result run = harness_run_child(fault_while_written, NULL, "log");
  check_all(&run);
  const char *line = strstr(run.errors, "KVO0011 error: yyy");
  CHECK(line != NULL);
  CHECK_EQ(strcspn(line, "\n"), 511); /* of a longer line the beginning */
  CHECK_SAME(strstr(run.errors, "kvo explain KVO0011"), NULL);
  CHECK_SAME(strstr(run.errors, "help: nothing"), NULL);
}

static char text[256];

static void format_in_handler(int number) { kvo_call_format((const char *)(uintptr_t)demo + 1, text, sizeof text); }

static char signal_stack[1 << 16];

static void handle_on_signal_stack(int number, void (*handler)(int number)) {
  stack_t stack = {.ss_sp = signal_stack, .ss_size = sizeof signal_stack};
  struct sigaction action = {.sa_handler = handler, .sa_flags = SA_ONSTACK};
  CHECK_EQ(sigaltstack(&stack, NULL), 0);
  CHECK_EQ(sigaction(number, &action, NULL), 0);
}

TEST("in a signal handler a Swift name is shown as it is in the file, because demangling allocates") {
  format_in_handler(0);
  CHECK_EQ(strncmp(text, "App.demo()  test_report_interrupted+0x", 38), 0);
  CHECK_EQ(demanglings, 1);
  handle_on_signal_stack(SIGUSR1, format_in_handler);
  raise(SIGUSR1);
  CHECK_EQ(strncmp(text, "$s4demo  test_report_interrupted+0x", 35), 0);
  CHECK_EQ(demanglings, 1);
/* Elsewhere the return of a handler is not recognised. */
#if (defined(__x86_64__) && defined(__GLIBC__)) || defined(__aarch64__)
  if (harness_is_instrumented() || harness_is_emulated()) return;
  text[0] = '\0';
  signal(SIGUSR1, format_in_handler);
  raise(SIGUSR1);
  CHECK_EQ(strncmp(text, "$s4demo  test_report_interrupted+0x", 35), 0);
  CHECK_EQ(demanglings, 1);
#endif
}

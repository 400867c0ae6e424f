/* fault_handlers.c - who is asked about a fault: handlers of the thread, of a binding's scope, of the process; and what they may do. */
#include "fixture.h"
#include "reported.h"
#include "shared.h"

#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

/* ------------------------------------------------------------------------------------------------------------ The order -- */

static char asked[8];
static kvo_action answers[3];

static kvo_action note_asked(char who, kvo_action answer) {
  size_t length = strlen(asked);
  CHECK(length + 1 < sizeof asked);
  asked[length] = who;
  asked[length + 1] = '\0';
  return answer;
}

static kvo_action of_thread(const kvo_fault *fault, void *arg) {
  CHECK_SAME(arg, &answers[0]);
  return note_asked('t', answers[0]);
}

static kvo_action of_scope(const kvo_fault *fault, void *arg) {
  CHECK_SAME(arg, NULL);
  return note_asked('s', answers[1]);
}

static kvo_action of_process(const kvo_fault *fault, void *arg) {
  CHECK_SAME(arg, &answers[2]);
  return note_asked('p', answers[2]);
}

/* Who is asked if the handlers whose letters are in `present` are set, and all but those of `deciding` leave the decision to others. */
static const char *asked_of(const char *present, const char *deciding) {
  static const char letters[] = "tsp";
  for (int i = 0; i < 3; i++)
    answers[i] = strchr(deciding, letters[i]) != NULL ? KVO_ACTION_IGNORE : KVO_ACTION_DEFAULT;
  kvo_set_thread_fault_handler(strchr(present, 't') != NULL ? of_thread : NULL, &answers[0]);
  kvo_binding_set_scope_fault_handler(strchr(present, 's') != NULL ? of_scope : NULL);
  kvo_set_fault_handler(strchr(present, 'p') != NULL ? of_process : NULL, &answers[2]);
  asked[0] = '\0';
  never_was();
  return asked;
}

TEST("the thread's handler is asked first, then the scope's, then the process's, until one decides") {
  static const struct {
    const char *present, *deciding, *asked;
  } rows[] = {{"t", "t", "t"},     {"s", "s", "s"},     {"p", "p", "p"},   {"tsp", "tsp", "t"},
              {"tsp", "sp", "ts"}, {"tsp", "p", "tsp"}, {"ts", "s", "ts"}, {"tp", "p", "tp"},
              {"sp", "p", "sp"},   {"sp", "sp", "s"},   {"ts", "ts", "t"}, {"tsp", "tp", "t"}};
  for (size_t i = 0; i < sizeof rows / sizeof *rows; i++)
    CHECK_EQ(asked_of(rows[i].present, rows[i].deciding), rows[i].asked);
}

static kvo_action of_other(const kvo_fault *fault, void *arg) { return note_asked('o', KVO_ACTION_IGNORE); }

static kvo_action replace_process(const kvo_fault *fault, void *arg) {
  kvo_set_fault_handler(of_other, NULL);
  return KVO_ACTION_DEFAULT;
}

TEST("a handler of the process that the thread's handler replaces is not asked any more") {
  kvo_set_fault_handler(of_process, &answers[2]);
  kvo_set_thread_fault_handler(replace_process, NULL);
  never_was();
  CHECK_EQ((const char *)asked, "o");
}

TEST("setting a handler returns the previous one, and it can be asked for with its argument") {
  void *arg = &arg;
  CHECK(kvo_get_fault_handler(&arg) == NULL && arg == NULL);
  CHECK(kvo_set_fault_handler(of_process, &answers[2]) == NULL);
  CHECK(kvo_get_fault_handler(NULL) == of_process);
  CHECK(kvo_get_fault_handler(&arg) == of_process && arg == &answers[2]);
  CHECK(kvo_set_fault_handler(NULL, NULL) == of_process);
  CHECK(kvo_get_thread_fault_handler(&arg) == NULL && arg == NULL);
  CHECK(kvo_set_thread_fault_handler(of_thread, &answers[0]) == NULL);
  CHECK(kvo_get_thread_fault_handler(&arg) == of_thread && arg == &answers[0]);
  CHECK(kvo_set_thread_fault_handler(NULL, NULL) == of_thread);
  CHECK(kvo_binding_set_scope_fault_handler(of_scope) == NULL);
  CHECK(kvo_binding_set_scope_fault_handler(NULL) == of_scope);
}

TEST("the fatal faults of a thread are counted, and neither KVO0011 nor those of another thread") {
  ignore_faults();
  uint64_t before = kvo_thread_fault_count();
  for (int i = 1; i < 4; i++) {
    never_was();
    raise_silent();
    CHECK_EQ(kvo_thread_fault_count() - before, i);
  }
  join_thread(start_thread(fault_once, NULL));
  CHECK_EQ(kvo_thread_fault_count() - before, 3);
}

static kvo_action expect_no_place(const kvo_fault *fault, void *arg) {
  CHECK_SAME(fault->file, NULL);
  CHECK_EQ(fault->file_length, 0);
  CHECK_EQ(fault->thread, getpid()); /* the main thread's id is that of the process */
  *(bool *)arg = true;
  return KVO_ACTION_IGNORE;
}

TEST("a fault has the number of its thread, and without a source location none, of length 0") {
  bool is_asked = false;
  kvo_set_fault_handler(expect_no_place, &is_asked);
  (void)(kvo_remove_observer)(UINT64_MAX);
  CHECK(is_asked);
}

static kvo_action fault_within(const kvo_fault *fault, void *arg) {
  never_was();
  return KVO_ACTION_IGNORE;
}

static void raise_within(void *arg) {
  kvo_set_fault_handler(fault_within, arg);
  never_was();
  fputs("went on\n", stderr);
}

TEST("a fault inside the handler does not call it again, but takes the policy's action") {
  child_result logged = harness_run_child(raise_within, NULL, "log");
  CHECK_EQ(occurrences(logged.errors, "KVO0008 fatal: "), 1);
  CHECK_CONTAINS(logged.errors, "went on\n");
  child_result died = harness_run_child(raise_within, NULL, NULL);
  CHECK_EQ(died.signal, SIGABRT);
  CHECK_EQ(occurrences(died.errors, "KVO0008 fatal: "), 1);
}

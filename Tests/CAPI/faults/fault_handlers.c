/* fault_handlers.c - who is asked about a fault: handlers of the thread, of a binding's scope, of the process; and what they may do. */
#include "fixture.h"
#include "shared.h"

#include <kvo/kvo_binding.h>
#include <stdio.h>
#include <string.h>
#include <sys/wait.h>
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
  (void)fault;
  CHECK_SAME(arg, &answers[0]);
  return note_asked('t', answers[0]);
}

static kvo_action of_scope(const kvo_fault *fault, void *arg) {
  (void)fault;
  CHECK_SAME(arg, NULL);
  return note_asked('s', answers[1]);
}

static kvo_action of_process(const kvo_fault *fault, void *arg) {
  (void)fault;
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
  kvo_remove_observer(0);
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

TEST("setting a scope's handler returns the previous one") {
  CHECK(kvo_binding_set_scope_fault_handler(of_scope) == NULL);
  CHECK(kvo_binding_set_scope_fault_handler(NULL) == of_scope);
  CHECK(kvo_binding_set_scope_fault_handler(NULL) == NULL);
}

TEST("the process's handler can be asked for, with its argument") {
  void *arg = &arg;
  CHECK(kvo_get_fault_handler(&arg) == NULL);
  CHECK_SAME(arg, NULL);
  kvo_set_fault_handler(of_process, &answers[2]);
  CHECK(kvo_get_fault_handler(&arg) == of_process);
  CHECK_SAME(arg, &answers[2]);
  CHECK(kvo_get_fault_handler(NULL) == of_process);
}

TEST("a thread has no handler until it sets one, which is its own") {
  void *arg = &arg;
  CHECK(kvo_get_thread_fault_handler(&arg) == NULL);
  CHECK_SAME(arg, NULL);
  kvo_set_thread_fault_handler(of_thread, &answers[0]);
  CHECK(kvo_get_thread_fault_handler(&arg) == of_thread);
  CHECK_SAME(arg, &answers[0]);
}

/* --------------------------------------------------------------------------------------------------------------- Counts -- */

static void raise_fatal(void *arg) {
  (void)arg;
  kvo_remove_observer(0);
}

TEST("the fatal faults of a thread are counted, and neither KVO0011 nor those of another thread") {
  ignore_faults();
  uint64_t before = kvo_thread_fault_count();
  for (int i = 1; i < 4; i++) {
    raise_fatal(NULL);
    CHECK_EQ(kvo_thread_fault_count() - before, i);
    kvo_fault_raise(KVO_FAULT_NEVER_NOTIFIES, "it is silent", NULL, NULL, NULL, 0, NULL, 0);
    CHECK_EQ(kvo_thread_fault_count() - before, i);
  }
  join_thread(start_thread(raise_fatal, NULL));
  CHECK_EQ(kvo_thread_fault_count() - before, 3);
}

/* ---------------------------------------------------------------------------------------------------- What a handler does -- */

static item *early, *in_handler, *late;

static void read_value(item *object) { kvo_track_read(as_object(object), kvo_key_hash("value", 5)); }

static kvo_action read_another(const kvo_fault *fault, void *arg) {
  (void)fault, (void)arg;
  read_value(in_handler);
  return KVO_ACTION_IGNORE;
}

static void *read_around_fault(void *user_data) {
  read_value(early);
  kvo_remove_observer(0);
  read_value(late);
  return user_data;
}

static void count_change(const kvo_raw_change *change, void *user_data) {
  (void)change;
  ++*(int *)user_data;
}

static void release_nothing(void *value, void *user_data) { (void)value, (void)user_data; }

TEST("what a handler reads is not what an evaluation with a fault depends on, and what is read after it is") {
  static const kvo_observer_ops ops = {
      .callback = count_change, .evaluate = read_around_fault, .release = release_nothing};
  int calls = 0;
  early = item_make(0), in_handler = item_make(0), late = item_make(0);
  kvo_binding_observer observer = {.key_path = "expression", .ops = &ops, .user_data = &calls};
  kvo_observation id;
  kvo_set_fault_handler(read_another, NULL);
  CHECK_OK(kvo_binding_observe_tracked(as_object(early), &observer, false, &id));
  item_set_value(in_handler, 1);
  CHECK_EQ(calls, 0);
  item_set_value(late, 1);
  CHECK_EQ(calls, 1);
  item_set_value(early, 1);
  CHECK_EQ(calls, 2);
  item_set_value(in_handler, 2);
  CHECK_EQ(calls, 2);
  CHECK_OK(kvo_remove_observer(id));
  item_destroy(early);
  item_destroy(in_handler);
  item_destroy(late);
}

/* In the child there is a second fault, which takes the default action. */
static kvo_action fork_and_fault(const kvo_fault *fault, void *arg) {
  (void)arg;
  char before[256];
  snprintf(before, sizeof before, "%s", fault->summary);
  pid_t child = fork();
  CHECK(child >= 0);
  if (child == 0) {
    kvo_remove_observer(UINT64_MAX);
    _exit(strcmp(before, fault->summary) != 0);
  }
  int status;
  CHECK(waitpid(child, &status, 0) == child);
  CHECK(WIFEXITED(status));
  CHECK_EQ(WEXITSTATUS(status), 0);
  return KVO_ACTION_IGNORE;
}

static void fault_and_fork(void *arg) {
  (void)arg;
  kvo_set_fault_handler(fork_and_fault, NULL);
  kvo_remove_observer(0);
  fputs("went on\n", stderr);
}

TEST("in a process that a handler forks the fault stays as it was, also while another one is handled") {
  child_result run = harness_run_child(fault_and_fork, NULL, "ignore");
  CHECK_EQ(run.exit_code, 0);
  CHECK_EQ((const char *)run.errors, "went on\n");
}

/* -------------------------------------------------------------------------------------------------------------- Threads -- */

static int of_first, of_second;

static kvo_action first(const kvo_fault *fault, void *arg) {
  (void)fault;
  CHECK_SAME(arg, &of_first);
  return KVO_ACTION_IGNORE;
}

static kvo_action second(const kvo_fault *fault, void *arg) {
  (void)fault;
  CHECK_SAME(arg, &of_second);
  return KVO_ACTION_IGNORE;
}

static void fault_or_exchange(int number) {
  for (int i = 0; i < rounds(400); i++) {
    if (number >= 2) {
      kvo_remove_observer(0);
      continue;
    }
    void *arg;
    kvo_set_fault_handler(i % 2 == 0 ? first : second, i % 2 == 0 ? &of_first : &of_second);
    kvo_fault_handler present = kvo_get_fault_handler(&arg);
    CHECK_SAME(arg, present == first ? &of_first : &of_second);
  }
}

TEST("a handler that other threads replace meanwhile is always called with its own argument") {
  kvo_set_fault_handler(first, &of_first);
  on_threads(fault_or_exchange);
  kvo_set_fault_handler(NULL, NULL);
}

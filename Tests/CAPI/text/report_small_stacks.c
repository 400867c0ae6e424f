/* report_small_stacks.c - reports of each kind of misuse are whole on the smallest stacks, and leave no file open. */
#include "fixture.h"

#include <fcntl.h>
#include <limits.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

static long least_signal_stack(void) {
#ifdef _SC_MINSIGSTKSZ
  return sysconf(_SC_MINSIGSTKSZ);
#else
  return MINSIGSTKSZ;
#endif
}

static item *object;
static watcher first, unregistered;

static void fault_in_callback(watcher *self, const kvo_change *change) {
  (void)self, (void)change;
  kvo_remove_observer(0);
}

static void never_was(void) { kvo_remove_observer(0); }
static void remove_unregistered(void) { kvo_remove_observer_for(as_object(object), &unregistered, "valeu"); }
static void remove_twice(void) {
  kvo_remove_observer(first.id);
  kvo_remove_observer(first.id);
}
static void did_alone(void) { kvo_did_change(as_object(object), "value"); }
static void malformed(void) {
  kvo_observer observer = watcher_observer("next..value", KVO_NEW, &unregistered);
  kvo_observation id;
  kvo_add_observer(as_object(object), &observer, &id);
}
static void die_observed(void) { kvo_object_destroy(as_object(object)); }
static void fault_while_notified(void) {
  first.then = fault_in_callback;
  item_set_value(object, 7);
}

typedef struct misuse {
  void (*cause)(void);
  const char *begin;
} misuse;

static const misuse misuses[] = {{never_was, "KVO0008 fatal: "},           {remove_unregistered, "KVO0002 fatal: "},
                                 {remove_twice, "KVO0003 fatal: "},        {did_alone, "KVO0028 error: "},
                                 {malformed, "KVO0010 error: "},           {die_observed, "KVO0001 fatal: "},
                                 {fault_while_notified, "KVO0008 fatal: "}};
enum { MISUSES = sizeof misuses / sizeof *misuses };

static void prepare(void) {
  object = item_make(0);
  watch(object, "value", KVO_NEW | KVO_PRIOR, &first);
}

static const misuse *caused;
static void cause_in_handler(int number) {
  (void)number;
  caused->cause();
}

/* A stack with a guard page after its end. */
static char *guarded_stack(size_t size) {
  size_t page = (size_t)sysconf(_SC_PAGESIZE);
  char *memory = mmap(NULL, page + size, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  CHECK(memory != MAP_FAILED && mprotect(memory, page, PROT_NONE) == 0);
  return memory + page;
}

static void on_alternate_stack(void *arg) {
  caused = arg;
  prepare();
  stack_t stack = {.ss_sp = guarded_stack(8192), .ss_size = 8192};
  CHECK_EQ(sigaltstack(&stack, NULL), 0);
  struct sigaction action = {.sa_handler = cause_in_handler, .sa_flags = SA_ONSTACK};
  sigaction(SIGUSR1, &action, NULL);
  raise(SIGUSR1);
  fputs("went on\n", stderr);
}

static bool stacks_are_small(void) {
#if !defined(__x86_64__) && !defined(__aarch64__)
  harness_skip("reports have a stack of their own only on x86-64 and aarch64");
#endif
  harness_skip_if_emulated("signal frames are qemu-user's");
  return least_signal_stack() <= 4096 && !harness_is_instrumented();
}

static void check_whole(const child_result *run, const misuse *of) {
  CHECK_EQ(run->signal, 0);
  CHECK_EQ(strncmp(run->errors, of->begin, strlen(of->begin)), 0);
  CHECK_CONTAINS(run->errors, "\n  fault ");
  CHECK_CONTAINS(run->errors, "\n  modules");
  CHECK_CONTAINS(run->errors, "\n  more: ");
  CHECK_CONTAINS(run->errors, "went on\n");
}

TEST("a report is made in a signal handler on an alternate stack of 8 KiB") {
  if (!stacks_are_small()) return;
  for (size_t i = 0; i + 1 < MISUSES; i++) { /* the last one also needs stack for a delivery */
    child_result run = harness_run_child(on_alternate_stack, (void *)(uintptr_t)&misuses[i], "log");
    check_whole(&run, &misuses[i]);
    run = harness_run_child(on_alternate_stack, (void *)(uintptr_t)&misuses[i], "abort");
    CHECK_EQ(run.signal, strstr(misuses[i].begin, "error") != NULL
                             ? 0
                             : SIGABRT); /* a general policy of abort does not apply to an error */
  }
}

static void *cause_on_thread(void *arg) {
  const misuse *of = arg;
  of->cause();
  return NULL;
}

enum { SMALLEST = 16384 }; /* of glibc; musl allows less */

static void on_small_thread(void *arg) {
  prepare();
  pthread_attr_t attributes;
  pthread_attr_init(&attributes);
  CHECK_EQ(pthread_attr_setstacksize(&attributes, SMALLEST), 0);
  pthread_t thread;
  CHECK_EQ(pthread_create(&thread, &attributes, cause_on_thread, arg), 0);
  pthread_join(thread, NULL);
  fputs("went on\n", stderr);
}

TEST("a report is made on a thread with the smallest possible stack, 16 KiB") {
  if (!stacks_are_small()) return;
  for (size_t i = 0; i < MISUSES; i++) {
    child_result run = harness_run_child(on_small_thread, (void *)(uintptr_t)&misuses[i], "log");
    check_whole(&run, &misuses[i]);
  }
}

static char formatted[1 << 15];
static kvo_action format_it(const kvo_fault *fault, void *arg) {
  (void)arg;
  kvo_fault_format(fault, KVO_REPORT_TEXT, formatted, sizeof formatted);
  kvo_call_format(fault->frames[0], formatted + sizeof formatted / 2, sizeof formatted / 2);
  return KVO_ACTION_LOG;
}

static void format_on_alternate_stack(void *arg) {
  kvo_set_fault_handler(format_it, NULL);
  on_alternate_stack(arg);
  fputs(formatted, stderr);
  fputs(formatted + sizeof formatted / 2, stderr);
}

TEST("a fault handler formats the report on the smallest stack, too") {
  if (!stacks_are_small()) return;
  child_result run = harness_run_child(format_on_alternate_stack, (void *)(uintptr_t)&misuses[0], "log");
  check_whole(&run, &misuses[0]);
  const char *again = strstr(run.errors, "went on\nKVO0008 fatal: ");
  CHECK(again != NULL);
  CHECK_CONTAINS(again, "\n  more: ");
  CHECK_CONTAINS(again, "libkvo.so");
}

/* Measures how much of a painted stack was overwritten. */
TEST("a report takes less than 3 KiB of the stack of the thread that makes it") {
  if (!stacks_are_small()) return;
  enum { SIZE = 1 << 16, PAINT = 0x5a };
  signal(SIGUSR1, SIG_DFL);
  for (size_t i = 0; i + 1 < MISUSES; i++) { /* the last one needs stack for a delivery */
    static size_t used[2];
    for (int round = 0; round < 2; round++) {
      char *stack = guarded_stack(SIZE);
      int pipe_ends[2];
      CHECK_EQ(pipe(pipe_ends), 0);
      pid_t child = fork();
      if (child == 0) {
        setenv("KVO_POLICY", "log", 1);
        close(STDERR_FILENO);
        prepare();
        static const misuse nothing = {prepare, ""};
        caused = round == 0 ? &nothing : &misuses[i];
        memset(stack, PAINT, SIZE);
        stack_t alternate = {.ss_sp = stack, .ss_size = SIZE};
        sigaltstack(&alternate, NULL);
        struct sigaction action = {.sa_handler = cause_in_handler, .sa_flags = SA_ONSTACK};
        sigaction(SIGUSR1, &action, NULL);
        raise(SIGUSR1);
        size_t untouched = 0;
        while (untouched < SIZE && stack[untouched] == PAINT) untouched++;
        untouched = SIZE - untouched;
        _exit(write(pipe_ends[1], &untouched, sizeof untouched) != sizeof untouched);
      }
      int status;
      waitpid(child, &status, 0);
      CHECK_EQ(status, 0);
      CHECK_EQ(read(pipe_ends[0], &used[round], sizeof(size_t)), (ssize_t)sizeof(size_t));
      munmap(stack, SIZE);
    }
    if (used[1] > used[0] + 3072)
      harness_fail(__FILE__, __LINE__, "misuse %zu takes %zu bytes, a registration %zu", i, used[1], used[0]);
  }
}

static int open_files(void) {
  int count = 0;
  for (int fd = 0; fd < 256; fd++) count += fcntl(fd, F_GETFD) >= 0;
  return count;
}

static void count_files(void *arg) {
  never_was(); /* opens the file of the reports */
  if (arg != NULL) close(STDIN_FILENO);
  int before = open_files();
  for (size_t i = 0; i < MISUSES; i++) {
    prepare();
    misuses[i].cause();
  }
  void *nowhere = &before;
  char text[64];
  kvo_call_format(nowhere, text, sizeof text);
  if (open_files() == before) fputs("all closed\n", stderr);
}

TEST("a report leaves no file open, also where a file has the number 0") {
  setenv("KVO_REPORT_PATH", "/dev/null", 1);
  static char closes_input;
  CHECK_EQ((const char *)harness_run_child(count_files, NULL, "log").errors, "all closed\n");
  CHECK_EQ((const char *)harness_run_child(count_files, &closes_input, "log").errors, "all closed\n");
}

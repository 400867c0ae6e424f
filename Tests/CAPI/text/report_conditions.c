/* report_conditions.c - reports are whole without memory, on small stacks, on many threads, and in the child of a fork. */
#include "fixture.h"
#include "reported.h"

#include <fcntl.h>
#include <pthread.h>
#include <semaphore.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <time.h>
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

/* More reports than can be made without mapping memory. */
enum { BUSY = 12 };
static pthread_t threads[BUSY];
static sem_t is_asked, may_return;

static kvo_action stay(const kvo_fault *fault, void *arg) {
  (void)fault, (void)arg;
  sem_post(&is_asked);
  while (sem_wait(&may_return) != 0) continue;
  return KVO_ACTION_IGNORE;
}

static void *fault_and_stay(void *arg) {
  kvo_set_thread_fault_handler(stay, NULL);
  never_was();
  return arg;
}

/* Other threads make reports, which do not end before let_go. */
static void keep_busy(void) {
  sem_init(&is_asked, 0, 0);
  sem_init(&may_return, 0, 0);
  for (int i = 0; i < BUSY; i++) CHECK_EQ(pthread_create(&threads[i], NULL, fault_and_stay, NULL), 0);
  for (int i = 0; i < BUSY; i++)
    while (sem_wait(&is_asked) != 0) continue;
}

static void *let_go_soon(void *arg) {
  usleep(30000);
  for (int i = 0; i < BUSY; i++) sem_post(&may_return);
  return arg;
}

static void fault_while_others_stay(void *arg) {
  keep_busy();
  fault_without_memory(arg);
}

TEST("a fault for whose report there is no memory ends the process, even if it is to go on, and says so in a line") {
  if (!has_limits()) return;
  child_result run = harness_run_child(fault_while_others_stay, NULL, "log");
  CHECK_EQ(run.signal, SIGABRT);
  CHECK_EQ((const char *)run.errors, "KVO: there is no memory for a report\n");
}

static void fault_until_others_go(void *arg) {
  pthread_t helper;
  keep_busy();
  CHECK_EQ(pthread_create(&helper, NULL, let_go_soon, arg), 0);
  fault_without_memory(arg);
  pthread_join(helper, NULL);
  for (int i = 0; i < BUSY; i++) pthread_join(threads[i], NULL);
}

TEST("without memory a report waits for those of other threads") {
  if (!has_limits()) return;
  child_result run = harness_run_child(fault_until_others_go, NULL, "log");
  check_report(&run);
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
static void cause_in_handler(int number) {
  (void)number;
  caused->cause();
}

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
  (void)arg;
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

/* Prints how much of a painted stack a misuse overwrites. */
static void print_used_stack(void *arg) {
  enum { SIZE = 1 << 16, PAINT = 0x5a };
  int errors = dup(STDERR_FILENO), nowhere = open("/dev/null", O_WRONLY);
  dup2(nowhere, STDERR_FILENO);
  const unsigned char *stack = cause_on_stack(SIZE, arg, PAINT);
  size_t untouched = 0;
  while (untouched < SIZE && stack[untouched] == PAINT) untouched++;
  dprintf(errors, "%zu", SIZE - untouched);
}

TEST("a report takes less than 3 KiB of the stack of the thread that makes it") {
  if (!stacks_are_small()) return;
  static const misuse nothing = {prepare, ""};
  int needed = atoi(harness_run_child(print_used_stack, (void *)(uintptr_t)&nothing, "log").errors);
  CHECK(needed > 0);
  for (size_t i = 0; i < MISUSES; i++) {
    int used = atoi(harness_run_child(print_used_stack, (void *)(uintptr_t)&misuses[i], "log").errors);
    if (used > needed + 3072)
      harness_fail(__FILE__, __LINE__, "misuse %zu takes %d bytes, a registration %d", i, used, needed);
  }
}

static int open_files(void) {
  int count = 0;
  for (int fd = 0; fd < 256; fd++) count += fcntl(fd, F_GETFD) >= 0;
  return count;
}

static void count_files(void *arg) {
  fault_once(arg); /* opens the file of the reports */
  close(STDIN_FILENO);
  int before = open_files();
  for (size_t i = 0; i < MISUSES; i++) {
    prepare();
    misuses[i].cause();
  }
  if (open_files() == before) fputs("all closed\n", stderr);
}

TEST("a report leaves no file open, also where a file has the number 0") {
  CHECK_EQ((const char *)run_with("KVO_REPORT_PATH", "/dev/null", count_files, "log").errors, "all closed\n");
}

/* ---------------------------------------------------------------------------------------------------- Threads and forks -- */

static kvo_action fault_deeper(const kvo_fault *fault, void *arg) {
  (void)fault, (void)arg;
  for (int i = 0; i < 3; i++) never_was();
  return KVO_ACTION_IGNORE;
}

static void *fault_within_handler(void *arg) {
  for (int i = 0; i < 200; i++) never_was();
  return arg;
}

static void fault_on_many_threads(void *arg) {
  kvo_set_fault_handler(fault_deeper, NULL);
  for (int i = 0; i < BUSY; i++) pthread_create(&threads[i], NULL, fault_within_handler, arg);
  for (int i = 0; i < BUSY; i++) pthread_join(threads[i], NULL);
  fputs("went on\n", stderr);
}

TEST("more threads than there are report stacks fault at the same time, and in fault handlers") {
  child_result run = harness_run_child(fault_on_many_threads, NULL, "ignore");
  CHECK_EQ((const char *)run.errors, "went on\n");
}

static _Atomic bool is_over;
static void *fault_all_the_time(void *arg) {
  while (!is_over) never_was();
  return arg;
}

static void fork_while_others_fault(void *arg) {
  for (int i = 0; i < 3; i++) pthread_create(&threads[i], NULL, fault_all_the_time, arg);
  for (int i = 0; i < 400; i++) {
    pid_t child = fork();
    if (child == 0) {
      alarm(20); /* SIGALRM ends it */
      double begun = seconds();
      never_was();
      _exit(seconds() - begun > 0.4); /* it would be waiting for a thread that does not exist */
    }
    int status;
    waitpid(child, &status, 0);
    if (WIFSIGNALED(status)) harness_fail(__FILE__, __LINE__, "child %d ended by signal %d", i, WTERMSIG(status));
    if (!harness_is_instrumented()) CHECK_EQ(WEXITSTATUS(status), 0);
  }
  is_over = true;
  for (int i = 0; i < 3; i++) pthread_join(threads[i], NULL);
  fputs("all came back", stderr);
}

TEST("a child that is forked while other threads fault makes its report without delay") {
  harness_skip_if_emulated("a fork while other threads run may block qemu-user");
  CHECK_CONTAINS(run_with("KVO_REPORT_PATH", "/dev/null", fork_while_others_fault, "log").errors, "all came back");
}

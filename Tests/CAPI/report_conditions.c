/* report_conditions.c - reports are whole in difficult conditions: on small stacks, in the child of a fork, in a signal handler that
 * interrupted another report, on a full disk, without a reader. */
#include "fixture.h"
#include <kvo/kvo_binding.h>

#include <fcntl.h>
#include <limits.h>
#include <pthread.h>
#include <setjmp.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

/* ------------------------------------------------------------------------------------------------------ Small stacks -- */

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
                                 {malformed, "KVO0010 fatal: "},           {die_observed, "KVO0001 fatal: "},
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

static bool stacks_are_small(void) { return sysconf(_SC_MINSIGSTKSZ) <= 4096 && !harness_is_instrumented(); }

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
    CHECK_EQ(run.signal, i == 3 ? 0 : SIGABRT); /* a general policy of abort does not apply to an error */
  }
}

static void *cause_on_thread(void *arg) {
  const misuse *of = arg;
  of->cause();
  return NULL;
}

static void on_small_thread(void *arg) {
  prepare();
  pthread_attr_t attributes;
  pthread_attr_init(&attributes);
  CHECK_EQ(pthread_attr_setstacksize(&attributes, PTHREAD_STACK_MIN), 0);
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

static jmp_buf way_out;
static kvo_action leave(const kvo_fault *fault, void *arg) {
  (void)fault, (void)arg;
  longjmp(way_out, 1);
}

TEST("a fault handler left with longjmp ten thousand times leaks no memory") {
  if (harness_is_instrumented()) return; /* AddressSanitizer's frames are not freed */
  kvo_set_fault_handler(leave, NULL);
  struct rusage before, after;
  for (volatile int i = 0; i < 10000; i++) {
    if (i == 100) getrusage(RUSAGE_SELF, &before);
    if (setjmp(way_out) == 0) never_was();
  }
  getrusage(RUSAGE_SELF, &after);
  CHECK(after.ru_maxrss - before.ru_maxrss < 1024); /* KiB */
  kvo_set_fault_handler(NULL, NULL);
}

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
  pthread_t threads[16];
  for (int i = 0; i < 16; i++) pthread_create(&threads[i], NULL, fault_within_handler, arg);
  for (int i = 0; i < 16; i++) pthread_join(threads[i], NULL);
  fputs("went on\n", stderr);
}

TEST("more threads than there are report stacks fault at the same time, and in fault handlers") {
  child_result run = harness_run_child(fault_on_many_threads, NULL, "ignore");
  CHECK_EQ((const char *)run.errors, "went on\n");
}

static pthread_barrier_t in_handlers;

static kvo_action meet_in_handler(const kvo_fault *fault, void *arg) {
  (void)fault, (void)arg;
  pthread_barrier_wait(&in_handlers);
  return KVO_ACTION_IGNORE;
}

static void *fault_and_meet(void *arg) {
  never_was();
  return arg;
}

static long mapped_pages(void) {
  long pages = 0;
  FILE *file = fopen("/proc/self/statm", "r");
  CHECK(file != NULL && fscanf(file, "%ld", &pages) == 1);
  fclose(file);
  return pages;
}

TEST("the memory of reports that were made at the same time is given back") {
  if (harness_is_instrumented()) return;
  enum { AT_ONCE = 32 };
  kvo_set_fault_handler(meet_in_handler, NULL);
  pthread_barrier_init(&in_handlers, NULL, AT_ONCE);
  long least = LONG_MAX;
  for (int round = 0; round < 10; round++) {
    long before = mapped_pages();
    pthread_t threads[AT_ONCE];
    for (int i = 0; i < AT_ONCE; i++) pthread_create(&threads[i], NULL, fault_and_meet, NULL);
    for (int i = 0; i < AT_ONCE; i++) pthread_join(threads[i], NULL);
    long grown = mapped_pages() - before;
    if (grown < least) least = grown;
  }
  CHECK(least <= 0); /* in some rounds the C library maps stacks */
}

/* ------------------------------------------------------------------------------------------------------------- Turns -- */

static void *report_often(void *arg) {
  for (int i = 0; i < 100; i++) never_was();
  return arg;
}

static void report_after_others(void *arg) {
  pthread_t threads[4];
  struct rusage before, after;
  for (int i = 0; i < 4; i++) pthread_create(&threads[i], NULL, report_often, arg);
  for (int i = 0; i < 4; i++) pthread_join(threads[i], NULL);
  getrusage(RUSAGE_THREAD, &before);
  for (int i = 0; i < 100; i++) never_was();
  getrusage(RUSAGE_THREAD, &after);
  fprintf(stderr, after.ru_nvcsw - before.ru_nvcsw < 50 ? "went on" : "waited");
}

TEST("threads wait for each other's reports, and a thread that reports alone does not wait") {
  setenv("KVO_REPORT_PATH", "/dev/null", 1);
  child_result run = harness_run_child(report_after_others, NULL, "log");
  CHECK_EQ((const char *)run.errors, "went on");
}

/* ------------------------------------------------------------------------------------------------------------- Forks -- */

static _Atomic bool over;
static void *fault_all_the_time(void *arg) {
  char text[4096];
  while (!over) {
    never_was();
    kvo_call_format((void *)(uintptr_t)never_was, text, sizeof text);
  }
  return arg;
}

static void fork_while_others_fault(void *arg) {
  pthread_t threads[3];
  for (int i = 0; i < 3; i++) pthread_create(&threads[i], NULL, fault_all_the_time, arg);
  for (int i = 0; i < 400; i++) {
    pid_t child = fork();
    if (child == 0) {
      struct timespec begun, ended;
      alarm(20); /* SIGALRM ends it */
      clock_gettime(CLOCK_MONOTONIC, &begun);
      never_was();
      kvo_call_format((void *)(uintptr_t)never_was, formatted, sizeof formatted);
      clock_gettime(CLOCK_MONOTONIC, &ended);
      double seconds = (double)(ended.tv_sec - begun.tv_sec) + (double)(ended.tv_nsec - begun.tv_nsec) / 1e9;
      _exit(seconds > 0.4); /* it would be waiting for a thread that does not exist */
    }
    int status;
    waitpid(child, &status, 0);
    if (WIFSIGNALED(status)) harness_fail(__FILE__, __LINE__, "child %d ended by signal %d", i, WTERMSIG(status));
    if (!harness_is_instrumented()) CHECK_EQ(WEXITSTATUS(status), 0);
  }
  over = true;
  for (int i = 0; i < 3; i++) pthread_join(threads[i], NULL);
  fputs("all came back", stderr);
}

TEST("a child that is forked while other threads fault makes its report without delay") {
  setenv("KVO_REPORT_PATH", "/dev/null", 1);
  CHECK_CONTAINS(harness_run_child(fork_while_others_fault, NULL, "log").errors, "all came back");
}

/* ----------------------------------------------------------------------------------------------------- Interruptions -- */

static const void *a_call;
static void format_again(int number) {
  char text[1024];
  (void)number;
  kvo_call_format(a_call, text, sizeof text);
}

static void interrupt_often(void *arg) {
  (void)arg;
  a_call = (const char *)(uintptr_t)never_was + 1;
  signal(SIGPROF, format_again);
  struct sigevent event = {.sigev_notify = SIGEV_SIGNAL, .sigev_signo = SIGPROF};
  timer_t timer;
  struct itimerspec often = {{0, 1000000}, {0, 1000000}};
  timer_create(CLOCK_MONOTONIC, &event, &timer);
  timer_settime(timer, 0, &often, NULL);
  for (int i = 0; i < 1000; i++) never_was();
  often = (struct itimerspec){{0, 0}, {0, 0}};
  timer_settime(timer, 0, &often, NULL);
  fputs("came through", stderr);
}

TEST("a signal handler that has interrupted a report formats a call, and neither waits for the other") {
  setenv("KVO_REPORT_PATH", "/dev/null", 1);
  CHECK_CONTAINS(harness_run_child(interrupt_often, NULL, "log").errors, "came through");
}

/* --------------------------------------------------------------------------------------------------- Nowhere to write -- */

static void fault_once(void *arg) {
  (void)arg;
  never_was();
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

TEST("a report that its file cannot hold goes to standard error, whole, and this is reported") {
  if (access("/dev/full", W_OK) != 0) return;
  setenv("KVO_REPORT_PATH", "/dev/full", 1);
  child_result run = harness_run_child(fault_once, NULL, NULL);
  CHECK_EQ(run.signal, SIGABRT);
  CHECK_EQ(strncmp(run.errors, "KVO0034 warning: KVO_REPORT_PATH: \"/dev/full\" cannot be written to", 60), 0);
  CHECK_CONTAINS(run.errors, "\nKVO0008 fatal: ");
  CHECK_CONTAINS(run.errors, "\n  more: ");
}

/* The kernel sends SIGXFSZ, which would end the process. */
static void fault_with_small_files(void *arg) {
  struct rlimit small = {100, 100};
  setrlimit(RLIMIT_FSIZE, &small);
  int ends[2], written = dup(STDERR_FILENO);
  char line[64] = "";
  CHECK_EQ(pipe(ends), 0);
  dup2(ends[1], STDERR_FILENO); /* standard error is a file here */
  fault_once(arg);
  small.rlim_cur = small.rlim_max;
  CHECK(read(ends[0], line, sizeof line - 1) > 0);
  CHECK(write(written, line, strlen(line)) > 0);
}

TEST("the same holds if the file has reached its size limit") {
  char path[64];
  snprintf(path, sizeof path, "kvo-small-%ld.txt", (long)getpid());
  setenv("KVO_REPORT_PATH", path, 1);
  child_result run = harness_run_child(fault_with_small_files, NULL, "log");
  unlink(path);
  CHECK_EQ(run.signal, 0);
  CHECK_CONTAINS(run.errors, "KVO0034 warning: KVO_REPORT_PATH");
}

TEST("a FIFO without a reader does not block the process") {
  char path[64];
  snprintf(path, sizeof path, "kvo-pipe-%ld", (long)getpid());
  CHECK_EQ(mkfifo(path, 0600), 0);
  setenv("KVO_REPORT_PATH", path, 1);
  child_result run = harness_run_child(fault_once, NULL, NULL);
  unlink(path);
  CHECK_EQ(run.signal, SIGABRT);
  CHECK_CONTAINS(run.errors, "\nKVO0008 fatal: ");
}

static void fault_into_broken_pipe(void *arg) {
  int ends[2];
  CHECK_EQ(pipe(ends), 0);
  close(ends[0]);
  int errors = dup(STDERR_FILENO);
  dup2(ends[1], STDERR_FILENO);
  fault_once(arg);
  sigset_t pending;
  sigpending(&pending);
  CHECK(!sigismember(&pending, SIGPIPE));
  dprintf(errors, "went on\n");
}

TEST("if standard error is a broken pipe the process ends with SIGABRT or goes on, and no SIGPIPE arrives") {
  CHECK_EQ(harness_run_child(fault_into_broken_pipe, NULL, NULL).signal, SIGABRT);
  child_result run = harness_run_child(fault_into_broken_pipe, NULL, "log");
  CHECK_EQ(run.signal, 0);
  CHECK_EQ((const char *)run.errors, "went on\n");
}

static void keep_pending_signal(void *arg) {
  sigset_t pipe_signal, pending;
  sigemptyset(&pipe_signal);
  sigaddset(&pipe_signal, SIGPIPE);
  sigprocmask(SIG_BLOCK, &pipe_signal, NULL);
  raise(SIGPIPE);
  fault_once(arg);
  sigpending(&pending);
  if (sigismember(&pending, SIGPIPE)) fputs("still pending\n", stderr);
}

TEST("a SIGPIPE that the program had pending stays pending") {
  CHECK_CONTAINS(harness_run_child(keep_pending_signal, NULL, "log").errors, "still pending\n");
}

/* A non-blocking pipe that is full for a moment. */
static void *read_later(void *arg) {
  int *ends = arg;
  static char bytes[1 << 20];
  usleep(100000);
  size_t total = 0;
  for (ssize_t got; (got = read(ends[0], bytes, sizeof bytes)) > 0;) total += (size_t)got;
  CHECK(total > 1 << 16);
  return NULL;
}

static void fault_into_full_pipe(void *arg) {
  int ends[2];
  char filling[4096] = "";
  CHECK_EQ(pipe(ends), 0);
  fcntl(ends[1], F_SETFL, O_NONBLOCK);
  while (write(ends[1], filling, sizeof filling) > 0) continue;
  pthread_t reader;
  pthread_create(&reader, NULL, read_later, ends);
  int errors = dup(STDERR_FILENO);
  dup2(ends[1], STDERR_FILENO);
  fault_once(arg);
  dup2(errors, STDERR_FILENO);
  close(ends[1]);
  pthread_join(reader, NULL);
  fputs("all was read\n", stderr);
}

TEST("a non-blocking pipe that is full for a moment gets the whole report") {
  CHECK_EQ((const char *)harness_run_child(fault_into_full_pipe, NULL, "log").errors, "all was read\n");
}

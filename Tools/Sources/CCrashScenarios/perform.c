/* perform.c - runs a scenario in this process, to its end or with a handler that ignores faults, and prints its members. */
#define _GNU_SOURCE
#include "include/CCrashScenarios.h"

#include <malloc.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <unistd.h>

/* ------------------------------------------------------------------------------------------------------------- Checks -- */

enum { FAILED_CHECK = 70 };

static char failed_check[300];
static atomic_flag has_failed_check = ATOMIC_FLAG_INIT;

void kvo_crash_check(bool holds, const char *what, const char *file, uint32_t line) {
  if (holds || atomic_flag_test_and_set(&has_failed_check)) return;
  snprintf(failed_check, sizeof failed_check, "%s:%u: it does not hold that %s\n", file, (unsigned)line, what);
}

/* Only glibc says. */
size_t kvo_crash_memory_in_use(void) {
#ifdef __GLIBC__
  return mallinfo2().uordblks;
#else
  return 0;
#endif
}

void kvo_crash_perform(const kvo_crash_scenario *scenario) {
  const struct rlimit none = {0, 0};
  setrlimit(RLIMIT_CORE, &none);
  scenario->run();
  if (failed_check[0] != '\0') {
    (void)!write(STDERR_FILENO, failed_check, strlen(failed_check));
    _exit(FAILED_CHECK);
  }
  exit(0);
}

/* ------------------------------------------------------------------------------------------------------------ Threads -- */

typedef struct crew {
  void (*body)(size_t index, void *arg);
  void *arg, *handler_arg;
  kvo_fault_handler handler;
  pthread_barrier_t start;
} crew;

typedef struct member {
  crew *of;
  size_t index;
  pthread_t thread;
} member;

static void *work(void *arg) {
  const member *self = arg;
  crew *of = self->of;
  kvo_set_thread_fault_handler(of->handler, of->handler_arg);
  pthread_barrier_wait(&of->start);
  of->body(self->index, of->arg);
  return NULL;
}

void kvo_crash_in_threads(size_t count, void (*body)(size_t index, void *arg), void *arg) {
  crew all = {.body = body, .arg = arg};
  all.handler = kvo_get_thread_fault_handler(&all.handler_arg);
  pthread_barrier_init(&all.start, NULL, (unsigned)count);
  member *members = calloc(count, sizeof *members);
  if (members == NULL) abort();
  for (size_t i = 0; i < count; i++) {
    members[i] = (member){.of = &all, .index = i};
    if (pthread_create(&members[i].thread, NULL, work, &members[i]) != 0) abort();
  }
  for (size_t i = 0; i < count; i++) pthread_join(members[i].thread, NULL);
  free(members);
  pthread_barrier_destroy(&all.start);
}

/* ---------------------------------------------------------------------------------------------------------- Recording -- */

static kvo_action record(const kvo_fault *fault, void *arg) {
  (void)arg;
  /* Only handlers receive an info; by default it is not reported. */
  if (fault->severity != KVO_SEVERITY_INFO) printf(" %d", (int)fault->code);
  return KVO_ACTION_IGNORE;
}

void kvo_crash_record(const kvo_crash_scenario *scenario) {
  if (scenario->environment != NULL || (scenario->flags & KVO_CRASH_ALONE) != 0) return;
  void *outer_arg;
  kvo_fault_handler outer = kvo_get_thread_fault_handler(&outer_arg);
  printf("%s:", scenario->id);
  kvo_set_thread_fault_handler(record, NULL);
  scenario->run();
  kvo_set_thread_fault_handler(outer, outer_arg);
  printf("\n%s", failed_check);
  fflush(stdout);
  failed_check[0] = '\0';
  atomic_flag_clear(&has_failed_check);
}

/* ----------------------------------------------------------------------------------------------------------- Printing -- */

static void print_member(const char *name, const char *value) {
  printf("\"%s\":\"", name);
  for (; value != NULL && *value != '\0'; value++) printf(*value == '"' || *value == '\\' ? "\\%c" : "%c", *value);
  printf("\",");
}

void kvo_crash_print(const kvo_crash_scenario *scenario) {
  printf("{");
  print_member("id", scenario->id);
  print_member("file", scenario->file);
  print_member("codes", scenario->codes);
  print_member("environment", scenario->environment);
  print_member("contains", scenario->contains);
  print_member("lacks", scenario->lacks);
  printf("\"ending\":%d,\"flags\":%u}\n", (int)scenario->ending, (unsigned)scenario->flags);
}

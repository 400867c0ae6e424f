/* faults_threads.c - faults of several threads at the same time. */
#include "fixture.h"

#include <pthread.h>
#include <stdio.h>
#include <string.h>

enum { THREADS = 6, ROUNDS = 300 };

static _Thread_local char expected[32];
static _Thread_local int reported;

static kvo_action check_own(const kvo_fault *fault, void *arg) {
  (void)arg;
  static _Thread_local char report[8192];
  CHECK_CONTAINS(fault->summary, (const char *)expected);
  kvo_fault_format(fault, KVO_REPORT_TEXT, report, sizeof report);
  CHECK_CONTAINS((const char *)report, (const char *)expected);
  reported++;
  return KVO_ACTION_IGNORE;
}

static void *fault_often(void *arg) {
  kvo_observation never = 0x5eed00 + (uintptr_t)arg;
  snprintf(expected, sizeof expected, "0x%llx", (unsigned long long)never);
  for (int i = 0; i < ROUNDS; i++) kvo_remove_observer(never);
  CHECK_EQ(reported, ROUNDS);
  return NULL;
}

TEST("each of several threads that fault at the same time gets its own report, whole") {
  kvo_set_fault_handler(check_own, NULL);
  pthread_t threads[THREADS];
  for (uintptr_t i = 0; i < THREADS; i++) CHECK_EQ(pthread_create(&threads[i], NULL, fault_often, (void *)i), 0);
  for (int i = 0; i < THREADS; i++) pthread_join(threads[i], NULL);
  kvo_set_fault_handler(NULL, NULL);
}

/* random.h - what a stress program of one file has: its round, random numbers for each thread, and a failure that says how to repeat it. */
#ifndef KVO_STRESS_RANDOM_H
#define KVO_STRESS_RANDOM_H

#include <kvo/kvo.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

static unsigned long long seed;
static long current;
static _Thread_local uint64_t random_state;

static uint32_t any(uint32_t below) {
  random_state = random_state * UINT64_C(6364136223846793005) + UINT64_C(1442695040888963407);
  return (uint32_t)(random_state >> 33) % below;
}

static _Noreturn void fail(const char *format, ...) {
  va_list arguments;
  va_start(arguments, format);
  vfprintf(stderr, format, arguments);
  fprintf(stderr, "\nround %ld failed; repeat it with --seed %llu --round %ld\n", current, seed, current);
  va_end(arguments);
  abort();
}

static kvo_action faulted(const kvo_fault *fault, void *arg) {
  (void)arg;
  fail("%s", fault->summary);
}

/* Runs rounds for --seconds; --seed gives the same ones again, --round only one of them. Returns the status of the program. */
static int run_rounds(const char *name, void (*run_round)(void), int argc, char **argv) {
  double limit = 30;
  long only = -1, rounds = 0;
  seed = (unsigned long long)time(NULL);
  for (int i = 1; i + 1 < argc; i += 2) {
    if (strcmp(argv[i], "--seconds") == 0) limit = atof(argv[i + 1]);
    if (strcmp(argv[i], "--seed") == 0) seed = strtoull(argv[i + 1], NULL, 10);
    if (strcmp(argv[i], "--round") == 0) only = atol(argv[i + 1]);
  }
  printf("%s: seed %llu, %g s\n", name, seed, limit);
  fflush(stdout);
  kvo_set_fault_handler(faulted, NULL);
  for (time_t end = time(NULL) + (time_t)limit; time(NULL) <= end; rounds++) {
    current = only >= 0 ? only : rounds;
    run_round();
  }
  printf("%s: seed %llu: %ld rounds passed\n", name, seed, rounds);
  return 0;
}

#endif

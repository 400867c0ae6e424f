/* random.h - what a stress program of one file has: its round, random numbers for each thread, and a failure that says how to repeat it. */
#ifndef KVO_STRESS_RANDOM_H
#define KVO_STRESS_RANDOM_H

#include <kvo/kvo.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>

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

#endif

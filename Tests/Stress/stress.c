/* stress.c - rounds of concurrent random operations by several threads, checked against a model after each round.
 *
 *     stress --seconds 30 [--seed N] [--round N]
 *
 * The random choices follow from the seed and the round; the interleaving of threads does not. --round repeats one round. */
#include "round.h"

#include <pthread.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

/* A round takes milliseconds, but may take seconds on a busy machine. */
enum { ROUND_SECONDS = 120 };

static unsigned long long seed;
static long current;

void fail(const char *format, ...) {
  va_list arguments;
  va_start(arguments, format);
  flockfile(stderr);
  fprintf(stderr, "stress: ");
  vfprintf(stderr, format, arguments);
  fprintf(stderr, "\nstress: round %ld failed; repeat it with --seed %llu --round %ld\n", current, seed, current);
  va_end(arguments);
  abort();
}

/* The faults that the threads cause on purpose, each at a known place and not more often; any other fault is an error. */
static bool is_expected(const kvo_fault *fault) {
  switch (fault->code) {
    case KVO_FAULT_ENDLESS_WAIT: return me.unwaited = true;
    case KVO_FAULT_NEVER_NOTIFIES: /* the key has no setter: it is announced by hand */
      return strstr(fault->summary, " of \"quiet\" of ") != NULL;
    case KVO_FAULT_UNFINISHED_CHANGE: { /* reported when the thread that left it open ends */
      bool left_open = me.left_open;
      me.left_open = false;
      return left_open;
    }
    default: return false;
  }
}

static kvo_action faulted(const kvo_fault *fault, void *arg) {
  if (!is_expected(fault)) fail("%s", fault->summary);
  if (fault->code == KVO_FAULT_UNFINISHED_CHANGE) atomic_fetch_sub(&here.left_open, 1);
  return KVO_ACTION_IGNORE;
}

/* -------------------------------------------------------------------------------------------------------------- Rounds -- */

static pthread_barrier_t together;

static uint64_t seed_of(int thread) {
  return seed * UINT64_C(0x100000001b3) + (uint64_t)current * THREADS * 2 + (uint64_t)thread;
}

static void *run(void *arg) {
  int number = (int)(intptr_t)arg;
  pthread_barrier_wait(&together);
  act(number, seed_of(number));
  return NULL;
}

static void run_round(void) {
  pthread_t threads[THREADS];
  alarm(ROUND_SECONDS); /* a hang ends the process, which has printed the round's number */
  round_begin(seed_of(0));
  pthread_barrier_init(&together, NULL, (unsigned)here.threads);
  for (int i = 0; i < here.threads; i++)
    if (pthread_create(&threads[i], NULL, run, (void *)(intptr_t)(i + 1)) != 0) fail("no thread");
  for (int i = 0; i < here.threads; i++) pthread_join(threads[i], NULL);
  pthread_barrier_destroy(&together);
  if (here.left_open != 0) fail("%d changes that threads left open were not reported", here.left_open);
  round_check();
  round_end();
}

static double seconds(void) {
  struct timespec now;
  clock_gettime(CLOCK_MONOTONIC, &now);
  return (double)now.tv_sec + (double)now.tv_nsec / 1e9;
}

int main(int argc, char **argv) {
  double limit = 30;
  long only = -1, rounds = 0;
  seed = (unsigned long long)time(NULL) * 1000 + (unsigned long long)getpid() % 1000;
  for (int i = 1; i + 1 < argc; i += 2) {
    if (strcmp(argv[i], "--seconds") == 0) limit = atof(argv[i + 1]);
    if (strcmp(argv[i], "--seed") == 0) seed = strtoull(argv[i + 1], NULL, 10);
    if (strcmp(argv[i], "--round") == 0) only = atol(argv[i + 1]);
  }
  printf("stress: seed %llu, %g s\n", seed, limit);
  fflush(stdout);
  kvo_set_fault_handler(faulted, NULL);
  for (double end = seconds() + limit; seconds() < end; rounds++) {
    current = only >= 0 ? only : rounds;
    run_round();
  }
  printf("stress: seed %llu: %ld rounds passed\n", seed, rounds);
  return 0;
}

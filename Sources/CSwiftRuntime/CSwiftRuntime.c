#define _GNU_SOURCE
#include "CSwiftRuntime.h"

#include <sched.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

bool kvo_is_main_thread(void) {
  static _Thread_local signed char known; /* 0 until the first call: two system calls are slow */
  if (known == 0) known = syscall(SYS_gettid) == getpid() ? 1 : -1;
  return known > 0;
}

uint32_t kvo_kernel_thread(void) { return (uint32_t)syscall(SYS_gettid); }

uint64_t kvo_unsettled;
_Thread_local uint64_t kvo_unsettled_here;

_Thread_local unsigned kvo_transfer_depth;
static _Thread_local kvo_transfer *innermost;

kvo_transfer *kvo_innermost_transfer(void) { return innermost; }
void kvo_set_innermost_transfer(kvo_transfer *transfer) { innermost = transfer; }

static unsigned calls_settling; /* of all threads */
static _Thread_local unsigned settling_depth;

void kvo_settling_begin(void) {
  settling_depth++;
  __atomic_add_fetch(&calls_settling, 1, __ATOMIC_RELAXED);
}

void kvo_settling_end(void) {
  settling_depth--;
  __atomic_sub_fetch(&calls_settling, 1, __ATOMIC_RELAXED);
}

bool kvo_is_settling(void) { return settling_depth != 0; }

static uint64_t now(void) {
  struct timespec time;
  clock_gettime(CLOCK_MONOTONIC, &time);
  return (uint64_t)time.tv_sec * 1000000000 + (uint64_t)time.tv_nsec;
}

void kvo_settling_wait(uint32_t round) {
  enum { WITHOUT = 4, MOST_DOUBLINGS = 8 };
  static _Thread_local uint64_t random;
  if (round <= WITHOUT || __atomic_load_n(&calls_settling, __ATOMIC_RELAXED) == settling_depth) return;
  random = (random + kvo_this_thread()) * 6364136223846793005u + 1442695040888963407u;
  uint32_t doublings = round - WITHOUT < MOST_DOUBLINGS ? round - WITHOUT : MOST_DOUBLINGS;
  uint64_t end = now() + (random >> (64 - doublings)) * 1000;
  while (now() < end) sched_yield(); /* to sleep would be a cancellation point */
}

static _Thread_local kvo_recorded *innermost_recorded;

bool kvo_recorded_begin(kvo_recorded *recorded) {
  for (const kvo_recorded *each = innermost_recorded; each != NULL; each = each->outer)
    if (each->evaluation == recorded->evaluation && each->object == recorded->object && each->key == recorded->key)
      return false;
  recorded->outer = innermost_recorded;
  innermost_recorded = recorded;
  return true;
}

void kvo_recorded_end(const kvo_recorded *recorded) { innermost_recorded = recorded->outer; }

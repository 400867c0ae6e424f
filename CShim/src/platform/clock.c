/* clock.c - the monotonic clock, for ages in reports and traces. */
#define _GNU_SOURCE
#include "platform/platform.h"

#include <time.h>

int64_t kvo__now(void) {
  struct timespec now;
  clock_gettime(CLOCK_MONOTONIC, &now);
  return (int64_t)now.tv_sec * 1000000000 + now.tv_nsec;
}

int64_t kvo__coarse_now(void) {
  struct timespec now;
  clock_gettime(CLOCK_MONOTONIC_COARSE, &now);
  return (int64_t)now.tv_sec * 1000000000 + now.tv_nsec;
}

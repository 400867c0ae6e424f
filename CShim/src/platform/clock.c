/* clock.c - the monotonic clock, for ages in reports and traces, and waiting. */
#define _GNU_SOURCE
#include "platform/platform.h"

#include <errno.h>
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

void kvo__sleep(uint32_t milliseconds) {
  int cancellation = kvo__cancel_hold(), before = errno;
  struct timespec time = {milliseconds / 1000, milliseconds % 1000 * 1000000};
  while (nanosleep(&time, &time) != 0 && errno == EINTR) continue;
  errno = before;
  kvo__cancel_resume(cancellation);
}

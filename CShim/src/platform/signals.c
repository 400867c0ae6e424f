/* signals.c - holds back the signals that a write may raise. */
#define _GNU_SOURCE
#include "platform/signals.h"

#include <errno.h>
#include <pthread.h>
#include <time.h>

static const int raised_by_writes[] = {SIGPIPE, SIGXFSZ};
enum { COUNT = sizeof raised_by_writes / sizeof *raised_by_writes };

void kvo__signals_hold(kvo_held_signals *on) {
  sigset_t held;
  sigemptyset(&held);
  for (size_t i = 0; i < COUNT; i++) sigaddset(&held, raised_by_writes[i]);
  sigemptyset(&on->pending);
  sigpending(&on->pending);
  pthread_sigmask(SIG_BLOCK, &held, &on->before);
}

void kvo__signals_release(kvo_held_signals *on) {
  const struct timespec now = {0, 0};
  int error = errno;
  for (size_t i = 0; i < COUNT; i++) {
    if (sigismember(&on->pending, raised_by_writes[i])) continue;
    sigset_t one;
    sigemptyset(&one);
    sigaddset(&one, raised_by_writes[i]);
    while (sigtimedwait(&one, NULL, &now) < 0 && errno == EINTR) continue;
  }
  pthread_sigmask(SIG_SETMASK, &on->before, NULL);
  errno = error;
}

/* lock.c - the runtime's small lock, on a futex. */
#define _GNU_SOURCE
#include "threads/threads.h"

#include <linux/futex.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

_Thread_local struct kvo_own kvo__own KVO_TLS_MODEL;

uint32_t kvo__thread_number(void) {
  const kvo_thread *self = kvo__own.thread;
  return self != NULL ? self->number : (uint32_t)syscall(SYS_gettid);
}

void kvo__futex_wait(_Atomic uint32_t *word, uint32_t expected) {
  syscall(SYS_futex, word, FUTEX_WAIT_PRIVATE, expected, NULL, NULL, 0);
}

void kvo__futex_wait_for(_Atomic uint32_t *word, uint32_t expected, uint32_t milliseconds) {
  struct timespec limit = {milliseconds / 1000, (long)(milliseconds % 1000) * 1000000};
  syscall(SYS_futex, word, FUTEX_WAIT_PRIVATE, expected, &limit, NULL, 0);
}

void kvo__futex_wake_all(_Atomic uint32_t *word) {
  syscall(SYS_futex, word, FUTEX_WAKE_PRIVATE, INT32_MAX, NULL, NULL, 0);
}

void kvo__acquire_slowly(kvo_lock *lock) {
  uint32_t own = kvo__thread_number();
  /* The sections are a few dozen instructions: spin a little before sleeping. */
  for (int spins = 0; spins < 100; spins++) {
    if (kvo__take(lock, own)) return;
#if defined(__x86_64__) || defined(__i386__)
    __builtin_ia32_pause();
#endif
  }
  while (!kvo__take(lock, own | KVO_LOCK_AWAITED)) { /* another thread may still be waiting */
    uint32_t held = atomic_load_explicit(&lock->state, memory_order_relaxed);
    if ((held & ~KVO_LOCK_AWAITED) == own) KVO_MISUSE(interrupted, lock, false);
    if (held == 0 || !atomic_compare_exchange_strong_explicit(&lock->state, &held, held | KVO_LOCK_AWAITED,
                                                              memory_order_relaxed, memory_order_relaxed))
      continue;
    kvo__futex_wait(&lock->state, held | KVO_LOCK_AWAITED);
  }
}

void kvo__wake_one(kvo_lock *lock) {
  /* The next owner may already have freed this memory: the kernel then returns EFAULT, or wakes nobody. */
  syscall(SYS_futex, &lock->state, FUTEX_WAKE_PRIVATE, 1, NULL, NULL, 0);
}

void kvo__lock(kvo_lock *lock) {
  kvo__section_enter();
  kvo__acquire(lock);
}

void kvo__unlock(kvo_lock *lock) {
  kvo__release(lock);
  kvo__section_leave();
}

_Static_assert(sizeof(kvo_guard) == sizeof(kvo_lock), "a guard is a lock");

void kvo_guard_lock(kvo_guard *guard) {
  if (guard == NULL) return;
  kvo_lock *lock = (kvo_lock *)guard;
  kvo__section_enter();
  if (kvo__take(lock, kvo__thread_number())) return;
  if (kvo__holds(lock)) KVO_MISUSE(interrupted, lock, true);
  kvo__acquire_slowly(lock);
}

void kvo_guard_unlock(kvo_guard *guard) {
  if (guard != NULL) kvo__unlock((kvo_lock *)guard);
}

/* support.c - status texts, the version, memory, and the runtime's small lock. */
#define _GNU_SOURCE
#include "text/report.h"

#include <linux/futex.h>
#include <pthread.h>
#include <stdlib.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

uint32_t kvo_version(void) { return KVO_VERSION_NUMBER; }

const char *kvo_status_string(kvo_status status) {
  switch (status) {
#define KVO_STATUS_CASE(name, value, text)                                                                             \
  case name: return text;
    KVO_STATUS_MAP(KVO_STATUS_CASE)
#undef KVO_STATUS_CASE
  }
  return "unknown status";
}

/* ------------------------------------------------------------------------------------------------------------ Memory -- */

static void *default_allocate(size_t size, void *arg) {
  (void)arg;
  return malloc(size);
}

static void default_release(void *memory, void *arg) {
  (void)arg;
  free(memory);
}

/* Set once before anything else is called (see kvo_set_allocator), hence without a lock. */
static struct {
  void *(*allocate)(size_t size, void *arg);
  void (*release)(void *memory, void *arg);
  void *arg;
} allocator = {default_allocate, default_release, NULL};

void kvo_set_allocator(void *(*allocate)(size_t size, void *arg), void (*release)(void *memory, void *arg), void *arg) {
  bool custom = allocate != NULL && release != NULL;
  allocator.allocate = custom ? allocate : default_allocate;
  allocator.release = custom ? release : default_release;
  allocator.arg = custom ? arg : NULL;
}

void *kvo__alloc(size_t size) {
  void *memory = allocator.allocate(size, allocator.arg);
  if (memory != NULL) memset(memory, 0, size);
  return memory;
}

void kvo__free(void *memory) {
  if (memory != NULL) allocator.release(memory, allocator.arg);
}

char *kvo__copy_string(const char *string, size_t length) {
  char *copy = kvo__alloc(length + 1);
  if (copy != NULL) memcpy(copy, string, length);
  return copy;
}

/* -------------------------------------------------------------------------------------------------------------- Lock -- */

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

/* Somebody waits. On top of the owner's number, which is below it. */
#define KVO_LOCK_AWAITED (UINT32_C(1) << 31)

static bool take(kvo_lock *lock, uint32_t as) {
  uint32_t nobody = 0;
  return atomic_load_explicit(&lock->state, memory_order_relaxed) == 0 &&
         atomic_compare_exchange_strong_explicit(&lock->state, &nobody, as, memory_order_acquire, memory_order_relaxed);
}

void kvo__acquire(kvo_lock *lock) {
  uint32_t own = kvo__thread_number();
  /* The sections are a few dozen instructions: spin a little before sleeping. */
  for (int spins = 0; spins < 100; spins++) {
    if (take(lock, own)) return;
#if defined(__x86_64__) || defined(__i386__)
    __builtin_ia32_pause();
#endif
  }
  while (!take(lock, own | KVO_LOCK_AWAITED)) { /* others may wait, too */
    uint32_t held = atomic_load_explicit(&lock->state, memory_order_relaxed);
    if ((held & ~KVO_LOCK_AWAITED) == own) kvo__fault_interrupted();
    if (held == 0 || !atomic_compare_exchange_strong_explicit(&lock->state, &held, held | KVO_LOCK_AWAITED,
                                                              memory_order_relaxed, memory_order_relaxed))
      continue;
    kvo__futex_wait(&lock->state, held | KVO_LOCK_AWAITED);
  }
}

void kvo__release(kvo_lock *lock) {
  /* The wake may hit memory that the next owner has freed: the kernel then answers EFAULT or wakes nobody. */
  if ((atomic_exchange_explicit(&lock->state, 0, memory_order_release) & KVO_LOCK_AWAITED) != 0)
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

/* ------------------------------------------------------------------------------------------------------ Cancellation -- */

int kvo__cancel_hold(void) {
  int before = PTHREAD_CANCEL_ENABLE;
  pthread_setcancelstate(PTHREAD_CANCEL_DISABLE, &before);
  return before;
}

void kvo__cancel_resume(int before) { pthread_setcancelstate(before, NULL); }

void *kvo_thread_exchange(kvo_thread_slot slot, void *pointer) {
  static _Thread_local void *kept[KVO_THREAD_CODING + 1];
  if ((unsigned)slot >= sizeof kept / sizeof *kept) return NULL;
  void *before = kept[slot];
  kept[slot] = pointer;
  return before;
}

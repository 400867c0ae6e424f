/* support.c - status texts, the version, memory, and the runtime's small lock. */
#define _GNU_SOURCE
#include "internal.h"

#include <linux/futex.h>
#include <stdlib.h>
#include <sys/syscall.h>
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

void kvo__futex_wake_all(_Atomic uint32_t *word) {
  syscall(SYS_futex, word, FUTEX_WAKE_PRIVATE, INT32_MAX, NULL, NULL, 0);
}

void kvo__acquire(kvo_lock *lock) {
  uint32_t expected = 0;
  if (atomic_compare_exchange_strong_explicit(&lock->state, &expected, 1, memory_order_acquire, memory_order_relaxed))
    return;
  /* The sections are a few dozen instructions: spin a little before sleeping. */
  for (int spins = 0; spins < 100; spins++) {
    expected = 0;
    if (atomic_load_explicit(&lock->state, memory_order_relaxed) == 0 &&
        atomic_compare_exchange_weak_explicit(&lock->state, &expected, 1, memory_order_acquire, memory_order_relaxed))
      return;
#if defined(__x86_64__) || defined(__i386__)
    __builtin_ia32_pause();
#endif
  }
  while (atomic_exchange_explicit(&lock->state, 2, memory_order_acquire) != 0) kvo__futex_wait(&lock->state, 2);
}

void kvo__release(kvo_lock *lock) {
  /* The wake may hit memory that the next owner has freed: the kernel then answers EFAULT or wakes nobody. */
  if (atomic_exchange_explicit(&lock->state, 0, memory_order_release) == 2)
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

void *kvo_thread_exchange(void *pointer) {
  static _Thread_local void *kept;
  void *before = kept;
  kept = pointer;
  return before;
}

/* threads/lock.h - the runtime's lock, and waiting for a word to change, on futexes. */
#ifndef KVO_LOCK_H
#define KVO_LOCK_H

#include "hooks.h"

/** A mutex of 4 bytes on a futex. The word is 0 when free; otherwise it is the kernel's id of the owning thread, with KVO_LOCK_AWAITED set
 * if other threads may be waiting. The runtime never runs code of the program while it holds a lock, so a thread that tries to take a lock
 * that it already owns must be in a signal handler (KVO0017). */
struct kvo_lock {
  _Atomic uint32_t state;
};

/** Set in the lock word, above the owner's thread id, when another thread may be waiting. */
#define KVO_LOCK_AWAITED (UINT32_C(1) << 31)

KVO_HIDDEN void kvo__lock(kvo_lock *lock);
/** Releases the lock. Its last access to the lock's memory is the atomic operation that releases it, so the next owner may free that
 * memory. */
KVO_HIDDEN void kvo__unlock(kvo_lock *lock);
KVO_HIDDEN void kvo__futex_wait(_Atomic uint32_t *word, uint32_t expected);
KVO_HIDDEN void kvo__futex_wait_for(_Atomic uint32_t *word, uint32_t expected, uint32_t milliseconds);
KVO_HIDDEN void kvo__futex_wake_all(_Atomic uint32_t *word);

#endif /* KVO_LOCK_H */

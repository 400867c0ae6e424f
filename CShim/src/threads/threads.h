/* threads/threads.h - what a thread notes in its record (record.h) about what it is running, and how threads wait for it: threads.c,
 * stacks.c; and a thread's last error: errors.c. Start with kvo__mark.
 * circle: lock.c, stacks.c, threads.c: a lock is taken in a section, whose slow path and marks take locks. */
#ifndef KVO_THREADS_H
#define KVO_THREADS_H

#include "hooks.h"
#include "platform/stack.h"
#include "threads/lock.h"
#include "threads/record.h"

#include <kvo/kvo_binding.h>

/* ----------------------------------------------------------------------------------------------------- threads.c -- */

/** The kernel's id of this thread (gettid(2)). */
KVO_HIDDEN uint32_t kvo__thread_number(void);

KVO_HIDDEN void kvo__acquire_slowly(kvo_lock *lock);
KVO_HIDDEN void kvo__wake_one(kvo_lock *lock);

static inline bool kvo__take(kvo_lock *lock, uint32_t as) {
  uint32_t nobody = 0;
  return atomic_load_explicit(&lock->state, memory_order_relaxed) == 0 &&
         atomic_compare_exchange_strong_explicit(&lock->state, &nobody, as, memory_order_acquire, memory_order_relaxed);
}

/** Takes a lock without entering a section, so that a fork may happen while it is held. For the list of threads, which a forking thread
 * locks itself. */
static inline void kvo__acquire(kvo_lock *lock) {
  const kvo_thread *self = kvo__own.thread;
  if (!kvo__take(lock, self != NULL ? self->number : kvo__thread_number())) kvo__acquire_slowly(lock);
}
static inline void kvo__release(kvo_lock *lock) {
  if ((atomic_exchange_explicit(&lock->state, 0, memory_order_release) & KVO_LOCK_AWAITED) != 0) kvo__wake_one(lock);
}

/** The state that sections test, beside kvo__attention. */
extern KVO_HIDDEN struct kvo_threads_state {
  /** 1: a thread is about to fork or is reading all data (kvo__world_stop). Other threads may release locks, but not take one. */
  _Atomic uint32_t forking;
  /** How many threads have deferred deliveries, or are making them; and how many calls hold an object (kvo__hold_object). */
  _Atomic uint32_t unwinding;
} kvo__threads;

/** Whether a thread may publish what it does with plain stores. Becomes false, for good, if a sandbox refuses membarrier(2). */
static inline bool kvo__has_barrier(void) { return __builtin_expect((kvo__attended() & KVO_NO_BARRIER) == 0, true); }

/** Whether threads wait for marks to end. */
static inline bool kvo__is_awaited(void) { return __builtin_expect(atomic_load(&kvo__attention) >= KVO_WAITER, false); }

KVO_HIDDEN kvo_thread *kvo__thread_make(void);
/** The record of this thread, made at the first call; NULL without memory. */
static inline kvo_thread *kvo__thread(void) {
  return __builtin_expect(kvo__own.thread != NULL, true) ? kvo__own.thread : kvo__thread_make();
}
/** The open scopes of this thread, innermost first. */
static inline kvo_open_scope *kvo__scopes(void) {
  return kvo__own.open_changes != 0 && kvo__own.thread != NULL ? kvo__own.thread->scopes : NULL;
}
/** How many marks this thread has. Only this thread changes their number. */
static inline uint32_t kvo__present_depth(void) {
  return kvo__own.thread != NULL ? atomic_load_explicit(&kvo__own.thread->depth, memory_order_relaxed) : 0;
}

/** The number of this thread's record, 0 without one. No other thread ever has the same. */
static inline uint32_t kvo__thread_serial(void) { return kvo__own.thread != NULL ? kvo__own.thread->serial : 0; }
KVO_HIDDEN uint32_t kvo__mark_slowly(kvo_observation observation, kvo_info *root, const kvo_node *node,
                                     const kvo_raw_change *change, const void *frame);
KVO_HIDDEN void kvo__unmark_slowly(uint32_t depth);
/** A mark has ended for which a thread may be waiting. */
KVO_HIDDEN void kvo__marks_changed(void);
/** Has all threads execute a memory barrier, then calls `enter` for each mark of another thread that protects the nodes of the info, and
 * stores the result in the mark. Returns whether there was one. A thread that ends such a mark after the barrier finds that threads wait
 * (kvo__is_awaited), or finds that result. */
KVO_HIDDEN bool kvo__count_marks(kvo_info *info, uint64_t (*enter)(kvo_info *info));
/** The same for the marks of this thread, without a barrier. */
KVO_HIDDEN bool kvo__count_own_marks(kvo_info *info, uint64_t (*enter)(kvo_info *info));
/** Ends the protection by a mark of this thread. Returns what kvo__leave takes if the mark was counted, otherwise 0. */
KVO_HIDDEN uint64_t kvo__mark_take(kvo_mark *mark);
KVO_HIDDEN void kvo__section_enter_slowly(void);
/** The same for a thread without a record. */
KVO_HIDDEN void kvo__section_enter_unrecorded(void);
KVO_HIDDEN void kvo__section_leave_unrecorded(void);

/** Stores a word that threads which wait must not miss. The caller's next loads must not be moved before the store: otherwise this thread
 * could miss what a waiter has changed while the waiter misses this store. */
static inline void kvo__publish(_Atomic uint32_t *word, uint32_t value) {
  if (kvo__has_barrier())
    atomic_store_explicit(word, value, memory_order_release);
  else
    atomic_exchange(word, value);
  atomic_signal_fence(memory_order_seq_cst); /* orders the compiler; the waiter's membarrier orders the processor */
}

/** kvo__publish for the observation of a mark; the caller tests the observation's `live` next. */
static inline void kvo__publish_observation(kvo_mark *mark, kvo_observation observation) {
  if (kvo__has_barrier())
    atomic_store_explicit(&mark->observation, observation, memory_order_release);
  else
    atomic_exchange(&mark->observation, observation);
  atomic_signal_fence(memory_order_seq_cst);
}

/** kvo__mark: there was no memory for a mark. */
#define KVO_UNMARKED UINT32_MAX
/** kvo__mark: the delivery must not begin, because deliveries nest too deeply. No mark was made. */
#define KVO_TOO_DEEP (UINT32_MAX - 1)

/** kvo__publish for the `live` member of an observation that has ended. */
static inline void kvo__publish_dead(_Atomic bool *live) {
  if (kvo__has_barrier())
    atomic_store_explicit(live, false, memory_order_release);
  else
    atomic_store(live, false);
}

/** The mark of this thread for a value that kvo__mark returned, other than KVO_TOO_DEEP and KVO_UNMARKED. */
static inline kvo_mark *kvo__mark_at(uint32_t depth) {
  return &atomic_load_explicit(&kvo__own.thread->marks, memory_order_relaxed)[depth];
}

static inline void kvo__mark_fill(kvo_mark *mark, kvo_observation observation, kvo_info *root, const kvo_node *node,
                                  const void *frame) {
  atomic_store_explicit(&mark->observation, observation, memory_order_relaxed);
  atomic_store_explicit(&mark->root, root, memory_order_relaxed);
  mark->node = node;
  __atomic_store_n(&mark->frame, frame, __ATOMIC_RELAXED);
  mark->recorder = NULL;
  atomic_store_explicit(&mark->reads, NULL, memory_order_relaxed);
  atomic_store_explicit(&mark->entered, 0, memory_order_relaxed);
  mark->slot = NULL;
  mark->is_before = false;
  if (node != NULL) return; /* a delivery does not use the rest */
  mark->evaluation = NULL;
  mark->is_counted = mark->is_handler = false;
}

/** Call it before code of an observation runs, and test the observation's `live` afterwards: a removal that waits then either sees the
 * mark, or this thread sees that the observation has ended. Returns what to pass to kvo__unmark. KVO_TOO_DEEP is returned only for a
 * delivery, which has a node and a change; no lock may be held then. */
static inline uint32_t kvo__mark(kvo_observation observation, kvo_info *root, const kvo_node *node,
                                 const kvo_raw_change *change) {
  kvo_thread *self = kvo__own.thread;
  const void *frame = __builtin_frame_address(0);
  uint32_t depth = self != NULL ? atomic_load_explicit(&self->depth, memory_order_relaxed) : 0;
  if (self == NULL || depth >= self->limit ||
      (uintptr_t)frame - self->floor >= atomic_load_explicit(&self->room, memory_order_relaxed))
    return kvo__mark_slowly(observation, root, node, change, frame);
  kvo_mark *mark = &atomic_load_explicit(&self->marks, memory_order_relaxed)[depth];
  /* Enclosing code has a higher frame. If it does not, it was left without returning. */
  if (depth != 0 && mark[-1].frame <= frame) return kvo__mark_slowly(observation, root, node, change, frame);
  kvo__mark_fill(mark, observation, root, node, frame);
  kvo__publish(&self->depth, depth + 1);
  return depth;
}

/** Moves a mark on to another delivery, or, with 0, to none between two deliveries. */
static inline void kvo__mark_again(uint32_t depth, kvo_observation observation, const kvo_node *node) {
  if (depth >= KVO_TOO_DEEP) return;
  kvo_mark *mark = kvo__mark_at(depth);
  if (observation != 0) mark->node = node;
  kvo__publish_observation(mark, observation);
  if (kvo__is_awaited()) kvo__marks_changed();
}

/** Says that a mark between two deliveries encloses what the caller of a function with this frame calls, although the mark may have been
 * made by a function with a deeper frame. */
static inline void kvo__mark_encloses(uint32_t depth, const void *frame) {
  if (depth >= KVO_TOO_DEEP) return;
  kvo_mark *mark = kvo__mark_at(depth);
  const void *above = (const char *)frame + 1; /* what is called next may have the same frame */
  if (mark->frame != NULL && mark->frame < above) __atomic_store_n(&mark->frame, above, __ATOMIC_RELAXED);
}

/** Call it after the code. No lock may be held if the mark is that of a delivery: deferred deliveries may be made now. */
static inline void kvo__unmark(uint32_t depth) {
  kvo_thread *self = kvo__own.thread;
  uint32_t above = depth + 1;
  /* The slow path: there is no mark, it is not the innermost, or deliveries are deferred. */
  if (above == 0 || above > self->limit || atomic_load_explicit(&self->depth, memory_order_relaxed) != above)
    kvo__unmark_slowly(depth);
  else
    kvo__publish(&self->depth, depth);
  if (kvo__is_awaited()) kvo__marks_changed();
}

/** A section is a stretch of code that may hold locks of the runtime. A fork waits until no other thread is in one. */
static inline __attribute__((always_inline)) void kvo__section_enter(void) {
  kvo_thread *self = kvo__thread();
  if (self == NULL) {
    kvo__section_enter_unrecorded();
    return;
  }
  uint32_t held = atomic_load_explicit(&self->sections, memory_order_relaxed);
  kvo__publish(&self->sections, held + 1);
  if (held == 0 && atomic_load(&kvo__threads.forking) != 0) kvo__section_enter_slowly();
}

static inline __attribute__((always_inline)) void kvo__section_leave(void) {
  kvo_thread *self = kvo__own.thread;
  uint32_t held = self != NULL ? atomic_load_explicit(&self->sections, memory_order_relaxed) : 0;
  if (held > 0)
    atomic_store_explicit(&self->sections, held - 1, memory_order_release);
  else
    kvo__section_leave_unrecorded(); /* there was no record yet */
}

/** Keeps a load from being moved before an atomic exchange that precedes it. On x86 the exchange itself does. */
static inline void kvo__fence_after_exchange(void) {
#if defined(__x86_64__) || defined(__i386__)
  atomic_signal_fence(memory_order_seq_cst);
#else
  atomic_thread_fence(memory_order_seq_cst);
#endif
}

/** Waits until no other thread holds a lock of the runtime, and keeps other threads from taking one until kvo__world_resume; they go on
 * before the next stop. Meanwhile no node that an id names is freed and no list changes, so all data can be read. The calling thread must
 * not take a lock, nor run code of the program other than its allocator. No lock may be held. */
KVO_HIDDEN void kvo__world_stop(void);
KVO_HIDDEN void kvo__world_resume(void);

/** Waits until no other thread runs code of an observation that is no longer live. Returns why it stopped waiting. */
KVO_HIDDEN kvo_waited kvo__wait_for_deliveries(kvo_observation observation);
/** Calls `visit` for each other thread until it returns true; returns whether it did. It runs in a section with the list locked: `visit`
 * may take only locks that are held for a few instructions. */
KVO_HIDDEN bool kvo__find_thread(bool (*visit)(kvo_thread *thread, void *arg), void *arg);

/** Waits until no other thread evaluates an observation of this object, all of which must have ended. It does not wait for an evaluation
 * that waits for this thread. */
KVO_HIDDEN kvo_waited kvo__wait_for_evaluations(const kvo_info *root);
/** The depth from which on kvo__mark takes the slow path. */
KVO_HIDDEN uint32_t kvo__limit_of(const kvo_thread *self);
/** Call it before the program can create threads or fork. */
KVO_HIDDEN void kvo__threads_start(void);

/** Whether a delivery may begin here, nested in those in progress. If not, the caller has to defer it. No lock may be held. */
static inline bool kvo__may_nest(void) {
  kvo_thread *self = kvo__own.thread;
  uintptr_t frame = (uintptr_t)__builtin_frame_address(0);
  if (self == NULL) return true;
  bool has_marks = atomic_load_explicit(&self->depth, memory_order_relaxed) < self->limit;
  bool has_room = frame - self->floor < atomic_load_explicit(&self->room, memory_order_relaxed);
  return (has_marks && has_room) || kvo__hooks.may_nest(self, (const void *)frame);
}

static inline bool kvo__is_delivery(const kvo_mark *mark) {
  return mark->node != NULL && mark->frame != NULL &&
         atomic_load_explicit(&mark->observation, memory_order_relaxed) != 0;
}

/** Ends code below a frame that was left with longjmp or an exception. A function with large variables passes its own frame: what was
 * left may be at their addresses. */
static inline void kvo__look_for_abandoned_below(const void *frame) {
  kvo_thread *self = kvo__own.thread;
  uint32_t depth = self != NULL ? atomic_load_explicit(&self->depth, memory_order_relaxed) : 0;
  if (depth != 0 && kvo__mark_at(depth - 1)->frame <= frame) kvo__hooks.abandoned(self, frame);
}

/** Ends code that was left with longjmp or an exception, if there can be any. Call it before an operation that relies on the innermost
 * mark. No lock may be held. Always inlined, because the frame is to be the caller's. */
static inline __attribute__((always_inline)) void kvo__look_for_abandoned(void) {
  kvo__look_for_abandoned_below(__builtin_frame_address(0));
}

/* ------------------------------------------------------------------------------------------------------- stacks.c -- */

/** The part of a stack that is kept free for the callback that is about to begin, or for a fault and its handler (a report has a stack of
 * its own): a quarter of the stack, at least this much, but never more than half. */
enum { KVO_LEAST_RESERVE = 16 * 1024 };
/** Finds the bounds of this thread's stack, unless they are known. */
KVO_HIDDEN void kvo__measure(kvo_thread *self);
/** Whether the code of `frame` has been left without returning, given that `present` is the frame of code that is beginning or running. */
KVO_HIDDEN bool kvo__is_left(const void *frame, const void *present);
/** Stores the bounds of this thread's stack, [begin, end); false if they are not known. The first call of a thread asks the C library for
 * them, which allocates: not for signal handlers. */
KVO_HIDDEN bool kvo__stack_bounds_slowly(uintptr_t *begin, uintptr_t *end);
static inline bool kvo__stack_bounds(uintptr_t *begin, uintptr_t *end) {
  const kvo_thread *self = kvo__own.thread;
  if (self == NULL || self->stack_end <= 1) return kvo__stack_bounds_slowly(begin, end);
  *begin = self->stack_begin;
  *end = self->stack_end;
  return true;
}
/** kvo__stack_walk, beginning with the return address of the function in which it is used. */
static inline __attribute__((always_inline)) size_t kvo__stack_capture(void **frames, size_t capacity) {
  uintptr_t begin, end;
  return kvo__stack_bounds(&begin, &end) ? kvo__stack_walk(begin, end, frames, capacity) : 0;
}
/** Whether another thread is known to have left the code of that frame: it waits in the kernel with its stack pointer above the frame. */
KVO_HIDDEN bool kvo__has_left(const kvo_thread *thread, const void *frame);

/* ------------------------------------------------------------------------------------------------------ errors.c -- */

/** How many errors with a text there were on this thread. */
static inline uint32_t kvo__error_count(void) { return kvo__own.thread != NULL ? kvo__own.thread->error_count : 0; }
/** kvo__fail (hooks.h) for INVALID_ARGUMENT; also tells of the misuse: no lock may be held. */
KVO_HIDDEN kvo_status kvo__invalid(const char *function, const char *what, kvo_place place);
/** Notes that a function has failed with an observation, and returns the status; KVO_OK is no failure. The text is made when it is asked
 * for. `function` is a constant. */
KVO_HIDDEN kvo_status kvo__fail_id(kvo_status status, const char *function, kvo_observation id);
/** Notes the result of a setter that has refused a value. */
KVO_HIDDEN void kvo__refused(int result);

/* --------------------------------------------------------------------------------------------------- For kvo__assert -- */

/** Whether this thread holds a lock. */
static inline bool kvo__holds(const kvo_lock *lock) {
  return (atomic_load_explicit(&lock->state, memory_order_relaxed) & ~KVO_LOCK_AWAITED) == kvo__thread_number();
}
/** Whether this thread holds no lock of the runtime, so that code of the program may run. True for a thread without a record. */
static inline bool kvo__holds_none(void) {
  return kvo__own.thread == NULL || atomic_load_explicit(&kvo__own.thread->sections, memory_order_relaxed) == 0;
}

#endif /* KVO_THREADS_H */

/* threads/threads.h - locks, and what a thread says of itself, for others to see: lock.c, threads.c. A newcomer reads kvo_mark and
 * kvo_thread first. */
#ifndef KVO_THREADS_H
#define KVO_THREADS_H

#include "hooks.h"
#include "platform/index.h"

/* -------------------------------------------------------------------------------------------------------- lock.c -- */

/** A mutex of 4 bytes on a futex: 0 free, else the kernel's number of the thread that holds it, and a bit if others wait. Never held
 * while code of the program runs; so who finds that it holds it itself is a signal handler (KVO0017). */
struct kvo_lock {
  _Atomic uint32_t state;
};

/** Somebody waits. On top of the owner's number, which is below it. */
#define KVO_LOCK_AWAITED (UINT32_C(1) << 31)

KVO_HIDDEN void kvo__lock(kvo_lock *lock);
/** Its last access to the lock's memory is the atomic that releases it: whoever gets the lock next may free it. */
KVO_HIDDEN void kvo__unlock(kvo_lock *lock);
KVO_HIDDEN void kvo__futex_wait(_Atomic uint32_t *word, uint32_t expected);
KVO_HIDDEN void kvo__futex_wait_for(_Atomic uint32_t *word, uint32_t expected, uint32_t milliseconds);
KVO_HIDDEN void kvo__futex_wake_all(_Atomic uint32_t *word);

/* ----------------------------------------------------------------------------------------------------- threads.c -- */

/** Code of the program that a thread is running: a delivery, an evaluation, a fault handler. */
typedef struct kvo_mark {
  _Atomic kvo_observation observation;
  /** The info of an object that may not go meanwhile, for it is evaluated; NULL for a delivery. */
  kvo_info *_Atomic root;
  /** The stack frame that runs the code; NULL of a mark that is over before what has begun after it, on another stack. Written by the
   * thread itself, as an atomic; others look where the frame is. */
  const void *frame;
  /** Below: for the thread itself. The observation's own node if this is a delivery, which keeps it, otherwise NULL; with no
   * observation, a former one. */
  const kvo_node *node;
  /** What is delivered, as long as it is. */
  const kvo_raw_change *change;
  /** What recorded before, and goes on when this has been left. */
  void *recorder;
  /** Of an evaluation: what it is, and what entering the root gave; it has a part in kvo_tracking_count. */
  void *evaluation;
  uint64_t entered;
  bool is_counted;
  /** A fault handler, which may be left by longjmp. */
  bool is_handler;
} kvo_mark;

/** Changes that a thread has announced by hand and not ended, innermost first; others read it with the lock. */
typedef struct kvo_manual_list {
  kvo_lock lock;
  struct kvo_manual *first;
  size_t count;
  /** By object and key, and in the order in which they were announced; without a key_of as long as there are few. */
  kvo_index by_key;
} kvo_manual_list;

/** What is waited for: the deliveries and evaluations of an observation, or all evaluations for a root. */
typedef struct kvo_awaited {
  kvo_observation observation;
  const kvo_info *root;
} kvo_awaited;

/** Deliveries that would have nested too deeply, and are made once others are over. */
typedef struct kvo_unwinding {
  struct kvo_deferrals *all;
  /** There may be such; and now no delivery nests, until the depth is this again. */
  bool is_begun, is_on;
  uint32_t depth;
  /** Those put off are just being made, by this stack frame; and how deep it has gone meanwhile, taken together. */
  const void *frame;
  uint64_t gone;
  /** The values repeat: what goes in the circle is left out. */
  bool gives_up;
} kvo_unwinding;

/** A thread, as the others see it. */
struct kvo_thread {
  struct kvo_thread *next;
  /** The kernel's. */
  uint32_t number;
  /** Replaced by a larger one under the list's lock. */
  kvo_mark *_Atomic marks;
  uint32_t capacity;
  /** At this depth a mark is made slowly: there is no room, or no more may nest; the thread's own. */
  uint32_t limit;
  /** Where on its stack deliveries may begin: from `floor` on, that many bytes; 0 as long as that is not known. Written by the thread
   * itself, `room` last. */
  uintptr_t floor;
  _Atomic uintptr_t room;
  /** What is put off: unwind.c. The thread's own. */
  kvo_unwinding unwinding;
  /** How many marks count; written by the thread itself. */
  _Atomic uint32_t depth;
  /** How many locks it holds or waits for; written by the thread itself. */
  _Atomic uint32_t sections;
  /** Its manual pairs: manual.c. */
  kvo_manual_list manuals;
  /** What it waits for, all zero for nothing; that it must not wait any longer, for an object's death waits for it; and a search's
   * note. Under the list's lock. */
  kvo_awaited waiting_for;
  bool gives_up;
  bool visited;
  /** A free entry of ids.c, as an id of generation 1, or 0; the thread's own. */
  uint64_t kept_id;
  /** What it has begun, in a trace that is being recorded; of trace.c, or NULL. */
  struct kvo_thread_trace *trace;
};

/* Initial-exec: one load, also in the shared library; a few bytes of what the C library keeps for that. */
extern KVO_HIDDEN _Thread_local kvo_thread *kvo__this_thread __attribute__((tls_model("initial-exec")));

/** The kernel's number of this thread. */
KVO_HIDDEN uint32_t kvo__thread_number(void);

KVO_HIDDEN void kvo__acquire_slowly(kvo_lock *lock);
KVO_HIDDEN void kvo__wake_one(kvo_lock *lock);

static inline bool kvo__take(kvo_lock *lock, uint32_t as) {
  uint32_t nobody = 0;
  return atomic_load_explicit(&lock->state, memory_order_relaxed) == 0 &&
         atomic_compare_exchange_strong_explicit(&lock->state, &nobody, as, memory_order_acquire, memory_order_relaxed);
}

/** The bare lock, of the list of threads: the others wait while a thread forks. */
static inline void kvo__acquire(kvo_lock *lock) {
  const kvo_thread *self = kvo__this_thread;
  if (!kvo__take(lock, self != NULL ? self->number : kvo__thread_number())) kvo__acquire_slowly(lock);
}
static inline void kvo__release(kvo_lock *lock) {
  if ((atomic_exchange_explicit(&lock->state, 0, memory_order_release) & KVO_LOCK_AWAITED) != 0) kvo__wake_one(lock);
}

/** What marks and sections look at. */
extern KVO_HIDDEN struct kvo_threads_state {
  /** membarrier(2) works: what a thread says of itself may be a plain store. Constant. */
  bool has_barrier;
  /** A thread is about to fork, or looks at all there is: locks may be left, but none is entered. */
  _Atomic uint32_t forking;
  /** How many threads wait for marks to go away. */
  _Atomic uint32_t waiters;
  /** How many have put off deliveries, or are just making them. */
  _Atomic uint32_t unwinding;
} kvo__threads;

/** This thread, made known now if need be; NULL without memory. */
KVO_HIDDEN kvo_thread *kvo__thread(void);
KVO_HIDDEN uint32_t kvo__mark_slowly(kvo_observation observation, kvo_info *root, const kvo_node *node,
                                     const kvo_raw_change *change, const void *frame);
KVO_HIDDEN void kvo__unmark_slowly(uint32_t depth);
/** A mark has gone that somebody may wait for. */
KVO_HIDDEN void kvo__marks_changed(void);
KVO_HIDDEN void kvo__section_enter_slowly(void);
/** The same for a thread without a record. */
KVO_HIDDEN void kvo__section_enter_unrecorded(void);
KVO_HIDDEN void kvo__section_leave_unrecorded(void);

/** A store that is followed by a load which whoever waits must not miss. */
static inline void kvo__publish(_Atomic uint32_t *word, uint32_t value) {
  if (kvo__threads.has_barrier)
    atomic_store_explicit(word, value, memory_order_release);
  else
    atomic_exchange(word, value);
  atomic_signal_fence(memory_order_seq_cst); /* the compiler keeps the order, and a barrier the processor's */
}

/** There was no memory for a mark. */
#define KVO_UNMARKED UINT32_MAX
/** The delivery must not begin: deliveries nest too deeply. There is no mark. */
#define KVO_TOO_DEEP (UINT32_MAX - 1)

/** The same for the `live` of what has ended. */
static inline void kvo__publish_dead(_Atomic bool *live) {
  if (kvo__threads.has_barrier)
    atomic_store_explicit(live, false, memory_order_release);
  else
    atomic_store(live, false);
}

/** The mark of this thread that kvo__mark has returned, other than KVO_TOO_DEEP and KVO_UNMARKED. */
static inline kvo_mark *kvo__mark_at(uint32_t depth) {
  return &atomic_load_explicit(&kvo__this_thread->marks, memory_order_relaxed)[depth];
}

static inline void kvo__mark_fill(kvo_mark *mark, kvo_observation observation, kvo_info *root, const kvo_node *node,
                                  const kvo_raw_change *change, const void *frame) {
  atomic_store_explicit(&mark->observation, observation, memory_order_relaxed);
  atomic_store_explicit(&mark->root, root, memory_order_relaxed);
  mark->node = node;
  mark->change = change;
  __atomic_store_n(&mark->frame, frame, __ATOMIC_RELAXED);
  mark->recorder = NULL;
  if (node != NULL) return; /* the rest is not looked at */
  mark->evaluation = NULL;
  mark->is_counted = mark->is_handler = false;
}

/** Before code of the observation runs; its `live` is to be asked only then. Returns what to give to kvo__unmark. Only a delivery,
 * which has a node and a change, may be KVO_TOO_DEEP; then no lock may be held. */
static inline uint32_t kvo__mark(kvo_observation observation, kvo_info *root, const kvo_node *node,
                                 const kvo_raw_change *change) {
  kvo_thread *self = kvo__this_thread;
  const void *frame = __builtin_frame_address(0);
  uint32_t depth = self != NULL ? atomic_load_explicit(&self->depth, memory_order_relaxed) : 0;
  if (self == NULL || depth >= self->limit ||
      (uintptr_t)frame - self->floor >= atomic_load_explicit(&self->room, memory_order_relaxed))
    return kvo__mark_slowly(observation, root, node, change, frame);
  kvo_mark *mark = &atomic_load_explicit(&self->marks, memory_order_relaxed)[depth];
  /* What is outside of this has a frame above; if not, it was left without being over. */
  if (depth != 0 && mark[-1].frame <= frame) return kvo__mark_slowly(observation, root, node, change, frame);
  kvo__mark_fill(mark, observation, root, node, change, frame);
  kvo__publish(&self->depth, depth + 1);
  return depth;
}

/** Says that the thread has gone on to another delivery, or, with 0, that it is between two. */
static inline void kvo__mark_again(uint32_t depth, kvo_observation observation, const kvo_node *node,
                                   const kvo_raw_change *change) {
  if (depth >= KVO_TOO_DEEP) return;
  kvo_mark *mark = kvo__mark_at(depth);
  if (observation != 0) {
    mark->node = node;
    mark->change = change;
  }
  if (kvo__threads.has_barrier)
    atomic_store_explicit(&mark->observation, observation, memory_order_release);
  else
    atomic_exchange(&mark->observation, observation);
  atomic_signal_fence(memory_order_seq_cst);
  if (atomic_load(&kvo__threads.waiters) != 0) kvo__marks_changed();
}

/** After it. No lock may be held if the mark was that of a delivery: those that were put off may be made now. */
static inline void kvo__unmark(uint32_t depth) {
  kvo_thread *self = kvo__this_thread;
  uint32_t above = depth + 1;
  /* If there is none, or it is not the innermost, or deliveries are put off, then slowly. */
  if (above == 0 || above > self->limit || atomic_load_explicit(&self->depth, memory_order_relaxed) != above)
    kvo__unmark_slowly(depth);
  else
    kvo__publish(&self->depth, depth);
  if (atomic_load(&kvo__threads.waiters) != 0) kvo__marks_changed();
}

/** Locks are entered and left through these, so that a fork happens while none is held. */
static inline void kvo__section_enter(void) {
  kvo_thread *self = kvo__thread();
  if (self == NULL) {
    kvo__section_enter_unrecorded();
    return;
  }
  uint32_t held = atomic_load_explicit(&self->sections, memory_order_relaxed);
  kvo__publish(&self->sections, held + 1);
  if (held == 0 && atomic_load(&kvo__threads.forking) != 0) kvo__section_enter_slowly();
}

static inline void kvo__section_leave(void) {
  kvo_thread *self = kvo__this_thread;
  uint32_t held = self != NULL ? atomic_load_explicit(&self->sections, memory_order_relaxed) : 0;
  if (held > 0)
    atomic_store_explicit(&self->sections, held - 1, memory_order_release);
  else
    kvo__section_leave_unrecorded(); /* there was no record yet */
}

/** Waits until no other thread holds a lock of the runtime, and keeps it from taking one until kvo__world_resume: meanwhile no node
 * that an id names is freed, and no list changes, so all can be read. This thread may not take a lock either, nor run code of the
 * program but its allocator. No lock may be held. */
KVO_HIDDEN void kvo__world_stop(void);
KVO_HIDDEN void kvo__world_resume(void);

/** Waits until no other thread runs code of an observation that is no longer live; tells why it gave up, if it did. */
KVO_HIDDEN kvo_waited kvo__wait_for_deliveries(kvo_observation observation);
/** Calls `visit` for each other thread until it returns true, and then returns true. In a section and with the list locked: it may
 * take locks that are held for a few instructions only, and nothing else. */
KVO_HIDDEN bool kvo__find_thread(bool (*visit)(kvo_thread *thread, void *arg), void *arg);

/** Waits until no other thread evaluates an observation of this object, all of which have ended; but not for one that waits for this
 * thread. */
KVO_HIDDEN kvo_waited kvo__wait_for_evaluations(const kvo_info *root);
/** The limit of marks that are made fast. */
KVO_HIDDEN uint32_t kvo__limit_of(const kvo_thread *self);
/** Before the program can make threads, or fork. */
KVO_HIDDEN void kvo__threads_start(void);

/** Whether a delivery may begin here, within those in progress; if not, it is to be put off. No lock may be held. */
static inline bool kvo__may_nest(void) {
  kvo_thread *self = kvo__this_thread;
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

/** Ends what was left by longjmp or an exception, if there can be any, before something that relies on the innermost mark. No lock may be
 * held. */
static inline void kvo__look_for_abandoned(void) {
  kvo_thread *self = kvo__this_thread;
  uint32_t depth = self != NULL ? atomic_load_explicit(&self->depth, memory_order_relaxed) : 0;
  const void *frame = __builtin_frame_address(0);
  if (depth != 0 && kvo__mark_at(depth - 1)->frame <= frame) kvo__hooks.abandoned(self, frame);
}

/* ------------------------------------------------------------------------------------------------------- stacks.c -- */

/** What is left of a stack for the callback that is just to begin, or for the fault and its handler, for a report has a stack of its own:
 * a quarter, this at least, but never more than half. */
enum { KVO_LEAST_RESERVE = 16 * 1024 };
/** Finds the thread's stack, if it was not found before. */
KVO_HIDDEN void kvo__measure(kvo_thread *self);
/** Whether code of that frame has been left, as the present one shows, which begins or goes on. */
KVO_HIDDEN bool kvo__is_left(const void *frame, const void *present);
/** Whether a thread is known to have left the code of that frame: it waits in the kernel, further out on its stack. */
KVO_HIDDEN bool kvo__has_left(const kvo_thread *thread, const void *frame);

/* --------------------------------------------------------------------------------------------------- For kvo__assert -- */

/** Whether this thread holds a lock. */
static inline bool kvo__holds(const kvo_lock *lock) {
  return (atomic_load_explicit(&lock->state, memory_order_relaxed) & ~KVO_LOCK_AWAITED) == kvo__thread_number();
}
/** Whether this thread holds no lock of the runtime, as far as it has a record: code of the program may run. */
static inline bool kvo__holds_none(void) {
  return kvo__this_thread == NULL || atomic_load_explicit(&kvo__this_thread->sections, memory_order_relaxed) == 0;
}

#endif /* KVO_THREADS_H */

/* registry/readers.h - readers of nodes: code that uses them without the lock of their info (nodes.c). Part of registry.h. */
#ifndef KVO_READERS_H
#define KVO_READERS_H

#include "registry/nodes.h"

/** Registers the caller as a reader. Returns what to pass to kvo__leave. */
static inline uint64_t kvo__enter(kvo_info *info) {
  return atomic_fetch_add(&info->state, KVO_STATE_READER) + KVO_STATE_READER;
}
/** The unit by which the present state counts a reader: if the epoch has turned since it entered, the earlier readers' count. */
static inline uint64_t kvo__reader_of(uint64_t entered, uint64_t state) {
  return ((entered ^ state) & KVO_STATE_EPOCH) == 0 ? KVO_STATE_READER : KVO_STATE_EARLIER_READER;
}
KVO_HIDDEN void kvo__leave_slowly(kvo_info *info, uint64_t entered);

/** Values of kvo_info.reader: there was no change yet; the changes of all threads protect the nodes by their marks; none does. */
#define KVO_READ_BY_NONE ((const void *)3)
#define KVO_READ_BY_ALL ((const void *)1)
#define KVO_READ_COUNTED ((const void *)2)

/** Whether a change of this thread may protect the nodes by its mark. A change tests this before it makes the mark, and again after. */
static inline bool kvo__reads_by_marks(const void *reader, const kvo_thread *self) {
  return reader == self || reader == KVO_READ_BY_ALL;
}
/** Makes this thread one whose changes protect the nodes by their marks. False if this change has to be counted. */
KVO_HIDDEN bool kvo__read_by_marks(kvo_info *info, kvo_thread *self);
/** Counts the changes in progress that protect the nodes by their marks, and, if other threads make such changes, has later changes
 * counted as well. Returns whether there was one. Call it after an atomic exchange that follows the stores which later changes must see.
 * info->lock is held. */
KVO_HIDDEN bool kvo__count_readers(kvo_info *info);
/** Ends the mark at this depth, which protects the nodes of an info. May free nodes and, after the object's death, the info. No lock may
 * be held. */
KVO_HIDDEN void kvo__stop_reading_slowly(uint32_t depth);
/** The same for a mark that has just ended. */
KVO_HIDDEN void kvo__stopped_reading(kvo_mark *mark);
static inline void kvo__stop_reading(kvo_thread *self, uint32_t depth) {
  /* Not compared with depth + 1, which would be kept since the mark was made. */
  if (__builtin_expect(depth >= self->limit || atomic_load_explicit(&self->depth, memory_order_relaxed) - depth != 1,
                       false)) {
    kvo__stop_reading_slowly(depth);
    return;
  }
  kvo_mark *mark = &atomic_load_explicit(&self->marks, memory_order_relaxed)[depth];
  atomic_store_explicit(&self->depth, depth, memory_order_release);
  atomic_signal_fence(memory_order_seq_cst); /* as in kvo__publish; what follows stands for its exchange */
  bool is_noticed = kvo__attended() != 0 || atomic_load(&mark->entered) != 0;
  if (__builtin_expect(is_noticed, false)) kvo__stopped_reading(mark);
}
/** May free nodes and, after the object's death, the info. No lock may be held. */
static inline void kvo__leave(kvo_info *info, uint64_t entered) {
  uint64_t state = entered; /* a guess: usually nothing has changed since */
  while ((state & (KVO_STATE_GARBAGE | KVO_STATE_DEAD)) == 0)
    if (atomic_compare_exchange_weak(&info->state, &state, state - kvo__reader_of(entered, state))) return;
  kvo__leave_slowly(info, entered);
}

#endif /* KVO_READERS_H */

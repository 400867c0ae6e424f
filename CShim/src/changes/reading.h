/* changes/reading.h - a change that protects the nodes of its object by the mark that it makes. Part of set.c: inlined into each of its
 * ways, because the mark is that of the caller's stack frame. */
#ifndef KVO_CHANGES_READING_H
#define KVO_CHANGES_READING_H

#include "changes/frames.h"

/* A change that protects the object's nodes by its mark. */
typedef struct reading {
  kvo_thread *self;
  kvo_info *info;
  kvo_slot *slot;
  uint64_t limit;
  unsigned wants;
  uint32_t depth;
} reading;

#define INLINE static inline __attribute__((always_inline))
#define UNLIKELY(condition) __builtin_expect((condition), false)
/* Swift's clang would move the call of a closure out of the function, as cold code. It does not divide functions that are not inlined. */
#define UNDIVIDED __attribute__((noinline))

INLINE kvo_mark *mark_of(const kvo_thread *self, uint32_t depth) {
  return &atomic_load_explicit(&self->marks, memory_order_relaxed)[depth];
}

/* Makes the mark of a change in this stack frame, with nothing delivered yet. NULL if there is no room, or if a mark is there whose code
 * was left. Only while kvo__attention is 0: the store of the depth is no exchange. */
INLINE kvo_mark *make_mark(const reading *of, const void *frame) {
  kvo_thread *self = of->self;
  kvo_mark *mark = mark_of(self, of->depth);
  if (of->depth >= self->limit ||
      (uintptr_t)frame - self->floor >= atomic_load_explicit(&self->room, memory_order_relaxed) ||
      (of->depth != 0 && mark[-1].frame <= frame))
    return NULL;
  atomic_store_explicit(&mark->observation, 0, memory_order_relaxed);
  atomic_store_explicit(&mark->root, NULL, memory_order_relaxed);
  __atomic_store_n(&mark->frame, frame, __ATOMIC_RELAXED);
  mark->slot = of->slot;
  mark->recorder = NULL;
  atomic_store_explicit(&mark->entered, 0, memory_order_relaxed);
  atomic_store_explicit(&mark->reads, of->info, memory_order_release); /* after `entered`: see kvo__count_marks */
  atomic_store_explicit(&self->depth, of->depth + 1, memory_order_release);
  atomic_signal_fence(memory_order_seq_cst); /* as in kvo__publish */
  return mark;
}

/* What notify.c is for. */
enum { UNUSUAL_WANTS = KVO_FRAME_WANTS_WILL | KVO_SLOT_MANUAL | KVO_SLOT_BINDS };

/* How a change of a slot is made: by calls of closures that take a word, with a record, in the way of bindings, in that of notify.c. */
typedef enum way { WORDS, RECORDED, BOUND, UNUSUAL } way;

INLINE way way_of(unsigned wants) {
  unsigned of = wants & (KVO_FRAME_OBSERVED | UNUSUAL_WANTS | KVO_SLOT_NO_WORDS);
  if (KVO_CALLS_CLOSURES && of == KVO_FRAME_OBSERVED) return WORDS;
  if (of == (KVO_FRAME_OBSERVED | KVO_SLOT_NO_WORDS)) return RECORDED;
  return (of & UNUSUAL_WANTS) == KVO_SLOT_BINDS ? BOUND : UNUSUAL;
}

/* Load it before `wants`: see kvo__node_link. */
INLINE uint64_t births_of(const kvo_info *info) { return atomic_load_explicit(&info->births, memory_order_acquire); }

/* What a change has if it reads both values: no observer wants more. */
enum { HAS_BOTH = KVO_FRAME_OBSERVED | KVO_FRAME_WANTS_OLD | KVO_FRAME_WANTS_NEW };

INLINE kvo_info *info_of(uintptr_t word) { return (kvo_info *)(word - (KVO_WORD_OBSERVED | KVO_WORD_INFO)); }

/* Whether this thread neither records nor has an open change, and nobody attends to it: early, for sets in a scope. */
INLINE bool is_alone(void) {
  return __builtin_expect(((uintptr_t)kvo__own.recorder | kvo__own.open_changes | kvo__attended()) == 0, true);
}

/* Begins a change that was found, of a slot without UNUSUAL_WANTS. Returns its mark, or NULL in the other cases of notify.c. A thread
 * without a record is the reader of no object. */
INLINE kvo_mark *begin(reading *of, const void *frame) {
  kvo_thread *self = of->self;
  const void *reader = atomic_load_explicit(&of->info->reader, memory_order_relaxed);
  if (UNLIKELY(reader != self) && (self == NULL || reader != KVO_READ_BY_ALL)) {
    if (self == NULL || !kvo__read_by_marks(of->info, self)) return NULL;
    reader = atomic_load_explicit(&of->info->reader, memory_order_relaxed);
    if (!kvo__reads_by_marks(reader, self)) return NULL;
  }
  of->depth = atomic_load_explicit(&self->depth, memory_order_relaxed);
  kvo_mark *mark = make_mark(of, frame);
  if (UNLIKELY(mark == NULL)) return NULL;
  /* Again: a thread that has begun to count this object's readers either has found the mark or is noticed here. */
  if (UNLIKELY(atomic_load_explicit(&of->info->reader, memory_order_relaxed) != reader)) {
    mark->node = kvo__no_node;
    kvo__stop_reading(self, of->depth);
    return NULL;
  }
  return mark;
}

/* Ends the marks of code that was left without returning. The caller then uses notify.c, whose marks are those of inner stack frames, which
 * would not show it. */
static void end_abandoned(const void *frame) {
  kvo_thread *self = kvo__own.thread;
  uint32_t depth = self != NULL ? atomic_load_explicit(&self->depth, memory_order_relaxed) : 0;
  if (depth != 0 && mark_of(self, depth - 1)->frame <= frame) kvo__hooks.abandoned(self, frame);
}

#endif /* KVO_CHANGES_READING_H */

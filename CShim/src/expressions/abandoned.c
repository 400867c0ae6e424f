/* abandoned.c - ends calls that were left with longjmp, with an exception or by the end of their thread. threads/stacks.c says how this is
 * detected. */
#include "expressions/tracked.h"

/* Removes ended marks from the top of the array. */
static void shorten(kvo_thread *self) {
  uint32_t before = atomic_load(&self->depth), depth = before;
  while (depth > 0 && kvo__mark_at(depth - 1)->frame == NULL) depth--;
  if (depth != before) kvo__publish(&self->depth, depth);
}

/* The node of the delivery that is reported, and what protects it until then. */
typedef struct reported {
  const kvo_node *node;
  /* If not 0, its mark was counted as a reader of this info, and the count is left after the report. */
  uint64_t entered;
  kvo_info *info;
} reported;

/* Ends one mark. */
static void end(kvo_thread *self, uint32_t number, reported *later) {
  kvo_mark *mark = kvo__mark_at(number), was = *mark;
  kvo_info *read = atomic_load(&mark->reads);
  uint64_t entered = read != NULL ? kvo__mark_take(mark) : 0;
  atomic_store(&mark->observation, 0);
  atomic_store(&mark->root, NULL);
  mark->node = NULL;
  __atomic_store_n(&mark->frame, NULL, __ATOMIC_RELAXED);
  shorten(self);
  if (kvo__is_awaited()) kvo__marks_changed();
  kvo__recording_resume(was.recorder);
  if (was.node == NULL && was.evaluation != NULL) kvo__evaluation_left(&was);
  if (entered == 0) return;
  if (later != NULL && later->node == was.node && later->entered == 0) {
    later->entered = entered;
    later->info = read;
  } else {
    kvo__leave(read, entered);
  }
}

/* What the ended marks belonged to. */
enum { LEFT_ANY = 1, LEFT_BY_HANDLER = 2 };

/* Ends all marks from `first` on that `frame` shows to have been left, and those nested in them. */
static unsigned end_left(kvo_thread *self, uint32_t first, const void *frame, reported *later) {
  unsigned found = 0;
  for (uint32_t i = atomic_load(&self->depth); i > first; i--) {
    if (i > atomic_load(&self->depth)) continue; /* ending a mark may run code that changes the depth */
    const kvo_mark *mark = kvo__mark_at(i - 1);
    if (mark->frame == NULL || !kvo__is_left(mark->frame, frame)) continue;
    found |= LEFT_ANY;
    if (mark->node == NULL && mark->is_handler) found |= LEFT_BY_HANDLER;
    end(self, i - 1, later);
  }
  return found;
}

/* The node of the outermost delivery that was left, or NULL. */
static const kvo_node *first_left(const kvo_thread *self, const void *frame) {
  uint32_t depth = atomic_load(&self->depth);
  for (uint32_t i = 0; i < depth; i++) {
    const kvo_mark *mark = kvo__mark_at(i);
    if (kvo__is_delivery(mark) && kvo__is_left(mark->frame, frame)) return mark->node;
  }
  return NULL;
}

void kvo__end_abandoned(kvo_thread *self, const void *frame) {
  kvo__assert(self == kvo__own.thread);
  reported later = {first_left(self, frame), 0, NULL};
  const kvo_node *node = later.node;
  /* What protects the node ends with its mark. If the observation has been removed, the mark is counted, and the node is protected by that
   * count; if not, by this one. */
  kvo_info *info = node != NULL ? kvo__slot_info(atomic_load_explicit(&node->slot, memory_order_relaxed)) : NULL;
  uint64_t entered = info != NULL ? kvo__enter(info) : 0;
  unsigned found = end_left(self, 0, frame, &later);
  kvo__wills_abandoned(frame);
  if (kvo__is_left(self->unwinding.frame, frame)) kvo__unwind_left(self);
  if (found != 0 && (found & LEFT_BY_HANDLER) == 0) KVO_TELL(left, node);
  if (later.entered != 0) kvo__leave(later.info, later.entered);
  if (info != NULL) kvo__leave(info, entered);
  if (found != 0) kvo__unwind_if_due(self, atomic_load(&self->depth));
}

void kvo__end_all(kvo_thread *self) {
  kvo__assert(self == kvo__own.thread);
  for (uint32_t i = atomic_load(&self->depth); i > 0; i--)
    if (i <= atomic_load(&self->depth) && kvo__mark_at(i - 1)->frame != NULL) end(self, i - 1, NULL);
}

void kvo__unmark_below(kvo_thread *self, uint32_t number) {
  end_left(self, number + 1, kvo__mark_at(number)->frame, NULL);
  kvo_mark *mark = kvo__mark_at(number);
  atomic_store(&mark->observation, 0);
  atomic_store(&mark->root, NULL);
  mark->node = NULL;
  __atomic_store_n(&mark->frame, NULL, __ATOMIC_RELAXED);
  shorten(self);
}

uint32_t kvo__handler_begin(const void *frame, void *recorder) {
  uint32_t mark = kvo__mark(0, NULL, NULL, NULL);
  if (mark == KVO_UNMARKED) return mark;
  kvo__mark_at(mark)->is_handler = true;
  __atomic_store_n(&kvo__mark_at(mark)->frame, frame, __ATOMIC_RELAXED);
  kvo__mark_at(mark)->recorder = recorder;
  return mark;
}

void kvo__handler_end(uint32_t mark) { kvo__unmark(mark); }

bool kvo__in_handler(void) {
  for (uint32_t i = kvo__own.thread != NULL ? atomic_load(&kvo__own.thread->depth) : 0; i > 0; i--) {
    const kvo_mark *mark = kvo__mark_at(i - 1);
    if (mark->node == NULL && mark->frame != NULL && mark->is_handler) return true;
  }
  return false;
}

/* abandoned.c - ends calls that were left with longjmp, with an exception or by the end of their thread. threads/stacks.c says how this is
 * detected. */
#include "expressions/tracked.h"

/* Removes ended marks from the top of the array. */
static void shorten(kvo_thread *self) {
  uint32_t before = atomic_load(&self->depth), depth = before;
  while (depth > 0 && kvo__mark_at(depth - 1)->frame == NULL) depth--;
  if (depth != before) kvo__publish(&self->depth, depth);
}

/* The nodes of the deliveries that are reported, the outermost and the innermost that was left, or NULL, and what protects them until then:
 * if their marks were counted as readers, the counts are left after the report. */
enum { OUTER, INNER, REPORTED };
typedef struct reported {
  const kvo_node *nodes[REPORTED];
  struct {
    kvo_info *info;
    uint64_t entered;
  } marked[REPORTED], own[REPORTED];
} reported;

/* Leaves the count of a mark; or keeps it, if its delivery is reported. */
static void leave_or_keep(reported *later, const kvo_node *node, kvo_info *read, uint64_t entered) {
  for (size_t i = 0; later != NULL && i < REPORTED; i++)
    if (later->nodes[i] == node && later->marked[i].entered == 0) {
      later->marked[i].info = read;
      later->marked[i].entered = entered;
      return;
    }
  kvo__leave(read, entered);
}

/* Ends one mark. */
static void abandoned_end(kvo_thread *self, uint32_t number, reported *later) {
  kvo_mark *mark = kvo__mark_at(number), was = *mark;
  kvo_observation left = atomic_load(&mark->observation);
  if (left != 0) kvo__hooks.binding_left(left);
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
  if (entered != 0) leave_or_keep(later, was.node, read, entered);
}

/* What the ended marks belonged to. */
enum { LEFT_ANY = 1, LEFT_BY_HANDLER = 2 };

/* Ends all marks from `first` on that `frame` shows to have been left, and those nested in them. */
static unsigned abandoned_end_left(kvo_thread *self, uint32_t first, const void *frame, reported *later) {
  unsigned found = 0;
  for (uint32_t i = atomic_load(&self->depth); i > first; i--) {
    if (i > atomic_load(&self->depth)) continue; /* ending a mark may run code that changes the depth */
    const kvo_mark *mark = kvo__mark_at(i - 1);
    if (mark->frame == NULL || !kvo__is_left(mark->frame, frame)) continue;
    if (!kvo__is_before_delivery(mark)) found |= LEFT_ANY; /* not a change that was left before anybody was told */
    if (mark->node == NULL && mark->is_handler) found |= LEFT_BY_HANDLER;
    abandoned_end(self, i - 1, later);
  }
  return found;
}

/* Finds the outermost and the innermost delivery that was left, from the mark `first` on, and protects their nodes. */
static void find_left(const kvo_thread *self, uint32_t first, const void *frame, reported *later) {
  uint32_t depth = atomic_load(&self->depth);
  for (uint32_t i = first; i < depth; i++) {
    const kvo_mark *mark = kvo__mark_at(i);
    if (!kvo__is_delivery(mark) || !kvo__is_left(mark->frame, frame)) continue;
    if (later->nodes[OUTER] == NULL) later->nodes[OUTER] = mark->node;
    later->nodes[INNER] = mark->node;
  }
  /* What protects a node ends with its mark. If the observation has been removed, the mark is counted, and the node is protected by that
   * count; if not, by this one. */
  for (size_t i = 0; i < REPORTED && later->nodes[i] != NULL; i++) {
    later->own[i].info = kvo__slot_info(atomic_load_explicit(&later->nodes[i]->slot, memory_order_relaxed));
    later->own[i].entered = kvo__enter(later->own[i].info);
  }
}

/* Reports what was left, unless a fault handler was, and no longer protects it. No lock may be held. */
static void report(unsigned found, const reported *later) {
  if (found != 0 && (found & LEFT_BY_HANDLER) == 0) KVO_MISUSE(abandoned, later->nodes[OUTER], later->nodes[INNER]);
  for (size_t i = 0; i < REPORTED; i++) {
    if (later->marked[i].entered != 0) kvo__leave(later->marked[i].info, later->marked[i].entered);
    if (later->own[i].info != NULL) kvo__leave(later->own[i].info, later->own[i].entered);
  }
}

void kvo__end_abandoned(kvo_thread *self, const void *frame) {
  kvo__assert(self == kvo__own.thread);
  reported later = {0};
  find_left(self, 0, frame, &later);
  unsigned found = abandoned_end_left(self, 0, frame, &later);
  if (kvo__is_left(self->unwinding.frame, frame)) kvo__unwind_left(self);
  report(found, &later);
  if (found != 0) kvo__unwind_if_due(self, atomic_load(&self->depth));
}

void kvo__end_all(kvo_thread *self) {
  kvo__assert(self == kvo__own.thread);
  for (uint32_t i = atomic_load(&self->depth); i > 0; i--)
    if (i <= atomic_load(&self->depth) && kvo__mark_at(i - 1)->frame != NULL) abandoned_end(self, i - 1, NULL);
}

void kvo__unmark_below(kvo_thread *self, uint32_t number) {
  kvo_mark *mark = kvo__mark_at(number);
  const void *frame = mark->frame;
  /* Code above this mark that was left jumped into the code of this one, which has returned since. Not of a fault handler: the report would
   * call it again. */
  bool is_told = kvo__holds_none() && (mark->node != NULL || !mark->is_handler);
  reported later = {0};
  if (is_told) find_left(self, number + 1, frame, &later);
  unsigned found = abandoned_end_left(self, number + 1, frame, is_told ? &later : NULL);
  mark = kvo__mark_at(number); /* ending a mark may run code that needs more marks */
  atomic_store(&mark->observation, 0);
  atomic_store(&mark->root, NULL);
  mark->node = NULL;
  __atomic_store_n(&mark->frame, NULL, __ATOMIC_RELAXED);
  shorten(self);
  if (is_told) report(found, &later); /* when the mark has ended, because its frame need not be that of the caller */
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
  for (uint32_t i = kvo__present_depth(); i > 0; i--) {
    const kvo_mark *mark = kvo__mark_at(i - 1);
    if (mark->node == NULL && mark->frame != NULL && mark->is_handler) return true;
  }
  return false;
}

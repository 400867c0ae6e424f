/* abandoned.c - what was left by longjmp, by an exception or with its thread, without being over: found by the stack frames.
 *
 * Stacks grow downwards: what is inside of a call has a frame below. A frame below one that is just beginning has been left; but only on
 * one stack. A thread may run on others, those of coroutines for instance, of which the runtime knows nothing: what runs there is never
 * taken to have been left, and may end in any order. */
#include "expressions/tracked.h"

static bool is_on_own_stack(const void *frame) {
  uintptr_t low, high, at = (uintptr_t)frame;
  return kvo__stack_bounds(&low, &high) && at >= low && at < high;
}

bool kvo__is_left(const void *frame, const void *present) {
  if (frame == present) return true; /* there is one only, on whatever stack */
  return frame != NULL && frame < present && is_on_own_stack(frame) && is_on_own_stack(present);
}

/* Those that are over are taken off where no other is above them. */
static void shorten(kvo_thread *self) {
  uint32_t before = atomic_load(&self->depth), depth = before;
  while (depth > 0 && kvo__mark_at(depth - 1)->frame == NULL) depth--;
  if (depth != before) kvo__publish(&self->depth, depth);
}

/* Takes one away. */
static void end(kvo_thread *self, uint32_t number) {
  kvo_mark *mark = kvo__mark_at(number), was = *mark;
  atomic_store(&mark->observation, 0);
  atomic_store(&mark->root, NULL);
  mark->node = NULL;
  __atomic_store_n(&mark->frame, NULL, __ATOMIC_RELAXED);
  shorten(self);
  if (atomic_load(&kvo__threads.waiters) != 0) kvo__marks_changed();
  kvo__recording_resume(was.recorder);
  if (was.node == NULL && was.evaluation != NULL) kvo__evaluation_left(&was);
}

/* What the marks that were taken away were. */
enum { LEFT_ANY = 1, LEFT_BY_HANDLER = 2 };

/* Ends all from the number on that `frame` shows to have been left; of those inside of it, which are left in any case, too. */
static unsigned end_left(kvo_thread *self, uint32_t first, const void *frame) {
  unsigned found = 0;
  for (uint32_t i = atomic_load(&self->depth); i > first; i--) {
    if (i > atomic_load(&self->depth)) continue; /* what it runs when it ends may have changed that */
    const kvo_mark *mark = kvo__mark_at(i - 1);
    if (mark->frame == NULL || !kvo__is_left(mark->frame, frame)) continue;
    found |= LEFT_ANY;
    if (mark->node == NULL && mark->is_handler) found |= LEFT_BY_HANDLER;
    end(self, i - 1);
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
  const kvo_node *node = first_left(self, frame);
  unsigned found = end_left(self, 0, frame);
  kvo__wills_abandoned(frame);
  if (found == 0) return;
  if (kvo__is_left(self->settling.frame, frame)) kvo__settle_left(self);
  if ((found & LEFT_BY_HANDLER) == 0) kvo__fault_abandoned(node);
  kvo__settle_if_due(self, atomic_load(&self->depth));
}

void kvo__before_evaluation(void) {
  kvo_thread *self = kvo__thread();
  if (self == NULL) return;
  kvo__measure(self);
  kvo__look_for_abandoned();
}

void kvo__end_all(kvo_thread *self) {
  for (uint32_t i = atomic_load(&self->depth); i > 0; i--)
    if (i <= atomic_load(&self->depth) && kvo__mark_at(i - 1)->frame != NULL) end(self, i - 1);
}

void kvo__unmark_below(kvo_thread *self, uint32_t number) {
  end_left(self, number + 1, kvo__mark_at(number)->frame);
  kvo_mark *mark = kvo__mark_at(number);
  atomic_store(&mark->observation, 0);
  atomic_store(&mark->root, NULL);
  mark->node = NULL;
  __atomic_store_n(&mark->frame, NULL, __ATOMIC_RELAXED);
  shorten(self);
}

bool kvo__has_left(const kvo_thread *thread, const void *frame) {
  uintptr_t room = atomic_load(&thread->room), at = (uintptr_t)frame - thread->floor;
  if (frame == NULL || at >= room) return false;
  uintptr_t present = kvo__stack_pointer_of(thread->number) - thread->floor;
  return present < room && present > at;
}

uint32_t kvo__handler_begin(const void *frame) {
  uint32_t mark = kvo__mark(0, NULL, NULL, NULL);
  if (mark == KVO_UNMARKED) return mark;
  kvo__mark_at(mark)->is_handler = true;
  __atomic_store_n(&kvo__mark_at(mark)->frame, frame, __ATOMIC_RELAXED);
  kvo__mark_at(mark)->recorder = kvo__recorder;
  return mark;
}

void kvo__handler_end(uint32_t mark) { kvo__unmark(mark); }

bool kvo__in_handler(void) {
  for (uint32_t i = kvo__this_thread != NULL ? atomic_load(&kvo__this_thread->depth) : 0; i > 0; i--) {
    const kvo_mark *mark = kvo__mark_at(i - 1);
    if (mark->node == NULL && mark->frame != NULL && mark->is_handler) return true;
  }
  return false;
}

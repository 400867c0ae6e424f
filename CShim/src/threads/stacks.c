/* stacks.c - where code of the program runs on a thread's stack: how much room remains, and which code was left without returning.
 *
 * Stacks grow downwards, so a callee's frame is below its caller's. Code whose frame is below one that is just beginning has been left; but
 * this holds on one stack only. A thread may run on other stacks, such as those of coroutines, of which the runtime knows nothing: code
 * there is never taken to have been left, and may return in any order. */
#include "threads/threads.h"

/* The largest reserve. */
enum { MAX_RESERVE = 256 * 1024 };

/* Use at most this much of a stack; it is also the limit of a stack without one. */
static const uintptr_t max_stack = (uintptr_t)1 << 30;

bool kvo__stack_bounds_slowly(uintptr_t *begin, uintptr_t *end) {
  kvo_thread *self = kvo__own.thread;
  if (self == NULL) return kvo__stack_find(begin, end);
  if (self->stack_end == 0 && !kvo__stack_find(&self->stack_begin, &self->stack_end)) self->stack_end = 1;
  *begin = self->stack_begin;
  *end = self->stack_end;
  return self->stack_end != 1;
}

void kvo__measure(kvo_thread *self) {
  kvo__assert(self == kvo__own.thread);
  uintptr_t low, high;
  if (atomic_load(&self->room) != 0 || !kvo__stack_bounds(&low, &high)) return;
  if (high - low > max_stack) low = high - max_stack;
  uintptr_t half = (high - low) / 2, reserve = half / 2;
  if (reserve < KVO_LEAST_RESERVE) reserve = half < KVO_LEAST_RESERVE ? half : KVO_LEAST_RESERVE;
  self->floor = low + (reserve > MAX_RESERVE ? MAX_RESERVE : reserve);
  atomic_store(&self->room, high - self->floor);
}

static bool is_on_own_stack(const void *frame) {
  uintptr_t low, high, at = (uintptr_t)frame;
  return kvo__stack_bounds(&low, &high) && at >= low && at < high;
}

bool kvo__is_left(const void *frame, const void *present) {
  if (frame == present) return true; /* a frame address is unique among all stacks */
  return frame != NULL && frame < present && is_on_own_stack(frame) && is_on_own_stack(present);
}

bool kvo__has_left(const kvo_thread *thread, const void *frame) {
  uintptr_t room = atomic_load(&thread->room), at = (uintptr_t)frame - thread->floor;
  if (frame == NULL || at >= room) return false;
  uintptr_t present = kvo__stack_pointer_of(thread->number) - thread->floor;
  return present < room && present > at;
}

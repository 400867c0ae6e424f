/* depth.c - nested deliveries: how deep they may nest, and whether they form a cycle. */
#include "expressions/tracked.h"
#include "platform/settings.h"

enum {
  /** A sequence of deliveries must occur this many times in a row to be a cycle. */
  ROUNDS = 4,
  /** The length of the longest cycle that is looked for. */
  DEPTH_LONGEST_ROUND = 32,
  /** How deep deliveries may nest on a stack whose bounds are unknown, such as a coroutine's, as long as its end is not detected. */
  UNKNOWN_STACK = 1024,
};

static bool depth_has_room(const kvo_thread *self, const void *frame, uint32_t depth) {
  uintptr_t low, high, here = (uintptr_t)frame;
  if (here - self->floor < atomic_load(&self->room)) return true;
  if (kvo__stack_bounds(&low, &high) && here >= low && here < high) return false;
  return depth < UNKNOWN_STACK && kvo__stack_is_there(frame, KVO_LEAST_RESERVE);
}

/* ------------------------------------------------------------------------------------------------------------ Circles -- */

size_t kvo__deliveries(const kvo_thread *self, const kvo_mark **found, size_t capacity, size_t *skipped) {
  const kvo_mark *marks = atomic_load(&self->marks);
  size_t depth = atomic_load(&self->depth), all = 0, count = 0;
  for (size_t i = 0; i < depth; i++) all += kvo__is_delivery(&marks[i]);
  *skipped = all > capacity ? all - capacity : 0;
  size_t skip = *skipped;
  for (size_t i = 0; i < depth; i++)
    if (kvo__is_delivery(&marks[i]) && skip-- == 0) {
      found[count++] = &marks[i];
      skip = 0;
    }
  return count;
}

static bool repeats(const kvo_mark *const *found, size_t count, size_t round) {
  if (count < ROUNDS * round) return false;
  for (size_t i = count - ROUNDS * round; i + round < count; i++)
    if (found[i]->node != found[i + round]->node) return false;
  return true;
}

/* How many distinct observations there are among these. */
static size_t kinds_of(const kvo_mark *const *found, size_t count, size_t most) {
  size_t kinds = 0;
  for (size_t i = 0; i < count && kinds <= most; i++) {
    size_t before = 0;
    while (before < i && found[before]->node != found[i]->node) before++;
    kinds += before == i;
  }
  return kinds;
}

/* Whether each round delivered the same values as an earlier one; not always the previous one, because a value may alternate. */
static bool values_repeat(const kvo_mark *const *found, size_t count, size_t round) {
  for (size_t period = round; 2 * period + round <= count; period += round) {
    size_t i = count - period - round;
    while (i + period < count && found[i]->told != 0 && found[i]->told == found[i + period]->told) i++;
    if (i + period == count) return true;
  }
  return false;
}

/* The form of the innermost deliveries. */
static kvo_nesting nesting_of(const kvo_thread *self) {
  enum { EXAMINED = ROUNDS * DEPTH_LONGEST_ROUND };
  const kvo_mark *found[EXAMINED];
  size_t skipped, count = kvo__deliveries(self, found, EXAMINED, &skipped);
  for (size_t length = 1; length <= DEPTH_LONGEST_ROUND; length++) {
    if (!repeats(found, count, length)) continue;
    bool is_of_one = kinds_of(found + count - length, length, 1) == 1;
    return (kvo_nesting){is_of_one ? KVO_CIRCLE_OF_ONE : KVO_CIRCLE, length, values_repeat(found, count, length)};
  }
  size_t kinds = kinds_of(found, count, DEPTH_LONGEST_ROUND);
  return (kvo_nesting){ROUNDS * kinds <= count ? KVO_CIRCLE_IRREGULAR : KVO_NO_CIRCLE, kinds, false};
}

bool kvo__may_nest_slowly(kvo_thread *self, const void *frame) {
  kvo__assert(self == kvo__own.thread);
  uint32_t depth = atomic_load(&self->depth), most = kvo__settings.max_depth;
  kvo__measure(self);
  self->limit = kvo__limit_of(self); /* which depends on the stack's size */
  if (depth == 0) {                  /* deferred deliveries were abandoned with all others */
    kvo__unwind_if_due(self, 0);
    return true;
  }
  if (self->unwinding.is_on) return false;
  size_t nested; /* without the calls that only hold an object, such as that of a deferred delivery */
  bool may_nest = most == 0 || depth < most;
  if (!may_nest) {
    kvo__deliveries(self, NULL, 0, &nested);
    may_nest = nested < most;
  }
  if (may_nest && depth_has_room(self, frame, depth)) return true;
  kvo__deliveries(self, NULL, 0, &nested);
  if (nested == 0) return true; /* there is no delivery that could return first */
  kvo_nesting nesting = nesting_of(self);
  bool is_first = self->unwinding.frame == NULL;
  /* Only what is reported as a cycle without end is given up: KVO0024, not KVO0023. Before the fault handler, which may make changes. */
  kvo__unwind_begin(self, is_first && nesting.shape == KVO_CIRCLE && nesting.values_repeat);
  if (is_first) KVO_MISUSE(too_deep, (uint32_t)nested, &nesting, most != 0 && nested >= most);
  return false;
}

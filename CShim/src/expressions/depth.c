/* depth.c - deliveries within deliveries: how deep they may go, and what they look like when they may not. */
#include "text/report.h"

enum {
  /** So often a round must have come one after the other to be one. */
  ROUNDS = 4,
  /** More observations are no round. */
  LONGEST_ROUND = 32,
  /** So deep deliveries may nest on a stack whose end is not known, such as a coroutine's, if nothing is seen of its end. */
  UNKNOWN_STACK = 1024,
  /** What is left of a stack for the callback that is just to begin, or for the fault and its handler, for a report has a stack of its
   * own: a quarter, in these limits, but never more than half. */
  LEAST_RESERVE = 16 * 1024,
  MOST_RESERVE = 256 * 1024,
};

/* So much of a stack is used; of a stack without a limit it is the limit. */
static const uintptr_t most_stack = (uintptr_t)1 << 30;

void kvo__measure(kvo_thread *self) {
  uintptr_t low, high;
  if (atomic_load(&self->room) != 0 || !kvo__stack_bounds(&low, &high)) return;
  if (high - low > most_stack) low = high - most_stack;
  uintptr_t half = (high - low) / 2, reserve = half / 2;
  if (reserve < LEAST_RESERVE) reserve = half < LEAST_RESERVE ? half : LEAST_RESERVE;
  self->floor = low + (reserve > MOST_RESERVE ? MOST_RESERVE : reserve);
  atomic_store(&self->room, high - self->floor);
}

static bool has_room(const kvo_thread *self, const void *frame, uint32_t depth) {
  uintptr_t low, high, here = (uintptr_t)frame;
  if (here - self->floor < atomic_load(&self->room)) return true;
  if (kvo__stack_bounds(&low, &high) && here >= low && here < high) return false;
  return depth < UNKNOWN_STACK && kvo__stack_is_there(frame, LEAST_RESERVE);
}

uint32_t kvo__limit_of(const kvo_thread *self) {
  if (self->settling.is_on) return 0;
  uint32_t most = kvo__knobs.max_depth;
  return most != 0 && most < self->capacity ? most : self->capacity;
}

/* ------------------------------------------------------------------------------------------------------------ Circles -- */

/* The deliveries in progress, without what else is marked; the innermost `capacity` if there are more. */
static size_t deliveries(const kvo_thread *self, const kvo_mark **found, size_t capacity, size_t *skipped) {
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

/* How many different observations there are among these. */
static size_t kinds_of(const kvo_mark *const *found, size_t count, size_t most) {
  size_t kinds = 0;
  for (size_t i = 0; i < count && kinds <= most; i++) {
    size_t before = 0;
    while (before < i && found[before]->node != found[i]->node) before++;
    kinds += before == i;
  }
  return kinds;
}

/* Whether each round told the same values as one before it: a few rounds before, for a value may swing. */
static bool values_repeat(const kvo_mark *const *found, size_t count, size_t round) {
  for (size_t period = round; 2 * period + round <= count; period += round) {
    size_t i = count - period - round;
    while (i + period < count && kvo__tells_same(found[i]->change, found[i + period]->change)) i++;
    if (i + period == count) return true;
  }
  return false;
}

/* What the innermost deliveries show. */
static kvo_nesting nesting_of(const kvo_thread *self) {
  enum { LOOKED_AT = ROUNDS * LONGEST_ROUND };
  const kvo_mark *found[LOOKED_AT];
  size_t skipped, count = deliveries(self, found, LOOKED_AT, &skipped);
  for (size_t length = 1; length <= LONGEST_ROUND; length++) {
    if (!repeats(found, count, length)) continue;
    bool is_of_one = kinds_of(found + count - length, length, 1) == 1;
    return (kvo_nesting){is_of_one ? KVO_CIRCLE_OF_ONE : KVO_CIRCLE, length, values_repeat(found, count, length)};
  }
  size_t kinds = kinds_of(found, count, LONGEST_ROUND);
  return (kvo_nesting){ROUNDS * kinds <= count ? KVO_CIRCLE_IRREGULAR : KVO_NO_CIRCLE, kinds, false};
}

bool kvo__may_nest_slowly(kvo_thread *self, const void *frame) {
  uint32_t depth = atomic_load(&self->depth), most = kvo__knobs.max_depth;
  kvo__measure(self);
  if (depth == 0) { /* what was put off has been left, with all deliveries */
    kvo__settle_if_due(self, 0);
    return true;
  }
  if (self->settling.is_on) return false;
  if ((most == 0 || depth < most) && has_room(self, frame, depth)) return true;
  kvo_nesting nesting = nesting_of(self);
  bool is_first = self->settling.frame == NULL;
  kvo__settle_begin(self, nesting.values_repeat); /* before a handler, which may make changes */
  if (is_first) kvo__fault_too_deep(depth, &nesting, most != 0 && depth >= most);
  return false;
}

/* -------------------------------------------------------------------------------------------------------------- Chain -- */

/* How long the round is that begins here and comes at least three times, and how often it comes; 1 and 1 if none does. */
static size_t round_at(const kvo_mark *const *found, size_t count, size_t *times) {
  for (size_t length = 1; length <= LONGEST_ROUND && 3 * length <= count; length++) {
    size_t same = 0;
    while (length + same < count && found[same]->node == found[length + same]->node) same++;
    *times = same / length + 1;
    if (*times >= 3) return length;
  }
  return *times = 1;
}

size_t kvo__chain(kvo_fault_step *steps, size_t capacity) {
  enum { LOOKED_AT = 256 };
  const kvo_thread *self = kvo__this_thread;
  const kvo_mark *found[LOOKED_AT];
  size_t skipped = 0, count = self != NULL ? deliveries(self, found, LOOKED_AT, &skipped) : 0;
  /* How many of the outermost are left out, so that the innermost fit. */
  for (size_t start = 0;; start++) {
    size_t used = 0;
    for (size_t i = start, times; i < count; i += times) {
      size_t length = round_at(found + i, count - i, &times), first = used;
      times *= length;
      for (size_t step = 0; step < length; step++, used++) {
        if (used >= capacity) continue;
        steps[used] = (kvo_fault_step){.round = 0, .repeats = 0};
        kvo__describe_node(found[i + step]->node, &steps[used].observation);
      }
      if (times > length && first < capacity) {
        steps[first].round = length;
        steps[first].repeats = times / length - 1;
      }
    }
    if (used > capacity) continue;
    if (used > 0) steps[0].skipped = skipped + start;
    return used;
  }
}

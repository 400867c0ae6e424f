/* depth.c - deliveries within deliveries: which go in a circle, which are merely deep, which were left without being over. */
#define _GNU_SOURCE
#include "tracked.h"

#include <stdlib.h>

enum {
  /** How many deliveries are looked at together: so many may begin until the next look. */
  STRIDE = 16,
  /** So deep a circle may go unless KVO_MAX_DEPTH says otherwise: an observer that counts down to 0 is no mistake. */
  CIRCLE = 256,
  /** So often a round must have come one after the other to be a circle. */
  ROUNDS = 8,
  /** More observations are no round. */
  LONGEST_ROUND = 32,
  /** So deep deliveries may nest on a stack whose end is not known, such as a coroutine's. */
  UNKNOWN_STACK = 1024,
};

/* What is left to the program for a report, a handler, and what the callbacks between two looks need. */
static size_t reserve(size_t stack_size) {
  size_t eighth = stack_size / 8;
  return eighth < 64 * 1024 ? 64 * 1024 : eighth > 256 * 1024 ? 256 * 1024 : eighth;
}

static bool has_room(const void *frame, uint32_t depth) {
  uintptr_t low, high, here = (uintptr_t)frame;
  if (!kvo__stack_bounds(&low, &high) || here < low || here >= high) return depth < UNKNOWN_STACK;
  return here - low > reserve(high - low);
}

/* ------------------------------------------------------------------------------------------------------------ Circles -- */

static bool is_delivery(const kvo_mark *mark) {
  return mark->node != NULL && atomic_load_explicit(&mark->observation, memory_order_relaxed) != 0;
}

/* The deliveries in progress, without what else is marked; the innermost `capacity` if there are more. */
static size_t deliveries(const kvo_thread *self, const kvo_node **nodes, size_t capacity, size_t *skipped) {
  const kvo_mark *marks = atomic_load(&self->marks);
  size_t depth = atomic_load(&self->depth), all = 0, count = 0;
  for (size_t i = 0; i < depth; i++) all += is_delivery(&marks[i]);
  *skipped = all > capacity ? all - capacity : 0;
  size_t skip = *skipped;
  for (size_t i = 0; i < depth; i++)
    if (is_delivery(&marks[i]) && skip-- == 0) {
      nodes[count++] = marks[i].node;
      skip = 0;
    }
  return count;
}

static bool repeats(const kvo_node *const *nodes, size_t count, size_t round) {
  if (count < ROUNDS * round) return false;
  for (size_t i = count - ROUNDS * round; i + round < count; i++)
    if (nodes[i] != nodes[i + round]) return false;
  return true;
}

/* How many different observations there are among these. */
static size_t kinds_of(const kvo_node *const *nodes, size_t count, size_t most) {
  size_t kinds = 0;
  for (size_t i = 0; i < count && kinds <= most; i++) {
    size_t before = 0;
    while (before < i && nodes[before] != nodes[i]) before++;
    kinds += before == i;
  }
  return kinds;
}

/* What the innermost deliveries show. */
static kvo_circle circle_of(const kvo_thread *self, size_t *length) {
  enum { LOOKED_AT = ROUNDS * LONGEST_ROUND };
  const kvo_node *nodes[LOOKED_AT];
  size_t skipped, count = deliveries(self, nodes, LOOKED_AT, &skipped);
  for (*length = 1; *length <= LONGEST_ROUND; ++*length)
    if (repeats(nodes, count, *length))
      return kinds_of(nodes + count - *length, *length, 1) == 1 ? KVO_CIRCLE_OF_ONE : KVO_CIRCLE;
  *length = kinds_of(nodes, count, LONGEST_ROUND);
  return *length <= LONGEST_ROUND && count == LOOKED_AT ? KVO_CIRCLE_IRREGULAR : KVO_NO_CIRCLE;
}

bool kvo__may_go_deeper(kvo_thread *self, const void *frame) {
  uint32_t depth = atomic_load(&self->depth);
  if (self->settling && depth > 0) return false;
  if (self->settling) {
    self->settling = false;
    self->limit = KVO_FIRST_LIMIT;
    return true;
  }
  uint32_t most = kvo__knobs.max_depth, next = depth + STRIDE;
  size_t length = 0;
  kvo_circle circle = depth >= (most != 0 ? most : CIRCLE) ? circle_of(self, &length) : KVO_NO_CIRCLE;
  bool too_deep = most != 0 ? depth >= most : circle != KVO_NO_CIRCLE || !has_room(frame, depth);
  if (!too_deep) {
    self->limit = most != 0 && next > most ? most : next;
    return true;
  }
  kvo__fault_too_deep(depth, circle, length);
  self->settling = true;
  self->limit = 0;
  return false;
}

/* ---------------------------------------------------------------------------------------------------------- Abandoned -- */

void kvo__end_abandoned(kvo_thread *self, const void *frame) {
  const kvo_mark *marks = atomic_load(&self->marks);
  uint32_t depth = atomic_load(&self->depth), over = depth;
  while (over > 0 && marks[over - 1].frame <= frame) over--;
  if (over == depth) return;
  const kvo_node *left = NULL; /* the one whose callback was left */
  for (uint32_t i = depth; i-- > over;)
    if (is_delivery(&marks[i])) left = marks[i].node;
  kvo__recording_abandoned(frame);
  kvo__unmark(over);
  kvo__fault_abandoned(left);
}

/* -------------------------------------------------------------------------------------------------------------- Chain -- */

/* How long the round is that begins here and comes at least three times, and how often it comes; 1 and 1 if none does. */
static size_t round_at(const kvo_node *const *nodes, size_t count, size_t *times) {
  for (size_t length = 1; length <= LONGEST_ROUND && 3 * length <= count; length++) {
    size_t same = 0;
    while (length + same < count && nodes[same] == nodes[length + same]) same++;
    *times = same / length + 1;
    if (*times >= 3) return length;
  }
  return *times = 1;
}

size_t kvo__chain(kvo_fault_step *steps, size_t capacity) {
  enum { LOOKED_AT = 512 };
  const kvo_thread *self = kvo__this_thread;
  const kvo_node *nodes[LOOKED_AT];
  size_t skipped = 0, count = self != NULL ? deliveries(self, nodes, LOOKED_AT, &skipped) : 0;
  /* How many of the outermost are left out, so that the innermost fit. */
  for (size_t start = 0;; start++) {
    size_t used = 0;
    for (size_t i = start, times; i < count; i += times) {
      size_t length = round_at(nodes + i, count - i, &times), first = used;
      times *= length;
      for (size_t step = 0; step < length; step++, used++) {
        if (used >= capacity) continue;
        steps[used] = (kvo_fault_step){.round = 0, .repeats = 0};
        kvo__describe_node(nodes[i + step], &steps[used].observation);
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

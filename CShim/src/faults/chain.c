/* chain.c - the list of deliveries in progress in a report. */
#include "faults/reporting.h"

/* The length of the longest cycle that is looked for. */
enum { CHAIN_LONGEST_ROUND = 32 };

/* The length of the cycle that begins here and occurs at least three times, and how often it occurs; 1 and 1 if there is none. */
static size_t round_at(const kvo_mark *const *found, size_t count, size_t *times) {
  for (size_t length = 1; length <= CHAIN_LONGEST_ROUND && 3 * length <= count; length++) {
    size_t same = 0;
    while (length + same < count && found[same]->node == found[length + same]->node) same++;
    *times = same / length + 1;
    if (*times >= 3) return length;
  }
  return *times = 1;
}

size_t kvo__chain(kvo_fault_step *steps, size_t capacity) {
  enum { EXAMINED = 256 };
  const kvo_thread *self = kvo__own.thread;
  const kvo_mark *found[EXAMINED];
  size_t skipped = 0, count = self != NULL ? kvo__deliveries(self, found, EXAMINED, &skipped) : 0;
  /* `start` is how many outer deliveries are left out, so that the innermost fit. */
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

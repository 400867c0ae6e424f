/* allocator.c - see allocator.h. */
#include "allocator.h"

#include <kvo/kvo.h>
#include <stdlib.h>

_Atomic long live_blocks;
_Atomic long fail_in;
_Atomic int has_failed;
_Atomic int keeps_failing;
void (*before_allocation)(size_t size);

static void *allocate(size_t size, void *arg) {
  (void)arg;
  if (before_allocation != NULL) before_allocation(size);
  if (fail_in > 0 && --fail_in == 0) {
    has_failed = 1;
    if (keeps_failing) fail_in = 1;
    return NULL;
  }
  void *block = malloc(size);
  if (block != NULL) live_blocks++;
  return block;
}

static void release(void *memory, void *arg) {
  (void)arg;
  live_blocks--;
  free(memory);
}

void use_counting_allocator(void) { kvo_set_allocator(allocate, release, NULL); }

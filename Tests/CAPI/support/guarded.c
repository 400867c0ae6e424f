/* guarded.c - see guarded.h. */
#include "guarded.h"
#include "harness.h"

#include <stdlib.h>
#include <string.h>

enum { HEAD = 32, BEHIND = 64, UNTOUCHED = 0xa7, RELEASED = 0x5b };

typedef struct block {
  struct block *next, *previous;
  size_t length;
} block;
_Static_assert(sizeof(block) <= HEAD, "the content begins behind the head");

static block *blocks;
long guarded_blocks;

static unsigned char *content_of(block *of) { return (unsigned char *)of + HEAD; }

static void *allocate(size_t length, void *arg) {
  (void)arg;
  block *made = malloc(HEAD + length + BEHIND);
  if (made == NULL) return NULL;
  *made = (block){blocks, NULL, length};
  if (blocks != NULL) blocks->previous = made;
  blocks = made;
  guarded_blocks++;
  memset(content_of(made), UNTOUCHED, length + BEHIND);
  return content_of(made);
}

static void check_block(block *of) {
  for (size_t i = of->length; i < of->length + BEHIND; i++)
    if (content_of(of)[i] != UNTOUCHED)
      harness_fail(__FILE__, __LINE__, "byte %zu of a block of %zu bytes was written", i, of->length);
}

static void release(void *memory, void *arg) {
  (void)arg;
  block *of = (block *)(void *)((unsigned char *)memory - HEAD);
  check_block(of);
  if (of->previous != NULL)
    of->previous->next = of->next;
  else
    blocks = of->next;
  if (of->next != NULL) of->next->previous = of->previous;
  guarded_blocks--;
  memset(content_of(of), RELEASED, of->length);
  __asm__ volatile("" : : "r"(of) : "memory"); /* the pattern is written although nobody reads it */
  free(of);
}

void guard_memory(void) { kvo_set_allocator(allocate, release, NULL); }

void check_memory(void) {
  for (block *each = blocks; each != NULL; each = each->next) check_block(each);
}

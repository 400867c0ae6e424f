/* allocations.c - malloc and related functions, which count and call those of glibc; see ccounting.h. */
#include "ccounting.h"

#include <errno.h>
#include <stdatomic.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>

void *__libc_malloc(size_t size);
void *__libc_calloc(size_t count, size_t size);
void *__libc_realloc(void *block, size_t size);
void *__libc_memalign(size_t alignment, size_t size);
void __libc_free(void *block);

static _Atomic long allocations;

/* The blocks of the recording thread: a hash table with open addressing, whose entries stay when their block is freed. */
typedef struct block {
  uintptr_t address;
  size_t size;
} block;

enum { TABLE_SIZE = 1 << 18 };
static block table[TABLE_SIZE];
static size_t used;
static _Thread_local bool recording;

/* Returns the entry of an address, or the empty entry for it. */
static block *find(uintptr_t address) {
  size_t index = (address >> 4) * UINT64_C(0x9E3779B97F4A7C15) >> 40;
  for (;; index++) {
    block *entry = &table[index % TABLE_SIZE];
    if (entry->address == address || entry->address == 0) return entry;
  }
}

static void *add(void *memory, size_t size) {
  atomic_fetch_add_explicit(&allocations, 1, memory_order_relaxed);
  if (recording && memory != NULL) {
    block *entry = find((uintptr_t)memory);
    if (entry->address == 0 && ++used > TABLE_SIZE / 2) abort();
    *entry = (block){.address = (uintptr_t)memory, .size = size};
  }
  return memory;
}

static void forget(void *memory) {
  if (recording && memory != NULL) find((uintptr_t)memory)->size = 0;
}

void *malloc(size_t size) { return add(__libc_malloc(size), size); }
void *calloc(size_t count, size_t size) { return add(__libc_calloc(count, size), count * size); }
void *memalign(size_t alignment, size_t size) { return add(__libc_memalign(alignment, size), size); }
void *aligned_alloc(size_t alignment, size_t size) { return memalign(alignment, size); }

void *realloc(void *memory, size_t size) {
  forget(memory);
  return add(__libc_realloc(memory, size), size);
}

int posix_memalign(void **memory, size_t alignment, size_t size) {
  void *made = memalign(alignment, size);
  if (made == NULL) return ENOMEM;
  *memory = made;
  return 0;
}

void free(void *memory) {
  forget(memory);
  __libc_free(memory);
}

long ccounting_allocations(void) { return atomic_load_explicit(&allocations, memory_order_relaxed); }

void ccounting_begin_blocks(void) {
  for (size_t i = 0; i < TABLE_SIZE; i++) table[i] = (block){0};
  used = 0;
  recording = true;
}

long ccounting_end_blocks(void) {
  recording = false;
  long bytes = 0;
  for (size_t i = 0; i < TABLE_SIZE; i++) bytes += (long)table[i].size;
  return bytes;
}

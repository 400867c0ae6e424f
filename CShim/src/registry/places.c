/* places.c - copies of source file names for later reports, one per distinct name: the module that holds the original may be unloaded. */
#define _GNU_SOURCE
#include "registry/places.h"

#include <link.h>
#include <stdlib.h>

struct kvo_constants kvo__constants;

/* The executable comes first, and its read-only segments precede the writable ones. */
static int look_at_executable(struct dl_phdr_info *info, size_t size, void *arg) {
  (void)size, (void)arg;
  uintptr_t begin = UINTPTR_MAX, end = UINTPTR_MAX;
  for (size_t i = 0; i < info->dlpi_phnum; i++) {
    const ElfW(Phdr) *segment = &info->dlpi_phdr[i];
    if (segment->p_type != PT_LOAD) continue;
    uintptr_t at = info->dlpi_addr + segment->p_vaddr;
    if (at < begin) begin = at;
    if ((segment->p_flags & PF_W) != 0 && at < end) end = at;
  }
  if (begin < end && end != UINTPTR_MAX) kvo__constants = (struct kvo_constants){begin, end - begin};
  return 1;
}

void kvo__places_start(void) { dl_iterate_phdr(look_at_executable, NULL); }

/* The names that were asked for last, so that most calls only compare the text. The members of a pair are written separately and may belong
 * to different names for a moment; therefore the text decides. */
static struct { const char *_Atomic from, *_Atomic copy; } recent[64];

/* Never freed: registrations, and the log of ended observations, point to them. */
enum { SLOTS = 8192, MAX = SLOTS / 2 };
static const char *_Atomic kept[SLOTS];
static _Atomic uint32_t count;

static const char *find_or_copy(const char *file) {
  size_t length = strlen(file);
  uint64_t hash = kvo_key_hash(file, length);
  char *copy = NULL;
  for (size_t i = 0; i < SLOTS; i++) {
    const char *_Atomic *slot = &kept[(hash + i) % SLOTS];
    const char *present = atomic_load(slot);
    if (present == NULL) {
      if (copy == NULL && atomic_load(&count) < MAX) copy = malloc(length + 1);
      if (copy == NULL) return NULL;
      memcpy(copy, file, length + 1);
      if (atomic_compare_exchange_strong(slot, &present, copy)) {
        atomic_fetch_add(&count, 1);
        return copy;
      }
    }
    if (strcmp(present, file) == 0) {
      free(copy);
      return present;
    }
  }
  free(copy);
  return NULL;
}

const char *kvo__keep_file_slowly(const char *file) {
  if (file == NULL) return NULL;
  size_t at = ((uintptr_t)file ^ (uintptr_t)file >> 6) % (sizeof recent / sizeof *recent);
  const char *copy = atomic_load_explicit(&recent[at].copy, memory_order_acquire);
  if (atomic_load_explicit(&recent[at].from, memory_order_relaxed) == file && copy != NULL && strcmp(copy, file) == 0)
    return copy;
  copy = find_or_copy(file);
  atomic_store_explicit(&recent[at].from, file, memory_order_relaxed);
  atomic_store_explicit(&recent[at].copy, copy, memory_order_release);
  return copy;
}

/* places.c - source locations for later reports. The module that holds a file name may be unloaded, so each distinct name is kept once, and
 * has a number: observations store their location in 32 bits. */
#define _GNU_SOURCE
#include "registry/places.h"

#include <link.h>
#include <stdlib.h>

/* The address range of the executable's constants, which stay valid for the life of the process. */
static struct { uintptr_t begin, size; } constants;

static bool is_constant(const char *file) { return (uintptr_t)file - constants.begin < constants.size; }

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
  if (begin < end && end != UINTPTR_MAX) {
    constants.begin = begin;
    constants.size = end - begin;
  }
  return 1;
}

void kvo__places_start(void) { dl_iterate_phdr(look_at_executable, NULL); }

/* The names, in a hash table. The number of a name is its index; index 0 is not used. They are never freed: observations and the log of
 * ended observations refer to them. */
enum { FILE_BITS = 13, FILES = 1 << FILE_BITS, MAX = FILES / 2, LINE_BITS = 32 - FILE_BITS };
static const char *_Atomic places_kept[FILES];
static _Atomic uint32_t places_count;

/* The names that were asked for last: the address in the lower bits, the number above it. Another name may be at that address by now,
 * unless it is a constant of the executable; then the text decides. */
enum { ADDRESS_BITS = 48 };
static _Atomic uint64_t recent[64];

/* The number of a name, or 0. */
static uint32_t find_or_add(const char *file) {
  size_t length = strlen(file);
  uint64_t hash = kvo_key_hash(file, length);
  const char *made = is_constant(file) ? file : NULL;
  for (uint32_t i = 0; i < FILES - 1; i++) {
    uint32_t number = (uint32_t)((hash + i) % (FILES - 1)) + 1;
    const char *present = atomic_load(&places_kept[number]);
    if (present == NULL) {
      if (atomic_load(&places_count) >= MAX) break;
      if (made == NULL) {
        char *copy = malloc(length + 1);
        if (copy == NULL) return 0;
        made = memcpy(copy, file, length + 1);
      }
      if (atomic_compare_exchange_strong(&places_kept[number], &present, made)) {
        atomic_fetch_add(&places_count, 1);
        return number;
      }
    }
    if (strcmp(present, file) != 0) continue;
    if (made != file) free((char *)(uintptr_t)made); /* another thread has added the name */
    return number;
  }
  if (made != file) free((char *)(uintptr_t)made);
  return 0;
}

static uint32_t number_of(const char *file) {
  _Atomic uint64_t *last = &recent[((uintptr_t)file ^ (uintptr_t)file >> 6) % (sizeof recent / sizeof *recent)];
  uint64_t seen = atomic_load_explicit(last, memory_order_acquire);
  uint32_t number = (uint32_t)(seen >> ADDRESS_BITS);
  uint64_t address = (uint64_t)(uintptr_t)file;
  if (number != 0 && (seen ^ address) << (64 - ADDRESS_BITS) == 0 && address >> ADDRESS_BITS == 0 &&
      (is_constant(file) || strcmp(atomic_load_explicit(&places_kept[number], memory_order_relaxed), file) == 0))
    return number;
  number = find_or_add(file);
  atomic_store_explicit(last,
                        (uint64_t)number << ADDRESS_BITS | (address << (64 - ADDRESS_BITS) >> (64 - ADDRESS_BITS)),
                        memory_order_release);
  return number;
}

kvo_site kvo__site(const char *file, uint32_t line) {
  uint32_t number = file != NULL && line >> LINE_BITS == 0 ? number_of(file) : 0;
  return number != 0 ? number << LINE_BITS | line : 0;
}

kvo_place kvo__site_place(kvo_site site) {
  if (site == 0) return KVO_NOWHERE;
  return (kvo_place){atomic_load(&places_kept[site >> LINE_BITS]), site & ((UINT32_C(1) << LINE_BITS) - 1)};
}

/* platform/index.h - an ordered index of entries that are embedded in the indexed structures; it allocates nothing (index.c). */
#ifndef KVO_INDEX_H
#define KVO_INDEX_H

#include "platform/platform.h"

/** Embedded in an indexed structure. */
typedef struct kvo_index_entry {
  struct kvo_index_entry *left, *right;
} kvo_index_entry;

/** The sort key of an entry. */
typedef struct kvo_index_key {
  uint64_t major, minor;
} kvo_index_key;

/** A key that sorts by address and hash, as a pseudo-random number, then by `order`. */
static inline kvo_index_key kvo__index_key(const void *address, uint64_t hash, uint64_t order) {
  kvo_index_key key = {((uint64_t)(uintptr_t)address ^ hash) * UINT64_C(0x9e3779b97f4a7c15), order};
  return key;
}

/** An index. Initialise it with zeros and set `key_of`. The caller holds a lock that guards it. */
typedef struct kvo_index {
  kvo_index_entry *root;
  kvo_index_key (*key_of)(const kvo_index_entry *entry);
} kvo_index;

KVO_HIDDEN void kvo__index_add(kvo_index *index, kvo_index_entry *entry);
KVO_HIDDEN void kvo__index_remove(kvo_index *index, kvo_index_entry *entry);
/** The last entry below a key, or NULL; and the first entry that is not below it, or NULL. */
KVO_HIDDEN kvo_index_entry *kvo__index_before(const kvo_index *index, kvo_index_key key);
KVO_HIDDEN kvo_index_entry *kvo__index_from(const kvo_index *index, kvo_index_key key);

#endif /* KVO_INDEX_H */

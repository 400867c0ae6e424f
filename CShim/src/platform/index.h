/* index.h - nodes of a slot in order, for those who would walk its list for long: a treap, which needs no memory. */
#ifndef KVO_INDEX_H
#define KVO_INDEX_H

#include "platform/platform.h"

/** Stands in what is indexed. */
typedef struct kvo_index_entry {
  struct kvo_index_entry *left, *right;
} kvo_index_entry;

/** What the entries are in order of. */
typedef struct kvo_index_key {
  uint64_t major, minor;
} kvo_index_key;

/** In order of an address and a hash, as good as random, and of what is the same of both in order of `order`. */
static inline kvo_index_key kvo__index_key(const void *address, uint64_t hash, uint64_t order) {
  kvo_index_key key = {((uint64_t)(uintptr_t)address ^ hash) * UINT64_C(0x9e3779b97f4a7c15), order};
  return key;
}

/** All zero but for `key_of`: an empty one. Whoever uses it holds a lock. */
typedef struct kvo_index {
  kvo_index_entry *root;
  kvo_index_key (*key_of)(const kvo_index_entry *entry);
} kvo_index;

KVO_HIDDEN void kvo__index_add(kvo_index *index, kvo_index_entry *entry);
KVO_HIDDEN void kvo__index_remove(kvo_index *index, kvo_index_entry *entry);
/** The last entry before a key, or NULL; and the first that is not before it. */
KVO_HIDDEN kvo_index_entry *kvo__index_before(const kvo_index *index, kvo_index_key key);
KVO_HIDDEN kvo_index_entry *kvo__index_from(const kvo_index *index, kvo_index_key key);

#endif /* KVO_INDEX_H */

/* registry/slot_index.h - the places of nodes in a slot, and a search that need not walk a long list: slot_index.c. Part of registry.h. */
#ifndef KVO_SLOT_INDEX_H
#define KVO_SLOT_INDEX_H

#include "registry/nodes.h"

/* Follows a slot whose list was once found to be long, and stays from then on. Under info->lock. */
typedef struct kvo_slot_index {
  kvo_later_slot later;
  /** The dependencies by order; the observations' own nodes that have details, by observer; and the same nodes by observer, key path and
   * context. An index without a key_of has not been made yet. */
  kvo_index by_order, by_observer, by_context;
} kvo_slot_index;

/** The indexes of a slot, or NULL. */
static inline kvo_slot_index *kvo__slot_index(kvo_slot *slot) {
  kvo_slot *next = atomic_load_explicit(&slot->next, memory_order_relaxed);
  return next != NULL && next->is_index ? (kvo_slot_index *)(void *)next : NULL;
}

/** Adds a node to those indexes that have been made, or removes it from them. info->lock is held. */
KVO_HIDDEN void kvo__slot_index_change(kvo_slot_index *of, kvo_node *node,
                                       void (*change)(kvo_index *index, kvo_index_entry *entry));

/** The newest node of a slot whose order is at most `order`, or NULL. info->lock is held. */
KVO_HIDDEN kvo_node *kvo__slot_place(kvo_info *info, kvo_slot *slot, uint64_t order);
/** The observer, key path and context to search for. Without the context, the key path is not looked at. */
typedef struct kvo_wanted {
  const void *address;
  const char *key_path;
  const void *context;
  bool match_context;
} kvo_wanted;
/** Calls `visit` for the own nodes of a slot that may match, newest first, until it returns false. `visit` has to compare them itself.
 * info->lock is held. */
KVO_HIDDEN void kvo__slot_visit(kvo_info *info, kvo_slot *slot, const kvo_wanted *what,
                                bool (*visit)(kvo_node *node, void *arg), void *arg);

#endif /* KVO_SLOT_INDEX_H */

/* slot_index.c - the places of nodes in a slot, and a search that need not walk a long list. */
#include "registry/registry.h"

/* A list that was walked for more steps than this gets an index, because it is likely to be walked as far again. */
enum { FAR = 16 };

static kvo_slot_index *index_ensure(kvo_info *info, kvo_slot *slot) {
  kvo_slot_index *index = kvo__slot_index(slot);
  if (index != NULL) return index;
  index = kvo__alloc(sizeof *index);
  if (index == NULL) return NULL;
  index->later.info = info;
  index->later.slot.key = slot->key;
  index->later.slot.index = slot->index;
  index->later.slot.is_index = true;
  atomic_store_explicit(&index->later.slot.next, atomic_load_explicit(&slot->next, memory_order_relaxed),
                        memory_order_relaxed);
  atomic_store_explicit(&slot->next, &index->later.slot, memory_order_release);
  return index;
}

static kvo_dependency *dependency_of(const kvo_index_entry *entry) {
  return (kvo_dependency *)((uintptr_t)entry - offsetof(kvo_dependency, entry));
}

static kvo_index_key order_key(const kvo_index_entry *entry) {
  kvo_index_key key = {dependency_of(entry)->order, (uint64_t)(uintptr_t)entry};
  return key;
}

static kvo_node *node_by_observer(const kvo_index_entry *entry) {
  return kvo__details_node((kvo_node_details *)((uintptr_t)entry - offsetof(kvo_node_details, by_observer)));
}

static kvo_node *node_by_context(const kvo_index_entry *entry) {
  return kvo__details_node((kvo_node_details *)((uintptr_t)entry - offsetof(kvo_node_details, by_context)));
}

static uint64_t slot_index_hash_of(const void *context) {
  return (uint64_t)(uintptr_t)context * UINT64_C(0xbf58476d1ce4e5b9);
}

static kvo_index_key observer_key(const kvo_index_entry *entry) {
  const kvo_node *node = node_by_observer(entry);
  return kvo__index_key(kvo__node_details(node)->address, 0, kvo__node_order(node));
}

static kvo_index_key context_key(const kvo_index_entry *entry) {
  const kvo_node *node = node_by_context(entry);
  const kvo_node_details *details = kvo__node_details(node);
  return kvo__index_key(details->address, kvo__node_path(node) ^ slot_index_hash_of(details->context),
                        kvo__node_order(node));
}

/* The entry of a node in an index of its slot; NULL if the node is not in that index. */
static kvo_index_entry *entry_in(const kvo_slot_index *of, const kvo_index *index, kvo_node *node) {
  bool is_own = kvo__node_is_own(node);
  if (index == &of->by_order) return kvo__node_is_dependency(node) ? &kvo__dependency(node)->entry : NULL;
  kvo_node_details *details = is_own ? kvo__node_details(node) : NULL;
  if (details == NULL) return NULL;
  return index == &of->by_observer ? &details->by_observer : &details->by_context;
}

void kvo__slot_index_change(kvo_slot_index *of, kvo_node *node,
                            void (*change)(kvo_index *index, kvo_index_entry *entry)) {
  kvo_index *all[] = {&of->by_order, &of->by_observer, &of->by_context};
  for (size_t i = 0; i < sizeof all / sizeof *all; i++) {
    kvo_index_entry *entry = all[i]->key_of != NULL ? entry_in(of, all[i], node) : NULL;
    if (entry != NULL) change(all[i], entry);
  }
}

/* Makes one of a slot's indexes if it does not exist yet. */
static void slot_index_fill(kvo_slot *slot, kvo_index *index, kvo_index_key (*key_of)(const kvo_index_entry *entry)) {
  if (index->key_of != NULL) return;
  index->key_of = key_of;
  for (kvo_node *node = atomic_load(&slot->oldest); node != NULL; node = atomic_load(&node->newer)) {
    kvo_index_entry *entry = entry_in(kvo__slot_index(slot), index, node);
    if (entry != NULL) kvo__index_add(index, entry);
  }
}

static kvo_node *slot_index_load(kvo_node *_Atomic *link) { return atomic_load_explicit(link, memory_order_relaxed); }

/* kvo__slot_place between two neighbours of the index; NULL means the end of the list. It walks from both ends, past own nodes, which are
 * not in the index. */
static kvo_node *place_between(kvo_slot *slot, kvo_node *before, kvo_node *behind, uint64_t order) {
  for (;;) {
    kvo_node *up = slot_index_load(before != NULL ? &before->newer : &slot->oldest);
    if (up == NULL || kvo__node_order(up) > order) return before;
    before = up;
    kvo_node *down = slot_index_load(behind != NULL ? &behind->older : &slot->newest);
    if (down == NULL || kvo__node_order(down) <= order) return down;
    behind = down;
  }
}

kvo_node *kvo__slot_place(kvo_info *info, kvo_slot *slot, uint64_t order) {
  kvo__assert(kvo__holds(&info->lock));
  kvo_node *node = slot_index_load(&slot->newest);
  for (int steps = 0; steps < FAR && node != NULL && kvo__node_order(node) > order; steps++)
    node = slot_index_load(&node->older);
  if (node == NULL || kvo__node_order(node) <= order) return node;
  /* Also try the other end: a change notifies newest first, so what it re-arms is added in that order. */
  kvo_node *before = NULL, *up = slot_index_load(&slot->oldest);
  for (int steps = 0; steps < FAR && kvo__node_order(up) <= order; steps++) {
    before = up;
    up = slot_index_load(&up->newer);
  }
  if (kvo__node_order(up) > order) return before;
  kvo_slot_index *index = index_ensure(info, slot);
  kvo_index_entry *lower = NULL, *upper = NULL;
  if (index != NULL) {
    kvo_index_key key = {order, UINT64_MAX};
    slot_index_fill(slot, &index->by_order, order_key);
    lower = kvo__index_before(&index->by_order, key);
    upper = kvo__index_from(&index->by_order, key);
  }
  return place_between(slot, lower != NULL ? &dependency_of(lower)->node : NULL,
                       upper != NULL ? &dependency_of(upper)->node : NULL, order);
}

static bool slot_index_is_long(kvo_slot *slot) {
  kvo_node *node = slot_index_load(&slot->newest);
  for (int steps = 0; steps < FAR && node != NULL; steps++) node = slot_index_load(&node->older);
  return node != NULL;
}

void kvo__slot_visit(kvo_info *info, kvo_slot *slot, const kvo_wanted *what, bool (*visit)(kvo_node *node, void *arg),
                     void *arg) {
  kvo__assert(kvo__holds(&info->lock));
  /* Nodes without details have no observer's address and no context, so they cannot match. */
  bool needs_details = what->address != NULL || (what->match_context && what->context != NULL);
  kvo_slot_index *of = needs_details && slot_index_is_long(slot) ? index_ensure(info, slot) : NULL;
  if (of == NULL) {
    for (kvo_node *node = slot_index_load(&slot->newest); node != NULL; node = slot_index_load(&node->older))
      if (kvo__node_is_own(node) && !visit(node, arg)) return;
    return;
  }
  kvo_index *index = what->match_context ? &of->by_context : &of->by_observer;
  slot_index_fill(slot, index, what->match_context ? context_key : observer_key);
  kvo_index_key key = kvo__index_key(what->address, 0, UINT64_MAX);
  if (what->match_context) {
    kvo_key path = kvo_key_hash(what->key_path, strlen(what->key_path));
    key = kvo__index_key(what->address, path ^ slot_index_hash_of(what->context), UINT64_MAX);
  }
  for (kvo_index_entry *at; (at = kvo__index_before(index, key)) != NULL;) {
    kvo_index_key found = index->key_of(at);
    kvo_node *node = what->match_context ? node_by_context(at) : node_by_observer(at);
    if (found.major != key.major || !visit(node, arg)) return;
    key = found;
  }
}

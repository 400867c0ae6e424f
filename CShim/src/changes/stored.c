/* stored.c - a store that has notified nobody: paths that were registered, or led to the object, meanwhile follow it. */
#include "changes/scopes.h"
#include "changes/settle.h"

void kvo__follow_silently(const kvo_object *object, kvo_key key) {
  kvo_info *info = kvo__word_info(kvo__word(object));
  const kvo_slot *slot = info != NULL ? kvo__slot_find(info, key) : NULL;
  if (slot != NULL && atomic_load_explicit(&slot->wants, memory_order_acquire) != 0) kvo__silent_begin(info, key);
}

/* A key path subscribes to a key before it reads it. A setter stores first and then looks for subscribers. So either the path reads what
 * was stored, or the setter finds the path here. */
static void follow_store(kvo_info *info, kvo_key key, bool silent) {
  kvo_slot *slot = kvo__slot_find(info, key);
  if (slot == NULL || (slot->manual && !silent)) return;
  unsigned wants = atomic_load_explicit(&slot->wants, memory_order_acquire);
  if (wants == 0) return;
  uint64_t entered = kvo__enter(info);
  uint64_t limit = atomic_load_explicit(&info->births, memory_order_acquire);
  bool binds = !silent && (wants & KVO_SLOT_BINDS) != 0;
  kvo_open_scope *hold = binds ? kvo__settle(slot, kvo__present_depth(), false) : NULL;
  for (kvo_node *node = atomic_load(&slot->newest); node != NULL; node = atomic_load(&node->older)) {
    if (binds && (node->options & KVO_NODE_BINDS) != 0) continue;
    uint64_t birth = atomic_load_explicit(&node->birth, memory_order_acquire);
    if (birth > limit || !atomic_load_explicit(&node->live, memory_order_acquire)) continue;
    bool is_own = kvo__node_is_own(node);
    if (is_own && !silent && (node->options & KVO_INITIAL) != 0 && kvo__node_kind(node) == KVO_NODE_DIRECT)
      kvo__deliver_present(node, info, NULL);
    else if (!is_own && !silent)
      kvo__tracked_missed(node->user_data, birth);
    else if (!is_own && kvo__node_kind(node) != KVO_NODE_LEAF) /* a leaf goes on reading what it has read */
      kvo__tracked_react(node->user_data, KVO_STORED_SILENTLY, NULL);
  }
  if (hold != NULL) kvo__scope_close(hold);
  kvo__leave(info, entered);
}

void kvo__stored_silently(kvo_info *info, kvo_key key) { follow_store(info, key, true); }

void kvo_binding_stored(kvo_object *object, kvo_key key) {
  if (object == NULL || kvo__scope_has(object, key)) return;
  uintptr_t word = kvo__word(object);
  if ((word & KVO_WORD_OBSERVED) == 0) return;
  bool silent = false;
  if (kvo__own.open_changes != 0 && !kvo__scope_stored(object, key, &silent)) return;
  kvo_info *info = kvo__word_info(word);
  follow_store(info, key, silent);
  if (silent) kvo__silent_end(info, key);
}

void kvo__not_stored(const kvo_object *object, kvo_key key) {
  if (kvo__scoped(object) == KVO_SILENT) kvo__silent_end(kvo__word_info(kvo__word(object)), key);
}

void kvo_object_stored(kvo_object *object, const char *key) {
  if (object != NULL && key != NULL) kvo_binding_stored(object, kvo_key_hash(key, strlen(key)));
}

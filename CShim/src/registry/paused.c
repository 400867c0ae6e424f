/* paused.c - the values that properties had when observations of them were paused. */
#include "registry/registry.h"

/* Of those observations that want the old value: they are few, so their nodes have no room for it. */
struct kvo_paused {
  kvo_index_entry entry;
  kvo_observation id;
  const kvo_property *property;
  void *value;
  /** `births` of the object after the value was read: what changes from then on is stored after it. */
  uint64_t since;
  /** Tells it from an earlier pause of the same observation. */
  uint64_t serial;
};

static kvo_paused *paused_of_entry(const kvo_index_entry *entry) {
  return (kvo_paused *)((uintptr_t)entry - offsetof(kvo_paused, entry));
}

static kvo_index_key paused_key_of(const kvo_index_entry *entry) {
  return (kvo_index_key){paused_of_entry(entry)->id, 0};
}

static kvo_lock paused_lock;
static kvo_index by_id = {.key_of = paused_key_of};

static kvo_paused *paused_find(kvo_observation id) {
  kvo_index_entry *at = kvo__index_from(&by_id, (kvo_index_key){id, 0});
  return at != NULL && paused_of_entry(at)->id == id ? paused_of_entry(at) : NULL;
}

kvo_paused *kvo__paused_make(kvo_observation id, const kvo_property *property) {
  static _Atomic uint64_t serials;
  kvo_paused *made = kvo__alloc(sizeof *made);
  if (made == NULL) return NULL;
  made->id = id;
  made->property = property;
  made->serial = atomic_fetch_add(&serials, 1) + 1;
  return made;
}

uint64_t kvo__paused_add(kvo_paused *made) {
  uint64_t serial = made->serial;
  kvo__lock(&paused_lock);
  kvo__index_add(&by_id, &made->entry);
  kvo__unlock(&paused_lock);
  return serial;
}

bool kvo__paused_keep(kvo_observation id, uint64_t serial, void *value, uint64_t since) {
  kvo__lock(&paused_lock);
  kvo_paused *found = paused_find(id);
  bool is_there = found != NULL && found->serial == serial;
  if (is_there) {
    found->value = value;
    found->since = since;
  }
  kvo__unlock(&paused_lock);
  return is_there;
}

kvo_paused *kvo__paused_take(kvo_observation id) {
  kvo__lock(&paused_lock);
  kvo_paused *found = paused_find(id);
  if (found != NULL) kvo__index_remove(&by_id, &found->entry);
  kvo__unlock(&paused_lock);
  return found;
}

/* Whether it is the value that the property had before the change: one that began later, or has the same value, or one that cannot be
 * compared. */
static bool paused_is_before(const kvo_paused *of, const void *old_value, uint64_t began) {
  if (of->value == NULL || old_value == NULL) return false;
  if (began >= of->since) return true;
  bool can_compare = of->property->ops == NULL || of->property->ops->same != NULL;
  return !can_compare || kvo__property_same(of->property, old_value, of->value);
}

void kvo__paused_misses(const kvo_node *node, const void *old_value, uint64_t began) {
  kvo_paused *taken = kvo__paused_take(node->id); /* no lock is held while it is compared */
  if (taken == NULL) return;
  bool is_kept = paused_is_before(taken, old_value, began);
  if (is_kept) {
    kvo__lock(&paused_lock);
    is_kept = kvo__node_kind(node) == KVO_NODE_MISSED && paused_find(node->id) == NULL;
    if (is_kept) kvo__index_add(&by_id, &taken->entry);
    kvo__unlock(&paused_lock);
  }
  if (!is_kept) kvo__paused_free(taken);
}

const void *kvo__paused_value(const kvo_paused *of) { return of != NULL ? of->value : NULL; }

void kvo__paused_free(kvo_paused *of) {
  if (of != NULL && of->value != NULL) kvo__property_release(of->property, of->value);
  kvo__free(of);
}

/* postponed.c - whether an expression is left to something that is open: a change that has begun and is going to tell it, or a scope. Then
 * whatever else changes meanwhile, the expression is settled and told once, there. */
#include "expressions/tracked.h"

_Atomic bool kvo__has_in_place;
const kvo_node kvo__no_node[2];

/* Whether a change, by its mark, comes to a node with that order: an older one than the node where it is, which may have been removed. */
static bool is_ahead(const kvo_mark *mark, uint64_t order) {
  const kvo_node *from = kvo__node_kind(mark->node) == KVO_NODE_ANCHOR ? mark->dependency : mark->node;
  const kvo_node *next = atomic_load_explicit(&from->older, memory_order_acquire);
  while (next != NULL && !atomic_load_explicit(&next->live, memory_order_acquire))
    next = atomic_load_explicit(&next->older, memory_order_acquire);
  return next != NULL && kvo__node_order(next) >= order;
}

/* The key of a change, by its mark. NULL for any other mark. */
static const kvo_slot *slot_of(const kvo_mark *mark) {
  if (mark->node == NULL || mark->frame == NULL) return NULL;
  bool is_before = mark->is_before && atomic_load_explicit(&mark->reads, memory_order_relaxed) == NULL;
  return is_before ? NULL : mark->slot; /* the change itself is found otherwise */
}

bool kvo__is_notifying(const kvo_object *object, kvo_key key, uint32_t depth) {
  bool is_observer = false;
  for (uint32_t i = kvo__present_depth(); i > depth + 1; i--) {
    const kvo_mark *mark = kvo__mark_at(i - 1);
    is_observer = is_observer || (kvo__is_delivery(mark) && (mark->node->options & KVO_NODE_BINDS) == 0);
    const kvo_slot *slot = slot_of(mark);
    kvo_info *info = slot != NULL && slot->key == key ? kvo__slot_info((kvo_slot *)(uintptr_t)slot) : NULL;
    if (info != NULL && info->object == object && mark->node != kvo__no_node) return is_observer;
  }
  return false;
}

static bool has_slot(const kvo_tracked *tracked, const kvo_slot *slot) {
  const kvo_dependency *each = tracked->dependencies;
  while (each != NULL && atomic_load_explicit(&each->node.slot, memory_order_relaxed) != slot) each = each->to;
  return each != NULL;
}

/* Whether one of the outermost changes of this thread tells it. */
static bool is_left_to_mark(const kvo_tracked *tracked, uint32_t depth) {
  for (uint32_t i = 0; i < depth; i++) {
    const kvo_mark *mark = kvo__mark_at(i);
    const kvo_slot *slot = slot_of(mark);
    if (slot != NULL && has_slot(tracked, slot) &&
        (tracked->is_binding ? mark->node == kvo__no_node
                             : kvo__is_before_delivery(mark) || is_ahead(mark, tracked->order)))
      return true;
  }
  return false;
}

/* Whether a change in place, a scope, or, if that counts, one that is announced by hand. */
static bool is_left_otherwise(const kvo_tracked *tracked, const kvo_change_place *place, bool with_announced) {
  for (const kvo_dependency *each = tracked->dependencies; each != NULL; each = each->to) {
    kvo_slot *slot = atomic_load_explicit(&each->node.slot, memory_order_relaxed);
    bool is_own = place != NULL && slot == place->own;
    if (!is_own && atomic_load_explicit(&slot->storing, memory_order_relaxed) != 0) return true;
    if (kvo__own.open_changes != 0 && kvo__hooks.is_open(tracked, slot, place, with_announced)) return true;
  }
  return false;
}

bool kvo__is_absorbed(kvo_tracked *tracked, const kvo_change_place *place) {
  const kvo_mute *mute = place != NULL ? kvo__own.mutes : NULL;
  while (mute != NULL && !(mute->is_computed && mute->depth == place->depth)) mute = mute->outer;
  if (mute == NULL) return false;
  kvo_info *info = kvo__word_info(kvo__word(mute->object));
  const kvo_slot *slot = info != NULL ? kvo__slot_find(info, mute->key) : NULL;
  kvo__lock(&tracked->lock);
  bool is_absorbed = slot != NULL && has_slot(tracked, slot);
  kvo__unlock(&tracked->lock);
  return is_absorbed;
}

/* `marks`: notes that it is, as long as what it is left to cannot be dropped. */
static bool is_postponed(kvo_tracked *tracked, const kvo_change_place *place, bool with_announced, bool marks) {
  uint32_t depth = 0;
  if (kvo__own.thread != NULL) depth = atomic_load_explicit(&kvo__own.thread->depth, memory_order_relaxed);
  if (place != NULL && place->depth < depth) depth = place->depth;
  bool is_otherwise = kvo__own.open_changes != 0 || atomic_load_explicit(&kvo__has_in_place, memory_order_relaxed);
  if (depth == 0 && !is_otherwise) return false;
  kvo__lock(&tracked->lock);
  bool is_left = is_left_to_mark(tracked, depth) || (is_otherwise && is_left_otherwise(tracked, place, with_announced));
  if (is_left && marks) atomic_store(&tracked->is_stale, true);
  kvo__unlock(&tracked->lock);
  return is_left;
}

bool kvo__is_postponed(kvo_tracked *tracked, const kvo_change_place *place, bool with_announced) {
  return is_postponed(tracked, place, with_announced, false);
}

bool kvo__postpone(kvo_tracked *tracked, const kvo_change_place *place, bool with_announced) {
  return is_postponed(tracked, place, with_announced, true);
}

bool kvo__tracked_postpone(kvo_tracked *tracked, const kvo_change_place *place) {
  return is_postponed(tracked, place, false, !kvo__is_absorbed(tracked, place));
}

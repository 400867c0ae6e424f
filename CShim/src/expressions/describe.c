/* describe.c - descriptions of observations, by their nodes, for reports and traces. */
#include "expressions/deliver.h"

#include <stdlib.h>

static void describe_root(const kvo_tracked *tracked, kvo_fault_observation *out) {
  out->object = tracked->instance;
  out->object_class = tracked->cls->display_name;
}

void kvo__describe_observation(const kvo_node *node, kvo_fault_observation *out) {
  const kvo_tracked *tracked = kvo__node_is_own(node) ? NULL : node->user_data;
  kvo__describe_node(tracked != NULL ? tracked->anchor : node, out);
}

const kvo_observer_ops *kvo__node_ops(const kvo_node *node) {
  if (kvo__node_kind(node) != KVO_NODE_ANCHOR) return kvo__direct_ops(node);
  const kvo_tracked *tracked = node->user_data;
  return tracked->ops;
}

void *kvo__node_user_data(const kvo_node *node) {
  if (kvo__node_kind(node) != KVO_NODE_ANCHOR) return node->user_data;
  const kvo_tracked *tracked = node->user_data;
  return tracked->user_data;
}

const char *kvo__slot_name(const kvo_info *info, const kvo_slot *slot) {
  const kvo_property *property = kvo__slot_property(info, slot);
  if (property != NULL) return property->name;
  kvo_node *node = atomic_load(&slot->oldest);
  while (node != NULL && !kvo__is_direct(kvo__node_kind(node))) node = atomic_load(&node->newer);
  return node != NULL ? kvo__node_key_path(node) : "?";
}

/* The callback of an observation registered through kvo.h, by its own node; NULL for any other. */
static void (*c_callback_of(const kvo_node *node))(void) {
  if (!kvo__node_is_own(node) || !kvo__is_of_c(kvo__node_ops(node))) return NULL;
  const kvo_c_observer *observer = kvo__node_user_data(node);
  return (void (*)(void))observer->callback;
}

void kvo__describe_node(const kvo_node *node, kvo_fault_observation *out) {
  static const kvo_node_details none;
  static const kvo_node_texts no_texts;
  const kvo_node_details *more = kvo__node_details(node) != NULL ? kvo__node_details(node) : &none;
  const kvo_node_texts *texts = more->texts != NULL ? more->texts : &no_texts;
  out->observation = node->id;
  out->key_path = kvo__node_key_path(node);
  out->options = (kvo_options)(node->options & KVO_KNOWN_OPTIONS);
  out->observer_class = texts->class_name;
  out->observer = more->address;
  out->context = more->context;
  out->note = texts->note;
  kvo_place place = kvo__site_place(node->site);
  out->file = place.file;
  out->file_length = place.file != NULL ? strlen(place.file) : 0;
  out->line = place.line;
  out->duplicate_count = 0;
  out->callback = c_callback_of(node);
  out->frame_count = more->frame_count;
  out->frames = more->frame_count > 0 ? (void *const *)(const void *)(texts + 1) : NULL;
  if (kvo__node_kind(node) == KVO_NODE_ANCHOR) { /* an anchor may outlive the object's info */
    describe_root(node->user_data, out);
    return;
  }
  kvo_slot *slot = atomic_load_explicit(&node->slot, memory_order_relaxed);
  const kvo_info *info = kvo__slot_info(slot);
  out->object = (const char *)info->object - info->cls->header_offset;
  out->object_class = info->cls->display_name;
}

bool kvo__describe_first(kvo_slot *slot, kvo_fault_observation *out) {
  kvo_node *node = atomic_load(&slot->oldest);
  while (node != NULL && !kvo__node_is_own(node)) node = atomic_load(&node->newer);
  if (node != NULL) kvo__describe_node(node, out);
  return node != NULL;
}

/* -------------------------------------------------------------------------------------------------------- Questions -- */

size_t kvo_object_observation_count(const kvo_object *object) {
  kvo_info *info = object != NULL ? kvo__word_info(kvo__word(object)) : NULL;
  if (info == NULL) return 0;
  kvo__lock(&info->lock);
  size_t count = kvo__observed_by(info);
  kvo__unlock(&info->lock);
  return count;
}

void kvo_object_visit_observations(const kvo_object *object,
                                   void (*visit)(const kvo_fault_observation *observation, void *arg), void *arg) {
  kvo_info *info = object != NULL && visit != NULL ? kvo__word_info(kvo__word(object)) : NULL;
  if (info == NULL) return;
  uint64_t entered = kvo__enter(info);
  kvo__lock(&info->lock);
  kvo_node **nodes = kvo__alloc((info->node_count + 1) * sizeof *nodes);
  size_t count = 0;
  for (kvo_slot *slot = &info->first; nodes != NULL && slot != NULL; slot = atomic_load(&slot->next))
    for (kvo_node *node = atomic_load(&slot->oldest); node != NULL; node = atomic_load(&node->newer))
      if (kvo__node_is_own(node)) nodes[count++] = node;
  if (count > 1) qsort(nodes, count, sizeof *nodes, kvo__node_by_order); /* under the lock: unlinking changes `birth` */
  kvo__unlock(&info->lock);
  for (size_t i = 0; i < count; i++) {
    kvo_fault_observation described;
    kvo__describe_node(nodes[i], &described);
    visit(&described, arg);
  }
  kvo__free(nodes);
  kvo__leave(info, entered);
}

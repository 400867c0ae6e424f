/* ends.c - who wants to know of the end of an object. And the end of many observations at once. */
#include "lifetimes/lifetimes.h"

/* -------------------------------------------------------------------------------------------------- Of an object -- */

kvo_status kvo_binding_observe_death(kvo_object *object, const kvo_observer_ops *ops, void *user_data,
                                     kvo_observation *out) {
  if (object == NULL || ops == NULL || ops->destroy == NULL || out == NULL) {
    const char *wrong = object == NULL ? "object is NULL"
                        : out == NULL  ? "out is NULL"
                        : ops == NULL  ? "ops is NULL"
                                       : "ops->destroy is NULL";
    return kvo__invalid("kvo_binding_observe_death", wrong, KVO_NOWHERE);
  }
  kvo_node *node = kvo__node_new(false);
  if (node == NULL) return KVO_ERROR_OUT_OF_MEMORY;
  atomic_store_explicit(&node->kind, KVO_NODE_DEATH, memory_order_relaxed);
  node->options = KVO_ENDS_WITH_OBJECT;
  node->ops = ops;
  node->user_data = user_data;
  return kvo__node_register(object, node, KVO_KEY_DEATH, out);
}

/* ------------------------------------------------------------------------------------------------ Of many at once -- */

/* The ids of observations that match; a first pass may only count. */
typedef struct found {
  const void *observer;
  const char *key_path;
  bool is_receiver;
  /** No later observation matches: otherwise a thread that goes on observing could keep the search from its end. */
  uint64_t last_birth;
  kvo_observation *ids;
  size_t count, capacity;
} found;

static void ends_note_match(kvo_node *node, void *arg) {
  found *into = arg;
  const kvo_node_details *details = kvo__node_details(node);
  bool is_receiver = (node->options & KVO_NODE_OF_RECEIVER) != 0;
  if (details == NULL || details->address != into->observer || is_receiver != into->is_receiver) return;
  if (atomic_load_explicit(&node->birth, memory_order_relaxed) > into->last_birth) return;
  if (into->key_path != NULL && strcmp(kvo__node_key_path(node), into->key_path) != 0) return;
  if (into->count < into->capacity) into->ids[into->count] = node->id;
  into->count++;
}

static void visit_all(found *into) {
  into->count = 0;
  kvo__world_stop();
  kvo__ids_visit(KVO_NODE_ANCHOR, ends_note_match, into);
  kvo__world_resume();
}

static bool note_live(kvo_node *node, void *arg) {
  if (atomic_load(&node->live)) ends_note_match(node, arg);
  return true;
}

static void visit_object(found *into, kvo_info *info) {
  const kvo_wanted what = {.address = into->observer};
  into->count = 0;
  kvo__lock(&info->lock);
  for (kvo_slot *slot = &info->first; slot != NULL; slot = atomic_load(&slot->next))
    if (!slot->is_index) kvo__slot_visit(info, slot, &what, note_live, into);
  kvo__unlock(&info->lock);
}

/* Stores the ids in `first` of `capacity`, or, if they do not fit, in an allocated array. Returns whether all were found. */
static bool ends_find(found *into, kvo_info *info, kvo_observation *first, size_t capacity) {
  into->ids = first;
  into->capacity = capacity;
  for (;;) {
    if (info != NULL)
      visit_object(into, info);
    else
      visit_all(into);
    if (into->count <= into->capacity) return true;
    kvo_observation *larger = kvo__alloc(into->count * sizeof *larger);
    if (larger == NULL) return false;
    if (into->ids != first) kvo__free(into->ids);
    into->ids = larger;
    into->capacity = into->count;
  }
}

size_t kvo_binding_end_all(kvo_object *object, const void *observer, const char *key_path, bool is_receiver,
                           const char *file, uint32_t line) {
  enum { FEW = 8 };
  kvo_observation few[FEW];
  kvo_info *info = object != NULL ? kvo__word_info(kvo__word(object)) : NULL;
  if (observer == NULL || (object != NULL && info == NULL)) return 0;
  uint64_t entered = info != NULL ? kvo__enter(info) : 0;
  uint64_t last = atomic_load_explicit(&kvo__births, memory_order_relaxed);
  found of = {.observer = observer, .key_path = key_path, .is_receiver = is_receiver, .last_birth = last};
  size_t ended = 0;
  for (bool has_all = false; !has_all;) {
    has_all = ends_find(&of, info, few, FEW);
    size_t stored = of.count < of.capacity ? of.count : of.capacity;
    for (size_t i = 0; i < stored; i++) ended += kvo__end_named(of.ids[i], (kvo_place){file, line}) == KVO_OK;
    if (of.ids != few) kvo__free(of.ids);
  }
  if (info != NULL) kvo__leave(info, entered);
  return ended;
}

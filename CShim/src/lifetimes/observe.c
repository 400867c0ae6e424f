/* observe.c - the nodes of observations, and their registration. C's own: c_observer.c; removal: removal.c. */
#include "internal.h"
#include "platform/modules.h"

#include <stdlib.h>

/* -------------------------------------------------------------------------------------------------------------- Nodes -- */

kvo_node_details *kvo__node_details(const kvo_node *node) {
  return (node->options & KVO_NODE_HAS_DETAILS) != 0 ? (kvo_node_details *)(uintptr_t)(node + 1) : NULL;
}

static kvo_node_details *details(const kvo_node *node) { return kvo__node_details(node); }

kvo_node *kvo__details_node(const kvo_node_details *of) { return (kvo_node *)(uintptr_t)of - 1; }

/* The details of an observer in a node's block, and behind them its strings; without details `*size` is only the node's. */
static kvo_node *make_block(const kvo_binding_observer *observer, bool declared) {
  const char *class_name = observer->identity.class_name;
  bool is_plain = class_name == NULL && observer->identity.address == NULL && observer->context == NULL;
  if (declared && is_plain && kvo__knobs.stacks == 0 && !kvo__knobs.unused) return kvo__alloc(sizeof(kvo_node));
  size_t path_size = declared ? 0 : strlen(observer->key_path) + 1;
  size_t name_size = class_name != NULL ? strlen(class_name) + 1 : 0;
  void *frames[KVO_MOST_STACKS];
  size_t frame_count = kvo__knobs.stacks > 0 ? kvo__stack_capture(frames, kvo__knobs.stacks) : 0;
  kvo__modules_note(frames, frame_count);
  size_t frames_size = frame_count * sizeof *frames;
  kvo_node *node = kvo__alloc(sizeof *node + sizeof(kvo_node_details) + frames_size + path_size + name_size);
  if (node == NULL) return NULL;
  node->options = KVO_NODE_HAS_DETAILS;
  kvo_node_details *more = details(node);
  char *strings = (char *)(more + 1) + frames_size;
  more->context = observer->context;
  more->address = observer->identity.address;
  more->frame_count = (uint32_t)frame_count;
  if (frame_count > 0) memcpy(more + 1, frames, frames_size);
  if (!declared) more->key_path = memcpy(strings, observer->key_path, path_size);
  if (class_name != NULL) more->class_name = memcpy(strings + path_size, class_name, name_size);
  return node;
}

kvo_node *kvo__node_make(kvo_object *object, kvo_key key, const kvo_binding_observer *observer, kvo_node_kind kind) {
  kvo_class *cls = kvo_object_class(object);
  /* Of an anchor, whose slot is not that of its path, the key is none. */
  bool declared = cls != NULL && kvo__class_find(cls, key) != NULL;
  kvo_node *node = make_block(observer, declared);
  if (node == NULL) return NULL;
  atomic_store_explicit(&node->kind, (uint8_t)kind, memory_order_relaxed);
  node->ops = observer->ops;
  node->user_data = observer->user_data;
  node->options |= (uint16_t)observer->options;
  node->file = kvo__keep_file(observer->file);
  node->line = observer->line;
  return node;
}

static const char *key_path_of(const kvo_node *node) {
  const kvo_node_details *more = details(node);
  if (more != NULL && more->key_path != NULL) return more->key_path;
  kvo_slot *slot = atomic_load_explicit(&node->slot, memory_order_relaxed);
  const kvo_property *property = slot != NULL ? kvo__slot_property(kvo__slot_info(slot), slot) : NULL;
  return property != NULL ? property->name : "";
}

kvo_key kvo__node_path(const kvo_node *node) {
  const char *path = key_path_of(node);
  return kvo_key_hash(path, strlen(path));
}

const char *kvo__slot_name(const kvo_info *info, const kvo_slot *slot) {
  const kvo_property *property = kvo__slot_property(info, slot);
  if (property != NULL) return property->name;
  kvo_node *node = atomic_load(&slot->oldest);
  while (node != NULL && kvo__node_kind(node) != KVO_NODE_DIRECT) node = atomic_load(&node->newer);
  return node != NULL ? key_path_of(node) : "?";
}

void kvo__describe_node(const kvo_node *node, kvo_fault_observation *out) {
  static const kvo_node_details none;
  const kvo_node_details *more = details(node) != NULL ? details(node) : &none;
  out->observation = node->id;
  out->key_path = key_path_of(node);
  out->options = (kvo_options)(node->options & ~KVO_NODE_HAS_DETAILS);
  out->observer_class = more->class_name;
  out->observer = more->address;
  out->context = more->context;
  out->file = node->file;
  out->file_length = node->file != NULL ? strlen(node->file) : 0;
  out->line = node->line;
  out->alike = 0;
  out->callback = kvo__c_callback(node);
  out->frame_count = more->frame_count;
  out->frames = more->frame_count > 0 ? (void *const *)(const void *)(more + 1) : NULL;
  if (kvo__node_kind(node) == KVO_NODE_ANCHOR) { /* it may outlive its object's info */
    kvo__describe_root(node->user_data, out);
    return;
  }
  kvo_slot *slot = atomic_load_explicit(&node->slot, memory_order_relaxed);
  const kvo_info *info = kvo__slot_info(slot);
  out->object = (const char *)info->object - info->cls->header_offset;
  out->object_class = info->cls->written;
}

bool kvo__describe_first(kvo_slot *slot, kvo_fault_observation *out) {
  kvo_node *node = atomic_load(&slot->oldest);
  while (node != NULL && !kvo__node_is_own(node)) node = atomic_load(&node->newer);
  if (node != NULL) kvo__describe_node(node, out);
  return node != NULL;
}

void kvo__node_set_told(const kvo_node *node, bool told) {
  kvo_node_details *more = details(node);
  if (more != NULL) atomic_store_explicit(&more->told, told, memory_order_relaxed);
}

bool kvo__node_was_told(const kvo_node *node) {
  const kvo_node_details *more = details(node);
  return more == NULL || atomic_load_explicit(&more->told, memory_order_relaxed);
}

void kvo__node_free(kvo_node *node) {
  kvo_node_kind kind = kvo__node_kind(node);
  if (kind != KVO_NODE_DIRECT)
    kvo__tracked_release(node->user_data);
  else if (node->ops->destroy != NULL)
    node->ops->destroy(node->user_data);
  if (kind != KVO_NODE_ANCHOR) kvo__free(node); /* an anchor's memory is its kvo_tracked's */
}

kvo_status kvo__node_register(kvo_object *object, kvo_node *node, kvo_key key, kvo_observation *out) {
  kvo_status status = KVO_ERROR_OUT_OF_MEMORY;
  kvo_info *info = kvo__info_ensure(object, key, &status);
  /* The id first: a callback on another thread may carry it as soon as the node is linked. */
  if (info == NULL || kvo__id_assign(node) == 0) {
    kvo__free(node);
    return status;
  }
  *out = node->id; /* once linked, another thread may remove the node at any time, unless we are a reader */
  bool tapped = kvo__is_tapped();
  uint64_t entered = tapped ? kvo__enter(info) : 0;
  status = kvo__node_link(info, node, key);
  if (tapped && status == KVO_OK) kvo__note_node(node, KVO_MOMENT_REGISTERED);
  if (tapped) kvo__leave(info, entered);
  if (status == KVO_OK) return KVO_OK;
  kvo__id_return(node);
  kvo__free(node);
  return status;
}

/* ------------------------------------------------------------------------------------------------------ Registration -- */

/* Sends the initial notification of a direct observation; the caller is a reader, so that the node stays. */
static void send_initial(kvo_info *info, kvo_node *node) {
  const kvo_property *property = kvo__slot_property(info, atomic_load_explicit(&node->slot, memory_order_relaxed));
  kvo_raw_change record = {
      .object = info->object,
      .instance = (char *)info->object - info->cls->header_offset,
      .changed = info->object,
      .property = property,
      .kind = KVO_CHANGE_SETTING,
      .observation = node->id,
  };
  void *value = NULL;
  if ((node->options & KVO_NEW) != 0 && property != NULL) value = kvo__property_copy(property, info->object, NULL);
  record.new_value = value;
  kvo__call(&record, node, &node->live, node->ops->callback, node->user_data);
  kvo__property_release(property, value);
}

/* Tells, if asked, of a registration that is there already. Tokens of a binding have no address, and no two are the same. */
void kvo__warn_of_duplicate(kvo_object *object, const kvo_binding_observer *observer) {
  if (kvo__knobs.duplicates && observer->identity.address != NULL)
    kvo__find_duplicate(object, &observer->identity, observer->key_path, observer->context,
                        (kvo_place){observer->file, observer->line});
}

static kvo_status observe_key(kvo_object *object, kvo_key key, const kvo_binding_observer *observer,
                              kvo_observation *out) {
  kvo__warn_of_duplicate(object, observer);
  kvo_node *node = kvo__node_make(object, key, observer, KVO_NODE_DIRECT);
  if (node == NULL) return KVO_ERROR_OUT_OF_MEMORY;
  if ((observer->options & KVO_INITIAL) == 0) return kvo__node_register(object, node, key, out);
  /* A reader, so that the initial callback can remove the observation that it runs for. */
  kvo_status status = KVO_ERROR_OUT_OF_MEMORY;
  kvo_info *info = kvo__info_ensure(object, key, &status);
  if (info == NULL) {
    kvo__free(node);
    return status;
  }
  uint64_t entered = kvo__enter(info);
  status = kvo__node_register(object, node, key, out);
  if (status == KVO_OK) {
    send_initial(info, node);
    kvo__node_set_told(node, false); /* that was no change */
  }
  kvo__leave(info, entered);
  return status;
}

bool kvo__can_observe(const kvo_object *object, const kvo_binding_observer *observer, const kvo_observation *out,
                      const char *also_wrong) {
  const char *wrong = object == NULL                    ? "object is NULL"
                      : out == NULL                     ? "out is NULL"
                      : observer == NULL                ? "observer is NULL"
                      : observer->key_path == NULL      ? "observer->key_path is NULL"
                      : observer->ops == NULL           ? "observer->ops is NULL"
                      : observer->ops->callback == NULL ? "observer->ops->callback is NULL"
                      : ((unsigned)observer->options & ~KVO_KNOWN_OPTIONS) != 0
                          ? "observer->options has bits that mean nothing"
                          : also_wrong;
  kvo_place place = observer != NULL ? (kvo_place){observer->file, observer->line} : KVO_NOWHERE;
  if (wrong == NULL) return true;
  if (observer != NULL && observer->ops != NULL && observer->ops->abandon != NULL)
    observer->ops->abandon(observer->user_data);
  kvo__fault_invalid_argument("registration", wrong, place);
  return false;
}

kvo_status kvo_binding_observe_key(kvo_object *object, kvo_key key, const kvo_binding_observer *observer,
                                   kvo_observation *out) {
  if (!kvo__can_observe(object, observer, out, NULL)) return KVO_ERROR_INVALID_ARGUMENT;
  kvo_status status = observe_key(object, key, observer, out);
  if (status != KVO_OK && observer->ops->abandon != NULL) observer->ops->abandon(observer->user_data);
  return status;
}

/* -------------------------------------------------------------------------------------------------------- Questions -- */

size_t kvo_object_observation_count(const kvo_object *object) {
  kvo_info *info = object != NULL ? kvo__word_info(kvo__word(object)) : NULL;
  if (info == NULL) return 0;
  kvo__lock(&info->lock);
  size_t count = info->node_count;
  kvo__unlock(&info->lock);
  return count;
}

int kvo__node_by_order(const void *left, const void *right) {
  uint64_t a = kvo__node_order(*(kvo_node *const *)left), b = kvo__node_order(*(kvo_node *const *)right);
  return (a > b) - (a < b);
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
  if (count > 1) qsort(nodes, count, sizeof *nodes, kvo__node_by_order); /* while they keep their places */
  kvo__unlock(&info->lock);
  for (size_t i = 0; i < count; i++) {
    kvo_fault_observation described;
    kvo__describe_node(nodes[i], &described);
    visit(&described, arg);
  }
  kvo__free(nodes);
  kvo__leave(info, entered);
}

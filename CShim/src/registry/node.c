/* node.c - nodes of observations: making, registering and freeing them. */
#include "registry/registry.h"

#include "platform/modules.h"
#include "platform/settings.h"

const kvo_observer_ops *_Atomic kvo__closure_ops;

void kvo__call_closure(const kvo_raw_change *change, void *node) { kvo__call_node(change, node); }

kvo_node_details *kvo__node_details(const kvo_node *node) {
  return (node->options & KVO_NODE_HAS_DETAILS) != 0 ? (kvo_node_details *)(uintptr_t)(node + 1) : NULL;
}

static kvo_node_details *details(const kvo_node *node) { return kvo__node_details(node); }

kvo_node *kvo__details_node(const kvo_node_details *of) { return (kvo_node *)(uintptr_t)of - 1; }

/* Makes a node with its details, captured stack and strings; without details if the observation needs none. */
static kvo_node *make_node(const kvo_binding_observer *observer, bool declared) {
  const char *class_name = observer->identity.class_name;
  bool is_plain = class_name == NULL && observer->identity.address == NULL && observer->context == NULL &&
                  observer->note == NULL && !observer->is_binding;
  if (declared && is_plain && kvo__settings.stacks == 0 && !kvo__settings.unused) return kvo__node_new(false);
  size_t path_size = declared ? 0 : strlen(observer->key_path) + 1;
  size_t name_size = class_name != NULL ? strlen(class_name) + 1 : 0;
  size_t note_size = observer->note != NULL ? strlen(observer->note) + 1 : 0;
  void *frames[KVO_MAX_STACKS];
  size_t frame_count = kvo__settings.stacks > 0 ? kvo__stack_capture(frames, kvo__settings.stacks) : 0;
  kvo__modules_note(frames, frame_count);
  size_t frames_size = frame_count * sizeof *frames;
  kvo_node *node = kvo__node_new(true);
  if (node == NULL) return NULL;
  kvo_node_details *more = details(node);
  more->context = observer->context;
  more->address = observer->identity.address;
  if (frames_size + path_size + name_size + note_size == 0) return node;
  kvo_node_texts *texts = kvo__alloc(sizeof *texts + frames_size + path_size + name_size + note_size);
  if (texts == NULL) {
    kvo__node_drop(node);
    return NULL;
  }
  char *strings = (char *)(texts + 1) + frames_size;
  more->texts = texts;
  more->frame_count = (uint32_t)frame_count;
  memcpy(texts + 1, frames, frames_size);
  if (!declared) texts->key_path = memcpy(strings, observer->key_path, path_size);
  if (class_name != NULL) texts->class_name = memcpy(strings + path_size, class_name, name_size);
  if (observer->note != NULL) texts->note = memcpy(strings + path_size + name_size, observer->note, note_size);
  return node;
}

kvo_node *kvo__node_make(kvo_object *object, kvo_key key, const kvo_binding_observer *observer, kvo_node_kind kind) {
  kvo_class *cls = kvo_object_class(object);
  /* The slot of an anchor is not that of its key path; its `key` is never a declared one. */
  bool declared = cls != NULL && kvo__class_find(cls, key) != NULL;
  kvo_node *node = make_node(observer, declared);
  if (node == NULL) return NULL;
  atomic_store_explicit(&node->kind, (uint8_t)kind, memory_order_relaxed);
  if (observer->deliver != NULL) {
    if (atomic_load_explicit(&kvo__closure_ops, memory_order_relaxed) != observer->ops)
      atomic_store_explicit(&kvo__closure_ops, observer->ops, memory_order_release);
    node->options |= KVO_NODE_IS_CLOSURE;
    if (KVO_CALLS_CLOSURES && observer->takes_word && observer->closure != NULL) node->options |= KVO_NODE_TAKES_WORD;
    node->deliver = observer->deliver;
    node->closure = observer->closure;
  } else {
    node->ops = observer->ops;
  }
  node->user_data = observer->user_data;
  node->options |= (uint16_t)observer->options;
  if (observer->is_receiver) node->options |= KVO_NODE_OF_RECEIVER;
  if (observer->is_binding) node->options |= KVO_NODE_BINDS;
  node->site = kvo__site(observer->file, observer->line);
  return node;
}

const char *kvo__node_key_path(const kvo_node *node) {
  const kvo_node_details *more = details(node);
  if (more != NULL && more->texts != NULL && more->texts->key_path != NULL) return more->texts->key_path;
  kvo_slot *slot = atomic_load_explicit(&node->slot, memory_order_relaxed);
  const kvo_property *property = slot != NULL ? kvo__slot_property(kvo__slot_info(slot), slot) : NULL;
  return property != NULL ? property->name : "";
}

kvo_key kvo__node_path(const kvo_node *node) {
  const char *path = kvo__node_key_path(node);
  return kvo_key_hash(path, strlen(path));
}

void kvo__node_set_notified(const kvo_node *node, bool notified) {
  kvo_node_details *more = details(node);
  if (more != NULL) atomic_store_explicit(&more->notified, notified, memory_order_relaxed);
}

bool kvo__node_was_notified(const kvo_node *node) {
  const kvo_node_details *more = details(node);
  return more == NULL || atomic_load_explicit(&more->notified, memory_order_relaxed);
}

void kvo__node_destroy(kvo_node *node, const kvo_observer_ops *ops, void *user_data) {
  if (ops->destroy != NULL) ops->destroy(user_data);
  kvo__end_tell(node->id);
  kvo__id_let_go(node);
  kvo__hooks.free_observer(ops, user_data);
}

void kvo__node_free(kvo_node *node) {
  kvo_node_kind kind = kvo__node_kind(node);
  if (kvo__is_paused(kind)) kvo__paused_free(kvo__paused_take(node->id));
  if (kvo__is_direct(kind) || kind == KVO_NODE_DEATH) {
    kvo__node_destroy(node, kvo__direct_ops(node), node->user_data);
    kvo__node_drop(node);
  } else {
    kvo__hooks.release_expression(node->user_data);
    if (kind != KVO_NODE_ANCHOR) kvo__free(node); /* the kvo_tracked frees its anchor's memory */
  }
}

int kvo__node_by_order(const void *left, const void *right) {
  uint64_t a = kvo__node_order(*(kvo_node *const *)left), b = kvo__node_order(*(kvo_node *const *)right);
  return (a > b) - (a < b);
}

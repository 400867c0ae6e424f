/* observe.c - registration and removal. */
#include "internal.h"

#include <stdlib.h>

/* -------------------------------------------------------------------------------------------------------------- Nodes -- */

static kvo_node_details *details(const kvo_node *node) {
  return (node->options & KVO_NODE_HAS_DETAILS) != 0 ? (kvo_node_details *)(uintptr_t)(node + 1) : NULL;
}

/* The details of an observer in a node's block, and behind them its strings; without details `*size` is only the node's. */
static kvo_node *make_block(const kvo_binding_observer *observer, bool declared) {
  const char *class_name = observer->identity.class_name;
  if (declared && class_name == NULL && observer->identity.address == NULL && observer->context == NULL)
    return kvo__alloc(sizeof(kvo_node));
  size_t path_size = declared ? 0 : strlen(observer->key_path) + 1;
  size_t name_size = class_name != NULL ? strlen(class_name) + 1 : 0;
  kvo_node *node = kvo__alloc(sizeof *node + sizeof(kvo_node_details) + path_size + name_size);
  if (node == NULL) return NULL;
  node->options = KVO_NODE_HAS_DETAILS;
  kvo_node_details *more = details(node);
  char *strings = (char *)(more + 1);
  more->context = observer->context;
  more->address = observer->identity.address;
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
  node->file = observer->file;
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
  out->object = NULL;
  out->object_class = NULL;
  out->frames = NULL;
  out->frame_count = 0;
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

static kvo_status observe_key(kvo_object *object, kvo_key key, const kvo_binding_observer *observer,
                              kvo_observation *out) {
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
  if (status == KVO_OK) send_initial(info, node);
  kvo__leave(info, entered);
  return status;
}

kvo_status kvo_binding_observe_key(kvo_object *object, kvo_key key, const kvo_binding_observer *observer,
                                   kvo_observation *out) {
  kvo_status status = observe_key(object, key, observer, out);
  if (status != KVO_OK && observer->ops->abandon != NULL) observer->ops->abandon(observer->user_data);
  return status;
}

/* ----------------------------------------------------------------------------------------------------- C's observers -- */

/* What an observation made through kvo.h needs at each delivery, in one block with its key path. */
typedef struct c_observer {
  kvo_object *object;
  kvo_callback callback;
  void *user_data;
  void (*destroy)(void *user_data);
  void *context;
  const char *file;
  uint32_t line;
  kvo_options options;
  char key_path[];
} c_observer;

static void c_destroy(void *user_data) {
  c_observer *observer = user_data;
  if (observer->destroy != NULL) observer->destroy(observer->user_data);
  kvo__free(observer);
}

/* A change on its way to a C callback, while views of its values are alive. */
typedef struct c_delivery {
  const kvo_raw_change *raw;
  const c_observer *observer;
  kvo_change change;
} c_delivery;

static void c_send(const kvo_value *new_value, void *arg) {
  c_delivery *delivery = arg;
  delivery->change.new_value = new_value;
  delivery->observer->callback(&delivery->change, delivery->observer->user_data);
}

static void c_send_with_old(const kvo_value *old_value, void *arg) {
  c_delivery *delivery = arg;
  delivery->change.old_value = old_value;
  if (delivery->raw->new_value != NULL)
    kvo_property_view(delivery->raw->property, delivery->raw->new_value, c_send, delivery);
  else
    c_send(NULL, delivery);
}

static void c_callback(const kvo_raw_change *raw, void *user_data) {
  c_observer *observer = user_data;
  c_delivery delivery = {raw, observer, {.object = raw->object, .key_path = observer->key_path}};
  delivery.change.kind = raw->kind;
  delivery.change.is_prior = raw->is_prior;
  delivery.change.indexes = raw->indexes;
  delivery.change.index_count = raw->index_count;
  delivery.change.context = observer->context;
  delivery.change.observation = raw->observation;
  if (raw->property == NULL) { /* evaluated by c_evaluate */
    const kvo_boxed *old_box = raw->old_value, *new_box = raw->new_value;
    delivery.change.old_value = old_box != NULL ? &old_box->value : NULL;
    c_send(new_box != NULL ? &new_box->value : NULL, &delivery);
  } else if (raw->old_value != NULL) {
    kvo_property_view(raw->property, raw->old_value, c_send_with_old, &delivery);
  } else {
    c_send_with_old(NULL, &delivery);
  }
}

static void *c_evaluate(void *user_data) {
  c_observer *observer = user_data;
  kvo_status status;
  /* Nobody retains the objects of C: for one that dies on the way the last value must be known, if it is wanted. */
  bool may_have_leaf = (observer->options & KVO_OLD) == 0;
  kvo_boxed *box = kvo__path_copy(observer->object, observer->key_path, &status, may_have_leaf);
  /* At registration the path was good: since then an object without such a key has come onto it. */
  if (status == KVO_ERROR_UNDEFINED_KEY || status == KVO_ERROR_NOT_AN_OBJECT)
    kvo__fault_registration(status, kvo_object_class(observer->object), observer->object, observer->key_path,
                            observer->user_data, observer->options, observer->context, observer->file, observer->line);
  return box;
}

/* The registration has failed: the program's `destroy` is not called. */
static void c_abandon(void *user_data) { kvo__free(user_data); }

static void c_release(void *value, void *user_data) {
  (void)user_data;
  kvo__free(value);
}

static const kvo_observer_ops c_ops = {c_callback, c_destroy, c_abandon, c_evaluate, c_release};

static kvo_status refuse(const kvo_class *cls, const kvo_object *object, const kvo_observer *observer,
                         kvo_status status) {
  if (status == KVO_ERROR_UNDEFINED_KEY || status == KVO_ERROR_NO_INTERCEPTION ||
      status == KVO_ERROR_MALFORMED_KEY_PATH || status == KVO_ERROR_DYING_OBJECT || status == KVO_ERROR_NOT_AN_OBJECT)
    kvo__fault_registration(status, cls, object, observer->key_path, observer->user_data, observer->options,
                            observer->context, observer->file, observer->line);
  return status;
}

kvo_status kvo_add_observer(kvo_object *object, const kvo_observer *observer, kvo_observation *out) {
  enum { KNOWN = KVO_NEW | KVO_OLD | KVO_INITIAL | KVO_PRIOR | KVO_ENDS_WITH_OBJECT };
  if (object == NULL || observer == NULL || observer->struct_size < sizeof *observer || observer->callback == NULL ||
      observer->key_path == NULL || ((unsigned)observer->options & ~(unsigned)KNOWN) != 0)
    return KVO_ERROR_INVALID_ARGUMENT;
  kvo_class *cls = kvo_object_class(object);
  if (cls == NULL) return KVO_ERROR_INVALID_ARGUMENT;
  kvo_status status = kvo__path_check(observer->key_path);
  if (status != KVO_OK) return refuse(cls, object, observer, status);
  bool single = strchr(observer->key_path, '.') == NULL;
  const kvo_property *property = kvo_class_property(cls, observer->key_path);
  bool needs_value = (observer->options & KVO_INITIAL) != 0 && (observer->options & KVO_NEW) != 0;
  if (single && property == NULL && needs_value) return refuse(cls, object, observer, KVO_ERROR_UNDEFINED_KEY);

  size_t length = strlen(observer->key_path);
  c_observer *own = kvo__alloc(sizeof *own + length + 1);
  if (own == NULL) return KVO_ERROR_OUT_OF_MEMORY;
  own->object = object;
  own->callback = observer->callback;
  own->user_data = observer->user_data;
  own->destroy = observer->destroy;
  own->context = observer->context;
  own->file = observer->file;
  own->line = observer->line;
  own->options = observer->options;
  memcpy(own->key_path, observer->key_path, length);
  kvo_binding_observer described = {
      .key_path = own->key_path,
      .options = observer->options,
      .ops = &c_ops,
      .user_data = own,
      .context = observer->context,
      .identity = {NULL, observer->user_data},
      .file = observer->file,
      .line = observer->line,
  };
  kvo_observation id = 0;
  bool evaluated =
      property != NULL && (property->affected_by != NULL || (property->flags & KVO_PROPERTY_COMPUTED) != 0);
  if (single && !evaluated) {
    status = kvo_binding_observe_key(object, kvo_key_hash(own->key_path, length), &described, &id);
  } else {
    /* Tried once without recording: a path that cannot be walked is refused before anything is registered. */
    kvo__free(kvo__path_copy(object, own->key_path, &status, false));
    if (status == KVO_OK || status == KVO_ERROR_NO_GETTER)
      status = kvo_binding_observe_tracked(object, &described, true, &id);
    else
      c_abandon(own);
  }
  if (status != KVO_OK) return refuse(cls, object, observer, status);
  if (out != NULL) *out = id;
  return KVO_OK;
}

/* ---------------------------------------------------------------------------------------------------------- Removal -- */

kvo_status kvo_cancel_observer(kvo_observation observation) {
  /* Marked, so that another thread that waits for its end waits until it is dead; and a section, so that no fork comes between. */
  kvo__section_enter();
  uint32_t mark = kvo__mark(observation, NULL);
  kvo_node *node = kvo__id_claim(observation);
  bool evaluated = node != NULL && kvo__node_kind(node) == KVO_NODE_ANCHOR;
  if (evaluated) kvo__tracked_stop(node->user_data);
  kvo__unmark(mark);
  kvo__section_leave();
  if (node == NULL) return KVO_ERROR_NOT_REGISTERED;
  kvo_info *info = kvo__slot_info(atomic_load_explicit(&node->slot, memory_order_relaxed));
  if (evaluated) kvo__tracked_end(node->user_data);
  kvo__tap_node(node, KVO_MOMENT_ENDED);
  kvo__node_retire(info, node);
  return KVO_OK;
}

kvo_status kvo_cancel_observer_and_wait(kvo_observation observation) {
  kvo_status status = kvo_cancel_observer(observation);
  kvo_waited waited = kvo__wait_for_deliveries(observation);
  if (waited != KVO_WAITED) kvo__fault_endless_wait(observation, waited);
  return status;
}

kvo_status kvo_remove_observer(kvo_observation observation) {
  kvo_status status = kvo_cancel_observer(observation);
  if (status != KVO_OK) kvo__fault_stale(observation);
  return status;
}

/* The newest observation that matches, of those registered; the caller is a reader. */
static kvo_observation find_match(kvo_info *info, const void *address, const char *key_path, const void *context,
                                  bool match_context) {
  kvo_observation found = 0;
  uint64_t order = 0;
  for (kvo_slot *slot = &info->first; slot != NULL; slot = atomic_load(&slot->next))
    for (kvo_node *node = atomic_load(&slot->newest); node != NULL; node = atomic_load(&node->older)) {
      if (!kvo__node_is_own(node) || !atomic_load(&node->live) || kvo__node_order(node) < order) continue;
      kvo_fault_observation described;
      kvo__describe_node(node, &described);
      if (described.observer != address || strcmp(described.key_path, key_path) != 0) continue;
      if (match_context && described.context != context) continue;
      found = node->id;
      order = kvo__node_order(node);
    }
  return found;
}

kvo_status kvo_binding_remove(kvo_object *object, const kvo_observer_identity *identity, const char *key_path,
                              void *context, bool match_context, const char *file, uint32_t line) {
  if (object == NULL || key_path == NULL) return KVO_ERROR_INVALID_ARGUMENT;
  kvo_info *info = kvo__word_info(kvo__word(object));
  while (info != NULL) {
    uint64_t entered = kvo__enter(info);
    kvo_observation found = find_match(info, identity->address, key_path, context, match_context);
    kvo__leave(info, entered);
    if (found == 0) break;
    if (kvo_cancel_observer(found) == KVO_OK) return KVO_OK; /* else another thread was faster: look again */
  }
  kvo__fault_not_registered(object, identity, key_path, context, match_context, file, line);
  return KVO_ERROR_NOT_REGISTERED;
}

kvo_status kvo_remove_observer_for(kvo_object *object, void *user_data, const char *key_path) {
  kvo_observer_identity identity = {NULL, user_data};
  return kvo_binding_remove(object, &identity, key_path, NULL, false, NULL, 0);
}

kvo_status kvo_remove_observer_for_context(kvo_object *object, void *user_data, const char *key_path, void *context) {
  kvo_observer_identity identity = {NULL, user_data};
  return kvo_binding_remove(object, &identity, key_path, context, true, NULL, 0);
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
  kvo_info *info = object != NULL ? kvo__word_info(kvo__word(object)) : NULL;
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

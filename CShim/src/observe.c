/* observe.c - registration and removal. */
#include "internal.h"

#include <stdlib.h>

/* -------------------------------------------------------------------------------------------------------------- Nodes -- */

uint64_t kvo__next_order(void) {
  static _Atomic uint64_t orders;
  return atomic_fetch_add(&orders, 1) + 1;
}

kvo_node *kvo__node_make(kvo_object *object, const kvo_binding_observer *observer) {
  kvo_node *node = kvo__alloc(sizeof *node);
  if (node == NULL) return NULL;
  node->callback = observer->callback;
  node->user_data = observer->user_data;
  node->destroy = observer->destroy;
  node->options = (uint16_t)observer->options;
  node->order = kvo__next_order();
  node->context = observer->context;
  node->file = observer->file;
  node->file_length = observer->file_length;
  node->line = observer->line;
  kvo_class *cls = kvo_object_class(object);
  const kvo_property *property = cls != NULL ? kvo_class_property(cls, observer->key_path) : NULL;
  if (property != NULL) {
    node->key_path = property->name;
  } else {
    node->key_path = kvo__copy_string(observer->key_path, strlen(observer->key_path));
    node->owns_key_path = true;
  }
  node->identity.address = observer->identity.address;
  if (observer->identity.class_name != NULL)
    node->identity.class_name = kvo__copy_string(observer->identity.class_name, strlen(observer->identity.class_name));
  if (node->key_path == NULL || (observer->identity.class_name != NULL && node->identity.class_name == NULL)) {
    node->destroy = NULL;
    kvo__node_free(node);
    return NULL;
  }
  return node;
}

void kvo__node_free(kvo_node *node) {
  if (node->destroy != NULL) node->destroy(node->user_data);
  if (node->tracked != NULL) kvo__tracked_release(node->tracked);
  if (node->owns_key_path) kvo__free((void *)node->key_path);
  kvo__free((void *)node->identity.class_name);
  kvo__free(node);
}

static void discard(kvo_node *node) {
  node->destroy = NULL;
  node->tracked = NULL;
  kvo__node_free(node);
}

kvo_status kvo__node_register(kvo_object *object, kvo_node *node, kvo_key key, kvo_observation *out) {
  kvo_status status = KVO_ERROR_OUT_OF_MEMORY;
  uint32_t epoch;
  kvo_info *info = kvo__info_ensure(object, key, &status);
  /* The id first: a callback on another thread may carry it as soon as the node is linked. */
  if (info == NULL || kvo__id_assign(node) == 0) {
    discard(node);
    return status;
  }
  *out = node->id; /* once linked, another thread may remove the node at any time */
  status = kvo__node_link(info, node, key);
  if (status == KVO_OK) return KVO_OK;
  node->slot = NULL;
  kvo__id_claim(node->id, &epoch);
  discard(node);
  return status;
}

void kvo__observation_end(kvo_node *node, uint32_t epoch) {
  kvo_info *info = node->slot->info;
  if (node->kind == KVO_NODE_ANCHOR) kvo__tracked_end(node->tracked);
  kvo__node_unlink(info, node);
  kvo__leave(info, epoch);
}

/* ------------------------------------------------------------------------------------------------------ Registration -- */

/* Sends the initial notification of a direct observation. */
static void send_initial(kvo_object *object, const kvo_property *property, const kvo_binding_observer *observer,
                         kvo_observation id) {
  kvo_raw_change record = {.object = object, .property = property, .kind = KVO_CHANGE_SETTING, .observation = id};
  void *value = NULL;
  if ((observer->options & KVO_NEW) != 0 && property != NULL) value = kvo__property_copy(property, object, NULL);
  record.new_value = value;
  kvo__call(&record, observer->callback, observer->user_data);
  kvo__property_release(property, value);
}

kvo_status kvo_binding_observe_key(kvo_object *object, kvo_key key, const kvo_binding_observer *observer,
                                   kvo_observation *out) {
  kvo_node *node = kvo__node_make(object, observer);
  if (node == NULL) return KVO_ERROR_OUT_OF_MEMORY;
  node->kind = KVO_NODE_DIRECT;
  if ((observer->options & KVO_INITIAL) == 0) return kvo__node_register(object, node, key, out);
  /* A reader, so that the initial callback can remove the observation that it runs for. */
  kvo_status status = KVO_ERROR_OUT_OF_MEMORY;
  kvo_info *info = kvo__info_ensure(object, key, &status);
  if (info == NULL) {
    discard(node);
    return status;
  }
  uint32_t epoch = kvo__enter(info);
  status = kvo__node_register(object, node, key, out);
  if (status == KVO_OK) send_initial(object, kvo__class_find(info->cls, key), observer, *out);
  kvo__leave(info, epoch);
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
  kvo_boxed *box = kvo__path_copy(observer->object, observer->key_path, &status);
  /* At registration the path was good: since then an object without such a key has come onto it. */
  if (status == KVO_ERROR_UNDEFINED_KEY || status == KVO_ERROR_NOT_AN_OBJECT)
    kvo__fault_registration(status, kvo_object_class(observer->object), observer->object, observer->key_path,
                            observer->user_data, observer->options, observer->context, observer->file, observer->line);
  return box;
}

static void c_release(void *value, void *user_data) {
  (void)user_data;
  kvo__free(value);
}

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
      .callback = c_callback,
      .user_data = own,
      .destroy = c_destroy,
      .context = observer->context,
      .identity = {NULL, observer->user_data},
      .file = observer->file,
      .file_length = observer->file != NULL ? strlen(observer->file) : 0,
      .line = observer->line,
  };
  kvo_observation id = 0;
  bool evaluated =
      property != NULL && (property->affected_by != NULL || (property->flags & KVO_PROPERTY_COMPUTED) != 0);
  if (single && !evaluated) {
    status = kvo_binding_observe_key(object, kvo_key_hash(own->key_path, length), &described, &id);
  } else {
    /* Tried once without recording: a path that cannot be walked is refused before anything is registered. */
    kvo__free(kvo__path_copy(object, own->key_path, &status));
    if (status == KVO_OK || status == KVO_ERROR_NO_GETTER)
      status = kvo_binding_observe_tracked(object, &described, c_evaluate, c_release, true, &id);
  }
  if (status != KVO_OK) {
    kvo__free(own);
    return refuse(cls, object, observer, status);
  }
  if (out != NULL) *out = id;
  return KVO_OK;
}

/* ---------------------------------------------------------------------------------------------------------- Removal -- */

kvo_status kvo_cancel_observer(kvo_observation observation) {
  uint32_t epoch;
  kvo_node *node = kvo__id_claim(observation, &epoch);
  if (node == NULL) return KVO_ERROR_NOT_REGISTERED;
  kvo__observation_end(node, epoch);
  return KVO_OK;
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
      if (node->kind == KVO_NODE_DEPENDENCY || !atomic_load(&node->live) || node->order < order) continue;
      if (node->identity.address != address || strcmp(node->key_path, key_path) != 0) continue;
      if (match_context && node->context != context) continue;
      found = node->id;
      order = node->order;
    }
  return found;
}

kvo_status kvo_binding_remove(kvo_object *object, const kvo_observer_identity *identity, const char *key_path,
                              void *context, bool match_context, const char *file, size_t file_length, uint32_t line) {
  if (object == NULL || key_path == NULL) return KVO_ERROR_INVALID_ARGUMENT;
  kvo_info *info = kvo__word_info(kvo__word(object));
  while (info != NULL) {
    uint32_t epoch = kvo__enter(info);
    kvo_observation found = find_match(info, identity->address, key_path, context, match_context);
    kvo__leave(info, epoch);
    if (found == 0) break;
    if (kvo_cancel_observer(found) == KVO_OK) return KVO_OK; /* else another thread was faster: look again */
  }
  kvo__fault_not_registered(object, identity, key_path, context, match_context, file, file_length, line);
  return KVO_ERROR_NOT_REGISTERED;
}

kvo_status kvo_remove_observer_for(kvo_object *object, void *user_data, const char *key_path) {
  kvo_observer_identity identity = {NULL, user_data};
  return kvo_binding_remove(object, &identity, key_path, NULL, false, NULL, 0, 0);
}

kvo_status kvo_remove_observer_for_context(kvo_object *object, void *user_data, const char *key_path, void *context) {
  kvo_observer_identity identity = {NULL, user_data};
  return kvo_binding_remove(object, &identity, key_path, context, true, NULL, 0, 0);
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
  uint64_t a = (*(kvo_node *const *)left)->order, b = (*(kvo_node *const *)right)->order;
  return (a > b) - (a < b);
}

void kvo_object_visit_observations(const kvo_object *object,
                                   void (*visit)(const kvo_fault_observation *observation, void *arg), void *arg) {
  kvo_info *info = object != NULL ? kvo__word_info(kvo__word(object)) : NULL;
  if (info == NULL) return;
  uint32_t epoch = kvo__enter(info);
  kvo__lock(&info->lock);
  kvo_node **nodes = kvo__alloc((info->node_count + 1) * sizeof *nodes);
  size_t count = 0;
  for (kvo_slot *slot = &info->first; nodes != NULL && slot != NULL; slot = atomic_load(&slot->next))
    for (kvo_node *node = atomic_load(&slot->oldest); node != NULL; node = atomic_load(&node->newer))
      if (node->kind != KVO_NODE_DEPENDENCY) nodes[count++] = node;
  kvo__unlock(&info->lock);
  if (count > 1) qsort(nodes, count, sizeof *nodes, kvo__node_by_order);
  for (size_t i = 0; i < count; i++) {
    kvo_fault_observation described;
    kvo__describe_node(nodes[i], &described);
    visit(&described, arg);
  }
  kvo__free(nodes);
  kvo__leave(info, epoch);
}

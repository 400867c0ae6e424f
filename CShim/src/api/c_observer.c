/* c_observer.c - observations made through kvo.h: how a delivery reaches a C callback. */
#include "text/report.h"

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
    kvo__property_view(delivery->raw->property, delivery->raw->new_value, c_send, delivery);
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
    kvo__property_view(raw->property, raw->old_value, c_send_with_old, &delivery);
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
                            observer->user_data, observer->options, observer->context,
                            (kvo_place){observer->file, observer->line});
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
                            observer->context, (kvo_place){observer->file, observer->line});
  return status;
}

/* What is wrong with the arguments of kvo_add_observer; NULL if nothing is. */
static const char *wrong_argument(const kvo_object *object, const kvo_observer *observer) {
  if (object == NULL) return "object is NULL";
  if (observer == NULL) return "observer is NULL";
  if (observer->struct_size < sizeof *observer) return "observer->struct_size is not sizeof(kvo_observer)";
  if (observer->callback == NULL) return "observer->callback is NULL";
  if (observer->key_path == NULL) return "observer->key_path is NULL";
  if (((unsigned)observer->options & ~KVO_KNOWN_OPTIONS) != 0) return "observer->options has bits that mean nothing";
  return NULL;
}

kvo_status kvo_add_observer(kvo_object *object, const kvo_observer *observer, kvo_observation *out) {
  const char *wrong = wrong_argument(object, observer);
  if (wrong != NULL) {
    bool has_place = observer != NULL && observer->struct_size >= sizeof *observer;
    kvo__fault_invalid_argument("kvo_add_observer", wrong,
                                has_place ? (kvo_place){observer->file, observer->line} : KVO_NOWHERE);
    return KVO_ERROR_INVALID_ARGUMENT;
  }
  if (!kvo__is_object(object)) {
    kvo__fault_unsupported_object(object, "kvo_add_observer", observer->key_path, NULL,
                                  (kvo_place){observer->file, observer->line});
    return KVO_ERROR_INVALID_ARGUMENT;
  }
  kvo_class *cls = kvo_object_class(object);
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
  own->file = kvo__keep_file(observer->file);
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
  bool is_mute = property == NULL || (property->ops == NULL && property->setter == NULL);
  if (single && !evaluated && is_mute && (property == NULL || (property->flags & KVO_PROPERTY_MANUAL) == 0))
    kvo__fault_never_notifies(object, observer->key_path,
                              property == NULL ? KVO_SILENCE_UNDEFINED : KVO_SILENCE_BY_HAND,
                              (kvo_place){observer->file, observer->line});
  if (out != NULL) *out = id;
  return KVO_OK;
}

bool kvo__is_of_c(const kvo_observer_ops *ops) { return ops == &c_ops; }

void (*kvo__c_callback(const kvo_node *node))(void) {
  if (!kvo__node_is_own(node) || !kvo__is_of_c(kvo__node_ops(node))) return NULL;
  const c_observer *observer = kvo__node_user_data(node);
  return (void (*)(void))observer->callback;
}

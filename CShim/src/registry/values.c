/* values.c - values that C can see: views, copies, key paths read and set (key-value coding as far as observing needs it). */
#include "internal.h"

/* ------------------------------------------------------------------------------------------------------------- Boxes -- */

kvo_boxed *kvo__box(const kvo_value *value) {
  static const char no_type[] = "?";
  const char *type = value->type != NULL ? value->type : no_type;
  bool string = type[0] == '*' && value->bytes != NULL;
  const char *text = string ? *(char *const *)value->bytes : NULL;
  size_t type_length = strlen(type) + 1, text_length = text != NULL ? strlen(text) + 1 : 0;
  size_t bytes_at = (sizeof(kvo_boxed) + type_length + 15) / 16 * 16, size = value->bytes != NULL ? value->size : 0;
  kvo_boxed *box = kvo__alloc(bytes_at + size + text_length);
  if (box == NULL) return NULL;
  char *block = (char *)box;
  memcpy(block + sizeof(kvo_boxed), type, type_length);
  box->value.type = block + sizeof(kvo_boxed);
  box->value.size = value->size;
  if (value->bytes == NULL) return box;
  memcpy(block + bytes_at, value->bytes, size);
  box->value.bytes = block + bytes_at;
  if (text != NULL) {
    char *copy = block + bytes_at + size;
    memcpy(copy, text, text_length);
    memcpy(block + bytes_at, &copy, sizeof copy);
  }
  return box;
}

static void read_into_box(const kvo_value *value, void *arg) { *(kvo_boxed **)arg = kvo__box(value); }

static kvo_boxed *box_nil(void) {
  kvo_value nil = {"@", sizeof(void *), NULL};
  return kvo__box(&nil);
}

/* An evaluation that lacks memory must not pass for one that found nothing more to read. */
static void out_of_memory(kvo_status *status) {
  *status = KVO_ERROR_OUT_OF_MEMORY;
  kvo__track_fail(*status);
}

/* -------------------------------------------------------------------------------------------------------- Properties -- */

void kvo_property_view(const kvo_property *property, const void *value, kvo_value_reader reader, void *arg) {
  if (property != NULL && value != NULL && reader != NULL) kvo__property_view(property, value, reader, arg);
}

void kvo__property_view(const kvo_property *property, const void *value, kvo_value_reader reader, void *arg) {
  if (property->ops != NULL) {
    property->ops->view(value, property->user, reader, arg);
    return;
  }
  bool reference = property->type[0] == '@' || property->type[0] == '*';
  bool nil = reference && *(void *const *)value == NULL;
  kvo_value view = {property->type, property->size, nil ? NULL : value};
  reader(&view, arg);
}

void *kvo__property_copy(const kvo_property *property, kvo_object *object, const kvo_selection *selection) {
  if (property->ops != NULL) return property->ops->copy(kvo_object_instance(object), property->user, selection);
  /* What a C property's elements are is unknown. */
  if (property->getter == NULL || selection != NULL) return NULL;
  void *value = kvo__alloc(property->size);
  if (value == NULL) return NULL;
  kvo__call_getter(property, object, value);
  if (property->type[0] != '*' || *(char **)value == NULL) return value;
  const char *text = *(char **)value;
  size_t length = strlen(text) + 1;
  char *owned = kvo__alloc(sizeof(char *) + length);
  if (owned != NULL) {
    memcpy(owned + sizeof(char *), text, length);
    *(char **)(void *)owned = owned + sizeof(char *);
  }
  kvo__free(value);
  return owned;
}

void kvo__property_release(const kvo_property *property, void *value) {
  if (value == NULL) return;
  if (property->ops != NULL)
    property->ops->release(value, property->user);
  else
    kvo__free(value);
}

/* -------------------------------------------------------------------------------------------------------- Key paths -- */

kvo_status kvo__path_check(const char *key_path) {
  if (key_path == NULL) return KVO_ERROR_INVALID_ARGUMENT;
  bool empty = true;
  for (const char *at = key_path;; at++) {
    if (*at == '.' || *at == '\0') {
      if (empty) return KVO_ERROR_MALFORMED_KEY_PATH;
      if (*at == '\0') return KVO_OK;
      empty = true;
    } else {
      empty = false;
    }
  }
}

/* An object on a path, with the value that refers to it: for a binding's property this may be all that keeps it alive. */
typedef struct held {
  kvo_object *object;
  const kvo_property *property;
  void *value;
} held;

static void let_go(const held *of) { kvo__property_release(of->property, of->value); }

static void record_path(kvo_object *object, const char *key_path);

/* Keys may affect each other, in a circle or in many ways: what affects one is recorded once in an evaluation. */
static void record_key(kvo_object *object, const kvo_property *property, kvo_key key) {
  bool is_affected = property != NULL && property->affected_by != NULL;
  if (!kvo__track_declared(object, key, is_affected) || !is_affected) return;
  for (char **path = property->affected_by; *path != NULL; path++) record_path(object, *path);
}

static void read_object(const kvo_value *value, void *arg) {
  kvo_object **object = arg;
  *object = value->bytes != NULL ? *(kvo_object *const *)value->bytes : NULL;
}

static void read_type(const kvo_value *value, void *arg) { *(char *)arg = value->type != NULL ? value->type[0] : '?'; }

/* Why kvo__property_copy gave nothing. */
static void no_value(const kvo_property *property, kvo_status *status) {
  if (property->ops == NULL && property->getter != NULL)
    out_of_memory(status);
  else
    *status = KVO_ERROR_NO_GETTER;
}

/* An object that is dying counts as nil: nothing of it is to be read by others. */
static bool is_dying(const kvo_object *object) { return (kvo__word(object) & KVO_WORD_DYING) != 0; }

/* The present value. Where the class says what changes a property, what its getter reads is not recorded. */
static void *copy_recorded(const kvo_property *property, kvo_object *object) {
  if ((property->flags & KVO_PROPERTY_DECLARED) == 0) return kvo__property_copy(property, object, NULL);
  void *paused = kvo_track_pause();
  void *value = kvo__property_copy(property, object, NULL);
  kvo_track_resume(paused);
  return value;
}

/* Goes on to the object that a property holds; false when it holds none, with nil and something else told apart by *status. */
static bool follow(held *at, const kvo_property *property, kvo_status *status) {
  void *value = copy_recorded(property, at->object);
  if (value == NULL) {
    no_value(property, status);
    return false;
  }
  char type = '?';
  kvo__property_view(property, value, read_type, &type);
  held next = {NULL, property, value};
  if (type == '@')
    kvo__property_view(property, value, read_object, &next.object);
  else
    *status = KVO_ERROR_NOT_AN_OBJECT;
  bool found = next.object != NULL && !is_dying(next.object);
  let_go(found ? at : &next);
  if (found) *at = next;
  return found;
}

/* One step of a walk: the property of the first component, and where the rest begins, or NULL at the last. */
static const kvo_property *first_component(kvo_object *object, const char *key_path, kvo_key *key, const char **rest) {
  const char *dot = strchr(key_path, '.');
  size_t length = dot != NULL ? (size_t)(dot - key_path) : strlen(key_path);
  *key = kvo_key_hash(key_path, length);
  *rest = dot != NULL ? dot + 1 : NULL;
  kvo_class *cls = kvo_object_class(object);
  return cls != NULL ? kvo__class_find(cls, *key) : NULL;
}

static void record_path(kvo_object *object, const char *key_path) {
  held at = {object, NULL, NULL};
  kvo_status status = KVO_OK;
  const kvo_property *property;
  do {
    kvo_key key;
    if (kvo_object_class(at.object) == NULL) break; /* as for `walk`, nothing */
    property = first_component(at.object, key_path, &key, &key_path);
    record_key(at.object, property, key);
  } while (key_path != NULL && property != NULL && follow(&at, property, &status));
  let_go(&at);
}

/* Walks to the object that has the last component; false with KVO_OK for a nil on the way. The caller lets go of `at`. */
static bool walk(held *at, const char **key_path, const kvo_property **property, kvo_status *status) {
  for (;;) {
    if (kvo_object_class(at->object) == NULL) return false; /* an object that is dying counts as nil */
    kvo_key key;
    const char *rest;
    *property = first_component(at->object, *key_path, &key, &rest);
    if (kvo_track_is_recording()) record_key(at->object, *property, key);
    if (*property == NULL) {
      *status = KVO_ERROR_UNDEFINED_KEY;
      return false;
    }
    if (rest == NULL) return true;
    if (!follow(at, *property, status)) return false;
    *key_path = rest;
  }
}

kvo_boxed *kvo__path_copy(kvo_object *object, const char *key_path, kvo_status *status, bool may_have_leaf) {
  const kvo_property *property = NULL;
  held last = {object, NULL, NULL};
  *status = KVO_OK;
  bool found = walk(&last, &key_path, &property, status);
  void *value = found ? copy_recorded(property, last.object) : NULL;
  if (found && value == NULL) no_value(property, status);
  kvo_boxed *box = NULL;
  if (*status == KVO_OK) {
    if (found)
      kvo__property_view(property, value, read_into_box, &box);
    else
      box = box_nil();
    if (box == NULL) out_of_memory(status);
  }
  if (found && may_have_leaf && property->affected_by == NULL && (property->flags & KVO_PROPERTY_COMPUTED) == 0)
    kvo_track_value_is_of(last.object, property->key);
  kvo__property_release(property, value);
  let_go(&last);
  return box;
}

/* What is wrong with an argument; NULL if nothing is. */
static const char *wrong_argument(const kvo_object *object, const char *key_path) {
  if (object == NULL) return "object is NULL";
  return key_path == NULL ? "key_path is NULL" : NULL;
}

kvo_status kvo_get_value_at(kvo_object *object, const char *key_path, kvo_value_reader reader, void *arg,
                            const char *file, uint32_t line) {
  const char *wrong = reader == NULL ? "reader is NULL" : wrong_argument(object, key_path);
  if (wrong != NULL) {
    kvo__fault_invalid_argument("kvo_get_value", wrong, (kvo_place){file, line});
    return KVO_ERROR_INVALID_ARGUMENT;
  }
  kvo_status status = kvo__path_check(key_path);
  if (status != KVO_OK) return status;
  kvo_boxed *box = kvo__path_copy(object, key_path, &status, false);
  if (box == NULL) return status;
  reader(&box->value, arg);
  kvo__free(box);
  return KVO_OK;
}

static kvo_status assign(kvo_object *object, const kvo_property *property, const kvo_value *value) {
  if (property->ops != NULL) return property->ops->assign(kvo_object_instance(object), property->user, value);
  if (property->setter == NULL) return KVO_ERROR_READ_ONLY;
  bool reference = property->type[0] == '@' || property->type[0] == '*';
  if (value->bytes == NULL
          ? !reference
          : strcmp(kvo__type_unqualified(value->type), property->type) != 0 || value->size != property->size)
    return KVO_ERROR_TYPE_MISMATCH;
  static const void *const nil = NULL;
  bool is_observed = kvo_object_is_observed(object); /* then the setter is a trampoline, and sees to all */
  kvo__call_setter(property, kvo_object_property_setter(object, property), object,
                   value->bytes != NULL ? value->bytes : &nil);
  if (!is_observed) kvo_binding_stored(object, property->key);
  return KVO_OK;
}

kvo_status kvo_set_value_at(kvo_object *object, const char *key_path, const kvo_value *value, const char *file,
                            uint32_t line) {
  const char *wrong = value == NULL         ? "value is NULL"
                      : value->type == NULL ? "value->type is NULL"
                                            : wrong_argument(object, key_path);
  if (wrong != NULL) {
    kvo__fault_invalid_argument("kvo_set_value", wrong, (kvo_place){file, line});
    return KVO_ERROR_INVALID_ARGUMENT;
  }
  kvo_status status = kvo__path_check(key_path);
  if (status != KVO_OK) return status;
  const kvo_property *property = NULL;
  held last = {object, NULL, NULL};
  if (walk(&last, &key_path, &property, &status)) status = assign(last.object, property, value);
  let_go(&last);
  return status;
}

kvo_status kvo_get_value(kvo_object *object, const char *key_path, kvo_value_reader reader, void *arg) {
  return kvo_get_value_at(object, key_path, reader, arg, NULL, 0);
}

kvo_status kvo_set_value(kvo_object *object, const char *key_path, const kvo_value *value) {
  return kvo_set_value_at(object, key_path, value, NULL, 0);
}

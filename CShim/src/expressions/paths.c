/* paths.c - reads and walks key paths, and records the keys. */
#include "expressions/deliver.h"

static void read_into_box(const kvo_value *value, void *arg) { *(kvo_boxed **)arg = kvo__box(value); }

static kvo_boxed *box_nil(void) {
  kvo_value nil = {"@", sizeof(void *), NULL};
  return kvo__box(&nil);
}

/* Without memory an evaluation must fail, or its missing reads would count as no longer needed. */
static void out_of_memory(kvo_status *status) {
  *status = KVO_ERROR_OUT_OF_MEMORY;
  kvo__track_fail(*status);
}

void kvo__path_let_go(const kvo_held *of) { kvo__property_release(of->property, of->value); }

static void record_path(kvo_object *object, const char *key_path);

/* Keys may affect each other, in cycles or in several ways: an evaluation records the declared dependencies of a key once. */
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

/* Sets the status for a NULL from kvo__property_copy. */
static void no_value(const kvo_property *property, kvo_status *status) {
  if (property->to_many != NULL || (property->ops == NULL && kvo__can_read(property)))
    out_of_memory(status);
  else
    *status = KVO_ERROR_NO_GETTER;
}

/* An object that is being destroyed counts as nil, because others must not read it. */
static bool is_dying(const kvo_object *object) { return (kvo__word(object) & KVO_WORD_DYING) != 0; }

/* Copies the present value. If the class declares what changes a property, the reads of its getter are not recorded. */
static void *copy_recorded(const kvo_property *property, kvo_object *object) {
  if ((property->flags & KVO_PROPERTY_DECLARED) == 0) return kvo__property_copy(property, object, NULL);
  void *paused = kvo_track_pause();
  void *value = kvo__property_copy(property, object, NULL);
  kvo_track_resume(paused);
  return value;
}

/* Moves on to the object that a property holds. False if there is none: with KVO_OK for nil, with an error if the value is not an
 * object. */
static bool follow(kvo_held *at, const kvo_property *property, kvo_status *status) {
  void *value = copy_recorded(property, at->object);
  if (value == NULL) {
    no_value(property, status);
    return false;
  }
  char type = '?';
  kvo__property_view(property, value, read_type, &type);
  kvo_held next = {NULL, property, value};
  if (type == '@')
    kvo__property_view(property, value, read_object, &next.object);
  else
    *status = KVO_ERROR_NOT_AN_OBJECT;
  bool found = next.object != NULL && !is_dying(next.object);
  kvo__path_let_go(found ? at : &next);
  if (found) *at = next;
  return found;
}

/* One step of a walk: finds the property of the first component; stores the rest of the path, NULL after the last component. */
static const kvo_property *first_component(kvo_object *object, const char *key_path, kvo_key *key, const char **rest) {
  const char *dot = strchr(key_path, '.');
  size_t length = dot != NULL ? (size_t)(dot - key_path) : strlen(key_path);
  *key = kvo_key_hash(key_path, length);
  *rest = dot != NULL ? dot + 1 : NULL;
  kvo_class *cls = kvo_object_class(object);
  return cls != NULL ? kvo__class_find(cls, *key) : NULL;
}

static void record_path(kvo_object *object, const char *key_path) {
  kvo_held at = {object, NULL, NULL};
  kvo_status status = KVO_OK;
  const kvo_property *property;
  do {
    kvo_key key;
    if (kvo_object_class(at.object) == NULL) break; /* being destroyed: counts as nil */
    property = first_component(at.object, key_path, &key, &key_path);
    record_key(at.object, property, key);
  } while (key_path != NULL && property != NULL && follow(&at, property, &status));
  kvo__path_let_go(&at);
}

bool kvo__path_walk(kvo_held *at, const char **key_path, const kvo_property **property, kvo_status *status) {
  for (;;) {
    if (kvo_object_class(at->object) == NULL) return false; /* being destroyed: counts as nil */
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

kvo_boxed *kvo__path_copy(kvo_object *object, const char *key_path, kvo_status *status, kvo_path_use use) {
  const kvo_property *property = NULL;
  kvo_held last = {object, NULL, NULL};
  *status = KVO_OK;
  bool found = kvo__path_walk(&last, &key_path, &property, status);
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
  bool is_stored = found && property->affected_by == NULL && (property->flags & KVO_PROPERTY_COMPUTED) == 0;
  if (is_stored && use == KVO_PATH_OBSERVED) kvo_track_value_is_of(last.object, property->key);
  if (is_stored && use == KVO_PATH_OBSERVED_WITH_OLD && property->to_many != NULL)
    kvo_track_elements_are_of(last.object, property->key);
  kvo__property_release(property, value);
  kvo__path_let_go(&last);
  return box;
}

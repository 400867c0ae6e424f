/* key_value.c - key-value coding for C programs: values as kvo_value, read, set and validated by key path. */
#include "changes/frames.h"

/* Values up to this size are converted on the stack. */
enum { KEY_VALUE_INLINE_VALUE = 64 };

/* Describes the first invalid argument; NULL if there is none. */
static const char *key_value_wrong_argument(const kvo_object *object, const char *key_path) {
  if (object == NULL) return "object is NULL";
  return key_path == NULL ? "key_path is NULL" : NULL;
}

static const char *wrong_value(const kvo_value *value) {
  if (value == NULL) return "value is NULL";
  return value->type == NULL ? "value->type is NULL" : NULL;
}

kvo_status kvo_get_value_at(kvo_object *object, const char *key_path, kvo_value_reader reader, void *arg,
                            const char *file, uint32_t line) {
  const char *wrong = reader == NULL ? "reader is NULL" : key_value_wrong_argument(object, key_path);
  if (wrong != NULL) return kvo__invalid("kvo_get_value", wrong, (kvo_place){file, line});
  uint32_t errors = kvo__error_count();
  kvo_status status = kvo__path_check_of(object, key_path);
  if (status == KVO_OK) status = kvo__path_read(object, key_path, KVO_PATH_READ, reader, arg);
  return kvo__explain(status, errors, "kvo_get_value", object, key_path);
}

/* ------------------------------------------------------------------------------------------------------------ Setting -- */

static kvo_status set_undefined(kvo_object *object, const char *key, const kvo_value *value) {
  const kvo_coding_hooks *hooks = kvo_object_class(object)->coding;
  if (hooks == NULL || hooks->set_value_for_undefined_key == NULL)
    return kvo__fail(KVO_ERROR_UNDEFINED_KEY, "class '%s' has no key '%s'", kvo_object_class(object)->name, key);
  return hooks->set_value_for_undefined_key(object, key, value, hooks->user);
}

static kvo_status set_nil(kvo_object *object, const char *key) {
  const kvo_coding_hooks *hooks = kvo_object_class(object)->coding;
  if (hooks == NULL || hooks->set_nil_value_for_key == NULL) return KVO_ERROR_TYPE_MISMATCH;
  return hooks->set_nil_value_for_key(object, key, hooks->user);
}

static kvo_status set_property(kvo_object *object, const kvo_property *property, const kvo_value *value) {
  _Alignas(16) unsigned char converted[KEY_VALUE_INLINE_VALUE];
  if (property->size > KEY_VALUE_INLINE_VALUE) { /* a structure, which is not converted */
    bool is_same = value->bytes != NULL && value->size == property->size &&
                   strcmp(kvo__type_unqualified(value->type), property->type) == 0;
    if (is_same) return kvo__set(property, object, value->bytes);
    return kvo__fail(KVO_ERROR_TYPE_MISMATCH, "property '%s' of class '%s' has the type \"%s\"", property->name,
                     kvo_object_class(object)->name, property->type);
  }
  kvo_status status = kvo__value_store(value, property->type, property->size, converted);
  return status == KVO_OK ? kvo__set(property, object, converted) : status;
}

/* The binding converts what is of the property's type; numbers of other types are converted here. */
static kvo_status set_of_binding(kvo_object *object, const kvo_property *property, const kvo_value *value) {
  _Alignas(16) unsigned char converted[KEY_VALUE_INLINE_VALUE];
  size_t size = kvo__type_number_size(property->type);
  kvo_value given = *value;
  if (size != 0 && value->bytes != NULL && kvo__value_store(value, property->type, size, converted) == KVO_OK)
    given = (kvo_value){property->type, size, converted};
  return property->ops->assign(kvo_object_instance(object), property->user, &given);
}

static kvo_status set_one(kvo_object *object, const kvo_property *property, const char *key, void *arg) {
  const kvo_value *value = arg;
  if (property == NULL) return set_undefined(object, key, value);
  if (property->ops != NULL) return set_of_binding(object, property, value);
  if (!kvo__can_set(property))
    return kvo__fail(KVO_ERROR_READ_ONLY, "property '%s' of class '%s' has no setter", key,
                     kvo_object_class(object)->name);
  kvo_status status = set_property(object, property, value);
  return status == KVO_ERROR_NO_VALUE ? set_nil(object, key) : status;
}

kvo_status kvo_set_value_at(kvo_object *object, const char *key_path, const kvo_value *value, const char *file,
                            uint32_t line) {
  const char *wrong = wrong_value(value);
  if (wrong == NULL) wrong = key_value_wrong_argument(object, key_path);
  if (wrong != NULL) return kvo__invalid("kvo_set_value", wrong, (kvo_place){file, line});
  uint32_t errors = kvo__error_count();
  kvo_status status = kvo__path_check_of(object, key_path);
  if (status == KVO_OK) status = kvo__path_visit(object, key_path, set_one, (void *)value);
  return kvo__explain(status, errors, "kvo_set_value", object, key_path);
}

/* --------------------------------------------------------------------------------------------------------- Validation -- */

/* A value that is validated: `accept` gets the one that the class has given instead, or else the one that was given. */
typedef struct validation {
  const kvo_value *value;
  kvo_value_reader accept;
  void *arg;
  kvo_boxed *instead;
  bool lacks_memory;
} validation;

static void key_value_keep(const kvo_value *value, void *arg) {
  validation *of = arg;
  kvo__unbox(of->instead);
  of->instead = kvo__box(value);
  of->lacks_memory = of->instead == NULL;
}

static kvo_status validate_one(kvo_object *object, const kvo_property *property, const char *key, void *arg) {
  validation *of = arg;
  const kvo_coding_hooks *hooks = kvo_object_class(object)->coding;
  kvo_status status = KVO_OK;
  if (hooks != NULL && hooks->validate != NULL)
    status = hooks->validate(object, key, of->value, key_value_keep, of, hooks->user);
  else if (property == NULL)
    status = kvo__fail(KVO_ERROR_UNDEFINED_KEY, "class '%s' has no key '%s'", kvo_object_class(object)->name, key);
  if (status == KVO_OK && of->lacks_memory) status = KVO_ERROR_OUT_OF_MEMORY;
  if (status == KVO_OK) of->accept(of->instead != NULL ? &of->instead->value : of->value, of->arg);
  kvo__unbox(of->instead);
  of->instead = NULL;
  of->lacks_memory = false;
  return status;
}

kvo_status kvo_validate_value(kvo_object *object, const char *key_path, const kvo_value *value, kvo_value_reader accept,
                              void *arg) {
  const char *wrong = accept == NULL ? "accept is NULL" : wrong_value(value);
  if (wrong == NULL) wrong = key_value_wrong_argument(object, key_path);
  if (wrong != NULL) return kvo__invalid("kvo_validate_value", wrong, KVO_NOWHERE);
  uint32_t errors = kvo__error_count();
  kvo_status status = kvo__path_check_of(object, key_path);
  validation of = {.value = value, .accept = accept, .arg = arg};
  if (status == KVO_OK) status = kvo__path_visit(object, key_path, validate_one, &of);
  return kvo__explain(status, errors, "kvo_validate_value", object, key_path);
}

/* -------------------------------------------------------------------------------------------- For callers without a place -- */

kvo_status kvo_get_value(kvo_object *object, const char *key_path, kvo_value_reader reader, void *arg) {
  return kvo_get_value_at(object, key_path, reader, arg, NULL, 0);
}

kvo_status kvo_set_value(kvo_object *object, const char *key_path, const kvo_value *value) {
  return kvo_set_value_at(object, key_path, value, NULL, 0);
}

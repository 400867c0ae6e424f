/* key_value.c - key-value coding for C programs, as far as observation needs it. */
#include "changes/frames.h"

/* Describes the first invalid argument; NULL if there is none. */
static const char *wrong_argument(const kvo_object *object, const char *key_path) {
  if (object == NULL) return "object is NULL";
  return key_path == NULL ? "key_path is NULL" : NULL;
}

kvo_status kvo_get_value_at(kvo_object *object, const char *key_path, kvo_value_reader reader, void *arg,
                            const char *file, uint32_t line) {
  const char *wrong = reader == NULL ? "reader is NULL" : wrong_argument(object, key_path);
  if (wrong != NULL) return kvo__invalid("kvo_get_value", wrong, (kvo_place){file, line});
  const char *whole = key_path;
  kvo_status status = kvo__path_check(key_path);
  if (status != KVO_OK) return kvo__result(status, "kvo_get_value", object, whole);
  kvo_boxed *box = kvo__path_copy(object, key_path, &status, KVO_PATH_READ);
  if (box == NULL) return kvo__result(status, "kvo_get_value", object, whole);
  reader(&box->value, arg);
  kvo__unbox(box);
  return KVO_OK;
}

static kvo_status assign(kvo_object *object, const kvo_property *property, const kvo_value *value) {
  if (property->ops != NULL) return property->ops->assign(kvo_object_instance(object), property->user, value);
  if (!kvo__can_set(property)) return KVO_ERROR_READ_ONLY;
  bool reference = property->type[0] == '@' || property->type[0] == '*';
  if (value->bytes == NULL
          ? !reference
          : strcmp(kvo__type_unqualified(value->type), property->type) != 0 || value->size != property->size)
    return KVO_ERROR_TYPE_MISMATCH;
  static const void *const nil = NULL;
  return kvo__set(property, object, value->bytes != NULL ? value->bytes : &nil);
}

kvo_status kvo_set_value_at(kvo_object *object, const char *key_path, const kvo_value *value, const char *file,
                            uint32_t line) {
  const char *wrong = value == NULL         ? "value is NULL"
                      : value->type == NULL ? "value->type is NULL"
                                            : wrong_argument(object, key_path);
  if (wrong != NULL) return kvo__invalid("kvo_set_value", wrong, (kvo_place){file, line});
  const char *whole = key_path;
  kvo_status status = kvo__path_check(key_path);
  if (status != KVO_OK) return kvo__result(status, "kvo_set_value", object, whole);
  const kvo_property *property = NULL;
  kvo_held last = {object, NULL, NULL};
  if (kvo__path_walk(&last, &key_path, &property, &status)) status = assign(last.object, property, value);
  kvo__path_let_go(&last);
  /* The setter's refusal has a text that says more. */
  return status != KVO_ERROR_REFUSED ? kvo__result(status, "kvo_set_value", object, whole) : status;
}

kvo_status kvo_get_value(kvo_object *object, const char *key_path, kvo_value_reader reader, void *arg) {
  return kvo_get_value_at(object, key_path, reader, arg, NULL, 0);
}

kvo_status kvo_set_value(kvo_object *object, const char *key_path, const kvo_value *value) {
  return kvo_set_value_at(object, key_path, value, NULL, 0);
}

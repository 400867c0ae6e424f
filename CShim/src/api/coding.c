/* coding.c - key-value coding with C types: kvo_get_int64, kvo_set_string and their like. */
#include "expressions/deliver.h"

#include <stdio.h>

/* ------------------------------------------------------------------------------------------------------------- Values -- */

static kvo_status coding_store(const char *function, const kvo_value *value, const char *type, size_t size, void *out) {
  if (value == NULL || value->type == NULL || out == NULL)
    return kvo__fail(KVO_ERROR_INVALID_ARGUMENT, "%s: value, value->type or out is NULL", function);
  kvo_status status = kvo__value_store(value, type, size, out);
  if (status == KVO_OK) return KVO_OK;
  char why[256];
  snprintf(why, sizeof why, "%s", kvo_last_error());
  return kvo__fail(status, "%s: %s", function, why);
}

kvo_status kvo_value_int64(const kvo_value *value, int64_t *out) {
  return coding_store("kvo_value_int64", value, "q", sizeof *out, out);
}
kvo_status kvo_value_uint64(const kvo_value *value, uint64_t *out) {
  return coding_store("kvo_value_uint64", value, "Q", sizeof *out, out);
}
kvo_status kvo_value_double(const kvo_value *value, double *out) {
  return coding_store("kvo_value_double", value, "d", sizeof *out, out);
}
kvo_status kvo_value_bool(const kvo_value *value, bool *out) {
  return coding_store("kvo_value_bool", value, "B", sizeof *out, out);
}
kvo_status kvo_value_string(const kvo_value *value, const char **out) {
  return coding_store("kvo_value_string", value, "*", sizeof *out, out);
}
kvo_status kvo_value_object(const kvo_value *value, kvo_object **out) {
  return coding_store("kvo_value_object", value, "@", sizeof *out, out);
}

/* ------------------------------------------------------------------------------------------------------------ Reading -- */

typedef struct typed_read {
  const char *type;
  size_t size;
  void *out;
  kvo_status status;
} typed_read;

static void read_typed(const kvo_value *value, void *arg) {
  typed_read *of = arg;
  of->status = kvo__value_store(value, of->type, of->size, of->out);
}

static void read_string(const kvo_value *value, void *arg) {
  typed_read *of = arg;
  const char *string;
  of->status = kvo__value_store(value, "*", sizeof string, &string);
  if (of->status != KVO_OK) return;
  char *copy = string != NULL ? kvo__copy_string(string, strlen(string)) : NULL;
  if (string != NULL && copy == NULL)
    of->status = KVO_ERROR_OUT_OF_MEMORY;
  else
    *(char **)of->out = copy;
}

static kvo_status coding_get(const char *function, kvo_object *object, const char *key_path, kvo_value_reader reader,
                             typed_read *of) {
  const char *wrong = object == NULL     ? "object is NULL"
                      : key_path == NULL ? "key_path is NULL"
                      : of->out == NULL  ? "out is NULL"
                                         : NULL;
  if (wrong != NULL) return kvo__invalid(function, wrong, KVO_NOWHERE);
  uint32_t errors = kvo__error_count();
  kvo_status status = kvo__path_check_of(object, key_path);
  if (status == KVO_OK) status = kvo__path_read(object, key_path, KVO_PATH_READ, reader, of);
  if (status == KVO_OK) status = of->status;
  return status == KVO_OK ? KVO_OK : kvo__explain(status, errors, function, object, key_path);
}

#define GET(name, T, encoding, reader)                                                                                 \
  kvo_status name(kvo_object *object, const char *key_path, T *out) {                                                  \
    typed_read of = {encoding, sizeof(T), out, KVO_OK};                                                                \
    return coding_get(#name, object, key_path, reader, &of);                                                           \
  }
GET(kvo_get_int64, int64_t, "q", read_typed)
GET(kvo_get_uint64, uint64_t, "Q", read_typed)
GET(kvo_get_double, double, "d", read_typed)
GET(kvo_get_bool, bool, "B", read_typed)
GET(kvo_get_object, kvo_object *, "@", read_typed)
GET(kvo_get_string, char *, "*", read_string)
#undef GET

void kvo_string_free(char *string) { kvo__free(string); }

/* ------------------------------------------------------------------------------------------------------------ Setting -- */

#define SET(name, T, encoding, is_nil)                                                                                 \
  kvo_status name(kvo_object *object, const char *key_path, T value) {                                                 \
    kvo_value given = {encoding, sizeof value, is_nil ? NULL : (const void *)&value};                                  \
    return kvo_set_value(object, key_path, &given);                                                                    \
  }
SET(kvo_set_int64, int64_t, "q", false)
SET(kvo_set_uint64, uint64_t, "Q", false)
SET(kvo_set_double, double, "d", false)
SET(kvo_set_bool, bool, "B", false)
SET(kvo_set_string, const char *, "*", value == NULL)
SET(kvo_set_object, kvo_object *, "@", value == NULL)
#undef SET

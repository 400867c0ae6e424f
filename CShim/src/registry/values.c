/* values.c - values that C can read: copies of values, and views of properties' values. */
#include "registry/registry.h"

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
  /* The element type of a C property is unknown. */
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

/* ---------------------------------------------------------------------------------------------------------- Comparing -- */

bool kvo__value_same(const kvo_value *one, const kvo_value *other) {
  if (one->bytes == NULL || other->bytes == NULL) return one->bytes == other->bytes;
  char code = one->type != NULL ? kvo__type_unqualified(one->type)[0] : '?';
  bool is_comparable =
      code != '?' && other->type != NULL && strcmp(one->type, other->type) == 0 && one->size == other->size;
  if (!is_comparable) return false;
  switch (code) {
    case '*': return strcmp(*(char *const *)one->bytes, *(char *const *)other->bytes) == 0;
    case 'f': return *(const float *)one->bytes == *(const float *)other->bytes;
    case 'd': return *(const double *)one->bytes == *(const double *)other->bytes;
    case 'D': return *(const long double *)one->bytes == *(const long double *)other->bytes;
    default: return memcmp(one->bytes, other->bytes, one->size) == 0;
  }
}

bool kvo__property_same(const kvo_property *property, const void *one, const void *other) {
  if (property->ops != NULL) return property->ops->same != NULL && property->ops->same(one, other, property->user);
  kvo_value values[2] = {{property->type, property->size, one}, {property->type, property->size, other}};
  for (int i = 0; i < 2; i++)
    if (kvo__type_unqualified(property->type)[0] == '*' && *(char *const *)values[i].bytes == NULL)
      values[i].bytes = NULL;
  return kvo__value_same(&values[0], &values[1]);
}

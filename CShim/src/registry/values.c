/* values.c - the values of properties: copies, views and comparison. */
#include "registry/registry.h"

#include <stdlib.h>

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
  if (!kvo__can_read(property) || selection != NULL) return NULL;
  void *value = kvo__alloc(property->size);
  if (value == NULL) return NULL;
  kvo__call_getter(property, object, value);
  if (property->type[0] != '*' || *(char **)value == NULL) return value;
  char *text = *(char **)value;
  size_t length = strlen(text) + 1;
  char *owned = kvo__alloc(sizeof(char *) + length);
  if (owned != NULL) {
    memcpy(owned + sizeof(char *), text, length);
    *(char **)(void *)owned = owned + sizeof(char *);
  }
  kvo__free(value);
  if (kvo__is_copied(property)) free(text);
  return owned;
}

void *kvo__property_keep(const kvo_property *property, kvo_object *object, const kvo_selection *selection) {
  bool is_in_place = (property->flags & KVO_PROPERTY_IN_PLACE) != 0;
  return is_in_place ? NULL : kvo__property_copy(property, object, selection);
}

void kvo__property_release(const kvo_property *property, void *value) {
  if (value == NULL || (property->flags & KVO_PROPERTY_IN_PLACE) != 0) return;
  if (property->ops != NULL)
    property->ops->release(value, property->user);
  else
    kvo__free(value);
}

/* ---------------------------------------------------------------------------------------------------------- Comparing -- */

bool kvo__property_same(const kvo_property *property, const void *one, const void *other) {
  if (property->ops != NULL) return property->ops->same != NULL && property->ops->same(one, other, property->user);
  kvo_value values[2] = {{property->type, property->size, one}, {property->type, property->size, other}};
  return kvo__value_same(&values[0], &values[1]);
}

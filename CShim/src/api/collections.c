/* collections.c - lists and sets of objects: kvo_list_insert, kvo_members_add and their like. */
#include "changes/elements.h"

/* ---------------------------------------------------------------------------------------------------------- Arguments -- */

/* The keys of to-many properties, and those of bindings, whose collections can be read. */
typedef enum wanted { A_LIST, A_SET } wanted;

static kvo_status misuse(const char *function, const char *what) { return kvo__invalid(function, what, KVO_NOWHERE); }

static kvo_status fail(kvo_status status, const char *function, const kvo_object *object, const char *key,
                       const char *why) {
  return kvo__fail(status, "%s: key '%s' of class '%s': %s", function, key, kvo_class_name(kvo_object_class(object)),
                   why);
}

/* Finds the property of a key. */
static kvo_status collections_find(const char *function, const kvo_object *object, const char *key,
                                   const kvo_property **property) {
  if (object == NULL) return misuse(function, "object is NULL");
  if (key == NULL) return misuse(function, "key is NULL");
  *property = kvo_class_property(kvo_object_class(object), key);
  return *property != NULL ? KVO_OK : fail(KVO_ERROR_UNDEFINED_KEY, function, object, key, "there is no such key");
}

static bool is_wanted(const kvo_property *property, wanted wants) {
  return property->to_many != NULL && property->to_many->is_list == (wants == A_LIST);
}

static kvo_status find_to_many(const char *function, const kvo_object *object, const char *key, wanted wants,
                               const kvo_property **property) {
  kvo_status status = collections_find(function, object, key, property);
  if (status != KVO_OK || is_wanted(*property, wants)) return status;
  const char *why = wants == A_LIST ? "it is not a list" : "it is not a set";
  if ((*property)->to_many == NULL && (*property)->type[0] == (wants == A_LIST ? '[' : '<') && (*property)->ops != NULL)
    why = "it is a property of another language, which has no accessors: set the whole value with kvo_set_value, or "
          "change its elements in that language";
  return fail(KVO_ERROR_TYPE_MISMATCH, function, object, key, why);
}

/* Copies to a caller's structure, which may have the size of another version, all but the size, its first member. */
static void give(const void *made, size_t size, void *out, size_t room) {
  memcpy((char *)out + sizeof(size_t), (const char *)made + sizeof(size_t),
         (room < size ? room : size) - sizeof(size_t));
}

kvo_status kvo_object_list_accessors(const kvo_object *object, const char *key, kvo_list_accessors *out) {
  enum { LEAST = KVO_SIZE_TO(kvo_list_accessors, user) };
  if (object == NULL || key == NULL || out == NULL || out->struct_size < LEAST)
    return kvo__fail(KVO_ERROR_INVALID_ARGUMENT,
                     "kvo_object_list_accessors: an argument is NULL, or struct_size is wrong");
  const kvo_property *property;
  kvo_status status = find_to_many("kvo_object_list_accessors", object, key, A_LIST, &property);
  if (status != KVO_OK) return status;
  kvo_list_accessors made = kvo__list_accessors(object, property);
  give(&made, sizeof made, out, out->struct_size);
  return KVO_OK;
}

kvo_status kvo_object_member_accessors(const kvo_object *object, const char *key, kvo_member_accessors *out) {
  enum { LEAST = KVO_SIZE_TO(kvo_member_accessors, user) };
  if (object == NULL || key == NULL || out == NULL || out->struct_size < LEAST)
    return kvo__fail(KVO_ERROR_INVALID_ARGUMENT,
                     "kvo_object_member_accessors: an argument is NULL, or struct_size is wrong");
  const kvo_property *property;
  kvo_status status = find_to_many("kvo_object_member_accessors", object, key, A_SET, &property);
  if (status != KVO_OK) return status;
  kvo_member_accessors made = kvo__member_accessors(object, property);
  give(&made, sizeof made, out, out->struct_size);
  return KVO_OK;
}

/* ------------------------------------------------------------------------------------------------------------ Reading -- */

/* Passes the value of a property as a whole. */
static kvo_status read_whole(const kvo_property *property, kvo_object *object, kvo_value_reader reader, void *arg) {
  void *value = kvo__property_copy(property, object, NULL);
  if (value == NULL)
    return kvo__fail(property->to_many != NULL ? KVO_ERROR_OUT_OF_MEMORY : KVO_ERROR_NO_GETTER,
                     "the collection cannot be read");
  kvo__property_view(property, value, reader, arg);
  kvo__property_release(property, value);
  return KVO_OK;
}

/* Reads a collection of a binding. */
typedef struct element_reading {
  kvo_status status;
  size_t count, position;
  kvo_value_reader reader;
  void *arg;
} element_reading;

static bool collections_begins(const kvo_value *value, char code) {
  return value->type != NULL && value->type[0] == code;
}

static void collections_count_of(const kvo_value *value, void *arg) {
  element_reading *of = arg;
  of->status = collections_begins(value, '[') || collections_begins(value, '<') ? KVO_OK : KVO_ERROR_TYPE_MISMATCH;
  of->count = kvo_value_count(value);
}

static void collections_element_of(const kvo_value *value, void *arg) {
  element_reading *of = arg;
  bool is_empty = collections_begins(value, '[') && value->bytes == NULL;
  of->status = is_empty ? KVO_ERROR_OUT_OF_RANGE : kvo_value_element(value, of->position, of->reader, of->arg);
}

static void all_of(const kvo_value *value, void *arg) {
  element_reading *of = arg;
  collections_count_of(value, arg);
  for (size_t i = 0; i < of->count && of->status == KVO_OK; i++)
    of->status = kvo_value_element(value, i, of->reader, of->arg);
}

static kvo_status collections_read(const char *function, const kvo_property *property, kvo_object *object,
                                   kvo_value_reader reader, element_reading *of) {
  uint32_t errors = kvo__error_count();
  kvo_status status = read_whole(property, object, reader, of);
  if (status == KVO_OK) status = of->status;
  return status == KVO_OK ? KVO_OK
                          : kvo__elements_fail(status, errors, function, kvo_object_class(object), property->name);
}

kvo_status kvo_list_count(kvo_object *object, const char *key, size_t *out) {
  const kvo_property *property;
  if (out == NULL) return misuse("kvo_list_count", "out is NULL");
  kvo_status status = collections_find("kvo_list_count", object, key, &property);
  if (status != KVO_OK) return status;
  if (is_wanted(property, A_LIST)) {
    *out = property->to_many->list.count(object, property->to_many->list.user);
    return KVO_OK;
  }
  element_reading of = {0};
  if (property->ops == NULL || property->type[0] == '<')
    return fail(KVO_ERROR_TYPE_MISMATCH, "kvo_list_count", object, key, "it is not a list");
  status = collections_read("kvo_list_count", property, object, collections_count_of, &of);
  if (status == KVO_OK) *out = of.count;
  return status;
}

kvo_status kvo_list_get(kvo_object *object, const char *key, size_t index, kvo_value_reader reader, void *arg) {
  const kvo_property *property;
  if (reader == NULL) return misuse("kvo_list_get", "reader is NULL");
  kvo_status status = collections_find("kvo_list_get", object, key, &property);
  if (status != KVO_OK) return status;
  if (property->ops == NULL || property->type[0] == '<')
    return fail(KVO_ERROR_TYPE_MISMATCH, "kvo_list_get", object, key, "it is not a list");
  if (property->to_many == NULL) {
    element_reading of = {.position = index, .reader = reader, .arg = arg};
    return collections_read("kvo_list_get", property, object, collections_element_of, &of);
  }
  kvo_selection selection = {&index, 1};
  kvo_elements *element = kvo__elements_copy(property, object, &selection);
  if (element == NULL) return kvo__result(KVO_ERROR_OUT_OF_MEMORY, "kvo_list_get", object, key);
  status = element->base.count == 1
               ? kvo__elements_pass(&element->base, 0, reader, arg)
               : fail(KVO_ERROR_OUT_OF_RANGE, "kvo_list_get", object, key, "there is no such index");
  kvo__elements_free(element);
  return status;
}

/* ----------------------------------------------------------------------------------------------------------- Mutating -- */

/* Elements converted from values: in the structure if they fit. */
typedef struct converted {
  _Alignas(16) unsigned char inside[64];
  void *block;
  const void *elements;
} converted;

static kvo_status convert(const kvo_property *property, const kvo_value *values, size_t count, converted *to) {
  const kvo_to_many *many = property->to_many;
  bool fits = count <= sizeof to->inside / many->size;
  to->block = NULL;
  if (!fits && (count > SIZE_MAX / many->size || (to->block = kvo__alloc(count * many->size)) == NULL))
    return KVO_ERROR_OUT_OF_MEMORY;
  unsigned char *at = fits ? to->inside : to->block;
  to->elements = at;
  for (size_t i = 0; i < count; i++) {
    kvo_status status = kvo__value_store(&values[i], many->type, many->size, at + i * many->size);
    if (status != KVO_OK) return status == KVO_ERROR_NO_VALUE ? KVO_ERROR_TYPE_MISMATCH : status;
  }
  return KVO_OK;
}

/* Whether the indexes are ascending, and a list of `count` elements has them. The order comes first: it is wrong for any list. */
static kvo_status check_indexes(const kvo_mutation *of, const char *key, size_t count) {
  for (size_t i = 1; i < of->count; i++) {
    if (of->indexes[i] > of->indexes[i - 1]) continue;
    KVO_MISUSE(unordered_indexes, of->object, key, i, of->indexes[i - 1], of->indexes[i], KVO_NOWHERE);
    return KVO_ERROR_INVALID_ARGUMENT;
  }
  for (size_t i = 0; i < of->count; i++) {
    kvo_status status = kvo__index_check(of, i, of->kind == KVO_CHANGE_INSERTION ? count + i : count);
    if (status != KVO_OK) return status;
  }
  return KVO_OK;
}

static kvo_status change_list(const char *function, const char *key, kvo_mutation *of, const kvo_value *values) {
  of->function = function;
  kvo_status status = find_to_many(function, of->object, key, A_LIST, &of->property);
  if (status != KVO_OK) return status;
  if (of->count > 0 && of->indexes == NULL) return misuse(function, "indexes is NULL");
  bool has_values = of->kind != KVO_CHANGE_REMOVAL;
  for (size_t i = 0; has_values && i < of->count; i++) {
    if (values == NULL) return misuse(function, "value is NULL");
    if (values[i].type == NULL) return misuse(function, "value->type is NULL");
  }
  const kvo_list_accessors *list = &of->property->to_many->list;
  if (list->insert_at == NULL) return fail(KVO_ERROR_READ_ONLY, function, of->object, key, "it has no such accessor");
  if (of->count == 0) return KVO_OK;
  uint32_t errors = kvo__error_count();
  converted to = {.block = NULL};
  status = check_indexes(of, key, list->count(of->object, list->user));
  if (status == KVO_OK && has_values) status = convert(of->property, values, of->count, &to);
  of->elements = to.elements;
  status = status == KVO_OK ? kvo__mutate(of)
                            : kvo__elements_fail(status, errors, function, kvo_object_class(of->object), key);
  kvo__free(to.block);
  return status;
}

kvo_status kvo_list_insert(kvo_object *object, const char *key, size_t index, const kvo_value *value) {
  kvo_mutation change = {.object = object, .kind = KVO_CHANGE_INSERTION, .indexes = &index, .count = 1};
  return change_list("kvo_list_insert", key, &change, value);
}

kvo_status kvo_list_remove(kvo_object *object, const char *key, size_t index) {
  kvo_mutation change = {.object = object, .kind = KVO_CHANGE_REMOVAL, .indexes = &index, .count = 1};
  return change_list("kvo_list_remove", key, &change, NULL);
}

kvo_status kvo_list_replace(kvo_object *object, const char *key, size_t index, const kvo_value *value) {
  kvo_mutation change = {.object = object, .kind = KVO_CHANGE_REPLACEMENT, .indexes = &index, .count = 1};
  return change_list("kvo_list_replace", key, &change, value);
}

kvo_status kvo_list_insert_several(kvo_object *object, const char *key, const size_t *indexes, size_t count,
                                   const kvo_value *values) {
  kvo_mutation change = {.object = object, .kind = KVO_CHANGE_INSERTION, .indexes = indexes, .count = count};
  return change_list("kvo_list_insert_several", key, &change, values);
}

kvo_status kvo_list_remove_several(kvo_object *object, const char *key, const size_t *indexes, size_t count) {
  kvo_mutation change = {.object = object, .kind = KVO_CHANGE_REMOVAL, .indexes = indexes, .count = count};
  return change_list("kvo_list_remove_several", key, &change, NULL);
}

kvo_status kvo_list_replace_several(kvo_object *object, const char *key, const size_t *indexes, size_t count,
                                    const kvo_value *values) {
  kvo_mutation change = {.object = object, .kind = KVO_CHANGE_REPLACEMENT, .indexes = indexes, .count = count};
  return change_list("kvo_list_replace_several", key, &change, values);
}

/* --------------------------------------------------------------------------------------------------------------- Sets -- */

kvo_status kvo_members_count(kvo_object *object, const char *key, size_t *out) {
  const kvo_property *property;
  if (out == NULL) return misuse("kvo_members_count", "out is NULL");
  kvo_status status = collections_find("kvo_members_count", object, key, &property);
  if (status != KVO_OK) return status;
  if (is_wanted(property, A_SET)) {
    *out = property->to_many->members.count(object, property->to_many->members.user);
    return KVO_OK;
  }
  element_reading of = {0};
  if (property->ops == NULL || property->type[0] == '[')
    return fail(KVO_ERROR_TYPE_MISMATCH, "kvo_members_count", object, key, "it is not a set");
  status = collections_read("kvo_members_count", property, object, collections_count_of, &of);
  if (status == KVO_OK) *out = of.count;
  return status;
}

kvo_status kvo_members_for_each(kvo_object *object, const char *key, kvo_value_reader reader, void *arg) {
  const kvo_property *property;
  if (reader == NULL) return misuse("kvo_members_for_each", "reader is NULL");
  kvo_status status = collections_find("kvo_members_for_each", object, key, &property);
  if (status != KVO_OK) return status;
  if (property->ops == NULL || property->type[0] == '[')
    return fail(KVO_ERROR_TYPE_MISMATCH, "kvo_members_for_each", object, key, "it is not a set");
  element_reading of = {.reader = reader, .arg = arg};
  return collections_read("kvo_members_for_each", property, object, all_of, &of);
}

/* Converts a member, and calls `use` with it. */
static kvo_status with_member(const char *function, kvo_object *object, const char *key, const kvo_value *value,
                              kvo_status (*use)(kvo_object *object, const kvo_property *property, const void *element,
                                                void *arg),
                              void *arg) {
  const kvo_property *property;
  kvo_status status = find_to_many(function, object, key, A_SET, &property);
  if (status != KVO_OK) return status;
  if (value == NULL || value->type == NULL)
    return misuse(function, value == NULL ? "value is NULL" : "value->type is NULL");
  converted to;
  uint32_t errors = kvo__error_count();
  status = convert(property, value, 1, &to);
  status = status == KVO_OK ? use(object, property, to.elements, arg)
                            : kvo__elements_fail(status, errors, function, kvo_object_class(object), key);
  kvo__free(to.block);
  return status;
}

static kvo_status look_for(kvo_object *object, const kvo_property *property, const void *element, void *arg) {
  const kvo_member_accessors *members = &property->to_many->members;
  *(bool *)arg = members->contains(object, element, members->user);
  return KVO_OK;
}

kvo_status kvo_members_contain(kvo_object *object, const char *key, const kvo_value *value, bool *out) {
  if (out == NULL) return misuse("kvo_members_contain", "out is NULL");
  return with_member("kvo_members_contain", object, key, value, look_for, out);
}

/* `arg` points to the kind of the change. */
static kvo_status collections_change_member(kvo_object *object, const kvo_property *property, const void *element,
                                            void *arg) {
  kvo_change_kind kind = *(const kvo_change_kind *)arg;
  const kvo_member_accessors *members = &property->to_many->members;
  const char *function = kind == KVO_CHANGE_INSERTION ? "kvo_members_add" : "kvo_members_remove";
  if (members->add == NULL) return fail(KVO_ERROR_READ_ONLY, function, object, property->name, "it is read-only");
  if (members->contains(object, element, members->user) == (kind == KVO_CHANGE_INSERTION)) return KVO_OK;
  return kvo__mutate(&(kvo_mutation){object, property, kind, NULL, 1, element, function});
}

kvo_status kvo_members_add(kvo_object *object, const char *key, const kvo_value *value) {
  kvo_change_kind kind = KVO_CHANGE_INSERTION;
  return with_member("kvo_members_add", object, key, value, collections_change_member, &kind);
}

kvo_status kvo_members_remove(kvo_object *object, const char *key, const kvo_value *value) {
  kvo_change_kind kind = KVO_CHANGE_REMOVAL;
  return with_member("kvo_members_remove", object, key, value, collections_change_member, &kind);
}

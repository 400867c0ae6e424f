/* collection.c - to-many properties of C classes: their description, and copies and views of their elements. */
#include "classes/classes.h"

/* ------------------------------------------------------------------------------------------------------- Registration -- */

static bool is_list_whole(const kvo_list_accessors *list) {
  return list->struct_size >= sizeof *list && list->count != NULL && list->get_at != NULL &&
         (list->insert_at != NULL) == (list->remove_at != NULL) &&
         (list->replace_at == NULL || list->insert_at != NULL);
}

static bool is_set_whole(const kvo_member_accessors *members) {
  return members->struct_size >= sizeof *members && members->count != NULL && members->contains != NULL &&
         members->for_each != NULL && (members->add != NULL) == (members->remove != NULL);
}

char *kvo__to_many_type(const kvo_collection_spec *spec, kvo_status *status) {
  *status = KVO_ERROR_INVALID_ARGUMENT;
  if (spec->element_type == NULL || (spec->list != NULL) == (spec->members != NULL)) return NULL;
  if (spec->list != NULL ? !is_list_whole(spec->list) : !is_set_whole(spec->members)) return NULL;
  const char *element = kvo__type_unqualified(spec->element_type);
  size_t length = strlen(element);
  char *type = kvo__alloc(length + 3);
  *status = type != NULL ? KVO_OK : KVO_ERROR_OUT_OF_MEMORY;
  if (type == NULL) return NULL;
  type[0] = spec->list != NULL ? '[' : '<';
  memcpy(type + 1, element, length);
  type[length + 1] = spec->list != NULL ? ']' : '>';
  return type;
}

kvo_status kvo__to_many_make(kvo_property *property, const kvo_collection_spec *spec) {
  const char *element = kvo__type_unqualified(spec->element_type);
  size_t length = strlen(element) + 1, size;
  kvo_status status = kvo__type_measure(element, &size);
  if (status != KVO_OK) return status;
  kvo_to_many *made = kvo__alloc(sizeof *made + length);
  if (made == NULL) return KVO_ERROR_OUT_OF_MEMORY;
  made->is_list = spec->list != NULL;
  made->type = memcpy(made + 1, element, length);
  made->size = size;
  if (made->is_list)
    made->list = *spec->list;
  else
    made->members = *spec->members;
  property->to_many = made;
  property->ops = &kvo__elements_ops;
  property->user = property;
  return KVO_OK;
}

/* --------------------------------------------------------------------------------------------------- Copies and views -- */

static void *element_at(const kvo_elements *elements, size_t position) {
  return (unsigned char *)elements->bytes + position * elements->of->to_many->size;
}

/* Memory for elements, which is zero; their bytes follow the structure. */
static kvo_elements *collection_make(const kvo_property *of, size_t count) {
  size_t size = of->to_many->size, head = (sizeof(kvo_elements) + 15) / 16 * 16;
  kvo_elements *made = count <= (SIZE_MAX - head) / size ? kvo__alloc(head + count * size) : NULL;
  if (made != NULL) *made = kvo__elements_of(of, (unsigned char *)made + head, count);
  return made;
}

static bool has_strings(const kvo_elements *elements) { return elements->of->to_many->type[0] == '*'; }

void kvo__elements_free(kvo_elements *elements) {
  if (elements == NULL) return;
  if (has_strings(elements))
    for (size_t i = 0; i < elements->base.count; i++) kvo__free(*(char **)element_at(elements, i));
  kvo__free(elements);
}

/* Replaces strings by copies. Without memory it frees the elements and returns NULL. */
static kvo_elements *own(kvo_elements *elements) {
  if (elements == NULL || !has_strings(elements)) return elements;
  bool is_whole = true;
  for (size_t i = 0; i < elements->base.count; i++) {
    char **string = element_at(elements, i);
    if (*string == NULL) continue;
    *string = is_whole ? kvo__copy_string(*string, strlen(*string)) : NULL;
    is_whole = is_whole && *string != NULL;
  }
  if (is_whole) return elements;
  kvo__elements_free(elements);
  return NULL;
}

kvo_elements *kvo__elements_keep(const kvo_property *of, const void *bytes, size_t count) {
  kvo_elements *made = collection_make(of, count);
  if (made != NULL && count > 0) memcpy(element_at(made, 0), bytes, count * of->to_many->size);
  return own(made);
}

static kvo_elements *copy_list(const kvo_property *of, const kvo_object *object, const kvo_selection *selection) {
  const kvo_list_accessors *list = &of->to_many->list;
  size_t present = list->count(object, list->user), wanted = selection != NULL ? selection->count : present;
  kvo_elements *made = collection_make(of, wanted);
  if (made == NULL) return NULL;
  made->base.count = 0;
  for (size_t i = 0; i < wanted; i++) {
    size_t index = selection != NULL ? selection->indexes[i] : i;
    if (index < present) list->get_at(object, index, element_at(made, made->base.count++), list->user);
  }
  return own(made);
}

typedef struct filling {
  kvo_elements *to;
  size_t room;
} filling;

static void add_member(const void *element, void *arg) {
  filling *of = arg;
  if (of->to->base.count < of->room)
    memcpy(element_at(of->to, of->to->base.count++), element, of->to->of->to_many->size);
}

static kvo_elements *copy_members(const kvo_property *of, const kvo_object *object) {
  const kvo_member_accessors *members = &of->to_many->members;
  size_t count = members->count(object, members->user);
  kvo_elements *made = collection_make(of, count);
  if (made == NULL) return NULL;
  made->base.count = 0;
  filling into = {made, count};
  members->for_each(object, add_member, &into, members->user);
  return own(made);
}

kvo_elements *kvo__elements_copy(const kvo_property *of, const kvo_object *object, const kvo_selection *selection) {
  if (of->to_many->is_list) return copy_list(of, object, selection);
  return selection == NULL ? copy_members(of, object) : NULL; /* members have no indexes */
}

kvo_status kvo__elements_pass(const kvo_collection *self, size_t position, kvo_value_reader reader, void *arg) {
  const kvo_elements *elements = (const kvo_elements *)(const void *)self;
  const kvo_to_many *of = elements->of->to_many;
  const void *bytes = element_at(elements, position);
  bool is_nil = (of->type[0] == '@' || of->type[0] == '*') && *(void *const *)bytes == NULL;
  kvo_value value = {of->type, of->size, is_nil ? NULL : bytes};
  reader(&value, arg);
  return KVO_OK;
}

/* --------------------------------------------------------------------------------------------------------- Operations -- */

static void *collection_copy(void *instance, void *user, const kvo_selection *selection) {
  return kvo__elements_copy(user, instance, selection); /* the header of a C object is its first member */
}

static void collection_release(void *value, void *user) {
  (void)user;
  kvo__elements_free(value);
}

static void view(const void *value, void *user, kvo_value_reader reader, void *arg) {
  const kvo_elements *elements = value;
  (void)user;
  kvo_value whole = {elements->of->type, sizeof(kvo_collection), &elements->base};
  reader(&whole, arg);
}

static kvo_status assign(void *instance, void *user, const kvo_value *value) {
  (void)instance, (void)user, (void)value;
  return kvo__fail(KVO_ERROR_READ_ONLY, "a collection is not set as a whole: insert and remove elements");
}

static bool same(const void *one, const void *other, void *user) {
  const kvo_elements *elements[] = {one, other};
  const kvo_property *property = user;
  kvo_value values[2];
  for (int i = 0; i < 2; i++) values[i] = (kvo_value){property->type, sizeof(kvo_collection), &elements[i]->base};
  return kvo__value_same(&values[0], &values[1]);
}

const kvo_value_ops kvo__elements_ops = {collection_copy, collection_release, view, assign, same};

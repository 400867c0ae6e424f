/* class.c - the registry of classes, those of C and of bindings, and their notifying classes. */
#include "classes/classes.h"

#include <stdio.h>
#include <stdlib.h>

/* Guards the lists, the making of notifying classes, and what happens to classes that are not registered any more (unregister.c). */
static kvo_lock classes_lock;
static kvo_class *classes;

/* The same classes by address, to test whether a pointer is a class without dereferencing it. Only the heads of the lists change, so they
 * are read without the lock. */
enum { CLASS_BUCKETS = 256 };
static kvo_class *_Atomic by_address[CLASS_BUCKETS];

static kvo_class *_Atomic *class_bucket_of(const kvo_class *cls) {
  return &by_address[((uintptr_t)cls >> 4) * UINT64_C(0x9e3779b97f4a7c15) >> 56];
}

bool kvo__class_is_known(const kvo_class *cls) {
  const kvo_class *each = atomic_load_explicit(class_bucket_of(cls), memory_order_acquire);
  while (each != NULL && each != cls) each = each->neighbour;
  return each != NULL && !atomic_load(&each->is_retired);
}

/* The lock is held. */
static void class_add_locked(kvo_class *cls) {
  kvo__assert(kvo__holds(&classes_lock));
  kvo_class *_Atomic *bucket = class_bucket_of(cls);
  cls->neighbour = atomic_load_explicit(bucket, memory_order_relaxed);
  atomic_store_explicit(bucket, cls, memory_order_release);
  cls->next = classes;
  classes = cls;
}

const kvo_property *kvo__class_find(const kvo_class *cls, kvo_key key) {
  if (cls->property_count == 0) return NULL;
  size_t at = 0;
  do {
    if (cls->keys[at] == key) return cls->properties[at];
    at = cls->branches[at][key > cls->keys[at]];
  } while (at != 0);
  return NULL;
}

/* Adds a new property to the search tree. */
static void branch(kvo_class *cls, size_t index) {
  if (index == 0) return;
  size_t at = 0;
  uint16_t *link;
  do {
    link = &cls->branches[at][cls->keys[index] > cls->keys[at]];
    at = *link;
  } while (at != 0);
  *link = (uint16_t)index;
}

static kvo_class *find_locked(const char *name) {
  kvo__assert(kvo__holds(&classes_lock));
  for (kvo_class *cls = classes; cls != NULL; cls = cls->next)
    if (!atomic_load(&cls->is_retired) && strcmp(cls->name, name) == 0) return cls;
  return NULL;
}

void kvo__classes_lock(void) { kvo__lock(&classes_lock); }
void kvo__classes_unlock(void) { kvo__unlock(&classes_lock); }

kvo_class *kvo__classes_first(void) {
  kvo__assert(kvo__holds(&classes_lock));
  return classes;
}

/* ------------------------------------------------------------------------------------------------------ Registration -- */

static void free_class(kvo_class *cls) {
  const kvo_class *superclass = cls->superclass;
  for (size_t i = 0; cls->properties != NULL && i < cls->property_count; i++)
    if (superclass == NULL || i >= superclass->property_count || cls->properties[i] != superclass->properties[i])
      kvo__property_free((kvo_property *)cls->properties[i]);
  kvo__free(cls->properties);
  kvo__free(cls->keys);
  kvo__free(cls->branches);
  kvo__free(cls->setters);
  if (cls->owns_coding) kvo__free((void *)cls->coding);
  kvo__free((void *)cls->name);
  if (cls->display_name != cls->name) kvo__free((void *)cls->display_name);
  kvo__free(cls->memory);
}

/* At an address that leaves a bit for KVO_WORD_CREATED, where malloc aligns to 8 bytes. */
static kvo_class *allocate(void) {
  enum { ALIGNMENT = 16, LEAST = 8 };
  void *memory = kvo__alloc(sizeof(kvo_class) + ALIGNMENT - LEAST);
  if (memory == NULL) return NULL;
  kvo_class *cls = (kvo_class *)(((uintptr_t)memory + ALIGNMENT - LEAST) & ~(uintptr_t)(ALIGNMENT - 1));
  cls->memory = memory;
  return cls;
}

/* A class with room for its superclass's properties and `added` more; NULL without memory. */
static kvo_class *make_class(const char *name, kvo_class *superclass, size_t added) {
  size_t inherited = superclass != NULL ? superclass->property_count : 0, total = inherited + added;
  kvo_class *cls = allocate();
  if (cls == NULL) return NULL;
  cls->name = cls->display_name = kvo__copy_string(name, strlen(name));
  cls->properties = kvo__alloc((total + 1) * sizeof *cls->properties);
  cls->keys = kvo__alloc((total + 1) * sizeof *cls->keys);
  cls->branches = kvo__alloc((total + 1) * sizeof *cls->branches);
  cls->setters = kvo__alloc((total + 1) * sizeof *cls->setters);
  if (cls->name == NULL || cls->properties == NULL || cls->keys == NULL || cls->branches == NULL ||
      cls->setters == NULL) {
    free_class(cls);
    return NULL;
  }
  cls->superclass = superclass;
  cls->coding = superclass != NULL ? superclass->coding : NULL;
  cls->retain = superclass != NULL ? superclass->retain : NULL;
  cls->release = superclass != NULL ? superclass->release : NULL;
  for (size_t i = 0; i < inherited; i++) {
    cls->properties[i] = superclass->properties[i];
    cls->keys[i] = superclass->keys[i];
    cls->setters[i] = superclass->setters[i];
    memcpy(cls->branches[i], superclass->branches[i], sizeof *cls->branches);
  }
  cls->property_count = inherited;
  return cls;
}

/* A slot has 16 bits for the index of a property. */
static bool too_many(const kvo_class *superclass, size_t added) {
  size_t inherited = superclass != NULL ? superclass->property_count : 0;
  return added >= KVO_NO_PROPERTY - inherited;
}

/* Adds a property, which the class owns from now on. Properties of equal hash have equal names, or, with a probability of 2^-64, collide. A
 * binding may replace an inherited property: a subclass decides what affects it, and whether its setter notifies. */
static kvo_status add_property(kvo_class *cls, kvo_property *property, bool may_replace) {
  const kvo_property *present = kvo__class_find(cls, property->key);
  size_t inherited = cls->superclass != NULL ? cls->superclass->property_count : 0;
  if (present != NULL) {
    bool replaces = may_replace && present->index < inherited &&
                    cls->superclass->properties[present->index] == present &&
                    strcmp(present->name, property->name) == 0;
    if (!replaces)
      return kvo__property_refuse(cls, property->name, KVO_ERROR_DUPLICATE_KEY,
                                  "the class or a superclass has it already");
  }
  property->index = present != NULL ? present->index : cls->property_count++;
  cls->properties[property->index] = property;
  cls->keys[property->index] = property->key;
  if (present == NULL) branch(cls, property->index);
  cls->setters[property->index] = kvo__has_own_setter(property) ? property->setter : NULL;
  return KVO_OK;
}

/* The first versions of the structures. */
enum {
  LEAST_SPEC = KVO_SIZE_TO(kvo_class_spec, finalize),
  LEAST_PROPERTY = KVO_SIZE_TO(kvo_property_spec, flags),
  LEAST_COLLECTION = KVO_SIZE_TO(kvo_collection_spec, members),
  LEAST_LIST = KVO_SIZE_TO(kvo_list_accessors, user),
  LEAST_MEMBERS = KVO_SIZE_TO(kvo_member_accessors, user),
  LEAST_HOOKS = KVO_SIZE_TO(kvo_coding_hooks, user),
  LEAST_RAW_CLASS = KVO_SIZE_TO(kvo_raw_class, property_size),
  LEAST_RAW_PROPERTY = KVO_SIZE_TO(kvo_raw_property, flags),
};

/* Copies the description of a collection, which may have the size of another version, with its accessors. */
static bool copy_collection(const void *given, size_t size, kvo_collection_spec *spec, kvo_list_accessors *list,
                            kvo_member_accessors *members) {
  if (!kvo__copy_spec(spec, sizeof *spec, given, size, LEAST_COLLECTION)) return false;
  if (spec->list != NULL && !kvo__copy_spec(list, sizeof *list, spec->list, spec->list->struct_size, LEAST_LIST))
    return false;
  if (spec->members != NULL &&
      !kvo__copy_spec(members, sizeof *members, spec->members, spec->members->struct_size, LEAST_MEMBERS))
    return false;
  list->struct_size = sizeof *list;
  members->struct_size = sizeof *members;
  if (spec->list != NULL) spec->list = list;
  if (spec->members != NULL) spec->members = members;
  return true;
}

static kvo_status class_add_collection(kvo_class *cls, const void *given, size_t size) {
  kvo_collection_spec spec, *described = &spec;
  kvo_list_accessors list;
  kvo_member_accessors members;
  if (!copy_collection(given, size, &spec, &list, &members))
    return kvo__fail(KVO_ERROR_INVALID_ARGUMENT, "class '%s': the size of a collection's description is wrong",
                     cls->name);
  kvo_status status;
  kvo_property *property = NULL;
  char *type = kvo__to_many_type(described, &status);
  if (status == KVO_OK)
    status = kvo__property_make(cls, described->name, type, NULL, described->flags, &property);
  else
    kvo__property_refuse(cls, described->name, status, "its element type or its accessors are not valid");
  if (status == KVO_OK && (status = kvo__to_many_make(property, described)) != KVO_OK)
    kvo__property_refuse(cls, described->name, status, kvo_status_string(status));
  if (status == KVO_OK) status = add_property(cls, property, false);
  if (status != KVO_OK) kvo__property_free(property);
  kvo__free(type);
  return status;
}

static kvo_status copy_hooks(kvo_class *cls, const kvo_coding_hooks *hooks) {
  if (hooks == NULL) return KVO_OK;
  kvo_coding_hooks *copy = kvo__alloc(sizeof *copy);
  if (copy == NULL) return KVO_ERROR_OUT_OF_MEMORY;
  cls->coding = copy;
  cls->owns_coding = true;
  if (kvo__copy_spec(copy, sizeof *copy, hooks, hooks->struct_size, LEAST_HOOKS)) return KVO_OK;
  return kvo__fail(KVO_ERROR_INVALID_ARGUMENT, "class '%s': coding->struct_size is not sizeof(kvo_coding_hooks)",
                   cls->name);
}

/* The size of kvo_property_spec in the headers where kvo_class_spec has this size; 0 if they are of a later version. A row for each version
 * of kvo_property_spec: it grows only together with kvo_class_spec. */
static size_t property_size(const kvo_class_spec *spec) {
  static const size_t sizes[][2] = {
      {LEAST_SPEC, LEAST_PROPERTY},
      {KVO_SIZE_TO(kvo_class_spec, property_size), KVO_SIZE_TO(kvo_property_spec, setter_type)}};
  if (spec->property_size != 0 || spec->struct_size > sizeof *spec) return spec->property_size;
  size_t found = 0;
  for (size_t i = 0; i < sizeof sizes / sizeof *sizes && sizes[i][0] <= spec->struct_size; i++) found = sizes[i][1];
  return found;
}

/* Describes the first invalid member of a class's description, other than its properties; NULL if there is none. */
static const char *wrong_member(const kvo_class_spec *spec) {
  if (spec->name == NULL || spec->name[0] == '\0') return "it has no name";
  if (spec->superclass != NULL && !kvo__class_is_known(spec->superclass)) /* a notifying class is not known either */
    return "the superclass is not a class";
  if (spec->properties == NULL && spec->property_count > 0) return "properties is NULL";
  if (spec->property_count > 0 && property_size(spec) < LEAST_PROPERTY)
    return "property_size is not sizeof(kvo_property_spec)";
  if (spec->collections == NULL && spec->collection_count > 0) return "collections is NULL";
  if (spec->collection_count > 0 && spec->collection_size < LEAST_COLLECTION)
    return "collection_size is not sizeof(kvo_collection_spec)";
  size_t added = spec->property_count + spec->collection_count;
  if (added < spec->property_count || too_many(spec->superclass, added)) return "it has too many properties";
  size_t least = spec->superclass != NULL ? spec->superclass->instance_size : sizeof(kvo_object);
  if (spec->instance_size < least) return "instance_size is smaller than the superclass's or than kvo_object";
  return spec->superclass != NULL && least == 0 ? "the superclass is a binding's" : NULL;
}

static kvo_status add_described(kvo_class *cls, const kvo_property_spec *described) {
  kvo_property *property = NULL;
  kvo_status status = kvo__property_from_spec(cls, described, &property);
  if (status == KVO_OK) status = add_property(cls, property, false);
  if (status != KVO_OK) kvo__property_free(property);
  return status;
}

kvo_status kvo_class_register(const kvo_class_spec *given, kvo_class **out) {
  kvo_class_spec described, *spec = &described;
  if (given == NULL || out == NULL || !kvo__copy_spec(spec, sizeof *spec, given, given->struct_size, LEAST_SPEC))
    return kvo__fail(KVO_ERROR_INVALID_ARGUMENT, "kvo_class_register: %s",
                     given == NULL || out == NULL ? "spec or out is NULL"
                                                  : "struct_size is not sizeof(kvo_class_spec)");
  const char *wrong = wrong_member(spec);
  if (wrong != NULL)
    return kvo__fail(KVO_ERROR_INVALID_ARGUMENT, "class '%s': %s", spec->name != NULL ? spec->name : "", wrong);

  kvo_class *cls = make_class(spec->name, spec->superclass, spec->property_count + spec->collection_count);
  if (cls == NULL) return kvo__fail(KVO_ERROR_OUT_OF_MEMORY, "class '%s': out of memory", spec->name);
  cls->given_name = spec->name;
  cls->instance_size = spec->instance_size;
  cls->finalize = spec->finalize != NULL || spec->superclass == NULL ? spec->finalize : spec->superclass->finalize;
  kvo_status status = copy_hooks(cls, spec->coding);
  size_t size = property_size(spec);
  for (size_t i = 0; i < spec->property_count && status == KVO_OK; i++) {
    kvo_property_spec property;
    const void *at = (const char *)spec->properties + i * size;
    status = kvo__copy_spec(&property, sizeof property, at, size, LEAST_PROPERTY)
                 ? add_described(cls, &property)
                 : kvo__fail(KVO_ERROR_INVALID_ARGUMENT, "class '%s': property_size is not sizeof(kvo_property_spec)",
                             spec->name);
  }
  for (size_t i = 0; i < spec->collection_count && status == KVO_OK; i++)
    status =
        class_add_collection(cls, (const char *)spec->collections + i * spec->collection_size, spec->collection_size);
  kvo__lock(&classes_lock);
  bool is_duplicate = status == KVO_OK && find_locked(spec->name) != NULL;
  kvo_class *earlier = status == KVO_OK && !is_duplicate ? kvo__class_revive(cls) : NULL;
  if (status == KVO_OK && !is_duplicate && earlier == NULL) class_add_locked(cls);
  kvo__unlock(&classes_lock);
  if (is_duplicate)
    status = kvo__fail(KVO_ERROR_DUPLICATE_CLASS, "class '%s': a class of this name is already registered", spec->name);
  if (status != KVO_OK) {
    free_class(cls);
    return status;
  }
  if (earlier != NULL) free_class(cls);
  *out = earlier != NULL ? earlier : cls;
  return KVO_OK;
}

/* Adds a property of a language with storage of its own. */
static kvo_status add_raw(kvo_class *cls, const kvo_raw_property *described) {
  const kvo_value_ops *ops = described->ops;
  bool is_complete =
      ops != NULL && ops->copy != NULL && ops->release != NULL && ops->view != NULL && ops->assign != NULL;
  if (!is_complete)
    return kvo__property_refuse(cls, described->name, KVO_ERROR_INVALID_ARGUMENT, "its ops are not complete");
  kvo_property *property = NULL;
  kvo_status status =
      kvo__property_make(cls, described->name, described->type, described->affected_by, described->flags, &property);
  if (status == KVO_OK) {
    property->ops = ops;
    property->user = described->user;
    status = add_property(cls, property, true);
  }
  if (status != KVO_OK) kvo__property_free(property);
  return status;
}

kvo_status kvo_raw_class_register(const kvo_raw_class *given, kvo_class **out) {
  kvo_raw_class described, *spec = &described;
  bool is_given = given != NULL && out != NULL;
  const char *wrong = !is_given ? "described or out is NULL"
                      : !kvo__copy_spec(spec, sizeof *spec, given, given->struct_size, LEAST_RAW_CLASS)
                          ? "struct_size is not sizeof(kvo_raw_class)"
                      : spec->name == NULL || spec->name[0] == '\0' ? "it has no name"
                      : spec->superclass != NULL && !kvo__class_is_known(spec->superclass)
                          ? "the superclass is not a class"
                      : spec->properties == NULL && spec->property_count > 0 ? "properties is NULL"
                      : spec->property_count > 0 && spec->property_size < LEAST_RAW_PROPERTY
                          ? "property_size is not sizeof(kvo_raw_property)"
                      : too_many(spec->superclass, spec->property_count) ? "it has too many properties"
                                                                         : NULL;
  if (wrong != NULL) return kvo__fail(KVO_ERROR_INVALID_ARGUMENT, "kvo_raw_class_register: %s", wrong);
  kvo_class *cls = make_class(spec->name, spec->superclass, spec->property_count);
  if (cls == NULL) return kvo__fail(KVO_ERROR_OUT_OF_MEMORY, "class '%s': out of memory", spec->name);
  cls->header_offset = spec->header_offset;
  cls->of_binding = true;
  kvo_status status = KVO_OK;
  for (size_t i = 0; i < spec->property_count && status == KVO_OK; i++) {
    kvo_raw_property property;
    const void *at = (const char *)spec->properties + i * spec->property_size;
    status = kvo__copy_spec(&property, sizeof property, at, spec->property_size, LEAST_RAW_PROPERTY)
                 ? add_raw(cls, &property)
                 : kvo__fail(KVO_ERROR_INVALID_ARGUMENT, "class '%s': property_size is not sizeof(kvo_raw_property)",
                             spec->name);
  }
  if (status != KVO_OK) {
    free_class(cls);
    return status;
  }
  kvo__lock(&classes_lock);
  for (unsigned number = 2; find_locked(cls->name) != NULL; number++) {
    char numbered[512];
    snprintf(numbered, sizeof numbered, "%.480s#%u", spec->name, number);
    char *copy = kvo__copy_string(numbered, strlen(numbered));
    if (copy == NULL) break; /* the name stays ambiguous for kvo_class_find; nothing else depends on it */
    if (cls->name != cls->display_name) kvo__free((void *)cls->name);
    cls->name = copy;
  }
  class_add_locked(cls);
  kvo__unlock(&classes_lock);
  *out = cls;
  return KVO_OK;
}

kvo_status kvo_binding_class_register(const char *name, kvo_class *superclass, size_t header_offset,
                                      const kvo_binding_property *properties, size_t count, kvo_class **out) {
  const kvo_raw_class described = {sizeof described, name,  superclass,        header_offset,
                                   properties,       count, sizeof *properties};
  return kvo_raw_class_register(&described, out);
}

/* --------------------------------------------------------------------------------------------------- Notifying classes -- */

static kvo_class *make_notifying(kvo_class *cls, kvo_status *status) {
  static const char prefix[] = "KVONotifying_";
  size_t length = strlen(cls->name);
  char *name = kvo__alloc(sizeof prefix + length);
  kvo_class *notifying = kvo__alloc(sizeof *notifying);
  kvo_function *setters = kvo__alloc((cls->property_count + 1) * sizeof *setters);
  bool memory = name != NULL && notifying != NULL && setters != NULL;
  if (!memory || !kvo__intercept(cls, setters)) {
    *status = memory ? KVO_ERROR_NO_INTERCEPTION : KVO_ERROR_OUT_OF_MEMORY;
    kvo__free(name);
    kvo__free(notifying);
    kvo__free(setters);
    return NULL;
  }
  memcpy(name, prefix, sizeof prefix - 1);
  memcpy(name + sizeof prefix - 1, cls->name, length);
  notifying->name = name;
  notifying->display_name = cls->display_name;
  notifying->superclass = cls;
  notifying->original = cls;
  notifying->instance_size = cls->instance_size;
  notifying->of_binding = cls->of_binding;
  notifying->finalize = cls->finalize;
  notifying->property_count = cls->property_count;
  notifying->properties = cls->properties;
  notifying->keys = cls->keys;
  notifying->branches = cls->branches;
  notifying->setters = setters;
  return notifying;
}

kvo_class *kvo__class_notifying(kvo_class *cls, kvo_status *status) {
  kvo_class *notifying = atomic_load_explicit(&cls->notifying, memory_order_acquire);
  if (notifying != NULL) return notifying;
  kvo__lock(&classes_lock);
  notifying = atomic_load_explicit(&cls->notifying, memory_order_acquire);
  if (notifying == NULL) {
    notifying = make_notifying(cls, status);
    atomic_store_explicit(&cls->notifying, notifying, memory_order_release);
  }
  kvo__unlock(&classes_lock);
  return notifying;
}

/* --------------------------------------------------------------------------------------------------------- Questions -- */

/* Whether a value with this type code, of the property's form and size, is one of the property's type. */
static bool takes_code(char type, char code) {
  if (type == 'B') return code == 'B';
  if (type == '*') return code == '*';
  return type != '@' || code != '*';
}

bool kvo__property_takes(const kvo_property *property, kvo_form form, char code, size_t size) {
  return (form == KVO_FORM_ANY || form == property->form) && (size == 0 || size == property->size) &&
         (code == 0 || takes_code(property->type[0], code));
}

kvo_class *kvo_class_find(const char *name) {
  if (name == NULL) return NULL;
  kvo__lock(&classes_lock);
  kvo_class *found = find_locked(name);
  kvo__unlock(&classes_lock);
  return found;
}

const char *kvo_class_name(const kvo_class *cls) { return cls != NULL ? cls->name : ""; }
kvo_status kvo_binding_class_keep(kvo_class *cls, void *(*retain)(void *instance), void (*release)(void *instance)) {
  bool is_good = kvo__class_is_known(cls) && cls->of_binding && retain != NULL && release != NULL;
  if (!is_good)
    return kvo__fail(KVO_ERROR_INVALID_ARGUMENT,
                     "kvo_binding_class_keep: retain or release is NULL, or the class is none of a binding");
  cls->retain = retain;
  cls->release = release;
  return KVO_OK;
}

bool kvo_class_is_kept_by(const kvo_class *cls, void *(*retain)(void *instance)) {
  return cls != NULL && retain != NULL && cls->retain == retain;
}

kvo_class *kvo_class_superclass(const kvo_class *cls) { return cls != NULL ? cls->superclass : NULL; }

size_t kvo_class_instance_size(const kvo_class *cls) { return cls != NULL ? cls->instance_size : 0; }
size_t kvo_class_property_count(const kvo_class *cls) { return cls != NULL ? cls->property_count : 0; }

const kvo_property *kvo_class_property_at(const kvo_class *cls, size_t index) {
  return cls != NULL && index < cls->property_count ? cls->properties[index] : NULL;
}

const kvo_property *kvo_class_property(const kvo_class *cls, const char *key) {
  return cls != NULL && key != NULL ? kvo__class_find(cls, kvo_key_hash(key, strlen(key))) : NULL;
}

const char *kvo_property_name(const kvo_property *property) { return property != NULL ? property->name : ""; }
const char *kvo_property_type(const kvo_property *property) { return property != NULL ? property->type : ""; }
void *kvo_binding_property_user(const kvo_property *property, const kvo_value_ops *ops) {
  return property != NULL && ops != NULL && property->ops == ops ? property->user : NULL;
}

void *kvo_property_user(const kvo_property *property) {
  return property != NULL && property->to_many == NULL ? property->user : NULL;
}

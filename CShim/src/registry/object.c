/* object.c - objects: their header word, which is their isa, and what is derived from it. Destruction: lifetimes/death.c. */
#include "registry/registry.h"

void kvo__set_word(kvo_object *object, uintptr_t word) {
  __atomic_store_n(&object->kvo_private_word, word, __ATOMIC_RELEASE);
}

/* The lowest and the highest address that an info has had. */
static _Atomic uintptr_t lowest = UINTPTR_MAX, highest;

void kvo__info_note(const kvo_info *info) {
  uintptr_t address = (uintptr_t)info, low = atomic_load(&lowest), high = atomic_load(&highest);
  while (address < low && !atomic_compare_exchange_weak(&lowest, &low, address)) {}
  while (address > high && !atomic_compare_exchange_weak(&highest, &high, address)) {}
}

/* Whether an address may be that of an info. If not, nothing may be read there. */
static bool info_is_likely(const kvo_info *info) {
  uintptr_t address = (uintptr_t)info;
  return address % _Alignof(max_align_t) == 0 && address >= atomic_load(&lowest) && address <= atomic_load(&highest);
}

bool kvo__is_object(const kvo_object *object) {
  uintptr_t word = kvo__word(object);
  kvo_info *info = kvo__word_info(word);
  if (info == NULL) return (word & KVO_WORD_OBSERVED) == 0 && kvo__class_is_known(kvo__word_class(word));
  if (!info_is_likely(info) || !kvo__class_is_known(info->cls)) return false;
  return info->object == object || info->cls->of_binding; /* which may have moved the header to finish it */
}

kvo_status kvo__result(kvo_status status, const char *function, const kvo_object *object, const char *key_path) {
  if (__builtin_expect(status == KVO_OK, true)) return status;
  return kvo__fail(status, "%s: \"%s\" of class '%s': %s", function, key_path, kvo_class_name(kvo_object_class(object)),
                   kvo_status_string(status));
}

kvo_status kvo__explain(kvo_status status, uint32_t errors, const char *function, const kvo_object *object,
                        const char *key_path) {
  if (__builtin_expect(status == KVO_OK, true)) return status;
  if (kvo__error_count() == errors) return kvo__result(status, function, object, key_path);
  char reason[256];
  const char *text = kvo_last_error(); /* in the place of the new one */
  size_t length = strlen(text) < sizeof reason ? strlen(text) : sizeof reason - 1;
  memcpy(reason, text, length);
  reason[length] = '\0';
  return kvo__fail(status, "%s: \"%.*s\" of class '%s': %s", function, 160, key_path,
                   kvo_class_name(kvo_object_class(object)), reason);
}

kvo_status kvo_object_init(kvo_object *object, kvo_class *cls) {
  if (object == NULL || !kvo__class_is_known(cls))
    return kvo__fail(KVO_ERROR_INVALID_ARGUMENT, "kvo_object_init: %s",
                     object == NULL ? "object is NULL" : "cls is not a class");
  if (!kvo__class_hold(cls)) return kvo__fail(KVO_ERROR_INVALID_ARGUMENT, "kvo_object_init: cls is not a class");
  kvo__set_word(object, (uintptr_t)cls);
  return KVO_OK;
}

kvo_status kvo_object_create(kvo_class *cls, kvo_object **out) {
  const char *wrong = !kvo__class_is_known(cls) ? "cls is not a class"
                      : out == NULL             ? "out is NULL"
                      : cls->instance_size == 0 ? "the class is a binding's"
                                                : NULL;
  if (wrong != NULL) return kvo__fail(KVO_ERROR_INVALID_ARGUMENT, "kvo_object_create: %s", wrong);
  kvo_object *object = kvo__alloc(cls->instance_size);
  if (object != NULL && !kvo__class_hold(cls)) {
    kvo__free(object);
    return kvo__fail(KVO_ERROR_INVALID_ARGUMENT, "kvo_object_create: cls is not a class");
  }
  if (object == NULL)
    return kvo__fail(KVO_ERROR_OUT_OF_MEMORY, "kvo_object_create: no memory for an object of class '%s'", cls->name);
  kvo__set_word(object, (uintptr_t)cls | KVO_WORD_CREATED);
  *out = object;
  return KVO_OK;
}

void kvo__object_free(kvo_object *object) {
  kvo_class *cls = kvo_object_class(object);
  if (cls->finalize != NULL) cls->finalize(object);
  kvo__free(object);
  kvo__class_let_go(cls);
}

void kvo_object_adopt(kvo_object *object, kvo_class *cls) {
  uintptr_t empty = 0;
  if (object == NULL) return;
  __atomic_compare_exchange_n(&object->kvo_private_word, &empty, (uintptr_t)cls, false, __ATOMIC_ACQ_REL,
                              __ATOMIC_ACQUIRE);
}

kvo_class *kvo_object_class(const kvo_object *object) {
  if (object == NULL) return NULL;
  uintptr_t word = kvo__word(object);
  kvo_info *info = kvo__word_info(word);
  return info != NULL ? info->cls : kvo__word_class(word);
}

/* The class whose setters are to be called. */
static kvo_class *dispatching_class(const kvo_object *object) {
  kvo_class *cls = kvo_object_class(object);
  kvo_status made_before;
  return kvo_object_is_observed(object) ? kvo__class_notifying(cls, &made_before) : cls;
}

/* Whether a setter notifies: not if all observed keys are announced by hand. */
static bool has_notifying_setter(const kvo_object *object) {
  kvo_slot *slot = &kvo__word_info(kvo__word(object))->first;
  for (; slot != NULL; slot = atomic_load(&slot->next))
    if (atomic_load(&slot->wants) != 0 && !slot->manual) return true;
  return false;
}

kvo_class *kvo_object_isa(const kvo_object *object) {
  bool notifies = kvo_object_is_observed(object) && has_notifying_setter(object);
  return notifies ? dispatching_class(object) : kvo_object_class(object);
}

bool kvo_object_is_observed(const kvo_object *object) {
  return object != NULL && (kvo__word(object) & KVO_WORD_OBSERVED) != 0;
}

void *kvo_object_instance(const kvo_object *object) {
  kvo_class *cls = kvo_object_class(object);
  return (void *)((uintptr_t)object - (cls != NULL ? cls->header_offset : 0)); /* NULL for NULL */
}

/* The function to call to set a property, of a class or a notifying class. */
static kvo_function setter_in(const kvo_class *isa, const kvo_property *property) {
  kvo_function setter = isa->setters[property->index];
  return __builtin_expect(setter != NULL, true) ? setter : kvo__setter_entry(property);
}

kvo_function kvo_object_property_setter(const kvo_object *object, const kvo_property *property) {
  kvo_class *isa = dispatching_class(object);
  if (isa == NULL || property == NULL) return NULL;
  bool is_own = property->index < isa->property_count && isa->properties[property->index] == property;
  return is_own ? setter_in(isa, property) : NULL;
}

kvo_function kvo_object_setter(const kvo_object *object, const char *key) {
  kvo_class *isa = dispatching_class(object);
  const kvo_property *property = kvo_class_property(isa, key);
  return property != NULL ? setter_in(isa, property) : NULL;
}

static void do_nothing(void) {}

kvo_function kvo_object_setter_to_call(const kvo_object *object, const char *key, kvo_form form, size_t size,
                                       const char *file, uint32_t line) {
  kvo_class *isa = dispatching_class(object);
  const kvo_property *property = kvo_class_property(isa, key);
  kvo_function setter = property != NULL ? setter_in(isa, property) : NULL;
  if (__builtin_expect(setter != NULL && kvo__property_takes(property, form, 0, size), true)) return setter;
  kvo_place place = {file, line};
  if (object == NULL || key == NULL)
    KVO_MISUSE(invalid_argument, "kvo_object_setter_to_call", object == NULL ? "object is NULL" : "key is NULL", place);
  else if (setter == NULL)
    KVO_MISUSE(no_setter, object, key, place);
  else
    KVO_MISUSE(other_form, object, property, form, 0, size, place);
  return do_nothing; /* in every C calling convention of Linux the caller removes the arguments */
}

kvo_function kvo_object_getter(const kvo_object *object, const char *key) {
  kvo_class *cls = kvo_object_class(object);
  const kvo_property *property = cls != NULL ? kvo_class_property(cls, key) : NULL;
  if (property == NULL) return NULL;
  bool has_own = property->getter != NULL && (property->flags & KVO_PROPERTY_WITH_USER) == 0;
  return has_own ? property->getter : kvo__getter_entry(property);
}

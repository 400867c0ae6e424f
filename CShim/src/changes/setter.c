/* setter.c - sets of properties of C objects, through the program's setter or at an offset: by trampolines, and by value. */
#include "changes/frames.h"

#include <stdlib.h>

static inline bool setter_is_observed(const kvo_object *object) { return (kvo__word(object) & KVO_WORD_OBSERVED) != 0; }

/* Values up to this size are kept on the stack. */
enum { SETTER_INLINE_VALUE = 256 };

/* ---------------------------------------------------------------------------------------------------------- At an offset -- */

/* Whether the property is what kvo_change_word stores. A structure of characters has 8 bytes at any address. */
static inline bool is_word(const kvo_property *property) {
  return property->size == sizeof(uint64_t) && property->offset % _Alignof(uint64_t) == 0;
}

/* A set of a value that is no word, of an observed object. */
static void store_framed(const kvo_property *property, kvo_object *object, const void *value) {
  const void *storage = (const char *)object + property->offset;
  kvo_frame frame;
  uint32_t wants = kvo__frame_enter(&frame, object, property->key, __builtin_frame_address(0));
  if (wants == 0) {
    kvo__store_at_offset(property, object, value);
    kvo_binding_stored(object, property->key);
    return;
  }
  _Alignas(16) unsigned char inline_value[SETTER_INLINE_VALUE];
  void *old_value = NULL, *block = NULL;
  if ((wants & KVO_FRAME_WANTS_OLD) != 0) /* without memory: no old value */
    old_value = property->size <= SETTER_INLINE_VALUE ? inline_value : (block = kvo__alloc(property->size));
  if (old_value != NULL) memcpy(old_value, storage, property->size);
  if ((wants & KVO_FRAME_WANTS_WILL) != 0) kvo_frame_will(&frame, old_value);
  kvo__store_at_offset(property, object, value);
  kvo_frame_finish_with(&frame, old_value, storage);
  kvo__free(block);
}

static inline void setter_store(const kvo_property *property, kvo_object *object, const void *value) {
  if (!setter_is_observed(object)) {
    kvo__store_at_offset(property, object, value);
    if (__builtin_expect(setter_is_observed(object), false)) kvo_binding_stored(object, property->key);
  } else if (is_word(property)) {
    uint64_t word;
    memcpy(&word, value, sizeof word);
    kvo_change_word(object, property->key, (uint64_t *)(void *)((char *)object + property->offset), word);
  } else {
    store_framed(property, object, value);
  }
}

/* ------------------------------------------------------------------------------------------------------- Through a setter -- */

/* A string that the setter will usually free, unless it is a copy. */
static const void *keep_string(const kvo_property *property, char **value, char **copy) {
  char *present = *value;
  if (present != NULL) *copy = kvo__copy_string(present, strlen(present));
  *value = *copy;
  if (kvo__is_copied(property)) free(present);
  return present != NULL && *copy == NULL ? NULL : value; /* NULL means unknown, not nil */
}

/* Notifies one observer of the property's present string: of a copy, because the callback may set the property again, and the setter then
 * usually frees the string. Without memory it is unknown. */
static __attribute__((noinline)) void deliver_string(kvo_frame *frame, const kvo_property *property, kvo_object *object,
                                                     const void *old_value) {
  char inline_text[SETTER_INLINE_VALUE], *present = NULL, *block = NULL;
  kvo__call_getter(property, object, &present);
  size_t size = present != NULL ? strlen(present) + 1 : 0;
  char *text = size <= sizeof inline_text ? inline_text : (block = kvo__alloc(size));
  if (text != NULL && size > 0) memcpy(text, present, size);
  if (kvo__is_copied(property)) free(present);
  char *value = present != NULL ? text : NULL;
  kvo_frame_deliver(frame, old_value, text != NULL ? &value : NULL);
  kvo__free(block);
}

/* Notifies the observers of a change that has been made, each with the value that the property has then. */
static void deliver_all(kvo_frame *frame, const kvo_property *property, kvo_object *object, const void *old_value,
                        void *room, const void *argument) {
  bool is_string = room != NULL && property->type[0] == '*';
  while (kvo_frame_next(frame)) {
    if (is_string && (kvo__frame_content_of(frame)->cursor->options & KVO_NEW) != 0) {
      deliver_string(frame, property, object, old_value);
      continue;
    }
    const void *present = is_string || room == NULL ? argument : room; /* a string is not wanted here */
    if (present == room) kvo__call_getter(property, object, room);
    kvo_frame_deliver(frame, old_value, present);
  }
  kvo_frame_end(frame);
}

/* Sets a property of an object that is observed, or may be. Returns what the setter has returned. */
static int setter_call(const kvo_property *property, kvo_object *object, const void *argument, void *const *further) {
  kvo_frame frame;
  uint32_t wants = kvo__frame_enter(&frame, object, property->key, __builtin_frame_address(0));
  if (wants == 0) {
    int result = kvo__call_setter(property, object, argument, further);
    if (kvo__accepts(property, result))
      kvo_binding_stored(object, property->key);
    else
      kvo__not_stored(object, property->key);
    return result;
  }
  _Alignas(16) unsigned char inline_values[2][SETTER_INLINE_VALUE];
  void *old_value = NULL, *new_value = NULL, *block = NULL;
  if (kvo__can_read(property)) {
    if (property->size <= SETTER_INLINE_VALUE) {
      old_value = inline_values[0];
      new_value = inline_values[1];
    } else if ((block = kvo__alloc(2 * property->size)) != NULL) {
      old_value = block;
      new_value = (char *)block + property->size;
    } /* without memory: no old value, and the argument as the new value */
  }
  const void *old_known = NULL;
  char *old_string = NULL;
  if (old_value != NULL && (wants & KVO_FRAME_WANTS_OLD) != 0) {
    kvo__call_getter(property, object, old_value);
    old_known = property->type[0] == '*' ? keep_string(property, old_value, &old_string) : old_value;
  }
  if ((wants & KVO_FRAME_WANTS_WILL) != 0) kvo_frame_will(&frame, old_known);
  int result = kvo__call_setter(property, object, argument, further);
  if (!kvo__accepts(property, result)) {
    kvo_frame_end(&frame); /* nothing else has changed */
  } else if ((wants & KVO_FRAME_WANTS_NEW) == 0) {
    kvo_frame_finish(&frame, old_known);
  } else {
    deliver_all(&frame, property, object, old_known, new_value, argument);
  }
  kvo__free(old_string);
  kvo__free(block);
  if (old_known != NULL) kvo__old_objects_free(__builtin_frame_address(0));
  return result;
}

void kvo__intercepted(ffi_cif *cif, void *result, void **arguments, void *user_data) {
  (void)cif;
  const kvo_property *property = user_data;
  kvo_object *object = *(kvo_object **)arguments[0];
  if (property->setter == NULL) {
    setter_store(property, object, arguments[1]);
    return;
  }
  int answer = setter_call(property, object, arguments[1], arguments + 2);
  if (property->answer == KVO_ANSWERS_BOOL)
    *(ffi_arg *)result = answer != 0;
  else if (property->answer == KVO_ANSWERS_INT)
    *(ffi_sarg *)result = answer;
}

/* --------------------------------------------------------------------------------------------------------------- By value -- */

static kvo_status tell_refusal(const kvo_property *property, const kvo_object *object, int result) {
  kvo__refused(result);
  return kvo__fail(KVO_ERROR_REFUSED, "property '%s' of class '%s': its setter has refused the value, with %d",
                   property->name, kvo_class_name(kvo_object_class(object)), result);
}

kvo_status kvo__set(const kvo_property *property, kvo_object *object, const void *value) {
  if (property->setter == NULL) {
    setter_store(property, object, value);
    return KVO_OK;
  }
  int result;
  if (setter_is_observed(object)) {
    result = setter_call(property, object, value, NULL);
  } else {
    result = kvo__call_setter(property, object, value, NULL);
    /* Another thread may have registered a key path through the object meanwhile. */
    bool follow = __builtin_expect(setter_is_observed(object), false) && kvo__accepts(property, result);
    if (follow) kvo_binding_stored(object, property->key);
  }
  return __builtin_expect(kvo__accepts(property, result), true) ? KVO_OK : tell_refusal(property, object, result);
}

/* Why kvo_object_store or kvo_object_load cannot use the property of an object. */
static kvo_status setter_refuse(const char *function, const kvo_object *object, const kvo_property *property,
                                const void *value, kvo_status otherwise) {
  const kvo_class *cls = kvo_object_class(object);
  if (object == NULL || property == NULL || value == NULL)
    return kvo__fail(KVO_ERROR_INVALID_ARGUMENT, "%s: object, property or value is NULL", function);
  bool is_own = cls != NULL && property->index < cls->property_count && cls->properties[property->index] == property;
  kvo_status status = !is_own                 ? KVO_ERROR_TYPE_MISMATCH
                      : property->ops != NULL ? KVO_ERROR_INVALID_ARGUMENT
                                              : otherwise;
  return kvo__fail(status, "%s: property '%s' of class '%s': %s", function, property->name, kvo_class_name(cls),
                   !is_own                 ? "it is a property of another class"
                   : property->ops != NULL ? "it is a binding's, use kvo_set_value and kvo_get_value"
                                           : kvo_status_string(otherwise));
}

/* Whether a property that was looked up before can be used with an object. */
static inline bool setter_is_of(const kvo_property *property, const kvo_object *object) {
  const kvo_class *cls = kvo_object_class(object);
  return cls != NULL && property->index < cls->property_count && cls->properties[property->index] == property &&
         property->ops == NULL;
}

kvo_status kvo_object_store(kvo_object *object, const kvo_property *property, const void *value) {
  bool is_good = object != NULL && property != NULL && value != NULL && setter_is_of(property, object);
  if (__builtin_expect(!is_good || !kvo__can_set(property), false))
    return setter_refuse("kvo_object_store", object, property, value, KVO_ERROR_READ_ONLY);
  return kvo__set(property, object, value);
}

kvo_status kvo_object_load(const kvo_object *object, const kvo_property *property, void *value) {
  bool is_good = object != NULL && property != NULL && value != NULL && setter_is_of(property, object);
  if (__builtin_expect(!is_good || !kvo__can_read(property), false))
    return setter_refuse("kvo_object_load", object, property, value, KVO_ERROR_NO_GETTER);
  kvo__call_getter(property, object, value);
  return KVO_OK;
}

static kvo_status refuse_key(kvo_object *object, const char *key, kvo_form form, char code, size_t size,
                             const void *value, kvo_place place) {
  const char *wrong = object == NULL  ? "object is NULL"
                      : key == NULL   ? "key is NULL"
                      : value == NULL ? "value is NULL"
                                      : NULL;
  if (wrong != NULL) return kvo__invalid("KVO_SET", wrong, place);
  const kvo_class *cls = kvo_object_class(object);
  const kvo_property *property = kvo_class_property(cls, key);
  if (property == NULL || property->ops != NULL || !kvo__can_set(property)) {
    KVO_MISUSE(no_setter, object, key, place);
    return kvo__fail(property == NULL ? KVO_ERROR_UNDEFINED_KEY : KVO_ERROR_READ_ONLY,
                     "KVO_SET: \"%s\" of class '%s' has no setter", key, kvo_class_name(cls));
  }
  KVO_MISUSE(other_form, object, property, form, code, size, place);
  return kvo__fail(KVO_ERROR_TYPE_MISMATCH, "KVO_SET: property '%s' of class '%s' has the type \"%s\"", key,
                   kvo_class_name(cls), property->type);
}

kvo_status kvo_object_store_key(kvo_object *object, const char *key, kvo_form form, char code, size_t size,
                                const void *value, const char *file, uint32_t line) {
  const kvo_property *property = object != NULL ? kvo_class_property(kvo_object_class(object), key) : NULL;
  bool is_good = property != NULL && value != NULL && property->ops == NULL && kvo__can_set(property) &&
                 kvo__property_takes(property, form, code, size);
  if (__builtin_expect(is_good, true)) return kvo__set(property, object, value);
  return refuse_key(object, key, form, code, size, value, (kvo_place){file, line});
}

/* registry/values.h - values of properties: copied, compared, as texts, and kept during a pause. Part of registry.h. */
#ifndef KVO_VALUES_H
#define KVO_VALUES_H

#include "classes/classes.h"

/* ------------------------------------------------------------------------------------------------------ values.c -- */

/** A value owned by the runtime, in one block with the bytes that it points to. */
typedef struct kvo_boxed {
  kvo_value value;
  /** It has bytes, which point to nothing. */
  bool is_plain;
} kvo_boxed;

/** The type of a kvo_value whose bytes are a kvo_binding_value; known by its address. */
extern KVO_HIDDEN const char kvo__foreign_type[];
/** The binding's value that a value is; NULL for any other, and for nil. */
static inline const kvo_binding_value *kvo__foreign(const kvo_value *value) {
  return value->type == kvo__foreign_type ? value->bytes : NULL;
}

/** kvo_property_view without checks of the arguments. */
KVO_HIDDEN void kvo__property_view(const kvo_property *property, const void *value, kvo_value_reader reader, void *arg);
/** Copies a value with its bytes, string or elements; NULL without memory. */
KVO_HIDDEN kvo_boxed *kvo__box(const kvo_value *value);
/** Frees it. NULL is ignored. */
KVO_HIDDEN void kvo__unbox(kvo_boxed *box);
/** Copies a value into a box that is no longer used, or frees that and makes another one. For NULL, it makes one. */
KVO_HIDDEN kvo_boxed *kvo__box_again(const kvo_value *value, kvo_boxed *spare);
/** A list or a set of boxes, which it owns from now on, as a box: `type` is "[?]" or the like. NULL without memory, or if a box is NULL;
 * then all boxes are freed. */
KVO_HIDDEN kvo_boxed *kvo__box_of(const char *type, kvo_boxed **boxes, size_t count);
/** A function that reads a property. */
typedef void *kvo_property_reader(const kvo_property *property, kvo_object *object, const kvo_selection *selection);
/** Reads a property, for use at once, in the form that kvo_property_view reads; NULL if it cannot be read. Then call
 * kvo__property_release. */
KVO_HIDDEN void *kvo__property_copy(const kvo_property *property, kvo_object *object, const kvo_selection *selection);
/** The same for use after a change of the property: NULL also for one that is KVO_PROPERTY_IN_PLACE. */
KVO_HIDDEN void *kvo__property_keep(const kvo_property *property, kvo_object *object, const kvo_selection *selection);
KVO_HIDDEN void kvo__property_release(const kvo_property *property, void *value);
/** Whether two values of a property are known to be the same. */
KVO_HIDDEN bool kvo__property_same(const kvo_property *property, const void *one, const void *other);

/* ------------------------------------------------------------------------------------------------------ paused.c -- */

/** The value that a property had when an observation of it was paused. */
typedef struct kvo_paused kvo_paused;
/** Makes one; NULL without memory. */
KVO_HIDDEN kvo_paused *kvo__paused_make(kvo_observation id, const kvo_property *property);
/** Adds it to those that can be found; returns what to pass to kvo__paused_keep. */
KVO_HIDDEN uint64_t kvo__paused_add(kvo_paused *made);
/** Stores the value, and the `births` of the object after it was read. False if the pause is over: then the caller keeps the value. */
KVO_HIDDEN bool kvo__paused_keep(kvo_observation id, uint64_t serial, void *value, uint64_t since);
/** Takes that of an observation, for the caller to free; NULL if there is none. */
KVO_HIDDEN kvo_paused *kvo__paused_take(kvo_observation id);
/** The value, or NULL; also for NULL. */
KVO_HIDDEN const void *kvo__paused_value(const kvo_paused *of);
/** Releases it with its value. No lock may be held. NULL is ignored. */
KVO_HIDDEN void kvo__paused_free(kvo_paused *of);

/* -------------------------------------------------------------------------------------------------- value_text.c -- */

/** The size of a buffer for the text of a value. */
enum { KVO_VALUE_TEXT = 64 };
/** Copies a text with its NUL into `size` bytes, at least 4. A longer text is cut and ends with "...";
 * returns whether it is. */
KVO_HIDDEN bool kvo__copy_cut(char *to, size_t size, const char *text);
/** The new value of a change as a text of at most `size` bytes, NUL included; `size` is at least 16. False if the change has no new value,
 * or one of a type that C cannot read. */
KVO_HIDDEN bool kvo__new_value_text(const kvo_raw_change *change, char *to, size_t size);

/** A number that stands for the new value of a change: equal values have the same. 0 if the change has no new value, or one that C cannot
 * read. Call it when the value is told, because a value that is not copied changes with the property. */
KVO_HIDDEN uint32_t kvo__told(const kvo_raw_change *change);

#endif /* KVO_VALUES_H */

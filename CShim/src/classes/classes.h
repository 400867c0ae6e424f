/* classes/classes.h - types, keys, classes, and calls by signature. A newcomer reads struct kvo_property and struct kvo_class first. */
#ifndef KVO_CLASSES_CLASSES_H
#define KVO_CLASSES_CLASSES_H

#include <ffi.h>
#include "threads/threads.h"

/** The key of the slot that holds anchors, and dependencies that wait for the object's death only. */
#define KVO_KEY_ANCHORS KVO_KEY_LIFETIME

/* -------------------------------------------------------------------------------------------------------- keys.c -- */

/** Components are not empty, and there is at least one. */
KVO_HIDDEN kvo_status kvo__path_check(const char *key_path);

/* ---------------------------------------------------------------------------------------------------- encoding.c -- */

/** Parses a type encoding into libffi's description, allocated as one tree. */
KVO_HIDDEN kvo_status kvo__type_parse(const char *type, ffi_type **out);
KVO_HIDDEN void kvo__type_free(ffi_type *type);
/** The encoding behind const and its like, which a property drops: its first character then says what the value is. */
KVO_HIDDEN const char *kvo__type_unqualified(const char *type);
/** What a value of a type that was parsed is to a call. */
KVO_HIDDEN kvo_form kvo__type_form(const char *type);

/* ------------------------------------------------------------------------------------------------------- class.c -- */

struct kvo_property {
  const char *name;
  const char *type;
  kvo_key key;
  /** Position in `properties` of the class and of every subclass. */
  size_t index;
  kvo_function getter;
  kvo_function setter;
  /** NULL for a property of a C class. */
  const kvo_value_ops *ops;
  void *user;
  char **affected_by;
  uint32_t flags;
  /** Of the C type; 0 and NULL when ops are set. */
  size_t size;
  kvo_form form;
  ffi_type *value_type;
  ffi_cif getter_cif;
  ffi_cif setter_cif;
  ffi_type *setter_arguments[2];
};

/** No class has that many properties. */
#define KVO_NO_PROPERTY UINT16_MAX

/** Immutable once registered, but for `notifying`. */
struct kvo_class {
  const char *name;
  /** For reports, as the program wrote it; `name` itself unless another class had that. */
  const char *display_name;
  kvo_class *superclass;
  /** For a notifying class the class it notifies for, otherwise NULL. */
  kvo_class *original;
  size_t instance_size;
  size_t header_offset;
  bool of_binding;
  void (*finalize)(kvo_object *object);
  size_t property_count;
  /** Inherited first. */
  const kvo_property **properties;
  /** The same order as `properties`, for a fast search; and where it goes on from one whose key is greater, or less, than what is looked
   * for: keys are hashes, so that the tree is not deep. 0: nowhere. */
  kvo_key *keys;
  uint16_t (*branches)[2];
  /** Setters to call, by property index: the trampolines of a notifying class, the program's setters otherwise. */
  kvo_function *setters;
  /** Made at the first observation of an instance, then constant. */
  kvo_class *_Atomic notifying;
  /** In the list of all, and in that of some. */
  kvo_class *next, *neighbour;
};

KVO_HIDDEN const kvo_property *kvo__class_find(const kvo_class *cls, kvo_key key);
/** Whether this is the address of a registered class, which is none of notifying ones; it may be garbage. */
KVO_HIDDEN bool kvo__class_is_known(const kvo_class *cls);
/** The notifying class, made now if need be; NULL, with *status saying which, when there is no memory for it or its trampolines. */
KVO_HIDDEN kvo_class *kvo__class_notifying(kvo_class *cls, kvo_status *status);

/* --------------------------------------------------------------------------------------------------- calls.c, pages.c -- */

/** Makes one trampoline a setter of `cls` into `setters`. False: no memory, nothing made. */
KVO_HIDDEN bool kvo__intercept(kvo_class *cls, kvo_function *setters);
/** Calls a setter of a C property's signature with a pointer to the value. */
KVO_HIDDEN void kvo__call_setter(const kvo_property *property, kvo_function setter, kvo_object *object,
                                 const void *value);
/** Calls the getter of a C property and stores the value. */
KVO_HIDDEN void kvo__call_getter(const kvo_property *property, const kvo_object *object, void *value);

/** A closure's two addresses: write through the first, run the second. */
typedef struct kvo_code {
  void *writable;
  void *executable;
} kvo_code;

/** Memory for `count` closures from pages.c, each KVO_CODE_SIZE apart; NULL addresses when there is none. Never freed: a frame
 * may be inside one at any time, and classes live for ever. */
#define KVO_CODE_SIZE ((sizeof(ffi_closure) + 63) / 64 * 64)
KVO_HIDDEN kvo_code kvo__pages_allocate(size_t count);

#endif /* KVO_CLASSES_CLASSES_H */

/* classes/classes.h - types, keys, classes, and calls by signature. Start with struct kvo_property and struct kvo_class.
 * circle: class.c, unregister.c: a registration looks for a class that has come before, in the list that class.c has. */
#ifndef KVO_CLASSES_CLASSES_H
#define KVO_CLASSES_CLASSES_H

#include <ffi.h>
#include "threads/threads.h"

/** The key of the slot that holds anchors, and dependencies on an object's death only. */
#define KVO_KEY_ANCHORS KVO_KEY_LIFETIME
/** The key of the slot of DEATH nodes. No name has this hash. */
#define KVO_KEY_DEATH (~(kvo_key)0)

/* -------------------------------------------------------------------------------------------------------- keys.c -- */

/** Checks that a key path has components and that none of them is empty. */
KVO_HIDDEN kvo_status kvo__path_check(const char *key_path);

/* ---------------------------------------------------------------------------------------------------- encoding.c -- */

/** Parses a type encoding into libffi's description, to be freed with kvo__type_free. If it is refused, stores a text that says why. */
KVO_HIDDEN kvo_status kvo__type_parse(const char *type, ffi_type **out, const char **reason);
/** The same for the type at the beginning of a string; moves the cursor to what follows it. */
KVO_HIDDEN kvo_status kvo__type_parse_next(const char **cursor, ffi_type **out, const char **reason);
KVO_HIDDEN void kvo__type_free(ffi_type *type);
/** A type encoding without leading qualifiers such as const, so that its first character is the type. NULL, which the
 * type of a value may be, is "?". */
KVO_HIDDEN const char *kvo__type_unqualified(const char *type);
/** Whether a value of a type encoding may be or contain an object, which the runtime does not retain. */
static inline bool kvo__type_may_hold_object(const char *type) {
  return strchr("@[<{", kvo__type_unqualified(type)[0]) != NULL;
}
/** Stores the size of the values of a type encoding that a property may have. */
KVO_HIDDEN kvo_status kvo__type_measure(const char *type, size_t *size);
/** The form of the values of a valid type encoding. */
KVO_HIDDEN kvo_form kvo__type_form(const char *type);

/* ------------------------------------------------------------------------------------------------------- class.c -- */

/** The accessors of a to-many property. */
typedef struct kvo_to_many kvo_to_many;
/** How many parameters a setter may have besides object, value and user, and the size of the largest. */
enum { KVO_MAX_FURTHER = 4, KVO_MAX_FURTHER_SIZE = 256 };

/** What a setter returns. */
typedef enum kvo_answer { KVO_ANSWERS_NOT, KVO_ANSWERS_BOOL, KVO_ANSWERS_INT } kvo_answer;

struct kvo_property {
  const char *name;
  const char *type;
  kvo_key key;
  /** The index in `properties` of the class and of every subclass. */
  size_t index;
  kvo_function getter;
  kvo_function setter;
  /** NULL for a property of a C class that is not to-many. */
  const kvo_value_ops *ops;
  void *user;
  /** NULL unless it is a to-many property of a C class; then its ops are kvo__elements_ops. */
  const kvo_to_many *to_many;
  size_t offset;
  char **affected_by;
  uint32_t flags;
  kvo_form form;
  /** The size of the C type. This and the members below are 0 and NULL if ops are set. */
  size_t size;
  ffi_type *value_type;
  kvo_answer answer;
  /** As the program described it, or NULL. */
  char *setter_type;
  /** The program's functions. `arguments` are those of the setter: object, value, `further` more, and perhaps user. */
  ffi_cif getter_cif, setter_cif;
  ffi_type *arguments[2 + KVO_MAX_FURTHER + 1];
  size_t further;
  /** The same functions for callers, who do not pass user. */
  ffi_cif getter_entry_cif, setter_entry_cif;
  /** The trampolines for callers, made at the first request, if the program has no functions that they can call. */
  _Atomic(void *) getter_entry, setter_entry;
};

/** Whether the value of a C property can be read or set by the runtime. */
static inline bool kvo__can_read(const kvo_property *property) {
  return property->getter != NULL || (property->flags & KVO_PROPERTY_AT_OFFSET) != 0;
}
static inline bool kvo__can_set(const kvo_property *property) {
  return property->setter != NULL ||
         (property->flags & (KVO_PROPERTY_AT_OFFSET | KVO_PROPERTY_READ_ONLY)) == KVO_PROPERTY_AT_OFFSET;
}
/** Whether the getter returns a string that its caller has to free. */
static inline bool kvo__is_copied(const kvo_property *property) {
  return __builtin_expect((property->flags & KVO_PROPERTY_COPIED) != 0, false);
}
/** Whether callers call the program's function themselves, or the one that replaces it in a notifying class. */
static inline bool kvo__has_own_setter(const kvo_property *property) {
  return property->setter != NULL && (property->flags & KVO_PROPERTY_WITH_USER) == 0;
}
/** Whether a path that is declared to affect the property begins with its own key. */
static inline bool kvo__affects_itself(const kvo_property *property, const char *path) {
  size_t length = strlen(property->name);
  return strncmp(path, property->name, length) == 0 && (path[length] == '\0' || path[length] == '.');
}
/** Whether a setter that returned this has accepted the value. */
static inline bool kvo__accepts(const kvo_property *property, int result) {
  return property->answer == KVO_ANSWERS_NOT || (result != 0) == (property->answer == KVO_ANSWERS_BOOL);
}

/** The index of no property; no class has this many. */
#define KVO_NO_PROPERTY UINT16_MAX

/** Immutable after registration, except `notifying` and the last two; kvo__class_revive replaces the functions of a class without
 * objects. */
struct kvo_class {
  /** 0: a class that is passed as an object is one without a class. It would otherwise be one of the class that its first word names. */
  uintptr_t no_word;
  /** The block that it is in. */
  void *memory;
  const char *name;
  /** The name as the program wrote it, for reports; `name` differs only if another class had the name already. */
  const char *display_name;
  /** Where the program had the name when it registered the class: if it was a constant, in the module that did it. Never read. */
  const void *given_name;
  kvo_class *superclass;
  /** For a notifying class the class for which it notifies, otherwise NULL. */
  kvo_class *original;
  size_t instance_size;
  size_t header_offset;
  bool of_binding;
  /** NULL, or the hooks of key-value coding, its own or its superclass's. */
  const kvo_coding_hooks *coding;
  bool owns_coding;
  void (*finalize)(kvo_object *object);
  /** kvo_binding_class_keep; both NULL without it. */
  void *(*retain)(void *instance);
  void (*release)(void *instance);
  size_t property_count;
  /** Inherited ones first. */
  const kvo_property **properties;
  /** A binary search tree, in the order of `properties`: the keys, and for each the indexes of its subtrees with lesser and with greater
   * keys, 0 for none. Keys are hashes, so the tree stays shallow. */
  kvo_key *keys;
  uint16_t (*branches)[2];
  /** The setters to call, by property index: trampolines in a notifying class, otherwise the program's setters. NULL for a property that
   * callers do not call by its own setter: kvo__setter_entry. */
  kvo_function *setters;
  /** The notifying class, made at the first observation of an instance, then constant. */
  kvo_class *_Atomic notifying;
  /** The next class in the list of all, and in the bucket by address. */
  kvo_class *next, *neighbour;
  /** How many objects live, of a C class, and how many hooks are on its methods for the whole class; any thread. */
  _Atomic size_t objects, hooks;
  /** kvo_class_unregister has ended it. Its memory stays, because reports, logs and trampolines may refer to it, and serves the next class
   * of this name and layout. Written under the lock of the list. */
  _Atomic bool is_retired;
};

KVO_HIDDEN const kvo_property *kvo__class_find(const kvo_class *cls, kvo_key key);
/** Whether a value of this form, type code and size is one of a C property's type: see kvo_object_store_key. */
KVO_HIDDEN bool kvo__property_takes(const kvo_property *property, kvo_form form, char code, size_t size);
/** Whether this is the address of a registered class, not of a notifying one. The pointer may be invalid. */
KVO_HIDDEN bool kvo__class_is_known(const kvo_class *cls);
/** Returns the notifying class, made at the first call. NULL without memory for it or for its trampolines; *status says which. */
KVO_HIDDEN kvo_class *kvo__class_notifying(kvo_class *cls, kvo_status *status);

KVO_HIDDEN void kvo__classes_lock(void);
KVO_HIDDEN void kvo__classes_unlock(void);
/** The first class in the list of all, retired ones too. The lock is held. */
KVO_HIDDEN kvo_class *kvo__classes_first(void);

/* ---------------------------------------------------------------------------------------------------- property.c -- */

/** Makes a property that a class of C or of a binding may have. If it is refused, the caller frees what was made so far. */
KVO_HIDDEN kvo_status kvo__property_make(const kvo_class *cls, const char *name, const char *type,
                                         const char *const *affected_by, uint32_t flags, kvo_property **out);
/** The same for a property of a C class, with its functions and calls. */
KVO_HIDDEN kvo_status kvo__property_from_spec(const kvo_class *cls, const kvo_property_spec *spec, kvo_property **out);
/** Says in kvo_last_error why a property is refused, and returns the status. */
KVO_HIDDEN kvo_status kvo__property_refuse(const kvo_class *cls, const char *key, kvo_status status,
                                           const char *reason);
KVO_HIDDEN void kvo__property_free(kvo_property *property);

/* -------------------------------------------------------------------------------------------------- unregister.c -- */

/** Registers a retired class again that is like a new one, with the functions of the new one; NULL if there is none. The lock is held. */
KVO_HIDDEN kvo_class *kvo__class_revive(kvo_class *fresh);
/** Counts an object of a C class. False if the class is not registered any more. */
KVO_HIDDEN bool kvo__class_hold(kvo_class *cls);
/** An object of a class ends. */
KVO_HIDDEN void kvo__class_let_go(kvo_class *cls);

/* -------------------------------------------------------------------------------------------------- collection.c -- */

struct kvo_to_many {
  bool is_list;
  /** Of an element: the type, without qualifiers, and the size. */
  const char *type;
  size_t size;
  /** One of these, by `is_list`. */
  kvo_list_accessors list;
  kvo_member_accessors members;
};

/** Elements of a to-many property, as its ops and the frames of its changes pass them: a value of its type. */
typedef struct kvo_elements {
  kvo_collection base;
  const kvo_property *of;
  /** `base.count` elements, one after the other. */
  const unsigned char *bytes;
} kvo_elements;

/** Returns the type "[T]" or "<T>" of a described collection, to be freed with kvo__free; NULL with a status. */
KVO_HIDDEN char *kvo__to_many_type(const kvo_collection_spec *spec, kvo_status *status);
/** Makes a property a to-many one. Its type is that of the description. */
KVO_HIDDEN kvo_status kvo__to_many_make(kvo_property *property, const kvo_collection_spec *spec);
/** The operations on values of such a property; `user` is the property. */
extern KVO_HIDDEN const kvo_value_ops kvo__elements_ops;
/** The present elements, or those of a selection, whose indexes beyond the end have none; NULL without memory. */
KVO_HIDDEN kvo_elements *kvo__elements_copy(const kvo_property *of, const kvo_object *object,
                                            const kvo_selection *selection);
/** A copy of elements that the caller has; NULL without memory. */
KVO_HIDDEN kvo_elements *kvo__elements_keep(const kvo_property *of, const void *bytes, size_t count);
KVO_HIDDEN void kvo__elements_free(kvo_elements *elements);
/** Elements that the caller has, as a value. */
static inline kvo_elements kvo__elements_of(const kvo_property *of, const void *bytes, size_t count);
KVO_HIDDEN kvo_status kvo__elements_pass(const kvo_collection *self, size_t position, kvo_value_reader reader,
                                         void *arg);

static inline kvo_elements kvo__elements_of(const kvo_property *of, const void *bytes, size_t count) {
  return (kvo_elements){{sizeof(kvo_collection), count, kvo__elements_pass}, of, bytes};
}

/* ------------------------------------------------------------------------------------------------------- value.c -- */

/** The size of the values of a type that is a number's; 0 for any other type. */
KVO_HIDDEN size_t kvo__type_number_size(const char *type);
/** Whether a value has no bytes, or is a C string that is NULL. */
KVO_HIDDEN bool kvo__value_is_nil(const kvo_value *value);
/** Whether two values that C can read are known to be the same. */
KVO_HIDDEN bool kvo__value_same(const kvo_value *one, const kvo_value *other);
/** Stores a value as one of this type and size, converted if nothing is lost. TYPE_MISMATCH, or for nil NO_VALUE, if it cannot be. A string
 * is not copied. */
KVO_HIDDEN kvo_status kvo__value_store(const kvo_value *value, const char *type, size_t size, void *to);

/* --------------------------------------------------------------------------------------------------- calls.c, pages.c -- */

/** A program's getter takes a pointer to its own structure instead of kvo_object. The calling convention is the same; only UBSan's check of
 * function types would object. */
#if defined(__clang__)
#define KVO_CALLS_BY_SIGNATURE __attribute__((no_sanitize("function")))
#else
#define KVO_CALLS_BY_SIGNATURE
#endif

/** The type codes of scalars and their C types. A function with scalars is called through its exact type, because libffi takes four times
 * as long. The compiler widens small integers as the ABI requires. */
#define KVO_FOR_EACH_SCALAR(X)                                                                                         \
  X('c', signed char)                                                                                                  \
  X('C', unsigned char)                                                                                                \
  X('s', short)                                                                                                        \
  X('S', unsigned short)                                                                                               \
  X('i', int)                                                                                                          \
  X('I', unsigned int)                                                                                                 \
  X('l', long)                                                                                                         \
  X('L', unsigned long)                                                                                                \
  X('q', long long)                                                                                                    \
  X('Q', unsigned long long)                                                                                           \
  X('f', float)                                                                                                        \
  X('d', double)                                                                                                       \
  X('B', bool)                                                                                                         \
  X('*', void *)                                                                                                       \
  X('@', void *)                                                                                                       \
  X('^', void *)

/** Makes a trampoline for each own setter of `cls`, and stores them in `setters`. False without memory; nothing is made then. */
KVO_HIDDEN bool kvo__intercept(kvo_class *cls, kvo_function *setters);
/** The trampolines of a property that has no function for callers; NULL if it cannot be set or read at all, and without memory. */
KVO_HIDDEN kvo_function kvo__setter_entry(const kvo_property *property);
KVO_HIDDEN kvo_function kvo__getter_entry(const kvo_property *property);
/** Calls the setter of a C property, and returns its result; 0 without one. `value` points to the value, `further` to the pointers to the
 * further arguments; NULL for zeros. */
KVO_HIDDEN int kvo__call_setter(const kvo_property *property, kvo_object *object, const void *value,
                                void *const *further);
/** Stores a value at the property's offset. */
KVO_HIDDEN void kvo__store_at_offset(const kvo_property *property, kvo_object *object, const void *value);
/** Calls the getter of a C property, or loads from its offset, and stores the value. */
KVO_HIDDEN void kvo__call_getter(const kvo_property *property, const kvo_object *object, void *value);

/** Stores the result of a closure from a value of its type: libffi expects small integers widened to a register, by their sign. */
KVO_HIDDEN void kvo__widen_result(const ffi_type *type, const void *value, void *result);

/** The two addresses of a closure: write through the first, execute at the second. */
typedef struct kvo_code {
  void *writable;
  void *executable;
} kvo_code;

/** Prepares the closure at `code` as a function that calls `body`, and returns it; NULL if libffi refuses. */
KVO_HIDDEN kvo_function kvo__closure(kvo_code code, ffi_cif *cif, kvo_function body, void *user_data);

/** Memory for `count` closures, KVO_CODE_SIZE bytes apart; NULL addresses if there is none. Never freed, because a call may be inside a
 * closure at any time, and classes exist for ever. */
#define KVO_CODE_SIZE ((sizeof(ffi_closure) + 63) / 64 * 64)
KVO_HIDDEN kvo_code kvo__pages_allocate(size_t count);
/** In the child of a fork, which shares the unused memory with its parent: the parent uses it. */
KVO_HIDDEN void kvo__pages_forked(void);

#endif /* KVO_CLASSES_CLASSES_H */

/* kvo.h - Key-Value Observing for C, C++ and whatever can call C.
 *
 * One object reacts to a change of another's property. A class is registered at runtime with its properties: a name, a
 * type encoding, a getter, a setter. An object carries one word. As long as nobody observes an object, its setters are the
 * program's own functions. The first observation swaps the object's word to a notifying class
 * (KVONotifying_<Class>) whose setters are libffi trampolines of the same C signature; removing the last one swaps it back.
 *
 *     typedef struct Point { kvo_object header; double x; } Point;
 *     static double point_x(const Point *p) { return p->x; }
 *     static void point_set_x(Point *p, double x) { p->x = x; }
 *
 *     kvo_property_spec properties[] = {
 *       { .name = "x", .type = "d", .getter = (kvo_function)point_x, .setter = (kvo_function)point_set_x } };
 *     kvo_class_spec spec = { .struct_size = sizeof spec, .name = "Point", .instance_size = sizeof(Point),
 *                             .properties = properties, .property_count = 1 };
 *     kvo_class *point_class;
 *     kvo_class_register(&spec, &point_class);
 *
 *     kvo_object *point;
 *     kvo_object_create(point_class, &point);
 *     kvo_observer observer = { .struct_size = sizeof observer, .key_path = "x", .options = KVO_NEW | KVO_OLD,
 *                               .callback = moved, KVO_HERE };
 *     kvo_observation id;
 *     kvo_add_observer(point, &observer, &id);
 *     KVO_SET(point, "x", double, 3.5);      // calls point_set_x, then moved()
 *     kvo_remove_observer(id);
 *     kvo_object_destroy(point);
 *
 * The rules that hold everywhere
 * - Errors. A function that can fail returns a kvo_status; KVO_OK is 0, errors are negative. An error means that nothing was
 *   changed and that no callback given to the call will ever run. Misuse that crashes on Apple's platforms is a fault: it is
 *   reported (see kvo_fault) and, unless a handler or KVO_POLICY says otherwise, ends the process with SIGABRT. If the
 *   process goes on, the function returns the error, and memory is safe.
 * - NULL, where a comment does not allow it, an enumerator that there is not, an array of NULL with a count: nothing crashes. A function
 *   that returns a status returns INVALID_ARGUMENT and has done nothing; registering, removing, announcing, reading and setting are also
 *   fault KVO0008, with the place. Of other functions the comment says what they answer. Strings may be of any length; key paths and
 *   type encodings take a time that grows with theirs. Pointers to what is no more, or never was, cannot be told from good ones, except
 *   as kvo_object_destroy says.
 * - Threads. Every function may be called from any thread, also from within callbacks, except where its comment says
 *   otherwise. The caller of any function that takes an object guarantees that the object lives until it returns. The
 *   runtime does not protect the program's own storage: two threads that set one property at once need the program's lock,
 *   or an atomic, in the setter.
 * - Locks. No lock of the runtime is held while a callback, getter, setter or destroy function of the program runs.
 * - Signal handlers. One may call what its comment says is async-signal-safe, and nothing else. A call that would wait for what the
 *   handler has interrupted does not hang: it ends the process with KVO0017.
 * - Ways out. Callbacks, getters, setters and destroy functions return. One that is left by longjmp or a C++ exception abandons the
 *   change or evaluation that called it: observers after it are not told, the observed object's memory in the runtime is not freed,
 *   and, if it was a callback or a getter that an expression reads, the next thing that the thread does with observations is KVO0025.
 *   All else goes on. A thread may end (pthread_exit) or be cancelled in them, which is no fault; no function of the runtime is a
 *   cancellation point. They may switch to another stack and back (swapcontext), and end in any order; a callback that never goes on
 *   is waited for by whoever waits for its observation.
 * - Strings given to the runtime are copied, except where a comment says otherwise. They are UTF-8 and end with NUL.
 * - Unless marked otherwise, a semantic is Apple's; "our decision" marks where Apple's platforms differ or have none.
 */
#ifndef KVO_H
#define KVO_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

#if defined(__GNUC__)
#define KVO_API __attribute__((visibility("default")))
#else
#define KVO_API
#endif

/* Pointers are never NULL unless marked KVO_NULLABLE. clang checks it, and Swift sees optionals; gcc has no such notion. */
#if defined(__clang__)
#define KVO_NULLABLE _Nullable
#define KVO_NONNULL _Nonnull
#define KVO_ASSUME_NONNULL_BEGIN                                                                                       \
  _Pragma("clang diagnostic push") _Pragma("clang diagnostic ignored \"-Wnullability-extension\"")                     \
      _Pragma("clang assume_nonnull begin")
#define KVO_ASSUME_NONNULL_END _Pragma("clang assume_nonnull end") _Pragma("clang diagnostic pop")
#else
#define KVO_NULLABLE
#define KVO_NONNULL
#define KVO_ASSUME_NONNULL_BEGIN
#define KVO_ASSUME_NONNULL_END
#endif

KVO_ASSUME_NONNULL_BEGIN

/* ---------------------------------------------------------------------------------------------------------- Version -- */

#define KVO_VERSION_MAJOR 0
#define KVO_VERSION_MINOR 1
#define KVO_VERSION_PATCH 0
#define KVO_VERSION_NUMBER (KVO_VERSION_MAJOR * 10000 + KVO_VERSION_MINOR * 100 + KVO_VERSION_PATCH)

/** Returns the version of the library that runs, as major * 10000 + minor * 100 + patch. Cannot fail. */
KVO_API uint32_t kvo_version(void);

/* ----------------------------------------------------------------------------------------------------------- Status -- */

/** Every status with its fixed value and text; values never change, new ones are added at the end. */
#define KVO_STATUS_MAP(X)                                                                                              \
  X(KVO_OK, 0, "success")                                                                                              \
  X(KVO_ERROR_INVALID_ARGUMENT, -1, "invalid argument")                                                                \
  X(KVO_ERROR_OUT_OF_MEMORY, -2, "out of memory")                                                                      \
  X(KVO_ERROR_DUPLICATE_CLASS, -3, "a class of this name is already registered")                                       \
  X(KVO_ERROR_DUPLICATE_KEY, -4, "the class or a superclass already has a property of this key")                       \
  X(KVO_ERROR_BAD_TYPE_ENCODING, -5, "malformed or unsupported type encoding")                                         \
  X(KVO_ERROR_UNSUPPORTED_SETTER, -6, "a setter of this signature cannot be intercepted")                              \
  X(KVO_ERROR_NO_INTERCEPTION, -7, "no memory for executable trampolines")                                             \
  X(KVO_ERROR_UNDEFINED_KEY, -8, "the class has no such key")                                                          \
  X(KVO_ERROR_MALFORMED_KEY_PATH, -9, "malformed key path")                                                            \
  X(KVO_ERROR_NOT_REGISTERED, -10, "no such observation is registered")                                                \
  X(KVO_ERROR_READ_ONLY, -11, "the property has no setter")                                                            \
  X(KVO_ERROR_NO_GETTER, -12, "the property has no getter")                                                            \
  X(KVO_ERROR_TYPE_MISMATCH, -13, "the value is not of the property's type")                                           \
  X(KVO_ERROR_DYING_OBJECT, -14, "the object is being destroyed")                                                      \
  X(KVO_ERROR_NOT_AN_OBJECT, -15, "a key path leads through a value that is not an observable object")                 \
  X(KVO_ERROR_UNBALANCED, -16, "did without a matching will on this thread")                                           \
  X(KVO_ERROR_FILE, -17, "a file cannot be written")                                                                   \
  X(KVO_ERROR_BUSY, -18, "something of the kind is going on already")                                                  \
  X(KVO_ERROR_NO_DIAGNOSTICS, -19, "the library was built without diagnostics")

/** What a function returns; see KVO_STATUS_MAP for the list. */
typedef enum kvo_status {
#define KVO_STATUS_ENUM(name, value, text) name = value,
  KVO_STATUS_MAP(KVO_STATUS_ENUM)
#undef KVO_STATUS_ENUM
} kvo_status;

/** Returns the text of a status, never NULL; of a number that is none, "unknown status". The string is static: never free it.
 * Async-signal-safe. */
KVO_API const char *kvo_status_string(kvo_status status);

/** Replaces malloc and free for all memory of the runtime except trampoline pages.
 *
 * They must not call the runtime. `allocate` returns memory aligned for any type, or NULL; `release` takes what `allocate`
 * returned. `arg` is passed through. Call it before any other function of this header, from one thread; NULL functions restore
 * malloc and free. Both run while the runtime holds locks, which a fork waits for: an allocator with fork handlers of its own
 * registers them before libkvo is loaded, as the C library's does. Our decision. */
KVO_API void kvo_set_allocator(void *KVO_NULLABLE (*KVO_NULLABLE allocate)(size_t size, void *KVO_NULLABLE arg),
                               void (*KVO_NULLABLE release)(void *KVO_NULLABLE memory, void *KVO_NULLABLE arg),
                               void *KVO_NULLABLE arg);

/* ---------------------------------------------------------------------------------------------- Classes and properties -- */

/** A class: a name, a superclass, properties. Opaque; lives, as in Objective-C, until the process ends. */
typedef struct kvo_class kvo_class;

/** A property of a class. Opaque; lives as long as its class. */
typedef struct kvo_property kvo_property;

/** The header that makes memory an observable object: its first member. One word; the content belongs to the runtime. */
typedef struct kvo_object {
  uintptr_t kvo_private_word;
} kvo_object;

/** Any function; cast a getter or setter to it, and what kvo_object_setter returns back from it. */
typedef void (*kvo_function)(void);

enum {
  /** The setter does not notify; the program calls kvo_will_change and kvo_did_change itself
   * (Apple: automaticallyNotifiesObserversForKey: answers NO). */
  KVO_PROPERTY_MANUAL = 1u << 0,
};

/** Describes one property at registration.
 *
 * Type encodings are Objective-C's: "c s i l q" and "C S I L Q" signed and unsigned integers (char, short, int, long, long
 * long), "f d D" float, double, long double, "B" bool, "*" char *, "@" kvo_object *, "^T" any pointer, ":" and "#" pointers,
 * "{name=T...}" a structure by value, "[nT]" an array inside a structure. Bit fields "b", unions "(" and void "v" are refused,
 * because no call interface describes them portably. Qualifiers in front, such as "r" for const, are dropped. */
typedef struct kvo_property_spec {
  /** The key: not empty, without a dot. */
  const char *name;
  /** The type encoding of the value. */
  const char *type;
  /** `T getter(const kvo_object *)`, or NULL: then records carry no old value, and the new one is the setter's argument. */
  kvo_function KVO_NULLABLE getter;
  /** `void setter(kvo_object *, T)`, or NULL: a read-only property. It must return void and take exactly these arguments. */
  kvo_function KVO_NULLABLE setter;
  /** NULL, or key paths, ended by NULL, that affect this value (Apple: keyPathsForValuesAffectingValueForKey:). */
  const char *KVO_NULLABLE const *KVO_NULLABLE affected_by;
  /** 0 or KVO_PROPERTY_MANUAL. */
  uint32_t flags;
} kvo_property_spec;

/** Describes a class at registration. Set all members that you do not use to zero. */
typedef struct kvo_class_spec {
  /** sizeof(kvo_class_spec), so that later versions can add members. */
  size_t struct_size;
  /** The name: unique in the process, not empty. */
  const char *name;
  /** NULL or a registered class, whose properties this one inherits. */
  kvo_class *KVO_NULLABLE superclass;
  /** Bytes of an instance, header included; at least sizeof(kvo_object) and the superclass's. */
  size_t instance_size;
  /** The properties that this class adds; may be NULL when the count is 0. */
  const kvo_property_spec *KVO_NULLABLE properties;
  size_t property_count;
  /** NULL, or called by kvo_object_destroy after the object's observations ended and before its memory is freed. */
  void (*KVO_NULLABLE finalize)(kvo_object *object);
} kvo_class_spec;

/** Registers a class and stores it in `*out`.
 *
 * Nothing of `spec` needs to outlive the call. Fails with INVALID_ARGUMENT (also for 65 535 properties or more, inherited ones
 * included), DUPLICATE_CLASS, DUPLICATE_KEY, BAD_TYPE_ENCODING, UNSUPPORTED_SETTER (a setter whose signature libffi cannot reproduce)
 * or OUT_OF_MEMORY. */
KVO_API kvo_status kvo_class_register(const kvo_class_spec *spec, kvo_class *KVO_NULLABLE *KVO_NONNULL out);

/** Returns the class of this name, or NULL. Swift classes appear once an instance was observed or handed to C. NULL: NULL. */
KVO_API kvo_class *KVO_NULLABLE kvo_class_find(const char *name);

/** Returns the name, which lives as long as the class. A notifying class answers "KVONotifying_<Class>", NULL "". */
KVO_API const char *kvo_class_name(const kvo_class *cls);

/** Returns the superclass or NULL. The superclass of a notifying class is the class that it notifies for. NULL: NULL. */
KVO_API kvo_class *KVO_NULLABLE kvo_class_superclass(const kvo_class *cls);

/** Returns the number of properties, inherited ones included. NULL: 0. */
KVO_API size_t kvo_class_property_count(const kvo_class *cls);

/** Returns property `index`, inherited ones first in order of registration, or NULL past the end and for NULL. */
KVO_API const kvo_property *KVO_NULLABLE kvo_class_property_at(const kvo_class *cls, size_t index);

/** Returns the property of this key, searching superclasses too, or NULL; NULL for NULL. */
KVO_API const kvo_property *KVO_NULLABLE kvo_class_property(const kvo_class *cls, const char *key);

/** Returns the key of a property; the string lives as long as the class. NULL: "". */
KVO_API const char *kvo_property_name(const kvo_property *property);

/** Returns the type encoding of a property; the string lives as long as the class. "?" is a value that only the language
 * that defined the class understands. NULL: "". */
KVO_API const char *kvo_property_type(const kvo_property *property);

/** Stores size and alignment, in bytes, of a type encoding. Returns BAD_TYPE_ENCODING if it is none, also for
 * NULL. `size` and `alignment` may be NULL. */
KVO_API kvo_status kvo_type_size(const char *type, size_t *KVO_NULLABLE size, size_t *KVO_NULLABLE alignment);

/* ---------------------------------------------------------------------------------------------------------- Objects -- */

/** Creates an object: zeroed memory of the class's instance size, with its header set, stored in `*out`.
 *
 * The caller owns the object and ends it with kvo_object_destroy. Fails with INVALID_ARGUMENT, also for what is no class or a
 * binding's, or OUT_OF_MEMORY. */
KVO_API kvo_status kvo_object_create(kvo_class *cls, kvo_object *KVO_NULLABLE *KVO_NONNULL out);

/** Makes memory of the program an object of `cls`: sets the header, which must be the memory's first member.
 *
 * The memory stays the program's; it must not move while the object lives, and kvo_object_finish must be called before it is
 * reused or freed. No other thread may use the object yet. Fails with INVALID_ARGUMENT, also for what is no class. */
KVO_API kvo_status kvo_object_init(kvo_object *object, kvo_class *cls);

/** Ends an object made by kvo_object_init: all its observations end, and its header becomes zero.
 *
 * Observations made without KVO_ENDS_WITH_OBJECT that are still there are fault KVO0001, as on Apple's platforms. An
 * observation elsewhere that reached this object through a key path sees a change to nil. If another thread is evaluating a
 * key path that starts at this object, the call waits until it has done so; callbacks that run on other threads are not waited
 * for, but touch the object no more. No other thread may start using the object.
 *
 * NULL and an object whose header is zero are left alone; all else is as for kvo_object_destroy, except that after a fault about a
 * callback before a change the observations have ended all the same, for the memory is not the runtime's to keep. */
KVO_API void kvo_object_finish(kvo_object *object);

/** Ends an object made by kvo_object_create, as kvo_object_finish does, calls `finalize` and frees it. During `finalize` the object still
 * has its class, and its setters can be called; they notify nobody, and a registration is fault KVO0007. NULL is harmless.
 *
 * Memory that is no object is fault KVO0012, and left alone: where the header names no class and is not that of an observed object at
 * this address. So are an object that is being destroyed, a copy of an observed one, one that kvo_object_finish has ended, and one that
 * was destroyed before, as long as its memory can be read and is no other object's: neither can be known. An object destroyed in a
 * callback before its change, whose setter is about to store into it, is fault KVO0008; if the process goes on it lives on. */
KVO_API void kvo_object_destroy(kvo_object *KVO_NULLABLE object);

/** Returns the class that the object was made with, observed or not (Apple: -class). NULL for NULL and for a header that is zero. */
KVO_API kvo_class *KVO_NULLABLE kvo_object_class(const kvo_object *object);

/** Returns KVONotifying_<Class> while a setter of the object notifies, otherwise the class (Apple: object_getClass): an object of
 * which only KVO_PROPERTY_MANUAL keys are observed keeps its class. NULL: NULL. */
KVO_API kvo_class *KVO_NULLABLE kvo_object_isa(const kvo_object *object);

/** Tells whether at least one observation is registered with the object, also on behalf of a key path (observationInfo). NULL: false. */
KVO_API bool kvo_object_is_observed(const kvo_object *object);

/** Returns the setter to call now for this key: the program's own, or a trampoline of the same signature while the object is
 * observed; NULL if there is none. Look it up for each call, as objc_msgSend does: one kept across the first observation
 * would no longer notify. Cast it to `void (*)(kvo_object *, T)`. NULL: NULL. */
KVO_API kvo_function KVO_NULLABLE kvo_object_setter(const kvo_object *object, const char *key);

/** The same for a property that was looked up before; takes a few nanoseconds. NULL for a property of another class, and for NULL. */
KVO_API kvo_function KVO_NULLABLE kvo_object_property_setter(const kvo_object *object, const kvo_property *property);

/** Returns the getter of this key, or NULL; NULL for NULL. Cast it to `T (*)(const kvo_object *)`. */
KVO_API kvo_function KVO_NULLABLE kvo_object_getter(const kvo_object *object, const char *key);

/** What a value is to a call, besides its size: how it is passed follows from both. */
typedef enum kvo_form {
  /** Not told, and not compared. */
  KVO_FORM_ANY = 0,
  /** Also of bool, of characters and of enumerations. */
  KVO_FORM_INTEGER = 1,
  KVO_FORM_REAL = 2,
  KVO_FORM_POINTER = 3,
  KVO_FORM_STRUCTURE = 4,
} kvo_form;

/** kvo_object_setter for those who call the result at once, with a value of this form and size, at this place of the program.
 *
 * A key without a setter is fault KVO0009, and a setter for values of another form or size KVO0026: it would take another value than
 * was passed. NULL for object or key is fault KVO0008. If the policy goes on, the function returned does nothing, whatever it is called
 * with. Never NULL. `size` may be 0, and `file` NULL: not told. `file` is as in kvo_site.h. */
KVO_API kvo_function kvo_object_setter_to_call(const kvo_object *KVO_NULLABLE object, const char *KVO_NULLABLE key,
                                               kvo_form form, size_t size, const char *KVO_NULLABLE file,
                                               uint32_t line);

/* The form of a type's values. */
#if defined(__GNUC__)
#define KVO_FORM_OF(T) kvo_form_of_class(__builtin_classify_type(*(volatile __typeof__(T) *)0))
#else
#define KVO_FORM_OF(T) KVO_FORM_ANY
#endif
/* Of what __builtin_classify_type answers: a constant, so that this costs nothing at run time. */
static inline kvo_form kvo_form_of_class(int type_class) {
  switch (type_class) {
    case 1:
    case 2:
    case 3:
    case 4: return KVO_FORM_INTEGER;
    case 5: return KVO_FORM_POINTER;
    case 8: return KVO_FORM_REAL;
    case 12:
    case 13: return KVO_FORM_STRUCTURE;
    default: return KVO_FORM_ANY;
  }
}

/** Whether the object is observed: one load. For KVO_SET. */
static inline int kvo_word_is_observed(const kvo_object *object) {
  return (__atomic_load_n(&object->kvo_private_word, __ATOMIC_ACQUIRE) & 1) != 0;
}

/** After a store by a setter that was called while nobody observed the object: if a path has come to lead here meanwhile, it follows.
 * KVO_SET does it; call it after a setter that you called yourself, if other threads observe paths that may lead to the object. */
KVO_API void kvo_object_stored(kvo_object *object, const char *key);

/** Sets a property of type T through the setter to call now. T has to be the property's type as far as calls
 * tell types apart: an int for an unsigned int will do, but a double for a long is fault KVO0026. */
#define KVO_SET(object, key, T, value)                                                                                 \
  __extension__({                                                                                                      \
    kvo_object *kvo_set_object = (kvo_object *)(object);                                                               \
    const char *kvo_set_key = (key);                                                                                   \
    const int kvo_set_unobserved = kvo_set_object != 0 && !kvo_word_is_observed(kvo_set_object);                       \
    ((void (*)(kvo_object *, T))kvo_object_setter_to_call(kvo_set_object, kvo_set_key, KVO_FORM_OF(T), sizeof(T),      \
                                                          __FILE__, __LINE__))(kvo_set_object, (value));               \
    if (kvo_set_unobserved && kvo_word_is_observed(kvo_set_object)) kvo_object_stored(kvo_set_object, kvo_set_key);    \
  })

/* ----------------------------------------------------------------------------------------------------------- Values -- */

/** A view of a value. Owned by whoever made it and valid only as long as that says; copy what you keep.
 *
 * A nil has bytes == NULL. Otherwise `bytes` points to `size` bytes of the encoded C type: for "@" to a kvo_object *, for "*"
 * to a char *, for "?" to a value that only the language that defined the class understands. */
typedef struct kvo_value {
  const char *KVO_NULLABLE type;
  size_t size;
  const void *KVO_NULLABLE bytes;
} kvo_value;

/** Receives a value; the view is valid until the function returns. */
typedef void (*kvo_value_reader)(const kvo_value *value, void *KVO_NULLABLE arg);

/** Reads a key path such as "author.name" and hands the value to `reader` before returning. A nil on the way gives nil.
 *
 * Fails with UNDEFINED_KEY, MALFORMED_KEY_PATH, NO_GETTER, NOT_AN_OBJECT; then `reader` is not called. NULL is fault KVO0008. */
KVO_API kvo_status kvo_get_value(kvo_object *object, const char *key_path, kvo_value_reader reader,
                                 void *KVO_NULLABLE arg);

/** Sets a key path's last key through its setter, so observers are notified. The value's bytes are copied by the setter.
 *
 * A nil on the way sets nothing and is no error. Fails with UNDEFINED_KEY, MALFORMED_KEY_PATH, READ_ONLY, NOT_AN_OBJECT, or
 * TYPE_MISMATCH when the value's type encoding is not the property's: nothing is converted. NULL, also as the value's type, is fault
 * KVO0008; a value without bytes is nil. */
KVO_API kvo_status kvo_set_value(kvo_object *object, const char *key_path, const kvo_value *value);

/* -------------------------------------------------------------------------------------------------------- Observing -- */

/** What a change record carries, and when it is sent. The first four are Apple's, with Apple's values. */
typedef enum kvo_options {
  KVO_NONE = 0,
  /** Records carry the new value. */
  KVO_NEW = 1 << 0,
  /** Records carry the old value. */
  KVO_OLD = 1 << 1,
  /** One callback runs before kvo_add_observer returns, with the present value when KVO_NEW is set. */
  KVO_INITIAL = 1 << 2,
  /** One more callback before each change, with is_prior set. */
  KVO_PRIOR = 1 << 3,
  /** The observation ends silently when the object dies, instead of fault KVO0001. Our decision: what safe wrappers add. */
  KVO_ENDS_WITH_OBJECT = 1 << 8,
} kvo_options;

/** The kind of a change, with Apple's values. */
typedef enum kvo_change_kind {
  KVO_CHANGE_SETTING = 1,
  KVO_CHANGE_INSERTION = 2,
  KVO_CHANGE_REMOVAL = 3,
  KVO_CHANGE_REPLACEMENT = 4,
} kvo_change_kind;

/** Identifies one registration; never 0, never used again for another one. */
typedef uint64_t kvo_observation;

/** Handed to a callback; it and all that it points to is valid until the callback returns. */
typedef struct kvo_change {
  /** The object that kvo_add_observer was called with, also when the change happened further down a key path. */
  kvo_object *object;
  /** The complete key path as registered. */
  const char *key_path;
  kvo_change_kind kind;
  /** True in the extra callback before the change that KVO_PRIOR asks for. */
  bool is_prior;
  /** NULL when not asked for or not known. */
  const kvo_value *KVO_NULLABLE old_value;
  /** NULL when not asked for, not known, or before the change. Read at delivery: after a nested set it is the newest. */
  const kvo_value *KVO_NULLABLE new_value;
  /** For insertion, removal and replacement: the positions, ascending; otherwise NULL. */
  const size_t *KVO_NULLABLE indexes;
  size_t index_count;
  /** As registered. */
  void *KVO_NULLABLE context;
  kvo_observation observation;
} kvo_change;

/** Called for a change: on the thread that made it, before the setter returns, with no lock held. It may call everything in
 * this header, also remove its own observation. Observers run newest first, before-change ones oldest first (Apple's order,
 * our promise). Do not leave it by longjmp or a C++ exception. An object must not
 * be destroyed in a callback before its change (is_prior): the setter is about to store into it, and it is fault KVO0008. */
typedef void (*kvo_callback)(const kvo_change *change, void *KVO_NULLABLE user_data);

/** Describes an observation at registration. Set all members that you do not use to zero. */
typedef struct kvo_observer {
  /** sizeof(kvo_observer), so that later versions can add members. */
  size_t struct_size;
  /** A key or a path of keys joined by dots. */
  const char *key_path;
  kvo_options options;
  kvo_callback callback;
  /** Passed to the callback; also who observes, for kvo_remove_observer_for and for reports. */
  void *KVO_NULLABLE user_data;
  /** NULL, or called once with user_data when no callback of this observation runs or can run any more: during the removal, or,
   * if a callback of the object is running at that time, when the last has returned, on that thread. Never if registration
   * fails. No lock is held. */
  void (*KVO_NULLABLE destroy)(void *KVO_NULLABLE user_data);
  /** Any pointer, compared exactly on removal with a context. */
  void *KVO_NULLABLE context;
  /** Where in the source the observation is made, for reports; use KVO_HERE. Copied, unless it is a literal of the
   * executable: the module that gives it may be unloaded. NULL: not told; nor is it after some thousand different ones. */
  const char *KVO_NULLABLE file;
  uint32_t line;
} kvo_observer;

/** The present source line, among the designated initialisers of a kvo_observer. C++ before C++20 has none: there assign
 * __FILE__ and __LINE__ to the members. */
#define KVO_HERE .file = __FILE__, .line = __LINE__

/** Registers an observation of `object` and stores its id in `*out` (which may be NULL).
 *
 * The object is not retained. The observation lasts until it is removed or the object dies. Each registration is separate: the
 * same one made twice is called twice. Through a key path every object on the way is observed, and an intermediate one that
 * is replaced, set to nil or dies re-arms the observation and counts as a change. A single undefined key is accepted, as on
 * Apple's platforms, for the sake of manual notification; a longer path, or KVO_INITIAL with KVO_NEW, with an undefined key
 * is fault KVO0009. NULL for object or observer, and members of it that must not be what they are, are fault KVO0008, and memory that is
 * no object KVO0012. Fails with INVALID_ARGUMENT, MALFORMED_KEY_PATH, UNDEFINED_KEY, NOT_AN_OBJECT,
 * DYING_OBJECT, NO_INTERCEPTION, OUT_OF_MEMORY. */
KVO_API kvo_status kvo_add_observer(kvo_object *object, const kvo_observer *observer,
                                    kvo_observation *KVO_NULLABLE out);

/** Removes one observation. After it returns no new delivery to it begins, on any thread; one that has begun elsewhere may
 * finish. An id that is not registered (any more) returns NOT_REGISTERED and is a fault: KVO0003 if it was
 * removed before, KVO0005 if its object has died, KVO0008 if it never was one, otherwise KVO0002. */
KVO_API kvo_status kvo_remove_observer(kvo_observation observation);

/** The same for an observation that may have ended: never a fault. Returns NOT_REGISTERED if it had. Our decision. */
KVO_API kvo_status kvo_cancel_observer(kvo_observation observation);

/** kvo_cancel_observer, then waits until no other thread runs a callback of this observation, or evaluates its key path: what
 * the callback uses can then be freed. It waits also when the observation had ended before, and then returns NOT_REGISTERED.
 * Deliveries of other observations are not waited for. Called from within a callback of this observation, or of one whose
 * end this one's callback waits for in turn, it could never return: that is fault KVO0017, and it does not wait for
 * those. Hold no lock that the callback takes. */
KVO_API kvo_status kvo_cancel_observer_and_wait(kvo_observation observation);

/** Removes the newest observation of this object whose user_data and key path match, whatever its context (Apple:
 * removeObserver:forKeyPath:). None is fault KVO0002, or KVO0003 if it was removed before, and returns NOT_REGISTERED. Several with
 * different contexts are warning KVO0016. NULL for object or key path is fault KVO0008. */
KVO_API kvo_status kvo_remove_observer_for(kvo_object *object, void *KVO_NULLABLE user_data, const char *key_path);

/** The same, with the context compared exactly: NULL matches only NULL. */
KVO_API kvo_status kvo_remove_observer_for_context(kvo_object *object, void *KVO_NULLABLE user_data,
                                                   const char *key_path, void *KVO_NULLABLE context);

/** Announces that the value of a key is about to change. Pair it with kvo_did_change, on the same thread; pairs match by object
 * and key and may nest, each giving its own notification. Use it for changes that no setter makes. Never an error for a key
 * that nobody observes. NULL is fault KVO0008. */
KVO_API kvo_status kvo_will_change(kvo_object *object, const char *key);

/** Announces that the change begun by the newest unmatched kvo_will_change of this object and key is done, and notifies.
 * Without one nobody is told; if the key is observed, it returns UNBALANCED and is fault KVO0028, an error, or KVO0030 when another thread
 * has called kvo_will_change, unless that was called when nobody observed. One that no kvo_did_change has ended when its object dies
 * or its thread ends is KVO0029. NULL is fault KVO0008. */
KVO_API kvo_status kvo_did_change(kvo_object *object, const char *key);

/** kvo_will_change for elements of an ordered collection, with their positions, ascending (before a removal or replacement,
 * after an insertion). `indexes` is copied. Positions that are not ascending are fault KVO0033, an error, and nothing is
 * announced. KVO0008 is a kind that is none of the three, or NULL: also for positions, unless the count is 0. */
KVO_API kvo_status kvo_will_change_indexes(kvo_object *object, kvo_change_kind kind, const char *key,
                                           const size_t *indexes, size_t count);

/** kvo_did_change for a change that kvo_will_change_indexes began. Observers are told what that said; other positions, or another
 * kind, are fault KVO0033, an error. KVO0008 is as there, and then the change is still open. */
KVO_API kvo_status kvo_did_change_indexes(kvo_object *object, kvo_change_kind kind, const char *key,
                                          const size_t *indexes, size_t count);

KVO_ASSUME_NONNULL_END

#ifdef __cplusplus
}
#endif

#include <kvo/kvo_fault.h>
#include <kvo/kvo_graph.h>
#include <kvo/kvo_site.h>

#endif /* KVO_H */

/* kvo_class.h - classes, their properties, and objects. Part of kvo.h, whose first comment has the general rules. */
#ifndef KVO_CLASS_H
#define KVO_CLASS_H

#include <kvo/kvo_base.h>

#ifdef __cplusplus
#include <type_traits>
extern "C" {
#endif

KVO_ASSUME_NONNULL_BEGIN

/* In C++ a function that takes a source location has it as default arguments, and is the function of kvo_site.h. In C the macros of
 * kvo_site.h do that, which in C++ would also replace member functions of these names. */
#if defined(__cplusplus) && defined(__GNUC__) && !defined(KVO_NO_SITES)
#define KVO_SITE , const char *KVO_NULLABLE file = __builtin_FILE(), uint32_t line = __builtin_LINE()
#define KVO_SITED(symbol) __asm__(symbol)
#else
/** In C++ the parameters for the source location of a function that has them. */
#define KVO_SITE
/** The symbol of such a function in C++. */
#define KVO_SITED(symbol)
#endif

/* ---------------------------------------------------------------------------------------------- Classes and properties -- */

/** A class: a name, a superclass and properties. Opaque. It exists until kvo_class_unregister, or until the process ends. */
typedef struct kvo_class kvo_class;

/** A property of a class. Opaque. Exists as long as its class. */
typedef struct kvo_property kvo_property;

/** The header that makes memory an observable object; it is the first member. One word, whose content belongs to the runtime. */
typedef struct kvo_object {
  /** The runtime's. */
  uintptr_t kvo_private_word;
} kvo_object;

/** Any function. Cast getters and setters to this type, and what kvo_object_setter returns from it. */
typedef void (*kvo_function)(void);

enum {
  /** The setter does not notify; the program calls kvo_will_change and kvo_did_change itself (Apple: automaticallyNotifiesObserversForKey:
   * returns NO). */
  KVO_PROPERTY_MANUAL = 1u << 0,
  /** Getter and setter have one more parameter, the last one, which is `user`. Callers do not pass it: what kvo_object_setter and
   * kvo_object_getter return are functions without it, trampolines made at the first request. Our decision, for bindings. */
  KVO_PROPERTY_WITH_USER = 1u << 4,
  /** The value is in the object, `offset` bytes from its header. The runtime loads it where `getter` is NULL, and stores it where `setter`
   * is NULL, as plain memory: a string or an object is neither copied nor retained. If several threads use one property, the program needs
   * a lock. Our decision. */
  KVO_PROPERTY_AT_OFFSET = 1u << 5,
  /** With KVO_PROPERTY_AT_OFFSET: without a setter the runtime does not store; the program does, and announces it by hand. */
  KVO_PROPERTY_READ_ONLY = 1u << 6,
  /** For a string: the getter returns a copy, made with malloc(3), which its caller frees with free(3), as the runtime does. So getter and
   * setter can take a lock of the object inside, and another thread, whose change evaluates a key path through the object, does not read a
   * string that the setter has freed. Our decision. */
  KVO_PROPERTY_COPIED = 1u << 9,
};

/** Describes a property at registration. Set unused members to zero.
 *
 * Type encodings are those of Objective-C: "c s i l q" and "C S I L Q" signed and unsigned integers (char, short, int, long, long long), "f
 * d D" float, double, long double, "B" bool, "*" char *, "@" kvo_object *, "^T" any pointer, ":" and "#" pointers, "{name=T...}" a
 * structure by value, "[nT]" an array inside a structure. Bit fields "b", unions "(" and void "v" are refused, because no call interface
 * describes them portably. Leading qualifiers, such as "r" for const, are ignored. */
typedef struct kvo_property_spec {
  /** The key: not empty, without dots. */
  const char *name;
  /** The type encoding of the value. */
  const char *type;
  /** `T getter(const kvo_object *)`, or NULL: then records have no old value, and their new value is the setter's argument. */
  kvo_function KVO_NULLABLE getter;
  /** `void setter(kvo_object *, T)`, or what `setter_type` says; NULL for a read-only property. */
  kvo_function KVO_NULLABLE setter;
  /** NULL, or key paths that affect this value, terminated by NULL (Apple: keyPathsForValuesAffectingValueForKey:). One that is the key
   * itself, or begins with it, affects nothing; the observation of the key is fault KVO0039. */
  const char *KVO_NULLABLE const *KVO_NULLABLE affected_by;
  /** KVO_PROPERTY_… bits. */
  uint32_t flags;
  /** For KVO_PROPERTY_WITH_USER: what getter and setter get. kvo_property_user returns it. Must stay valid as long as the class. */
  void *KVO_NULLABLE user;
  /** For KVO_PROPERTY_AT_OFFSET: offsetof the value in the instance. At least sizeof(kvo_object), aligned for the type, and within
   * `instance_size`. */
  size_t offset;
  /** NULL for a setter that returns void and has no further parameters. Otherwise its type: the encoding of the result, "@" for the object,
   * that of the value, then those of at most four further parameters, but not that of `user`: "v@d", "B@d", "i@dB^v".
   *
   * The result is void, a bool that is true if the setter has accepted the value, or an int that is 0 if it has. A value that is not
   * accepted is no change: no observer is notified of it. Only those that asked for KVO_PRIOR have been, before; for them no second call
   * follows. Trampolines return what the setter has returned; other functions return KVO_ERROR_REFUSED, and kvo_last_refusal has the
   * setter's result. Further arguments are passed on by trampolines, and are zero in calls by other functions. */
  const char *KVO_NULLABLE setter_type;
} kvo_property_spec;

/** Describes a class at registration. Set unused members to zero. */
typedef struct kvo_class_spec {
  /** sizeof(kvo_class_spec), so that later versions can add members. */
  size_t struct_size;
  /** The name: not empty, unique in the process. */
  const char *name;
  /** NULL, or a registered class whose properties this one inherits. */
  kvo_class *KVO_NULLABLE superclass;
  /** The size of an instance in bytes, with the header; at least sizeof(kvo_object) and the superclass's size. */
  size_t instance_size;
  /** The properties that this class adds; NULL if the count is 0. */
  const kvo_property_spec *KVO_NULLABLE properties;
  size_t property_count;
  /** NULL, or a function that kvo_object_destroy calls after the object's observations have ended and before its memory is freed. */
  void (*KVO_NULLABLE finalize)(kvo_object *object);
  /** The lists and sets that this class adds (kvo_collection.h); NULL if the count is 0. */
  const struct kvo_collection_spec *KVO_NULLABLE collections;
  size_t collection_count;
  /** sizeof(kvo_collection_spec), so that later versions can add members to it. */
  size_t collection_size;
  /** The distance in bytes from one element of `properties` to the next, which is sizeof(kvo_property_spec); 0 means the size that it had
   * when kvo_class_spec had `struct_size` bytes. */
  size_t property_size;
  /** NULL, or what the class decides in key-value coding (kvo_coding.h). Copied. NULL inherits the superclass's. */
  const struct kvo_coding_hooks *KVO_NULLABLE coding;
} kvo_class_spec;

/** Registers a class and stores it in `*out`. `spec` is copied.
 *
 * Fails with INVALID_ARGUMENT (also for 65 535 properties or more, with inherited ones), DUPLICATE_CLASS, DUPLICATE_KEY, BAD_TYPE_ENCODING,
 * UNSUPPORTED_SETTER (libffi cannot reproduce the setter's signature) or OUT_OF_MEMORY. kvo_last_error names the property and says why. */
KVO_API kvo_status kvo_class_register(const kvo_class_spec *spec, kvo_class *KVO_NULLABLE *KVO_NONNULL out);

/** Ends a class: its functions are not called any more, its name is free, and `cls` and its properties are not valid any more. For a
 * plug-in that is going to be unloaded, and may be loaded and register the class again.
 *
 * First end all objects of the class, with kvo_object_destroy or kvo_object_finish, and its subclasses. BUSY says that there still are
 * some; kvo_last_error says how many. An object made by kvo_object_init counts until it is finished. BUSY also says that the module
 * which has the class's name among its constants has left an address of its own with the runtime: the function or the user data of an
 * observation of whatever object, of a binding, of a hook, or of a fault handler; also of one that has ended, as kvo_can_unload says.
 * INVALID_ARGUMENT for NULL, for what is not a registered class, and for a binding's class. The runtime keeps some hundred bytes for
 * reports, which the next class of this name and layout uses. Any thread; but no other thread may be using the class, and no setter,
 * getter or callback of the plug-in may be running. Our decision. */
KVO_API kvo_status kvo_class_unregister(kvo_class *cls);

/** Returns whether the module that contains `address`, of static data or, as void *, of a function, may be unloaded: a host asks before
 * dlclose(3), also for a plug-in without classes.
 *
 * BUSY if the runtime still has an address of the module: that of a registered class, a method, or what kvo_class_unregister looks for.
 * kvo_last_error names one; of an observation it has the source location. BUSY, too, while a change or a call in progress on any thread may
 * still use an observation or a hook of the module that has ended, whose `destroy` is called afterwards, and until that has returned: ask
 * again later, and in a callback when that has returned. KVO_OK otherwise, and for the executable and other modules that cannot be
 * unloaded. Fault handlers are those of the process and of the calling thread. INVALID_ARGUMENT for NULL. Any thread, but no other thread
 * may be in a setter or getter of the module; it takes the loader's lock, and time proportional to the observations of the process. Our
 * decision. */
KVO_API kvo_status kvo_can_unload(const void *address);

/** Returns the class of this name, or NULL; NULL for NULL. A Swift class is found once an instance of it has been observed or passed to
 * C. */
KVO_API kvo_class *KVO_NULLABLE kvo_class_find(const char *name);

/** Returns the name; it exists as long as the class. For a notifying class it is "KVONotifying_<Class>", for NULL "". */
KVO_API const char *kvo_class_name(const kvo_class *cls);

/** Returns the superclass, or NULL; NULL for NULL. The superclass of a notifying class is the class for which it notifies. */
KVO_API kvo_class *KVO_NULLABLE kvo_class_superclass(const kvo_class *cls);

/** Returns the size of an instance in bytes, with its header, for objects in memory of the program: kvo_object_init. 0 for NULL, and for a
 * class of which only its binding makes objects. */
KVO_API size_t kvo_class_instance_size(const kvo_class *cls);

/** Returns the number of properties, with inherited ones; 0 for NULL. */
KVO_API size_t kvo_class_property_count(const kvo_class *cls);

/** Returns property `index`, inherited ones first, in order of registration. NULL past the end, and for NULL. */
KVO_API const kvo_property *KVO_NULLABLE kvo_class_property_at(const kvo_class *cls, size_t index);

/** Returns the property of this key, also if it is inherited; otherwise NULL. NULL for NULL. */
KVO_API const kvo_property *KVO_NULLABLE kvo_class_property(const kvo_class *cls, const char *key);

/** Returns the key of a property; the string exists as long as the class. "" for NULL. */
KVO_API const char *kvo_property_name(const kvo_property *property);

/** Returns the type encoding of a property; the string exists as long as the class. "?" stands for a value that only the language which
 * defined the class can interpret. "" for NULL. */
KVO_API const char *kvo_property_type(const kvo_property *property);

/** Returns the `user` of a property; NULL for NULL. */
KVO_API void *KVO_NULLABLE kvo_property_user(const kvo_property *property);

/** Stores the size and the alignment of a type encoding, in bytes. Both pointers may be NULL. Fails with BAD_TYPE_ENCODING, also for
 * NULL. */
KVO_API kvo_status kvo_type_size(const char *type, size_t *KVO_NULLABLE size, size_t *KVO_NULLABLE alignment);

/* ---------------------------------------------------------------------------------------------------------- Objects -- */

/** Creates an object and stores it in `*out`: zeroed memory of the class's instance size, with its header set.
 *
 * The caller owns the object and destroys it with kvo_object_destroy. Fails with INVALID_ARGUMENT, also for a pointer that is not a class
 * and for a binding's class, or OUT_OF_MEMORY. */
KVO_API kvo_status kvo_object_create(kvo_class *cls, kvo_object *KVO_NULLABLE *KVO_NONNULL out);

/** Makes memory of the program an object of `cls`: sets the header, which must be the memory's first member.
 *
 * The program still owns the memory. It must not move while the object lives, and kvo_object_finish must be called before it is reused or
 * freed. No other thread may use the object yet. Fails with INVALID_ARGUMENT, also for a pointer that is not a class. */
KVO_API kvo_status kvo_object_init(kvo_object *object, kvo_class *cls);

/** Finishes an object made by kvo_object_init: ends all its observations and sets its header to zero.
 *
 * Observations made without KVO_ENDS_WITH_OBJECT that are still registered are fault KVO0001, as on Apple's platforms. An observation of
 * another object that reaches this one through a key path is notified of a change to nil. If another thread is evaluating a key path that
 * starts at this object, the call waits for it. It does not wait for callbacks on other threads; they do not use the object any more. No
 * other thread may start to use the object. That includes key paths that lead through it from another object: while a thread may read one,
 * or set a property that an observed one depends on, the object has to live.
 *
 * NULL, and an object whose header is zero, are ignored. Everything else is as for kvo_object_destroy, except that the fault about a
 * callback before a change does not keep the observations from ending, because the memory is not the runtime's. */
KVO_API void kvo_object_finish(kvo_object *object KVO_SITE) KVO_SITED("kvo_object_finish_at");

/** Destroys an object made by kvo_object_create: does what kvo_object_finish does, calls `finalize` and frees the memory. During `finalize`
 * the object still has its class and its setters can be called; they notify nobody, and a registration is fault KVO0007. NULL is ignored.
 *
 * Memory that is not an object is fault KVO0012 and is left unchanged: its header is neither a class nor that of an observed object at this
 * address. This includes an object that is already being destroyed, a copy of an observed object, an object that kvo_object_finish has
 * finished, and one that was destroyed before, as long as its memory can be read and has not been reused. An object that kvo_object_create
 * has not made is fault KVO0008, and so is one destroyed in a callback before its own change, when the setter is about to store into it;
 * if the process goes on, the object is not destroyed.
 *
 * A setter, or an accessor of a list or set, may destroy the object that it replaces: if observers get it as the old value, `finalize` is
 * called and the memory is freed when they have been notified. */
KVO_API void kvo_object_destroy(kvo_object *KVO_NULLABLE object KVO_SITE) KVO_SITED("kvo_object_destroy_at");

/** Does what kvo_object_destroy does to an object made by kvo_object_init, with `finalize`, but leaves its memory, with a header of zero:
 * for a key path that still leads to it, it is nil. For the collector of a language, which ends several objects in any order: the memory
 * has to stay until the objects that refer to it have ended too, and as long as an observation may get it as the old value.
 *
 * Returns false if another thread evaluates the object and waits for this one: then `finalize` was not called, and the memory has to stay
 * for ever. NULL, and an object whose header is zero, are ignored. Faults and threads are as for kvo_object_finish. */
KVO_API bool kvo_object_end(kvo_object *KVO_NULLABLE object);

/** Returns the class that the object was made with, whether it is observed or not (Apple: -class). NULL for NULL and for a header that is
 * zero. */
KVO_API kvo_class *KVO_NULLABLE kvo_object_class(const kvo_object *object);

/** Returns KVONotifying_<Class> while a setter of the object notifies, otherwise the class (Apple: object_getClass). If only keys with
 * KVO_PROPERTY_MANUAL are observed, the object keeps its class. NULL for NULL. */
KVO_API kvo_class *KVO_NULLABLE kvo_object_isa(const kvo_object *object);

/** Returns whether the object has at least one observation, including those on behalf of key paths (Apple: observationInfo). False for
 * NULL. */
KVO_API bool kvo_object_is_observed(const kvo_object *object);

/** Returns the function to call now to set this key: the program's setter, or, while the object is observed, a trampoline with the same
 * signature. NULL if there is no setter, and for NULL. Look it up for each call, as objc_msgSend does: one kept from before the first
 * observation does not notify. Cast it to `void (*)(kvo_object *, T)`, or to what the property's `setter_type` says.
 *
 * A property with KVO_PROPERTY_WITH_USER, or without a setter at an offset, always has a trampoline: NULL if there is no executable memory
 * for it. kvo_object_store needs none. */
KVO_API kvo_function KVO_NULLABLE kvo_object_setter(const kvo_object *object, const char *key);

/** The same for a property that was looked up before; takes a few nanoseconds. NULL for a property of another class, and for NULL. */
KVO_API kvo_function KVO_NULLABLE kvo_object_property_setter(const kvo_object *object, const kvo_property *property);

/** Returns the getter of this key, or NULL; NULL for NULL. Cast it to `T (*)(const kvo_object *)`. A trampoline, where kvo_object_setter
 * says that the property always has one; kvo_object_load needs none. */
KVO_API kvo_function KVO_NULLABLE kvo_object_getter(const kvo_object *object, const char *key);

/** Sets a property that was looked up before: calls the setter, or stores at the offset, and notifies the observers. `value` points to a
 * value of the property's C type and is only used during the call. The fastest way to set, also for a binding that knows the type only at
 * run time: no trampoline is called.
 *
 * Fails with REFUSED, READ_ONLY, OUT_OF_MEMORY, TYPE_MISMATCH for a property of another class, and INVALID_ARGUMENT for NULL and for a
 * property of a binding's class. */
KVO_API kvo_status kvo_object_store(kvo_object *object, const kvo_property *property, const void *value);

/** Reads a property that was looked up before: calls the getter, or loads from the offset, and stores the value, of the property's C type,
 * in `*value`. A string is the program's own; with KVO_PROPERTY_COPIED the caller frees it. Fails with NO_GETTER, TYPE_MISMATCH for a
 * property of another class, and INVALID_ARGUMENT for NULL and for a property of a binding's class. */
KVO_API kvo_status kvo_object_load(const kvo_object *object, const kvo_property *property, void *value);

/** Returns the result of the setter that last refused a value on this thread, for the call that returned KVO_ERROR_REFUSED: an int that is
 * not 0, or 0 for false. */
KVO_API int kvo_last_refusal(void);

/** The form of a value; together with the size it determines how the value is passed in a call. */
typedef enum kvo_form {
  /** Unknown; not compared. */
  KVO_FORM_ANY = 0,
  /** Also bool, characters and enumerations. */
  KVO_FORM_INTEGER = 1,
  KVO_FORM_REAL = 2,
  KVO_FORM_POINTER = 3,
  KVO_FORM_STRUCTURE = 4,
} kvo_form;

/** kvo_object_setter for callers that call the result at once, with a value of this form and size, from this source location.
 *
 * A key without a setter is fault KVO0009. A setter for values of another form or size is fault KVO0026, because it would receive another
 * value than was passed. NULL for object or key is fault KVO0008. If the process goes on, the returned function does nothing, whatever its
 * arguments. Never returns NULL. A `size` of 0 and a `file` of NULL mean unknown; `file` is copied as in kvo_site.h. */
KVO_API kvo_function kvo_object_setter_to_call(const kvo_object *KVO_NULLABLE object, const char *KVO_NULLABLE key,
                                               kvo_form form, size_t size, const char *KVO_NULLABLE file,
                                               uint32_t line);

#if defined(__cplusplus)
} /* extern "C" */
template <typename T> struct kvo_form_of {
  static constexpr kvo_form form = std::is_integral<T>::value || std::is_enum<T>::value ? KVO_FORM_INTEGER
                                   : std::is_floating_point<T>::value                   ? KVO_FORM_REAL
                                   : std::is_pointer<T>::value                          ? KVO_FORM_POINTER
                                   : std::is_class<T>::value || std::is_union<T>::value ? KVO_FORM_STRUCTURE
                                                                                        : KVO_FORM_ANY;
};
#define KVO_FORM_OF(T) (kvo_form_of<__typeof__(T)>::form)
extern "C" {
#elif defined(__GNUC__)
/** The form of the values of a type. */
#define KVO_FORM_OF(T) kvo_form_of_class(__builtin_classify_type(*(volatile __typeof__(T) *)0))
#else
/** The form of the values of a type. */
#define KVO_FORM_OF(T) KVO_FORM_ANY
#endif
/** Returns the form of a result of __builtin_classify_type. It is a constant, so this costs nothing at run time. */
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

/** Returns whether the object is observed: one load. Used by KVO_SET. */
static inline int kvo_word_is_observed(const kvo_object *object) {
  return (__atomic_load_n(&object->kvo_private_word, __ATOMIC_ACQUIRE) & 1) != 0;
}

/** Call it after a setter that stored while the object was not observed: if another thread has registered a key path through the object
 * meanwhile, that observation follows the new value. KVO_SET does it. Needed after direct calls of a setter only if other threads observe
 * key paths that may lead to the object. NULL is ignored. */
KVO_API void kvo_object_stored(kvo_object *object, const char *key);

/** Sets the property of this key, like kvo_object_store, for callers that pass a value of this form, type code and size from this source
 * location: KVO_SET does.
 *
 * `code` is the first character of the type encoding, KVO_CODE_OTHER for a type that has none of its own, or 0 for unknown. A key without a
 * setter is fault KVO0009. A value that is not of the property's type is fault KVO0026: one of another form or size; anything but a bool
 * for a bool, a string for a string; a string for an object, and the reverse. NULL for object, key or value is KVO0008. If the process goes
 * on, nothing is set. Fails with UNDEFINED_KEY, READ_ONLY, TYPE_MISMATCH, REFUSED, OUT_OF_MEMORY or INVALID_ARGUMENT. A `size` of 0 and a
 * `file` of NULL mean unknown; `file` is copied as in kvo_site.h. */
KVO_API kvo_status kvo_object_store_key(kvo_object *KVO_NULLABLE object, const char *KVO_NULLABLE key, kvo_form form,
                                        char code, size_t size, const void *KVO_NULLABLE value,
                                        const char *KVO_NULLABLE file, uint32_t line);

/** The code of a type that is known, but has none of its own: a structure, a pointer to a structure. */
#define KVO_CODE_OTHER '\1'
#if defined(__cplusplus)
} /* extern "C" */
template <typename T> struct kvo_code_of { static constexpr char code = KVO_CODE_OTHER; };
#define KVO_CODE(T, value)                                                                                             \
  template <> struct kvo_code_of<T> { static constexpr char code = value; };
KVO_CODE(bool, 'B')
KVO_CODE(char *, '*')
KVO_CODE(const char *, '*')
KVO_CODE(void *, '^')
KVO_CODE(const void *, '^')
KVO_CODE(kvo_object *, '@')
KVO_CODE(const kvo_object *, '@')
#undef KVO_CODE
template <typename T> struct kvo_code_of<const T> : kvo_code_of<T> {};
#define KVO_CODE_OF(T) (kvo_code_of<T>::code)
template <typename T, typename Given> struct kvo_loses {
  typedef typename std::decay<Given>::type From;
  static constexpr bool to_whole = std::is_integral<T>::value || std::is_enum<T>::value;
  static constexpr bool to_number = to_whole || std::is_floating_point<T>::value;
  static constexpr bool is_lossy =
      (to_whole && std::is_floating_point<From>::value) || (to_number && std::is_pointer<From>::value);
};
/* The object at an address, which KVO_SET takes as a pointer to whatever begins with a kvo_object. */
inline kvo_object *KVO_NULLABLE kvo_object_at(kvo_object *KVO_NULLABLE object) { return object; }
template <typename T>
typename std::enable_if<!std::is_convertible<T *, kvo_object *>::value, kvo_object *>::type
kvo_object_at(T *KVO_NULLABLE object) {
  return reinterpret_cast<kvo_object *>(const_cast<typename std::remove_cv<T>::type *>(object));
}
template <typename T> struct kvo_set_as {
  static kvo_status store(kvo_object *object, const char *key, const char *file, uint32_t line, T value) {
    return kvo_object_store_key(object, key, KVO_FORM_OF(T), KVO_CODE_OF(T), sizeof value, &value, file, line);
  }
  template <typename Given, typename std::enable_if<kvo_loses<T, Given>::is_lossy, int>::type = 0>
  static kvo_status store(kvo_object *, const char *, const char *, uint32_t, const Given &) {
    static_assert(!kvo_loses<T, Given>::is_lossy, "KVO_SET: the value is not of the type, and would be lost");
    return KVO_ERROR_TYPE_MISMATCH;
  }
};
#define KVO_SET(object, key, T, ...)                                                                                   \
  (kvo_set_as<__typeof__(T)>::store(kvo_object_at(object), (key), __FILE__, __LINE__, __VA_ARGS__))
extern "C" {
#else
/** The code of a type in which values of the same form and size can differ. */
#define KVO_CODE_OF(T)                                                                                                 \
  _Generic(*(__typeof__(T) *)0,                                                                                        \
      _Bool: 'B',                                                                                                      \
      char *: '*',                                                                                                     \
      const char *: '*',                                                                                               \
      void *: '^',                                                                                                     \
      const void *: '^',                                                                                               \
      kvo_object *: '@',                                                                                               \
      const kvo_object *: '@',                                                                                         \
      default: KVO_CODE_OTHER)
/** Whether C would convert a value to T and lose what it is: a floating-point number to an integer, a pointer to a number. The classes are
 * those of __builtin_classify_type: 1 to 4 integers, 5 pointers, 8 floating-point numbers. */
#define KVO_LOSES(T, value)                                                                                            \
  ((KVO_CLASS_OF(T) <= 4 && __builtin_classify_type(value) == 8) ||                                                    \
   ((KVO_CLASS_OF(T) <= 4 || KVO_CLASS_OF(T) == 8) && __builtin_classify_type(value) == 5))
/** The class of a type, as __builtin_classify_type says it. */
#define KVO_CLASS_OF(T) __builtin_classify_type(*(__typeof__(T) *)0)
/** Sets a property of type T; returns what kvo_object_store_key returns. T has to be the property's type, up to the sign of an integer and
 * what a pointer points to: another one is fault KVO0026. A value that is not a T is converted as C does; a floating-point number for an
 * integer, such as 3.5 for an int, and a pointer for a number do not compile. Structures are compared by their sizes only. The value is
 * what follows T, and may contain commas: `KVO_SET(circle, "center", Point, (Point){1, 2})`; in C++ `Point{1, 2}`. It is evaluated once. */
#define KVO_SET(object, key, T, ...)                                                                                   \
  __extension__({                                                                                                      \
    _Static_assert(!KVO_LOSES(T, (__VA_ARGS__)), "KVO_SET: the value is not of the type " #T ", and would be lost");   \
    kvo_object_store_key((kvo_object *)(object), (key), KVO_FORM_OF(T), KVO_CODE_OF(T), sizeof(T),                     \
                         (__typeof__(T)[1]){(__VA_ARGS__)}, __FILE__, __LINE__);                                       \
  })
#endif

KVO_ASSUME_NONNULL_END

#ifdef __cplusplus
}
#endif

#endif /* KVO_CLASS_H */

/* kvo_raw.h - for languages that have storage and types of their own: classes, changes and observers whose values pass as pointers to
 * that storage, unconverted.
 *
 * A language registers classes whose properties have a table of functions (kvo_value_ops), and makes its changes within a kvo_frame. An
 * observer registered here receives the language's own values; one registered through kvo.h receives a kvo_value that `view` makes. Key
 * paths, bindings and key-value coding work for both. kvo.hpp, the library for GLib, and the modules for Python and Lua are written with
 * kvo.h and this header; C programs need none of it. It is part of the binary interface, Documentation/ABI.md. All of it is our decision;
 * the general rules of kvo.h apply.
 */
#ifndef KVO_RAW_H
#define KVO_RAW_H

#include <kvo/kvo.h>

#ifdef __cplusplus
extern "C" {
#endif

KVO_ASSUME_NONNULL_BEGIN

/* -------------------------------------------------------------------------------------------------------------- Keys -- */

/** Identifies a key within a class: the 64-bit FNV-1a hash of its name, or 1 if that is 0 or UINT64_MAX. A class with two names of the same
 * hash cannot be registered, so within an object a hash stands for one declared key. */
typedef uint64_t kvo_key;

/** Returns the hash of a key of `length` bytes; for NULL the hash of "". */
KVO_API kvo_key kvo_key_hash(const char *name, size_t length);

/* ----------------------------------------------------------------------------------------------------------- Classes -- */

/** Selects elements of an ordered collection for an operation on a value; NULL selects the whole value. */
typedef struct kvo_selection {
  /** The indexes of the elements, ascending. */
  const size_t *indexes;
  /** The number of indexes. */
  size_t count;
} kvo_selection;

/** Operations on values of a property that only the language can interpret. `instance` is its object, `user` the property's
 * pointer. They may be called on any thread; no lock is held. */
typedef struct kvo_value_ops {
  /** Reads the present value through the getter into new storage; NULL if it cannot be read. */
  void *KVO_NULLABLE (*KVO_NONNULL copy)(void *instance, void *KVO_NULLABLE user,
                                         const kvo_selection *KVO_NULLABLE selection);
  /** Frees what `copy` returned. */
  void (*release)(void *value, void *KVO_NULLABLE user);
  /** Passes a C view of a value to `reader`, before returning. */
  void (*view)(const void *value, void *KVO_NULLABLE user, kvo_value_reader reader, void *KVO_NULLABLE arg);
  /** Sets the property through its setter. */
  kvo_status (*assign)(void *instance, void *KVO_NULLABLE user, const kvo_value *value);
  /** Returns whether two values are the same, for KVO_SCOPE_COALESCES_IF_CHANGED. NULL if they cannot be compared: all are delivered. */
  bool (*KVO_NULLABLE same)(const void *one, const void *other, void *KVO_NULLABLE user);
} kvo_value_ops;

enum {
  /** No setter notifies; it is observed through what its evaluation reads. Or it into the flags. */
  KVO_PROPERTY_COMPUTED = 1u << 1,
  /** For a computed property: the class declares what changes it, through `affected_by` or by announcing changes; what its evaluation reads
   * does not count. Or it into the flags. */
  KVO_PROPERTY_DECLARED = 1u << 2,
  /** The value cannot be copied, for example because it owns what it refers to: `copy` returns the address of the value itself, or NULL if
   * elements are selected, and `release` is not called. Key paths lead through it, and records have the present value as the new one. The
   * old value is what is passed to the frame: no pause, no scope and no kvo_will_change keeps one. */
  KVO_PROPERTY_IN_PLACE = 1u << 8,
};

/** Describes a property of a class. Strings are copied. */
typedef struct kvo_raw_property {
  /** The key. */
  const char *name;
  /** The type encoding of what `view` passes, or "?". */
  const char *type;
  /** The operations on its values. Must stay valid for ever. */
  const kvo_value_ops *ops;
  /** Passed to the ops. Must stay valid for ever, as classes do. */
  void *KVO_NULLABLE user;
  /** NULL, or key paths that affect this value, terminated by NULL. */
  const char *KVO_NULLABLE const *KVO_NULLABLE affected_by;
  /** KVO_PROPERTY_… bits. */
  uint32_t flags;
} kvo_raw_property;

/** Describes a class. Set unused members to zero. */
typedef struct kvo_raw_class {
  /** sizeof(kvo_raw_class), so that later versions can add members. */
  size_t struct_size;
  /** The name. If it is registered already, a number is appended, because two modules may have private classes of the same name. */
  const char *name;
  /** NULL, or a registered class whose properties this one inherits. One that this class also has is replaced for this class. */
  kvo_class *KVO_NULLABLE superclass;
  /** The number of bytes from an instance to its kvo_object. */
  size_t header_offset;
  /** The properties that this class adds; NULL if the count is 0. */
  const kvo_raw_property *KVO_NULLABLE properties;
  size_t property_count;
  /** sizeof(kvo_raw_property), so that later versions can add members to it. */
  size_t property_size;
} kvo_raw_class;

/** Registers a class and stores it in `*out`. `described` is copied. Fails as kvo_class_register does; INVALID_ARGUMENT also for a property
 * without all of its ops. Any thread. */
KVO_API kvo_status kvo_raw_class_register(const kvo_raw_class *described, kvo_class *KVO_NULLABLE *KVO_NONNULL out);

/** Says that objects of a language's class, and of subclasses that are registered later, are counted: who refers to one keeps it. The death
 * of one is then no change of a path that leads through it, because the reference has been replaced, or is just being replaced; and the
 * runtime retains objects while observers are notified after the setter has returned, as at the end of a scope: an observer may drop the
 * last reference. Call it before the class has objects. `retain` returns NULL, and the object is not released, if its destruction has
 * begun. Both are called on any thread, without a lock. Fails with INVALID_ARGUMENT if an argument is NULL or kvo_raw_class_register has
 * not registered the class. */
KVO_API kvo_status kvo_binding_class_keep(kvo_class *cls, void *KVO_NULLABLE (*KVO_NONNULL retain)(void *instance),
                                          void (*release)(void *instance));

/** Returns the language's object that has this header: the header's address minus the class's offset. NULL for NULL. */
KVO_API void *kvo_object_instance(const kvo_object *object);

/** Sets the class of a header that is still zero; ignores another header, and NULL. Several threads may do so at the same time. */
KVO_API void kvo_object_adopt(kvo_object *object, kvo_class *cls);

/* ----------------------------------------------------------------------------------------------------------- Changes -- */

/** What the observers of a frame's key need, as bits. */
enum {
  KVO_FRAME_OBSERVED = 1u << 0,
  /** Read the old value before the store. */
  KVO_FRAME_WANTS_OLD = 1u << 1,
  /** Pass the new value to kvo_frame_finish_with. */
  KVO_FRAME_WANTS_NEW = 1u << 2,
  /** Call kvo_frame_will before the store. */
  KVO_FRAME_WANTS_WILL = 1u << 3,
};

/** A change in progress, for use on the thread that makes it. The members belong to the runtime and need no initialisation. Between calls
 * the frame may be moved bytewise, and be kept anywhere. */
typedef struct kvo_frame {
  /** The runtime's. */
  uint64_t kvo_private[20];
} kvo_frame;

/** Begins a change of (object, key) by a setter. Returns 0 if there is nobody to notify: then store, and do not end the frame. Otherwise it
 * returns the bits above. Then read the old value if needed, call kvo_frame_will if needed, store, and call kvo_frame_finish_with, or
 * kvo_frame_end if the store has failed. The object must live until the frame ends. Returns 0 for NULL. The functions below ignore NULL for
 * the frame; they cannot detect a frame that was never begun. */
KVO_API uint32_t kvo_frame_begin(kvo_frame *frame, kvo_object *object, kvo_key key);

/** kvo_frame_begin for a frame that the caller begins and ends in one function, in whose stack frame it is and stays: each call that the
 * function makes meanwhile has returned before the end. It is faster, because it needs no atomic exchange. Returns 0 for NULL. */
KVO_API uint32_t kvo_frame_enter(kvo_frame *frame, kvo_object *object, kvo_key key);

/** Makes a whole change by a setter, of a property whose value is trivial and has 8 bytes: stores `value` and notifies the observers, if
 * there are any. `storage` is the property's own; the new value is read from it once for each observer that asks for it. NULL for the
 * object only stores; NULL for the storage does nothing. */
KVO_API void kvo_change_word(kvo_object *object, kvo_key key, uint64_t *storage, uint64_t value);

/** kvo_frame_begin for a change of elements of a collection. For code that acts as the setter: the change of a key with
 * KVO_PROPERTY_MANUAL notifies nobody. `kind` is an insertion, removal or replacement. `indexes`, ascending, must stay valid until the
 * frame ends; NULL for a collection without indexes. The old and new values, of the property's type, then contain only the elements
 * concerned. Expressions that read the key are evaluated, and notified of a setting. Returns 0 if frame or object is NULL, and for an
 * unknown kind. */
KVO_API uint32_t kvo_frame_begin_change(kvo_frame *frame, kvo_object *object, kvo_key key, kvo_change_kind kind,
                                        const size_t *KVO_NULLABLE indexes, size_t count);

/** Call it after a store by a setter that began no frame, or whose kvo_frame_begin returned 0, because nobody observed the object then. If
 * it is observed now, an expression may have begun to depend on it meanwhile, and have read the old value: expressions that read the key
 * are evaluated again, and those registered before they began to read it are notified. No change is lost if the store comes before the test
 * whether the object is observed: that is, if both are done under a lock that also guards the reads, or the store is a sequentially
 * consistent atomic. NULL is ignored. */
KVO_API void kvo_binding_stored(kvo_object *object, kvo_key key);

/** Notifies observers that want the change before it is made, oldest first. */
KVO_API void kvo_frame_will(kvo_frame *frame, const void *KVO_NULLABLE old_value);

/** Notifies all observations that remain, newest first, and ends the frame. `new_value` points to the property's own storage, from which
 * the new value is read for each observer. Ignores NULL for the frame. */
KVO_API void kvo_frame_finish_with(kvo_frame *frame, const void *KVO_NULLABLE old_value,
                                   const void *KVO_NULLABLE new_value);

/** Ends the frame. Call it once for a frame whose begin did not return 0, unless kvo_frame_finish_with was called. */
KVO_API void kvo_frame_end(kvo_frame *frame);

/* ------------------------------------------------------------------------------------------------------------- Reads -- */

/** The number of evaluations in progress on all threads. Read it with kvo_is_tracking. */
extern KVO_API uint32_t kvo_tracking_count;

/** Returns whether a getter should call kvo_track_read: one load. */
static inline bool kvo_is_tracking(void) { return __atomic_load_n(&kvo_tracking_count, __ATOMIC_RELAXED) != 0; }

/** Says that a getter is called: if this thread records, the observation that records subscribes to (object, key). Call it before reading
 * the value; the object must have its class. NULL is ignored, here and below. */
KVO_API void kvo_track_read(kvo_object *object, kvo_key key);

/** Returns whether this thread is recording. */
KVO_API bool kvo_track_is_recording(void);

/* ------------------------------------------------------------------------------------------------------ Observations -- */

/** A change, as an observer registered here receives it. Valid until the callback returns. */
typedef struct kvo_raw_change {
  /** The object passed at the registration. */
  kvo_object *object;
  /** The language's object that has the header `object`. */
  void *instance;
  /** The object that has `property`. For an observation of an expression this is not `object` but the object at the end of the path; NULL
   * without a property. */
  const kvo_object *KVO_NULLABLE changed;
  /** The property of which `old_value` and `new_value` are values; NULL if they are what the observation's `evaluate` returned. For an
   * expression it is the key that kvo_track_value_is_of named. */
  const kvo_property *KVO_NULLABLE property;
  /** NULL if not asked for or unknown. */
  const void *KVO_NULLABLE old_value;
  /** The same for the value after the change. */
  const void *KVO_NULLABLE new_value;
  /** For a change of elements their indexes, ascending; otherwise NULL. */
  const size_t *KVO_NULLABLE indexes;
  size_t index_count;
  /** What kind of change it is. */
  kvo_change_kind kind;
  /** True in the call before the change. */
  bool is_prior;
  /** The id of the observation. */
  kvo_observation observation;
} kvo_raw_change;

/** Called for a change, as kvo_callback is. */
typedef void (*kvo_raw_callback)(const kvo_raw_change *change, void *user_data);

/** The identity of an observer, for reports and removal. */
typedef struct kvo_observer_identity {
  /** The class name, or NULL. Copied. */
  const char *KVO_NULLABLE class_name;
  /** The address; never dereferenced. */
  const void *KVO_NULLABLE address;
} kvo_observer_identity;

/** The functions of an observation. Must stay valid for ever. */
typedef struct kvo_observer_ops {
  /** What is called for a change. */
  kvo_raw_callback callback;
  /** NULL, or called once with user_data, as `destroy` of kvo_observer, after a successful registration. */
  void (*KVO_NULLABLE destroy)(void *KVO_NULLABLE user_data);
  /** NULL, or called once with user_data after a failed registration, when the runtime no longer uses user_data: before the registering
   * function returns, or, if another thread is evaluating just then, later on that thread. */
  void (*KVO_NULLABLE abandon)(void *KVO_NULLABLE user_data);
  /** For expressions, otherwise NULL: computes the value through accessors that call kvo_track_read, and returns it in new storage; NULL if
   * it cannot (any more). */
  void *KVO_NULLABLE (*KVO_NULLABLE evaluate)(void *user_data);
  /** Frees what `evaluate` returned. */
  void (*KVO_NULLABLE release)(void *value, void *user_data);
  /** For expressions: returns whether two values that `evaluate` returned are the same, as `same` of kvo_value_ops. NULL if they cannot be
   * compared. */
  bool (*KVO_NULLABLE same)(const void *one, const void *other, void *user_data);
  /** For expressions: returns whether this thread may call `evaluate`. NULL if every thread may. The thread that registers the observation
   * is not asked. The answer has to hold until the call of the runtime that asked has returned. */
  bool (*KVO_NULLABLE is_here)(void *user_data);
  /** NULL without `is_here`, but see kvo_binding_observe_death. Called for a change that was made on a thread which may not evaluate.
   * Arranges for kvo_settle to be called on one that may, now or later. It is not called again until then, except after a pause. */
  void (*KVO_NULLABLE ask)(kvo_observation observation, void *user_data);
  /** For expressions that end at a property (kvo_track_value_is_of): makes of a value of that property what `evaluate` would return.
   * NULL is returned if there is no memory. Without this function, an expression whose last value is kept is evaluated at each change of
   * that property. */
  void *KVO_NULLABLE (*KVO_NULLABLE of_property)(const kvo_property *property, const void *value, void *user_data);
} kvo_observer_ops;

/** Describes an observation. Set unused members to zero. */
typedef struct kvo_raw_observer {
  /** sizeof(kvo_raw_observer), so that later versions can add members. */
  size_t struct_size;
  /** For reports, and for removal by key path. Copied. */
  const char *key_path;
  /** What records carry, and when the callback is called. */
  kvo_options options;
  /** The functions of the observation. */
  const kvo_observer_ops *ops;
  /** Passed to the functions. */
  void *KVO_NULLABLE user_data;
  /** Any pointer. A removal with a context compares it. */
  void *KVO_NULLABLE context;
  /** Who observes, for reports and removal. */
  kvo_observer_identity identity;
  /** The source location. Copied or kept as `file` of kvo_observer is. */
  const char *KVO_NULLABLE file;
  uint32_t line;
  /** What reports and the graph say about the observation in addition, such as the queue that delivers; or NULL. Copied. */
  const char *KVO_NULLABLE note;
  /** The observer is a receiver: kvo_binding_remove does not find the observation, only kvo_binding_end_all does. */
  bool is_receiver;
  /** The callback sets a property to the value that it gets. Such observations are settled before any observer is notified of the change:
   * each after those that set what it reads, and once more if that is set again. Meanwhile what they set is stored. Its observers are
   * notified afterwards, once, with the values before and now. */
  bool is_binding;
  /** The object whose property it sets; NULL if it is none of the runtime's. The address is only compared. */
  kvo_object *KVO_NULLABLE target;
  /** The key that it sets, or 0. */
  kvo_key target_key;
  /** The expression is a function of the program, no key path. The death of an object that it has read does not evaluate it, because the
   * program may just be changing what led to the object, such as a container: it only follows the object no more. Who wants to be notified
   * of the death passes 0 to kvo_track_read as the key. */
  bool is_opaque;
} kvo_raw_observer;

/** Observes one stored key and stores the id in `*out`: `old_value` and `new_value` are what the frame delivers. NULL where it is not
 * allowed, also in members of the observer and of its ops, unknown options, and a size that is none of a kvo_raw_observer, are fault
 * KVO0008; for the latter `abandon` is not called. Fails as kvo_add_observer does. */
KVO_API kvo_status kvo_raw_observe(kvo_object *object, kvo_key key, const kvo_raw_observer *observer,
                                   kvo_observation *out);

/** Observes whatever the observer's `evaluate` reads: a key path, a computed property or any expression. Stores the id in `*out`.
 *
 * The expression is evaluated at registration and after each change of what it read, except a change of the property at which it ends
 * (kvo_track_value_is_of): possibly on several threads at the same time, and within itself if it changes what it has read. With `is_here`
 * it is evaluated at registration, and later only where that is true. `keep_last` keeps the value that was delivered last, if the old value
 * is wanted. Otherwise the old value is evaluated before a change. Fails as kvo_raw_observe does. */
KVO_API kvo_status kvo_raw_observe_expression(kvo_object *object, const kvo_raw_observer *observer, bool keep_last,
                                              kvo_observation *out);

/** Answers `ask`, where the expression may be evaluated: evaluates it, subscribes to what it reads, and notifies the observer once. The old
 * value is the one delivered last, which needs `keep_last`; the new one is the present one. A prior notification is sent just before.
 * Nothing happens if nothing was asked for, if a later change has been delivered meanwhile, or if the observation has ended. If it is
 * paused, the observer is notified after the pause. */
KVO_API void kvo_settle(kvo_observation observation);

/** Has `ops->destroy` called once with `user_data` when the object dies: after its last observation has ended, with no lock held; or when
 * kvo_cancel_observer takes the id in `*out` back. This is no observation: it makes no setter notify, and no report and no graph shows it.
 * If the object dies while it is used, in its own callback or on another thread, the call comes when that use has ended, and the object's
 * memory may be freed by then: kvo_observation_is_registered of the id is false from the death on.
 *
 * `ops->ask`, unless it is NULL, is called when the death begins, on the thread that destroys, with no lock held: the object still takes
 * observers, and lives until this has returned. So it may wait for other threads that use the object, but not end it: that is KVO0012.
 * `ops` must stay valid for ever; its other members are not used. On failure nothing is called: OUT_OF_MEMORY, DYING_OBJECT, and
 * INVALID_ARGUMENT, which for NULL is also KVO0008. Any thread. */
KVO_API kvo_status kvo_binding_observe_death(kvo_object *object, const kvo_observer_ops *ops,
                                             void *KVO_NULLABLE user_data, kvo_observation *out);

/** Returns whether an observation is (still) registered. For a binding that makes several calls of the program's code from one delivery:
 * after it returns false it must not begin another. Any thread. */
KVO_API bool kvo_observation_is_registered(kvo_observation observation);

KVO_ASSUME_NONNULL_END

#ifdef __cplusplus
}
#endif

#endif /* KVO_RAW_H */

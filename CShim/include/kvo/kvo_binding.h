/* kvo_binding.h - functions beyond kvo.h for language bindings, which bring classes of their own into the runtime.
 *
 * A binding owns storage and types that C cannot interpret. It registers classes whose properties have a table of functions
 * (kvo_value_ops), makes its changes within a kvo_frame, and passes values as pointers to its own storage. An observer registered through
 * a binding receives these pointers unconverted; an observer registered through kvo.h receives a kvo_value that the property's `view`
 * makes. The Swift layer is a binding. C programs need none of this. All of it is our decision; the general rules of kvo.h apply.
 */
#ifndef KVO_BINDING_H
#define KVO_BINDING_H

#include <kvo/kvo.h>

#ifdef __cplusplus
extern "C" {
#endif

KVO_ASSUME_NONNULL_BEGIN

/* -------------------------------------------------------------------------------------------------------------- Keys -- */

/** Identifies a key within a class: the 64-bit FNV-1a hash of its name, or 1 if that is 0. A class with two names of the same hash cannot
 * be registered, so within an object a hash stands for one declared key. */
typedef uint64_t kvo_key;

/** Pass it to kvo_track_read to subscribe to the object's death only. No name has this hash. */
#define KVO_KEY_LIFETIME ((kvo_key)0)

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

/** Operations on values of a property that only the binding can interpret. `instance` is the binding's object, `user` the property's
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
  /** Returns whether two values are the same, for KVO_SCOPE_COALESCES_IF_CHANGED. NULL if they cannot be compared: all are told. */
  bool (*KVO_NULLABLE same)(const void *one, const void *other, void *KVO_NULLABLE user);
} kvo_value_ops;

/** Why an observation is never notified. */
typedef enum kvo_silence {
  /** Its evaluation reads no observable property. */
  KVO_SILENCE_NOTHING_READ = 0,
  /** No setter notifies; changes may be announced by hand. */
  KVO_SILENCE_BY_HAND = 1,
  /** The class has no such key; changes may be announced by hand. */
  KVO_SILENCE_UNDEFINED = 2,
  /** The property is a constant. */
  KVO_SILENCE_CONSTANT = 3,
  /** The property is `@NotObserved`; changes may be announced by hand. */
  KVO_SILENCE_NOT_OBSERVED = 4,
  /** The observed object has an entry whose key is the whole key path, dots included; the path leads elsewhere. */
  KVO_SILENCE_DOTTED_KEY = 5,
} kvo_silence;

/** Reports KVO0011 for a registration that nothing will notify: a warning if changes may be announced by hand or the key is undefined,
 * otherwise an error. `affected` is NULL, or the observed key if `key_path` is declared to affect it. No lock may be held. */
KVO_API void kvo_binding_never_notifies(kvo_object *object, const char *key_path, const char *KVO_NULLABLE affected,
                                        kvo_silence silence, const char *KVO_NULLABLE file, uint32_t line);

enum {
  /** No setter notifies; it is observed through what its evaluation reads. Or it into the flags. */
  KVO_PROPERTY_COMPUTED = 1u << 1,
  /** For a computed property: the class declares what changes it, through `affected_by` or by announcing changes; what its evaluation reads
   * does not count. Or it into the flags. */
  KVO_PROPERTY_DECLARED = 1u << 2,
  /** For a computed property: accessors or the program also announce its changes, so its evaluation need not read anything observable. */
  KVO_PROPERTY_TOLD = 1u << 3,
  /** The class may also have keys that are no properties: an announced key that resembles this one is not reported as misspelt. */
  KVO_PROPERTY_AMONG_OTHERS = 1u << 7,
  /** The value cannot be copied, for example because it owns what it refers to: `copy` returns the address of the value itself, or NULL if
   * elements are selected, and `release` is not called. Key paths lead through it, and records have the present value as the new one. The
   * old value is what the binding passes to the frame: no pause, no scope and no kvo_will_change keeps one. */
  KVO_PROPERTY_IN_PLACE = 1u << 8,
};

/** Describes a property of a binding's class. Strings are copied. */
typedef struct kvo_binding_property {
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
} kvo_binding_property;

/** Registers a binding's class and stores it in `*out`. `header_offset` is the number of bytes from an instance to its kvo_object. If the
 * name is registered already, a number is appended, because two modules may have private classes of the same name. A property that the
 * superclass also has is replaced for this class. Fails as kvo_class_register does; INVALID_ARGUMENT also for a property without all of its
 * ops. */
KVO_API kvo_status kvo_binding_class_register(const char *name, kvo_class *KVO_NULLABLE superclass,
                                              size_t header_offset, const kvo_binding_property *KVO_NULLABLE properties,
                                              size_t count, kvo_class *KVO_NULLABLE *KVO_NONNULL out);

/** Has the runtime retain objects of a binding's class, and of subclasses that are registered later, while observers are notified after the
 * setter has returned, as at the end of a scope: an observer may drop the last reference. Call it before the class has objects. `retain`
 * returns NULL, and the object is not released, if its destruction has begun. Both are called on any thread, without a lock. Fails with
 * INVALID_ARGUMENT if an argument is NULL or a binding has not registered the class. */
KVO_API kvo_status kvo_binding_class_keep(kvo_class *cls, void *KVO_NULLABLE (*KVO_NONNULL retain)(void *instance),
                                          void (*release)(void *instance));

/** Returns whether a binding registered the class, not kvo_class_register. False for NULL. */
KVO_API bool kvo_class_is_of_binding(const kvo_class *cls);

/** Returns the binding's object that has this header: the header's address minus the class's offset. NULL for NULL. */
KVO_API void *kvo_object_instance(const kvo_object *object);

/** Sets the class of a header that is still zero; ignores another header, and NULL. Several threads may do so at the same time. */
KVO_API void kvo_object_adopt(kvo_object *object, kvo_class *cls);

/** Passes a C view of a value of this property to `reader`, before returning. Does nothing if property, value or reader is NULL. */
KVO_API void kvo_property_view(const kvo_property *property, const void *value, kvo_value_reader reader,
                               void *KVO_NULLABLE arg);

/* ----------------------------------------------------------------------------------------------------------- Changes -- */

/** A change, as an observer registered through a binding receives it. Valid until the callback returns. */
typedef struct kvo_raw_change {
  /** The object passed at the registration. */
  kvo_object *object;
  /** The binding's object that has the header `object`. */
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

/** What the observers of a frame's key need, as bits. */
enum {
  KVO_FRAME_OBSERVED = 1u << 0,
  /** Read the old value before the store. */
  KVO_FRAME_WANTS_OLD = 1u << 1,
  /** Pass the new value to kvo_frame_deliver. */
  KVO_FRAME_WANTS_NEW = 1u << 2,
  /** Call kvo_frame_will before the store. */
  KVO_FRAME_WANTS_WILL = 1u << 3,
};

/** A change in progress, for use on the thread that makes it. The members belong to the runtime and need no initialisation. Between calls
 * the binding may move the frame bytewise, and it may keep it anywhere. */
typedef struct kvo_frame {
  /** The runtime's. */
  uint64_t kvo_private[20];
} kvo_frame;

/** Begins a change of (object, key) by a setter. Returns 0 if there is nobody to notify: then store, and do not end the frame. Otherwise it
 * returns the bits above. Then read the old value if needed, call kvo_frame_will if needed, store, and either run `while
 * (kvo_frame_next(f)) kvo_frame_deliver(f, old, new)` and kvo_frame_end, or, if nobody needs the new value, call kvo_frame_finish.
 *
 * Do the loop and the end in one function, so that changes made in callbacks end before this one. The object must live until the frame
 * ends. Returns 0 for NULL. The functions below ignore NULL for the frame; they cannot detect a frame that was never begun. */
KVO_API uint32_t kvo_frame_begin(kvo_frame *frame, kvo_object *object, kvo_key key);

/** kvo_frame_begin for a frame that the caller begins and ends in one function, in whose stack frame it is and stays: each call that the
 * function makes meanwhile has returned before the end. It is faster, because it needs no atomic exchange. Returns 0 for NULL. */
KVO_API uint32_t kvo_frame_enter(kvo_frame *frame, kvo_object *object, kvo_key key);

/** Makes a whole change by a setter, of a property whose value is trivial and has 8 bytes: stores `value` and notifies the observers, if
 * there are any. `storage` is the property's own; the new value is read from it once for each observer that asks for it. NULL for the
 * object only stores; NULL for the storage does nothing. */
KVO_API void kvo_change_word(kvo_object *object, kvo_key key, uint64_t *storage, uint64_t value);

/** kvo_frame_begin for a change of elements of a collection. For a binding that acts as the setter: the change of a key with
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

/** Moves to the next observation to be notified, newest first. False if there is none left, and for NULL. */
KVO_API bool kvo_frame_next(kvo_frame *frame);

/** Notifies the observation that kvo_frame_next moved to; does nothing without one. The values are of the property's type. */
KVO_API void kvo_frame_deliver(kvo_frame *frame, const void *KVO_NULLABLE old_value,
                               const void *KVO_NULLABLE new_value);

/** Notifies all observations that remain, newest first, and ends the frame. `new_value` points to the property's own storage, from which
 * the new value is read for each observer. Ignores NULL for the frame. */
KVO_API void kvo_frame_finish_with(kvo_frame *frame, const void *KVO_NULLABLE old_value,
                                   const void *KVO_NULLABLE new_value);

/** Notifies all observations that remain, newest first, without a new value, and ends the frame. For a frame whose begin did not return
 * KVO_FRAME_WANTS_NEW. */
KVO_API void kvo_frame_finish(kvo_frame *frame, const void *KVO_NULLABLE old_value);

/** Ends the frame. Call it once for a frame whose begin did not return 0, unless kvo_frame_finish was called. */
KVO_API void kvo_frame_end(kvo_frame *frame);

/** Suppresses the notification of one change. The members belong to the runtime. */
typedef struct kvo_mute {
  /** The runtime's. */
  struct kvo_mute *KVO_NULLABLE outer;
  /** The runtime's. */
  kvo_object *KVO_NULLABLE object;
  /** The runtime's. */
  kvo_key key;
  /** The runtime's. */
  uint32_t depth;
  /** The runtime's. */
  bool is_computed;
  /** The runtime's. */
  bool is_used;
} kvo_mute;

/** For a binding that notifies a change itself and stores through the property's own setter. The next kvo_frame_begin of (object, key) on
 * this thread returns 0, until kvo_mute_end. Later ones do not, because the setter's own code may change the key again.
 *
 * The setter of a computed property changes other keys. An observation that also depends on `key` is not notified of those changes, nor of
 * one of `key` that the setter announces by hand, because the binding is going to notify it. What callbacks change meanwhile notifies as
 * usual. Mutes nest; `mute` must not move. NULL, and ending a mute that was not begun, do nothing. */
KVO_API void kvo_mute_begin(kvo_mute *mute, kvo_object *object, kvo_key key);
KVO_API void kvo_mute_end(kvo_mute *mute);

/** kvo_will_change with the values of the change, NULL where it has none; kvo_did_change ends it. For changes whose values must not be
 * read: those of a set, for example, are known before it changes. Both values are of the property's type, and the runtime releases them
 * with the property's ops: at the end of the change, or of the thread if the change is left open, or at once if nobody is to be notified or
 * the status is OUT_OF_MEMORY. With UNDEFINED_KEY, also for NULL, or INVALID_ARGUMENT, for a property of a C class or an unknown kind, the
 * caller keeps them. */
KVO_API kvo_status kvo_binding_will_change_values(kvo_object *object, kvo_key key, kvo_change_kind kind,
                                                  void *KVO_NULLABLE old_value, void *KVO_NULLABLE new_value);

/** Returns whether a key of an object is observed, by itself or as a part of a path. Of a living object, on any thread; false for NULL. */
KVO_API bool kvo_binding_is_observed(const kvo_object *object, kvo_key key);

/** For a binding that does not pass on an announcement, because nobody observes the key or because it was misuse: the kvo_did_change
 * without a kvo_will_change is then no misuse. Call it on the thread that will call kvo_did_change. NULL is ignored. */
KVO_API void kvo_binding_will_unobserved(kvo_object *object, kvo_key key);

/** A lock for data that a binding uses briefly, without running the program's code. Zero is unlocked. Must not move; needs no end. */
typedef struct kvo_guard {
  /** The runtime's. */
  uint32_t kvo_private_state;
} kvo_guard;

/** Takes the lock. A thread that has to wait spins for a short time, then sleeps. A fork waits until no other thread holds a guard, so that
 * the child finds it free. Different guards nest; one that this thread already holds is fault KVO0017. NULL is ignored. */
KVO_API void kvo_guard_lock(kvo_guard *guard);

/** Releases the lock, on the thread that took it. NULL is ignored. */
KVO_API void kvo_guard_unlock(kvo_guard *guard);

/** Pointers that the runtime stores per thread for a binding. */
typedef enum kvo_thread_slot {
  /** The delivery in progress. */
  KVO_THREAD_DELIVERY = 0,
  /** The call of key-value coding in progress. */
  KVO_THREAD_CODING = 1,
} kvo_thread_slot;

/** Replaces the pointer in a slot of the calling thread and returns the previous one, initially NULL. Returns NULL for an unknown slot,
 * and without memory, when nothing is stored. */
KVO_API void *KVO_NULLABLE kvo_thread_exchange(kvo_thread_slot slot, void *KVO_NULLABLE pointer);

/* ------------------------------------------------------------------------------------------------------ Observations -- */

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
  /** NULL without `is_here`: called for a change that was made on a thread which may not evaluate. Arranges for kvo_settle to be called on
   * one that may, now or later. It is not called again until then, except after a pause. */
  void (*KVO_NULLABLE ask)(kvo_observation observation, void *user_data);
  /** For expressions that end at a property (kvo_track_value_is_of): makes of a value of that property what `evaluate` would return.
   * NULL is returned if there is no memory. Without this function, an expression whose last value is kept is evaluated at each change of
   * that property. */
  void *KVO_NULLABLE (*KVO_NULLABLE of_property)(const kvo_property *property, const void *value, void *user_data);
} kvo_observer_ops;

/** Describes an observation registered through a binding. */
typedef struct kvo_binding_observer {
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
  /** NULL, or a Swift function that is called instead of ops->callback, as Swift calls a closure: it takes the change and a closure that
   * consists of `closure` and of user_data as its context. user_data is its own context too: a function that uses its context does not
   * use the closure. For kvo_binding_observe_key only, with the same ops in all calls, and in a library whose compiler knows Swift's
   * calling convention. */
  kvo_raw_callback KVO_NULLABLE deliver;
  /** What `deliver` gets as its closure; NULL without `deliver`. */
  kvo_raw_callback KVO_NULLABLE closure;
  /** What reports and the graph say about the observation in addition, such as the queue that delivers; or NULL. Copied. */
  const char *KVO_NULLABLE note;
  /** The observer is a receiver: kvo_binding_remove does not find the observation, only kvo_binding_end_all does. */
  bool is_receiver;
  /** The callback sets a property to the value that it gets. Such observations are settled before any observer is notified of the change:
   * each after those that set what it reads, and once more if that is set again. Meanwhile what they set is stored. Its observers are
   * notified afterwards, once, with the values before and now. */
  bool is_binding;
  /** With a `closure`: the property's value is trivial and has 8 bytes. For a set of it `closure` itself may be called, as Swift calls a
   * closure, with the object's instance and the address of a kvo_word_change. */
  bool takes_word;
  /** The object whose property it sets; NULL if it is none of the runtime's. The address is only compared. */
  kvo_object *KVO_NULLABLE target;
  /** The key that it sets, or 0. */
  kvo_key target_key;
} kvo_binding_observer;

/** The change that a closure gets when a value of 8 bytes is set: see kvo_binding_observer.takes_word. It has the layout of Swift's
 * NSKeyValueObservedChange. A value that is not there, because its option was not given, is 0: Swift reads that too. */
typedef struct kvo_word_change {
  /** A kvo_change_kind: KVO_CHANGE_SETTING, less 1. */
  uint8_t kind;
  /** The new value. */
  uint64_t new_value;
  /** 1 if it is not there, otherwise 0. */
  uint8_t has_no_new;
  /** The old value. */
  uint64_t old_value;
  /** 1 if it is not there, otherwise 0. */
  uint8_t has_no_old;
  /** NULL. */
  const void *KVO_NULLABLE indexes;
  /** 0. */
  uint8_t is_prior;
} kvo_word_change;

/** Returns a number of the settling in progress on this thread, which no other one has, to any observation with `is_binding`; 0 when
 * nothing is being settled. Cannot fail. Any thread. */
KVO_API uint64_t kvo_settling_serial(void);

/** Observes one stored key and stores the id in `*out`: `old_value` and `new_value` are what the frame delivers. NULL where it is not
 * allowed, also in members of the observer and of its ops, and unknown options, are fault KVO0008. Fails as kvo_add_observer does. */
KVO_API kvo_status kvo_binding_observe_key(kvo_object *object, kvo_key key, const kvo_binding_observer *observer,
                                           kvo_observation *out);

/** Observes whatever the observer's `evaluate` reads: a key path, a computed property or any expression. Stores the id in `*out`.
 *
 * The expression is evaluated at registration and after each change of what it read, except a change of the property at which it ends
 * (kvo_track_value_is_of): possibly on several threads at the same time, and within itself if it changes what it has read. With `is_here`
 * it is evaluated at registration, and later only where that is true. `keep_last` keeps the value that was delivered last, if the old value
 * is wanted. Otherwise the old value is evaluated before a change. Fails as kvo_binding_observe_key does. */
KVO_API kvo_status kvo_binding_observe_tracked(kvo_object *object, const kvo_binding_observer *observer, bool keep_last,
                                               kvo_observation *out);

/** Answers `ask`, where the expression may be evaluated: evaluates it, subscribes to what it reads, and notifies the observer once. The old
 * value is the one delivered last, which needs `keep_last`; the new one is the present one. A prior notification is sent just before.
 * Nothing happens if nothing was asked for, if a later change has been delivered meanwhile, or if the observation has ended. If it is
 * paused, the observer is notified after the pause. */
KVO_API void kvo_settle(kvo_observation observation);

/** Has an expression evaluated, and its observer notified, as after a change of something that it has read: at once, or through `ask`. For
 * an observer that got a change of the last property of a path where it must not read the path itself. Nothing happens if the observation
 * has ended. */
KVO_API void kvo_unsettle(kvo_observation observation);

/** Removes the newest observation of this object with this identity address and key path, and, if `match_context`, this context. If there
 * is none, it returns NOT_REGISTERED, and this is fault KVO0002, or KVO0003 if it was removed before, with this source location; NULL for
 * object, identity or key path is KVO0008. */
KVO_API kvo_status kvo_binding_remove(kvo_object *object, const kvo_observer_identity *identity, const char *key_path,
                                      void *KVO_NULLABLE context, bool match_context, const char *KVO_NULLABLE file,
                                      uint32_t line);

/** Ends all observations that have this observer's address as their identity: those of `object`, or of all objects if it is NULL; those
 * with this key path, or with any if it is NULL; and those of a receiver, or those of a classic observer. What other threads
 * register meanwhile is not ended. Returns how many it has ended. None is no misuse. NULL for the observer ends none. `file` and `line` are
 * where, for reports. The objects must be alive; any thread; no lock may be held. With an object it takes time in proportion to the
 * observations of that object, otherwise to those of the process, whose other threads wait meanwhile when they register or remove. */
KVO_API size_t kvo_binding_end_all(kvo_object *KVO_NULLABLE object, const void *KVO_NULLABLE observer,
                                   const char *KVO_NULLABLE key_path, bool is_receiver, const char *KVO_NULLABLE file,
                                   uint32_t line);

/** As kvo_cancel_observer (NOT_REGISTERED), for a dead observer: a later removal of one at its address is KVO0002, not KVO0003. */
KVO_API kvo_status kvo_binding_observer_died(kvo_observation observation);

/** Why an observation has ended: it was removed, or its object was destroyed. */
typedef enum kvo_end { KVO_END_REMOVED = 0, KVO_END_OBJECT_DIED = 1 } kvo_end;

/** Called when an observation has ended; see kvo_observation_on_end. */
typedef void (*kvo_end_callback)(kvo_end end, void *KVO_NULLABLE arg);

/** Has `ended` called once, with `arg`, when the observation has ended: after its user data has been destroyed, when no call of it is in
 * progress any more, on the thread that ends it or the last delivery, with no lock held. Several functions are called in the order in which
 * they were given. NOT_REGISTERED if it has ended already, and OUT_OF_MEMORY: then `ended` is not called. NULL for `ended` is KVO0008. Any
 * thread. */
KVO_API kvo_status kvo_observation_on_end(kvo_observation observation, kvo_end_callback ended, void *KVO_NULLABLE arg);

/** Has `ops->destroy` called once with `user_data` when the object dies: after its last observation has ended, with no lock held; or when
 * kvo_cancel_observer takes the id in `*out` back. This is no observation: it makes no setter notify, and no report and no graph shows it.
 * `ops` must stay valid for ever; its other members are not used. On failure nothing is called: OUT_OF_MEMORY, DYING_OBJECT, and
 * INVALID_ARGUMENT, which for NULL is also KVO0008. Any thread. */
KVO_API kvo_status kvo_binding_observe_death(kvo_object *object, const kvo_observer_ops *ops,
                                             void *KVO_NULLABLE user_data, kvo_observation *out);

/** Returns whether an observation is (still) registered. For a binding that makes several calls of the program's code from one delivery:
 * after it returns false it must not begin another. Any thread. */
KVO_API bool kvo_observation_is_registered(kvo_observation observation);

/** For an observer of a key, in its callback: returns the depth of the change that notifies it, counted from 1. `*outer` becomes the depth
 * of the innermost other change of the key that is notifying on this thread and comes to the observer later, or 0. That change was made
 * before this one, which another observer of it has made, and so its old value is the older one. Returns 0 outside of callbacks, and in
 * those of expressions: they are notified once. */
KVO_API uint32_t kvo_delivery_depth(uint32_t *KVO_NULLABLE outer);

/** Returns the number of observations of the object, including those on behalf of other objects' key paths. 0 for NULL. */
KVO_API size_t kvo_object_observation_count(const kvo_object *object);

/** Calls `visit` for each observation of the object, oldest first, with a description that is valid during the call. No lock is held. NULL
 * is ignored. */
KVO_API void kvo_object_visit_observations(const kvo_object *object,
                                           void (*visit)(const kvo_fault_observation *observation,
                                                         void *KVO_NULLABLE arg),
                                           void *KVO_NULLABLE arg);

KVO_ASSUME_NONNULL_END

#ifdef __cplusplus
}
#endif

#include <kvo/kvo_raise.h>
#include <kvo/kvo_scope.h>
#include <kvo/kvo_track.h>
#include <kvo/kvo_values.h>

#endif /* KVO_BINDING_H */

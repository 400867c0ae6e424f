/* kvo_binding.h - what a language needs, beyond kvo.h, to bring its own classes into the runtime.
 *
 * A binding owns storage and types that C cannot see. It registers classes whose properties answer through a table of
 * functions (kvo_value_ops), brackets its own stores with a kvo_frame, and passes values as pointers to its own storage: an
 * observer made through a binding receives exactly these pointers, with no conversion; an observer made through kvo.h receives a
 * kvo_value that the property's `view` makes. The Swift layer is such a binding. Programs in C need none of this.
 */
#ifndef KVO_BINDING_H
#define KVO_BINDING_H

#include <kvo/kvo.h>

#ifdef __cplusplus
extern "C" {
#endif

KVO_ASSUME_NONNULL_BEGIN

/* -------------------------------------------------------------------------------------------------------------- Keys -- */

/** Identifies a key within a class: the FNV-1a 64-bit hash of its name, or 1 if that is 0. Registration refuses a class in
 * which two names collide, so within an object a hash stands for exactly one declared key. */
typedef uint64_t kvo_key;

/** Given to kvo_track_read instead of a key: subscribes to nothing but the object's death. No name hashes to it. */
#define KVO_KEY_LIFETIME ((kvo_key)0)

/** Returns the hash of a key of `length` bytes; of NULL that of "". */
KVO_API kvo_key kvo_key_hash(const char *name, size_t length);

/* ----------------------------------------------------------------------------------------------------------- Classes -- */

/** Which elements of an ordered collection a value operation is about; NULL stands for the whole value. */
typedef struct kvo_selection {
  const size_t *indexes;
  size_t count;
} kvo_selection;

/** How the runtime handles values of a property that only the binding understands. `instance` is the binding's object, `user`
 * the property's. All may be called on any thread, with no lock held. */
typedef struct kvo_value_ops {
  /** Reads the present value through the getter into new storage, or returns NULL when it cannot be read. */
  void *KVO_NULLABLE (*KVO_NONNULL copy)(void *instance, void *KVO_NULLABLE user,
                                         const kvo_selection *KVO_NULLABLE selection);
  /** Frees what `copy` returned. */
  void (*release)(void *value, void *KVO_NULLABLE user);
  /** Hands a C view of a value to `reader` before returning. */
  void (*view)(const void *value, void *KVO_NULLABLE user, kvo_value_reader reader, void *KVO_NULLABLE arg);
  /** Sets the property through its setter. */
  kvo_status (*assign)(void *instance, void *KVO_NULLABLE user, const kvo_value *value);
} kvo_value_ops;

/** Why an observation is told of nothing. */
typedef enum kvo_silence {
  /** Its evaluation reads nothing observable. */
  KVO_SILENCE_NOTHING_READ = 0,
  /** No setter tells its changes; they may be announced by hand. */
  KVO_SILENCE_BY_HAND = 1,
  /** The class has no such key; a change may be announced by hand. */
  KVO_SILENCE_UNDEFINED = 2,
  /** It is a constant. */
  KVO_SILENCE_CONSTANT = 3,
} kvo_silence;

/** Raises KVO0011 for a registration, where the binding knows that nothing will notify it. A warning if changes may be announced
 * by hand or the key is undefined, otherwise an error. With no lock held. */
KVO_API void kvo_binding_never_notifies(kvo_object *object, const char *key_path, kvo_silence silence,
                                        const char *KVO_NULLABLE file, uint32_t line);

enum {
  /** No setter announces its changes: it is observed through what its evaluation reads. Or-ed into the flags. */
  KVO_PROPERTY_COMPUTED = 1u << 1,
  /** Of a computed one: the class says what changes it, by `affected_by` or by announcing it. What its evaluation reads does not
   * count. Or-ed into the flags. */
  KVO_PROPERTY_DECLARED = 1u << 2,
  /** With COMPUTED: its changes are told besides, by accessors or by hand, so that it need not read anything observable. */
  KVO_PROPERTY_TOLD = 1u << 3,
};

/** Describes one property of a binding's class. */
typedef struct kvo_binding_property {
  const char *name;
  /** What `view` yields, or "?". */
  const char *type;
  const kvo_value_ops *ops;
  /** Passed to the ops; lives as long as the class, that is, for ever. */
  void *KVO_NULLABLE user;
  /** NULL or key paths, ended by NULL, that affect this value. */
  const char *KVO_NULLABLE const *KVO_NULLABLE affected_by;
  /** KVO_PROPERTY_… bits. */
  uint32_t flags;
} kvo_binding_property;

/** Registers a binding's class. `header_offset` is the number of bytes from an instance to its kvo_object. An already registered
 * name gets a number appended: two modules may have private classes of one name. A property that the superclass has too
 * is described anew for this class. Fails as kvo_class_register does; INVALID_ARGUMENT also for a property without all of its ops. */
KVO_API kvo_status kvo_binding_class_register(const char *name, kvo_class *KVO_NULLABLE superclass,
                                              size_t header_offset, const kvo_binding_property *KVO_NULLABLE properties,
                                              size_t count, kvo_class *KVO_NULLABLE *KVO_NONNULL out);

/** Tells whether the class was registered by a binding; otherwise it is one of kvo_class_register. NULL: false. */
KVO_API bool kvo_class_is_of_binding(const kvo_class *cls);

/** Returns the binding's object that a header belongs to: the header's address less the class's offset. NULL: NULL. */
KVO_API void *kvo_object_instance(const kvo_object *object);

/** Gives a header that is still zero its class. Several threads may do so at once. NULL does nothing. */
KVO_API void kvo_object_adopt(kvo_object *object, kvo_class *cls);

/** Returns the `user` of a binding's property, NULL for a property of a C class, and for NULL. */
KVO_API void *KVO_NULLABLE kvo_property_user(const kvo_property *property);

/** Hands a C view of a value of this property to `reader` before returning; with NULL for property, value or reader it does nothing. */
KVO_API void kvo_property_view(const kvo_property *property, const void *value, kvo_value_reader reader,
                               void *KVO_NULLABLE arg);

/* ----------------------------------------------------------------------------------------------------------- Changes -- */

/** What an observer made through a binding receives. Valid until it returns. */
typedef struct kvo_raw_change {
  kvo_object *object;
  /** The binding's object that `object` is the header of. */
  void *instance;
  /** The object that `property` is of: of an expression's observation not `object`, but the one at the end of the path; NULL
   * without a property. */
  const kvo_object *KVO_NULLABLE changed;
  /** The property that `old_value` and `new_value` are of, or NULL when they are what the observation's `evaluate` returned. Of an
   * expression's observation it is the key that kvo_track_value_is_of named. */
  const kvo_property *KVO_NULLABLE property;
  /** NULL when not asked for or not known. */
  const void *KVO_NULLABLE old_value;
  const void *KVO_NULLABLE new_value;
  const size_t *KVO_NULLABLE indexes;
  size_t index_count;
  kvo_change_kind kind;
  bool is_prior;
  kvo_observation observation;
} kvo_raw_change;

typedef void (*kvo_raw_callback)(const kvo_raw_change *change, void *user_data);

/** What the observers of a frame's key want, as bits. */
enum {
  KVO_FRAME_OBSERVED = 1u << 0,
  /** Somebody wants the old value: capture it before the store. */
  KVO_FRAME_WANTS_OLD = 1u << 1,
  /** Somebody wants the new value: pass it to kvo_frame_deliver. */
  KVO_FRAME_WANTS_NEW = 1u << 2,
  /** kvo_frame_will must be called before the store. */
  KVO_FRAME_WANTS_WILL = 1u << 3,
};

/** One change in progress, of the thread that makes it. The members belong to the runtime and need no initial value; the binding
 * may move the frame between calls, byte by byte, and keep it on the stack or elsewhere. */
typedef struct kvo_frame {
  uintptr_t kvo_private[20];
} kvo_frame;

/** Begins a change by a setter of (object, key). Returns 0 when nobody is to be told: then store, and do not end the frame.
 * Otherwise the bits above; then: capture the old value if wanted, kvo_frame_will if wanted, store,
 * `while (kvo_frame_next(f)) kvo_frame_deliver(f, old, new)`, kvo_frame_end; or kvo_frame_finish if nobody wants the new value. The
 * loop and the end stand in one function, so that changes within a callback are over before. The object must live until the
 * end. NULL: 0. The functions below do nothing with NULL for the frame; of one that never began they cannot know. */
KVO_API uint32_t kvo_frame_begin(kvo_frame *frame, kvo_object *object, kvo_key key);

/** kvo_frame_begin for a change of elements of a collection, by the binding on behalf of a setter: of a manual key nobody is told.
 * `kind` is an insertion, removal or replacement; `indexes` are the positions, ascending, which have to live until the frame
 * ends, or NULL for a collection without positions. Old and new values, of the property's type, then hold the elements concerned
 * only. Expressions that read the key are evaluated, and told a setting. NULL for frame or object, and an
 * unknown kind: 0. */
KVO_API uint32_t kvo_frame_begin_change(kvo_frame *frame, kvo_object *object, kvo_key key, kvo_change_kind kind,
                                        const size_t *KVO_NULLABLE indexes, size_t count);

/** After a store by a setter that began no frame, for nobody observed the object then, or kvo_frame_begin answered 0. If it is observed
 * now, a path may have come to lead here meanwhile, and have read the old value: expressions that read the key evaluate again, and
 * those that were registered before they came to read it are told. Whoever holds a lock over the store, or stores atomically and
 * sequentially consistent, so that it comes before the question whether the object is observed, loses no change of a path.
 * NULL does nothing. */
KVO_API void kvo_binding_stored(kvo_object *object, kvo_key key);

/** Sends the before-change notifications, oldest first. */
KVO_API void kvo_frame_will(kvo_frame *frame, const void *KVO_NULLABLE old_value);

/** Moves to the next observation that is to be told of the change, newest first; false when there is none left, and for NULL. */
KVO_API bool kvo_frame_next(kvo_frame *frame);

/** Calls the observation that kvo_frame_next moved to; without one it does nothing. The pointers are to values of the property's type. */
KVO_API void kvo_frame_deliver(kvo_frame *frame, const void *KVO_NULLABLE old_value,
                               const void *KVO_NULLABLE new_value);

/** Calls all that are to be told, newest first, without a new value, and ends the frame: for one whose begin did not answer
 * KVO_FRAME_WANTS_NEW. */
KVO_API void kvo_frame_finish(kvo_frame *frame, const void *KVO_NULLABLE old_value);

/** Ends the frame; must be called exactly once for a frame whose begin returned other than 0, unless kvo_frame_finish was. */
KVO_API void kvo_frame_end(kvo_frame *frame);

/** Silences one change. The members belong to the runtime. */
typedef struct kvo_mute {
  struct kvo_mute *KVO_NULLABLE outer;
  kvo_object *KVO_NULLABLE object;
  kvo_key key;
  uint32_t depth;
  bool is_computed;
} kvo_mute;

/** For a binding that tells a change itself and stores through the property's own setter: the next kvo_frame_begin of (object, key)
 * on this thread, until kvo_mute_end, answers 0. Later ones do not, for the setter's own code may change the key again. Of a computed
 * property the setter changes other keys: an observation that hears of `key` too is then not told of those, since it is going to be told
 * by the binding; nor is it while the setter announces `key` by hand. What callbacks change meanwhile is told as always. Mutes nest;
 * `mute` must stay where it is. NULL, and the end of what is not begun, do nothing. */
KVO_API void kvo_mute_begin(kvo_mute *mute, kvo_object *object, kvo_key key);
KVO_API void kvo_mute_end(kvo_mute *mute);

/** kvo_will_change with the values of the change, NULL where it has none; kvo_did_change ends it. For changes whose values are not
 * to be read, as those of a set are known before it changes. Both are of the property's type, and the property's ops release them:
 * at the end of the change, or of the thread if the change is left open, or at once if nobody is to be told or the status is
 * OUT_OF_MEMORY. Fails with UNDEFINED_KEY, also for NULL, or INVALID_ARGUMENT for a property of a C class or an unknown kind, and
 * then they stay the caller's. */
KVO_API kvo_status kvo_binding_will_change_values(kvo_object *object, kvo_key key, kvo_change_kind kind,
                                                  void *KVO_NULLABLE old_value, void *KVO_NULLABLE new_value);

/** For a binding that does not hand on an announcement, because nobody observes or because it was a misuse: that its kvo_did_change
 * comes without a kvo_will_change is then no misuse. On the thread that is going to call kvo_did_change. NULL does nothing. */
KVO_API void kvo_binding_will_unobserved(kvo_object *object, kvo_key key);

/** Brackets a lock of the binding's own, which it holds for a few instructions and without running code of the program: a fork
 * waits until no thread is between the two, so that the child finds the lock free. They nest. */
KVO_API void kvo_section_enter(void);
KVO_API void kvo_section_leave(void);

/** What a binding keeps for each thread. */
typedef enum kvo_thread_slot {
  /** The delivery in progress. */
  KVO_THREAD_DELIVERY = 0,
  /** The call of key-value coding in progress. */
  KVO_THREAD_CODING = 1,
} kvo_thread_slot;

/** Exchanges a pointer that the runtime keeps for the binding, one per thread and slot, NULL at first. Returns the one before; NULL for
 * a slot that there is not. */
KVO_API void *KVO_NULLABLE kvo_thread_exchange(kvo_thread_slot slot, void *KVO_NULLABLE pointer);

/* ------------------------------------------------------------------------------------------------------ Observations -- */

/** What reports say about an observer that the binding knows more about. */
typedef struct kvo_observer_identity {
  /** Class name or NULL; copied. */
  const char *KVO_NULLABLE class_name;
  /** Address, for identity and reports. */
  const void *KVO_NULLABLE address;
} kvo_observer_identity;

/** What an observation calls; lives for ever. */
typedef struct kvo_observer_ops {
  kvo_raw_callback callback;
  /** NULL, or called once with user_data as in kvo_observer, after a registration that succeeded. */
  void (*KVO_NULLABLE destroy)(void *user_data);
  /** NULL, or called once instead when the registration fails and nothing of the runtime uses user_data any more: before the
   * registering function returns, or, when another thread was just evaluating, on that thread. */
  void (*KVO_NULLABLE abandon)(void *user_data);
  /** Of expressions only, otherwise NULL: computes the value through accessors that call kvo_track_read, and returns it in new
   * storage, or NULL when it cannot (any more). */
  void *KVO_NULLABLE (*KVO_NULLABLE evaluate)(void *user_data);
  /** Frees what `evaluate` returned. */
  void (*KVO_NULLABLE release)(void *value, void *user_data);
} kvo_observer_ops;

/** Describes an observation made through a binding. */
typedef struct kvo_binding_observer {
  /** For reports and for removal by path; copied. */
  const char *key_path;
  kvo_options options;
  const kvo_observer_ops *ops;
  void *user_data;
  void *KVO_NULLABLE context;
  kvo_observer_identity identity;
  /** Not copied: lives for ever, as the pointer of a StaticString does. */
  const char *KVO_NULLABLE file;
  uint32_t line;
} kvo_binding_observer;

/** Observes one stored key directly: `old_value` and `new_value` are what the frame delivers. NULL for what must not be NULL, also of
 * the observer's members and the ops that it needs, and unknown options, are fault KVO0008. */
KVO_API kvo_status kvo_binding_observe_key(kvo_object *object, kvo_key key, const kvo_binding_observer *observer,
                                           kvo_observation *out);

/** Observes whatever the observer's `evaluate` reads: a key path, a computed property, any expression.
 *
 * It is evaluated at registration, before a change when the old value is wanted, and after each change of what it read; on
 * several threads at once, and within itself if it changes what it has read. `keep_last`: the last value is kept so that the
 * death of an object on the way can still tell it as the old one. NULL is as above. */
KVO_API kvo_status kvo_binding_observe_tracked(kvo_object *object, const kvo_binding_observer *observer, bool keep_last,
                                               kvo_observation *out);

/** Removes the newest observation of this object whose identity address and key path, and context if `match_context`, match.
 * None is fault KVO0002, reported with the caller's source line; NULL for object, identity or key path KVO0008. */
KVO_API kvo_status kvo_binding_remove(kvo_object *object, const kvo_observer_identity *identity, const char *key_path,
                                      void *KVO_NULLABLE context, bool match_context, const char *KVO_NULLABLE file,
                                      uint32_t line);

/** Tells whether an observation is registered (still). For a binding that makes several calls of the program's code out of one
 * delivery: once it is not, no further one may begin. Any thread. */
KVO_API bool kvo_observation_is_registered(kvo_observation observation);

/** The number of observations that the object has, those on behalf of other objects' key paths included. NULL: 0. */
KVO_API size_t kvo_object_observation_count(const kvo_object *object);

/** Calls `visit` for each observation of the object, oldest first, with a copy of what is known; no lock is held. NULL does
 * nothing. */
KVO_API void kvo_object_visit_observations(const kvo_object *object,
                                           void (*visit)(const kvo_fault_observation *observation,
                                                         void *KVO_NULLABLE arg),
                                           void *KVO_NULLABLE arg);

/* ---------------------------------------------------------------------------------------------------------- Tracking -- */

/** Number of threads that evaluate a tracked observation right now. Read it with kvo_is_tracking. */
extern KVO_API uint32_t kvo_tracking_count;

/** Tells whether a getter should call kvo_track_read: one load. */
static inline bool kvo_is_tracking(void) { return __atomic_load_n(&kvo_tracking_count, __ATOMIC_RELAXED) != 0; }

/** A getter was called: if this thread records, the observation that records subscribes to (object, key). Call it before
 * reading, with the object's class set. NULL, here and in what follows, does nothing. */
KVO_API void kvo_track_read(kvo_object *object, kvo_key key);

/** The same by key-value coding, which is going to call the getter: that the getter says it again, at once, does not count. */
KVO_API void kvo_track_coded_read(kvo_object *object, kvo_key key);

/** Tells whether this thread records at present. */
KVO_API bool kvo_track_is_recording(void);

/** Tells whether this thread records in order to subscribe to what it reads, and not only to compare that with what is subscribed to,
 * before a change. */
KVO_API bool kvo_track_is_subscribing(void);

/** What an evaluation has read. */
typedef struct kvo_read {
  /** For comparison: it need not live any more. */
  kvo_object *object;
  /** NULL for an undefined key. */
  const kvo_property *KVO_NULLABLE property;
} kvo_read;

/** Within `evaluate`, while this thread records: returns how much has been read, and stores it, in order, as far as there is room
 * and the runtime remembers: the first 8. NULL stores nothing. */
KVO_API size_t kvo_track_reads(kvo_read *reads, size_t capacity);

/** Stops recording on this thread; what is returned is to be given to kvo_track_resume, within the same `evaluate`. */
KVO_API void *KVO_NULLABLE kvo_track_pause(void);
KVO_API void kvo_track_resume(void *KVO_NULLABLE paused);

/** Within `evaluate`, at its end: declares that its value is just that of this key. Changes of the key are then told at once, with
 * its property and its values, without evaluating, and no last value is kept meanwhile. Has no effect unless this was the
 * last read, and the only one of that key, of 8 at most. */
KVO_API void kvo_track_value_is_of(kvo_object *object, kvo_key key);

/** Within `evaluate`: declares that its value is a collection, and that its elements are those of this key, which was read: of a
 * computed property for instance. A change of elements that is announced for the key is then told as such, with the elements and
 * positions of the change, and all else by evaluating. */
KVO_API void kvo_track_elements_are_of(kvo_object *object, kvo_key key);

/* ------------------------------------------------------------------------------------------------------------ Faults -- */

/** How far a misspelt name is from one that was perhaps meant, in letters to insert, remove, replace or swap; 0 if it is the same, or so
 * far that nobody would have meant it. A getter's name, such as "isOpen", is near to its key, "open". Any thread; takes no lock. NULL is
 * far from everything. Our decision. */
KVO_API size_t kvo_name_distance(const char *written, const char *meant);

/** Raises a fault on behalf of a binding. `detail` completes the first line after the code and severity; `apple` is Apple's
 * sentence or NULL; `help` a remedy or NULL; `observations` are those concerned; file and line are where it happened. Returns
 * if the policy lets the process go on. No lock may be held. NULL for `detail` is an empty text, and with NULL there are no
 * observations, whatever their count. */
KVO_API void kvo_fault_raise(kvo_fault_code code, const char *detail, const char *KVO_NULLABLE apple,
                             const char *KVO_NULLABLE help, const kvo_fault_observation *KVO_NULLABLE observations,
                             size_t observation_count, const char *KVO_NULLABLE file, uint32_t line);

/** Sets a handler that is asked after that of the thread and before that of the process, NULL for none, and returns the one before: for
 * a binding that has scopes of its own, such as Swift's tasks, and looks up on the faulting thread who is to be asked. */
KVO_API kvo_fault_handler KVO_NULLABLE kvo_binding_set_scope_fault_handler(kvo_fault_handler KVO_NULLABLE handler);

/** Returns how many faults the calling thread has raised, KVO0011, after which nothing is undone, not counted. A binding compares it
 * to stop, after a fault in code of the program that it called, what an exception would have stopped. */
KVO_API uint64_t kvo_thread_fault_count(void);

KVO_ASSUME_NONNULL_END

#ifdef __cplusplus
}
#endif

#endif /* KVO_BINDING_H */

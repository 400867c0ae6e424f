/* kvo_binding.h - UNSTABLE: what the Swift layer needs beyond kvo_raw.h. Any minor version may change it, and its parts kvo_raise.h,
 * kvo_track.h and kvo_values.h, under the same number of libkvo.so: use it only in what is built together with the library.
 *
 * All of it is our decision; the general rules of kvo.h apply.
 */
#ifndef KVO_BINDING_H
#define KVO_BINDING_H

#include <kvo/kvo_raw.h>

#ifdef __cplusplus
extern "C" {
#endif

KVO_ASSUME_NONNULL_BEGIN

/* -------------------------------------------------------------------------------------------------------------- Keys -- */

/** Pass it to kvo_track_read to subscribe to the object's death only. No name has this hash. */
#define KVO_KEY_LIFETIME ((kvo_key)0)

/* ----------------------------------------------------------------------------------------------------------- Classes -- */

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

/** Reports KVO0011 for a registration that nothing will notify: an error for KVO_SILENCE_NOTHING_READ and KVO_SILENCE_CONSTANT, otherwise a
 * warning. `affected` is NULL, or the observed key if `key_path` is declared to affect it. No lock may be held. */
KVO_API void kvo_binding_never_notifies(kvo_object *object, const char *key_path, const char *KVO_NULLABLE affected,
                                        kvo_silence silence, const char *KVO_NULLABLE file, uint32_t line);

enum {
  /** For a computed property: accessors or the program also announce its changes, so its evaluation need not read anything observable. */
  KVO_PROPERTY_TOLD = 1u << 3,
  /** The class may also have keys that are no properties: an announced key that resembles this one is not reported as misspelt. */
  KVO_PROPERTY_AMONG_OTHERS = 1u << 7,
};

/** The description of a property, by its former name. */
typedef kvo_raw_property kvo_binding_property;

/** kvo_raw_class_register with the members of its description as arguments. Fails as kvo_raw_class_register does. */
KVO_API kvo_status kvo_binding_class_register(const char *name, kvo_class *KVO_NULLABLE superclass,
                                              size_t header_offset, const kvo_binding_property *KVO_NULLABLE properties,
                                              size_t count, kvo_class *KVO_NULLABLE *KVO_NONNULL out);

/** Returns whether kvo_binding_class_keep was called with this function for the class or for a superclass, so that a binding knows its own
 * classes. False for NULL. */
KVO_API bool kvo_class_is_kept_by(const kvo_class *cls, void *KVO_NULLABLE (*KVO_NULLABLE retain)(void *instance));

/** Returns kvo_property_user of a property that a binding registered with these operations; NULL for a property of any other class, whose
 * pointer is to something else, and if an argument is NULL. */
KVO_API void *KVO_NULLABLE kvo_binding_property_user(const kvo_property *KVO_NULLABLE property,
                                                     const kvo_value_ops *KVO_NULLABLE ops);

/** Passes a C view of a value of this property to `reader`, before returning. Does nothing if property, value or reader is NULL. */
KVO_API void kvo_property_view(const kvo_property *property, const void *value, kvo_value_reader reader,
                               void *KVO_NULLABLE arg);

/* ----------------------------------------------------------------------------------------------------------- Changes -- */

/** Moves to the next observation to be notified, newest first. False if there is none left, and for NULL. For a frame whose new value has
 * to be made for each observer: `while (kvo_frame_next(f)) kvo_frame_deliver(f, old, new)` and kvo_frame_end replace kvo_frame_finish_with.
 * Do the loop and the end in one function, so that changes made in callbacks end before this one. */
KVO_API bool kvo_frame_next(kvo_frame *frame);

/** Notifies the observation that kvo_frame_next moved to; does nothing without one. The values are of the property's type. */
KVO_API void kvo_frame_deliver(kvo_frame *frame, const void *KVO_NULLABLE old_value,
                               const void *KVO_NULLABLE new_value);

/** Notifies all observations that remain, newest first, without a new value, and ends the frame. For a frame whose begin did not return
 * KVO_FRAME_WANTS_NEW. */
KVO_API void kvo_frame_finish(kvo_frame *frame, const void *KVO_NULLABLE old_value);

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
 * with the property's ops: at the end of the change, or of the object or the thread if the change is left open, or at once if nobody is to
 * be notified or the status is OUT_OF_MEMORY. With UNDEFINED_KEY, also for NULL, or INVALID_ARGUMENT, for a property of a C class or an
 * unknown kind, the caller keeps them. */
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

/** kvo_raw_observer without its size, for closures of Swift too. */
typedef struct kvo_binding_observer {
  /** As in kvo_raw_observer. */
  const char *key_path;
  /** As in kvo_raw_observer. */
  kvo_options options;
  /** As in kvo_raw_observer. */
  const kvo_observer_ops *ops;
  /** As in kvo_raw_observer. */
  void *KVO_NULLABLE user_data;
  /** As in kvo_raw_observer. */
  void *KVO_NULLABLE context;
  /** As in kvo_raw_observer. */
  kvo_observer_identity identity;
  /** As in kvo_raw_observer. */
  const char *KVO_NULLABLE file;
  /** As in kvo_raw_observer. */
  uint32_t line;
  /** NULL, or a Swift function that is called instead of ops->callback, as Swift calls a closure: it takes the change and a closure that
   * consists of `closure` and of user_data as its context. user_data is its own context too: a function that uses its context does not
   * use the closure. For kvo_binding_observe_key only, with the same ops in all calls, and in a library whose compiler knows Swift's
   * calling convention. */
  kvo_raw_callback KVO_NULLABLE deliver;
  /** What `deliver` gets as its closure; NULL without `deliver`. */
  kvo_raw_callback KVO_NULLABLE closure;
  /** As in kvo_raw_observer. */
  const char *KVO_NULLABLE note;
  /** As in kvo_raw_observer. */
  bool is_receiver;
  /** As in kvo_raw_observer. */
  bool is_binding;
  /** With a `closure`: the property's value is trivial and has 8 bytes. For a set of it `closure` itself may be called, as Swift calls a
   * closure, with the object's instance and the address of a kvo_word_change. */
  bool takes_word;
  /** The key path leads through what is not observed, such as a `let`, so that the object after a key need not be the key's value: whether
   * one was replaced without notification (KVO0032) is not asked then. */
  bool has_gaps;
  /** As in kvo_raw_observer. */
  kvo_object *KVO_NULLABLE target;
  /** As in kvo_raw_observer. */
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

/** kvo_raw_observe for this description. Fails as kvo_raw_observe does. */
KVO_API kvo_status kvo_binding_observe_key(kvo_object *object, kvo_key key, const kvo_binding_observer *observer,
                                           kvo_observation *out);

/** kvo_raw_observe_expression for this description. Fails as kvo_raw_observe does. */
KVO_API kvo_status kvo_binding_observe_tracked(kvo_object *object, const kvo_binding_observer *observer, bool keep_last,
                                               kvo_observation *out);

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
#include <kvo/kvo_track.h>
#include <kvo/kvo_values.h>

#endif /* KVO_BINDING_H */

/* kvo.h - Key-Value Observing for C, C++ and any language that can call C.
 *
 * An object is notified when a property of another object changes. A class is registered at runtime with its properties: a name, a type
 * encoding, a getter and a setter. An object has a header of one word. While an object is not observed, its setters are the program's
 * own functions. The first observation changes the object's word to a notifying class (KVONotifying_<Class>), whose setters are libffi
 * trampolines with the same C signature; removing the last observation changes it back.
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
 * General rules
 * - Errors. A function that can fail returns a kvo_status; KVO_OK is 0, errors are negative. An error means that the call changed nothing,
 *   and that no callback passed to it will ever run. Misuse that crashes on Apple's platforms is a fault: it is reported (see kvo_fault)
 *   and, unless a handler or KVO_POLICY decides otherwise, ends the process with SIGABRT. If the process goes on, the function returns the
 *   error, and memory is safe.
 * - Wrong keys. A key or key path that is misspelt, malformed, or leads where nothing can be read never ends the process: the call returns
 *   UNDEFINED_KEY or another status, and changes nothing. kvo_add_observer and KVO_SET, whose status is easily overlooked, also report it,
 *   as an error: KVO0009, KVO0010, KVO0018, KVO0026 or KVO0036; so does a change by which an observed path comes to lead nowhere. A single
 *   key may also be observed and announced (kvo_will_change) if the class does not have it: that is a warning. Our decision.
 * - Invalid arguments. NULL where a comment does not allow it, a value outside of an enumeration, and a NULL array with a count other than
 *   0 never crash. A function that returns a status returns INVALID_ARGUMENT and does nothing; for registration, removal, announcements,
 *   reading and setting this is also fault KVO0008. Its report has the source location for the functions of this header, and the calls
 *   that led to any function; for those of kvo_coding.h and kvo_collection.h only these. The comments of other functions say what they
 *   return. Strings may have any length; key paths and type encodings are processed in time proportional to theirs. A dangling pointer
 *   cannot be detected, except as kvo_object_destroy says.
 * - Threads. Every function may be called on any thread, also in callbacks, except where its comment says otherwise. The caller of a
 *   function that takes an object guarantees that the object lives until the function returns. The runtime does not protect the program's
 *   own storage: if two threads set one property at the same time, the setter needs a lock of the program, or an atomic. A set also calls
 *   getters of other objects, which observed key paths lead through: protect all that paths connect with one lock, around every set and
 *   read, or let getters and setters lock inside, and string getters copy (KVO_PROPERTY_COPIED).
 * - Locks. The runtime holds none of its locks while a callback, getter, setter or destroy function of the program runs.
 * - Signal handlers. A handler may call only functions whose comment says that they are async-signal-safe. A call that would wait for the
 *   code that the handler has interrupted does not hang: it ends the process with KVO0017.
 * - Callbacks, getters, setters and destroy functions have to return. Leaving one with longjmp or a C++ exception abandons the change or
 *   evaluation that called it: observers after it are not notified, and the runtime's memory for the observed object is not freed. If it
 *   was a callback, or a getter that an expression reads, that is fault KVO0025 at the thread's next use of observations, or when the
 *   callback returns that was jumped into. Everything else goes on.
 *   A thread may end (pthread_exit) or be cancelled in them, which is no fault, but leaves the same memory; no function of the runtime is a
 *   cancellation point. What is left of a change also keeps observations of the object that are removed later: their `destroy` is not
 *   called, and kvo_can_unload says BUSY. They
 *   may switch to another stack and back (swapcontext), and return in any order; a thread that waits for an observation also waits for a
 *   callback of it that is never resumed.
 * - Strings passed to the runtime are copied, except where a comment says otherwise. They are UTF-8 and terminated by NUL.
 * - Semantics are Apple's unless a comment says "our decision": there Apple's platforms differ or have no equivalent.
 */
#ifndef KVO_H
#define KVO_H

#include <kvo/kvo_base.h>
#include <kvo/kvo_class.h>

#ifdef __cplusplus
extern "C" {
#endif

KVO_ASSUME_NONNULL_BEGIN

/* ----------------------------------------------------------------------------------------------------------- Values -- */

/** A view of a value. The function that passes it says how long it is valid; copy what you keep.
 *
 * For nil `bytes` is NULL. Otherwise `bytes` points to `size` bytes of the encoded C type: for "@" to a kvo_object *, for "*" to a char *,
 * for "?" to a value that only the language which defined the class can interpret. */
typedef struct kvo_value {
  /** The type encoding of the value. */
  const char *KVO_NULLABLE type;
  /** The size of the value in bytes. */
  size_t size;
  /** Where the value is; NULL for nil. */
  const void *KVO_NULLABLE bytes;
} kvo_value;

/** Receives a value. The view is valid until the function returns. */
typedef void (*kvo_value_reader)(const kvo_value *value, void *KVO_NULLABLE arg);

/** Reads a key path such as "author.name" and passes the value to `reader`, before returning. If an intermediate value is nil, the result
 * is nil.
 *
 * Fails with UNDEFINED_KEY, MALFORMED_KEY_PATH, NO_GETTER, NOT_AN_OBJECT, OUT_OF_MEMORY, or INVALID_ARGUMENT for an object that was not
 * initialised or has been finished; `reader` is not called then. NULL is fault KVO0008. */
KVO_API kvo_status kvo_get_value(kvo_object *object, const char *key_path, kvo_value_reader reader,
                                 void *KVO_NULLABLE arg KVO_SITE) KVO_SITED("kvo_get_value_at");

/** Sets the last key of a key path through its setter, so observers are notified. `value` is only used during the call.
 *
 * If an intermediate value is nil, it sets nothing and returns KVO_OK. A path through a list or a set sets its elements in order, until one
 * fails. Fails with UNDEFINED_KEY, MALFORMED_KEY_PATH, READ_ONLY,
 * NOT_AN_OBJECT, OUT_OF_MEMORY, or INVALID_ARGUMENT for an object that was not initialised or has been finished. TYPE_MISMATCH: the value
 * is not of the property's type and cannot be converted without loss (kvo_coding.h), or is nil where the type has none. NULL, also for the
 * value's type, is fault KVO0008; a value with `bytes` NULL is nil. */
KVO_API kvo_status kvo_set_value(kvo_object *object, const char *key_path, const kvo_value *value KVO_SITE)
    KVO_SITED("kvo_set_value_at");

/* -------------------------------------------------------------------------------------------------------- Observing -- */

/** The content of change records, and when they are sent. The first four are Apple's, with Apple's values. */
typedef enum kvo_options {
  KVO_NONE = 0,
  /** Records carry the new value. */
  KVO_NEW = 1 << 0,
  /** Records carry the old value. */
  KVO_OLD = 1 << 1,
  /** The callback is called once before kvo_add_observer returns, with the present value if KVO_NEW is set. */
  KVO_INITIAL = 1 << 2,
  /** The callback is also called before each change, with is_prior set. */
  KVO_PRIOR = 1 << 3,
  /** The observation ends without fault KVO0001 when the object dies. Our decision, for wrappers that manage lifetimes. */
  KVO_ENDS_WITH_OBJECT = 1 << 8,
} kvo_options;

#ifdef __cplusplus
} /* extern "C" */
constexpr kvo_options operator|(kvo_options a, kvo_options b) noexcept {
  return static_cast<kvo_options>(static_cast<unsigned>(a) | static_cast<unsigned>(b));
}
constexpr kvo_options operator&(kvo_options a, kvo_options b) noexcept {
  return static_cast<kvo_options>(static_cast<unsigned>(a) & static_cast<unsigned>(b));
}
/** The other options that are defined. */
constexpr kvo_options operator~(kvo_options a) noexcept {
  return static_cast<kvo_options>((KVO_NEW | KVO_OLD | KVO_INITIAL | KVO_PRIOR | KVO_ENDS_WITH_OBJECT) &
                                  ~static_cast<unsigned>(a));
}
inline kvo_options &operator|=(kvo_options &a, kvo_options b) noexcept { return a = a | b; }
inline kvo_options &operator&=(kvo_options &a, kvo_options b) noexcept { return a = a & b; }
extern "C" {
#endif

/** The kind of a change, with Apple's values. */
typedef enum kvo_change_kind {
  KVO_CHANGE_SETTING = 1,
  KVO_CHANGE_INSERTION = 2,
  KVO_CHANGE_REMOVAL = 3,
  KVO_CHANGE_REPLACEMENT = 4,
} kvo_change_kind;

/** Identifies a registration. Never 0, and never reused. */
typedef uint64_t kvo_observation;

/** A change, as passed to a callback. Valid, with everything that it points to, until the callback returns, whatever it sets: strings
 * are copies. But what objects, and pointers in structures, point to is the program's. And the `new_value` of a property that is
 * KVO_PROPERTY_AT_OFFSET is in the object that has changed: it is not valid any more if the callback destroys that object. */
typedef struct kvo_change {
  /** The object passed to kvo_add_observer, even if the change happened further along the key path. */
  kvo_object *object;
  /** The whole key path, as registered. */
  const char *key_path;
  /** What kind of change it is. */
  kvo_change_kind kind;
  /** True in the callback before the change, which KVO_PRIOR asks for. */
  bool is_prior;
  /** NULL if not asked for or unknown. */
  const kvo_value *KVO_NULLABLE old_value;
  /** NULL if not asked for, unknown, or before the change. Read at delivery: after a nested set it is the newest value, and that of a path
   * the value at its present end. */
  const kvo_value *KVO_NULLABLE new_value;
  /** For an insertion, removal or replacement the indexes, ascending; otherwise NULL. */
  const size_t *KVO_NULLABLE indexes;
  size_t index_count;
  /** As registered. */
  void *KVO_NULLABLE context;
  /** The id of the observation. */
  kvo_observation observation;
} kvo_change;

/** Called for a change on the thread that made it, before the setter returns, with no lock held. It may call every function of this header,
 * and may remove its own observation. Observers are called newest first, those before a change oldest first (Apple's order; we promise it).
 * It must return: see the general rules. It must not destroy the object in a callback before its change (is_prior), because the setter is
 * about to store into it (KVO0008). */
typedef void (*kvo_callback)(const kvo_change *change, void *KVO_NULLABLE user_data);

/** Describes an observation at registration. Set unused members to zero. */
typedef struct kvo_observer {
  /** sizeof(kvo_observer), so that later versions can add members. */
  size_t struct_size;
  /** A key, or keys joined by dots. */
  const char *key_path;
  /** What records carry, and when the callback is called. */
  kvo_options options;
  /** What is called; never NULL. */
  kvo_callback callback;
  /** Passed to the callback. Also the observer's identity, for kvo_remove_observer_for and for reports. */
  void *KVO_NULLABLE user_data;
  /** NULL, or a function that is called once with user_data when no callback of this observation is running or can run any more: during the
   * removal, or, if a callback of the object is running then, after the last of these has returned, on its thread. It is not called if
   * registration fails. No lock is held. */
  void (*KVO_NULLABLE destroy)(void *KVO_NULLABLE user_data);
  /** Any pointer. A removal with a context compares it. */
  void *KVO_NULLABLE context;
  /** The source location of the registration, for reports; use KVO_HERE. The string is copied, unless it is a constant of the executable,
   * because the module that contains it may be unloaded. NULL means unknown; so does a new name after some thousand different ones. */
  const char *KVO_NULLABLE file;
  uint32_t line;
} kvo_observer;

/** The present source line, for use among the designated initialisers of a kvo_observer. C++ before C++20 does not have these: assign
 * __FILE__ and __LINE__ to the members there. */
#define KVO_HERE .file = __FILE__, .line = __LINE__

/** Registers an observation of `object` and stores its id in `*out`, which may be NULL.
 *
 * The object is not retained, nor are those on the key path: they have to live while any thread may read the path, as each change on it
 * does. The observation lasts until it is removed or the object dies. Each registration is separate: an observer registered twice is
 * called twice. If another thread ends one before this returns, this returns OK, and the id has ended. A key path observes every object
 * along it; if one of these is replaced, set to nil or dies, the observation follows the new value, and this is a change. A single
 * undefined key is accepted, as on Apple's platforms, for changes announced by hand; an undefined key in a longer path, or with
 * KVO_INITIAL and KVO_NEW, is fault KVO0009. On a list or a set, a key that is no operator is KVO0018, and an operator that is unknown
 * or lacks its key is KVO0036; one that cannot compute with the values there is KVO0026. A key that is declared to affect itself is fault
 * KVO0039, and is observed without this declaration. NULL for object or observer, and invalid members of it, are fault KVO0008; memory
 * that is not an object is KVO0012. Fails with INVALID_ARGUMENT, MALFORMED_KEY_PATH, UNDEFINED_KEY, NOT_AN_OBJECT, TYPE_MISMATCH,
 * DYING_OBJECT, NO_INTERCEPTION or OUT_OF_MEMORY. */
KVO_API kvo_status kvo_add_observer(kvo_object *object, const kvo_observer *observer,
                                    kvo_observation *KVO_NULLABLE out);

/** Removes an observation. After it returns no delivery of it begins on any thread; one that has begun on another thread may still be
 * running. An id that is not registered (any more) returns NOT_REGISTERED and is a fault: KVO0003 if it was removed before, KVO0005 if its
 * object has died, KVO0008 if it has never been an id, otherwise KVO0002. */
KVO_API kvo_status kvo_remove_observer(kvo_observation observation KVO_SITE) KVO_SITED("kvo_remove_observer_at");

/** The same for an observation that may have ended: never a fault. Returns NOT_REGISTERED if it had ended. Our decision. */
KVO_API kvo_status kvo_cancel_observer(kvo_observation observation KVO_SITE) KVO_SITED("kvo_cancel_observer_at");

/** Calls kvo_cancel_observer, then waits until no other thread runs a callback of this observation or evaluates its key path: after that,
 * whatever the callback uses can be freed. It does not wait for `destroy`, which is called when no change of the object is in progress on
 * any thread. It also waits if the observation had ended before; it returns NOT_REGISTERED then. It does not wait for deliveries of other
 * observations. Called in a callback of this observation, or in one whose end a callback of this observation waits for, the wait would
 * never end: this is fault KVO0017, and the call does not wait for those callbacks. Do not hold a lock that the callback takes. Our
 * decision. */
KVO_API kvo_status kvo_cancel_observer_and_wait(kvo_observation observation KVO_SITE)
    KVO_SITED("kvo_cancel_observer_and_wait_at");

/** Pauses an observation: after this returns no call of its callback begins, also before a change; one that has begun on another thread
 * may still be running. Changes are only noted, until kvo_observation_resume. It stays registered: it can be removed as usual, and ends
 * with its object. With KVO_OLD the present value is read, through the getter, and kept until the resumption; if it is not the value before
 * the first change that is missed, the resumption has no old value. An object is kept without
 * being retained, also as an element of a list or a set: it has to live until kvo_observation_resume, which passes it to the callback, has
 * returned, or until the observation has ended. Pausing a paused one does nothing. Fails with NOT_REGISTERED, which is no fault, or
 * OUT_OF_MEMORY. Any thread, also in the callback. Our decision. */
KVO_API kvo_status kvo_observation_pause(kvo_observation observation);

/** Resumes a paused observation. If `tell_missed`, and its value was changed during the pause, the callback is called once, on this thread,
 * before this returns: a setting, with the value at the pause as the old value and the present one as the new value, as far as KVO_OLD and
 * KVO_NEW ask for them. In a callback where deliveries may nest no deeper (KVO0023) it is called after outer ones have returned, without an
 * old value. Changes that other threads make meanwhile notify as usual, also before it. In a callback of a change of the same property,
 * that change is part of what was missed, and notifies once more if the observation is older than that of the callback. Resuming one that
 * is not paused does nothing. Fails with NOT_REGISTERED, which is no fault. Any thread. Our decision. */
KVO_API kvo_status kvo_observation_resume(kvo_observation observation, bool tell_missed);

/** Returns whether an observation is paused. False for one that is not registered (any more). Any thread. */
KVO_API bool kvo_observation_is_paused(kvo_observation observation);

/** Removes the newest observation of this object with this user_data and key path, whatever its context (Apple:
 * removeObserver:forKeyPath:). If there is none, it returns NOT_REGISTERED and this is fault KVO0002, or KVO0003 if it was removed before.
 * If several match with different contexts, this is warning KVO0016. NULL for object or key path is fault KVO0008. */
KVO_API kvo_status kvo_remove_observer_for(kvo_object *object, void *KVO_NULLABLE user_data,
                                           const char *key_path KVO_SITE) KVO_SITED("kvo_remove_observer_for_at");

/** The same, comparing the context exactly: NULL matches only NULL (Apple: removeObserver:forKeyPath:context:). */
KVO_API kvo_status kvo_remove_observer_for_context(kvo_object *object, void *KVO_NULLABLE user_data,
                                                   const char *key_path, void *KVO_NULLABLE context KVO_SITE)
    KVO_SITED("kvo_remove_observer_for_context_at");

/** Announces that the value of a key is about to change, for changes that no setter makes. Call kvo_did_change afterwards on the same
 * thread. Pairs match by object and key and may nest; each notifies separately. A key that is not observed is no error. Fails with
 * OUT_OF_MEMORY. NULL is fault KVO0008. (Apple: willChangeValueForKey:) */
KVO_API kvo_status kvo_will_change(kvo_object *object, const char *key KVO_SITE) KVO_SITED("kvo_will_change_at");

/** Ends the change begun by the newest open kvo_will_change of this object and key, and notifies (Apple: didChangeValueForKey:).
 *
 * Without an open one nobody is notified. If the key is observed, it returns UNBALANCED and this is fault KVO0028, or KVO0030 if another
 * thread has called kvo_will_change; but not if that was called on this thread while nobody observed the key. Ending a change that
 * kvo_will_change_indexes has begun is KVO0033. A kvo_will_change without kvo_did_change when its object dies or its thread ends is
 * KVO0029, unless it was called in a scope (kvo_scope.h). A path that was registered before kvo_will_change and is led to the object
 * between the two calls is notified. NULL is fault KVO0008. */
KVO_API kvo_status kvo_did_change(kvo_object *object, const char *key KVO_SITE) KVO_SITED("kvo_did_change_at");

/** kvo_will_change for elements of an ordered collection with these indexes, ascending: those before a removal or replacement, those after
 * an insertion. `indexes` is copied. Indexes that are not ascending are fault KVO0033, and nothing is announced. KVO_CHANGE_SETTING or an
 * unknown kind is fault KVO0008, as is NULL; `indexes` may be NULL if the count is 0. (Apple: willChange:valuesAtIndexes:forKey:) */
KVO_API kvo_status kvo_will_change_indexes(kvo_object *object, kvo_change_kind kind, const char *key,
                                           const size_t *indexes, size_t count KVO_SITE)
    KVO_SITED("kvo_will_change_indexes_at");

/** kvo_did_change for a change begun by kvo_will_change_indexes. Observers get the kind and indexes of the will; if these differ, it is
 * fault KVO0033. Faults KVO0008 are the same as there, and leave the change open. Fails as kvo_did_change does. (Apple:
 * didChange:valuesAtIndexes:forKey:) */
KVO_API kvo_status kvo_did_change_indexes(kvo_object *object, kvo_change_kind kind, const char *key,
                                          const size_t *indexes, size_t count KVO_SITE)
    KVO_SITED("kvo_did_change_indexes_at");

KVO_ASSUME_NONNULL_END

#ifdef __cplusplus
}
#endif

#include <kvo/kvo_bind.h>
#include <kvo/kvo_coding.h>
#include <kvo/kvo_collection.h>
#include <kvo/kvo_fault.h>
#include <kvo/kvo_graph.h>
#include <kvo/kvo_method.h>
#include <kvo/kvo_scope.h>
#include <kvo/kvo_site.h>

#endif /* KVO_H */

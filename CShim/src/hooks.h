/* hooks.h - how a room calls rooms that use it, and that it does not know: one table of functions, which runtime.c fills, and the faults
 * that any room may raise.
 *
 * The first part of the table belongs to the engine. The second part is for the optional rooms watching/ and serving/: a build without
 * diagnostics (-DKVO_DIAGNOSTICS=OFF) leaves these members NULL. A change tests only kvo__attention, unless a tap is set. */
#ifndef KVO_HOOKS_H
#define KVO_HOOKS_H

#include "platform/platform.h"

/** Whether the rooms watching/, faults/ and serving/ are part of the library. */
#ifndef KVO_DIAGNOSTICS
#define KVO_DIAGNOSTICS 1
#endif

typedef struct kvo_info kvo_info;
typedef struct kvo_slot kvo_slot;
typedef struct kvo_node kvo_node;
typedef struct kvo_tracked kvo_tracked;
typedef struct kvo_thread kvo_thread;
typedef struct kvo_lock kvo_lock;
typedef struct kvo_frame_content kvo_frame_content;
typedef struct kvo_open_scope kvo_open_scope;
struct kvo_bound;
typedef struct kvo_change_place kvo_change_place;

/** A source location of the program: a file name, or NULL, and a line. */
typedef struct kvo_place {
  const char *file;
  uint32_t line;
} kvo_place;

#define KVO_NOWHERE                                                                                                    \
  (kvo_place) { NULL, 0 }

/** The result of a wait. KVO_WAITED: no other thread runs what was waited for. KVO_WAITED_IN_OWN: this thread itself runs it.
 * KVO_WAITED_IN_CIRCLE: those that run it wait for this thread. */
typedef enum kvo_waited { KVO_WAITED, KVO_WAITED_IN_OWN, KVO_WAITED_IN_CIRCLE } kvo_waited;

/** The form of nested deliveries: whether observations call each other in a cycle, of what length, and whether the values repeat, as far as
 * they were delivered and can be compared. */
typedef struct kvo_nesting {
  enum { KVO_NO_CIRCLE, KVO_CIRCLE_OF_ONE, KVO_CIRCLE, KVO_CIRCLE_IRREGULAR } shape;
  size_t length;
  bool values_repeat;
} kvo_nesting;

/** The outermost set of a thread, and how many deliveries it has caused so far. `token` is NULL if there is none. */
typedef struct kvo_avalanche {
  const void *token, *object;
  const char *class_name;
  uint32_t count;
  char key[80];
} kvo_avalanche;

/** The kind and the indexes of an announced change. */
typedef struct kvo_announced {
  kvo_change_kind kind;
  const size_t *indexes;
  size_t count;
} kvo_announced;

/** What changes and deliveries have to attend to on any thread; usually 0, so that they make one test. */
extern KVO_HIDDEN _Atomic uint32_t kvo__attention;
enum kvo_attention {
  /** Who listens to events. */
  KVO_TAP_HISTORY = 1,
  KVO_TAP_TRACE = 2,
  KVO_TAP_SLOW = 4,
  KVO_TAP_USE = 8,
  KVO_TAP_TRAFFIC = 32,
  KVO_TAP_SERVE = 64,
  KVO_TAP_AVALANCHE = 128,
  KVO_TAPS = KVO_TAP_HISTORY | KVO_TAP_TRACE | KVO_TAP_SLOW | KVO_TAP_USE | KVO_TAP_TRAFFIC | KVO_TAP_SERVE |
             KVO_TAP_AVALANCHE,
  /** membarrier(2) does not work: a thread has to publish what it does with exchanges. Stays set. */
  KVO_NO_BARRIER = 16,
  /** The unit of the count of threads that wait for marks to end. */
  KVO_WAITER = 256,
};

static inline uint32_t kvo__attended(void) { return atomic_load_explicit(&kvo__attention, memory_order_relaxed); }
static inline bool kvo__is_tapped(void) { return __builtin_expect((kvo__attended() & KVO_TAPS) != 0, false); }

struct kvo_hooks {
  /* ------------------------------------------------------------------------- The engine's, from a lower room to a higher -- */

  /** threads: ends code that was left with longjmp or an exception, as this frame of the thread shows. No lock may be held. */
  void (*abandoned)(kvo_thread *self, const void *frame);
  /** threads: ends a mark that is not the innermost. */
  void (*unmark_below)(kvo_thread *self, uint32_t depth);
  /** threads: whether a delivery may begin, nested in those in progress. If not, the caller defers it. No lock may be held. */
  bool (*may_nest)(kvo_thread *self, const void *frame);
  /** See kvo__told. */
  uint32_t (*told)(const kvo_raw_change *change);
  /** threads: deferred deliveries may be due at this depth. No lock may be held. */
  void (*unwound)(kvo_thread *self, uint32_t depth);
  /** threads: a thread ends; its record is still in the list. */
  void (*thread_ends)(kvo_thread *self);
  /** threads: this is the child of a fork, where the other threads do not exist. */
  void (*forked)(void);
  /** classes: a class is not registered any more. No lock may be held. */
  void (*class_ends)(kvo_class *cls);
  /** classes: KVO_OK if no observation, hook on a method or fault handler has an address in the module of `address`; otherwise BUSY, and
   * kvo_last_error says which, for this function. No lock may be held. */
  kvo_status (*module_is_unused)(const char *function, const void *address);
  /** classes: the body of trampolines, as libffi calls it. */
  kvo_function intercepted;
  /** expressions: whether a scope of this thread has noted a change of this key and is going to tell the expression, or, if that counts, a
   * change is announced by hand. Only while kvo__own.open_changes is not 0; the expression is locked. */
  bool (*is_open)(const kvo_tracked *tracked, kvo_slot *slot, const kvo_change_place *place, bool with_announced);
  /** expressions: settles the binding with this node, its own. No lock may be held. */
  void (*settle)(const kvo_node *node);
  /** expressions: code of this observation was left with longjmp or an exception. If it is a binding, this thread settles it no more. */
  void (*binding_left)(kvo_observation observation);
  /** registry: what is kept of a binding, whose observation is freed. */
  void (*free_binding)(struct kvo_bound *bound);
  /** registry: frees the user data of an observation of C, or of a binding: their `destroy` leaves it, because until its id is let go,
   * kvo_can_unload looks at it. */
  void (*free_observer)(const kvo_observer_ops *ops, void *user_data);
  /** registry: a node of an expression is freed; releases its reference. */
  void (*release_expression)(kvo_tracked *tracked);

  /* --------------------------------------------------------------------- For watching/. These are called only while tapped -- */

  /** Returns what beginning the change is to return. */
  uint32_t (*change_begins)(kvo_frame_content *change);
  /** The change waits for the end of a scope, and is tapped no more; its observers are about to be notified, and it is tapped again. */
  void (*change_pauses)(kvo_frame_content *change);
  void (*change_resumes)(kvo_frame_content *change);
  void (*change_ends)(const kvo_frame_content *change);
  /** An observation's own node, which the caller keeps from being freed. */
  void (*registered)(const kvo_node *node);
  void (*ended)(const kvo_node *node);
  /** Calls the observer, and notes the beginning and the end of the call. */
  void (*delivery)(const kvo_raw_change *change, const kvo_node *node, kvo_raw_callback callback, void *user_data);
  void (*died)(const kvo_info *info);

  /* ---------------------------------------------------------------------------------- For serving/, while KVO_TAP_SERVE is set -- */

  /** An observation has been registered. No lock may be held. */
  void (*serve)(void);

  /* ------------------------------------------------------------- For watching/, always: the log of observations that ended -- */

  /** An observation has just ended and its node is not retired yet. No lock may be held. */
  void (*remember)(const kvo_node *node, bool by_death, kvo_place place);
  /** An object dies that has logged observations: the next object at its address is another one. No lock may be held. */
  void (*forget)(const kvo_info *info);
};

extern KVO_HIDDEN const struct kvo_hooks kvo__hooks;

/** Sets the text of kvo_last_error, formatted as kvo__append does, and returns the status (threads/errors.c). */
KVO_HIDDEN kvo_status kvo__fail(kvo_status status, const char *format, ...) __attribute__((format(printf, 2, 3)));

/** Calls a hook of an optional room, if it is there. */
#define KVO_TELL(hook, ...)                                                                                            \
  do {                                                                                                                 \
    if (kvo__hooks.hook != NULL) kvo__hooks.hook(__VA_ARGS__);                                                         \
  } while (0)

/** Calls an observer; if tapped, with notes of the beginning and the end. `node` is its own node, which the caller keeps from being
 * freed. */
static inline void kvo__call_noted(bool tapped, const kvo_raw_change *change, const kvo_node *node,
                                   kvo_raw_callback callback, void *user_data) {
  if (tapped)
    kvo__hooks.delivery(change, node, callback, user_data);
  else
    callback(change, user_data);
}

/* -------------------------------------------------------------------- The faults. No lock may be held unless it says so -- */

/** Raises a fault, by one of the functions below, which are in faults/. Does nothing in a build without diagnostics. */
#define KVO_MISUSE(name, ...)                                                                                          \
  do {                                                                                                                 \
    if (KVO_DIAGNOSTICS) kvo__fault_##name(__VA_ARGS__);                                                               \
  } while (0)

/** The policy for a code with this severity; never KVO_ACTION_DEFAULT. Not in a build without diagnostics. */
KVO_HIDDEN kvo_action kvo__fault_policy(kvo_fault_code code, kvo_severity severity);
/** KVO0001: observations were registered when their object died. */
KVO_HIDDEN void kvo__fault_deallocated(const kvo_object *object, const kvo_class *cls, kvo_fault_observation *left,
                                       size_t count, kvo_place place);
/** KVO0021: the object's header has been overwritten; `node` is that of the last observation, which ends. */
KVO_HIDDEN void kvo__fault_overwritten(const kvo_info *info, const kvo_node *node);
/** KVO0008: a callback before a change ends the object that is changing. */
KVO_HIDDEN void kvo__fault_ended_before_change(const kvo_info *info, const kvo_slot *slot, const char *function,
                                               kvo_place place);
/** KVO0008: kvo_object_destroy of an object in memory of the program. */
KVO_HIDDEN void kvo__fault_not_created(const kvo_object *object, const char *function, kvo_place place);
/** A refused registration; the status decides which fault it is, and for a key path also where it fails. */
KVO_HIDDEN void kvo__fault_refused(kvo_status status, const kvo_class *cls, const kvo_object *object,
                                   const char *key_path, const void *observer, kvo_options options, const void *context,
                                   kvo_place place);
/** The same fault for an observation whose key path, since a change, leads to what cannot be observed. */
KVO_HIDDEN void kvo__fault_path_broken(kvo_status status, const kvo_object *object,
                                       const kvo_fault_observation *concerned);
/** KVO0026: the value of a binding cannot be set as this key of its target, as kvo_last_error says. */
KVO_HIDDEN void kvo__fault_cannot_set(const kvo_object *target, const char *key,
                                      const kvo_fault_observation *concerned);
/** KVO0008: a wrong argument of a function of the API. */
KVO_HIDDEN void kvo__fault_invalid_argument(const char *function, const char *what, kvo_place place);
/** KVO0009: a set of a key that has no setter. */
KVO_HIDDEN void kvo__fault_no_setter(const kvo_object *object, const char *key, kvo_place place);
/** KVO0026: the setter takes values of another form, type code or size. */
KVO_HIDDEN void kvo__fault_other_form(const kvo_object *object, const kvo_property *property, kvo_form form, char code,
                                      size_t size, kvo_place place);
/** KVO0009: the value of a key is needed that the class does not have. */
KVO_HIDDEN void kvo__fault_undefined(const kvo_class *cls, const kvo_object *object, kvo_slot *slot);
/** KVO0011: an observation that is never notified; a warning if its changes may be announced by hand. See kvo_binding_never_notifies. */
KVO_HIDDEN void kvo__fault_never_notifies(const kvo_object *object, const char *key_path, const char *affected,
                                          kvo_silence silence, kvo_place place);
/** KVO0039: `path` begins with the property's own key, and is declared to affect it. */
KVO_HIDDEN void kvo__fault_self_dependency(const kvo_object *object, const kvo_property *property, const char *path,
                                           kvo_place place);
/** KVO0011: after a change there was no memory to subscribe an expression to what it reads now. */
KVO_HIDDEN void kvo__fault_cannot_follow(const kvo_fault_observation *concerned);
/** KVO0012: `key_path` is that of the observation, or NULL. If `why` is NULL, the header tells the reason. */
KVO_HIDDEN void kvo__fault_unsupported_object(const kvo_object *object, const char *function, const char *key_path,
                                              const char *why, kvo_place place);
/** KVO0019: the registrations that exist already, newest first; if `is_all` is false, there are more. */
KVO_HIDDEN void kvo__fault_duplicate(const kvo_fault_observation *present, size_t count, bool is_all, kvo_place place);
/** KVO0002, KVO0003, KVO0005 or KVO0008: an id that is not registered. */
KVO_HIDDEN void kvo__fault_not_observing(kvo_observation observation, kvo_place place);
/** KVO0002 or KVO0003: no such registration, for a removal by observer and key path. */
KVO_HIDDEN void kvo__fault_not_registered(const kvo_object *object, const kvo_observer_identity *identity,
                                          const char *key_path, const void *context, bool match_context,
                                          kvo_place place);
/** KVO0016: a removal that matches several registrations; it removes the first of these. */
KVO_HIDDEN void kvo__fault_ambiguous(const kvo_fault_observation *candidates, size_t count, kvo_place place);
/** KVO0015: an observation ends without having been notified of a change. Its node is not retired yet. */
KVO_HIDDEN void kvo__fault_unused(const kvo_node *node, kvo_place place);
/** KVO0017: a wait for an observation's deliveries would be endless; an object dies while its evaluation on another thread waits for this
 * thread; a signal handler waits for this lock, held by the call that it has interrupted, or this thread waits for a guard
 * that it holds. The last one does not return. */
KVO_HIDDEN void kvo__fault_endless_wait(kvo_observation observation, kvo_waited waited, kvo_place place);
KVO_HIDDEN void kvo__fault_endless_death(const kvo_info *info, kvo_place place);
_Noreturn KVO_HIDDEN void kvo__fault_interrupted(const kvo_lock *lock, bool is_guard);
/** A limit of the setting or of the stack is reached. KVO0024 if several observations call each other in a cycle with repeating values,
 * otherwise KVO0023. */
KVO_HIDDEN void kvo__fault_too_deep(uint32_t depth, const kvo_nesting *nesting, bool by_variable);
/** KVO0024: bindings that set each other's properties without end, by their own nodes. */
KVO_HIDDEN void kvo__fault_unsettled(const kvo_node *const *bindings, size_t count, uint32_t rounds);
/** KVO0025: the callback of `inner` and those around it up to that of `outer`, or, if NULL, a getter in an evaluation, were left without
 * returning. */
KVO_HIDDEN void kvo__fault_abandoned(const kvo_node *outer, const kvo_node *inner);
/** KVO0027: a set has caused too many deliveries, the last of them of this observation; a delivery in progress on that thread is slow. */
KVO_HIDDEN void kvo__fault_avalanche(const kvo_avalanche *of, const kvo_node *delivered);
KVO_HIDDEN void kvo__fault_slow(const kvo_fault_observation *delivered, uint32_t thread, uint64_t milliseconds);
/** KVO0028: a did without a will. `concerned`, here and below, is one of the observations of the key, or NULL. */
KVO_HIDDEN void kvo__fault_no_will(const kvo_object *object, const char *key, const kvo_fault_observation *concerned,
                                   kvo_place place);
/** KVO0029: a will without a did; `end` says why there can be none any more. */
KVO_HIDDEN void kvo__fault_unfinished(const kvo_info *info, const kvo_object *object, const char *key,
                                      const kvo_fault_observation *concerned, const char *end,
                                      const kvo_fault_site *will);
/** KVO0030: the will was called on another thread. */
KVO_HIDDEN void kvo__fault_crossed(const kvo_object *object, const char *key, const kvo_fault_observation *concerned,
                                   const kvo_fault_site *will, kvo_place did);
/** KVO0031: a setter notifies a change that is already announced; `will` is where. */
KVO_HIDDEN void kvo__fault_doubled(const kvo_info *info, const char *key, const kvo_fault_observation *concerned,
                                   const kvo_fault_site *will);
/** KVO0032: the object at an intermediate key of an observed path was replaced without notification. */
KVO_HIDDEN void kvo__fault_silent_change(const kvo_fault_observation *concerned, const kvo_info *holder,
                                         const char *key);
/** KVO0033: indexes that are not ascending; and a did that differs from its will, which is the one that counts. */
KVO_HIDDEN void kvo__fault_unordered_indexes(const kvo_object *object, const char *key, size_t position, size_t before,
                                             size_t index, kvo_place place);
KVO_HIDDEN void kvo__fault_other_indexes(const kvo_object *object, const char *key, const kvo_announced *begun,
                                         const kvo_announced *end, const kvo_fault_site *will, kvo_place place);
/** KVO0009 as a warning: an announced change of a key that is not observed and that the class does not have, although it has a similar
 * one. */
KVO_HIDDEN void kvo__fault_unknown_key(const kvo_object *object, const char *key, kvo_place place);
/** KVO0034: a wrong item of an environment variable. */
KVO_HIDDEN void kvo__fault_misconfigured(const char *variable, const char *item, size_t length, const char *problem);

#endif /* KVO_HOOKS_H */

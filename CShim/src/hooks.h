/* hooks.h - what a room tells rooms further down the list, which it does not know: one table, which runtime.c fills.
 *
 * The first part is the engine's own: what a thread does comes to an end in rooms that were built on it. The second part is for guests,
 * the rooms watching/ and faults/: a build without them (-DKVO_DIAGNOSTICS=OFF) leaves these members NULL, and nobody is told. A change
 * that is not tapped looks at the tap word only. */
#ifndef KVO_HOOKS_H
#define KVO_HOOKS_H

#include "platform/platform.h"

/** Whether the rooms watching/ and faults/ are part of the library. */
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

/** A place in the program, as a caller tells it: a file or NULL, and a line. */
typedef struct kvo_place {
  const char *file;
  uint32_t line;
} kvo_place;

#define KVO_NOWHERE                                                                                                    \
  (kvo_place) { NULL, 0 }

/** Why a wait has ended: nobody runs what was waited for any more; or it gave up, because this thread itself does, or because those
 * who do wait for this thread. */
typedef enum kvo_waited { KVO_WAITED, KVO_WAITED_IN_OWN, KVO_WAITED_IN_CIRCLE } kvo_waited;

/** What deliveries within each other look like: how many observations call each other, and whether they are told the same again and
 * again, as far as they were told values that can be compared. */
typedef struct kvo_nesting {
  enum { KVO_NO_CIRCLE, KVO_CIRCLE_OF_ONE, KVO_CIRCLE, KVO_CIRCLE_IRREGULAR } shape;
  size_t length;
  bool values_repeat;
} kvo_nesting;

/** What an announcement says of a change. */
typedef struct kvo_announced {
  kvo_change_kind kind;
  const size_t *indexes;
  size_t count;
} kvo_announced;

/** Who listens to what happens: bits of kvo__tap. */
enum kvo_tap { KVO_TAP_HISTORY = 1, KVO_TAP_TRACE = 2, KVO_TAP_SLOW = 4, KVO_TAP_USE = 8 };
extern KVO_HIDDEN _Atomic uint32_t kvo__tap;

static inline bool kvo__is_tapped(void) {
  return __builtin_expect(atomic_load_explicit(&kvo__tap, memory_order_relaxed) != 0, false);
}

struct kvo_hooks {
  /* ------------------------------------------------------------------------- The engine's, from a lower room to a higher -- */

  /** threads: what was left by longjmp or an exception is to be ended, as this frame of the thread shows. No lock may be held. */
  void (*abandoned)(kvo_thread *self, const void *frame);
  /** threads: a mark ends that is not the innermost. */
  void (*unmark_below)(kvo_thread *self, uint32_t depth);
  /** threads: whether a delivery may begin within those in progress; if not, it is to be put off. No lock may be held. */
  bool (*may_nest)(kvo_thread *self, const void *frame);
  /** threads: at this depth deliveries that were put off may be due. No lock may be held. */
  void (*unwound)(kvo_thread *self, uint32_t depth);
  /** threads: a thread ends, which is still in the list; and this is the child of a fork, where the other threads are gone. */
  void (*thread_ends)(kvo_thread *self);
  void (*forked)(void);
  /** classes: what a trampoline runs, as libffi calls it. */
  kvo_function intercepted;
  /** registry: a node of an expression is freed, and with it its reference. */
  void (*release_expression)(kvo_tracked *tracked);

  /* --------------------------------------------------------------------- For watching/. These are called only while tapped -- */

  /** Returns what the change's begin is to answer. */
  uint32_t (*change_begins)(kvo_frame_content *change);
  void (*change_ends)(const kvo_frame_content *change);
  /** An observation's own node, which the caller keeps from being freed. */
  void (*registered)(const kvo_node *node);
  void (*ended)(const kvo_node *node);
  /** Calls back, between a beginning and an end. */
  void (*delivery)(const kvo_raw_change *change, const kvo_node *node, kvo_raw_callback callback, void *user_data);
  void (*died)(const kvo_info *info);

  /* ------------------------------------------------------------- For watching/, always: the log of observations that ended -- */

  /** An observation has just ended; its node is not retired yet. No lock may be held. */
  void (*remember)(const kvo_node *node, bool by_death, kvo_place place);
  /** An object dies of which something is remembered: what comes to its address is another. No lock may be held. */
  void (*forget)(const kvo_info *info);

  /* --------------------------------------------------------------- For faults/: misuse. No lock may be held unless it says so -- */

  /** KVO0001: these were registered when the object died. */
  void (*deallocated)(const kvo_object *object, const kvo_class *cls, kvo_fault_observation *left, size_t count,
                      kvo_place place);
  /** KVO0021: the header holds something else as the last observation, of this node, ends. */
  void (*overwritten)(const kvo_info *info, const kvo_node *node);
  /** KVO0008: a callback before a change ends the object that changes. */
  void (*ended_before_change)(const kvo_info *info, const kvo_slot *slot, const char *function, kvo_place place);
  /** A registration that is refused: which fault it is follows from the status. */
  void (*refused)(kvo_status status, const kvo_class *cls, const kvo_object *object, const char *key_path,
                  const void *observer, kvo_options options, const void *context, kvo_place place);
  /** KVO0008: an argument of a function of the API. */
  void (*invalid_argument)(const char *function, const char *what, kvo_place place);
  /** KVO0009: a set of a key that has no setter. */
  void (*no_setter)(const kvo_object *object, const char *key, kvo_place place);
  /** KVO0026: the property's setter takes values of another form or size. */
  void (*other_form)(const kvo_object *object, const kvo_property *property, kvo_form form, size_t size,
                     kvo_place place);
  /** KVO0009: a value is wanted of a key that the class does not have. */
  void (*undefined)(const kvo_class *cls, const kvo_object *object, kvo_slot *slot);
  /** KVO0011: an observation that nothing tells; a warning if its changes may be announced by hand. */
  void (*never_notifies)(const kvo_object *object, const char *key_path, kvo_silence silence, kvo_place place);
  /** KVO0011: an expression that could not be armed anew after a change, for want of memory. */
  void (*cannot_follow)(const kvo_fault_observation *concerned);
  /** KVO0012: `key_path` is that of an observation, or NULL; `why` is NULL when the header tells. */
  void (*unsupported_object)(const kvo_object *object, const char *function, const char *key_path, const char *why,
                             kvo_place place);
  /** KVO0019: what is registered already. */
  void (*duplicate)(const kvo_fault_observation *present, kvo_place place);
  /** An id that is not registered: KVO0002, KVO0003, KVO0005 or KVO0008. */
  void (*not_observing)(kvo_observation observation, kvo_place place);
  /** KVO0002 or KVO0003, for an observer and a key path. */
  void (*not_registered)(const kvo_object *object, const kvo_observer_identity *identity, const char *key_path,
                         const void *context, bool match_context, kvo_place place);
  /** KVO0016: a removal that fits several, the first of which is taken. */
  void (*ambiguous)(const kvo_fault_observation *candidates, size_t count, kvo_place place);
  /** KVO0015: it ends, its node is still there, and it was told of no change. */
  void (*unused)(const kvo_node *node, kvo_place place);
  /** KVO0017: a wait for an observation's deliveries that gave up; the death of an object whose evaluation on another thread waits for
   * this one; and, with this lock held, a signal handler that waits for the call that it has interrupted. The last does not return. */
  void (*endless_wait)(kvo_observation observation, kvo_waited waited, kvo_place place);
  void (*endless_death)(const kvo_info *info, kvo_place place);
  void (*interrupted)(const kvo_lock *lock);
  /** A limit is reached, of the variable or of the stack: KVO0024 for a circle of several whose values repeat, otherwise KVO0023. */
  void (*too_deep)(uint32_t depth, const kvo_nesting *nesting, bool by_variable);
  /** KVO0025: the callback of this node, or, if NULL, a getter in an evaluation. */
  void (*left)(const kvo_node *node);
  /** KVO0027: a delivery on that thread, still in progress. */
  void (*slow)(const kvo_fault_observation *delivered, uint32_t thread, uint64_t milliseconds);
  /** KVO0028. `concerned` here and below is one of those who observe the key, or NULL. */
  void (*no_will)(const kvo_object *object, const char *key, const kvo_fault_observation *concerned, kvo_place place);
  /** KVO0029: `end` says why there can be no did any more. */
  void (*unfinished)(const kvo_info *info, const kvo_object *object, const char *key,
                     const kvo_fault_observation *concerned, const char *end, const kvo_fault_site *will);
  /** KVO0030: will was called elsewhere, on another thread. */
  void (*crossed)(const kvo_object *object, const char *key, const kvo_fault_observation *concerned,
                  const kvo_fault_site *will, kvo_place did);
  /** KVO0031: will was called there. */
  void (*doubled)(const kvo_info *info, const char *key, const kvo_fault_observation *concerned,
                  const kvo_fault_site *will);
  /** KVO0032: the object at a key of an observed path is another than the one that was observed there. */
  void (*silent_change)(const kvo_fault_observation *concerned, const kvo_info *holder, const char *key);
  /** KVO0033: positions that are not ascending; and a did that says something else than its will, which holds. */
  void (*unordered_indexes)(const kvo_object *object, const char *key, size_t position, size_t before, size_t index,
                            kvo_place place);
  void (*other_indexes)(const kvo_object *object, const char *key, const kvo_announced *begun, const kvo_announced *end,
                        const kvo_fault_site *will, kvo_place place);
  /** KVO0009 as a warning: a change is announced of a key that nobody observes and the class does not have, but a similar one. */
  void (*unknown_key)(const kvo_object *object, const char *key, kvo_place place);
  /** KVO0034: a part of an environment variable, and what is wrong with it. */
  void (*misconfigured)(const char *variable, const char *item, size_t length, const char *problem);
};

extern KVO_HIDDEN const struct kvo_hooks kvo__hooks;

/** Tells a guest, if there is one. */
#define KVO_TELL(hook, ...)                                                                                            \
  do {                                                                                                                 \
    if (kvo__hooks.hook != NULL) kvo__hooks.hook(__VA_ARGS__);                                                         \
  } while (0)

/** Calls an observer, if tapped between a beginning and an end. The node is its own, kept from being freed. */
static inline void kvo__call_noted(bool tapped, const kvo_raw_change *change, const kvo_node *node,
                                   kvo_raw_callback callback, void *user_data) {
  if (tapped)
    kvo__hooks.delivery(change, node, callback, user_data);
  else
    callback(change, user_data);
}

#endif /* KVO_HOOKS_H */

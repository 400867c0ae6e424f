/* expressions/deliver.h - calling observers, describing observations, reading key paths, and the observers registered through kvo.h. */
#ifndef KVO_EXPRESSIONS_DELIVER_H
#define KVO_EXPRESSIONS_DELIVER_H

#include "expressions/tracked.h"

/* ----------------------------------------------------------------------------------------------------- describe.c -- */

/** Describes an observation by its node. The strings belong to the node. */
KVO_HIDDEN void kvo__describe_node(const kvo_node *node, kvo_fault_observation *out);
/** Describes the observation to which a node belongs: for a dependency of an expression, by its anchor. */
KVO_HIDDEN void kvo__describe_observation(const kvo_node *node, kvo_fault_observation *out);
/** The name of a slot's key. For an undefined key it is taken from an observation of it, else "?". The caller is a reader; the string
 * belongs to the class or to a node. */
KVO_HIDDEN const char *kvo__slot_name(const kvo_info *info, const kvo_slot *slot);
/** Describes the oldest direct or anchor node of a slot; false if there is none. The caller is a reader. */
KVO_HIDDEN bool kvo__describe_first(kvo_slot *slot, kvo_fault_observation *out);
/** The ops of an observation and their user data, by its own node. */
KVO_HIDDEN const kvo_observer_ops *kvo__node_ops(const kvo_node *node);
KVO_HIDDEN void *kvo__node_user_data(const kvo_node *node);
/** Whether the observation was registered through kvo.h. */
KVO_HIDDEN bool kvo__is_of_c(const kvo_observer_ops *ops);

/* -------------------------------------------------------------------------------------------------------- paths.c -- */

/** What a key path is read for: only its value; to see whether it can be observed; or an observation, which may be told of changes of the
 * last property without an evaluation, or, if it wants old values, only of those of elements. An observed path goes through a collection
 * only by an operator. */
typedef enum kvo_path_use {
  KVO_PATH_READ,
  KVO_PATH_PROBED,
  KVO_PATH_OBSERVED,
} kvo_path_use;

/** Checks what a program has passed to read or set by: a key path that is well-formed, and an object. Fails for memory whose header was
 * not initialised, or has been finished; on a path such an object counts as nil. */
KVO_HIDDEN kvo_status kvo__path_check_of(const kvo_object *object, const char *key_path);
/** Passes the value at the end of a checked key path to `reader`; nil if an intermediate value is. If this thread records, records each key
 * and its declared dependencies. With a status other than KVO_OK, `reader` was not called. */
KVO_HIDDEN kvo_status kvo__path_read(kvo_object *object, const char *key_path, kvo_path_use use,
                                     kvo_value_reader reader, void *arg);
/** Returns a copy of the value, to be freed with kvo__unbox; NULL with a status on failure. `spare` is NULL, or a box for it. */
KVO_HIDDEN kvo_boxed *kvo__path_copy(kvo_object *object, const char *key_path, kvo_status *status, kvo_path_use use,
                                     kvo_boxed *spare);

/** Gets an object that a key path leads to, and its last component: the property is NULL if the class has none. */
typedef kvo_status (*kvo_path_visitor)(kvo_object *object, const kvo_property *property, const char *key, void *arg);
/** Calls `visit` for the object at the end of a checked key path, or, if it leads through collections, for those of the elements; not at
 * all if an intermediate value is nil. Ends with the first status that is not KVO_OK. */
KVO_HIDDEN kvo_status kvo__path_visit(kvo_object *object, const char *key_path, kvo_path_visitor visit, void *arg);

/* -------------------------------------------------------------------------------------------------- c_callback.c -- */

/** An observation registered through kvo.h, in one block with its key path. */
typedef struct kvo_c_observer {
  kvo_object *object;
  kvo_callback callback;
  void *user_data;
  void (*destroy)(void *user_data);
  void *context;
  /** A box that is no longer used, for the next value of an expression; or NULL. */
  kvo_boxed *_Atomic spare;
  /** When it was registered, the key path led to nil: it may lead to an object later. */
  bool leads_to_nil;
  char key_path[];
} kvo_c_observer;

/** For an observed path of an object of C: kvo__path_copy, and reports KVO0009, KVO0018 or KVO0026 if it cannot be followed. */
KVO_HIDDEN kvo_boxed *kvo__path_evaluate(kvo_object *object, const char *key_path, kvo_boxed *spare);
/** Whether a value may be or contain an object, which nothing retains: it could be gone when the value is delivered as the old one. */
KVO_HIDDEN bool kvo__box_may_hold_object(const kvo_boxed *value);
/** Its ops. The key path belongs to the user data. */
extern KVO_HIDDEN const kvo_observer_ops kvo__c_ops;

/* ------------------------------------------------------------------------------------------------------- Delivery -- */

/** Calls an observer, given by its own node, if it is live; with a mark, and with recording suspended. */
static inline void kvo__call(const kvo_raw_change *change, const kvo_node *node, const _Atomic bool *live,
                             kvo_raw_callback callback, void *user_data) {
  kvo__assert(kvo__holds_none());
  uint32_t mark = kvo__mark(change->observation, NULL, node, change);
  if (mark == KVO_TOO_DEEP) {
    if (!change->is_prior) kvo__defer(node); /* a notification before a change must not come later */
  } else if (atomic_load(live)) {
    void *recorder = kvo_is_tracking() ? kvo__recording_suspend() : NULL;
    if (recorder != NULL && mark != KVO_UNMARKED) kvo__mark_at(mark)->recorder = recorder;
    kvo__call_noted(kvo__is_tapped(), change, node, callback, user_data);
    if (recorder != NULL) kvo__recording_resume(recorder);
  }
  kvo__unmark(mark);
}

/** kvo__call for a node of kind DIRECT. */
static inline void kvo__call_direct(const kvo_raw_change *change, const kvo_node *node) {
  kvo__call(change, node, &node->live, kvo__direct_callback(node), kvo__direct_argument(node));
}

#endif /* KVO_EXPRESSIONS_DELIVER_H */

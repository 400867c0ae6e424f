/* expressions/deliver.h - how an observer is called, what an observation is described by, key paths, and the observers of kvo.h. */
#ifndef KVO_EXPRESSIONS_DELIVER_H
#define KVO_EXPRESSIONS_DELIVER_H

#include "expressions/tracked.h"

/* ----------------------------------------------------------------------------------------------------- describe.c -- */

/** Fills what a fault says about a node; the strings are the node's. */
KVO_HIDDEN void kvo__describe_node(const kvo_node *node, kvo_fault_observation *out);
/** The same for the observation that a node belongs to: of an expression that read a key not the node there, but its own. */
KVO_HIDDEN void kvo__describe_observation(const kvo_node *node, kvo_fault_observation *out);
/** The key of a slot; of an undefined one what the observations of it say, or "?". The caller is a reader, and the string the info's or
 * a node's. */
KVO_HIDDEN const char *kvo__slot_name(const kvo_info *info, const kvo_slot *slot);
/** The same for the oldest observation of a slot that is its own; false if there is none. The caller is a reader. */
KVO_HIDDEN bool kvo__describe_first(kvo_slot *slot, kvo_fault_observation *out);
/** The object of a tracked observation, for its anchor. */
KVO_HIDDEN void kvo__describe_root(const kvo_tracked *tracked, kvo_fault_observation *out);
/** The operations of an observation and what they are given, by its own node. */
KVO_HIDDEN const kvo_observer_ops *kvo__node_ops(const kvo_node *node);
KVO_HIDDEN void *kvo__node_user_data(const kvo_node *node);
/** Whether it was made through kvo.h. */
KVO_HIDDEN bool kvo__is_of_c(const kvo_observer_ops *ops);

/* -------------------------------------------------------------------------------------------------------- paths.c -- */

/** Reads a key path; every key on the way, and what it is said to be affected by, is recorded when this thread records. NULL
 * with a status when it cannot. `may_have_leaf`: whether to declare that the value is that of a stored property at the end of the
 * path, if it is. Free the result with kvo__free. */
KVO_HIDDEN kvo_boxed *kvo__path_copy(kvo_object *object, const char *key_path, kvo_status *status, bool may_have_leaf);

/** An object on a path, with the value that refers to it: for a binding's property this may be all that keeps it alive. */
typedef struct kvo_held {
  kvo_object *object;
  const kvo_property *property;
  void *value;
} kvo_held;

/** Walks to the object that has the last component; false with KVO_OK for a nil on the way. The caller lets go of `at`. */
KVO_HIDDEN bool kvo__path_walk(kvo_held *at, const char **key_path, const kvo_property **property, kvo_status *status);
KVO_HIDDEN void kvo__path_let_go(const kvo_held *of);

/* -------------------------------------------------------------------------------------------------- c_callback.c -- */

/** What an observation made through kvo.h needs at each delivery, in one block with its key path. */
typedef struct kvo_c_observer {
  kvo_object *object;
  kvo_callback callback;
  void *user_data;
  void (*destroy)(void *user_data);
  void *context;
  const char *file;
  uint32_t line;
  kvo_options options;
  char key_path[];
} kvo_c_observer;

/** Its operations; the key path is the user data's. */
extern KVO_HIDDEN const kvo_observer_ops kvo__c_ops;

/* ------------------------------------------------------------------------------------------------------- Delivery -- */

/** Calls an observer, whose own node is given, if it is live, marked, with recording suspended. */
static inline void kvo__call(const kvo_raw_change *change, const kvo_node *node, const _Atomic bool *live,
                             kvo_raw_callback callback, void *user_data) {
  kvo__assert(kvo__holds_none());
  uint32_t mark = kvo__mark(change->observation, NULL, node, change);
  if (mark == KVO_TOO_DEEP) {
    if (!change->is_prior) kvo__defer(node); /* a prior note comes before the change, or not */
  } else if (atomic_load(live)) {
    void *recorder = kvo_is_tracking() ? kvo__recording_suspend() : NULL;
    if (recorder != NULL && mark != KVO_UNMARKED) kvo__mark_at(mark)->recorder = recorder;
    kvo__call_noted(kvo__is_tapped(), change, node, callback, user_data);
    if (recorder != NULL) kvo__recording_resume(recorder);
  }
  kvo__unmark(mark);
}

#endif /* KVO_EXPRESSIONS_DELIVER_H */

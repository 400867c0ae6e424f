/* changes/settle.h - bindings: observations whose callback sets a property. They are settled before anyone is told: settle.c, heights.c. */
#ifndef KVO_SETTLE_H
#define KVO_SETTLE_H

#include "changes/frames.h"

/** What is kept of a binding, beside its observation. */
typedef struct kvo_bound {
  /** Its entries in the queue of a hold, by height, and among all bindings, by target. Under the lock of heights.c, like the members up to
   * `is_renewed`. */
  kvo_index_entry queued, of_target;
  /** One more than the greatest height of the bindings that set what it reads. It changes only while it is in no queue. */
  uint32_t height;
  /** How often it has run in the hold with this serial, and how often it was put back there because it had read what another one was going
   * to set. */
  uint32_t rounds, put_back;
  uint64_t serial;
  /** Whether it is in the queue of its settler; and whether what it reads was changed by the program on another thread since it began to
   * run: rounds are counted from the last such change. */
  bool is_queued, is_renewed;
  /** Another thread that settles bindings has changed what it reads, too. */
  _Atomic bool is_contended;
  uint64_t round_of;
  /** The address of the hold whose thread settles it, or of the thread that runs it alone, or 0; plus 1 if what it reads has changed since
   * it began to run. Without the lock only a thread that runs it alone changes it, from 0 to its own address and back. */
  _Atomic uintptr_t settler;
  /** How often it has got a settler: one that is no longer the last has passed it on. */
  _Atomic uint64_t runs;
  /** While a thread runs it alone: how many marks there were before the change of what it reads; KVO_BOUND_WAITS while it is outdated and
   * waits for its thread to run it once more. */
  uint32_t depth;
  /** The observation's own node, and the order of that. Constant. */
  kvo_node *node;
  uint64_t order;
  /** The binding that ends with this one, or 0. */
  _Atomic kvo_observation other;
  /** It reads what it sets, as far as its last evaluation in a hold, or with other dependencies, shows. */
  _Atomic bool reads_target;
  /** What it sets; the object is only compared, and NULL if it is none of the runtime's. Constant. */
  const kvo_object *target;
  kvo_key key;
  /** What it reads, if that is a stored property, otherwise NULL; the object is only compared. Constant once it is listed. */
  const kvo_object *source;
  kvo_key source_key;
  /** It is among all bindings. Constant once its registration is complete. */
  bool is_listed;
  /** What kvo__enter returned for the node's info, while there is a settler. For an expression that is retained instead. */
  uint64_t entered;
  /** While it runs in a hold, the one within whose callback it was made. */
  struct kvo_bound *outer;
} kvo_bound;

/** The binding of a node, its own or that of a dependency, with KVO_NODE_BINDS. */
static inline kvo_bound *kvo__bound_of(const kvo_node *node) {
  const kvo_node *own = kvo__node_is_dependency(node) ? ((const kvo_tracked *)node->user_data)->anchor : node;
  return kvo__node_details(own)->bound;
}

/** The expression of a binding, or NULL. */
static inline kvo_tracked *kvo__bound_tracked(const kvo_bound *of) {
  return kvo__node_kind(of->node) == KVO_NODE_ANCHOR ? of->node->user_data : NULL;
}

/** The innermost hold of this thread in which bindings are settled and nobody is told, or NULL. */
KVO_HIDDEN kvo_open_scope *kvo__settling(void);
/** Settles the bindings that read a key, which has been stored, and those that read what they set. Returns the hold whose end tells the
 * observers of what was set; NULL if there is nothing to tell, or if a hold of this thread does it. `depth` is how many marks there were
 * before the change; `is_told`: after it, the caller tells the key's observers its present value. No lock may be held; the caller is a
 * reader of the slot's info. */
KVO_HIDDEN kvo_open_scope *kvo__settle(kvo_slot *slot, uint32_t depth, bool is_told);
/** The same for one binding, by its own node. */
KVO_HIDDEN void kvo__settle_one(const kvo_node *node);
/** Whose thread tells a new binding for the first time. */
typedef struct kvo_first {
  kvo_open_scope *hold;
  /** Whether it was opened for that, and whether this thread is to tell the binding: otherwise the one that settles it does. */
  bool is_own, is_claimed;
} kvo_first;
/** Before a registration tells a binding its initial value: until kvo__settle_rest, no other thread settles the binding. Without memory for
 * a hold it is told like any other observer. */
KVO_HIDDEN kvo_first kvo__settle_first(const kvo_node *node);
KVO_HIDDEN void kvo__settle_rest(const kvo_node *node, const kvo_first *first);
/** The same for all keys that a scope has noted, before it tells. */
KVO_HIDDEN kvo_open_scope *kvo__settle_scope(kvo_open_scope *scope);
/** At the end of a thread: settles what is outdated, if a binding was left. */
KVO_HIDDEN void kvo__settle_thread_end(kvo_thread *self);
/** Opens a hold: until kvo__settle_run_all, whatever settles a binding puts it into its queue. kvo__scope_close then tells the observers of
 * what was set. `depth` is how many marks there were before; `frame` is that of the caller. NULL without memory. */
KVO_HIDDEN kvo_open_scope *kvo__settle_open(uint32_t depth, const void *frame);
KVO_HIDDEN void kvo__settle_run_all(kvo_open_scope *hold);
/** Puts the bindings that read a key into the queue of a hold. */
KVO_HIDDEN void kvo__settle_add(kvo_open_scope *hold, const kvo_slot *slot);
/** Gives up what is in the queue, because the hold was left. */
KVO_HIDDEN void kvo__settle_drop(kvo_open_scope *hold);

/* ------------------------------------------------------------------------------------------------------- heights.c -- */

/** Makes what is kept of a binding, with its node. False without memory. */
KVO_HIDDEN bool kvo__bound_make(kvo_node *node, const kvo_object *target, kvo_key key);
/** Lists it among all bindings, once its node is linked: other threads may then look at what it reads and sets. The caller is a reader of
 * the node's info. */
KVO_HIDDEN void kvo__bound_list(const kvo_node *node);
KVO_HIDDEN void kvo__bound_free(kvo_bound *bound);
/** In the child of a fork: bindings that other threads were settling have no settler. */
KVO_HIDDEN void kvo__bound_forked(void);
/** Has a hold settle a binding, which is put into the queue if it is to run, otherwise runs already; false if another thread or this hold
 * does it already: it is then run once more. */
KVO_HIDDEN bool kvo__bound_claim(kvo_bound *bound, kvo_open_scope *hold, bool is_to_run);
/** Bindings that are nested deeper than this are run in a hold, one after the other. */
enum { KVO_MOST_NESTED_BINDINGS = 128 };
#define KVO_BOUND_WAITS (UINT32_MAX - 1)
/** Has this thread run a binding alone, without a hold, after a change for which there were so many marks: whatever the binding sets, the
 * change notifies no other observer. While the observers of the target are notified, it may be run again. Returns the number of the run; 0
 * if the binding is settled already: it is then run once more. */
KVO_HIDDEN uint64_t kvo__settle_begin(kvo_bound *bound, uint32_t depth);
/** Ends that. The outermost one settles, in a hold, what has become outdated meanwhile. */
KVO_HIDDEN void kvo__settle_end(kvo_bound *bound, uint32_t depth, uint64_t run);
/** The same for the state of the binding. `end`: false if it is outdated; then this thread still settles it. */
KVO_HIDDEN uint64_t kvo__bound_begin(kvo_bound *bound, uint32_t depth);
KVO_HIDDEN bool kvo__bound_end(kvo_bound *bound, uint64_t run);
/** Ends it although the binding is outdated, because it is being removed. */
KVO_HIDDEN void kvo__bound_give_up(kvo_bound *bound);
/** Has a hold settle such a binding. */
KVO_HIDDEN void kvo__bound_pass(kvo_bound *bound, kvo_open_scope *hold);
/** See binding_left in hooks.h. */
KVO_HIDDEN void kvo__bound_left(kvo_observation observation);
/** Removes the first binding from the queue; NULL if it is empty. */
KVO_HIDDEN kvo_bound *kvo__bound_next(kvo_open_scope *hold);
/** Puts a binding that has run into the queue again if it is outdated; otherwise nobody settles it any more, and this returns true. */
KVO_HIDDEN bool kvo__bound_release(kvo_bound *bound, kvo_open_scope *hold);
/** Has the second binding end with the first. False if the first has ended. */
KVO_HIDDEN bool kvo__bound_join(kvo_observation first, kvo_observation second);
/** The binding that ends with this one; 0 if there is none, or if it has ended. */
KVO_HIDDEN kvo_observation kvo__bound_other(kvo_observation first);
/** Looks at what the binding reads: corrects the height, and notes whether it reads what it sets. Returns true, and puts the binding back
 * into the queue of the hold, unless that is NULL, if another one there is going to set what it reads; or, unless it has run, if its height
 * was too low. */
KVO_HIDDEN bool kvo__bound_waits(kvo_bound *bound, kvo_open_scope *hold, bool has_run);

#endif /* KVO_SETTLE_H */

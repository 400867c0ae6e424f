/* expressions/tracked.h - observed expressions, their evaluations, and what is kept of them during a change. Start with struct kvo_tracked,
 * then the first comment of track.c.
 * circle: depth.c, unwind.c: where deliveries may nest no deeper they are deferred, until half of those that depth.c counts have returned.
 * circle: c_callback.c, describe.c: the description of an observation of C names its callback, and the fault of one describes it.
 * circle: pending.c, record.c: what is kept during a change is an evaluation's value, and the end of one asks what is kept. */
#ifndef KVO_TRACKED_H
#define KVO_TRACKED_H

#include "platform/stack.h"
#include "registry/registry.h"

/* The value of an evaluation, shared by deliveries and `last`. */
typedef struct kvo_cell {
  _Atomic uint32_t references;
  void *value;
} kvo_cell;

/** What the owner of an expression is asked for, where this thread must not evaluate it. */
enum kvo_asked {
  /** To evaluate it, because it may depend on other keys now. */
  KVO_ASKED_TO_FOLLOW = 1u << 0,
  /** To notify its observer as well. */
  KVO_ASKED_TO_TELL = 1u << 1,
};

struct kvo_tracked {
  _Atomic uint32_t references;
  _Atomic bool live;
  kvo_lock lock;
  /** Valid while `live`. */
  kvo_object *object;
  void *instance;
  /** The info of `object`. */
  kvo_info *root;
  /** The class of `object`. */
  const kvo_class *cls;
  /** Freed with this struct, so that the observation can always be described; but it may be unlinked at any time. */
  kvo_node *anchor;
  const kvo_observer_ops *ops;
  void *user_data;
  kvo_options options;
  bool keep_last;
  /** A dependency may be a leaf. Changed with `lock` held. */
  _Atomic bool has_leaf;
  /** The birth of the newest node in the process when the registration succeeded. 0 until then, and while the observation is paused: no
   * callback is made. */
  _Atomic uint64_t registered;
  /** A change was not delivered because `registered` was 0. */
  _Atomic bool missed;
  /** What the owner has been asked for and has not done yet: kvo_asked bits. */
  _Atomic uint32_t asked;
  /** The registration succeeded. */
  bool is_complete;
  kvo_observation id;
  /** The order of the anchor. */
  uint64_t order;
  /** The members from here on are guarded by `lock`. */
  kvo_dependency *dependencies;
  /** How often the list has changed. */
  uint64_t list_changes;
  uint64_t started, committed;
  /** The newest evaluation that had begun when a change was deferred: until a newer one ends, the dependencies may be outdated. */
  uint64_t outdated;
  /** How many evaluations have begun, including those before changes. */
  uint64_t evaluations;
  kvo_cell *last;
  /** While it is paused: what `registered` is to be again, otherwise 0; and the value at the pause, if the old value is wanted. */
  uint64_t held;
  kvo_cell *kept;
  /** The newest evaluation came to a dying object: the program's pointer to it may dangle until a change is delivered. */
  bool orphaned;
  /** The thread that registered it, and whether another thread has ever evaluated it. */
  const kvo_thread *thread;
  bool is_shared;
  /** The newest evaluation read each dependency once, in the order opposite to that of the list, and its value is that of none. */
  bool is_regular;
  /** The newest evaluation lacked memory, so it may have read keys that it is not subscribed to. */
  bool is_incomplete;
};

/* An evaluation remembers this many reads. After more, the last read is not known. */
enum { KVO_MAX_READS = 16 };

/* A read of an evaluation. */
typedef struct kvo_key_read {
  /** For comparison only, like `object`. */
  const kvo_info *info;
  kvo_key key;
  kvo_object *object;
  const kvo_property *property;
  /** Key-value coding reported the read; the getter that it is about to call will report the same read again. */
  bool expects_getter;
} kvo_key_read;

/* A dependency that an evaluation is likely to read: one that the evaluation before it has read. Other threads may drop it meanwhile, so
 * the address is only compared. */
typedef struct kvo_expected {
  const kvo_dependency *dependency;
  const kvo_info *info;
  kvo_key key;
  kvo_object *object;
  const kvo_property *property;
} kvo_expected;

/* What an evaluation before a change has read, to be compared with the subscriptions. The objects may be dead: their addresses are compared
 * with the dependencies, and never dereferenced. */
typedef struct kvo_comparison {
  bool is_wanted;
  /** The info of the object that changes, which the frame keeps. */
  const kvo_info *changing;
  /** How many of the reads are noted for the comparison. */
  size_t count;
} kvo_comparison;

/* An evaluation in progress on this thread. */
typedef struct kvo_evaluation {
  kvo_tracked *tracked;
  /** The number of an evaluation that subscribes. 0 for one that only computes the value before a change. */
  uint64_t number;
  /** For number 0: the comparison, and how many evaluations that subscribe had begun before. */
  kvo_comparison compared;
  uint64_t begun_before;
  /** The serial number among all evaluations of the observation. */
  uint64_t serial;
  kvo_status status;
  /** It came to an object that is being destroyed. */
  bool has_met_dying;
  /** What kvo__enter returned: keeps the root's info, because the evaluation may destroy the object. */
  uint64_t entered;
  uint32_t mark;
  /** How many dependencies are expected; how many of them were read in their order; and a bit for each that was read. */
  uint32_t expected_count, read_in_order, expected_read;
  /** How often the list of dependencies had changed when it began. */
  uint64_t list_changes;
  /** How many reads there were; and whether they are in `reads`: not as long as all were expected in this order. */
  size_t read_count;
  bool is_noted;
  /** The key whose value the result is said to be (kvo_track_value_is_of). */
  const kvo_info *value_info;
  kvo_key value_key;
  /** The key whose elements the result is said to have (kvo_track_elements_are_of). */
  const kvo_info *subject_info;
  kvo_key subject_key;
  /** The members from here on are not cleared. The dependencies when it began, in the order of the reads before; a read of one of them need
   * not subscribe. None if there were too many. */
  kvo_expected expected[KVO_MAX_READS];
  /** The first reads in order. */
  kvo_key_read reads[KVO_MAX_READS];
} kvo_evaluation;

static inline void kvo__evaluation_clear(kvo_evaluation *here, kvo_tracked *tracked) {
  memset(here, 0, offsetof(kvo_evaluation, expected));
  here->tracked = tracked;
}

/* The evaluation of a mark, or NULL. */
static inline kvo_evaluation *kvo__evaluation_of(const kvo_mark *mark) {
  return mark->frame != NULL && mark->node == NULL ? mark->evaluation : NULL;
}

/* ------------------------------------------------------------------------------------------------------ pending.c -- */

/** The old value of an expression, from the will to the did of a frame. */
typedef struct kvo_pending_value {
  /** NULL for one that was moved to another will phase. */
  kvo_tracked *tracked;
  /** The node by which the expression depends on the key. */
  const kvo_node *node;
  void *value;
  /** Used instead of `value` if the expression must not be evaluated: the value that was delivered last. */
  struct kvo_cell *last;
  /** The did has been delivered, or left to a scope. */
  bool delivered;
  /** Of a scope: its observer is to be notified before the change. */
  bool owes_prior;
  /** An object that the expression depends on has died meanwhile, which the did tells. */
  bool owes_death;
  /** Of a scope: the value may be that after a change in progress which the expression has not been told of. */
  bool is_late;
  /** Orders the pending values of a thread by age; set by kvo__pending_add. */
  uint64_t serial;
} kvo_pending_value;

/** The will phase of a frame, or of a coalescing scope. Allocated, because the binding may move its frame. */
typedef struct kvo_will_phase {
  kvo_thread *thread;
  /** The will phases of the next outer frame of this thread, and of the next inner one. */
  struct kvo_will_phase *outer, *inner;
  /** The info of the object that changes; NULL for a scope. */
  const kvo_info *info;
  /** The slot of the frame; NULL for a scope. */
  kvo_slot *slot;
  /** An expression is notified only if its value has changed, as far as its values can be compared. */
  bool if_changed;
  /** `first` is the initial storage. */
  kvo_pending_value *pending;
  size_t count, capacity;
  kvo_pending_value first;
  /** A hash table of positions in `pending`, each plus 1, by expression: twice the capacity. NULL while the capacity is small. */
  uint32_t *positions;
  /** While observers are notified before the change, the stack frame that does it; otherwise NULL. */
  const void *telling;
  /** If the change has ended or been abandoned when a stack frame is gone: that frame, and the next outer will phase that has one.
   * Otherwise NULL. */
  const void *frame;
  struct kvo_will_phase *outer_bound;
} kvo_will_phase;

/** Begins the will phase of a change on this thread; `telling` is the stack frame that notifies observers. `stays`: it ends on this thread,
 * too. NULL without memory. */
KVO_HIDDEN kvo_will_phase *kvo__will_begin(const kvo_info *info, kvo_slot *slot, const void *telling, bool stays);
/** Binds the phase to a stack frame: if that is left, the phase ends (kvo__wills_abandoned). Nothing for NULL. */
KVO_HIDDEN void kvo__will_bind(kvo_will_phase *will, const void *frame);
/** Ends the phase and releases its pending values. */
KVO_HIDDEN void kvo__will_end(kvo_will_phase *will);
/** Begins that of a scope. */
KVO_HIDDEN kvo_will_phase *kvo__will_begin_scope(bool if_changed);
static inline bool kvo__will_is_of_scope(const kvo_will_phase *will) { return will->info == NULL; }
/** Adds a pending value; false without memory. */
KVO_HIDDEN bool kvo__pending_add(kvo_will_phase *will, kvo_pending_value value);
/** Moves a pending value to another will phase; false without memory. */
KVO_HIDDEN bool kvo__pending_move(kvo_pending_value *value, kvo_will_phase *to);
/** Sorts the pending values by the order in which their expressions were registered. */
KVO_HIDDEN void kvo__pending_sort(kvo_will_phase *will);
/** Marks the pending value as delivered: the expression has become a leaf and is notified as such. */
KVO_HIDDEN void kvo__pending_told(const kvo_tracked *tracked, kvo_will_phase *will);
/** The pending value of an expression, or NULL. */
KVO_HIDDEN kvo_pending_value *kvo__pending_of(const kvo_tracked *tracked, const kvo_will_phase *will);
/** Drops the will phases of changes that were left with longjmp or an exception, as the present stack frame shows. No lock may be held. */
KVO_HIDDEN void kvo__wills_abandoned(const void *frame);
/** Whether a change in progress on this thread, other than those of a scope, is going to notify the expression. */
KVO_HIDDEN bool kvo__awaits_change(const kvo_tracked *tracked);
KVO_HIDDEN bool kvo__is_left_to_open_scope(const kvo_tracked *tracked);
KVO_HIDDEN bool kvo__leave_to_open_scope(const kvo_tracked *tracked, kvo_will_phase *will);
/** Whether a scope of this thread is still going to notify this expression. */
static inline bool kvo__is_left_to_scope(const kvo_tracked *tracked) {
  return kvo__scopes() != NULL && kvo__is_left_to_open_scope(tracked);
}
/** If a scope of this thread, other than that of `will`, is still going to notify this expression: leaves it to notify of this change as
 * well, with the older of the two old values. `will` may be NULL. */
static inline bool kvo__leave_to_scope(const kvo_tracked *tracked, kvo_will_phase *will) {
  return kvo__scopes() != NULL && kvo__leave_to_open_scope(tracked, will);
}
/** Whether a change of this thread is still going to notify this expression, by a dependency that the evaluation with this number has read,
 * other than this key. tracked->lock is held. */
KVO_HIDDEN bool kvo__is_being_led(const kvo_tracked *tracked, uint64_t number, const kvo_info *info, kvo_key key);
/** Whether a change of this thread, other than one of the dying object itself, is still going to notify this expression, or to evaluate it
 * if the change is silent. */
KVO_HIDDEN bool kvo__in_change_of(kvo_tracked *tracked, const kvo_info *dying);
/** If this thread is notifying observers before a change of this object, the slot of that change; otherwise NULL. */
KVO_HIDDEN const kvo_slot *kvo__in_will_of(const kvo_info *info);

/* ------------------------------------------------------------------------------------------------ track.c, record.c -- */

/** Releases a reference to a value; NULL is ignored. */
KVO_HIDDEN void kvo__cell_release(kvo_tracked *tracked, kvo_cell *held);
/** Evaluates and updates the subscriptions. The caller releases the cell. NULL if the observation has ended, or without memory (see
 * *status). */
KVO_HIDDEN kvo_cell *kvo__arm_once(kvo_tracked *tracked, kvo_status *status);
/** The same after a change: retries if there is too little memory, and finally reports KVO0011. */
KVO_HIDDEN kvo_cell *kvo__arm(kvo_tracked *tracked, kvo_status *status);
/** Notifies the observer. */
KVO_HIDDEN void kvo__tracked_tell(kvo_tracked *tracked, kvo_change_kind kind, bool is_prior, const void *old_value,
                                  const void *new_value);

static inline void kvo__tracked_retain(kvo_tracked *tracked) { atomic_fetch_add(&tracked->references, 1); }

static inline kvo_info *kvo__dependency_info(const kvo_dependency *dependency) {
  return kvo__slot_info(atomic_load_explicit(&dependency->node.slot, memory_order_relaxed));
}

static inline kvo_key kvo__dependency_key(const kvo_dependency *dependency) {
  return atomic_load_explicit(&dependency->node.slot, memory_order_relaxed)->key;
}

/** Notes a read before a change for kvo__silent_change. */
KVO_HIDDEN void kvo__note_compared(kvo_evaluation *over, kvo_object *object, kvo_key key);
/** After an evaluation before a change: if the value of a key was replaced without notification, returns the info of its object, entered
 * for the caller to leave, and stores the key in `*key`. NULL if there is none or it is not certain. */
KVO_HIDDEN kvo_info *kvo__silent_change(const kvo_evaluation *over, uint64_t *entered, kvo_key *key);
/** Notes the dependencies that an evaluation is likely to read, before it begins. tracked->lock is held. */
KVO_HIDDEN void kvo__expect_reads(kvo_evaluation *here);
/** What an evaluation has found of what it expected. */
typedef enum kvo_confirmed {
  /** Another thread has dropped a dependency that it has read: the expression has to be evaluated again. */
  KVO_READS_LOST,
  KVO_READS_KEPT,
  /** It has read exactly what the evaluation before it had read, in the same order: nothing is to be settled nor dropped. */
  KVO_READS_AS_BEFORE
} kvo_confirmed;
/** After the newest evaluation: marks the expected dependencies that it has read as such. tracked->lock is held. */
KVO_HIDDEN kvo_confirmed kvo__confirm_reads(const kvo_evaluation *over);
/** Turns the dependencies into leaf, subject or plain dependency, as the newest evaluation requires; returns whether there is a leaf.
 * tracked->lock is held. */
KVO_HIDDEN bool kvo__settle_leaf(kvo_tracked *tracked, kvo_evaluation *over);
/** Before a change of another key that the expression reads: makes the leaf a plain dependency until the change has notified the
 * expression. What the leaf's object is set to meanwhile need not be the expression's value any more. */
KVO_HIDDEN void kvo__unsettle_leaf(kvo_tracked *tracked);
/** Drop the dependencies whose newest reader is this evaluation, and those read only by older ones. */
KVO_HIDDEN void kvo__drop_read_by(kvo_tracked *tracked, uint64_t number);
KVO_HIDDEN void kvo__drop_read_before(kvo_tracked *tracked, uint64_t number);

/** Whether a silent change of a key that it depends on is in progress on this thread, at whose end it is evaluated. */
KVO_HIDDEN bool kvo__tracked_awaits_silent(kvo_tracked *tracked);
/** Before a change of a key on which the expression depends, by `node`: keeps the old value in the will phase, if that is not NULL, and
 * notifies prior observers; of a scope only kvo__tracked_prior does. */
KVO_HIDDEN void kvo__tracked_will(kvo_tracked *tracked, const kvo_node *node, const kvo_info *changing,
                                  kvo_will_phase *will);
/** Notifies a prior observer that has not been, with the old value that the scope keeps. */
KVO_HIDDEN void kvo__tracked_prior(kvo_tracked *tracked, const kvo_will_phase *will);
/** After the change: evaluates again, updates the subscriptions and notifies. */
KVO_HIDDEN void kvo__tracked_did(kvo_tracked *tracked, kvo_will_phase *will);
/** Instead of the did of a change that was not made: notifies of the deaths that were left to it. */
KVO_HIDDEN void kvo__tracked_refused(kvo_will_phase *will);
/** An object that the expression has read is dying: evaluates again and notifies. */
KVO_HIDDEN void kvo__tracked_died(kvo_tracked *tracked, const kvo_info *dying);
/** From now on no callback starts. */
KVO_HIDDEN void kvo__tracked_stop(kvo_tracked *tracked);
/** Ends the observation: from now on no callback and no evaluation starts. May be called several times. */
KVO_HIDDEN void kvo__tracked_end(kvo_tracked *tracked);
/** After a change during which the expression was registered: evaluates again without notifying, because it may have read the old value. */
KVO_HIDDEN void kvo__tracked_rearm(kvo_tracked *tracked);
/** Keeps an expression for the end of a scope, which has begun to depend on this node's key since the scope looked; the key has been stored
 * meanwhile. The value that its observer knows is the old one. Nothing if it was registered in that time, or a scope keeps it already. */
KVO_HIDDEN void kvo__tracked_keep_late(kvo_tracked *tracked, const kvo_node *node, kvo_will_phase *scope);
/** After a change that began before the dependency with this birth was linked: evaluates again, and notifies if the expression was
 * registered before that. */
KVO_HIDDEN void kvo__tracked_missed(kvo_tracked *tracked, uint64_t birth);
/** Whether the expression depends on a key of the object with this info; false for NULL. */
KVO_HIDDEN bool kvo__tracked_hears(kvo_tracked *tracked, kvo_info *info, kvo_key key);
/** After a change of a leaf: passes the change on to the observer. */
KVO_HIDDEN void kvo__tracked_leaf(kvo_tracked *tracked, const kvo_raw_change *change);
/** Takes a dependency of a dying object out of its expression's list; false if another thread has done it. */
KVO_HIDDEN bool kvo__tracked_detach(kvo_node *dependency);
KVO_HIDDEN void kvo__tracked_release(kvo_tracked *tracked);
/** kvo_track_coded_read for a key. Returns whether the caller is to record the key's declared dependencies, too: if it has any, and this
 * evaluation has not recorded them yet. */
KVO_HIDDEN bool kvo__track_declared(kvo_object *object, kvo_key key, bool is_affected);
/** Makes the evaluation that this thread records fail with this status, because what it recorded is incomplete. */
KVO_HIDDEN void kvo__track_fail(kvo_status status);
/** Says that the evaluation in progress on this thread, if any, came to an object that is being destroyed. */
KVO_HIDDEN void kvo__track_dying(void);
/** Stops recording on this thread. Returns what to pass to kvo__recording_resume. */
KVO_HIDDEN void *kvo__recording_suspend(void);
KVO_HIDDEN void kvo__recording_resume(void *recorder);
/** Cleans up after an evaluation that was left with longjmp or an exception. No lock may be held. */
KVO_HIDDEN void kvo__evaluation_left(const kvo_mark *mark);
/** Evaluates again and notifies with the present value, and an old value or NULL: for a deferred delivery, and after a pause. */
KVO_HIDDEN void kvo__tracked_retell(kvo_tracked *tracked, const void *old_value);
/** Does what the owner was asked for: evaluates, and notifies of the changes that were left to it. */
KVO_HIDDEN void kvo__tracked_settle(kvo_tracked *tracked);
/** When a pause begins: the present value, or the one delivered last if this thread may not evaluate, or if a change is left to the owner.
 * The caller releases the cell, which may be NULL. */
KVO_HIDDEN kvo_cell *kvo__tracked_present(kvo_tracked *tracked);
/** When a pause has ended: asks the owner again for what was left to it before the pause. */
KVO_HIDDEN void kvo__tracked_ask_again(kvo_tracked *tracked);
/** In the child of a fork: the evaluations of other threads do not exist. */
KVO_HIDDEN void kvo__tracking_forked(void);

/* --------------------------------------------------------------------------------------------------------- depth.c -- */

/** Whether a delivery may begin in that stack frame, nested in those in progress. If not, the caller defers it. No lock may be held. */
KVO_HIDDEN bool kvo__may_nest_slowly(kvo_thread *self, const void *frame);
/** Stores the marks of deliveries in progress, outermost first; if there are more than `capacity`, the innermost. Returns how many, and
 * stores how many were left out. */
KVO_HIDDEN size_t kvo__deliveries(const kvo_thread *self, const kvo_mark **found, size_t capacity, size_t *skipped);

/* ------------------------------------------------------------------------------------------------------ deferred.c -- */

/** A deferred delivery. */
typedef struct kvo_deferred {
  /** The next one in the queue, and the next one in the same bucket. */
  struct kvo_deferred *next, *other;
  /** The observation's own node. For an anchor its kvo_tracked is retained, otherwise the info is entered. */
  const kvo_node *node;
  kvo_info *info;
  uint64_t entered;
  bool is_queued;
  /** It was deferred during a delivery of the same observation, which causes the change itself. */
  bool is_in_cycle;
  /** How often it was delivered, or dropped, after cycles are dropped. */
  uint32_t late;
} kvo_deferred;

/** Defers a delivery to the observation with this node, its own, because it would nest too deeply. No lock may be held. The caller is a
 * reader of the node's info. */
KVO_HIDDEN void kvo__defer(const kvo_node *node);
/** Removes and returns the first deferred delivery of the queue; NULL if it is empty. */
KVO_HIDDEN kvo_deferred *kvo__deferred_take(const kvo_unwinding *from);
/** Drops all deferred deliveries. May run code of the program. */
KVO_HIDDEN void kvo__deferred_let_go(const kvo_unwinding *of);
/** The expression to be notified, or NULL for a direct observation. */
KVO_HIDDEN kvo_tracked *kvo__deferred_tracked(const kvo_deferred *of);

/* -------------------------------------------------------------------------------------------------------- unwind.c -- */

/** Has the death of an observed object, on another thread, wait until kvo__let_go_of_object, as for an evaluation; `frame` is the caller's
 * stack frame. False if the object is dead or the observation has ended. The caller is a reader of the info; no lock may be held. */
KVO_HIDDEN bool kvo__hold_object(kvo_info *info, const kvo_node *node, const void *frame, uint32_t *mark);
KVO_HIDDEN void kvo__let_go_of_object(uint32_t mark);
/** Notifies a direct observation of the present value, and of this old value or NULL, unless it is paused. The same conditions. */
KVO_HIDDEN void kvo__deliver_present(kvo_node *node, kvo_info *info, const void *old_value);

/** From now on no delivery nests, until the depth has fallen to where the cycle began, or to half. */
KVO_HIDDEN void kvo__unwind_begin(kvo_thread *self, bool gives_up);
/** Makes the deferred deliveries, if this depth is low enough. No lock may be held. */
KVO_HIDDEN void kvo__unwind_if_due(kvo_thread *self, uint32_t depth);
/** kvo__unwind_if_due was left with longjmp or an exception: the remaining deliveries are made later. */
KVO_HIDDEN void kvo__unwind_left(kvo_thread *self);
/** At the end of a thread: drops them. */
KVO_HIDDEN void kvo__unwind_drop(kvo_thread *self);

/* ----------------------------------------------------------------------------------------------------- abandoned.c -- */

/** Ends calls that were left with longjmp or an exception: removes their marks, and reports KVO0025, unless a fault handler was left. No
 * lock may be held. */
KVO_HIDDEN void kvo__end_abandoned(kvo_thread *self, const void *frame);
/** The same at the end of a thread, for all its calls. Reports nothing, because a thread may end anywhere. */
KVO_HIDDEN void kvo__end_all(kvo_thread *self);
/** Removes a mark that is not the innermost. Those above it that were left are ended and reported as by kvo__end_abandoned, unless a lock
 * is held or the mark is that of a fault handler. */
KVO_HIDDEN void kvo__unmark_below(kvo_thread *self, uint32_t depth);
/** Brackets a call of a fault handler by that stack frame. `recorder` is restored if the handler is left. */
KVO_HIDDEN uint32_t kvo__handler_begin(const void *frame, void *recorder);
KVO_HIDDEN void kvo__handler_end(uint32_t mark);
/** Whether this thread is in a fault handler: a fault there takes the default action at once. */
KVO_HIDDEN bool kvo__in_handler(void);

#endif /* KVO_TRACKED_H */

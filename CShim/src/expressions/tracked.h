/* expressions/tracked.h - observed expressions, their evaluations, and what is kept of them during a change. Start with struct kvo_tracked,
 * then the first comment of track.c.
 * circle: depth.c, unwind.c: where deliveries may nest no deeper they are deferred, until half of those that depth.c counts have returned.
 * circle: c_callback.c, describe.c: the description of an observation of C names its callback, and the fault of one describes it. */
#ifndef KVO_TRACKED_H
#define KVO_TRACKED_H

#include "platform/stack.h"
#include "registry/registry.h"

/* The value of an evaluation, shared by deliveries and `last`. */
typedef struct kvo_cell {
  _Atomic uint32_t references;
  /** The clock of the evaluating thread when the evaluation began. */
  uint64_t began;
  void *value;
} kvo_cell;

/** What the owner of an expression is asked for, where this thread must not evaluate it. */
enum kvo_asked {
  /** To evaluate it, because it may depend on other keys now. */
  KVO_ASKED_TO_FOLLOW = 1u << 0,
  /** To tell its observer as well. */
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
  /** `last` may be kept from one notification to the next, unless it is a value of C that holds an object. Constant. */
  bool keeps_last;
  /** What is not kept is read before a change. Constant. */
  bool reads_before;
  /** It is a key path, and it is checked whether an object on it was replaced without notification. Constant. */
  bool is_checked;
  /** Its callback sets a property (settle.c). Constant. */
  bool is_binding;
  /** It is a function of the program, which a death does not evaluate. Constant. */
  bool is_opaque;
  /** A link is a leaf. Changed with `lock` held. */
  _Atomic bool has_leaf;
  /** An open change of this thread tells it (kvo__is_postponed), or the hold of a scope. */
  _Atomic bool is_stale;
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
  /** How often the list has changed. Read without the lock by who compares it with an earlier count. */
  _Atomic uint64_t list_changes;
  uint64_t started, committed;
  /** The clock of the evaluating thread when the newest evaluation began. */
  uint64_t read_at;
  /** The value that the observer was told last, if old values are wanted. NULL if it is not known, and for an expression that does not
   * keep it: except from before a change until it is told. */
  kvo_cell *_Atomic last;
  /** A cell of no more use, for the next value; or NULL. Not guarded. */
  kvo_cell *_Atomic spare;
  /** The same for a dependency. It is not linked, and holds no reference. */
  kvo_dependency *_Atomic spare_dependency;
  /** When the evaluation began whose value was told last: the number of the thread (kvo__thread_serial), and its clock then. */
  uint32_t told_by;
  uint64_t told_at;
  /** While it is paused: what `registered` is to be again, otherwise 0. */
  uint64_t held;
  /** An object that it has read has died, or was dying: what was delivered last cannot be read any more, and the program's pointer to the
   * object may dangle until a change is delivered. */
  bool orphaned;
  /** The number of the thread that registered it, and whether another thread has ever evaluated it. */
  uint32_t thread;
  bool is_shared;
  /** The newest evaluation read each dependency once, in the order opposite to that of the list, and its value is that of none. */
  bool is_regular;
  /** The newest evaluation lacked memory, so it may have read keys that it is not subscribed to. */
  bool is_incomplete;
};

/** Whether an expression reads the key which is left to something open, and which a death does not notify. */
static inline bool kvo__node_is_owed(const kvo_node *node) {
  const kvo_tracked *tracked = kvo__node_is_dependency(node) ? node->user_data : NULL;
  return tracked != NULL && tracked->is_opaque && atomic_load(&tracked->is_stale);
}

/* An evaluation remembers this many reads. After more, the last read is not known. */
enum { KVO_MAX_READS = 16 };

/* A read of an evaluation, or one that is expected. */
typedef struct kvo_key_read {
  /** NULL without memory. For comparison only, like `object`. */
  const kvo_slot *slot;
  kvo_key key;
  kvo_object *object;
  const kvo_property *property;
  /** Of a read that is expected: the dependency. Other threads may drop it meanwhile, so the address is only compared. */
  const kvo_dependency *dependency;
} kvo_key_read;

/* An evaluation in progress on this thread. */
typedef struct kvo_evaluation {
  kvo_tracked *tracked;
  /** The number of an evaluation that subscribes. 0 for one that only computes the value before a change. */
  uint64_t number;
  /** The thread's clock when it began. */
  uint64_t began;
  /** The key whose change it follows, or NULL. */
  const kvo_slot *changed;
  /** A change of this thread has reached it meanwhile. */
  bool is_outdated;
  kvo_status status;
  /** It came to an object that is being destroyed. */
  bool has_met_dying;
  /** What kvo__enter returned: keeps the root's info, because the evaluation may destroy the object. */
  uint64_t entered;
  uint32_t mark;
  /** How many reads there were, and how many of the first of them were expected: these need not subscribe. */
  size_t read_count;
  uint32_t kept, expected_count;
  /** Key-value coding has reported the last read; the getter that it is about to call will report the same read again. */
  bool expects_getter;
  /** The key whose value the result is said to be (kvo_track_value_is_of). */
  const kvo_slot *value_slot;
  /** The key whose elements the result is said to have (kvo_track_elements_are_of). */
  const kvo_slot *subject_slot;
  /** Not cleared. The first reads in order; in the places of later ones, what the evaluation before has read: the dependencies when this
   * one began, none if there were too many. */
  kvo_key_read reads[KVO_MAX_READS];
} kvo_evaluation;

static inline void kvo__evaluation_clear(kvo_evaluation *here, kvo_tracked *tracked) {
  memset(here, 0, offsetof(kvo_evaluation, reads));
  here->tracked = tracked;
}

/* The evaluation of a mark, or NULL. */
static inline kvo_evaluation *kvo__evaluation_of(const kvo_mark *mark) {
  return mark->frame != NULL && mark->node == NULL ? mark->evaluation : NULL;
}

/* ----------------------------------------------------------------------------------------------------- postponed.c -- */

/** Where a change is in what its thread is doing. Nothing is left by it to itself. */
struct kvo_change_place {
  /** How many marks there were before it. */
  uint32_t depth;
  /** Its slot, or NULL for all that a scope tells; and its slot again if nothing else has changed. */
  const kvo_slot *own, *changed;
  /** The scope that has noted it, or NULL. */
  const kvo_open_scope *scope;
  /** Before it: the value that was delivered last is read; who wants it is notified. After it: a value that is known to be the same is not
   * delivered. */
  bool reads_last, tells_prior, if_changed;
};

/** Changes are being made in place, or have been. */
extern KVO_HIDDEN _Atomic bool kvo__has_in_place;
/** The node of a mark before the first delivery: not NULL, as for an evaluation. It is never used, because the mark names no
 * observation. */
extern KVO_HIDDEN const kvo_node kvo__no_node[2];
/** The same once the bindings of the change are being settled: it does not come to them again. */
#define KVO_NO_NODE_BUT_SETTLED (&kvo__no_node[1])

/** Whether a mark is that of a change before its first delivery. */
static inline bool kvo__is_before_delivery(const kvo_mark *mark) {
  return mark->node == kvo__no_node || mark->node == KVO_NO_NODE_BUT_SETTLED;
}

/** Whether this thread has set a key, in more than so many marks and one, and is now notifying an observer, of that key or of one that
 * bindings have set after it. The object is only compared. */
KVO_HIDDEN bool kvo__is_notifying(const kvo_object *object, kvo_key key, uint32_t depth);
/** Whether an open change or scope is going to tell an expression: a change of this thread outside of `place` that is between its begin and
 * its store, or is telling newer observers; one in place, of any thread; a coalescing scope of this thread that has not ended. `place` may
 * be NULL: all that is open. */
KVO_HIDDEN bool kvo__is_postponed(kvo_tracked *tracked, const kvo_change_place *place, bool with_announced);
/** The same, and leaves it there: it is told by the next one that settles it. */
KVO_HIDDEN bool kvo__postpone(kvo_tracked *tracked, const kvo_change_place *place, bool with_announced);
/** Whether a change that is left to others is a store by the setter of a computed property on which the expression depends, while a binding
 * changes that property and notifies itself (kvo_mute): what the binding delivers then includes it. False for no change. */
KVO_HIDDEN bool kvo__is_absorbed(kvo_tracked *tracked, const kvo_change_place *place);
/** kvo__postpone, or, for a change that is absorbed, kvo__is_postponed. */
KVO_HIDDEN bool kvo__tracked_postpone(kvo_tracked *tracked, const kvo_change_place *place);

/* --------------------------------------------------------------------------------------------------------- rules.c -- */

/** What happens to an expression. */
typedef enum kvo_expression_event {
  /** Something that it has read is about to be stored. */
  KVO_WILL_STORE,
  /** Something that it has read was stored. */
  KVO_STORED,
  /** The same, in a change or a pause during which it was registered or may not be notified. */
  KVO_STORED_MEANWHILE,
  /** The same, in a change of which nobody is notified. */
  KVO_STORED_SILENTLY,
  /** An object that it has read is being destroyed. */
  KVO_DIED,
  /** What was deferred is due, or a pause has ended. */
  KVO_RELEASED,
  /** Its owner does what it was asked for: to notify, or only to evaluate it. */
  KVO_ASKED,
  KVO_ASKED_SILENTLY,
  KVO_EXPRESSION_EVENTS
} kvo_expression_event;

/** Does what the table in rules.c says. `place` is that of the change, or NULL. May run code of the program; no lock may be held. */
KVO_HIDDEN void kvo__tracked_react(kvo_tracked *tracked, kvo_expression_event event, const kvo_change_place *place);
/** Whether only the owner may evaluate the expression, on another thread, or nobody any more. No lock may be held. */
KVO_HIDDEN bool kvo__tracked_is_elsewhere(kvo_tracked *tracked);
/** For a binding that is about to run, after a store: whether the caller is to settle it now. If not, the rest is done. */
KVO_HIDDEN bool kvo__tracked_is_due(kvo_tracked *tracked, const kvo_change_place *place);
/** After a change that began before the dependency with this birth was linked: KVO_STORED if the expression was registered before that, or
 * with its initial value; otherwise KVO_STORED_MEANWHILE. */
KVO_HIDDEN void kvo__tracked_missed(kvo_tracked *tracked, uint64_t birth);
/** After a change that was not made: notifies of what was left to it. */
KVO_HIDDEN void kvo__tracked_unchanged(kvo_tracked *tracked);
/** Does what the owner was asked for. */
KVO_HIDDEN void kvo__tracked_answer(kvo_tracked *tracked);
/** When a pause has ended: asks the owner again for what was left to it before the pause. */
KVO_HIDDEN void kvo__tracked_ask_again(kvo_tracked *tracked);
/** Whether the present value may be read, and is what the observer has been notified of or is being notified of. */
KVO_HIDDEN bool kvo__tracked_may_read(kvo_tracked *tracked);
/** Whether this thread is evaluating the expression; what has called this has changed what it reads, and it is evaluated once more. */
KVO_HIDDEN bool kvo__tracked_is_evaluating(const kvo_tracked *tracked);
/** Leaves a change to a later delivery if none may begin here; nor may an evaluation: its getters may make changes. Until then the
 * dependencies are those from before the change. */
KVO_HIDDEN bool kvo__tracked_defers(kvo_tracked *tracked);

/* ------------------------------------------------------------------------------------------------ track.c, record.c -- */

/** Makes an empty cell with one reference; NULL without memory. */
KVO_HIDDEN kvo_cell *kvo__cell_make(kvo_tracked *tracked);
/** Releases a reference to a value; NULL is ignored. */
KVO_HIDDEN void kvo__cell_release(kvo_tracked *tracked, kvo_cell *held);
/** Evaluates and updates the subscriptions, after a change of this key or NULL. The caller releases the cell. NULL if the observation has
 * ended, or without memory (see *status). Sets *was_left, unless NULL, if something had been left to whoever settles the expression next:
 * then its observer is to be notified. */
KVO_HIDDEN kvo_cell *kvo__arm_once(kvo_tracked *tracked, const kvo_slot *changed, kvo_status *status, bool *was_left);
/** The same after a change: retries if there is too little memory, and finally reports KVO0011. */
KVO_HIDDEN kvo_cell *kvo__arm(kvo_tracked *tracked, const kvo_slot *changed, kvo_status *status, bool *was_left);
/** Makes a value the one that was told last, as far as it is kept. */
KVO_HIDDEN void kvo__tracked_set_last(kvo_tracked *tracked, kvo_cell *now);
/** Makes a value that was never delivered the old one of the next notification, if nothing else is known. */
KVO_HIDDEN void kvo__tracked_keep_last(kvo_tracked *tracked, kvo_cell *now);
/** Reads the value that the observer knows, if it is not kept, before a change or a pause. */
KVO_HIDDEN void kvo__tracked_read_last(kvo_tracked *tracked);
/** Tells the present value; without memory, that there is a new one. The old value is what was told last. */
KVO_HIDDEN void kvo__tracked_tell_present(kvo_tracked *tracked, kvo_cell *now, bool if_changed);
/** Evaluates after a change of this key or NULL, and notifies, unless the observation has ended. */
KVO_HIDDEN void kvo__tracked_settle(kvo_tracked *tracked, const kvo_slot *changed, bool if_changed);
/** Notifies before a change, with what was delivered last. */
KVO_HIDDEN void kvo__tracked_tell_prior(kvo_tracked *tracked);
/** Forgets the value that was delivered last, because another one was, or none; or unless it may be kept. */
KVO_HIDDEN void kvo__tracked_forget_last(kvo_tracked *tracked, bool unless_kept);
/** Sends the initial notification. */
KVO_HIDDEN void kvo__tracked_tell_initial(kvo_tracked *tracked, kvo_cell *now);

static inline void kvo__tracked_retain(kvo_tracked *tracked) { atomic_fetch_add(&tracked->references, 1); }

static inline uint64_t kvo__list_changes(const kvo_tracked *tracked) {
  return atomic_load_explicit(&tracked->list_changes, memory_order_relaxed);
}

static inline kvo_slot *kvo__dependency_slot(const kvo_dependency *dependency) {
  return atomic_load_explicit(&dependency->node.slot, memory_order_relaxed);
}
static inline kvo_info *kvo__dependency_info(const kvo_dependency *dependency) {
  return kvo__slot_info(kvo__dependency_slot(dependency));
}
static inline kvo_key kvo__dependency_key(const kvo_dependency *dependency) {
  return kvo__dependency_slot(dependency)->key;
}

/** After the evaluation that follows a change: if the value of another key was replaced without notification, returns the info of its
 * object, entered for the caller to leave, and stores the key in `*key`. NULL if there is none or it is not certain. tracked->lock is
 * held, and the dependencies are still those of the evaluation before. */
KVO_HIDDEN kvo_info *kvo__silent_change(kvo_evaluation *over, uint64_t *entered, kvo_key *key);
/** At a change of a key on a path, before the path is evaluated: reports KVO0032 if the path does not lead to the object that is replaced,
 * so that another one was replaced without notification before. `clock`: kvo_frame_content.clock. No lock may be held. */
KVO_HIDDEN void kvo__check_replaced(kvo_tracked *tracked, const kvo_node *node, const void *old_value, uint32_t clock);
/** Reports KVO0032 of this key of the holder. False if the change turns out to be notified, or the observation has ended: evaluation
 * `number` was the newest when the change was found. No lock may be held. */
KVO_HIDDEN bool kvo__tell_silent_change(kvo_tracked *tracked, uint64_t number, const kvo_info *holder, kvo_key key);
/** Notes the dependencies that an evaluation is likely to read, before it begins. tracked->lock is held. */
KVO_HIDDEN void kvo__expect_reads(kvo_evaluation *here);
/** After the newest evaluation: turns the dependencies into leaf, subject or plain dependency, and takes those that it has not read, which
 * the caller has to retire. False, and nothing is done, if another thread has dropped one that it has read: then the expression has to be
 * evaluated again. tracked->lock is held. */
KVO_HIDDEN bool kvo__commit_reads(const kvo_evaluation *over, kvo_dependency **unread);
/** Takes the dependencies whose newest reader is this evaluation, or all for 0. The caller has to retire them. tracked->lock is held. */
KVO_HIDDEN kvo_dependency *kvo__take_read_by(kvo_tracked *tracked, uint64_t number);
/** The caller holds a reference. No lock may be held. */
KVO_HIDDEN void kvo__retire_taken(kvo_tracked *tracked, kvo_dependency *taken);

/** Whether a silent change of a key that it depends on is in progress on this thread, at whose end it is evaluated. */
KVO_HIDDEN bool kvo__tracked_awaits_silent(kvo_tracked *tracked);
/** From now on no callback starts. */
KVO_HIDDEN void kvo__tracked_stop(kvo_tracked *tracked);
/** Ends the observation: from now on no callback and no evaluation starts. May be called several times. */
KVO_HIDDEN void kvo__tracked_end(kvo_tracked *tracked);
/** Whether the value that was delivered last was read and delivered by this thread, after this time of its clock. tracked->lock is
 * held. */
static inline bool kvo__was_told_since(const kvo_tracked *tracked, uint64_t since) {
  return tracked->told_by == kvo__thread_serial() && tracked->told_at > since;
}
/** The same, and no change is left to whoever settles it next. */
KVO_HIDDEN bool kvo__tracked_is_told(kvo_tracked *tracked, uint64_t since);
/** After a change of a leaf: passes the change on to the observer. `is_marked`: the change's own mark names the observation. */
KVO_HIDDEN void kvo__tracked_leaf(kvo_tracked *tracked, const kvo_raw_change *change, bool is_marked);
/** Takes a dependency of a dying object out of its expression's list; false if another thread has done it. */
KVO_HIDDEN bool kvo__tracked_detach(kvo_node *dependency);
KVO_HIDDEN void kvo__tracked_release(kvo_tracked *tracked);
/** Whether the declared dependencies of a key that has just been read are to be recorded, too: this evaluation has not done it yet. */
KVO_HIDDEN bool kvo__track_declared(kvo_object *object, kvo_key key);
/** Makes the evaluation that this thread records fail with this status, because what it recorded is incomplete. */
KVO_HIDDEN void kvo__track_fail(kvo_status status);
/** Says that the evaluation in progress on this thread, if any, came to an object that is being destroyed. */
KVO_HIDDEN void kvo__track_dying(void);
/** Stops recording on this thread. Returns what to pass to kvo__recording_resume. */
KVO_HIDDEN void *kvo__recording_suspend(void);
KVO_HIDDEN void kvo__recording_resume(void *recorder);
/** Cleans up after an evaluation that was left with longjmp or an exception. No lock may be held. */
KVO_HIDDEN void kvo__evaluation_left(const kvo_mark *mark);
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
/** The same when no change of the object is in progress: not if a counted object is being destroyed. Settles a binding. */
KVO_HIDDEN void kvo__deliver_missed(kvo_node *node, kvo_info *info, const void *old_value);

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

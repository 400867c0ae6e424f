/* expressions/tracked.h - an observed expression, an evaluation of it, and what is kept of it during a change. A newcomer reads
 * struct kvo_tracked first, then the head of track.c. */
#ifndef KVO_TRACKED_H
#define KVO_TRACKED_H

#include "platform/stack.h"
#include "registry/registry.h"

/* A value of an evaluation, shared by deliveries and `last`. */
typedef struct kvo_cell {
  _Atomic uint32_t references;
  void *value;
} kvo_cell;

struct kvo_tracked {
  _Atomic uint32_t references;
  _Atomic bool live;
  kvo_lock lock;
  /** Valid while live. */
  kvo_object *object;
  void *instance;
  /** Of `object`. */
  kvo_info *root;
  /** The object's. */
  const kvo_class *cls;
  /** Its memory stays as long as this, so that it can be described; it may be unlinked any time. */
  kvo_node *anchor;
  const kvo_observer_ops *ops;
  void *user_data;
  kvo_options options;
  bool keep_last;
  /** The newest node of all when the registration had succeeded; until then 0, and nobody is told. */
  _Atomic uint64_t registered;
  /** There was something to tell before. */
  _Atomic bool missed;
  kvo_observation id;
  /** The anchor's place. */
  uint64_t order;
  /** Below: guarded by `lock`. */
  kvo_dependency *dependencies;
  uint64_t started, committed;
  /** Evaluations that have begun, those before changes included. */
  uint64_t evaluations;
  kvo_cell *last;
  /** An object on the way died, and no change has been told since: the program's pointer to it may dangle. */
  bool orphaned;
  /** The thread that registered it, and whether another has ever evaluated it. */
  const kvo_thread *thread;
  bool is_shared;
  /** The newest evaluation lacked memory: it may have read more than is subscribed to. */
  bool is_incomplete;
};

/* More than that, and no read is known to be the last. */
enum { KVO_MAX_READS = 8 };

/* What an evaluation has read. */
typedef struct kvo_key_read {
  /** For comparison only, as the object. */
  const kvo_info *info;
  kvo_key key;
  kvo_object *object;
  const kvo_property *property;
  /** By key-value coding: the getter that it is going to call will say so too. */
  bool expects_getter;
} kvo_key_read;

/* What an evaluation before a change has read, to be compared with what is subscribed to. What the reads point to may be gone: it is
 * compared with the dependencies, and never followed. */
typedef struct kvo_comparison {
  bool is_wanted;
  /** The object that changes, which the frame keeps. */
  const kvo_info *changing;
  /** How many of the evaluation's reads are noted for this. */
  size_t count;
} kvo_comparison;

/* An evaluation in progress on this thread. */
typedef struct kvo_evaluation {
  kvo_tracked *tracked;
  /** 0: evaluated without subscribing, to see what the value is before a change. */
  uint64_t number;
  /** Of such a one: what it finds when it compares, and how many evaluations had begun before. */
  kvo_comparison compared;
  uint64_t begun_before;
  /** Which of all of the observation's it is. */
  uint64_t serial;
  kvo_status status;
  /** The root's info lives as long as this: its object may die in an evaluation of its own. */
  uint64_t entered;
  uint32_t mark;
  /** What was read, in order, and how much. */
  kvo_key_read reads[KVO_MAX_READS];
  size_t read_count;
  /** The value is said to be that of one of them. */
  const kvo_info *value_info;
  kvo_key value_key;
  /** The elements of the value are said to be those of this key. */
  const kvo_info *subject_info;
  kvo_key subject_key;
} kvo_evaluation;

/* The innermost evaluation of this thread that records, unless suspended. */
extern KVO_HIDDEN _Thread_local kvo_evaluation *kvo__recorder __attribute__((tls_model("initial-exec")));

/* NULL of a mark of something else. */
static inline kvo_evaluation *kvo__evaluation_of(const kvo_mark *mark) {
  return mark->frame != NULL && mark->node == NULL ? mark->evaluation : NULL;
}

/* ------------------------------------------------------------------------------------------------------ pending.c -- */

/** The old value of a tracked observation, from the will to the did of one frame. */
typedef struct kvo_pending_value {
  kvo_tracked *tracked;
  /** What says that it is to be told. */
  const kvo_node *node;
  void *value;
  /** Instead of `value` when it must not be evaluated: what the observation was last told. */
  struct kvo_cell *last;
  /** The did has come to it. */
  bool told;
} kvo_pending_value;

/** The will phase of a frame. On the heap, not in the frame: the frame is a value of the binding's, which may move it. */
typedef struct kvo_will_phase {
  /** Of the next outer frame of this thread that has one. */
  struct kvo_will_phase *outer;
  /** Of the object that changes. */
  const kvo_info *info;
  /** Of the frame. */
  kvo_slot *slot;
  /** In the order of registration; at first there is room for one, here. */
  kvo_pending_value *pending;
  size_t count, capacity;
  kvo_pending_value first;
  /** While observers are being told before the change: the stack frame of that. Else NULL. */
  const void *telling;
  /** Of a change that is over when this stack frame is; NULL of others. */
  const void *frame;
} kvo_will_phase;

/** Begins the will phase of a change on this thread, which the present stack frame tells; NULL without memory. */
KVO_HIDDEN kvo_will_phase *kvo__will_begin(const kvo_info *info, kvo_slot *slot, const void *telling);
/** It is over: what is pending is given back. */
KVO_HIDDEN void kvo__will_end(kvo_will_phase *will);
/** Room for one more pending value; NULL without memory. */
KVO_HIDDEN kvo_pending_value *kvo__pending_add(kvo_will_phase *will);
/** It is told in another way: it was no leaf yet before the change. */
KVO_HIDDEN void kvo__pending_told(const kvo_tracked *tracked, kvo_will_phase *will);
/** What is kept of it since the will phase, or NULL. */
KVO_HIDDEN kvo_pending_value *kvo__pending_of(const kvo_tracked *tracked, const kvo_will_phase *will);
/** Forgets the changes that were left by longjmp or an exception, as the present frame shows. No lock may be held. */
KVO_HIDDEN void kvo__wills_abandoned(const void *frame);
/** Tells whether a frame of this thread, not one of the dying object itself, will yet tell this tracked observation its did. */
KVO_HIDDEN bool kvo__in_change_of(const kvo_tracked *tracked, const kvo_info *dying);
/** The key of a change of this object before which this thread is just telling observers; NULL if there is none. */
KVO_HIDDEN const kvo_slot *kvo__in_will_of(const kvo_info *info);

/* ------------------------------------------------------------------------------------------------ track.c, record.c -- */

/** Gives back a value; NULL: nothing. */
KVO_HIDDEN void kvo__cell_release(kvo_tracked *tracked, kvo_cell *held);
/** Evaluates and re-arms. The cell is the caller's to release; NULL when the observation has ended. */
KVO_HIDDEN kvo_cell *kvo__arm_once(kvo_tracked *tracked, kvo_status *status);
/** The same after a change: with too little memory it tries again, and then says so. */
KVO_HIDDEN kvo_cell *kvo__arm(kvo_tracked *tracked, kvo_status *status);
/** Tells the observer. */
KVO_HIDDEN void kvo__tracked_tell(kvo_tracked *tracked, kvo_change_kind kind, bool is_prior, const void *old_value,
                                  const void *new_value);

static inline void kvo__tracked_retain(kvo_tracked *tracked) { atomic_fetch_add(&tracked->references, 1); }

/** After an evaluation before a change: the object of which a key, stored in `*key`, was replaced without notification, entered for the
 * caller to leave; or NULL, also when that is not certain. */
KVO_HIDDEN kvo_info *kvo__silent_change(const kvo_evaluation *over, uint64_t *entered, kvo_key *key);
/** Turns its dependencies into what the newest evaluation has made of them; tells whether one is a leaf. tracked->lock is held. */
KVO_HIDDEN bool kvo__settle_leaf(kvo_tracked *tracked, const kvo_evaluation *over);
/** Drops the dependencies of which this is the newest evaluation that read them, or all that only older ones read. */
KVO_HIDDEN void kvo__drop_read_by(kvo_tracked *tracked, uint64_t number);
KVO_HIDDEN void kvo__drop_read_before(kvo_tracked *tracked, uint64_t number);

/** Before a change of something that the expression read, as a node says: its old value goes into the will phase, if that is not NULL;
 * prior observers are told. */
KVO_HIDDEN void kvo__tracked_will(kvo_tracked *tracked, const kvo_node *node, const kvo_info *changing,
                                  kvo_will_phase *will);
/** After it: evaluates again, re-arms, tells. */
KVO_HIDDEN void kvo__tracked_did(kvo_tracked *tracked, kvo_will_phase *will);
/** An object that the expression read died. */
KVO_HIDDEN void kvo__tracked_died(kvo_tracked *tracked, const kvo_info *dying);
/** No callback starts after it. */
KVO_HIDDEN void kvo__tracked_stop(kvo_tracked *tracked);
/** Ends the observation: no callback and no evaluation starts after it. May be called again. */
KVO_HIDDEN void kvo__tracked_end(kvo_tracked *tracked);
/** After a change during which it was registered: evaluates again and re-arms, for it may have read what was before. */
KVO_HIDDEN void kvo__tracked_rearm(kvo_tracked *tracked);
/** After a change that began before the dependency of this birth was linked: evaluates again, and tells if it was registered before. */
KVO_HIDDEN void kvo__tracked_missed(kvo_tracked *tracked, uint64_t birth);
/** Whether it depends on this key, which is of an object that lives. */
KVO_HIDDEN bool kvo__tracked_hears(kvo_tracked *tracked, const kvo_object *object, kvo_key key);
/** After a change of a leaf: hands it on. */
KVO_HIDDEN void kvo__tracked_leaf(kvo_tracked *tracked, const kvo_raw_change *change);
/** Takes a dependency of a dying object out of the observation's list; false when somebody else has. */
KVO_HIDDEN bool kvo__tracked_detach(kvo_node *dependency);
KVO_HIDDEN void kvo__tracked_release(kvo_tracked *tracked);
/** kvo_track_coded_read; tells whether what the key is said to be affected by, if it is, is to be recorded too: not if it has been. */
KVO_HIDDEN bool kvo__track_declared(kvo_object *object, kvo_key key, bool is_affected);
/** What this thread records is incomplete: the evaluation fails with this status. */
KVO_HIDDEN void kvo__track_fail(kvo_status status);
/** Stops recording on this thread and returns what to give to kvo__recording_resume. */
KVO_HIDDEN void *kvo__recording_suspend(void);
KVO_HIDDEN void kvo__recording_resume(void *recorder);
/** An evaluation, of which this is the mark, was left by longjmp or an exception. No lock may be held. */
KVO_HIDDEN void kvo__evaluation_left(const kvo_mark *mark);
/** After deliveries that were put off: evaluates again, re-arms, and tells the present value. */
KVO_HIDDEN void kvo__tracked_retell(kvo_tracked *tracked);
/** In the child of a fork, where the other threads are gone: their evaluations are, too. */
KVO_HIDDEN void kvo__tracking_forked(void);

/* --------------------------------------------------------------------------------------------------------- depth.c -- */

/** Whether a delivery may begin there, within those in progress; if not, it is to be put off. No lock may be held. */
KVO_HIDDEN bool kvo__may_nest_slowly(kvo_thread *self, const void *frame);
/** The deliveries in progress, without what else is marked, outermost first; the innermost `capacity` if there are more. Returns how
 * many, and stores how many were left out. */
KVO_HIDDEN size_t kvo__deliveries(const kvo_thread *self, const kvo_mark **found, size_t capacity, size_t *skipped);

/* ------------------------------------------------------------------------------------------------------ deferred.c -- */

/** A delivery that was put off. */
typedef struct kvo_deferred {
  /** Of those to be told; and of those in the same bucket. */
  struct kvo_deferred *next, *other;
  /** Its own; an anchor's tracked is retained, else the info is entered. */
  const kvo_node *node;
  kvo_info *info;
  uint64_t entered;
  bool is_queued;
  /** It was put off within its own delivery: what it would be told of is its own work. */
  bool goes_round;
  /** How often it was told since what goes round is left out. */
  uint32_t late;
} kvo_deferred;

/** A delivery is not made, for it would nest too deeply: the observation of this node, its own, is told later. No lock may be held, and
 * the caller is a reader of the node's info. */
KVO_HIDDEN void kvo__defer(const kvo_node *node);
/** The first that is to be told, taken out; NULL if there is none. */
KVO_HIDDEN kvo_deferred *kvo__deferred_take(const kvo_unwinding *from);
/** Forgets them all. May run code of the program. */
KVO_HIDDEN void kvo__deferred_let_go(kvo_unwinding *of);
/** The expression that is to be told, or NULL. */
KVO_HIDDEN kvo_tracked *kvo__deferred_tracked(const kvo_deferred *of);

/* -------------------------------------------------------------------------------------------------------- unwind.c -- */

/** From now on no delivery nests, until the depth is half of what it is. */
KVO_HIDDEN void kvo__unwind_begin(kvo_thread *self, bool gives_up);
/** If it is, makes those deliveries that were put off. No lock may be held. */
KVO_HIDDEN void kvo__unwind_if_due(kvo_thread *self, uint32_t depth);
/** It was left by longjmp or an exception while it did that: the rest is made later. */
KVO_HIDDEN void kvo__unwind_left(kvo_thread *self);
/** At the end of a thread: forgets them. */
KVO_HIDDEN void kvo__unwind_drop(kvo_thread *self);

/* ----------------------------------------------------------------------------------------------------- abandoned.c -- */

/** What was left by longjmp or an exception is over: takes its marks away, and reports, unless a fault handler has jumped. No lock may
 * be held. */
KVO_HIDDEN void kvo__end_abandoned(kvo_thread *self, const void *frame);
/** The same at the end of the thread, where all has been left; without a report, for a thread may end anywhere. */
KVO_HIDDEN void kvo__end_all(kvo_thread *self);
/** Takes away a mark that is not the innermost. */
KVO_HIDDEN void kvo__unmark_below(kvo_thread *self, uint32_t depth);
/** Around a fault handler, which that stack frame calls; what recorded before goes on when it has been left. */
KVO_HIDDEN uint32_t kvo__handler_begin(const void *frame, void *recorder);
KVO_HIDDEN void kvo__handler_end(uint32_t mark);
/** Whether this thread is in one: a fault in there takes the policy's action at once. */
KVO_HIDDEN bool kvo__in_handler(void);

#endif /* KVO_TRACKED_H */

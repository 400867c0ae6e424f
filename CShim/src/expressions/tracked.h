/* tracked.h - what track.c and record.c share: an observed expression, and an evaluation of it. */
#ifndef KVO_TRACKED_H
#define KVO_TRACKED_H

#include "internal.h"

/* A value of an evaluation, shared by deliveries and `last`. */
typedef struct kvo_cell {
  _Atomic uint32_t references;
  void *value;
} cell;

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
  cell *last;
  /** An object on the way died, and no change has been told since: the program's pointer to it may dangle. */
  bool orphaned;
  /** The thread that registered it, and whether another has ever evaluated it. */
  const kvo_thread *thread;
  bool is_shared;
  /** The newest evaluation lacked memory: it may have read more than is subscribed to. */
  bool is_incomplete;
};

/* More than that, and no read is known to be the last. */
enum { READS = 8 };

/* What an evaluation has read. */
typedef struct read {
  /** For comparison only, as the object. */
  const kvo_info *info;
  kvo_key key;
  kvo_object *object;
  const kvo_property *property;
  /** By key-value coding: the getter that it is going to call will say so too. */
  bool awaits_getter;
} read;

/* What an evaluation before a change finds when it compares what it reads with what is subscribed to. What it points to may be gone: it is
 * compared with the dependencies, and never followed. */
typedef struct comparison {
  bool is_wanted;
  /** The object that changes, which the frame keeps. */
  const kvo_info *changing;
  /** The last read, if it was subscribed to. */
  const kvo_info *holder;
  kvo_key holder_key;
  /** The first read behind such a one that was not subscribed to, or NULL. */
  const kvo_object *suspect;
  kvo_key suspect_key;
} comparison;

/* An evaluation in progress on this thread. */
typedef struct evaluation {
  kvo_tracked *tracked;
  /** 0: evaluated without subscribing, to see what the value is before a change. */
  uint64_t number;
  /** Of such a one: what it finds when it compares, and how many evaluations had begun before. */
  comparison compared;
  uint64_t begun_before;
  /** Which of all of the observation's it is. */
  uint64_t serial;
  kvo_status status;
  /** The root's info lives as long as this: its object may die in an evaluation of its own. */
  uint64_t entered;
  uint32_t mark;
  /** What was read, in order, and how much. */
  read reads[READS];
  size_t read_count;
  /** The value is said to be that of one of them. */
  const kvo_info *value_info;
  kvo_key value_key;
  /** The elements of the value are said to be those of this key. */
  const kvo_info *subject_info;
  kvo_key subject_key;
} evaluation;

/* The innermost evaluation of this thread that records, unless suspended. */
extern KVO_HIDDEN _Thread_local evaluation *kvo__recorder __attribute__((tls_model("initial-exec")));

/* NULL of a mark of something else. */
static inline evaluation *kvo__evaluation_of(const kvo_mark *mark) {
  return mark->frame != NULL && mark->node == NULL ? mark->evaluation : NULL;
}

static inline void kvo__tracked_retain(kvo_tracked *tracked) { atomic_fetch_add(&tracked->references, 1); }

/** After an evaluation before a change: the object of which a key was replaced without notification, entered for the caller to leave; or
 * NULL, also when that is not certain. */
KVO_HIDDEN kvo_info *kvo__silent_change(const evaluation *over, uint64_t *entered);
/** Turns its dependencies into what the newest evaluation has made of them; tells whether one is a leaf. tracked->lock is held. */
KVO_HIDDEN bool kvo__settle_leaf(kvo_tracked *tracked, const evaluation *over);
/** Drops the dependencies of which this is the newest evaluation that read them, or all that only older ones read. */
KVO_HIDDEN void kvo__drop_read_by(kvo_tracked *tracked, uint64_t number);
KVO_HIDDEN void kvo__drop_read_before(kvo_tracked *tracked, uint64_t number);

#endif /* KVO_TRACKED_H */

/* round.h - what the threads of a round share: objects that count their changes, and watchers that record what they get. */
#ifndef KVO_STRESS_ROUND_H
#define KVO_STRESS_ROUND_H

#include "schema.h"

#include <kvo/kvo_binding.h>
#include <stdatomic.h>

/* The limits of the model. */
enum { THREADS = 8, OBJECTS = SLOTS, WATCHERS = WATCHES, VALUES = 1 << 15 };

/* ----------------------------------------------------------------------------------------------------------- Objects -- */

/* With some keys of the schema: `value` is set by any thread, `other` by one thread only, `quiet` is announced by hand, `next` is replaced
 * by any thread; `far` is the value of `next` + 1000, or -1. */
typedef struct node {
  kvo_object header;
  _Atomic int value, other, quiet;
  _Atomic(struct node *) next;
  /* How often each key has changed, as observers are notified: in a coalescing scope once, in a silent one never. */
  _Atomic int changes[KEYS];
} node;

/* Key paths of the schema that are observed; those before `O_FAR` are single keys. */
typedef enum observed { O_VALUE, O_OTHER, O_QUIET, O_NEXT, O_FAR, OBSERVED = 9 } observed;
extern const char *const observed_paths[OBSERVED];
static inline bool is_single(observed of) { return of < O_FAR; }

/* A value that is unique in this round. */
int fresh_value(void);
node *node_make(void);
void node_destroy(node *of);
static inline void set_value(node *of) { KVO_SET(of, "value", int, fresh_value()); }
static inline void set_other(node *of) {
  int next = atomic_load(&of->other) + 1;
  KVO_SET(of, "other", int, next);
}
static inline void set_next(node *of, node *next) { KVO_SET(of, "next", node *, next); }
/* Announces a change of `quiet` around a call of `within`, unless that is NULL. */
void change_quiet(node *of, void (*within)(void));

/* ---------------------------------------------------------------------------------------------------------- Watchers -- */

typedef struct watcher {
  /* A dangling pointer after its death. */
  node *root;
  observed path;
  int options;
  /* Registered before the threads start and removed after they have ended. */
  bool stable;
  bool root_died;
  /* Its receiver has died or has ended it; only the receiver's thread does either. `death`: the watch of that death. */
  bool receiver_ended;
  _Atomic kvo_observation id, death;
  /* The number of successful removals. */
  _Atomic int ended;
  /* How often its end was asked for, and delivered; and how often the watch of the receiver's death has ended. */
  _Atomic int asked, ends_notified, watches, watches_ended;
  /* A wait for it has ended: its callback must not run. */
  _Atomic int fenced;
  _Atomic int destroyed;
  /* After changes, and before them. */
  _Atomic int calls[2];
  /* The value delivered last, if it is an integer; -1 for none. */
  _Atomic int last;
  /* The values delivered to a stable watcher of a path, one bit each; otherwise NULL. */
  _Atomic uint32_t *delivered;
  /* Used in the callback, freed by the destroy function. */
  int *body;
} watcher;

/* Registers a watcher; NULL if the round has no room for more. With a receiver, `of` is a single key. */
watcher *observe(node *root, observed of, int options, bool stable);
watcher *observe_for(node *receiver, node *root, observed of, int options);
/* Ends a watcher, on any thread. */
void end_watch(watcher *of, bool wait);
/* Whether a stable watcher got this value of its path, also at the beginning. */
bool was_delivered(const watcher *of, int value);

/* ------------------------------------------------------------------------------------------------------------- Rounds -- */

typedef struct shared {
  int threads, objects, operations;
  /* The probability in thousandths of a pause at each step, to let other threads run. */
  int pauses;
  /* Whether intermediate objects are replaced: without it, the notifications of paths can be counted. */
  bool replacing;
  /* Whether threads have coalescing scopes, and silent ones, of objects that others observe. */
  bool coalescing, silencing;
  node *nodes[OBJECTS];
  watcher *watchers;
  _Atomic int watcher_count;
  _Atomic int values;
  /* Changes that threads began as their last operation and that are not reported yet. */
  _Atomic int left_open;
} shared;
extern shared here;

/* An open scope of this thread. */
enum { SCOPED = 3 };
typedef struct thread_scope {
  struct thread_scope *outer;
  bool silent;
  int count;
  kvo_object *objects[SCOPED];
  /* The keys that have changed in it, if it is the one that notifies of them. */
  bool changed[SCOPED][KEYS];
} thread_scope;

/* This thread's random numbers, seeded in each round; and its depth of callbacks. */
typedef struct self {
  uint64_t random;
  int number, depth;
  /* How many operations its callbacks may still do in this round, because observers that they register are called, too. */
  int fuel;
  /* How often it may still yield in this round. */
  int yields;
  /* A wait of this thread was KVO0017. */
  bool unwaited;
  /* Its last operation was to begin a change. */
  bool left_open;
  thread_scope *scopes;
  int scope_depth;
  /* The object whose key `other` it sets. */
  node *mine;
} self;
extern _Thread_local self me;
uint32_t any(uint32_t below);
/* Sometimes yields to other threads. */
void maybe_pause(void);

/* Sometimes does an operation in a callback. */
void act_in_callback(void);
/* All operations of a thread in a round. */
void act(int number, uint64_t seed);

/* While no other thread runs: create the objects and the stable watchers; check everything against the model; end everything. */
void round_begin(uint64_t seed);
void round_check(void);
void round_end(void);

_Noreturn void fail(const char *format, ...) __attribute__((format(printf, 1, 2)));

#endif

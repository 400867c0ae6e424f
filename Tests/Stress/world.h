/* world.h - what the threads of a round share: objects that count their changes, and watchers that record what they get. */
#ifndef KVO_STRESS_WORLD_H
#define KVO_STRESS_WORLD_H

#include <kvo/kvo.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum { THREADS = 8, OBJECTS = 6, WATCHERS = 1024, VALUES = 1 << 15 };

/* ----------------------------------------------------------------------------------------------------------- Objects -- */

/* `value` is set by any thread, `mine` by one thread only, `quiet` is announced by hand, `next` is replaced by any thread; `far` is the
 * value of `next`, or -1. */
typedef enum key { VALUE, MINE, QUIET, NEXT, FAR, KEYS } key;
extern const char *const key_names[KEYS];

typedef struct node {
  kvo_object header;
  _Atomic int value, mine, quiet;
  _Atomic(struct node *) next;
  /* How often each key has changed, as observers are told: in a coalescing scope once, in a silent one never. */
  _Atomic int changes[KEYS];
} node;

typedef enum path { P_VALUE, P_MINE, P_QUIET, P_NEXT, P_FAR, P_NEXT_VALUE, P_NEXT_NEXT_VALUE, P_NEXT_FAR, PATHS } path;
extern const char *const path_names[PATHS];
static inline bool is_single(path of) { return of < P_FAR; }

/* A value that is unique in this round. */
int fresh_value(void);
node *node_make(void);
void node_destroy(node *of);
static inline void set_value(node *of) { KVO_SET(of, "value", int, fresh_value()); }
static inline void set_mine(node *of) {
  int next = atomic_load(&of->mine) + 1;
  KVO_SET(of, "mine", int, next);
}
static inline void set_next(node *of, node *next) { KVO_SET(of, "next", node *, next); }
/* Announces a change of `quiet` around a call of `within`, unless that is NULL. */
void change_quiet(node *of, void (*within)(void));

/* ---------------------------------------------------------------------------------------------------------- Watchers -- */

typedef struct watcher {
  /* A dangling pointer after its death. */
  node *root;
  path path;
  int options;
  /* Registered before the threads start and removed after they have ended. */
  bool stable;
  bool root_died;
  /* Its receiver has died or has ended it; only the receiver's thread does either. `death`: the watch of that death. */
  bool receiver_ended;
  _Atomic kvo_observation id, death;
  /* The number of successful removals. */
  _Atomic int ended;
  /* How often its end was asked for, and told; and how often the watch of the receiver's death has ended. */
  _Atomic int asked, end_told, watches, watches_ended;
  /* A wait for it has ended: its callback must not run. */
  _Atomic int fenced;
  _Atomic int destroyed;
  _Atomic int calls;
  /* The last value, for a stable watcher of `mine`. */
  _Atomic int last;
  /* The values delivered to a stable watcher of a path, one bit each; otherwise NULL. */
  _Atomic uint32_t *told;
  /* Used in the callback, freed by the destroy function. */
  int *body;
} watcher;

/* Registers a watcher; NULL if the round has no room for more. With a receiver, `of` is a single key. */
watcher *watch(node *root, path of, int options, bool stable);
watcher *watch_for(node *receiver, node *root, path of, int options);
/* Ends a watcher, on any thread. */
void end_watch(watcher *of, bool wait);
/* Return and record that a watcher got this value of its path, or that the path had it at the beginning. */
bool was_told(const watcher *of, int value);
void expect_told(watcher *of, int value);

/* ------------------------------------------------------------------------------------------------------------- Rounds -- */

typedef struct world {
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
} world;
extern world here;

/* An open scope of this thread. */
enum { SCOPED = 3 };
typedef struct scope {
  struct scope *outer;
  bool silent;
  int count;
  kvo_object *objects[SCOPED];
  /* The keys that have changed in it, if it is the one that tells them. */
  bool changed[SCOPED][KEYS];
} scope;

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
  scope *scopes;
  int scope_depth;
  /* The object whose key `mine` it sets. */
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
void world_begin(uint64_t seed);
void world_check(void);
/* The value at the end of a path, or -1. */
int path_value(const watcher *of);
void world_end(void);

_Noreturn void fail(const char *format, ...) __attribute__((format(printf, 1, 2)));

#endif

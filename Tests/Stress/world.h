/* world.h - what the threads of a round share: objects whose storage counts, and watchers that know what they were told. */
#ifndef KVO_STRESS_WORLD_H
#define KVO_STRESS_WORLD_H

#include <kvo/kvo.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum { THREADS = 8, OBJECTS = 6, WATCHERS = 1024, VALUES = 1 << 15 };

/* ----------------------------------------------------------------------------------------------------------- Objects -- */

/* `value` any thread sets, `mine` one thread only, `quiet` changes in manual pairs, `next` any thread replaces; `far` is the value of
 * `next`, or -1. */
typedef enum key { VALUE, MINE, QUIET, NEXT, FAR, KEYS } key;
extern const char *const key_names[KEYS];

typedef struct node {
  kvo_object header;
  _Atomic int value, mine, quiet;
  _Atomic(struct node *) next;
  /* How often each key has changed. */
  _Atomic int changes[KEYS];
} node;

typedef enum path { P_VALUE, P_MINE, P_QUIET, P_NEXT, P_FAR, P_NEXT_VALUE, P_NEXT_NEXT_VALUE, P_NEXT_FAR, PATHS } path;
extern const char *const path_names[PATHS];
static inline bool is_single(path of) { return of < P_FAR; }

/* A value that nothing else in this round has. */
int fresh_value(void);
node *node_make(void);
void node_destroy(node *of);
static inline void set_value(node *of) { KVO_SET(of, "value", int, fresh_value()); }
static inline void set_mine(node *of) {
  int next = atomic_load(&of->mine) + 1;
  KVO_SET(of, "mine", int, next);
}
static inline void set_next(node *of, node *next) { KVO_SET(of, "next", node *, next); }
/* Around `within`, unless NULL. */
void change_quiet(node *of, void (*within)(void));

/* ---------------------------------------------------------------------------------------------------------- Watchers -- */

typedef struct watcher {
  /* Dangles after its death. */
  node *root;
  path path;
  int options;
  /* Registered before the threads start, and until they have ended. */
  bool stable;
  bool root_died;
  _Atomic kvo_observation id;
  /* Removals of it that succeeded. */
  _Atomic int ended;
  /* A wait for it is over: it must not run. */
  _Atomic int fenced;
  _Atomic int destroyed;
  _Atomic int calls;
  /* Of a stable one of `mine`. */
  _Atomic int last;
  /* What values a stable one of a path has been told, a bit a value; else NULL. */
  _Atomic uint32_t *told;
  /* Freed at its destruction, used in its callback. */
  int *body;
} watcher;

/* Registers one; NULL when the round has no room for more. */
watcher *watch(node *root, path of, int options, bool stable);
/* Ends it, on whatever thread. */
void end_watch(watcher *of, bool wait);
/* Of the values at the end of its path: what it was told, or had at the beginning. */
bool was_told(const watcher *of, int value);
void expect_told(watcher *of, int value);

/* ------------------------------------------------------------------------------------------------------------- Rounds -- */

typedef struct world {
  int threads, objects, operations;
  /* Thousandths of pauses at each step, to let others in. */
  int pauses;
  /* Whether intermediates are replaced: without it, paths' notifications can be counted. */
  bool replacing;
  node *nodes[OBJECTS];
  watcher *watchers;
  _Atomic int watcher_count;
  _Atomic int values;
  /* Changes that threads began as their last act, not reported yet. */
  _Atomic int left_open;
} world;
extern world here;

/* This thread's random numbers, seeded anew in each round; and how deep it is in callbacks. */
typedef struct self {
  uint64_t random;
  int number, depth;
  /* How much its callbacks may still do in this round: what they register calls back, too. */
  int fuel;
  /* How often it may still give way to other threads in this round. */
  int yields;
  /* A wait of this thread has ended in KVO0017. */
  bool unwaited;
  /* Its last act was to begin a change. */
  bool left_open;
} self;
extern _Thread_local self me;
uint32_t any(uint32_t below);
/* Gives other threads time, sometimes. */
void maybe_pause(void);

/* What a callback does, sometimes. */
void act_in_callback(void);
/* All that a thread does in a round. */
void act(int number, uint64_t seed);

/* While no other thread runs: makes the objects and the stable watchers; holds everything against the model; ends all. */
void world_begin(uint64_t seed);
void world_check(void);
/* The value at the end of a path, or -1. */
int path_value(const watcher *of);
void world_end(void);

_Noreturn void fail(const char *format, ...) __attribute__((format(printf, 1, 2)));

#endif

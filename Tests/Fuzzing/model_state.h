/* model_state.h - the state of the model, and what model.c does for model_life.c. */
#ifndef KVO_FUZZ_MODEL_STATE_H
#define KVO_FUZZ_MODEL_STATE_H

#include "model.h"
#include "model_paths.h"

typedef struct observation {
  bool live;
  /** It observes an expression: a path, or a key that others affect. It depends on the keys that its evaluation reads. */
  bool evaluated;
  int count;
  interest heard[READS];
  value last;
  /** The last key of its path, if its changes are delivered like those of a direct observation of that key. */
  interest leaf;
  /** When it was registered. */
  long registered;
  /** Nothing is told: whether it has missed something, and the value when that began. */
  bool paused, missed;
  value kept;
  /** Its last evaluation came to a dying object, so nothing is evaluated before the next change. */
  bool orphaned;
  /** The lives of all objects that it has ever depended on, one bit each. */
  uint64_t involved;
} observation;

/* A change, from before the store until the last observer has been notified. */
typedef struct frame {
  struct frame *outer;
  int slot, key, life;
  /** The clock at its beginning, and after the store. */
  long begun, stored;
  /** An observer that is notified without an evaluation wants the new value. */
  bool wants_new;
  kvo_change_kind kind;
  int indexes;
  value before;
  /** For evaluated observations: notified before the change; notified after it; and the old value. */
  bool pending[WATCHES], told[WATCHES];
  value pending_values[WATCHES];
} frame;

/* A frame between will and did. */
typedef struct pair {
  struct pair *below;
  frame frame;
  /** kvo_will_change has returned. */
  bool open;
} pair;

/* A silent scope, and the lives of its objects. */
typedef struct scope {
  int lives[SLOTS];
} scope;

/* A silent change in progress, and the number of its scope. */
typedef struct quiet {
  int slot, key, life, scope;
} quiet;

/* An announcement that was not passed on, and the time then; -1 if it was silenced or refused. */
typedef struct unobserved {
  int slot, key, life;
  long begun;
} unobserved;

/* The limit of registry/unobserved.c; and more silent changes than a program can begin. */
enum { MAX_UNOBSERVED = 64, MAX_QUIET = 1024 };

/* The state of the model. */
extern struct model {
  /** Counts dependencies; a change notifies those that existed when it began. */
  long clock;
  int lives, life[SLOTS];
  /** The objects that are being destroyed, one bit each. */
  unsigned dying;
  observation observations[WATCHES];
  frame *frames;
  pair *pairs;
  unobserved unobserved[MAX_UNOBSERVED];
  int unobserved_count;
  /** How many are in the list no more, because it was full, and when the oldest of them was announced. */
  int forgotten;
  long forgotten_begun;
  scope scopes[MAX_SCOPES];
  int scope_count;
  quiet quiet[MAX_QUIET];
  int quiet_count;
} model;

void model_fault(world *in, kvo_fault_code code);
/* Evaluates; from now on it depends on exactly the keys that were read. Keys that it depended on before keep their age. */
value model_arm(world *in, int number);
/* Notifies an observer, or notes that it has missed it; `of` is NULL if the change is not one of a key. */
void model_tell(world *in, int number, const frame *of, bool prior, value before, value after);
/* Whether it depends on a key, at least since then. */
bool model_hears(int number, int slot, key of, long since);
/* Whether a change notifies it. */
bool model_is_told(const frame *of, int number);
/* Whether an observation is evaluated again after a silent change of the key. */
bool model_follows(int number, int slot, key of, long since);

/* Members of model_calls. */
void model_set(world *in, int slot, key of, int number, bool kept);
kvo_status model_will_change(world *in, int slot, key of, kvo_change_kind kind, int indexes);
kvo_status model_did_change(world *in, int slot, key of);
void model_silence(world *in, int slots, kvo_scope *unused);
void model_speak(world *in, kvo_scope *unused);

#endif

/* model_state.h - the state of the model. An observation has links; a change stores, settles and tells; a hold keeps what must not be told
 * now. */
#ifndef KVO_FUZZ_MODEL_STATE_H
#define KVO_FUZZ_MODEL_STATE_H

#include "model.h"
#include "model_paths.h"

/* An observer of one key, or of an expression: a path, a key that others affect, or a closure. */
typedef struct observation {
  bool live, is_expression;
  /** What it has read. A direct one has one link, to its key. */
  int count;
  interest links[READS];
  /** The evaluation in progress, whose reads are links already. */
  const reads *reading;
  /** What it reads was stored during its evaluation. */
  bool again;
  /** Something has left it to a change in progress, which settles and tells it. */
  bool stale;
  /** It has met an object that has died: it is evaluated only after a change. */
  bool is_orphaned;
  /** The key whose value it is, at the end of its path; slot -1 if there is none. */
  interest end;
  /** The value that it was told last; at first the one at its registration. */
  value last;
  /** When it was registered, and when the value that its observer knows was read. */
  long registered, known;
  /** Paused: whether it has missed something, and for a direct one the value when that began. */
  bool paused, missed;
  value kept;
  /** The number of the scope at whose end it is told, from 1; 0 if it is fresh. And whether it was told before the change. */
  int held;
  bool held_prior;
  /** Of a binding: one more than the greatest height of what it reads, how often it has run while bindings settle, and whether it waits. */
  int height, rounds;
  bool queued;
  /** The lives of all objects that it has ever depended on, one bit each. */
  uint64_t involved;
} observation;

/* A change, from before the store until the last observer has been told. */
typedef struct frame {
  struct frame *outer;
  int slot, key, life;
  /** The clock at its beginning, and at the store; 0 before that. */
  long begun, stored;
  kvo_change_kind kind;
  int indexes;
  value before;
  /** What the setter was given. */
  value given;
  /** The observation that it tells now: those with smaller numbers follow. */
  int cursor;
  /** Announced by hand: the program may make other changes, and tell of them, before it ends. */
  bool announced;
} frame;

/* A frame between will and did. */
typedef struct pair {
  struct pair *below;
  frame frame;
  /** kvo_will_change has returned. */
  bool open;
} pair;

/* What a hold knows of a key that has changed: the first change. */
typedef struct held_change {
  frame of;
  /** Which direct observers were told before it, and which are due. */
  bool prior[WATCHES], due[WATCHES];
} held_change;

enum { MAX_HELD = SLOTS * (KEYS + 1), MAX_HOLDS = 64 };

/* A scope, and the lives of its objects; or the settling of bindings, which holds all changes that are in no scope. */
typedef struct scope {
  kvo_scope_kind kind;
  bool settles;
  int lives[SLOTS];
  /** It tells; changes that are made meanwhile are not its own. */
  bool ending;
  /** In the order of the first changes. */
  held_change held[MAX_HELD];
  int held_count;
} scope;

/* A silent change in progress, and the number of its scope. At its end those who read the key are settled. */
typedef struct quiet {
  int slot, key, life, scope;
} quiet;

/* A change of a key that is told by somebody else: a proxy. The first set of the key only stores. */
typedef struct absorbed {
  int slot, key, life;
  bool used;
} absorbed;

/* An announcement that was not passed on, and the time then; -1 if it was silenced or refused. */
typedef struct unobserved {
  int slot, key, life;
  long begun;
} unobserved;

/* The limit of registry/unobserved.c; and more than a program can begin. */
enum { MAX_UNOBSERVED = 64, MAX_QUIET = 1024, MAX_ABSORBED = 64 };

/* The state of the model. */
extern struct model {
  /** Counts registrations, stores and evaluations: what was read before a store is out of date after it. */
  long clock;
  int lives, life[SLOTS];
  /** The objects that are being destroyed, one bit each. */
  unsigned dying;
  observation observations[WATCHES];
  /** Where the evaluation of a closure notes its reads. */
  reads *recorder;
  frame *frames;
  pair *pairs;
  unobserved unobserved[MAX_UNOBSERVED];
  int unobserved_count;
  /** How many are in the list no more, because it was full, and when the oldest of them was announced. */
  int forgotten;
  long forgotten_begun;
  quiet quiet[MAX_QUIET];
  int quiet_count;
  absorbed absorbed[MAX_ABSORBED];
  int absorbed_count;
  int scope_count;
  /** A cycle of bindings has no end, which is KVO0024. */
  bool is_endless;
  /** The last member: model_begin does not clear it. */
  scope scopes[MAX_HOLDS];
} model;

void model_fault(world *in, kvo_fault_code code);
static inline long model_tick(void) { return ++model.clock; }

/* ------------------------------------------------------------------------------------------------ model_expressions.c -- */

/* The link to a key, or NULL. */
const interest *model_link(int number, int slot, key of);
/* Brings an expression up to date: from now on it has links to exactly the keys that it has read. */
value model_settle(world *in, int number);
/* Evaluates an expression without linking it: the value before a scope that compares, of one that wants no old values. ABSENT if it
 * cannot be evaluated. */
value model_read_present(world *in, int number);
/* After a change of a key that nobody is told of: settles, if that can lead to other objects and nobody else is going to. */
void model_follow(world *in, int number, int slot, key of);
/* After a change during which it was registered without an initial value: settles, so that its observer is told of later changes only. If
 * one of them is in progress, that tells it with the same old value. */
void model_begin_to_follow(world *in, int number, const frame *of);
/* Registers: settles for the first time. */
kvo_status model_first(world *in, int number, value *out);
/* Settles an expression, and tells its observer, unless `unless_same` and its value is the one that was told last. A change whose key is at
 * the end of a path is told with its kind and indexes; NULL for none. */
void model_tell_expression(world *in, int number, const frame *of, bool unless_same);
/* Calls the observer of a direct observation, or of any before a change. */
void model_tell(world *in, int number, const frame *of, bool prior, value before, value after);

/* --------------------------------------------------------------------------------------------------- model_changes.c -- */

/* What a change does about an observation. */
typedef enum due { NOTHING, SETTLES, TELLS } due;
due model_due(const world *in, const frame *of, int number);
void model_frame(frame *out, int slot, key of, kvo_change_kind kind, int indexes);
/* Between these a change is in progress. */
void model_begin_change(frame *of);
void model_end_change(const frame *of);
/* Whether a change in progress has not come to an observation yet. */
bool model_is_ahead(const frame *of, int number);
/* The present value of a key as a direct observer gets it; `given` if there is no getter. */
value model_present(world *in, const frame *of, value given);

/* ----------------------------------------------------------------------------------------------------- model_holds.c -- */

bool model_is_silent(int slot);
/* Whether a scope covers the object, silent or not. */
bool model_is_scoped(int slot);
/* Silent changes: at the end, those who have read the key are settled. */
void model_begin_quietly(int slot, key of);
void model_end_quietly(world *in, int slot, key of, int life);
void model_forget_quiet(int slot, key of, int life);
/* The number of the hold that takes a change which is about to be made, or 0; it calls who wants that before the change. */
int model_hold_begins(world *in, frame *of);
/* After the store: who is due is told at the end of the hold. */
void model_hold_stored(world *in, const frame *of, int number);
/* The same for a change that was begun outside of the hold: its observers were called before it. */
void model_hold_changed(world *in, const frame *of, int number);
/* Whether the hold knows of a change of the key. */
bool model_hold_knows(int number, int slot, key of);
/* The number of the scope that takes changes of the object, or 0. */
int model_scope_of(int slot);
/* Begins a hold of all changes, for the settling of bindings; ends the newest hold. */
int model_begin_hold(void);
/* An object has died, so its changes are not told. */
void model_scopes_forget(int slot);
/* Whether the change is told by a proxy. */
bool model_is_absorbed(int slot, key of);
/* Whether an expression is left to something in progress that is going to tell it: another change than this one, or a hold. */
bool model_is_postponed(int number, const frame *of);
/* The same for a death: also to an announced change. */
bool model_awaits_change(int number, int dying_life);
/* Whether a silent change is going to settle it. */
bool model_awaits_silent_change(int number);

/* -------------------------------------------------------------------------------------------------- model_bindings.c -- */

/* Whether a change is going to run bindings: then they settle before anybody is told. */
bool model_reaches_bindings(const world *in, const frame *of);
/* Has the binding run before anybody else is told. */
void model_enqueue(const world *in, int number);
/* Runs what is queued. The caller has begun a hold. */
void model_run_bindings(world *in);
/* Settles these bindings, one bit each, and tells what has changed. */
void model_settle_bindings(world *in, unsigned which);
kvo_status model_bind(world *in, int number);

/* Members of model_calls. */
void model_set(world *in, int slot, key of, int number, bool kept);
kvo_status model_will_change(world *in, int slot, key of, kvo_change_kind kind, int indexes);
kvo_status model_did_change(world *in, int slot, key of);
void model_begin_scope(world *in, kvo_scope_kind kind, int slots, kvo_scope *unused);
void model_end_scope(world *in, kvo_scope *unused);
void model_absorb(world *in, int slot, key of, kvo_mute *unused);
void model_emit(world *in, kvo_mute *unused);
kvo_status model_pause(world *in, int number);
kvo_status model_resume(world *in, int number, bool tell_missed);
kvo_status model_add(world *in, int number);
kvo_status model_remove(world *in, int number, ending how);
kvo_status model_remove_for(world *in, int slot, int identity, int path, bool with_context, int context);
void model_finish(world *in, int slot);

#endif

/* world.h - a world in which a program of operations runs: the model's or the runtime's. Both run the same program with the same code for
 * the program's own operations, and log what observers and callers see. The logs must be equal. */
#ifndef KVO_FUZZ_WORLD_H
#define KVO_FUZZ_WORLD_H

#include "schema.h"

#include <kvo/kvo_binding.h>
#include <stddef.h>

/* ---------------------------------------------------------------------------------------------------------- Programs -- */

typedef enum operation_code {
  SET,
  ADD,
  SET_PATH,
  REMOVE,
  WILL,
  DID,
  KILL,
  CREATE,
  CANCEL, /* with or without waiting */
  WILL_INDEXES,
  REMOVE_FOR,
  REMOVE_FOR_CONTEXT,
  GET_PATH,
  STORE,
  FORGED,
  QUERY,
  /** Those above are made from most first bytes, those below from the others (RARE). */
  FREQUENT,
  PAUSE = FREQUENT,
  RESUME,
  SILENTLY, /* the next operations, in a silent scope */
  /** And those below from the others with a bit of the last byte (LATER). */
  LATER,
  COALESCE = LATER, /* the next operations, in a coalescing scope */
  PROXY,            /* announces the change of a key by hand, and stores through its setter */
  ADD_CLOSURE,
  BIND,
  OPERATIONS,
  RARE = 240
} operation_code;

/* What an observation observes: a key path, or a function that reads keys of its object. */
typedef enum closure {
  PATH,
  SUM_OF_TWO,  /* value + other */
  CONDITIONAL, /* next.value if value is odd, otherwise other */
  SETTING,     /* sets other to what belongs to value, and reads it */
  CLOSURES
} closure;

/** A fault groups more observations than these by source location: then only their number is compared. */
enum { MOST_SINGLE = 8 };

enum { OPERATION_SIZE = 6, HEADER_SIZE = SLOTS, PROGRAM_SIZE = 64 };

/* An operation, six bytes of the input. The meaning of `slot`, `subject` and the others depends on the operation. */
typedef struct operation {
  operation_code code;
  int slot;
  /** The number of a key, a path or an observation. */
  int subject;
  int argument, flags;
  /** For the action of a callback: see ACT_… */
  int when;
} operation;

enum {
  ACT_NOT_PRIOR = 1,
  ACT_NOT_AFTER = 2,
  ACT_ONCE = 4,
  /** On what the observation whose callback runs is about; a removal: of it. */
  ACT_ON_SELF = 8,
};

typedef struct program {
  /** Also what is known to differ: see differences.md. */
  bool is_whole;
  int shapes[SLOTS];
  int count;
  operation operations[PROGRAM_SIZE];
} program;

void program_decode(program *out, const uint8_t *bytes, size_t size);
void program_print(const program *of, int last);

/* ------------------------------------------------------------------------------------------------------------ Events -- */

typedef enum event_kind { CALLED, EVALUATED, RETURNED, FAULTED, READ, COUNTED, LISTED, STORED } event_kind;

/* All members are int, so that memcmp compares events. */
typedef struct event {
  event_kind kind;
  int watch, slot, prior, change, status;
  value before, after;
  /** Of the model: it was registered during the change. What it wants, nobody need have wanted at the beginning. */
  int is_late;
  int index_count, indexes;
  int context, identity, path;
} event;

typedef struct event_log {
  int count;
  event events[4096];
} event_log;

void event_print(const event *of, const char *prefix);

/* ------------------------------------------------------------------------------------------------------------ Worlds -- */

/* The arguments of a registration; kept after the observation has ended. */
typedef struct watch {
  int slot, path, options, identity, context;
  closure closure;
  /** A binding sets this key to the value that others observe. */
  bool binds;
  int target;
  key target_key;
  /** Of a two-way binding: the number of the other direction, which comes right before it and has no id of its own; otherwise 0. */
  int back;
  /** Of the binding of a closure: how often that has been called outside of silent scopes, where each store may call it or only the last.
   * Nothing says which of several bindings is first. */
  int evaluations;
  /** The operations that its callback runs, by position in the program. */
  int first_action, action_count;
  /** Its id is known: the registration has returned, or its callback was called. Until then nothing can be done with it. */
  bool known;
  uint32_t spent;
} watch;

typedef struct world world;

/* How an observation is ended by its id: kvo_remove_observer, kvo_cancel_observer, kvo_cancel_observer_and_wait, or kvo_remove_observer
 * with an id that is nearly its own. */
typedef enum ending { END_REMOVE, END_CANCEL, END_AND_WAIT, END_FORGED } ending;

/* The operations that differ between the worlds. The caller logs statuses. */
typedef struct calls {
  void (*create)(world *in, int slot);
  /** Destroys an object. */
  void (*finish)(world *in, int slot);
  /** Nothing refers to the memory of a dead object any more. */
  void (*seal)(world *in, int slot);
  int (*load)(world *in, int slot, key of);
  void (*store)(world *in, int slot, key of, int number);
  /** Loads, and notes that a closure reads it. */
  int (*get)(world *in, int slot, key of);
  /** Calls a setter; with `kept` one that was looked up earlier, if possible. */
  void (*set)(world *in, int slot, key of, int number, bool kept);
  kvo_status (*set_path)(world *in, int slot, int path, value to);
  kvo_status (*get_path)(world *in, int slot, int path);
  kvo_status (*will)(world *in, int slot, key of, kvo_change_kind kind, int indexes);
  kvo_status (*did)(world *in, int slot, key of);
  /** Registers in.watches[number]. */
  kvo_status (*add)(world *in, int number);
  /** The same for a binding. */
  kvo_status (*bind)(world *in, int number);
  kvo_status (*remove)(world *in, int number, ending how);
  kvo_status (*remove_for)(world *in, int slot, int identity, int path, bool with_context, int context);
  kvo_status (*pause)(world *in, int number);
  kvo_status (*resume)(world *in, int number, bool tell);
  /** Begins and ends a scope of these objects, one bit each; `scope` is on the stack of the caller. */
  void (*begin_scope)(world *in, kvo_scope_kind kind, int slots, kvo_scope *scope);
  void (*end_scope)(world *in, kvo_scope *scope);
  /** Begins and ends a stretch in which the first set of the key tells nobody, because the caller does. */
  void (*absorb)(world *in, int slot, key of, kvo_mute *mute);
  void (*emit)(world *in, kvo_mute *mute);
  /** Logs how the object is observed. */
  void (*survey)(world *in, int slot);
} calls;

enum { MAX_SCOPES = 4 };

/* A set that has not stored yet. */
typedef struct setting {
  struct setting *outer;
  int slot;
  bool stored;
} setting;

struct world {
  const calls *calls;
  const program *program;
  int shapes[SLOTS];
  /** `sealed`: dead, and its memory must not be touched. */
  bool alive[SLOTS], dying[SLOTS], sealed[SLOTS];
  /** How many calls in progress need the object alive: it cannot be killed. */
  int pinned[SLOTS];
  setting *settings;
  int watch_count;
  watch watches[WATCHES];
  /** How many of its callbacks are running. */
  int running[WATCHES];
  /** How many more actions callbacks may run, and the observation whose callback runs, or -1. */
  int fuel, current;
  /** How many scopes are open. */
  int scopes;
  /** How many of them are silent. */
  int silent_scopes;
  /** The last member: world_begin does not clear all of it. */
  event_log log;
};

void world_begin(world *out, const calls *through, const program *of);
/* Runs an operation of the program and returns how many it used: a registration also uses its callback's actions. */
int world_perform(world *in, int position);
/* Logs what storage holds, and how objects are observed; compared after each operation. */
void world_survey(world *in);
/* Kills the object, unless a call needs it, with everything that a program has to do then. */
void world_kill(world *in, int slot, bool tidy);

event *world_log(world *in, event_kind kind);
/* Logs a delivery and runs the program's actions for that callback. */
void world_called(world *in, const event *told);
/* Calls a setter. */
void world_set(world *in, int slot, key of, int number);
/* What the program's setters do. */
void world_program_sets(world *in, int slot, key of, int number);
/* The value of a property as its getter computes it. */
value world_read(world *in, int slot, key of);
/* The value of a closure of an object. */
int world_evaluate(world *in, closure which, int slot);
/* The same for a binding: counts it. */
int world_compute(world *in, int number);

/* Ends the process because the worlds differ. */
_Noreturn void fail(const char *format, ...) __attribute__((format(printf, 1, 2)));

#endif

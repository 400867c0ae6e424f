/* module.h - what the files of the Lua module share. */
#ifndef KVO_LUA_MODULE_H
#define KVO_LUA_MODULE_H

#include <kvo/kvo_raw.h>
#include <lauxlib.h>
#include <lua.h>
#include <pthread.h>
#include <stdatomic.h>

/* ---------------------------------------------------------------------------------------------------------- values.c -- */

/* A value outside of Lua. A copy owns its string and its elements. */
typedef struct value {
  enum { NIL, BOOLEAN, INTEGER, NUMBER, STRING, OBJECT, LIST, OTHER } kind;
  bool boolean;
  long long integer;
  double number;
  char *string;
  kvo_object *object;
  struct value *elements;
  size_t count;
} value;

/* Copies a kvo_value; without memory it is nil. Frees what a copy owns. */
void value_copy(value *to, const kvo_value *from);
void value_free(value *of);
/* A kvo_value_reader: copies to the value that is its argument. */
void value_read(const kvo_value *from, void *to);
/* Pushes a value; may raise an error. An object is pushed as its userdata. */
void value_push(lua_State *L, const value *of);
/* Fills a view of the Lua value at an index, which has to stay on the stack. `type` is the encoding of what is to be set, for nil. Returns
 * NULL, or why the value cannot be passed. */
const char *value_view(lua_State *L, int index, const char *type, value *storage, kvo_value *view);
/* Raises an error if a status is not KVO_OK. */
void check_status(lua_State *L, kvo_status status, const char *what);

/* ------------------------------------------------------------------------------------------------------------ guard.c -- */

/* A call that may notify. Misuse in it that would end the process, such as a value on an observed path that lacks the next key, is
 * noted, and becomes an error of Lua afterwards. Calls may be nested; nothing in between may raise an error. */
typedef struct guard {
  char fault[512];
  kvo_fault_handler outer;
  void *outer_arg;
} guard;

void guard_begin(guard *of);
void guard_end(guard *of);
/* Ends it, and raises an error if the status is not KVO_OK, or if there was such a misuse: then the call has been made all the same. */
void guard_check(lua_State *L, guard *of, kvo_status status, const char *what);
/* Makes a text the error of the innermost guarded call of this thread; false without one. */
bool guard_note(const char *text);

/* ----------------------------------------------------------------------------------------------------------- state.c -- */

/* A Lua state that has loaded the module. It lasts as long as observations of it. */
typedef struct state {
  _Atomic int references;
  pthread_mutex_t lock;
  /* The coroutine on which handlers run; NULL when the Lua state is closed. Guarded by the lock, as the rest is. */
  lua_State *L;
  /* The thread that used the module last: handlers are called on it. Changes on other threads wait. */
  uint64_t home;
  struct waiting *first, *last;
  size_t waiting;
  struct observation *open;
  /* How many handlers are running, each within the one before; used by the home thread only. */
  size_t handlers;
} state;

/* The state, of which this becomes the home thread; raises an error while it is being closed. */
state *state_of(lua_State *L);
/* The same, but returns NULL then. */
state *state_enter(lua_State *L);
/* The same, without becoming the home thread. */
state *state_if_open(lua_State *L);
void state_open(lua_State *L);
void state_retain(state *of);
void state_release(state *of);
/* Whether this thread may call handlers. */
bool state_is_home(state *of);
/* Calls the function below the arguments on top of the stack; what it raises goes to kvo.onerror. */
void state_call(lua_State *L, int arguments, const char *where);
/* Passes the error on top of the stack to kvo.onerror, and pops it. */
void state_failed(lua_State *L, const char *where);
int state_onerror(lua_State *L);

/* -------------------------------------------------------------------------------------------------------- userdata.c -- */

/* The userdata of an object. `object` is NULL when it is dead, and not to be used when its death has begun. */
typedef struct handle {
  _Atomic(kvo_object *) object;
  _Atomic bool is_dying;
  _Atomic int references;
} handle;

/* The userdata of an object that Lua owns has the memory of the object, too. The collector finalises an object and those that it refers to
 * in any order, and frees the userdata only when nothing refers to them: so no object refers to memory that was freed. Its first user value
 * has what the object keeps, and handlers. */
typedef struct object_box {
  handle *shared;
  kvo_observation death;
  bool is_owned;
  /* An object of C that has what Lua has put into it: the userdata stays until the object dies. */
  bool is_kept;
  /* The number of changes of its lists and sets. */
  unsigned changes;
} object_box;

extern const char object_type[];
void userdata_open(lua_State *L);
/* Pushes the userdata of an object; nil for NULL, and for an object that has ended or is being collected. */
void object_push(lua_State *L, kvo_object *object);
/* Makes an object, which Lua owns, and pushes its userdata. */
void object_create(lua_State *L, kvo_class *cls);
/* The object at an index of the stack; raises an error if it is no object, or dead. */
kvo_object *object_check(lua_State *L, int index);
kvo_object *object_test(lua_State *L, int index);
/* Pushes the userdata that belongs to an address, or nil. */
void object_find(lua_State *L, kvo_object *object);
bool object_is_owned(lua_State *L, int index);
int object_gc(lua_State *L);

/* --------------------------------------------------------------------------------------------------------- objects.c -- */

void object_open(lua_State *L);
int object_wrap(lua_State *L);
int object_address(lua_State *L);
int object_get_path(lua_State *L);
int object_set_path(lua_State *L);

/* --------------------------------------------------------------------------------------------------------- classes.c -- */

void class_open(lua_State *L);
int class_make(lua_State *L);
int class_find(lua_State *L);
int class_list(lua_State *L);

/* --------------------------------------------------------------------------------------------------------- observe.c -- */

/* An observation, also that of a binding. Its user data, its token and each waiting change have a reference. */
typedef struct observation {
  _Atomic int references;
  state *of;
  kvo_object *object; /* for comparison */
  kvo_observation id;
  /* Of its handler in the table of the object's userdata; at the negative number is what is held: see tokens.c, bind.c. */
  lua_Integer number;
  /* Among those of the state that have not ended; guarded by its lock. */
  struct observation *next, *previous;
  bool is_listed;
  /* Of a binding: what it sets, and the watch of that object's death, or 0. NULL otherwise; the object is for comparison. */
  kvo_object *target;
  const char *key;
  _Atomic kvo_observation watch;
  /* Whether the value is that of a function, which is the handler. */
  bool is_computed;
  /* The other direction of a binding, with a reference. */
  struct observation *back;
  /* Where it was made. */
  char file[LUA_IDSIZE];
  uint32_t line;
  char key_path[];
} observation;

void observe_open(lua_State *L);
int observe(lua_State *L);
int observe_deliver(lua_State *L);
/* Ends all observations of a state. */
void observe_end_all(state *of);
/* Ends what is waiting, for a state that is closed. */
void waiting_drop(state *of);

/* The key path at an index; raises an error if it is none, or begins with a key that the object lacks. */
const char *observation_check_path(lua_State *L, kvo_object *object, int index);
/* Makes an observation of the object at an index, with the handler at another one, and pushes its token. */
observation *observation_make(lua_State *L, int object, int handler, const char *key_path, const char *key);
/* Has the userdata at an index stay until its object dies, on any thread, unless Lua owns the object. */
void observation_keep(lua_State *L, int object);
/* Before and after its registration. The latter raises an error, without an observation, if the status is not KVO_OK. */
void observation_begin(observation *of, guard *around);
void observation_begun(lua_State *L, observation *of, guard *around, kvo_status status);
/* Where its handler is: pushes the table of its object's userdata, or nil. */
void observation_push_handlers(lua_State *L, const observation *of);
/* Calls a function, which gets the argument as a light userdata; what it raises goes to kvo.onerror. */
void observation_call(lua_State *L, lua_CFunction function, void *argument, const char *where);
/* For the runtime: `destroy`, and `ask`, which has the home thread settle a binding. */
void observation_ended(void *user_data);
void observation_ask(kvo_observation observation, void *user_data);
void observation_release(observation *of);

/* --------------------------------------------------------------------------------------------------------- tokens.c -- */

extern const char token_type[];
void token_open(lua_State *L);

/* ----------------------------------------------------------------------------------------------------------- bind.c -- */

int bind_one_way(lua_State *L);
int bind_two_way(lua_State *L);

#endif

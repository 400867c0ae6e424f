/* state.c - the Lua states that have loaded the module, errors of handlers, and the module's table. */
#include "module.h"

#include <stdio.h>
#include <stdlib.h>

static const char state_key[] = "kvo.state", onerror_key[] = "kvo.onerror";

/* The number of this thread. pthread_self would give a new thread that of one that has ended. */
static uint64_t own_number(void) {
  static _Atomic uint64_t last;
  static _Thread_local uint64_t own;
  if (own == 0) own = atomic_fetch_add(&last, 1) + 1;
  return own;
}

state *state_if_open(lua_State *L) {
  lua_getfield(L, LUA_REGISTRYINDEX, state_key);
  state **box = lua_touserdata(L, -1);
  lua_pop(L, 1);
  return box != NULL ? *box : NULL;
}

state *state_enter(lua_State *L) {
  state *found = state_if_open(L);
  if (found == NULL) return NULL;
  pthread_mutex_lock(&found->lock);
  found->home = own_number();
  pthread_mutex_unlock(&found->lock);
  return found;
}

state *state_of(lua_State *L) {
  state *found = state_enter(L);
  if (found == NULL) luaL_error(L, "kvo: the state is being closed");
  return found;
}

void state_retain(state *of) { atomic_fetch_add(&of->references, 1); }

void state_release(state *of) {
  if (atomic_fetch_sub(&of->references, 1) != 1) return;
  waiting_drop(of);
  pthread_mutex_destroy(&of->lock);
  free(of);
}

bool state_is_home(state *of) {
  pthread_mutex_lock(&of->lock);
  bool is_home = of->L != NULL && of->home == own_number();
  pthread_mutex_unlock(&of->lock);
  return is_home;
}

/* The Lua state is closed: no handler is called any more. */
static int state_close(lua_State *L) {
  state **box = lua_touserdata(L, 1);
  state *of = *box;
  *box = NULL;
  if (of == NULL) return 0;
  pthread_mutex_lock(&of->lock);
  of->L = NULL;
  pthread_mutex_unlock(&of->lock);
  observe_end_all(of);
  waiting_drop(of);
  state_release(of);
  return 0;
}

void state_open(lua_State *L) {
  if (lua_getfield(L, LUA_REGISTRYINDEX, state_key) != LUA_TNIL) { /* the module is loaded again */
    lua_pop(L, 1);
    return;
  }
  lua_pop(L, 1);
  state **box = lua_newuserdatauv(L, sizeof *box, 1);
  *box = NULL;
  lua_createtable(L, 0, 1);
  lua_pushcfunction(L, state_close);
  lua_setfield(L, -2, "__gc");
  lua_setmetatable(L, -2);
  lua_State *handlers = lua_newthread(L);
  lua_setiuservalue(L, -2, 1);
  *box = calloc(1, sizeof **box);
  if (*box == NULL) luaL_error(L, "kvo: not enough memory");
  (*box)->references = 1;
  (*box)->L = handlers;
  (*box)->home = own_number();
  pthread_mutex_init(&(*box)->lock, NULL);
  lua_setfield(L, LUA_REGISTRYINDEX, state_key);
}

/* Adds where an error was raised. */
static int traceback(lua_State *L) {
  const char *text = lua_tostring(L, 1);
  luaL_traceback(L, L, text != NULL ? text : luaL_tolstring(L, 1, NULL), 1);
  return 1;
}

void state_failed(lua_State *L, const char *where) {
  bool is_told = lua_getfield(L, LUA_REGISTRYINDEX, onerror_key) == LUA_TFUNCTION;
  if (is_told) {
    lua_pushvalue(L, -2);
    is_told = lua_pcall(L, 1, 0, 0) == LUA_OK;
  }
  if (!is_told) fprintf(stderr, "kvo: error in the observer of %s: %s\n", where, lua_tostring(L, -2));
  lua_pop(L, is_told ? 1 : 2);
}

void state_call(lua_State *L, int arguments, const char *where) {
  int function = lua_gettop(L) - arguments;
  lua_pushcfunction(L, traceback);
  lua_insert(L, function);
  if (lua_pcall(L, arguments, 0, function) != LUA_OK) state_failed(L, where);
  lua_settop(L, function - 1);
}

int state_onerror(lua_State *L) {
  if (!lua_isnoneornil(L, 1)) luaL_checktype(L, 1, LUA_TFUNCTION);
  lua_settop(L, 1);
  lua_setfield(L, LUA_REGISTRYINDEX, onerror_key);
  return 0;
}

__attribute__((visibility("default"))) int luaopen_kvo(lua_State *L);
int luaopen_kvo(lua_State *L) {
  static const luaL_Reg functions[] = {{"class", class_make},
                                       {"find", class_find},
                                       {"list", class_list},
                                       {"observe", observe},
                                       {"bind", bind_one_way},
                                       {"bind_two_way", bind_two_way},
                                       {"deliver", observe_deliver},
                                       {"wrap", object_wrap},
                                       {"address", object_address},
                                       {"get", object_get_path},
                                       {"set", object_set_path},
                                       {"onerror", state_onerror},
                                       {NULL, NULL}};
  luaL_checkversion(L);
  state_open(L);
  object_open(L);
  class_open(L);
  observe_open(L);
  luaL_newlib(L, functions);
  lua_pushinteger(L, kvo_version());
  lua_setfield(L, -2, "version");
  return 1;
}

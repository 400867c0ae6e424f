/* observe.c - kvo.observe: observations, and changes of other threads, which wait. */
#include "module.h"

#include <stdlib.h>
#include <string.h>

static const char lasting_key[] = "kvo.lasting";

void observation_release(observation *of) {
  if (atomic_fetch_sub(&of->references, 1) != 1) return;
  if (of->back != NULL) observation_release(of->back);
  state_release(of->of);
  free(of);
}

static void enlist(observation *of) {
  pthread_mutex_lock(&of->of->lock);
  of->next = of->of->open;
  if (of->next != NULL) of->next->previous = of;
  of->of->open = of;
  of->is_listed = true;
  pthread_mutex_unlock(&of->of->lock);
}

static void delist(observation *of) {
  pthread_mutex_lock(&of->of->lock);
  if (of->is_listed) {
    if (of->previous != NULL)
      of->previous->next = of->next;
    else
      of->of->open = of->next;
    if (of->next != NULL) of->next->previous = of->previous;
  }
  of->is_listed = false;
  pthread_mutex_unlock(&of->of->lock);
}

void observe_end_all(state *of) {
  for (;;) {
    pthread_mutex_lock(&of->lock);
    observation *first = of->open;
    if (first != NULL) atomic_fetch_add(&first->references, 1);
    pthread_mutex_unlock(&of->lock);
    if (first == NULL) return;
    delist(first);
    kvo_cancel_observer(first->id);
    observation_release(first);
  }
}

/* A change that another thread has made, the end of an observation, or a binding that is to be settled. */
typedef struct waiting {
  struct waiting *next;
  observation *of;
  kvo_observation unsettled;
  bool is_end, is_prior;
  kvo_change_kind kind;
  value old_value, new_value;
  size_t *indexes, index_count;
} waiting;

static void waiting_free(waiting *of) {
  value_free(&of->old_value);
  value_free(&of->new_value);
  free(of->indexes);
  free(of);
}

/* ------------------------------------------------------------------------------------------------------------ Handlers -- */

void observation_push_handlers(lua_State *L, const observation *of) {
  luaL_checkstack(L, 10, NULL);
  object_find(L, of->object);
  if (!lua_isnil(L, -1))
    lua_getiuservalue(L, -1, 1);
  else
    lua_pushnil(L);
  lua_remove(L, -2);
}

static void set_indexes(lua_State *L, const size_t *indexes, size_t count) {
  lua_createtable(L, (int)count, 0);
  for (size_t i = 0; i < count; i++) {
    lua_pushinteger(L, (lua_Integer)indexes[i] + 1);
    lua_rawseti(L, -2, (lua_Integer)i + 1);
  }
  lua_setfield(L, -2, "indexes");
}

/* Calls the handler with a change; runs protected. */
static int tell(lua_State *L) {
  static const char *const kinds[] = {"", "setting", "insertion", "removal", "replacement"};
  const waiting *change = lua_touserdata(L, 1);
  observation_push_handlers(L, change->of);
  if (lua_isnil(L, -1) || lua_rawgeti(L, -1, change->of->number) != LUA_TFUNCTION) return 0;
  lua_createtable(L, 0, 7);
  object_find(L, change->of->object);
  lua_setfield(L, -2, "object");
  lua_pushstring(L, change->of->key_path);
  lua_setfield(L, -2, "key_path");
  lua_pushstring(L, kinds[change->kind]);
  lua_setfield(L, -2, "kind");
  value_push(L, &change->old_value);
  lua_setfield(L, -2, "old");
  value_push(L, &change->new_value);
  lua_setfield(L, -2, "new");
  lua_pushboolean(L, change->is_prior);
  lua_setfield(L, -2, "is_prior");
  if (change->indexes != NULL) set_indexes(L, change->indexes, change->index_count);
  lua_call(L, 1, 0);
  return 0;
}

/* Removes the handler of an observation that has ended; runs protected. */
static int forget(lua_State *L) {
  const observation *of = lua_touserdata(L, 1);
  observation_push_handlers(L, of);
  if (!lua_isnil(L, -1)) {
    lua_pushnil(L);
    lua_rawseti(L, -2, of->number);
    lua_pushnil(L);
    lua_rawseti(L, -2, -of->number);
  }
  lua_getfield(L, LUA_REGISTRYINDEX, lasting_key);
  lua_pushnil(L);
  lua_rawseti(L, -2, of->number);
  return 0;
}

void observation_call(lua_State *L, lua_CFunction function, void *argument, const char *where) {
  if (!lua_checkstack(L, 8)) return;
  lua_pushcfunction(L, function);
  lua_pushlightuserdata(L, argument);
  state_call(L, 1, where);
}

/* Takes an entry, with a reference to its observation, for the home thread. */
static void wait_for_home(state *of, waiting *entry) {
  pthread_mutex_lock(&of->lock);
  bool is_open = of->L != NULL;
  if (is_open) {
    if (of->last != NULL)
      of->last->next = entry;
    else
      of->first = entry;
    of->last = entry;
    of->waiting++;
  }
  pthread_mutex_unlock(&of->lock);
  if (is_open) return;
  observation_release(entry->of);
  waiting_free(entry);
}

/* An object may be dead when the home thread gets to it. */
static void forget_objects(value *of) {
  if (of->kind == OBJECT) of->kind = NIL;
  for (size_t i = 0; i < of->count; i++) forget_objects(&of->elements[i]);
}

static void changed(const kvo_change *change, void *user_data) {
  observation *of = user_data;
  waiting here = {.of = of, .is_prior = change->is_prior, .kind = change->kind};
  value_copy(&here.old_value, change->old_value);
  value_copy(&here.new_value, change->new_value);
  if (change->indexes != NULL && (here.indexes = calloc(change->index_count + 1, sizeof *here.indexes)) != NULL) {
    memcpy(here.indexes, change->indexes, change->index_count * sizeof *here.indexes);
    here.index_count = change->index_count;
  }
  if (state_is_home(of->of)) {
    of->of->handlers++;
    observation_call(of->of->L, tell, &here, of->key_path);
    of->of->handlers--;
  } else {
    waiting *entry = malloc(sizeof *entry);
    if (entry != NULL) {
      *entry = here;
      here = (waiting){.of = of};
      forget_objects(&entry->old_value);
      forget_objects(&entry->new_value);
      atomic_fetch_add(&of->references, 1);
      wait_for_home(of->of, entry);
    }
  }
  value_free(&here.old_value);
  value_free(&here.new_value);
  free(here.indexes);
}

void observation_ended(void *user_data) {
  observation *of = user_data;
  delist(of);
  kvo_observation watch = atomic_exchange(&of->watch, 0);
  if (watch != 0) kvo_cancel_observer(watch);
  if (state_is_home(of->of)) {
    observation_call(of->of->L, forget, of, of->key_path);
    observation_release(of);
    return;
  }
  waiting *entry = calloc(1, sizeof *entry);
  if (entry == NULL) {
    observation_release(of);
    return;
  }
  entry->of = of;
  entry->is_end = true;
  wait_for_home(of->of, entry);
}

void observation_ask(kvo_observation observation, void *user_data) {
  waiting *entry = calloc(1, sizeof *entry);
  if (entry == NULL) return;
  entry->of = user_data;
  entry->unsettled = observation;
  atomic_fetch_add(&entry->of->references, 1);
  wait_for_home(entry->of->of, entry);
}

static waiting *take(state *of) {
  pthread_mutex_lock(&of->lock);
  waiting *entry = of->first;
  if (entry != NULL) {
    of->first = entry->next;
    if (of->first == NULL) of->last = NULL;
    of->waiting--;
  }
  pthread_mutex_unlock(&of->lock);
  return entry;
}

void waiting_drop(state *of) {
  for (waiting *entry; (entry = take(of)) != NULL;) {
    observation_release(entry->of);
    waiting_free(entry);
  }
}

/* kvo.deliver(): calls the handlers for the changes that other threads had made before; returns their number. */
int observe_deliver(lua_State *L) {
  state *of = state_of(L);
  pthread_mutex_lock(&of->lock);
  size_t most = of->waiting;
  pthread_mutex_unlock(&of->lock);
  lua_Integer count = 0;
  for (waiting *entry; most-- > 0 && (entry = take(of)) != NULL;) {
    count += !entry->is_end;
    if (entry->unsettled != 0)
      kvo_settle(entry->unsettled);
    else if (entry->is_end)
      observation_call(of->L, forget, entry->of, entry->of->key_path);
    else
      observation_call(of->L, tell, entry, entry->of->key_path);
    observation_release(entry->of);
    waiting_free(entry);
  }
  lua_pushinteger(L, count);
  return 1;
}

/* -------------------------------------------------------------------------------------------------------- Registration -- */

static unsigned options_of(lua_State *L, int first) {
  static const char *const words[] = {"initial", "prior", NULL};
  static const unsigned bits[] = {KVO_INITIAL, KVO_PRIOR};
  unsigned options = KVO_NEW | KVO_OLD | KVO_ENDS_WITH_OBJECT;
  for (int i = first; i <= lua_gettop(L); i++) options |= bits[luaL_checkoption(L, i, NULL, words)];
  return options;
}

observation *observation_make(lua_State *L, int object, int handler, const char *key_path, const char *key) {
  static _Atomic lua_Integer numbers;
  size_t length = strlen(key_path) + 1, key_length = strlen(key) + 1;
  kvo_object *observed = object_check(L, object);
  state *own = state_of(L);
  observation **token = lua_newuserdatauv(L, sizeof *token, 0);
  *token = NULL;
  luaL_setmetatable(L, token_type);
  observation *of = malloc(sizeof *of + length + key_length);
  if (of == NULL) luaL_error(L, "kvo: not enough memory");
  *of = (observation){.references = 1, .of = own, .object = observed};
  of->number = atomic_fetch_add(&numbers, 1) + 1;
  memcpy(of->key_path, key_path, length);
  of->key = memcpy(of->key_path + length, key, key_length);
  state_retain(own);
  *token = of;
  lua_getiuservalue(L, object, 1);
  lua_pushvalue(L, handler);
  lua_rawseti(L, -2, of->number);
  lua_pop(L, 1);
  if (!object_is_owned(L, object)) { /* the userdata of an object of C stays as long as the observation */
    lua_getfield(L, LUA_REGISTRYINDEX, lasting_key);
    lua_pushvalue(L, object);
    lua_rawseti(L, -2, of->number);
    lua_pop(L, 1);
  }
  lua_Debug caller;
  for (int level = 1; of->line == 0 && lua_getstack(L, level, &caller) && lua_getinfo(L, "Sl", &caller); level++) {
    if (caller.currentline <= 0) continue; /* code of C */
    strcpy(of->file, caller.short_src);
    of->line = (uint32_t)caller.currentline;
  }
  return of;
}

static void begin(observation *of) {
  atomic_fetch_add(&of->references, 1); /* that of user_data */
  enlist(of);
}

static void give_up(observation *of) {
  delist(of);
  observation_call(of->of->L, forget, of, of->key_path);
  observation_release(of);
}

void observation_keep(lua_State *L, int object) {
  static const kvo_observer_ops keeping = {.destroy = observation_ended};
  object_box *box = lua_touserdata(L, object);
  if (box->is_owned || box->is_kept) return;
  lua_pushboolean(L, true);
  observation *of = observation_make(L, object, lua_gettop(L), "", "");
  begin(of);
  kvo_status status = kvo_binding_observe_death(of->object, &keeping, of, &of->id);
  if (status != KVO_OK) {
    give_up(of);
    check_status(L, status, "kvo");
  }
  box->is_kept = true;
  lua_pop(L, 2);
}

void observation_begin(observation *of, guard *around) {
  begin(of);
  guard_begin(around);
}

void observation_begun(lua_State *L, observation *of, guard *around, kvo_status status) {
  guard_end(around);
  if (status == KVO_OK) return;
  give_up(of);
  luaL_error(L, "%s: %s", of->key_path, around->fault[0] != 0 ? around->fault : kvo_status_string(status));
}

const char *observation_check_path(lua_State *L, kvo_object *object, int index) {
  size_t length;
  const char *key_path = luaL_checklstring(L, index, &length);
  luaL_argcheck(L, strlen(key_path) == length, index, "a key path has no NUL");
  char first[256] = "";
  strncpy(first, key_path, sizeof first - 1);
  first[strcspn(first, ".")] = 0;
  if (kvo_class_property(kvo_object_class(object), first) == NULL)
    luaL_error(L, "'%s' has no property '%s'", kvo_class_name(kvo_object_class(object)), first);
  return key_path;
}

/* kvo.observe(object, key_path, handler [, "initial"] [, "prior"]): returns a token. */
int observe(lua_State *L) {
  kvo_object *object = object_check(L, 1);
  const char *key_path = luaL_checkstring(L, 2);
  luaL_checktype(L, 3, LUA_TFUNCTION);
  unsigned options = options_of(L, 4);
  observation_check_path(L, object, 2);
  observation *of = observation_make(L, 1, 3, key_path, "");
  guard around;
  kvo_observer observer = {.struct_size = sizeof observer,
                           .key_path = of->key_path,
                           .options = (kvo_options)options,
                           .callback = changed,
                           .user_data = of,
                           .destroy = observation_ended,
                           .file = of->file,
                           .line = of->line};
  observation_begin(of, &around);
  observation_begun(L, of, &around, kvo_add_observer(object, &observer, &of->id));
  return 1;
}

void observe_open(lua_State *L) {
  token_open(L);
  luaL_getsubtable(L, LUA_REGISTRYINDEX, lasting_key);
  lua_pop(L, 1);
}

/* bind.c - kvo.bind and kvo.bind_two_way: properties that follow others.
 *
 * They are bindings as those of kvo_bind.h, which are settled before anyone is told, but those would set objects of Lua on every thread and
 * without keeping what is set. So the runtime asks the home thread to settle them, and their targets are set as Lua sets them. The value
 * is beside the function, at the negative number, from its evaluation until it is set, so that the collector sees it. */
#include "module.h"

#include <stdlib.h>
#include <string.h>

typedef struct reading {
  const observation *of;
  kvo_status status;
  value read;
  bool is_made;
} reading;

/* ------------------------------------------------------------------------------------------------------------ Settling -- */

/* Pops an error. That a path cannot be read, or that the target cannot have a value, is one of the assignment, as it is for observers. */
static void fail(lua_State *L, const observation *of) {
  if (lua_type(L, -1) == LUA_TSTRING && guard_note(lua_tostring(L, -1)))
    lua_pop(L, 1);
  else
    state_failed(L, of->key_path);
}

/* Pushes the table for the value, unless the object is finalised. */
static bool push_place(lua_State *L, const observation *of) {
  observation_push_handlers(L, of);
  return !lua_isnil(L, -1);
}

/* Keeps the value of the function; runs protected. */
static int compute(lua_State *L) {
  reading *made = lua_touserdata(L, 1);
  if (!push_place(L, made->of)) return 0;
  lua_rawgeti(L, -1, made->of->number);
  lua_call(L, 0, 1);
  lua_rawseti(L, -2, -made->of->number);
  made->is_made = true;
  return 0;
}

/* Keeps the value of the path; runs protected. */
static int read_path(lua_State *L) {
  reading *made = lua_touserdata(L, 1);
  if (!push_place(L, made->of)) return 0;
  check_status(L, made->status, made->of->key_path);
  value_push(L, &made->read);
  lua_rawseti(L, -2, -made->of->number);
  made->is_made = true;
  return 0;
}

static void protect(lua_State *L, lua_CFunction function, void *argument, const observation *of) {
  if (!lua_checkstack(L, 8)) return;
  lua_pushcfunction(L, function);
  lua_pushlightuserdata(L, argument);
  if (lua_pcall(L, 1, 0, 0) != LUA_OK) fail(L, of);
}

static void *evaluate(void *user_data) {
  observation *of = user_data;
  lua_State *L = of->of->L;
  if (!state_is_home(of->of)) return NULL; /* it has been closed */
  reading made = {.of = of};
  of->of->handlers++;
  if (of->is_computed) {
    observation_call(L, compute, &made, of->key_path);
  } else {
    made.status = kvo_get_value(of->object, of->key_path, value_read, &made.read);
    protect(L, read_path, &made, of);
  }
  value_free(&made.read);
  of->of->handlers--;
  return made.is_made ? of : NULL;
}

static void release(void *value, void *user_data) {
  (void)value;
  (void)user_data;
}

/* Sets the target to what is kept, unless it has it already; runs protected. */
static int assign(lua_State *L) {
  const observation *of = lua_touserdata(L, 1);
  if (!push_place(L, of)) return 0;
  lua_rawgeti(L, 2, -of->number);
  lua_pushnil(L);
  lua_rawseti(L, 2, -of->number);
  object_push(L, of->target);
  if (lua_isnil(L, 4)) return 0;
  lua_getfield(L, 4, of->key);
  if (lua_rawequal(L, 3, 5)) return 0;
  lua_pushvalue(L, 3);
  lua_setfield(L, 4, of->key);
  return 0;
}

static void settle(const kvo_raw_change *change, void *user_data) {
  observation *of = user_data;
  if (change->new_value == NULL || !state_is_home(of->of)) return;
  of->of->handlers++;
  protect(of->of->L, assign, of, of);
  of->of->handlers--;
}

static bool is_here(void *user_data) { return state_is_home(((observation *)user_data)->of); }

static const kvo_observer_ops ops = {.callback = settle,
                                     .destroy = observation_ended,
                                     .evaluate = evaluate,
                                     .release = release,
                                     .is_here = is_here,
                                     .ask = observation_ask};

/* -------------------------------------------------------------------------------------------------------- Registration -- */

/* The user data of the watch of the target's death is a copy of the binding's id, for which a pointer may be too small. */
static void end_of_target(void *user_data) {
  kvo_observation id = *(kvo_observation *)user_data;
  free(user_data);
  kvo_cancel_observer(id);
}

static const kvo_observer_ops watch_ops = {.destroy = end_of_target};

static kvo_status watch(observation *of) {
  kvo_observation made = 0, *copy = malloc(sizeof *copy);
  if (copy == NULL) return KVO_ERROR_OUT_OF_MEMORY;
  *copy = of->id;
  kvo_status status = kvo_binding_observe_death(of->target, &watch_ops, copy, &made);
  if (status != KVO_OK) {
    free(copy);
    return status;
  }
  atomic_store(&of->watch, made);
  if (!kvo_observation_is_registered(of->id)) kvo_cancel_observer(made); /* it has ended meanwhile */
  return KVO_OK;
}

static const char *check_target(lua_State *L, int object, int index) {
  kvo_object *target = object_check(L, object);
  const char *key = luaL_checkstring(L, index);
  const kvo_property *property = kvo_class_property(kvo_object_class(target), key);
  if (property == NULL) luaL_error(L, "'%s' has no property '%s'", kvo_class_name(kvo_object_class(target)), key);
  const char *type = kvo_property_type(property);
  luaL_argcheck(L, type[0] != '[' && type[0] != '<', index, "a list or a set cannot be bound");
  return key;
}

/* kvo.bind(target, key, source, key_path), kvo.bind(target, key, function): returns a token. */
int bind_one_way(lua_State *L) {
  bool is_computed = lua_isfunction(L, 3);
  int root = is_computed ? 1 : 3, handler = is_computed ? 3 : 4;
  const char *key = check_target(L, 1, 2);
  kvo_object *object = object_check(L, root);
  const char *key_path = is_computed ? key : observation_check_path(L, object, 4);
  observation *of = observation_make(L, root, handler, key_path, key);
  of->target = object_check(L, 1);
  of->is_computed = is_computed;
  kvo_raw_observer observer = {.struct_size = sizeof observer,
                               .key_path = of->key_path,
                               .options = KVO_NEW | KVO_INITIAL | KVO_ENDS_WITH_OBJECT,
                               .ops = &ops,
                               .user_data = of,
                               .identity = {NULL, of->target},
                               .file = of->file,
                               .line = of->line,
                               .is_receiver = true,
                               .is_binding = true,
                               .target = of->target,
                               .target_key = kvo_key_hash(key, strlen(key))};
  guard around;
  observation_begin(of, &around);
  kvo_status status = kvo_raw_observe_expression(object, &observer, false, &of->id);
  observation_begun(L, of, &around, status);
  if (of->target != object) status = watch(of);
  if (status == KVO_OK && around.fault[0] == 0) return 1;
  kvo_cancel_observer(of->id);
  return luaL_error(L, "%s: %s", key, around.fault[0] != 0 ? around.fault : kvo_status_string(status));
}

/* Makes one direction of two, of the arguments at these indexes. */
static void bind_direction(lua_State *L, int target, int source) {
  lua_pushcfunction(L, bind_one_way);
  for (int i = 0; i < 2; i++) lua_pushvalue(L, target + i);
  for (int i = 0; i < 2; i++) lua_pushvalue(L, source + i);
}

/* kvo.bind_two_way(one, key, other, other_key): returns a token, which ends both directions. */
int bind_two_way(lua_State *L) {
  lua_settop(L, 4);
  check_target(L, 1, 2);
  check_target(L, 3, 4);
  bind_direction(L, 1, 3);
  lua_call(L, 4, 1);
  observation *first = *(observation **)lua_touserdata(L, 5);
  bind_direction(L, 3, 1);
  if (lua_pcall(L, 4, 1, 0) != LUA_OK) {
    kvo_cancel_observer(first->id);
    return lua_error(L);
  }
  observation *second = *(observation **)lua_touserdata(L, 6);
  atomic_fetch_add(&first->references, 1);
  second->back = first;
  return 1;
}

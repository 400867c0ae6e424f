/* userdata.c - objects as userdata, of Lua's classes and of C's: which userdata an object has, and how it ends. */
#include "module.h"

#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

const char object_type[] = "kvo.object";
static const char known_key[] = "kvo.objects", ended_key[] = "kvo.ended";

static void release(handle *of) {
  if (atomic_fetch_sub(&of->references, 1) == 1) free(of);
}

/* The death of the object begins, on any thread. A handler of the object that has caused it must not use it any more. */
static void dies(kvo_observation watch, void *user_data) {
  (void)watch;
  atomic_store(&((handle *)user_data)->is_dying, true);
}

/* The object has died, on any thread; or its userdata. */
static void died(void *user_data) {
  handle *of = user_data;
  atomic_store(&of->object, NULL);
  release(of);
}
static const kvo_observer_ops death = {.destroy = died, .ask = dies};

/* What follows the address of an object that Lua owns in the table of known objects, as long as the object has not ended. The table is
 * weak: the userdata itself is no longer there when the collector is going to finalise it. */
static const void *mark_of(const kvo_object *object) { return (const char *)object + 1; }

void object_find(lua_State *L, kvo_object *object) {
  lua_getfield(L, LUA_REGISTRYINDEX, known_key);
  lua_rawgetp(L, -1, object);
  lua_remove(L, -2);
  object_box *box = lua_touserdata(L, -1);
  if (box != NULL && (box->shared == NULL || atomic_load(&box->shared->object) != object)) {
    lua_pop(L, 1); /* it is finalised, or another one had this address */
    lua_pushnil(L);
  }
}

/* Pushes a userdata without an object, with memory for one of this size. */
static object_box *push_box(lua_State *L, size_t size) {
  luaL_checkstack(L, 6, NULL);
  object_box *box = lua_newuserdatauv(L, sizeof *box + size, 2);
  memset(box, 0, sizeof *box + size);
  lua_newtable(L);
  lua_setiuservalue(L, -2, 1);
  luaL_setmetatable(L, object_type);
  box->shared = calloc(1, sizeof *box->shared);
  if (box->shared == NULL) luaL_error(L, "kvo: not enough memory");
  atomic_store(&box->shared->references, 1);
  return box;
}

/* Gives the userdata on top of the stack its object. */
static kvo_status fill_box(lua_State *L, object_box *box, kvo_object *object, bool is_owned) {
  atomic_store(&box->shared->object, object);
  box->is_owned = is_owned;
  atomic_fetch_add(&box->shared->references, 1);
  kvo_status status = kvo_binding_observe_death(object, &death, box->shared, &box->death);
  if (status != KVO_OK) {
    release(box->shared);
    return status;
  }
  lua_getfield(L, LUA_REGISTRYINDEX, known_key);
  lua_pushvalue(L, -2);
  lua_rawsetp(L, -2, object);
  lua_pushboolean(L, is_owned);
  if (is_owned)
    lua_rawsetp(L, -2, mark_of(object));
  else
    lua_pop(L, 1);
  lua_pop(L, 1);
  return KVO_OK;
}

/* Whether Lua owns an object. */
static bool is_marked(lua_State *L, const kvo_object *object) {
  lua_getfield(L, LUA_REGISTRYINDEX, known_key);
  bool is_owned = lua_rawgetp(L, -1, mark_of(object)) != LUA_TNIL;
  lua_pop(L, 2);
  return is_owned;
}

void object_push(lua_State *L, kvo_object *object) {
  luaL_checkstack(L, 6, NULL);
  if (object == NULL) {
    lua_pushnil(L);
    return;
  }
  object_find(L, object);
  if (!lua_isnil(L, -1) && object_test(L, -1) == NULL) { /* its death has begun, and another one may be here already */
    lua_pop(L, 1);
    lua_pushnil(L);
  }
  if (!lua_isnil(L, -1) || is_marked(L, object) || kvo_object_class(object) == NULL) return;
  lua_pop(L, 1);
  kvo_status status = fill_box(L, push_box(L, 0), object, false);
  if (status == KVO_ERROR_DYING_OBJECT) {
    lua_pop(L, 1);
    lua_pushnil(L);
    return;
  }
  check_status(L, status, "kvo");
}

void object_create(lua_State *L, kvo_class *cls) {
  size_t size = kvo_class_instance_size(cls), alignment = _Alignof(max_align_t);
  if (size == 0) luaL_error(L, "%s: only the binding of the class makes its objects", kvo_class_name(cls));
  object_box *box = push_box(L, size + alignment);
  uintptr_t first = (uintptr_t)(box + 1);
  kvo_object *object = (kvo_object *)((first + alignment - 1) / alignment * alignment);
  check_status(L, kvo_object_init(object, cls), kvo_class_name(cls));
  check_status(L, fill_box(L, box, object, true), kvo_class_name(cls));
}

static kvo_object *living(const object_box *box) {
  return box->shared != NULL && !atomic_load(&box->shared->is_dying) ? atomic_load(&box->shared->object) : NULL;
}

kvo_object *object_test(lua_State *L, int index) {
  object_box *box = luaL_testudata(L, index, object_type);
  return box != NULL ? living(box) : NULL;
}

kvo_object *object_check(lua_State *L, int index) {
  state_enter(L);
  object_box *box = luaL_checkudata(L, index, object_type);
  kvo_object *object = living(box);
  luaL_argcheck(L, object != NULL, index, "the object is dead");
  return object;
}

bool object_is_owned(lua_State *L, int index) { return ((object_box *)lua_touserdata(L, index))->is_owned; }

/* Keeps a userdata, without taking memory: the last one is in a table, and each has the one before as its second user value. */
enum { UNTIL_NO_HANDLER_RUNS = 1, FOR_EVER = 2 };
static void keep_ended(lua_State *L, int userdata, int how) {
  lua_getfield(L, LUA_REGISTRYINDEX, ended_key);
  lua_rawgeti(L, -1, how);
  lua_setiuservalue(L, userdata, 2);
  lua_pushvalue(L, userdata);
  lua_rawseti(L, -2, how);
  lua_pop(L, 1);
}

static void drop_ended(lua_State *L) {
  lua_getfield(L, LUA_REGISTRYINDEX, ended_key);
  lua_pushboolean(L, false);
  lua_rawseti(L, -2, UNTIL_NO_HANDLER_RUNS);
  lua_pop(L, 1);
}

/* Ends an object that Lua owns. Its memory stays as long as the userdata, which objects that refer to it keep. So does a change that is
 * being told: a handler may have dropped an object which the next one gets. */
static void end_object(lua_State *L, kvo_object *object) {
  const state *of = state_if_open(L);
  if (!kvo_object_end(object)) /* calls `died` */
    keep_ended(L, 1, FOR_EVER);
  else if (of != NULL && of->handlers > 0)
    keep_ended(L, 1, UNTIL_NO_HANDLER_RUNS);
  else
    drop_ended(L);
  lua_getfield(L, LUA_REGISTRYINDEX, known_key);
  lua_pushnil(L);
  lua_rawsetp(L, -2, mark_of(object));
  lua_pop(L, 1);
}

int object_gc(lua_State *L) {
  object_box *box = luaL_checkudata(L, 1, object_type);
  if (box->shared == NULL) return 0;
  kvo_object *object = atomic_load(&box->shared->object);
  if (box->is_owned && object != NULL)
    end_object(L, object);
  else
    kvo_cancel_observer(box->death);
  release(box->shared);
  box->shared = NULL;
  return 0;
}

void userdata_open(lua_State *L) {
  if (lua_getfield(L, LUA_REGISTRYINDEX, known_key) == LUA_TNIL) { /* not when the module is loaded again */
    lua_createtable(L, 2, 0);
    for (int i = UNTIL_NO_HANDLER_RUNS; i <= FOR_EVER; i++) {
      lua_pushboolean(L, false);
      lua_rawseti(L, -2, i);
    }
    lua_setfield(L, LUA_REGISTRYINDEX, ended_key);
    lua_newtable(L);
    lua_createtable(L, 0, 1);
    lua_pushliteral(L, "v");
    lua_setfield(L, -2, "__mode");
    lua_setmetatable(L, -2);
    lua_setfield(L, LUA_REGISTRYINDEX, known_key);
  }
  lua_pop(L, 1);
}

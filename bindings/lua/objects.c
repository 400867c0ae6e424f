/* objects.c - the properties of objects, and their lists and sets. */
#include "module.h"

static const char list_type[] = "kvo.list";

/* ---------------------------------------------------------------------------------------------------------- Properties -- */

static const char *name_of(const kvo_object *object) { return kvo_class_name(kvo_object_class(object)); }

/* The type encoding of a key; raises an error if there is none. */
static const char *type_of(lua_State *L, kvo_object *object, const char *key) {
  const kvo_property *property = kvo_class_property(kvo_object_class(object), key);
  if (property == NULL) luaL_error(L, "'%s' has no property '%s'", name_of(object), key);
  return kvo_property_type(property);
}

static void push_read(lua_State *L, value *read) {
  value_push(L, read);
  value_free(read);
}

static int object_index(lua_State *L) {
  kvo_object *object = object_check(L, 1);
  const char *key = luaL_checkstring(L, 2), *type = type_of(L, object, key);
  if (type[0] == '[' || type[0] == '<') {
    lua_newuserdatauv(L, 0, 2);
    lua_pushvalue(L, 1);
    lua_setiuservalue(L, -2, 1);
    lua_pushvalue(L, 2);
    lua_setiuservalue(L, -2, 2);
    luaL_setmetatable(L, list_type);
    return 1;
  }
  value read = {.kind = NIL};
  check_status(L, kvo_get_value(object, key, value_read, &read), key);
  push_read(L, &read);
  return 1;
}

/* Keeps an object that a property of an object has come to refer to: the collector of Lua does not see that. */
static void keep(lua_State *L, int owner, int key, int object) {
  lua_getiuservalue(L, owner, 1);
  lua_pushvalue(L, key);
  if (lua_type(L, object) == LUA_TUSERDATA)
    lua_pushvalue(L, object);
  else
    lua_pushnil(L);
  lua_rawset(L, -3);
  lua_pop(L, 1);
}

static void read_object(const kvo_value *from, void *to) {
  *(kvo_object **)to = from->bytes != NULL && from->type[0] == '@' ? *(kvo_object *const *)from->bytes : NULL;
}

/* Keeps what a property has come to have: the value that was set or the old one, unless a handler has set another one meanwhile, or
 * destroyed the object. */
static void keep_stored(lua_State *L, const char *key, int set, int old, bool is_set) {
  kvo_object *object = object_test(L, 1);
  if (object == NULL) return;
  kvo_object *stored = object_test(L, is_set ? set : old); /* if it cannot be read */
  kvo_get_value(object, key, read_object, &stored);
  if (object_test(L, set) == stored)
    keep(L, 1, 2, set);
  else if (object_test(L, old) == stored)
    keep(L, 1, 2, old);
}

static int object_newindex(lua_State *L) {
  kvo_object *object = object_check(L, 1);
  const char *key = luaL_checkstring(L, 2), *type = type_of(L, object, key);
  value storage;
  kvo_value view;
  const char *wrong = value_view(L, 3, type, &storage, &view);
  if (wrong != NULL) return luaL_error(L, "%s: %s", key, wrong);
  state_of(L);
  lua_settop(L, 3);
  guard around;
  if (type[0] == '@') { /* the new one and the old one, at index 5, live until the set has returned */
    lua_getiuservalue(L, 1, 1);
    lua_pushvalue(L, 2);
    lua_rawget(L, -2);
    if (view.bytes != NULL) {
      observation_keep(L, 1);
      keep(L, 1, 2, 3);
    }
  }
  guard_begin(&around);
  kvo_status status = kvo_set_value(object, key, &view);
  guard_end(&around);
  if (type[0] == '@') keep_stored(L, key, 3, 5, status == KVO_OK);
  guard_check(L, &around, status, key);
  return 0;
}

static int object_tostring(lua_State *L) {
  kvo_object *object = object_test(L, 1);
  if (object != NULL)
    lua_pushfstring(L, "%s: %p", name_of(object), (void *)object);
  else
    lua_pushliteral(L, "dead object");
  return 1;
}

int object_wrap(lua_State *L) {
  state_enter(L);
  luaL_argcheck(L, lua_islightuserdata(L, 1) || lua_isnil(L, 1), 1, "the address of an object was expected");
  kvo_object *object = lua_touserdata(L, 1);
  luaL_argcheck(L, object == NULL || kvo_object_class(object) != NULL, 1, "there is no object");
  object_push(L, object);
  return 1;
}

int object_address(lua_State *L) {
  lua_pushlightuserdata(L, object_check(L, 1));
  return 1;
}

int object_get_path(lua_State *L) {
  kvo_object *object = object_check(L, 1);
  const char *path = luaL_checkstring(L, 2);
  value read = {.kind = NIL};
  check_status(L, kvo_get_value(object, path, value_read, &read), path);
  push_read(L, &read);
  return 1;
}

int object_set_path(lua_State *L) {
  kvo_object *object = object_check(L, 1);
  const char *path = luaL_checkstring(L, 2);
  value storage;
  kvo_value view;
  const char *wrong = value_view(L, 3, "@", &storage, &view);
  if (wrong != NULL || (view.bytes != NULL && view.type[0] == '@'))
    return luaL_error(L, "%s: %s", path,
                      wrong != NULL ? wrong : "an object is set as a property of its owner, which keeps it");
  state_of(L);
  guard around;
  guard_begin(&around);
  guard_check(L, &around, kvo_set_value(object, path, &view), path);
  return 0;
}

/* ------------------------------------------------------------------------------------------------------------- To-many -- */

/* Replaces the list at index 1 by its object and its key, in front of the other arguments. Returns whether it is a set. */
static bool open_list(lua_State *L, kvo_object **object, const char **key, const char **type) {
  luaL_checkudata(L, 1, list_type);
  lua_getiuservalue(L, 1, 2);
  lua_getiuservalue(L, 1, 1);
  lua_replace(L, 1);
  lua_insert(L, 2);
  *object = object_check(L, 1);
  *key = lua_tostring(L, 2);
  *type = type_of(L, *object, *key);
  return (*type)[0] == '<';
}

static int list_len(lua_State *L) {
  kvo_object *object;
  const char *key, *type;
  size_t count = 0;
  bool is_set = open_list(L, &object, &key, &type);
  check_status(L, is_set ? kvo_members_count(object, key, &count) : kvo_list_count(object, key, &count), key);
  lua_pushinteger(L, (lua_Integer)count);
  return 1;
}

/* The elements that were inserted, with their number, so that the collector sees them. */
static void keep_element(lua_State *L, int element, int by) {
  if (lua_type(L, element) != LUA_TUSERDATA) return;
  element = lua_absindex(L, element);
  if (by > 0) observation_keep(L, 1);
  lua_getiuservalue(L, 1, 1);
  lua_pushvalue(L, element);
  lua_rawget(L, -2);
  lua_Integer times = lua_tointeger(L, -1) + by;
  lua_pop(L, 1);
  lua_pushvalue(L, element);
  if (times > 0)
    lua_pushinteger(L, times);
  else
    lua_pushnil(L);
  lua_rawset(L, -3);
  lua_pop(L, 1);
}

/* Whether a change of a list or a set is the only one of its object since it began. Otherwise a handler has made another one meanwhile, and
 * what was removed need not be what was there before: it is kept until the object dies. */
static unsigned begin_change(lua_State *L) { return ++((object_box *)lua_touserdata(L, 1))->changes; }
static bool is_only_change(lua_State *L, unsigned change) {
  return ((const object_box *)lua_touserdata(L, 1))->changes == change;
}

static void view_element(lua_State *L, int index, const char *type, value *storage, kvo_value *view) {
  const char *wrong = value_view(L, index, type + 1, storage, view);
  if (wrong != NULL) luaL_error(L, "%s: %s", lua_tostring(L, 2), wrong);
  state_of(L);
}

/* list:insert(index, value), list:insert(value) at the end. */
static int list_insert(lua_State *L) {
  kvo_object *object;
  const char *key, *type;
  size_t count = 0;
  open_list(L, &object, &key, &type);
  check_status(L, kvo_list_count(object, key, &count), key);
  lua_Integer index = lua_gettop(L) > 3 ? luaL_checkinteger(L, 3) : (lua_Integer)count + 1;
  luaL_argcheck(L, index >= 1, 2, "the first index is 1");
  value storage;
  kvo_value view;
  view_element(L, -1, type, &storage, &view);
  keep_element(L, -1, 1);
  guard around;
  begin_change(L);
  guard_begin(&around);
  kvo_status status = kvo_list_insert(object, key, (size_t)index - 1, &view);
  guard_end(&around);
  if (status != KVO_OK) keep_element(L, -1, -1);
  guard_check(L, &around, status, key);
  return 0;
}

static int list_read(lua_State *L, kvo_object *object, const char *key, lua_Integer index) {
  value read = {.kind = NIL};
  kvo_status status =
      index < 1 ? KVO_ERROR_OUT_OF_RANGE : kvo_list_get(object, key, (size_t)index - 1, value_read, &read);
  if (status != KVO_ERROR_OUT_OF_RANGE) check_status(L, status, key);
  push_read(L, &read);
  return 1;
}

/* list:remove(index), the last one without an index; returns the element. */
static int list_remove(lua_State *L) {
  kvo_object *object;
  const char *key, *type;
  size_t count = 0;
  open_list(L, &object, &key, &type);
  check_status(L, kvo_list_count(object, key, &count), key);
  lua_Integer index = luaL_optinteger(L, 3, (lua_Integer)count);
  luaL_argcheck(L, index >= 1 && (size_t)index <= count, 2, "the list has no such index");
  list_read(L, object, key, index);
  state_of(L);
  guard around;
  unsigned change = begin_change(L);
  guard_begin(&around);
  kvo_status status = kvo_list_remove(object, key, (size_t)index - 1);
  guard_end(&around);
  if (status == KVO_OK && is_only_change(L, change)) keep_element(L, -1, -1);
  guard_check(L, &around, status, key);
  return 1;
}

static int list_add(lua_State *L) {
  kvo_object *object;
  const char *key, *type;
  open_list(L, &object, &key, &type);
  value storage;
  kvo_value view;
  view_element(L, 3, type, &storage, &view);
  bool is_there = false;
  check_status(L, kvo_members_contain(object, key, &view, &is_there), key);
  keep_element(L, 3, 1);
  guard around;
  unsigned change = begin_change(L);
  guard_begin(&around);
  kvo_status status = kvo_members_add(object, key, &view);
  guard_end(&around);
  if (status != KVO_OK || (is_there && is_only_change(L, change))) keep_element(L, 3, -1);
  guard_check(L, &around, status, key);
  return 0;
}

static int list_discard(lua_State *L) {
  kvo_object *object;
  const char *key, *type;
  open_list(L, &object, &key, &type);
  value storage;
  kvo_value view;
  view_element(L, 3, type, &storage, &view);
  bool is_there = false;
  check_status(L, kvo_members_contain(object, key, &view, &is_there), key);
  guard around;
  unsigned change = begin_change(L);
  guard_begin(&around);
  kvo_status status = kvo_members_remove(object, key, &view);
  guard_end(&around);
  if (status == KVO_OK && is_there && is_only_change(L, change)) keep_element(L, 3, -1);
  guard_check(L, &around, status, key);
  return 0;
}

static int list_contains(lua_State *L) {
  kvo_object *object;
  const char *key, *type;
  open_list(L, &object, &key, &type);
  value storage;
  kvo_value view;
  view_element(L, 3, type, &storage, &view);
  bool is_there = false;
  check_status(L, kvo_members_contain(object, key, &view, &is_there), key);
  lua_pushboolean(L, is_there);
  return 1;
}

/* list:elements(): a table of them. */
static int list_elements(lua_State *L) {
  kvo_object *object;
  const char *key, *type;
  open_list(L, &object, &key, &type);
  value read = {.kind = NIL};
  check_status(L, kvo_get_value(object, key, value_read, &read), key);
  push_read(L, &read);
  return 1;
}

static int list_index(lua_State *L) {
  if (lua_type(L, 2) == LUA_TSTRING) { /* a method */
    luaL_getmetafield(L, 1, "methods");
    lua_pushvalue(L, 2);
    lua_rawget(L, -2);
    return 1;
  }
  lua_Integer index = luaL_checkinteger(L, 2);
  kvo_object *object;
  const char *key, *type;
  open_list(L, &object, &key, &type);
  return list_read(L, object, key, index);
}

/* list[index] = value replaces; one behind the last one appends. */
static int list_newindex(lua_State *L) {
  kvo_object *object;
  const char *key, *type;
  size_t count = 0;
  open_list(L, &object, &key, &type);
  lua_Integer index = luaL_checkinteger(L, 3);
  check_status(L, kvo_list_count(object, key, &count), key);
  luaL_argcheck(L, index >= 1 && (size_t)index <= count + 1, 2, "the list has no such index");
  value storage;
  kvo_value view;
  view_element(L, 4, type, &storage, &view);
  list_read(L, object, key, index); /* keeps the old one alive */
  keep_element(L, 4, 1);
  guard around;
  unsigned change = begin_change(L);
  guard_begin(&around);
  kvo_status status = (size_t)index > count ? kvo_list_insert(object, key, count, &view)
                                            : kvo_list_replace(object, key, (size_t)index - 1, &view);
  guard_end(&around);
  if (status != KVO_OK)
    keep_element(L, 4, -1);
  else if (is_only_change(L, change))
    keep_element(L, -1, -1);
  guard_check(L, &around, status, key);
  return 0;
}

static void make_type(lua_State *L, const char *name, const luaL_Reg *functions) {
  luaL_newmetatable(L, name);
  luaL_setfuncs(L, functions, 0);
  lua_pushliteral(L, "kvo");
  lua_setfield(L, -2, "__metatable");
}

void object_open(lua_State *L) {
  static const luaL_Reg object_functions[] = {{"__gc", object_gc},
                                              {"__index", object_index},
                                              {"__newindex", object_newindex},
                                              {"__tostring", object_tostring},
                                              {NULL, NULL}};
  static const luaL_Reg list_functions[] = {
      {"__len", list_len}, {"__index", list_index}, {"__newindex", list_newindex}, {NULL, NULL}};
  static const luaL_Reg methods[] = {
      {"insert", list_insert},     {"remove", list_remove},     {"add", list_add}, {"discard", list_discard},
      {"contains", list_contains}, {"elements", list_elements}, {NULL, NULL}};
  make_type(L, object_type, object_functions);
  make_type(L, list_type, list_functions);
  luaL_newlib(L, methods);
  lua_setfield(L, -2, "methods");
  lua_pop(L, 2);
  userdata_open(L);
}

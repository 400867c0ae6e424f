/* tokens.c - the tokens of observations and bindings. */
#include "module.h"

const char token_type[] = "kvo.observation";

static observation *token_check(lua_State *L) {
  state_enter(L);
  observation **token = luaL_checkudata(L, 1, token_type);
  return *token;
}

static int token_close(lua_State *L) {
  for (observation *of = token_check(L); of != NULL; of = of->back) {
    if (!kvo_observation_is_registered(of->id)) continue;
    state_of(L);
    guard around;
    guard_begin(&around);
    kvo_cancel_observer(of->id);
    guard_check(L, &around, KVO_OK, "close");
  }
  return 0;
}

static int token_is_active(lua_State *L) {
  observation *of = token_check(L);
  lua_pushboolean(L, of != NULL && kvo_observation_is_registered(of->id));
  return 1;
}

static bool has_objects(const value *of) {
  bool found = of->kind == OBJECT;
  for (size_t i = 0; i < of->count && !found; i++) found = has_objects(&of->elements[i]);
  return found;
}

/* Replaces, beside the handler, the value that is told as the old one at the resumption, by that on top of the stack, which it pops. */
static void hold(lua_State *L, const observation *of) {
  observation_push_handlers(L, of);
  lua_insert(L, -2);
  if (!lua_isnil(L, -2))
    lua_rawseti(L, -2, -of->number);
  else
    lua_pop(L, 1);
  lua_pop(L, 1);
}

/* Pushes what was held, or nil; it stays alive on the stack while it is told. A handler may pause the observation again meanwhile, and then
 * another value is held. */
static void take_held(lua_State *L, const observation *of) {
  observation_push_handlers(L, of);
  if (lua_isnil(L, -1)) return;
  lua_rawgeti(L, -1, -of->number);
  lua_insert(L, -2);
  lua_pushnil(L);
  lua_rawseti(L, -2, -of->number);
  lua_pop(L, 1);
}

/* The runtime keeps the present value without keeping the objects in it; of a binding it keeps none. */
static void hold_present(lua_State *L, const observation *of) {
  value read = {.kind = NIL};
  kvo_get_value(of->object, of->key_path, value_read, &read);
  if (has_objects(&read)) {
    value_push(L, &read);
    hold(L, of);
  }
  value_free(&read);
}

static int token_pause(lua_State *L) {
  observation *first = token_check(L);
  if (first == NULL) check_status(L, KVO_ERROR_NOT_REGISTERED, "pause");
  for (const observation *of = first; of != NULL; of = of->back) {
    if (!kvo_observation_is_registered(of->id)) check_status(L, KVO_ERROR_NOT_REGISTERED, "pause");
    if (kvo_observation_is_paused(of->id)) continue;
    if (of->target == NULL) hold_present(L, of);
    check_status(L, kvo_observation_pause(of->id), "pause");
  }
  return 0;
}

static int token_resume(lua_State *L) {
  observation *first = token_check(L);
  state_of(L);
  if (first == NULL) check_status(L, KVO_ERROR_NOT_REGISTERED, "resume");
  for (const observation *of = first; of != NULL; of = of->back) {
    guard around;
    if (of->target == NULL) take_held(L, of);
    guard_begin(&around);
    kvo_status status = kvo_observation_resume(of->id, true);
    guard_check(L, &around, status, "resume");
  }
  return 0;
}

/* The observation goes on without its token. */
static int token_gc(lua_State *L) {
  observation **token = luaL_checkudata(L, 1, token_type);
  if (*token != NULL) observation_release(*token);
  *token = NULL;
  return 0;
}

void token_open(lua_State *L) {
  static const luaL_Reg methods[] = {{"close", token_close},
                                     {"is_active", token_is_active},
                                     {"pause", token_pause},
                                     {"resume", token_resume},
                                     {NULL, NULL}};
  luaL_newmetatable(L, token_type);
  luaL_newlib(L, methods);
  lua_setfield(L, -2, "__index");
  lua_pushcfunction(L, token_close);
  lua_setfield(L, -2, "__close");
  lua_pushcfunction(L, token_gc);
  lua_setfield(L, -2, "__gc");
  lua_pushliteral(L, "kvo");
  lua_setfield(L, -2, "__metatable");
  lua_pop(L, 1);
}

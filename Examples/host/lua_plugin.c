/* lua_plugin.c - makes a Lua program a plug-in of the host: a state that lives as long as it is loaded. */
#include "lua_plugin.h"

#include <lauxlib.h>
#include <lualib.h>
#include <stdio.h>

static lua_State *L;

static kvo_object *failed(void) {
  fprintf(stderr, "host: %s\n", lua_tostring(L, -1));
  lua_close(L);
  L = NULL;
  return NULL;
}

kvo_object *lua_plugin_start(const char *file, kvo_object *host) {
  L = luaL_newstate();
  if (L == NULL) return NULL;
  luaL_openlibs(L);
  lua_pushlightuserdata(L, host);
  lua_setglobal(L, "host_address");
  if (luaL_dofile(L, file) != LUA_OK) return failed();
  kvo_object *object = lua_touserdata(L, -1);
  lua_settop(L, 0);
  return object;
}

bool lua_plugin_deliver(void) {
  if (L == NULL) return true;
  lua_getglobal(L, "deliver");
  bool is_done = lua_pcall(L, 0, 0, 0) == LUA_OK;
  if (!is_done) fprintf(stderr, "host: %s\n", lua_tostring(L, -1));
  lua_settop(L, 0);
  return is_done;
}

void lua_plugin_stop(void) {
  if (L != NULL) lua_close(L);
  L = NULL;
}

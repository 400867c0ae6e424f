/* out_of_memory.c - runs a program of Lua again and again; each time one allocation later, Lua has no more memory. */
#include <lauxlib.h>
#include <lualib.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>

/* How many more allocations succeed; negative: all. */
static long left = -1;

static void *allocate(void *user, void *block, size_t old_size, size_t size) {
  (void)user;
  if (size == 0) {
    free(block);
    return NULL;
  }
  if (left == 0 && (block == NULL || size > old_size)) return NULL;
  if (left > 0 && (block == NULL || size > old_size)) left--;
  return realloc(block, size);
}

int main(int argc, char **argv) {
  if (argc != 2) return 2;
  for (long count = 0; count < 10000; count++) {
    left = -1;
    lua_State *L = lua_newstate(allocate, NULL);
    luaL_openlibs(L);
    if (luaL_loadfile(L, argv[1]) != LUA_OK) return 2;
    left = count;
    int status = lua_pcall(L, 0, 0, 0);
    bool is_enough = left > 0;
    left = -1;
    lua_close(L);
    if (!is_enough) continue;
    printf("%ld allocations failed, one after the other\n", count);
    return status == LUA_OK ? 0 : 1;
  }
  return 1;
}

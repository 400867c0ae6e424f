/* states.c - many Lua states in many threads that observe and bind one object of C, which other threads set; they close at any time. */
#define _POSIX_C_SOURCE 200809L
#include <kvo/kvo.h>
#include <lauxlib.h>
#include <lualib.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

typedef struct shared {
  kvo_object header;
  _Atomic double x;
} shared;

static double shared_x(const shared *s) { return atomic_load(&s->x); }
static void shared_set_x(shared *s, double x) { atomic_store(&s->x, x); }

static kvo_object *object;
static _Atomic int running = 1, delivered;
static int rounds = 20;

static const char script[] =
    "local kvo = require 'kvo'\n"
    "local shared = kvo.wrap(address)\n"
    "local Counter = kvo.class('Counter', { count = 'integer', seen = kvo.list 'number', last = 'number', name = 'string', "
    "sum = 'number' })\n"
    "local counter = Counter {}\n"
    "kvo.observe(shared, 'x', function(c) counter.count = counter.count + 1; counter.seen:insert(c.new) end)\n"
    "kvo.bind(counter, 'last', shared, 'x')\n"
    "kvo.bind(counter, 'name', function() return 'x ' .. shared.x end)\n"
    "kvo.bind(counter, 'sum', function() return counter.last * 2 + 1 end)\n"
    "kvo.observe(counter, 'last', function() assert(counter.sum == counter.last * 2 + 1, 'a mixture') end)\n"
    "local own = 0\n"
    "kvo.observe(counter, 'count', function(c) own = own + 1 end)\n"
    "for i = 1, 50 do\n"
    "  local token = kvo.observe(shared, 'x', function() end)\n"
    "  kvo.deliver()\n"
    "  shared.x = i\n"
    "  if i % 2 == 0 then token:close() end\n"
    "end\n"
    "kvo.deliver()\n"
    "assert(counter.sum == counter.last * 2 + 1 and counter.name, 'a mixture')\n"
    "assert(counter.count >= 50 and own == counter.count and #counter.seen == own, 'changes are missing')\n"
    "return own\n";

static void *run_states(void *arg) {
  for (int i = 0; i < rounds; i++) {
    lua_State *L = luaL_newstate();
    luaL_openlibs(L);
    lua_pushlightuserdata(L, object);
    lua_setglobal(L, "address");
    if (luaL_dostring(L, script) != LUA_OK) {
      fprintf(stderr, "%s\n", lua_tostring(L, -1));
      exit(1);
    }
    atomic_fetch_add(&delivered, (int)lua_tointeger(L, -1));
    lua_close(L);
  }
  return arg;
}

static void *set(void *arg) {
  for (double x = 0; atomic_load(&running); x++) {
    KVO_SET(object, "x", double, x);
    nanosleep(&(struct timespec){0, 200000}, NULL); /* each change is told in Lua up to 50 times */
  }
  return arg;
}

/* Runs on a thread of its own, which has ended when this returns. */
static void run_elsewhere(void *(*function)(void *), void *arg) {
  pthread_t thread;
  if (pthread_create(&thread, NULL, function, arg) != 0 || pthread_join(thread, NULL) != 0) exit(1);
}

static void *load_and_observe(void *L) {
  static const char loading[] =
      "kvo, count = require 'kvo', 0; kvo.observe(kvo.wrap(address), 'x', function() count = count + 1 end)";
  if (luaL_dostring(L, loading) == LUA_OK) return L;
  fprintf(stderr, "%s\n", lua_tostring(L, -1));
  exit(1);
}
static void *set_once(void *L) {
  KVO_SET(object, "x", double, 1);
  return L;
}
static lua_Integer count_in(lua_State *L) {
  lua_getglobal(L, "count");
  lua_Integer count = lua_tointeger(L, -1);
  lua_pop(L, 1);
  return count;
}

/* A thread may get the pthread_t of the one that has loaded the module and has ended: it is another thread all the same. */
static bool is_taken_for_another(void) {
  lua_State *L = luaL_newstate();
  luaL_openlibs(L);
  lua_pushlightuserdata(L, object);
  lua_setglobal(L, "address");
  run_elsewhere(load_and_observe, L);
  run_elsewhere(set_once, L);
  bool waits = count_in(L) == 0;
  bool is_delivered = luaL_dostring(L, "kvo.deliver()") == LUA_OK && count_in(L) == 1;
  lua_close(L);
  if (!waits || !is_delivered) fprintf(stderr, "a new thread is taken for one that has ended\n");
  return waits && is_delivered;
}

int main(int argc, char **argv) {
  if (argc > 1) rounds = atoi(argv[1]);
  kvo_property_spec x = {
      .name = "x", .type = "d", .getter = (kvo_function)shared_x, .setter = (kvo_function)shared_set_x};
  kvo_class_spec spec = {.struct_size = sizeof spec,
                         .name = "Shared",
                         .instance_size = sizeof(shared),
                         .properties = &x,
                         .property_count = 1};
  kvo_class *cls;
  if (kvo_class_register(&spec, &cls) != KVO_OK || kvo_object_create(cls, &object) != KVO_OK) return 1;
  if (!is_taken_for_another()) return 1;
  pthread_t states[2], setting;
  pthread_create(&setting, NULL, set, NULL);
  for (int i = 0; i < 2; i++) pthread_create(&states[i], NULL, run_states, NULL);
  for (int i = 0; i < 2; i++) pthread_join(states[i], NULL);
  atomic_store(&running, 0);
  pthread_join(setting, NULL);
  bool is_clean = !kvo_object_is_observed(object);
  kvo_object_destroy(object);
  printf("%d states, %d changes told%s\n", 2 * rounds, atomic_load(&delivered),
         is_clean ? "" : "; observations are left");
  return is_clean && atomic_load(&delivered) > 0 ? 0 : 1;
}

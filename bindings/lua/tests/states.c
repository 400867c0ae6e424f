/* states.c - many Lua states in many threads that observe and bind one object of C, which other threads set; they close at any time. */
#define _POSIX_C_SOURCE 200809L
#include <kvo/kvo.h>
#include <lauxlib.h>
#include <lualib.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

typedef struct shared {
  kvo_object header;
  _Atomic double x;
  kvo_object *next;
  kvo_object *items[8];
  size_t item_count;
} shared;

static double shared_x(const shared *s) { return atomic_load(&s->x); }
static void shared_set_x(shared *s, double x) { atomic_store(&s->x, x); }

static size_t items_count(const kvo_object *o, void *user) {
  (void)user;
  return ((const shared *)o)->item_count;
}
static void items_get(const kvo_object *o, size_t index, void *element, void *user) {
  (void)user;
  *(kvo_object **)element = ((const shared *)o)->items[index];
}
static kvo_status items_insert(kvo_object *o, size_t index, const void *element, void *user) {
  (void)user;
  shared *s = (shared *)o;
  if (s->item_count == 8) return KVO_ERROR_REFUSED;
  for (size_t i = s->item_count++; i > index; i--) s->items[i] = s->items[i - 1];
  s->items[index] = *(kvo_object *const *)element;
  return KVO_OK;
}
static kvo_status items_remove(kvo_object *o, size_t index, void *user) {
  (void)user;
  shared *s = (shared *)o;
  for (size_t i = index + 1; i < s->item_count; i++) s->items[i - 1] = s->items[i];
  s->item_count--;
  return KVO_OK;
}

static kvo_class *cls;
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

static bool run(lua_State *L, const char *code) {
  if (luaL_dostring(L, code) == LUA_OK) return true;
  fprintf(stderr, "%s\n", lua_tostring(L, -1));
  return false;
}

/* An object of C keeps what Lua has put into it, also when Lua has no reference to it. */
static bool keeps_objects(void) {
  static const char putting[] =
      "kvo, left = require 'kvo', setmetatable({}, { __mode = 'v' })\n"
      "Node = kvo.class('Kept', { age = 'integer' })\n"
      "function put()\n"
      "  local one, two, three = Node { age = 1 }, Node { age = 2 }, Node { age = 3 }\n"
      "  left[1], left[2], left[3] = one, two, three\n"
      "  local shared = kvo.wrap(address)\n"
      "  shared.next = one\n"
      "  shared.items:insert(two)\n"
      "  shared.items:insert(three)\n"
      "end\n"
      "put(); collectgarbage(); collectgarbage()\n"
      "local shared = kvo.wrap(address)\n"
      "assert(shared.next.age == 1 and shared.items[1].age == 2 and shared.items[2].age == 3)\n"
      "shared.items:remove(1); collectgarbage(); collectgarbage()\n"
      "assert(shared.next.age == 1 and shared.items[1].age == 3 and not left[2])\n";
  kvo_object *kept;
  if (kvo_object_create(cls, &kept) != KVO_OK) return false;
  lua_State *L = luaL_newstate();
  luaL_openlibs(L);
  lua_pushlightuserdata(L, kept);
  lua_setglobal(L, "address");
  bool is_good = run(L, putting);
  kvo_object_destroy(kept);
  is_good =
      run(L, "collectgarbage(); collectgarbage(); assert(not left[1] and not left[3], 'kept for ever')") && is_good;
  lua_close(L);
  return is_good;
}

static int destroy_shared(lua_State *L) {
  kvo_object_destroy(lua_touserdata(L, 1));
  return 0;
}

/* A handler that destroys its object does not see it any more, nor does the set that has called it. */
static bool is_dead_at_once(void) {
  static const char destroying[] = "kvo = require 'kvo'\n"
                                   "local shared = kvo.wrap(address)\n"
                                   "local token = kvo.observe(shared, 'next', function()\n"
                                   "  destroy(address)\n"
                                   "  local is_read, message = pcall(function() return shared.x end)\n"
                                   "  assert(not is_read and message:find('dead', 1, true))\n"
                                   "  seen = tostring(shared)\n"
                                   "end)\n"
                                   "shared.next = kvo.class('Next', {}) {}\n"
                                   "assert(seen == 'dead object', seen)\n";
  kvo_object *dying;
  if (kvo_object_create(cls, &dying) != KVO_OK) return false;
  lua_State *L = luaL_newstate();
  luaL_openlibs(L);
  lua_pushlightuserdata(L, dying);
  lua_setglobal(L, "address");
  lua_register(L, "destroy", destroy_shared);
  bool is_good = run(L, destroying);
  lua_close(L);
  return is_good;
}

static void *read_elsewhere(void *L) { return run(L, "assert(shared.x == 0)") ? L : NULL; }

/* A thread that only reads is the one that uses the state, so that handlers wait for it. */
static bool follows_reader(void) {
  kvo_object *read;
  if (kvo_object_create(cls, &read) != KVO_OK) return false;
  lua_State *L = luaL_newstate();
  luaL_openlibs(L);
  lua_pushlightuserdata(L, read);
  lua_setglobal(L, "address");
  bool is_good = run(L, "kvo = require 'kvo'; shared = kvo.wrap(address); calls = 0\n"
                        "kvo.observe(shared, 'x', function() calls = calls + 1 end)");
  run_elsewhere(read_elsewhere, L);
  is_good = KVO_SET(read, "x", double, 3.0) == KVO_OK && is_good;
  is_good = run(L, "assert(calls == 0); kvo.deliver(); assert(calls == 1)") && is_good;
  lua_close(L);
  kvo_object_destroy(read);
  return is_good;
}

int main(int argc, char **argv) {
  if (argc > 1) rounds = atoi(argv[1]);
  kvo_property_spec properties[] = {
      {.name = "x", .type = "d", .getter = (kvo_function)shared_x, .setter = (kvo_function)shared_set_x},
      {.name = "next", .type = "@", .flags = KVO_PROPERTY_AT_OFFSET, .offset = offsetof(shared, next)}};
  kvo_list_accessors accessors = {.struct_size = sizeof accessors,
                                  .count = items_count,
                                  .get_at = items_get,
                                  .insert_at = items_insert,
                                  .remove_at = items_remove};
  kvo_collection_spec items = {.name = "items", .element_type = "@", .list = &accessors};
  kvo_class_spec spec = {.struct_size = sizeof spec,
                         .name = "Shared",
                         .instance_size = sizeof(shared),
                         .properties = properties,
                         .property_count = 2,
                         .collections = &items,
                         .collection_count = 1,
                         .collection_size = sizeof items};
  if (kvo_class_register(&spec, &cls) != KVO_OK || kvo_object_create(cls, &object) != KVO_OK) return 1;
  if (!is_taken_for_another() || !keeps_objects() || !is_dead_at_once() || !follows_reader()) return 1;
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

/* host.c - a host whose plug-ins observe each other's objects, and are loaded, reloaded and unloaded while threads set them.
 *
 *     host FOLDER SECONDS
 *
 * The host's object has a property for each plug-in's object, so that "thermometer.celsius" is a key path, which follows the plug-ins as
 * they come and go. A thread that uses an object of a plug-in holds a lock for reading, and a plug-in ends under the same lock for writing:
 * the runtime does not keep objects alive. */
#define _POSIX_C_SOURCE 200809L
#include "lua_plugin.h"
#include "plugin.h"

#include <dlfcn.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

typedef struct host {
  kvo_object header;
  kvo_object *thermometer, *alarm, *logger;
} host;

static kvo_object *the_host;
static pthread_rwlock_t use = PTHREAD_RWLOCK_INITIALIZER;
static _Atomic bool is_over;
static _Atomic unsigned long sets, alarms, lines;

static void fail(const char *what, const char *why) {
  fprintf(stderr, "host: %s: %s\n", what, why);
  exit(1);
}

/* ------------------------------------------------------------------------------------------------------------ The host -- */

static void count(const kvo_change *change, void *user_data) {
  if (change->new_value != NULL && change->new_value->bytes != NULL)
    atomic_fetch_add((_Atomic unsigned long *)user_data, 1);
}

static kvo_observation watch(const char *key_path, _Atomic unsigned long *counter) {
  kvo_observation id;
  kvo_observer observer = {.struct_size = sizeof observer,
                           .key_path = key_path,
                           .options = KVO_NEW,
                           .callback = count,
                           .user_data = (void *)counter,
                           KVO_HERE};
  if (kvo_add_observer(the_host, &observer, &id) != KVO_OK) fail(key_path, kvo_last_error());
  return id;
}

static void make_host(void) {
#define SLOT(slot) {.name = #slot, .type = "@", .flags = KVO_PROPERTY_AT_OFFSET, .offset = offsetof(host, slot)}
  kvo_property_spec properties[] = {SLOT(thermometer), SLOT(alarm), SLOT(logger)};
  kvo_class_spec spec = {.struct_size = sizeof spec,
                         .name = "Host",
                         .instance_size = sizeof(host),
                         .properties = properties,
                         .property_count = 3,
                         .property_size = sizeof *properties};
  kvo_class *cls;
  if (kvo_class_register(&spec, &cls) != KVO_OK || kvo_object_create(cls, &the_host) != KVO_OK)
    fail("Host", kvo_last_error());
}

/* -------------------------------------------------------------------------------------------------------- The plug-ins -- */

typedef struct loaded {
  const char *file;
  void *module; /* NULL for Lua */
  const plugin *plugin;
  bool is_loaded;
} loaded;

static const char *folder;

static void show(const char *slot, kvo_object *object) {
  if (KVO_SET(the_host, slot, kvo_object *, object) != KVO_OK) fail(slot, kvo_last_error());
}

static void load(loaded *one) {
  char file[4096];
  snprintf(file, sizeof file, "%s/%s", folder, one->file);
  bool is_lua = strstr(one->file, ".lua") != NULL;
  if (!is_lua) {
    one->module = dlopen(file, RTLD_NOW | RTLD_LOCAL);
    if (one->module == NULL) fail(file, dlerror());
    plugin_entry entry;
    *(void **)&entry = dlsym(one->module, "plugin_main");
    if (entry == NULL) fail(file, dlerror());
    one->plugin = entry();
  }
  pthread_rwlock_wrlock(&use);
  kvo_object *object = is_lua ? lua_plugin_start(file, the_host) : one->plugin->start(the_host);
  if (object == NULL) fail(file, kvo_last_error());
  show(is_lua ? "logger" : one->plugin->slot, object);
  pthread_rwlock_unlock(&use);
  one->is_loaded = true;
}

static void unload(loaded *one) {
  pthread_rwlock_wrlock(&use);
  show(one->module == NULL ? "logger" : one->plugin->slot, NULL);
  if (one->module == NULL)
    lua_plugin_stop();
  else if (one->plugin->stop() != KVO_OK)
    fail(one->file, kvo_last_error());
  pthread_rwlock_unlock(&use);
  if (one->module != NULL) dlclose(one->module);
  one->is_loaded = false;
}

/* --------------------------------------------------------------------------------------------------------- The threads -- */

static double now(void) {
  struct timespec time;
  clock_gettime(CLOCK_MONOTONIC, &time);
  return (double)time.tv_sec + (double)time.tv_nsec / 1e9;
}

static void rest(long microseconds) { nanosleep(&(struct timespec){0, microseconds * 1000}, NULL); }

static void *set(void *arg) {
  unsigned seed = (unsigned)(uintptr_t)arg;
  while (!atomic_load(&is_over)) {
    pthread_rwlock_rdlock(&use);
    const host *of = (const host *)the_host;
    if (of->thermometer != NULL) KVO_SET(of->thermometer, "celsius", double, rand_r(&seed) % 100);
    if (of->alarm != NULL && rand_r(&seed) % 16 == 0) KVO_SET(of->alarm, "threshold", double, 40 + rand_r(&seed) % 40);
    pthread_rwlock_unlock(&use);
    atomic_fetch_add(&sets, 1);
    rest(100);
  }
  return NULL;
}

int main(int argc, char **argv) {
  if (argc != 3) fail("usage", "host FOLDER SECONDS");
  folder = argv[1];
  make_host();
  kvo_observation watching[] = {watch("alarm.count", &alarms), watch("logger.lines", &lines)};
  loaded plugins[] = {{.file = "thermometer.so"}, {.file = "alarm.so"}, {.file = "logger.lua"}};
  pthread_t threads[2];
  for (size_t i = 0; i < 2; i++) pthread_create(&threads[i], NULL, set, (void *)(uintptr_t)(i + 1));

  unsigned seed = 7;
  unsigned long changes = 0;
  for (double end = now() + atof(argv[2]); now() < end; changes++) {
    loaded *one = &plugins[changes < 3 ? changes : (unsigned)rand_r(&seed) % 3];
    if (one->is_loaded)
      unload(one);
    else
      load(one);
    for (int i = 0; i < 5; i++) {
      rest(1000);
      if (!lua_plugin_deliver()) return 1;
    }
  }
  atomic_store(&is_over, true);
  for (size_t i = 0; i < 2; i++) pthread_join(threads[i], NULL);
  for (size_t i = 0; i < 3; i++)
    if (plugins[i].is_loaded) unload(&plugins[i]);
  for (size_t i = 0; i < 2; i++) kvo_remove_observer(watching[i]);
  bool is_observed = kvo_object_is_observed(the_host);
  kvo_object_destroy(the_host);
  printf("%lu loads and unloads, %lu sets; told: %lu alarms, %lu lines of the logger\n", changes, atomic_load(&sets),
         atomic_load(&alarms), atomic_load(&lines));
  if (is_observed) fail("the end", "the host's object is still observed");
  return atomic_load(&alarms) > 0 && atomic_load(&lines) > 0 ? 0 : 1;
}

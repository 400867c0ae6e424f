/* leftovers.c - a plug-in that has left an address of its own with the runtime is not unloaded. */
#include "fixture.h"
#include "leftovers.h"

#include <dlfcn.h>
#include <kvo/kvo_method.h>

typedef struct plugin {
  void *handle;
  kvo_status (*leave)(leftover what, kvo_object *object, kvo_callback callback_of_host);
  void (*take)(void);
  kvo_status (*open)(void);
  kvo_status (*close)(void);
} plugin;

static void *find(void *handle, const char *name) {
  void *address = dlsym(handle, name);
  if (address == NULL) harness_fail(__FILE__, __LINE__, "%s", dlerror());
  return address;
}

static plugin load(void) {
  plugin loaded = {.handle = dlopen(KVO_LEFTOVERS, RTLD_NOW | RTLD_LOCAL)};
  if (loaded.handle == NULL) harness_fail(__FILE__, __LINE__, "%s", dlerror());
  *(void **)&loaded.leave = find(loaded.handle, "leftovers_leave");
  *(void **)&loaded.take = find(loaded.handle, "leftovers_take");
  *(void **)&loaded.open = find(loaded.handle, "leftovers_open");
  *(void **)&loaded.close = find(loaded.handle, "leftovers_close");
  return loaded;
}

static int changes;
static void count(const kvo_change *change, void *user_data) { (void)change, (void)user_data, changes++; }

static int twice(item *object) { return 2 * object->value; }

static item *make_host(void) {
  kvo_method_spec method = {.name = "twice", .type = "i@", .function = (kvo_function)twice};
  CHECK_OK(kvo_class_add_methods(item_class(), &method, 1, sizeof method));
  item *host = item_make(1);
  item_set_next(host, item_make(2));
  return host;
}

static void destroy_host(item *host) {
  item_destroy(host->next);
  item_destroy(host);
}

/* Leaves it, and checks that the plug-in can be closed only when it is gone. */
static void check(leftover what, const char *why) {
  item *host = make_host();
  plugin loaded = load();
  CHECK_OK(loaded.open());
  CHECK_OK(loaded.leave(what, as_object(host), count));
  CHECK_STATUS(loaded.close(), KVO_ERROR_BUSY);
  CHECK_CONTAINS(kvo_last_error(), "kvo_class_unregister: the module cannot be unloaded: ");
  CHECK_CONTAINS(kvo_last_error(), why);
  CHECK_STATUS(kvo_can_unload(find(loaded.handle, "leftovers_leave")), KVO_ERROR_BUSY);
  CHECK_CONTAINS(kvo_last_error(), why);
  CHECK(kvo_class_find("Leftover") != NULL);
  loaded.take();
  CHECK_STATUS(kvo_can_unload(find(loaded.handle, "leftovers_leave")), KVO_ERROR_BUSY);
  CHECK_CONTAINS(kvo_last_error(), "class 'Leftover' is still registered");
  CHECK_OK(loaded.close());
  CHECK_OK(kvo_can_unload(find(loaded.handle, "leftovers_leave")));
  CHECK_EQ(dlclose(loaded.handle), 0);
  item_set_value(host, 5);
  destroy_host(host);
}

TEST("a plug-in whose callback is registered with an object of the host is not closed") {
  check(LEFT_CALLBACK, "\"value\" of Item@0x");
}
TEST("the error says where the observation was registered") {
  check(LEFT_CALLBACK, "is still observed (leftovers.c:7)");
}
TEST("nor one whose callback observes a key path") { check(LEFT_PATH, "\"next.value\" of Item@0x"); }
TEST("nor one whose static data is the user data of an observation") { check(LEFT_USER_DATA, "\"value\" of Item@0x"); }
TEST("nor one that computes the value of a binding") { check(LEFT_BINDING, "\"other\" of Item@0x"); }
TEST("nor one that has a hook on a method of the host") { check(LEFT_HOOK, "a hook is still on method 'twice'"); }
TEST("nor one that waits for the death of an object") { check(LEFT_DEATH, "the death of Item@0x"); }
TEST("nor one that waits for the end of an observation") { check(LEFT_END, "the end of observation "); }
TEST_REPORTED("nor one whose fault handler is set") { check(LEFT_HANDLER, "a fault handler is still set"); }
TEST_REPORTED("nor one whose fault handler this thread has") {
  check(LEFT_THREAD_HANDLER, "a fault handler is still set");
}

TEST("a plug-in that has added a method to a class of the host can never be unloaded") {
  item *host = make_host();
  plugin loaded = load();
  CHECK_OK(loaded.leave(LEFT_METHOD, as_object(host), count));
  CHECK_STATUS(kvo_can_unload(find(loaded.handle, "leftovers_leave")), KVO_ERROR_BUSY);
  CHECK_CONTAINS(kvo_last_error(), "it has method 'own' of class 'Item'");
  destroy_host(host);
}

TEST("a host asks whether a plug-in without classes can be unloaded") {
  item *host = make_host();
  plugin loaded = load();
  CHECK_OK(kvo_can_unload(find(loaded.handle, "leftovers_leave")));
  CHECK_OK(loaded.leave(LEFT_CALLBACK, as_object(host), count));
  CHECK_STATUS(kvo_can_unload(find(loaded.handle, "leftovers_leave")), KVO_ERROR_BUSY);
  loaded.take();
  CHECK_OK(kvo_can_unload(find(loaded.handle, "leftovers_leave")));
  destroy_host(host);
}

TEST("what others observe does not keep a plug-in, nor does the executable keep itself") {
  item *host = make_host();
  kvo_observer observer = {.struct_size = sizeof observer, .key_path = "value", .callback = count};
  kvo_observation id;
  CHECK_OK(kvo_add_observer(as_object(host), &observer, &id));
  plugin loaded = load();
  CHECK_OK(loaded.open());
  CHECK_OK(loaded.close());
  CHECK_OK(kvo_can_unload((const void *)(uintptr_t)count));
  CHECK_OK(kvo_can_unload((const void *)(uintptr_t)kvo_add_observer));
  kvo_class_spec spec = {.struct_size = sizeof spec, .name = "Own", .instance_size = sizeof(kvo_object)};
  kvo_class *own;
  CHECK_OK(kvo_class_register(&spec, &own));
  CHECK_OK(kvo_class_unregister(own));
  CHECK_OK(kvo_remove_observer(id));
  destroy_host(host);
}

/* leftovers.c - a plug-in that has left an address of its own with the runtime is not unloaded. */
#include "fixture.h"
#include "leftovers.h"
#include "made.h"

#include <dlfcn.h>
#include <kvo/kvo_method.h>
#include <stdio.h>

static struct {
  void *handle;
  kvo_status (*leave)(leftover what, kvo_object *object, kvo_callback callback_of_host);
  void (*take)(void);
  kvo_status (*open)(void);
  kvo_status (*close)(void);
} plugin;

static item *host;
static int twice(item *object) { return 2 * object->value; }
static void ignore(const kvo_change *change, void *user_data) {}

static void *find(const char *name) {
  void *address = dlsym(plugin.handle, name);
  if (address == NULL) harness_fail(__FILE__, __LINE__, "%s", dlerror());
  return address;
}

static void load_plugin(void) {
  plugin.handle = dlopen(KVO_LEFTOVERS, RTLD_NOW | RTLD_LOCAL);
  if (plugin.handle == NULL) harness_fail(__FILE__, __LINE__, "%s", dlerror());
  *(void **)&plugin.leave = find("leftovers_leave");
  *(void **)&plugin.take = find("leftovers_take");
  *(void **)&plugin.open = find("leftovers_open");
  *(void **)&plugin.close = find("leftovers_close");
}

/* Makes an object with the method "twice", and loads the plug-in. */
static void begin(void) {
  kvo_method_spec method = {.name = "twice", .type = "i@", .function = (kvo_function)twice};
  CHECK_OK(kvo_class_add_methods(item_class(), &method, 1, sizeof method));
  host = item_make(1);
  item_set_next(host, item_make(2));
  load_plugin();
}

static void end(void) {
  item_destroy(host->next);
  item_destroy(host);
}

static kvo_status can_unload(void) { return kvo_can_unload(find("leftovers_leave")); }

static void check_kept(leftover what, const char *why) {
  CHECK_OK(plugin.open());
  CHECK_OK(plugin.leave(what, as_object(host), ignore));
  CHECK_STATUS(plugin.close(), KVO_ERROR_BUSY);
  CHECK_CONTAINS(kvo_last_error(), "kvo_class_unregister: the module cannot be unloaded: ");
  CHECK_CONTAINS(kvo_last_error(), why);
  CHECK_STATUS(can_unload(), KVO_ERROR_BUSY);
  CHECK_CONTAINS(kvo_last_error(), why);
  CHECK(kvo_class_find("Leftover") != NULL);
  plugin.take();
  CHECK_STATUS(can_unload(), KVO_ERROR_BUSY);
  CHECK_CONTAINS(kvo_last_error(), "class 'Leftover' is still registered");
  CHECK_OK(plugin.close());
  CHECK_OK(can_unload());
}

static void proceed(kvo_call *call, void *user_data) { kvo_call_proceed(call); }

TEST("a plug-in is not closed while anything of it is left with the host, and the error says what that is") {
  begin();
  check_kept(LEFT_CALLBACK, "\"value\" of Item@0x");
  check_kept(LEFT_CALLBACK, "is still observed (leftovers.c:7)");
  check_kept(LEFT_PATH, "\"next.value\" of Item@0x");
  check_kept(LEFT_USER_DATA, "\"value\" of Item@0x");
  check_kept(LEFT_BINDING, "\"other\" of Item@0x");
  kvo_hook_spec spec = {.struct_size = sizeof spec, .method = "twice", .when = KVO_HOOK_BEFORE, .function = proceed};
  kvo_hook hook; /* the id before that of the plug-in */
  CHECK_OK(kvo_object_hook(as_object(host), &spec, &hook));
  check_kept(LEFT_HOOK, "a hook is still on method 'twice'");
  CHECK_OK(kvo_hook_remove(hook));
  check_kept(LEFT_DEATH, "the death of Item@0x");
  check_kept(LEFT_END, "the end of observation ");
  if (HAS_REPORTS) check_kept(LEFT_HANDLER, "a fault handler is still set");
  if (HAS_REPORTS) check_kept(LEFT_THREAD_HANDLER, "a fault handler is still set");
  CHECK_EQ(dlclose(plugin.handle), 0);
  item_set_value(host, 5);
  end();
}

/* What kvo_can_unload has returned in a callback, and why. */
static struct {
  kvo_status status;
  char why[200];
} asked;

static void ask(void) {
  asked.status = can_unload();
  snprintf(asked.why, sizeof asked.why, "%s", kvo_last_error());
}

static void take_and_ask(const kvo_change *change, void *user_data) {
  plugin.take();
  ask();
}

static void take_in_call(kvo_call *call, void *user_data) {
  plugin.take();
  ask();
}

static void ask_in_destroy(void *user_data) { ask(); }
static void ask_at_end(kvo_end end, void *arg) { ask(); }

TEST("a plug-in is kept by what has ended, until the changes and calls in progress cannot use it any more") {
  static const leftover observations[] = {LEFT_CALLBACK, LEFT_PATH, LEFT_USER_DATA, LEFT_BINDING, LEFT_DEATH};
  begin();
  kvo_observation own = observe_by(as_object(host), "value", KVO_NONE, take_and_ask, NULL);
  for (size_t i = 0; i < sizeof observations / sizeof *observations; i++) {
    CHECK_OK(plugin.leave(observations[i], as_object(host), ignore));
    item_set_value(host, 10 + (int)i);
    CHECK_STATUS(asked.status, KVO_ERROR_BUSY);
    CHECK_CONTAINS(asked.why, "has ended, but a change in progress, or one that was left, may use it");
    CHECK_OK(can_unload());
  }
  CHECK_OK(kvo_remove_observer(own));

  kvo_hook_spec spec = {
      .struct_size = sizeof spec, .method = "twice", .when = KVO_HOOK_BEFORE, .function = take_in_call};
  kvo_hook hook;
  CHECK_OK(kvo_object_hook(as_object(host), &spec, &hook));
  CHECK_OK(plugin.leave(LEFT_HOOK, as_object(host), ignore));
  CHECK_EQ(((int (*)(item *))kvo_object_method(as_object(host), "twice"))(host), 2 * host->value);
  CHECK_STATUS(asked.status, KVO_ERROR_BUSY);
  CHECK_CONTAINS(asked.why, "a hook is still on method 'twice'");
  CHECK_OK(can_unload());
  CHECK_OK(kvo_hook_remove(hook));
  end();
}

/* An observation of the host, with an address of the plug-in or without, that asks when it is destroyed and when it has ended. */
static kvo_observation observe_and_ask(const char *key_path, bool is_of_plugin) {
  kvo_observer observer = observer_by(key_path, KVO_NONE, ignore, is_of_plugin ? find("leftovers_take") : NULL);
  observer.destroy = ask_in_destroy;
  kvo_observation id;
  CHECK_OK(kvo_add_observer(as_object(host), &observer, &id));
  return id;
}

TEST(
    "a plug-in is kept while its own observation is destroyed, and while it is notified of an end, but not by others") {
  static const char *const paths[] = {"value", "next.value"};
  begin();
  for (int i = 0; i < 4; i++) {
    bool is_of_plugin = i % 2 == 0;
    CHECK_OK(kvo_remove_observer(observe_and_ask(paths[i / 2], is_of_plugin)));
    CHECK_STATUS(asked.status, is_of_plugin ? KVO_ERROR_BUSY : KVO_OK);
    if (is_of_plugin)
      CHECK_CONTAINS(asked.why, "has ended, but a change in progress, or one that was left, may use it");
    CHECK_OK(can_unload());

    kvo_observation id = observe_by(as_object(host), paths[i / 2], KVO_NONE, ignore, NULL);
    CHECK_OK(kvo_observation_on_end(id, ask_at_end, is_of_plugin ? find("leftovers_take") : NULL));
    CHECK_OK(kvo_remove_observer(id));
    CHECK_STATUS(asked.status, is_of_plugin ? KVO_ERROR_BUSY : KVO_OK);
    if (is_of_plugin) CHECK_CONTAINS(asked.why, "is still waited for");
    CHECK_OK(can_unload());
  }
  end();
}

static size_t no_elements(const kvo_object *of, void *user) { return 0; }
static void no_element(const kvo_object *of, size_t index, void *element, void *user) {}
static kvo_status keep_element(kvo_object *of, size_t index, void *user) { return KVO_ERROR_REFUSED; }

TEST("a plug-in is kept by each of its functions that is an accessor of a class of the host") {
  begin();
  kvo_list_accessors accessors = {
      .struct_size = sizeof accessors, .count = no_elements, .get_at = no_element, .remove_at = keep_element};
  *(void **)&accessors.insert_at = find("leftovers_leave");
  kvo_collection_spec list = {.name = "list", .element_type = "i", .list = &accessors};
  kvo_class *cls = register_class(
      (kvo_class_spec){.name = "Listing", .collections = &list, .collection_count = 1, .collection_size = sizeof list});
  CHECK_STATUS(can_unload(), KVO_ERROR_BUSY);
  CHECK_CONTAINS(kvo_last_error(), "class 'Listing' is still registered");
  CHECK_OK(kvo_class_unregister(cls));
  CHECK_OK(can_unload());
  end();
}

TEST("a plug-in that has added a method to a class of the host can never be unloaded") {
  begin();
  CHECK_OK(plugin.leave(LEFT_METHOD, as_object(host), ignore));
  CHECK_STATUS(can_unload(), KVO_ERROR_BUSY);
  CHECK_CONTAINS(kvo_last_error(), "it has method 'own' of class 'Item'");
  end();
}

TEST("what others observe does not keep a plug-in, nor does the executable keep itself") {
  watcher w = {0};
  begin();
  watch(host, "value", KVO_NONE, &w);
  CHECK_OK(can_unload());
  CHECK_OK(plugin.open());
  CHECK_OK(plugin.close());
  CHECK_OK(kvo_can_unload((const void *)(uintptr_t)ignore));
  CHECK_OK(kvo_can_unload((const void *)(uintptr_t)kvo_add_observer));
  CHECK_OK(kvo_class_unregister(register_class((kvo_class_spec){.name = "Own"})));
  CHECK_OK(kvo_remove_observer(w.id));
  end();
}

/* leftovers.c - a plug-in that leaves something of its own behind in its host, and then ends its class: api/leftovers.c loads it. */
#include <kvo/kvo_bind.h>
#include <kvo/kvo_binding.h>
#include <kvo/kvo_fault.h>
#include <kvo/kvo_method.h>

#include "leftovers.h"

static kvo_class *own;
static kvo_observation observation;
static kvo_hook hook;
static int calls;

static void changed(const kvo_change *change, void *user_data) { (void)change, (void)user_data, calls++; }
static void compute(void *user_data, kvo_value_reader reader, void *arg) {
  int four = 4;
  (void)user_data;
  reader(&(kvo_value){"i", sizeof four, &four}, arg);
}
static void called(kvo_call *call, void *user_data) { (void)user_data, kvo_call_proceed(call); }
static kvo_action handle(const kvo_fault *fault, void *arg) { return (void)fault, (void)arg, KVO_ACTION_DEFAULT; }
static void ended(kvo_end end, void *arg) { (void)end, (void)arg; }
static void died(void *user_data) { (void)user_data; }
static const kvo_observer_ops death = {.destroy = died};
static int give(const kvo_object *object) { return (void)object, 4; }

static kvo_status observe(kvo_object *object, const char *key_path, kvo_callback callback, void *user_data) {
  kvo_observer observer = {.struct_size = sizeof observer,
                           .key_path = key_path,
                           .callback = callback,
                           .user_data = user_data,
                           .file = "leftovers.c",
                           .line = 7};
  return kvo_add_observer(object, &observer, &observation);
}

KVO_API kvo_status leftovers_leave(leftover what, kvo_object *object, kvo_callback callback_of_host) {
  kvo_hook_spec hooking = {
      .struct_size = sizeof hooking, .method = "twice", .when = KVO_HOOK_BEFORE, .function = called};
  kvo_method_spec method = {.name = "own", .type = "i@", .function = (kvo_function)give};
  switch (what) {
    case LEFT_CALLBACK: return observe(object, "value", changed, NULL);
    case LEFT_PATH: return observe(object, "next.value", changed, NULL);
    case LEFT_USER_DATA: return observe(object, "value", callback_of_host, &calls);
    case LEFT_BINDING: return kvo_bind_computed(object, "other", compute, NULL, NULL, &observation);
    case LEFT_HOOK: return kvo_object_hook(object, &hooking, &hook);
    case LEFT_HANDLER: return (void)kvo_set_fault_handler(handle, NULL), KVO_OK;
    case LEFT_THREAD_HANDLER: return (void)kvo_set_thread_fault_handler(handle, NULL), KVO_OK;
    case LEFT_DEATH: return kvo_binding_observe_death(object, &death, NULL, &observation);
    case LEFT_END: {
      kvo_status status = observe(object, "value", callback_of_host, NULL);
      return status == KVO_OK ? kvo_observation_on_end(observation, ended, NULL) : status;
    }
    case LEFT_METHOD: return kvo_class_add_methods(kvo_object_class(object), &method, 1, sizeof method);
    default: return KVO_OK;
  }
}

KVO_API void leftovers_take(void) {
  if (observation != 0) kvo_cancel_observer_and_wait(observation);
  if (hook != 0) kvo_hook_remove(hook);
  kvo_set_fault_handler(NULL, NULL);
  kvo_set_thread_fault_handler(NULL, NULL);
}

KVO_API kvo_status leftovers_open(void) {
  kvo_property_spec property = {.name = "four", .type = "i", .getter = (kvo_function)give};
  kvo_class_spec spec = {.struct_size = sizeof spec,
                         .name = "Leftover",
                         .instance_size = sizeof(kvo_object),
                         .properties = &property,
                         .property_count = 1};
  return kvo_class_register(&spec, &own);
}

KVO_API kvo_status leftovers_close(void) { return kvo_class_unregister(own); }

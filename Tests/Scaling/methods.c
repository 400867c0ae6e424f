/* methods.c - the cost of hooks on methods: of adding and removing n, and of a call with n. */
#include "scaling.h"

#include <kvo/kvo_method.h>

static int run(const item *object, int by) { return object->value + by; }

/* A class with the method, whose objects have nothing else. */
static kvo_class *class_with_method(void) {
  static kvo_class *cls;
  static const kvo_method_spec method = {.name = "run", .type = "i@i", .function = (kvo_function)run};
  if (cls != NULL) return cls;
  kvo_class_spec spec = {.struct_size = sizeof spec, .name = "Runner", .instance_size = sizeof(item)};
  CHECK_OK(kvo_class_register(&spec, &cls));
  CHECK_OK(kvo_class_add_methods(cls, &method, 1, sizeof method));
  return cls;
}

static kvo_object *runner(void) {
  kvo_object *made;
  CHECK_OK(kvo_object_create(class_with_method(), &made));
  return made;
}

static void nothing(kvo_call *call, void *user_data) {}
static void proceed(kvo_call *call, void *user_data) { CHECK_OK(kvo_call_proceed(call)); }

static kvo_hook hook(kvo_object *object, kvo_hook_when when, size_t order) {
  kvo_hook made;
  kvo_hook_spec spec = {.struct_size = sizeof spec,
                        .method = "run",
                        .when = when,
                        .order = (int32_t)order,
                        .function = when == KVO_HOOK_INSTEAD ? proceed : nothing};
  CHECK_OK(object != NULL ? kvo_object_hook(object, &spec, &made) : kvo_class_hook(class_with_method(), &spec, &made));
  return made;
}

static void call(kvo_object *object) {
  CHECK_EQ(((int (*)(kvo_object *, int))kvo_object_method(object, "run"))(object, 5), 5);
}

ROW("add n hooks to a method of an object") {
  kvo_object *object = runner();
  MEASURE for (size_t i = 0; i < n; i++) hook(object, KVO_HOOK_BEFORE, 0);
}

/* The links of those that run later move. */
ROW("add n hooks to a method of a class, in any order/4") {
  const size_t *order = scaling_shuffled(n);
  class_with_method();
  MEASURE for (size_t i = 0; i < n; i++) hook(NULL, KVO_HOOK_AFTER, order[i]);
}

ROW("remove n hooks of a method, at random") {
  kvo_object *object = runner();
  kvo_hook *hooks = scaling_array(n, sizeof *hooks);
  const size_t *order = scaling_shuffled(n);
  for (size_t i = 0; i < n; i++) hooks[i] = hook(object, KVO_HOOK_BEFORE, 0);
  MEASURE for (size_t i = 0; i < n; i++) CHECK_OK(kvo_hook_remove(hooks[order[i]]));
}

ROW("call a method with n hooks on its object, and n on its class") {
  kvo_object *object = runner();
  for (size_t i = 0; i < n; i++) {
    hook(object, KVO_HOOK_BEFORE, 0);
    hook(NULL, KVO_HOOK_AFTER, 0);
  }
  MEASURE call(object);
}

ROW("call a method with n hooks instead of it") {
  kvo_object *object = runner();
  for (size_t i = 0; i < n; i++) hook(i % 2 == 0 ? object : NULL, KVO_HOOK_INSTEAD, 0);
  MEASURE call(object);
}

ROW("n objects with a hook on a method are called, and die") {
  MEASURE for (size_t i = 0; i < n; i++) {
    kvo_object *object = runner();
    hook(object, KVO_HOOK_BEFORE, 0);
    call(object);
    if (i % 2 == 0) kvo_object_destroy(object);
  }
}

ROW("an object with n hooks dies") {
  kvo_object *object = runner();
  for (size_t i = 0; i < n; i++) hook(object, KVO_HOOK_BEFORE, 0);
  MEASURE kvo_object_destroy(object);
}

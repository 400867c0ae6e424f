/* bad_input_methods.c - rows of the table of invalid arguments: methods and hooks. */
#include "bad_input.h"

static void do_something(void) {}
static void do_nothing(kvo_call *call, void *user_data) { (void)call, (void)user_data; }

static kvo_object *object_with_method(void) {
  static const kvo_method_spec method = {.name = "run", .type = "i@i", .function = (kvo_function)do_something};
  CHECK_OK(kvo_class_add_methods(item_class(), &method, 1, sizeof method));
  return as_object(item_make(1));
}

ROW(kvo_class_add_methods) {
  const kvo_method_spec method = {.name = "run", .type = "v@", .function = do_something};
  REFUSED(kvo_class_add_methods(NULL, &method, 1, sizeof method));
  REFUSED(kvo_class_add_methods((kvo_class *)(uintptr_t)0xdead0, &method, 1, sizeof method));
  REFUSED(kvo_class_add_methods(item_class(), NULL, 1, sizeof method));
  REFUSED(kvo_class_add_methods(item_class(), &method, 1, 0));
  REFUSED(kvo_class_add_methods(item_class(), &method, 1, sizeof method - 1));
  /* No name was read; the error must not contain what was on the stack. */
  REFUSED(kvo_class_add_methods(item_class(), &method, 1, sizeof method + 1));
  CHECK_EQ(kvo_last_error(), "method '' of class 'Item': method_size is not sizeof(kvo_method_spec)");
  REFUSED(kvo_class_add_methods(item_class(), &method, SIZE_MAX, sizeof method));
  REFUSED(kvo_class_add_methods(item_class(), &method, SIZE_MAX / sizeof(void *), sizeof method));
  CHECK_OK(kvo_class_add_methods(item_class(), &method, 0, sizeof method));
}

ROW(kvo_object_method) {
  kvo_object empty = {0};
  CHECK(kvo_object_method(NULL, "run") == NULL);
  kvo_object *object = object_with_method();
  CHECK(kvo_object_method(object, NULL) == NULL);
  CHECK(kvo_object_method(&empty, "run") == NULL);
  kvo_object_destroy(object);
}

ROW(kvo_object_call) {
  kvo_object *object = object_with_method();
  int argument = 1, result = 5;
  void *arguments[] = {&argument}, *none[] = {NULL};
  REFUSED(kvo_object_call(NULL, "run", arguments, &result));
  REFUSED(kvo_object_call(object, NULL, arguments, &result));
  REFUSED(kvo_object_call(object, "run", NULL, &result));
  REFUSED(kvo_object_call(object, "run", none, &result));
  REFUSED(kvo_object_call(object, "run", arguments, NULL));
  CHECK_STATUS(kvo_object_call(object, "nothing", arguments, &result), KVO_ERROR_UNDEFINED_KEY);
  CHECK_EQ(result, 5);
  kvo_object_destroy(object);
}

static void check_hook(kvo_status (*hook)(void *on, const kvo_hook_spec *spec, kvo_hook *out), void *on) {
  kvo_hook_spec good = {.struct_size = sizeof good, .method = "run", .when = KVO_HOOK_BEFORE, .function = do_nothing},
                bad;
  kvo_hook out = 0;
  kvo_object garbage[4] = {{0}};
  REFUSED(hook(NULL, &good, &out));
  REFUSED(hook(garbage, &good, &out));
  REFUSED(hook(on, NULL, &out));
#define TRY(change) (bad = good, change, hook(on, &bad, &out))
  REFUSED(TRY(bad.struct_size = 0));
  REFUSED(TRY(bad.struct_size = sizeof bad - 1));
  REFUSED(TRY(bad.method = NULL));
  REFUSED(TRY(bad.when = (kvo_hook_when)0));
  REFUSED(TRY(bad.when = (kvo_hook_when)4));
  REFUSED(TRY(bad.function = NULL));
  CHECK_STATUS(TRY(bad.method = "nothing"), KVO_ERROR_UNDEFINED_KEY);
  CHECK_EQ(out, 0);
  CHECK_OK(hook(on, &good, NULL));
}

static kvo_status on_object(void *on, const kvo_hook_spec *spec, kvo_hook *out) {
  return kvo_object_hook(on, spec, out);
}
static kvo_status on_class(void *on, const kvo_hook_spec *spec, kvo_hook *out) { return kvo_class_hook(on, spec, out); }

ROW(kvo_object_hook) {
  kvo_object *object = object_with_method();
  check_hook(on_object, object);
  kvo_object_destroy(object);
}

ROW(kvo_class_hook) {
  kvo_object *object = object_with_method();
  check_hook(on_class, item_class());
  kvo_object_destroy(object);
}

ROW(kvo_hook_remove) {
  CHECK_STATUS(kvo_hook_remove(0), KVO_ERROR_NOT_REGISTERED);
  CHECK_STATUS(kvo_hook_remove(UINT64_MAX), KVO_ERROR_NOT_REGISTERED);
}

static void proceed_wrongly(kvo_call *call, void *user_data) {
  (void)user_data;
  REFUSED(kvo_call_proceed(call));
}

ROW(kvo_call_proceed) {
  REFUSED(kvo_call_proceed(NULL));
  kvo_object *object = object_with_method();
  kvo_hook_spec spec = {
      .struct_size = sizeof spec, .method = "run", .when = KVO_HOOK_AFTER, .function = proceed_wrongly};
  CHECK_OK(kvo_object_hook(object, &spec, NULL));
  ((int (*)(kvo_object *, int))kvo_object_method(object, "run"))(object, 1);
  kvo_object_destroy(object);
}

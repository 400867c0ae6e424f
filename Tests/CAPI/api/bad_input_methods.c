/* bad_input_methods.c - rows of the table of invalid arguments: methods and hooks. */
#include "bad_input.h"

static void do_something(void) {}
static void do_nothing(kvo_call *call, void *user_data) {}

static kvo_object *object_with_method(void) {
  static const kvo_method_spec method = {.name = "run", .type = "i@i", .function = (kvo_function)do_something};
  CHECK_OK(kvo_class_add_methods(item_class(), &method, 1, sizeof method));
  return as_object(item_make(1));
}

/* A call that is refused as an invalid argument, or with another status, with this text. */
#define SAYS(text, call) SAYS_STATUS(KVO_ERROR_INVALID_ARGUMENT, text, call)
#define SAYS_STATUS(status, text, call)                                                                                \
  do {                                                                                                                 \
    CHECK_STATUS(call, status);                                                                                        \
    CHECK_CONTAINS(kvo_last_error(), text);                                                                            \
  } while (0)

static kvo_status add_method(const char *name, const char *type, kvo_function function, uint32_t flags) {
  const kvo_method_spec methods[] = {{.name = "fresh", .type = "v@", .function = do_something},
                                     {.name = name, .type = type, .function = function, .flags = flags}};
  return kvo_class_add_methods(item_class(), methods, 2, sizeof *methods);
}

ROW(kvo_class_add_methods) {
  static const struct {
    const char *name, *type;
    kvo_status status;
    const char *text;
  } wrong[] = {{"", "v@", KVO_ERROR_INVALID_ARGUMENT, "it has no name"},
               {NULL, "v@", KVO_ERROR_INVALID_ARGUMENT, "it has no name"},
               {"x", NULL, KVO_ERROR_INVALID_ARGUMENT, "method 'x' of class 'Item': it has no type"},
               {"x", "", KVO_ERROR_BAD_TYPE_ENCODING, "too early"},
               {"x", "v@!", KVO_ERROR_BAD_TYPE_ENCODING, "malformed"},
               {"x", "v", KVO_ERROR_UNSUPPORTED_SETTER, "the object"},
               {"x", "vi@", KVO_ERROR_UNSUPPORTED_SETTER, "the object"},
               {"x", "v@b3", KVO_ERROR_UNSUPPORTED_SETTER, "bit fields"},
               {"x", "v@iiiiiiiiiiiii", KVO_ERROR_UNSUPPORTED_SETTER, "more than 12"},
               {"x", "{s=[257c]}@", KVO_ERROR_UNSUPPORTED_SETTER, "256 bytes"},
               {"run", "v@", KVO_ERROR_DUPLICATE_KEY, "method 'run' of class 'Item': the class has it already"}};
  const kvo_method_spec method = {.name = "more", .type = "v@", .function = do_something};
  kvo_object *object = object_with_method();
  for (size_t i = 0; i < sizeof wrong / sizeof *wrong; i++)
    SAYS_STATUS(wrong[i].status, wrong[i].text, add_method(wrong[i].name, wrong[i].type, do_something, 0));
  SAYS("method 'x' of class 'Item': it has no function", add_method("x", "v@", NULL, 0));
  SAYS("method 'x' of class 'Item': it has unknown flags", add_method("x", "v@", do_something, 1u << 7));
  CHECK(kvo_object_method(object, "fresh") == NULL); /* none was added */
  SAYS("cls is not a class", kvo_class_add_methods(NULL, &method, 1, sizeof method));
  SAYS("cls is not a class", kvo_class_add_methods((kvo_class *)(uintptr_t)0xdead0, &method, 1, sizeof method));
  SAYS("methods is NULL", kvo_class_add_methods(item_class(), NULL, 1, sizeof method));
  SAYS("method_size is not", kvo_class_add_methods(item_class(), &method, 1, 0));
  SAYS("method_size is not", kvo_class_add_methods(item_class(), &method, 1, sizeof method - 1));
  /* No name was read; the error must not contain what was on the stack. */
  SAYS("method '' of class 'Item': method_size is not sizeof(kvo_method_spec)",
       kvo_class_add_methods(item_class(), &method, 1, sizeof method + 1));
  SAYS("there are too many methods", kvo_class_add_methods(item_class(), &method, SIZE_MAX, sizeof method));
  const size_t most = SIZE_MAX / sizeof(void *);
  SAYS("there are too many methods", kvo_class_add_methods(item_class(), &method, most, sizeof method));
  SAYS("there are too many methods", kvo_class_add_methods(item_class(), &method, most + 1, sizeof method));
  CHECK_OK(kvo_class_add_methods(item_class(), &method, 0, sizeof method));
  kvo_object_destroy(object);
}

ROW(kvo_object_method) {
  kvo_object *object = object_with_method(), empty = {0};
  CHECK(kvo_object_method(NULL, "run") == NULL);
  CHECK(kvo_object_method(object, NULL) == NULL);
  CHECK(kvo_object_method(&empty, "run") == NULL);
  kvo_object_destroy(object);
}

ROW(kvo_object_call) {
  kvo_object *object = object_with_method();
  int argument = 1, result = 5;
  void *arguments[] = {&argument}, *none[] = {NULL};
  SAYS("kvo_object_call: object or name is NULL", kvo_object_call(NULL, "run", arguments, &result));
  SAYS("kvo_object_call: object or name is NULL", kvo_object_call(object, NULL, arguments, &result));
  SAYS("kvo_object_call: method 'run': arguments is NULL", kvo_object_call(object, "run", NULL, &result));
  SAYS("kvo_object_call: method 'run': an argument's address is NULL", kvo_object_call(object, "run", none, &result));
  SAYS("kvo_object_call: method 'run': result is NULL", kvo_object_call(object, "run", arguments, NULL));
  SAYS_STATUS(KVO_ERROR_UNDEFINED_KEY, "kvo_object_call: class 'Item' has no method 'nothing'",
              kvo_object_call(object, "nothing", arguments, &result));
  CHECK_EQ(result, 5);
  kvo_object_destroy(object);
}

static void check_hook(kvo_status (*hook)(void *on, const kvo_hook_spec *spec, kvo_hook *out), void *on) {
  kvo_hook_spec good = {.struct_size = sizeof good, .method = "run", .when = KVO_HOOK_BEFORE, .function = do_nothing},
                bad;
  kvo_hook out = 0;
  kvo_object garbage[4] = {{0}};
  SAYS("it is on no object and no class", hook(NULL, &good, &out));
  REFUSED(hook(garbage, &good, &out));
  SAYS("spec is NULL", hook(on, NULL, &out));
#define TRY(change) (bad = good, change, hook(on, &bad, &out))
  REFUSED(TRY(bad.struct_size = 0));
  SAYS("spec->struct_size is not sizeof(kvo_hook_spec)", TRY(bad.struct_size = sizeof bad - 1));
  SAYS("spec->method is NULL", TRY(bad.method = NULL));
  SAYS("spec->when is unknown", TRY(bad.when = (kvo_hook_when)0));
  SAYS("spec->when is unknown", TRY(bad.when = (kvo_hook_when)4));
  SAYS("spec->function is NULL", TRY(bad.function = NULL));
  SAYS_STATUS(KVO_ERROR_UNDEFINED_KEY, "class 'Item' has no method 'nothing'", TRY(bad.method = "nothing"));
#undef TRY
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
  kvo_object_destroy(object_with_method());
  check_hook(on_class, item_class());
}

ROW(kvo_hook_remove) {
  CHECK_STATUS(kvo_hook_remove(0), KVO_ERROR_NOT_REGISTERED);
  CHECK_STATUS(kvo_hook_remove(UINT64_MAX), KVO_ERROR_NOT_REGISTERED);
}

static void proceed_wrongly(kvo_call *call, void *user_data) {
  SAYS("kvo_call_proceed: the hook is not one instead of a method", kvo_call_proceed(call));
}

ROW(kvo_call_proceed) {
  REFUSED(kvo_call_proceed(NULL));
  kvo_object *object = object_with_method();
  kvo_hook_spec spec = {
      .struct_size = sizeof spec, .method = "run", .when = KVO_HOOK_BEFORE, .function = proceed_wrongly};
  CHECK_OK(kvo_object_hook(object, &spec, NULL));
  spec.when = KVO_HOOK_AFTER;
  CHECK_OK(kvo_object_hook(object, &spec, NULL));
  ((int (*)(kvo_object *, int))kvo_object_method(object, "run"))(object, 1);
  kvo_object_destroy(object);
}

/* coding_hooks.c - what a class decides in key-value coding: the values of undefined keys, nil, and validation. */
#include "basket.h"

#include <string.h>

static char asked[256];

static kvo_status undefined_value(kvo_object *object, const char *key, kvo_value_reader reader, void *arg, void *user) {
  (void)user;
  strcat(strcat(asked, key), " ");
  if (strcmp(key, "answer") == 0) {
    int answer = 42;
    reader(&(kvo_value){"i", sizeof answer, &answer}, arg);
    return KVO_OK;
  }
  if (strcmp(key, "silent") == 0) return KVO_OK;
  if (strcmp(key, "twice") == 0) {
    for (int number = 1; number < 3; number++) reader(&(kvo_value){"i", sizeof number, &number}, arg);
    return KVO_OK;
  }
  if (strcmp(key, "nick") == 0) {
    const char *nick = ((basket *)object)->total > 0 ? "nick" : NULL;
    reader(KVO_VALUE(const char *, nick), arg);
    return KVO_OK;
  }
  if (strcmp(key, "null") == 0) {
    reader(NULL, arg);
    return KVO_OK;
  }
  if (strcmp(key, "untyped") == 0) {
    int answer = 42;
    reader(&(kvo_value){NULL, sizeof answer, &answer}, arg);
    return KVO_OK;
  }
  if (strcmp(key, "me") == 0) {
    reader(&(kvo_value){"@", sizeof object, &object}, arg);
    return KVO_OK;
  }
  return KVO_ERROR_UNDEFINED_KEY;
}

static kvo_status set_undefined(kvo_object *object, const char *key, const kvo_value *value, void *user) {
  (void)object, (void)user;
  int64_t number;
  if (strcmp(key, "sink") != 0) return KVO_ERROR_UNDEFINED_KEY;
  CHECK_OK(kvo_value_int64(value, &number));
  strcat(asked, number == 3 ? "sink=3 " : "sink=? ");
  return KVO_OK;
}

static kvo_status set_nil(kvo_object *object, const char *key, void *user) {
  (void)user;
  return kvo_set_double(object, key, -1);
}

static kvo_status validate(kvo_object *object, const char *key, const kvo_value *value, kvo_value_reader accept,
                           void *arg, void *user) {
  (void)object, (void)user;
  double number;
  if (strcmp(key, "total") != 0) return KVO_OK;
  kvo_status status = kvo_value_double(value, &number);
  if (status != KVO_OK) return status;
  if (number < 0) return KVO_ERROR_REFUSED;
  if (number > 100) {
    number = 100;
    accept(&(kvo_value){"d", sizeof number, &number}, arg);
  }
  return KVO_OK;
}

static basket *with_hooks(void) {
  kvo_class *cls = kvo_class_find("Hooked");
  kvo_object *object;
  if (cls == NULL) {
    kvo_coding_hooks hooks = {.struct_size = sizeof hooks,
                              .value_for_undefined_key = undefined_value,
                              .set_value_for_undefined_key = set_undefined,
                              .set_nil_value_for_key = set_nil,
                              .validate = validate};
    kvo_class_spec base = {.struct_size = sizeof base,
                           .name = "HookedBase",
                           .superclass = basket_class(),
                           .instance_size = sizeof(basket),
                           .coding = &hooks};
    CHECK_OK(kvo_class_register(&base, &cls));
    kvo_class_spec spec = {.struct_size = sizeof spec,
                           .name = "Hooked",
                           .superclass = cls,
                           .instance_size = sizeof(basket)}; /* inherits the hooks */
    CHECK_OK(kvo_class_register(&spec, &cls));
  }
  CHECK_OK(kvo_object_create(cls, &object));
  ((basket *)object)->allowed = -1;
  return (basket *)object;
}

TEST("a class gives values for keys that it does not have, and takes them") {
  basket *of = with_hooks();
  int64_t answer;
  double total;
  of->total = 2;
  CHECK_OK(kvo_get_int64(as_kvo(of), "answer", &answer));
  CHECK_EQ(answer, 42);
  CHECK_OK(kvo_get_double(as_kvo(of), "me.me.total", &total));
  CHECK_EQ(total, 2.0);
  CHECK_STATUS(kvo_get_double(as_kvo(of), "nothing", &total), KVO_ERROR_UNDEFINED_KEY);
  CHECK_STATUS(kvo_get_double(as_kvo(of), "answer.total", &total), KVO_ERROR_NOT_AN_OBJECT);
  CHECK_OK(kvo_set_int64(as_kvo(of), "me.sink", 3));
  CHECK_STATUS(kvo_set_int64(as_kvo(of), "drain", 3), KVO_ERROR_UNDEFINED_KEY);
  CHECK_EQ((const char *)asked, "answer me me nothing answer me sink=3 ");
  basket_destroy(of);
}

TEST("a class that passes no value for an undefined key has none, and of several the first counts") {
  basket *of = with_hooks();
  int64_t number = 7;
  CHECK_STATUS(kvo_get_int64(as_kvo(of), "silent", &number), KVO_ERROR_UNDEFINED_KEY);
  CHECK_EQ(number, 7);
  CHECK_EQ(text_at(of, "silent"), "(the class has no such key)");
  CHECK_OK(kvo_get_int64(as_kvo(of), "twice", &number));
  CHECK_EQ(number, 1);
  CHECK_EQ(text_at(of, "twice"), "1");
  basket_destroy(of);
}

TEST("the hook of undefined keys may pass NULL, which is nil, and a value without a type, which nobody can convert") {
  basket *of = with_hooks();
  char *text = NULL;
  double real = 0;
  int64_t whole = 0;
  bool truth = false;
  kvo_object *object = NULL;
  char read[1024] = "";
  CHECK_OK(kvo_get_string(as_kvo(of), "null", &text));
  CHECK(text == NULL);
  CHECK_OK(kvo_get_object(as_kvo(of), "null", &object));
  CHECK_STATUS(kvo_get_double(as_kvo(of), "null", &real), KVO_ERROR_NO_VALUE);
  CHECK_OK(kvo_get_value(as_kvo(of), "untyped", write_value, read));
  CHECK_STATUS(kvo_get_string(as_kvo(of), "untyped", &text), KVO_ERROR_TYPE_MISMATCH);
  CHECK_STATUS(kvo_get_double(as_kvo(of), "untyped", &real), KVO_ERROR_TYPE_MISMATCH);
  CHECK_STATUS(kvo_get_int64(as_kvo(of), "untyped", &whole), KVO_ERROR_TYPE_MISMATCH);
  CHECK_STATUS(kvo_get_bool(as_kvo(of), "untyped", &truth), KVO_ERROR_TYPE_MISMATCH);
  CHECK_STATUS(kvo_get_object(as_kvo(of), "untyped", &object), KVO_ERROR_TYPE_MISMATCH);
  basket_destroy(of);
}

static int warnings;
static kvo_action count_warnings(const kvo_fault *fault, void *arg) {
  (void)arg;
  warnings += fault->code == KVO_FAULT_UNDEFINED_KEY && fault->severity == KVO_SEVERITY_WARNING;
  return KVO_ACTION_IGNORE;
}

static int warnings_of(kvo_object *object, const char *key) {
  kvo_set_fault_handler(count_warnings, NULL);
  warnings = 0;
  CHECK_OK(kvo_will_change(object, key));
  (void)kvo_did_change(object, key);
  kvo_set_fault_handler(NULL, NULL);
  return warnings;
}

TEST_REPORTED(
    "an announced key that resembles a property is taken for a misspelling, unless the class answers undefined keys") {
  basket *of = with_hooks(), *plain = basket_make("b", 1);
  CHECK_EQ(warnings_of(as_kvo(plain), "totals"), 1);
  CHECK_EQ(warnings_of(as_kvo(of), "totals"), 0);
  basket_destroy(of);
  basket_destroy(plain);
  kvo_coding_hooks only_set = {.struct_size = sizeof only_set, .set_value_for_undefined_key = set_undefined};
  kvo_coding_hooks neither = {.struct_size = sizeof neither, .validate = validate};
  const kvo_coding_hooks *const all[] = {&only_set, &neither};
  for (int i = 0; i < 2; i++) {
    kvo_class_spec spec = {.struct_size = sizeof spec,
                           .name = i == 0 ? "Taking" : "Validating",
                           .superclass = basket_class(),
                           .instance_size = sizeof(basket),
                           .coding = all[i]};
    kvo_class *cls;
    kvo_object *object;
    CHECK_OK(kvo_class_register(&spec, &cls));
    CHECK_OK(kvo_object_create(cls, &object));
    CHECK_EQ(warnings_of(object, "totals"), i);
    kvo_object_destroy(object);
  }
}

TEST("a class and its subclass return with new hooks and lists after both were unregistered") {
  for (int round = 0; round < 3; round++) {
    basket *of = with_hooks();
    int64_t answer = 0;
    CHECK_OK(kvo_get_int64(as_kvo(of), "me.answer", &answer));
    CHECK_EQ(answer, 42);
    CHECK_OK(kvo_list_insert(as_kvo(of), "prices", 0, KVO_VALUE(double, 1)));
    kvo_class *cls = kvo_object_class(as_kvo(of)), *base = kvo_class_superclass(cls);
    basket_destroy(of);
    CHECK_OK(kvo_class_unregister(cls));
    CHECK_OK(kvo_class_unregister(base));
  }
}

TEST("a class says what nil means for a number") {
  basket *of = with_hooks(), *plain = basket_make("b", 3);
  kvo_value nil = {"d", sizeof(double), NULL};
  CHECK_OK(kvo_set_value(as_kvo(of), "total", &nil));
  CHECK_EQ(of->total, -1.0);
  CHECK_STATUS(kvo_set_value(as_kvo(plain), "total", &nil), KVO_ERROR_TYPE_MISMATCH);
  CHECK_EQ(plain->total, 3.0);
  basket_destroy(of);
  basket_destroy(plain);
}

static void keep_number(const kvo_value *value, void *arg) { CHECK_OK(kvo_value_double(value, arg)); }

TEST("a class validates values: it accepts them, changes them, or refuses") {
  basket *of = with_hooks(), *root = basket_make("b", 0);
  root->best = of;
  double accepted = 0;
  CHECK_OK(kvo_validate_value(as_kvo(root), "best.total", KVO_VALUE(int, 7), keep_number, &accepted));
  CHECK_EQ(accepted, 7.0);
  CHECK_OK(kvo_validate_value(as_kvo(of), "total", KVO_VALUE(double, 700), keep_number, &accepted));
  CHECK_EQ(accepted, 100.0);
  accepted = 1;
  CHECK_STATUS(kvo_validate_value(as_kvo(of), "total", KVO_VALUE(double, -7), keep_number, &accepted),
               KVO_ERROR_REFUSED);
  CHECK_EQ(accepted, 1.0);
  CHECK_OK(kvo_validate_value(as_kvo(root), "total", KVO_VALUE(double, -7), keep_number, &accepted));
  CHECK_EQ(accepted, -7.0);
  CHECK_STATUS(kvo_validate_value(as_kvo(root), "nothing", KVO_VALUE(double, -7), keep_number, &accepted),
               KVO_ERROR_UNDEFINED_KEY);
  root->best = NULL;
  accepted = 1;
  CHECK_OK(kvo_validate_value(as_kvo(root), "best.total", KVO_VALUE(double, 7), keep_number, &accepted));
  CHECK_EQ(accepted, 1.0);
  CHECK_OK(kvo_set_double(as_kvo(of), "total", -7)); /* setting does not ask */
  basket_destroy(of);
  basket_destroy(root);
}

TEST("a C string that is NULL, which a function of the class passes, is nil for operators too") {
  basket *root = basket_make("root", 0), *items[] = {with_hooks(), with_hooks()};
  items[1]->total = 1;
  for (size_t i = 0; i < 2; i++)
    CHECK_OK(kvo_list_insert(as_kvo(root), "items", i, KVO_VALUE(kvo_object *, as_kvo(items[i]))));
  CHECK_EQ(text_at(root, "items.nick"), "(nil,\"nick\")");
  CHECK_EQ(text_at(root, "items.@min.nick"), "\"nick\"");
  CHECK_EQ(text_at(root, "items.@max.nick"), "\"nick\"");
  CHECK_EQ(text_at(root, "items.@unionOfObjects.nick"), "(\"nick\")");
  CHECK_EQ(text_at(root, "items.@distinctUnionOfObjects.nick"), "(\"nick\")");
  for (size_t i = 0; i < 2; i++) basket_destroy(items[i]);
  basket_destroy(root);
}

/* coding_hooks.c - what a class decides in key-value coding: the values of undefined keys, nil, and validation. */
#include "basket.h"
#include "made.h"

#include <string.h>

/* The undefined keys that the class was asked for. */
static char asked[256];

static kvo_status give(const kvo_value *value, kvo_value_reader reader, void *arg) {
  reader(value, arg);
  return KVO_OK;
}

static kvo_status undefined_value(kvo_object *object, const char *key, kvo_value_reader reader, void *arg, void *user) {
  strcat(strcat(asked, key), " ");
  if (strcmp(key, "silent") == 0) return KVO_OK;
  if (strcmp(key, "answer") == 0) return give(KVO_VALUE(int, 42), reader, arg);
  if (strcmp(key, "twice") == 0) return give(KVO_VALUE(int, 1), reader, arg), give(KVO_VALUE(int, 2), reader, arg);
  if (strcmp(key, "null") == 0) return give(NULL, reader, arg);
  if (strcmp(key, "untyped") == 0) return give(&(kvo_value){NULL, sizeof(int), &(int){42}}, reader, arg);
  if (strcmp(key, "me") == 0) return give(KVO_VALUE(kvo_object *, object), reader, arg);
  return KVO_ERROR_UNDEFINED_KEY;
}

static kvo_status set_undefined(kvo_object *object, const char *key, const kvo_value *value, void *user) {
  int64_t number;
  if (strcmp(key, "sink") != 0) return KVO_ERROR_UNDEFINED_KEY;
  CHECK_OK(kvo_value_int64(value, &number));
  strcat(asked, number == 3 ? "sink=3 " : "sink=? ");
  return KVO_OK;
}

static kvo_status set_nil(kvo_object *object, const char *key, void *user) { return kvo_set_double(object, key, -1); }

/* Refuses negative totals, and replaces those above 100. */
static kvo_status validate(kvo_object *object, const char *key, const kvo_value *value, kvo_value_reader accept,
                           void *arg, void *user) {
  double number;
  if (strcmp(key, "total") != 0) return KVO_OK;
  kvo_status status = kvo_value_double(value, &number);
  if (status != KVO_OK) return status;
  if (number < 0) return KVO_ERROR_REFUSED;
  if (number > 100) accept(KVO_VALUE(double, 100), arg);
  return KVO_OK;
}

static kvo_object *object_with(const char *name, kvo_coding_hooks hooks) {
  hooks.struct_size = sizeof hooks;
  kvo_class *cls = register_class(
      (kvo_class_spec){.name = name, .superclass = basket_class(), .instance_size = sizeof(basket), .coding = &hooks});
  return object_of(cls);
}

/* An object whose superclass has all hooks, and a price. */
static basket *with_hooks(void) {
  kvo_class *cls = kvo_class_find("Hooked");
  if (cls == NULL) {
    kvo_object *of_base = object_with("HookedBase", (kvo_coding_hooks){.value_for_undefined_key = undefined_value,
                                                                       .set_value_for_undefined_key = set_undefined,
                                                                       .set_nil_value_for_key = set_nil,
                                                                       .validate = validate});
    cls = register_class(
        (kvo_class_spec){.name = "Hooked", .superclass = kvo_object_class(of_base), .instance_size = sizeof(basket)});
    kvo_object_destroy(of_base);
  }
  basket *made = (basket *)object_of(cls);
  made->allowed = -1;
  CHECK_OK(kvo_list_insert(as_kvo(made), "prices", 0, KVO_VALUE(double, 1)));
  return made;
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

TEST("a class may give no value, several of which the first counts, NULL for nil, or one without a type") {
  basket *of = with_hooks();
  kvo_object *object = as_kvo(of);
  char *text = NULL, read[1024] = "";
  double real = 0;
  int64_t whole = 7;
  bool truth = false;
  CHECK_STATUS(kvo_get_int64(object, "silent", &whole), KVO_ERROR_UNDEFINED_KEY);
  CHECK_EQ(whole, 7);
  CHECK_EQ(text_at(of, "silent"), "(the class has no such key)");
  CHECK_OK(kvo_get_int64(object, "twice", &whole));
  CHECK_EQ(whole, 1);
  CHECK_EQ(text_at(of, "twice"), "1");
  CHECK_OK(kvo_get_string(object, "null", &text));
  CHECK_SAME(text, NULL);
  CHECK_STATUS(kvo_get_double(object, "null", &real), KVO_ERROR_NO_VALUE);
  CHECK_OK(kvo_get_value(object, "untyped", write_value, read));
  CHECK_STATUS(kvo_get_string(object, "untyped", &text), KVO_ERROR_TYPE_MISMATCH);
  CHECK_STATUS(kvo_get_double(object, "untyped", &real), KVO_ERROR_TYPE_MISMATCH);
  CHECK_STATUS(kvo_get_int64(object, "untyped", &whole), KVO_ERROR_TYPE_MISMATCH);
  CHECK_STATUS(kvo_get_bool(object, "untyped", &truth), KVO_ERROR_TYPE_MISMATCH);
  CHECK_STATUS(kvo_get_object(object, "untyped", &object), KVO_ERROR_TYPE_MISMATCH);
  CHECK_OK(kvo_get_object(as_kvo(of), "null", &object));
  CHECK_SAME(object, NULL);
  basket_destroy(of);
}

static void check_warnings(kvo_object *object, int expected) {
  ignore_faults();
  faults.count = 0;
  CHECK_OK(kvo_will_change(object, "totals"));
  CHECK_OK(kvo_did_change(object, "totals"));
  CHECK_EQ(faults.count, expected);
  if (expected > 0) CHECK_CONTAINS(faults.summary, "KVO0009 warning: ");
  kvo_object_destroy(object);
}

TEST_REPORTED("an announced key that resembles a property is a misspelling, unless the class answers undefined keys") {
  check_warnings(as_kvo(basket_make(NULL, 1)), 1);
  check_warnings(as_kvo(with_hooks()), 0);
  check_warnings(object_with("Taking", (kvo_coding_hooks){.set_value_for_undefined_key = set_undefined}), 0);
  check_warnings(object_with("Validating", (kvo_coding_hooks){.validate = validate}), 1);
}

TEST("a class says what nil means for a number") {
  basket *of = with_hooks(), *plain = basket_make("b", 3);
  const kvo_value nil = {"d", sizeof(double), NULL};
  CHECK_OK(kvo_set_value(as_kvo(of), "total", &nil));
  CHECK_EQ(of->total, -1.0);
  CHECK_STATUS(kvo_set_value(as_kvo(plain), "total", &nil), KVO_ERROR_TYPE_MISMATCH);
  CHECK_EQ(plain->total, 3.0);
  basket_destroy(of);
  basket_destroy(plain);
}

static void keep_number(const kvo_value *value, void *arg) { CHECK_OK(kvo_value_double(value, arg)); }

/* Validates a number, and checks what is accepted; -1 if nothing is. */
static void check_validated(basket *of, const char *key_path, double given, kvo_status expected, double accepted) {
  double number = -1;
  CHECK_STATUS(kvo_validate_value(as_kvo(of), key_path, KVO_VALUE(double, given), keep_number, &number), expected);
  CHECK_EQ(number, accepted);
}

TEST("a class validates values: it accepts them, changes them, or refuses") {
  basket *of = with_hooks(), *root = basket_make("b", 0);
  root->best = of;
  check_validated(root, "best.total", 7, KVO_OK, 7);
  check_validated(of, "total", 700, KVO_OK, 100);
  check_validated(of, "total", -7, KVO_ERROR_REFUSED, -1);
  check_validated(root, "total", -7, KVO_OK, -7);
  check_validated(root, "nothing", -7, KVO_ERROR_UNDEFINED_KEY, -1);
  root->best = NULL;
  check_validated(root, "best.total", 7, KVO_OK, -1);
  CHECK_OK(kvo_set_double(as_kvo(of), "total", -7)); /* setting does not validate */
  basket_destroy(of);
  basket_destroy(root);
}

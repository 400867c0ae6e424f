/* bad_input.c - passes invalid arguments to every function of the API: each call is refused, and nothing is damaged. This file has the
 * common part and the rows of classes, objects and values; the others are in bad_input_*.c. */
#include "bad_input.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* ----------------------------------------------------------------------------------------------------------- The table -- */

static const char *rows[256];
static size_t rows_used;

void row_add(const char *function) {
  if (rows_used < sizeof rows / sizeof *rows) rows[rows_used++] = function;
}

kvo_object *object, empty;

void row_run(void (*row)(void)) {
  object = as_object(item_make(1));
  row();
}

int row_count(const char *function) {
  int count = 0;
  for (size_t i = 0; i < rows_used; i++) count += strcmp(rows[i], function) == 0;
  return count;
}

TEST("every exported function has exactly one row, and there are no other rows") {
  FILE *symbols = fopen(KVO_SYMBOLS, "r");
  CHECK(symbols != NULL);
  char name[128];
  size_t found = 0;
  while (fscanf(symbols, "%127s", name) == 1) {
    if (strcmp(name, "kvo_tracking_count") == 0) continue; /* not a function */
    if (row_count(name) != 1) harness_fail(__FILE__, __LINE__, "%s has %d rows", name, row_count(name));
    found++;
  }
  fclose(symbols);
  CHECK_EQ(found, rows_used);
}

void faults_clear(void) {
  ignore_faults();
  faults.count = 0;
}

void faults_check(const char *place, uint32_t place_line, const char *file, int line) {
  if (faults.count != 1 || faults.code != KVO_FAULT_INVALID_ARGUMENT)
    harness_fail(file, line, "%d faults, the last: %s", faults.count, faults.count > 0 ? faults.summary : "none");
  if (strcmp(faults.file, place) != 0 || faults.line != place_line)
    harness_fail(file, line, "the place is \"%s\":%u", faults.file, faults.line);
}

static void *bound_copy(void *instance, void *user, const kvo_selection *selection) { return calloc(1, sizeof(int)); }
static void bound_release(void *value, void *user) { free(value); }
static void bound_view(const void *value, void *user, kvo_value_reader reader, void *arg) {
  kvo_value view = {"i", sizeof(int), value};
  reader(&view, arg);
}
static kvo_status bound_assign(void *instance, void *user, const kvo_value *value) { return KVO_OK; }

const kvo_value_ops bound_ops = {bound_copy, bound_release, bound_view, bound_assign, NULL};

kvo_class *bound_class(void) {
  static kvo_class *cls;
  static const kvo_binding_property property = {.name = "value", .type = "i", .ops = &bound_ops};
  if (cls == NULL) CHECK_OK(kvo_binding_class_register("Bound", NULL, 0, &property, 1, &cls));
  return cls;
}

kvo_object *bound_make(void) {
  static kvo_object made[16]; /* used until the end of the test */
  static size_t count;
  kvo_object *object = &made[count++];
  CHECK(count <= sizeof made / sizeof *made);
  kvo_object_adopt(object, bound_class());
  return object;
}

char *text_of_size(size_t length, char byte) {
  char *text = malloc(length + 1);
  memset(text, byte, length);
  text[length] = '\0';
  return text;
}

kvo_object *made_basket(void) {
  static basket *object; /* of this process, which has one test */
  if (object == NULL) object = basket_make("b", 1);
  return as_kvo(object);
}

void read_nothing(const kvo_value *value, void *arg) {}
void ignore_raw_change(const kvo_raw_change *change, void *user_data) {}
void *evaluate_nothing(void *user_data) { return malloc(1); }
void release_evaluated(void *value, void *user_data) { free(value); }

/* --------------------------------------------------------------------------------------------- Version, status, memory -- */

ROW(kvo_version) { CHECK_EQ(kvo_version(), KVO_VERSION_NUMBER); }

ROW(kvo_version_string) { CHECK_EQ(kvo_version_string(), "0.3.0"); }

ROW(kvo_last_error) { CHECK_EQ(kvo_last_error(), ""); }

ROW(kvo_status_string) {
  CHECK_EQ(kvo_status_string((kvo_status)99), "unknown status");
  CHECK_EQ(kvo_status_string((kvo_status)-999), "unknown status");
}

static void *never(size_t size, void *arg) { abort(); }

ROW(kvo_set_allocator) { /* one function alone is ignored */
  kvo_set_allocator(never, NULL, NULL);
  item_destroy(item_make(1));
}

ROW(kvo_key_hash) {
  CHECK_EQ(kvo_key_hash(NULL, 5), kvo_key_hash("", 0));
  CHECK(kvo_key_hash("", 0) != KVO_KEY_LIFETIME);
}

/* ------------------------------------------------------------------------------------------------------------- Classes -- */

ROW(kvo_class_register) {
  kvo_property_spec property = {.name = "a", .type = "i"}, unnamed = {.type = "i"}, untyped = {.name = "a"};
  kvo_class_spec good = {.struct_size = sizeof good, .name = "Bad", .instance_size = sizeof(kvo_object)}, bad;
  kvo_class *out = NULL, *garbage = (kvo_class *)(uintptr_t)0xdead0;
  REFUSED(kvo_class_register(NULL, &out));
  REFUSED(kvo_class_register(&good, NULL));
#define TRY(change) (bad = good, change, REFUSED(kvo_class_register(&bad, &out)))
  TRY(bad.struct_size = 0);
  TRY(bad.struct_size = sizeof bad - 1);
  TRY(bad.name = NULL);
  TRY(bad.name = "");
  TRY(bad.superclass = garbage);
  TRY(bad.superclass = (kvo_class *)(uintptr_t)&bad);
  TRY(bad.instance_size = 0);
  TRY(bad.property_count = 1);
  TRY((bad.properties = &property, bad.property_count = 1, bad.property_size = 1));
  TRY((bad.properties = &property, bad.property_count = 1, bad.property_size = sizeof property + 1));
  TRY((bad.properties = &property, bad.property_count = SIZE_MAX));
  TRY((bad.properties = &property, bad.property_count = UINT16_MAX));
  TRY((bad.properties = &unnamed, bad.property_count = 1));
  TRY((bad.properties = &untyped, bad.property_count = 1));
  TRY((property.flags = ~0u, bad.properties = &property, bad.property_count = 1));
  CHECK_SAME(out, NULL);
  CHECK_SAME(kvo_class_find("Bad"), NULL);
}

ROW(kvo_class_unregister) {
  REFUSED(kvo_class_unregister(NULL));
  REFUSED(kvo_class_unregister((kvo_class *)(uintptr_t)0xdead0));
  REFUSED(kvo_class_unregister(bound_class()));
  CHECK_STATUS(kvo_class_unregister(item_class()), KVO_ERROR_BUSY);
  kvo_object_destroy(object);
  kvo_class *cls = item_class();
  CHECK_OK(kvo_class_unregister(cls));
  REFUSED(kvo_class_unregister(cls));
}

ROW(kvo_can_unload) { REFUSED(kvo_can_unload(NULL)); }

ROW(kvo_class_find) {
  CHECK_SAME(kvo_class_find(NULL), NULL);
  CHECK_SAME(kvo_class_find(""), NULL);
}

ROW(kvo_class_name) { CHECK_EQ(kvo_class_name(NULL), ""); }
ROW(kvo_class_superclass) { CHECK_SAME(kvo_class_superclass(NULL), NULL); }
ROW(kvo_class_instance_size) { CHECK_EQ((int)kvo_class_instance_size(NULL), 0); }
ROW(kvo_class_property_count) { CHECK_EQ(kvo_class_property_count(NULL), 0); }

ROW(kvo_class_property_at) {
  CHECK_SAME(kvo_class_property_at(NULL, 0), NULL);
  CHECK_SAME(kvo_class_property_at(item_class(), SIZE_MAX), NULL);
}

ROW(kvo_class_property) {
  CHECK_SAME(kvo_class_property(NULL, "value"), NULL);
  CHECK_SAME(kvo_class_property(item_class(), NULL), NULL);
}

ROW(kvo_property_name) { CHECK_EQ(kvo_property_name(NULL), ""); }
ROW(kvo_property_type) { CHECK_EQ(kvo_property_type(NULL), ""); }

ROW(kvo_type_size) {
  size_t size = 0, alignment = 0;
  CHECK_STATUS(kvo_type_size(NULL, &size, &alignment), KVO_ERROR_BAD_TYPE_ENCODING);
  CHECK_OK(kvo_type_size("i", NULL, &alignment));
  CHECK_OK(kvo_type_size("i", &size, NULL));
}

/* ------------------------------------------------------------------------------------------------------------- Objects -- */

ROW(kvo_object_create) {
  kvo_object *out = NULL;
  REFUSED(kvo_object_create(NULL, &out));
  REFUSED(kvo_object_create(item_class(), NULL));
  REFUSED(kvo_object_create(bound_class(), &out)); /* a binding makes its objects */
  REFUSED(kvo_object_create((kvo_class *)(uintptr_t)0xdead0, &out));
  CHECK_SAME(out, NULL);
}

ROW(kvo_object_init) {
  kvo_object object = {0};
  REFUSED(kvo_object_init(NULL, item_class()));
  REFUSED(kvo_object_init(&object, NULL));
  REFUSED(kvo_object_init(&object, (kvo_class *)(uintptr_t)0xdead0));
  CHECK_SAME(kvo_object_class(&object), NULL);
}

ROW(kvo_object_finish) {
  kvo_object garbage = {(uintptr_t)0xdead0dead0};
  kvo_object_finish(NULL);
  kvo_object_finish(&empty);
  faults_clear();
  kvo_object_finish(&garbage);
  CHECK_EQ(faults.code, KVO_FAULT_UNSUPPORTED_OBJECT);
}

ROW(kvo_object_end) {
  kvo_object garbage = {(uintptr_t)0xdead0dead0};
  CHECK(kvo_object_end(NULL));
  CHECK(kvo_object_end(&empty));
  faults_clear();
  kvo_object_end(&garbage);
  CHECK_EQ(faults.code, KVO_FAULT_UNSUPPORTED_OBJECT);
}

ROW(kvo_object_finish_at) {
  kvo_object garbage = {(uintptr_t)0xdead0dead2};
  kvo_object_finish_at(NULL, "here.c", 7);
  kvo_object_finish_at(NULL, NULL, 7);
  faults_clear();
  kvo_object_finish_at(&garbage, "here.c", 7);
  CHECK_EQ(faults.code, KVO_FAULT_UNSUPPORTED_OBJECT);
  CHECK_EQ(faults.file, "here.c");
}

ROW(kvo_object_destroy) {
  kvo_object_destroy(NULL);
  faults_clear();
  kvo_object_destroy(&empty); /* does not free it: the memory is not the runtime's */
  CHECK_EQ(faults.code, KVO_FAULT_UNSUPPORTED_OBJECT);
}

ROW(kvo_object_destroy_at) {
  kvo_object garbage = {0};
  kvo_object_destroy_at(NULL, "here.c", 7);
  for (unsigned tags = 0; tags < 16; tags++) {
    garbage.kvo_private_word = (uintptr_t)0x5a5a5a5a5a5a5a50 + tags;
    faults_clear();
    kvo_object_destroy_at(&garbage, "here.c", 7);
    CHECK_EQ(faults.code, KVO_FAULT_UNSUPPORTED_OBJECT);
    CHECK_EQ(faults.file, "here.c");
    CHECK_EQ(faults.line, 7);
  }
}

ROW(kvo_object_class) { CHECK_SAME(kvo_object_class(NULL), NULL); }
ROW(kvo_object_isa) { CHECK_SAME(kvo_object_isa(NULL), NULL); }
ROW(kvo_object_is_observed) { CHECK(!kvo_object_is_observed(NULL)); }

ROW(kvo_object_setter) {
  CHECK(kvo_object_setter(NULL, "value") == NULL);
  CHECK(kvo_object_setter(object, NULL) == NULL);
  CHECK(kvo_object_setter(object, "nothing") == NULL);
  CHECK(kvo_object_setter(&empty, "value") == NULL);
}

ROW(kvo_object_property_setter) {
  kvo_object *other = bound_make();
  const kvo_property *last = kvo_class_property(item_class(), "far"),
                     *foreign = kvo_class_property_at(bound_class(), 0);
  CHECK(kvo_object_property_setter(NULL, last) == NULL);
  CHECK(kvo_object_property_setter(object, NULL) == NULL);
  CHECK(kvo_object_property_setter(object, foreign) == NULL);
  CHECK(kvo_object_property_setter(other, last) == NULL); /* beyond the end of its properties */
}

ROW(kvo_object_getter) {
  CHECK(kvo_object_getter(NULL, "value") == NULL);
  CHECK(kvo_object_getter(object, NULL) == NULL);
}

ROW(kvo_object_stored) {
  kvo_object_stored(NULL, "value");
  kvo_object_stored(object, NULL);
  kvo_object_stored(object, "nothing");
}

ROW(kvo_object_store_key) {
  int value = 5;
  NEEDS_BOTH(kvo_object_store_key, object, "value", KVO_FORM_INTEGER, 'i', sizeof(int), &value, NULL, 0);
  FAULTS_HERE(kvo_object_store_key(object, "value", KVO_FORM_INTEGER, 'i', sizeof(int), NULL, "here.c", 7));
  ignore_faults();
#define STATUS(expected, ...) CHECK_STATUS(kvo_object_store_key(__VA_ARGS__, &value, NULL, 0), expected)
  STATUS(KVO_ERROR_UNDEFINED_KEY, &empty, "value", KVO_FORM_INTEGER, 'i', sizeof(int));
  kvo_object *no_object = (kvo_object *)(void *)item_class(); /* KVO_SET casts, so the compiler does not notice */
  STATUS(KVO_ERROR_UNDEFINED_KEY, no_object, "value", KVO_FORM_INTEGER, 'i', sizeof(int));
  STATUS(KVO_ERROR_UNDEFINED_KEY, object, "nothing", KVO_FORM_INTEGER, 'i', sizeof(int));
  STATUS(KVO_ERROR_READ_ONLY, object, "doubled", KVO_FORM_INTEGER, 'i', sizeof(int));
  STATUS(KVO_ERROR_READ_ONLY, bound_make(), "value", KVO_FORM_INTEGER, 'i', sizeof(int));
  STATUS(KVO_ERROR_TYPE_MISMATCH, object, "value", (kvo_form)99, 0, sizeof(int));
  STATUS(KVO_ERROR_TYPE_MISMATCH, object, "value", KVO_FORM_INTEGER, 'i', SIZE_MAX);
#undef STATUS
  CHECK_EQ(((item *)object)->value, 1);
}

ROW(kvo_object_store) {
  const kvo_property *property = kvo_class_property(item_class(), "value");
  int value = 5;
  REFUSED(kvo_object_store(NULL, property, &value));
  REFUSED(kvo_object_store(object, NULL, &value));
  REFUSED(kvo_object_store(object, property, NULL));
  REFUSED(kvo_object_store(bound_make(), kvo_class_property(bound_class(), "value"), &value));
  CHECK_STATUS(kvo_object_store(&empty, property, &value), KVO_ERROR_TYPE_MISMATCH);
  CHECK_STATUS(kvo_object_store(bound_make(), property, &value), KVO_ERROR_TYPE_MISMATCH);
  CHECK_STATUS(kvo_object_store(object, kvo_class_property(item_class(), "doubled"), &value), KVO_ERROR_READ_ONLY);
  CHECK_EQ(((item *)object)->value, 1);
}

ROW(kvo_object_load) {
  const kvo_property *property = kvo_class_property(item_class(), "value");
  int value = 5;
  REFUSED(kvo_object_load(NULL, property, &value));
  REFUSED(kvo_object_load(object, NULL, &value));
  REFUSED(kvo_object_load(object, property, NULL));
  REFUSED(kvo_object_load(bound_make(), kvo_class_property(bound_class(), "value"), &value));
  CHECK_STATUS(kvo_object_load(&empty, property, &value), KVO_ERROR_TYPE_MISMATCH);
  CHECK_EQ(value, 5);
}

ROW(kvo_last_refusal) { CHECK_EQ(kvo_last_refusal(), 0); }

ROW(kvo_object_setter_to_call) {
  FAULTS(kvo_object_setter_to_call(NULL, "value", KVO_FORM_INTEGER, sizeof(int), NULL, 0)());
  FAULTS_HERE(kvo_object_setter_to_call(object, NULL, KVO_FORM_INTEGER, sizeof(int), "here.c", 7)());
  faults_clear();
  kvo_object_setter_to_call(&empty, "value", KVO_FORM_INTEGER, sizeof(int), NULL, 0)();
  kvo_object_setter_to_call(object, "nothing", KVO_FORM_INTEGER, sizeof(int), NULL, 0)();
  kvo_object_setter_to_call(object, "value", (kvo_form)99, sizeof(int), NULL, 0)();
  kvo_object_setter_to_call(object, "value", KVO_FORM_INTEGER, SIZE_MAX, NULL, 0)();
  CHECK_EQ(faults.count, 4);
}

/* -------------------------------------------------------------------------------------------------------------- Values -- */

ROW(kvo_get_value) {
  NEEDS_BOTH(kvo_get_value, object, "value", read_nothing, NULL);
  FAULTS_AND_REFUSED(kvo_get_value(object, "value", NULL, NULL));
  CHECK_STATUS(kvo_get_value(object, "", read_nothing, NULL), KVO_ERROR_MALFORMED_KEY_PATH);
  CHECK_STATUS(kvo_get_value(&empty, "value", read_nothing, NULL), KVO_ERROR_INVALID_ARGUMENT);
}

ROW(kvo_get_value_at) { FAULTS_HERE(kvo_get_value_at(NULL, "value", read_nothing, NULL, "here.c", 7)); }

ROW(kvo_set_value) {
  int number = 1;
  kvo_value value = {"i", sizeof number, &number}, untyped = {NULL, sizeof number, &number}, small = {"i", 1, &number},
            garbage = {"\xff", 1, &number}, nil = {"i", 0, NULL};
  NEEDS_BOTH(kvo_set_value, object, "value", &value);
  FAULTS_AND_REFUSED(kvo_set_value(object, "value", NULL));
  FAULTS_AND_REFUSED(kvo_set_value(object, "value", &untyped));
  CHECK_STATUS(kvo_set_value(object, "value", &small), KVO_ERROR_TYPE_MISMATCH);
  CHECK_STATUS(kvo_set_value(object, "value", &garbage), KVO_ERROR_TYPE_MISMATCH);
  CHECK_STATUS(kvo_set_value(object, "value", &nil), KVO_ERROR_TYPE_MISMATCH);
  CHECK_STATUS(kvo_set_value(&empty, "value", &value), KVO_ERROR_INVALID_ARGUMENT);
}

ROW(kvo_set_value_at) { FAULTS_HERE(kvo_set_value_at(NULL, "value", NULL, "here.c", 7)); }

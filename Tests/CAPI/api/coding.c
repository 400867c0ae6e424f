/* coding.c - kvo_get_value and kvo_set_value: values by key path. */
#include "fixture.h"

#include <kvo/kvo_binding.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static void keep_value(const kvo_value *value, void *arg) { *(seen_value *)arg = see(value); }

static void never(const kvo_value *value, void *arg) {
  (void)value, (void)arg;
  harness_fail(__FILE__, __LINE__, "the reader was called");
}

static seen_value get(item *object, const char *key_path) {
  seen_value seen;
  CHECK_OK(kvo_get_value(as_object(object), key_path, keep_value, &seen));
  return seen;
}

static kvo_status set_int(item *object, const char *key_path, int number) {
  kvo_value value = {"i", sizeof number, &number};
  return kvo_set_value(as_object(object), key_path, &value);
}

TEST("values are read by key and by key path") {
  item *root = item_make(1), *leaf = item_make(2);
  root->next = leaf;
  item_set_name(leaf, "Ada");
  CHECK_EQ(get(root, "value").integer, 1);
  CHECK_EQ(get(root, "next.value").integer, 2);
  CHECK_EQ(get(root, "next.doubled").integer, 4);
  CHECK_SAME(get(root, "next").object, leaf);
  seen_value name = get(root, "next.name");
  CHECK_EQ((const char *)name.text, "Ada");
  item_destroy(root);
  item_destroy(leaf);
}

TEST("a nil at the end of a key path, or before it, reads as nil") {
  item *root = item_make(1);
  CHECK(get(root, "next").nil);
  CHECK(get(root, "name").nil);
  CHECK(get(root, "next.value").nil);
  CHECK(get(root, "next.next.next.name").nil);
  item_destroy(root);
}

TEST("a key path that cannot be read is refused, and the reader is not called") {
  item *root = item_make(1);
  kvo_object *o = as_object(root);
  CHECK_STATUS(kvo_get_value(o, "imaginary", never, NULL), KVO_ERROR_UNDEFINED_KEY);
  CHECK_STATUS(kvo_get_value(o, "value.value", never, NULL), KVO_ERROR_NOT_AN_OBJECT);
  static const char *const malformed[] = {"", ".", "value.", ".value", "next..value"};
  for (int i = 0; i < 5; i++) CHECK_STATUS(kvo_get_value(o, malformed[i], never, NULL), KVO_ERROR_MALFORMED_KEY_PATH);
  item_destroy(root);
}

TEST("values are set through setters, so observers are notified") {
  item *root = item_make(1), *leaf = item_make(2);
  root->next = leaf;
  watcher w = {0};
  watch(root, "next.value", KVO_NEW | KVO_OLD, &w);
  CHECK_OK(set_int(root, "next.value", 7));
  CHECK_EQ(leaf->value, 7);
  CHECK_EQ(w.calls, 1);
  CHECK_EQ(w.old_value.integer, 2);
  CHECK_EQ(w.new_value.integer, 7);
  CHECK_OK(kvo_remove_observer(w.id));
  item_destroy(root);
  item_destroy(leaf);
}

TEST("strings and objects are set, also to nil") {
  item *root = item_make(1), *leaf = item_make(2);
  const char *text = "Grace";
  kvo_value string = {"*", sizeof text, &text}, constant = {"r*", sizeof text, &text},
            object = {"@", sizeof leaf, &leaf}, nil = {"@", sizeof(void *), NULL};
  CHECK_OK(kvo_set_value(as_object(root), "name", &string));
  CHECK_EQ(root->name, "Grace");
  CHECK_OK(kvo_set_value(as_object(root), "name", &nil));
  CHECK_SAME(root->name, NULL);
  CHECK_OK(kvo_set_value(as_object(root), "name", &constant)); /* the encoding that @encode gives for const char * */
  CHECK_EQ(root->name, "Grace");
  CHECK_OK(kvo_set_value(as_object(root), "next", &object));
  CHECK_SAME(root->next, leaf);
  CHECK_OK(kvo_set_value(as_object(root), "next", &nil));
  CHECK_SAME(root->next, NULL);
  item_destroy(root);
  item_destroy(leaf);
}

TEST("a nil before the end of a key path sets nothing and is no error") {
  item *root = item_make(1);
  CHECK_OK(set_int(root, "next.value", 7));
  CHECK_EQ(root->value, 1);
  item_destroy(root);
}

TEST("a value of another type is refused: nothing is set and nobody is notified") {
  item *root = item_make(1);
  watcher w = {0};
  watch(root, "value", KVO_NONE, &w);
  double real = 2.5;
  int number = 2;
  unsigned large = 1u << 31;
  kvo_value wrong[] = {{"d", sizeof real, &real},
                       {"I", sizeof large, &large},
                       {"i", 2, &number},
                       {"i", sizeof number, NULL},
                       {"ii", sizeof number, &number}};
  for (int i = 0; i < 5; i++) CHECK_STATUS(kvo_set_value(as_object(root), "value", &wrong[i]), KVO_ERROR_TYPE_MISMATCH);
  CHECK_STATUS(set_int(root, "next", 0), KVO_ERROR_TYPE_MISMATCH);
  CHECK_EQ(root->value, 1);
  CHECK_EQ(w.calls, 0);
  CHECK_OK(kvo_remove_observer(w.id));
  item_destroy(root);
}

TEST("a key path that cannot be set is refused") {
  item *root = item_make(1);
  CHECK_STATUS(set_int(root, "doubled", 7), KVO_ERROR_READ_ONLY);
  CHECK_STATUS(set_int(root, "imaginary", 7), KVO_ERROR_UNDEFINED_KEY);
  CHECK_STATUS(set_int(root, "value.value", 7), KVO_ERROR_NOT_AN_OBJECT);
  CHECK_STATUS(set_int(root, "next.", 7), KVO_ERROR_MALFORMED_KEY_PATH);
  item_destroy(root);
}

typedef struct four {
  kvo_object header;
  struct quad {
    short each[4];
  } value;
} four;
static struct quad four_value(const four *of) { return of->value; }

/* The view of a property with this type that a reader gets. */
typedef struct viewed {
  const char *type;
  const short *expected;
} viewed;
static void check_view(const kvo_value *value, void *arg) {
  const viewed *wanted = arg;
  CHECK_EQ(value->type, wanted->type);
  CHECK_EQ(value->size, 4 * sizeof(short));
  CHECK_EQ((uintptr_t)value->bytes % 16, 0);
  CHECK_EQ(memcmp(value->bytes, wanted->expected, 4 * sizeof(short)), 0);
}

TEST("a value is complete and aligned, and its type is as registered, however long that is") {
  for (size_t length = 0; length < 40; length++) {
    char type[64] = "{", name[16];
    memset(type + 1, 'q', length);
    strcpy(type + 1 + length, "=ssss}"); /* 8 characters */
    snprintf(name, sizeof name, "Four%zu", length);
    kvo_property_spec property = {.name = "value", .type = type, .getter = (kvo_function)four_value};
    kvo_class_spec spec = {.struct_size = sizeof spec,
                           .name = name,
                           .instance_size = sizeof(four),
                           .properties = &property,
                           .property_count = 1};
    kvo_class *cls;
    kvo_object *object;
    CHECK_OK(kvo_class_register(&spec, &cls));
    CHECK_OK(kvo_object_create(cls, &object));
    four *made = (four *)object;
    made->value = (struct quad){{0x1111, 0x2222, 0x3333, 0x4444}};
    viewed wanted = {type, made->value.each};
    CHECK_OK(kvo_get_value(object, "value", check_view, &wanted));
    kvo_object_destroy(object);
  }
}

/* ----------------------------------------------------------------------------------------------------------- KVO_SET -- */

typedef struct pair {
  short left, right;
} pair;
typedef struct mixed {
  kvo_object header;
  long whole;
  float real;
  bool flag;
  unsigned char byte;
  pair both;
  void (*function)(void);
} mixed;

#define SETTER(member, T)                                                                                              \
  static void mixed_set_##member(mixed *of, T value) { of->member = value; }                                           \
  static T mixed_##member(const mixed *of) { return of->member; }
SETTER(whole, long)
SETTER(real, float)
SETTER(flag, bool)
SETTER(byte, unsigned char)
SETTER(both, pair)
typedef void (*plain)(void);
SETTER(function, plain)

static kvo_object *mixed_make(void) {
#define PROPERTY(member, encoding)                                                                                     \
  {.name = #member,                                                                                                    \
   .type = encoding,                                                                                                   \
   .getter = (kvo_function)mixed_##member,                                                                             \
   .setter = (kvo_function)mixed_set_##member}
  kvo_property_spec properties[] = {PROPERTY(whole, "l"), PROPERTY(real, "f"),         PROPERTY(flag, "B"),
                                    PROPERTY(byte, "C"),  PROPERTY(both, "{pair=ss}"), PROPERTY(function, "^?")};
  kvo_class_spec spec = {.struct_size = sizeof spec,
                         .name = "Mixed",
                         .instance_size = sizeof(mixed),
                         .properties = properties,
                         .property_count = sizeof properties / sizeof *properties};
  kvo_class *cls;
  kvo_object *object;
  CHECK_OK(kvo_class_register(&spec, &cls));
  CHECK_OK(kvo_object_create(cls, &object));
  return object;
}

typedef enum numbered { ZERO, ONE } numbered;

TEST("KVO_SET accepts every type that a call passes like the property's type") {
  mixed *object = (mixed *)mixed_make();
  KVO_SET(object, "whole", long, -5);
  KVO_SET(object, "whole", unsigned long, 7);
  KVO_SET(object, "whole", const long long, 9);
  CHECK_EQ(object->whole, 9);
  KVO_SET(object, "real", float, 0.5f);
  CHECK_EQ(object->real, 0.5f);
  KVO_SET(object, "flag", bool, true);
  KVO_SET(object, "byte", unsigned char, 200);
  KVO_SET(object, "byte", char, 'a');
  CHECK(object->flag && object->byte == 'a');
  KVO_SET(object, "both", pair, ((pair){3, 4}));
  CHECK(object->both.left == 3 && object->both.right == 4);
  KVO_SET(object, "function", plain, abort);
  CHECK(object->function == abort);
  kvo_object_destroy(&object->header);
}

/* The set is reported with its line, and sets nothing. */
#define MISMATCH(...)                                                                                                  \
  do {                                                                                                                 \
    faults.count = 0;                                                                                                  \
    __VA_ARGS__;                                                                                                       \
    CHECK_EQ(faults.count, 1);                                                                                         \
    CHECK_EQ(faults.code, KVO_FAULT_TYPE_MISMATCH);                                                                    \
    CHECK_EQ(faults.line, __LINE__);                                                                                   \
    CHECK_CONTAINS(faults.file, "coding.c");                                                                           \
  } while (0)

TEST_REPORTED("KVO_SET with a type of another form or size is a fault at its source line, and sets nothing") {
  mixed *object = (mixed *)mixed_make(), before;
  memcpy(&before, object, sizeof before);
  ignore_faults();
  MISMATCH(KVO_SET(object, "whole", double, 3.25));
  CHECK_CONTAINS(faults.summary, "\"whole\" of Mixed@0x");
  CHECK_CONTAINS(faults.summary, "an integer of 8 bytes, and is set to a floating-point number of 8 bytes");
  CHECK_CONTAINS(faults.report, "the setter would take another value than the one that is passed");
  MISMATCH(KVO_SET(object, "whole", int, 3));
  MISMATCH(KVO_SET(object, "whole", void *, object));
  MISMATCH(KVO_SET(object, "real", double, 0.5));
  MISMATCH(KVO_SET(object, "real", int, 1));
  MISMATCH(KVO_SET(object, "both", numbered, ONE));
  MISMATCH(KVO_SET(object, "whole", pair, ((pair){1, 2})));
  MISMATCH(KVO_SET(object, "function", long, 1));
  CHECK_EQ(memcmp(&before, object, sizeof before), 0);
  kvo_object_destroy(&object->header);
}

TEST_REPORTED("KVO_SET of a key without a setter, and of NULL, reports its source line") {
  mixed *object = (mixed *)mixed_make();
  ignore_faults();
  KVO_SET(object, "imaginary", int, 3);
  CHECK_EQ(faults.line, __LINE__ - 1);
  CHECK_EQ(faults.code, KVO_FAULT_UNDEFINED_KEY);
  KVO_SET(NULL, "whole", long, 3);
  CHECK_EQ(faults.line, __LINE__ - 1);
  CHECK_EQ(faults.code, KVO_FAULT_INVALID_ARGUMENT);
  CHECK_STATUS(kvo_set_value(&object->header, "whole", NULL), KVO_ERROR_INVALID_ARGUMENT);
  CHECK_EQ(faults.line, __LINE__ - 1);
  CHECK_STATUS(kvo_get_value(&object->header, NULL, never, NULL), KVO_ERROR_INVALID_ARGUMENT);
  CHECK_EQ(faults.line, __LINE__ - 1);
  kvo_object_destroy(&object->header);
}

static void ignore_set(kvo_object *of, int value) { (void)of, (void)value; }

TEST("a property without a getter cannot be read, but can be set and observed") {
  kvo_property_spec property = {.name = "sink", .type = "i", .setter = (kvo_function)ignore_set};
  kvo_class_spec spec = {.struct_size = sizeof spec,
                         .name = "Sink",
                         .instance_size = sizeof(kvo_object),
                         .properties = &property,
                         .property_count = 1};
  kvo_class *cls;
  kvo_object object;
  CHECK_OK(kvo_class_register(&spec, &cls));
  CHECK_OK(kvo_object_init(&object, cls));
  CHECK_STATUS(kvo_get_value(&object, "sink", never, NULL), KVO_ERROR_NO_GETTER);
  watcher w = {0};
  kvo_observer observer = watcher_observer("sink", KVO_NEW | KVO_OLD, &w);
  CHECK_OK(kvo_add_observer(&object, &observer, &w.id));
  int seven = 7;
  kvo_value value = {"i", sizeof seven, &seven};
  CHECK_OK(kvo_set_value(&object, "sink", &value));
  CHECK_EQ(w.new_value.integer, 7);
  CHECK(!w.old_value.told);
  CHECK_OK(kvo_remove_observer(w.id));
  kvo_object_finish(&object);
}

typedef struct holder {
  kvo_object header;
  kvo_object *end;
} holder;

static kvo_object *get_end(kvo_object *of) { return ((holder *)of)->end; }

TEST("a path to a property without a getter tells the value that was set, and no old value") {
  kvo_property_spec sink = {.name = "sink", .type = "i", .setter = (kvo_function)ignore_set};
  kvo_property_spec end = {.name = "end", .type = "@", .getter = (kvo_function)get_end};
  kvo_class_spec specs[] = {{.struct_size = sizeof specs[0],
                             .name = "EndSink",
                             .instance_size = sizeof(kvo_object),
                             .properties = &sink,
                             .property_count = 1},
                            {.struct_size = sizeof specs[0],
                             .name = "Holder",
                             .instance_size = sizeof(holder),
                             .properties = &end,
                             .property_count = 1}};
  kvo_class *classes[2];
  kvo_object object;
  holder root = {.end = &object};
  for (int i = 0; i < 2; i++) CHECK_OK(kvo_class_register(&specs[i], &classes[i]));
  CHECK_OK(kvo_object_init(&object, classes[0]));
  CHECK_OK(kvo_object_init(&root.header, classes[1]));
  watcher w = {0};
  kvo_observer observer = watcher_observer("end.sink", KVO_NEW, &w);
  CHECK_OK(kvo_add_observer(&root.header, &observer, &w.id));
  KVO_SET(&object, "sink", int, 7);
  CHECK_EQ(w.calls, 1);
  CHECK_EQ(w.new_value.integer, 7);
  CHECK(!w.old_value.told);
  CHECK_OK(kvo_remove_observer(w.id));
  kvo_object_finish(&root.header);
  kvo_object_finish(&object);
}

/* A binding's property whose value is all that keeps an object alive: each read creates one, and releasing the value destroys it. */
static item made;

static void *copy_made(void *instance, void *user, const kvo_selection *selection) {
  (void)instance, (void)user, (void)selection;
  static item *value;
  memset(&made, 0, sizeof made);
  CHECK_OK(kvo_object_init(as_object(&made), item_class()));
  made.value = 7;
  value = &made;
  return &value;
}

static void release_made(void *value, void *user) {
  (void)user;
  kvo_object_finish(as_object(*(item **)value));
}

static void view_made(const void *value, void *user, kvo_value_reader reader, void *arg) {
  (void)user;
  kvo_value view = {"@", sizeof(void *), value};
  reader(&view, arg);
}

static kvo_status assign_made(void *instance, void *user, const kvo_value *value) {
  (void)instance, (void)user, (void)value;
  return KVO_ERROR_READ_ONLY;
}

static kvo_object make_maker(void) {
  static const kvo_value_ops ops = {copy_made, release_made, view_made, assign_made, NULL};
  kvo_binding_property property = {.name = "made", .type = "@", .ops = &ops};
  kvo_class *cls;
  kvo_object maker;
  CHECK_OK(kvo_binding_class_register("Maker", NULL, 0, &property, 1, &cls));
  CHECK_OK(kvo_object_init(&maker, cls));
  return maker;
}

TEST("an object that only the property's value keeps alive can be walked through") {
  kvo_object maker = make_maker();
  seen_value seen;
  CHECK_OK(kvo_get_value(&maker, "made.value", keep_value, &seen));
  CHECK_EQ(seen.integer, 7);
  int number = 8;
  kvo_value value = {"i", sizeof number, &number};
  CHECK_OK(kvo_set_value(&maker, "made.value", &value));
  CHECK_EQ(made.value, 8);
  CHECK(kvo_object_class(as_object(&made)) == NULL);
  kvo_object_finish(&maker);
}

TEST("calls with a source location accept compound literals as arguments") {
  item *object = item_make(1);
  CHECK_STATUS(kvo_set_value(as_object(object), "value", &(kvo_value){"i", sizeof(int), (int[]){2}}), KVO_OK);
  CHECK_STATUS(kvo_will_change_indexes(as_object(object), KVO_CHANGE_INSERTION, "value", (size_t[]){0, 1}, 2), KVO_OK);
  CHECK_STATUS(kvo_did_change_indexes(as_object(object), KVO_CHANGE_INSERTION, "value", (size_t[]){0, 1}, 2), KVO_OK);
  item_destroy(object);
}

TEST("the death of an object at the end of the evaluation that created it is no change") {
  kvo_object maker = make_maker();
  watcher w = {0};
  kvo_observer described = watcher_observer("made.value", KVO_NEW | KVO_INITIAL, &w);
  kvo_observation id;
  CHECK_OK(kvo_add_observer(&maker, &described, &id));
  CHECK_EQ(w.calls, 1);
  CHECK_EQ(w.new_value.integer, 7);
  CHECK_OK(kvo_will_change(&maker, "made"));
  CHECK_OK(kvo_did_change(&maker, "made"));
  CHECK_EQ(w.calls, 2);
  CHECK_OK(kvo_remove_observer(id));
  kvo_object_finish(&maker);
}

TEST("a value is read as each C type that can hold it, and the result stays as it was where none can") {
  int number = 7, truth = 1, negative = -1;
  const char *text = "12", *string = NULL;
  item *object = item_make(1);
  kvo_object *given = as_object(object), *found = NULL;
  const kvo_value seven = {"i", sizeof number, &number}, one = {"i", sizeof truth, &truth},
                  minus = {"i", sizeof negative, &negative}, twelve = {"*", sizeof text, &text},
                  reference = {"@", sizeof given, &given}, nil = {"@", sizeof given, NULL};
  uint64_t natural = 5;
  int64_t integer = 5;
  bool is = false;
  double real = 5;
  CHECK_OK(kvo_value_uint64(&seven, &natural));
  CHECK_EQ(natural, 7);
  CHECK_STATUS(kvo_value_uint64(&minus, &natural), KVO_ERROR_TYPE_MISMATCH);
  CHECK_EQ(natural, 7);
  CHECK_OK(kvo_value_int64(&minus, &integer));
  CHECK_EQ(integer, -1);
  CHECK_OK(kvo_value_bool(&one, &is));
  CHECK(is);
  CHECK_STATUS(kvo_value_bool(&seven, &is), KVO_ERROR_TYPE_MISMATCH);
  CHECK_OK(kvo_value_double(&twelve, &real));
  CHECK_EQ(real, 12.0);
  CHECK_OK(kvo_value_string(&twelve, &string));
  CHECK_SAME(string, text);
  CHECK_STATUS(kvo_value_string(&seven, &string), KVO_ERROR_TYPE_MISMATCH);
  CHECK_OK(kvo_value_object(&reference, &found));
  CHECK_SAME(found, given);
  CHECK_STATUS(kvo_value_object(&twelve, &found), KVO_ERROR_TYPE_MISMATCH);
  CHECK_SAME(found, given);
  CHECK_OK(kvo_value_object(&nil, &found));
  CHECK_SAME(found, NULL);
  CHECK_STATUS(kvo_value_double(&nil, &real), KVO_ERROR_NO_VALUE);
  item_destroy(object);
}

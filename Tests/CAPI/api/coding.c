/* coding.c - kvo_get_value, kvo_set_value and KVO_SET: values by key path. */
#include "made.h"

#include <kvo/kvo_binding.h>
#include <string.h>

static void keep_value(const kvo_value *value, void *arg) { *(seen_value *)arg = see(value); }

/* What most tests begin with: an item with the value 1, whose next has the value 2. */
static item *root, *leaf;

static void begin(void) {
  root = item_make(1);
  leaf = item_make(2);
  root->next = leaf;
}
static void end(void) {
  item_destroy(root);
  item_destroy(leaf);
}

static seen_value get(const char *key_path) {
  seen_value seen;
  CHECK_OK(kvo_get_value(as_object(root), key_path, keep_value, &seen));
  return seen;
}
static kvo_status set(const char *key_path, const kvo_value *value) {
  return kvo_set_value(as_object(root), key_path, value);
}

TEST("values are read by key and by key path, and a nil at its end or before it reads as nil") {
  begin();
  item_set_name(leaf, "Ada");
  CHECK_EQ(get("value").integer, 1);
  CHECK_EQ(get("next.value").integer, 2);
  CHECK_EQ(get("next.doubled").integer, 4);
  CHECK_SAME(get("next").object, leaf);
  seen_value name = get("next.name");
  CHECK_EQ((const char *)name.text, "Ada");
  CHECK(get("name").nil && get("next.next").nil);
  CHECK(get("next.next.value").nil && get("next.next.next.next.name").nil);
  end();
}

TEST("values are set through setters, so observers are notified, and a nil before the end sets nothing") {
  watcher w = {0};
  begin();
  watch(root, "next.value", KVO_NEW | KVO_OLD, &w);
  CHECK_OK(kvo_set_value(as_object(root), "next.value", &(kvo_value){"i", sizeof(int), (int[]){7}}));
  CHECK_OK(set("next.next.value", KVO_VALUE(int, 8)));
  CHECK_EQ(leaf->value, 7);
  CHECK_NOTIFIED(w, 1, 2, 7);
  CHECK_OK(kvo_remove_observer(w.id));
  end();
}

TEST("strings and objects are set, also to nil") {
  const char *text = "Ada";
  const kvo_value nil = {"@", sizeof(void *), NULL},
                  constant = {"r*", sizeof text, &text}; /* @encode of const char * */
  begin();
  CHECK_OK(set("name", KVO_VALUE(const char *, "Grace")));
  CHECK_EQ(root->name, "Grace");
  CHECK_OK(set("name", &nil));
  CHECK_SAME(root->name, NULL);
  CHECK_OK(set("name", &constant));
  CHECK_EQ(root->name, "Ada");
  CHECK_OK(set("next", &nil));
  CHECK_SAME(root->next, NULL);
  CHECK_OK(set("next", KVO_VALUE(kvo_object *, as_object(leaf))));
  CHECK_SAME(root->next, leaf);
  end();
}

TEST("a value of another type is refused: nothing is set and no observer is notified") {
  watcher w = {0};
  begin();
  watch(root, "value", KVO_NONE, &w);
  int number = 2;
  const kvo_value *wrong[] = {KVO_VALUE(double, 2.5), KVO_VALUE(unsigned, 1u << 31), &(kvo_value){"i", 2, &number},
                              &(kvo_value){"i", sizeof number, NULL}, &(kvo_value){"ii", sizeof number, &number}};
  for (int i = 0; i < 5; i++) CHECK_STATUS(set("value", wrong[i]), KVO_ERROR_TYPE_MISMATCH);
  CHECK_STATUS(set("next", KVO_VALUE(int, 0)), KVO_ERROR_TYPE_MISMATCH);
  CHECK_EQ(root->value, 1);
  CHECK_EQ(w.calls, 0);
  CHECK_OK(kvo_remove_observer(w.id));
  end();
}

TEST("a key path that cannot be read or set is refused, and the reader is not called") {
  static const struct {
    const char *key_path;
    kvo_status status;
  } rows[] = {{"imaginary", KVO_ERROR_UNDEFINED_KEY},       {"value.value", KVO_ERROR_NOT_AN_OBJECT},
              {"", KVO_ERROR_MALFORMED_KEY_PATH},           {".", KVO_ERROR_MALFORMED_KEY_PATH},
              {"value.", KVO_ERROR_MALFORMED_KEY_PATH},     {".value", KVO_ERROR_MALFORMED_KEY_PATH},
              {"next..value", KVO_ERROR_MALFORMED_KEY_PATH}};
  begin();
  for (size_t i = 0; i < sizeof rows / sizeof *rows; i++)
    if (kvo_get_value(as_object(root), rows[i].key_path, never_read, NULL) != rows[i].status ||
        set(rows[i].key_path, KVO_VALUE(int, 7)) != rows[i].status)
      harness_fail(__FILE__, __LINE__, "\"%s\": %s", rows[i].key_path, kvo_last_error());
  CHECK_STATUS(set("doubled", KVO_VALUE(int, 7)), KVO_ERROR_READ_ONLY);
  end();
}

/* ---------------------------------------------------------------------------------------------- Without a getter -- */

static void ignore_set(kvo_object *of, int value) {}

typedef struct holder {
  kvo_object header;
  kvo_object *end;
} holder;

TEST("a property without a getter cannot be read, but can be set and observed, also at the end of a path") {
  kvo_property_spec sink = {.name = "sink", .type = "i", .setter = (kvo_function)ignore_set};
  kvo_property_spec last = AT_OFFSET(holder, end, "@");
  kvo_object *object = object_made("Sink", sizeof(kvo_object), &sink, 1);
  kvo_object *holding = object_made("Holder", sizeof(holder), &last, 1);
  ((holder *)holding)->end = object;
  watcher direct = {0}, path = {0};
  watch_object(object, "sink", KVO_NEW | KVO_OLD, &direct);
  watch_object(holding, "end.sink", KVO_NEW, &path);
  CHECK_STATUS(kvo_get_value(object, "sink", never_read, NULL), KVO_ERROR_NO_GETTER);
  CHECK_OK(kvo_set_value(object, "sink", KVO_VALUE(int, 7)));
  CHECK_EQ(direct.new_value.integer, 7);
  CHECK_EQ(path.new_value.integer, 7);
  CHECK(!direct.old_value.delivered && !path.old_value.delivered);
  CHECK_OK(kvo_remove_observer(direct.id));
  CHECK_OK(kvo_remove_observer(path.id));
  kvo_object_destroy(holding);
  kvo_object_destroy(object);
}

/* ----------------------------------------------------------------------------------- Objects that only a value keeps -- */

/* A binding's property whose value is all that keeps an object alive: each read creates one, and releasing the value destroys it. */
static item made;

static void *copy_made(void *instance, void *user, const kvo_selection *selection) {
  static item *value;
  memset(&made, 0, sizeof made);
  CHECK_OK(kvo_object_init(as_object(&made), item_class()));
  made.value = 7;
  value = &made;
  return &value;
}
static void release_made(void *value, void *user) { kvo_object_finish(as_object(*(item **)value)); }
static void view_made(const void *value, void *user, kvo_value_reader reader, void *arg) {
  reader(&(kvo_value){"@", sizeof(void *), value}, arg);
}
static kvo_status assign_made(void *instance, void *user, const kvo_value *value) { return KVO_ERROR_READ_ONLY; }

TEST("a key path leads through an object that only the property's value keeps, whose end is no change") {
  static const kvo_value_ops ops = {copy_made, release_made, view_made, assign_made, NULL};
  kvo_binding_property property = {.name = "made", .type = "@", .ops = &ops};
  kvo_class *cls;
  kvo_object maker;
  CHECK_OK(kvo_binding_class_register("Maker", NULL, 0, &property, 1, &cls));
  CHECK_OK(kvo_object_init(&maker, cls));
  seen_value seen;
  CHECK_OK(kvo_get_value(&maker, "made.value", keep_value, &seen));
  CHECK_EQ(seen.integer, 7);
  CHECK_OK(kvo_set_value(&maker, "made.value", KVO_VALUE(int, 8)));
  CHECK_EQ(made.value, 8);
  CHECK(kvo_object_class(as_object(&made)) == NULL);
  watcher w = {0};
  watch_object(&maker, "made.value", KVO_NEW | KVO_INITIAL, &w);
  CHECK_NEW(w, 1, 7);
  CHECK_OK(kvo_will_change(&maker, "made"));
  CHECK_OK(kvo_did_change(&maker, "made"));
  CHECK_EQ(w.calls, 2);
  CHECK_OK(kvo_remove_observer(w.id));
  kvo_object_finish(&maker);
}

/* ----------------------------------------------------------------------------------------------------------- KVO_SET -- */

/* The call is reported once, with its line. */
#define FAULTS(expected, ...)                                                                                          \
  do {                                                                                                                 \
    faults.count = 0;                                                                                                  \
    __VA_ARGS__;                                                                                                       \
    CHECK_EQ(faults.count, 1);                                                                                         \
    CHECK_EQ(faults.code, expected);                                                                                   \
    CHECK_EQ(faults.line, __LINE__);                                                                                   \
    CHECK_CONTAINS(faults.file, "coding.c");                                                                           \
  } while (0)

TEST_REPORTED("KVO_SET of a key without a setter, and calls with NULL, are faults at their source lines") {
  begin();
  ignore_faults();
  FAULTS(KVO_FAULT_UNDEFINED_KEY, KVO_SET(root, "imaginary", int, 3));
  FAULTS(KVO_FAULT_INVALID_ARGUMENT, KVO_SET(NULL, "value", int, 3));
  FAULTS(KVO_FAULT_INVALID_ARGUMENT, kvo_set_value(as_object(root), "value", NULL));
  FAULTS(KVO_FAULT_INVALID_ARGUMENT, kvo_get_value(as_object(root), NULL, never_read, NULL));
  end();
}

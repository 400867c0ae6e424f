/* bad_input_sizes.c - strings of a megabyte, key paths of a hundred thousand keys, type encodings of 64 KB: refused or accepted, and
 * fast. */
#include "bad_input.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

enum { MEGABYTE = 1 << 20, KEYS = 100000 };

/* Seconds of processor time allowed for what takes milliseconds. */
#define SECONDS 1.0

/* Processor time, so that a busy machine does not fail the test. */
static double used(void) { return (double)clock() / CLOCKS_PER_SEC; }

#define SOON(call)                                                                                                     \
  do {                                                                                                                 \
    double began = used();                                                                                             \
    call;                                                                                                              \
    if (!harness_is_instrumented() && used() - began > SECONDS)                                                        \
      harness_fail(__FILE__, __LINE__, "it takes %.1f s", used() - began);                                             \
  } while (0)

static void ignore(const kvo_change *change, void *user_data) { (void)change, (void)user_data; }
static void read_nothing(const kvo_value *value, void *arg) { (void)value, (void)arg; }

/* "next.next. … .value" */
static char *long_path(const char *key, const char *last, size_t keys) {
  size_t length = strlen(key) + 1;
  char *path = malloc(keys * length + strlen(last) + 1), *at = path;
  for (size_t i = 0; i < keys; i++, at += length) {
    memcpy(at, key, length - 1);
    at[length - 1] = '.';
  }
  strcpy(at, last);
  return path;
}

TEST("class names and keys of a megabyte are accepted") {
  char *name = text_of_size(MEGABYTE, 'n'), *key = text_of_size(MEGABYTE, 'k');
  kvo_property_spec property = {.name = key, .type = "i"};
  kvo_class_spec spec = {.struct_size = sizeof spec,
                         .name = name,
                         .instance_size = sizeof(kvo_object),
                         .properties = &property,
                         .property_count = 1};
  kvo_class *cls;
  CHECK_OK(kvo_class_register(&spec, &cls));
  CHECK_SAME(kvo_class_find(name), cls);
  kvo_class *bound, *again;
  kvo_binding_property of_binding = {.name = key, .type = "i", .ops = &bound_ops};
  CHECK_OK(kvo_binding_class_register(name, NULL, 0, &of_binding, 1, &bound));
  CHECK_OK(kvo_binding_class_register(name, NULL, 0, &of_binding, 1, &again));
  CHECK(strcmp(kvo_class_name(bound), kvo_class_name(again)) != 0);
  kvo_object *object;
  CHECK_OK(kvo_object_create(cls, &object));
  ignore_faults();
  kvo_observer observer = {.struct_size = sizeof observer, .key_path = key, .callback = ignore};
  kvo_observation id;
  SOON(CHECK_OK(kvo_add_observer(object, &observer, &id)));
  SOON(CHECK_OK(kvo_will_change(object, key)));
  SOON(CHECK_OK(kvo_did_change(object, key)));
  SOON(kvo_object_destroy(object));
  CHECK_EQ(faults.code, KVO_FAULT_DEALLOCATED_WHILE_OBSERVED);
  CHECK_STATUS(kvo_remove_observer(id), KVO_ERROR_NOT_REGISTERED);
  free(name);
  free(key);
}

TEST("an unknown key of a megabyte is reported, cut short") {
  item *object = item_make(1);
  char *key = text_of_size(MEGABYTE, 'k');
  kvo_observer observer = {.struct_size = sizeof observer,
                           .key_path = key,
                           .callback = ignore,
                           .options = (kvo_options)(KVO_INITIAL | KVO_NEW)};
  ignore_faults();
  SOON(CHECK_STATUS(kvo_add_observer(as_object(object), &observer, NULL), KVO_ERROR_UNDEFINED_KEY));
  CHECK_EQ(faults.code, KVO_FAULT_UNDEFINED_KEY);
  CHECK(strlen(faults.report) < 10000);
  SOON(CHECK_STATUS(kvo_remove_observer_for(as_object(object), NULL, key), KVO_ERROR_NOT_REGISTERED));
  CHECK(strlen(faults.report) < 10000);
  free(key);
  item_destroy(object);
}

TEST("a key path of a hundred thousand keys is walked, read, set and observed") {
  item *object = item_make(1);
  object->next = object;
  char *path = long_path("next", "value", KEYS);
  int number = 2;
  kvo_value value = {"i", sizeof number, &number};
  SOON(CHECK_OK(kvo_get_value(as_object(object), path, read_nothing, NULL)));
  SOON(CHECK_OK(kvo_set_value(as_object(object), path, &value)));
  CHECK_EQ(object->value, 2);
  watcher w = {0};
  kvo_observer observer = watcher_observer(path, KVO_NEW, &w);
  kvo_observation id;
  SOON(CHECK_OK(kvo_add_observer(as_object(object), &observer, &id)));
  SOON(item_set_value(object, 3));
  CHECK_EQ(w.calls, 1);
  SOON(CHECK_OK(kvo_remove_observer(id)));
  object->next = NULL;
  item_destroy(object);
  free(path);
}

TEST("a key path of a hundred thousand keys, each of an object of its own, is observed") {
  enum { OBJECTS = 20000 };
  item **chain = malloc(OBJECTS * sizeof *chain);
  for (int i = 0; i < OBJECTS; i++) {
    chain[i] = item_make(i);
    if (i > 0) chain[i - 1]->next = chain[i];
  }
  char *path = long_path("next", "value", OBJECTS - 1);
  watcher w = {0};
  kvo_observer observer = watcher_observer(path, KVO_NEW, &w);
  kvo_observation id;
  SOON(CHECK_OK(kvo_add_observer(as_object(chain[0]), &observer, &id)));
  SOON(item_set_value(chain[OBJECTS - 1], 3));
  CHECK_EQ(w.calls, 1);
  SOON(CHECK_OK(kvo_remove_observer(id)));
  for (int i = 0; i < OBJECTS; i++) item_destroy(chain[i]);
  free(chain);
  free(path);
}

TEST("a malformed key path of a megabyte is refused, at its end too") {
  item *object = item_make(1);
  char *dots = text_of_size(MEGABYTE, '.'), *late = text_of_size(MEGABYTE, 'k');
  late[MEGABYTE - 1] = '.';
  ignore_faults();
  const char *paths[] = {dots, late};
  for (int i = 0; i < 2; i++) {
    kvo_observer observer = {.struct_size = sizeof observer, .key_path = paths[i], .callback = ignore};
    SOON(CHECK_STATUS(kvo_add_observer(as_object(object), &observer, NULL), KVO_ERROR_MALFORMED_KEY_PATH));
    CHECK_EQ(faults.code, KVO_FAULT_MALFORMED_KEY_PATH);
    CHECK(strlen(faults.report) < 10000);
  }
  free(dots);
  free(late);
  item_destroy(object);
}

static int affected(const kvo_object *of) {
  (void)of;
  return 0;
}
static item *next_of(const kvo_object *of) { return ((const item *)of)->next; }

TEST("a property may be affected by a key path of a hundred thousand keys") {
  char *path = long_path("next", "sum", KEYS);
  const char *const paths[] = {path, NULL};
  kvo_property_spec properties[] = {
      {.name = "next", .type = "@", .getter = (kvo_function)next_of},
      {.name = "sum", .type = "i", .getter = (kvo_function)affected, .affected_by = paths}};
  kvo_class_spec spec = {.struct_size = sizeof spec,
                         .name = "Far",
                         .instance_size = sizeof(item),
                         .properties = properties,
                         .property_count = 2};
  kvo_class *cls;
  CHECK_OK(kvo_class_register(&spec, &cls));
  kvo_object *object;
  CHECK_OK(kvo_object_create(cls, &object));
  ((item *)object)->next = (item *)object;
  watcher w = {0};
  kvo_observer observer = watcher_observer("sum", KVO_NONE, &w);
  kvo_observation id;
  SOON(CHECK_OK(kvo_add_observer(object, &observer, &id)));
  CHECK_OK(kvo_remove_observer(id));
  kvo_object_destroy(object);
  free(path);
}

/* "{s=", 64 KB of repetitions of a piece, and "}". */
static char *many(const char *piece) {
  size_t length = strlen(piece), count = 65536 / length;
  char *text = malloc(4 + count * length + 1);
  memcpy(text, "{s=", 3);
  for (size_t i = 0; i < count; i++) memcpy(text + 3 + i * length, piece, length);
  strcpy(text + 3 + count * length, "}");
  return text;
}

TEST("type encodings of 64 KB are parsed in time proportional to their length") {
  static const char *const pieces[] = {"i", "[2i]",      "[4096c]", "{x=i}",     "^{x=[4096[4096i]]}",
                                       "r", "\"name\"i", "^^^v",    "[1[1[1i]]]"};
  for (size_t i = 0; i < sizeof pieces / sizeof *pieces; i++) {
    char *text = many(pieces[i]);
    size_t size;
    SOON((void)kvo_type_size(text, &size, NULL));
    free(text);
  }
}

TEST("an array's element type is parsed once, however many elements it has and however long its encoding is") {
  /* A name, a field name or a pointee of 64 KB, in an array of the maximum length. */
  static const char *const heads[] = {"{s=[7[4096{", "{s=[7[4096{s=\"", "{s=[15[4096^{", "{s=[30[30[30{"},
                           *const tails[] = {"=i}]]}", "\"i}]]}", "=i}]]}", "=i}]]]}"};
  static const size_t sizes[] = {7 * 4096 * sizeof(int), 7 * 4096 * sizeof(int), 15 * 4096 * sizeof(void *),
                                 30 * 30 * 30 * sizeof(int)};
  for (size_t i = 0; i < sizeof heads / sizeof *heads; i++) {
    char *name = text_of_size(65536, 'x'), *text = malloc(65536 + 100);
    snprintf(text, 65536 + 100, "%s%s%s", heads[i], name, tails[i]);
    size_t size = 0;
    SOON(CHECK_OK(kvo_type_size(text, &size, NULL)));
    CHECK_EQ(size, sizes[i]);
    free(name);
    free(text);
  }
}

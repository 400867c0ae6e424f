/* refusals.c - invalid registrations are refused with the right status, and leave and leak nothing. */
#include "allocator.h"
#include "fixture.h"

#include <kvo/kvo_binding.h>

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static void no_setter(kvo_object *of) { (void)of; }

static kvo_status try_type(const char *encoding) {
  kvo_property_spec properties[] = {{.name = "first", .type = "{p=dd}", .setter = (kvo_function)no_setter},
                                    {.name = "value", .type = encoding, .setter = (kvo_function)no_setter}};
  kvo_class_spec spec = {.struct_size = sizeof spec,
                         .name = "Refused",
                         .instance_size = sizeof(kvo_object),
                         .properties = properties,
                         .property_count = 2};
  kvo_class *cls = NULL;
  kvo_status status = kvo_class_register(&spec, &cls);
  if (status != KVO_OK) {
    CHECK_SAME(cls, NULL);
    CHECK_SAME(kvo_class_find("Refused"), NULL);
    CHECK_EQ((long)live_blocks, 0);
  }
  return status;
}

TEST("types without a portable calling convention are refused as unsupported") {
  static const char *const encodings[] = {"v",    "(u=if)",       "{s=(u=if)}", "b3",   "{s=ib3}", "{s}",
                                          "{s=}", "{s={e=}}",     "?",          "[4i]", "^",       "{s=v}",
                                          "jd",   "{s=[2(u=i)]}", "{s=i?}",     "t",    "T"};
  use_counting_allocator();
  for (size_t i = 0; i < sizeof encodings / sizeof *encodings; i++) {
    kvo_status expected = strcmp(encodings[i], "^") == 0 ? KVO_ERROR_BAD_TYPE_ENCODING : KVO_ERROR_UNSUPPORTED_SETTER;
    if (try_type(encodings[i]) != expected)
      harness_fail(__FILE__, __LINE__, "\"%s\": %s", encodings[i], kvo_status_string(try_type(encodings[i])));
  }
}

TEST("malformed encodings are refused") {
  static const char *const encodings[] = {
      "",      "x",   "i ",    " i",      "ii",        "{",       "}",       "{s",          "{s=",  "{s=i", "{s=i}}",
      "{s=i]", "{=",  "{s=[}", "{s=[2]}", "{s=[0i]}",  "{s=[i]}", "{s=[2i}", "{s=[-1i]}",   "r",    "rr",   "^x",
      "^{s",   "^(u", "^[2i",  "{s=\"a}", "{s=\"a\"}", "i4",      "\xff",    "{\xff=\xff}", "{s=i)"};
  use_counting_allocator();
  for (size_t i = 0; i < sizeof encodings / sizeof *encodings; i++)
    if (try_type(encodings[i]) != KVO_ERROR_BAD_TYPE_ENCODING)
      harness_fail(__FILE__, __LINE__, "\"%s\": %s", encodings[i], kvo_status_string(try_type(encodings[i])));
}

TEST("arrays whose size overflows, alone or multiplied, are refused at once") {
  use_counting_allocator();
  static const char *const encodings[] = {"{s=[18446744073709551616C]}",    "{s=[4294967297i]}",
                                          "{s=[99999999999999999999999i]}", "{s=[4096[4096[4096[4096[4096c]]]]]}",
                                          "{s=[4096[4096c]][4096[4096c]]}", "{s=[16[4096c]]}"};
  for (size_t i = 0; i < sizeof encodings / sizeof *encodings; i++)
    CHECK_STATUS(try_type(encodings[i]), KVO_ERROR_UNSUPPORTED_SETTER);
  CHECK_OK(try_type("{s=[15[4096c]]}"));
}

TEST("the largest type that is accepted has 65536 parts, and 4096 elements in an array") {
  static const char *const accepted[] = {"{x=[4096c]}", "{x=[15[4096c]][4078c]}", "{x=[15[4096c]][4077c]c}"};
  static const char *const refused[] = {"{x=[4097c]}", "{x=[15[4096c]][4079c]}", "{x=[15[4096c]][4077c]cc}"};
  /* The structure, the outer array, 15 inner ones with their elements, and an array with its elements. */
  for (size_t i = 0; i < sizeof accepted / sizeof *accepted; i++) {
    CHECK_OK(kvo_type_size(accepted[i], NULL, NULL));
    CHECK_STATUS(try_type(refused[i]), KVO_ERROR_UNSUPPORTED_SETTER);
  }
}

TEST("structures nested deeper than the limit are refused without overflowing the stack") {
  use_counting_allocator();
  enum { DEPTH = 100000 };
  char *deep = malloc(3 * DEPTH + DEPTH + 2), *at = deep;
  for (int i = 0; i < DEPTH; i++, at += 3) memcpy(at, "{s=", 3);
  *at++ = 'i';
  for (int i = 0; i < DEPTH; i++) *at++ = '}';
  *at = '\0';
  CHECK_STATUS(try_type(deep), KVO_ERROR_BAD_TYPE_ENCODING);
  memset(deep, '^', DEPTH);
  memcpy(deep + DEPTH, "v", 2);
  CHECK_STATUS(try_type(deep), KVO_ERROR_BAD_TYPE_ENCODING);
  memset(deep, 'r', DEPTH);
  memcpy(deep, "{s=", 3);
  memcpy(deep + DEPTH, "i}", 3);
  CHECK_STATUS(try_type(deep), KVO_ERROR_BAD_TYPE_ENCODING);
  free(deep);
}

/* ----------------------------------------------------------------------------------------------------------- Classes -- */

static kvo_status try_spec(kvo_class_spec spec) {
  kvo_class *cls = NULL;
  kvo_status status = kvo_class_register(&spec, &cls);
  if (status != KVO_OK) CHECK_SAME(cls, NULL);
  return status;
}

TEST("an inconsistent class spec is an invalid argument") {
  kvo_class *item = item_class();
  kvo_property_spec dotted = {.name = "a.b", .type = "i"}, empty = {.name = "", .type = "i"}, untyped = {.name = "a"},
                    flagged = {.name = "a", .type = "i", .flags = 1u << 31};
  kvo_class_spec good = {.struct_size = sizeof good, .name = "Good", .instance_size = sizeof(kvo_object)}, bad;
  kvo_class *out;
  CHECK_STATUS(kvo_class_register(NULL, &out), KVO_ERROR_INVALID_ARGUMENT);
  CHECK_STATUS(kvo_class_register(&good, NULL), KVO_ERROR_INVALID_ARGUMENT);
#define REFUSE(change)                                                                                                 \
  bad = good;                                                                                                          \
  change;                                                                                                              \
  CHECK_STATUS(try_spec(bad), KVO_ERROR_INVALID_ARGUMENT)
  REFUSE(bad.struct_size = 8);
  REFUSE(bad.name = NULL);
  REFUSE(bad.name = "");
  REFUSE(bad.instance_size = sizeof(kvo_object) - 1);
  REFUSE(bad.property_count = 1);
  REFUSE((bad.property_count = 1, bad.properties = &dotted));
  REFUSE((bad.property_count = 1, bad.properties = &empty));
  REFUSE((bad.property_count = 1, bad.properties = &untyped));
  REFUSE((bad.property_count = 1, bad.properties = &flagged));
  REFUSE(bad.superclass = item); /* smaller than the superclass */
#undef REFUSE
  CHECK_SAME(kvo_class_find("Good"), NULL);
  CHECK_OK(try_spec(good));
  CHECK(kvo_class_find("Good") != NULL);
}

TEST("the name of a class is unique") {
  kvo_class_spec spec = {.struct_size = sizeof spec, .name = "Item", .instance_size = sizeof(kvo_object)};
  kvo_class *first = item_class();
  CHECK_STATUS(try_spec(spec), KVO_ERROR_DUPLICATE_CLASS);
  CHECK_SAME(kvo_class_find("Item"), first);
}

TEST("a key is unique within a class and its superclasses") {
  kvo_property_spec twice[] = {{.name = "a", .type = "i"}, {.name = "a", .type = "d"}};
  kvo_property_spec inherited = {.name = "value", .type = "i"};
  kvo_class_spec spec = {.struct_size = sizeof spec,
                         .name = "Twice",
                         .instance_size = sizeof(item),
                         .properties = twice,
                         .property_count = 2};
  CHECK_STATUS(try_spec(spec), KVO_ERROR_DUPLICATE_KEY);
  spec.properties = &inherited;
  spec.property_count = 1;
  spec.superclass = item_class();
  CHECK_STATUS(try_spec(spec), KVO_ERROR_DUPLICATE_KEY);
  CHECK_SAME(kvo_class_find("Twice"), NULL);
}

TEST("a class of C cannot inherit from a binding's, whose instances have no size") {
  kvo_class *bound, *out = NULL;
  CHECK_OK(kvo_binding_class_register("Bound", NULL, 0, NULL, 0, &bound));
  kvo_class_spec spec = {
      .struct_size = sizeof spec, .name = "OfC", .instance_size = sizeof(kvo_object), .superclass = bound};
  CHECK_STATUS(kvo_class_register(&spec, &out), KVO_ERROR_INVALID_ARGUMENT);
  CHECK_SAME(out, NULL);
  CHECK_SAME(kvo_class_find("OfC"), NULL);
}

static void *bound_copy(void *instance, void *user, const kvo_selection *selection) {
  (void)instance, (void)user, (void)selection;
  return NULL;
}
static void bound_release(void *value, void *user) { (void)value, (void)user; }
static void bound_view(const void *value, void *user, kvo_value_reader reader, void *arg) {
  (void)value, (void)user, (void)reader, (void)arg;
}
static kvo_status bound_assign(void *instance, void *user, const kvo_value *value) {
  (void)instance, (void)user, (void)value;
  return KVO_ERROR_READ_ONLY;
}

TEST("a binding's class with a bad property is refused, whichever it is, and leaves nothing behind") {
  static const kvo_value_ops ops = {bound_copy, bound_release, bound_view, bound_assign, NULL};
  static const char *const good_paths[] = {"first", NULL}, *const bad_paths[] = {"first", "a..b", NULL};
  use_counting_allocator();
  for (size_t bad = 0; bad < 3; bad++)
    for (int way = 0; way < 3; way++) {
      kvo_binding_property properties[] = {{.name = "first", .type = "i", .ops = &ops, .affected_by = good_paths},
                                           {.name = "second", .type = "i", .ops = &ops, .affected_by = good_paths},
                                           {.name = "third", .type = "i", .ops = &ops, .affected_by = good_paths}};
      if (way == 0) properties[bad].type = NULL;
      if (way == 1) properties[bad].affected_by = bad_paths;
      if (way == 2) properties[bad].name = properties[(bad + 1) % 3].name;
      static const kvo_status expected[] = {KVO_ERROR_INVALID_ARGUMENT, KVO_ERROR_MALFORMED_KEY_PATH,
                                            KVO_ERROR_DUPLICATE_KEY};
      kvo_class *out = NULL;
      CHECK_STATUS(kvo_binding_class_register("Refused", NULL, 0, properties, 3, &out), expected[way]);
      CHECK_SAME(out, NULL);
      CHECK_SAME(kvo_class_find("Refused"), NULL);
      CHECK_EQ((long)live_blocks, 0);
    }
}

TEST("a malformed key path among those that affect a property is refused") {
  static const char *const bad[] = {"a..b", NULL};
  kvo_property_spec property = {.name = "a", .type = "i", .affected_by = bad};
  kvo_class_spec spec = {.struct_size = sizeof spec,
                         .name = "Affected",
                         .instance_size = sizeof(kvo_object),
                         .properties = &property,
                         .property_count = 1};
  use_counting_allocator();
  CHECK_STATUS(try_spec(spec), KVO_ERROR_MALFORMED_KEY_PATH);
  CHECK_EQ((long)live_blocks, 0);
}

TEST("a notifying class can have neither instances nor subclasses made by the program") {
  item *object = item_make(0);
  watcher w = {0};
  watch(object, "value", KVO_NONE, &w);
  kvo_class *notifying = kvo_object_isa(as_object(object));
  kvo_object *made = NULL, memory;
  CHECK_STATUS(kvo_object_create(notifying, &made), KVO_ERROR_INVALID_ARGUMENT);
  CHECK_SAME(made, NULL);
  CHECK_STATUS(kvo_object_init(&memory, notifying), KVO_ERROR_INVALID_ARGUMENT);
  kvo_class_spec spec = {
      .struct_size = sizeof spec, .name = "Sub", .superclass = notifying, .instance_size = sizeof(item)};
  CHECK_STATUS(try_spec(spec), KVO_ERROR_INVALID_ARGUMENT);
  CHECK_OK(kvo_remove_observer(w.id));
  item_destroy(object);
}

TEST_REPORTED("NULL and unknown arguments of registration and removal are refused with faults that name them") {
  ignore_faults();
  item *object = item_make(0);
  watcher w = {0};
  kvo_observer good = watcher_observer("value", KVO_NONE, &w), bad;
  CHECK_STATUS(kvo_add_observer(NULL, &good, NULL), KVO_ERROR_INVALID_ARGUMENT);
  CHECK_CONTAINS(faults.summary, "KVO0008 fatal: kvo_add_observer: object is NULL");
  CHECK_STATUS(kvo_add_observer(as_object(object), NULL, NULL), KVO_ERROR_INVALID_ARGUMENT);
#define REFUSE(change)                                                                                                 \
  bad = good;                                                                                                          \
  change;                                                                                                              \
  CHECK_STATUS(kvo_add_observer(as_object(object), &bad, NULL), KVO_ERROR_INVALID_ARGUMENT)
  REFUSE(bad.struct_size = 4);
  REFUSE(bad.key_path = NULL);
  CHECK_CONTAINS(faults.summary, "observer->key_path is NULL");
  REFUSE(bad.callback = NULL);
  REFUSE(bad.options = (kvo_options)(1 << 20));
#undef REFUSE
  kvo_object no_object = {0};
  CHECK_STATUS(kvo_add_observer(&no_object, &good, NULL), KVO_ERROR_INVALID_ARGUMENT);
  CHECK_CONTAINS(faults.summary, "KVO0012 fatal: cannot observe \"value\" of 0x");
  CHECK_STATUS(kvo_will_change(NULL, "value"), KVO_ERROR_INVALID_ARGUMENT);
  CHECK_STATUS(kvo_did_change(as_object(object), NULL), KVO_ERROR_INVALID_ARGUMENT);
  CHECK_STATUS(kvo_cancel_observer(0), KVO_ERROR_NOT_REGISTERED);
  CHECK(!kvo_object_is_observed(as_object(object)));
  CHECK_EQ(faults.count, 9);
  CHECK_EQ(w.destroyed, 0);
  item_destroy(object);
}

/* ------------------------------------------------------------------------------------------------------ Many properties -- */

static kvo_status register_many(const char *name, kvo_class *superclass, const char *prefix, size_t count,
                                kvo_class **out) {
  char(*names)[32] = calloc(count, sizeof *names);
  kvo_property_spec *properties = calloc(count, sizeof *properties);
  for (size_t i = 0; i < count; i++) {
    snprintf(names[i], sizeof names[i], "%s%zu", prefix, i);
    properties[i] = (kvo_property_spec){.name = names[i], .type = "i"};
  }
  kvo_class_spec spec = {.struct_size = sizeof spec,
                         .name = name,
                         .superclass = superclass,
                         .instance_size = sizeof(kvo_object),
                         .properties = properties,
                         .property_count = count};
  kvo_status status = kvo_class_register(&spec, out);
  free(names);
  free(properties);
  return status;
}

TEST("a class has at most 65534 properties, with those that it inherits") {
  ignore_faults();
  kvo_class *base, *derived, *none;
  CHECK_STATUS(register_many("TooMany", NULL, "p", 65535, &none), KVO_ERROR_INVALID_ARGUMENT);
  CHECK_OK(register_many("Base", NULL, "p", 32767, &base));
  CHECK_STATUS(register_many("DerivedTooMany", base, "q", 32768, &none), KVO_ERROR_INVALID_ARGUMENT);
  CHECK_OK(register_many("Derived", base, "q", 32767, &derived));
  CHECK_EQ(kvo_class_property_count(derived), 65534);
  CHECK(kvo_class_property(derived, "p32766") != NULL);
  CHECK(kvo_class_property(derived, "q32766") != NULL);
}

TEST_REPORTED("KVO_SET of an object that has been finished is KVO0012: it is not an object") {
  ignore_faults();
  static item memory;
  CHECK_OK(kvo_object_init(as_object(&memory), item_class()));
  kvo_object_finish(as_object(&memory));
  item_set_value(&memory, 3);
  CHECK_EQ((int)faults.code, KVO_FAULT_UNSUPPORTED_OBJECT);
  CHECK_CONTAINS(faults.summary, "KVO0012 fatal: KVO_SET of 0x");
  CHECK_EQ(faults.count, 1);
}

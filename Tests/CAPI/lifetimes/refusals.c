/* refusals.c - invalid registrations are refused with the right status, and leave and leak nothing. */
#include "allocator.h"
#include "fixture.h"

/* ------------------------------------------------------------------------------------------------------- Types -- */

static void no_setter(kvo_object *of) {}

static void check_type(const char *encoding, kvo_status expected) {
  kvo_property_spec properties[] = {{.name = "first", .type = "{p=dd}", .setter = (kvo_function)no_setter},
                                    {.name = "value", .type = encoding, .setter = (kvo_function)no_setter}};
  kvo_class_spec spec = {.struct_size = sizeof spec,
                         .name = "Refused",
                         .instance_size = sizeof(kvo_object),
                         .properties = properties,
                         .property_count = 2};
  kvo_class *cls = NULL;
  kvo_status status = kvo_class_register(&spec, &cls);
  if (status != expected) harness_fail(__FILE__, __LINE__, "\"%s\": %s", encoding, kvo_status_string(status));
  if (status == KVO_OK) return;
  CHECK_SAME(cls, NULL);
  CHECK_SAME(kvo_class_find("Refused"), NULL);
  CHECK_EQ((long)live_blocks, 0);
}

static void check_types(const char *const *encodings, size_t count, kvo_status expected) {
  use_counting_allocator();
  for (size_t i = 0; i < count; i++) check_type(encodings[i], expected);
}

TEST("types without a portable calling convention are refused as unsupported") {
  static const char *const encodings[] = {"v",      "(u=if)",   "{s=(u=if)}", "b3",   "{s=ib3}", "{s}",
                                          "{s=}",   "{s={e=}}", "?",          "[4i]", "jd",      "{s=[2(u=i)]}",
                                          "{s=i?}", "t",        "T",          "{s=v}"};
  check_types(encodings, sizeof encodings / sizeof *encodings, KVO_ERROR_UNSUPPORTED_SETTER);
}

TEST("malformed encodings are refused") {
  static const char *const encodings[] = {
      "",      "x",   "i ",    " i",      "ii",        "{",       "}",       "{s",          "{s=",   "{s=i", "{s=i}}",
      "{s=i]", "{=",  "{s=[}", "{s=[2]}", "{s=[0i]}",  "{s=[i]}", "{s=[2i}", "{s=[-1i]}",   "r",     "rr",   "^x",
      "^{s",   "^(u", "^[2i",  "{s=\"a}", "{s=\"a\"}", "i4",      "\xff",    "{\xff=\xff}", "{s=i)", "^"};
  check_types(encodings, sizeof encodings / sizeof *encodings, KVO_ERROR_BAD_TYPE_ENCODING);
}

TEST("types with more than 65536 parts, or 4096 elements in an array, are refused at once") {
  static const char *const largest[] = {"{x=[4096c]}", "{x=[15[4096c]][4078c]}", "{x=[15[4096c]][4077c]c}"};
  static const char *const too_large[] = {
      "{x=[4097c]}", "{x=[15[4096c]][4079c]}", "{x=[15[4096c]][4077c]cc}", "{s=[16[4096c]]}",
      /* Sizes that overflow, alone or multiplied. */
      "{s=[18446744073709551616C]}", "{s=[99999999999999999999999i]}", "{s=[4096[4096[4096[4096[4096c]]]]]}"};
  for (size_t i = 0; i < sizeof largest / sizeof *largest; i++) CHECK_OK(kvo_type_size(largest[i], NULL, NULL));
  check_types(too_large, sizeof too_large / sizeof *too_large, KVO_ERROR_UNSUPPORTED_SETTER);
}

/* ----------------------------------------------------------------------------------------------------- Classes -- */

static void check_spec(kvo_class_spec spec, kvo_status expected) {
  kvo_class *cls = NULL;
  long before = live_blocks;
  spec.struct_size = sizeof spec;
  CHECK_STATUS(kvo_class_register(&spec, &cls), expected);
  if (expected == KVO_OK) return;
  CHECK_SAME(cls, NULL);
  CHECK_EQ((long)live_blocks, before);
}

TEST("names of classes are unique, and keys within a class and its superclasses") {
  static const kvo_property_spec twice[] = {{.name = "a", .type = "i"}, {.name = "a", .type = "d"}};
  static const kvo_property_spec inherited = {.name = "value", .type = "i"};
  kvo_class *item = item_class();
  check_spec((kvo_class_spec){.name = "Item", .instance_size = sizeof(kvo_object)}, KVO_ERROR_DUPLICATE_CLASS);
  CHECK_SAME(kvo_class_find("Item"), item);
  kvo_class_spec spec = {
      .name = "Twice", .instance_size = sizeof(struct item), .properties = twice, .property_count = 2};
  check_spec(spec, KVO_ERROR_DUPLICATE_KEY);
  spec.properties = &inherited;
  spec.property_count = 1;
  spec.superclass = item;
  check_spec(spec, KVO_ERROR_DUPLICATE_KEY);
  CHECK_SAME(kvo_class_find("Twice"), NULL);
}

TEST("a malformed key path among those that affect a property is refused, and leaves nothing behind") {
  static const char *const bad[] = {"a..b", NULL};
  kvo_property_spec property = {.name = "a", .type = "i", .affected_by = bad};
  use_counting_allocator();
  check_spec(
      (kvo_class_spec){
          .name = "Affected", .instance_size = sizeof(kvo_object), .properties = &property, .property_count = 1},
      KVO_ERROR_MALFORMED_KEY_PATH);
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
  check_spec((kvo_class_spec){.name = "Sub", .superclass = notifying, .instance_size = sizeof(item)},
             KVO_ERROR_INVALID_ARGUMENT);
  CHECK_OK(kvo_remove_observer(w.id));
  item_destroy(object);
}

/* coding_values.c - key-value coding: values that are set through a binding, large structures, and what refusals say. */
#include "basket.h"

#include <kvo/kvo_binding.h>

#include <stdio.h>
#include <string.h>

/* -------------------------------------------------------------------------------------------------------- A binding -- */

/* What the binding's setter got. */
static struct {
  char type[16];
  bool is_nil;
  double number;
} assigned;

static void *copy(void *instance, void *user, const kvo_selection *selection) {
  (void)instance, (void)user, (void)selection;
  return NULL;
}
static void release(void *value, void *user) { (void)value, (void)user; }
static void view(const void *value, void *user, kvo_value_reader reader, void *arg) {
  (void)value, (void)user, (void)reader, (void)arg;
}
static kvo_status assign(void *instance, void *user, const kvo_value *value) {
  (void)instance, (void)user;
  snprintf(assigned.type, sizeof assigned.type, "%s", value->type);
  assigned.is_nil = value->bytes == NULL;
  assigned.number = 0;
  if (!assigned.is_nil && value->type[0] != '*') CHECK_OK(kvo_value_double(value, &assigned.number));
  return KVO_OK;
}

TEST("a binding gets numbers in the type of its property, and what is no number as it was given") {
  static const kvo_value_ops ops = {copy, release, view, assign, NULL};
  const kvo_binding_property properties[] = {{.name = "real", .type = "d", .ops = &ops},
                                             {.name = "any", .type = "?", .ops = &ops}};
  kvo_class *cls;
  kvo_object object;
  kvo_value nil = {"q", sizeof(int64_t), NULL};
  CHECK_OK(kvo_binding_class_register("Bound", NULL, 0, properties, 2, &cls));
  CHECK_OK(kvo_object_init(&object, cls));
  CHECK_OK(kvo_set_int64(&object, "real", 7));
  CHECK_EQ((const char *)assigned.type, "d");
  CHECK_EQ(assigned.number, 7.0);
  CHECK_OK(kvo_set_string(&object, "real", "seven"));
  CHECK_EQ((const char *)assigned.type, "*");
  CHECK_OK(kvo_set_value(&object, "real", &nil));
  CHECK_EQ((const char *)assigned.type, "q");
  CHECK(assigned.is_nil);
  CHECK_OK(kvo_set_int64(&object, "any", 8));
  CHECK_EQ((const char *)assigned.type, "q");
  CHECK_EQ(assigned.number, 8.0);
  kvo_object_finish(&object);
}

/* ----------------------------------------------------------------------------------------------------- A structure -- */

typedef struct large {
  double parts[10];
} large;

typedef struct holder {
  kvo_object header;
  large value;
} holder;

#define LARGE "{large=[10d]}"

TEST("a large structure is set as a whole, by a value of the same type only") {
  kvo_property_spec property = {
      .name = "value", .type = LARGE, .flags = KVO_PROPERTY_AT_OFFSET, .offset = offsetof(holder, value)};
  kvo_class_spec spec = {.struct_size = sizeof spec,
                         .name = "Holder",
                         .instance_size = sizeof(holder),
                         .properties = &property,
                         .property_count = 1,
                         .property_size = sizeof property};
  kvo_class *cls;
  kvo_object *made;
  CHECK_OK(kvo_class_register(&spec, &cls));
  CHECK_OK(kvo_object_create(cls, &made));
  holder *object = (holder *)made;
  large one = {{1, 2, 3, 4, 5, 6, 7, 8, 9, 10}}, other = {{-1}};
  kvo_value value = {LARGE, sizeof one, &one};
  CHECK_OK(kvo_set_value(made, "value", &value));
  CHECK_BYTES(&object->value, &one, sizeof one);
  const kvo_value wrong[] = {{"{small=[10d]}", sizeof other, &other},
                             {LARGE, sizeof other - sizeof(double), &other},
                             {LARGE, sizeof other, NULL},
                             {"d", sizeof(double), &other}};
  for (size_t i = 0; i < sizeof wrong / sizeof *wrong; i++) {
    CHECK_STATUS(kvo_set_value(made, "value", &wrong[i]), KVO_ERROR_TYPE_MISMATCH);
    CHECK_CONTAINS(kvo_last_error(), "property 'value' of class 'Holder' has the type \"" LARGE "\"");
  }
  CHECK_BYTES(&object->value, &one, sizeof one);
  value = (kvo_value){"r" LARGE, sizeof other, &other};
  CHECK_OK(kvo_set_value(made, "value", &value));
  CHECK_BYTES(&object->value, &other, sizeof other);
  kvo_object_destroy(made);
}

/* --------------------------------------------------------------------------------------------------------- Refusals -- */

TEST("a key that is no list, or no set, is named with its class") {
  basket *object = basket_make("b", 0);
  size_t count;
#define SAID(text, call)                                                                                               \
  CHECK_STATUS(call, KVO_ERROR_TYPE_MISMATCH);                                                                         \
  CHECK_EQ(kvo_last_error(), text)
  SAID("kvo_list_insert: key 'total' of class 'Basket': it is not a list",
       kvo_list_insert(as_kvo(object), "total", 0, VALUE("d", double, 1)));
  SAID("kvo_list_remove: key 'tags' of class 'Basket': it is not a list", kvo_list_remove(as_kvo(object), "tags", 0));
  SAID("kvo_members_add: key 'total' of class 'Basket': it is not a set",
       kvo_members_add(as_kvo(object), "total", VALUE("d", double, 1)));
  SAID("kvo_members_remove: key 'prices' of class 'Basket': it is not a set",
       kvo_members_remove(as_kvo(object), "prices", VALUE("d", double, 1)));
  SAID("kvo_list_count: key 'total' of class 'Basket': it is not a list",
       kvo_list_count(as_kvo(object), "total", &count));
  SAID("kvo_members_count: key 'total' of class 'Basket': it is not a set",
       kvo_members_count(as_kvo(object), "total", &count));
#undef SAID
  basket_destroy(object);
}

TEST("what an accessor of the program refuses is told with the function, the key and the class") {
  basket *object = basket_make("b", 0);
  char expected[128];
  object->allowed = 0;
  CHECK_STATUS(kvo_list_insert(as_kvo(object), "prices", 0, VALUE("d", double, 1)), KVO_ERROR_BUSY);
  snprintf(expected, sizeof expected, "kvo_list_insert: key 'prices' of class 'Basket': %s",
           kvo_status_string(KVO_ERROR_BUSY));
  CHECK_EQ(kvo_last_error(), (const char *)expected);
  object->allowed = 0;
  CHECK_STATUS(kvo_members_add(as_kvo(object), "tags", VALUE("i", int, 1)), KVO_ERROR_BUSY);
  snprintf(expected, sizeof expected, "kvo_members_add: key 'tags' of class 'Basket': %s",
           kvo_status_string(KVO_ERROR_BUSY));
  CHECK_EQ(kvo_last_error(), (const char *)expected);
  basket_destroy(object);
}

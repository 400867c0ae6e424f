/* described.c - what a class's description has to be, what refusals say, and structures of other versions. */
#include "fixture.h"

#include <string.h>

typedef struct plain {
  kvo_object header;
  double real;
  int value, status;
} plain;

#define AT(key, encoding, member)                                                                                      \
  { .name = key, .type = encoding, .flags = KVO_PROPERTY_AT_OFFSET, .offset = offsetof(plain, member) }

static void ignore(const kvo_change *change, void *user_data) { (void)change, (void)user_data; }

static void set_anything(void) {}

static void check_refused(kvo_property_spec property, kvo_status status, const char *text) {
  kvo_class_spec spec = {.struct_size = sizeof spec,
                         .name = "Wrong",
                         .instance_size = sizeof(plain),
                         .properties = &property,
                         .property_count = 1,
                         .property_size = sizeof property};
  kvo_class *cls = NULL;
  CHECK_STATUS(kvo_class_register(&spec, &cls), status);
  CHECK_CONTAINS(kvo_last_error(), "property 'wrong' of class 'Wrong'");
  CHECK_CONTAINS(kvo_last_error(), text);
  CHECK_SAME(kvo_class_find("Wrong"), NULL);
}

TEST("what cannot be described is refused at registration, with the property's name and the reason") {
  const kvo_function set = (kvo_function)set_anything;
#define WRONG_OF(encoding, status, text, ...)                                                                          \
  check_refused((kvo_property_spec){.name = "wrong", .type = encoding, .setter = set, __VA_ARGS__}, status, text)
#define WRONG(status, text, ...) WRONG_OF("i", status, text, __VA_ARGS__)
  WRONG(KVO_ERROR_UNSUPPORTED_SETTER, "void, bool or int", .setter_type = "d@i");
  WRONG(KVO_ERROR_UNSUPPORTED_SETTER, "void, bool or int", .setter_type = "");
  WRONG(KVO_ERROR_UNSUPPORTED_SETTER, "the object", .setter_type = "v");
  WRONG(KVO_ERROR_UNSUPPORTED_SETTER, "the object", .setter_type = "vi@");
  WRONG(KVO_ERROR_UNSUPPORTED_SETTER, "property's type", .setter_type = "v@");
  WRONG(KVO_ERROR_UNSUPPORTED_SETTER, "property's type", .setter_type = "v@d");
  WRONG(KVO_ERROR_UNSUPPORTED_SETTER, "four further", .setter_type = "v@iiiiii");
  WRONG(KVO_ERROR_UNSUPPORTED_SETTER, "too large", .setter_type = "v@i{s=[257c]}");
  WRONG(KVO_ERROR_UNSUPPORTED_SETTER, "unions", .setter_type = "v@i(u=if)");
  WRONG(KVO_ERROR_BAD_TYPE_ENCODING, "malformed", .setter_type = "v@i!");
  WRONG_OF("", KVO_ERROR_BAD_TYPE_ENCODING, "ends too early", .flags = 0);
  WRONG_OF("b3", KVO_ERROR_UNSUPPORTED_SETTER, "bit fields are not supported", .flags = 0);
  WRONG_OF("{s=ib3}", KVO_ERROR_UNSUPPORTED_SETTER, "bit fields are not supported", .flags = 0);
  WRONG(KVO_ERROR_INVALID_ARGUMENT, "READ_ONLY", .flags = KVO_PROPERTY_READ_ONLY);
  WRONG(KVO_ERROR_INVALID_ARGUMENT, "within the instance", .flags = KVO_PROPERTY_AT_OFFSET);
  WRONG(KVO_ERROR_INVALID_ARGUMENT, "within the instance", .flags = KVO_PROPERTY_AT_OFFSET,
        .offset = sizeof(plain) - 2);
  WRONG(KVO_ERROR_INVALID_ARGUMENT, "within the instance", .flags = KVO_PROPERTY_AT_OFFSET, .offset = SIZE_MAX);
  WRONG(KVO_ERROR_INVALID_ARGUMENT, "not aligned", .flags = KVO_PROPERTY_AT_OFFSET,
        .offset = offsetof(plain, value) + 1);
  WRONG(KVO_ERROR_INVALID_ARGUMENT, "unknown flags", .flags = 1u << 20);
}

TEST("the last error is a thread's own, and stays when a call succeeds") {
  CHECK_EQ(kvo_last_error(), "");
  CHECK_STATUS(kvo_type_size("b3", NULL, NULL), KVO_ERROR_BAD_TYPE_ENCODING);
  CHECK_CONTAINS(kvo_last_error(), "type encoding \"b3\": bit fields are not supported");
  CHECK_OK(kvo_type_size("i", NULL, NULL));
  CHECK_CONTAINS(kvo_last_error(), "\"b3\"");
}

static int get_value(const plain *of) { return of->value; }
static int get_status(const plain *of) { return of->status; }
static void set_value(plain *of, int value) { of->value = value; }

TEST("a class registered with the first version of the structures works as before") {
  struct first_property {
    const char *name, *type;
    kvo_function getter, setter;
    const char *const *affected_by;
    uint32_t flags;
  } properties[] = {{"value", "i", (kvo_function)get_value, (kvo_function)set_value, NULL, 0},
                    {"status", "i", (kvo_function)get_status, NULL, NULL, 0}};
  struct first_spec {
    size_t struct_size;
    const char *name;
    kvo_class *superclass;
    size_t instance_size;
    const void *properties;
    size_t property_count;
    void (*finalize)(kvo_object *);
  } spec = {sizeof spec, "First", NULL, sizeof(plain), properties, 2, NULL};
  kvo_class *cls;
  CHECK_OK(kvo_class_register((const kvo_class_spec *)(const void *)&spec, &cls));
  CHECK_EQ(kvo_class_property_count(cls), 2);
  CHECK_EQ(kvo_property_name(kvo_class_property_at(cls, 1)), "status");
  kvo_object *object;
  CHECK_OK(kvo_object_create(cls, &object));
  kvo_observer observer = {.struct_size = sizeof observer, .key_path = "value", .callback = ignore};
  kvo_observation id;
  CHECK_OK(kvo_add_observer(object, &observer, &id));
  CHECK_OK(KVO_SET(object, "value", int, 3));
  CHECK_EQ(((plain *)object)->value, 3);
  CHECK_OK(kvo_remove_observer(id));
  kvo_object_destroy(object);
}

TEST("structures of a later version are taken if the members that are unknown here are zero") {
  struct {
    kvo_property_spec known;
    void *later;
  } properties[] = {{AT("real", "d", real), NULL}, {AT("whole", "i", value), NULL}};
  struct {
    kvo_class_spec known;
    void *later;
  } spec = {{.struct_size = sizeof spec,
             .name = "Later",
             .instance_size = sizeof(plain),
             .properties = &properties[0].known,
             .property_count = 2,
             .property_size = sizeof *properties},
            NULL};
  kvo_class *cls;
  spec.later = &spec;
  CHECK_STATUS(kvo_class_register(&spec.known, &cls), KVO_ERROR_INVALID_ARGUMENT);
  spec.later = NULL;
  properties[1].later = &spec;
  CHECK_STATUS(kvo_class_register(&spec.known, &cls), KVO_ERROR_INVALID_ARGUMENT);
  properties[1].later = NULL;
  CHECK_OK(kvo_class_register(&spec.known, &cls));
  CHECK_EQ(kvo_property_name(kvo_class_property_at(cls, 1)), "whole");
  kvo_object *object;
  CHECK_OK(kvo_object_create(cls, &object));
  struct {
    kvo_observer known;
    void *later;
  } observer = {{.struct_size = sizeof observer, .key_path = "whole", .callback = ignore}, NULL};
  kvo_observation id;
  CHECK_OK(kvo_add_observer(object, &observer.known, &id));
  CHECK_OK(kvo_remove_observer(id));
  observer.later = &observer;
  ignore_faults();
  CHECK_STATUS(kvo_add_observer(object, &observer.known, &id), KVO_ERROR_INVALID_ARGUMENT);
  kvo_object_destroy(object);
}

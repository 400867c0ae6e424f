/* described.c - descriptions of classes: what is refused and why, structures of other versions, names and keys. */
#include "allocator.h"
#include "made.h"

#include <kvo/kvo_binding.h>

typedef struct plain {
  kvo_object header;
  double real;
  int value;
} plain;

/* --------------------------------------------------------------------------------------------------------- Refusals -- */

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
  CHECK_CONTAINS(kvo_last_error(), text); /* which a call that succeeds leaves as it is */
}

TEST("a property that cannot be described is refused at registration, with its name and the reason") {
#define WRONG_OF(encoding, status, text, ...)                                                                          \
  check_refused((kvo_property_spec){.name = "wrong", .type = encoding, __VA_ARGS__}, status, text)
#define WRONG_SETTER(text, encoding)                                                                                   \
  WRONG_OF("i", KVO_ERROR_UNSUPPORTED_SETTER, text, .setter = (kvo_function)set_anything, .setter_type = encoding)
#define WRONG(text, ...)                                                                                               \
  WRONG_OF("i", KVO_ERROR_INVALID_ARGUMENT, text, .setter = (kvo_function)set_anything, __VA_ARGS__)
  WRONG_SETTER("void, bool or int", "d@i");
  WRONG_SETTER("void, bool or int", "");
  WRONG_SETTER("the object", "v");
  WRONG_SETTER("the object", "vi@");
  WRONG_SETTER("property's type", "v@");
  WRONG_SETTER("property's type", "v@d");
  WRONG_SETTER("four further", "v@iiiiii");
  WRONG_SETTER("too large", "v@i{s=[257c]}");
  WRONG_SETTER("unions", "v@i(u=if)");
  WRONG_OF("i", KVO_ERROR_BAD_TYPE_ENCODING, "malformed", .setter = (kvo_function)set_anything, .setter_type = "v@i!");
  WRONG_OF("", KVO_ERROR_BAD_TYPE_ENCODING, "ends too early", .flags = 0);
  WRONG_OF("b3", KVO_ERROR_UNSUPPORTED_SETTER, "bit fields are not supported", .flags = 0);
  WRONG_OF("{s=ib3}", KVO_ERROR_UNSUPPORTED_SETTER, "bit fields are not supported", .flags = 0);
  WRONG_OF("i", KVO_ERROR_INVALID_ARGUMENT, "KVO_PROPERTY_COPIED is for strings with a getter",
           .getter = (kvo_function)set_anything, .flags = KVO_PROPERTY_COPIED);
  WRONG_OF("*", KVO_ERROR_INVALID_ARGUMENT, "KVO_PROPERTY_COPIED", .flags = KVO_PROPERTY_COPIED);
  WRONG_OF("*", KVO_ERROR_INVALID_ARGUMENT, "KVO_PROPERTY_COPIED", .offset = offsetof(plain, real),
           .flags = KVO_PROPERTY_COPIED | KVO_PROPERTY_AT_OFFSET);
  WRONG("READ_ONLY", .flags = KVO_PROPERTY_READ_ONLY);
  WRONG("within the instance", .flags = KVO_PROPERTY_AT_OFFSET);
  WRONG("within the instance", .flags = KVO_PROPERTY_AT_OFFSET, .offset = sizeof(plain) - 2);
  WRONG("within the instance", .flags = KVO_PROPERTY_AT_OFFSET, .offset = SIZE_MAX);
  WRONG("not aligned", .flags = KVO_PROPERTY_AT_OFFSET, .offset = offsetof(plain, value) - 1);
  WRONG("unknown flags", .flags = 1u << 20);
}

static void check_says(const kvo_class_spec *spec, const char *text) {
  kvo_class *out = NULL;
  CHECK(kvo_class_register(spec, &out) != KVO_OK);
  CHECK_SAME(out, NULL);
  CHECK_EQ(kvo_last_error(), text);
}

static size_t count_none(const kvo_object *object, void *user) { return 0; }
static void get_none(const kvo_object *object, size_t index, void *element, void *user) {}

TEST("a refused registration of a class says what is wrong with the description") {
  kvo_list_accessors list = {.struct_size = sizeof list, .count = count_none, .get_at = get_none};
  kvo_collection_spec collection = {.name = "a", .element_type = "i", .list = &list};
  const kvo_property_spec property = {.name = "b", .type = "i"};
  const kvo_class_spec good = {.struct_size = sizeof good, .name = "Bad", .instance_size = sizeof(kvo_object)};
  kvo_class_spec bad;
  kvo_class *bound;
  CHECK_OK(kvo_binding_class_register("Bound", NULL, 0, NULL, 0, &bound));
#define SAYS(text, ...) (bad = good, __VA_ARGS__, check_says(&bad, text))
  check_says(NULL, "kvo_class_register: spec or out is NULL");
  CHECK_STATUS(kvo_class_register(&good, NULL), KVO_ERROR_INVALID_ARGUMENT);
  SAYS("kvo_class_register: struct_size is not sizeof(kvo_class_spec)", bad.struct_size = 8);
  SAYS("class '': it has no name", bad.name = NULL);
  SAYS("class 'Bad': the superclass is not a class", bad.superclass = (kvo_class *)(uintptr_t)0xdead0);
  SAYS("class 'Bad': the superclass is a binding's", bad.superclass = bound);
  SAYS("class 'Bad': instance_size is smaller than the superclass's or than kvo_object",
       bad.instance_size = sizeof(kvo_object) - 1);
  SAYS("class 'Bad': properties is NULL", bad.property_count = 1);
  SAYS("class 'Bad': property_size is not sizeof(kvo_property_spec)", bad.properties = &property,
       bad.property_count = 1, bad.property_size = 1);
  SAYS("class 'Bad': property_size is not sizeof(kvo_property_spec)", bad.properties = &property,
       bad.property_count = 1, bad.property_size = sizeof property + 1);
  SAYS("class 'Bad': it has too many properties", bad.properties = &property, bad.property_count = UINT16_MAX);
  SAYS("class 'Bad': collections is NULL", bad.collection_count = 1);
  SAYS("class 'Bad': collection_size is not sizeof(kvo_collection_spec)", bad.collections = &collection,
       bad.collection_count = 1);
  SAYS("class 'Bad': the size of a collection's description is wrong", bad.collections = &collection,
       bad.collection_count = 1, bad.collection_size = sizeof collection + 1);
  SAYS("class 'Bad': it has too many properties", bad.collections = &collection, bad.collection_count = SIZE_MAX,
       bad.collection_size = sizeof collection);
  collection.element_type = NULL;
  SAYS("property 'a' of class 'Bad': its element type or its accessors are not valid", bad.collections = &collection,
       bad.collection_count = 1, bad.collection_size = sizeof collection);
  collection.element_type = "ii";
  SAYS("property 'a' of class 'Bad': malformed or unsupported type encoding", bad.collections = &collection,
       bad.collection_count = 1, bad.collection_size = sizeof collection);
#undef SAYS
}

/* ---------------------------------------------------------------------------------------------------- Other versions -- */

static int get_value(const plain *of) { return of->value; }
static void set_value(plain *of, int value) { of->value = value; }

TEST("a class registered with the first version of the structures works as before") {
  struct first_property {
    const char *name, *type;
    kvo_function getter, setter;
    const char *const *affected_by;
    uint32_t flags;
  } properties[] = {{"value", "i", (kvo_function)get_value, (kvo_function)set_value, NULL, 0},
                    {"status", "i", (kvo_function)get_value, NULL, NULL, 0}};
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
  int calls = 0;
  CHECK_OK(kvo_class_register((const kvo_class_spec *)(const void *)&spec, &cls));
  CHECK_EQ(kvo_class_property_count(cls), 2);
  CHECK_EQ(kvo_property_name(kvo_class_property_at(cls, 1)), "status");
  kvo_object *object = object_of(cls);
  count_changes(object, "value", KVO_NEW | KVO_ENDS_WITH_OBJECT, &calls);
  CHECK_OK(KVO_SET(object, "value", int, 3));
  CHECK(((plain *)object)->value == 3 && calls == 1);
  kvo_object_destroy(object);
}

static void ignore(const kvo_change *change, void *user_data) {}

TEST("structures of a later version are taken if the members that are unknown here are zero") {
  struct {
    kvo_property_spec known;
    void *later;
  } properties[] = {{AT_OFFSET(plain, real, "d"), NULL}, {AT_OFFSET(plain, value, "i"), NULL}};
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
  struct {
    kvo_observer known;
    void *later;
  } observer = {{.struct_size = sizeof observer, .key_path = "value", .callback = ignore}, NULL};
  kvo_class *cls;
  kvo_observation id;
  spec.later = &spec;
  CHECK_STATUS(kvo_class_register(&spec.known, &cls), KVO_ERROR_INVALID_ARGUMENT);
  spec.later = NULL;
  properties[1].later = &spec;
  CHECK_STATUS(kvo_class_register(&spec.known, &cls), KVO_ERROR_INVALID_ARGUMENT);
  properties[1].later = NULL;
  CHECK_OK(kvo_class_register(&spec.known, &cls));
  CHECK_EQ(kvo_property_name(kvo_class_property_at(cls, 1)), "value");
  kvo_object *object = object_of(cls);
  CHECK_OK(kvo_add_observer(object, &observer.known, &id));
  CHECK_OK(kvo_remove_observer(id));
  observer.later = &observer;
  ignore_faults();
  CHECK_STATUS(kvo_add_observer(object, &observer.known, &id), KVO_ERROR_INVALID_ARGUMENT);
  kvo_object_destroy(object);
}

/* ----------------------------------------------------------------------------------------------------- Names and keys -- */

TEST("classes of bindings that have one name are numbered, are found by these names, and take the same memory each") {
  static const char *const names[] = {"Twin", "Twin#2", "Twin#3", "Twin#4"};
  kvo_class *twins[4];
  long taken[4];
  use_counting_allocator();
  for (int i = 0; i < 4; i++) {
    long before = live_blocks;
    CHECK_OK(kvo_binding_class_register("Twin", NULL, 0, NULL, 0, &twins[i]));
    taken[i] = live_blocks - before;
    CHECK_EQ(kvo_class_name(twins[i]), names[i]);
  }
  for (int i = 0; i < 4; i++) CHECK_SAME(kvo_class_find(names[i]), twins[i]);
  for (int i = 2; i < 4; i++) CHECK_EQ(taken[i], taken[1]);
  CHECK_SAME(kvo_class_find("Twin#1"), NULL);
  CHECK_SAME(kvo_class_find("Twin#5"), NULL);
}

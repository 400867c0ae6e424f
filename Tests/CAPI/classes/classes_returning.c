/* classes_returning.c - what a class that is registered again takes over from the new description; names and refusals of registrations. */
#include "allocator.h"
#include "fixture.h"

#include <kvo/kvo_binding.h>
#include <string.h>

typedef struct small {
  kvo_object header;
  int value;
} small;

static int get_plain(const small *of) { return of->value; }
static int get_more(const small *of) { return of->value + 100; }
static void set_plain(small *of, int value) { of->value = value; }
static void set_doubled(small *of, int value) { of->value = 2 * value; }
static int get_given(const kvo_object *object, void *user) {
  (void)object;
  return *(int *)user;
}

static int finalized[2];
static void finalize_first(kvo_object *object) { (void)object, finalized[0]++; }
static void finalize_second(kvo_object *object) { (void)object, finalized[1]++; }

static void ignore(const kvo_change *change, void *user_data) { (void)change, (void)user_data; }

static kvo_observation observe_value(kvo_object *object) {
  kvo_observer observer = {.struct_size = sizeof observer, .key_path = "value", .callback = ignore};
  kvo_observation id;
  CHECK_OK(kvo_add_observer(object, &observer, &id));
  return id;
}

TEST("a class that returns has the new getters, setters, user data and finalize function, observed or not") {
  static int given[2] = {7, 8};
  kvo_class *first = NULL;
  for (int i = 0; i < 2; i++) {
    const kvo_property_spec properties[] = {{.name = "value",
                                             .type = "i",
                                             .getter = i == 0 ? (kvo_function)get_plain : (kvo_function)get_more,
                                             .setter = i == 0 ? (kvo_function)set_plain : (kvo_function)set_doubled},
                                            {.name = "given",
                                             .type = "i",
                                             .getter = (kvo_function)get_given,
                                             .flags = KVO_PROPERTY_WITH_USER,
                                             .user = &given[i]}};
    kvo_class_spec spec = {.struct_size = sizeof spec,
                           .name = "Small",
                           .instance_size = sizeof(small),
                           .properties = properties,
                           .property_count = 2,
                           .finalize = i == 0 ? finalize_first : finalize_second};
    kvo_class *cls;
    CHECK_OK(kvo_class_register(&spec, &cls));
    if (i == 0) first = cls;
    CHECK_SAME(cls, first);
    CHECK_SAME(kvo_property_user(kvo_class_property(cls, "given")), &given[i]);
    for (int is_observed = 0; is_observed < 2; is_observed++) {
      kvo_object *object;
      kvo_observation id = 0;
      int64_t number = 0;
      CHECK_OK(kvo_object_create(cls, &object));
      if (is_observed) id = observe_value(object);
      ((void (*)(kvo_object *, int))kvo_object_setter(object, "value"))(object, 5);
      CHECK_EQ(((small *)object)->value, i == 0 ? 5 : 10);
      CHECK_OK(kvo_get_int64(object, "value", &number));
      CHECK_EQ(number, i == 0 ? 5 : 110);
      CHECK_EQ(((int (*)(const kvo_object *))kvo_object_getter(object, "given"))(object), 7 + i);
      if (is_observed) CHECK_OK(kvo_remove_observer(id));
      kvo_object_destroy(object);
    }
    CHECK_EQ(finalized[i], 2);
    CHECK_OK(kvo_class_unregister(cls));
  }
  CHECK_EQ(finalized[0], 2);
}

static kvo_status answer(kvo_object *object, const char *key, kvo_value_reader reader, void *arg, void *user) {
  (void)object, (void)key;
  reader(&(kvo_value){"i", sizeof(int), user}, arg);
  return KVO_OK;
}

TEST("a class returns with hooks of its own or with those of its superclass, in any order, and keeps no memory") {
  static int answers[2] = {42, 43};
  use_counting_allocator();
  kvo_coding_hooks hooks[2] = {
      {.struct_size = sizeof hooks[0], .value_for_undefined_key = answer, .user = &answers[0]},
      {.struct_size = sizeof hooks[1], .value_for_undefined_key = answer, .user = &answers[1]}};
  kvo_class_spec base = {
      .struct_size = sizeof base, .name = "Base", .instance_size = sizeof(small), .coding = &hooks[0]};
  kvo_class *superclass;
  CHECK_OK(kvo_class_register(&base, &superclass));
  long before = 0;
  for (int round = 0; round < 16; round++) {
    bool has_own = round % 4 == 1 || round % 4 == 2;
    kvo_class_spec spec = {.struct_size = sizeof spec,
                           .name = "Derived",
                           .instance_size = sizeof(small),
                           .superclass = superclass,
                           .coding = has_own ? &hooks[1] : NULL};
    kvo_class *cls;
    kvo_object *object;
    int64_t number = 0;
    CHECK_OK(kvo_class_register(&spec, &cls));
    CHECK_OK(kvo_object_create(cls, &object));
    CHECK_OK(kvo_get_int64(object, "anything", &number));
    CHECK_EQ(number, has_own ? 43 : 42);
    kvo_object_destroy(object);
    CHECK_OK(kvo_class_unregister(cls));
    if (round == 3) before = live_blocks;
    if (round % 4 == 3) CHECK_EQ((long)live_blocks, before);
  }
  CHECK_OK(kvo_class_unregister(superclass));
}

/* ---------------------------------------------------------------------------------------------------- What is inherited -- */

TEST("a subclass has the setters and getters of the properties that it inherits, observed or not") {
  kvo_class_spec spec = {
      .struct_size = sizeof spec, .name = "SubItem", .superclass = item_class(), .instance_size = sizeof(item)};
  kvo_class *cls;
  kvo_object *object;
  item *plain = item_make(1);
  CHECK_OK(kvo_class_register(&spec, &cls));
  CHECK_OK(kvo_object_create(cls, &object));
  static const char *const keys[] = {"value", "other", "next", "name", "quiet"};
  for (int i = 0; i < 5; i++) {
    kvo_function setter = kvo_object_setter(as_object(plain), keys[i]);
    CHECK(setter != NULL);
    CHECK(kvo_object_setter(object, keys[i]) == setter);
    CHECK(kvo_object_property_setter(object, kvo_class_property(cls, keys[i])) == setter);
    CHECK(kvo_object_getter(object, keys[i]) == kvo_object_getter(as_object(plain), keys[i]));
  }
  CHECK(kvo_object_setter(object, "doubled") == NULL);
  watcher w = {0};
  watch((item *)object, "value", KVO_NEW, &w);
  ((void (*)(kvo_object *, int))kvo_object_setter(object, "value"))(object, 5);
  CHECK_EQ(w.new_value.integer, 5);
  CHECK_OK(kvo_remove_observer(w.id));
  kvo_object_destroy(object);
  item_destroy(plain);
}

TEST("the class of an observed object has the properties of the object's class") {
  item *object = item_make(1);
  watcher w = {0};
  watch(object, "value", KVO_NEW, &w);
  kvo_class *cls = item_class(), *isa = kvo_object_isa(as_object(object));
  CHECK(isa != cls);
  CHECK(!kvo_class_is_of_binding(isa));
  CHECK_EQ(kvo_class_property_count(isa), kvo_class_property_count(cls));
  for (size_t i = 0; i < kvo_class_property_count(cls); i++) {
    const kvo_property *property = kvo_class_property_at(cls, i);
    CHECK_SAME(kvo_class_property_at(isa, i), property);
    CHECK_SAME(kvo_class_property(isa, kvo_property_name(property)), property);
  }
  CHECK_SAME(kvo_class_property_at(isa, kvo_class_property_count(cls)), NULL);
  CHECK_OK(kvo_remove_observer(w.id));
  item_destroy(object);
}

static void collect(const kvo_fault_observation *observation, void *arg) {
  kvo_observation **next = arg;
  *(*next)++ = observation->observation;
}

TEST("two observations are enumerated oldest first, also if the older one is of a key that was observed later") {
  item *object = item_make(0);
  watcher w[3] = {{0}};
  watch(object, "value", KVO_NONE, &w[0]);
  watch(object, "other", KVO_NONE, &w[1]);
  CHECK_OK(kvo_remove_observer(w[0].id));
  watch(object, "value", KVO_NONE, &w[2]);
  kvo_observation all[3], *next = all;
  kvo_object_visit_observations(as_object(object), collect, &next);
  CHECK_EQ(next - all, 2);
  CHECK(all[0] == w[1].id);
  CHECK(all[1] == w[2].id);
  CHECK_OK(kvo_remove_observer(w[1].id));
  CHECK_OK(kvo_remove_observer(w[2].id));
  item_destroy(object);
}

/* --------------------------------------------------------------------------------------------------- Names and refusals -- */

TEST("classes of bindings that have one name are numbered, and are found by these names") {
  static const char *const names[] = {"Twin", "Twin#2", "Twin#3", "Twin#4"};
  kvo_class *twins[4];
  for (int i = 0; i < 4; i++) {
    CHECK_OK(kvo_binding_class_register("Twin", NULL, 0, NULL, 0, &twins[i]));
    CHECK_EQ(kvo_class_name(twins[i]), names[i]);
  }
  for (int i = 0; i < 4; i++) CHECK_SAME(kvo_class_find(names[i]), twins[i]);
  CHECK_SAME(kvo_class_find("Twin#1"), NULL);
  CHECK_SAME(kvo_class_find("Twin#5"), NULL);
}

TEST("a key whose hash would be 0 is found like any other, by its name and on a key path") {
  static const char key[] = "77kepQFQ8Kl"; /* its FNV-1a hash is 0 */
  const kvo_property_spec properties[] = {
      {.name = key, .type = "i", .flags = KVO_PROPERTY_AT_OFFSET, .offset = offsetof(small, value)}};
  kvo_class_spec spec = {.struct_size = sizeof spec,
                         .name = "Small",
                         .instance_size = sizeof(small),
                         .properties = properties,
                         .property_count = 1};
  kvo_class *cls;
  kvo_object *object;
  int64_t number = 0;
  CHECK_OK(kvo_class_register(&spec, &cls));
  CHECK_OK(kvo_object_create(cls, &object));
  CHECK(kvo_key_hash(key, strlen(key)) != KVO_KEY_LIFETIME);
  CHECK_EQ(kvo_property_name(kvo_class_property(cls, key)), key);
  CHECK_OK(KVO_SET(object, key, int, 5));
  CHECK_OK(kvo_get_int64(object, key, &number));
  CHECK_EQ(number, 5);
  kvo_object_destroy(object);
}

static void check_says(const kvo_class_spec *spec, const char *text) {
  kvo_class *out = NULL;
  CHECK(kvo_class_register(spec, &out) != KVO_OK);
  CHECK_SAME(out, NULL);
  CHECK_EQ(kvo_last_error(), text);
}

static size_t count_none(const kvo_object *object, void *user) {
  (void)object, (void)user;
  return 0;
}
static void get_none(const kvo_object *object, size_t index, void *element, void *user) {
  (void)object, (void)index, (void)element, (void)user;
}

TEST("a refused registration says what is wrong with the description") {
  kvo_list_accessors list = {.struct_size = sizeof list, .count = count_none, .get_at = get_none};
  kvo_collection_spec collection = {.name = "a", .element_type = "i", .list = &list};
  const kvo_property_spec property = {.name = "b", .type = "i"};
  const kvo_class_spec good = {.struct_size = sizeof good, .name = "Bad", .instance_size = sizeof(kvo_object)};
  kvo_class_spec bad;
  kvo_class *bound;
  CHECK_OK(kvo_binding_class_register("Bound", NULL, 0, NULL, 0, &bound));
#define SAYS(change, text) (bad = good, change, check_says(&bad, text))
  check_says(NULL, "kvo_class_register: spec or out is NULL");
  CHECK_STATUS(kvo_class_register(&good, NULL), KVO_ERROR_INVALID_ARGUMENT);
  CHECK_EQ(kvo_last_error(), "kvo_class_register: spec or out is NULL");
  SAYS(bad.struct_size = 8, "kvo_class_register: struct_size is not sizeof(kvo_class_spec)");
  SAYS(bad.name = NULL, "class '': it has no name");
  SAYS(bad.superclass = (kvo_class *)(uintptr_t)0xdead0, "class 'Bad': the superclass is not a class");
  SAYS(bad.property_count = 1, "class 'Bad': properties is NULL");
  SAYS((bad.properties = &property, bad.property_count = 1, bad.property_size = 1),
       "class 'Bad': property_size is not sizeof(kvo_property_spec)");
  SAYS((bad.properties = &property, bad.property_count = 1, bad.property_size = sizeof property + 1),
       "class 'Bad': property_size is not sizeof(kvo_property_spec)");
  SAYS(bad.collection_count = 1, "class 'Bad': collections is NULL");
  SAYS((bad.collections = &collection, bad.collection_count = 1),
       "class 'Bad': collection_size is not sizeof(kvo_collection_spec)");
  SAYS((bad.collections = &collection, bad.collection_count = 1, bad.collection_size = sizeof collection + 1),
       "class 'Bad': the size of a collection's description is wrong");
  SAYS((bad.properties = &property, bad.property_count = UINT16_MAX), "class 'Bad': it has too many properties");
  SAYS((bad.properties = &property, bad.property_count = 1, bad.collections = &collection,
        bad.collection_count = SIZE_MAX, bad.collection_size = sizeof collection),
       "class 'Bad': it has too many properties");
  SAYS(bad.instance_size = sizeof(kvo_object) - 1,
       "class 'Bad': instance_size is smaller than the superclass's or than kvo_object");
  SAYS(bad.superclass = bound, "class 'Bad': the superclass is a binding's");
  bad = good;
  bad.collections = &collection;
  bad.collection_count = 1;
  bad.collection_size = sizeof collection;
  collection.element_type = NULL;
  check_says(&bad, "property 'a' of class 'Bad': its element type or its accessors are not valid");
  collection.element_type = "ii";
  check_says(&bad, "property 'a' of class 'Bad': malformed or unsupported type encoding");
#undef SAYS
}

/* unregistering.c - classes can be unregistered when nothing of theirs lives, so that plug-ins can be loaded again. */
#include "allocator.h"
#include "fixture.h"

#include <dlfcn.h>
#include <pthread.h>
#include <string.h>

typedef struct small {
  kvo_object header;
  int value;
} small;

static int one_get(const small *of) { return of->value; }
static void one_set(small *of, int value) { of->value = value; }
static void two_set(small *of, int value) { of->value = 2 * value; }

static kvo_class *register_small(const char *name, const char *key, kvo_function set, kvo_class *superclass) {
  kvo_property_spec property = {.name = key, .type = "i", .getter = (kvo_function)one_get, .setter = set};
  kvo_class_spec spec = {.struct_size = sizeof spec,
                         .name = name,
                         .instance_size = sizeof(small),
                         .superclass = superclass,
                         .properties = &property,
                         .property_count = 1};
  kvo_class *cls = NULL;
  CHECK_OK(kvo_class_register(&spec, &cls));
  return cls;
}

static int changes;
static void count(const kvo_change *change, void *user_data) {
  (void)change, (void)user_data;
  changes++;
}

static void set_observed(kvo_class *cls, int expected) {
  kvo_object *object;
  CHECK_OK(kvo_object_create(cls, &object));
  kvo_observer observer = {.struct_size = sizeof observer, .key_path = "value", .callback = count};
  kvo_observation id;
  CHECK_OK(kvo_add_observer(object, &observer, &id));
  ((void (*)(kvo_object *, int))kvo_object_setter(object, "value"))(object, 5);
  CHECK_EQ(((small *)object)->value, expected);
  CHECK_OK(kvo_remove_observer(id));
  kvo_object_destroy(object);
}

TEST("an unregistered class has no name any more, and makes no objects") {
  kvo_class *cls = register_small("Small", "value", (kvo_function)one_set, NULL);
  CHECK_OK(kvo_class_unregister(cls));
  CHECK_SAME(kvo_class_find("Small"), NULL);
  kvo_object *object;
  CHECK_STATUS(kvo_object_create(cls, &object), KVO_ERROR_INVALID_ARGUMENT);
  small here;
  CHECK_STATUS(kvo_object_init(&here.header, cls), KVO_ERROR_INVALID_ARGUMENT);
  CHECK_STATUS(kvo_class_unregister(cls), KVO_ERROR_INVALID_ARGUMENT);
}

TEST("a class with objects or subclasses is not unregistered, and the error says which") {
  kvo_class *cls = register_small("Small", "value", (kvo_function)one_set, NULL);
  kvo_class *sub = register_small("Smaller", "other", (kvo_function)one_set, cls);
  kvo_object *object;
  small here;
  CHECK_OK(kvo_object_create(sub, &object));
  CHECK_OK(kvo_object_init(&here.header, sub));
  CHECK_STATUS(kvo_class_unregister(cls), KVO_ERROR_BUSY);
  CHECK_CONTAINS(kvo_last_error(), "class 'Small' has the subclass 'Smaller'");
  CHECK_STATUS(kvo_class_unregister(sub), KVO_ERROR_BUSY);
  CHECK_CONTAINS(kvo_last_error(), "class 'Smaller' has 2 objects");
  kvo_object_destroy(object);
  CHECK_STATUS(kvo_class_unregister(sub), KVO_ERROR_BUSY);
  set_observed(cls, 5);
  kvo_object_finish(&here.header);
  CHECK_OK(kvo_class_unregister(sub));
  CHECK_OK(kvo_class_unregister(cls));
}

TEST("a class registered again has the new functions, observed or not") {
  kvo_class *cls = register_small("Small", "value", (kvo_function)one_set, NULL);
  set_observed(cls, 5);
  CHECK_OK(kvo_class_unregister(cls));
  cls = register_small("Small", "value", (kvo_function)two_set, NULL);
  set_observed(cls, 10);
  CHECK_EQ(changes, 2);
  CHECK_SAME(kvo_class_find("Small"), cls);
  CHECK_OK(kvo_class_unregister(cls));
  /* One with another layout does not use the memory of the earlier one. */
  kvo_class *other = register_small("Small", "other", (kvo_function)one_set, NULL);
  CHECK(kvo_class_property(other, "value") == NULL);
  CHECK_OK(kvo_class_unregister(other));
}

TEST("registering again and again needs no more memory") {
  use_counting_allocator();
  long before = 0;
  for (int i = 0; i < 100; i++) {
    kvo_class *cls = register_small("Small", "value", i % 2 ? (kvo_function)one_set : (kvo_function)two_set, NULL);
    kvo_class *sub = register_small("Smaller", "other", (kvo_function)one_set, cls);
    set_observed(sub, i % 2 ? 5 : 10);
    CHECK_OK(kvo_class_unregister(sub));
    CHECK_OK(kvo_class_unregister(cls));
    if (i == 0) before = live_blocks;
  }
  CHECK_EQ((long)live_blocks, before);
}

static void one_set_more(small *of, int value, int more) { of->value = value + more; }
static size_t count_none(const kvo_object *object, void *user) { return (void)object, (void)user, 0; }
static void get_none(const kvo_object *object, size_t index, void *element, void *user) {
  (void)object, (void)index, (void)element, (void)user;
}

/* Registers one of several classes of the same name, of which no two are alike, and unregisters it. */
static kvo_class *come_and_go(int variant, kvo_class *superclass) {
  static const char *const by_other[] = {"other", NULL}, *const by_both[] = {"other", "more", NULL},
                           *const by_more[] = {"more", NULL};
  kvo_property_spec property = {
      .name = "value", .type = "i", .getter = (kvo_function)one_get, .setter = (kvo_function)one_set};
  kvo_list_accessors list = {.struct_size = sizeof list, .count = count_none, .get_at = get_none};
  kvo_collection_spec collection = {.name = "list", .element_type = "i", .list = &list};
  kvo_class_spec spec = {.struct_size = sizeof spec,
                         .name = "Small",
                         .instance_size = sizeof(small),
                         .properties = &property,
                         .property_count = 1,
                         .property_size = sizeof property};
  switch (variant) {
    case 1: property.name = "values"; break;
    case 2: property.type = "I"; break;
    case 3: property.flags = KVO_PROPERTY_MANUAL; break;
    case 4: property.setter = NULL; break;
    case 5: property.getter = NULL; break;
    case 6: property.affected_by = by_other; break;
    case 7: property.affected_by = by_both; break;
    case 8: property.affected_by = by_more; break;
    case 9: property.setter_type = "v@ii", property.setter = (kvo_function)one_set_more; break;
    case 10: property.setter_type = "v@il", property.setter = (kvo_function)one_set_more; break;
    case 11: spec.instance_size += 8; break;
    case 12: spec.superclass = superclass; break;
    case 13: spec.name = "Smaller"; break;
    case 14: spec.property_count = 0; break;
    case 15: spec.collections = &collection, spec.collection_count = 1, spec.collection_size = sizeof collection; break;
    case 16:
    case 17:
      property.flags = KVO_PROPERTY_AT_OFFSET;
      property.getter = property.setter = NULL;
      property.offset = variant == 16 ? offsetof(small, value) : offsetof(small, value) + 8;
      spec.instance_size += 8;
      break;
    default: break;
  }
  kvo_class *cls = NULL;
  CHECK_OK(kvo_class_register(&spec, &cls));
  CHECK_OK(kvo_class_unregister(cls));
  return cls;
}

TEST("a class takes over the memory of one that is like it in everything but its functions, and of no other") {
  enum { VARIANTS = 18 };
  kvo_class *superclass = register_small("Super", "own", (kvo_function)one_set, NULL), *first[VARIANTS];
  for (int i = 0; i < VARIANTS; i++) {
    first[i] = come_and_go(i, superclass);
    for (int j = 0; j < i; j++)
      if (first[i] == first[j]) harness_fail(__FILE__, __LINE__, "variants %d and %d are taken for one", j, i);
  }
  for (int i = VARIANTS; i-- > 0;) CHECK_SAME(come_and_go(i, superclass), first[i]);
  CHECK_OK(kvo_class_unregister(superclass));
}

/* Whose accessors were called: those of the first class, or those of the second. */
static int calls_of[2];
static bool has_none(const kvo_object *object, const void *element, void *user) {
  return (void)object, (void)element, (void)user, false;
}
static void visit_none(const kvo_object *object, void (*visit)(const void *element, void *arg), void *arg, void *user) {
  (void)object, (void)visit, (void)arg, (void)user;
}
static kvo_status count_first(kvo_object *object, const void *element, void *user) {
  return (void)object, (void)element, (void)user, calls_of[0]++, KVO_OK;
}
static kvo_status count_second(kvo_object *object, const void *element, void *user) {
  return (void)object, (void)element, (void)user, calls_of[1]++, KVO_OK;
}
static kvo_status insert_first(kvo_object *object, size_t index, const void *element, void *user) {
  return (void)index, count_first(object, element, user);
}
static kvo_status insert_second(kvo_object *object, size_t index, const void *element, void *user) {
  return (void)index, count_second(object, element, user);
}
static kvo_status remove_none(kvo_object *object, size_t index, void *user) {
  return (void)object, (void)index, (void)user, KVO_OK;
}

TEST("the next class takes over the memory, but not the accessors of lists and sets") {
  kvo_class *first = NULL;
  for (int i = 0; i < 2; i++) {
    kvo_member_accessors members = {.struct_size = sizeof members,
                                    .count = count_none,
                                    .contains = has_none,
                                    .for_each = visit_none,
                                    .add = i == 0 ? count_first : count_second,
                                    .remove = i == 0 ? count_first : count_second};
    kvo_list_accessors list = {.struct_size = sizeof list,
                               .count = count_none,
                               .get_at = get_none,
                               .insert_at = i == 0 ? insert_first : insert_second,
                               .remove_at = remove_none};
    kvo_collection_spec collections[] = {{.name = "list", .element_type = "i", .list = &list},
                                         {.name = "members", .element_type = "i", .members = &members}};
    kvo_class_spec spec = {.struct_size = sizeof spec,
                           .name = "Bag",
                           .instance_size = sizeof(small),
                           .collections = collections,
                           .collection_count = 2,
                           .collection_size = sizeof *collections};
    kvo_class *cls = NULL;
    kvo_object *object;
    CHECK_OK(kvo_class_register(&spec, &cls));
    if (i == 0) first = cls;
    CHECK_SAME(cls, first);
    CHECK_OK(kvo_object_create(cls, &object));
    CHECK_OK(kvo_list_insert(object, "list", 0, KVO_VALUE(int, 1)));
    CHECK_EQ(calls_of[i], 1);
    CHECK_OK(kvo_members_add(object, "members", KVO_VALUE(int, 1)));
    CHECK_EQ(calls_of[i], 2);
    kvo_object_destroy(object);
    CHECK_OK(kvo_class_unregister(cls));
  }
  CHECK_EQ(calls_of[0], 2);
}

/* ---------------------------------------------------------------------------------------------------------- Plug-ins -- */

static _Atomic bool stop;

static void ignore(const kvo_change *change, void *user_data) { (void)change, (void)user_data; }

/* Sets and observes objects of the program, whatever comes and goes. */
static void *set_on(void *arg) {
  item *object = item_make(0);
  while (!stop) {
    kvo_observer observer = {
        .struct_size = sizeof observer, .key_path = "value", .options = KVO_OLD, .callback = ignore};
    kvo_observation id;
    CHECK_OK(kvo_add_observer(as_object(object), &observer, &id));
    for (int k = 0; k < 100; k++) item_set_value(object, k);
    CHECK_OK(kvo_remove_observer(id));
  }
  item_destroy(object);
  return arg;
}

TEST("a plug-in is loaded, used and unloaded again and again while threads set") {
  enum { THREADS = 3, TIMES = 200 };
  pthread_t threads[THREADS];
  item_class();
  for (int i = 0; i < THREADS; i++) CHECK_EQ(pthread_create(&threads[i], NULL, set_on, NULL), 0);
  for (int i = 0; i < (harness_is_instrumented() ? TIMES / 10 : TIMES); i++) {
    void *plugin = dlopen(KVO_GAUGES, RTLD_NOW | RTLD_LOCAL);
    if (plugin == NULL) harness_fail(__FILE__, __LINE__, "%s", dlerror());
    union {
      void *address;
      int (*function)(void);
    } use = {dlsym(plugin, "gauges_use")};
    CHECK_EQ(use.function(), 5); /* value and doubled twice, limit once */
    CHECK_EQ(dlclose(plugin), 0);
#ifdef __GLIBC__ /* musl unloads nothing */
    CHECK_SAME(dlopen(KVO_GAUGES, RTLD_NOW | RTLD_NOLOAD), NULL);
#endif
    CHECK_SAME(kvo_class_find("Gauge"), NULL);
  }
  stop = true;
  for (int i = 0; i < THREADS; i++) pthread_join(threads[i], NULL);
}

/* unregistering.c - classes that come and go: they are unregistered when nothing of theirs lives, and registered again, also by threads and
 * plug-ins. */
#include "allocator.h"
#include "made.h"
#include "shared.h"

#include <dlfcn.h>
#include <kvo/kvo_method.h>
#include <stdio.h>

typedef struct small {
  kvo_object header;
  int value, plain;
} small;

static int one_get(const small *of) { return of->value; }
static int more_get(const small *of) { return of->value + 100; }
static void one_set(small *of, int value) { of->value = value; }
static void two_set(small *of, int value) { of->value = 2 * value; }

static kvo_class *register_small(const char *name, kvo_class *superclass) {
  static const kvo_property_spec property = PROPERTY("value", "i", one_get, one_set);
  return subclass_made(superclass, name, sizeof(small), &property, superclass == NULL);
}

TEST("an unregistered class has no name any more, and makes no objects") {
  kvo_class *cls = register_small("Small", NULL);
  kvo_object *object, here;
  CHECK_OK(kvo_class_unregister(cls));
  CHECK_SAME(kvo_class_find("Small"), NULL);
  CHECK_STATUS(kvo_object_create(cls, &object), KVO_ERROR_INVALID_ARGUMENT);
  CHECK_STATUS(kvo_object_init(&here, cls), KVO_ERROR_INVALID_ARGUMENT);
  CHECK_STATUS(kvo_class_unregister(cls), KVO_ERROR_INVALID_ARGUMENT);
}

TEST("a class with objects or subclasses is not unregistered, and the error says which") {
  kvo_class *cls = register_small("Small", NULL), *sub = register_small("Smaller", cls);
  kvo_object *object = object_of(sub);
  small here;
  CHECK_OK(kvo_object_init(&here.header, sub));
  CHECK_STATUS(kvo_class_unregister(cls), KVO_ERROR_BUSY);
  CHECK_CONTAINS(kvo_last_error(), "class 'Small' has the subclass 'Smaller'");
  CHECK_STATUS(kvo_class_unregister(sub), KVO_ERROR_BUSY);
  CHECK_CONTAINS(kvo_last_error(), "class 'Smaller' has 2 objects");
  kvo_object_destroy(object);
  CHECK_STATUS(kvo_class_unregister(sub), KVO_ERROR_BUSY);
  kvo_object_finish(&here.header);
  CHECK_OK(kvo_class_unregister(sub));
  CHECK_OK(kvo_class_unregister(cls));
}

/* ---------------------------------------------------------------------------------------------------- Registered again -- */

static int finalized[2];

static void finalize_first(kvo_object *object) { finalized[0]++; }
static void finalize_second(kvo_object *object) { finalized[1]++; }
static int get_given(const kvo_object *object, void *user) { return *(int *)user; }

/* Registers the first or the second class of this name, whose functions differ. */
static kvo_class *register_other(int which) {
  static int given[2] = {7, 8};
  const kvo_property_spec properties[] = {
      PROPERTY("value", "i", which == 0 ? one_get : more_get, which == 0 ? one_set : two_set),
      PROPERTY_WITH("given", "i", get_given, NULL, .flags = KVO_PROPERTY_WITH_USER, .user = &given[which])};
  return register_class((kvo_class_spec){.name = "Small",
                                         .instance_size = sizeof(small),
                                         .properties = properties,
                                         .property_count = 2,
                                         .finalize = which == 0 ? finalize_first : finalize_second});
}

TEST("a class that is registered again takes over the memory, and has the new functions only, observed or not") {
  kvo_class *first = NULL;
  for (int which = 0; which < 2; which++) {
    kvo_class *cls = register_other(which);
    if (which == 0) first = cls;
    CHECK_SAME(cls, first);
    CHECK_SAME(kvo_class_find("Small"), cls);
    for (int is_observed = 0; is_observed < 2; is_observed++) {
      kvo_object *object = object_of(cls);
      int calls = 0;
      int64_t number = 0;
      kvo_observation id = is_observed ? count_changes(object, "value", KVO_NEW, &calls) : 0;
      SETTER(object, "value", int)(object, 5);
      CHECK_EQ(((small *)object)->value, which == 0 ? 5 : 10);
      CHECK_OK(kvo_get_int64(object, "value", &number));
      CHECK_EQ(number, which == 0 ? 5 : 110);
      CHECK_EQ(calls, is_observed);
      CHECK_EQ(GETTER(object, "given", int)(object), 7 + which);
      if (is_observed) CHECK_OK(kvo_remove_observer(id));
      kvo_object_destroy(object);
    }
    CHECK_OK(kvo_class_unregister(cls));
    CHECK_EQ(finalized[which], 2);
  }
  CHECK_EQ(finalized[0], 2);
}

TEST("registering again and again needs no more memory") {
  use_counting_allocator();
  long before = 0;
  for (int i = 0; i < 100; i++) {
    kvo_class *cls = register_small("Small", NULL), *sub = register_small("Smaller", cls);
    kvo_object *object = object_of(sub);
    int calls = 0;
    CHECK_OK(kvo_remove_observer(count_changes(object, "value", KVO_NEW, &calls)));
    kvo_object_destroy(object);
    CHECK_OK(kvo_class_unregister(sub));
    CHECK_OK(kvo_class_unregister(cls));
    if (i == 0) before = live_blocks;
  }
  CHECK_EQ((long)live_blocks, before);
}

static void one_set_more(small *of, int value, int more) { of->value = value + more; }

/* Registers one of several classes of the same name, each with a description of its own, and unregisters it. */
static kvo_class *come_and_go(int variant, kvo_class *superclass) {
  static const char *const by_other[] = {"other", NULL};
  kvo_property_spec property = PROPERTY("value", "i", one_get, one_set);
  kvo_class_spec spec = {.name = "Small", .instance_size = sizeof(small), .properties = &property, .property_count = 1};
  switch (variant) {
    case 1: property.name = "values"; break;
    case 2: property.type = "I"; break;
    case 3: property.flags = KVO_PROPERTY_MANUAL; break;
    case 4: property.setter = NULL; break;
    case 5: property.getter = NULL; break;
    case 6: property.affected_by = by_other; break;
    case 7: property.setter_type = "v@ii", property.setter = (kvo_function)one_set_more; break;
    case 8: property.setter_type = "v@il", property.setter = (kvo_function)one_set_more; break;
    case 9: spec.instance_size += 8; break;
    case 10: spec.superclass = superclass; break;
    case 11: spec.name = "Smaller"; break;
    case 12: spec.property_count = 0; break;
    case 13:
    case 14:
      property.flags = KVO_PROPERTY_AT_OFFSET;
      property.getter = property.setter = NULL;
      property.offset = variant == 13 ? offsetof(small, value) : offsetof(small, value) + 8;
      spec.instance_size += 8;
      break;
    default: break;
  }
  kvo_class *cls = register_class(spec);
  CHECK_OK(kvo_class_unregister(cls));
  return cls;
}

TEST("a class takes over the memory of one that is like it in everything but its functions, and of no other") {
  enum { VARIANTS = 15 };
  kvo_class *superclass = class_made("Super", sizeof(small), NULL, 0), *first[VARIANTS];
  for (int i = 0; i < VARIANTS; i++) {
    first[i] = come_and_go(i, superclass);
    for (int j = 0; j < i; j++)
      if (first[i] == first[j]) harness_fail(__FILE__, __LINE__, "variants %d and %d are taken for one", j, i);
  }
  for (int i = VARIANTS; i-- > 0;) CHECK_SAME(come_and_go(i, superclass), first[i]);
  CHECK_OK(kvo_class_unregister(superclass));
}

/* ---------------------------------------------------------------------------------------------- Threads and plug-ins -- */

static int scaled(const small *of, int by) { return of->value * by; }

static void count_call(kvo_call *call, void *user_data) { ++*(int *)user_data; }
static void count_end(void *user_data) { *(int *)user_data += 10; }

static kvo_class *register_cell(const char *name) {
  static int seven = 7;
  static const kvo_property_spec properties[] = {
      PROPERTY("value", "i", one_get, one_set),
      PROPERTY_WITH("given", "i", get_given, NULL, .flags = KVO_PROPERTY_WITH_USER, .user = &seven),
      AT_OFFSET(small, plain, "i")};
  const kvo_method_spec method = {.name = "scaled", .type = "i@i", .function = (kvo_function)scaled};
  kvo_class *cls = class_made(name, sizeof(small), properties, 3);
  CHECK_SAME(kvo_class_find(name), cls);
  CHECK_OK(kvo_class_add_methods(cls, &method, 1, sizeof method));
  return cls;
}

/* Uses all that a class has trampolines for, and a hook on the class if no other thread uses that. */
static void use_cell(kvo_class *cls, bool is_own) {
  kvo_object *object = object_of(cls);
  kvo_hook first;
  int changes = 0, before = 0, after = 0;
  kvo_observation id = count_changes(object, "value", KVO_NEW, &changes);
  kvo_hook_spec hook = {.struct_size = sizeof hook,
                        .method = "scaled",
                        .when = KVO_HOOK_BEFORE,
                        .function = count_call,
                        .user_data = &before};
  CHECK_OK(is_own ? kvo_class_hook(cls, &hook, &first) : kvo_object_hook(object, &hook, &first));
  hook.when = KVO_HOOK_AFTER;
  hook.user_data = &after;
  hook.destroy = count_end;
  CHECK_OK(kvo_object_hook(object, &hook, NULL));
  SETTER(object, "value", int)(object, 3);
  SETTER(object, "plain", int)(object, 4);
  CHECK_EQ(GETTER(object, "plain", int)(object), 4);
  CHECK_EQ(GETTER(object, "given", int)(object), 7);
  CHECK_EQ(((int (*)(kvo_object *, int))kvo_object_method(object, "scaled"))(object, 5), 15);
  CHECK(changes == 1 && before == 1 && after == 1);
  CHECK_OK(kvo_hook_remove(first));
  CHECK_OK(kvo_remove_observer(id));
  kvo_object_destroy(object); /* ends the other hook */
  CHECK_EQ(after, 11);
}

static void register_and_use(int number) {
  for (int round = 0; round < rounds(40); round++) {
    char name[32];
    snprintf(name, sizeof name, "Cell%d.%d", number, round / 2); /* each twice, so that it also returns */
    kvo_class *cls = register_cell(name);
    use_cell(cls, true);
    CHECK_OK(kvo_class_unregister(cls));
    CHECK_SAME(kvo_class_find(name), NULL);
  }
}

TEST("threads register classes of their own, observe and hook their objects, and unregister them, all at once") {
  on_threads(register_and_use);
}

static _Atomic bool has_stopped;

/* Sets and observes an object of the program, whatever comes and goes. */
static void set_on(void *arg) {
  shared *object = shared_make();
  while (!has_stopped) {
    kvo_observation id = observe(object, "value", KVO_OLD, NULL, NULL);
    for (int k = 0; k < 100; k++) set(object, k);
    CHECK_OK(kvo_remove_observer(id));
  }
  shared_destroy(object);
}

TEST("a plug-in is loaded, used and unloaded again and again while threads set") {
  running *threads[3];
  shared_destroy(shared_make()); /* registers the class */
  for (int i = 0; i < 3; i++) threads[i] = start_thread(set_on, NULL);
  for (int i = 0; i < rounds(200); i++) {
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
  has_stopped = true;
  for (int i = 0; i < 3; i++) join_thread(threads[i]);
}

/* classes_threads.c - threads that register, observe, hook and unregister classes of their own at the same time, or look at one object. */
#include "shared.h"

#include <kvo/kvo_binding.h>
#include <kvo/kvo_method.h>
#include <stdio.h>

typedef struct cell {
  kvo_object header;
  int value, plain;
} cell;

static int get_value(const cell *of) { return of->value; }
static void set_value(cell *of, int value) { of->value = value; }
static int get_given(const kvo_object *object, void *user) {
  (void)object;
  return *(int *)user;
}
static int scaled(const cell *of, int by) { return of->value * by; }

static void count_call(kvo_call *call, void *user_data) {
  (void)call;
  ++*(int *)user_data;
}
static void count_change(const kvo_change *change, void *user_data) {
  (void)change;
  ++*(int *)user_data;
}
static void count_end(void *user_data) { ++*(int *)user_data; }

static int seven = 7;

static kvo_class *register_cell(const char *name) {
  const kvo_property_spec properties[] = {
      {.name = "value", .type = "i", .getter = (kvo_function)get_value, .setter = (kvo_function)set_value},
      {.name = "given",
       .type = "i",
       .getter = (kvo_function)get_given,
       .flags = KVO_PROPERTY_WITH_USER,
       .user = &seven},
      {.name = "plain", .type = "i", .flags = KVO_PROPERTY_AT_OFFSET, .offset = offsetof(cell, plain)}};
  const kvo_method_spec method = {.name = "scaled", .type = "i@i", .function = (kvo_function)scaled};
  kvo_class_spec spec = {.struct_size = sizeof spec,
                         .name = name,
                         .instance_size = sizeof(cell),
                         .properties = properties,
                         .property_count = 3};
  kvo_class *cls = NULL;
  CHECK_OK(kvo_class_register(&spec, &cls));
  CHECK_SAME(kvo_class_find(name), cls);
  CHECK_OK(kvo_class_add_methods(cls, &method, 1, sizeof method));
  return cls;
}

/* Uses all that a class has trampolines for. */
static void use_cell(kvo_class *cls) {
  kvo_object *object;
  kvo_observation id;
  kvo_hook on_class;
  int changes = 0, calls = 0, ends = 0;
  CHECK_OK(kvo_object_create(cls, &object));
  kvo_observer observer = {.struct_size = sizeof observer,
                           .key_path = "value",
                           .options = KVO_NEW,
                           .callback = count_change,
                           .user_data = &changes};
  CHECK_OK(kvo_add_observer(object, &observer, &id));
  kvo_hook_spec hook = {.struct_size = sizeof hook,
                        .method = "scaled",
                        .when = KVO_HOOK_BEFORE,
                        .function = count_call,
                        .user_data = &calls};
  CHECK_OK(kvo_class_hook(cls, &hook, &on_class));
  hook.when = KVO_HOOK_AFTER;
  hook.destroy = count_end;
  hook.user_data = &ends;
  hook.function = count_call;
  CHECK_OK(kvo_object_hook(object, &hook, NULL));
  ((void (*)(kvo_object *, int))kvo_object_setter(object, "value"))(object, 3);
  ((void (*)(kvo_object *, int))kvo_object_setter(object, "plain"))(object, 4);
  CHECK_EQ(((int (*)(const kvo_object *))kvo_object_getter(object, "plain"))(object), 4);
  CHECK_EQ(((int (*)(const kvo_object *))kvo_object_getter(object, "given"))(object), 7);
  CHECK_EQ(((int (*)(kvo_object *, int))kvo_object_method(object, "scaled"))(object, 5), 15);
  CHECK_EQ(changes, 1);
  CHECK_EQ(calls, 1);
  CHECK_EQ(ends, 1); /* that call */
  CHECK_OK(kvo_hook_remove(on_class));
  CHECK_OK(kvo_remove_observer(id));
  kvo_object_destroy(object);
  CHECK_EQ(ends, 2); /* and the end of the hook */
}

static void come_and_go(int number) {
  for (int round = 0; round < rounds(40); round++) {
    char name[32];
    snprintf(name, sizeof name, "Cell%d.%d", number, round / 2); /* each twice, so that it also returns */
    kvo_class *cls = register_cell(name);
    use_cell(cls);
    CHECK_OK(kvo_class_unregister(cls));
    CHECK_SAME(kvo_class_find(name), NULL);
  }
}

TEST("threads register classes of their own, observe and hook their objects, and unregister them, all at once") {
  on_threads(come_and_go);
}

static kvo_class *common;

static void use_common(int number) {
  (void)number;
  for (int round = 0; round < rounds(100); round++) {
    kvo_object *object;
    int calls = 0, by = 2, result = 0;
    CHECK_OK(kvo_object_create(common, &object));
    ((cell *)object)->value = 4;
    kvo_hook_spec hook = {.struct_size = sizeof hook,
                          .method = "scaled",
                          .when = KVO_HOOK_BEFORE,
                          .function = count_call,
                          .user_data = &calls};
    CHECK_OK(kvo_object_hook(object, &hook, NULL));
    CHECK_OK(kvo_object_call(object, "scaled", (void *[]){&by}, &result));
    CHECK_EQ(result, 8);
    CHECK_EQ(calls, 1);
    kvo_object_destroy(object); /* ends the hook */
  }
}

TEST("threads create, hook and destroy objects of one class at the same time") {
  common = register_cell("Common");
  on_threads(use_common);
  CHECK_OK(kvo_class_unregister(common));
}

static shared *seen;

static void look_at(const kvo_fault_observation *observation, void *arg) {
  CHECK(observation->observation != 0);
  ++*(int *)arg;
}

static void look_or_change(int number) {
  for (int i = 0; i < rounds(2000); i++) {
    if (number % 2 == 0) {
      CHECK_OK(kvo_remove_observer(observe(seen, number % 4 == 0 ? "value" : "next", KVO_NEW, NULL, NULL)));
      continue;
    }
    int count = 0;
    size_t present = kvo_object_observation_count(&seen->header);
    CHECK(present >= 1 && present <= 1 + THREADS);
    kvo_object_visit_observations(&seen->header, look_at, &count);
    CHECK(count >= 1 && count <= 1 + THREADS);
  }
}

TEST("the observations of an object are counted and enumerated while threads add and remove some") {
  seen = shared_make();
  kvo_observation stays = observe(seen, "value", KVO_NEW, NULL, NULL);
  on_threads(look_or_change);
  CHECK_EQ(kvo_object_observation_count(&seen->header), 1);
  CHECK_OK(kvo_remove_observer(stays));
  shared_destroy(seen);
}

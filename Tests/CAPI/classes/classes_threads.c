/* classes_threads.c - threads that register, observe, hook and unregister classes of their own at the same time. */
#include "made.h"
#include "shared.h"

#include <kvo/kvo_method.h>
#include <stdio.h>

typedef struct cell {
  kvo_object header;
  int value, plain;
} cell;

static int get_value(const cell *of) { return of->value; }
static void set_value(cell *of, int value) { of->value = value; }
static int get_given(const kvo_object *object, void *user) { return (void)object, *(int *)user; }
static int scaled(const cell *of, int by) { return of->value * by; }

static void count_call(kvo_call *call, void *user_data) { (void)call, ++*(int *)user_data; }
static void count_end(void *user_data) { *(int *)user_data += 10; }

static kvo_class *register_cell(const char *name) {
  static int seven = 7;
  static const kvo_property_spec properties[] = {
      PROPERTY("value", "i", get_value, set_value),
      PROPERTY_WITH("given", "i", get_given, NULL, .flags = KVO_PROPERTY_WITH_USER, .user = &seven),
      AT_OFFSET(cell, plain, "i")};
  const kvo_method_spec method = {.name = "scaled", .type = "i@i", .function = (kvo_function)scaled};
  kvo_class *cls = class_made(name, sizeof(cell), properties, 3);
  CHECK_SAME(kvo_class_find(name), cls);
  CHECK_OK(kvo_class_add_methods(cls, &method, 1, sizeof method));
  return cls;
}

/* Uses all that a class has trampolines for. */
static void use_cell(kvo_class *cls) {
  kvo_object *object = object_of(cls);
  kvo_hook on_class;
  int changes = 0, before = 0, after = 0;
  kvo_observation id = count_changes(object, "value", KVO_NEW, &changes);
  kvo_hook_spec hook = {.struct_size = sizeof hook,
                        .method = "scaled",
                        .when = KVO_HOOK_BEFORE,
                        .function = count_call,
                        .user_data = &before};
  CHECK_OK(kvo_class_hook(cls, &hook, &on_class));
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
  CHECK_OK(kvo_hook_remove(on_class));
  CHECK_OK(kvo_remove_observer(id));
  kvo_object_destroy(object); /* ends the other hook */
  CHECK_EQ(after, 11);
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
    kvo_object *object = object_of(common);
    int calls = 0, by = 2, result = 0;
    kvo_hook_spec hook = {.struct_size = sizeof hook,
                          .method = "scaled",
                          .when = KVO_HOOK_BEFORE,
                          .function = count_call,
                          .user_data = &calls};
    ((cell *)object)->value = 4;
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

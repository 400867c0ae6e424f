/* wanted_values.c - a getter is called for a change only while an observer wants a value, whatever was observed before. */
#include "fixture.h"

static int reads;

static int read_value(const item *of) {
  reads++;
  return of->value;
}

static void store_value(item *of, int value) { of->value = value; }

static item *read_make(void) {
  static kvo_class *cls;
  static const kvo_property_spec value = {
      .name = "value", .type = "i", .getter = (kvo_function)read_value, .setter = (kvo_function)store_value};
  kvo_class_spec spec = {.struct_size = sizeof spec,
                         .name = "Read",
                         .instance_size = sizeof(item),
                         .properties = &value,
                         .property_count = 1};
  if (cls == NULL) CHECK_OK(kvo_class_register(&spec, &cls));
  kvo_object *made;
  CHECK_OK(kvo_object_create(cls, &made));
  return (item *)made;
}

static void check_unread(item *object, watcher *plain, int value) {
  int calls = plain->calls;
  reads = 0;
  item_set_value(object, value);
  CHECK_EQ(plain->calls, calls + 1);
  CHECK_EQ(reads, 0);
}

TEST("the getter is not called any more after a path whose values it gave was removed, or leads elsewhere") {
  static const int options[] = {KVO_NEW, KVO_OLD, KVO_OLD | KVO_NEW | KVO_PRIOR};
  item *object = read_make(), *root = item_make(0);
  watcher plain = {0};
  watch(object, "value", KVO_NONE, &plain);
  for (int i = 0; i < 3; i++)
    for (int leads = 0; leads < 2; leads++) {
      watcher path = {0};
      item_set_next(root, object);
      watch(root, "next.value", options[i], &path);
      reads = 0;
      item_set_value(object, 1);
      CHECK(reads > 0);
      CHECK_EQ(path.calls, 1);
      if (leads)
        item_set_next(root, NULL);
      else
        CHECK_OK(kvo_remove_observer(path.id));
      check_unread(object, &plain, 2);
      if (leads) CHECK_OK(kvo_remove_observer(path.id));
    }
  CHECK_OK(kvo_remove_observer(plain.id));
  kvo_object_destroy(as_object(object));
  item_destroy(root);
}

TEST("of 300 observers that want values the last one gets them, and after it the getter is not called any more") {
  enum { MANY = 300 };
  item *object = read_make();
  static watcher w[MANY];
  for (int i = 0; i < MANY; i++) watch(object, "value", KVO_OLD | KVO_NEW, &w[i]);
  for (int i = 0; i < MANY - 1; i++) CHECK_OK(kvo_remove_observer(w[i].id));
  item_set_value(object, 1);
  CHECK_EQ(w[MANY - 1].calls, 1);
  CHECK_EQ(w[MANY - 1].new_value.integer, 1);
  CHECK_OK(kvo_remove_observer(w[MANY - 1].id));
  watcher plain = {0};
  watch(object, "value", KVO_NONE, &plain);
  check_unread(object, &plain, 2);
  CHECK_OK(kvo_remove_observer(plain.id));
  watch(object, "value", KVO_NONE, &plain);
  check_unread(object, &plain, 3);
  CHECK_OK(kvo_remove_observer(plain.id));
  kvo_object_destroy(as_object(object));
}

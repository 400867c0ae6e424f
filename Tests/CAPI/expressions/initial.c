/* initial.c - the initial notification of an expression whose value changes while it is registered. */
#include "allocator.h"
#include "fixture.h"

static item *root, *later;
static int changes_left;
static bool is_stored_meanwhile;

static item *read_next(const item *object) { return object->next; }
static void store_next(item *object, item *next) { object->next = next; }

/* The keys up to here are subscribed to already. */
static int read_value(const item *object) {
  if (changes_left > 0) {
    changes_left--;
    item_set_next(root, later);
  }
  int value = object->value;
  if (is_stored_meanwhile) { /* by a setter that began when nobody observed the object */
    is_stored_meanwhile = false;
    ((item *)(uintptr_t)object)->value = value + 10;
    kvo_object_stored((kvo_object *)(uintptr_t)&object->header, "value");
  }
  return value;
}

static void store_value(item *object, int value) { object->value = value; }

static kvo_class *restless_class(void) {
  static kvo_class *made;
  kvo_property_spec properties[] = {
      {.name = "next", .type = "@", .getter = (kvo_function)read_next, .setter = (kvo_function)store_next},
      {.name = "value", .type = "i", .getter = (kvo_function)read_value, .setter = (kvo_function)store_value}};
  kvo_class_spec spec = {.struct_size = sizeof spec,
                         .name = "Restless",
                         .instance_size = sizeof(item),
                         .properties = properties,
                         .property_count = 2};
  if (made == NULL) CHECK_OK(kvo_class_register(&spec, &made));
  return made;
}

static item *make(int value) {
  kvo_object *made;
  CHECK_OK(kvo_object_create(restless_class(), &made));
  ((item *)made)->value = value;
  return (item *)made;
}

static void observe_while_it_changes(int changes) {
  root = make(1);
  later = make(3);
  item *first = make(2);
  root->next = first;
  changes_left = changes;
  watcher seen = {0};
  watch(root, "next.value", KVO_INITIAL | KVO_NEW, &seen);
  CHECK_EQ(seen.new_value.integer, 3);
  item_set_value(later, 4);
  CHECK_EQ(seen.new_value.integer, 4);
  int calls = seen.calls;
  item_set_value(first, 5);
  CHECK_EQ(seen.calls, calls);
  CHECK_OK(kvo_remove_observer(seen.id));
  kvo_object_destroy(as_object(root));
  kvo_object_destroy(as_object(later));
  kvo_object_destroy(as_object(first));
}

TEST(
    "an expression that changes while it is registered delivers its value of that moment, and leaves no memory behind") {
  use_counting_allocator();
  ignore_faults();
  long before = 0;
  for (int round = 0; round < 10; round++) {
    observe_while_it_changes(1);
    if (round == 4) before = live_blocks; /* by now the runtime has allocated what it keeps */
  }
  CHECK_EQ((long)live_blocks, before);
  CHECK_EQ(faults.count, 0);
}

TEST("the initial notification has a value that another setter has stored since the expression was evaluated") {
  root = make(1);
  item *end = make(2);
  root->next = end;
  is_stored_meanwhile = true;
  watcher seen = {0};
  watch(root, "next.value", KVO_INITIAL | KVO_NEW, &seen);
  CHECK_EQ(seen.calls, 1);
  CHECK_EQ(seen.new_value.integer, 12);
  CHECK_OK(kvo_remove_observer(seen.id));
  kvo_object_destroy(as_object(root));
  kvo_object_destroy(as_object(end));
}

/* key_paths.c - observations through key paths and of keys that other keys affect. */
#include "fixture.h"

TEST("a change at the end of a path notifies the observer of its root") {
  item *root = item_make(0), *leaf = item_make(1);
  root->next = leaf;
  watcher w = {0};
  watch(root, "next.value", KVO_NEW | KVO_OLD | KVO_PRIOR, &w);
  item_set_value(leaf, 2);
  CHECK_EQ(w.calls, 1);
  CHECK_EQ(w.priors, 1);
  CHECK_EQ(w.old_value.integer, 1);
  CHECK_EQ(w.new_value.integer, 2);
  CHECK_SAME(w.object, root);
  CHECK_EQ(w.key_path, "next.value");
  CHECK_EQ((int)w.kind, KVO_CHANGE_SETTING);
  CHECK_OK(kvo_remove_observer(w.id));
  CHECK(!kvo_object_is_observed(as_object(leaf)));
  item_destroy(root);
  item_destroy(leaf);
}

TEST("when an intermediate object is replaced, the new one notifies and the old one does not") {
  item *root = item_make(0), *first = item_make(1), *second = item_make(2);
  root->next = first;
  watcher w = {0};
  watch(root, "next.value", KVO_NEW | KVO_OLD, &w);
  item_set_next(root, second);
  CHECK_EQ(w.calls, 1);
  CHECK_EQ(w.old_value.integer, 1);
  CHECK_EQ(w.new_value.integer, 2);
  item_set_value(first, 10);
  CHECK_EQ(w.calls, 1);
  CHECK(!kvo_object_is_observed(as_object(first)));
  item_set_value(second, 20);
  CHECK_EQ(w.calls, 2);
  CHECK_EQ(w.new_value.integer, 20);
  CHECK_OK(kvo_remove_observer(w.id));
  item_destroy(root);
  item_destroy(first);
  item_destroy(second);
}

TEST("setting an intermediate object to nil, and to an object again, are changes to and from nil") {
  item *root = item_make(0), *leaf = item_make(1);
  root->next = leaf;
  watcher w = {0};
  watch(root, "next.value", KVO_NEW | KVO_OLD, &w);
  item_set_next(root, NULL);
  CHECK_EQ(w.calls, 1);
  CHECK_EQ(w.old_value.integer, 1);
  CHECK(w.new_value.told && w.new_value.nil);
  item_set_value(leaf, 5);
  CHECK_EQ(w.calls, 1);
  item_set_next(root, leaf);
  CHECK_EQ(w.calls, 2);
  CHECK(w.old_value.told && w.old_value.nil);
  CHECK_EQ(w.new_value.integer, 5);
  CHECK_OK(kvo_remove_observer(w.id));
  item_destroy(root);
  item_destroy(leaf);
}

TEST("setting an intermediate object to itself is a change, and it is still observed once") {
  item *root = item_make(0), *leaf = item_make(1);
  root->next = leaf;
  watcher w = {0};
  watch(root, "next.value", KVO_NEW, &w);
  for (int i = 0; i < 3; i++) item_set_next(root, leaf);
  CHECK_EQ(w.calls, 3);
  item_set_value(leaf, 2);
  CHECK_EQ(w.calls, 4);
  CHECK_OK(kvo_remove_observer(w.id));
  item_destroy(root);
  item_destroy(leaf);
}

TEST("an intermediate object shared by two roots notifies both, and stops for each separately") {
  item *one = item_make(0), *two = item_make(0), *leaf = item_make(1);
  one->next = two->next = leaf;
  watcher w1 = {0}, w2 = {0};
  watch(one, "next.value", KVO_NEW, &w1);
  watch(two, "next.value", KVO_NEW, &w2);
  item_set_value(leaf, 2);
  CHECK_EQ(w1.calls, 1);
  CHECK_EQ(w2.calls, 1);
  CHECK_SAME(w1.object, one);
  CHECK_SAME(w2.object, two);
  item_set_next(one, NULL);
  item_set_value(leaf, 3);
  CHECK_EQ(w1.calls, 2);
  CHECK_EQ(w2.calls, 2);
  CHECK_OK(kvo_remove_observer(w2.id));
  CHECK(!kvo_object_is_observed(as_object(leaf)));
  CHECK_OK(kvo_remove_observer(w1.id));
  item_destroy(one);
  item_destroy(two);
  item_destroy(leaf);
}

TEST("a path of three levels notifies for a change at each") {
  item *root = item_make(0), *a = item_make(1), *b = item_make(2), *c = item_make(3), *other = item_make(9);
  root->next = a, a->next = b, b->next = c;
  watcher w = {0};
  watch(root, "next.next.next.value", KVO_NEW | KVO_OLD, &w);
  item_set_value(c, 30);
  CHECK_EQ(w.new_value.integer, 30);
  item_set_next(b, other);
  CHECK_EQ(w.old_value.integer, 30);
  CHECK_EQ(w.new_value.integer, 9);
  item_set_next(a, NULL);
  CHECK(w.new_value.nil);
  item_set_next(a, b);
  CHECK_EQ(w.new_value.integer, 9);
  item_set_next(root, b);
  CHECK(w.new_value.nil); /* b.next.next is nil */
  CHECK_EQ(w.calls, 5);
  item_set_value(a, 1);
  item_set_value(c, 31);
  CHECK_EQ(w.calls, 5);
  CHECK_OK(kvo_remove_observer(w.id));
  item *all[] = {root, a, b, c, other};
  for (int i = 0; i < 5; i++) {
    CHECK(!kvo_object_is_observed(as_object(all[i])));
    item_destroy(all[i]);
  }
}

TEST("a path that leads through its own root object notifies, and can be removed") {
  item *root = item_make(1);
  root->next = root;
  watcher w = {0};
  watch(root, "next.next.value", KVO_NEW | KVO_OLD | KVO_ENDS_WITH_OBJECT, &w);
  item_set_value(root, 2);
  CHECK_EQ(w.calls, 1);
  CHECK_EQ(w.old_value.integer, 1);
  CHECK_EQ(w.new_value.integer, 2);
  item_set_next(root, NULL);
  CHECK_EQ(w.calls, 2);
  CHECK(w.new_value.nil);
  item_set_next(root, root);
  item_destroy(root);
  CHECK_EQ(w.calls, 3); /* its own death does not notify */
  CHECK_EQ(w.destroyed, 1);
}

TEST("two objects that observe each other's `next` are both notified, and may die in any order") {
  item *one = item_make(1), *two = item_make(2);
  one->next = two, two->next = one;
  watcher w1 = {0}, w2 = {0};
  watch(one, "next.value", KVO_NEW | KVO_ENDS_WITH_OBJECT, &w1);
  watch(two, "next.value", KVO_NEW | KVO_ENDS_WITH_OBJECT, &w2);
  item_set_value(one, 10);
  CHECK_EQ(w2.new_value.integer, 10);
  CHECK_EQ(w1.calls, 0);
  item_destroy(one);
  CHECK_EQ(w2.calls, 2);
  CHECK(w2.new_value.nil);
  CHECK_EQ(w1.destroyed, 1);
  item_destroy(two);
  CHECK_EQ(w2.destroyed, 1);
}

TEST_REPORTED(
    "an undefined key after a nil on a path is KVO0009 at the change that replaces the nil, once, with the observation") {
  ignore_faults();
  item *root = item_make(0), *leaf = item_make(0);
  watcher w = {0};
  watch(root, "next.imaginary", KVO_OLD | KVO_NEW, &w);
  CHECK_EQ(faults.count, 0);
  item_set_next(root, leaf);
  CHECK_EQ(faults.count, 1);
  CHECK_EQ((int)faults.code, KVO_FAULT_UNDEFINED_KEY);
  CHECK_CONTAINS(faults.summary, "KVO0009 error: \"next.imaginary\" of Item@0x");
  CHECK_CONTAINS(faults.summary, " cannot be followed: Item has no key \"imaginary\", registered at ");
  CHECK_EQ(faults.line, 0); /* it is not where the fault occurred */
  CHECK_EQ(faults.observation_count, 1);
  CHECK_EQ(faults.first.observation, w.id);
  item_set_next(root, NULL);
  CHECK_EQ(faults.count, 1);
  CHECK_OK(kvo_remove_observer(w.id));
  item_destroy(root);
  item_destroy(leaf);
}

TEST_REPORTED("a path through a value that is not an object is refused") {
  ignore_faults();
  item *root = item_make(0);
  watcher w = {0};
  kvo_observer observer = watcher_observer("value.value", KVO_NONE, &w);
  CHECK_STATUS(kvo_add_observer(as_object(root), &observer, NULL), KVO_ERROR_NOT_AN_OBJECT);
  CHECK_EQ((int)faults.code, KVO_FAULT_UNDEFINED_KEY);
  CHECK(!kvo_object_is_observed(as_object(root)));
  item_destroy(root);
}

/* ----------------------------------------------------------------------------------------------------- Affected keys -- */

TEST("a read-only key notifies when the key that affects it is set") {
  item *object = item_make(1);
  watcher w = {0};
  watch(object, "doubled", KVO_NEW | KVO_OLD | KVO_PRIOR, &w);
  item_set_value(object, 5);
  CHECK_EQ(w.calls, 1);
  CHECK_EQ(w.priors, 1);
  CHECK_EQ(w.old_value.integer, 2);
  CHECK_EQ(w.new_value.integer, 10);
  CHECK_EQ(w.key_path, "doubled");
  item_set_other(object, 5);
  CHECK_EQ(w.calls, 1);
  CHECK_OK(kvo_remove_observer(w.id));
  item_destroy(object);
}

TEST("a key that a key path affects notifies for a change of each part of that path") {
  item *object = item_make(1), *leaf = item_make(7), *other = item_make(8);
  object->next = leaf;
  watcher w = {0};
  watch(object, "far", KVO_NEW | KVO_OLD, &w);
  item_set_value(leaf, 70);
  CHECK_EQ(w.old_value.integer, 1007);
  CHECK_EQ(w.new_value.integer, 1070);
  item_set_next(object, other);
  CHECK_EQ(w.new_value.integer, 1008);
  item_set_value(other, 80);
  CHECK_EQ(w.new_value.integer, 1080);
  CHECK_EQ(w.calls, 3);
  item_set_value(leaf, 71);
  CHECK_EQ(w.calls, 3);
  item_set_next(object, NULL);
  CHECK_EQ(w.new_value.integer, -1);
  CHECK_OK(kvo_remove_observer(w.id));
  item_destroy(object);
  item_destroy(leaf);
  item_destroy(other);
}

TEST("an affected key at the end of a path notifies the path's root") {
  item *root = item_make(0), *leaf = item_make(1);
  root->next = leaf;
  watcher w = {0};
  watch(root, "next.doubled", KVO_NEW, &w);
  item_set_value(leaf, 4);
  CHECK_EQ(w.calls, 1);
  CHECK_EQ(w.new_value.integer, 8);
  CHECK_OK(kvo_remove_observer(w.id));
  item_destroy(root);
  item_destroy(leaf);
}

typedef struct circle {
  kvo_object header;
  int a, b;
} circle;
static int get_a(const circle *of) { return of->a; }
static void set_a(circle *of, int a) { of->a = a; }
static int get_b(const circle *of) { return of->b; }
static void set_b(circle *of, int b) { of->b = b; }

TEST("keys that affect each other in a cycle notify once per set") {
  static const char *const by_a[] = {"a", NULL}, *const by_b[] = {"b", NULL};
  kvo_property_spec properties[] = {
      {.name = "a", .type = "i", .getter = (kvo_function)get_a, .setter = (kvo_function)set_a, .affected_by = by_b},
      {.name = "b", .type = "i", .getter = (kvo_function)get_b, .setter = (kvo_function)set_b, .affected_by = by_a}};
  kvo_class_spec spec = {.struct_size = sizeof spec,
                         .name = "Circle",
                         .instance_size = sizeof(circle),
                         .properties = properties,
                         .property_count = 2};
  kvo_class *cls;
  kvo_object *object;
  CHECK_OK(kvo_class_register(&spec, &cls));
  CHECK_OK(kvo_object_create(cls, &object));
  watcher a = {0}, b = {0};
  kvo_observer observe_a = watcher_observer("a", KVO_NEW, &a), observe_b = watcher_observer("b", KVO_NEW, &b);
  CHECK_OK(kvo_add_observer(object, &observe_a, &a.id));
  CHECK_OK(kvo_add_observer(object, &observe_b, &b.id));
  KVO_SET(object, "a", int, 5);
  CHECK_EQ(a.calls, 1);
  CHECK_EQ(b.calls, 1);
  CHECK_EQ(a.new_value.integer, 5);
  KVO_SET(object, "b", int, 6);
  CHECK_EQ(a.calls, 2);
  CHECK_EQ(b.calls, 2);
  CHECK_EQ(b.new_value.integer, 6);
  CHECK_OK(kvo_remove_observer(a.id));
  CHECK_OK(kvo_remove_observer(b.id));
  kvo_object_destroy(object);
}

/* -------------------------------------------------------------------------------------------------- Within callbacks -- */

static void clear_next(watcher *self, const kvo_change *change) {
  self->then = NULL;
  item_set_next((item *)change->object, NULL);
}

TEST("a callback may set an object on its own key path to nil") {
  item *root = item_make(0), *leaf = item_make(1);
  root->next = leaf;
  watcher w = {.then = clear_next};
  watch(root, "next.value", KVO_NEW, &w);
  item_set_value(leaf, 2);
  CHECK_EQ(w.calls, 2);
  CHECK(!kvo_object_is_observed(as_object(leaf)));
  item_set_value(leaf, 3);
  CHECK_EQ(w.calls, 2);
  CHECK_OK(kvo_remove_observer(w.id));
  item_destroy(root);
  item_destroy(leaf);
}

static void keep_value(const kvo_value *value, void *arg) { *(seen_value *)arg = see(value); }

static void read_elsewhere(watcher *self, const kvo_change *change) {
  (void)change;
  seen_value seen;
  CHECK_OK(kvo_get_value(self->then_arg, "next.value", keep_value, &seen));
}

TEST("what a callback reads is not observed") {
  item *root = item_make(0), *elsewhere = item_make(1), *leaf = item_make(2);
  elsewhere->next = leaf;
  watcher w = {.then = read_elsewhere, .then_arg = elsewhere};
  watch(root, "next.value", KVO_INITIAL | KVO_NEW, &w);
  CHECK(!kvo_object_is_observed(as_object(elsewhere)));
  CHECK(!kvo_object_is_observed(as_object(leaf)));
  item_set_value(leaf, 3);
  CHECK_EQ(w.calls, 1);
  CHECK_OK(kvo_remove_observer(w.id));
  item_destroy(root);
  item_destroy(elsewhere);
  item_destroy(leaf);
}

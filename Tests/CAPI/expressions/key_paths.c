/* key_paths.c - observations through key paths and of keys that other keys affect. */
#include "made.h"

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
  CHECK_EQ(w.seen_id, w.id);
  CHECK_EQ((int)w.kind, KVO_CHANGE_SETTING);
  CHECK_OK(kvo_remove_observer(w.id));
  CHECK(!kvo_object_is_observed(as_object(leaf)));
  item_destroy(root);
  item_destroy(leaf);
}

TEST("when an intermediate object is replaced, also by nil and by itself, the path follows the new one only") {
  item *root = item_make(0), *first = item_make(1), *second = item_make(2);
  root->next = first;
  watcher w = {0};
  watch(root, "next.value", KVO_NEW | KVO_OLD, &w);
  item_set_next(root, second);
  CHECK_NOTIFIED(w, 1, 1, 2);
  CHECK(!kvo_object_is_observed(as_object(first)));
  item_set_next(root, second); /* itself: a change, and it is still observed once */
  CHECK_EQ(w.calls, 2);
  item_set_value(second, 20);
  CHECK_NEW(w, 3, 20);
  item_set_next(root, NULL);
  CHECK_EQ(w.calls, 4);
  CHECK_EQ(w.old_value.integer, 20);
  CHECK(w.new_value.delivered && w.new_value.nil);
  item_set_value(second, 5);
  CHECK_EQ(w.calls, 4);
  item_set_next(root, first);
  CHECK_EQ(w.calls, 5);
  CHECK(w.old_value.delivered && w.old_value.nil);
  CHECK_EQ(w.new_value.integer, 1);
  CHECK_OK(kvo_remove_observer(w.id));
  item_destroy(root);
  item_destroy(first);
  item_destroy(second);
}

TEST("a path that ends in an object passes the new one only to who asks for it") {
  item *root = item_make(0), *middle = item_make(1);
  root->next = middle;
  watcher w = {0};
  watch(root, "next.next", KVO_OLD | KVO_ENDS_WITH_OBJECT, &w);
  item_set_next(middle, root);
  item_set_next(middle, NULL);
  CHECK_EQ(w.calls, 2);
  CHECK(w.old_value.delivered && !w.new_value.delivered);
  item_destroy(root);
  item_destroy(middle);
}

TEST("a path that led to nil at first has no old object that it does not lead to any more") {
  item *root = item_make(0), *middle = item_make(1), *other = item_make(2), *gone = item_make(3);
  watcher w = {0};
  watch(root, "next.next", KVO_OLD | KVO_NEW | KVO_ENDS_WITH_OBJECT, &w);
  middle->next = gone;
  other->next = root;
  item_set_next(root, middle);
  CHECK(w.new_value.object == gone);
  BEGIN(silent, KVO_SCOPE_SILENCES, root);
  item_set_next(root, other);
  kvo_scope_end(&silent);
  middle->next = NULL;
  item_destroy(gone);
  item_set_next(root, NULL);
  CHECK(w.old_value.object == root);
  item_destroy(root);
  item_destroy(middle);
  item_destroy(other);
}

TEST("a path that leads through its own root object notifies, and can be removed") {
  item *root = item_make(1);
  root->next = root;
  watcher w = {0};
  watch(root, "next.next.value", KVO_NEW | KVO_OLD | KVO_ENDS_WITH_OBJECT, &w);
  item_set_value(root, 2);
  CHECK_NOTIFIED(w, 1, 1, 2);
  item_set_next(root, NULL);
  CHECK_EQ(w.calls, 2);
  CHECK(w.new_value.nil);
  item_set_next(root, root);
  item_destroy(root);
  CHECK_EQ(w.calls, 3); /* its own death does not notify */
  CHECK_EQ(w.destroyed, 1);
}

TEST_REPORTED("an undefined key behind a nil on a path is KVO0009 once, at the change that replaces the nil") {
  ignore_faults();
  item *root = item_make(0), *leaf = item_make(0);
  watcher w = {0};
  watch(root, "next.imaginary", KVO_OLD | KVO_NEW, &w);
  CHECK_EQ(faults.count, 0);
  item_set_next(root, leaf);
  CHECK_FAULTS(1, KVO_FAULT_UNDEFINED_KEY);
  CHECK_CONTAINS(faults.summary, " cannot be followed: Item has no key \"imaginary\", registered at ");
  CHECK_EQ(faults.observation_count, 1);
  CHECK_EQ(faults.first.observation, w.id);
  item_set_next(root, NULL);
  CHECK_EQ(faults.count, 1);
  CHECK_OK(kvo_remove_observer(w.id));
  item_destroy(root);
  item_destroy(leaf);
}

/* ----------------------------------------------------------------------------------------------- Affected keys -- */

TEST("a read-only key notifies when the key that affects it is set, also at the end of a path") {
  item *root = item_make(0), *leaf = item_make(1);
  root->next = leaf;
  watcher direct = {0}, path = {0};
  watch(leaf, "doubled", KVO_NEW | KVO_OLD | KVO_PRIOR, &direct);
  watch(root, "next.doubled", KVO_NEW, &path);
  item_set_value(leaf, 5);
  CHECK_EQ(direct.calls, 1);
  CHECK_EQ(direct.priors, 1);
  CHECK_EQ(direct.old_value.integer, 2);
  CHECK_EQ(direct.new_value.integer, 10);
  CHECK_EQ(direct.key_path, "doubled");
  CHECK_NEW(path, 1, 10);
  item_set_other(leaf, 5);
  CHECK_EQ(direct.calls + path.calls, 2);
  CHECK_OK(kvo_remove_observer(direct.id));
  CHECK_OK(kvo_remove_observer(path.id));
  item_destroy(root);
  item_destroy(leaf);
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

typedef struct circle {
  kvo_object header;
  int a, b;
} circle;

TEST("keys that affect each other in a cycle notify once per set") {
  static const char *const by_a[] = {"a", NULL}, *const by_b[] = {"b", NULL}, *const keys[] = {"a", "b"};
  kvo_property_spec properties[] = {
      {.name = "a", .type = "i", .flags = KVO_PROPERTY_AT_OFFSET, .offset = offsetof(circle, a), .affected_by = by_b},
      {.name = "b", .type = "i", .flags = KVO_PROPERTY_AT_OFFSET, .offset = offsetof(circle, b), .affected_by = by_a}};
  kvo_object *object = object_made("Circle", sizeof(circle), properties, 2);
  watcher w[2] = {{0}};
  for (int i = 0; i < 2; i++) watch_object(object, keys[i], KVO_NEW, &w[i]);
  for (int i = 0; i < 2; i++) {
    CHECK_OK(kvo_set_int64(object, keys[i], 5 + i));
    CHECK_EQ(w[0].calls, i + 1);
    CHECK_EQ(w[1].calls, i + 1);
    CHECK_EQ(w[i].new_value.integer, 5 + i);
  }
  for (int i = 0; i < 2; i++) CHECK_OK(kvo_remove_observer(w[i].id));
  kvo_object_destroy(object);
}

/* -------------------------------------------------------------------------------------------- Within callbacks -- */

static void keep_value(const kvo_value *value, void *arg) { *(seen_value *)arg = see(value); }

static void read_elsewhere(watcher *self, const kvo_change *change) {
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

/* lifetimes_paths.c - the death of an object on the way of a key path: a change to nil, which notifies once. */
#include "scoped.h"

TEST("the death of an intermediate object is a change to nil, and notifies once") {
  item *root = item_make(0), *leaf = item_make(5);
  root->next = leaf;
  watcher w = {0};
  watch(root, "next.value", KVO_NEW | KVO_OLD, &w);
  item_destroy(leaf);
  CHECK_NOTIFIED(w, 1, 5, 0);
  CHECK(w.new_value.delivered && w.new_value.nil);
  root->next = NULL;
  CHECK_OK(kvo_remove_observer(w.id));
  item_destroy(root);
}

TEST("the death of an intermediate object calls observers newest first, as a change does") {
  item *root = item_make(0), *leaf = item_make(5);
  root->next = leaf;
  watcher all[] = {{.tag = 'A'}, {.tag = 'B'}, {.tag = 'C'}};
  for (int i = 0; i < 3; i++) watch(root, i == 1 ? "next.next.value" : "next.value", KVO_NEW, &all[i]);
  trace_clear();
  item_destroy(leaf);
  CHECK_EQ((const char *)trace, "CBA");
  root->next = NULL;
  for (int i = 0; i < 3; i++) CHECK_OK(kvo_remove_observer(all[i].id));
  item_destroy(root);
}

TEST("after the death of an intermediate object another one can be set, and the dead one's memory is not accessed") {
  item *root = item_make(0), *middle = item_make(1), *leaf = item_make(2), *fresh = item_make(3);
  root->next = middle;
  middle->next = leaf;
  watcher w = {0};
  watch(root, "next.next.value", KVO_NEW | KVO_OLD | KVO_PRIOR, &w);
  item_destroy(middle);
  CHECK_NOTIFIED(w, 1, 2, 0);
  CHECK(w.new_value.nil);
  item_set_value(leaf, 20); /* no longer on the path */
  CHECK_EQ(w.calls, 1);
  fresh->next = leaf;
  item_set_next(root, fresh);
  CHECK(w.old_value.nil);
  CHECK_NOTIFIED(w, 2, 0, 20);
  item_set_value(leaf, 21);
  CHECK_NOTIFIED(w, 3, 20, 21);
  CHECK_OK(kvo_remove_observer(w.id));
  item *rest[] = {root, leaf, fresh};
  for (int i = 0; i < 3; i++) item_destroy(rest[i]);
}

TEST("an intermediate object that dies because it is replaced is part of that one change") {
  item *root = item_make(0), *fresh = item_make(6);
  root->next = item_make(5);
  watcher w = {0};
  watch(root, "next.value", KVO_NEW | KVO_OLD, &w);
  replace_next(root, fresh);
  CHECK_NOTIFIED(w, 1, 5, 6);
  item_set_value(fresh, 7);
  CHECK_NOTIFIED(w, 2, 6, 7);
  CHECK_OK(kvo_remove_observer(w.id));
  item_destroy(root);
  item_destroy(fresh);
}

TEST("an object at the address of a dead one inherits none of its observations") {
  item memory = {0}, *root = item_make(0);
  watcher first = {0}, second = {0}, path = {0};
  CHECK_OK(kvo_object_init(as_object(&memory), item_class()));
  root->next = &memory;
  watch(&memory, "value", KVO_ENDS_WITH_OBJECT, &first);
  watch(root, "next.value", KVO_NONE, &path);
  kvo_object_finish(as_object(&memory));
  CHECK_EQ(path.calls, 1);
  CHECK_OK(kvo_object_init(as_object(&memory), item_class()));
  CHECK(!kvo_object_is_observed(as_object(&memory)));
  watch(&memory, "value", KVO_NONE, &second);
  item_set_value(&memory, 2);
  CHECK_EQ(first.calls, 0);
  CHECK_EQ(path.calls, 1);
  CHECK_EQ(second.calls, 1);
  CHECK_STATUS(kvo_cancel_observer(first.id), KVO_ERROR_NOT_REGISTERED);
  CHECK_OK(kvo_remove_observer(second.id));
  CHECK_OK(kvo_remove_observer(path.id));
  kvo_object_finish(as_object(&memory));
  item_destroy(root);
}

static void lead_to_given(watcher *self, const kvo_change *change) {
  item *const *pair = self->then_arg;
  self->then = NULL;
  item_set_next(pair[0], pair[1]);
}

TEST(
    "after a death that left no pointer, what a newer observer changes on the path is delivered with the value delivered last") {
  item *root = item_make(0), *middle = item_make(1), *leaf = item_make(2), *fresh = item_make(3);
  item *other = item_make(4), *last = item_make(5), *pair[] = {root, other};
  root->next = middle;
  middle->next = leaf;
  other->next = last;
  watcher path = {0}, newer = {.then = lead_to_given, .then_arg = pair};
  watch(root, "next.next.value", KVO_NEW | KVO_OLD, &path);
  watch(middle, "next", KVO_NONE, &newer); /* runs first */
  middle->next = NULL;                     /* like a weak reference, which reads as nil when its object dies */
  item_destroy(leaf);
  CHECK_EQ(path.calls, 1);
  CHECK(path.new_value.nil);
  item_set_next(middle, fresh);
  CHECK_EQ(path.calls, 2); /* `middle` is not on the path any more */
  CHECK(path.old_value.delivered && path.old_value.nil);
  CHECK_EQ(path.new_value.integer, 5);
  CHECK_OK(kvo_remove_observer(newer.id));
  CHECK_OK(kvo_remove_observer(path.id));
  item *all[] = {root, middle, fresh, other, last};
  for (int i = 0; i < 5; i++) item_destroy(all[i]);
}

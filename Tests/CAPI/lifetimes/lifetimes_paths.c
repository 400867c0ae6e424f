/* lifetimes_paths.c - the death of an object on the way of a key path: a change to nil, told once. */
#include "fixture.h"

#include <string.h>

TEST("the death of an intermediate object is a change to nil, and notifies once") {
  item *root = item_make(0), *leaf = item_make(5);
  root->next = leaf;
  watcher w = {0};
  watch(root, "next.value", KVO_NEW | KVO_OLD, &w);
  item_destroy(leaf);
  CHECK_EQ(w.calls, 1);
  CHECK_EQ(w.old_value.integer, 5);
  CHECK(w.new_value.told && w.new_value.nil);
  root->next = NULL;
  CHECK_OK(kvo_remove_observer(w.id));
  item_destroy(root);
}

TEST("the death of an intermediate object calls observers newest first, as a change does") {
  item *root = item_make(0), *leaf = item_make(5);
  root->next = leaf;
  watcher a = {.tag = 'A'}, b = {.tag = 'B'}, c = {.tag = 'C'};
  watcher *all[] = {&a, &b, &c};
  for (int i = 0; i < 3; i++) watch(root, i == 1 ? "next.next.value" : "next.value", KVO_NEW, all[i]);
  trace_clear();
  item_destroy(leaf);
  CHECK_EQ((const char *)trace, "CBA");
  root->next = NULL;
  for (int i = 0; i < 3; i++) CHECK_OK(kvo_remove_observer(all[i]->id));
  item_destroy(root);
}

TEST("after the death of an intermediate object a new one can be set, and the dead one's memory is not accessed") {
  item *root = item_make(0), *leaf = item_make(5), *fresh = item_make(6);
  root->next = leaf;
  watcher w = {0};
  watch(root, "next.value", KVO_NEW | KVO_OLD | KVO_PRIOR, &w);
  item_destroy(leaf);
  item_set_next(root, fresh);
  CHECK_EQ(w.calls, 2);
  CHECK(w.old_value.nil);
  CHECK_EQ(w.new_value.integer, 6);
  item_set_value(fresh, 7);
  CHECK_EQ(w.calls, 3);
  CHECK_EQ(w.old_value.integer, 6);
  CHECK_EQ(w.new_value.integer, 7);
  CHECK_OK(kvo_remove_observer(w.id));
  item_destroy(root);
  item_destroy(fresh);
}

TEST("the same holds in the middle of a longer path") {
  item *root = item_make(0), *middle = item_make(1), *leaf = item_make(2), *fresh = item_make(3);
  root->next = middle;
  middle->next = leaf;
  watcher w = {0};
  watch(root, "next.next.value", KVO_NEW | KVO_OLD, &w);
  item_destroy(middle);
  CHECK_EQ(w.calls, 1);
  CHECK_EQ(w.old_value.integer, 2);
  item_set_value(leaf, 20); /* no longer on the path */
  CHECK_EQ(w.calls, 1);
  fresh->next = leaf;
  item_set_next(root, fresh);
  CHECK_EQ(w.calls, 2);
  CHECK(w.old_value.nil);
  CHECK_EQ(w.new_value.integer, 20);
  CHECK_OK(kvo_remove_observer(w.id));
  item_destroy(root);
  item_destroy(leaf);
  item_destroy(fresh);
}

static void set_next_destroying(item *of, item *next) {
  item *before = of->next;
  of->next = next;
  if (before != NULL) item_destroy(before); /* like a setter that owns its value */
}
static item *get_next(const item *of) { return of->next; }

TEST("an intermediate object that dies because it is replaced is part of that one change") {
  kvo_property_spec property = {
      .name = "next", .type = "@", .getter = (kvo_function)get_next, .setter = (kvo_function)set_next_destroying};
  kvo_class_spec spec = {.struct_size = sizeof spec,
                         .name = "Owner",
                         .instance_size = sizeof(item),
                         .properties = &property,
                         .property_count = 1};
  kvo_class *cls;
  kvo_object *made;
  CHECK_OK(kvo_class_register(&spec, &cls));
  CHECK_OK(kvo_object_create(cls, &made));
  item *root = (item *)made, *fresh = item_make(6);
  root->next = item_make(5);
  watcher w = {0};
  watch(root, "next.value", KVO_NEW | KVO_OLD, &w);
  item_set_next(root, fresh);
  CHECK_EQ(w.calls, 1);
  CHECK_EQ(w.old_value.integer, 5);
  CHECK_EQ(w.new_value.integer, 6);
  item_set_value(fresh, 7);
  CHECK_EQ(w.calls, 2);
  CHECK_OK(kvo_remove_observer(w.id));
  kvo_object_destroy(made);
  item_destroy(fresh);
}

TEST("an object at the address of a dead one inherits none of its observations") {
  item memory;
  watcher first = {0}, second = {0}, path = {0};
  item *root = item_make(0);
  memset(&memory, 0, sizeof memory);
  CHECK_OK(kvo_object_init(as_object(&memory), item_class()));
  root->next = &memory;
  watch(&memory, "value", KVO_ENDS_WITH_OBJECT, &first);
  watch(root, "next.value", KVO_NONE, &path);
  kvo_object_finish(as_object(&memory));
  CHECK_EQ(path.calls, 1);
  CHECK_OK(kvo_object_init(as_object(&memory), item_class()));
  CHECK(!kvo_object_is_observed(as_object(&memory)));
  item_set_value(&memory, 1);
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

static void destroy_root(watcher *self, const kvo_change *change) {
  (void)change;
  item_destroy(self->then_arg);
}

TEST("the notification of an intermediate object's death may destroy the root object") {
  item *root = item_make(0), *leaf = item_make(5);
  root->next = leaf;
  watcher w = {.then = destroy_root, .then_arg = root};
  watch(root, "next.value", KVO_NEW | KVO_OLD | KVO_ENDS_WITH_OBJECT, &w);
  item_destroy(leaf);
  CHECK_EQ(w.calls, 1);
  CHECK_EQ(w.destroyed, 1);
  CHECK(!w.destroyed_in_callback);
}

static void destroy_given(watcher *self, const kvo_change *change) {
  (void)change;
  self->then = NULL;
  item_destroy(self->then_arg);
}

TEST("an intermediate object that dies in a callback of its own change is delivered as nil") {
  item *root = item_make(0), *leaf = item_make(5);
  root->next = leaf;
  watcher path = {0}, w = {.then = destroy_given, .then_arg = leaf};
  watch(root, "next.value", KVO_NEW | KVO_OLD, &path);
  watch(leaf, "value", KVO_ENDS_WITH_OBJECT, &w); /* newer, so it runs first */
  item_set_value(leaf, 6);
  CHECK_EQ(path.calls, 1);
  CHECK(path.new_value.told && path.new_value.nil);
  item_set_next(root, NULL);
  CHECK_EQ(path.calls, 2);
  CHECK_OK(kvo_remove_observer(path.id));
  item_destroy(root);
}

TEST("an object that was just put on the path and dies in a later callback of that change is delivered as nil") {
  item *root = item_make(0), *fresh = item_make(5);
  watcher w = {.then = destroy_given, .then_arg = fresh}, path = {0};
  watch(root, "next", KVO_NONE, &w);
  watch(root, "next.value", KVO_NEW | KVO_OLD, &path); /* newer, so it runs first */
  item_set_next(root, fresh);
  CHECK_EQ(path.calls, 2);
  CHECK_EQ(path.old_value.integer, 5);
  CHECK(path.new_value.told && path.new_value.nil);
  item_set_next(root, NULL);
  CHECK_EQ(path.calls, 3);
  CHECK_OK(kvo_remove_observer(w.id));
  CHECK_OK(kvo_remove_observer(path.id));
  item_destroy(root);
}

static void lead_to_given(watcher *self, const kvo_change *change) {
  (void)change;
  item *const *pair = self->then_arg;
  self->then = NULL;
  item_set_next(pair[0], pair[1]);
}

TEST("after a death that left no pointer, what a newer observer changes on the path is told with the value told last") {
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
  CHECK(path.old_value.told && path.old_value.nil);
  CHECK_EQ(path.new_value.integer, 5);
  CHECK_OK(kvo_remove_observer(newer.id));
  CHECK_OK(kvo_remove_observer(path.id));
  item *all[] = {root, middle, fresh, other, last};
  for (int i = 0; i < 5; i++) item_destroy(all[i]);
}

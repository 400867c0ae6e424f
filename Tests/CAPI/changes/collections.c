/* collections.c - functions for bindings that notify changes of collections: kinds and indexes, and mutes during a store. */
#include "holder.h"
#include "shared.h"

/* Notifies an insertion into a key of an object as a binding does, with 7 as the elements. */
static uint32_t insert_at(item *object, const char *name, const size_t *indexes, size_t count) {
  kvo_frame frame;
  int elements = 7;
  uint32_t wants = kvo_frame_begin_change(&frame, as_object(object), key(name), KVO_CHANGE_INSERTION, indexes, count);
  if (wants == 0) return 0;
  if ((wants & KVO_FRAME_WANTS_WILL) != 0) kvo_frame_will(&frame, NULL);
  while (kvo_frame_next(&frame)) kvo_frame_deliver(&frame, NULL, &elements);
  kvo_frame_end(&frame);
  return wants;
}

TEST("a frame with a kind and indexes, if any, delivers both, before and after the change, with its elements") {
  static const size_t indexes[] = {2, 5};
  make_items();
  watcher w = {0};
  watch(a, "value", KVO_NEW | KVO_OLD | KVO_PRIOR, &w);
  for (size_t count = 2, calls = 1; calls < 3; count = 0, calls++) {
    CHECK(insert_at(a, "value", count > 0 ? indexes : NULL, count) != 0);
    CHECK_EQ(w.priors, calls);
    CHECK_EQ(w.calls, calls);
    CHECK_EQ((int)w.kind, KVO_CHANGE_INSERTION);
    CHECK_EQ(w.index_count, count);
    if (count > 0) CHECK_EQ(w.indexes[1], 5);
    CHECK_EQ(w.new_value.integer, 7);
    CHECK(!w.old_value.told);
  }
}

TEST_REPORTED("a frame with a kind between a will and its did is reported: observers are notified twice") {
  make_items();
  watcher w = {0};
  size_t index = 0;
  watch(a, "value", KVO_NEW, &w);
  will(a, "other");
  CHECK(insert_at(a, "value", &index, 1) != 0);
  CHECK_EQ(faults.count, 0);
  will(a, "value");
  CHECK(insert_at(a, "value", &index, 1) != 0);
  CHECK_EQ(faults.count, 1);
  CHECK_EQ((int)faults.code, KVO_FAULT_DOUBLE_NOTIFICATION);
  CHECK_CONTAINS(faults.summary, "\"value\" of Item@");
  CHECK_CONTAINS(faults.summary, " is set between willChange and didChange, and its setter also notifies: ");
  did(a, "value");
  did(a, "other");
}

TEST("kvo_frame_begin_change returns 0 for a manual key and for one that nobody observes") {
  make_items();
  watcher w = {0};
  size_t index = 0;
  watch(a, "quiet", KVO_NEW, &w);
  CHECK_EQ(insert_at(a, "quiet", &index, 1), 0);
  CHECK_EQ(insert_at(a, "value", &index, 1), 0);
  CHECK_EQ(w.calls, 0);
}

TEST("a key path that ends in the key gets kind and indexes, an expression that reads it gets a setting") {
  make_items();
  watcher path = {0}, doubled = {0};
  item_set_next(b, a);
  watch(b, "next.value", KVO_NEW, &path);
  watch(a, "doubled", KVO_NEW, &doubled);
  size_t index = 4;
  CHECK(insert_at(a, "value", &index, 1) != 0);
  CHECK_EQ((int)path.kind, KVO_CHANGE_INSERTION);
  CHECK_EQ(path.indexes[0], 4);
  CHECK_EQ(path.new_value.integer, 7);
  CHECK_EQ((int)doubled.kind, KVO_CHANGE_SETTING);
  CHECK_EQ(doubled.index_count, 0);
  CHECK_EQ(doubled.new_value.integer, 2);
}

/* ------------------------------------------------------------------------------------------------------------- Mutes -- */

static void set_a(void *arg) {
  (void)arg;
  item_set_value(a, 20);
}

TEST("a mute suppresses one change of its key by a setter on its thread, and nothing else") {
  make_items();
  watcher value = {.tag = 'V'}, other = {.tag = 'O'}, second = {.tag = 'S'};
  watch(a, "value", KVO_NONE, &value);
  watch(a, "other", KVO_NONE, &other);
  watch(b, "value", KVO_NONE, &second);
  kvo_mute mute;
  kvo_mute_begin(&mute, as_object(a), key("value"));
  item_set_other(a, 2);
  item_set_value(b, 2);
  join_thread(start_thread(set_a, NULL));
  CHECK_EQ((const char *)trace, "OSV");
  item_set_value(a, 2);
  CHECK_EQ(a->value, 2);
  CHECK_EQ((const char *)trace, "OSV");
  item_set_value(a, 3);
  kvo_mute_end(&mute);
  item_set_value(a, 4);
  CHECK_EQ((const char *)trace, "OSVVV");
}

TEST("mutes nest, each suppresses one change, and one under which nothing was stored ends at kvo_mute_end") {
  make_items();
  watcher w = {0};
  watch(a, "value", KVO_NONE, &w);
  kvo_mute outer, inner, unused;
  kvo_mute_begin(&outer, as_object(a), key("value"));
  kvo_mute_begin(&inner, as_object(a), key("value"));
  item_set_value(a, 2);
  kvo_mute_end(&inner);
  item_set_value(a, 3);
  kvo_mute_begin(&unused, as_object(a), key("value"));
  kvo_mute_end(&unused);
  CHECK_EQ(w.calls, 0);
  item_set_value(a, 4);
  CHECK_EQ(w.calls, 1);
  kvo_mute_end(&outer);
}

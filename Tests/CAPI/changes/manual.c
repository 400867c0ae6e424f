/* manual.c - kvo_will_change and kvo_did_change: pairs match by object and key, nest, and may interleave. */
#include "scoped.h"

TEST("a pair around a store without a setter notifies like a set") {
  make_items();
  watcher w = {0};
  watch(a, "value", KVO_NEW | KVO_OLD | KVO_PRIOR, &w);
  will(a, "value");
  CHECK_EQ(w.priors, 1);
  CHECK_EQ(w.old_value.integer, 1);
  a->value = 2;
  CHECK_EQ(w.calls, 0);
  did(a, "value");
  CHECK_NOTIFIED(w, 1, 1, 2);
}

TEST("nested pairs each notify, with the old value of their own will, and a did without will does not") {
  make_items();
  watcher w = {0};
  watch(a, "value", KVO_NEW | KVO_OLD, &w);
  will(a, "value");
  a->value = 2;
  will(a, "value");
  a->value = 3;
  did(a, "value");
  CHECK_NOTIFIED(w, 1, 2, 3);
  did(a, "value");
  CHECK_NOTIFIED(w, 2, 1, 3);
  CHECK_STATUS(kvo_did_change(as_object(a), "value"), KVO_ERROR_UNBALANCED);
  CHECK_EQ(w.calls, 2);
}

TEST("interleaved pairs of two keys and of two objects match by key and object") {
  make_items();
  watcher value = {.tag = 'V'}, other = {.tag = 'O'}, second = {.tag = 'S'};
  watch(a, "value", KVO_OLD | KVO_PRIOR, &value);
  watch(a, "other", KVO_OLD | KVO_PRIOR, &other);
  watch(b, "value", KVO_OLD | KVO_PRIOR, &second);
  will(a, "value");
  will(a, "other");
  will(b, "value");
  did(a, "value");
  did(b, "value");
  did(a, "other");
  CHECK_EQ((const char *)trace, "vosVSO");
  CHECK_EQ(second.old_value.integer, 2);
}

TEST("a pair for a key that nobody observes is no error and notifies nobody") {
  static const char *const keys[] = {"value", "imaginary", "!0IC=VloaY"}; /* the hash of the last one would be 0 */
  make_items();
  watcher w = {0};
  will(a, "value");
  did(a, "value");
  item_set_next(a, b);
  watch(a, "next.other", KVO_NONE, &w);
  for (int i = 0; i < 3; i++) {
    will(a, keys[i]);
    did(a, keys[i]);
  }
  CHECK_EQ(w.calls, 0);
  CHECK_EQ(faults.count, 0);
}

TEST("the setter of a manual property does not notify, a pair does") {
  make_items();
  watcher w = {0};
  watch(a, "quiet", KVO_NEW, &w);
  KVO_SET(a, "quiet", int, 5);
  CHECK_EQ(a->quiet, 5);
  CHECK_EQ(w.calls, 0);
  set_quietly(a, 6);
  CHECK_NEW(w, 1, 6);
}

TEST("a pair notifies observers of a key path and of an affected key") {
  make_items();
  watcher path = {0}, doubled = {0};
  item_set_next(b, a);
  watch(b, "next.value", KVO_NEW | KVO_OLD, &path);
  watch(a, "doubled", KVO_NEW | KVO_OLD, &doubled);
  will(a, "value");
  a->value = 4;
  did(a, "value");
  CHECK_NOTIFIED(path, 1, 1, 4);
  CHECK_NOTIFIED(doubled, 1, 2, 8);
}

TEST("a path that is led to an object between will and did of an unobserved key is notified of the change") {
  for (int by_binding = 0; by_binding < 2; by_binding++) {
    make_items();
    watcher path = {0};
    watch(a, "next.value", KVO_NEW, &path);
    if (by_binding)
      kvo_binding_will_unobserved(as_object(b), kvo_key_hash("value", 5));
    else
      will(b, "value");
    item_set_next(a, b);
    CHECK_EQ(path.calls, 1);
    b->value = 5;
    did(b, "value");
    CHECK_NEW(path, 2, 5);
  }
}

/* ----------------------------------------------------------------------------------------------------- Getters -- */

static int reads;

static int read_value(const item *of) {
  reads++;
  return of->value;
}

static void store_value(item *of, int value) { of->value = value; }

/* An item, as `a`, whose getter counts its calls. */
static void make_read(void) {
  static const kvo_property_spec value = PROPERTY("value", "i", read_value, store_value);
  make_items();
  a = make_of(class_made("Read", sizeof(item), &value, 1));
}

TEST("a did reads the new value for each observer that wants it, and for no other") {
  make_read();
  watcher plain = {0}, wanting = {0};
  watch(a, "value", KVO_NONE, &plain);
  watch(a, "value", KVO_NEW, &wanting);
  will(a, "value");
  CHECK_EQ(reads, 0);
  a->value = 1;
  did(a, "value");
  CHECK_EQ(reads, 1);
  CHECK_EQ(wanting.new_value.integer, 1);
  CHECK(!plain.new_value.delivered);
}

static void check_unread(watcher *plain, int value) {
  int calls = plain->calls;
  reads = 0;
  item_set_value(a, value);
  CHECK_EQ(plain->calls, calls + 1);
  CHECK_EQ(reads, 0);
}

TEST("the getter is not called after a path that wanted values was removed or leads elsewhere") {
  static const int options[] = {KVO_NEW, KVO_OLD, KVO_OLD | KVO_NEW | KVO_PRIOR};
  make_read();
  watcher plain = {0};
  watch(a, "value", KVO_NONE, &plain);
  for (int i = 0; i < 6; i++) {
    bool is_removed = i < 3;
    watcher path = {0};
    item_set_next(b, a);
    watch(b, "next.value", options[i % 3], &path);
    reads = 0;
    item_set_value(a, 1);
    CHECK(reads > 0);
    CHECK_EQ(path.calls, 1);
    if (is_removed)
      CHECK_OK(kvo_remove_observer(path.id));
    else
      item_set_next(b, NULL);
    check_unread(&plain, 2);
    if (!is_removed) CHECK_OK(kvo_remove_observer(path.id));
  }
}

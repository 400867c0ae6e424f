/* options.c - the content of records for each combination of options, and when they are sent. */
#include "fixture.h"

TEST("each combination of initial, old, new and prior delivers exactly what it asks for, whatever others ask for") {
  for (int options = 0; options < 16; options++) {
    int initial = (options & KVO_INITIAL) != 0, prior = (options & KVO_PRIOR) != 0;
    bool wants_old = (options & KVO_OLD) != 0, wants_new = (options & KVO_NEW) != 0;
    item *object = item_make(1);
    watcher w = {0}, none = {0}, all = {0};
    watch(object, "value", KVO_ENDS_WITH_OBJECT, &none);
    watch(object, "value", KVO_ENDS_WITH_OBJECT | KVO_OLD | KVO_NEW | KVO_PRIOR, &all);
    watch(object, "value", options, &w);
    CHECK_EQ(w.calls, initial); /* before the registration has returned: the present value, and no old one */
    CHECK_EQ(w.priors, 0);
    CHECK(!w.old_value.delivered);
    CHECK_EQ(w.new_value.delivered, initial && wants_new);
    if (w.new_value.delivered) CHECK_EQ(w.new_value.integer, 1);
    item_set_other(object, 5); /* another key */
    CHECK_EQ(w.calls, initial);
    for (int round = 1; round <= 2; round++) { /* the second time with an equal value */
      item_set_value(object, 2);
      CHECK_EQ(w.calls, initial + round);
      CHECK_EQ(w.priors, prior * round);
      CHECK_EQ(w.old_value.delivered, wants_old);
      CHECK_EQ(w.new_value.delivered, wants_new);
      if (wants_old) CHECK_EQ(w.old_value.integer, round);
      if (wants_new) CHECK_EQ(w.new_value.integer, 2);
    }
    CHECK_EQ((int)w.kind, KVO_CHANGE_SETTING);
    CHECK_SAME(w.object, object);
    CHECK_EQ((const char *)w.key_path, "value");
    CHECK(w.seen_id == w.id);
    CHECK_EQ(w.index_count, 0);
    CHECK(!none.old_value.delivered && !none.new_value.delivered);
    CHECK_OK(kvo_remove_observer(w.id));
    item_destroy(object);
  }
}

TEST("an initial notification through a key path has the value at its end, or nil") {
  item *root = item_make(0), *leaf = item_make(9);
  watcher w = {0}, nil = {0};
  watch(root, "next.value", KVO_INITIAL | KVO_NEW, &nil);
  CHECK_EQ(nil.calls, 1);
  CHECK(nil.new_value.delivered && nil.new_value.nil);
  item_set_next(root, leaf);
  watch(root, "next.value", KVO_INITIAL | KVO_NEW, &w);
  CHECK_NEW(w, 1, 9);
  CHECK_EQ(w.key_path, "next.value");
  CHECK_SAME(w.object, root);
  CHECK_OK(kvo_remove_observer(nil.id));
  CHECK_OK(kvo_remove_observer(w.id));
  item_destroy(root);
  item_destroy(leaf);
}

static void check_before(watcher *self, const kvo_change *change) {
  CHECK_EQ(((item *)change->object)->value, change->is_prior ? 1 : 2);
  CHECK_EQ(self->old_value.integer, 1);
  CHECK_EQ(self->new_value.delivered, !change->is_prior);
}

TEST("a prior record comes before the store, with the old value and never the new one") {
  item *object = item_make(1);
  watcher w = {.then = check_before};
  watch(object, "value", KVO_PRIOR | KVO_OLD | KVO_NEW, &w);
  item_set_value(object, 2);
  CHECK_EQ(w.priors, 1);
  CHECK_EQ(w.calls, 1);
  CHECK_OK(kvo_remove_observer(w.id));
  item_destroy(object);
}

TEST("a nil object and a NULL string are delivered as nil, and an old string also after the setter has freed it") {
  item *object = item_make(0), *other = item_make(0);
  watcher next = {0}, name = {0};
  watch(object, "next", KVO_NEW | KVO_OLD, &next);
  watch(object, "name", KVO_NEW | KVO_OLD, &name);
  item_set_next(object, other);
  CHECK(next.old_value.delivered && next.old_value.nil);
  CHECK_SAME(next.new_value.object, other);
  item_set_next(object, NULL);
  CHECK_SAME(next.old_value.object, other);
  CHECK(next.new_value.delivered && next.new_value.nil);
  item_set_name(object, "Ada");
  CHECK(name.old_value.nil);
  CHECK_EQ((const char *)name.new_value.text, "Ada");
  item_set_name(object, NULL);
  CHECK_EQ((const char *)name.old_value.text, "Ada");
  CHECK(name.new_value.nil);
  CHECK_OK(kvo_remove_observer(next.id));
  CHECK_OK(kvo_remove_observer(name.id));
  item_destroy(object);
  item_destroy(other);
}

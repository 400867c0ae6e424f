/* options.c - the content of records for each combination of options, and when they are sent. */
#include "fixture.h"

TEST("each combination of old, new and prior delivers exactly what it asks for") {
  for (int options = 0; options < 16; options++) {
    if ((options & KVO_INITIAL) != 0) continue;
    item *object = item_make(1);
    watcher w = {0};
    watch(object, "value", options, &w);
    CHECK_EQ(w.calls, 0);
    item_set_value(object, 2);
    CHECK_EQ(w.calls, 1);
    CHECK_EQ(w.priors, (options & KVO_PRIOR) != 0);
    CHECK_EQ(w.old_value.told, (options & KVO_OLD) != 0);
    CHECK_EQ(w.new_value.told, (options & KVO_NEW) != 0);
    if (w.old_value.told) CHECK_EQ(w.old_value.integer, 1);
    if (w.new_value.told) CHECK_EQ(w.new_value.integer, 2);
    CHECK_EQ((int)w.kind, KVO_CHANGE_SETTING);
    CHECK_SAME(w.object, object);
    CHECK_EQ(w.key_path, "value");
    CHECK(w.seen_id == w.id);
    CHECK_EQ(w.index_count, 0);
    CHECK_OK(kvo_remove_observer(w.id));
    CHECK_EQ(w.destroyed, 1);
    item_destroy(object);
  }
}

static void check_initial(int options, bool with_new) {
  item *object = item_make(41);
  watcher w = {0};
  watch(object, "value", options, &w);
  CHECK_EQ(w.calls, 1);
  CHECK_EQ(w.priors, 0);
  CHECK_EQ(w.new_value.told, with_new);
  if (with_new) CHECK_EQ(w.new_value.integer, 41);
  CHECK(!w.old_value.told);
  CHECK(w.seen_id == w.id);
  item_set_value(object, 42);
  CHECK_EQ(w.calls, 2);
  CHECK_OK(kvo_remove_observer(w.id));
  item_destroy(object);
}

TEST("initial calls back before the registration returns, without values") { check_initial(KVO_INITIAL, false); }
TEST("initial with new carries the present value") { check_initial(KVO_INITIAL | KVO_NEW, true); }
TEST("initial with old carries no old value") { check_initial(KVO_INITIAL | KVO_OLD | KVO_NEW, true); }
TEST("initial with prior calls back once") { check_initial(KVO_INITIAL | KVO_PRIOR, false); }

TEST("initial through a key path carries the value at its end, or nil") {
  item *root = item_make(0), *leaf = item_make(9);
  watcher w = {0}, nil = {0};
  watch(root, "next.value", KVO_INITIAL | KVO_NEW, &nil);
  CHECK_EQ(nil.calls, 1);
  CHECK(nil.new_value.told && nil.new_value.nil);
  item_set_next(root, leaf);
  watch(root, "next.value", KVO_INITIAL | KVO_NEW, &w);
  CHECK_EQ(w.calls, 1);
  CHECK_EQ(w.new_value.integer, 9);
  CHECK_EQ(w.key_path, "next.value");
  CHECK_SAME(w.object, root);
  CHECK_OK(kvo_remove_observer(nil.id));
  CHECK_OK(kvo_remove_observer(w.id));
  item_destroy(root);
  item_destroy(leaf);
}

static void check_before(watcher *self, const kvo_change *change) {
  item *object = (item *)change->object;
  if (!change->is_prior) {
    CHECK_EQ(object->value, 2);
    return;
  }
  CHECK_EQ(object->value, 1); /* before the store */
  CHECK_EQ(self->old_value.integer, 1);
  CHECK(!self->new_value.told);
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

TEST("setting an equal value notifies") {
  item *object = item_make(1);
  watcher w = {0};
  watch(object, "value", KVO_NEW | KVO_OLD, &w);
  for (int i = 0; i < 3; i++) item_set_value(object, 1);
  CHECK_EQ(w.calls, 3);
  CHECK_EQ(w.old_value.integer, 1);
  CHECK_EQ(w.new_value.integer, 1);
  CHECK_OK(kvo_remove_observer(w.id));
  item_destroy(object);
}

TEST("a nil object and a NULL string are delivered as nil") {
  item *object = item_make(0), *other = item_make(0);
  watcher next = {0}, name = {0};
  watch(object, "next", KVO_NEW | KVO_OLD, &next);
  watch(object, "name", KVO_NEW | KVO_OLD, &name);
  item_set_next(object, other);
  CHECK(next.old_value.told && next.old_value.nil);
  CHECK_SAME(next.new_value.object, other);
  item_set_next(object, NULL);
  CHECK_SAME(next.old_value.object, other);
  CHECK(next.new_value.told && next.new_value.nil);
  item_set_name(object, "Ada");
  CHECK(name.old_value.nil);
  CHECK_EQ((const char *)name.new_value.text, "Ada");
  item_set_name(object, "Grace");
  CHECK_EQ((const char *)name.old_value.text, "Ada"); /* which the setter has freed */
  item_set_name(object, NULL);
  CHECK_EQ((const char *)name.old_value.text, "Grace");
  CHECK(name.new_value.nil);
  CHECK_OK(kvo_remove_observer(next.id));
  CHECK_OK(kvo_remove_observer(name.id));
  item_destroy(object);
  item_destroy(other);
}

TEST("one observer's options do not change what another one gets") {
  item *object = item_make(1);
  watcher none = {0}, both = {0};
  watch(object, "value", KVO_NONE, &none);
  watch(object, "value", KVO_NEW | KVO_OLD | KVO_PRIOR, &both);
  item_set_value(object, 2);
  CHECK_EQ(none.calls, 1);
  CHECK_EQ(none.priors, 0);
  CHECK(!none.old_value.told && !none.new_value.told);
  CHECK(both.old_value.told && both.new_value.told);
  CHECK_OK(kvo_remove_observer(none.id));
  CHECK_OK(kvo_remove_observer(both.id));
  item_destroy(object);
}

static watcher late;

static void register_late(watcher *self, const kvo_change *change) {
  (void)self;
  if (change->is_prior) watch((item *)change->object, "value", KVO_NEW | KVO_INITIAL, &late);
}

TEST("one observer's options do not change what one gets that is registered during the change") {
  item *object = item_make(1);
  late = (watcher){.tag = 'l'};
  watcher registrar = {.tag = 'r', .then = register_late};
  watch(object, "value", KVO_OLD | KVO_PRIOR, &registrar);
  item_set_value(object, 2);
  CHECK_EQ(late.calls, 2);
  CHECK(!late.old_value.told);
  CHECK_EQ(late.new_value.integer, 2);
  CHECK_OK(kvo_remove_observer(late.id));
  CHECK_OK(kvo_remove_observer(registrar.id));
  item_destroy(object);
}

TEST("a change of one key does not notify observers of another") {
  item *object = item_make(1);
  watcher w = {0};
  watch(object, "other", KVO_NONE, &w);
  item_set_value(object, 2);
  CHECK_EQ(w.calls, 0);
  item_set_other(object, 2);
  CHECK_EQ(w.calls, 1);
  CHECK_OK(kvo_remove_observer(w.id));
  item_destroy(object);
}

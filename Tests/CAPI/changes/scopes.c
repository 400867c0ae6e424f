/* scopes.c - scopes of a thread that coalesce: a key that changes several times is notified once, at the end. */
#include "scoped.h"

TEST(
    "a key that changes several times in a scope is notified once, at its end, with the value before and the one after") {
  static const kvo_property_spec value = AT_OFFSET(item, value, "i");
  make_items();
  item *at_offset = make_of(class_made("AtOffset", sizeof(item), &value, 1)), *const objects[] = {a, at_offset};
  for (int n = 0; n < 2; n++) {
    item *object = objects[n];
    watcher w = {0};
    object->value = 1;
    watch(object, "value", KVO_OLD | KVO_NEW, &w);
    BEGIN(scope, KVO_SCOPE_COALESCES, object, b);
    for (int i = 10; i < 20; i++) {
      item_set_value(object, i);
      CHECK_EQ(object->value, i);
    }
    CHECK_EQ(w.calls, 0);
    kvo_scope_end(&scope);
    CHECK_NOTIFIED(w, 1, 1, 19);
    item_set_value(object, 20);
    CHECK_NOTIFIED(w, 2, 19, 20);
    CHECK_OK(kvo_remove_observer(w.id));
  }
  kvo_object_destroy(as_object(at_offset));
  CHECK_EQ(faults.count, 0);
}

TEST("several keys and objects are notified in the order of their first changes, each newest observer first") {
  make_items();
  watcher w[] = {{.tag = 'V'}, {.tag = 'W'}, {.tag = 'O'}, {.tag = 'B'}, {.tag = 'C'}};
  watch(a, "value", KVO_NONE, &w[0]);
  watch(a, "value", KVO_NONE, &w[1]);
  watch(a, "other", KVO_NONE, &w[2]);
  watch(b, "value", KVO_NONE, &w[3]);
  watch(c, "value", KVO_NONE, &w[4]);
  BEGIN(scope, KVO_SCOPE_COALESCES, b, a);
  item_set_value(b, 1);
  item_set_other(a, 1);
  item_set_value(a, 1);
  item_set_value(b, 2);
  CHECK_EQ(trace, "");
  item_set_value(c, 1); /* not an object of the scope */
  CHECK_EQ(trace, "C");
  kvo_scope_end(&scope);
  CHECK_EQ(trace, "CBOWV");
}

TEST("an old string is the one before the scope, and so is an old object") {
  make_items();
  item_set_name(a, "Ada");
  watcher name = {0}, next = {0};
  watch(a, "name", KVO_OLD | KVO_NEW, &name);
  watch(a, "next", KVO_OLD | KVO_NEW, &next);
  BEGIN(scope, KVO_SCOPE_COALESCES, a);
  item_set_name(a, "Bob");
  item_set_name(a, "Cid");
  item_set_next(a, b);
  item_set_next(a, c);
  kvo_scope_end(&scope);
  CHECK_EQ(name.old_value.text, "Ada");
  CHECK_EQ(name.new_value.text, "Cid");
  CHECK(next.old_value.nil);
  CHECK_SAME(next.new_value.object, c);
}

TEST("scopes nest: a key is notified once, at the end of the outermost scope of its object") {
  make_items();
  watcher w = {0}, other = {0};
  watch(a, "value", KVO_OLD | KVO_NEW, &w);
  watch(b, "value", KVO_OLD | KVO_NEW, &other);
  BEGIN(outer, KVO_SCOPE_COALESCES, a);
  item_set_value(a, 5);
  BEGIN(inner, KVO_SCOPE_COALESCES, a, b);
  item_set_value(a, 6);
  item_set_value(b, 7);
  item_set_value(b, 8);
  kvo_scope_end(&inner);
  CHECK_EQ(w.calls, 0);
  CHECK_NOTIFIED(other, 1, 2, 8);
  kvo_scope_end(&outer);
  CHECK_NOTIFIED(w, 1, 1, 6);
}

TEST("observers that want notifications before changes are notified before the first change") {
  make_items();
  watcher w = {.tag = 'W'};
  watch(a, "value", KVO_OLD | KVO_NEW | KVO_PRIOR, &w);
  BEGIN(scope, KVO_SCOPE_COALESCES, a);
  item_set_value(a, 5);
  CHECK_EQ(trace, "w");
  CHECK_EQ(w.old_value.integer, 1);
  item_set_value(a, 6);
  kvo_scope_end(&scope);
  CHECK_EQ(trace, "wW");
  CHECK_NOTIFIED(w, 1, 1, 6);
}

TEST("changes announced by hand are notified once as well, and a setter between will and did is no misuse") {
  make_items();
  watcher w = {0}, value = {0};
  watch(a, "quiet", KVO_OLD | KVO_NEW, &w);
  watch(a, "value", KVO_OLD | KVO_NEW, &value);
  BEGIN(scope, KVO_SCOPE_COALESCES, a);
  for (int i = 1; i < 5; i++) set_quietly(a, i);
  will(a, "value");
  item_set_value(a, 2);
  did(a, "value");
  CHECK_EQ(w.calls + value.calls, 0);
  kvo_scope_end(&scope);
  CHECK_NOTIFIED(w, 1, 0, 4);
  CHECK_NOTIFIED(value, 1, 1, 2);
  CHECK_EQ(faults.count, 0);
}

TEST(
    "an observation that ends in the scope is not notified, and one that begins before the last change is, with the value before the scope") {
  make_items();
  watcher removed = {0}, late = {0}, never = {0}, stays = {0};
  watch(a, "value", KVO_OLD | KVO_NEW, &removed);
  watch(a, "value", KVO_OLD | KVO_NEW, &stays);
  BEGIN(scope, KVO_SCOPE_COALESCES, a);
  item_set_value(a, 2);
  item_set_value(a, 3);
  CHECK_OK(kvo_remove_observer(removed.id));
  watch(a, "value", KVO_OLD | KVO_NEW | KVO_PRIOR, &late);
  item_set_value(a, 4);
  CHECK_EQ(late.priors, 1);
  item_set_value(a, 5);
  watch(a, "value", KVO_OLD | KVO_NEW, &never);
  kvo_scope_end(&scope);
  CHECK_EQ(removed.calls, 0);
  CHECK_NOTIFIED(stays, 1, 1, 5);
  CHECK_NOTIFIED(late, 1, 1, 5);
  CHECK_EQ(never.calls, 0);
  item_set_value(a, 6);
  CHECK_NOTIFIED(stays, 2, 5, 6);
  CHECK_NOTIFIED(late, 2, 5, 6);
  CHECK_NOTIFIED(never, 1, 5, 6);
}

TEST("a scope without objects covers all that its thread changes, also an object that is made or destroyed in it") {
  make_items();
  watcher first = {0}, made = {0}, destroyed = {0};
  watch(a, "value", KVO_OLD | KVO_NEW, &first);
  watch(c, "value", KVO_NEW | KVO_ENDS_WITH_OBJECT, &destroyed);
  kvo_scope scope;
  CHECK_OK(kvo_scope_begin(&scope, KVO_SCOPE_COALESCES, NULL, 0, NULL, 0));
  item *late = item_make(4);
  watch(late, "value", KVO_OLD | KVO_NEW, &made);
  item *const all[] = {a, c, late};
  for (int i = 0; i < 3; i++) item_set_value(all[i], 19);
  item_destroy(c);
  CHECK_EQ(first.calls + made.calls, 0);
  kvo_scope_end(&scope);
  CHECK_NOTIFIED(first, 1, 1, 19);
  CHECK_NOTIFIED(made, 1, 4, 19);
  CHECK_EQ(destroyed.calls, 0);
  CHECK_OK(kvo_scope_begin(&scope, KVO_SCOPE_SILENCES, NULL, 0, NULL, 0));
  item_set_value(a, 20);
  kvo_scope_end(&scope);
  CHECK_EQ(first.calls, 1);
  kvo_object *none[1] = {NULL}; /* an array of no objects covers none */
  CHECK_OK(kvo_scope_begin(&scope, KVO_SCOPE_SILENCES, none, 0, NULL, 0));
  item_set_value(a, 21);
  CHECK_EQ(first.calls, 2);
  kvo_scope_end(&scope);
  CHECK_EQ(faults.count, 0);
}

/* -------------------------------------------------------------------------------------------------- If changed -- */

TEST("a scope for differences does not notify of a key that has its old value again, or no string as before") {
  make_items();
  item_set_name(a, "Ada");
  watcher value = {0}, other = {0}, name = {0}, no_name = {0}, new_name = {0}, twice = {0};
  watch(a, "value", KVO_NEW, &value);
  watch(a, "other", KVO_OLD | KVO_NEW, &other);
  watch(a, "doubled", KVO_NONE, &twice);
  watch(a, "name", KVO_NONE, &name);
  watch(b, "name", KVO_NONE, &no_name);
  watch(c, "name", KVO_OLD | KVO_NEW, &new_name);
  BEGIN(scope, KVO_SCOPE_COALESCES_IF_CHANGED, a, b, c);
  item_set_value(a, 7);
  item_set_other(a, 7);
  item_set_name(a, "Bob");
  item_set_name(b, "Bob");
  item_set_name(c, "Bob");
  item_set_value(a, 1);
  item_set_name(a, "Ada");
  item_set_name(b, NULL);
  kvo_scope_end(&scope);
  CHECK_EQ(value.calls + twice.calls + name.calls + no_name.calls, 0);
  CHECK_NOTIFIED(other, 1, 0, 7);
  CHECK_EQ(new_name.calls, 1);
  CHECK(new_name.old_value.nil);
  CHECK_EQ(new_name.new_value.text, "Bob");
}

TEST("a sum whose parts differ, but not the sum, is not notified; the parts are") {
  make_items();
  watcher w = {0};
  total sum = {.of = {a, b}};
  watch(a, "value", KVO_OLD | KVO_NEW, &w);
  watch_total(&sum, KVO_OLD | KVO_NEW);
  BEGIN(scope, KVO_SCOPE_COALESCES_IF_CHANGED, a, b);
  item_set_value(a, 2);
  item_set_value(b, 1);
  kvo_scope_end(&scope);
  CHECK_EQ(sum.calls, 0);
  CHECK_NOTIFIED(w, 1, 1, 2);
}

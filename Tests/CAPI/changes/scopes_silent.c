/* scopes_silent.c - scopes that silence: nobody is told, and expressions are right at their next change. */
#include "scoped.h"

TEST("in a silent scope nobody is told, by a setter or by hand, and expressions are right at their next change") {
  make_items();
  watcher w = {0}, quiet = {0}, path = {0}, leaf = {0};
  item_set_next(a, b);
  watch(a, "value", KVO_OLD | KVO_NEW | KVO_PRIOR, &w);
  watch(a, "quiet", KVO_OLD | KVO_NEW, &quiet);
  watch(a, "next.value", KVO_OLD | KVO_NEW, &path);
  watch(a, "next.value", KVO_NEW, &leaf);
  BEGIN(scope, KVO_SCOPE_SILENCES, a);
  item_set_value(a, 5);
  set_quietly(a, 5);
  item_set_next(a, c);
  CHECK_EQ(w.calls + w.priors + quiet.calls + path.calls + leaf.calls, 0);
  item_set_value(c, 6);      /* another object */
  CHECK_TOLD(path, 1, 2, 6); /* 3 was told nobody */
  CHECK_EQ(leaf.calls, 1);
  kvo_scope_end(&scope);
  CHECK_EQ(w.calls + w.priors + quiet.calls, 0);
  item_set_value(b, 7);
  CHECK_EQ(path.calls, 1);
  item_set_value(a, 8);
  CHECK_TOLD(w, 1, 5, 8);
  item_set_value(c, 9);
  CHECK_TOLD(path, 2, 6, 9);
  item_set_next(a, b);
  CHECK_TOLD(path, 3, 9, 7);
  CHECK_EQ(faults.count, 0);
}

TEST("in a silent scope no binding sets its target, by a setter or by hand, and the next change does") {
  make_items();
  kvo_observation id[2];
  CHECK_OK(kvo_bind(as_object(b), "value", as_object(a), "quiet", &id[0]));
  CHECK_OK(kvo_bind(as_object(c), "value", as_object(a), "value", &id[1]));
  BEGIN(scope, KVO_SCOPE_SILENCES, a);
  set_quietly(a, 50);
  item_set_value(a, 60);
  kvo_scope_end(&scope);
  CHECK(b->value != 50 && c->value != 60);
  set_quietly(a, 70);
  item_set_value(a, 80);
  CHECK_EQ(b->value, 70);
  CHECK_EQ(c->value, 80);
  for (int i = 0; i < 2; i++) CHECK_OK(kvo_remove_observer(id[i]));
}

static watcher late;

static void register_and_set_silently(watcher *self, const kvo_change *change) {
  if (!change->is_prior || self->priors != 1) return;
  BEGIN(scope, KVO_SCOPE_SILENCES, a);
  watch(a, "next.value", KVO_OLD | KVO_NEW, &late);
  item_set_next(a, c);
  kvo_scope_end(&scope);
}

TEST("an observer that registers during a change is not told of it because of a silent change there") {
  make_items();
  late = (watcher){0};
  watcher w = {.then = register_and_set_silently};
  watch(a, "next", KVO_PRIOR, &w);
  item_set_next(a, b);
  CHECK_EQ(late.calls, 0);
  item_set_value(b, 7);
  CHECK_TOLD(late, 1, 2, 7);
}

TEST("silent changes may end in any order, and the expressions then follow the new objects") {
  enum { MANY = 40 };
  for (int first = 0; first < MANY; first += 7) {
    make_items();
    item *roots[MANY];
    kvo_object *objects[MANY];
    watcher w[MANY] = {{0}};
    for (int i = 0; i < MANY; i++) {
      roots[i] = item_make(0);
      objects[i] = as_object(roots[i]);
      item_set_next(roots[i], a);
      watch(roots[i], "next.value", KVO_NEW | KVO_OLD, &w[i]);
    }
    kvo_scope scope;
    CHECK_OK(kvo_scope_begin(&scope, KVO_SCOPE_SILENCES, objects, MANY, NULL, 0));
    for (int i = 0; i < MANY; i++) CHECK_OK(kvo_will_change(objects[i], "next"));
    for (int i = 0; i < MANY; i++) {
      int ended = (first + 3 * i) % MANY;
      roots[ended]->next = b;
      CHECK_OK(kvo_did_change(objects[ended], "next"));
    }
    kvo_scope_end(&scope);
    item_set_value(b, 7);
    for (int i = 0; i < MANY; i++) {
      CHECK_TOLD(w[i], 1, 1, 7);
      CHECK_OK(kvo_remove_observer(w[i].id));
      item_destroy(roots[i]);
    }
    destroy_items();
  }
}

TEST("nobody is told of the death of a replaced object while any number of silent changes are open") {
  enum { MANY = 40 };
  make_items();
  item *roots[MANY], *next[MANY];
  kvo_object *objects[MANY];
  watcher w[MANY] = {{0}};
  for (int i = 0; i < MANY; i++) {
    roots[i] = item_make(0);
    objects[i] = as_object(roots[i]);
    item_set_next(roots[i], next[i] = item_make(i));
    watch(roots[i], "next.value", KVO_NEW | KVO_OLD, &w[i]);
  }
  kvo_scope scope;
  CHECK_OK(kvo_scope_begin(&scope, KVO_SCOPE_SILENCES, objects, MANY, NULL, 0));
  for (int i = 0; i < MANY; i++) CHECK_OK(kvo_will_change(objects[i], "next"));
  for (int i = 0; i < MANY; i++) {
    roots[i]->next = NULL;
    item_destroy(next[i]);
  }
  for (int i = 0; i < MANY; i++) CHECK_OK(kvo_did_change(objects[i], "next"));
  kvo_scope_end(&scope);
  for (int i = 0; i < MANY; i++) {
    CHECK_EQ(w[i].calls, 0);
    CHECK_OK(kvo_remove_observer(w[i].id));
    item_destroy(roots[i]);
  }
  CHECK_EQ(faults.count, 0);
  destroy_items();
}

TEST("in a silent scope a store that releases the old object is silent, also for what that object owned") {
  make_items();
  watcher path = {0}, longer = {0}, other = {0};
  item *last = item_make(4);
  b->next = last;
  item_set_next(a, b);
  watch(a, "next.value", KVO_OLD | KVO_NEW, &path);
  watch(a, "next.next.value", KVO_OLD | KVO_NEW, &longer);
  watch(a, "other", KVO_OLD | KVO_NEW, &other);
  BEGIN(scope, KVO_SCOPE_SILENCES, a);
  replace_next(a, c);
  CHECK_EQ(path.calls + longer.calls, 0);
  kvo_scope_end(&scope);
  item *next = item_make(5);
  BEGIN(wider, KVO_SCOPE_SILENCES, a, c, next);
  replace_next(a, next);
  kvo_scope_end(&wider);
  CHECK_EQ(path.calls + longer.calls, 0);
  item_set_value(next, 6);
  CHECK_TOLD(path, 1, 2, 6);
  item_set_next(next, item_make(7));
  CHECK_EQ(longer.calls, 1);
  CHECK_EQ(longer.old_value.integer, 4);
  CHECK_EQ(longer.new_value.integer, 7);
  CHECK_EQ(faults.count, 0);
}

TEST(
    "in a silent scope a store between will and did that releases the old object is silent, and so is one without them") {
  make_items();
  watcher path = {0};
  item_set_next(a, b);
  watch(a, "next.value", KVO_OLD | KVO_NEW, &path);
  BEGIN(scope, KVO_SCOPE_SILENCES, a);
  CHECK_OK(kvo_will_change(as_object(a), "next"));
  a->next = c;
  item_destroy(b);
  CHECK_OK(kvo_did_change(as_object(a), "next"));
  item *next = item_make(4);
  CHECK_OK(kvo_will_change(as_object(a), "next"));
  replace_next(a, next);
  CHECK_OK(kvo_did_change(as_object(a), "next"));
  CHECK_EQ(path.calls, 0);
  kvo_scope_end(&scope);
  CHECK_EQ(path.calls, 0);
  item_set_value(next, 5);
  CHECK_TOLD(path, 1, 2, 5);
  CHECK_EQ(faults.count, 0);
}

TEST(
    "a death in a silent scope that is not that of a silent change is told: before the store, after it, and elsewhere") {
  make_items();
  watcher path = {0}, other = {0};
  item *root = item_make(0);
  item_set_next(a, b);
  item_set_next(root, c);
  watch(a, "next.value", KVO_OLD | KVO_NEW, &path);
  watch(root, "next.value", KVO_OLD | KVO_NEW, &other);
  BEGIN(scope, KVO_SCOPE_SILENCES, a);
  item_set_value(a, 5);
  root->next = NULL; /* a weak reference */
  item_destroy(c);
  CHECK_EQ(other.calls, 1);
  CHECK(other.new_value.nil);
  a->next = NULL;
  item_destroy(b);
  CHECK_EQ(path.calls, 1);
  CHECK(path.new_value.nil);
  kvo_scope_end(&scope);
  CHECK_EQ(path.calls + other.calls, 2);
}

TEST("a store that was left with longjmp in a silent scope silences no later death") {
  make_items();
  static watcher path;
  item_set_next(a, b);
  watch(a, "next.value", KVO_OLD | KVO_NEW, &path);
  BEGIN(scope, KVO_SCOPE_SILENCES, a);
  kvo_frame frame;
  CHECK_EQ(kvo_frame_begin(&frame, as_object(a), kvo_key_hash("next", 4)), 0); /* and no kvo_binding_stored */
  kvo_scope_end(&scope);
  BEGIN(again, KVO_SCOPE_SILENCES, a);
  a->next = NULL;
  item_destroy(b);
  CHECK_EQ(path.calls, 1);
  kvo_scope_end(&again);
}

TEST(
    "silence wins over coalescing, whichever scope is inside; what changed outside of the silence is told at the end") {
  make_items();
  watcher w = {0};
  watch(a, "value", KVO_OLD | KVO_NEW, &w);
  BEGIN(outer, KVO_SCOPE_COALESCES, a);
  BEGIN(silent, KVO_SCOPE_SILENCES, a);
  item_set_value(a, 5);
  kvo_scope_end(&silent);
  kvo_scope_end(&outer);
  CHECK_EQ(w.calls, 0);
  BEGIN(again, KVO_SCOPE_SILENCES, a);
  BEGIN(inner, KVO_SCOPE_COALESCES, a);
  item_set_value(a, 6);
  kvo_scope_end(&inner);
  CHECK_EQ(w.calls, 0);
  kvo_scope_end(&again);
  CHECK_EQ(w.calls, 0);
  item_set_value(a, 7);
  CHECK_TOLD(w, 1, 6, 7);
}

TEST("a silent change within a coalescing scope keeps no notification from its end") {
  make_items();
  watcher w = {0}, old = {0};
  watch(a, "next.value", KVO_NEW, &w);
  watch(a, "next.value", KVO_OLD | KVO_NEW, &old);
  BEGIN(scope, KVO_SCOPE_COALESCES, a, b);
  item_set_next(a, b);
  BEGIN(silent, KVO_SCOPE_SILENCES, a);
  item_set_next(a, c);
  kvo_scope_end(&silent);
  CHECK_EQ(w.calls + old.calls, 0);
  kvo_scope_end(&scope);
  CHECK_EQ(w.calls, 1);
  CHECK_EQ(w.new_value.integer, 3);
  CHECK_EQ(old.calls, 1);
  CHECK_EQ(old.new_value.integer, 3);
}

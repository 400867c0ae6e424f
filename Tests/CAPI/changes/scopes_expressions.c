/* scopes_expressions.c - expressions in a scope that coalesces: each is told once, at the end, with the objects that it then reads. */
#include "scoped.h"

TEST("an expression that reads several keys is told once, with its values before the scope and after it") {
  make_items();
  total sum = {.of = {a, b, c}};
  watch_total(&sum, KVO_OLD | KVO_NEW | KVO_PRIOR);
  BEGIN(scope, KVO_SCOPE_COALESCES, a, b, c);
  item_set_value(a, 10);
  item_set_value(b, 20);
  item_set_value(c, 30);
  item_set_value(a, 40);
  CHECK_EQ(sum.calls, 0);
  CHECK_EQ(sum.priors, 1);
  kvo_scope_end(&scope);
  CHECK_EQ(sum.calls, 1);
  CHECK_EQ(sum.old_value, 6);
  CHECK_EQ(sum.new_value, 90);
  item_set_value(c, 31);
  CHECK_EQ(sum.calls, 2);
  CHECK_EQ(sum.old_value, 90);
  CHECK_EQ(sum.new_value, 91);
}

TEST("with nested scopes of its keys it is told at the end of the outermost in which one of them changed") {
  make_items();
  for (int inner_first = 0; inner_first < 2; inner_first++) {
    a->value = 1;
    b->value = 2;
    total sum = {.of = {a, b}};
    watch_total(&sum, KVO_OLD | KVO_NEW);
    BEGIN(outer, KVO_SCOPE_COALESCES, a);
    if (!inner_first) item_set_value(a, 10);
    BEGIN(inner, KVO_SCOPE_COALESCES, b);
    item_set_value(b, 20);
    if (inner_first) item_set_value(a, 10);
    kvo_scope_end(&inner);
    CHECK_EQ(sum.calls, 0);
    kvo_scope_end(&outer);
    CHECK_EQ(sum.calls, 1);
    CHECK_EQ(sum.old_value, 3);
    CHECK_EQ(sum.new_value, 30);
    CHECK_OK(kvo_remove_observer(sum.id));
  }
}

TEST("a path follows the objects that it is led to in a scope, and is told once") {
  make_items();
  watcher path = {0}, leaf = {0}, twice = {0};
  item_set_next(a, b);
  watch(a, "next.value", KVO_OLD | KVO_NEW, &path);
  watch(a, "next.value", KVO_NEW, &leaf);
  watch(a, "doubled", KVO_OLD | KVO_NEW, &twice);
  BEGIN(scope, KVO_SCOPE_COALESCES, a, b, c);
  item_set_value(b, 20);
  item_set_next(a, c);
  item_set_value(c, 30);
  item_set_value(a, 4);
  kvo_scope_end(&scope);
  CHECK_TOLD(path, 1, 2, 30);
  CHECK_EQ(leaf.calls, 1);
  CHECK_EQ(leaf.new_value.integer, 30);
  CHECK_TOLD(twice, 1, 2, 8);
  item_set_value(b, 21);
  CHECK_EQ(path.calls, 1);
  item_set_value(c, 31);
  CHECK_TOLD(path, 2, 30, 31);
  CHECK_EQ(leaf.calls, 2);
  CHECK_EQ(faults.count, 0);
}

TEST("an expression whose intermediate object dies in the scope is told at the end, once") {
  make_items();
  watcher path = {0};
  item_set_next(a, b);
  watch(a, "next.value", KVO_OLD | KVO_NEW, &path);
  BEGIN(scope, KVO_SCOPE_COALESCES, a, b);
  item_set_value(b, 20);
  item_set_next(a, c);
  item_destroy(b);
  CHECK_EQ(path.calls, 0);
  kvo_scope_end(&scope);
  CHECK_TOLD(path, 1, 2, 3);
}

TEST("a store that releases the old object in a scope is told at its end, once, with the value from before") {
  make_items();
  watcher path = {0}, leaf = {0};
  item_set_next(a, b);
  watch(a, "next.value", KVO_OLD | KVO_NEW, &path);
  watch(a, "next.value", KVO_NEW, &leaf);
  item *last = item_make(4);
  for (int by_hand = 0; by_hand < 2; by_hand++) {
    BEGIN(scope, KVO_SCOPE_COALESCES, a);
    if (by_hand) CHECK_OK(kvo_will_change(as_object(a), "next"));
    replace_next(a, by_hand ? last : c);
    if (by_hand) CHECK_OK(kvo_did_change(as_object(a), "next"));
    CHECK_EQ(path.calls, by_hand);
    CHECK_EQ(leaf.calls, by_hand);
    kvo_scope_end(&scope);
    CHECK_TOLD(path, by_hand + 1, 2 + by_hand, 3 + by_hand);
    CHECK_EQ(leaf.calls, by_hand + 1);
  }
  CHECK_EQ(faults.count, 0);
}

TEST("a store that a binding makes for a change of its own, and that releases the old object, is told once") {
  make_items();
  watcher path = {0};
  item_set_next(a, b);
  watch(a, "next.value", KVO_OLD | KVO_NEW, &path);
  item *next[] = {c, item_make(4)};
  for (int silent = 0; silent < 2; silent++) {
    kvo_object *objects[] = {as_object(a)};
    kvo_scope scope;
    if (silent) CHECK_OK(kvo_scope_begin(&scope, KVO_SCOPE_SILENCES, objects, 1, NULL, 0));
    kvo_key key = kvo_key_hash("next", 4);
    kvo_frame frame;
    uint32_t wants = kvo_frame_begin_change(&frame, as_object(a), key, KVO_CHANGE_SETTING, NULL, 0);
    if ((wants & KVO_FRAME_WANTS_WILL) != 0) kvo_frame_will(&frame, NULL);
    kvo_mute mute;
    kvo_mute_begin(&mute, as_object(a), key);
    replace_next(a, next[silent]);
    kvo_mute_end(&mute);
    if (wants != 0)
      kvo_frame_finish(&frame, NULL);
    else
      kvo_binding_stored(as_object(a), key);
    if (silent) kvo_scope_end(&scope);
    CHECK_TOLD(path, 1, 2, 3);
  }
}

TEST("a paused expression whose intermediate object dies in a store has missed one change") {
  make_items();
  watcher path = {0};
  item_set_next(a, b);
  watch(a, "next.value", KVO_OLD | KVO_NEW, &path);
  CHECK_OK(kvo_observation_pause(path.id));
  replace_next(a, c);
  CHECK_EQ(path.calls, 0);
  CHECK_OK(kvo_observation_resume(path.id, true));
  CHECK_TOLD(path, 1, 2, 3);
  item_set_value(c, 4);
  CHECK_TOLD(path, 2, 3, 4);
}

TEST("an expression that a scope will tell is told there only, also of its changes outside of the scope") {
  make_items();
  total sum = {.of = {a, b}};
  watcher path = {0}, direct = {0};
  watch_total(&sum, KVO_OLD | KVO_NEW | KVO_PRIOR);
  item_set_next(a, b);
  watch(a, "next.value", KVO_OLD | KVO_NEW, &path);
  watch(b, "value", KVO_OLD | KVO_NEW, &direct);
  BEGIN(scope, KVO_SCOPE_COALESCES, a);
  item_set_value(b, 20); /* no key of the scope has changed yet */
  CHECK_EQ(sum.calls, 1);
  CHECK_EQ(sum.old_value, 3);
  CHECK_EQ(sum.new_value, 21);
  CHECK_TOLD(path, 1, 2, 20);
  item_set_value(a, 10);
  item_set_next(a, c);
  item_set_value(b, 30);
  item_set_value(c, 40);
  CHECK_TOLD(direct, 2, 20, 30);
  CHECK_EQ(sum.calls, 1);
  CHECK_EQ(sum.priors, 2);
  CHECK_EQ(path.calls, 1);
  kvo_scope_end(&scope);
  CHECK_EQ(sum.calls, 2);
  CHECK_EQ(sum.priors, 2);
  CHECK_EQ(sum.old_value, 21);
  CHECK_EQ(sum.new_value, 40);
  CHECK_TOLD(path, 2, 20, 40);
  item_set_value(c, 41);
  CHECK_TOLD(path, 3, 40, 41);
}

TEST(
    "an expression with a change that began before the scope and ends in it is told at its end, with the oldest value") {
  make_items();
  total sum = {.of = {a, b}};
  watch_total(&sum, KVO_OLD | KVO_NEW);
  CHECK_OK(kvo_will_change(as_object(b), "value"));
  b->value = 20;
  BEGIN(scope, KVO_SCOPE_COALESCES, a);
  item_set_value(a, 10);
  CHECK_OK(kvo_did_change(as_object(b), "value"));
  CHECK_EQ(sum.calls, 0);
  item_set_value(a, 11);
  kvo_scope_end(&scope);
  CHECK_EQ(sum.calls, 1);
  CHECK_EQ(sum.old_value, 3);
  CHECK_EQ(sum.new_value, 31);
}

TEST("an expression that begins to depend on a changed key in the scope is told of its later changes") {
  make_items();
  watcher path = {0};
  watcher keeps = {0};
  item_set_next(a, b);
  watch(a, "next.value", KVO_OLD | KVO_NEW, &path);
  watch(c, "value", KVO_NONE, &keeps);
  BEGIN(scope, KVO_SCOPE_COALESCES, c);
  item_set_value(c, 30);
  item_set_next(a, c); /* not of the scope: told at once */
  CHECK_TOLD(path, 1, 2, 30);
  item_set_value(c, 31);
  item_set_value(c, 32);
  CHECK_EQ(path.calls, 1);
  kvo_scope_end(&scope);
  CHECK_TOLD(path, 2, 30, 32);
}

TEST("an expression that is led to a key after the key's last change in the scope is not told again") {
  for (int if_changed = 0; if_changed < 2; if_changed++) {
    make_items();
    watcher path = {0};
    watcher keeps = {0};
    total sum = {.of = {a}};
    watch(a, "next.value", KVO_OLD | KVO_NEW, &path);
    watch(c, "value", KVO_NONE, &keeps);
    watch_total(&sum, KVO_OLD | KVO_NEW);
    BEGIN(scope, if_changed ? KVO_SCOPE_COALESCES_IF_CHANGED : KVO_SCOPE_COALESCES, c);
    item_set_value(c, 30);
    item_set_next(a, c); /* not of the scope: told at once */
    int calls = path.calls;
    CHECK_EQ(path.new_value.integer, 30);
    kvo_scope_end(&scope);
    CHECK_EQ(keeps.calls, 1);
    CHECK_EQ(path.calls, calls);
    item_set_value(c, 31);
    CHECK_TOLD(path, calls + 1, 30, 31);
    CHECK_OK(kvo_remove_observer(path.id));
    CHECK_OK(kvo_remove_observer(keeps.id));
    CHECK_OK(kvo_remove_observer(sum.id));
    destroy_items();
  }
}

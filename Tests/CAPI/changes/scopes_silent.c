/* scopes_silent.c - scopes that silence: nobody is notified, and expressions are right at their next change. */
#include "scoped.h"

TEST(
    "in a silent scope no observer is notified, by a setter or by hand, and expressions are right at their next change") {
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
  item_set_value(c, 6);          /* another object */
  CHECK_NOTIFIED(path, 1, 2, 6); /* nobody was notified of 3 */
  CHECK_EQ(leaf.calls, 1);
  kvo_scope_end(&scope);
  CHECK_EQ(w.calls + w.priors + quiet.calls, 0);
  item_set_value(b, 7);
  CHECK_EQ(path.calls, 1);
  item_set_value(a, 8);
  CHECK_NOTIFIED(w, 1, 5, 8);
  item_set_value(c, 9);
  CHECK_NOTIFIED(path, 2, 6, 9);
  item_set_next(a, b);
  CHECK_NOTIFIED(path, 3, 9, 7);
  CHECK_EQ(faults.count, 0);
}

TEST("in a silent scope no binding sets its target, by a setter or by hand, and the next change does") {
  make_items();
  CHECK_OK(kvo_bind(as_object(b), "value", as_object(a), "quiet", NULL));
  CHECK_OK(kvo_bind(as_object(c), "value", as_object(a), "value", NULL));
  BEGIN(scope, KVO_SCOPE_SILENCES, a);
  set_quietly(a, 50);
  item_set_value(a, 60);
  kvo_scope_end(&scope);
  CHECK(b->value != 50 && c->value != 60);
  set_quietly(a, 70);
  item_set_value(a, 80);
  CHECK_EQ(b->value, 70);
  CHECK_EQ(c->value, 80);
}

static watcher late;

static void register_and_set_silently(watcher *self, const kvo_change *change) {
  if (!change->is_prior || self->priors != 1) return;
  BEGIN(scope, KVO_SCOPE_SILENCES, a);
  watch(a, "next.value", KVO_OLD | KVO_NEW, &late);
  item_set_next(a, c);
  kvo_scope_end(&scope);
}

TEST("an observer that registers during a change is not notified of it because of a silent change there") {
  make_items();
  late = (watcher){0};
  watcher w = {.then = register_and_set_silently};
  watch(a, "next", KVO_PRIOR, &w);
  item_set_next(a, b);
  CHECK_EQ(late.calls, 0);
  item_set_value(b, 7);
  CHECK_NOTIFIED(late, 1, 2, 7);
}

TEST("silence wins over coalescing, whichever scope is inside") {
  make_items();
  watcher w = {0};
  watch(a, "value", KVO_OLD | KVO_NEW, &w);
  for (int silent_inside = 0; silent_inside < 2; silent_inside++) {
    BEGIN(outer, silent_inside ? KVO_SCOPE_COALESCES : KVO_SCOPE_SILENCES, a);
    BEGIN(inner, silent_inside ? KVO_SCOPE_SILENCES : KVO_SCOPE_COALESCES, a);
    item_set_value(a, 5 + silent_inside);
    kvo_scope_end(&inner);
    kvo_scope_end(&outer);
    CHECK_EQ(w.calls, 0);
  }
  item_set_value(a, 7);
  CHECK_NOTIFIED(w, 1, 6, 7);
}

/* ------------------------------------------------------------------------------------------------------ Deaths -- */

TEST("in a silent scope a store that releases the old object is silent, also for what that object owned") {
  for (int by_hand = 0; by_hand < 2; by_hand++) {
    make_items();
    watcher path = {0}, longer = {0};
    b->next = item_make(4);
    item_set_next(a, b);
    watch(a, "next.value", KVO_OLD | KVO_NEW, &path);
    watch(a, "next.next.value", KVO_OLD | KVO_NEW, &longer);
    BEGIN(scope, KVO_SCOPE_SILENCES, a);
    if (by_hand) will(a, "next");
    replace_next(a, c);
    if (by_hand) did(a, "next");
    kvo_scope_end(&scope);
    CHECK_EQ(path.calls + longer.calls, 0);
    item_set_value(c, 6);
    CHECK_NOTIFIED(path, 1, 2, 6);
    item *last = item_make(7);
    item_set_next(c, last);
    CHECK_NOTIFIED(longer, 1, 4, 7);
    CHECK_EQ(faults.count, 0);
  }
}

TEST("any number of silent changes may be open and end in any order, and nobody is notified of deaths in them") {
  enum { MANY = 40 };
  make_items();
  static item *roots[MANY], *next[MANY];
  static watcher w[MANY];
  for (int i = 0; i < MANY; i++) {
    roots[i] = item_make(0);
    item_set_next(roots[i], next[i] = item_make(i));
    watch(roots[i], "next.value", KVO_NEW | KVO_OLD, &w[i]);
  }
  kvo_scope scope;
  CHECK_OK(kvo_scope_begin(&scope, KVO_SCOPE_SILENCES, (kvo_object **)roots, MANY, NULL, 0));
  for (int i = 0; i < MANY; i++) will(roots[i], "next");
  for (int i = 0; i < MANY; i++) replace_next(roots[i], b);
  for (int i = 0; i < MANY; i++) did(roots[(7 + 3 * i) % MANY], "next");
  kvo_scope_end(&scope);
  for (int i = 0; i < MANY; i++) CHECK_EQ(w[i].calls, 0);
  item_set_value(b, 7);
  for (int i = 0; i < MANY; i++) CHECK_NOTIFIED(w[i], 1, i, 7);
}

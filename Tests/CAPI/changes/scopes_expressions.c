/* scopes_expressions.c - expressions and callbacks in a scope that coalesces: each expression is notified once, at
 * the end, with the objects that it then reads; and what observers set, register, begin and end. */
#include "scoped.h"

/* ------------------------------------------------------------------------------------------------- Expressions -- */

TEST("an expression that reads several keys is notified once, with its values before the scope and after it") {
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
}

TEST("a path follows the objects that it is led to in a scope, and is notified once") {
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
  CHECK_NOTIFIED(path, 1, 2, 30);
  CHECK_NEW(leaf, 1, 30);
  CHECK_NOTIFIED(twice, 1, 2, 8);
  item_set_value(b, 21);
  CHECK_EQ(path.calls, 1);
  item_set_value(c, 31);
  CHECK_NOTIFIED(path, 2, 30, 31);
}

/* --------------------------------------------------------------------------------------------------- Callbacks -- */

static void set_a(watcher *self, const kvo_change *change) {
  if (a->value < 5) item_set_value(a, a->value + 1);
}

TEST("what observers change in a scope belongs to it, and what observers change that its end notifies does not") {
  make_items();
  watcher w = {.then = set_a}, other = {.then = set_a};
  watch(a, "value", KVO_NEW, &w);
  watch(c, "value", KVO_NONE, &other);
  BEGIN(scope, KVO_SCOPE_COALESCES, a);
  item_set_value(a, 2);
  item_set_value(c, 2);
  CHECK_EQ(other.calls, 1);
  CHECK_EQ(a->value, 3);
  CHECK_EQ(w.calls, 0);
  kvo_scope_end(&scope);
  CHECK_EQ(w.calls, 3); /* with 3, and at once with 4 and 5 */
  CHECK_EQ(a->value, 5);
}

static watcher registered_before;

static void observe_before(watcher *self, const kvo_change *change) {
  if (change->is_prior && self->priors == 1) watch(a, "next.value", KVO_OLD | KVO_NEW, &registered_before);
}

TEST("an expression that an observer registers before a change in a scope is notified at the end of the scope") {
  make_items();
  watcher first = {.then = observe_before};
  item_set_next(a, b);
  watch(a, "next", KVO_PRIOR, &first);
  for (int by_hand = 0; by_hand < 2; by_hand++) {
    first.priors = 0;
    registered_before = (watcher){0};
    BEGIN(scope, KVO_SCOPE_COALESCES, a);
    if (by_hand) CHECK_OK(kvo_will_change(as_object(a), "next"));
    if (by_hand)
      a->next = b;
    else
      item_set_next(a, c);
    if (by_hand) CHECK_OK(kvo_did_change(as_object(a), "next"));
    item_set_value(a->next, 9 + by_hand); /* not of the scope */
    CHECK_EQ(registered_before.calls, 0);
    kvo_scope_end(&scope);
    CHECK_NOTIFIED(registered_before, 1, by_hand ? 9 : 2, 9 + by_hand);
    CHECK_OK(kvo_remove_observer(registered_before.id));
  }
  CHECK_EQ(faults.count, 0);
}

static watcher late;

static void watch_late(watcher *self, const kvo_change *change) {
  if (change->is_prior && late.id == 0) watch(a, "value", KVO_OLD | KVO_NEW | KVO_INITIAL, &late);
}

TEST(
    "an observer registered before a store, with the initial value, is notified of the change at the end of the scope") {
  for (int kind = KVO_SCOPE_COALESCES; kind <= KVO_SCOPE_COALESCES_IF_CHANGED; kind++) {
    make_items();
    late = (watcher){0};
    watcher prior = {.then = watch_late};
    watch(a, "value", KVO_PRIOR, &prior);
    BEGIN(scope, (kvo_scope_kind)kind, a);
    item_set_value(a, 5);
    CHECK_NEW(late, 1, 1);
    kvo_scope_end(&scope);
    CHECK_NOTIFIED(late, 2, 1, 5);
    CHECK_OK(kvo_remove_observer(late.id));
    CHECK_OK(kvo_remove_observer(prior.id));
    destroy_items();
  }
}

TEST("the first observer that wants the old value, registered in a scope, gets the value before the next change") {
  make_items();
  watcher first = {0}, second = {0};
  watch(a, "value", KVO_NEW, &first);
  BEGIN(scope, KVO_SCOPE_COALESCES, a);
  item_set_value(a, 5);
  watch(a, "value", KVO_OLD | KVO_NEW, &second);
  item_set_value(a, 6);
  kvo_scope_end(&scope);
  CHECK_NOTIFIED(second, 1, 5, 6);
  CHECK_EQ(first.calls, 1);
}

static void set_before(watcher *self, const kvo_change *change) {
  if (change->is_prior && self->priors == 1) item_set_value(a, 5);
}

TEST("an expression is compared with its value before the first observer is notified, which may set what it reads") {
  for (int is_newer = 0; is_newer < 2; is_newer++) {
    make_items();
    watcher prior = {.then = set_before}, doubled = {0};
    if (is_newer == 0) watch(a, "doubled", KVO_NEW, &doubled);
    watch(a, "value", KVO_PRIOR, &prior);
    if (is_newer != 0) watch(a, "doubled", KVO_NEW, &doubled);
    BEGIN(scope, KVO_SCOPE_COALESCES_IF_CHANGED, a);
    item_set_value(a, 5);
    kvo_scope_end(&scope);
    CHECK_NEW(doubled, 1, 10);
    CHECK_OK(kvo_remove_observer(doubled.id));
    CHECK_OK(kvo_remove_observer(prior.id));
    destroy_items();
  }
}

static void clear_next(watcher *self, const kvo_change *change) {
  if (a->next != NULL) item_set_next(a, NULL);
}

TEST(
    "in a scope for differences all observers of a path are notified of a death, also if the first replaces the object") {
  make_items();
  item *doomed = item_make(5);
  watcher newest = {.then = clear_next}, other = {0};
  item_set_next(a, doomed);
  watch(a, "next.value", KVO_NEW, &other);
  watch(a, "next.value", KVO_NEW, &newest);
  BEGIN(scope, KVO_SCOPE_COALESCES_IF_CHANGED, a);
  item_destroy(doomed);
  kvo_scope_end(&scope);
  CHECK_EQ(other.calls, 1);
}

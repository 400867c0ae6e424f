/* expressions_pending.c - the old values of expressions during changes: of many expressions, and for those who want them only. */
#include "scoped.h"

enum { MANY = 21 };
static item *items[MANY];
static total sums[MANY];

/* Checks that an expression was notified this often, the last time of this change. */
static void check_total(const total *of, int calls, int old_value, int new_value) {
  CHECK_EQ(of->calls, calls);
  CHECK_EQ(of->old_value, old_value);
  CHECK_EQ(of->new_value, new_value);
}

TEST("each of many expressions that read a property is notified of its change once, with its own old value") {
  make_items();
  for (int count = 1; count <= MANY; count++) {
    int newest = count - 1, before = a->value;
    items[newest] = item_make(100 * newest);
    sums[newest] = (total){.of = {a, items[newest]}};
    watch_total(&sums[newest], KVO_OLD | KVO_NEW | KVO_PRIOR);
    item_set_value(a, before + count);
    for (int i = 0; i < count; i++) {
      check_total(&sums[i], count - i, before + 100 * i, before + count + 100 * i);
      CHECK_EQ(sums[i].priors, count - i);
    }
  }
}

TEST(
    "the properties that many expressions read may change in a scope in any order: each is notified once, at its end") {
  kvo_object *objects[MANY];
  for (int i = 0; i < MANY; i++) {
    items[i] = item_make(i);
    objects[i] = as_object(items[i]);
    sums[i].of[0] = items[i];
    watch_total(&sums[i], KVO_OLD | KVO_NEW);
  }
  for (int step = 1; step < MANY; step++) { /* a multiple of a divisor of 21 leaves some out */
    kvo_scope scope;
    int calls[MANY], before[MANY];
    CHECK_OK(kvo_scope_begin(&scope, KVO_SCOPE_COALESCES, objects, MANY, NULL, 0));
    for (int i = 0; i < MANY; i++) {
      calls[i] = sums[i].calls;
      before[i] = items[i]->value;
    }
    for (int i = 0; i < MANY; i++) item_set_value(items[i * step % MANY], 1000 * step + i);
    for (int i = 0; i < MANY; i++) CHECK_EQ(sums[i].calls, calls[i]);
    kvo_scope_end(&scope);
    for (int i = 0; i < MANY; i++) {
      bool has_changed = items[i]->value != before[i];
      CHECK_EQ(sums[i].calls, calls[i] + has_changed);
      if (has_changed) check_total(&sums[i], calls[i] + 1, before[i], items[i]->value);
    }
  }
}

TEST("an expression is notified with the values that its options name, also by a scope that compares the old one") {
  make_items();
  total only_old = {.of = {a}}, only_new = {.of = {a}}, neither = {.of = {a}};
  watch_total(&only_old, KVO_OLD);
  watch_total(&only_new, KVO_NEW);
  watch_total(&neither, KVO_NONE);
  item_set_value(a, 20);
  item_set_value(a, 20); /* the same value is a change, except for the scope below */
  check_total(&only_old, 2, 20, -1);
  check_total(&only_new, 2, -1, 20);
  check_total(&neither, 2, -1, -1);
  for (int i = 0; i < 2; i++) {
    BEGIN(scope, KVO_SCOPE_COALESCES_IF_CHANGED, a);
    item_set_value(a, 50);
    item_set_value(a, 40);
    kvo_scope_end(&scope);
    check_total(&only_old, 3, 20, -1);
    check_total(&only_new, 3, -1, 40);
    check_total(&neither, 3, -1, -1);
  }
  CHECK_OK(kvo_remove_observer(only_old.id));
  CHECK_OK(kvo_remove_observer(only_new.id));
  CHECK_OK(kvo_remove_observer(neither.id));
  destroy_items();
}

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

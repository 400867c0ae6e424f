/* expressions_pending.c - the old values of expressions during changes: of many expressions, of nested scopes, with little memory, and
 * for those who want them only. */
#include "allocator.h"
#include "below.h"
#include "scoped.h"

enum { MANY = 21 };

/* Checks that an expression was told this often, the last time of this change. */
static void check_total(const total *of, int calls, int old_value, int new_value) {
  CHECK_EQ(of->calls, calls);
  CHECK_EQ(of->old_value, old_value);
  CHECK_EQ(of->new_value, new_value);
}

/* ----------------------------------------------------------------------------------------------------- Many at once -- */

TEST("each of many expressions that read a property is told of its change once, with its own old value") {
  make_items();
  item *others[MANY];
  static total sums[MANY];
  for (int i = 0; i < MANY; i++) {
    others[i] = item_make(100 * i);
    sums[i].of[0] = a;
    sums[i].of[1] = others[i];
  }
  for (int count = 1; count <= MANY; count++) {
    watch_total(&sums[count - 1], KVO_OLD | KVO_NEW | KVO_PRIOR);
    int before = a->value;
    item_set_value(a, before + count);
    for (int i = 0; i < count; i++) {
      check_total(&sums[i], count - i, before + 100 * i, before + count + 100 * i);
      CHECK_EQ(sums[i].priors, count - i);
    }
  }
  item_set_value(a, 1);
  for (int i = 0; i < MANY; i++) CHECK_EQ(sums[i].new_value, 1 + 100 * i);
  for (int i = 0; i < MANY; i++) {
    CHECK_OK(kvo_remove_observer(sums[i].id));
    item_destroy(others[i]);
  }
  destroy_items();
}

static void begin_scope(kvo_scope *scope, item *const *items, int count) {
  kvo_object *objects[MANY];
  for (int i = 0; i < count; i++) objects[i] = as_object(items[i]);
  CHECK_OK(kvo_scope_begin(scope, KVO_SCOPE_COALESCES, objects, (size_t)count, NULL, 0));
}

TEST("the properties that many expressions read may change in a scope in any order: each is told once, at its end") {
  ignore_faults();
  item *items[MANY];
  static total sums[MANY];
  for (int i = 0; i < MANY; i++) {
    items[i] = item_make(i);
    sums[i].of[0] = items[i];
    watch_total(&sums[i], KVO_OLD | KVO_NEW);
  }
  for (int step = 1; step < MANY; step++) { /* a multiple of a divisor of 21 leaves some out */
    kvo_scope scope;
    int calls[MANY], before[MANY];
    for (int i = 0; i < MANY; i++) {
      calls[i] = sums[i].calls;
      before[i] = items[i]->value;
    }
    begin_scope(&scope, items, MANY);
    for (int i = 0; i < MANY; i++) item_set_value(items[i * step % MANY], 1000 * step + i);
    for (int i = 0; i < MANY; i++) CHECK_EQ(sums[i].calls, calls[i]);
    kvo_scope_end(&scope);
    for (int i = 0; i < MANY; i++) {
      bool has_changed = items[i]->value != before[i];
      CHECK_EQ(sums[i].calls, calls[i] + has_changed);
      if (has_changed) check_total(&sums[i], calls[i] + 1, before[i], items[i]->value);
    }
  }
  for (int i = 0; i < MANY; i++) {
    CHECK_OK(kvo_remove_observer(sums[i].id));
    item_destroy(items[i]);
  }
}

/* ---------------------------------------------------------------------------------------------------- Nested scopes -- */

enum { FEW = 3 };

TEST("of the expressions that an inner scope keeps each goes to the outer one whose properties then change as well") {
  ignore_faults();
  for (unsigned moved = 0; moved < (1u << FEW); moved++) {
    item *inner_items[FEW], *outer_items[FEW];
    total sums[FEW] = {{.calls = 0}};
    for (int i = 0; i < FEW; i++) {
      inner_items[i] = item_make(1 + i);
      outer_items[i] = item_make(10 + i);
      sums[i].of[0] = inner_items[i];
      sums[i].of[1] = outer_items[i];
      watch_total(&sums[i], KVO_OLD | KVO_NEW);
    }
    kvo_scope outer, inner;
    begin_scope(&outer, outer_items, FEW);
    begin_scope(&inner, inner_items, FEW);
    for (int i = 0; i < FEW; i++) item_set_value(inner_items[i], 100);
    for (int i = FEW - 1; i >= 0; i--)
      if ((moved & 1u << i) != 0) item_set_value(outer_items[i], 200);
    kvo_scope_end(&inner);
    for (int i = 0; i < FEW; i++) CHECK_EQ(sums[i].calls, (moved & 1u << i) == 0);
    kvo_scope_end(&outer);
    for (int i = 0; i < FEW; i++) check_total(&sums[i], 1, 11 + 2 * i, 100 + ((moved & 1u << i) != 0 ? 200 : 10 + i));
    for (int i = 0; i < FEW; i++) {
      CHECK_OK(kvo_remove_observer(sums[i].id));
      item_destroy(inner_items[i]);
      item_destroy(outer_items[i]);
    }
  }
}

/* --------------------------------------------------------------------------------------------------- Nested changes -- */

static void set_b(watcher *self, const kvo_change *change) {
  (void)self, (void)change;
  item_set_value(b, b->value + 1);
}

TEST("an observer that is told before a change may make another one, also after changes in deeper calls") {
  make_items();
  total first = {.of = {a}}, second = {.of = {b}};
  watcher prior = {.then = set_b};
  watch_total(&first, KVO_OLD | KVO_NEW);
  watch_total(&second, KVO_OLD | KVO_NEW);
  for (int round = 0; round < 3; round++) {
    first.calls = second.calls = 0;
    int before_a = a->value;
    set_below(a, before_a + 10);
    check_total(&first, 1, before_a, before_a + 10);
    watch(a, "value", KVO_PRIOR, &prior);
    int before_b = b->value;
    item_set_value(a, 50);
    check_total(&first, 2, before_a + 10, 50);
    check_total(&second, 2, before_b + 1, before_b + 2); /* before the change and after it */
    CHECK_OK(kvo_remove_observer(prior.id));
  }
  CHECK_OK(kvo_remove_observer(first.id));
  CHECK_OK(kvo_remove_observer(second.id));
  destroy_items();
}

TEST("the old value of an expression needs no memory of the runtime") {
  use_counting_allocator();
  make_items();
  total sum = {.of = {a, b}};
  watch_total(&sum, KVO_OLD | KVO_NEW);
  for (int i = 1; i <= 3; i++) {
    int before = a->value;
    fail_in =
        1; /* the new value gets its memory at the second try, and from then on that of the value before the last */
    item_set_value(a, 10 * i);
    CHECK_EQ((int)has_failed, i == 1);
    has_failed = false;
    fail_in = 0;
    check_total(&sum, i, before + 2, 10 * i + 2);
  }
  CHECK_EQ(faults.count, 0);
  CHECK_OK(kvo_remove_observer(sum.id));
  destroy_items();
}

/* ----------------------------------------------------------------------------------------------------- What is told -- */

TEST("a change is told to expressions whose value stays the same, except by a scope for differences") {
  make_items();
  total sum = {.of = {a, b}};
  watch_total(&sum, KVO_OLD | KVO_NEW);
  for (int i = 1; i <= 2; i++) {
    item_set_value(a, 1);
    check_total(&sum, i, 3, 3);
  }
  BEGIN(scope, KVO_SCOPE_COALESCES_IF_CHANGED, a);
  item_set_value(a, 7);
  item_set_value(a, 1);
  kvo_scope_end(&scope);
  CHECK_EQ(sum.calls, 2);
  CHECK_OK(kvo_remove_observer(sum.id));
  destroy_items();
}

TEST("an expression is told the values that its options name, also by a scope that compares the old one") {
  make_items();
  total only_old = {.of = {a}}, only_new = {.of = {a}}, neither = {.of = {a}};
  watch_total(&only_old, KVO_OLD);
  watch_total(&only_new, KVO_NEW);
  watch_total(&neither, KVO_NONE);
  for (int i = 1; i <= 2; i++) {
    int before = a->value;
    if (i == 1) {
      item_set_value(a, 20);
    } else {
      BEGIN(scope, KVO_SCOPE_COALESCES_IF_CHANGED, a);
      item_set_value(a, 40);
      kvo_scope_end(&scope);
    }
    check_total(&only_old, i, before, -1);
    check_total(&only_new, i, -1, 20 * i);
    check_total(&neither, i, -1, -1);
  }
  CHECK_OK(kvo_remove_observer(only_old.id));
  CHECK_OK(kvo_remove_observer(only_new.id));
  CHECK_OK(kvo_remove_observer(neither.id));
  destroy_items();
}

/* scopes_callbacks.c - scopes and callbacks: what observers set, register, begin and end while they are told. */
#include "scoped.h"

TEST("what observers of other objects change in a scope belongs to it, and what its end's observers change does not") {
  make_items();
  watcher w = {0}, trigger = {0};
  trigger.then = NULL;
  watch(a, "value", KVO_OLD | KVO_NEW, &w);
  watch(c, "value", KVO_NONE, &trigger);
  BEGIN(scope, KVO_SCOPE_COALESCES, a);
  item_set_value(a, 2);
  item_set_value(c, 2);
  CHECK_EQ(trigger.calls, 1);
  CHECK_EQ(w.calls, 0);
  kvo_scope_end(&scope);
  CHECK_TOLD(w, 1, 1, 2);
}

static int values[8], value_count;

static void count_up_to_three(watcher *self, const kvo_change *change) {
  (void)self;
  values[value_count++] = (int)see(change->new_value).integer;
  if (a->value < 3) item_set_value(a, a->value + 1);
}

TEST("a set by an observer that the end of a scope calls notifies at once") {
  make_items();
  watcher w = {.then = count_up_to_three};
  watch(a, "value", KVO_NEW, &w);
  BEGIN(scope, KVO_SCOPE_COALESCES, a);
  item_set_value(a, 0);
  item_set_value(a, 1);
  kvo_scope_end(&scope);
  CHECK_EQ(value_count, 3);
  for (int i = 0; i < 3; i++) CHECK_EQ(values[i], i + 1);
}

static kvo_scope begun_in_callback;

static void begin_scope_and_replace(watcher *self, const kvo_change *change) {
  (void)change;
  if (self->calls > 1) return;
  kvo_object *objects[] = {as_object(a)};
  CHECK_OK(kvo_scope_begin(&begun_in_callback, KVO_SCOPE_COALESCES, objects, 1, NULL, 0));
  item_set_next(a, c);
}

static void set_b_by_setter(void) { item_set_value(b, 20); }

static void set_b_by_word(void) {
  uint64_t storage = 2;
  kvo_change_word(as_object(b), kvo_key_hash("value", 5), &storage, 20);
}

TEST("an expression that a newer observer of a change leaves to a scope is told at the end of that scope only") {
  static void (*const ways[])(void) = {set_b_by_setter, set_b_by_word};
  for (int way = 0; way < 2; way++) {
    make_items();
    item_set_next(a, b);
    watcher path = {0}, newer = {.then = begin_scope_and_replace};
    watch(a, "next.value", KVO_NEW, &path);
    watch(b, "value", KVO_NONE, &newer);
    ways[way]();
    CHECK_EQ(newer.calls, 1);
    CHECK_EQ(path.calls, 0);
    kvo_scope_end(&begun_in_callback);
    CHECK_EQ(path.calls, 1);
    CHECK_EQ(path.new_value.integer, 3);
    CHECK_OK(kvo_remove_observer(path.id));
    CHECK_OK(kvo_remove_observer(newer.id));
    destroy_items();
  }
}

static item *last_next;

static void replace_before(watcher *self, const kvo_change *change) {
  if (change->is_prior && self->priors == 1) item_set_next(a, last_next);
}

static watcher registered_before;

static void observe_before(watcher *self, const kvo_change *change) {
  if (change->is_prior && self->priors == 1) watch(a, "next.value", KVO_OLD | KVO_NEW, &registered_before);
}

TEST("an expression that an observer registers before a change of a scope is told of that change at its end") {
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
    CHECK_TOLD(registered_before, 1, by_hand ? 9 : 2, 9 + by_hand);
    CHECK_OK(kvo_remove_observer(registered_before.id));
  }
  CHECK_EQ(faults.count, 0);
}

TEST("what an observer sets when it is called before a change of a scope is in no other's old value") {
  make_items();
  last_next = item_make(4);
  watcher first = {.then = replace_before}, direct = {0}, path = {0};
  item_set_next(a, b);
  watch(a, "next.value", KVO_PRIOR, &first);
  watch(a, "next", KVO_OLD | KVO_NEW, &direct);
  watch(a, "next.value", KVO_OLD | KVO_NEW | KVO_PRIOR, &path);
  BEGIN(scope, KVO_SCOPE_COALESCES, a);
  item_set_next(a, c);
  CHECK_EQ(first.priors, 1);
  CHECK_EQ(path.priors, 1);
  CHECK_EQ(path.old_value.integer, 2);
  kvo_scope_end(&scope);
  CHECK_TOLD(path, 1, 2, 3);
  CHECK_SAME(direct.old_value.object, b);
  CHECK_SAME(direct.new_value.object, c);
  CHECK_EQ(faults.count, 0);
}

static void replace_in_scope(watcher *self, const kvo_change *change) {
  (void)self, (void)change;
  BEGIN(inner, KVO_SCOPE_COALESCES, a);
  item_set_next(a, last_next);
  kvo_scope_end(&inner);
}

TEST(
    "an expression that is changed in a scope of an observer which another scope's end calls is told once, by that end") {
  make_items();
  last_next = item_make(4);
  watcher path = {0}, first = {.then = replace_in_scope};
  item_set_next(a, b);
  watch(a, "next.value", KVO_OLD | KVO_NEW | KVO_PRIOR, &path);
  watch(a, "other", KVO_NONE, &first);
  BEGIN(scope, KVO_SCOPE_COALESCES, a);
  item_set_other(a, 1);
  item_set_next(a, c);
  kvo_scope_end(&scope);
  CHECK_TOLD(path, 1, 2, 4);
  CHECK_EQ(path.priors, 1);
  CHECK_EQ(faults.count, 0);
  item_set_value(last_next, 5);
  CHECK_TOLD(path, 2, 4, 5);
}

static kvo_scope to_end;

static void end_scope(watcher *self, const kvo_change *change) {
  (void)self;
  if (change->is_prior) kvo_scope_end(&to_end);
}

TEST("a scope that ends in a callback before its first change is safe") {
  make_items();
  watcher w = {.then = end_scope}, other = {0};
  watch(a, "value", KVO_OLD | KVO_NEW | KVO_PRIOR, &w);
  watch(a, "value", KVO_OLD | KVO_NEW, &other);
  BEGIN(scope, KVO_SCOPE_COALESCES, a);
  to_end = scope;
  item_set_value(a, 5);
  item_set_value(a, 6);
  CHECK_EQ(other.new_value.integer, 6);
}

/* ------------------------------------------------------------------------------- Changes of which the path is told later -- */

static bool in_scope_of_its_own, sets_again, removes_itself;

/* Leads the path from `b` to `c`, or, if there is no other object, to `b` again. */
static void lead_path(watcher *self, const kvo_change *change) {
  (void)change;
  if (self->calls > 1) return;
  if (sets_again) item_set_value(b, 7);
  if (removes_itself) CHECK_OK(kvo_remove_observer(self->id));
  kvo_object *objects[] = {as_object(a)};
  kvo_scope scope;
  if (in_scope_of_its_own) CHECK_OK(kvo_scope_begin(&scope, KVO_SCOPE_COALESCES_IF_CHANGED, objects, 1, NULL, 0));
  item_set_next(a, c);
  if (in_scope_of_its_own) kvo_scope_end(&scope);
}

TEST("a path that a newer observer leads elsewhere in a scope of changed values is told the last value") {
  for (int i = 0; i < 16; i++) {
    unsigned options = i % 2 != 0 ? KVO_OLD | KVO_NEW : KVO_NEW;
    in_scope_of_its_own = i % 8 < 4;
    removes_itself = i >= 8;
    sets_again = i % 4 >= 2 && !in_scope_of_its_own;
    make_items();
    item_set_next(a, b);
    c->value = sets_again ? 2 : 20; /* as the path's value before the scope, or as what `b` has now */
    watcher path = {0}, leading = {.then = lead_path};
    watch(a, "next.value", options, &path);
    watch(b, "value", KVO_NONE, &leading);
    BEGIN(scope, KVO_SCOPE_COALESCES_IF_CHANGED, a);
    if (in_scope_of_its_own) kvo_scope_end(&scope);
    item_set_value(b, 20);
    if (!in_scope_of_its_own) kvo_scope_end(&scope);
    CHECK(path.calls > 0 || c->value == 2); /* what it was told last */
    if (path.calls > 0) CHECK_EQ(path.new_value.integer, c->value);
    CHECK_OK(kvo_remove_observer(path.id));
    if (!removes_itself) CHECK_OK(kvo_remove_observer(leading.id));
  }
}

static void destroy_and_set_in_scope(watcher *self, const kvo_change *change) {
  (void)self, (void)change;
  item_destroy(a);
  BEGIN(scope, KVO_SCOPE_COALESCES_IF_CHANGED, c);
  item_set_value(c, 9);
  kvo_scope_end(&scope);
}

TEST("an observer that destroys its object may begin a scope of changed values") {
  make_items();
  item_set_next(b, c);
  watcher path = {0}, older = {0}, destroying = {.then = destroy_and_set_in_scope};
  watch(b, "next.value", KVO_NEW, &path);
  watch(a, "value", KVO_NEW | KVO_ENDS_WITH_OBJECT, &older);
  watch(a, "value", KVO_NEW | KVO_ENDS_WITH_OBJECT, &destroying);
  item_set_value(a, 5);
  CHECK_EQ(path.calls, 1);
  CHECK_EQ(path.new_value.integer, 9);
  a = item_make(1);
}

static void lead_root(watcher *self, const kvo_change *change) {
  if (change->is_prior && c->next == NULL) item_set_next(c, a);
  (void)self;
}

TEST(
    "a path that an observer leads to the changing object, before the change, is told the value after the last store") {
  for (int i = 0; i < 8; i++) {
    make_items();
    watcher path = {0}, prior = {.then = lead_root};
    bool knows_old = i % 4 < 2;
    watch(c, "next.value", knows_old ? KVO_OLD | KVO_NEW : KVO_NEW, &path);
    watch(a, "value", KVO_PRIOR, &prior);
    BEGIN(scope, i < 4 ? KVO_SCOPE_COALESCES : KVO_SCOPE_COALESCES_IF_CHANGED, a);
    for (int sets = 0; sets <= i % 2; sets++) item_set_value(a, 5);
    kvo_scope_end(&scope);
    CHECK_EQ(path.calls, 2);
    CHECK_EQ(path.new_value.integer, 5);
    if (knows_old) CHECK_EQ(path.old_value.integer, 1);
    destroy_items();
  }
}

static item *other_middle, *other_end;
static kvo_scope_kind inner_kind;

static void lead_in_nested_scopes(watcher *self, const kvo_change *change) {
  (void)self, (void)change;
  BEGIN(outer, KVO_SCOPE_COALESCES_IF_CHANGED, a);
  BEGIN(inner, inner_kind, b);
  item_set_next(b, other_end);
  item_set_next(a, other_middle);
  kvo_scope_end(&inner);
  kvo_scope_end(&outer);
}

TEST("a path that a newer observer leads elsewhere in nested scopes is told the last value, in whichever it was kept") {
  for (int kind = KVO_SCOPE_COALESCES; kind <= KVO_SCOPE_COALESCES_IF_CHANGED; kind++) {
    make_items();
    inner_kind = (kvo_scope_kind)kind;
    other_middle = item_make(0);
    other_end = item_make(9);
    other_middle->next = other_end;
    item_set_next(a, b);
    item_set_next(b, c);
    watcher path = {0}, newer = {.then = lead_in_nested_scopes};
    watch(a, "next.next.value", KVO_OLD | KVO_NEW, &path);
    watch(c, "value", KVO_NONE, &newer);
    item_set_value(c, 9);
    CHECK_EQ(path.calls, 1);
    CHECK_EQ(path.new_value.integer, 9);
    CHECK_OK(kvo_remove_observer(path.id));
    destroy_items();
    item_destroy(other_middle);
    item_destroy(other_end);
  }
}

static watcher late;

static void watch_late(watcher *self, const kvo_change *change) {
  (void)self;
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
    CHECK_EQ(late.calls, 1);
    CHECK_EQ(late.new_value.integer, 1);
    kvo_scope_end(&scope);
    CHECK_TOLD(late, 2, 1, 5);
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
  CHECK_TOLD(second, 1, 5, 6);
  CHECK_EQ(first.calls, 1);
}

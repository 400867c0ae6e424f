/* scopes_edges.c - scopes when their objects die, memory is short, callbacks jump out of them, or a copy ends them again; how long a silent
 * change is one; and values that can be compared or not. */
#include "allocator.h"
#include "scoped.h"

#include <setjmp.h>
#include <stdlib.h>

/* ---------------------------------------------------------------------------------------------------- Coalescing -- */

TEST("an object that dies in a scope leaves it also if observers have begun after the first change of its key") {
  make_items();
  watcher first = {0}, late = {0}, other = {0};
  watch(a, "value", KVO_OLD | KVO_NEW | KVO_ENDS_WITH_OBJECT, &first);
  watch(b, "value", KVO_OLD | KVO_NEW, &other);
  BEGIN(scope, KVO_SCOPE_COALESCES, a, b);
  item_set_value(b, 5);
  item_set_value(a, 5);
  watch(a, "value", KVO_OLD | KVO_NEW | KVO_ENDS_WITH_OBJECT, &late);
  item_set_value(a, 6);
  item_destroy(a);
  CHECK_EQ(first.destroyed, 1);
  CHECK_EQ(late.destroyed, 1);
  kvo_scope_end(&scope);
  CHECK_EQ(first.calls + late.calls, 0);
  CHECK_TOLD(other, 1, 2, 5);
  CHECK_EQ(faults.count, 0);
}

static void destroy_b(watcher *self, const kvo_change *change) {
  (void)self, (void)change;
  item_destroy(b);
}

TEST("an observer that the end of a scope calls may destroy the object that would be told next") {
  for (int kind = KVO_SCOPE_COALESCES; kind <= KVO_SCOPE_COALESCES_IF_CHANGED; kind++) {
    make_items();
    watcher first = {.then = destroy_b}, second = {0};
    watch(a, "value", KVO_OLD | KVO_NEW, &first);
    watch(b, "value", KVO_OLD | KVO_NEW | KVO_ENDS_WITH_OBJECT, &second);
    BEGIN(scope, (kvo_scope_kind)kind, a, b);
    item_set_value(a, 10);
    item_set_value(b, 20);
    kvo_scope_end(&scope);
    CHECK_TOLD(first, 1, 1, 10);
    CHECK_EQ(second.calls, 0);
    CHECK_EQ(second.destroyed, 1);
    CHECK_OK(kvo_remove_observer(first.id));
    item_destroy(a);
    item_destroy(c);
  }
}

TEST_REPORTED("the old value that an observer wants of an undefined key is reported in a scope, too") {
  make_items();
  watcher w = {0};
  watch(a, "imaginary", KVO_OLD, &w);
  faults.count = 0;
  BEGIN(scope, KVO_SCOPE_COALESCES, a);
  CHECK_OK(kvo_will_change(as_object(a), "imaginary"));
  CHECK_EQ(faults.count, 1);
  CHECK_EQ((int)faults.code, KVO_FAULT_UNDEFINED_KEY);
  CHECK_OK(kvo_did_change(as_object(a), "imaginary"));
  kvo_scope_end(&scope);
  CHECK_EQ(w.calls, 1);
  CHECK(!w.old_value.told);
  CHECK_EQ(faults.count, 1);
}

TEST("a change that a scope cannot keep for lack of memory is told at once, and what it keeps later at its end") {
  use_counting_allocator();
  make_items();
  watcher w = {0}, path = {0};
  watch(a, "value", KVO_OLD | KVO_NEW, &w);
  item_set_next(b, a);
  watch(b, "next.value", KVO_OLD | KVO_NEW, &path);
  BEGIN(scope, KVO_SCOPE_COALESCES, a);
  fail_in = 1;
  item_set_value(a, 2);
  fail_in = 0;
  CHECK_TOLD(w, 1, 1, 2);
  CHECK_TOLD(path, 1, 1, 2);
  item_set_value(a, 3);
  item_set_value(a, 4);
  CHECK_EQ(w.calls + path.calls, 2);
  kvo_scope_end(&scope);
  CHECK_TOLD(w, 2, 2, 4);
  CHECK_TOLD(path, 2, 2, 4);
}

TEST("a scope that is ended again, through a copy, ends no later one") {
  make_items();
  watcher w = {0};
  watch(a, "value", KVO_OLD | KVO_NEW, &w);
  BEGIN(first, KVO_SCOPE_COALESCES, a);
  kvo_scope copy = first;
  kvo_scope_end(&first);
  BEGIN(second, KVO_SCOPE_COALESCES, a); /* probably in the memory of the first one */
  item_set_value(a, 5);
  kvo_scope_end(&copy);
  CHECK_EQ(w.calls, 0);
  kvo_scope_end(&second);
  CHECK_TOLD(w, 1, 1, 5);
}

/* --------------------------------------------------------------------------------------------------- Left scopes -- */

static jmp_buf out;

static void leave(watcher *self, const kvo_change *change) {
  (void)self, (void)change;
  longjmp(out, 1);
}

/* An observer leaves it: before the first change of the scope, or at its end. */
__attribute__((noinline)) static void change_in_scope(void) {
  volatile char room[512]; /* so that the next use of the runtime is in an outer stack frame */
  room[0] = 0;
  kvo_scope scope = {{0}};
  kvo_object *objects[] = {as_object(a)};
  CHECK_OK(kvo_scope_begin(&scope, KVO_SCOPE_COALESCES, objects, 1, NULL, 0));
  item_set_value(a, 5 + room[0]);
  kvo_scope_end(&scope);
}

static void leave_scope(int options) {
  static watcher w;
  make_items();
  w = (watcher){.then = leave};
  watch(a, "value", options, &w);
  if (setjmp(out) == 0) change_in_scope();
  BEGIN(next, KVO_SCOPE_COALESCES, b); /* now the other one is over */
  kvo_scope_end(&next);
  CHECK_EQ(w.calls + w.priors, 1);
  CHECK_OK(kvo_remove_observer(w.id));
  CHECK_EQ(w.destroyed, 1); /* no change is in progress any more */
}

TEST("a scope that an observer leaves with longjmp before the first change is over, with its changes") {
  leave_scope(KVO_PRIOR);
}

TEST("a scope whose end an observer leaves with longjmp is over, with its changes") { leave_scope(KVO_OLD | KVO_NEW); }

TEST("scopes that an observer leaves with longjmp before their first change keep no memory") {
  use_counting_allocator();
  static watcher w;
  make_items();
  w = (watcher){.then = leave};
  watch(a, "value", KVO_PRIOR, &w);
  volatile long before = 0;
  for (volatile int i = 0; i < 20; i++) {
    if (setjmp(out) == 0) change_in_scope();
    BEGIN(next, KVO_SCOPE_COALESCES, b);
    kvo_scope_end(&next);
    if (i == 9) before = live_blocks;
  }
  CHECK_EQ(w.priors, 20);
  CHECK(live_blocks < before + 5);
  CHECK_OK(kvo_remove_observer(w.id));
}

/* -------------------------------------------------------------------------------------------------------- Silent -- */

TEST("in a silent scope a death after a change, by setter or by hand, is told") {
  for (int by_hand = 0; by_hand < 2; by_hand++) {
    make_items();
    watcher path = {0};
    item_set_next(a, b);
    watch(a, "next.value", KVO_OLD | KVO_NEW, &path);
    BEGIN(scope, KVO_SCOPE_SILENCES, a);
    if (by_hand) CHECK_OK(kvo_will_change(as_object(a), "next"));
    if (by_hand)
      a->next = c;
    else
      item_set_next(a, c);
    if (by_hand) CHECK_OK(kvo_did_change(as_object(a), "next"));
    CHECK_EQ(path.calls, 0);
    a->next = NULL; /* a weak reference */
    item_destroy(c);
    CHECK_EQ(path.calls, 1);
    CHECK(path.new_value.nil);
    kvo_scope_end(&scope);
    CHECK_OK(kvo_remove_observer(path.id));
    item_destroy(a);
    item_destroy(b);
  }
}

TEST("of seventeen silent changes the oldest is forgotten: the others silence a death, and all expressions follow") {
  enum { MANY = 17 };
  make_items();
  item *roots[MANY];
  kvo_object *objects[MANY];
  watcher w[MANY] = {{0}};
  for (int i = 0; i < MANY; i++) {
    roots[i] = item_make(0);
    objects[i] = as_object(roots[i]);
    item_set_next(roots[i], i == MANY - 1 ? b : a);
    watch(roots[i], "next.value", KVO_OLD | KVO_NEW, &w[i]);
  }
  kvo_scope scope;
  CHECK_OK(kvo_scope_begin(&scope, KVO_SCOPE_SILENCES, objects, MANY, NULL, 0));
  for (int i = 0; i < MANY; i++) CHECK_OK(kvo_will_change(objects[i], "next"));
  roots[MANY - 1]->next = c;
  item_destroy(b);
  CHECK_EQ(w[MANY - 1].calls, 0);
  for (int i = 0; i < MANY; i++) {
    roots[i]->next = c;
    CHECK_OK(kvo_did_change(objects[i], "next"));
  }
  kvo_scope_end(&scope);
  item_set_value(c, 4);
  for (int i = 0; i < MANY; i++) {
    CHECK_TOLD(w[i], 1, i == MANY - 1 ? 2 : 1, 4);
    CHECK_OK(kvo_remove_observer(w[i].id));
    item_destroy(roots[i]);
  }
}

TEST("the end of a silent scope ends no silent change that began in an outer one") {
  make_items();
  watcher path = {0};
  item_set_next(a, b);
  watch(a, "next.value", KVO_OLD | KVO_NEW, &path);
  BEGIN(outer, KVO_SCOPE_SILENCES, a);
  CHECK_OK(kvo_will_change(as_object(a), "next"));
  BEGIN(inner, KVO_SCOPE_SILENCES, c);
  kvo_scope_end(&inner);
  a->next = c;
  item_destroy(b);
  CHECK_OK(kvo_did_change(as_object(a), "next"));
  kvo_scope_end(&outer);
  CHECK_EQ(path.calls, 0);
  item_set_value(c, 4);
  CHECK_TOLD(path, 1, 2, 4);
}

TEST("several stores that were left in a silent scope silence no later death") {
  make_items();
  kvo_key next = kvo_key_hash("next", 4);
  item *roots[] = {a, item_make(0)}, *ends[] = {b, c};
  watcher paths[2] = {{0}};
  kvo_frame frames[2];
  for (int i = 0; i < 2; i++) {
    item_set_next(roots[i], ends[i]);
    watch(roots[i], "next.value", KVO_OLD | KVO_NEW, &paths[i]);
  }
  BEGIN(scope, KVO_SCOPE_SILENCES, roots[0], roots[1]);
  for (int i = 0; i < 2; i++)
    CHECK_EQ(kvo_frame_begin(&frames[i], as_object(roots[i]), next), 0); /* and no kvo_binding_stored */
  kvo_scope_end(&scope);
  BEGIN(again, KVO_SCOPE_SILENCES, roots[0], roots[1]);
  for (int i = 0; i < 2; i++) {
    roots[i]->next = NULL;
    item_destroy(ends[i]);
    CHECK_EQ(paths[i].calls, 1);
  }
  kvo_scope_end(&again);
}

/* ------------------------------------------------------------------------------------------- Values of a binding -- */

typedef struct scale {
  kvo_object header;
  int weight;
} scale;

static void *copy_weight(void *instance, void *user, const kvo_selection *selection) {
  (void)user, (void)selection;
  int *copy = malloc(sizeof *copy);
  CHECK(copy != NULL);
  *copy = ((scale *)instance)->weight;
  return copy;
}

static void release_weight(void *value, void *user) { (void)user, free(value); }

static void view_weight(const void *value, void *user, kvo_value_reader reader, void *arg) {
  (void)user;
  kvo_value view = {"i", sizeof(int), value};
  reader(&view, arg);
}

static kvo_status assign_weight(void *instance, void *user, const kvo_value *value) {
  (void)instance, (void)user, (void)value;
  return KVO_ERROR_READ_ONLY;
}

static bool same_weight(const void *one, const void *other, void *user) {
  (void)user;
  return *(const int *)one == *(const int *)other;
}

/* Both properties have this value. */
static void weigh(scale *of, const char *key) {
  of->weight = 1;
  CHECK_OK(kvo_will_change(&of->header, key));
  of->weight = 9;
  CHECK_OK(kvo_did_change(&of->header, key));
}

TEST("a scope that tells only differences tells values of a binding that cannot be compared, or that differ") {
  static const kvo_value_ops plain = {copy_weight, release_weight, view_weight, assign_weight, NULL},
                             compared = {copy_weight, release_weight, view_weight, assign_weight, same_weight};
  const kvo_binding_property properties[] = {{.name = "plain", .type = "i", .ops = &plain},
                                             {.name = "compared", .type = "i", .ops = &compared}};
  kvo_class *cls;
  CHECK_OK(kvo_binding_class_register("Scale", NULL, 0, properties, 2, &cls));
  scale of = {.weight = 1};
  CHECK_OK(kvo_object_init(&of.header, cls));
  kvo_object *objects[] = {&of.header};
  watcher w[2] = {{0}};
  for (int i = 0; i < 2; i++) {
    kvo_observer observer = watcher_observer(properties[i].name, KVO_OLD | KVO_NEW | KVO_ENDS_WITH_OBJECT, &w[i]);
    CHECK_OK(kvo_add_observer(&of.header, &observer, &w[i].id));
  }
  for (int last = 1; last < 3; last++) {
    kvo_scope scope;
    CHECK_OK(kvo_scope_begin(&scope, KVO_SCOPE_COALESCES_IF_CHANGED, objects, 1, NULL, 0));
    for (int i = 0; i < 2; i++) weigh(&of, properties[i].name);
    of.weight = last;
    kvo_scope_end(&scope);
    CHECK_EQ(w[0].calls, last);
    CHECK_EQ(w[1].calls, last - 1); /* the first time it has its old value again */
  }
  CHECK_EQ(w[1].new_value.integer, 2);
  kvo_object_finish(&of.header);
}

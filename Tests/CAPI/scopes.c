/* scopes.c - scopes of a thread: changes that are told once at the end, or not at all. */
#include "allocator.h"
#include "fixture.h"

#include <kvo/kvo_binding.h>
#include <pthread.h>
#include <setjmp.h>
#include <stdlib.h>
#include <string.h>

/* Local variables stay on the stack: how far a scope has been left is seen by its address there. */
const char *__asan_default_options(void);
const char *__asan_default_options(void) { return "detect_stack_use_after_return=0"; }

static item *a, *b, *c;

static void make_items(void) {
  ignore_faults();
  a = item_make(1);
  b = item_make(2);
  c = item_make(3);
}

static void destroy_items(void) {
  item_destroy(a);
  item_destroy(b);
  item_destroy(c);
}

/* Begins a scope whose kvo_scope is the variable of that name. */
#define BEGIN(name, kind, ...)                                                                                         \
  kvo_scope name;                                                                                                      \
  do {                                                                                                                 \
    item *items[] = {__VA_ARGS__};                                                                                     \
    kvo_object *objects[sizeof items / sizeof *items];                                                                 \
    for (size_t i = 0; i < sizeof items / sizeof *items; i++) objects[i] = as_object(items[i]);                        \
    CHECK_OK(kvo_scope_begin(&name, kind, objects, sizeof items / sizeof *items, __FILE__, __LINE__));                 \
  } while (0)

#define CHECK_TOLD(w, count, before, after)                                                                            \
  do {                                                                                                                 \
    CHECK_EQ((w).calls, count);                                                                                        \
    CHECK_EQ((w).old_value.integer, before);                                                                           \
    CHECK_EQ((w).new_value.integer, after);                                                                            \
    CHECK_EQ((int)(w).kind, KVO_CHANGE_SETTING);                                                                       \
  } while (0)

static void set_quietly(item *object, int value) {
  CHECK_OK(kvo_will_change(as_object(object), "quiet"));
  KVO_SET(object, "quiet", int, value);
  CHECK_OK(kvo_did_change(as_object(object), "quiet"));
}

/* What a binding's setter does whose property owns its value: the store releases the old one, which dies with all that it owns. */
static void replace_next(item *object, item *next) {
  kvo_frame frame;
  kvo_key key = kvo_key_hash("next", 4);
  uint32_t wants = kvo_frame_begin(&frame, as_object(object), key);
  if ((wants & KVO_FRAME_WANTS_WILL) != 0) kvo_frame_will(&frame, NULL);
  item *old = object->next;
  object->next = next;
  for (item *owned; old != NULL; old = owned) {
    owned = old->next;
    item_destroy(old);
  }
  if (wants != 0)
    kvo_frame_finish(&frame, NULL);
  else
    kvo_binding_stored(as_object(object), key);
}

/* Evaluates the sum of all values of these items. */
typedef struct total {
  item *of[4];
  kvo_observation id;
  int calls, priors, old_value, new_value;
} total;

static void *evaluate_total(void *user_data) {
  total *self = user_data;
  int *sum = calloc(1, sizeof *sum);
  for (int i = 0; i < 4 && self->of[i] != NULL; i++) {
    kvo_track_read(as_object(self->of[i]), kvo_key_hash("value", 5));
    *sum += self->of[i]->value;
  }
  return sum;
}

static void free_total(void *value, void *user_data) { (void)user_data, free(value); }
static bool same_total(const void *one, const void *other, void *user_data) {
  (void)user_data;
  return *(const int *)one == *(const int *)other;
}

static void note_total(const kvo_raw_change *change, void *user_data) {
  total *self = user_data;
  if (change->is_prior) self->priors++;
  if (change->is_prior) return;
  self->calls++;
  CHECK_SAME(change->property, NULL);
  self->old_value = change->old_value != NULL ? *(const int *)change->old_value : -1;
  self->new_value = change->new_value != NULL ? *(const int *)change->new_value : -1;
}

static void watch_total(total *of, int options) {
  static const kvo_observer_ops ops = {
      .callback = note_total, .evaluate = evaluate_total, .release = free_total, .same = same_total};
  kvo_binding_observer observer = {.key_path = "total", .options = (kvo_options)options, .ops = &ops, .user_data = of};
  CHECK_OK(kvo_binding_observe_tracked(as_object(of->of[0]), &observer, false, &of->id));
}

/* ------------------------------------------------------------------------------------------------------- Coalescing -- */

TEST("a key that changes several times in a scope is told once, at its end, with the value before and the one after") {
  make_items();
  watcher w = {0};
  watch(a, "value", KVO_OLD | KVO_NEW, &w);
  BEGIN(scope, KVO_SCOPE_COALESCES, a, b);
  for (int i = 10; i < 20; i++) item_set_value(a, i);
  CHECK_EQ(w.calls, 0);
  CHECK_EQ(a->value, 19);
  kvo_scope_end(&scope);
  CHECK_TOLD(w, 1, 1, 19);
  item_set_value(a, 20);
  CHECK_TOLD(w, 2, 19, 20);
  kvo_scope_end(&scope);
  CHECK_EQ(w.calls, 2);
  CHECK_EQ(faults.count, 0);
}

TEST("several keys and objects are told in the order of their first changes, each newest observer first") {
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
  item_set_value(c, 1);
  CHECK_EQ(trace, "C");
  kvo_scope_end(&scope);
  CHECK_EQ(trace, "CBOWV");
}

TEST("an old string is that before the scope, and an object is the one before it") {
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

TEST("scopes nest: a key is told once, at the end of the outermost scope of its object") {
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
  CHECK_TOLD(other, 1, 2, 8);
  item_set_value(b, 9);
  CHECK_TOLD(other, 2, 8, 9);
  kvo_scope_end(&outer);
  CHECK_TOLD(w, 1, 1, 6);
}

TEST("scopes that end in the order in which they began tell what is theirs") {
  make_items();
  watcher w = {0}, other = {0};
  watch(a, "value", KVO_OLD | KVO_NEW, &w);
  watch(b, "value", KVO_OLD | KVO_NEW, &other);
  BEGIN(first, KVO_SCOPE_COALESCES, a);
  BEGIN(second, KVO_SCOPE_COALESCES, b);
  item_set_value(a, 6);
  item_set_value(b, 7);
  kvo_scope_end(&first);
  CHECK_TOLD(w, 1, 1, 6);
  CHECK_EQ(other.calls, 0);
  item_set_value(a, 8);
  CHECK_TOLD(w, 2, 6, 8);
  kvo_scope_end(&second);
  CHECK_TOLD(other, 1, 2, 7);
}

TEST("observers that want the change before it is made are called at the first change") {
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
  CHECK_TOLD(w, 1, 1, 6);
}

TEST(
    "a change announced by hand is told once as well, and is no misuse, whether the pair is complete at the end or not") {
  make_items();
  watcher w = {0}, value = {0};
  watch(a, "quiet", KVO_OLD | KVO_NEW, &w);
  watch(a, "value", KVO_OLD | KVO_NEW, &value);
  BEGIN(scope, KVO_SCOPE_COALESCES, a);
  for (int i = 1; i < 5; i++) set_quietly(a, i);
  CHECK_OK(kvo_will_change(as_object(a), "value"));
  item_set_value(a, 2);
  CHECK_OK(kvo_did_change(as_object(a), "value"));
  CHECK_EQ(w.calls, 0);
  kvo_scope_end(&scope);
  CHECK_TOLD(w, 1, 0, 4);
  CHECK_TOLD(value, 1, 1, 2);
  set_quietly(a, 5);
  CHECK_TOLD(w, 2, 4, 5);
  CHECK_EQ(faults.count, 0);
}

TEST("an announcement that began before the scope ends as it would without, and a pair within it is told at the end") {
  make_items();
  watcher w = {0};
  watch(a, "quiet", KVO_OLD | KVO_NEW, &w);
  CHECK_OK(kvo_will_change(as_object(a), "quiet"));
  BEGIN(scope, KVO_SCOPE_COALESCES, a);
  set_quietly(a, 5);
  CHECK_EQ(w.calls, 0);
  CHECK_OK(kvo_did_change(as_object(a), "quiet"));
  CHECK_TOLD(w, 1, 0, 5);
  kvo_scope_end(&scope);
  CHECK_TOLD(w, 2, 0, 5);
  CHECK_EQ(faults.count, 0);
}

TEST("changes of elements are told as one setting") {
  make_items();
  watcher w = {0};
  watch(a, "quiet", KVO_OLD | KVO_NEW, &w);
  BEGIN(scope, KVO_SCOPE_COALESCES, a);
  for (size_t i = 0; i < 3; i++) {
    CHECK_OK(kvo_will_change_indexes(as_object(a), KVO_CHANGE_INSERTION, "quiet", &i, 1));
    KVO_SET(a, "quiet", int, (int)i + 1);
    CHECK_OK(kvo_did_change_indexes(as_object(a), KVO_CHANGE_INSERTION, "quiet", &i, 1));
  }
  kvo_frame frame;
  size_t index = 0;
  CHECK_EQ(kvo_frame_begin_change(&frame, as_object(a), kvo_key_hash("value", 5), KVO_CHANGE_REMOVAL, &index, 1), 0);
  kvo_scope_end(&scope);
  CHECK_TOLD(w, 1, 0, 3);
  CHECK_EQ(w.index_count, 0);
}

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

TEST("an observation that ends in the scope is not told, and one that begins is told of what changes after") {
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
  CHECK_TOLD(stays, 1, 1, 5);
  CHECK_TOLD(late, 1, 3, 5);
  CHECK_EQ(never.calls, 0);
  item_set_value(a, 6);
  CHECK_TOLD(stays, 2, 5, 6);
  CHECK_TOLD(late, 2, 5, 6);
  CHECK_TOLD(never, 1, 5, 6);
}

/* ------------------------------------------------------------------------------------------------------ Expressions -- */

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

TEST("an expression that an observer registers before a change of a scope follows that change, and is not told of it") {
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
    CHECK_TOLD(registered_before, 1, by_hand ? 2 : 3, 9 + by_hand);
    kvo_scope_end(&scope);
    CHECK_EQ(registered_before.calls, 1);
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

/* --------------------------------------------------------------------------------------------------------- If changed -- */

TEST("a scope that tells only differences is silent about a key that has its old value again") {
  make_items();
  item_set_name(a, "Ada");
  watcher value = {0}, other = {0}, name = {0}, title = {0}, twice = {0};
  total sum = {.of = {a, b}};
  watch(a, "value", KVO_NEW, &value);
  watch(a, "other", KVO_OLD | KVO_NEW, &other);
  watch(a, "name", KVO_NONE, &name);
  watch(b, "name", KVO_OLD | KVO_NEW, &title);
  watch(a, "doubled", KVO_NONE, &twice);
  watch_total(&sum, KVO_NEW);
  BEGIN(scope, KVO_SCOPE_COALESCES_IF_CHANGED, a, b);
  item_set_value(a, 7);
  item_set_other(a, 7);
  item_set_name(a, "Bob");
  item_set_name(b, "Cid");
  item_set_value(a, 1);
  item_set_name(a, "Ada");
  kvo_scope_end(&scope);
  CHECK_EQ(value.calls + name.calls + twice.calls + sum.calls, 0);
  CHECK_TOLD(other, 1, 0, 7);
  CHECK_EQ(title.calls, 1);
  CHECK(title.old_value.nil);
  CHECK_EQ(title.new_value.text, "Cid");
}

TEST("a sum whose parts differ, but not the sum, is not told; the parts are") {
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
  CHECK_TOLD(w, 1, 1, 2);
}

/* ----------------------------------------------------------------------------------------------------------- Silencing -- */

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
  item_set_value(c, 6); /* another object */
  CHECK_TOLD(path, 1, 3, 6);
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

TEST("silent changes may end in any order, and the expressions then follow the new objects") {
  enum { MANY = 16 };
  for (int first = 0; first < MANY; first++) {
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
      CHECK_TOLD(w[i], 1, 2, 7);
      CHECK_OK(kvo_remove_observer(w[i].id));
      item_destroy(roots[i]);
    }
    destroy_items();
  }
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
  CHECK_TOLD(path, 1, 5, 6);
  item_set_next(next, item_make(7));
  CHECK_EQ(longer.calls, 1);
  CHECK(longer.old_value.nil);
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
  CHECK_TOLD(path, 1, 4, 5);
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

static void *set_on_thread(void *value) {
  item_set_value(a, (int)(intptr_t)value);
  return NULL;
}

TEST("a scope is that of its thread: what another thread changes notifies as usual") {
  make_items();
  watcher w = {0};
  watch(a, "value", KVO_OLD | KVO_NEW, &w);
  for (int kind = KVO_SCOPE_COALESCES; kind <= KVO_SCOPE_SILENCES; kind++) {
    BEGIN(scope, (kvo_scope_kind)kind, a);
    pthread_t thread;
    CHECK(pthread_create(&thread, NULL, set_on_thread, (void *)(intptr_t)(kind + 10)) == 0);
    pthread_join(thread, NULL);
    kvo_scope_end(&scope);
    CHECK_EQ(w.calls, kind + 1);
    CHECK_EQ(w.new_value.integer, kind + 10);
  }
}

/* ------------------------------------------------------------------------------------------------------ Ends of scopes -- */

TEST(
    "an object that dies in the scope leaves it without notification and without a fault, also with a new one at its address") {
  make_items();
  watcher w = {0}, other = {0};
  watch(a, "value", KVO_OLD | KVO_NEW | KVO_ENDS_WITH_OBJECT, &w);
  watch(b, "value", KVO_OLD | KVO_NEW, &other);
  BEGIN(scope, KVO_SCOPE_COALESCES, a, b, a);
  item_set_value(a, 5);
  item_set_value(b, 6);
  item_destroy(a);
  CHECK_EQ(w.destroyed, 1);
  watcher fresh[16] = {{0}};
  for (int i = 0; i < 16; i++) { /* one of them is probably at the address of the dead one */
    item *made = item_make(1);
    watch(made, "value", KVO_OLD | KVO_NEW, &fresh[i]);
    item_set_value(made, 2);
    CHECK_TOLD(fresh[i], 1, 1, 2);
  }
  kvo_scope_end(&scope);
  CHECK_EQ(w.calls, 0);
  CHECK_TOLD(other, 1, 2, 6);
  CHECK_EQ(faults.count, 0);
}

static jmp_buf out;

__attribute__((noinline)) static void leave_scope(kvo_scope_kind kind) {
  volatile char room[512]; /* so that the next use of the runtime is in an outer stack frame */
  room[0] = 0;
  kvo_scope scope = {{0}};
  kvo_object *objects[] = {as_object(a)};
  CHECK_OK(kvo_scope_begin(&scope, kind, objects, 1, NULL, 0));
  item_set_value(a, 5);
  longjmp(out, room[0] + 1);
}

TEST("a scope left with longjmp is over at the thread's next notification, which is made; its changes are not told") {
  static watcher w;
  make_items();
  for (volatile int kind = KVO_SCOPE_COALESCES; kind <= KVO_SCOPE_SILENCES; kind++) {
    w = (watcher){0};
    watch(a, "value", KVO_OLD | KVO_NEW, &w);
    if (setjmp(out) == 0) leave_scope((kvo_scope_kind)kind);
    CHECK_EQ(w.calls, 0);
    BEGIN(next, KVO_SCOPE_COALESCES, b);
    item_set_value(a, 6);
    CHECK_TOLD(w, 1, 5, 6);
    kvo_scope_end(&next);
    CHECK_OK(kvo_remove_observer(w.id));
  }
}

__attribute__((noinline)) static void leave_scope_of_path(void) {
  volatile char room[512];
  room[0] = 0;
  kvo_scope scope = {{0}};
  kvo_object *objects[] = {as_object(a)};
  CHECK_OK(kvo_scope_begin(&scope, KVO_SCOPE_COALESCES, objects, 1, NULL, 0));
  item_set_next(a, c);
  longjmp(out, room[0] + 1);
}

TEST("an expression follows the changes of a scope that was left with longjmp") {
  static watcher path;
  make_items();
  item_set_next(a, b);
  watch(a, "next.value", KVO_OLD | KVO_NEW, &path);
  if (setjmp(out) == 0) leave_scope_of_path();
  BEGIN(next, KVO_SCOPE_COALESCES, b); /* now the other one is over */
  kvo_scope_end(&next);
  CHECK_EQ(path.calls, 0);
  item_set_value(c, 4);
  CHECK_TOLD(path, 1, 3, 4);
}

static void *leave_open(void *arg) {
  (void)arg;
  BEGIN(scope, KVO_SCOPE_COALESCES, a);
  item_set_value(a, 5);
  (void)scope;
  return NULL;
}

TEST("the end of a thread ends its scopes without notification and without a fault") {
  use_counting_allocator();
  make_items();
  watcher w = {0};
  watch(a, "value", KVO_OLD | KVO_NEW, &w);
  long before = live_blocks;
  pthread_t thread;
  CHECK(pthread_create(&thread, NULL, leave_open, NULL) == 0);
  pthread_join(thread, NULL);
  CHECK_EQ(w.calls, 0);
  CHECK_EQ(live_blocks, before);
  CHECK_EQ(faults.count, 0);
  item_set_value(a, 6);
  CHECK_TOLD(w, 1, 5, 6);
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

TEST("whichever allocation in a scope fails, observers are told of the last value, and nothing leaks") {
  use_counting_allocator();
  make_items();
  watcher w = {0}, path = {0}, warm = {0};
  total sum = {.of = {a, b}};
  item_set_next(a, b);
  watch(a, "value", KVO_OLD | KVO_NEW, &w);
  watch(a, "next.value", KVO_OLD | KVO_NEW, &path);
  watch(c, "value", KVO_NONE, &warm);
  watch_total(&sum, KVO_NEW);
  long blocks = -1;
  for (int n = 1, value = 100;; n++) {
    kvo_object *objects[] = {as_object(a), as_object(b)};
    kvo_scope scope;
    has_failed = 0;
    int told = w.calls, path_told = path.calls, sum_told = sum.calls;
    fail_in = n;
    kvo_status status = kvo_scope_begin(&scope, KVO_SCOPE_COALESCES, objects, 2, NULL, 0);
    CHECK(status == KVO_OK || status == KVO_ERROR_OUT_OF_MEMORY);
    item_set_value(a, ++value);
    item_set_value(b, value);
    item_set_value(a, ++value);
    kvo_scope_end(&scope);
    fail_in = 0;
    CHECK(w.calls > told && path.calls > path_told && sum.calls > sum_told);
    if (w.new_value.told) CHECK_EQ(w.new_value.integer, value);
    CHECK_EQ(a->value, value);
    if (blocks < 0) blocks = live_blocks;
    CHECK(live_blocks <= blocks + 2);
    if (!has_failed) break;
  }
  CHECK_EQ(path.new_value.integer, b->value);
  CHECK_EQ(sum.new_value, a->value + b->value);
}

/* ------------------------------------------------------------------------------------------------------------ Threads -- */

static _Atomic bool stops;
static _Atomic long told_on_threads;

static void count_told(const kvo_change *change, void *user_data) {
  (void)change, (void)user_data;
  told_on_threads++;
}

static void *register_and_remove(void *arg) {
  (void)arg;
  while (!stops) {
    kvo_observer observer = {.struct_size = sizeof observer,
                             .key_path = "next.value",
                             .options = KVO_OLD | KVO_NEW,
                             .callback = count_told,
                             KVO_HERE};
    kvo_observation id;
    CHECK_OK(kvo_add_observer(as_object(a), &observer, &id));
    CHECK_OK(kvo_remove_observer(id));
  }
  return NULL;
}

TEST("other threads may register and remove observations of the objects of a scope") {
  make_items();
  item_set_next(a, b);
  watcher w = {0};
  watch(b, "value", KVO_OLD | KVO_NEW, &w);
  pthread_t thread;
  CHECK(pthread_create(&thread, NULL, register_and_remove, NULL) == 0);
  /* The storage is the program's, and a registration reads it: only the same values are stored, and atomically. */
  for (int round = 0; round < 2000; round++) {
    BEGIN(scope, round % 3 == 2 ? KVO_SCOPE_SILENCES : KVO_SCOPE_COALESCES, a, b);
    for (int i = 0; i < 3; i++) {
      kvo_frame frame;
      if (kvo_frame_begin(&frame, as_object(b), kvo_key_hash("value", 5)) != 0) kvo_frame_finish(&frame, NULL);
      kvo_binding_stored(as_object(b), kvo_key_hash("value", 5));
    }
    kvo_scope_end(&scope);
  }
  stops = true;
  pthread_join(thread, NULL);
  CHECK_EQ(w.calls, 1334);
}

TEST("thousands of keys in one scope take no more than a moment each") {
  ignore_faults();
  enum { COUNT = 5000 };
  static item *many[COUNT];
  static watcher watchers[COUNT];
  static kvo_object *objects[COUNT];
  for (int i = 0; i < COUNT; i++) {
    many[i] = item_make(0);
    objects[i] = as_object(many[i]);
    watch(many[i], "value", KVO_OLD | KVO_NEW, &watchers[i]);
  }
  kvo_scope scope;
  CHECK_OK(kvo_scope_begin(&scope, KVO_SCOPE_COALESCES, objects, COUNT, NULL, 0));
  for (int round = 1; round < 4; round++)
    for (int i = 0; i < COUNT; i++) item_set_value(many[i], round);
  kvo_scope_end(&scope);
  for (int i = 0; i < COUNT; i++) CHECK_TOLD(watchers[i], 1, 0, 3);
}

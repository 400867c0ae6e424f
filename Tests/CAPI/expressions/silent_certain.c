/* silent_certain.c - when KVO0032 is certain, and when not: what an expression reads before a change, compared with what it has read. */
#include "fixture.h"

#include <kvo/kvo_binding.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* An expression that wants its old value, so that it is evaluated before each change. */
typedef struct expression {
  item *root;
  void (*body)(const struct expression *self);
  kvo_observation id;
  int told;
} expression;

static void *evaluate(void *user_data) {
  const expression *self = user_data;
  self->body(self);
  return calloc(1, 1);
}

static void note(const kvo_raw_change *change, void *user_data) {
  if (!change->is_prior) ((expression *)user_data)->told++;
}

static void release(void *value, void *user_data) { (void)user_data, free(value); }

static void begin_with(expression *self, const char *key_path, kvo_options options) {
  static const kvo_observer_ops ops = {.callback = note, .evaluate = evaluate, .release = release};
  kvo_binding_observer described = {.key_path = key_path, .options = options, .ops = &ops, .user_data = self, KVO_HERE};
  CHECK_OK(kvo_binding_observe_tracked(as_object(self->root), &described, false, &self->id));
}

static void begin_path(expression *self, const char *key_path) { begin_with(self, key_path, KVO_OLD); }

static void begin(expression *self) { begin_path(self, "expression"); }

static void read_key(item *of, const char *key) { kvo_track_read(as_object(of), kvo_key_hash(key, strlen(key))); }

static item *next_of(item *of) {
  read_key(of, "next");
  return of->next;
}

static void read_value(item *of) { read_key(of, "value"); }

/* Of the objects of a test; replacements are stored without notification. */
static item *root, *second, *third, *fresh, *spare;

static void make_path(void) {
  ignore_faults();
  root = item_make(1);
  second = item_make(2);
  third = item_make(3);
  fresh = item_make(4);
  spare = item_make(5);
  root->next = second;
  second->next = third;
  fresh->next = spare;
}

static void finish(expression *self) {
  CHECK_OK(kvo_remove_observer(self->id));
  item *all[] = {root, second, third, fresh, spare};
  for (size_t i = 0; i < sizeof all / sizeof *all; i++) item_destroy(all[i]);
}

/* Checks that there were so many reports, the last one of "next" of this object. */
static void check_reported(int count, const item *holder) {
  char expected[96];
  CHECK_EQ(faults.count, count);
  CHECK_EQ((int)faults.code, KVO_FAULT_SILENT_CHANGE);
  snprintf(expected, sizeof expected, "\"next\" of Item@0x%llx was replaced", (unsigned long long)(uintptr_t)holder);
  CHECK_CONTAINS(faults.summary, expected);
}

/* ---------------------------------------------------------------------------------------------------------- Certain -- */

static void read_next_value(const expression *self) { read_value(next_of(self->root)); }

TEST(
    "an object that was replaced without notification is reported each time, also when another one is already observed") {
  make_path();
  watcher direct = {0};
  watch(fresh, "value", KVO_NEW, &direct);
  expression one = {.root = root, .body = read_next_value};
  begin(&one);
  item_set_value(second, 20);
  CHECK_EQ(faults.count, 0);
  root->next = fresh;
  item_set_value(second, 21);
  check_reported(1, root);
  root->next = second;
  item_set_value(fresh, 40);
  check_reported(2, root);
  item_set_value(second, 22);
  CHECK_EQ(faults.count, 2);
  CHECK_EQ(one.told, 4);
  CHECK_OK(kvo_remove_observer(direct.id));
  finish(&one);
}

static void read_next_next_value(const expression *self) { read_value(next_of(next_of(self->root))); }

TEST("of a longer path the object is named that had the replaced one") {
  make_path();
  expression one = {.root = root, .body = read_next_next_value};
  begin(&one);
  second->next = fresh;
  item_set_value(third, 30);
  check_reported(1, second);
  root->next = fresh;
  item_set_next(second, third);
  check_reported(2, root);
  finish(&one);
}

static void read_value_before(const expression *self) {
  read_value(self->root);
  read_value(next_of(self->root));
}

TEST("it is reported if another key of the object is read before") {
  make_path();
  expression one = {.root = root, .body = read_value_before};
  begin(&one);
  root->next = fresh;
  item_set_value(second, 20);
  check_reported(1, root);
  finish(&one);
}

static bool reads_spare;

static void read_spare_first(const expression *self) {
  if (reads_spare) read_value(spare);
  read_value(next_of(self->root));
}

TEST("it is reported if the expression begins with an object that it has not read before") {
  make_path();
  expression one = {.root = root, .body = read_spare_first};
  begin(&one);
  reads_spare = true;
  root->next = fresh;
  item_set_value(second, 20);
  check_reported(1, root);
  finish(&one);
}

enum { LONGEST = 16 };
static int path_length;

static void read_long_path(const expression *self) {
  item *at = self->root;
  for (int i = 1; i < path_length; i++) at = next_of(at);
  read_value(at);
}

TEST("it is reported at the end of a path of up to sixteen keys") {
  for (path_length = 2; path_length <= LONGEST; path_length++) {
    make_path();
    faults.count = 0;
    item *chain[LONGEST] = {NULL};
    for (int i = 0; i < path_length; i++) chain[i] = item_make(i);
    for (int i = 1; i < path_length; i++) chain[i - 1]->next = chain[i];
    expression one = {.root = chain[0], .body = read_long_path};
    begin(&one);
    chain[path_length - 2]->next = fresh;
    item_set_value(chain[path_length - 1], 9);
    check_reported(1, chain[path_length - 2]);
    CHECK_EQ(one.told, 1);
    finish(&one);
    for (int i = 0; i < path_length; i++) item_destroy(chain[i]);
  }
}

/* ------------------------------------------------------------------------------------------------------ Not certain -- */

static item *list[2];

static void read_list(const expression *self) {
  read_value(self->root);
  for (int i = 0; i < 2; i++) read_value(list[i]);
}

TEST("an element of a list that nobody observes may be replaced: a number leads to no object") {
  make_path();
  list[0] = second;
  list[1] = third;
  expression one = {.root = root, .body = read_list};
  begin(&one);
  list[1] = fresh;
  item_set_value(third, 30);
  CHECK_EQ(faults.count, 0);
  item_set_value(fresh, 40);
  CHECK_EQ(one.told, 2);
  finish(&one);
}

static void replace_and_read(const expression *self) {
  item_set_next(self->root, self->root->next == second ? fresh : second);
  read_value(next_of(self->root));
}

TEST("an expression that itself sets a key on its path each time has not been led elsewhere silently") {
  make_path();
  expression one = {.root = root, .body = replace_and_read};
  begin_path(&one, "next.value");
  item_set_value(root->next, 30);
  item_set_next(root, third);
  CHECK_EQ(faults.count, 0);
  finish(&one);
}

static bool reads_another_way;

static void read_either(const expression *self) {
  item *next = next_of(self->root);
  if (reads_another_way)
    (void)next_of(fresh);
  else
    read_value(next);
}

TEST("an expression that goes on with another key of another object has not been led there by the one before") {
  make_path();
  expression one = {.root = root, .body = read_either};
  begin(&one);
  reads_another_way = true;
  item_set_value(second, 20);
  CHECK_EQ(faults.count, 0);
  item_set_next(fresh, third);
  CHECK_EQ(one.told, 2);
  CHECK_EQ(faults.count, 0);
  finish(&one);
}

static watcher removed;

static void remove_and_change(watcher *self, const kvo_change *change) {
  (void)change;
  self->then = NULL;
  if (removed.id != 0) CHECK_OK(kvo_remove_observer(removed.id));
  item_set_next(second, spare); /* the expression has not been told yet that this one is replaced */
}

TEST("a change whose observers remove an observation of the object and change the path again is no silent one") {
  for (int removes = 0; removes < 2; removes++) {
    make_path();
    removed = (watcher){0};
    if (removes) watch(root, "value", KVO_NEW, &removed);
    expression one = {.root = root, .body = read_next_next_value};
    begin(&one);
    watcher changing = {.then = remove_and_change};
    watch(root, "next", KVO_NONE, &changing);
    item_set_next(root, fresh);
    CHECK_EQ(faults.count, 0);
    CHECK_EQ(changing.calls, 1);
    CHECK(one.told >= 1);
    CHECK_OK(kvo_remove_observer(changing.id));
    finish(&one);
  }
}

static void replace_and_change(watcher *self, const kvo_change *change) {
  (void)self, (void)change;
  root->next = fresh;
  item_set_value(second, 20);
}

TEST("nothing is certain while another change of the object is in progress") {
  make_path();
  expression one = {.root = root, .body = read_next_value};
  begin(&one);
  watcher changing = {.then = replace_and_change};
  watch(root, "value", KVO_NONE, &changing);
  item_set_value(root, 10);
  CHECK_EQ(changing.calls, 1);
  CHECK_EQ(one.told, 1);
  CHECK_EQ(faults.count, 0);
  item_set_value(fresh, 40);
  CHECK_EQ(one.told, 2);
  CHECK_OK(kvo_remove_observer(changing.id));
  finish(&one);
}

static bool has_acted;

static void lead_to_fresh(watcher *self, const kvo_change *change) {
  (void)self;
  if (!change->is_prior || has_acted) return;
  has_acted = true;
  item_set_next(fresh, second);
  item_set_next(root, fresh);
}

TEST("a path that is led to an object while a change of that has begun is compared with what is stored last") {
  make_path();
  has_acted = false;
  watcher path = {0};
  watch(root, "next.next.value", KVO_OLD | KVO_NEW, &path);
  watcher before = {.then = lead_to_fresh};
  watch(fresh, "next", KVO_PRIOR | KVO_OLD, &before);
  item_set_next(fresh, third);
  CHECK(has_acted);
  CHECK_EQ(faults.count, 0);
  CHECK_OK(kvo_remove_observer(before.id));
  CHECK_OK(kvo_remove_observer(path.id));
}

static void replace_silently(watcher *self, const kvo_change *change) {
  (void)self, (void)change;
  kvo_scope scope;
  kvo_object *silent = as_object(root);
  if (has_acted) return;
  has_acted = true;
  CHECK_OK(kvo_scope_begin(&scope, KVO_SCOPE_SILENCES, &silent, 1, __FILE__, __LINE__));
  item_set_next(root, third);
  kvo_scope_end(&scope);
}

TEST("a change whose observers make a silent one of the same key is no silent one itself") {
  make_path();
  has_acted = false;
  expression one = {.root = root, .body = read_next_value};
  begin_path(&one, "next.value");
  watcher silent = {.then = replace_silently};
  watch(root, "next", KVO_NONE, &silent);
  item_set_next(root, fresh);
  CHECK(has_acted);
  CHECK_EQ(faults.count, 0);
  CHECK_OK(kvo_remove_observer(silent.id));
  finish(&one);
}

static kvo_observation ends_itself;

static void replace_silently_and_end(watcher *self, const kvo_change *change) {
  replace_silently(self, change);
  if (ends_itself != 0) CHECK_OK(kvo_remove_observer(ends_itself));
  ends_itself = 0;
}

TEST("the same change, when the observer has removed itself, is no silent one") {
  make_path();
  has_acted = false;
  watcher path = {0};
  watch(root, "next.value", KVO_OLD | KVO_NEW, &path);
  watcher silent = {.then = replace_silently_and_end};
  watch(root, "next", KVO_NONE, &silent);
  watcher first = {0};
  watch(root, "value", KVO_NONE, &first);
  item_set_value(root, 7); /* the first change of a thread measures its stack, and is made with a frame */
  ends_itself = silent.id;
  kvo_change_word(as_object(root), kvo_key_hash("next", 4), (uint64_t *)(void *)&root->next, (uintptr_t)fresh);
  CHECK(has_acted);
  CHECK_EQ(faults.count, 0);
  CHECK_OK(kvo_remove_observer(path.id));
}

static pthread_barrier_t has_replaced, has_checked;

static void *replace_in_a_scope(void *arg) {
  kvo_scope scope;
  kvo_object *coalesced = as_object(third);
  CHECK_OK(kvo_scope_begin(&scope, KVO_SCOPE_COALESCES, &coalesced, 1, __FILE__, __LINE__));
  item_set_value(third, 30);
  item_set_next(root, fresh); /* the scope will notify of both */
  pthread_barrier_wait(&has_replaced);
  pthread_barrier_wait(&has_checked);
  kvo_scope_end(&scope);
  return arg;
}

static pthread_t replacing;

static void read_while_another_thread_replaces(const expression *self) {
  if (!has_acted) {
    has_acted = true;
    CHECK(pthread_create(&replacing, NULL, replace_in_a_scope, NULL) == 0);
    pthread_barrier_wait(&has_replaced);
  }
  read_next_next_value(self);
}

TEST("a change that another thread leaves to its scope while the path is evaluated is no silent one") {
  make_path();
  pthread_barrier_init(&has_replaced, NULL, 2);
  pthread_barrier_init(&has_checked, NULL, 2);
  has_acted = true;
  expression one = {.root = root, .body = read_while_another_thread_replaces};
  begin_with(&one, "expression", KVO_NEW); /* no old value: the other thread never evaluates it */
  has_acted = false;
  item_set_next(second, spare);
  pthread_barrier_wait(&has_checked);
  pthread_join(replacing, NULL);
  CHECK_EQ(faults.count, 0);
  CHECK(one.told >= 1);
  finish(&one);
  pthread_barrier_destroy(&has_replaced);
  pthread_barrier_destroy(&has_checked);
}

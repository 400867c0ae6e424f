/* scopes_left.c - scopes that were left with longjmp, far below the code that goes on: when they are over, and what is told then; and a
 * scope that could not begin. */
#include "below.h"
#include "scoped.h"

#include <setjmp.h>
#include <stdlib.h>

static jmp_buf out;

__attribute__((noinline)) static void change_in_scope_and_leave(void) {
  BEGIN(scope, KVO_SCOPE_COALESCES, a);
  item_set_value(a, 5);
  longjmp(out, 1);
}

TEST("a scope that was left with longjmp is over at the next change above it, also if no other scope begins or ends") {
  static watcher w;
  make_items();
  watch(a, "value", KVO_OLD | KVO_NEW, &w);
  if (setjmp(out) == 0) call_below(change_in_scope_and_leave);
  CHECK_EQ(w.calls, 0);
  item_set_value(a, 6);
  CHECK_TOLD(w, 1, 5, 6);
  CHECK_OK(kvo_remove_observer(w.id));
  CHECK_EQ(w.destroyed, 1);
}

static void set_b(void) { item_set_value(b, b->value + 1); }
static void set_b_below(void) { call_below(set_b); }

static void set_b_far_below(watcher *self, const kvo_change *change) {
  (void)self, (void)change;
  call_below(set_b_below);
}

__attribute__((noinline)) static void leave_scope_of_b(void) {
  BEGIN(inner, KVO_SCOPE_COALESCES, b);
  longjmp(out, 1);
}

TEST("the end of a scope ends those within it that were left: what its observers then set is told at once") {
  static watcher first, other;
  make_items();
  first.then = set_b_far_below;
  watch(a, "value", KVO_NONE, &first);
  watch(b, "value", KVO_OLD | KVO_NEW, &other);
  BEGIN(outer, KVO_SCOPE_COALESCES, a);
  item_set_value(a, 5);
  if (setjmp(out) == 0) call_below(leave_scope_of_b);
  CHECK_EQ(other.calls, 0);
  kvo_scope_end(&outer);
  CHECK_EQ(first.calls, 1);
  CHECK_TOLD(other, 1, 2, 3);
}

/* An expression of the value of `a` that, when it is asked to, sets that of `c` before it has its own. */
static bool sets_c;
static int told;

static void *evaluate_and_set(void *user_data) {
  (void)user_data;
  kvo_track_read(as_object(a), kvo_key_hash("value", 5));
  bool sets = sets_c;
  sets_c = false;
  if (sets) item_set_value(c, 30);
  return calloc(1, 1);
}

static void free_value(void *value, void *user_data) { (void)user_data, free(value); }
static void count_told(const kvo_raw_change *change, void *user_data) { (void)change, (void)user_data, told++; }

TEST("an expression of a left scope is told at once of what another one of that scope sets when it is evaluated") {
  static const kvo_observer_ops ops = {.callback = count_told, .evaluate = evaluate_and_set, .release = free_value};
  static total sum;
  static watcher other;
  make_items();
  watch(b, "value", KVO_NONE, &other);
  sum = (total){.of = {a, c}};
  watch_total(&sum, KVO_NEW);
  kvo_binding_observer observer = {.key_path = "setting", .options = KVO_NEW, .ops = &ops};
  kvo_observation id;
  CHECK_OK(kvo_binding_observe_tracked(as_object(a), &observer, false, &id));
  BEGIN(outer, KVO_SCOPE_COALESCES, b);
  if (setjmp(out) == 0) call_below(change_in_scope_and_leave);
  CHECK_EQ(sum.calls + told, 0);
  sets_c = true;
  item_set_value(b, 9); /* which ends the scope that was left */
  CHECK(!sets_c);
  CHECK_EQ(sum.calls, 1);
  CHECK_EQ(sum.new_value, 35);
  kvo_scope_end(&outer);
  CHECK_EQ(sum.calls, 1);
  CHECK_EQ(told, 0);
  CHECK_EQ(other.calls, 1);
  CHECK_OK(kvo_remove_observer(other.id));
  CHECK_OK(kvo_remove_observer(sum.id));
  CHECK_OK(kvo_remove_observer(id));
}

TEST("the end of a scope that could not begin ends no other one") {
  make_items();
  watcher w = {0};
  watch(a, "value", KVO_OLD | KVO_NEW, &w);
  BEGIN(first, KVO_SCOPE_COALESCES, a);
  kvo_scope second = first; /* the memory that the next one finds */
  kvo_object *objects[] = {as_object(a)};
  CHECK_STATUS(kvo_scope_begin(&second, (kvo_scope_kind)3, objects, 1, NULL, 0), KVO_ERROR_INVALID_ARGUMENT);
  item_set_value(a, 5);
  kvo_scope_end(&second);
  CHECK_EQ(w.calls, 0);
  kvo_scope_end(&first);
  CHECK_TOLD(w, 1, 1, 5);
  CHECK_OK(kvo_remove_observer(w.id));
}

static void leave_once(watcher *self, const kvo_change *change) {
  (void)change;
  self->then = NULL;
  longjmp(out, 1);
}

__attribute__((noinline)) static void change_b_in_scope(void) {
  volatile char room[512];
  room[0] = 1;
  BEGIN(scope, KVO_SCOPE_COALESCES, b);
  item_set_value(b, 5);
  kvo_scope_end(&scope);
  CHECK_EQ(room[0], 1);
}

/* The deeper, the less the stack shows of what was left above. */
__attribute__((noinline)) static void set_b_at(size_t depth, int value) {
  volatile char *room = __builtin_alloca(depth + 1);
  room[0] = 1;
  item_set_value(b, value);
  CHECK_EQ(room[0], 1);
}

TEST_REPORTED("expressions notify again once it is known that a callback has left the end of a scope") {
  static size_t depth;
  static watcher leaver, path;
  static int known;
  for (depth = 0; depth < 1024; depth += 16) {
    make_items();
    item_set_next(a, b);
    leaver = (watcher){.then = leave_once};
    path = (watcher){0};
    watch(a, "next.value", KVO_OLD | KVO_NEW, &path);
    watch(b, "value", KVO_NONE, &leaver);
    int before = faults.count;
    if (setjmp(out) == 0) change_b_in_scope();
    for (int value = 6; faults.count == before && value < 9; value++) set_b_at(depth, value);
    int calls = path.calls;
    set_b_at(depth, 20);
    if (faults.count != before) {
      CHECK_EQ(path.calls, calls + 1);
      CHECK_EQ(path.new_value.integer, 20);
      known++;
    }
    CHECK_OK(kvo_remove_observer(leaver.id));
    CHECK_OK(kvo_remove_observer(path.id));
    destroy_items();
  }
  CHECK(known > 0);
}

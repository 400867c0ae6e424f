/* scopes_ends.c - how scopes end that are not ended: by the death of an object, by longjmp, for lack of memory. */
#include "allocator.h"
#include "scoped.h"

#include <setjmp.h>

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
  CHECK_TOLD(path, 1, 2, 4);
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

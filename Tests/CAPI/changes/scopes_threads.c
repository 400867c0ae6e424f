/* scopes_threads.c - a scope is that of its thread: what other threads change meanwhile, and the end of the thread.
 * */
#include "allocator.h"
#include "scoped.h"
#include "shared.h"

static void set_a(void *value) { item_set_value(a, *(int *)value); }

TEST("a scope is that of its thread: what another thread changes notifies as usual") {
  make_items();
  watcher w = {0};
  watch(a, "value", KVO_OLD | KVO_NEW, &w);
  for (int kind = KVO_SCOPE_COALESCES; kind <= KVO_SCOPE_SILENCES; kind++) {
    int value = kind + 10;
    BEGIN(scope, (kvo_scope_kind)kind, a);
    join_thread(start_thread(set_a, &value));
    CHECK_EQ(w.calls, kind + 1);
    CHECK_EQ(w.new_value.integer, value);
    kvo_scope_end(&scope);
    CHECK_EQ(w.calls, kind + 1);
  }
}

static void set_b(void *value) { item_set_value(b, *(int *)value); }

static void set_b_in_scope(void *value) {
  BEGIN(scope, KVO_SCOPE_COALESCES, b);
  set_b(value);
  kvo_scope_end(&scope);
}

/* As the threads of an actor, or of tasks; the record of a later one may be at the address of an earlier one's. */
TEST("the end of a scope notifies a path and an expression once, also if an earlier thread has evaluated them last") {
  make_items();
  item_set_next(a, b);
  watcher path = {0};
  total sum = {.of = {a, b, c}};
  watch(a, "next.value", KVO_OLD | KVO_NEW, &path);
  watch_total(&sum, KVO_OLD | KVO_NEW);
  for (int i = 1; i <= 20; i++) {
    int value = 10 * i;
    join_thread(start_thread(i % 2 == 0 ? set_b : set_b_in_scope, &value));
    CHECK_EQ(path.calls, i);
    CHECK_EQ(path.new_value.integer, value);
    CHECK_EQ(sum.calls, i);
  }
  BEGIN(scope, KVO_SCOPE_COALESCES, a, b, c);
  item_set_value(a, 4);
  item_set_value(b, 5);
  kvo_scope_end(&scope);
  CHECK_TOLD(path, 21, 200, 5);
  CHECK_EQ(sum.calls, 21);
  CHECK_EQ(sum.old_value, 204);
  CHECK_EQ(sum.new_value, 12);
}

static void leave_open(void *arg) {
  (void)arg;
  BEGIN(scope, KVO_SCOPE_COALESCES, a);
  item_set_value(a, 5);
}

TEST("the end of a thread ends its scopes without notification and without a fault") {
  use_counting_allocator();
  make_items();
  watcher w = {0};
  watch(a, "value", KVO_OLD | KVO_NEW, &w);
  long before = live_blocks;
  join_thread(start_thread(leave_open, NULL));
  CHECK_EQ(w.calls, 0);
  CHECK_EQ(live_blocks, before);
  CHECK_EQ(faults.count, 0);
  item_set_value(a, 6);
  CHECK_TOLD(w, 1, 5, 6);
}

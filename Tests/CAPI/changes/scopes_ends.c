/* scopes_ends.c - how scopes end: once, on their own thread, without objects that have died, without memory, with
 * their thread, or left with longjmp. */
#include "allocator.h"
#include "below.h"
#include "scoped.h"
#include "shared.h"

#include <setjmp.h>

static void end_on_thread(void *scope) { kvo_scope_end(scope); }

TEST("ending a scope again, as a copy, on another thread, or one that could not begin, ends no other scope") {
  make_items();
  watcher w = {0};
  watch(a, "value", KVO_OLD | KVO_NEW, &w);
  BEGIN(first, KVO_SCOPE_COALESCES, a);
  kvo_scope copy = first;
  kvo_scope_end(&first);
  BEGIN(second, KVO_SCOPE_COALESCES, a); /* probably in the memory of the first one */
  kvo_scope refused = second;            /* the memory that the next one finds */
  kvo_object *objects[] = {as_object(a)};
  CHECK_STATUS(kvo_scope_begin(&refused, (kvo_scope_kind)3, objects, 1, NULL, 0), KVO_ERROR_INVALID_ARGUMENT);
  item_set_value(a, 5);
  kvo_scope_end(&first);
  kvo_scope_end(&copy);
  kvo_scope_end(&refused);
  join_thread(start_thread(end_on_thread, &second));
  CHECK_EQ(w.calls, 0);
  kvo_scope_end(&second);
  CHECK_NOTIFIED(w, 1, 1, 5);
}

TEST("an object that dies leaves the scope without notification or fault, and a new one at its address is not in it") {
  make_items();
  static item memory;
  static watcher first, second, other;
  CHECK_OK(kvo_object_init(as_object(&memory), item_class()));
  watch(&memory, "value", KVO_NEW | KVO_ENDS_WITH_OBJECT, &first);
  watch(b, "value", KVO_OLD | KVO_NEW, &other);
  BEGIN(scope, KVO_SCOPE_COALESCES, &memory, b, &memory);
  item_set_value(b, 5);
  item_set_value(&memory, 6);
  kvo_object_finish(as_object(&memory));
  CHECK_EQ(first.destroyed, 1);
  CHECK_OK(kvo_object_init(as_object(&memory), item_class()));
  watch(&memory, "value", KVO_OLD | KVO_NEW, &second);
  item_set_value(&memory, 7);
  CHECK_NOTIFIED(second, 1, 6, 7);
  kvo_scope_end(&scope);
  CHECK_EQ(first.calls, 0);
  CHECK_NOTIFIED(other, 1, 2, 5);
  CHECK_EQ(faults.count, 0);
}

TEST("a change that a scope cannot keep for lack of memory is notified at once, and later ones at its end") {
  use_counting_allocator();
  make_items();
  watcher w = {0}, path = {0}, removed = {0};
  watch(a, "value", KVO_OLD | KVO_NEW, &w);
  watch(a, "value", KVO_NONE, &removed);
  item_set_next(b, a);
  watch(b, "next.value", KVO_OLD | KVO_NEW, &path);
  BEGIN(scope, KVO_SCOPE_COALESCES, a);
  fail_in = 1;
  item_set_value(a, 2);
  fail_in = 0;
  CHECK_NOTIFIED(w, 1, 1, 2);
  CHECK_NOTIFIED(path, 1, 1, 2);
  CHECK_OK(kvo_remove_observer(removed.id));
  CHECK_EQ(removed.destroyed, 1);
  item_set_value(a, 3);
  item_set_value(a, 4);
  CHECK_EQ(w.calls + path.calls, 2);
  kvo_scope_end(&scope);
  CHECK_NOTIFIED(w, 2, 2, 4);
  CHECK_NOTIFIED(path, 2, 2, 4);
}

TEST("whichever allocation in nested scopes fails, observers are notified of the last value, and nothing leaks") {
  use_counting_allocator();
  make_items();
  watcher w = {0}, path = {0};
  total sum = {.of = {a, b}};
  item_set_next(a, b);
  watch(a, "value", KVO_OLD | KVO_NEW, &w);
  watch(a, "next.value", KVO_OLD | KVO_NEW, &path);
  watch_total(&sum, KVO_NEW);
  long blocks = -1;
  int value = 100;
  has_failed = 1;
  for (int n = 1; has_failed; n++) {
    kvo_object *objects[] = {as_object(a), as_object(b)};
    kvo_scope scopes[2];
    has_failed = 0;
    int calls = w.calls, path_calls = path.calls, sum_calls = sum.calls;
    fail_in = n;
    for (int i = 0; i < 2; i++) {
      kvo_status status = kvo_scope_begin(&scopes[i], KVO_SCOPE_COALESCES, &objects[i], 1, NULL, 0);
      CHECK(status == KVO_OK || status == KVO_ERROR_OUT_OF_MEMORY);
    }
    item_set_value(b, ++value);
    item_set_value(a, ++value);
    kvo_scope_end(&scopes[1]);
    item_set_value(a, ++value);
    kvo_scope_end(&scopes[0]);
    fail_in = 0;
    CHECK(w.calls > calls && path.calls > path_calls && sum.calls > sum_calls);
    if (w.new_value.delivered) CHECK_EQ(w.new_value.integer, value);
    CHECK_EQ(a->value, value);
    if (blocks < 0) blocks = live_blocks;
    CHECK(live_blocks <= blocks + 3);
  }
  CHECK_EQ(path.new_value.integer, b->value);
  CHECK_EQ(sum.new_value, a->value + b->value);
}

static void set_a(void *value) { item_set_value(a, *(int *)value); }

TEST("a scope is that of its thread: what another thread changes notifies as usual") {
  make_items();
  watcher w = {0};
  watch(a, "value", KVO_OLD | KVO_NEW, &w);
  for (int kind = KVO_SCOPE_COALESCES; kind <= KVO_SCOPE_SILENCES; kind++) {
    int value = kind + 10;
    BEGIN(scope, (kvo_scope_kind)kind, a);
    join_thread(start_thread(set_a, &value));
    CHECK_NEW(w, kind + 1, value);
    kvo_scope_end(&scope);
    CHECK_EQ(w.calls, kind + 1);
  }
}

static void leave_open(void *arg) {
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
  CHECK_NOTIFIED(w, 1, 5, 6);
}

static jmp_buf out;
static kvo_scope_kind left_kind;

__attribute__((noinline)) static void change_in_scope_and_leave(void) {
  BEGIN(scope, left_kind, a);
  item_set_value(a, 5);
  item_set_next(a, c);
  longjmp(out, 1);
}

TEST("a scope left with longjmp is over at the next change or scope above it: its changes are not notified") {
  static watcher w, path;
  make_items();
  for (volatile int i = 0; i < 6; i++) {
    left_kind = (kvo_scope_kind)(i % 3);
    w = path = (watcher){0};
    item_set_next(a, b);
    watch(a, "value", KVO_OLD | KVO_NEW, &w);
    watch(a, "next.value", KVO_OLD | KVO_NEW, &path);
    if (setjmp(out) == 0) call_below(change_in_scope_and_leave);
    if (i < 3) {
      BEGIN(next, KVO_SCOPE_COALESCES, b);
      kvo_scope_end(&next);
    }
    CHECK_EQ(w.calls + path.calls, 0);
    item_set_value(a, 6);
    CHECK_NOTIFIED(w, 1, 5, 6);
    item_set_value(c, 10 + i); /* paths follow what was changed */
    CHECK_EQ(path.new_value.integer, 10 + i);
    CHECK_OK(kvo_remove_observer(w.id));
    CHECK_OK(kvo_remove_observer(path.id));
    CHECK_EQ(w.destroyed, 1);
  }
}

static void leave(watcher *self, const kvo_change *change) {
  self->then = NULL; /* once */
  longjmp(out, 1);
}

__attribute__((noinline)) static void change_b_in_scope(void) {
  volatile char room[512]; /* so that the next use of the runtime is in an outer stack frame */
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
    leaver = (watcher){.then = leave};
    path = (watcher){0};
    watch(a, "next.value", KVO_OLD | KVO_NEW, &path);
    watch(b, "value", KVO_NONE, &leaver);
    int before = faults.count;
    if (setjmp(out) == 0) change_b_in_scope();
    for (int value = 6; faults.count == before && value < 9; value++) set_b_at(depth, value);
    int calls = path.calls;
    set_b_at(depth, 20);
    if (faults.count != before) {
      CHECK_NEW(path, calls + 1, 20);
      known++;
    }
    CHECK_OK(kvo_remove_observer(leaver.id));
    CHECK_OK(kvo_remove_observer(path.id));
    destroy_items();
  }
  CHECK(known > 0);
}

/* manual_open.c - changes announced by hand that stay open, or whose did is elsewhere: each did finds its own will,
 * and what is left is reported. */
#include "scoped.h"
#include "shared.h"

TEST_REPORTED("a will without did is reported with its key, whoever observes it, and also if nobody does any more") {
  for (int i = 0; i < 3; i++) {
    make_items();
    item_set_next(a, b);
    watcher w = {0};
    const char *key = i == 2 ? "undeclared" : "value";
    if (i == 0)
      watch(a, "next.value", KVO_NONE, &w); /* an expression depends on it */
    else
      watch(b, key, KVO_NONE, &w);
    will(b, key);
    if (i > 0) kvo_cancel_observer(w.id);
    a->next = NULL;
    faults.count = 0;
    item_destroy(b);
    CHECK_FAULTS(1, KVO_FAULT_UNFINISHED_CHANGE);
    CHECK_CONTAINS(faults.summary,
                   i == 2 ? "willChange of \"undeclared\" of Item@" : "willChange of \"value\" of Item@");
  }
}

TEST("a will whose object dies before its did is over, observed or not, also if a new object has the same address") {
  for (int observed = 0; observed < 2; observed++) {
    static item memory;
    make_items();
    watcher first = {0}, second = {0};
    CHECK_OK(kvo_object_init(as_object(&memory), item_class()));
    if (observed) watch(&memory, "value", KVO_ENDS_WITH_OBJECT | KVO_OLD, &first);
    will(a, "value");
    will(&memory, "value");
    will(b, "value");
    kvo_object_finish(as_object(&memory));
    CHECK_OK(kvo_object_init(as_object(&memory), item_class()));
    watch(&memory, "value", KVO_NONE, &second);
    CHECK_STATUS(kvo_did_change(as_object(&memory), "value"), KVO_ERROR_UNBALANCED);
    did(a, "value");
    did(b, "value");
    CHECK_EQ(first.calls + second.calls, 0);
    CHECK_OK(kvo_remove_observer(second.id));
    kvo_object_finish(as_object(&memory));
  }
}

static void leave_open(void *object) { will(object, "value"); }

TEST("a pair belongs to its thread, and what a thread leaves open is ended with the thread") {
  make_items();
  watcher w = {0};
  watch(a, "value", KVO_OLD, &w);
  join_thread(start_thread(leave_open, a));
  CHECK_STATUS(kvo_did_change(as_object(a), "value"), KVO_ERROR_UNBALANCED);
  CHECK_OK(kvo_remove_observer(w.id));
  CHECK_EQ(w.destroyed, 1); /* the open frame no longer keeps the node */
  CHECK_EQ(w.calls, 0);
}

static void end_elsewhere(void *object) {
  CHECK_STATUS(kvo_did_change(as_object(object), "value"), KVO_ERROR_UNBALANCED);
}

static void begin_and_let_another_end(void *object) {
  will(object, "value");
  join_thread(start_thread(end_elsewhere, object));
}

TEST_REPORTED("a pair split between two threads is reported once, not again as unfinished when the first one ends") {
  make_items();
  watcher w = {0};
  watch(a, "value", KVO_NONE, &w);
  join_thread(start_thread(begin_and_let_another_end, a));
  CHECK_FAULTS(1, KVO_FAULT_CROSSED_THREADS);
}

TEST_REPORTED(
    "any number of unobserved wills are each ended by their own did, in any order; one more did is reported") {
  enum { OPEN = 200 };
  ignore_faults();
  static item *objects[OPEN];
  static watcher w[OPEN];
  for (int i = 0; i < 1000; i++) { /* of these nothing is left */
    if (i < OPEN) objects[i] = item_make(0);
    will(objects[0], "value");
    did(objects[0], "value");
  }
  for (int i = 0; i < OPEN; i++) will(objects[i], "value");
  for (int i = 0; i < OPEN; i++) watch(objects[i], "value", KVO_NONE, &w[i]);
  for (int i = OPEN / 2; i < OPEN; i++) did(objects[i], "value");
  for (int i = OPEN / 2; i-- > 0;) did(objects[i], "value");
  CHECK_EQ(faults.count, 0);
  for (int i = 0; i < OPEN; i++) {
    CHECK_STATUS(kvo_did_change(as_object(objects[i]), "value"), KVO_ERROR_UNBALANCED);
    CHECK_EQ((int)faults.code, KVO_FAULT_DID_WITHOUT_WILL);
    CHECK_EQ(w[i].calls, 0);
  }
}

TEST("of many open pairs each did ends the innermost of its object and key, in whatever order they end") {
  enum { ITEMS = 12, NESTED = 4 };
  static item *items[ITEMS];
  static watcher w[ITEMS];
  for (int i = 0; i < ITEMS; i++) {
    items[i] = item_make(0);
    watch(items[i], "value", KVO_OLD, &w[i]);
  }
  for (int i = 0; i < ITEMS * NESTED; i++) {
    will(items[i % ITEMS], "value");
    items[i % ITEMS]->value = i / ITEMS + 1;
  }
  for (int i = ITEMS * NESTED; i-- > 0;) {
    int which = i * 5 % ITEMS;
    did(items[which], "value");
    CHECK_EQ(w[which].old_value.integer, i / ITEMS);
  }
  for (int i = 0; i < ITEMS; i++) CHECK_EQ(w[i].calls, NESTED);
}

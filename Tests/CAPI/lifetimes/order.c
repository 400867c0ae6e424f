/* order.c - the order of observers, and changes of the list or of the value while they run. */
#include "fixture.h"

static watcher a, b, c, d;

static item *with_three(int options) {
  item *object = item_make(0);
  a.tag = 'A', b.tag = 'B', c.tag = 'C', d.tag = 'D';
  watch(object, "value", options, &a);
  watch(object, "value", options, &b);
  watch(object, "value", options, &c);
  trace_clear();
  return object;
}

static void end(item *object) {
  watcher *all[] = {&a, &b, &c, &d};
  for (int i = 0; i < 4; i++) (void)kvo_cancel_observer(all[i]->id);
  for (int i = 0; i < 4; i++)
    if (all[i]->id != 0) CHECK_EQ(all[i]->destroyed, 1);
  CHECK(!kvo_object_is_observed(as_object(object)));
  item_destroy(object);
}

TEST("observers run newest first") {
  item *object = with_three(KVO_NONE);
  item_set_value(object, 1);
  CHECK_EQ((const char *)trace, "CBA");
  end(object);
}

TEST("prior observers run oldest first, all before the others") {
  item *object = with_three(KVO_PRIOR);
  item_set_value(object, 1);
  CHECK_EQ((const char *)trace, "abcCBA");
  end(object);
}

TEST("the order stays that of registration after removals in between") {
  item *object = with_three(KVO_PRIOR);
  CHECK_OK(kvo_remove_observer(b.id));
  watch(object, "value", KVO_PRIOR, &d);
  item_set_value(object, 1);
  CHECK_EQ((const char *)trace, "acdDCA");
  end(object);
}

TEST("direct observers and key path observers of one key run in one order of registration") {
  item *object = item_make(0);
  a.tag = 'A', b.tag = 'B', c.tag = 'C';
  watch(object, "value", KVO_PRIOR, &a);
  watch(object, "doubled", KVO_PRIOR, &b);
  watch(object, "value", KVO_PRIOR, &c);
  item_set_value(object, 1);
  CHECK_EQ((const char *)trace, "abcCBA");
  end(object);
}

enum { MANY = 90 };

TEST("of many observers one whose path leads to the object again is notified at its old place") {
  static watcher all[MANY];
  static item *roots[MANY];
  item *shared = item_make(0), *other = item_make(0);
  char expected[MANY + 1] = "";
  for (int i = 0; i < MANY; i++) {
    all[i].tag = (char)('!' + i);
    expected[MANY - 1 - i] = all[i].tag;
    roots[i] = item_make(0);
    roots[i]->next = shared;
    if (i % 3 == 1)
      watch(shared, "value", KVO_NONE, &all[i]);
    else
      watch(roots[i], "next.value", KVO_NONE, &all[i]);
  }
  static const int moved[] = {45, 44, 48, 2, 87, 30, 60, 59};
  for (size_t i = 0; i < sizeof moved / sizeof *moved; i++) item_set_next(roots[moved[i]], other);
  for (size_t i = 0; i < sizeof moved / sizeof *moved; i++) item_set_next(roots[moved[i]], shared);
  trace_clear();
  item_set_value(shared, 1);
  CHECK_EQ((const char *)trace, expected);
  for (int i = 0; i < MANY; i++) CHECK_OK(kvo_remove_observer(all[i].id));
  for (int i = 0; i < MANY; i++) item_destroy(roots[i]);
  item_destroy(shared);
  item_destroy(other);
}

/* --------------------------------------------------------------------------------------------- Removing in callbacks -- */

static void remove_given(watcher *self, const kvo_change *change) {
  (void)change;
  self->then = NULL;
  CHECK_OK(kvo_remove_observer(((watcher *)self->then_arg)->id));
}

static void removing(watcher *who, watcher *whom, int options, const char *first_trace, const char *second_trace) {
  item *object = with_three(options);
  who->then = remove_given;
  who->then_arg = whom;
  item_set_value(object, 1);
  CHECK_EQ((const char *)trace, first_trace);
  trace_clear();
  item_set_value(object, 2);
  CHECK_EQ((const char *)trace, second_trace);
  end(object);
}

TEST("an observer that removes itself is not called again; the others are") { removing(&b, &b, KVO_NONE, "CBA", "CA"); }
TEST("an observer that removes one which runs later keeps it from running") { removing(&c, &a, KVO_NONE, "CB", "CB"); }
TEST("an observer that removes the next one keeps that one from running") { removing(&c, &b, KVO_NONE, "CA", "CA"); }
TEST("removing an observer that has run already changes nothing for this change") {
  removing(&a, &c, KVO_NONE, "CBA", "BA");
}
TEST("the newest observer can remove itself") { removing(&c, &c, KVO_NONE, "CBA", "BA"); }
TEST("the oldest observer can remove itself") { removing(&a, &a, KVO_NONE, "CBA", "CB"); }

TEST("an observer removed between will and did is not notified after the change") {
  removing(&a, &b, KVO_PRIOR, "acCA", "acCA");
}
TEST("an observer that removes itself in its prior callback is not notified after the change") {
  removing(&b, &b, KVO_PRIOR, "abcCA", "acCA");
}

static void remove_all(watcher *self, const kvo_change *change) {
  (void)self, (void)change;
  CHECK_OK(kvo_remove_observer(a.id));
  CHECK_OK(kvo_remove_observer(b.id));
  CHECK_OK(kvo_remove_observer(c.id));
  CHECK(!kvo_object_is_observed((kvo_object *)change->object));
}

TEST("an observer can remove all, which ends the notification at once") {
  item *object = with_three(KVO_NONE);
  c.then = remove_all;
  item_set_value(object, 1);
  CHECK_EQ((const char *)trace, "C");
  item_set_value(object, 2);
  CHECK_EQ((const char *)trace, "C");
  CHECK_EQ(object->value, 2);
  end(object);
}

static void remove_all_in_prior(watcher *self, const kvo_change *change) {
  if (change->is_prior) remove_all(self, change);
}

TEST("if all are removed in a prior callback, the store happens and nobody is notified") {
  item *object = with_three(KVO_PRIOR);
  a.then = remove_all_in_prior;
  item_set_value(object, 1);
  CHECK_EQ((const char *)trace, "a");
  CHECK_EQ(object->value, 1);
  end(object);
}

TEST("destroy waits until the callback that removes its own observation has returned") {
  item *object = with_three(KVO_NONE);
  b.then = remove_given;
  b.then_arg = &b;
  item_set_value(object, 1);
  CHECK_EQ(b.destroyed, 1);
  CHECK(!b.destroyed_in_callback);
  end(object);
}

/* ----------------------------------------------------------------------------------------------- Adding in callbacks -- */

static void add_d(watcher *self, const kvo_change *change) {
  self->then = NULL;
  watch((item *)change->object, "value", KVO_PRIOR, &d);
}

static void adding(watcher *who, const char *first_trace) {
  item *object = with_three(KVO_PRIOR);
  who->then = add_d;
  item_set_value(object, 1);
  CHECK_EQ((const char *)trace, first_trace);
  trace_clear();
  item_set_value(object, 2);
  CHECK_EQ((const char *)trace, "abcdDCBA");
  end(object);
}

TEST("an observer registered in a callback is not notified of that change") { adding(&a, "abcCBA"); }

static void add_d_after(watcher *self, const kvo_change *change) {
  if (!change->is_prior) add_d(self, change);
}

TEST("an observer registered in the last callback is not notified of that change") {
  item *object = with_three(KVO_PRIOR);
  a.then = add_d_after;
  item_set_value(object, 1);
  CHECK_EQ((const char *)trace, "abcCBA");
  end(object);
}

static void replace_self(watcher *self, const kvo_change *change) {
  CHECK_OK(kvo_remove_observer(self->id));
  watch((item *)change->object, "value", KVO_NONE, self);
}

TEST("an observer that re-registers at each change is notified of each change once") {
  item *object = item_make(0);
  watcher w = {.tag = 'W', .then = replace_self};
  watch(object, "value", KVO_NONE, &w);
  for (int i = 1; i <= 100; i++) {
    item_set_value(object, i);
    CHECK_EQ(w.calls, i);
    CHECK_EQ(w.destroyed, i);
  }
  CHECK_OK(kvo_remove_observer(w.id));
  item_destroy(object);
}

/* ----------------------------------------------------------------------------------------------------- Nested changes -- */

static void set_once(watcher *self, const kvo_change *change) {
  self->then = NULL;
  item_set_value((item *)change->object, 77);
}

TEST("after a nested set later observers get the newest value, so the last value delivered is the present one") {
  item *object = with_three(KVO_NEW | KVO_OLD);
  c.then = set_once;
  item_set_value(object, 5);
  CHECK_EQ((const char *)trace, "CCBABA");
  CHECK_EQ(a.calls, 2);
  CHECK_EQ(a.new_value.integer, 77);
  CHECK_EQ(b.new_value.integer, 77);
  CHECK_EQ(c.new_value.integer, 77);
  CHECK_EQ(object->value, 77);
  end(object);
}

static void count_down(watcher *self, const kvo_change *change) {
  (void)self;
  item *object = (item *)change->object;
  if (object->value > 0) item_set_value(object, object->value - 1);
}

TEST("sets nested 200 deep each notify") {
  item *object = item_make(0);
  watcher w = {.then = count_down};
  watch(object, "value", KVO_NEW, &w);
  item_set_value(object, 200);
  CHECK_EQ(object->value, 0);
  CHECK_EQ(w.calls, 201);
  CHECK_EQ(w.new_value.integer, 0);
  CHECK_OK(kvo_remove_observer(w.id));
  item_destroy(object);
}

static void set_other_key(watcher *self, const kvo_change *change) {
  (void)self;
  item_set_other((item *)change->object, ((item *)change->object)->value);
}

TEST("a set of another key in a callback notifies that key's observers in between") {
  item *object = with_three(KVO_NONE);
  watcher other = {.tag = 'O'};
  watch(object, "other", KVO_NEW, &other);
  b.then = set_other_key;
  item_set_value(object, 6);
  CHECK_EQ((const char *)trace, "CBOA");
  CHECK_EQ(other.new_value.integer, 6);
  CHECK_OK(kvo_remove_observer(other.id));
  end(object);
}

static void remove_seen(watcher *self, const kvo_change *change) {
  (void)self;
  CHECK_OK(kvo_remove_observer(change->observation));
}

TEST("an initial callback can remove the observation that it runs for") {
  item *object = item_make(0);
  watcher w = {.then = remove_seen};
  watch(object, "value", KVO_INITIAL, &w);
  CHECK_EQ(w.calls, 1);
  CHECK_EQ(w.destroyed, 1);
  CHECK(!w.destroyed_in_callback);
  CHECK_STATUS(kvo_cancel_observer(w.id), KVO_ERROR_NOT_REGISTERED);
  item_destroy(object);
}

/* order.c - the order of observers, and changes of the list or of the value while they run. */
#include "fixture.h"

#include <string.h>

static watcher a, b, c, d;
static watcher *const all[] = {&a, &b, &c, &d};

static item *with_three(int options) {
  item *object = item_make(0);
  for (int i = 0; i < 4; i++) *all[i] = (watcher){.tag = (char)('A' + i)};
  for (int i = 0; i < 3; i++) watch(object, "value", options, all[i]);
  trace_clear();
  return object;
}

static void end(item *object) {
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

TEST("observers of a key and of an expression that reads it run in one order of registration") {
  item *object = with_three(KVO_PRIOR);
  CHECK_OK(kvo_remove_observer(c.id));
  watch(object, "doubled", KVO_PRIOR, &d);
  c.destroyed = 0;
  watch(object, "value", KVO_PRIOR, &c);
  item_set_value(object, 1);
  CHECK_EQ((const char *)trace, "abdcCDBA");
  end(object);
}

TEST("of many observers one whose path leads to the object again is notified at its old place") {
  enum { MANY = 90 };
  static const int moved[] = {45, 44, 48, 2, 87, 30, 60, 59};
  static watcher many[MANY];
  static item *roots[MANY];
  item *object = item_make(0), *other = item_make(0), *to[] = {other, object};
  char expected[MANY + 1] = "";
  for (int i = 0; i < MANY; i++) {
    many[i].tag = expected[MANY - 1 - i] = (char)('!' + i);
    roots[i] = item_make(0);
    roots[i]->next = object;
    watch(i % 3 == 1 ? object : roots[i], i % 3 == 1 ? "value" : "next.value", KVO_NONE, &many[i]);
  }
  for (int turn = 0; turn < 2; turn++)
    for (size_t i = 0; i < sizeof moved / sizeof *moved; i++) item_set_next(roots[moved[i]], to[turn]);
  trace_clear();
  item_set_value(object, 1);
  CHECK_EQ((const char *)trace, expected);
  item_destroy(other);
}

/* --------------------------------------------------------------------------------------- Removing in callbacks -- */

static void remove_given(watcher *self, const kvo_change *change) {
  self->then = NULL;
  CHECK_OK(kvo_remove_observer(((watcher *)self->then_arg)->id));
}

TEST("an observer may remove any observer in its callback: that is not called any more, and all others are") {
  static const struct {
    const char *name;
    watcher *who, *whom;
    int options;
    const char *first, *second;
  } rows[] = {
      {"itself", &b, &b, KVO_NONE, "CBA", "CA"},
      {"itself, the newest", &c, &c, KVO_NONE, "CBA", "BA"},
      {"itself, the oldest", &a, &a, KVO_NONE, "CBA", "CB"},
      {"the next one", &c, &b, KVO_NONE, "CA", "CA"},
      {"a later one", &c, &a, KVO_NONE, "CB", "CB"},
      {"one that has run already", &a, &c, KVO_NONE, "CBA", "BA"},
      {"another one before the change", &a, &b, KVO_PRIOR, "acCA", "acCA"},
      {"itself before the change", &b, &b, KVO_PRIOR, "abcCA", "acCA"},
  };
  for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
    item *object = with_three(rows[i].options);
    rows[i].who->then = remove_given;
    rows[i].who->then_arg = rows[i].whom;
    for (int value = 1; value <= 2; value++) {
      trace_clear();
      item_set_value(object, value);
      if (strcmp(trace, value == 1 ? rows[i].first : rows[i].second) != 0)
        harness_fail(__FILE__, __LINE__, "removing %s: %s at change %d", rows[i].name, trace, value);
    }
    end(object);
  }
}

static void remove_all(watcher *self, const kvo_change *change) {
  for (int i = 0; i < 3; i++) CHECK_OK(kvo_remove_observer(all[i]->id));
  CHECK(!kvo_object_is_observed((kvo_object *)change->object));
}

TEST("an observer can remove all, before or after the store: nobody is notified any more, and the value is stored") {
  for (int prior = 0; prior < 2; prior++) {
    item *object = with_three(prior ? KVO_PRIOR : KVO_NONE);
    (prior ? &a : &c)->then = remove_all;
    for (int value = 1; value <= 2; value++) {
      item_set_value(object, value);
      CHECK_EQ((const char *)trace, prior ? "a" : "C");
      CHECK_EQ(object->value, value);
    }
    end(object);
  }
}

static void remove_seen(watcher *self, const kvo_change *change) { CHECK_OK(kvo_remove_observer(change->observation)); }

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

/* ------------------------------------------------------------------------- Registrations and sets in callbacks -- */

static void add_d(watcher *self, const kvo_change *change) {
  if (change->is_prior && self->then_arg != NULL) return;
  self->then = NULL;
  watch((item *)change->object, "value", KVO_PRIOR, &d);
}

TEST("an observer registered in a callback, before the store or in the last one, is not notified of that change") {
  for (int after = 0; after < 2; after++) {
    item *object = with_three(KVO_PRIOR);
    a.then = add_d;
    a.then_arg = after ? object : NULL;
    item_set_value(object, 1);
    CHECK_EQ((const char *)trace, "abcCBA");
    trace_clear();
    item_set_value(object, 2);
    CHECK_EQ((const char *)trace, "abcdDCBA");
    end(object);
  }
}

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
  for (int i = 0; i < 3; i++) CHECK_EQ(all[i]->new_value.integer, 77);
  CHECK_EQ(object->value, 77);
  end(object);
}

static void set_other_key(watcher *self, const kvo_change *change) {
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

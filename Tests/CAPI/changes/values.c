/* values.c - values of a binding: passed with an announced change, released between two observers, and compared by a scope. */
#include "holder.h"
#include "shared.h"

static void will_with(kvo_change_kind kind, int old_value, int new_value) {
  CHECK_OK(kvo_binding_will_change_values(&held.header, key("first"), kind,
                                          old_value != 0 ? holder_value(old_value) : NULL,
                                          new_value != 0 ? holder_value(new_value) : NULL));
}

/* ------------------------------------------------------------------------------------------------------------ Passed -- */

TEST("values passed with the will are delivered, if any, and the property is not read; then they are released") {
  static const struct {
    kvo_change_kind kind;
    int old_value, new_value; /* 0: none */
  } rows[] = {{KVO_CHANGE_REPLACEMENT, 3, 4}, {KVO_CHANGE_INSERTION, 0, 4}, {KVO_CHANGE_REMOVAL, 3, 0}};
  hold(1000, 0);
  watcher w = {0};
  watch(HELD, "first", KVO_NEW | KVO_OLD | KVO_PRIOR, &w);
  for (int i = 0; i < 3; i++) {
    int old_value = rows[i].old_value, new_value = rows[i].new_value;
    will_with(rows[i].kind, old_value, new_value);
    CHECK_EQ(w.priors, i + 1);
    CHECK_EQ(w.old_value.integer, old_value);
    CHECK(!w.new_value.told);
    CHECK_EQ(holder_values, (old_value != 0) + (new_value != 0));
    did(HELD, "first");
    CHECK_EQ(w.calls, i + 1);
    CHECK_EQ((int)w.kind, (int)rows[i].kind);
    CHECK_EQ(w.index_count, 0);
    CHECK_EQ(w.old_value.told, old_value != 0);
    CHECK_EQ(w.old_value.integer, old_value);
    CHECK_EQ(w.new_value.told, new_value != 0);
    CHECK_EQ(w.new_value.integer, new_value);
    CHECK_EQ(holder_values + holder_reads, 0);
  }
}

TEST("values passed for a change that notifies nobody are released at once, those for an undefined key not at all") {
  hold(1000, 0);
  make_items();
  will_with(KVO_CHANGE_REPLACEMENT, 3, 4);
  CHECK_EQ(holder_values, 0);
  did(HELD, "first");
  int mine = 1;
  CHECK_STATUS(kvo_binding_will_change_values(&held.header, key("imaginary"), KVO_CHANGE_REMOVAL, &mine, NULL),
               KVO_ERROR_UNDEFINED_KEY);
  CHECK_STATUS(kvo_binding_will_change_values(as_object(a), key("value"), KVO_CHANGE_REMOVAL, &mine, NULL),
               KVO_ERROR_INVALID_ARGUMENT);
}

TEST("pairs with passed values nest with other pairs, each with its own values") {
  hold(1000, 0);
  watcher w = {0};
  watch(HELD, "first", KVO_NEW | KVO_OLD, &w);
  will_with(KVO_CHANGE_REPLACEMENT, 1, 2);
  will(HELD, "first");
  will_with(KVO_CHANGE_REPLACEMENT, 3, 4);
  static const int new_values[] = {4, 1000, 2};
  for (int i = 0; i < 3; i++) {
    did(HELD, "first");
    CHECK_EQ(w.new_value.integer, new_values[i]);
    CHECK_EQ((int)w.kind, i == 1 ? KVO_CHANGE_SETTING : KVO_CHANGE_REPLACEMENT);
  }
  CHECK_EQ(holder_values, 0);
}

static watcher of_open;

static void leave_open(void *object_dies) {
  hold(1000, 0);
  of_open = (watcher){0};
  watch(HELD, "first", KVO_OLD | KVO_ENDS_WITH_OBJECT, &of_open);
  will_with(KVO_CHANGE_REPLACEMENT, 3, 4);
  if (*(bool *)object_dies) kvo_object_finish(&held.header);
}

TEST("values of a pair that is left open are released at the end of the thread, also if the object has died before") {
  ignore_faults();
  for (int i = 0; i < 2; i++) {
    bool object_dies = i == 1;
    join_thread(start_thread(leave_open, &object_dies));
    CHECK_EQ(holder_values, 0);
    CHECK_EQ(of_open.calls, 0);
    CHECK_EQ(of_open.destroyed, object_dies);
  }
}

/* ------------------------------------------------------------------------------------------------ Released, compared -- */

static int released;

/* This call is the last one of a release, and may be made with the stack frame of a function that has returned. */
static void count_release(void) {
  static uint64_t storage;
  released++;
  kvo_change_word(as_object(a), key("value"), &storage, storage + 1);
}

TEST("the release of a value between two observers may change a property: no observer has been left") {
  make_items();
  hold(1, 0);
  static watcher older, newer, of_count;
  watch(HELD, "first", KVO_OLD | KVO_NEW, &older);
  watch(HELD, "first", KVO_OLD | KVO_NEW, &newer);
  watch(a, "value", KVO_NONE, &of_count);
  holder_has_released = count_release;
  for (int scoped = 0; scoped < 2; scoped++) {
    kvo_scope scope;
    if (scoped) CHECK_OK(kvo_scope_begin(&scope, KVO_SCOPE_COALESCES, &(kvo_object *){&held.header}, 1, NULL, 0));
    will(HELD, "first");
    held.first = 3 + scoped;
    did(HELD, "first");
    if (scoped) kvo_scope_end(&scope);
    CHECK_EQ(older.new_value.integer, 3 + scoped);
    CHECK_EQ(newer.calls + older.calls, 2 + 2 * scoped);
    CHECK_EQ(of_count.calls, released);
  }
  CHECK(released > 0);
  CHECK_EQ(faults.count, 0);
  holder_has_released = NULL;
}

TEST("a scope for differences notifies of values of a binding that cannot be compared, or that differ") {
  static const char *const keys[] = {"second", "compared"};
  hold(0, 1);
  watcher w[2] = {{0}};
  for (int i = 0; i < 2; i++) watch(HELD, keys[i], KVO_OLD | KVO_NEW | KVO_ENDS_WITH_OBJECT, &w[i]);
  for (int last = 1; last < 3; last++) {
    kvo_scope scope;
    CHECK_OK(kvo_scope_begin(&scope, KVO_SCOPE_COALESCES_IF_CHANGED, &(kvo_object *){&held.header}, 1, NULL, 0));
    for (int i = 0; i < 2; i++) {
      held.second = 1;
      will(HELD, keys[i]);
      held.second = 9;
      did(HELD, keys[i]);
    }
    held.second = last;
    kvo_scope_end(&scope);
    CHECK_EQ(w[0].calls, last);
    CHECK_EQ(w[1].calls, last - 1); /* the first time it has its old value again */
  }
  CHECK_EQ(w[1].new_value.integer, 2);
}

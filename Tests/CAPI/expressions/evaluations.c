/* evaluations.c - getters and expressions that remove, set, destroy or need memory in an evaluation. */
#include "allocator.h"
#include "expression.h"
#include "hooked.h"

/* ----------------------------------------------------------------------------------------------------- Getters -- */

static item *root, *later;
static watcher removed;

static void remove_observer(item *of) {
  if (of->value == 0) return;
  in_getter = NULL;
  CHECK_OK(kvo_remove_observer(removed.id));
}

TEST("an observer that a getter removes, while the value is read for a delivery, is not notified any more") {
  root = hooked_make(0);
  watch(root, "value", KVO_NEW, &removed);
  in_getter = remove_observer;
  item_set_value(root, 1);
  CHECK_EQ(removed.destroyed, 1);
  CHECK_EQ(removed.calls, 0);
}

/* ----------------------------------------------------------------------------------------------- Registrations -- */

static void lead_on(item *of) {
  in_getter = NULL;
  item_set_next(root, later);
}

static void observe_while_it_changes(void) {
  root = hooked_make(1);
  later = hooked_make(3);
  item *first = hooked_make(2);
  root->next = first;
  in_getter = lead_on;
  watcher seen = {0};
  watch(root, "next.value", KVO_INITIAL | KVO_NEW, &seen);
  CHECK_EQ(seen.new_value.integer, 3);
  item_set_value(later, 4);
  CHECK_EQ(seen.new_value.integer, 4);
  int calls = seen.calls;
  item_set_value(first, 5);
  CHECK_EQ(seen.calls, calls);
  CHECK_OK(kvo_remove_observer(seen.id));
  item *all[] = {root, later, first};
  for (int i = 0; i < 3; i++) kvo_object_destroy(as_object(all[i]));
}

TEST("an expression that changes while it is registered delivers its present value, and leaves no memory behind") {
  use_counting_allocator();
  ignore_faults();
  long before = 0;
  for (int round = 0; round < 10; round++) {
    observe_while_it_changes();
    if (round == 4) before = live_blocks; /* by now the runtime has allocated what it keeps */
  }
  CHECK_EQ((long)live_blocks, before);
  CHECK_EQ(faults.count, 0);
}

/* By a setter that began when nobody observed the object. */
static void store_meanwhile(item *of) {
  in_getter = NULL;
  of->value += 10;
  kvo_object_stored(as_object(of), "value");
}

TEST("the initial notification has a value that another setter has stored since the expression was evaluated") {
  root = hooked_make(1);
  root->next = hooked_make(2);
  in_getter = store_meanwhile;
  watcher seen = {0};
  watch(root, "next.value", KVO_INITIAL | KVO_NEW, &seen);
  CHECK_NEW(seen, 1, 12);
}

/* ------------------------------------------------------------------------------------------------- Expressions -- */

static item *first, *second;

static int sets_to_come;

static int set_what_it_reads(expression *self) {
  int sum = read_value(first) + read_value(second);
  if (sets_to_come-- > 0) item_set_value(second, sets_to_come);
  return sum;
}

TEST(
    "an expression that sets what it reads, once or each time, delivers the last value, with or without the old value") {
  enum { ROUNDS = 3, MANY_SETS = 1000, FEW = 20 };
  static const int options[] = {KVO_NEW, KVO_NEW | KVO_OLD};
  first = item_make(0), second = item_make(1);
  for (int i = 0; i < 2; i++) {
    expression one = {.root = as_object(first), .body = set_what_it_reads};
    expression_begin(&one, options[i]);
    for (int round = 0; round < ROUNDS; round++) {
      one.notified = 0;
      int evaluated = one.evaluated;
      sets_to_come = round == 1 ? MANY_SETS : 1;
      item_set_value(first, round + 5);
      CHECK(one.notified > 0);
      CHECK(one.evaluated - evaluated < FEW);
      sets_to_come = one.notified = 0;
      item_set_value(second, round + 7); /* still followed, once */
      CHECK_EQ(one.notified, 1);
      CHECK_EQ(one.new_value, round + 5 + round + 7);
    }
    expression_end(&one);
  }
}

/* Destroys an object that it has read, like a temporary of a getter. */
static int read_temporary(expression *self) {
  item *temporary = item_make(3);
  int sum = read_value(first) + read_value(temporary);
  item_destroy(temporary);
  return sum;
}

TEST("the death of a temporary object in the evaluation that reads it is no change") {
  first = item_make(1);
  expression one = {.root = as_object(first), .body = read_temporary, .keeps_last = true};
  expression_begin(&one, KVO_NEW | KVO_OLD);
  CHECK_EQ(one.notified, 0);
  CHECK_EQ(one.evaluated, 1);
  item_set_value(first, 2);
  CHECK_EQ(one.notified, 1);
  CHECK_EQ(one.evaluated, 2);
  expression_end(&one);
}

TEST("the old value of an expression needs no memory of the runtime") {
  use_counting_allocator();
  ignore_faults();
  first = item_make(1), second = item_make(2);
  expression sum = {.root = as_object(first), .body = set_what_it_reads, .keeps_last = true};
  expression_begin(&sum, KVO_OLD | KVO_NEW);
  for (int i = 1; i <= 3; i++) {
    int before = first->value;
    fail_in =
        1; /* the new value gets its memory at the second try, and from then on that of the value before the last */
    item_set_value(first, 10 * i);
    CHECK_EQ((int)has_failed, i == 1);
    has_failed = false;
    fail_in = 0;
    CHECK_EQ(sum.notified, i);
    CHECK_EQ(sum.old_value, before + 2);
    CHECK_EQ(sum.new_value, 10 * i + 2);
  }
  CHECK_EQ(faults.count, 0);
  expression_end(&sum);
}

/* nesting.c - nested deliveries that end, also where a limit or the stack defers them; a callback that is left. */
#include "nested.h"

#include <setjmp.h>
#include <stdlib.h>

/* --------------------------------------------------------------------------------------------------- What ends -- */

TEST("an observer that counts down from 1000 ends, and is no fault") {
  ignore_faults();
  count_down(1000);
  CHECK_EQ(notified, 1001);
  CHECK_EQ(faults.count, 0);
}

TEST("where a limit stops the count it still ends, and all observers get its value") {
  harness_environment("KVO_MAX_DEPTH", "10");
  ignore_faults();
  count_down(1000);
  CHECK_EQ(faults.count, 1);
  CHECK_CONTAINS(faults.summary, "it nests 10 deep, and KVO_MAX_DEPTH allows no more");
}

/* Sets the other of two values, as often as the int says that is its user data; for ever if it is negative. */
static void toggle(const kvo_change *change, void *user_data) {
  int *left = user_data;
  item *object = (item *)change->object;
  notified++;
  if (*left == 0) return;
  if (*left > 0) (*left)--;
  item_set_value(object, !object->value);
}

/* Lets an observer toggle, where a limit defers that, and checks that another one gets the last value. */
static void check_toggled(int times) {
  ignore_faults();
  item *object = item_make(0);
  int left = times, seen = -1;
  kvo_observation ids[] = {observe_value(object, look, &seen), observe_with(object, KVO_NEW, toggle, &left)};
  item_set_value(object, 1);
  CHECK_EQ(faults.count, 1);
  CHECK_EQ(seen, object->value);
  for (int i = 0; i < 2; i++) CHECK_OK(kvo_remove_observer(ids[i]));
  item_destroy(object);
}

TEST("an observer that sets the same values again and again is notified of each where a limit defers them") {
  harness_environment("KVO_MAX_DEPTH", "16");
  check_toggled(301);
  CHECK_EQ(notified, 302);
  CHECK_EQ((int)faults.code, KVO_FAULT_RECURSION);
  CHECK_CONTAINS(faults.summary, "an observer sets the property that it observes, and receives the same values");
}

TEST("an observer that sets the same values without end is not notified of its changes after about 100,000") {
  harness_environment("KVO_MAX_DEPTH", "16");
  check_toggled(-1);
  CHECK(notified > 50000 && notified < 200000);
}

static void approach(const kvo_change *change, void *user_data) {
  item *other = user_data;
  int wanted = ((item *)change->object)->value, step = wanted > other->value ? 1 : -1;
  notified++;
  if (other->value != wanted) item_set_value(other, other->value + step); /* and the other one meets it half way */
  if (((item *)change->object)->value != other->value) item_set_value((item *)change->object, other->value);
}

static void settle(int distance) {
  item *a = item_make(0), *b = item_make(0);
  kvo_observation ids[] = {observe_with(a, KVO_NEW, approach, b), observe_with(b, KVO_NEW, approach, a)};
  item_set_value(a, distance);
  CHECK_EQ(a->value, b->value);
  for (int i = 0; i < 2; i++) CHECK_OK(kvo_remove_observer(ids[i]));
  item_destroy(a);
  item_destroy(b);
}

TEST("two properties that agree after 600 rounds are no fault") {
  ignore_faults();
  settle(600);
  CHECK_EQ(faults.count, 0);
}

/* ------------------------------------------------------------------------------------------------------ Chains -- */

static void chain(int length) {
  item **objects = calloc((size_t)length + 1, sizeof *objects);
  kvo_observation *ids = calloc((size_t)length, sizeof *ids);
  for (int i = 0; i <= length; i++) objects[i] = item_make(0);
  for (int i = 0; i < length; i++) ids[i] = observe_value(objects[i], set_other, objects[i + 1]);
  item_set_value(objects[0], 1);
  CHECK_EQ(objects[length]->value, length + 1);
  for (int i = 0; i < length; i++) CHECK_OK(kvo_remove_observer(ids[i]));
  for (int i = 0; i <= length; i++) item_destroy(objects[i]);
  free(objects);
  free(ids);
}

TEST("a chain of a thousand objects, each of which sets the next, is notified to its end") {
  ignore_faults();
  chain(1000);
  CHECK_EQ(notified, 1000);
  CHECK_EQ(faults.count, 0);
}

TEST("a chain that needs more than the stack is KVO0023, which says deep, and is notified to its end as well") {
  ignore_faults();
  chain(200000);
  CHECK_FAULTS(1, KVO_FAULT_RECURSION);
  CHECK_CONTAINS(faults.summary, "without a cycle, and the stack is full");
  CHECK_EQ(notified, 200000);
}

/* --------------------------------------------------------------------------------------------------- Abandoned -- */

static jmp_buf out;

static void leave(const kvo_change *change, void *user_data) {
  notified++;
  longjmp(out, 1);
}

static void set_until_left(item *object) {
  if (setjmp(out) == 0) item_set_value(object, 1);
}

TEST("a callback left with longjmp is KVO0025 at the next delivery, which still takes place") {
  ignore_faults();
  item *object = item_make(0), *other = item_make(0);
  kvo_observation ids[] = {observe_value(object, leave, NULL), observe_value(other, set_down, NULL)};
  set_until_left(object);
  CHECK_EQ(notified, 1);
  CHECK_EQ(faults.count, 0);
  item_set_value(other, 0);
  CHECK_EQ(notified, 2);
  CHECK_EQ((int)faults.code, KVO_FAULT_ABANDONED_DELIVERY);
  CHECK_CONTAINS(faults.summary, "KVO0025 fatal: the callback of \"value\" of Item@0x");
  item_set_value(other, 0);
  CHECK_EQ(faults.count, 1);
  for (int i = 0; i < 2; i++) CHECK_OK(kvo_remove_observer(ids[i]));
}

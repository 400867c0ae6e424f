/* nesting_rounds.c - how many nested deliveries, of how many observers, with what values, are reported as a cycle. */
#include "nested.h"

/* -------------------------------------------------------------------------------------------------- Of one observer -- */

static void set_other_value(const kvo_change *change, void *user_data) {
  (void)user_data;
  if (++told < 20) item_set_value((item *)change->object, !((item *)change->object)->value);
}

/* Has an observer whose values alternate nest as deep as KVO_MAX_DEPTH allows. */
static void alternate(void) {
  ignore_faults();
  item *object = item_make(0);
  kvo_observation id = observe_with(object, KVO_NEW, set_other_value, NULL);
  item_set_value(object, 1);
  CHECK_EQ(faults.count, 1);
  CHECK_OK(kvo_remove_observer(id));
  item_destroy(object);
}

TEST("three deliveries to an observer are no cycle yet") {
  harness_environment("KVO_MAX_DEPTH", "3");
  alternate();
  CHECK_CONTAINS(faults.summary, "a long chain of 3 nested deliveries without a cycle");
}

TEST("four are one, but its values have not been repeated while there were only two of each") {
  harness_environment("KVO_MAX_DEPTH", "4");
  alternate();
  CHECK_CONTAINS(faults.summary, "an observer sets the property that it observes; it nests 4 deep");
}

TEST("the fifth delivery repeats a round of values that alternate") {
  harness_environment("KVO_MAX_DEPTH", "5");
  alternate();
  CHECK_CONTAINS(
      faults.summary,
      "an observer sets the property that it observes, and receives the same values again and again; it nests 5");
}

/* ------------------------------------------------------------------------------------------------------- Of several -- */

enum { MOST = 40 };
static item *objects[MOST];
static kvo_observation links[MOST];
static int length;

static void set_around(const kvo_change *change, void *user_data) {
  (void)user_data;
  int number = 0;
  while (as_object(objects[number]) != change->object) number++;
  if (++told < 400) item_set_value(objects[(number + 1) % length], told);
}

/* Has as many observers set each other in a circle. */
static void go_around(int count) {
  ignore_faults();
  length = count;
  for (int i = 0; i < count; i++) {
    objects[i] = item_make(0);
    links[i] = observe_value(objects[i], set_around, NULL);
  }
  item_set_value(objects[0], 1);
  CHECK_EQ(faults.count, 1);
  for (int i = 0; i < count; i++) CHECK_OK(kvo_remove_observer(links[i]));
  for (int i = 0; i < count; i++) item_destroy(objects[i]);
}

TEST("thirty-two observers that set each other in a circle are reported as a cycle after four rounds") {
  harness_environment("KVO_MAX_DEPTH", "128");
  go_around(32);
  CHECK_CONTAINS(faults.summary, "32 observations form a cycle; they nest 128 deep");
}

TEST("thirty-three are reported as a long chain") {
  harness_environment("KVO_MAX_DEPTH", "128");
  go_around(33);
  CHECK_CONTAINS(faults.summary, "a long chain of 128 nested deliveries without a cycle");
}

/* The Thue-Morse sequence, in which nothing occurs three times in a row. */
static void set_either(const kvo_change *change, void *user_data) {
  (void)change, (void)user_data;
  if (++told > 20) return;
  item *next = objects[__builtin_parity((unsigned)told)];
  item_set_value(next, next->value + 1);
}

TEST("two observers that set each other irregularly are reported as such when each was called four times") {
  harness_environment("KVO_MAX_DEPTH", "8");
  ignore_faults();
  for (int i = 0; i < 2; i++) {
    objects[i] = item_make(0);
    links[i] = observe_value(objects[i], set_either, NULL);
  }
  item_set_value(objects[0], 1);
  CHECK_EQ(faults.count, 1);
  CHECK_CONTAINS(faults.summary, "2 observations call each other again and again, 8 deep");
  for (int i = 0; i < 2; i++) CHECK_OK(kvo_remove_observer(links[i]));
  for (int i = 0; i < 2; i++) item_destroy(objects[i]);
}

/* nesting_deferred.c - deliveries that a limit has deferred: when they are made, how often, and with what values. */
#include "nested.h"

/* ------------------------------------------------------------------------------------------ When they are made -- */

/* Objects each of which has an observer that sets the next one; the last one is not observed by the chain. */
enum { MOST = 40 };
static item *objects[MOST];
static kvo_observation links[MOST];
static int length;
/* How many callbacks are in progress, and how many were when the observer of an object was called. */
static int in_progress, seen_in_progress[MOST];

static void set_next_object(const kvo_change *change, void *user_data) {
  int number = (int)((item **)user_data - objects);
  seen_in_progress[number] = in_progress++;
  notified++;
  item_set_value(objects[number + 1], number + 1 == length ? 100 : 1);
  in_progress--;
}

static void make_chain(int count) {
  ignore_faults();
  length = count;
  for (int i = 0; i <= count; i++) objects[i] = item_make(0);
  for (int i = 0; i < count; i++) links[i] = observe_value(objects[i], set_next_object, &objects[i]);
}

static void end_chain(void) {
  for (int i = 0; i < length; i++) CHECK_OK(kvo_remove_observer(links[i]));
  for (int i = 0; i <= length; i++) item_destroy(objects[i]);
}

TEST("of a chain that a limit stops the rest is notified when half of it has returned") {
  harness_environment("KVO_MAX_DEPTH", "10");
  make_chain(20);
  item_set_value(objects[0], 1);
  CHECK_EQ(notified, 20);
  CHECK_EQ(objects[20]->value, 100);
  for (int i = 0; i < 10; i++) CHECK_EQ(seen_in_progress[i], i);
  CHECK_EQ(seen_in_progress[10], 5);
  end_chain();
}

TEST("observers of a chain are notified although a limit allows one delivery at a time") {
  harness_environment("KVO_MAX_DEPTH", "1");
  make_chain(4);
  item_set_value(objects[0], 1);
  CHECK_EQ(notified, 4);
  CHECK_EQ(objects[4]->value, 100);
  CHECK_CONTAINS(faults.summary, "and KVO_MAX_DEPTH allows no more");
  end_chain();
}

/* How many callbacks were in progress at the first delivery after the limit was reached. */
static int first_seen;

static void count_down_in_progress(const kvo_change *change, void *user_data) {
  item *object = (item *)change->object;
  if (first_seen < 0 && faults.count > 0) first_seen = in_progress;
  in_progress++;
  if (object->value > 0) item_set_value(object, object->value - 1);
  in_progress--;
}

/* Checks where deliveries are made of a cycle of one observer, which the last of so many others begins. */
static void check_cycle(int before, int expected) {
  make_chain(before);
  kvo_observation id = observe_value(objects[before], count_down_in_progress, NULL);
  faults.count = 0;
  first_seen = -1;
  item_set_value(objects[0], 100);
  CHECK_EQ(objects[before]->value, 0);
  CHECK_EQ(faults.count, 1);
  CHECK_EQ(first_seen, expected);
  CHECK_OK(kvo_remove_observer(id));
  end_chain();
}

TEST("what a cycle has deferred is delivered once it has returned to where it began, or half of what is nested") {
  harness_environment("KVO_MAX_DEPTH", "10");
  for (int before = 0; before < 7; before++) check_cycle(before, before < 5 ? before : 5);
}

/* ------------------------------------------------------------------------------------------- What is delivered -- */

/* An object whose observer does what a test wants, where KVO_MAX_DEPTH lets nothing nest; and what that concerns. */
static item *button, *watched;
static kvo_observation pressed;
static void (*at_press)(void);
static watcher one;
static int calls_in_press;

static void press_observed(const kvo_change *change, void *user_data) {
  at_press();
  calls_in_press = one.calls;
}

static void make_button(void (*then)(void)) {
  ignore_faults();
  faults.count = 0;
  at_press = then;
  button = item_make(0);
  pressed = observe_value(button, press_observed, NULL);
  one = (watcher){0};
}

static void end_button(void) {
  CHECK_OK(kvo_remove_observer(pressed));
  item_destroy(button);
}

/* Checks that nothing was delivered at once, and that the only fault says that the limit was reached. */
static void press(void) {
  faults.count = 0;
  item_set_value(button, button->value + 1);
  CHECK_EQ(calls_in_press, 0);
  CHECK_FAULTS(1, KVO_FAULT_RECURSION);
}

static void set_thrice(void) {
  for (int i = 0; i < 3; i++) item_set_value(watched, watched->value + 1);
}

TEST("several changes that a limit defers are delivered once, with the last value to those who want it") {
  harness_environment("KVO_MAX_DEPTH", "1");
  make_button(set_thrice);
  watched = item_make(0);
  watcher without = {0};
  watch(watched, "value", KVO_NEW, &one);
  watch(watched, "value", KVO_NONE, &without);
  press();
  CHECK_NEW(one, 1, 3);
  CHECK_EQ(without.calls, 1);
  CHECK(!without.new_value.delivered && !without.old_value.delivered);
  item_set_value(watched, 20);
  CHECK_EQ(one.calls, 2);
  CHECK_OK(kvo_remove_observer(one.id));
  CHECK_OK(kvo_remove_observer(without.id));
  item_destroy(watched);
  end_button();
}

static void observe_initially(void) { watch(watched, "value", KVO_INITIAL | KVO_NEW, &one); }

TEST("an initial notification for which there is no room comes after outer deliveries have returned") {
  harness_environment("KVO_MAX_DEPTH", "1");
  make_button(observe_initially);
  watched = item_make(4);
  press();
  CHECK_NEW(one, 1, 4);
  CHECK_OK(kvo_remove_observer(one.id));
  item_destroy(watched);
  end_button();
}

/* ------------------------------------------------------------------------------------------------------ Pauses -- */

/* A direct observation, a path with a leaf, and one that is evaluated. */
static const char *const keys[] = {"value", "next.value", "doubled"};
static const int factors[] = {1, 1, 2};

static void make_watched(int key, int options, void (*then)(void)) {
  make_button(then);
  watched = item_make(1);
  watched->next = watched;
  watch(watched, keys[key], options, &one);
}

static void end_watched(void) {
  if (one.destroyed == 0) CHECK_OK(kvo_remove_observer(one.id));
  CHECK_EQ(one.destroyed, 1);
  item_destroy(watched);
  end_button();
}

static void pause_one(void) { CHECK_OK(kvo_observation_pause(one.id)); }
static void resume_one(void) { CHECK_OK(kvo_observation_resume(one.id, true)); }

TEST("what a pause has missed is delivered although deliveries may nest no deeper where it is resumed") {
  harness_environment("KVO_MAX_DEPTH", "1");
  for (int i = 0; i < 6; i++) {
    int key = i / 2, options = i % 2 != 0 ? KVO_OLD | KVO_NEW : KVO_NEW;
    make_watched(key, options, resume_one);
    pause_one();
    item_set_value(watched, 5);
    press();
    CHECK_NEW(one, 1, 5 * factors[key]);
    CHECK_EQ(one.old_value.delivered, key != 0 && (options & KVO_OLD) != 0);
    item_set_value(watched, 6);
    CHECK_NEW(one, 2, 6 * factors[key]);
    end_watched();
  }
}

/* --------------------------------------------------------------------------------------------- What they leave -- */

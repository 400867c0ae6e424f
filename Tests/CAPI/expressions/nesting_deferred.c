/* nesting_deferred.c - deliveries that a limit has deferred: when they are made, how often, with what values, and what they leave. */
#include "allocator.h"
#include "nested.h"
#include "steps.h"

/* ----------------------------------------------------------------------------------------------------------- Chains -- */

/* How many callbacks of the chain are in progress. */
static int in_progress;

/* Objects each of which has an observer that sets the next one; the last one is not observed by the chain. */
enum { MOST = 40 };
static item *objects[MOST];
static kvo_observation links[MOST];
static int length;
/* How many callbacks were in progress when the observer of an object was called. */
static int seen_in_progress[MOST];
/* What the last one does, unless NULL. */
static void (*at_the_end)(void);

static void set_next_object(const kvo_change *change, void *user_data) {
  (void)change;
  int number = (int)((item **)user_data - objects);
  seen_in_progress[number] = in_progress++;
  told++;
  if (number + 1 == length && at_the_end != NULL)
    at_the_end();
  else
    item_set_value(objects[number + 1], 1);
  in_progress--;
}

static void make_chain(int count, void (*end)(void)) {
  ignore_faults();
  length = count;
  at_the_end = end;
  for (int i = 0; i <= count; i++) objects[i] = item_make(0);
  for (int i = 0; i < count; i++) links[i] = observe_value(objects[i], set_next_object, &objects[i]);
}

static void end_chain(void) {
  for (int i = 0; i < length; i++) CHECK_OK(kvo_remove_observer(links[i]));
  for (int i = 0; i <= length; i++) item_destroy(objects[i]);
}

TEST("of a chain that a limit stops the rest is notified when half of it has returned") {
  harness_environment("KVO_MAX_DEPTH", "10");
  make_chain(20, NULL);
  item_set_value(objects[0], 1);
  CHECK_EQ(told, 20);
  CHECK_EQ(objects[20]->value, 1);
  for (int i = 0; i < 10; i++) CHECK_EQ(seen_in_progress[i], i);
  CHECK_EQ(seen_in_progress[10], 5);
  end_chain();
}

/* ----------------------------------------------------------------------------------------------------------- Cycles -- */

/* How many callbacks were in progress at the first delivery after the limit was reached. */
static int first_seen;

static void count_down_in_progress(const kvo_change *change, void *user_data) {
  (void)user_data;
  item *object = (item *)change->object;
  if (first_seen < 0 && faults.count > 0) first_seen = in_progress;
  in_progress++;
  if (object->value > 0) item_set_value(object, object->value - 1);
  in_progress--;
}

static void begin_cycle(void) { item_set_value(objects[length], 100); }

/* A chain of so many observers, the last of which begins a cycle of one. Returns what `first_seen` was. */
static int count_down_behind(int before) {
  make_chain(before, begin_cycle);
  kvo_observation id = observe_value(objects[before], count_down_in_progress, NULL);
  faults.count = 0;
  first_seen = -1;
  if (before > 0)
    item_set_value(objects[0], 1);
  else
    begin_cycle();
  CHECK_EQ(objects[before]->value, 0);
  CHECK_EQ(faults.count, 1);
  CHECK_OK(kvo_remove_observer(id));
  end_chain();
  return first_seen;
}

TEST(
    "deliveries that a cycle has deferred are made once it has returned to where it began, or half of what is nested") {
  harness_environment("KVO_MAX_DEPTH", "10");
  for (int before = 0; before < 7; before++) CHECK_EQ(count_down_behind(before), before < 5 ? before : 5);
}

TEST("a cycle is broken, and ends, also if a limit allows two deliveries only") {
  harness_environment("KVO_MAX_DEPTH", "2");
  CHECK_EQ(count_down_behind(0), 0);
}

static void check_all_are_told(void) {
  make_chain(4, NULL);
  item_set_value(objects[0], 1);
  CHECK_EQ(told, 4);
  CHECK_EQ(objects[4]->value, 1);
  CHECK_CONTAINS(faults.summary, "and KVO_MAX_DEPTH allows no more");
  end_chain();
}

TEST("observers of a chain are told although a limit allows one delivery at a time") {
  harness_environment("KVO_MAX_DEPTH", "1");
  check_all_are_told();
}

TEST("and also if it allows two") {
  harness_environment("KVO_MAX_DEPTH", "2");
  check_all_are_told();
}

/* ------------------------------------------------------------------------------------------------- What is deferred -- */

/* The object that is set where no further delivery may begin, and its observer. */
static item *last;
static watcher passive;

static void set_thrice(void) {
  for (int i = 1; i <= 3; i++) item_set_value(last, last->value + 1);
}

static void make_last(int options, void (*end)(void)) {
  make_chain(3, end);
  last = item_make(0);
  passive = (watcher){0};
  if (options >= 0) watch(last, "value", options, &passive);
}

TEST("several changes of a property that a limit defers are told once, with the last value") {
  harness_environment("KVO_MAX_DEPTH", "3");
  make_last(KVO_NEW, set_thrice);
  for (int i = 1; i <= 3; i++) {
    item_set_value(objects[0], i);
    CHECK_EQ(passive.calls, i);
    CHECK_EQ(passive.new_value.integer, 3 * i);
    CHECK_EQ(faults.count, i);
  }
  item_set_value(last, 20);
  CHECK_EQ(passive.calls, 4);
  CHECK_OK(kvo_remove_observer(passive.id));
  item_destroy(last);
  end_chain();
}

TEST("an observer that wants no values gets none when its delivery was deferred") {
  harness_environment("KVO_MAX_DEPTH", "3");
  make_last(KVO_NONE, set_thrice);
  item_set_value(objects[0], 1);
  CHECK_EQ(passive.calls, 1);
  CHECK(!passive.new_value.told);
  CHECK(!passive.old_value.told);
  CHECK_OK(kvo_remove_observer(passive.id));
  item_destroy(last);
  end_chain();
}

static void set_and_pause(void) {
  item_set_value(last, 5);
  CHECK_OK(kvo_observation_pause(passive.id));
}

TEST("an observation that is paused after its delivery was deferred is told when it is resumed") {
  harness_environment("KVO_MAX_DEPTH", "3");
  make_last(KVO_NEW, set_and_pause);
  item_set_value(objects[0], 1);
  CHECK_EQ(passive.calls, 0);
  CHECK_OK(kvo_observation_resume(passive.id, true));
  CHECK_EQ(passive.calls, 1);
  CHECK_EQ(passive.new_value.integer, 5);
  CHECK_OK(kvo_remove_observer(passive.id));
  item_destroy(last);
  end_chain();
}

/* -------------------------------------------------------------------------------------------------- What is removed -- */

static int getter_calls, calls_at_removal;

static int get_counted(const item *of) {
  getter_calls++;
  return of->value;
}
static void set_counted(item *of, int value) { of->value = value; }

static item *counting_make(void) {
  static const kvo_property_spec value = {
      .name = "value", .type = "i", .getter = (kvo_function)get_counted, .setter = (kvo_function)set_counted};
  kvo_class_spec spec = {.struct_size = sizeof spec,
                         .name = "Counting",
                         .instance_size = sizeof(item),
                         .properties = &value,
                         .property_count = 1};
  kvo_class *cls;
  kvo_object *made;
  CHECK_OK(kvo_class_register(&spec, &cls));
  CHECK_OK(kvo_object_create(cls, &made));
  return (item *)made;
}

static void set_and_remove(void) {
  item_set_value(last, 5);
  CHECK_OK(kvo_remove_observer(passive.id));
  calls_at_removal = getter_calls;
}

TEST("for an observer that is removed after its delivery was deferred no getter is called any more") {
  harness_environment("KVO_MAX_DEPTH", "3");
  make_chain(3, set_and_remove);
  last = counting_make();
  watch(last, "value", KVO_NEW, &passive);
  item_set_value(objects[0], 1);
  CHECK_EQ(passive.calls, 0);
  CHECK_EQ(passive.destroyed, 1);
  CHECK_EQ(getter_calls, calls_at_removal);
  kvo_object_destroy(as_object(last));
  end_chain();
}

/* Measures the death of an observed object, after so many deferred deliveries to observers that had been removed. */
static void die_after_removals(void *arg) {
  make_last(-1, set_and_remove);
  count_down(2); /* what happens once */
  for (int i = 0; i < 2; i++) {
    watch(last, "value", KVO_NEW, &passive);
    if (i < *(int *)arg)
      item_set_value(objects[0], i);
    else
      CHECK_OK(kvo_remove_observer(passive.id));
  }
  item *object = item_make(0);
  CHECK_OK(kvo_cancel_observer(observe_value(object, look, &told)));
  steps_begin();
  item_destroy(object);
  steps_end();
}

TEST("deferred deliveries to observers that were removed leave nothing for which the death of an object would wait") {
  harness_environment("KVO_MAX_DEPTH", "3");
  if (harness_is_instrumented()) return;
  long before = -1;
  for (int removals = 0; removals < 3; removals++) {
    long cost = steps_of(die_after_removals, &removals);
    if (cost < 0) harness_skip("processes cannot be traced");
    if (removals == 0) before = cost;
    CHECK(cost <= before + 20);
  }
}

/* Measures a set of an observed property after so many cycles that a limit has deferred. */
static void set_after(void *arg) {
  count_down(5);
  for (int i = 0; i < *(int *)arg; i++) count_down(100);
  item *object = item_make(0);
  (void)observe_value(object, look, &told);
  for (int i = 0; i < 3; i++) item_set_value(object, i);
  steps_begin();
  item_set_value(object, 7);
  steps_end();
}

TEST("once the deferred deliveries are over, a change costs what it did before") {
  harness_environment("KVO_MAX_DEPTH", "20");
  ignore_faults();
  if (harness_is_instrumented()) return;
  int cycles[] = {0, 2};
  long before = steps_of(set_after, &cycles[0]), after = steps_of(set_after, &cycles[1]);
  if (before < 0 || after < 0) harness_skip("processes cannot be traced");
  CHECK(after <= before + 60);
}

enum { MANY = 2000 };
static int many_told;

static void count_told(const kvo_change *change, void *user_data) {
  (void)change, (void)user_data;
  many_told++;
}

static void set_last(void) { item_set_value(last, last->value + 1); }

TEST("thousands of observers whose deliveries were deferred are told once each, and nothing of that is left") {
  harness_environment("KVO_MAX_DEPTH", "3");
  use_counting_allocator();
  make_last(-1, set_last);
  watcher twice = {0};
  watch(last, "doubled", KVO_NEW, &twice);
  static kvo_observation ids[MANY];
  for (int i = 0; i < MANY; i++) ids[i] = observe_value(last, count_told, NULL);
  long before = 0;
  for (int round = 1; round <= 3; round++) {
    item_set_value(objects[0], round);
    CHECK_EQ(many_told, round * MANY);
    CHECK_EQ(twice.calls, round);
    CHECK_EQ(twice.new_value.integer, 2 * round);
    if (round == 1) before = live_blocks;
    CHECK_EQ((long)live_blocks, before);
  }
  for (int i = 0; i < MANY; i++) CHECK_OK(kvo_remove_observer(ids[i]));
  CHECK_OK(kvo_remove_observer(twice.id));
  CHECK_EQ(twice.destroyed, 1);
  item_destroy(last);
  end_chain();
}

static kvo_action remove_last(const kvo_fault *fault, void *arg) {
  (void)fault, (void)arg;
  (void)kvo_cancel_observer(passive.id);
  return KVO_ACTION_IGNORE;
}

static void set_once(void) { item_set_value(last, 1); }

TEST("an observation that the fault handler removes at the limit is not notified any more") {
  harness_environment("KVO_MAX_DEPTH", "3");
  make_last(KVO_NEW, set_once);
  kvo_set_fault_handler(remove_last, NULL);
  item_set_value(objects[0], 1);
  CHECK_EQ(passive.calls, 0);
  CHECK_EQ(passive.destroyed, 1);
  end_chain();
  item_destroy(last);
}

/* nesting.c - nested deliveries that end, also where a limit or the stack defers them; and a callback that was left is reported. */
#include "nested.h"
#include "steps.h"

#include <kvo/kvo_binding.h>
#include <setjmp.h>
#include <stdlib.h>

/* --------------------------------------------------------------------------------------------------------- What ends -- */

TEST("an observer that counts down from 1000 ends, and is no fault") {
  ignore_faults();
  count_down(1000);
  CHECK_EQ(told, 1001);
  CHECK_EQ(faults.count, 0);
}

TEST("where a limit stops the count it still ends, and all observers get its value") {
  harness_environment("KVO_MAX_DEPTH", "10");
  ignore_faults();
  count_down(1000);
  CHECK_EQ(faults.count, 1);
  CHECK_CONTAINS(faults.summary, "it nests 10 deep, and KVO_MAX_DEPTH allows no more");
}

static void toggle(const kvo_change *change, void *user_data) {
  int *left = user_data;
  item *object = (item *)change->object;
  if ((*left)-- > 0) item_set_value(object, !object->value);
}

TEST("an observer that sets the same values again and again, and ends, is told of each where a limit defers them") {
  harness_environment("KVO_MAX_DEPTH", "16");
  ignore_faults();
  item *object = item_make(0);
  int left = 301, seen = -1;
  kvo_observation ids[] = {observe_value(object, look, &seen), observe_with(object, KVO_NEW, toggle, &left)};
  item_set_value(object, 1);
  CHECK_EQ(faults.count, 1);
  CHECK_EQ((int)faults.code, KVO_FAULT_RECURSION);
  CHECK_CONTAINS(faults.summary, "an observer sets the property that it observes, and receives the same values again");
  CHECK_EQ(left, -1);
  CHECK_EQ(object->value, 0);
  CHECK_EQ(seen, 0);
  for (int i = 0; i < 2; i++) CHECK_OK(kvo_remove_observer(ids[i]));
  item_destroy(object);
}

static void toggle_always(const kvo_change *change, void *user_data) {
  item *object = (item *)change->object;
  (void)user_data;
  told++;
  item_set_value(object, !object->value);
}

TEST("an observer that sets the same values without end is no longer told of its own changes after about 100,000") {
  harness_environment("KVO_MAX_DEPTH", "16");
  ignore_faults();
  item *object = item_make(0);
  int seen = -1;
  kvo_observation ids[] = {observe_value(object, look, &seen), observe_with(object, KVO_NEW, toggle_always, NULL)};
  item_set_value(object, 1);
  CHECK_EQ(faults.count, 1);
  CHECK(told > 50000 && told < 200000);
  CHECK_EQ(seen, object->value);
  for (int i = 0; i < 2; i++) CHECK_OK(kvo_remove_observer(ids[i]));
  item_destroy(object);
}

static void count_in_callback(const kvo_change *change, void *user_data) {
  (void)change, (void)user_data;
  count_down(1000);
}

TEST(
    "what a limit has deferred is delivered before the set that began the cycle returns, also within another callback") {
  harness_environment("KVO_MAX_DEPTH", "10");
  ignore_faults();
  item *outer = item_make(0);
  kvo_observation id = observe_value(outer, count_in_callback, NULL);
  item_set_value(outer, 1);
  CHECK_EQ(faults.count, 1);
  CHECK_OK(kvo_remove_observer(id));
  item_destroy(outer);
}

static void approach(const kvo_change *change, void *user_data) {
  item *other = user_data;
  int wanted = ((item *)change->object)->value, step = wanted > other->value ? 1 : -1;
  told++;
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

/* ------------------------------------------------------------------------------------------------------------- Chains -- */

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
  CHECK_EQ(told, 1000);
  CHECK_EQ(faults.count, 0);
}

TEST("a chain that needs more than the stack is KVO0023, which says deep, and is notified to its end as well") {
  ignore_faults();
  chain(200000);
  CHECK_EQ(faults.count, 1);
  CHECK_EQ((int)faults.code, KVO_FAULT_RECURSION);
  CHECK_CONTAINS(faults.summary, "without a cycle, and the stack is full");
  CHECK_EQ(told, 200000);
}

static int doubled_reported;

static void set_doubled(const kvo_change *change, void *user_data) {
  item *object = user_data;
  (void)change;
  doubled_reported++;
  if (object->value > 0) item_set_value(object, object->value - 1);
}

TEST("a computed property whose observer changes what it reads is deferred as well, and delivers the last value") {
  harness_environment("KVO_MAX_DEPTH", "20");
  ignore_faults();
  item *object = item_make(0);
  kvo_observer observer = {.struct_size = sizeof observer,
                           .key_path = "doubled",
                           .options = KVO_NEW,
                           .callback = set_doubled,
                           .user_data = object,
                           KVO_HERE};
  kvo_observation id;
  watcher w = {0};
  watch(object, "doubled", KVO_NEW, &w);
  CHECK_OK(kvo_add_observer(as_object(object), &observer, &id));
  item_set_value(object, 100);
  CHECK_EQ(object->value, 0);
  CHECK_EQ(w.new_value.integer, 0);
  CHECK_EQ(faults.count, 1);
  CHECK_OK(kvo_remove_observer(id));
  CHECK_OK(kvo_remove_observer(w.id));
  item_destroy(object);
}

/* Measures the death of an observed object, after as many cycles that a limit has deferred. */
static void die_after(void *arg) {
  count_down(5); /* what happens once; no limit is reached */
  for (int i = 0; i < *(int *)arg; i++) count_down(100);
  item *object = item_make(0);
  CHECK_OK(kvo_cancel_observer(observe_value(object, look, &told)));
  steps_begin();
  item_destroy(object);
  steps_end();
}

TEST("once the deferred deliveries are over, the death of an object waits for nothing: it costs what it did before") {
  harness_environment("KVO_MAX_DEPTH", "20");
  ignore_faults();
  if (harness_is_instrumented()) return;
  long before = -1;
  for (int cycles = 0; cycles < 3; cycles++) {
    long cost = steps_of(die_after, &cycles);
    if (cost < 0) harness_skip("processes cannot be traced");
    if (cycles == 0) before = cost;
    CHECK(cost <= before + 20);
  }
}

/* ---------------------------------------------------------------------------------------------------------- Abandoned -- */

static jmp_buf out;

static void leave(const kvo_change *change, void *user_data) {
  (void)change, (void)user_data;
  told++;
  longjmp(out, 1);
}

TEST("a callback left with longjmp is KVO0025 at the next delivery, which still takes place") {
  ignore_faults();
  item *object = item_make(0), *other = item_make(0);
  kvo_observation ids[] = {observe_value(object, leave, NULL), observe_value(other, set_down, NULL)};
  if (setjmp(out) == 0) item_set_value(object, 1);
  CHECK_EQ(told, 1);
  CHECK_EQ(faults.count, 0);
  item_set_value(other, 0);
  CHECK_EQ(told, 2);
  CHECK_EQ((int)faults.code, KVO_FAULT_ABANDONED_DELIVERY);
  CHECK_CONTAINS(faults.summary, "KVO0025 fatal: the callback of \"value\" of Item@0x");
  item_set_value(other, 0);
  CHECK_EQ(faults.count, 1);
  for (int i = 0; i < 2; i++) CHECK_OK(kvo_remove_observer(ids[i]));
}

/* ------------------------------------------------------------------------------------------ Values without a type -- */

/* An object of a binding whose property passes nil without a type. */
typedef struct untyped {
  kvo_object header;
  void *value;
} untyped;

static kvo_key untyped_key;

static void *copy_untyped(void *instance, void *user, const kvo_selection *selection) {
  (void)instance, (void)user, (void)selection;
  return calloc(1, sizeof(void *));
}

static void release_untyped(void *value, void *user) {
  (void)user;
  free(value);
}

static void view_untyped(const void *value, void *user, kvo_value_reader reader, void *arg) {
  (void)value, (void)user;
  reader(&(kvo_value){NULL, 0, NULL}, arg);
}

static kvo_status assign_untyped(void *instance, void *user, const kvo_value *value) {
  (void)instance, (void)user, (void)value;
  return KVO_OK;
}

static void set_untyped(untyped *of) {
  kvo_frame frame;
  if (kvo_frame_enter(&frame, &of->header, untyped_key) == 0) return;
  kvo_frame_finish_with(&frame, &of->value, &of->value);
}

static void set_untyped_again(const kvo_raw_change *change, void *user_data) {
  int *left = user_data;
  if ((*left)-- > 0) set_untyped((untyped *)change->object);
}

TEST("changes may nest as deep as the stack allows, with values whose type is NULL") {
  static const kvo_value_ops values = {copy_untyped, release_untyped, view_untyped, assign_untyped, NULL};
  static const kvo_observer_ops ops = {.callback = set_untyped_again};
  static untyped object;
  kvo_binding_property property = {.name = "value", .type = "?", .ops = &values};
  kvo_class *cls;
  CHECK_OK(kvo_binding_class_register("Untyped", NULL, 0, &property, 1, &cls));
  untyped_key = kvo_key_hash("value", 5);
  kvo_object_adopt(&object.header, cls);
  int left = 1000;
  kvo_binding_observer observer = {
      .key_path = "value", .options = KVO_NEW | KVO_ENDS_WITH_OBJECT, .ops = &ops, .user_data = &left};
  kvo_observation id;
  CHECK_OK(kvo_binding_observe_key(&object.header, untyped_key, &observer, &id));
  set_untyped(&object);
  CHECK(left < 0);
  CHECK_OK(kvo_cancel_observer(id));
}

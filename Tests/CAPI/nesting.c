/* nesting.c - deliveries within deliveries: circles are broken, long chains are not, and a callback that was left is told. */
#include "fixture.h"

#include <setjmp.h>
#include <stdlib.h>
#include <string.h>

/* ------------------------------------------------------------------------------------------------------------ Circles -- */

static int told;

static void set_again(const kvo_change *change, void *user_data) {
  (void)user_data;
  told++;
  item *object = (item *)change->object;
  item_set_value(object, object->value + 1);
}

static void set_other(const kvo_change *change, void *user_data) {
  told++;
  item_set_value(user_data, ((item *)change->object)->value + 1);
}

static kvo_observation observe_value(item *object, kvo_callback callback, void *user_data) {
  kvo_observer observer = {
      .struct_size = sizeof observer, .key_path = "value", .callback = callback, .user_data = user_data, KVO_HERE};
  kvo_observation id = 0;
  CHECK_OK(kvo_add_observer(as_object(object), &observer, &id));
  return id;
}

TEST("an observer that sets what it observes is KVO0023, and with a handler that goes on the program does") {
  ignore_faults();
  item *object = item_make(0);
  kvo_observation id = observe_value(object, set_again, NULL);
  item_set_value(object, 1);
  CHECK_EQ((int)faults.code, KVO_FAULT_RECURSION);
  CHECK_EQ(faults.count, 1);
  CHECK_CONTAINS(faults.summary, "an observer sets what it observes, 256 deep and without end: \"value\" of Item@0x");
  CHECK_CONTAINS(faults.report, "set_again");
  CHECK_EQ(told, 256);
  /* It is over: the next change is told as ever. */
  told = 0;
  item_set_value(object, 1);
  CHECK_EQ(told, 256);
  CHECK_EQ(faults.count, 2);
  CHECK_OK(kvo_remove_observer(id));
  item_destroy(object);
}

TEST("two that set what the other observes are KVO0024, an error, with both in the first line") {
  ignore_faults();
  item *a = item_make(0), *b = item_make(0);
  kvo_observation ids[] = {observe_value(a, set_other, b), observe_value(b, set_other, a)};
  item_set_value(a, 1);
  CHECK_EQ((int)faults.code, KVO_FAULT_UNSETTLED);
  CHECK_EQ(faults.count, 1);
  CHECK_CONTAINS(faults.summary, "KVO0024 error: 2 observations set what the next one observes");
  CHECK_CONTAINS(faults.summary, " -> \"value\" of Item@0x");
  for (int i = 0; i < 2; i++) CHECK_OK(kvo_remove_observer(ids[i]));
  item_destroy(a);
  item_destroy(b);
}

static void set_both(const kvo_change *change, void *user_data) {
  item **pair = user_data;
  (void)change;
  told++;
  for (int i = 0; i < 2; i++) item_set_value(pair[i], pair[i]->value + 1);
}

TEST("a circle that branches ends after one report, not after two to the power of its depth") {
  ignore_faults();
  item *pair[] = {item_make(0), item_make(0)};
  kvo_observation ids[] = {observe_value(pair[0], set_both, pair), observe_value(pair[1], set_both, pair)};
  item_set_value(pair[0], 1);
  CHECK_EQ(faults.count, 1);
  CHECK(told < 2000);
  for (int i = 0; i < 2; i++) {
    CHECK_OK(kvo_remove_observer(ids[i]));
    item_destroy(pair[i]);
  }
}

static void set_down(const kvo_change *change, void *user_data) {
  item *object = (item *)change->object;
  (void)user_data;
  told++;
  if (object->value > 0) item_set_value(object, object->value - 1);
}

TEST("an observer that counts down is no circle without end, and two that agree settle") {
  ignore_faults();
  item *object = item_make(0);
  kvo_observation id = observe_value(object, set_down, NULL);
  item_set_value(object, 200);
  CHECK_EQ(told, 201);
  CHECK_EQ(faults.count, 0);
  CHECK_OK(kvo_remove_observer(id));
  item_destroy(object);
}

/* ------------------------------------------------------------------------------------------------------------- Chains -- */

static void chain(int length) {
  item **objects = calloc((size_t)length + 1, sizeof *objects);
  kvo_observation *ids = calloc((size_t)length, sizeof *ids);
  for (int i = 0; i <= length; i++) objects[i] = item_make(0);
  for (int i = 0; i < length; i++) ids[i] = observe_value(objects[i], set_other, objects[i + 1]);
  item_set_value(objects[0], 1);
  for (int i = 0; i < length; i++) CHECK_OK(kvo_remove_observer(ids[i]));
  for (int i = 0; i <= length; i++) item_destroy(objects[i]);
  free(objects);
  free(ids);
}

TEST("a chain of a thousand objects, each of which sets the next, is told to its end") {
  ignore_faults();
  chain(1000);
  CHECK_EQ(told, 1000);
  CHECK_EQ(faults.count, 0);
}

TEST("a chain that is longer than the stack is KVO0023 that says deep, before the stack overflows") {
  ignore_faults();
  chain(200000);
  CHECK_EQ((int)faults.code, KVO_FAULT_RECURSION);
  CHECK_CONTAINS(faults.summary, "each of another observation, and the stack has no room for more");
  CHECK(told > 1000 && told < 200000);
}

/* ---------------------------------------------------------------------------------------------------------- Abandoned -- */

static jmp_buf out;

static void leave(const kvo_change *change, void *user_data) {
  (void)change, (void)user_data;
  told++;
  longjmp(out, 1);
}

TEST("a callback that is left by longjmp is KVO0025 at the next delivery, which takes place") {
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

/* ---------------------------------------------------------------------------------------------------------- Remembered -- */

TEST("an id is told as removed twice, as that of a dead object, or as none, with the places") {
  ignore_faults();
  item *object = item_make(0), *mortal = item_make(0);
  watcher w = {0};
  kvo_observation removed = observe_value(object, set_down, &w);
  CHECK_OK(kvo_remove_observer(removed));
  CHECK_STATUS(kvo_remove_observer(removed), KVO_ERROR_NOT_REGISTERED);
  CHECK_EQ((int)faults.code, KVO_FAULT_REMOVED_TWICE);
  CHECK_CONTAINS(faults.report, "first removed");
  kvo_observation ended = watch(mortal, "value", KVO_ENDS_WITH_OBJECT, &w);
  item_destroy(mortal);
  CHECK_STATUS(kvo_remove_observer(ended), KVO_ERROR_NOT_REGISTERED);
  CHECK_EQ((int)faults.code, KVO_FAULT_STALE_HANDLE);
  CHECK_STATUS(kvo_remove_observer(UINT64_MAX), KVO_ERROR_NOT_REGISTERED);
  CHECK_EQ((int)faults.code, KVO_FAULT_INVALID_ARGUMENT);
  item_destroy(object);
}

TEST("what is too long ago to be remembered is KVO0002, and what happened in between is remembered") {
  ignore_faults();
  item *object = item_make(0);
  watcher w = {0};
  kvo_observation first = watch(object, "value", KVO_NONE, &w), last = 0;
  CHECK_OK(kvo_remove_observer(first));
  for (int i = 0; i < 3000; i++) {
    last = watch(object, "value", KVO_NONE, &w);
    CHECK_OK(kvo_remove_observer(last));
  }
  CHECK_STATUS(kvo_remove_observer(first), KVO_ERROR_NOT_REGISTERED);
  CHECK_EQ((int)faults.code, KVO_FAULT_NOT_REGISTERED);
  CHECK_CONTAINS(faults.summary, "longer ago than the last 2048 endings");
  CHECK_STATUS(kvo_remove_observer(last), KVO_ERROR_NOT_REGISTERED);
  CHECK_EQ((int)faults.code, KVO_FAULT_REMOVED_TWICE);
  item_destroy(object);
}

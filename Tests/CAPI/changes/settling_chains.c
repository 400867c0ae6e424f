/* settling_chains.c - a binding that is the only observer of a key: long chains, circles, and a callback that is left. */
#include "fixture.h"

#include <kvo/kvo_bind.h>
#include <kvo/kvo_binding.h>
#include <setjmp.h>
#include <stdlib.h>

/* Memory used by calls that a jump crosses is never freed: disable LeakSanitizer. */
const char *__asan_default_options(void);
const char *__asan_default_options(void) { return "detect_leaks=0:detect_stack_use_after_return=0"; }

TEST("a chain of 20 000 bindings follows its first object, however small the stack is") {
  enum { COUNT = 20000 };
  item **items = malloc(COUNT * sizeof(item *));
  for (int i = 0; i < COUNT; i++) {
    items[i] = item_make(0);
    if (i > 0) CHECK_OK(kvo_bind(as_object(items[i]), "value", as_object(items[i - 1]), "value", NULL));
  }
  for (int value = 1; value < 3; value++) {
    item_set_value(items[0], value);
    CHECK_EQ(items[COUNT - 1]->value, value);
  }
  for (int i = 0; i < COUNT; i++) item_destroy(items[i]);
  free(items);
}

TEST("an object that is bound to itself through another one has the value that was set last") {
  item *one = item_make(1), *other = item_make(2);
  CHECK_OK(kvo_bind(as_object(one), "value", as_object(other), "value", NULL));
  CHECK_OK(kvo_bind(as_object(other), "value", as_object(one), "value", NULL));
  item_set_value(one, 3);
  CHECK_EQ(other->value, 3);
  item_set_value(other, 4);
  CHECK_EQ(one->value, 4);
  item_destroy(one), item_destroy(other);
}

/* A binding that sets another object to a greater value, twice. */
typedef struct greater {
  item *from, *to;
  int calls;
} greater;

static void set_greater(const kvo_raw_change *change, void *user_data) {
  greater *self = user_data;
  self->calls++;
  item_set_value(self->to, *(const int *)change->new_value + 1);
  item_set_value(self->to, *(const int *)change->new_value + 2);
}

static void observe_as_binding(item *from, item *to, const kvo_observer_ops *ops, void *user_data) {
  kvo_key value = kvo_key_hash("value", 5);
  kvo_binding_observer observer = {.key_path = "value",
                                   .options = KVO_NEW | KVO_ENDS_WITH_OBJECT,
                                   .ops = ops,
                                   .user_data = user_data,
                                   .is_binding = true,
                                   .target = as_object(to),
                                   .target_key = value,
                                   KVO_HERE};
  kvo_observation id;
  CHECK_OK(kvo_binding_observe_key(as_object(from), value, &observer, &id));
}

TEST_REPORTED("two bindings that raise each other's value are one fault, and run as often as the limit permits") {
  static const kvo_observer_ops ops = {.callback = set_greater};
  ignore_faults();
  item *one = item_make(0), *other = item_make(0);
  greater there = {one, other, 0}, back = {other, one, 0};
  observe_as_binding(one, other, &ops, &there);
  observe_as_binding(other, one, &ops, &back);
  item_set_value(one, 1);
  CHECK_EQ(faults.count, 1);
  CHECK_EQ((int)faults.code, KVO_FAULT_UNSETTLED);
  CHECK(there.calls >= 1000 && there.calls < 1010);
  item_destroy(one), item_destroy(other);
}

static jmp_buf out;
static bool leaves;
static item *source;

static void compute(void *user_data, kvo_value_reader reader, void *arg) {
  (void)user_data;
  int64_t value = 0;
  CHECK_OK(kvo_get_int64(as_object(source), "value", &value));
  if (leaves) longjmp(out, 1);
  int passed = (int)value;
  reader(&(kvo_value){"i", sizeof passed, &passed}, arg);
}

TEST("a binding whose function is left with longjmp follows the next change") {
  ignore_faults();
  source = item_make(1);
  item *target = item_make(0);
  CHECK_OK(kvo_bind_computed(as_object(target), "value", compute, NULL, NULL, NULL));
  CHECK_EQ(target->value, 1);
  for (int round = 0; round < 2; round++) {
    leaves = true;
    if (setjmp(out) == 0) item_set_value(source, 2);
    leaves = false;
    CHECK_EQ(target->value, round == 0 ? 1 : 3);
    item_set_value(source, 3);
    CHECK_EQ(target->value, 3);
  }
  item_destroy(target), item_destroy(source);
}

static void leave_raw(const kvo_raw_change *change, void *user_data) {
  int *calls = user_data;
  if (change->new_value != NULL) *calls += 1;
  if (leaves) longjmp(out, 1);
}

TEST("a binding of a property whose callback is left with longjmp is called for the next change") {
  static const kvo_observer_ops ops = {.callback = leave_raw};
  ignore_faults();
  source = item_make(1);
  item *target = item_make(0);
  int calls = 0;
  observe_as_binding(source, target, &ops, &calls);
  for (int round = 0; round < 2; round++) {
    leaves = true;
    if (setjmp(out) == 0) item_set_value(source, 2);
    leaves = false;
    item_set_value(source, 3);
  }
  CHECK_EQ(calls, 4);
  item_destroy(target), item_destroy(source);
}

/* released_values.c - values of a binding that the runtime releases between two observers: the release may change observed properties. */
#include "fixture.h"

#include <kvo/kvo_binding.h>
#include <kvo/kvo_scope.h>
#include <stdlib.h>

typedef struct holder {
  kvo_object header;
  int value;
  /** How many values were released. */
  uint64_t released;
} holder;

static holder *object, *statistics;

static void *copy(void *instance, void *user_data, const kvo_selection *selection) {
  (void)user_data, (void)selection;
  int *value = malloc(sizeof *value);
  *value = ((holder *)instance)->value;
  return value;
}

/* Its call is the last one of `release`, and may be made with the stack frame of a function that has returned. */
static void count_release(void) {
  kvo_change_word(&statistics->header, kvo_key_hash("released", 8), &statistics->released, statistics->released + 1);
}
static void release(void *value, void *user_data) {
  (void)user_data;
  free(value);
  count_release();
}
static void release_quietly(void *value, void *user_data) { (void)user_data, free(value); }

static void view(const void *value, void *user_data, kvo_value_reader reader, void *arg) {
  (void)user_data;
  kvo_value seen = {"i", sizeof(int), value};
  reader(&seen, arg);
}
static kvo_status assign(void *instance, void *user_data, const kvo_value *value) {
  (void)instance, (void)user_data, (void)value;
  return KVO_OK;
}

static void make_holders(void) {
  static const kvo_value_ops counted = {copy, release, view, assign, NULL},
                             quiet = {copy, release_quietly, view, assign, NULL};
  static const kvo_binding_property properties[] = {{.name = "value", .type = "i", .ops = &counted},
                                                    {.name = "released", .type = "q", .ops = &quiet}};
  static holder holders[2];
  kvo_class *cls;
  CHECK_OK(kvo_binding_class_register("Holder", NULL, 0, properties, 2, &cls));
  object = &holders[0];
  statistics = &holders[1];
  kvo_object_adopt(&object->header, cls);
  kvo_object_adopt(&statistics->header, cls);
}

static void announce(int value) {
  CHECK_OK(kvo_will_change(&object->header, "value"));
  object->value = value;
  CHECK_OK(kvo_did_change(&object->header, "value"));
}

TEST("the release of a value between two observers may change a property: no observer has been left") {
  ignore_faults();
  make_holders();
  static watcher older, newer, of_statistics;
  watch((item *)object, "value", KVO_OLD | KVO_NEW, &older);
  watch((item *)object, "value", KVO_OLD | KVO_NEW, &newer);
  watch((item *)statistics, "released", KVO_NONE, &of_statistics);
  announce(3);
  CHECK_EQ(older.new_value.integer, 3);
  CHECK_EQ(newer.calls + older.calls, 2);
  CHECK_EQ(of_statistics.calls, (int)statistics->released);
  kvo_object *objects[] = {&object->header};
  kvo_scope scope;
  CHECK_OK(kvo_scope_begin(&scope, KVO_SCOPE_COALESCES, objects, 1, NULL, 0));
  announce(4);
  kvo_scope_end(&scope);
  CHECK_EQ(older.new_value.integer, 4);
  CHECK_EQ(newer.calls + older.calls, 4);
  CHECK_EQ(of_statistics.calls, (int)statistics->released);
  CHECK_EQ(faults.count, 0);
}

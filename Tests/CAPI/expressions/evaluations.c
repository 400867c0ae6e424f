/* evaluations.c - getters and expressions that remove, set, read, destroy or never return while the runtime evaluates them. */
#include "fixture.h"
#include "shared.h"

#include <kvo/kvo_binding.h>
#include <setjmp.h>
#include <stdlib.h>
#include <string.h>

/* ------------------------------------------------------------------------------------------------------- Getters -- */

static kvo_observation removed_by_getter;

typedef struct hooked {
  kvo_object header;
  int value;
} hooked;

/* Whether the getter makes a fault; and what the last fault's chain was. */
static bool faults_in_getter;
static int faults_in_chain, chain_length;

static int get_hooked(const hooked *of) {
  if (faults_in_getter) kvo_remove_observer(0);
  if (removed_by_getter != 0 && of->value != 0) {
    kvo_observation id = removed_by_getter;
    removed_by_getter = 0;
    CHECK_OK(kvo_remove_observer(id));
  }
  return of->value;
}

static void set_hooked(hooked *of, int value) { of->value = value; }

static kvo_object *make_hooked(void) {
  kvo_property_spec property = {
      .name = "value", .type = "i", .getter = (kvo_function)get_hooked, .setter = (kvo_function)set_hooked};
  kvo_class_spec spec = {.struct_size = sizeof spec,
                         .name = "Hooked",
                         .instance_size = sizeof(hooked),
                         .properties = &property,
                         .property_count = 1};
  kvo_class *cls;
  kvo_object *object;
  CHECK_OK(kvo_class_register(&spec, &cls));
  CHECK_OK(kvo_object_create(cls, &object));
  return object;
}

TEST("an observer that a getter removes, while the value is read for a delivery, is not notified any more") {
  kvo_object *object = make_hooked();
  _Atomic int told = 0, destroyed = 0;
  removed_by_getter = observe((shared *)object, "value", KVO_NEW, &told, &destroyed);
  KVO_SET(object, "value", int, 1);
  CHECK_EQ((int)destroyed, 1);
  CHECK_EQ((int)told, 0);
  kvo_object_destroy(object);
}

static kvo_action note_chain(const kvo_fault *fault, void *arg) {
  (void)arg;
  faults_in_chain++;
  chain_length = (int)fault->chain_count;
  return KVO_ACTION_IGNORE;
}

static void fault_in_callback(const kvo_change *change, void *user_data) {
  (void)change, (void)user_data;
  kvo_remove_observer(0);
  CHECK_EQ(chain_length, 1);
  faults_in_getter = true;
}

TEST_REPORTED(
    "a fault in a callback has that delivery in its chain, and one in a getter for the next delivery has none") {
  kvo_object *object = make_hooked();
  _Atomic int told = 0;
  kvo_set_fault_handler(note_chain, NULL);
  kvo_observation older = observe((shared *)object, "value", KVO_NEW, &told, NULL);
  kvo_observation newer = observe_with((shared *)object, "value", KVO_NONE, fault_in_callback, NULL);
  KVO_SET(object, "value", int, 1);
  CHECK_EQ(faults_in_chain, 2);
  CHECK_EQ(chain_length, 0);
  CHECK_EQ((int)told, 1);
  faults_in_getter = false;
  CHECK_OK(kvo_cancel_observer(newer));
  CHECK_OK(kvo_cancel_observer(older));
  kvo_object_destroy(object);
}

/* --------------------------------------------------------------------------------------------------- Expressions -- */

/* An expression over these objects, which notifies `told`. */
typedef struct expression {
  item *first, *second;
  void (*body)(struct expression *self);
  kvo_observation id;
  int evaluated, told, released;
  const kvo_property *property;
} expression;

static void *evaluate(void *user_data) {
  expression *self = user_data;
  self->evaluated++;
  self->body(self);
  return calloc(1, 1);
}

static void record_call(const kvo_raw_change *change, void *user_data) {
  expression *self = user_data;
  if (change->is_prior) return;
  self->told++;
  self->property = change->property;
}

static void release_value(void *value, void *user_data) {
  ((expression *)user_data)->released++;
  free(value);
}

static void read_key(item *of, const char *key) { kvo_track_read(as_object(of), kvo_key_hash(key, strlen(key))); }

static void observe_expression(expression *self, int options, bool keep_last) {
  static const kvo_observer_ops ops = {.callback = record_call, .evaluate = evaluate, .release = release_value};
  kvo_binding_observer described = {
      .key_path = "expression", .options = (kvo_options)options, .ops = &ops, .user_data = self, KVO_HERE};
  CHECK_OK(kvo_binding_observe_tracked(as_object(self->first), &described, keep_last, &self->id));
}

static void end_expression(expression *self) {
  CHECK_OK(kvo_cancel_observer(self->id));
  CHECK_EQ(self->released, self->evaluated);
}

/* Declares that the result is the value of a key, although another key of the same object was read later. */
static void declare_another(expression *self) {
  read_key(self->first, "value");
  read_key(self->first, "other");
  kvo_track_value_is_of(as_object(self->first), kvo_key_hash("value", 5));
}

TEST("an expression whose getter reads another key of its object last is evaluated for changes of both keys") {
  expression one = {.first = item_make(1), .body = declare_another};
  observe_expression(&one, KVO_NEW, false);
  CHECK_EQ(one.evaluated, 1);
  item_set_other(one.first, 2);
  CHECK_EQ(one.evaluated, 2);
  item_set_value(one.first, 3);
  CHECK_EQ(one.evaluated, 3);
  CHECK_EQ(one.told, 2);
  CHECK_SAME(one.property, NULL);
  end_expression(&one);
  item_destroy(one.first);
}

static void see_nothing(const kvo_value *value, void *arg) { (void)value, (void)arg; }

static void get_value(expression *self) { CHECK_OK(kvo_get_value(as_object(self->first), "value", see_nothing, NULL)); }

TEST("an expression that gets a value with key-value coding is evaluated for its changes, and has a value of its own") {
  expression one = {.first = item_make(1), .body = get_value};
  observe_expression(&one, KVO_NEW, false);
  item_set_value(one.first, 2);
  CHECK_EQ(one.evaluated, 2);
  CHECK_EQ(one.told, 1);
  CHECK_SAME(one.property, NULL);
  end_expression(&one);
  item_destroy(one.first);
}

/* Sets an observed property between two reads. */
static void set_between(expression *self) {
  read_key(self->first, "value");
  item_set_other(self->second, self->evaluated);
  read_key(self->second, "value");
}

TEST("a getter that makes an observed change continues to record") {
  expression one = {.first = item_make(1), .second = item_make(2), .body = set_between};
  watcher direct = {0}, path = {0};
  watch(one.second, "other", KVO_NEW, &direct);
  watch(one.second, "far", KVO_NEW, &path);
  observe_expression(&one, KVO_NEW, false);
  CHECK_EQ(direct.calls, 1);
  item_set_value(one.second, 5); /* this key was read after the change */
  CHECK_EQ(one.told, 1);
  CHECK_EQ(direct.calls, 2);
  end_expression(&one);
  CHECK_OK(kvo_remove_observer(direct.id));
  CHECK_OK(kvo_remove_observer(path.id));
  item_destroy(one.first);
  item_destroy(one.second);
}

static jmp_buf outside;
static bool leaves;

static void leave(expression *self) {
  read_key(self->first, "value");
  if (leaves) longjmp(outside, 1);
}

static void ignore_faults_of(item *object, watcher *direct) {
  ignore_faults();
  if (setjmp(outside) == 0) item_set_value(object, 2);
  leaves = false;
  direct->calls = 0;
}

TEST("after a getter was left with longjmp, the thread does not record any more for the abandoned evaluation") {
  if (harness_is_instrumented()) return; /* the memory of the abandoned evaluation is never freed */
  expression one = {.first = item_make(1), .second = item_make(2), .body = leave};
  watcher direct = {0};
  watch(one.second, "other", KVO_NEW, &direct);
  observe_expression(&one, KVO_NEW, false);
  leaves = true;
  ignore_faults_of(one.first, &direct);
  item_set_other(one.second, 1); /* the next delivery detects the abandoned evaluation */
  CHECK_EQ(direct.calls, 1);
  CHECK(!kvo_track_is_recording());
  CHECK(!kvo_track_is_subscribing());
}

/* Destroys the object that it has read, like a temporary of a getter. */
static void read_temporary(expression *self) {
  read_key(self->first, "value");
  item *temporary = item_make(3);
  read_key(temporary, "value");
  item_destroy(temporary);
}

TEST("the death of a temporary object in the evaluation that reads it is no change") {
  expression one = {.first = item_make(1), .body = read_temporary};
  observe_expression(&one, KVO_NEW | KVO_OLD, true);
  CHECK_EQ(one.told, 0);
  CHECK_EQ(one.evaluated, 1);
  item_set_value(one.first, 2);
  CHECK_EQ(one.told, 1);
  CHECK_EQ(one.evaluated, 2);
  end_expression(&one);
  item_destroy(one.first);
}

/* The evaluation of another expression, in which an object that this one has read dies. */
static expression *inner;
static void destroy_what_another_reads(expression *self) {
  read_key(self->first, "value");
  if (inner == NULL) return;
  item *dying = inner->second;
  inner = NULL;
  item_destroy(dying);
}

static void read_both(expression *self) {
  read_key(self->first, "value");
  if (self->told == 0) read_key(self->second, "value");
}

TEST("an object that dies while another expression is evaluated is a change for expressions that have read it") {
  expression reading = {.first = item_make(1), .second = item_make(2), .body = read_both};
  expression destroying = {.first = item_make(3), .body = destroy_what_another_reads};
  observe_expression(&reading, KVO_NEW, true);
  inner = &reading;
  observe_expression(&destroying, KVO_NEW, false);
  CHECK_EQ(reading.told, 1);
  end_expression(&reading);
  end_expression(&destroying);
  item_destroy(reading.first);
  item_destroy(destroying.first);
}

/* Changes a key that it reads during its registration. */
static void change_at_first(expression *self) {
  read_key(self->first, "value");
  if (self->evaluated == 1) item_set_value(self->first, 7);
}

TEST("a change during the registration is in the initial value, and neither evaluation leaves anything behind") {
  expression one = {.first = item_make(1), .body = change_at_first};
  observe_expression(&one, KVO_NEW | KVO_INITIAL, false);
  CHECK_EQ(one.told, 1);
  CHECK(one.evaluated >= 2);
  end_expression(&one);
  item_destroy(one.first);
}

/* ------------------------------------------------------------------------------------------------------- Threads -- */

enum { MANY = 20 };
static shared *all[MANY];
static _Atomic int working;

static void *read_many(void *user_data) {
  (void)user_data;
  for (int i = 0; i < MANY; i++) kvo_track_read(&all[i]->header, kvo_key_hash("value", 5));
  return NULL;
}

static void ignore_change(const kvo_raw_change *change, void *user_data) {
  (void)change;
  (void)user_data;
}

static void free_nothing(void *value, void *user_data) {
  (void)value;
  (void)user_data;
}

static void evaluate_or_churn(int number) {
  if (number < 2) {
    for (int i = 0; i < rounds(3000); i++) set(all[0], i);
    working--;
    return;
  }
  while (working > 0) { /* expressions again, so that nodes next to those of the tested one are freed */
    static const kvo_observer_ops ops = {.callback = ignore_change, .evaluate = read_many, .release = free_nothing};
    kvo_binding_observer described = {.key_path = "all", .ops = &ops};
    kvo_observation id;
    CHECK_OK(kvo_binding_observe_tracked(&all[0]->header, &described, false, &id));
    CHECK_OK(kvo_cancel_observer(id));
  }
}

TEST("an expression of many keys is evaluated while others that read them are registered and removed") {
  for (int i = 0; i < MANY; i++) all[i] = shared_make();
  static const kvo_observer_ops ops = {.callback = ignore_change, .evaluate = read_many, .release = free_nothing};
  kvo_binding_observer described = {.key_path = "all", .ops = &ops};
  kvo_observation id;
  CHECK_OK(kvo_binding_observe_tracked(&all[0]->header, &described, false, &id));
  working = 2;
  on_threads(evaluate_or_churn);
  CHECK_OK(kvo_cancel_observer(id));
  for (int i = 0; i < MANY; i++) {
    CHECK_EQ(kvo_object_observation_count(&all[i]->header), 0);
    shared_destroy(all[i]);
  }
}

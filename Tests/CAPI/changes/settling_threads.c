/* settling_threads.c - a binding whose target's setter stays, while others resume, fork, or end what it reads. */
#include "made.h"
#include "staying.h"

#include <kvo/kvo_binding.h>
#include <stddef.h>

typedef struct cell {
  kvo_object header;
  _Atomic int value;
} cell;

static cell *source, *target;
static kvo_observation binding;
/* The target's setter stays before it stores this value. */
static _Atomic int stays_at;

static int cell_value(const cell *of) { return of->value; }
static void cell_set(cell *of, int value) {
  int at = value;
  if (of == target && value != 0 && atomic_compare_exchange_strong(&stays_at, &at, 0)) stay(NULL, NULL);
  of->value = value;
}
static void set_cell(cell *of, int value) { CHECK_OK(KVO_SET(of, "value", int, value)); }

/* With any observer, a change of the object is settled in a hold. */
static void observe_too(cell *of) { observe_by(&of->header, "value", KVO_ENDS_WITH_OBJECT, ignore_change, NULL); }

static cell *make_cell(void) {
  static kvo_class *cls;
  static const kvo_property_spec property = PROPERTY("value", "i", cell_value, cell_set);
  if (cls == NULL) cls = class_made("Cell", sizeof(cell), &property, 1);
  return (cell *)(void *)object_of(cls);
}

static void make_bound(void) {
  source = make_cell();
  target = make_cell();
  CHECK_OK(kvo_bind(&target->header, "value", &source->header, "value", &binding));
}

static void destroy_bound(void) {
  kvo_object_destroy(&source->header);
  kvo_object_destroy(&target->header);
}

/* ----------------------------------------------------------------------------------------------------- Resuming -- */

static void resume(void *arg) { CHECK_OK(kvo_observation_resume(binding, true)); }

TEST("a binding that is resumed ends with the last value, also if another thread sets what it reads meanwhile") {
  make_bound();
  CHECK_OK(kvo_observation_pause(binding));
  set_cell(source, 5);
  stays_at = 5;
  running *resuming = start_staying(resume, NULL);
  set_cell(source, 9);
  end_staying(resuming);
  CHECK_EQ((int)target->value, 9);
  destroy_bound();
}

/* ------------------------------------------------------------------------------------------------------ Forking -- */

static void set_source_once(void *arg) { set_cell(source, 5); }

static void set_in_child(void) {
  set_cell(source, 7);
  CHECK_EQ((int)target->value, 7);
  set_cell(source, 8);
  CHECK_EQ((int)target->value, 8);
}

TEST("in the child of a fork a binding goes on that another thread was settling") {
  for (int with_observer = 0; with_observer < 2; with_observer++) {
    make_bound();
    if (with_observer == 1) observe_too(source);
    stays_at = 5;
    running *setting = start_staying(set_source_once, NULL);
    fork_and(set_in_child);
    end_staying(setting);
    CHECK_EQ((int)target->value, 5);
    destroy_bound();
  }
}

/* ------------------------------------------------------------------------------------------------------- Ending -- */

static cell *third;

static void destroy_source(kvo_end end, void *arg) {
  kvo_object_destroy(&source->header);
  set_cell(target, 0);
}

TEST("when the end of a binding is notified, what it was reading may be destroyed") {
  make_bound();
  third = make_cell();
  CHECK_OK(kvo_bind(&third->header, "value", &target->header, "value", NULL));
  observe_too(target);
  set_cell(source, 3);
  CHECK_EQ((int)third->value, 3);
  CHECK_OK(kvo_observation_on_end(binding, destroy_source, NULL));
  CHECK_OK(kvo_cancel_observer(binding));
  CHECK_EQ((int)third->value, 0);
  kvo_object_destroy(&target->header);
  kvo_object_destroy(&third->header);
}

static kvo_action end_it(const kvo_fault *fault, void *arg) {
  CHECK_EQ((int)fault->code, KVO_FAULT_TYPE_MISMATCH);
  CHECK_OK(kvo_cancel_observer(fault->observations[0].observation));
  return KVO_ACTION_IGNORE;
}

static const char *text_value(const cell *of) { return "many"; }

TEST_REPORTED("a binding whose first value is a fault may be ended by the fault's handler") {
  static const kvo_property_spec text = {.name = "text", .type = "*", .getter = (kvo_function)text_value};
  kvo_object *from = object_made("Text", sizeof(cell), &text, 1);
  target = make_cell();
  kvo_set_thread_fault_handler(end_it, NULL);
  kvo_observation id = 0;
  CHECK_OK(kvo_bind(&target->header, "value", from, "text", &id));
  kvo_set_thread_fault_handler(NULL, NULL);
  CHECK(!kvo_observation_is_registered(id));
  CHECK(!kvo_object_is_observed(from) && !kvo_object_is_observed(&target->header));
  kvo_object_destroy(&target->header);
  kvo_object_destroy(from);
}

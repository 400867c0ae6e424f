/* deferred_paths.c - where a limit allows no further delivery: key paths that are led elsewhere, and observations that are resumed. */
#include "nested.h"

#include <kvo/kvo_binding.h>
#include <stdlib.h>

/* An object whose observer does what each test has it do, where KVO_MAX_DEPTH lets nothing nest. */
static item *button;
static kvo_observation pressed;
static void (*at_press)(void);

static void press_observed(const kvo_change *change, void *user_data) {
  (void)change, (void)user_data;
  at_press();
}

static void make_button(void (*then)(void)) {
  ignore_faults();
  at_press = then;
  button = item_make(0);
  pressed = observe_value(button, press_observed, NULL);
}

static void press(void) { item_set_value(button, button->value + 1); }

static void end_button(void) {
  CHECK_OK(kvo_remove_observer(pressed));
  item_destroy(button);
}

/* The fault that says that the limit was reached, and no other. */
static void check_only_too_deep(int count) {
  CHECK_EQ(faults.count, count);
  CHECK_EQ((int)faults.code, KVO_FAULT_RECURSION);
}

/* ------------------------------------------------------------------------------------------------------- Key paths -- */

static item *parent, *former, *present;
static watcher path;

static void make_path(int options) {
  parent = item_make(0);
  former = item_make(1);
  present = item_make(2);
  item_set_next(parent, former);
  path = (watcher){0};
  watch(parent, "next.value", options, &path);
}

static void end_path(void) {
  CHECK_OK(kvo_remove_observer(path.id));
  item_destroy(parent);
  if (former != NULL) item_destroy(former);
  item_destroy(present);
}

static void lead_on_and_set_former(void) {
  item_set_next(parent, present);
  item_set_value(former, former->value + 10);
}

TEST("a path whose update a limit defers is not said to have been led elsewhere without notification") {
  harness_environment("KVO_MAX_DEPTH", "1");
  int options[] = {KVO_OLD | KVO_NEW, KVO_OLD, KVO_PRIOR | KVO_NEW | KVO_OLD};
  for (int i = 0; i < 3; i++) {
    make_button(lead_on_and_set_former);
    faults.count = 0;
    make_path(options[i]);
    press();
    check_only_too_deep(1);
    CHECK_EQ(path.calls, 1);
    if ((options[i] & KVO_NEW) != 0) CHECK_EQ(path.new_value.integer, 2);
    item_set_value(present, 3);
    CHECK_EQ(path.calls, 2);
    item_set_value(former, 4);
    CHECK_EQ(path.calls, 2);
    end_path();
    end_button();
  }
}

static void lead_on(void) { item_set_next(parent, present); }

TEST("once the deferred update was made, a replacement without notification is reported again") {
  harness_environment("KVO_MAX_DEPTH", "1");
  make_button(lead_on);
  make_path(KVO_OLD | KVO_NEW);
  press();
  check_only_too_deep(1);
  CHECK_EQ(path.calls, 1);
  parent->next = former; /* without notification */
  item_set_next(parent, NULL);
  CHECK_EQ(faults.count, 2);
  CHECK_EQ((int)faults.code, KVO_FAULT_SILENT_CHANGE);
  end_path();
  end_button();
}

static void lead_on_and_destroy_former(void) {
  item_set_next(parent, present);
  item_destroy(former);
  former = NULL;
}

TEST("the object that a path has left may be destroyed although the update of the path is deferred") {
  harness_environment("KVO_MAX_DEPTH", "1");
  int options[] = {KVO_OLD | KVO_NEW, KVO_NEW, KVO_NONE};
  for (int i = 0; i < 3; i++) {
    make_button(lead_on_and_destroy_former);
    faults.count = 0;
    make_path(options[i]);
    press();
    check_only_too_deep(1);
    CHECK_EQ(path.calls, 1);
    item_set_value(present, 3);
    CHECK_EQ(path.calls, 2);
    end_path();
    end_button();
  }
}
/* ----------------------------------------------------------------------------------------------------------- Pauses -- */

static item *watched;
static watcher one;
static int calls_in_press;

static void resume_one(void) {
  CHECK_OK(kvo_observation_resume(one.id, true));
  calls_in_press = one.calls;
}

/* A direct observation, a path with a leaf, and one that is evaluated. */
static const char *const keys[] = {"value", "next.value", "doubled"};
static const int factors[] = {1, 1, 2};

static void make_watched(int key, int options) {
  make_button(resume_one);
  faults.count = 0;
  watched = item_make(1);
  item_set_next(watched, watched);
  one = (watcher){0};
  watch(watched, keys[key], options, &one);
}

static void end_watched(void) {
  CHECK_OK(kvo_remove_observer(one.id));
  CHECK_EQ(one.destroyed, 1);
  item_destroy(watched);
  end_button();
}

static void check_resumed(int key, int options) {
  make_watched(key, options);
  CHECK_OK(kvo_observation_pause(one.id));
  item_set_value(watched, 5);
  press();
  check_only_too_deep(1);
  CHECK_EQ(calls_in_press, 0);
  CHECK_EQ(one.calls, 1);
  CHECK_EQ(one.new_value.integer, 5 * factors[key]);
  CHECK_EQ(one.old_value.told, key != 0 && (options & KVO_OLD) != 0);
  item_set_value(watched, 6);
  CHECK_EQ(one.calls, 2);
  CHECK_EQ(one.new_value.integer, 6 * factors[key]);
  end_watched();
}

TEST("what a pause has missed is told although deliveries may nest no deeper where it is resumed") {
  harness_environment("KVO_MAX_DEPTH", "1");
  for (int key = 0; key < 3; key++) {
    check_resumed(key, KVO_NEW);
    check_resumed(key, KVO_OLD | KVO_NEW);
  }
}

static void set_and_pause_and_resume(void) {
  item_set_value(watched, 7);
  CHECK_OK(kvo_observation_pause(one.id));
  item_set_value(watched, 8);
  resume_one();
  item_set_value(watched, 9);
}

TEST("of changes before, in and after a pause, where a limit defers all of them, the last value is told once") {
  harness_environment("KVO_MAX_DEPTH", "1");
  for (int key = 0; key < 3; key++) {
    make_watched(key, KVO_OLD | KVO_NEW);
    at_press = set_and_pause_and_resume;
    press();
    check_only_too_deep(1);
    CHECK_EQ(calls_in_press, 0);
    CHECK_EQ(one.calls, 1);
    CHECK_EQ(one.new_value.integer, 9 * factors[key]);
    end_watched();
  }
}

static void set_and_resume_and_pause(void) {
  item_set_value(watched, 7);
  resume_one();
  CHECK_OK(kvo_observation_pause(one.id));
}

TEST("one that is resumed and paused again before it could be told is told when it is resumed the next time") {
  harness_environment("KVO_MAX_DEPTH", "1");
  for (int key = 0; key < 3; key++) {
    make_watched(key, KVO_NEW);
    at_press = set_and_resume_and_pause;
    CHECK_OK(kvo_observation_pause(one.id));
    press();
    check_only_too_deep(1);
    CHECK_EQ(one.calls, 0);
    CHECK_OK(kvo_observation_resume(one.id, true));
    CHECK_EQ(one.calls, 1);
    CHECK_EQ(one.new_value.integer, 7 * factors[key]);
    end_watched();
  }
}

static void resume_and_remove(void) {
  resume_one();
  CHECK_OK(kvo_remove_observer(one.id));
}

TEST("one that is removed before it could be told of what a pause has missed is not called, and leaves nothing") {
  harness_environment("KVO_MAX_DEPTH", "1");
  for (int key = 0; key < 3; key++) {
    make_watched(key, KVO_OLD | KVO_NEW);
    at_press = resume_and_remove;
    CHECK_OK(kvo_observation_pause(one.id));
    item_set_value(watched, 5);
    press();
    check_only_too_deep(1);
    CHECK_EQ(one.calls, 0);
    CHECK_EQ(one.destroyed, 1);
    item_destroy(watched);
    end_button();
  }
}

static void observe_initially(void) {
  watch(watched, "value", KVO_INITIAL | KVO_NEW, &one);
  calls_in_press = one.calls;
}

TEST("an initial notification for which there is no room comes after outer deliveries have returned") {
  harness_environment("KVO_MAX_DEPTH", "1");
  make_button(observe_initially);
  watched = item_make(4);
  press();
  CHECK_EQ(calls_in_press, 0);
  CHECK_EQ(one.calls, 1);
  CHECK_EQ(one.new_value.integer, 4);
  end_watched();
}

/* ------------------------------------------------------------------------------------------------------ Evaluations -- */

/* An expression that sets what it does not read, as a getter may. */
static void *evaluate_and_set(void *user_data) {
  (void)user_data;
  kvo_track_read(as_object(button), kvo_key_hash("other", 5));
  item_set_value(watched, watched->value + 1);
  return calloc(1, 1);
}

static void ignore_change(const kvo_raw_change *change, void *user_data) { (void)change, (void)user_data; }
static void free_value(void *value, void *user_data) { (void)user_data, free(value); }

static kvo_observation setting;

static void observe_setting(void) {
  static const kvo_observer_ops ops = {.callback = ignore_change, .evaluate = evaluate_and_set, .release = free_value};
  kvo_binding_observer described = {.key_path = "setting", .ops = &ops, KVO_HERE};
  CHECK_OK(kvo_binding_observe_tracked(as_object(button), &described, false, &setting));
  calls_in_press = one.calls;
}

TEST("a change that an evaluation makes where deliveries may nest no deeper is told after outer ones have returned") {
  harness_environment("KVO_MAX_DEPTH", "1");
  make_watched(0, KVO_NEW);
  at_press = observe_setting;
  press();
  check_only_too_deep(1);
  CHECK_EQ(calls_in_press, 0);
  CHECK_EQ(one.calls, 1);
  CHECK_EQ(one.new_value.integer, 2);
  CHECK_OK(kvo_remove_observer(setting));
  end_watched();
}

/* ---------------------------------------------------------------------------------------------------------- Endless -- */

static int turns_left;

static void turn(watcher *self, const kvo_change *change) {
  (void)self, (void)change;
  if (turns_left-- > 0) item_set_next(parent, parent->next == former ? present : former);
}

TEST("a path whose observer leads it elsewhere without end follows it, although it is not told of that any more") {
  harness_environment("KVO_MAX_DEPTH", "10");
  for (int more = 0; more < 2; more++) {
    ignore_faults();
    make_path(KVO_NONE);
    path.then = turn;
    turns_left = 1000000;
    item_set_next(parent, present);
    CHECK(turns_left > 0);
    turns_left = 0;
    int calls = path.calls;
    item_set_value(parent->next, 9);
    CHECK_EQ(path.calls, calls + 1);
    if (more) item_set_next(parent, parent->next == former ? present : former);
    end_path();
  }
}

/* ----------------------------------------------------------------------------------------------------- Deferred deaths -- */

static void end_present(watcher *self, const kvo_change *change) {
  (void)change;
  if (self->calls == 1) kvo_object_finish(as_object(present)); /* its memory stays, because the path leads to it */
}

static void lead_back(watcher *self, const kvo_change *change) {
  (void)change;
  if (self->calls == 1) item_set_value(parent, 4);
}

TEST("a path is told of the death of its object in a delivery that was deferred") {
  harness_environment("KVO_MAX_DEPTH", "1");
  ignore_faults();
  make_path(KVO_NEW);
  path.then = end_present;
  watcher setting = {.then = lead_back}, other = {0};
  watch(parent, "value", KVO_NEW, &other);
  watch(parent, "next", KVO_NEW, &setting);
  item_set_next(parent, present);
  CHECK(path.calls >= 2);
  CHECK(path.new_value.nil);
  CHECK_OK(kvo_remove_observer(path.id));
  CHECK_OK(kvo_remove_observer(other.id));
  CHECK_OK(kvo_remove_observer(setting.id));
  item_destroy(parent);
  item_destroy(former);
  free(present);
}

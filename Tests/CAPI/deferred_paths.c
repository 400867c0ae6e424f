/* deferred_paths.c - where a limit allows no further delivery: key paths that are led elsewhere, and observations that are resumed. */
#include "nested.h"

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
  item_set_value(present, 5);
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

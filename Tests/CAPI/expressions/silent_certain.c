/* silent_certain.c - when KVO0032 is certain, and when not: what is read before a change is compared with before. */
#include "expression.h"

#include <stdio.h>

/* Of the objects of a test; replacements are stored without notification. */
static item *root, *second, *third, *fresh, *spare;
static expression one;

/* One that wants its old value is evaluated before each change. */
static void begin(int (*body)(expression *self), const char *key_path, int options) {
  ignore_faults();
  faults.count = 0;
  item **const all[] = {&root, &second, &third, &fresh, &spare};
  for (int i = 0; i < 5; i++) *all[i] = item_make(i + 1);
  root->next = second;
  second->next = third;
  fresh->next = spare;
  one = (expression){.root = as_object(root), .body = body, .key_path = key_path};
  expression_begin(&one, options);
}

static void finish(void) {
  expression_end(&one);
  item *const all[] = {root, second, third, fresh, spare};
  for (int i = 0; i < 5; i++) item_destroy(all[i]);
}

static int read_next_value(expression *self) { return read_value(read_next(root)); }

static int read_next_next_value(expression *self) { return read_value(read_next(read_next(root))); }

/* ----------------------------------------------------------------------------------------------------- Certain -- */

/* Checks that there were so many reports, the last one of "next" of this object. */
static void check_reported(int count, const item *holder) {
  char expected[96];
  CHECK_FAULTS(count, KVO_FAULT_SILENT_CHANGE);
  snprintf(expected, sizeof expected, "\"next\" of Item@0x%llx was replaced", (unsigned long long)(uintptr_t)holder);
  CHECK_CONTAINS(faults.summary, expected);
}

TEST("an object that was replaced without notification is reported each time, also by one that is observed already") {
  begin(read_next_value, "expression", KVO_OLD);
  watcher direct = {0};
  watch(fresh, "value", KVO_NEW, &direct);
  item_set_value(second, 20);
  CHECK_EQ(faults.count, 0);
  root->next = fresh;
  item_set_value(second, 21);
  check_reported(1, root);
  root->next = second;
  item_set_value(fresh, 40);
  check_reported(2, root);
  item_set_value(second, 22);
  CHECK_EQ(faults.count, 2);
  CHECK_EQ(one.notified, 4);
  CHECK_OK(kvo_remove_observer(direct.id));
  finish();
}

static int read_value_before(expression *self) {
  read_value(root);
  return read_next_value(self);
}

static bool reads_spare;

static int read_spare_first(expression *self) {
  if (reads_spare) read_value(spare);
  return read_next_value(self);
}

static int read_value_twice_before(expression *self) {
  read_value(root);
  return read_value_before(self);
}

TEST("it is reported whatever else the expression reads before, and of a longer path the holder is named") {
  int (*const bodies[])(expression * self) = {read_value_before, read_value_twice_before, read_spare_first};
  for (int i = 0; i < 3; i++) {
    reads_spare = false;
    begin(bodies[i], "expression", KVO_OLD);
    reads_spare = true; /* it begins with an object that it has not read before */
    root->next = fresh;
    item_set_value(second, 20);
    check_reported(1, root);
    finish();
  }
  begin(read_next_next_value, "expression", KVO_OLD);
  second->next = fresh;
  item_set_value(third, 30);
  check_reported(1, second);
  root->next = fresh;
  item_set_next(second, third);
  check_reported(2, root);
  finish();
}

/* ------------------------------------------------------------------------------------------------- Not certain -- */

static bool is_replaced;

static int read_list(expression *self) {
  return read_value(root) + read_value(second) + read_value(is_replaced ? fresh : third);
}

static void replace_element(void) {
  is_replaced = true;
  item_set_value(third, 30);
  item_set_value(fresh, 40);
}

static int replace_and_read(expression *self) {
  item_set_next(root, root->next == second ? fresh : second);
  return read_next_value(self);
}

static void change_what_is_replaced(void) {
  item_set_value(root->next, 30);
  item_set_next(root, third);
}

static bool reads_another_way;

static int read_either(expression *self) {
  item *next = read_next(root);
  return reads_another_way ? read_next(fresh)->value : read_value(next);
}

static void read_another_way(void) {
  reads_another_way = true;
  item_set_value(second, 20);
  item_set_next(fresh, third);
}

static watcher changing;

static void change_path_again(watcher *self, const kvo_change *change) {
  self->then = NULL;
  item_set_next(second, spare); /* the expression has not been notified yet that this one is replaced */
}

static void change_path_in_change(void) {
  changing.then = change_path_again;
  item_set_next(root, fresh);
}

static void replace_and_change(watcher *self, const kvo_change *change) {
  self->then = NULL;
  root->next = fresh;
  item_set_value(second, 20);
}

static void replace_in_change(void) {
  changing.then = replace_and_change;
  item_set_value(root, 10);
  item_set_value(fresh, 40);
}

static void replace_silently(watcher *self, const kvo_change *change) {
  self->then = NULL;
  BEGIN(scope, KVO_SCOPE_SILENCES, root);
  item_set_next(root, third);
  kvo_scope_end(&scope);
}

static void replace_silently_in_change(void) {
  changing.then = replace_silently;
  item_set_next(root, fresh);
}

static int read_next_or_nil(expression *self) {
  item *next = read_next(root);
  return next != NULL ? read_value(next) : NO_VALUE;
}

static void replace_nil(void) {
  item_set_next(root, NULL);
  root->next = fresh;
  item_set_next(root, third);
  root->next = NULL;
  item_set_next(root, second);
}

TEST("what may have another reason is not reported, and the expression follows it") {
  static const struct row {
    const char *name, *observed;
    int (*body)(expression *self);
    void (*change)(void);
    int least_notified;
  } rows[] = {{"an element of a list that nobody observes is replaced", "next", read_list, replace_element, 2},
              {"the expression itself sets a key on its path", "next", replace_and_read, change_what_is_replaced, 1},
              {"the expression reads another key of another object", "next", read_either, read_another_way, 2},
              {"an observer changes the path again", "next", read_next_next_value, change_path_in_change, 1},
              {"a change of the object is in progress", "value", read_next_value, replace_in_change, 2},
              {"an observer makes a silent change", "next", read_next_value, replace_silently_in_change, 1},
              {"there was no object before, or is none now", "next", read_next_or_nil, replace_nil, 3}};
  for (size_t i = 0; i < 2 * sizeof rows / sizeof *rows; i++) {
    const struct row *row = &rows[i / 2];
    is_replaced = reads_another_way = false;
    changing = (watcher){0};
    begin(row->body, i % 2 != 0 ? "next.value" : "expression", KVO_OLD);
    watch(root, row->observed, KVO_NONE, &changing);
    row->change();
    if (faults.count != 0 || one.notified < row->least_notified)
      harness_fail(__FILE__, __LINE__, "%s: %d faults, notified %d times", row->name, faults.count, one.notified);
    CHECK_OK(kvo_remove_observer(changing.id));
    finish();
  }
}

/* manual_between.c - what happens between a will and its did: the object may end, in a call of any depth; and indexes out of order. */
#include "below.h"

#include <kvo/kvo_binding.h>
#include <kvo/kvo_scope.h>

static void will(item *object, const char *key) { CHECK_OK(kvo_will_change(as_object(object), key)); }

static item *ending;
static void destroy(void) { item_destroy(ending); }

TEST_REPORTED(
    "between a will and its did the object may be destroyed, in a call of any depth: the change is unfinished") {
  for (int below = 0; below < 2; below++) {
    ignore_faults();
    ending = item_make(1);
    watcher w = {0};
    watch(ending, "value", KVO_PRIOR | KVO_ENDS_WITH_OBJECT, &w);
    faults.count = 0;
    will(ending, "value");
    CHECK_EQ(w.priors, 1);
    if (below)
      call_below(destroy);
    else
      destroy();
    CHECK_EQ(w.destroyed, 1);
    CHECK_EQ(w.calls, 0);
    CHECK_EQ(faults.count, 1);
    CHECK_EQ((int)faults.code, KVO_FAULT_UNFINISHED_CHANGE);
  }
}

TEST_REPORTED("each index of a change of elements is compared with the one before it") {
  ignore_faults();
  item *object = item_make(1);
  watcher w = {0};
  static const size_t wrong[][3] = {{1, 3, 2}, {3, 1, 4}, {0, 5, 5}, {0, 0, 1}, {4, 6, 0}};
  static const char *const reasons[] = {"number 2 is 2, after 3", "number 1 is 1, after 3", "number 2 is 5, after 5",
                                        "number 1 is 0, after 0", "number 2 is 0, after 6"};
  watch(object, "value", KVO_NONE, &w);
  for (int i = 0; i < 5; i++) {
    CHECK_STATUS(kvo_will_change_indexes(as_object(object), KVO_CHANGE_REMOVAL, "value", wrong[i], 3),
                 KVO_ERROR_INVALID_ARGUMENT);
    CHECK_EQ((int)faults.code, KVO_FAULT_BAD_INDEXES);
    CHECK_CONTAINS(faults.summary, reasons[i]);
    CHECK_OK(kvo_did_change(as_object(object), "value"));
  }
  CHECK_EQ(faults.count, 5);
  CHECK_EQ(w.calls, 0);
  CHECK_OK(kvo_remove_observer(w.id));
  item_destroy(object);
}

TEST("a path that is led to an object between the will and the did of an unobserved key is told the change") {
  for (int registered_late = 0; registered_late < 2; registered_late++) {
    item *parent = item_make(0), *child = item_make(1);
    watcher path = {0};
    if (!registered_late) watch(parent, "next.value", KVO_NEW, &path);
    will(child, "value");
    if (registered_late) watch(parent, "next.value", KVO_NEW, &path);
    item_set_next(parent, child);
    CHECK_EQ(path.calls, 1);
    CHECK_EQ(path.new_value.integer, 1);
    child->value = 5;
    CHECK_OK(kvo_did_change(as_object(child), "value"));
    CHECK_EQ(path.calls, registered_late ? 1 : 2);
    if (!registered_late) CHECK_EQ(path.new_value.integer, 5);
    item_set_value(child, 6);
    CHECK_EQ(path.calls, registered_late ? 2 : 3);
    CHECK_OK(kvo_remove_observer(path.id));
    item_destroy(parent);
    item_destroy(child);
  }
}

TEST("that holds for each of any number of such changes that are open") {
  enum { COUNT = 100 };
  static item *parents[COUNT], *children[COUNT];
  static watcher paths[COUNT];
  for (int i = 0; i < COUNT; i++) {
    parents[i] = item_make(0);
    children[i] = item_make(1);
    watch(parents[i], "next.value", KVO_NEW, &paths[i]);
  }
  for (int i = 0; i < COUNT; i++) will(children[i], "value");
  for (int i = 0; i < COUNT; i++) {
    item_set_next(parents[i], children[i]);
    children[i]->value = 5;
    CHECK_OK(kvo_did_change(as_object(children[i]), "value"));
    CHECK_EQ(paths[i].calls, 2);
    CHECK_EQ(paths[i].new_value.integer, 5);
  }
}

TEST("that holds in a scope that coalesces, also if it begins between the two, and not in a silent one") {
  item *unrelated = item_make(0);
  watcher of_unrelated = {0};
  watch(unrelated, "value", KVO_NONE, &of_unrelated);
  for (int i = 0; i < 16; i++) {
    kvo_scope_kind kind = i % 4 < 2   ? KVO_SCOPE_COALESCES
                          : i % 4 < 3 ? KVO_SCOPE_COALESCES_IF_CHANGED
                                      : KVO_SCOPE_SILENCES;
    bool by_binding = i % 8 >= 4, another_is_open = i >= 8, is_late = i % 2 != 0 && kind != KVO_SCOPE_SILENCES;
    item *parent = item_make(0), *child = item_make(1);
    watcher path = {0};
    watch(parent, "next.value", KVO_NEW, &path);
    kvo_object *objects[] = {as_object(child)};
    kvo_scope scope;
    if (another_is_open) will(unrelated, "value");
    if (!is_late) CHECK_OK(kvo_scope_begin(&scope, kind, objects, 1, NULL, 0));
    if (by_binding)
      kvo_binding_will_unobserved(as_object(child), kvo_key_hash("value", 5));
    else
      will(child, "value");
    if (is_late) CHECK_OK(kvo_scope_begin(&scope, kind, objects, 1, NULL, 0));
    item_set_next(parent, child);
    child->value = 5;
    CHECK_OK(kvo_did_change(as_object(child), "value"));
    kvo_scope_end(&scope);
    CHECK_EQ(path.new_value.integer, kind == KVO_SCOPE_SILENCES ? 1 : 5);
    if (another_is_open) CHECK_OK(kvo_did_change(as_object(unrelated), "value"));
    item_set_value(child, 6);
    CHECK_EQ(path.new_value.integer, 6);
    CHECK_OK(kvo_remove_observer(path.id));
    item_destroy(parent);
    item_destroy(child);
  }
}

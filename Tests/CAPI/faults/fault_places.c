/* fault_places.c - source locations of faults: which the first line has, and that KVO_POLICY=once reports each of them once. */
#include "fixture.h"
#include "reported.h"

#include <stdio.h>
#include <string.h>
#include <unistd.h>

/* -------------------------------------------------------------------------------------------------------- The first line -- */

/* Checks how the first line of the last fault ends. */
static void check_end(const char *expected) {
  size_t length = strlen(faults.summary), of_end = strlen(expected);
  if (length < of_end || strcmp(faults.summary + length - of_end, expected) != 0)
    harness_fail(__FILE__, __LINE__, "\"%s\" does not end with \"%s\"", faults.summary, expected);
}

/* Registers at a place, with a name of the file that is valid during the call; it may be NULL. */
static kvo_observation watch_at(item *object, watcher *w, int options, const char *file, uint32_t line) {
  kvo_observer observer = watcher_observer("value", options, w);
  char name[16];
  snprintf(name, sizeof name, "%s", file != NULL ? file : "");
  observer.file = file != NULL ? name : NULL;
  observer.line = line;
  CHECK_OK(kvo_add_observer(as_object(object), &observer, &w->id));
  memset(name, 'x', sizeof name);
  return w->id;
}

TEST("the first line of a second removal has the places of the registration and of the first removal that are known") {
  static const struct {
    const char *registered, *ended, *expected;
  } rows[] = {{NULL, NULL, ", at a.c:30"},
              {NULL, "e.c", " (first removed at e.c:30), at a.c:30"},
              {"r.c", NULL, " (registered at r.c:10), at a.c:30"},
              {"r.c", "e.c", " (registered at r.c:10, first removed at e.c:30), at a.c:30"},
              {"r.c", "a.c", " (registered at r.c:10, first removed at a.c:30), at a.c:30"}};
  ignore_faults();
  for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
    item *object = item_make(0);
    watcher w = {0};
    char expected[256];
    kvo_observation id = watch_at(object, &w, KVO_NONE, rows[i].registered, 10);
    CHECK_OK(kvo_remove_observer_at(id, rows[i].ended, 30));
    CHECK_STATUS(kvo_remove_observer_at(id, "a.c", 30), KVO_ERROR_NOT_REGISTERED);
    snprintf(expected, sizeof expected, " of Item@0x%llx%s", (unsigned long long)(uintptr_t)object, rows[i].expected);
    check_end(expected);
    item_destroy(object);
  }
}

TEST("the first line of KVO0005 says where the observation was registered, and where its object ended") {
  ignore_faults();
  item *object = item_make(0);
  watcher w = {0};
  kvo_observation id = watch_at(object, &w, KVO_ENDS_WITH_OBJECT, "r.c", 10);
  kvo_object_destroy_at(as_object(object), "e.c", 20);
  CHECK_STATUS(kvo_remove_observer_at(id, "a.c", 30), KVO_ERROR_NOT_REGISTERED);
  CHECK_EQ((int)faults.code, KVO_FAULT_STALE_HANDLE);
  check_end("; another object may be at this address now (registered at r.c:10, object ended at e.c:20), at a.c:30");
  CHECK_CONTAINS(faults.report, "\n  object ended at e.c:20  thread ");
  CHECK_CONTAINS(faults.report, "\n  help: discard an observation's id when its object ends, or end it with "
                                "kvo_cancel_observer, which accepts one that has ended\n");
}

TEST("the first line of KVO0001 says where the first observer was registered, and if others were elsewhere") {
  static const struct {
    const char *file;
    uint32_t line;
    const char *expected;
  } rows[] = {{"a.c", 170, ", registered at a.c:170, deallocated at a.c:17"},
              {"a.c", 8, ", registered at a.c:170 and elsewhere, deallocated at a.c:17"},
              {"b.c", 170, ", registered at a.c:170 and elsewhere, deallocated at a.c:17"}};
  ignore_faults();
  for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
    item *object = item_make(0);
    watcher one = {0}, two = {0};
    watch_at(object, &one, KVO_NONE, "a.c", 170);
    watch_at(object, &two, KVO_NONE, rows[i].file, rows[i].line);
    kvo_object_destroy_at(as_object(object), "a.c", 17);
    check_end(rows[i].expected);
  }
}

TEST("a place that is not known is not in the first line, and no other instead of it") {
  ignore_faults();
  item *object = item_make(0), *other = item_make(0);
  watcher w = {0}, of_other = {0};
  watch_at(other, &of_other, KVO_NONE, "o.c", 5);
  CHECK_STATUS(kvo_remove_observer_for_at(as_object(object), &of_other, "value", NULL, 0), KVO_ERROR_NOT_REGISTERED);
  CHECK_CONTAINS(faults.report, "\n  with the other object registered at o.c:5\n");
  check_end(": it is not registered");
  CHECK_OK(kvo_remove_observer(of_other.id));
  item_destroy(other);
  watch_at(object, &w, KVO_NONE, NULL, 0);
  kvo_object_destroy_at(as_object(object), "e.c", 20);
  check_end(" (key path: \"value\"), deallocated at e.c:20");
  object = item_make(0);
  watch_at(object, &w, KVO_NONE, NULL, 0);
  kvo_object_destroy_at(as_object(object), NULL, 0);
  check_end(" (key path: \"value\")");
}

TEST("a did without a place is reported with that of its will, or with that of a registration") {
  ignore_faults();
  item *object = item_make(0);
  watcher w = {0};
  size_t one = 1, two = 2;
  watch_at(object, &w, KVO_NONE, "r.c", 10);
  CHECK_STATUS(kvo_did_change_at(as_object(object), "value", NULL, 0), KVO_ERROR_UNBALANCED);
  check_end(" without a preceding willChange: no observer is notified, registered at r.c:10");
  CHECK_OK(kvo_will_change_indexes_at(as_object(object), KVO_CHANGE_REMOVAL, "value", &one, 1, "w.c", 5));
  CHECK_OK(kvo_did_change_indexes_at(as_object(object), KVO_CHANGE_REMOVAL, "value", &two, 1, NULL, 0));
  check_end(": observers receive what willChange announced, willChange called at w.c:5");
  CHECK_OK(kvo_will_change_indexes_at(as_object(object), KVO_CHANGE_REMOVAL, "value", &one, 1, NULL, 5));
  CHECK_OK(kvo_did_change_indexes_at(as_object(object), KVO_CHANGE_REMOVAL, "value", &two, 1, NULL, 0));
  check_end(": observers receive what willChange announced");
  CHECK_OK(kvo_remove_observer(w.id));
  item_destroy(object);
}

/* ------------------------------------------------------------------------------------------------------------------ Once -- */

/* How many reports a child makes. */
static size_t reports_of(void (*body)(void *arg), const char *policy) {
  char path[64];
  snprintf(path, sizeof path, "kvo-once-%ld.txt", (long)getpid());
  child_result run = run_with("KVO_REPORT_PATH", path, body, policy);
  CHECK_EQ(run.signal, 0);
  CHECK_EQ(run.exit_code, 0);
  return occurrences(take_file(path), "\n  process "); /* a line of each report */
}

static void raise_at(const char *file, uint32_t line) {
  kvo_fault_raise(KVO_FAULT_NEVER_NOTIFIES, "it is silent", NULL, NULL, NULL, 0, file, line);
}

/* Different calls, because each has code of its own. */
#define CALLER(name, ...)                                                                                              \
  CALLED static void name(const char *file, uint32_t line) {                                                           \
    __VA_ARGS__;                                                                                                       \
    __asm__ volatile("" : : "i"(__LINE__));                                                                            \
  }
CALLER(one_caller, raise_at(file, line))
CALLER(another_caller, raise_at(file, line))

static void raise_at_known_places(void *arg) {
  for (volatile int i = 0; i < 2; i++) { /* volatile: the calls stay the same in each round */
    one_caller("a.c", 1);
    another_caller("a.c", 1); /* the same place, whoever calls it */
    one_caller("a.c", 2);
    one_caller("b.c", 1);
  }
}

TEST("with once a place in the source is reported once, from wherever it is called") {
  CHECK_EQ(reports_of(raise_at_known_places, "once"), 3);
  CHECK_EQ(reports_of(raise_at_known_places, "log"), 8);
}

/* Two calls that differ only in the innermost return address. */
CALLED static void raise_twice(int deep) {
  if (deep > 0) {
    raise_twice(deep - 1);
    FRAME_STAYS();
    return;
  }
  raise_at(NULL, 0);
  __asm__ volatile("" : : "i"(__LINE__));
  raise_at(NULL, 0);
  __asm__ volatile("" : : "i"(__LINE__));
}

static void raise_at_unknown_places(void *arg) {
  for (volatile int i = 0; i < 3; i++) {
    raise_twice(10);
    one_caller(NULL, 0);
    another_caller(NULL, 0);
  }
}

TEST("with once faults without a place in the source are told apart by their calls") {
  CHECK_EQ(reports_of(raise_at_unknown_places, "once"), 4);
}

static void observe_misspelt_keys(void *arg) {
  static const char *const keys[] = {"tilte", "pgaes"};
  item *objects[] = {item_make(0), item_make(0)};
  for (int i = 0; i < 8; i++)
    kvo_binding_never_notifies(as_object(objects[i / 2 % 2]), keys[i % 2], "value", KVO_SILENCE_UNDEFINED, "a.c", 1);
  for (int i = 0; i < 2; i++) item_destroy(objects[i]);
}

TEST("a warning about keys is reported once for each key, of whatever object, also if one line raises it for all") {
  CHECK_EQ(reports_of(observe_misspelt_keys, NULL), 2);
}

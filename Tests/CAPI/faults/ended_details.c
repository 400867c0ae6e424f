/* ended_details.c - what the log of ended observations tells: contexts, options, threads, long names, and earlier objects at an address. */
#include "fixture.h"

#include <kvo/kvo_binding.h>

#include <stdio.h>
#include <string.h>
#include <unistd.h>

static int one, other; /* their addresses are contexts */

static size_t occurrences(const char *text, const char *part) {
  size_t count = 0;
  for (const char *at = text; (at = strstr(at, part)) != NULL; at += strlen(part)) count++;
  return count;
}

/* ----------------------------------------------------------------------------------------------- Earlier objects -- */

static item memory; /* of the program: an object, and later another one */

static void begin_object(void) {
  memset(&memory, 0, sizeof memory);
  CHECK_OK(kvo_object_init(as_object(&memory), item_class()));
}

/* Removes an observer of "value" that the object at `memory` does not have, and checks the code of the fault. */
static void check_removal(watcher *of, kvo_fault_code expected) {
  CHECK_STATUS(kvo_remove_observer_for(as_object(&memory), of, "value"), KVO_ERROR_NOT_REGISTERED);
  CHECK_EQ((int)faults.code, (int)expected);
}

static const char earlier[] = "\n  with an earlier object at this address registered at ";

TEST("an observer of an earlier object at the address is not removed twice, and the report says where it was") {
  ignore_faults();
  watcher w = {0};
  begin_object();
  watch(&memory, "value", KVO_NONE, &w);
  CHECK_OK(kvo_remove_observer(w.id));
  check_removal(&w, KVO_FAULT_REMOVED_TWICE);
  CHECK_SAME(strstr(faults.report, earlier), NULL);
  kvo_object_finish(as_object(&memory));
  begin_object();
  check_removal(&w, KVO_FAULT_NOT_REGISTERED);
  CHECK_CONTAINS(faults.report, earlier);
  watch(&memory, "value", KVO_NONE, &w);
  CHECK_OK(kvo_remove_observer(w.id));
  check_removal(&w, KVO_FAULT_REMOVED_TWICE);
  kvo_object_finish(as_object(&memory));
}

TEST("the same holds for an observation that has ended with the earlier object") {
  ignore_faults();
  watcher w = {0};
  begin_object();
  watch(&memory, "value", KVO_ENDS_WITH_OBJECT, &w);
  kvo_object_finish(as_object(&memory));
  begin_object();
  check_removal(&w, KVO_FAULT_NOT_REGISTERED);
  CHECK_CONTAINS(faults.report, earlier);
  kvo_object_finish(as_object(&memory));
}

TEST("of the observations of an earlier object all are told apart from those of the present one") {
  ignore_faults();
  watcher w[3] = {{0}};
  begin_object();
  for (int i = 0; i < 3; i++) watch(&memory, "value", KVO_NONE, &w[i]);
  for (int i = 0; i < 3; i++) CHECK_OK(kvo_remove_observer(w[i].id));
  kvo_object_finish(as_object(&memory));
  begin_object();
  for (int i = 0; i < 3; i++) check_removal(&w[i], KVO_FAULT_NOT_REGISTERED);
  kvo_object_finish(as_object(&memory));
}

/* ------------------------------------------------------------------------------------------------------ Contexts -- */

TEST("an observer that was removed is removed twice with its context or without one, and not with another") {
  ignore_faults();
  item *object = item_make(0);
  watcher w = {.context = &one};
  watch(object, "value", KVO_NONE, &w);
  CHECK_OK(kvo_remove_observer_for_context(as_object(object), &w, "value", &one));
  CHECK_STATUS(kvo_remove_observer_for_context(as_object(object), &w, "value", &one), KVO_ERROR_NOT_REGISTERED);
  CHECK_EQ((int)faults.code, KVO_FAULT_REMOVED_TWICE);
  CHECK_STATUS(kvo_remove_observer_for_context(as_object(object), &w, "value", &other), KVO_ERROR_NOT_REGISTERED);
  CHECK_EQ((int)faults.code, KVO_FAULT_NOT_REGISTERED);
  CHECK_STATUS(kvo_remove_observer_for_context(as_object(object), &w, "value", NULL), KVO_ERROR_NOT_REGISTERED);
  CHECK_EQ((int)faults.code, KVO_FAULT_NOT_REGISTERED);
  CHECK_STATUS(kvo_remove_observer_for(as_object(object), &w, "value"), KVO_ERROR_NOT_REGISTERED);
  CHECK_EQ((int)faults.code, KVO_FAULT_REMOVED_TWICE);
  item_destroy(object);
}

TEST("an observer that was removed is removed twice for its key path only, and from its object only") {
  ignore_faults();
  item *object = item_make(0), *second = item_make(0);
  watcher w = {0};
  watch(object, "value", KVO_NONE, &w);
  CHECK_OK(kvo_remove_observer(w.id));
  CHECK_STATUS(kvo_remove_observer_for(as_object(object), &w, "other"), KVO_ERROR_NOT_REGISTERED);
  CHECK_EQ((int)faults.code, KVO_FAULT_NOT_REGISTERED);
  CHECK_STATUS(kvo_remove_observer_for(as_object(second), &w, "value"), KVO_ERROR_NOT_REGISTERED);
  CHECK_EQ((int)faults.code, KVO_FAULT_NOT_REGISTERED);
  CHECK_STATUS(kvo_remove_observer_for(as_object(object), &w, "value"), KVO_ERROR_NOT_REGISTERED);
  CHECK_EQ((int)faults.code, KVO_FAULT_REMOVED_TWICE);
  item_destroy(object);
  item_destroy(second);
}

/* ---------------------------------------------------------------------------------------------------- The report -- */

TEST("a second removal tells what the observation was, and the thread and the age of the first removal") {
  ignore_faults();
  item *object = item_make(0);
  watcher w = {.context = &one};
  watch(object, "value", KVO_OLD | KVO_PRIOR, &w);
  CHECK_OK(kvo_remove_observer_at(w.id, "here.c", 12));
  CHECK_STATUS(kvo_remove_observer(w.id), KVO_ERROR_NOT_REGISTERED);
  CHECK_EQ((int)faults.code, KVO_FAULT_REMOVED_TWICE);
  CHECK_EQ(faults.observation_count, 1);
  CHECK(faults.first.observation == w.id);
  CHECK_EQ((int)faults.first.options, KVO_OLD | KVO_PRIOR);
  CHECK_SAME(faults.first.context, &one);
  CHECK_SAME(faults.first.observer, &w);
  CHECK_SAME(faults.first.object, object);
  CHECK_EQ(faults.first.line, watcher_observer("", 0, &w).line);
  char label[80];
  double age = -1;
  snprintf(label, sizeof label, "\n  first removed at here.c:12  thread %ld (main), ", (long)getpid());
  CHECK_CONTAINS(faults.report, label);
  CHECK_EQ(sscanf(strstr(faults.report, label) + strlen(label), "%lf s ago\n", &age), 1);
  CHECK(age >= 0 && age < 200);
  item_destroy(object);
}

TEST("a report of KVO0001 says which observations were removed in time: the last four, the newest first") {
  enum { REMOVED = 6 };
  ignore_faults();
  item *object = item_make(0);
  watcher w[REMOVED] = {{0}}, left = {0};
  for (int i = 0; i < REMOVED; i++) watch(object, "value", KVO_NONE, &w[i]);
  for (int i = 0; i < REMOVED; i++) CHECK_OK(kvo_remove_observer_at(w[i].id, "here.c", (uint32_t)(101 + i)));
  watch(object, "other", KVO_NONE, &left);
  item_destroy(object);
  CHECK_EQ((int)faults.code, KVO_FAULT_DEALLOCATED_WHILE_OBSERVED);
  CHECK_EQ(occurrences(faults.report, "\n  removed in time: \"value\" by observer@0x"), 4);
  const char *at = faults.report;
  for (int line = 106; line >= 103; line--) {
    char place[32];
    snprintf(place, sizeof place, " at here.c:%d  thread ", line);
    at = strstr(at, place);
    if (at == NULL) harness_fail(__FILE__, __LINE__, "%s is missing, or in another order", place);
  }
}

/* ---------------------------------------------------------------------------------------------------- Long names -- */

static void ignore_raw(const kvo_raw_change *change, void *user_data) { (void)change, (void)user_data; }

static void *read_value(void *user_data) {
  kvo_track_read(user_data, kvo_key_hash("value", 5));
  return user_data;
}
static void release_nothing(void *value, void *user_data) { (void)value, (void)user_data; }

/* Ends an observation twice. */
static void end_twice(kvo_observation id) {
  CHECK_OK(kvo_remove_observer(id));
  CHECK_STATUS(kvo_remove_observer(id), KVO_ERROR_NOT_REGISTERED);
  CHECK_EQ((int)faults.code, KVO_FAULT_REMOVED_TWICE);
}

TEST("of the name of an observer's class 39 characters are remembered") {
  enum { MOST = 39 };
  static const kvo_observer_ops ops = {.callback = ignore_raw};
  static const int lengths[] = {1, 38, 39, 40, 41, 60};
  ignore_faults();
  item *object = item_make(0);
  for (size_t i = 0; i < sizeof lengths / sizeof *lengths; i++) {
    char name[64] = "", expected[128];
    for (int k = 0; k < lengths[i]; k++) name[k] = (char)('A' + k % 26);
    kvo_binding_observer observer = {.key_path = "value", .ops = &ops, .identity = {name, object}, KVO_HERE};
    kvo_observation id;
    CHECK_OK(kvo_binding_observe_key(as_object(object), kvo_key_hash("value", 5), &observer, &id));
    end_twice(id);
    snprintf(expected, sizeof expected, "KVO0003 fatal: %.*s@0x%llx was removed twice for \"value\" of Item@", MOST,
             name, (unsigned long long)(uintptr_t)object);
    CHECK_CONTAINS(faults.summary, expected);
  }
  item_destroy(object);
}

TEST("of a key path that is no property 79 characters are remembered") {
  enum { MOST = 79 };
  static const kvo_observer_ops ops = {.callback = ignore_raw, .evaluate = read_value, .release = release_nothing};
  static const int lengths[] = {1, 78, 79, 80, 81, 120};
  ignore_faults();
  item *object = item_make(0);
  for (size_t i = 0; i < sizeof lengths / sizeof *lengths; i++) {
    char name[128] = "", expected[128];
    for (int k = 0; k < lengths[i]; k++) name[k] = (char)('a' + k % 26);
    kvo_binding_observer observer = {
        .key_path = name, .ops = &ops, .user_data = object, .identity = {"Panel", object}, KVO_HERE};
    kvo_observation id;
    CHECK_OK(kvo_binding_observe_tracked(as_object(object), &observer, false, &id));
    end_twice(id);
    snprintf(expected, sizeof expected, " was removed twice for \"%.*s\" of Item@", MOST, name);
    CHECK_CONTAINS(faults.summary, expected);
  }
  item_destroy(object);
}

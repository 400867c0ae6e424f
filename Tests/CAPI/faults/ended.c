/* ended.c - the log of ended observations: what the removal of one that has ended reports, by its id or by its observer. */
#include "fixture.h"
#include "reported.h"

#include <stdio.h>
#include <string.h>
#include <unistd.h>

static void check_second_removal(kvo_observation id, kvo_fault_code expected) {
  CHECK_STATUS(kvo_remove_observer(id), KVO_ERROR_NOT_REGISTERED);
  CHECK_EQ((int)faults.code, (int)expected);
}

TEST("each of several ids is reported as removed twice, as that of a dead object, or as unknown") {
  ignore_faults();
  item *object = item_make(0), *mortal = item_make(0);
  watcher w[3] = {{0}}, of_mortal = {0};
  for (int i = 0; i < 3; i++) watch(object, i == 1 ? "other" : "value", KVO_NONE, &w[i]);
  for (int i = 0; i < 3; i++) CHECK_OK(kvo_remove_observer(w[i].id));
  for (int i = 0; i < 3; i++) {
    check_second_removal(w[i].id, KVO_FAULT_REMOVED_TWICE);
    CHECK_CONTAINS(faults.summary, i == 1 ? " for \"other\" of Item@0x" : " for \"value\" of Item@0x");
  }
  watch(mortal, "value", KVO_ENDS_WITH_OBJECT, &of_mortal);
  item_destroy(mortal);
  check_second_removal(of_mortal.id, KVO_FAULT_STALE_HANDLE);
  check_second_removal(UINT64_MAX, KVO_FAULT_INVALID_ARGUMENT);
  item_destroy(object);
}

/* Removes an observation twice, with this many others in between, and checks how many are remembered. */
static void check_forgotten(int others, const char *expected) {
  ignore_faults();
  item *object = item_make(0);
  watcher w = {0};
  kvo_observation first = watch(object, "value", KVO_NONE, &w);
  CHECK_OK(kvo_remove_observer(first));
  for (int i = 0; i < others; i++) CHECK_OK(kvo_remove_observer(watch(object, "value", KVO_NONE, &w)));
  CHECK_STATUS(kvo_remove_observer_at(first, "h.c", 3), KVO_ERROR_NOT_REGISTERED);
  CHECK_EQ((int)faults.code, KVO_FAULT_NOT_REGISTERED);
  CHECK_CONTAINS(faults.summary, expected);
  CHECK_CONTAINS(faults.report, "remove an observation once; KVO_ZOMBIES=n remembers more, and the report then says");
  if (others > 0) check_second_removal(w.id, KVO_FAULT_REMOVED_TWICE);
  item_destroy(object);
}

TEST("a removal too long ago to be remembered is KVO0002, and later ones are remembered") {
  check_forgotten(3000, " has ended, and is no longer among the last 2048 that are remembered, at h.c:3");
}

TEST("with KVO_ZOMBIES=0 no removal is remembered") {
  harness_environment("KVO_ZOMBIES", "0");
  check_forgotten(0, " has ended, and is no longer among the last 0 that are remembered, at h.c:3");
}

/* ------------------------------------------------------------------------------------------------------------- Observers -- */

TEST("an observer is removed twice only from its object, for its key path, and with its context or without one") {
  static int one, other;
  ignore_faults();
  item *object = item_make(0), *second = item_make(0);
  watcher w = {.context = &one};
  watch(object, "value", KVO_NONE, &w);
  CHECK_OK(kvo_remove_observer_for_context(as_object(object), &w, "value", &one));
  const struct {
    item *from;
    const char *key_path;
    void *context;
    kvo_fault_code expected;
  } rows[] = {{object, "value", &one, KVO_FAULT_REMOVED_TWICE},
              {object, "value", &other, KVO_FAULT_NOT_REGISTERED},
              {object, "value", NULL, KVO_FAULT_NOT_REGISTERED},
              {object, "other", &one, KVO_FAULT_NOT_REGISTERED},
              {second, "value", &one, KVO_FAULT_NOT_REGISTERED}};
  for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
    CHECK_STATUS(kvo_remove_observer_for_context(as_object(rows[i].from), &w, rows[i].key_path, rows[i].context),
                 KVO_ERROR_NOT_REGISTERED);
    CHECK_EQ((int)faults.code, (int)rows[i].expected);
  }
  CHECK_STATUS(kvo_remove_observer_for(as_object(object), &w, "value"), KVO_ERROR_NOT_REGISTERED);
  CHECK_EQ((int)faults.code, KVO_FAULT_REMOVED_TWICE);
  item_destroy(object);
  item_destroy(second);
}

TEST("the removal of an observer that observes another key path of the object says which") {
  ignore_faults();
  item *object = item_make(0);
  watcher w = {0};
  watch(object, "value", KVO_NONE, &w);
  CHECK_STATUS(kvo_remove_observer_for(as_object(object), &w, "doubled"), KVO_ERROR_NOT_REGISTERED);
  CHECK_CONTAINS(faults.report, "this observer observes another key path of the object, \"value\": is it that one?");
  CHECK_OK(kvo_remove_observer(w.id));
  item_destroy(object);
}

TEST("a second removal has what the observation was, and the thread and the age of the first removal") {
  ignore_faults();
  item *object = item_make(0);
  watcher w = {.context = &faults};
  watch(object, "value", KVO_OLD | KVO_PRIOR, &w);
  CHECK_OK(kvo_remove_observer_at(w.id, "here.c", 12));
  check_second_removal(w.id, KVO_FAULT_REMOVED_TWICE);
  CHECK_EQ(faults.observation_count, 1);
  CHECK(faults.first.observation == w.id);
  CHECK_EQ((int)faults.first.options, KVO_OLD | KVO_PRIOR);
  CHECK_SAME(faults.first.context, &faults);
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
  CHECK_EQ(occurrences(faults.report, "\n  removed in time: \"value\" by observer@0x"), 4);
  const char *at = faults.report;
  for (int line = 106; line >= 103; line--) {
    char place[32];
    snprintf(place, sizeof place, " at here.c:%d  thread ", line);
    at = strstr(at, place);
    if (at == NULL) harness_fail(__FILE__, __LINE__, "%s is missing, or in another order", place);
  }
}

TEST("an observation without user data is named as a callback, not as an observer at the address 0") {
  ignore_faults();
  item *object = item_make(0);
  kvo_observation id = observe_by(as_object(object), "value", KVO_NONE, ignore_change, NULL);
  CHECK_OK(kvo_remove_observer(id));
  check_second_removal(id, KVO_FAULT_REMOVED_TWICE);
  CHECK_CONTAINS(faults.summary, "KVO0003 fatal: a callback was removed twice for \"value\" of Item@0x");
  watcher left = {0};
  watch(object, "value", KVO_NONE, &left);
  item_destroy(object);
  CHECK_CONTAINS(faults.report, "\n  removed in time: \"value\" by a callback ");
}

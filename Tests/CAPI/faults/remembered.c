/* remembered.c - the log of ended observations: what the removal of an id that has ended reports. */
#include "nested.h"

TEST("an id is reported as removed twice, as that of a dead object, or as unknown, with the source locations") {
  ignore_faults();
  item *object = item_make(0), *mortal = item_make(0);
  watcher w = {0};
  kvo_observation removed = observe_value(object, set_down, &w);
  CHECK_OK(kvo_remove_observer(removed));
  CHECK_STATUS(kvo_remove_observer(removed), KVO_ERROR_NOT_REGISTERED);
  CHECK_EQ((int)faults.code, KVO_FAULT_REMOVED_TWICE);
  CHECK_CONTAINS(faults.report, "\n  first removed ");
  kvo_observation ended = watch(mortal, "value", KVO_ENDS_WITH_OBJECT, &w);
  item_destroy(mortal);
  CHECK_STATUS(kvo_remove_observer(ended), KVO_ERROR_NOT_REGISTERED);
  CHECK_EQ((int)faults.code, KVO_FAULT_STALE_HANDLE);
  CHECK_CONTAINS(faults.report, "\n  object ended ");
  CHECK_STATUS(kvo_remove_observer(UINT64_MAX), KVO_ERROR_NOT_REGISTERED);
  CHECK_EQ((int)faults.code, KVO_FAULT_INVALID_ARGUMENT);
  item_destroy(object);
}

static void count_call(const kvo_change *change, void *user_data) { (void)change, (void)user_data; }

TEST("an observation without user data is named as a callback, not as an observer at the address 0") {
  ignore_faults();
  item *object = item_make(0);
  kvo_observer alone = {
      .struct_size = sizeof alone, .key_path = "value", .callback = count_call, .file = "a.c", .line = 1};
  kvo_observation id = 0;
  CHECK_OK(kvo_add_observer(as_object(object), &alone, &id));
  CHECK_OK(kvo_remove_observer(id));
  CHECK_STATUS(kvo_remove_observer(id), KVO_ERROR_NOT_REGISTERED);
  CHECK_CONTAINS(faults.summary, "KVO0003 fatal: a callback was removed twice for \"value\" of Item@0x");
  watcher left = {0};
  watch(object, "value", KVO_NONE, &left);
  item_destroy(object);
  CHECK_EQ((int)faults.code, KVO_FAULT_DEALLOCATED_WHILE_OBSERVED);
  CHECK_CONTAINS(faults.report, "\n  removed in time: \"value\" by a callback ");
}

static void die_observed(item *object, uint32_t registered, uint32_t ended) {
  watcher w = {0};
  kvo_observer observer = watcher_observer("value", KVO_NONE, &w);
  observer.file = "editor.c";
  observer.line = registered;
  CHECK_OK(kvo_add_observer(as_object(object), &observer, NULL));
  kvo_object_destroy_at(as_object(object), "editor.c", ended);
}

TEST("the first line of KVO0001 says where the object was deallocated, also if a line begins with the same digits") {
  ignore_faults();
  die_observed(item_make(0), 170, 29);
  CHECK_CONTAINS(faults.summary, "registered at editor.c:170, deallocated at editor.c:29");
  die_observed(item_make(0), 170, 17);
  CHECK_CONTAINS(faults.summary, "registered at editor.c:170, deallocated at editor.c:17");
}

TEST("a removal too long ago to be logged is KVO0002, and later ones are logged") {
  ignore_faults();
  item *object = item_make(0);
  watcher w = {0};
  kvo_observation first = watch(object, "value", KVO_NONE, &w), last = 0;
  CHECK_OK(kvo_remove_observer(first));
  for (int i = 0; i < 3000; i++) {
    last = watch(object, "value", KVO_NONE, &w);
    CHECK_OK(kvo_remove_observer(last));
  }
  CHECK_STATUS(kvo_remove_observer(first), KVO_ERROR_NOT_REGISTERED);
  CHECK_EQ((int)faults.code, KVO_FAULT_NOT_REGISTERED);
  CHECK_CONTAINS(faults.summary, "no longer among the last 2048");
  CHECK_STATUS(kvo_remove_observer(last), KVO_ERROR_NOT_REGISTERED);
  CHECK_EQ((int)faults.code, KVO_FAULT_REMOVED_TWICE);
  item_destroy(object);
}

TEST("each of several observations that were removed is remembered by its id") {
  ignore_faults();
  item *object = item_make(0);
  watcher w[3] = {{0}};
  for (int i = 0; i < 3; i++) watch(object, i == 1 ? "other" : "value", KVO_NONE, &w[i]);
  for (int i = 0; i < 3; i++) CHECK_OK(kvo_remove_observer(w[i].id));
  for (int i = 0; i < 3; i++) {
    CHECK_STATUS(kvo_remove_observer(w[i].id), KVO_ERROR_NOT_REGISTERED);
    CHECK_EQ((int)faults.code, KVO_FAULT_REMOVED_TWICE);
    CHECK_CONTAINS(faults.summary, i == 1 ? " for \"other\" of Item@0x" : " for \"value\" of Item@0x");
  }
  item_destroy(object);
}

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

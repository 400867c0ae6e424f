/* manual_indexes.c - changes of elements of ordered collections, announced by hand with their indexes. */
#include "fixture.h"

static void check_indexes(kvo_change_kind kind) {
  item *object = item_make(1);
  watcher w = {0};
  watch(object, "value", KVO_PRIOR, &w);
  size_t indexes[] = {2, 5, 9};
  CHECK_OK(kvo_will_change_indexes(as_object(object), kind, "value", indexes, 3));
  indexes[0] = 77; /* the runtime has copied them */
  CHECK_EQ(w.priors, 1);
  CHECK_EQ(w.index_count, 3);
  indexes[0] = 2;
  CHECK_OK(kvo_did_change_indexes(as_object(object), kind, "value", indexes, 3));
  CHECK_EQ(w.calls, 1);
  CHECK_EQ((int)w.kind, (int)kind);
  CHECK_EQ(w.index_count, 3);
  CHECK_EQ(w.indexes[0], 2);
  CHECK_EQ(w.indexes[2], 9);
  CHECK_OK(kvo_remove_observer(w.id));
  item_destroy(object);
}

TEST("an insertion delivers its indexes") { check_indexes(KVO_CHANGE_INSERTION); }
TEST("a removal delivers its indexes") { check_indexes(KVO_CHANGE_REMOVAL); }
TEST("a replacement delivers its indexes") { check_indexes(KVO_CHANGE_REPLACEMENT); }

TEST_REPORTED("a setting has no indexes, and indexes must be an ascending array") {
  ignore_faults();
  item *object = item_make(1);
  size_t index = 0, falling[] = {2, 1}, twice[] = {1, 1};
  CHECK_STATUS(kvo_will_change_indexes(as_object(object), KVO_CHANGE_SETTING, "value", &index, 1),
               KVO_ERROR_INVALID_ARGUMENT);
  CHECK_STATUS(kvo_will_change_indexes(as_object(object), KVO_CHANGE_REMOVAL, "value", NULL, 1),
               KVO_ERROR_INVALID_ARGUMENT);
  CHECK_EQ((int)faults.code, KVO_FAULT_INVALID_ARGUMENT);
  CHECK_STATUS(kvo_will_change_indexes(as_object(object), KVO_CHANGE_REMOVAL, "value", falling, 2),
               KVO_ERROR_INVALID_ARGUMENT);
  CHECK_EQ((int)faults.code, KVO_FAULT_BAD_INDEXES);
  CHECK_CONTAINS(faults.summary, "KVO0033 error: a change of elements of \"value\" of Item@");
  CHECK_CONTAINS(faults.summary, " has indexes that are not ascending: number 1 is 1, after 2");
  CHECK_CONTAINS(faults.report, "help: pass each index once, in ascending order");
  CHECK_STATUS(kvo_will_change_indexes(as_object(object), KVO_CHANGE_REMOVAL, "value", twice, 2),
               KVO_ERROR_INVALID_ARGUMENT);
  CHECK_CONTAINS(faults.summary, ": number 1 is 1, after 1");
  CHECK_EQ(faults.count, 4);
  CHECK_OK(kvo_will_change_indexes(as_object(object), KVO_CHANGE_REMOVAL, "value", NULL, 0));
  item_destroy(object);
}

TEST_REPORTED("KVO0033 shows both halves of a change, the first eight indexes of each, and how many more") {
  ignore_faults();
  item *object = item_make(1);
  watcher seen = {0};
  watch(object, "value", KVO_NEW, &seen);
  size_t many[] = {0, 1, 2, 3, 4, 5, 6, 7, 8, 9}, eight[] = {1, 2, 3, 4, 5, 6, 7, 8};
  CHECK_OK(kvo_will_change_indexes(as_object(object), KVO_CHANGE_REMOVAL, "value", many, 10));
  CHECK_OK(kvo_did_change_indexes(as_object(object), KVO_CHANGE_REPLACEMENT, "value", eight, 8));
  CHECK_EQ((int)faults.code, KVO_FAULT_BAD_INDEXES);
  CHECK_CONTAINS(faults.summary, " announced a removal at 0, 1, 2, 3, 4, 5, 6, 7 and 2 more, and didChange a "
                                 "replacement at 1, 2, 3, 4, 5, 6, 7, 8: ");
  CHECK_OK(kvo_will_change_indexes(as_object(object), KVO_CHANGE_INSERTION, "value", NULL, 0));
  CHECK_OK(kvo_did_change_indexes(as_object(object), KVO_CHANGE_INSERTION, "value", NULL, 0));
  CHECK_EQ(faults.count, 1);
  CHECK_OK(kvo_will_change_indexes(as_object(object), KVO_CHANGE_INSERTION, "value", NULL, 0));
  CHECK_OK(kvo_did_change_indexes(as_object(object), KVO_CHANGE_INSERTION, "value", many, 1));
  CHECK_CONTAINS(faults.summary, " announced an insertion at no index, and didChange an insertion at 0: ");
  CHECK_OK(kvo_remove_observer(seen.id));
  item_destroy(object);
}

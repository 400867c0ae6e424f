/* manual_indexes.c - changes of elements of ordered collections, announced by hand with their indexes. */
#include "scoped.h"

#include <string.h>

static kvo_status will_at(kvo_change_kind kind, const size_t *indexes, size_t count) {
  return kvo_will_change_indexes(as_object(a), kind, "value", indexes, count);
}

static kvo_status did_at(kvo_change_kind kind, const size_t *indexes, size_t count) {
  return kvo_did_change_indexes(as_object(a), kind, "value", indexes, count);
}

TEST("an insertion, a removal and a replacement deliver their indexes, which the runtime has copied") {
  static const kvo_change_kind kinds[] = {KVO_CHANGE_INSERTION, KVO_CHANGE_REMOVAL, KVO_CHANGE_REPLACEMENT};
  enum { MANY = 1000 };
  make_items();
  watcher w = {0};
  watch(a, "value", KVO_PRIOR, &w);
  static size_t given[MANY], indexes[MANY];
  for (size_t i = 0; i < MANY; i++) indexes[i] = 2 * i;
  for (int i = 0; i < 3; i++)
    for (size_t count = 3; count <= MANY; count += MANY - 3) {
      memcpy(given, indexes, sizeof given);
      CHECK_OK(will_at(kinds[i], given, count));
      CHECK_EQ(w.index_count, count);
      memset(given, 0x77, sizeof given);
      CHECK_OK(did_at(kinds[i], indexes, count));
      CHECK_EQ((int)w.kind, (int)kinds[i]);
      CHECK_EQ(w.index_count, count);
      CHECK_EQ(w.indexes[0], 0);
      CHECK_EQ(w.indexes[2], 4);
    }
  CHECK_EQ(w.priors, 6);
  CHECK_EQ(w.calls, 6);
  CHECK_EQ(faults.count, 0);
}

TEST_REPORTED("a will whose indexes are none or do not ascend, or of a setting, is refused, and its did is no misuse") {
  static const struct {
    kvo_change_kind kind;
    size_t indexes[3];
    const char *reason; /* NULL: invalid arguments */
  } rows[] = {{KVO_CHANGE_REMOVAL, {1, 3, 2}, "number 2 is 2, after 3"},
              {KVO_CHANGE_INSERTION, {3, 1, 4}, "number 1 is 1, after 3"},
              {KVO_CHANGE_REMOVAL, {0, 5, 5}, "number 2 is 5, after 5"},
              {KVO_CHANGE_REPLACEMENT, {0, 0, 1}, "number 1 is 0, after 0"},
              {KVO_CHANGE_REMOVAL, {4, 6, 0}, "number 2 is 0, after 6"},
              {KVO_CHANGE_SETTING, {0, 1, 2}, NULL},
              {KVO_CHANGE_REMOVAL, {0}, NULL}};
  enum { ROWS = sizeof rows / sizeof *rows };
  make_items();
  watcher w = {0};
  watch(a, "value", KVO_NONE, &w);
  for (int i = 0; i < ROWS; i++) {
    const size_t *indexes = i == ROWS - 1 ? NULL : rows[i].indexes;
    CHECK_STATUS(will_at(rows[i].kind, indexes, 3), KVO_ERROR_INVALID_ARGUMENT);
    CHECK_EQ((int)faults.code, rows[i].reason != NULL ? KVO_FAULT_BAD_INDEXES : KVO_FAULT_INVALID_ARGUMENT);
    if (rows[i].reason != NULL) {
      CHECK_CONTAINS(faults.summary, "KVO0033 error: a change of elements of \"value\" of Item@");
      CHECK_CONTAINS(faults.summary, " has indexes that are not ascending: ");
      CHECK_CONTAINS(faults.summary, rows[i].reason);
      CHECK_CONTAINS(faults.report, "help: pass each index once, in ascending order");
    }
    did(a, "value");
    CHECK_EQ(faults.count, i + 1);
  }
  CHECK_STATUS(kvo_did_change(as_object(a), "value"), KVO_ERROR_UNBALANCED);
  CHECK_EQ((int)faults.code, KVO_FAULT_DID_WITHOUT_WILL);
  CHECK_EQ(w.calls, 0);
}

TEST_REPORTED("a did that names another kind or other indexes than its will is reported with both, and notifies") {
  static const size_t many[] = {0, 1, 2, 3, 4, 5, 6, 7, 8, 9}, from_one[] = {1, 2, 3, 4, 5, 6, 7, 8}, two[] = {1, 4},
                      others[] = {1, 5};
  typedef struct half {
    kvo_change_kind kind;
    const size_t *indexes;
    size_t count;
  } half;
  static const struct {
    half will, did;
    const char *summary; /* NULL: no fault */
  } rows[] = {
      {{KVO_CHANGE_REMOVAL, two, 2}, {KVO_CHANGE_REMOVAL, two, 2}, NULL},
      {{KVO_CHANGE_INSERTION, NULL, 0}, {KVO_CHANGE_INSERTION, NULL, 0}, NULL},
      {{KVO_CHANGE_REMOVAL, two, 1},
       {KVO_CHANGE_REPLACEMENT, two, 1},
       "a removal at 1, and didChange a replacement at 1"},
      {{KVO_CHANGE_REMOVAL, two, 2},
       {KVO_CHANGE_REMOVAL, others, 2},
       "a removal at 1, 4, and didChange a removal at 1, 5"},
      {{KVO_CHANGE_REMOVAL, two, 1}, {KVO_CHANGE_SETTING, NULL, 0}, "a removal at 1, and didChange a setting"},
      {{KVO_CHANGE_SETTING, NULL, 0}, {KVO_CHANGE_REMOVAL, two, 1}, "a setting, and didChange a removal at 1"},
      {{KVO_CHANGE_INSERTION, NULL, 0},
       {KVO_CHANGE_INSERTION, many, 1},
       "an insertion at no index, and didChange an insertion at 0"},
      {{KVO_CHANGE_REMOVAL, many, 10},
       {KVO_CHANGE_REPLACEMENT, from_one, 8},
       "a removal at 0, 1, 2, 3, 4, 5, 6, 7 and 2 more, and didChange a replacement at 1, 2, 3, 4, 5, 6, 7, 8"},
  };
  make_items();
  watcher w = {0};
  watch(a, "value", KVO_NONE, &w);
  for (int i = 0; i < (int)(sizeof rows / sizeof *rows); i++) {
    const half *of_will = &rows[i].will, *of_did = &rows[i].did;
    faults.count = 0;
    if (of_will->kind == KVO_CHANGE_SETTING)
      will(a, "value");
    else
      CHECK_OK(will_at(of_will->kind, of_will->indexes, of_will->count));
    if (of_did->kind == KVO_CHANGE_SETTING)
      did(a, "value");
    else
      CHECK_OK(did_at(of_did->kind, of_did->indexes, of_did->count));
    CHECK_EQ(w.calls, i + 1);
    CHECK_EQ(faults.count, rows[i].summary != NULL);
    if (rows[i].summary != NULL) {
      CHECK_EQ((int)faults.code, KVO_FAULT_BAD_INDEXES);
      CHECK_CONTAINS(faults.summary, rows[i].summary);
    }
  }
}

/* bad_input_observing.c - rows of the table of bad_input.c: registration, removal and announcements, with and without a source location. */
#include "bad_input.h"

static void ignore(const kvo_change *change, void *user_data) {}

static kvo_observer good(void) {
  return (kvo_observer){.struct_size = sizeof(kvo_observer), .key_path = "value", .callback = ignore};
}

ROW(kvo_add_observer) {
  kvo_object garbage = {(uintptr_t)0xdead0dead0};
  kvo_observer observer = good(), bad;
  kvo_observation id = 0;
  NEEDS_BOTH(kvo_add_observer, object, &observer, &id);
#define TRY(change) (bad = good(), change, FAULTS_AND_REFUSED(kvo_add_observer(object, &bad, &id)))
  TRY(bad.struct_size = 0);
  TRY(bad.struct_size = sizeof bad - 1);
  TRY(bad.key_path = NULL);
  TRY(bad.callback = NULL);
  TRY(bad.options = (kvo_options)0x4000);
  TRY(bad.options = (kvo_options)-1);
  faults_clear();
  REFUSED(kvo_add_observer(&empty, &observer, &id));
  REFUSED(kvo_add_observer(&garbage, &observer, &id));
  REFUSED(kvo_add_observer((kvo_object *)(void *)item_class(), &observer, &id));
  CHECK_FAULTS(3, KVO_FAULT_UNSUPPORTED_OBJECT);
  CHECK_EQ(id, 0);
  CHECK_OK(kvo_add_observer(object, &observer, NULL)); /* the id is optional */
  CHECK_EQ(kvo_object_observation_count(object), 1);
}

/* Ids are numbers, never dereferenced. */
static const kvo_observation no_ids[] = {0, 1, 0xdeadbeefdeadbeef, UINT64_MAX};

#define FOR_EACH_BAD_ID(statement)                                                                                     \
  do {                                                                                                                 \
    ignore_faults();                                                                                                   \
    for (size_t i = 0; i < sizeof no_ids / sizeof *no_ids; i++) {                                                      \
      kvo_observation id = no_ids[i];                                                                                  \
      statement;                                                                                                       \
    }                                                                                                                  \
  } while (0)
#define NOT_REGISTERED(call) FOR_EACH_BAD_ID(CHECK_STATUS(call, KVO_ERROR_NOT_REGISTERED))

ROW(kvo_remove_observer) {
  NOT_REGISTERED(kvo_remove_observer(id));
  CHECK_EQ(faults.count, 4);
}
ROW(kvo_remove_observer_at) {
  NOT_REGISTERED(kvo_remove_observer_at(id, "here.c", 7));
  CHECK_EQ(faults.file, "here.c");
  NOT_REGISTERED(kvo_remove_observer_at(id, NULL, 7));
}
ROW(kvo_cancel_observer) { NOT_REGISTERED(kvo_cancel_observer(id)); }
ROW(kvo_cancel_observer_at) { NOT_REGISTERED(kvo_cancel_observer_at(id, NULL, 7)); }
ROW(kvo_cancel_observer_and_wait) { NOT_REGISTERED(kvo_cancel_observer_and_wait(id)); }
ROW(kvo_cancel_observer_and_wait_at) { NOT_REGISTERED(kvo_cancel_observer_and_wait_at(id, NULL, 7)); }
ROW(kvo_observation_pause) { NOT_REGISTERED(kvo_observation_pause(id)); }
ROW(kvo_observation_resume) { NOT_REGISTERED(kvo_observation_resume(id, true)); }
ROW(kvo_observation_is_paused) { FOR_EACH_BAD_ID(CHECK(!kvo_observation_is_paused(id))); }
ROW(kvo_observation_is_registered) { FOR_EACH_BAD_ID(CHECK(!kvo_observation_is_registered(id))); }
ROW(kvo_settle) { FOR_EACH_BAD_ID(kvo_settle(id)); }
ROW(kvo_unsettle) { FOR_EACH_BAD_ID(kvo_unsettle(id)); }

static void ignore_end(kvo_end end, void *arg) {}
ROW(kvo_observation_on_end) {
  FAULTS_AND_REFUSED(kvo_observation_on_end(1, NULL, NULL));
  NOT_REGISTERED(kvo_observation_on_end(id, ignore_end, NULL));
}

ROW(kvo_remove_observer_for) {
  FAULTS_AND_REFUSED(kvo_remove_observer_for(NULL, object, "value"));
  FAULTS_AND_REFUSED(kvo_remove_observer_for(object, object, NULL));
  CHECK_STATUS(kvo_remove_observer_for(object, NULL, ""), KVO_ERROR_NOT_REGISTERED);
  CHECK_STATUS(kvo_remove_observer_for(&empty, NULL, "value"), KVO_ERROR_NOT_REGISTERED);
}
ROW(kvo_remove_observer_for_at) { FAULTS_HERE(kvo_remove_observer_for_at(NULL, NULL, "value", "here.c", 7)); }
ROW(kvo_remove_observer_for_context) {
  FAULTS_AND_REFUSED(kvo_remove_observer_for_context(NULL, NULL, "value", NULL));
  FAULTS_AND_REFUSED(kvo_remove_observer_for_context(object, NULL, NULL, NULL));
}
ROW(kvo_remove_observer_for_context_at) {
  FAULTS_HERE(kvo_remove_observer_for_context_at(NULL, NULL, NULL, NULL, "here.c", 7));
}

/* An observed item, so that announcements have an observer. */
static kvo_object *observed(void) {
  kvo_object *object = as_object(item_make(1));
  kvo_observer observer = good();
  CHECK_OK(kvo_add_observer(object, &observer, NULL));
  return object;
}

#define ANNOUNCEMENT_ROW(function)                                                                                     \
  ROW(function) {                                                                                                      \
    FAULTS_AND_REFUSED(function(NULL, "value"));                                                                       \
    FAULTS_AND_REFUSED(function(observed(), NULL));                                                                    \
    CHECK_OK(function(&empty, "value"));                                                                               \
  }
ANNOUNCEMENT_ROW(kvo_will_change)
ANNOUNCEMENT_ROW(kvo_did_change)
ROW(kvo_will_change_at) { FAULTS_HERE(kvo_will_change_at(NULL, "value", "here.c", 7)); }
ROW(kvo_did_change_at) { FAULTS_HERE(kvo_did_change_at(NULL, "value", "here.c", 7)); }

static const size_t one[] = {0};

ROW(kvo_will_change_indexes) {
  kvo_object *object = observed();
  FAULTS_AND_REFUSED(kvo_will_change_indexes(NULL, KVO_CHANGE_INSERTION, "value", one, 1));
  FAULTS_AND_REFUSED(kvo_will_change_indexes(object, KVO_CHANGE_INSERTION, NULL, one, 1));
  FAULTS_AND_REFUSED(kvo_will_change_indexes(object, KVO_CHANGE_INSERTION, "value", NULL, 1));
  FAULTS_AND_REFUSED(kvo_will_change_indexes(object, KVO_CHANGE_INSERTION, "value", NULL, SIZE_MAX));
  FAULTS_AND_REFUSED(kvo_will_change_indexes(object, KVO_CHANGE_SETTING, "value", one, 1));
  FAULTS_AND_REFUSED(kvo_will_change_indexes(object, (kvo_change_kind)99, "value", one, 1));
}
ROW(kvo_will_change_indexes_at) {
  FAULTS_HERE(kvo_will_change_indexes_at(observed(), KVO_CHANGE_REMOVAL, "value", NULL, 1, "here.c", 7));
}

ROW(kvo_did_change_indexes) {
  kvo_object *object = observed();
  FAULTS_AND_REFUSED(kvo_did_change_indexes(NULL, KVO_CHANGE_INSERTION, "value", one, 1));
  FAULTS_AND_REFUSED(kvo_did_change_indexes(object, KVO_CHANGE_INSERTION, NULL, one, 1));
  CHECK_OK(kvo_will_change_indexes(object, KVO_CHANGE_INSERTION, "value", one, 1));
  FAULTS_AND_REFUSED(kvo_did_change_indexes(object, KVO_CHANGE_INSERTION, "value", NULL, 1));
  FAULTS_AND_REFUSED(kvo_did_change_indexes(object, (kvo_change_kind)99, "value", one, 1));
  CHECK_OK(kvo_did_change_indexes(object, KVO_CHANGE_INSERTION, "value", one, 1)); /* the change is still open */
}
ROW(kvo_did_change_indexes_at) {
  FAULTS_HERE(kvo_did_change_indexes_at(observed(), KVO_CHANGE_REMOVAL, "value", NULL, 1, "here.c", 7));
}

/* fault_limits.c - what reports keep and count at their limits: observations one by one or by source location, lines, calls and uses of
 * observations that have no details, severities, and a log of no length. */
#include "fixture.h"

#include <kvo/kvo_binding.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>

/* ------------------------------------------------------------------------------------------------------ How many -- */

static bool lists_each(void) { return strstr(faults.apple, "<NSKeyValueObservance ") != NULL; }

TEST("of one source location up to eight observations are listed one by one, and nine as one") {
  enum { MOST = 9 };
  ignore_faults();
  for (int count = 1; count <= MOST; count++) {
    item *dying = item_make(0), *other = item_make(0);
    watcher w[MOST] = {{0}}, of_other[MOST] = {{0}};
    for (int i = 0; i < count; i++) watch(dying, "value", KVO_NONE, &w[i]);
    for (int i = 0; i < count; i++) watch(other, "value", KVO_NONE, &of_other[i]);
    item_destroy(dying);
    CHECK_EQ((int)faults.code, KVO_FAULT_DEALLOCATED_WHILE_OBSERVED);
    CHECK_EQ(faults.observation_count, count < MOST ? count : 1);
    CHECK_EQ(lists_each(), count < MOST);
    CHECK_STATUS(kvo_remove_observer_for(as_object(other), other, "value"), KVO_ERROR_NOT_REGISTERED);
    CHECK_EQ((int)faults.code, KVO_FAULT_NOT_REGISTERED);
    CHECK_EQ(faults.observation_count, count < MOST ? count : 1);
    for (int i = 0; i < count; i++) CHECK_OK(kvo_remove_observer(of_other[i].id));
    item_destroy(other);
  }
}

static kvo_fault_observation last_seen;
static void keep_seen(const kvo_fault_observation *observation, void *arg) { (void)arg, last_seen = *observation; }

TEST("a line below half a million is kept of a registration; of a later one the source location is unknown") {
  static const uint32_t lines[] = {1, 524287, 524288, UINT32_MAX};
  item *object = item_make(0);
  for (int i = 0; i < 4; i++) {
    watcher w = {0};
    kvo_observer observer = watcher_observer("value", KVO_NONE, &w);
    observer.file = "generated.c";
    observer.line = lines[i];
    CHECK_OK(kvo_add_observer(as_object(object), &observer, &w.id));
    kvo_object_visit_observations(as_object(object), keep_seen, NULL);
    CHECK_EQ(last_seen.file, i < 2 ? "generated.c" : (const char *)NULL);
    CHECK_EQ(last_seen.line, i < 2 ? lines[i] : 0);
    CHECK_OK(kvo_remove_observer(w.id));
  }
  item_destroy(object);
}

TEST("without a log of ended observations each removal that comes too late is KVO0002") {
  harness_environment("KVO_ZOMBIES", "0");
  ignore_faults();
  item *object = item_make(0);
  watcher w = {0};
  for (int i = 1; i < 4; i++) {
    watch(object, "value", KVO_NONE, &w);
    CHECK_OK(kvo_remove_observer(w.id));
    CHECK_STATUS(kvo_remove_observer(w.id), KVO_ERROR_NOT_REGISTERED);
    CHECK_EQ(faults.count, i);
    CHECK_EQ((int)faults.code, KVO_FAULT_NOT_REGISTERED);
    CHECK_CONTAINS(faults.summary, " has ended, and is no longer among the last 0 that are remembered");
  }
  item_destroy(object);
}

/* --------------------------------------------------------------------------------- Neither user data nor context -- */

static void ignore_change(const kvo_change *change, void *user_data) { (void)change, (void)user_data; }

__attribute__((noinline)) static kvo_observation observe_plainly(item *object, const char *key_path, int options) {
  kvo_observer observer = {.struct_size = sizeof observer,
                           .key_path = key_path,
                           .options = (kvo_options)options,
                           .callback = ignore_change,
                           KVO_HERE};
  kvo_observation id = 0;
  CHECK_OK(kvo_add_observer(as_object(object), &observer, &id));
  __asm__ volatile(""); /* its frame stays */
  return id;
}

static void leave_observed(void *arg) {
  (void)arg;
  item *object = item_make(0);
  observe_plainly(object, "value", KVO_NONE);
  kvo_object_destroy(as_object(object));
}

TEST("the calls of a registration are kept also if the observer has neither user data nor context") {
  harness_skip_without_frames();
  harness_environment("KVO_STACKS", "8");
  child_result run = harness_run_child(leave_observed, NULL, "log");
  CHECK_CONTAINS(run.errors, "KVO0001 ");
  const char *registered = strstr(run.errors, "        registered");
  CHECK(registered != NULL);
  const char *call = strstr(registered, " observe_plainly  ");
  CHECK(call != NULL);
  CHECK(call < strstr(run.errors, "\n  fault"));
}

TEST("an observation that ends before a change is reported if that is asked for, also one that got the initial value") {
  static const char *const paths[] = {"value", "next.value"};
  harness_environment("KVO_POLICY", "KVO0015:log");
  ignore_faults();
  item *object = item_make(0);
  item_set_next(object, object);
  for (int path = 0; path < 2; path++)
    for (int initial = 0; initial < 2; initial++)
      for (int changes = 0; changes < 2; changes++) {
        kvo_observation id = observe_plainly(object, paths[path], initial ? KVO_INITIAL | KVO_NEW : KVO_NONE);
        if (changes) item_set_value(object, 1);
        faults.count = 0;
        CHECK_OK(kvo_cancel_observer(id));
        CHECK_EQ(faults.count, !changes);
        if (!changes) CHECK_EQ((int)faults.code, KVO_FAULT_ENDED_UNUSED);
      }
  item_destroy(object);
}

static void ignore_record(const kvo_raw_change *change, void *user_data) { (void)change, (void)user_data; }

static kvo_observation observe_for(item *object, const int *observer, bool is_receiver) {
  static const kvo_observer_ops ops = {.callback = ignore_record};
  static int user_data;
  kvo_binding_observer described = {.key_path = "value",
                                    .ops = &ops,
                                    .user_data = &user_data,
                                    .identity = {"Panel", observer},
                                    .is_receiver = is_receiver};
  kvo_observation id = 0;
  CHECK_OK(kvo_binding_observe_key(as_object(object), kvo_key_hash("value", 5), &described, &id));
  return id;
}

TEST(
    "an observation that is removed explicitly, or is one of a receiver or a classic one, is not reported for ending before a change") {
  harness_environment("KVO_POLICY", "KVO0015:log");
  ignore_faults();
  int panel = 0;
  item *object = item_make(0);
  CHECK_OK(kvo_remove_observer(observe_plainly(object, "value", KVO_NONE)));
  CHECK_OK(kvo_cancel_observer(observe_for(object, &panel, false)));
  CHECK_OK(kvo_cancel_observer(observe_for(object, &panel, true)));
  observe_for(object, &panel, true);
  CHECK_EQ(kvo_binding_end_all(as_object(object), &panel, NULL, true, NULL, 0), 1);
  CHECK_EQ(faults.count, 0);
  item_destroy(object);
}

TEST("an observation for a receiver is no duplicate of a classic one by the same object, nor that one of it") {
  harness_environment("KVO_POLICY", "KVO0019:log");
  ignore_faults();
  int panel = 0;
  item *object = item_make(0);
  observe_for(object, &panel, true);
  kvo_observation classic = observe_for(object, &panel, false);
  observe_for(object, &panel, true);
  CHECK_EQ(faults.count, 0);
  kvo_observation again = observe_for(object, &panel, false);
  CHECK_EQ(faults.count, 1);
  CHECK_EQ((int)faults.code, KVO_FAULT_DUPLICATE);
  CHECK_OK(kvo_remove_observer(classic));
  CHECK_OK(kvo_remove_observer(again));
  CHECK_EQ(kvo_binding_end_all(as_object(object), &panel, NULL, true, NULL, 0), 2);
  item_destroy(object);
}

/* ---------------------------------------------------------------------------------------------------- Severities -- */

static void raise_info(void *arg) {
  (void)arg;
  kvo_fault_raise(KVO_FAULT_ENDED_UNUSED, "it was in vain", NULL, NULL, NULL, 0, NULL, 0);
}

static void raise_warning(void *arg) {
  (void)arg;
  kvo_fault_raise(KVO_FAULT_AMBIGUOUS_REMOVAL, "it was one of two", NULL, NULL, NULL, 0, NULL, 0);
}

TEST("no policy for all faults applies to infos, and a general abort to nothing but fatal faults") {
  static const char *const general[] = {"log", "once", "abort", NULL};
  for (int i = 0; i < 4; i++) {
    child_result info = harness_run_child(raise_info, NULL, general[i]);
    CHECK_EQ(info.signal, 0);
    CHECK_EQ((const char *)info.errors, "");
    child_result warning = harness_run_child(raise_warning, NULL, general[i]);
    CHECK_EQ(warning.signal, 0);
    CHECK_CONTAINS(warning.errors, "KVO0016 warning: it was one of two");
  }
  child_result ignored = harness_run_child(raise_warning, NULL, "ignore");
  CHECK_EQ((const char *)ignored.errors, "");
  child_result logged = harness_run_child(raise_info, NULL, "info:log");
  CHECK_CONTAINS(logged.errors, "KVO0015 info: it was in vain");
  CHECK_EQ(harness_run_child(raise_info, NULL, "info:abort").signal, SIGABRT);
  CHECK_EQ(harness_run_child(raise_warning, NULL, "warning:abort").signal, SIGABRT);
}

/* -------------------------------------------------------------------------------------------------- By hand only -- */

static kvo_key key_of(const char *key) { return kvo_key_hash(key, strlen(key)); }

static void *copy_nothing(void *instance, void *user, const kvo_selection *selection) {
  (void)instance, (void)user, (void)selection;
  return calloc(1, sizeof(int));
}

static void release_copy(void *value, void *user) { (void)user, free(value); }

static void view_int(const void *value, void *user, kvo_value_reader reader, void *arg) {
  (void)user;
  kvo_value view = {"i", sizeof(int), value};
  reader(&view, arg);
}

static kvo_status assign_nothing(void *instance, void *user, const kvo_value *value) {
  (void)instance, (void)user, (void)value;
  return KVO_ERROR_READ_ONLY;
}

/* Reads these keys of an object. */
typedef struct reading {
  kvo_object *object;
  const char *keys[2];
} reading;

static void *read_keys(void *user_data) {
  reading *self = user_data;
  for (int i = 0; i < 2 && self->keys[i] != NULL; i++) kvo_track_read(self->object, key_of(self->keys[i]));
  return calloc(1, 1);
}

static void ignore_raw(const kvo_raw_change *change, void *user_data) { (void)change, (void)user_data; }

/* How many faults the registration of an expression that reads these keys has. */
static int faults_of(kvo_object *object, const char *first, const char *second) {
  static const kvo_observer_ops ops = {.callback = ignore_raw, .evaluate = read_keys, .release = release_copy};
  reading of = {object, {first, second}};
  kvo_binding_observer observer = {.key_path = "expression", .ops = &ops, .user_data = &of, KVO_HERE};
  kvo_observation id;
  faults.count = 0;
  CHECK_OK(kvo_binding_observe_tracked(object, &observer, false, &id));
  CHECK_OK(kvo_cancel_observer(id));
  return faults.count;
}

TEST("an expression that reads only a computed key is reported, unless the key says that it is announced or told") {
  static const kvo_value_ops ops = {copy_nothing, release_copy, view_int, assign_nothing, NULL};
  static const kvo_binding_property properties[] = {
      {.name = "stored", .type = "i", .ops = &ops},
      {.name = "computed", .type = "i", .ops = &ops, .flags = KVO_PROPERTY_COMPUTED},
      {.name = "announced", .type = "i", .ops = &ops, .flags = KVO_PROPERTY_COMPUTED | KVO_PROPERTY_MANUAL},
      {.name = "told", .type = "i", .ops = &ops, .flags = KVO_PROPERTY_COMPUTED | KVO_PROPERTY_TOLD}};
  kvo_class *cls;
  kvo_object object = {0};
  ignore_faults();
  CHECK_OK(kvo_binding_class_register("Computing", NULL, 0, properties, 4, &cls));
  CHECK_OK(kvo_object_init(&object, cls));
  CHECK_EQ(faults_of(&object, "computed", NULL), 1);
  CHECK_EQ((int)faults.code, KVO_FAULT_NEVER_NOTIFIES);
  CHECK_CONTAINS(faults.summary, "KVO0011 warning: the observation of \"expression\" of Computing@");
  CHECK_CONTAINS(faults.summary, " notifies only if its changes are announced manually: no setter notifies");
  CHECK_EQ(faults_of(&object, "announced", NULL), 0);
  CHECK_EQ(faults_of(&object, "told", NULL), 0);
  CHECK_EQ(faults_of(&object, "stored", NULL), 0);
  CHECK_EQ(faults_of(&object, "computed", "stored"), 0);
  CHECK_EQ(faults_of(&object, NULL, NULL), 1);
  CHECK_CONTAINS(faults.summary, "KVO0011 error: ");
  CHECK_CONTAINS(faults.summary, " can never notify: its evaluation reads nothing observable");
  kvo_object_finish(&object);
}

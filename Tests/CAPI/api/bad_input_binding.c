/* bad_input_binding.c - rows of the table of bad_input.c: functions for bindings. */
#include "bad_input.h"

#include "nodes.h"

#include <stdlib.h>
#include <string.h>

static void visit_nothing(const kvo_fault_observation *observation, void *arg) {}

static kvo_key value_key(void) { return kvo_key_hash("value", 5); }

/* ------------------------------------------------------------------------------------------------- Classes and objects -- */

static void *keep(void *instance) { return instance; }
static void let_go(void *instance) {}

ROW(kvo_binding_class_keep) {
  kvo_class *cls = bound_class(), *garbage = (kvo_class *)(uintptr_t)0xdead0;
  REFUSED(kvo_binding_class_keep(NULL, keep, let_go));
  REFUSED(kvo_binding_class_keep(garbage, keep, let_go));
  REFUSED(kvo_binding_class_keep(item_class(), keep, let_go));
  REFUSED(kvo_binding_class_keep(cls, NULL, let_go));
  REFUSED(kvo_binding_class_keep(cls, keep, NULL));
}

ROW(kvo_binding_class_register) {
  kvo_class *out = NULL, *garbage = (kvo_class *)(uintptr_t)0xdead0;
  kvo_binding_property good = {.name = "value", .type = "i", .ops = &bound_ops}, bad;
  kvo_value_ops ops;
  REFUSED(kvo_binding_class_register(NULL, NULL, 0, &good, 1, &out));
  REFUSED(kvo_binding_class_register("", NULL, 0, &good, 1, &out));
  REFUSED(kvo_binding_class_register("Bad", garbage, 0, &good, 1, &out));
  REFUSED(kvo_binding_class_register("Bad", NULL, 0, NULL, 1, &out));
  REFUSED(kvo_binding_class_register("Bad", NULL, 0, &good, SIZE_MAX, &out));
  REFUSED(kvo_binding_class_register("Bad", NULL, 0, &good, 1, NULL));
#define TRY(change) (bad = good, change, REFUSED(kvo_binding_class_register("Bad", NULL, 0, &bad, 1, &out)))
  TRY(bad.name = NULL);
  TRY(bad.name = "");
  TRY(bad.type = NULL);
  TRY(bad.ops = NULL);
  TRY(bad.flags = ~0u);
#undef TRY
#define TRY(member)                                                                                                    \
  (ops = bound_ops, ops.member = NULL, bad = good, bad.ops = &ops,                                                     \
   REFUSED(kvo_binding_class_register("Bad", NULL, 0, &bad, 1, &out)))
  TRY(copy);
  TRY(release);
  TRY(view);
  TRY(assign);
#undef TRY
  CHECK_SAME(out, NULL);
  CHECK_SAME(kvo_class_find("Bad"), NULL);
}

ROW(kvo_class_is_kept_by) { CHECK(!kvo_class_is_kept_by(NULL, NULL) && !kvo_class_is_kept_by(item_class(), NULL)); }
ROW(kvo_object_instance) { CHECK_SAME(kvo_object_instance(NULL), NULL); }

ROW(kvo_object_adopt) {
  kvo_object object = {0};
  kvo_object_adopt(NULL, bound_class());
  kvo_object_adopt(&object, NULL);
  CHECK_SAME(kvo_object_class(&object), NULL);
}

ROW(kvo_binding_property_user) {
  const kvo_property *value = kvo_class_property(bound_class(), "value");
  CHECK_SAME(kvo_binding_property_user(NULL, &bound_ops), NULL);
  CHECK_SAME(kvo_binding_property_user(value, NULL), NULL);
  CHECK_SAME(kvo_binding_property_user(kvo_class_property(item_class(), "value"), &bound_ops), NULL);
}

ROW(kvo_property_user) { CHECK_SAME(kvo_property_user(NULL), NULL); }

ROW(kvo_property_view) {
  const kvo_property *property = kvo_class_property(item_class(), "next");
  int value = 1;
  kvo_property_view(NULL, &value, read_nothing, NULL);
  kvo_property_view(property, NULL, read_nothing, NULL);
  kvo_property_view(property, &value, NULL, NULL);
  kvo_property_view(kvo_class_property_at(bound_class(), 0), NULL, read_nothing, NULL);
}

/* --------------------------------------------------------------------------------------------------------------- Values -- */

/* Calls that are refused for what they are called on. */
#define REFUSES_RECEIVERS(call)                                                                                        \
  do {                                                                                                                 \
    kvo_binding_values ops;                                                                                            \
    kvo_binding_value good = node_value("{a: 1}"), receiver = good, *of = NULL;                                        \
    REFUSED(call);                                                                                                     \
    of = &receiver;                                                                                                    \
    receiver.kind = (kvo_binding_kind)99;                                                                              \
    REFUSED(call);                                                                                                     \
    receiver = good;                                                                                                   \
    receiver.ops = NULL;                                                                                               \
    REFUSED(call);                                                                                                     \
    receiver.ops = &ops;                                                                                               \
    ops = node_ops;                                                                                                    \
    ops.struct_size--;                                                                                                 \
    REFUSED(call);                                                                                                     \
    for (size_t at = offsetof(kvo_binding_values, copy); at < sizeof ops; at += sizeof(void *)) {                      \
      ops = node_ops;                                                                                                  \
      memset((char *)&ops + at, 0, sizeof(void *));                                                                    \
      REFUSED(call);                                                                                                   \
    }                                                                                                                  \
    node_destroy(&good);                                                                                               \
  } while (0)

ROW(kvo_binding_value_for_path) {
  kvo_binding_value to, value = node_value("{a: 1}");
  REFUSES_RECEIVERS(kvo_binding_value_for_path(of, "a", false, &to, NULL));
  REFUSED(kvo_binding_value_for_path(&value, NULL, false, &to, NULL));
  REFUSED(kvo_binding_value_for_path(&value, "a", false, NULL, NULL));
  node_destroy(&value);
}

ROW(kvo_binding_set_value_for_path) {
  kvo_binding_value to, value = node_value("{a: 1}");
  REFUSES_RECEIVERS(kvo_binding_set_value_for_path(of, "a", &value, &to, NULL));
  REFUSED(kvo_binding_set_value_for_path(&value, NULL, &value, &to, NULL));
  REFUSED(kvo_binding_set_value_for_path(&value, "a", NULL, &to, NULL));
  REFUSED(kvo_binding_set_value_for_path(&value, "a", &value, NULL, NULL));
  node_destroy(&value);
}

/* ------------------------------------------------------------------------------------------------------------- Changes -- */

static kvo_object *observed(kvo_options options) {
  static const kvo_observer_ops ops = {.callback = ignore_raw_change};
  kvo_binding_observer observer = {.key_path = "value", .options = options, .ops = &ops};
  kvo_object *object = bound_make();
  kvo_observation id;
  CHECK_OK(kvo_binding_observe_key(object, value_key(), &observer, &id));
  return object;
}

#define FRAME_ROW(function)                                                                                            \
  ROW(function) {                                                                                                      \
    kvo_frame frame;                                                                                                   \
    CHECK_EQ(function(&frame, NULL, value_key()), 0);                                                                  \
    CHECK_EQ(function(NULL, observed(KVO_NEW), value_key()), 0);                                                       \
    CHECK_EQ(function(&frame, &empty, value_key()), 0);                                                                \
    CHECK_EQ(function(&frame, observed(KVO_NEW), 12345), 0);                                                           \
  }
FRAME_ROW(kvo_frame_begin)
FRAME_ROW(kvo_frame_enter)

ROW(kvo_change_word) {
  uint64_t storage = 1;
  kvo_change_word(NULL, value_key(), NULL, 2);
  kvo_change_word(&empty, value_key(), NULL, 2);
  kvo_change_word(NULL, value_key(), &storage, 2);
  CHECK_EQ((int)storage, 2);
  kvo_change_word(observed(KVO_NEW), 12345, &storage, 3);
  CHECK_EQ((int)storage, 3);
}

ROW(kvo_frame_begin_change) {
  kvo_frame frame;
  size_t index = 0;
  kvo_object *object = observed(KVO_NEW);
  CHECK_EQ(kvo_frame_begin_change(&frame, NULL, value_key(), KVO_CHANGE_REMOVAL, &index, 1), 0);
  CHECK_EQ(kvo_frame_begin_change(NULL, object, value_key(), KVO_CHANGE_REMOVAL, &index, 1), 0);
  CHECK_EQ(kvo_frame_begin_change(&frame, object, value_key(), (kvo_change_kind)99, &index, 1), 0);
  CHECK(kvo_frame_begin_change(&frame, object, value_key(), KVO_CHANGE_REMOVAL, NULL, SIZE_MAX) != 0);
  kvo_frame_finish(&frame, NULL);
}

/* A frame that was not begun is zero; in one that was, a step that is omitted or done twice does no harm. */
ROW(kvo_frame_will) { kvo_frame_will(NULL, NULL); }
ROW(kvo_frame_next) {
  kvo_frame frame;
  CHECK(!kvo_frame_next(NULL));
  CHECK(kvo_frame_begin(&frame, observed(KVO_NEW), value_key()) != 0);
  while (kvo_frame_next(&frame)) {}
  CHECK(!kvo_frame_next(&frame));
  kvo_frame_end(&frame);
}
ROW(kvo_frame_deliver) {
  kvo_frame frame;
  kvo_frame_deliver(NULL, NULL, NULL);
  CHECK(kvo_frame_begin(&frame, observed(KVO_NEW), value_key()) != 0);
  kvo_frame_deliver(&frame, NULL, NULL); /* without kvo_frame_next */
  kvo_frame_end(&frame);
}
ROW(kvo_frame_finish) { kvo_frame_finish(NULL, NULL); }
ROW(kvo_frame_finish_with) { kvo_frame_finish_with(NULL, NULL, NULL); }
ROW(kvo_frame_end) { kvo_frame_end(NULL); }

ROW(kvo_mute_begin) { kvo_mute_begin(NULL, observed(KVO_NEW), value_key()); }
ROW(kvo_mute_end) {
  kvo_mute never_begun = {0}, mute;
  kvo_object *object = observed(KVO_NEW);
  kvo_frame frame;
  kvo_mute_end(NULL);
  kvo_mute_end(&never_begun);
  kvo_mute_begin(&mute, object, value_key());
  kvo_mute_end(&never_begun);
  CHECK_EQ(kvo_frame_begin(&frame, object, value_key()), 0);
  kvo_mute_end(&mute);
  kvo_mute_end(&mute);
  CHECK(kvo_frame_begin(&frame, object, value_key()) != 0);
  kvo_frame_finish(&frame, NULL);
}

ROW(kvo_binding_will_change_values) {
  kvo_object *object = observed(KVO_NEW), *of_c = as_object(item_make(1));
  CHECK_STATUS(kvo_binding_will_change_values(NULL, value_key(), KVO_CHANGE_SETTING, NULL, NULL),
               KVO_ERROR_UNDEFINED_KEY);
  CHECK_STATUS(kvo_binding_will_change_values(object, 12345, KVO_CHANGE_SETTING, NULL, NULL), KVO_ERROR_UNDEFINED_KEY);
  REFUSED(kvo_binding_will_change_values(of_c, value_key(), KVO_CHANGE_SETTING, NULL, NULL));
  REFUSED(kvo_binding_will_change_values(object, value_key(), (kvo_change_kind)99, NULL, NULL));
  kvo_object_destroy(of_c);
}

ROW(kvo_binding_stored) {
  kvo_object *object = observed(KVO_NEW);
  kvo_binding_stored(NULL, 0);
  kvo_binding_stored(object, 0);
}

ROW(kvo_binding_is_observed) {
  CHECK(!kvo_binding_is_observed(NULL, 0));
  CHECK(!kvo_binding_is_observed(observed(KVO_NEW), 0));
}
ROW(kvo_binding_will_unobserved) { kvo_binding_will_unobserved(NULL, 0); }
ROW(kvo_scope_begin) {
  kvo_scope scope;
  kvo_object *objects[] = {observed(KVO_NEW), NULL};
  FAULTS_AND_REFUSED(kvo_scope_begin(NULL, KVO_SCOPE_COALESCES, objects, 1, NULL, 0));
  FAULTS_AND_REFUSED(kvo_scope_begin(&scope, KVO_SCOPE_COALESCES, NULL, 1, NULL, 0));
  FAULTS_AND_REFUSED(kvo_scope_begin(&scope, KVO_SCOPE_COALESCES, objects, 2, NULL, 0));
  FAULTS_AND_REFUSED(kvo_scope_begin(&scope, (kvo_scope_kind)3, objects, 1, NULL, 0));
  FAULTS_AND_REFUSED(kvo_scope_begin(&scope, (kvo_scope_kind)-1, objects, 1, NULL, 0));
  FAULTS_HERE(kvo_scope_begin(&scope, KVO_SCOPE_SILENCES, objects, 2, "here.c", 7));
  kvo_scope_end(&scope); /* was not begun */
  CHECK_OK(kvo_scope_begin(&scope, KVO_SCOPE_COALESCES, NULL, 0, NULL, 0));
  kvo_scope_end(&scope);
}
ROW(kvo_scope_end) {
  kvo_scope never_begun = {{0}}, scope, copy;
  kvo_object *objects[] = {observed(KVO_NEW)};
  kvo_frame frame;
  kvo_scope_end(NULL);
  kvo_scope_end(&never_begun);
  CHECK_OK(kvo_scope_begin(&scope, KVO_SCOPE_SILENCES, objects, 1, NULL, 0));
  copy = scope;
  CHECK_EQ(kvo_frame_begin(&frame, objects[0], value_key()), 0);
  kvo_scope_end(&scope);
  kvo_scope_end(&scope);
  kvo_scope_end(&copy); /* has ended */
  CHECK(kvo_frame_begin(&frame, objects[0], value_key()) != 0);
  kvo_frame_finish(&frame, NULL);
}

ROW(kvo_guard_lock) { kvo_guard_lock(NULL); }
ROW(kvo_guard_unlock) {
  static kvo_guard guard;
  kvo_guard_unlock(NULL);
  kvo_guard_unlock(&guard); /* not locked */
  item_destroy(item_make(1));
}
ROW(kvo_thread_exchange) {
  int here;
  CHECK_SAME(kvo_thread_exchange(KVO_THREAD_CODING, NULL), NULL);
  CHECK_SAME(kvo_thread_exchange((kvo_thread_slot)2, &here), NULL);
  CHECK_SAME(kvo_thread_exchange((kvo_thread_slot)-1, &here), NULL);
  CHECK_SAME(kvo_thread_exchange(KVO_THREAD_DELIVERY, NULL), NULL);
}

ROW(kvo_binding_never_notifies) {
  kvo_binding_never_notifies(NULL, "value", NULL, KVO_SILENCE_BY_HAND, NULL, 0);
  kvo_binding_never_notifies(&empty, NULL, "other", (kvo_silence)99, NULL, 0);
  kvo_binding_never_notifies(&empty, "value", NULL, (kvo_silence)99, NULL, 0);
}

/* -------------------------------------------------------------------------------------------------------- Observations -- */

static const kvo_observer_ops full = {
    .callback = ignore_raw_change, .evaluate = evaluate_nothing, .release = release_evaluated};

/* Arguments that both kinds of registration refuse. */
static void check_observing(kvo_status (*observe)(kvo_object *, const kvo_binding_observer *, kvo_observation *)) {
  kvo_object *object = bound_make();
  kvo_binding_observer good = {.key_path = "value", .ops = &full}, bad;
  kvo_observer_ops ops = full;
  kvo_observation id = 0;
  NEEDS_BOTH(observe, object, &good, &id);
  FAULTS_AND_REFUSED(observe(object, &good, NULL));
  REFUSED(observe(&empty, &good, &id));
#define TRY(change) (bad = good, change, FAULTS_AND_REFUSED(observe(object, &bad, &id)))
  TRY(bad.key_path = NULL);
  TRY(bad.ops = NULL);
  TRY((ops.callback = NULL, bad.ops = &ops));
  TRY(bad.options = (kvo_options)0x8000);
#undef TRY
  CHECK_EQ(id, 0);
  CHECK_EQ(kvo_object_observation_count(object), 0);
}

static kvo_status observe_key(kvo_object *object, const kvo_binding_observer *observer, kvo_observation *out) {
  return kvo_binding_observe_key(object, value_key(), observer, out);
}
ROW(kvo_binding_observe_key) { check_observing(observe_key); }

static kvo_status observe_tracked(kvo_object *object, const kvo_binding_observer *observer, kvo_observation *out) {
  return kvo_binding_observe_tracked(object, observer, true, out);
}
ROW(kvo_binding_observe_tracked) {
  check_observing(observe_tracked);
  kvo_observer_ops without_evaluate = {.callback = ignore_raw_change, .release = release_evaluated},
                   without_release = {.callback = ignore_raw_change, .evaluate = evaluate_nothing};
  kvo_binding_observer observer = {.key_path = "value", .ops = &without_evaluate};
  kvo_observation id;
  FAULTS_AND_REFUSED(observe_tracked(bound_make(), &observer, &id));
  observer.ops = &without_release;
  FAULTS_AND_REFUSED(observe_tracked(bound_make(), &observer, &id));
  observer.ops = &full;
  observer.deliver = ignore_raw_change; /* is for keys only */
  FAULTS_AND_REFUSED(observe_tracked(bound_make(), &observer, &id));
}

ROW(kvo_binding_remove) {
  kvo_object *object = observed(KVO_NEW);
  kvo_observer_identity identity = {NULL, NULL};
  FAULTS_HERE(kvo_binding_remove(NULL, &identity, "value", NULL, false, "here.c", 7));
  FAULTS_HERE(kvo_binding_remove(object, NULL, "value", NULL, false, "here.c", 7));
  FAULTS_HERE(kvo_binding_remove(object, &identity, NULL, NULL, false, "here.c", 7));
  CHECK_OK(kvo_binding_remove(object, &identity, "value", NULL, false, NULL, 0));
}

ROW(kvo_binding_end_all) {
  int observer = 0;
  CHECK_EQ(kvo_binding_end_all(NULL, NULL, "value", true, NULL, 0), 0);
  CHECK_EQ(kvo_binding_end_all(observed(KVO_NEW), NULL, NULL, false, NULL, 0), 0);
  CHECK_EQ(kvo_binding_end_all(&empty, &observer, NULL, true, "here.c", 7), 0);
}

ROW(kvo_binding_observer_died) {
  CHECK_EQ(kvo_binding_observer_died(0), KVO_ERROR_NOT_REGISTERED);
  CHECK_EQ(kvo_binding_observer_died(12345), KVO_ERROR_NOT_REGISTERED);
}

ROW(kvo_binding_observe_death) {
  static const kvo_observer_ops without_destroy;
  kvo_observer_ops complete = {.destroy = free};
  kvo_object *object = bound_make();
  kvo_observation id = 0;
  NEEDS_BOTH(kvo_binding_observe_death, object, &complete, NULL, &id);
  FAULTS_AND_REFUSED(kvo_binding_observe_death(object, &without_destroy, NULL, &id));
  FAULTS_AND_REFUSED(kvo_binding_observe_death(object, &complete, NULL, NULL));
  REFUSED(kvo_binding_observe_death(&empty, &complete, NULL, &id));
  CHECK_EQ(id, 0);
}

ROW(kvo_object_observation_count) {
  CHECK_EQ(kvo_object_observation_count(NULL), 0);
  CHECK_EQ(kvo_object_observation_count(&empty), 0);
}

ROW(kvo_object_visit_observations) {
  kvo_object_visit_observations(NULL, visit_nothing, NULL);
  kvo_object_visit_observations(observed(KVO_NEW), NULL, NULL);
}

/* ------------------------------------------------------------------------------------------------------------ Tracking -- */

static kvo_object *bad_read;

/* Called inside an evaluation, because they do nothing elsewhere. */
static void *read_badly(void *user_data) {
  ((void (*)(void))(uintptr_t)user_data)();
  kvo_track_read(bad_read, value_key());
  return malloc(1);
}

static void while_recording(void (*body)(void)) {
  static const kvo_observer_ops ops = {
      .callback = ignore_raw_change, .evaluate = read_badly, .release = release_evaluated};
  kvo_binding_observer observer = {.key_path = "value", .ops = &ops, .user_data = (void *)(uintptr_t)body};
  kvo_observation id;
  bad_read = bound_make();
  CHECK_OK(kvo_binding_observe_tracked(bad_read, &observer, true, &id));
  CHECK_OK(kvo_cancel_observer(id));
  body();
}

static void read_null(void) { kvo_track_read(NULL, 1); }
static void coded_read_null(void) { kvo_track_coded_read(NULL, 1); }
static void reads_null(void) { (void)kvo_track_reads(NULL, 8); }
static void pause_and_resume(void) { kvo_track_resume(kvo_track_pause()); }
static void value_of_null(void) { kvo_track_value_is_of(NULL, 1); }
static void elements_of_null(void) { kvo_track_elements_are_of(NULL, 1); }
static void ask(void) { (void)kvo_track_is_recording(); }

ROW(kvo_track_read) { while_recording(read_null); }
ROW(kvo_track_coded_read) { while_recording(coded_read_null); }
ROW(kvo_track_reads) { while_recording(reads_null); }
ROW(kvo_track_pause) { while_recording(pause_and_resume); }
ROW(kvo_track_resume) { kvo_track_resume(NULL); }
ROW(kvo_track_value_is_of) { while_recording(value_of_null); }
ROW(kvo_track_elements_are_of) { while_recording(elements_of_null); }
ROW(kvo_track_is_recording) { while_recording(ask); }

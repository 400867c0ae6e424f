/* bad_input_raw.c - rows for the functions of kvo_raw.h that take a description. */
#include "bad_input.h"

ROW(kvo_raw_class_register) {
  kvo_class *out = NULL;
  const kvo_raw_property property = {.name = "value", .type = "i", .ops = &bound_ops};
  const kvo_raw_class good = {.struct_size = sizeof good,
                              .name = "Bad",
                              .properties = &property,
                              .property_count = 1,
                              .property_size = sizeof property};
  kvo_raw_class bad;
  REFUSED(kvo_raw_class_register(NULL, &out));
  REFUSED(kvo_raw_class_register(&good, NULL));
#define TRY(change) (bad = good, change, REFUSED(kvo_raw_class_register(&bad, &out)))
  TRY(bad.struct_size = 0);
  TRY(bad.struct_size = sizeof bad - 1);
  TRY(bad.name = NULL);
  TRY(bad.name = "");
  TRY(bad.superclass = (kvo_class *)(uintptr_t)0xdead0);
  TRY(bad.properties = NULL);
  TRY(bad.property_count = SIZE_MAX);
  TRY(bad.property_size = 0);
  TRY(bad.property_size = sizeof property - sizeof(void *));
#undef TRY
  CHECK_SAME(out, NULL);
  CHECK_SAME(kvo_class_find("Bad"), NULL);
}

/* Arguments that both kinds of registration refuse. */
static void check_observing(kvo_status (*observe)(kvo_object *, const kvo_raw_observer *, kvo_observation *)) {
  static const kvo_observer_ops ops = {
      .callback = ignore_raw_change, .evaluate = evaluate_nothing, .release = release_evaluated};
  kvo_object *object = bound_make();
  const kvo_raw_observer good = {.struct_size = sizeof good, .key_path = "value", .ops = &ops};
  kvo_raw_observer bad;
  kvo_observation id = 0;
  NEEDS_BOTH(observe, object, &good, &id);
  FAULTS_AND_REFUSED(observe(object, &good, NULL));
  REFUSED(observe(&empty, &good, &id));
#define TRY(change) (bad = good, change, FAULTS_AND_REFUSED(observe(object, &bad, &id)))
  TRY(bad.struct_size = 0);
  TRY(bad.struct_size = offsetof(kvo_raw_observer, target_key));
  TRY(bad.key_path = NULL);
  TRY(bad.ops = NULL);
  TRY(bad.options = (kvo_options)0x8000);
#undef TRY
  CHECK_EQ(id, 0);
  CHECK_EQ(kvo_object_observation_count(object), 0);
}

static kvo_status observe(kvo_object *object, const kvo_raw_observer *observer, kvo_observation *out) {
  return kvo_raw_observe(object, kvo_key_hash("value", 5), observer, out);
}
ROW(kvo_raw_observe) { check_observing(observe); }

static kvo_status observe_expression(kvo_object *object, const kvo_raw_observer *observer, kvo_observation *out) {
  return kvo_raw_observe_expression(object, observer, true, out);
}
ROW(kvo_raw_observe_expression) { check_observing(observe_expression); }

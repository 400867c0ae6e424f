/* bad_input_bind.c - rows of the table of bad_input.c: bindings. */
#include "bad_input.h"

static void compute(void *user_data, kvo_value_reader reader, void *arg) {
  int number = 1;
  kvo_value value = {"i", sizeof number, &number};
  reader(&value, arg);
}

static void check_bind(kvo_status (*bind)(kvo_object *, const char *, kvo_object *, const char *, kvo_observation *)) {
  NEEDS_BOTH(bind, object, "value", object, "other", NULL);
  FAULTS_AND_REFUSED(bind(object, "value", NULL, "other", NULL));
  FAULTS_AND_REFUSED(bind(object, "value", object, NULL, NULL));
  CHECK_STATUS(bind(object, "value", object, "", NULL), KVO_ERROR_MALFORMED_KEY_PATH);
  CHECK_STATUS(bind(object, "", object, "other", NULL), KVO_ERROR_MALFORMED_KEY_PATH);
  CHECK_STATUS(bind(object, "value", object, "imaginary", NULL), KVO_ERROR_UNDEFINED_KEY);
  CHECK_STATUS(bind(object, "imaginary", object, "other", NULL), KVO_ERROR_UNDEFINED_KEY);
  CHECK_STATUS(bind(object, "doubled", object, "other", NULL), KVO_ERROR_READ_ONLY);
  REFUSED(bind(&empty, "value", object, "other", NULL));
  REFUSED(bind(object, "value", &empty, "other", NULL));
  CHECK(!kvo_object_is_observed(object));
  CHECK_OK(bind(object, "value", object, "other", NULL)); /* the id is optional */
}

ROW(kvo_bind) { check_bind(kvo_bind); }
ROW(kvo_bind_at) { FAULTS_HERE(kvo_bind_at(NULL, "value", NULL, "value", NULL, "here.c", 7)); }
ROW(kvo_bind_two_way) {
  check_bind(kvo_bind_two_way);
  CHECK_STATUS(kvo_bind_two_way(object, "doubled", object, "other", NULL), KVO_ERROR_READ_ONLY);
  CHECK_CONTAINS(kvo_last_error(), "kvo_bind_two_way: \"doubled\" of class 'Item' cannot be set");
  double other = -1, left = -1;
  CHECK_OK(kvo_get_double(object, "other", &other));
  CHECK_STATUS(kvo_bind_two_way(object, "other", object, "doubled", NULL), KVO_ERROR_READ_ONLY);
  CHECK_OK(kvo_get_double(object, "other", &left));
  CHECK(left == other);
}
ROW(kvo_bind_two_way_at) { FAULTS_HERE(kvo_bind_two_way_at(NULL, "value", NULL, "value", NULL, "here.c", 7)); }

ROW(kvo_bind_computed) {
  NEEDS_BOTH(kvo_bind_computed, object, "value", compute, NULL, NULL, NULL);
  FAULTS_AND_REFUSED(kvo_bind_computed(object, "value", NULL, NULL, NULL, NULL));
  CHECK_STATUS(kvo_bind_computed(object, "imaginary", compute, NULL, NULL, NULL), KVO_ERROR_UNDEFINED_KEY);
  REFUSED(kvo_bind_computed(&empty, "value", compute, NULL, NULL, NULL));
}
ROW(kvo_bind_computed_at) { FAULTS_HERE(kvo_bind_computed_at(NULL, "value", compute, NULL, NULL, NULL, "here.c", 7)); }

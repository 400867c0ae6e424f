/* settling_threads.c - bindings whose sources several threads set. */
#include "shared.h"

#include <kvo/kvo.h>

enum { SOURCES = 2 };

static shared *sources[SOURCES];

static void add_sources(void *user_data, kvo_value_reader reader, void *arg) {
  (void)user_data;
  int sum = 0;
  for (int i = 0; i < SOURCES; i++) {
    int64_t value = 0;
    CHECK_OK(kvo_get_int64(&sources[i]->header, "value", &value));
    sum += (int)value;
  }
  kvo_value value = {"i", sizeof sum, &sum};
  reader(&value, arg);
}

static void set_often(void *source) {
  for (int i = 1; i <= rounds(2000); i++) set(source, i);
}

TEST("when several threads have set the sources of a binding, its target has the value of the last ones") {
  shared *target = shared_make();
  running *threads[SOURCES];
  for (int i = 0; i < SOURCES; i++) sources[i] = shared_make();
  CHECK_OK(kvo_bind_computed(&target->header, "value", add_sources, NULL, NULL, NULL));
  for (int i = 0; i < SOURCES; i++) threads[i] = start_thread(set_often, sources[i]);
  for (int i = 0; i < SOURCES; i++) join_thread(threads[i]);
  CHECK_EQ((int)target->value, SOURCES * rounds(2000));
  shared_destroy(target);
  for (int i = 0; i < SOURCES; i++) shared_destroy(sources[i]);
}

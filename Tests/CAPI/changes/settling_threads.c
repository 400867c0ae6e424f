/* settling_threads.c - bindings whose sources several threads set. */
#include "shared.h"

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
  reader(&(kvo_value){"i", sizeof sum, &sum}, arg);
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

static _Atomic int is_setting, may_go_on, has_ended;
static kvo_observation ended;

static void stop_in_set(const kvo_change *change, void *user_data) {
  (void)user_data;
  if (!change->is_prior || is_setting) return;
  is_setting = 1;
  await(&may_go_on);
}

static void set_source(void *source) { set(source, 5); }

static void end_and_wait(void *arg) {
  (void)arg;
  CHECK_OK(kvo_cancel_observer_and_wait(ended));
  has_ended = 1;
}

TEST("whoever cancels a two-way binding and waits, waits for both directions") {
  shared *sides[] = {shared_make(), shared_make()};
  for (int i = 0; i < 2; i++) {
    is_setting = may_go_on = has_ended = 0;
    CHECK_OK(kvo_bind_two_way(&sides[0]->header, "value", &sides[1]->header, "value", &ended));
    kvo_observation prior = observe_with(sides[i], "value", KVO_PRIOR, stop_in_set, NULL);
    running *setting = start_thread(set_source, sides[1 - i]);
    await(&is_setting);
    running *ending = start_thread(end_and_wait, NULL);
    a_moment();
    CHECK_EQ((int)has_ended, 0);
    may_go_on = 1;
    join_thread(ending);
    join_thread(setting);
    CHECK_OK(kvo_remove_observer(prior));
    set(sides[0], 0), set(sides[1], 0);
  }
  shared_destroy(sides[0]), shared_destroy(sides[1]);
}

static _Atomic int has_stopped;

static void set_until_stopped(void *source) {
  for (int i = 1; !has_stopped; i++) set(source, i);
}

static void read_zero(void *zero, kvo_value_reader reader, void *arg) {
  int64_t value = 0;
  CHECK_OK(kvo_get_int64(zero, "value", &value));
  reader(&(kvo_value){"i", sizeof(int), &(int){(int)value}}, arg);
}

TEST("bindings are made to what another thread sets and other bindings read") {
  shared *source = shared_make(), *zero = shared_make(), *target = shared_make();
  CHECK_OK(kvo_bind(&target->header, "value", &source->header, "value", NULL));
  running *setting = start_thread(set_until_stopped, source);
  for (int i = 0; i < rounds(4000); i++) {
    kvo_observation made;
    if (i % 2 == 0)
      CHECK_OK(kvo_bind(&source->header, "value", &zero->header, "value", &made));
    else
      CHECK_OK(kvo_bind_computed(&source->header, "value", read_zero, &zero->header, NULL, &made));
    CHECK_OK(kvo_cancel_observer(made));
  }
  has_stopped = 1;
  join_thread(setting);
  set(source, 7);
  CHECK_EQ((int)target->value, 7);
  shared_destroy(source), shared_destroy(zero), shared_destroy(target);
}

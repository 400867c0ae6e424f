/* pausing.c - paused observations: no call begins, and they are notified once of what they missed, or not at all. */
#include "allocator.h"
#include "scoped.h"
#include "shared.h"

/* An observation of a key, one whose value is that of the last key of a path, and one that is evaluated. */
static const char *const paths[] = {"value", "next.value", "doubled"};
enum { PATHS = 3, BOTH = KVO_OLD | KVO_NEW };

static item *object;

/* An object that all paths lead to. */
static void make_object(void) {
  ignore_faults();
  object = item_make(1);
  item_set_next(object, object);
}

static int expected(int path, int value) { return path == PATHS - 1 ? 2 * value : value; }

/* ---------------------------------------------------------------------------------------------- What is missed -- */

TEST("a paused observation is not called, and is notified once, with the value at the pause, when it is resumed") {
  for (int i = 0; i < PATHS; i++) {
    make_object();
    watcher w = {0}, without_values = {0}, other = {0}, *paused[] = {&w, &without_values};
    watch(object, paths[i], BOTH | KVO_PRIOR | KVO_ENDS_WITH_OBJECT, &w);
    watch(object, paths[i], KVO_ENDS_WITH_OBJECT, &without_values);
    watch(object, "value", KVO_ENDS_WITH_OBJECT, &other);
    item_set_value(object, 2);
    for (int n = 0; n < 2; n++) {
      CHECK(!kvo_observation_is_paused(paused[n]->id));
      CHECK_OK(kvo_observation_pause(paused[n]->id));
      CHECK(kvo_observation_is_paused(paused[n]->id));
      CHECK(kvo_observation_is_registered(paused[n]->id));
    }
    for (int value = 3; value < 6; value++) {
      item_set_value(object, value);
      CHECK_OK(kvo_observation_pause(w.id)); /* the first pause counts */
    }
    CHECK_EQ(w.calls, 1);
    CHECK_EQ(w.priors, 1);
    CHECK_EQ(without_values.calls, 1);
    CHECK_EQ(other.calls, 4);
    for (int n = 0; n < 2; n++) CHECK_OK(kvo_observation_resume(paused[n]->id, true));
    CHECK(!kvo_observation_is_paused(w.id));
    CHECK_NOTIFIED(w, 2, expected(i, 2), expected(i, 5));
    CHECK_EQ(w.priors, 1);
    CHECK_EQ(without_values.calls, 2);
    CHECK(!without_values.old_value.delivered && !without_values.new_value.delivered);
    item_set_value(object, 6);
    CHECK_NOTIFIED(w, 3, expected(i, 5), expected(i, 6));
    CHECK_EQ(w.priors, 2);
    item_destroy(object);
    CHECK_EQ(faults.count, 0);
  }
}

static void pause_other(watcher *self, const kvo_change *change) {
  watcher *other = self->then_arg;
  CHECK_OK(kvo_observation_pause(other->id));
}

TEST("a change that is stored when an observation is paused is missed by it, and has no old value at the resumption") {
  for (int i = 0; i < PATHS - 1; i++) { /* an evaluated one has the value that was delivered last */
    make_object();
    watcher w = {0}, pauses = {.then = pause_other, .then_arg = &w};
    watch(object, paths[i], BOTH | KVO_ENDS_WITH_OBJECT, &w);
    watch(object, "value", KVO_ENDS_WITH_OBJECT, &pauses);
    item_set_value(object, 2);
    CHECK_EQ(w.calls, 0);
    CHECK_OK(kvo_observation_resume(w.id, true));
    CHECK_NEW(w, 1, 2);
    CHECK(i == 1 ? w.old_value.integer == 1 : !w.old_value.delivered);
    item_destroy(object);
  }
}

TEST("a silent change in the pause does not change the old value at the resumption") {
  for (int i = 0; i < PATHS; i++) {
    make_object();
    watcher w = {0};
    watch(object, paths[i], BOTH | KVO_ENDS_WITH_OBJECT, &w);
    CHECK_OK(kvo_observation_pause(w.id));
    BEGIN(silent, KVO_SCOPE_SILENCES, object);
    item_set_value(object, 2);
    kvo_scope_end(&silent);
    item_set_value(object, 3);
    CHECK_OK(kvo_observation_resume(w.id, true));
    CHECK_NOTIFIED(w, 1, expected(i, 1), expected(i, 3));
    item_destroy(object);
  }
}

TEST("the resumption notifies of nothing if nothing was missed, or if it is not asked to") {
  for (int i = 0; i < PATHS; i++) {
    make_object();
    watcher w = {0};
    watch(object, paths[i], BOTH, &w);
    CHECK_OK(kvo_observation_pause(w.id));
    CHECK_OK(kvo_observation_resume(w.id, true));
    CHECK_OK(kvo_observation_pause(w.id));
    item_set_value(object, 2);
    CHECK_OK(kvo_observation_resume(w.id, false));
    CHECK_OK(kvo_observation_pause(w.id)); /* what an earlier pause has missed does not count */
    CHECK_OK(kvo_observation_resume(w.id, true));
    CHECK_EQ(w.calls, 0);
    item_set_value(object, 3);
    CHECK_NOTIFIED(w, 1, expected(i, 2), expected(i, 3));
    item_destroy(object);
  }
}

TEST("a paused path whose intermediate object is replaced or dies follows, and notifies of that when it is resumed") {
  make_object();
  item *first = item_make(10), *second = item_make(20);
  item_set_next(object, first);
  watcher w = {0};
  watch(object, "next.value", BOTH, &w);
  CHECK_OK(kvo_observation_pause(w.id));
  item_set_next(object, second);
  item_destroy(first);
  item_set_value(second, 21);
  CHECK_EQ(w.calls, 0);
  CHECK_OK(kvo_observation_resume(w.id, true));
  CHECK_NOTIFIED(w, 1, 10, 21);
  item_set_value(second, 22);
  CHECK_NOTIFIED(w, 2, 21, 22);
}

/* --------------------------------------------------------------------------------------------- Ends and memory -- */

TEST("an observation may end while it is paused, by id, by observer, or with its object, and what was kept is freed") {
  use_counting_allocator();
  for (int i = 0; i < PATHS; i++) {
    long before = 0;
    for (int way = 0; way < 6; way++) { /* each twice: the first times allocate what is never freed */
      make_object();
      watcher w = {0};
      watch(object, paths[i], BOTH | KVO_ENDS_WITH_OBJECT, &w);
      CHECK_OK(kvo_observation_pause(w.id));
      item_set_value(object, 2);
      if (way % 3 == 0) CHECK_OK(kvo_remove_observer(w.id));
      if (way % 3 == 1) CHECK_OK(kvo_remove_observer_for(as_object(object), &w, paths[i]));
      item_destroy(object);
      CHECK_EQ(w.destroyed, 1);
      CHECK_EQ(w.calls, 0);
      CHECK(!kvo_observation_is_paused(w.id));
      CHECK_STATUS(kvo_observation_pause(w.id), KVO_ERROR_NOT_REGISTERED);
      CHECK_STATUS(kvo_observation_resume(w.id, true), KVO_ERROR_NOT_REGISTERED);
      if (way == 2) before = live_blocks;
      if (way > 2) CHECK_EQ((long)live_blocks, before);
    }
  }
  CHECK_EQ(faults.count, 0);
}

TEST("without memory for the old value the observation is not paused") {
  use_counting_allocator();
  make_object();
  watcher w = {0};
  watch(object, "value", BOTH, &w);
  fail_in = 1;
  CHECK_STATUS(kvo_observation_pause(w.id), KVO_ERROR_OUT_OF_MEMORY);
  fail_in = 0;
  CHECK(!kvo_observation_is_paused(w.id));
  item_set_value(object, 2);
  CHECK_NOTIFIED(w, 1, 1, 2);
}

/* ----------------------------------------------------------------------------------------------------- Threads -- */

static shared *on_all;
static _Atomic kvo_observation id_of[4];
static _Atomic int calls;
static const char *const keys[] = {"value", "next.value", "next.next.value", "value"};

static bool is_in_time(kvo_status status) { return status == KVO_OK || status == KVO_ERROR_NOT_REGISTERED; }

static void use_everything(int number) {
  unsigned state = (unsigned)number + 1;
  for (int i = 0; i < rounds(3000); i++) {
    state = state * 1103515245 + 12345;
    int which = state >> 16 & 3, what = state >> 18 & 15;
    kvo_observation id = id_of[which];
    if (what < 4)
      CHECK(is_in_time(kvo_observation_pause(id)));
    else if (what < 8)
      CHECK(is_in_time(kvo_observation_resume(id, (state >> 22 & 1) != 0)));
    else if (what < 10)
      (void)kvo_observation_is_paused(id);
    else if (what == 10 && kvo_cancel_observer(id) == KVO_OK)
      id_of[which] = observe(on_all, keys[which], BOTH, &calls, NULL);
    else
      set(on_all, i);
  }
}

TEST("several threads may pause, resume, remove and set at the same time; after that the observation works as before") {
  on_all = shared_make();
  set_next(on_all, on_all);
  for (int i = 0; i < 4; i++) id_of[i] = observe(on_all, keys[i], BOTH, &calls, NULL);
  on_threads(use_everything);
  for (int i = 0; i < 4; i++) CHECK_OK(kvo_observation_resume(id_of[i], false));
  int before = calls;
  set(on_all, -1);
  CHECK_EQ((int)calls, before + 4);
  for (int i = 0; i < 4; i++) CHECK_OK(kvo_cancel_observer_and_wait(id_of[i]));
  shared_destroy(on_all);
}

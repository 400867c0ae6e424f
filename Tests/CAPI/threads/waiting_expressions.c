/* waiting_expressions.c - a wait for an observation does not wait for expressions that the same change tells after it. */
#include "shared.h"

#include <unistd.h>

static shared *root, *first, *second;
static _Atomic int inside, let_go, calls, destroyed;

static void stay(const kvo_change *change, void *user_data) {
  (void)change, (void)user_data;
  atomic_store(&inside, 1);
  await(&let_go);
}

static void replace(void *arg) {
  (void)arg;
  set_next(root, second);
}

TEST("a wait for an observation does not wait for the callback of a path that the same change tells after it") {
  alarm(60); /* instead of a hang */
  for (int wants = 0; wants < 2; wants++) {
    inside = let_go = calls = destroyed = 0;
    root = shared_make();
    first = shared_make();
    second = shared_make();
    set_next(root, first);
    kvo_observation path = observe_with(root, "next.value", KVO_NONE, stay, NULL);
    kvo_observation direct = observe(root, "next", wants ? KVO_OLD | KVO_NEW : KVO_NONE, &calls, &destroyed);
    running *setter = start_thread(replace, NULL);
    await(&inside);
    CHECK_EQ((int)calls, 1);
    CHECK_OK(kvo_cancel_observer_and_wait(direct));
    atomic_store(&let_go, 1);
    join_thread(setter);
    CHECK_EQ((int)destroyed, 1);
    CHECK_OK(kvo_cancel_observer(path));
    shared_destroy(root);
    shared_destroy(first);
    shared_destroy(second);
  }
}

static _Atomic int slow_calls;

static void stay_in_getter(const shared *of) {
  (void)of;
  atomic_store(&inside, 1);
  await(&let_go);
}

TEST(
    "a wait for an observation does not wait for the evaluation of an expression that the same change tells after it") {
  alarm(60);
  root = shared_make();
  first = shared_make();
  second = shared_make();
  set_next(root, first);
  kvo_observation slow = observe(root, "slow", KVO_NONE, &slow_calls, NULL);
  kvo_observation direct = observe(root, "next", KVO_NONE, &calls, &destroyed);
  in_slow_getter = stay_in_getter;
  running *setter = start_thread(replace, NULL);
  await(&inside);
  CHECK_EQ((int)calls, 1);
  CHECK_OK(kvo_cancel_observer_and_wait(direct));
  in_slow_getter = NULL;
  atomic_store(&let_go, 1);
  join_thread(setter);
  CHECK_EQ((int)destroyed, 1);
  CHECK_EQ((int)slow_calls, 1);
  CHECK_OK(kvo_cancel_observer(slow));
  shared_destroy(root);
  shared_destroy(first);
  shared_destroy(second);
}

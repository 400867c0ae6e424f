/* waiting_circles.c - of two callbacks that wait for each other one gives up, and the other goes on waiting until that has returned. */
#include "shared.h"

#include <pthread.h>
#include <sched.h>
#include <unistd.h>

static shared *objects[2], *third;
static kvo_observation ids[2];
static _Atomic int endless_waits, has_returned, third_calls;
static pthread_barrier_t meeting;
static _Thread_local bool gives_up;

static kvo_action give_up(const kvo_fault *fault, void *arg) {
  (void)arg;
  CHECK_EQ((int)fault->code, (int)KVO_FAULT_ENDLESS_WAIT);
  endless_waits++;
  gives_up = true;
  return KVO_ACTION_IGNORE;
}

static void wait_for_the_other(const kvo_change *change, void *user_data) {
  (void)change;
  pthread_barrier_wait(&meeting);
  CHECK_OK(kvo_cancel_observer_and_wait(ids[1 - (int)(intptr_t)user_data]));
  if (!gives_up) {
    CHECK_EQ((int)has_returned, 1);
    return;
  }
  for (int i = 0; i < 200; i++) { /* each end of a callback has the other thread look again */
    set(third, i);
    if (i % 20 == 0) sched_yield(); /* on a busy machine each takes milliseconds */
  }
  CHECK_EQ((int)endless_waits, 1);
  atomic_store(&has_returned, 1);
}

static void set_one(void *arg) {
  gives_up = false;
  set(arg, 1);
}

TEST_REPORTED("of two callbacks that wait for each other one wait is reported, and the other one lasts") {
  alarm(60); /* instead of a hang */
  kvo_set_fault_handler(give_up, NULL);
  pthread_barrier_init(&meeting, NULL, 2);
  third = shared_make();
  kvo_observation of_third = observe(third, "value", KVO_NONE, &third_calls, NULL);
  for (int round = 0; round < rounds(20); round++) {
    endless_waits = has_returned = 0;
    for (int i = 0; i < 2; i++) {
      objects[i] = shared_make();
      ids[i] = observe_with(objects[i], "value", KVO_NONE, wait_for_the_other, (void *)(intptr_t)i);
    }
    running *one = start_thread(set_one, objects[0]), *two = start_thread(set_one, objects[1]);
    join_thread(one);
    join_thread(two);
    CHECK_EQ((int)endless_waits, 1);
    CHECK_EQ((int)has_returned, 1);
    for (int i = 0; i < 2; i++) shared_destroy(objects[i]);
  }
  CHECK_OK(kvo_cancel_observer(of_third));
  shared_destroy(third);
}

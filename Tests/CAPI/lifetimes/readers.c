/* readers.c - the nodes that a change in progress may read are freed at its end, whichever thread removes an
 * observation, whether the change protects them by its mark or is counted, and with or without membarrier(2). */
#include "staying.h"

#include <stdlib.h>

static shared *object;
static _Atomic int calls, destroyed;

/* Some changes of a thread are counted; after so many changes, most were protected by their marks. */
enum { OFTEN = 5000 };

static void set_often(void *of) {
  for (int i = 0; i < OFTEN; i++) set(of, i);
}

/* One thread or several change the object often. */
static void change_often(bool by_several) {
  running *thread = start_thread(set_often, object);
  if (by_several) set_often(object);
  join_thread(thread);
}

/* Removes an observation while another thread delivers a change of the object. */
static void remove_during_delivery(bool by_several) {
  destroyed = 0;
  object = shared_make();
  kvo_observation older = observe(object, "value", KVO_NONE, NULL, &destroyed);
  change_often(by_several);
  kvo_observation staying = observe_with(object, "value", KVO_NONE, stay, NULL);
  running *thread = start_staying(set_once, object);
  CHECK_OK(kvo_cancel_observer(older));
  CHECK_EQ((int)destroyed, 0); /* the delivery in progress is going to visit it */
  end_staying(thread);
  CHECK_EQ((int)destroyed, 1);
  CHECK_OK(kvo_cancel_observer(staying));
  shared_destroy(object);
}

TEST(
    "an observation that another thread removes during a delivery is destroyed at its end, if one thread made the changes") {
  remove_during_delivery(false);
}

TEST("the same holds if several threads made changes") { remove_during_delivery(true); }

TEST("an observation that another thread removes is destroyed at once if no change is in progress") {
  for (int several = 0; several < 2; several++) {
    destroyed = 0;
    object = shared_make();
    kvo_observation id = observe(object, "value", KVO_NONE, &calls, &destroyed);
    change_often(several);
    CHECK_OK(kvo_cancel_observer(id));
    CHECK_EQ((int)destroyed, 1);
    shared_destroy(object);
  }
}

static kvo_observation older;

static void set_inside(const kvo_change *change, void *user_data) {
  static int depth;
  if (++depth < 40) set(object, depth); /* more than a thread's first marks */
  if (--depth == 20) CHECK_OK(kvo_cancel_observer(older));
  CHECK_EQ((int)destroyed, 0);
}

TEST("an observation that is removed in nested changes of the object is destroyed at the end of the outermost") {
  object = shared_make();
  older = observe(object, "value", KVO_NONE, NULL, &destroyed);
  kvo_observation id = observe_with(object, "value", KVO_NONE, set_inside, NULL);
  set(object, 1);
  CHECK_EQ((int)destroyed, 1);
  CHECK_OK(kvo_cancel_observer(id));
  shared_destroy(object);
}

TEST("an object may be destroyed by another thread while a callback of a change of it runs") {
  for (int several = 0; several < 2; several++) {
    object = shared_make();
    observe(object, "value", KVO_ENDS_WITH_OBJECT, &calls, NULL);
    change_often(several);
    observe_with(object, "value", KVO_ENDS_WITH_OBJECT, stay, NULL);
    calls = 0;
    running *thread = start_staying(set_once, object);
    shared_destroy(object);
    end_staying(thread);
    CHECK_EQ((int)calls, 0); /* the older one is not called any more */
  }
}

/* ---------------------------------------------------------------------------------------- Many threads at once -- */

static void set_or_churn(int number) {
  for (int i = 0; i < rounds(10000); i++) {
    if (number % 2 == 0) {
      set(object, i);
      continue;
    }
    kvo_observation id = observe(object, "value", KVO_NEW | KVO_OLD, NULL, &destroyed);
    if (number == 1) set(object, i);
    CHECK_OK(kvo_cancel_observer(id));
  }
}

static void churn(void) {
  calls = destroyed = 0;
  object = shared_make();
  kvo_observation id = observe(object, "value", KVO_NONE, &calls, NULL);
  on_threads(set_or_churn);
  CHECK_EQ((int)calls, (THREADS / 2 + 1) * rounds(10000));
  CHECK_EQ((int)destroyed, THREADS / 2 * rounds(10000));
  CHECK_OK(kvo_remove_observer(id));
  shared_destroy(object);
}

TEST(
    "while threads set and others register and remove, each change notifies once, and each removed observation is destroyed") {
  churn();
}

/* ------------------------------------------------------------------------------------- Without the system call -- */

TEST("if a sandbox refuses membarrier from the start, the same holds") {
  if (getenv("KVO_TEST_REFUSED") == NULL) refuse_membarrier();
  harness_environment("KVO_TEST_REFUSED", "1");
  remove_during_delivery(false);
  remove_during_delivery(true);
  churn();
}

TEST("if a sandbox that the program enters later refuses membarrier, the same holds from then on") {
  object = shared_make();
  kvo_observation id = observe(object, "value", KVO_NONE, &calls, NULL);
  set_often(object); /* protected by marks in plain stores */
  change_often(true);
  refuse_membarrier();
  CHECK_OK(kvo_cancel_observer(id));
  shared_destroy(object);
  remove_during_delivery(true);
  churn();
}

/* waiting.c - kvo_cancel_observer_and_wait: what it waits for, what it does not wait for, and how soon it ends. */
#include "staying.h"

#include <kvo/kvo_binding.h>
#include <stdlib.h>
#include <unistd.h>

static shared *object, *other, *leaf;
static _Atomic int calls, destroyed;

/* A thread that waits for an observation. */
typedef struct waiter {
  kvo_observation id;
  running *thread;
  _Atomic int is_back;
  kvo_status status;
} waiter;

static void cancel_and_wait(void *arg) {
  waiter *self = arg;
  self->status = kvo_cancel_observer_and_wait(self->id);
  self->is_back = 1;
}

static void start_waiting(waiter *self, kvo_observation id) {
  *self = (waiter){.id = id};
  self->thread = start_thread(cancel_and_wait, self);
}

/* ------------------------------------------------------------------------------------------- What it waits for -- */

/* A wait for an observation during a change, in which that observation's callback or getter stays. */
static void check_wait(kvo_observation id, void (*change)(void *arg), void *arg) {
  waiter one;
  running *changing = start_staying(change, arg);
  start_waiting(&one, id);
  a_moment();
  CHECK_EQ((int)one.is_back, 0);
  let_go = 1;
  join_thread(one.thread);
  CHECK_EQ((int)has_left, 1);
  CHECK_OK(one.status);
  join_thread(changing);
}

TEST("kvo_cancel_observer_and_wait waits until the callback on another thread has returned") {
  object = shared_make();
  check_wait(observe_with(object, "value", KVO_NEW, stay, NULL), set_once, object);
}

TEST("it waits until another thread has evaluated the observation's expression") {
  object = shared_make();
  leaf = shared_make();
  set_next(object, leaf);
  kvo_observation id = observe(object, "slow", KVO_NEW, NULL, &destroyed);
  in_slow_getter = stay_in_getter;
  check_wait(id, clear_next, leaf);
  CHECK_EQ((int)destroyed, 1);
}

TEST("it also waits if the observation had ended before, and returns NOT_REGISTERED") {
  object = shared_make();
  kvo_observation id = observe_with(object, "value", KVO_NEW, stay, NULL);
  running *setter = start_staying(set_once, object);
  CHECK_OK(kvo_cancel_observer(id)); /* does not wait */
  CHECK_EQ((int)has_left, 0);
  waiter waiters[2];
  for (int i = 0; i < 2; i++) start_waiting(&waiters[i], id);
  a_moment();
  CHECK_EQ(waiters[0].is_back + waiters[1].is_back, 0);
  let_go = 1;
  for (int i = 0; i < 2; i++) {
    join_thread(waiters[i].thread);
    CHECK_STATUS(waiters[i].status, KVO_ERROR_NOT_REGISTERED);
  }
  join_thread(setter);
  CHECK_STATUS(kvo_cancel_observer_and_wait(id), KVO_ERROR_NOT_REGISTERED);
}

/* More than a thread's initial number of marks. */
enum { DEEP = 70 };
static shared *chain[DEEP];
static _Atomic int returned[DEEP];

static void set_the_next(const kvo_change *change, void *user_data) {
  int number = (int)(intptr_t)user_data;
  if (number + 1 < DEEP)
    set(chain[number + 1], 1);
  else
    stay(change, NULL);
  returned[number] = 1;
}

TEST("it waits for each of 70 callbacks nested on one thread") {
  enum { EACH = 23 };
  static waiter waiters[DEEP];
  kvo_observation ids[DEEP];
  for (int i = 0; i < DEEP; i++) {
    chain[i] = shared_make();
    ids[i] = observe_with(chain[i], "value", KVO_NEW, set_the_next, (void *)(intptr_t)i);
  }
  running *setter = start_staying(set_once, chain[0]);
  for (int i = 0; i < DEEP; i += EACH) start_waiting(&waiters[i], ids[i]);
  a_moment();
  for (int i = 0; i < DEEP; i += EACH) CHECK_EQ((int)waiters[i].is_back, 0);
  let_go = 1;
  for (int i = 0; i < DEEP; i += EACH) {
    join_thread(waiters[i].thread);
    CHECK_EQ((int)returned[i], 1);
  }
  join_thread(setter);
  for (int i = 0; i < DEEP; i++) {
    (void)kvo_cancel_observer(ids[i]);
    shared_destroy(chain[i]);
  }
}

/* ----------------------------------------------------------------------------------- What it does not wait for -- */

TEST("it does not wait for a callback of another observation of the same object and key") {
  object = shared_make();
  kvo_observation held = observe_with(object, "value", KVO_NEW, stay, NULL);
  kvo_observation newer = observe(object, "value", KVO_NEW, &calls, &destroyed);
  kvo_observation path = observe(object, "next.value", KVO_NEW | KVO_OLD, &calls, &destroyed);
  running *setter = start_staying(set_once, object);
  CHECK_OK(kvo_cancel_observer_and_wait(newer)); /* was notified before it */
  CHECK_OK(kvo_cancel_observer_and_wait(path));
  CHECK_EQ((int)calls, 1);
  end_staying(setter);
  CHECK_OK(kvo_cancel_observer_and_wait(held));
  CHECK_EQ((int)destroyed, 2);
}

static void replace_next(void *object) { set_next(object, other); }

TEST("it does not wait for expressions that the same change notifies later, neither for callbacks nor for getters") {
  object = shared_make();
  leaf = shared_make();
  other = shared_make();
  for (int getter = 0; getter < 2; getter++) {
    calls = destroyed = 0;
    set_next(object, leaf);
    kvo_observation later = getter ? observe(object, "slow", KVO_NONE, NULL, NULL)
                                   : observe_with(object, "next.value", KVO_NONE, stay, NULL);
    kvo_observation direct = observe(object, "next", KVO_OLD | KVO_NEW, &calls, &destroyed);
    in_slow_getter = getter ? stay_in_getter : NULL;
    running *setter = start_staying(replace_next, object);
    CHECK_EQ((int)calls, 1);
    CHECK_OK(kvo_cancel_observer_and_wait(direct));
    in_slow_getter = NULL;
    end_staying(setter);
    CHECK_EQ((int)destroyed, 1);
    CHECK_OK(kvo_cancel_observer(later));
  }
}

static void set_both(void *arg) {
  set(object, 1);
  set(other, 1);
}

TEST("neither a wait nor the death of an object waits for what a thread does after it has used the observation") {
  object = shared_make();
  other = shared_make();
  set_next(object, object);
  kvo_observation direct = observe(object, "value", KVO_NONE, &calls, &destroyed);
  kvo_observation path = observe(object, "next.value", KVO_NEW | KVO_ENDS_WITH_OBJECT, &calls, &destroyed);
  kvo_observation of_other = observe_with(other, "value", KVO_NONE, stay, NULL);
  running *setter = start_staying(set_both, NULL);
  CHECK_EQ((int)calls, 2);
  CHECK_OK(kvo_cancel_observer_and_wait(direct));
  CHECK_EQ((int)destroyed, 1);
  shared_destroy(object);
  CHECK_EQ((int)destroyed, 2);
  CHECK(!kvo_observation_is_registered(path));
  end_staying(setter);
  CHECK_OK(kvo_cancel_observer(of_other));
}

/* -------------------------------------------------------------------------------------------- How soon it ends -- */

TEST("a wait ends as soon as the callback has returned") {
  object = shared_make();
  long long least = INT64_MAX;
  for (int round = 0; round < 10; round++) {
    waiter one;
    kvo_observation id = observe_with(object, "value", KVO_NEW, stay, NULL);
    running *setter = start_staying(set_once, object);
    start_waiting(&one, id);
    usleep(10000); /* it has begun to wait, and would next look after 50 ms */
    long long began = now();
    let_go = 1;
    join_thread(one.thread);
    if (now() - began < least) least = now() - began;
    join_thread(setter);
  }
  CHECK(least < 20000000);
}

/* ----------------------------------------------------------------------------------------- What it is good for -- */

static _Atomic int working;

static void use(const kvo_change *change, void *user_data) { CHECK_EQ(atomic_load((_Atomic int *)user_data), 1); }

static void set_or_free(int number) {
  while (number % 2 == 0 && working > 0) {
    set(object, 1);
    set(leaf, 1);
  }
  if (number % 2 == 0) return;
  for (int i = 0; i < rounds(2000); i++) {
    _Atomic int *used = malloc(sizeof *used);
    atomic_store(used, 1);
    kvo_observation id =
        observe_with(object, i % 2 == 0 ? "next.value" : "value", i % 4 == 0 ? KVO_OLD : KVO_NEW, use, used);
    if (i % 3 == 0) CHECK_OK(kvo_cancel_observer(id));
    (void)kvo_cancel_observer_and_wait(id);
    atomic_store(used, 0);
    free(used);
  }
  working--;
}

TEST("after it no callback runs on any thread: the callback's data can be freed while others set") {
  object = shared_make();
  leaf = shared_make();
  set_next(object, leaf);
  working = THREADS / 2;
  on_threads(set_or_free);
}

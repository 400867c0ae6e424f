/* waiting.c - kvo_cancel_observer_and_wait: what it waits for, what it does not wait for, and how soon it ends. */
#include "shared.h"

#include <kvo/kvo_binding.h>
#include <stdlib.h>
#include <sys/resource.h>
#include <time.h>
#include <unistd.h>

static shared *object, *other, *leaf;
static _Atomic int calls, destroyed;

static void set_object(void *arg) {
  (void)arg;
  set(object, 1);
}

/* Waits for an observation on a new thread, and records when the wait has ended. */
typedef struct waiter {
  kvo_observation id;
  running *thread;
  _Atomic int is_back;
  _Atomic kvo_status status;
} waiter;

static void cancel_and_wait(void *arg) {
  waiter *self = arg;
  atomic_store(&self->status, kvo_cancel_observer_and_wait(self->id));
  atomic_store(&self->is_back, 1);
}

static void start_waiting(waiter *self, kvo_observation id) {
  self->id = id;
  self->thread = start_thread(cancel_and_wait, self);
}

/* A callback that does not return until it is released. */
static _Atomic int inside, let_go;

static void stay(const kvo_change *change, void *user_data) {
  (void)change;
  (void)user_data;
  atomic_store(&inside, 1);
  await(&let_go);
  calls++;
}

/* ---------------------------------------------------------------------------------------------- What it waits for -- */

TEST("kvo_cancel_observer_and_wait waits until the callback on another thread has returned") {
  object = shared_make();
  kvo_observation id = observe_with(object, "value", KVO_NEW, stay, NULL);
  running *setter = start_thread(set_object, NULL);
  await(&inside);
  waiter one = {0};
  start_waiting(&one, id);
  a_moment();
  CHECK_EQ((int)one.is_back, 0);
  atomic_store(&let_go, 1);
  join_thread(one.thread);
  CHECK_EQ((int)calls, 1); /* it did not return before */
  CHECK_OK(one.status);
  join_thread(setter);
  shared_destroy(object);
}

static void count_call(const kvo_change *change, void *user_data) { (void)change, (void)user_data, calls++; }

static long long now(void) {
  struct timespec time;
  clock_gettime(CLOCK_MONOTONIC, &time);
  return time.tv_sec * 1000000000ll + time.tv_nsec;
}

TEST("a wait ends as soon as the callback has returned") {
  object = shared_make();
  long long least = INT64_MAX;
  for (int round = 0; round < 10; round++) {
    inside = let_go = 0;
    kvo_observation id = observe_with(object, "value", KVO_NEW, stay, NULL);
    running *setter = start_thread(set_object, NULL);
    await(&inside);
    waiter one = {0};
    start_waiting(&one, id);
    usleep(10000); /* it has begun to wait, and would next look after 50 ms */
    long long began = now();
    atomic_store(&let_go, 1);
    join_thread(one.thread);
    long long time = now() - began;
    if (time < least) least = time;
    join_thread(setter);
  }
  CHECK(least < 20000000);
  shared_destroy(object);
}

static _Atomic int is_inside_older, let_older_go;

static void stay_in_older(const kvo_change *change, void *user_data) {
  (void)change, (void)user_data;
  atomic_store(&is_inside_older, 1);
  await(&let_older_go);
}

static void change_word(void *arg) {
  (void)arg;
  shared *first = shared_make(); /* the first change of a thread finds out how large its stack is */
  kvo_observation id = observe(first, "value", KVO_NONE, NULL, NULL);
  set(first, 1);
  CHECK_OK(kvo_cancel_observer(id));
  shared_destroy(first);
  uint64_t storage = 0;
  kvo_change_word(&object->header, kvo_key_hash("value", 5), &storage, 1);
}

TEST("a wait ends as soon as the callback has returned, also if the change goes on to other observers") {
  static const int options[] = {KVO_NONE, KVO_NEW | KVO_PRIOR};
  for (int way = 0; way < 4; way++) {
    long long least = INT64_MAX;
    for (int round = 0; round < 5; round++) {
      inside = let_go = is_inside_older = let_older_go = 0;
      object = shared_make();
      kvo_observation oldest = observe_with(object, "value", options[way % 2], count_call, NULL);
      kvo_observation older = observe_with(object, "value", KVO_NONE, stay_in_older, NULL);
      kvo_observation id = observe_with(object, "value", KVO_NONE, stay, NULL);
      running *setter = start_thread(way < 2 ? set_object : change_word, NULL);
      await(&inside);
      waiter one = {0};
      start_waiting(&one, id);
      usleep(10000);
      long long began = now();
      atomic_store(&let_go, 1);
      join_thread(one.thread);
      long long time = now() - began;
      if (time < least) least = time;
      await(&is_inside_older);
      atomic_store(&let_older_go, 1);
      join_thread(setter);
      CHECK_OK(kvo_cancel_observer(older));
      CHECK_OK(kvo_cancel_observer(oldest));
      shared_destroy(object);
    }
    CHECK(least < 20000000);
  }
}

/* The shortest time of a thousand sets, in nanoseconds. */
static long long least_time_of_sets(shared *of) {
  long long least = INT64_MAX;
  for (int batch = 0; batch < 200; batch++) {
    long long began = now();
    for (int i = 0; i < 1000; i++) set(of, i);
    long long time = now() - began;
    if (time < least) least = time;
  }
  return least;
}

TEST("a wait that is over does not slow down sets") {
  if (harness_is_instrumented()) return;
  object = shared_make();
  other = shared_make();
  kvo_observation id = observe_with(object, "value", KVO_NONE, stay, NULL);
  kvo_observation timed = observe_with(other, "value", KVO_NONE, count_call, NULL);
  long long before = least_time_of_sets(other);
  running *setter = start_thread(set_object, NULL);
  await(&inside);
  waiter one = {0};
  start_waiting(&one, id);
  a_moment();
  atomic_store(&let_go, 1);
  join_thread(setter);
  join_thread(one.thread);
  long long after = least_time_of_sets(other);
  CHECK(after < 3 * before); /* eight times, if each set still looked for waiting threads */
  CHECK_OK(kvo_remove_observer(timed));
}

TEST("it also waits if the observation had ended before, and returns NOT_REGISTERED") {
  object = shared_make();
  kvo_observation id = observe_with(object, "value", KVO_NEW, stay, NULL);
  running *setter = start_thread(set_object, NULL);
  await(&inside);
  CHECK_OK(kvo_cancel_observer(id)); /* does not wait */
  CHECK_EQ((int)calls, 0);
  waiter one = {0}, two = {0};
  start_waiting(&one, id);
  start_waiting(&two, id);
  a_moment();
  CHECK_EQ(one.is_back + two.is_back, 0);
  atomic_store(&let_go, 1);
  join_thread(one.thread);
  join_thread(two.thread);
  CHECK_STATUS(one.status, KVO_ERROR_NOT_REGISTERED);
  CHECK_STATUS(two.status, KVO_ERROR_NOT_REGISTERED);
  join_thread(setter);
  CHECK_STATUS(kvo_cancel_observer_and_wait(id), KVO_ERROR_NOT_REGISTERED);
  shared_destroy(object);
}

TEST("it does not wait for a callback of another observation of the same object and key") {
  object = shared_make();
  kvo_observation held = observe_with(object, "value", KVO_NEW, stay, NULL);
  kvo_observation newer = observe(object, "value", KVO_NEW, &calls, &destroyed);
  kvo_observation path = observe(object, "next.value", KVO_NEW | KVO_OLD, &calls, &destroyed);
  running *setter = start_thread(set_object, NULL);
  await(&inside);
  CHECK_OK(kvo_cancel_observer_and_wait(newer)); /* was notified before it */
  CHECK_OK(kvo_cancel_observer_and_wait(path));
  CHECK_EQ((int)calls, 1);
  atomic_store(&let_go, 1);
  join_thread(setter);
  CHECK_OK(kvo_cancel_observer_and_wait(held));
  CHECK_EQ((int)destroyed, 2);
  shared_destroy(object);
}

static void stay_in_getter(const shared *of) {
  (void)of;
  stay(NULL, NULL);
}

static void set_next_of_leaf(void *arg) {
  (void)arg;
  set_next(leaf, NULL);
}

TEST("it waits until another thread has evaluated the observation's expression") {
  object = shared_make();
  leaf = shared_make();
  set_next(object, leaf);
  kvo_observation id = observe(object, "slow", KVO_NEW, NULL, &destroyed);
  in_slow_getter = stay_in_getter;
  running *setter = start_thread(set_next_of_leaf, NULL);
  await(&inside);
  waiter one = {0};
  start_waiting(&one, id);
  a_moment();
  CHECK_EQ((int)one.is_back, 0);
  atomic_store(&let_go, 1);
  join_thread(one.thread);
  CHECK_EQ((int)calls, 1);
  join_thread(setter);
  CHECK_EQ((int)destroyed, 1);
  shared_destroy(object);
  shared_destroy(leaf);
}

/* --------------------------------------------------------------------------------------------------------- Nesting -- */

/* More than a thread's initial number of marks. */
enum { DEEP = 70 };
static shared *chain[DEEP];
static kvo_observation chain_ids[DEEP];
static _Atomic int returned[DEEP];

static void set_the_next(const kvo_change *change, void *user_data) {
  int number = (int)(intptr_t)user_data;
  if (number + 1 < DEEP)
    set(chain[number + 1], 1);
  else
    stay(change, NULL);
  atomic_store(&returned[number], 1);
}

static void set_the_first(void *arg) {
  (void)arg;
  set(chain[0], 1);
}

TEST("it waits for each of 70 callbacks nested on one thread") {
  for (int i = 0; i < DEEP; i++) {
    chain[i] = shared_make();
    chain_ids[i] = observe_with(chain[i], "value", KVO_NEW, set_the_next, (void *)(intptr_t)i);
  }
  running *setter = start_thread(set_the_first, NULL);
  await(&inside);
  static waiter waiters[DEEP];
  for (int i = 0; i < DEEP; i += 23) start_waiting(&waiters[i], chain_ids[i]);
  a_moment();
  for (int i = 0; i < DEEP; i += 23) CHECK_EQ((int)waiters[i].is_back, 0);
  atomic_store(&let_go, 1);
  for (int i = 0; i < DEEP; i += 23) {
    join_thread(waiters[i].thread);
    CHECK_EQ((int)returned[i], 1);
  }
  join_thread(setter);
  for (int i = 0; i < DEEP; i++) {
    (void)kvo_cancel_observer(chain_ids[i]);
    shared_destroy(chain[i]);
  }
}

/* -------------------------------------------------------------------------------------------- What it is good for -- */

/* What the callback uses is freed as soon as the call has returned, while others set. */
static _Atomic int working;

static void use(const kvo_change *change, void *user_data) {
  (void)change;
  _Atomic int *used = user_data;
  CHECK_EQ(atomic_load(used), 1);
}

static void set_or_free(int number) {
  if (number % 2 == 0) {
    while (working > 0) {
      set(object, 1);
      set(leaf, 1);
    }
    return;
  }
  for (int i = 0; i < rounds(2000); i++) {
    _Atomic int *used = malloc(sizeof *used);
    atomic_store(used, 1);
    bool path = i % 2 == 0;
    kvo_observation id =
        observe_with(object, path ? "next.value" : "value", path && i % 4 == 0 ? KVO_OLD : KVO_NEW, use, used);
    if (i % 3 == 0) CHECK_OK(kvo_cancel_observer(id));
    (void)kvo_cancel_observer_and_wait(id);
    atomic_store(used, 0);
    free(used);
  }
  working--;
}

static void count_down(const kvo_change *change, void *user_data) {
  (void)user_data;
  shared *of = (shared *)change->object;
  if (of->value > 0) set(of, of->value - 1);
}

static void wait_for_it(void *id) { CHECK_OK(kvo_cancel_observer_and_wait(*(kvo_observation *)id)); }

__attribute__((noinline)) static void touch_stack(void) {
  volatile char used[1 << 18];
  for (size_t i = 0; i < sizeof used; i += 4096) used[i] = 1;
}

TEST("a wait also ends if deliveries before it had no memory to be counted one by one") {
  harness_skip_if_emulated("qemu-user does not limit the program's memory");
  if (harness_is_instrumented()) return; /* tools need memory */
  enum { DEPTH = 60 };
  shared *counting = shared_make();
  kvo_observation id = observe_with(counting, "value", KVO_NONE, count_down, NULL);
  struct rlimit usual, none;
  void *all = NULL;
  touch_stack();
  set(counting, 1);
  CHECK_EQ(getrlimit(RLIMIT_AS, &usual), 0);
  none = (struct rlimit){0, usual.rlim_max};
  CHECK_EQ(setrlimit(RLIMIT_AS, &none), 0);
  for (size_t size = 1 << 16; size >= sizeof(void *); size /= 2)
    for (void **block; (block = malloc(size)) != NULL; all = block) *block = all;
  set(counting, DEPTH);
  CHECK_EQ(setrlimit(RLIMIT_AS, &usual), 0);
  for (void *next; all != NULL; all = next) {
    next = *(void **)all;
    free(all);
  }
  CHECK_EQ((int)counting->value, 0);
  join_thread(start_thread(wait_for_it, &id));
  shared_destroy(counting);
}

TEST("after it no callback runs on any thread: the callback's data can be freed while others set") {
  object = shared_make();
  leaf = shared_make();
  set_next(object, leaf);
  working = THREADS / 2;
  on_threads(set_or_free);
  shared_destroy(object);
  shared_destroy(leaf);
}

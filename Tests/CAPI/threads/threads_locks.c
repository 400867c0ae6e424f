/* threads_locks.c - observers that set other objects, and locks of the program around sets: no deadlock. */
#include "shared.h"

#include <pthread.h>

static shared *object, *other;
static _Atomic int calls, destroyed;

/* Both objects have the callback. */
static void run_observed(kvo_callback callback, void (*body)(int number)) {
  object = shared_make();
  other = shared_make();
  kvo_observation one = observe_with(object, "value", KVO_NEW, callback, NULL);
  kvo_observation two = observe_with(other, "value", KVO_NEW, callback, NULL);
  on_threads(body);
  CHECK_OK(kvo_remove_observer(one));
  CHECK_OK(kvo_remove_observer(two));
  shared_destroy(object);
  shared_destroy(other);
}

static _Thread_local int depth;

static void set_the_other(const kvo_change *change, void *user_data) {
  calls++;
  if (depth > 0) return;
  depth++;
  set(change->object == &object->header ? other : object, 1);
  depth--;
}

static void set_either(int number) {
  for (int i = 0; i < rounds(5000); i++) set(number % 2 == 0 ? object : other, i);
}

TEST("two objects whose observers set each other, from several threads, do not deadlock") {
  run_observed(set_the_other, set_either);
  CHECK_EQ((int)calls, 2 * THREADS * rounds(5000));
}

/* The callback sets under the same recursive lock, which its thread holds already. */
static pthread_mutex_t guarding;

static void set_under_lock(shared *which, int value) {
  pthread_mutex_lock(&guarding);
  set(which, value);
  pthread_mutex_unlock(&guarding);
}

static void set_the_other_locked(const kvo_change *change, void *user_data) {
  calls++;
  if (change->object == &object->header) set_under_lock(other, 1);
}

static void set_locked(int number) {
  for (int i = 0; i < rounds(2000); i++) {
    set_under_lock(number % 2 == 0 ? object : other, i);
    CHECK_OK(kvo_cancel_observer_and_wait(observe(object, "value", KVO_NEW, NULL, &destroyed)));
  }
}

TEST("the program may hold a lock of its own while it sets, and its callbacks may take that lock") {
  pthread_mutexattr_t recursive;
  pthread_mutexattr_init(&recursive);
  pthread_mutexattr_settype(&recursive, PTHREAD_MUTEX_RECURSIVE);
  pthread_mutex_init(&guarding, &recursive);
  run_observed(set_the_other_locked, set_locked);
  CHECK_EQ((int)calls, 3 * THREADS / 2 * rounds(2000));
  CHECK_EQ((int)destroyed, THREADS * rounds(2000));
}

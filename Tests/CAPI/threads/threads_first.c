/* threads_first.c - several threads at once observe a class or an object for the first time, or register a class. */
#include "shared.h"

#include <stdio.h>

static shared *object;
static _Atomic int calls, destroyed, added;

static kvo_class *fresh;
static shared *own[THREADS];
static kvo_class *isas[THREADS];

static void observe_own(int number) {
  _Atomic int notified = 0;
  kvo_observation id = observe(own[number], "value", KVO_NEW, &notified, NULL);
  isas[number] = kvo_object_isa(&own[number]->header);
  set(own[number], 1);
  CHECK_EQ((int)notified, 1);
  CHECK_OK(kvo_remove_observer(id));
}

TEST("8 threads that observe a class for the first time simultaneously make one notifying class") {
  for (int round = 0; round < rounds(200); round++) {
    char name[32];
    snprintf(name, sizeof name, "Fresh%d", round);
    CHECK_OK(shared_register(name, &fresh));
    for (int i = 0; i < THREADS; i++) own[i] = shared_make_of(fresh);
    on_threads(observe_own);
    for (int i = 0; i < THREADS; i++) {
      CHECK_SAME(isas[i], isas[0]);
      shared_destroy(own[i]);
    }
  }
}

static void observe_object(int number) {
  kvo_observation id = observe(object, number % 2 == 0 ? "value" : "next.value", KVO_NEW, &calls, &destroyed);
  CHECK(kvo_object_is_observed(&object->header));
  CHECK_OK(kvo_remove_observer(id));
}

TEST("8 threads that observe one object for the first time simultaneously all succeed") {
  for (int round = 0; round < rounds(500); round++) {
    object = shared_make();
    on_threads(observe_object);
    CHECK(!kvo_object_is_observed(&object->header));
    shared_destroy(object);
  }
  CHECK_EQ((int)destroyed, THREADS * rounds(500));
}

static void register_once(int number) {
  kvo_class *cls = NULL;
  kvo_status status = shared_register("Contended", &cls);
  if (status == KVO_OK)
    added++;
  else
    CHECK_STATUS(status, KVO_ERROR_DUPLICATE_CLASS);
}

TEST("of several threads that register one class name exactly one succeeds") {
  on_threads(register_once);
  CHECK_EQ((int)added, 1);
}

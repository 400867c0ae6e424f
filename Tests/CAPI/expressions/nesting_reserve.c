/* nesting_reserve.c - how much of a large stack is left for the innermost of deliveries that nest as deep as they may. */
#include "nested.h"

#include <pthread.h>

static _Atomic int faults_seen;
static uintptr_t deepest;

static kvo_action see_fault(const kvo_fault *fault, void *arg) {
  (void)arg;
  CHECK_EQ((int)fault->code, KVO_FAULT_RECURSION);
  faults_seen++;
  return KVO_ACTION_IGNORE;
}

static void go_down(const kvo_change *change, void *user_data) {
  (void)user_data;
  uintptr_t here = (uintptr_t)__builtin_frame_address(0);
  if (here < deepest) deepest = here;
  item *object = (item *)change->object;
  if (object->value > 0) item_set_value(object, object->value - 1);
}

/* Checks that the innermost callback has at least so many bytes. */
static void *nest_deeply(void *least_left) {
  pthread_attr_t attributes;
  void *begin;
  size_t size;
  CHECK(pthread_getattr_np(pthread_self(), &attributes) == 0);
  CHECK(pthread_attr_getstack(&attributes, &begin, &size) == 0);
  pthread_attr_destroy(&attributes);
  item *object = item_make(0);
  kvo_observation id = observe_value(object, go_down, NULL);
  deepest = UINTPTR_MAX;
  item_set_value(object, 3000);
  CHECK_EQ(object->value, 0);
  CHECK(deepest - (uintptr_t)begin >= *(size_t *)least_left);
  CHECK_OK(kvo_remove_observer(id));
  item_destroy(object);
  return NULL;
}

TEST("of a stack of 512 KiB a callback has a quarter") {
  if (harness_is_instrumented()) return;
  kvo_set_fault_handler(see_fault, NULL);
  pthread_attr_t attributes;
  pthread_t thread;
  size_t least_left = 112 * 1024; /* the rest is for its own frame and those of the runtime around it */
  CHECK(pthread_attr_init(&attributes) == 0);
  CHECK(pthread_attr_setstacksize(&attributes, 512 * 1024) == 0);
  CHECK(pthread_create(&thread, &attributes, nest_deeply, &least_left) == 0);
  CHECK(pthread_join(thread, NULL) == 0);
  pthread_attr_destroy(&attributes);
  CHECK_EQ((int)faults_seen, 1);
}

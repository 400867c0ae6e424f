/* nesting_stacks.c - nested deliveries on small stacks: how deep they may nest, and what is left for a callback and for a report. */
#include "nested.h"

#include <pthread.h>
#include <signal.h>
#include <unistd.h>

/* Runs `body` on a thread with a stack of this many KiB. */
static void with_stack(int kilobytes, void *(*body)(void *arg), void *arg) {
  pthread_attr_t attributes;
  pthread_t thread;
  CHECK(pthread_attr_init(&attributes) == 0);
  if (kilobytes * 1024l < sysconf(_SC_THREAD_STACK_MIN)) harness_skip("threads have larger stacks");
  CHECK(pthread_attr_setstacksize(&attributes, (size_t)kilobytes * 1024) == 0);
  CHECK(pthread_create(&thread, &attributes, body, arg) == 0);
  CHECK(pthread_join(thread, NULL) == 0);
}

static void *count_down_from(void *arg) {
  count_down(*(int *)arg);
  return NULL;
}

TEST("on a stack of 64 KiB 17 deliveries nest, and further ones are deferred") {
  ignore_faults();
  if (!harness_is_instrumented()) with_stack(64, count_down_from, &(int){17});
  CHECK_EQ(faults.count, 0);
  with_stack(harness_is_instrumented() ? 512 : 64, count_down_from, &(int){1000});
  CHECK_EQ(faults.count, 1);
}

static _Atomic int faults_seen;

static kvo_action see_fault(const kvo_fault *fault, void *arg) {
  (void)arg;
  CHECK_EQ((int)fault->code, KVO_FAULT_RECURSION);
  faults_seen++;
  return KVO_ACTION_IGNORE;
}

TEST("on a stack of 32 KiB deliveries are deferred before it overflows") {
  kvo_set_fault_handler(see_fault, NULL);
  if (harness_is_instrumented()) return;
  with_stack(32, count_down_from, &(int){200});
  CHECK_EQ((int)faults_seen, 1);
}

static uintptr_t deepest;

static void go_down(const kvo_change *change, void *user_data) {
  (void)user_data;
  uintptr_t here = (uintptr_t)__builtin_frame_address(0);
  if (here < deepest) deepest = here;
  item *object = (item *)change->object;
  if (object->value > 0) item_set_value(object, object->value - 1);
}

static void *find_deepest(void *least_left) {
  pthread_attr_t attributes;
  void *begin;
  size_t size;
  CHECK(pthread_getattr_np(pthread_self(), &attributes) == 0);
  CHECK(pthread_attr_getstack(&attributes, &begin, &size) == 0);
  pthread_attr_destroy(&attributes);
  item *object = item_make(0);
  kvo_observation id = observe_value(object, go_down, NULL);
  deepest = UINTPTR_MAX;
  item_set_value(object, 200);
  CHECK(deepest - (uintptr_t)begin >= (size_t)(uintptr_t)least_left);
  CHECK_OK(kvo_remove_observer(id));
  item_destroy(object);
  return NULL;
}

TEST("a callback has a quarter of the stack, at least 16 KiB, but never more than half") {
  kvo_set_fault_handler(see_fault, NULL);
  if (harness_is_instrumented()) return;
  with_stack(32, find_deepest, (void *)(uintptr_t)(14 * 1024)); /* minus its own frame and the runtime's around it */
  with_stack(48, find_deepest, (void *)(uintptr_t)(14 * 1024));
  CHECK_EQ((int)faults_seen, 2);
}

static void swing(const kvo_change *change, void *user_data) {
  (void)user_data;
  told++;
  item_set_value((item *)change->object, !((item *)change->object)->value);
}

static void *swing_without_end(void *arg) {
  item *object = item_make(0);
  kvo_observation id = observe_with(object, KVO_NEW, swing, NULL);
  item_set_value(object, 1);
  CHECK_OK(kvo_remove_observer(id));
  item_destroy(object);
  return arg;
}

TEST("an observer whose values alternate is reported as a cycle, on a stack of any size") {
  ignore_faults();
  for (int kilobytes = 128, count = 0; kilobytes <= 512; kilobytes *= 2) {
    with_stack(kilobytes, swing_without_end, NULL);
    CHECK_EQ(faults.count, ++count);
    CHECK_CONTAINS(
        faults.summary,
        "an observer sets the property that it observes, and receives the same values again and again; it nests ");
  }
}

static void swing_on_a_small_stack(void *arg) { with_stack(*(int *)arg, swing_without_end, NULL); }

TEST("an observer that sets what it observes is found in the few deliveries that KVO_MAX_DEPTH allows") {
  harness_environment("KVO_MAX_DEPTH", "4");
  ignore_faults();
  swing_without_end(NULL);
  CHECK_EQ(faults.count, 1);
  CHECK_CONTAINS(faults.summary, "an observer sets the property that it observes");
  CHECK_CONTAINS(faults.summary, "it nests 4 deep, and KVO_MAX_DEPTH allows no more: \"value\" of Item@0x");
}

TEST("the report of a cycle is whole on a small stack") {
  for (int kilobytes = 128; kilobytes <= 512; kilobytes *= 2) {
    child_result child = harness_run_child(swing_on_a_small_stack, &kilobytes, NULL);
    CHECK_EQ(child.signal, SIGABRT);
    CHECK_CONTAINS(child.errors, "help: do not set the observed property in its own callback");
  }
}

TEST("KVO_MAX_DEPTH does not allow deeper nesting than the stack does") {
  harness_environment("KVO_MAX_DEPTH", "1000000");
  ignore_faults();
  swing_without_end(NULL);
  CHECK_EQ(faults.count, 1);
  CHECK_CONTAINS(faults.summary, "the stack is full");
}

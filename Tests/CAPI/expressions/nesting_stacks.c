/* nesting_stacks.c - nested deliveries on small stacks: how deep they nest, and what is left for a report. */
#include "nested.h"

#include <pthread.h>
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
  pthread_attr_destroy(&attributes);
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

/* It needs less of the stack than ignore_faults. */
static kvo_action see_fault(const kvo_fault *fault, void *arg) {
  CHECK_EQ((int)fault->code, KVO_FAULT_RECURSION);
  faults_seen++;
  return KVO_ACTION_IGNORE;
}

static uintptr_t deepest;

static void go_down(const kvo_change *change, void *user_data) {
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

TEST("a callback has a quarter of the stack, at least 16 KiB, but never more than half") {
  /* Less than promised, because its own frame and those of the runtime around it need some. */
  static const struct {
    int kilobytes;
    size_t least_left;
  } rows[] = {{32, 14 * 1024}, {48, 14 * 1024}, {512, 112 * 1024}};
  if (harness_is_instrumented()) return;
  kvo_set_fault_handler(see_fault, NULL);
  for (int i = 0; i < 3; i++) {
    with_stack(rows[i].kilobytes, nest_deeply, &(size_t){rows[i].least_left});
    CHECK_EQ((int)faults_seen, i + 1);
  }
}

/* Sets a property when less is left of the stack than is kept for the innermost callback. */
static void *set_far_down(void *arg) {
  volatile char used[300 * 1024];
  used[0] = used[sizeof used - 1] = 0;
  item *object = item_make(0);
  watcher w = {0}, of_doubled = {0};
  watch(object, "value", KVO_NEW, &w);
  watch(object, "doubled", KVO_NEW, &of_doubled);
  item_set_value(object, used[0] + 4);
  CHECK_EQ(w.new_value.integer, 4);
  CHECK_EQ(of_doubled.new_value.integer, 8);
  CHECK_OK(kvo_remove_observer(w.id));
  CHECK_OK(kvo_remove_observer(of_doubled.id));
  item_destroy(object);
  return NULL;
}

TEST("a set that is made in no callback notifies, however little of the stack is left") {
  ignore_faults();
  with_stack(384, set_far_down, NULL);
  CHECK_EQ(faults.count, 0);
}

static void swing(const kvo_change *change, void *user_data) {
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

TEST("KVO_MAX_DEPTH does not allow deeper nesting than the stack does") {
  harness_environment("KVO_MAX_DEPTH", "1000000");
  ignore_faults();
  swing_without_end(NULL);
  CHECK_EQ(faults.count, 1);
  CHECK_CONTAINS(faults.summary, "the stack is full");
}

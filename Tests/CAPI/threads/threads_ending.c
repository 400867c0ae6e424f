/* threads_ending.c - the end of a thread: in its destructors, unnoticed, and with the memory that it kept. */
#include "allocator.h"
#include "staying.h"

#include <errno.h>
#include <kvo/kvo_binding.h>
#include <pthread.h>
#include <sys/syscall.h>
#include <unistd.h>

static shared *object;
static _Atomic int calls;

static pthread_key_t last_key;
enum { ROUNDS = 4 }; /* PTHREAD_DESTRUCTOR_ITERATIONS of glibc and musl */
static _Atomic int used_in_destructor;

/* Runs in each round of the thread's destructors, and uses the runtime in the last one. */
static void use_at_the_end(void *round) {
  if ((intptr_t)round < ROUNDS) {
    CHECK(pthread_setspecific(last_key, (void *)((intptr_t)round + 1)) == 0);
    return;
  }
  set(object, 1);
  CHECK_OK(kvo_will_change(&object->header, "value")); /* left open */
  used_in_destructor++;
}

static void end_late(void *arg) { CHECK(pthread_setspecific(last_key, (void *)(intptr_t)1) == 0); }

static kvo_action expect_unbalanced(const kvo_fault *fault, void *arg) {
  CHECK(fault->code == KVO_FAULT_DID_WITHOUT_WILL || fault->code == KVO_FAULT_CROSSED_THREADS);
  return KVO_ACTION_IGNORE;
}

static void do_nothing(void) {}

TEST("a destructor of a thread may use the runtime after the runtime's own has run, also in its last round") {
  if (harness_is_instrumented()) return; /* ThreadSanitizer has ended by then */
  object = shared_make();
  kvo_observation id = observe(object, "value", KVO_NEW, &calls, NULL);
  /* Created after the runtime's key, so it runs after it in each round. */
  CHECK(pthread_key_create(&last_key, use_at_the_end) == 0);
  kvo_set_fault_handler(expect_unbalanced, NULL);
  for (int i = 0; i < 20; i++) {
    join_thread(start_thread(end_late, NULL));
    set(object, 2);
    /* Searches the record that the thread left. */
    CHECK_STATUS(kvo_did_change(&object->header, "value"), KVO_ERROR_UNBALANCED);
    CHECK_EQ((int)used_in_destructor, i + 1);
  }
  CHECK_EQ((int)calls, 40);
  (void)kvo_cancel_observer_and_wait(id);
  fork_and(do_nothing);
}

static _Atomic int ended; /* the number of the thread that has called this */

/* Ends the calling thread without its destructors, so that the runtime does not learn of it. */
static void end_unnoticed(const kvo_change *change, void *user_data) {
  ended = (int)syscall(SYS_gettid);
  syscall(SYS_exit, 0);
}

/* musl's pthread_join would wait for its destructors, too. */
static void run_until_end(void (*body)(void *arg), void *arg) {
  start_thread(body, arg);
  await(&ended);
  while (syscall(SYS_tgkill, getpid(), (int)ended, 0) == 0) usleep(100);
}

static void end_with_guard(void *arg) {
  static kvo_guard guard;
  kvo_guard_lock(&guard);
  end_unnoticed(NULL, NULL);
}

TEST("a thread that ends unnoticed in a callback is not waited for, and errno is kept") {
  if (harness_is_instrumented()) return; /* a tool has to learn of the end */
  object = shared_make();
  kvo_observation id = observe_with(object, "value", KVO_NEW, end_unnoticed, NULL);
  run_until_end(set_once, object);
  errno = 7;
  CHECK_OK(kvo_cancel_observer_and_wait(id));
  CHECK_EQ(errno, 7);
}

TEST("a thread that ends unnoticed while it holds a lock does not prevent a fork") {
  if (harness_is_instrumented()) return;
  run_until_end(end_with_guard, NULL);
  fork_and(do_nothing);
}

static void observe_once(void *of) { CHECK_OK(kvo_remove_observer(observe(of, "value", KVO_NEW, NULL, NULL))); }

TEST("threads that end leave the memory for observations that they have kept to others") {
  use_counting_allocator();
  object = shared_make();
  for (int i = 0; i < 10; i++) join_thread(start_thread(observe_once, object));
  long before = live_blocks;
  for (int i = 0; i < 100; i++) join_thread(start_thread(observe_once, object));
  CHECK_EQ((long)live_blocks, before);
  shared_destroy(object);
}

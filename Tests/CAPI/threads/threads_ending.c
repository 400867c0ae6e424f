/* threads_ending.c - the end of a thread: destructors that use the runtime, and threads that end unnoticed. */
#include "shared.h"

#include <errno.h>
#include <kvo/kvo_binding.h>
#include <pthread.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

static shared *object;
static _Atomic int calls;

static pthread_key_t last_key;
enum { ROUNDS = 4 }; /* PTHREAD_DESTRUCTOR_ITERATIONS of glibc and musl */
static _Atomic int used_in_destructor;

/* Runs in each round of the thread's destructors, and uses the whole API in the last one. */
static void use_at_the_end(void *round) {
  if ((intptr_t)round < ROUNDS) {
    CHECK(pthread_setspecific(last_key, (void *)((intptr_t)round + 1)) == 0);
    return;
  }
  set(object, 1);
  CHECK_OK(kvo_will_change(&object->header, "value")); /* left open */
  used_in_destructor++;
}

static void end_late(void *arg) {
  (void)arg;
  CHECK(pthread_setspecific(last_key, (void *)(intptr_t)1) == 0);
}

static kvo_action expect_unbalanced(const kvo_fault *fault, void *arg) {
  (void)arg;
  CHECK(fault->code == KVO_FAULT_DID_WITHOUT_WILL || fault->code == KVO_FAULT_CROSSED_THREADS);
  return KVO_ACTION_IGNORE;
}

TEST("a destructor of a thread may use the runtime after the runtime's own has run, also in its last round") {
  if (harness_is_instrumented()) return; /* ThreadSanitizer has ended by then */
  object = shared_make();
  kvo_observation id = observe(object, "value", KVO_NEW, &calls, NULL);
  CHECK(pthread_key_create(&last_key, use_at_the_end) ==
        0); /* created after the runtime's key, so it runs after it in each round */
  kvo_set_fault_handler(expect_unbalanced, NULL);
  for (int i = 0; i < 20; i++) {
    join_thread(start_thread(end_late, NULL));
    set(object, 2);
    CHECK_STATUS(kvo_did_change(&object->header, "value"),
                 KVO_ERROR_UNBALANCED); /* searches the record that the thread left */
    CHECK_EQ((int)used_in_destructor, i + 1);
  }
  CHECK_EQ((int)calls, 40);
  (void)kvo_cancel_observer_and_wait(id);
  pid_t child = fork();
  if (child == 0) _exit(0);
  int status;
  CHECK(waitpid(child, &status, 0) == child && status == 0);
}

static _Atomic int ended; /* the number of the thread that has called this */

/* Ends the calling thread without its destructors, so that the runtime does not learn of it. */
static void end_unnoticed(const kvo_change *change, void *user_data) {
  (void)change, (void)user_data;
  ended = (int)syscall(SYS_gettid);
  syscall(SYS_exit, 0);
}

/* Waits for such a thread: musl's pthread_join would wait for its destructors, too. */
static void await_end(void) {
  await(&ended);
  while (syscall(SYS_tgkill, getpid(), (int)ended, 0) == 0) usleep(100);
}

static void set_object_once(void *arg) {
  (void)arg;
  set(object, 1);
}

static void end_in_section(void *arg) {
  (void)arg;
  static kvo_guard guard;
  kvo_guard_lock(&guard);
  end_unnoticed(NULL, NULL);
}

TEST("a thread that ends unnoticed in a callback is not waited for, and errno is kept") {
  if (harness_is_instrumented()) return; /* a tool has to learn of the end */
  object = shared_make();
  kvo_observation id = observe_with(object, "value", KVO_NEW, end_unnoticed, NULL);
  start_thread(set_object_once, NULL);
  await_end();
  errno = 7;
  CHECK_OK(kvo_cancel_observer_and_wait(id));
  CHECK_EQ(errno, 7);
}

TEST("a thread that ends unnoticed while it holds a lock does not prevent a fork") {
  if (harness_is_instrumented()) return;
  start_thread(end_in_section, NULL);
  await_end();
  pid_t child = fork();
  if (child == 0) _exit(0);
  int status;
  CHECK(waitpid(child, &status, 0) == child && status == 0);
}

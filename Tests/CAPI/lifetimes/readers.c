/* readers.c - the nodes that a change in progress may read are freed at its end, whichever thread removes an observation, whether the
 * change protects them by its mark or is counted, and with or without membarrier(2). */
#include "fixture.h"
#include "shared.h"

#include <linux/filter.h>
#include <linux/seccomp.h>
#include <pthread.h>
#include <sched.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

static shared *object;
static _Atomic int entered, may_leave, calls, destroyed, working;

/* Some changes of a thread are counted; after so many changes, most were protected by their marks. */
enum { OFTEN = 5000 };

static void set_often(void *arg) {
  shared *of = arg;
  for (int i = 0; i < OFTEN; i++) set(of, i);
}

static void block(const kvo_change *change, void *user_data) {
  (void)change;
  (void)user_data;
  if (!working) return;
  entered++;
  while (!may_leave) sched_yield();
}

static void set_once(void *arg) { set(arg, 1); }

/* Returns a thread that is in a callback of the object. Before, one thread or several have changed the object often. */
static running *begin_delivery(bool by_several) {
  working = 0;
  entered = may_leave = 0;
  running *before = start_thread(set_often, object);
  if (by_several) set_often(object);
  join_thread(before);
  working = 1;
  running *thread = start_thread(set_once, object);
  while (entered == 0) sched_yield();
  return thread;
}

/* Removes an observation while another thread delivers a change of the object. */
static void remove_during_delivery(bool by_several) {
  object = shared_make();
  kvo_observation older = observe(object, "value", KVO_NONE, NULL, &destroyed);
  kvo_observation blocking = observe_with(object, "value", KVO_NONE, block, NULL);
  running *thread = begin_delivery(by_several);
  CHECK_OK(kvo_cancel_observer(older));
  CHECK_EQ((int)destroyed, 0); /* the delivery in progress is going to visit it */
  may_leave = 1;
  join_thread(thread);
  CHECK_EQ((int)destroyed, 1);
  working = 0;
  CHECK_OK(kvo_cancel_observer(blocking));
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
    running *thread = start_thread(set_often, object);
    if (several) set_often(object);
    join_thread(thread);
    CHECK_OK(kvo_cancel_observer(id));
    CHECK_EQ((int)destroyed, 1);
    shared_destroy(object);
  }
}

static kvo_observation own[2];

static void cancel_both(const kvo_change *change, void *user_data) {
  (void)change;
  (void)user_data;
  for (int i = 0; i < 2; i++) CHECK_OK(kvo_cancel_observer(own[i]));
  CHECK_EQ((int)destroyed, 0);
}

TEST("an observation that a callback removes is destroyed at the end of the callback's change") {
  object = shared_make();
  own[0] = observe(object, "value", KVO_NONE, NULL, &destroyed);
  set_often(object);
  own[1] = observe_with(object, "value", KVO_NONE, cancel_both, NULL);
  set(object, 1);
  CHECK_EQ((int)destroyed, 1);
  shared_destroy(object);
}

static void set_inside(const kvo_change *change, void *user_data) {
  (void)change;
  (void)user_data;
  static _Atomic int depth;
  if (++depth < 40) set(object, depth); /* more than a thread's first marks */
  if (--depth == 20) CHECK_OK(kvo_cancel_observer(own[0]));
}

TEST("an observation that is removed in nested changes of the object is destroyed at the end of the outermost") {
  object = shared_make();
  own[0] = observe(object, "value", KVO_NONE, NULL, &destroyed);
  kvo_observation id = observe_with(object, "value", KVO_NONE, set_inside, NULL);
  set(object, 1);
  CHECK_EQ((int)destroyed, 1);
  CHECK_OK(kvo_cancel_observer(id));
  shared_destroy(object);
}

/* ------------------------------------------------------------------------------------------------ The object's death -- */

TEST("an object may be destroyed by another thread while the last callback of a change of it runs") {
  for (int several = 0; several < 2; several++) {
    object = shared_make();
    observe_with(object, "value", KVO_ENDS_WITH_OBJECT, block, NULL);
    running *thread = begin_delivery(several);
    shared_destroy(object);
    may_leave = 1;
    join_thread(thread);
  }
}

static void destroy_it(const kvo_change *change, void *user_data) {
  (void)change;
  (void)user_data;
  if (working) shared_destroy(object);
}

TEST("a callback may destroy its object: older observations are not called, and all are destroyed") {
  working = 0;
  object = shared_make();
  observe(object, "value", KVO_ENDS_WITH_OBJECT, &calls, &destroyed);
  observe_with(object, "value", KVO_ENDS_WITH_OBJECT, destroy_it, NULL);
  set_often(object);
  CHECK_EQ((int)calls, OFTEN);
  working = 1;
  set(object, 1);
  CHECK_EQ((int)calls, OFTEN);
  CHECK_EQ((int)destroyed, 1);
}

/* ---------------------------------------------------------------------------------------------- Many threads at once -- */

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

/* ----------------------------------------------------------------------------------------- Without the system call -- */

/* From here on, also after exec, membarrier(2) fails with EPERM. */
static void refuse_membarrier(void) {
  struct sock_filter program[] = {
      BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, nr)),
      BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, SYS_membarrier, 0, 1),
      BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ERRNO | 1),
      BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW),
  };
  struct sock_fprog filter = {sizeof program / sizeof *program, program};
  CHECK_EQ(prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0), 0);
  CHECK_EQ(prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &filter), 0);
  CHECK(syscall(SYS_membarrier, 0, 0, 0) < 0);
}

/* The tools restart the process, or use system calls that a filter would have to allow. */
static bool can_refuse(void) {
  harness_skip_if_emulated("qemu-user has no seccomp");
  return !harness_is_instrumented();
}

TEST("if a sandbox refuses membarrier from the start, the same holds") {
  if (!can_refuse()) return;
  if (getenv("KVO_TEST_REFUSED") == NULL) refuse_membarrier();
  harness_environment("KVO_TEST_REFUSED", "1");
  remove_during_delivery(false);
  destroyed = 0;
  remove_during_delivery(true);
  destroyed = 0;
  churn();
}

TEST("if a sandbox that the program enters later refuses membarrier, the same holds from then on") {
  if (!can_refuse()) return;
  object = shared_make();
  kvo_observation id = observe(object, "value", KVO_NONE, &calls, NULL);
  set_often(object); /* protected by marks in plain stores */
  running *thread = start_thread(set_often, object);
  set_often(object);
  join_thread(thread);
  refuse_membarrier();
  CHECK_OK(kvo_cancel_observer(id));
  shared_destroy(object);
  calls = 0;
  remove_during_delivery(true);
  destroyed = 0;
  churn();
}

TEST("in such a sandbox only the first wait takes longer") {
  if (!can_refuse()) return;
  object = shared_make();
  (void)kvo_cancel_observer_and_wait(observe(object, "value", KVO_NONE, &calls, NULL));
  refuse_membarrier();
  double least = 1;
  for (int i = 0; i < 20; i++) {
    kvo_observation id = observe(object, "value", KVO_NONE, &calls, NULL);
    struct timespec began, ended;
    clock_gettime(CLOCK_MONOTONIC, &began);
    CHECK_OK(kvo_cancel_observer_and_wait(id));
    clock_gettime(CLOCK_MONOTONIC, &ended);
    double time = (double)(ended.tv_sec - began.tv_sec) + (double)(ended.tv_nsec - began.tv_nsec) / 1e9;
    if (i > 0 && time < least) least = time;
  }
  CHECK(least < 0.005); /* the first one pauses for 10 ms */
  shared_destroy(object);
}

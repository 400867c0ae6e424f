/* staying.c - see staying.h. */
#include "staying.h"

#include <linux/filter.h>
#include <linux/seccomp.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

_Atomic int inside, let_go, has_left;

void stay(const kvo_change *change, void *user_data) {
  inside = 1;
  await(&let_go);
  has_left++;
}

void stay_in_getter(const shared *of) { stay(NULL, NULL); }

running *start_staying(void (*body)(void *arg), void *arg) {
  inside = let_go = has_left = 0;
  running *thread = start_thread(body, arg);
  await(&inside);
  return thread;
}

void end_staying(running *thread) {
  let_go = 1;
  join_thread(thread);
}

void set_once(void *object) { set(object, 1); }
void clear_next(void *object) { set_next(object, NULL); }

void fork_and(void (*body)(void)) {
  pid_t child = fork();
  CHECK(child >= 0);
  if (child == 0) {
    alarm(30); /* a hang ends the child */
    body();
    _exit(0);
  }
  await_child(child);
}

void await_child(pid_t child) {
  int status;
  CHECK(waitpid(child, &status, 0) == child);
  if (WIFSIGNALED(status)) harness_fail(__FILE__, __LINE__, "the child ended by signal %d", WTERMSIG(status));
  CHECK_EQ(WEXITSTATUS(status), 0);
}

void refuse_membarrier(void) {
  struct sock_filter program[] = {
      BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, nr)),
      BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, SYS_membarrier, 0, 1),
      BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ERRNO | 1), /* EPERM */
      BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW),
  };
  struct sock_fprog filter = {sizeof program / sizeof *program, program};
  harness_skip_if_emulated("qemu-user has no seccomp");
  if (harness_is_instrumented()) harness_skip("the tools use system calls that a filter would have to allow");
  CHECK_EQ(prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0), 0);
  if (prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &filter) != 0) harness_skip("no seccomp filter can be set");
  CHECK(syscall(SYS_membarrier, 0, 0, 0) < 0);
}

long long now(void) {
  struct timespec time;
  clock_gettime(CLOCK_MONOTONIC, &time);
  return time.tv_sec * 1000000000ll + time.tv_nsec;
}

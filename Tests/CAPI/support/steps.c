/* steps.c - see steps.h. */
#include "steps.h"

#include "harness.h"

#include <signal.h>
#include <sys/ptrace.h>
#include <sys/wait.h>
#include <unistd.h>

void steps_begin(void) { raise(SIGUSR2); }
void steps_end(void) { raise(SIGUSR2); }

/* Waits until the child stops. Returns the signal, or 0 if it has ended. */
static int stopped(pid_t child) {
  int status;
  CHECK_EQ(waitpid(child, &status, 0), child);
  if (WIFSTOPPED(status)) return WSTOPSIG(status);
  if (!WIFEXITED(status) || WEXITSTATUS(status) != 0) harness_fail(__FILE__, __LINE__, "the child failed: %d", status);
  return 0;
}

long steps_of(void (*body)(void *arg), void *arg) {
  pid_t child = fork();
  CHECK(child >= 0);
  if (child == 0) {
    if (ptrace(PTRACE_TRACEME, 0, NULL, NULL) == 0) body(arg);
    _exit(0);
  }
  long count = -1;
  for (int signal; (signal = stopped(child)) != 0;) {
    if (signal == SIGUSR2 && count < 0) {
      for (count = 0; ptrace(PTRACE_SINGLESTEP, child, NULL, NULL) == 0 && stopped(child) == SIGTRAP;) count++;
      signal = 0;
    }
    ptrace(PTRACE_CONT, child, NULL, (void *)(intptr_t)(signal == SIGUSR2 ? 0 : signal));
  }
  return count;
}

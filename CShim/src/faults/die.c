/* die.c - ends the process after a fault. */
#define _GNU_SOURCE
#include "faults/reporting.h"

#include <signal.h>
#include <stdlib.h>
#include <sys/syscall.h>
#include <unistd.h>

/* Raises the signal in this frame, not in libc's, so that swift-backtrace and gdb show the whole stack of the misuse. */
__attribute__((noinline)) _Noreturn void kvo__die(void) {
  long process = getpid(), thread = syscall(SYS_gettid);
#if defined(__x86_64__)
  long result = SYS_tgkill;
  __asm__ volatile("syscall" : "+a"(result) : "D"(process), "S"(thread), "d"((long)SIGABRT) : "rcx", "r11", "memory");
#else
  syscall(SYS_tgkill, process, thread, SIGABRT);
#endif
  abort(); /* SIGABRT is ignored, blocked or handled */
}

/* die.c - the end of the process by a fault. */
#define _GNU_SOURCE
#include "faults/reporting.h"

#include <signal.h>
#include <stdlib.h>
#include <sys/syscall.h>
#include <unistd.h>

/* From this frame, not from libc's: swift-backtrace and gdb then see the whole stack of the misuse above it. */
__attribute__((noinline)) _Noreturn void kvo__die(void) {
  long process = getpid(), thread = syscall(SYS_gettid);
#if defined(__x86_64__)
  long result = SYS_tgkill;
  __asm__ volatile("syscall" : "+a"(result) : "D"(process), "S"(thread), "d"((long)SIGABRT) : "rcx", "r11", "memory");
#else
  syscall(SYS_tgkill, process, thread, SIGABRT);
#endif
  abort(); /* SIGABRT was ignored, blocked or handled */
}

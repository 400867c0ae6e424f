/* die.c - ends the process after a fault: writes what is in the buffer of standard output, and raises SIGABRT. */
#define _GNU_SOURCE
#include "faults/reporting.h"
#include "platform/signals.h"

#include <limits.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdio_ext.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

/* Whether a write of so many bytes does not wait for a reader: a pipe that is ready has room for PIPE_BUF bytes (pipe(7)). */
static bool die_has_room(int fd, size_t bytes) {
  struct stat file;
  struct pollfd room = {.fd = fd, .events = POLLOUT};
  if (fstat(fd, &file) == 0 && S_ISREG(file.st_mode)) return true;
  return bytes <= PIPE_BUF && poll(&room, 1, 0) > 0;
}

/* The buffer has what the parent of a fork had printed before, and writes itself. */
static bool has_inherited;

void kvo__output_forked(void) { has_inherited = __fpending(stdout) > 0; }

void kvo__flush_output(const kvo_caller *caller) {
  if (has_inherited) return;
  /* The code that a signal handler has interrupted may be printing; then the lock, which this thread holds, says nothing. */
  if (kvo__in_signal_handler(caller) || ftrylockfile(stdout) != 0) return;
  kvo_held_signals signals;
  kvo__signals_hold(&signals);
  if (__fpending(stdout) > 0 && die_has_room(fileno(stdout), __fpending(stdout))) fflush(stdout);
  kvo__signals_release(&signals);
  funlockfile(stdout);
}

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

/* stack.c - stack walks by frame pointers (16 frames take 20 ns, with the unwinder 2 us), and the bounds of stacks. */
#define _GNU_SOURCE
#include "platform/stack.h"

#include "platform/modules.h"

#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>
#include <unwind.h>

/* The memory that a frame pointer points to. */
typedef struct kvo_stack_frame {
  const struct kvo_stack_frame *caller;
  void *return_address;
} kvo_stack_frame;

/* On other architectures a frame pointer does not point to such a pair. */
#if defined(__x86_64__) || defined(__i386__) || defined(__aarch64__)
#define KVO_HAS_FRAMES true
#else
#define KVO_HAS_FRAMES false
#endif

/* Reading other functions' frames would be reported by the sanitizers. */
#define KVO_READS_FRAMES __attribute__((noinline, no_sanitize_address, no_sanitize_thread))

bool kvo__stack_find(uintptr_t *begin, uintptr_t *end) {
  pthread_attr_t attributes;
  int cancellation = kvo__cancel_hold(); /* for the main thread this reads a file */
  bool known = pthread_getattr_np(pthread_self(), &attributes) == 0;
  kvo__cancel_resume(cancellation);
  if (!known) return false;
  void *lowest;
  size_t size;
  known = pthread_attr_getstack(&attributes, &lowest, &size) == 0;
  pthread_attr_destroy(&attributes);
  if (!known) return false;
  *begin = (uintptr_t)lowest;
  *end = (uintptr_t)lowest + size;
#ifndef __GLIBC__
  /* musl says how much of the main thread's stack is in use, not how far it may grow. */
  struct rlimit most;
  if (syscall(SYS_gettid) == getpid() && getrlimit(RLIMIT_STACK, &most) == 0 && most.rlim_cur != RLIM_INFINITY &&
      most.rlim_cur > size && most.rlim_cur < *end)
    *begin = *end - (uintptr_t)most.rlim_cur;
#endif
  return true;
}

static inline bool is_frame(const kvo_stack_frame *at, uintptr_t begin, uintptr_t end) {
  uintptr_t address = (uintptr_t)at;
  return address % sizeof(void *) == 0 && address >= begin && address < end && end - address >= sizeof *at;
}

KVO_READS_FRAMES size_t kvo__stack_walk(uintptr_t begin, uintptr_t end, void **frames, size_t capacity) {
  const kvo_stack_frame *at = __builtin_frame_address(0);
  size_t count = 0;
  while (KVO_HAS_FRAMES && count < capacity && is_frame(at, begin, end) && at->return_address != NULL) {
    frames[count++] = at->return_address;
    begin = (uintptr_t)(at + 1); /* the caller's frame is above */
    at = at->caller;
  }
  return count;
}

/* The kernel reads the signal mask before it checks the other, invalid argument; so the error says whether the memory can be read. */
/* Returns whether the 8 bytes at an address can be read. */
static bool is_readable(const void *address) {
  int before = errno;
  bool readable = syscall(SYS_rt_sigprocmask, ~0L, address, NULL, (size_t)8) != 0 && errno != EFAULT;
  errno = before;
  return readable;
}

bool kvo__stack_is_there(const void *frame, size_t bytes) {
  enum { PAGE = 4096 };
  for (size_t below = 0; below < bytes; below += PAGE)
    if (!is_readable((const char *)frame - below)) return false;
  return true;
}

uintptr_t kvo__stack_pointer_of(uint32_t thread) {
  char path[64], line[256];
  snprintf(path, sizeof path, "/proc/self/task/%u/syscall", (unsigned)thread);
  int cancellation = kvo__cancel_hold(), fd = open(path, O_RDONLY | O_CLOEXEC);
  ssize_t size = fd >= 0 ? read(fd, line, sizeof line - 1) : 0;
  if (fd >= 0) close(fd);
  kvo__cancel_resume(cancellation);
  line[size > 0 ? size : 0] = '\0';
  char *last = strrchr(line, ' '); /* "number arguments sp pc" */
  if (last == NULL) return 0;
  *last = '\0';
  last = strrchr(line, ' ');
  return last != NULL ? (uintptr_t)strtoull(last, NULL, 16) : 0;
}

typedef struct unwinding {
  void **frames;
  size_t capacity, count;
  /** The return address with which the result begins. */
  const void *first;
} unwinding;

static _Unwind_Reason_Code take_frame(struct _Unwind_Context *context, void *arg) {
  unwinding *to = arg;
  void *address = (void *)_Unwind_GetIP(context);
  if (address == NULL || to->count == to->capacity) return _URC_END_OF_STACK;
  if (to->count > 0 || address == to->first) to->frames[to->count++] = address;
  return _URC_NO_REASON;
}

/* With glibc 2.35 and GCC 12 or newer the unwinder finds its tables without a lock, except on i386. Otherwise it takes the loader's lock,
 * which nobody releases in the child of a fork if another thread held it. */
extern int find_object(void) __asm__("_dl_find_object") __attribute__((weak));
static bool finds_without_lock(void) {
#if defined(__i386__)
  return false;
#else
  return find_object != NULL;
#endif
}

static bool is_forked_beside_others;
static _Atomic bool has_others; /* of the fork in progress */

void kvo__stack_before_fork(void) {
  struct stat tasks; /* a folder has a link to itself, one from above, and one from each folder in it */
  if (!finds_without_lock()) has_others = stat("/proc/self/task", &tasks) != 0 || tasks.st_nlink > 3;
}

void kvo__stack_forked(void) { is_forked_beside_others = is_forked_beside_others || has_others; }

KVO_READS_FRAMES size_t kvo__stack_at_fault(const kvo_caller *caller, void **frames, size_t capacity) {
  /* Not limited to the thread's stack: the fault may be in a handler with a stack of its own, or in a coroutine. */
  const kvo_stack_frame *at = caller->frame;
  uintptr_t begin = (uintptr_t)at;
  size_t count = 0;
  while (KVO_HAS_FRAMES && count < capacity && is_frame(at, begin, UINTPTR_MAX) && is_readable(&at->caller) &&
         is_readable(&at->return_address) && kvo__is_code(at->return_address)) {
    frames[count++] = at->return_address;
    begin = (uintptr_t)(at + 1);
    at = at->caller;
  }
  if (is_forked_beside_others) return count;
  void *unwound[KVO_FAULT_FRAMES];
  unwinding by_tables = {unwound, capacity < KVO_FAULT_FRAMES ? capacity : KVO_FAULT_FRAMES, 0, caller->return_address};
  _Unwind_Backtrace(take_frame, &by_tables);
  if (by_tables.count <= count) return count;
  memcpy(frames, unwound, by_tables.count * sizeof *unwound);
  return by_tables.count;
}

/* The C library's code there calls rt_sigreturn(2). It is recognised by its bytes, as debuggers do. */
bool kvo__is_signal_return(const void *return_address) {
#if defined(__x86_64__)
  static const unsigned char code[] = {0x48, 0xc7, 0xc0, 0x0f, 0, 0, 0, 0x0f, 0x05};
#elif defined(__aarch64__)
  static const unsigned char code[] = {0x68, 0x11, 0x80, 0xd2, 0x01, 0, 0, 0xd4};
#else
  static const unsigned char code[] = {0};
#endif
  bool is_whole = is_readable(return_address) && is_readable((const char *)return_address + sizeof code - 8);
  return sizeof code > 1 && is_whole && memcmp(return_address, code, sizeof code) == 0;
}

bool kvo__on_signal_stack(void) {
  stack_t signal_stack;
  return sigaltstack(NULL, &signal_stack) == 0 && (signal_stack.ss_flags & SS_ONSTACK) != 0;
}

bool kvo__in_signal_handler(const kvo_caller *caller) {
  if (caller->on_signal_stack) return true;
  void *frames[KVO_FAULT_FRAMES];
  size_t count = kvo__stack_at_fault(caller, frames, KVO_FAULT_FRAMES);
  for (size_t i = 0; i < count; i++)
    if (kvo__is_signal_return(frames[i])) return true;
  return false;
}

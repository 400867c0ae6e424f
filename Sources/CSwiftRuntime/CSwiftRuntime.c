#define _GNU_SOURCE
#include "CSwiftRuntime.h"

#include <sys/syscall.h>
#include <unistd.h>

bool kvo_is_main_thread(void) {
  static _Thread_local signed char known; /* 0 until the first call: two system calls are slow */
  if (known == 0) known = syscall(SYS_gettid) == getpid() ? 1 : -1;
  return known > 0;
}

uint32_t kvo_kernel_thread(void) { return (uint32_t)syscall(SYS_gettid); }

static _Thread_local kvo_recorded *innermost_recorded;

bool kvo_recorded_begin(kvo_recorded *recorded) {
  for (const kvo_recorded *each = innermost_recorded; each != NULL; each = each->outer)
    if (each->evaluation == recorded->evaluation && each->object == recorded->object && each->key == recorded->key)
      return false;
  recorded->outer = innermost_recorded;
  innermost_recorded = recorded;
  return true;
}

void kvo_recorded_end(const kvo_recorded *recorded) { innermost_recorded = recorded->outer; }

/* stack.h - the calls that led somewhere, as return addresses: stack.c. */
#ifndef KVO_STACK_H
#define KVO_STACK_H

#include "platform/platform.h"

/** The most frames that a fault is given. */
#define KVO_FAULT_FRAMES 64

/** Stores the return addresses of the calls in progress on this thread, innermost first, and returns how many: the first is where
 * the caller of this function goes on. It follows frame pointers within the thread's stack, so code without them ends it early, or
 * is missing from it. About 20 ns for 16 frames; the first call of a thread asks the C library where its stack is, which takes
 * memory: not for signal handlers. */
KVO_HIDDEN size_t kvo__stack_capture(void **frames, size_t capacity);

/** The function that something was asked of: its frame, and where it returns to. */
typedef struct kvo_caller {
  const void *frame;
  const void *return_address;
  /** It runs on a stack for signal handlers only. */
  bool on_signal_stack;
} kvo_caller;

/** Of the function that it is written in. */
#define KVO_CALLER                                                                                                     \
  (kvo_caller) { __builtin_frame_address(0), __builtin_return_address(0), kvo__on_signal_stack() }

/** The same for a fault, which has time, from where the caller returns to: no address is stored that is not code of a module, and the
 * unwinder is asked too, whose answer counts if it is longer, for code without frame pointers. Takes no memory. In a signal handler it
 * is as safe as the unwinder: with glibc 2.35 and GCC 12 or newer entirely, before that unless the handler interrupted the loading of a
 * library. */
KVO_HIDDEN size_t kvo__stack_at_fault(const kvo_caller *caller, void **frames, size_t capacity);

/** Tells whether a return address is where a signal handler returns to: what is called there was not called by the next frame, but
 * interrupted it. It must be code. */
KVO_HIDDEN bool kvo__is_signal_return(const void *return_address);
/** Tells whether the stack is one for signal handlers only, as sigaltstack(2) sets them. */
KVO_HIDDEN bool kvo__on_signal_stack(void);
/** Tells whether the caller is in a signal handler, as far as the 64 innermost calls show one. */
KVO_HIDDEN bool kvo__in_signal_handler(const kvo_caller *caller);
/** Tells whether the 8 bytes at an address can be read. */
KVO_HIDDEN bool kvo__is_readable(const void *address);
/** Where this thread's stack is, from its innermost byte to behind its outermost; false when that is not known. */
KVO_HIDDEN bool kvo__stack_bounds(uintptr_t *begin, uintptr_t *end);

/** Tells whether so many bytes below a frame, on a stack of which no more is known, are memory: its end may be guarded. */
KVO_HIDDEN bool kvo__stack_is_there(const void *frame, size_t bytes);

/** Where another thread's stack is, as the kernel knows of a thread that waits in it; 0 of one that runs. A cancellation point. */
KVO_HIDDEN uintptr_t kvo__stack_pointer_of(uint32_t thread);

#endif /* KVO_STACK_H */

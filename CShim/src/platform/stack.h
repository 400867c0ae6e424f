/* platform/stack.h - stack walks and the bounds of stacks: stack.c. */
#ifndef KVO_STACK_H
#define KVO_STACK_H

#include "platform/platform.h"

/** The maximum of return addresses in a fault. */
#define KVO_FAULT_FRAMES 64

/** Asks the C library for the bounds of this thread's stack, [begin, end), which allocates and takes microseconds; false if they are not
 * known. */
KVO_HIDDEN bool kvo__stack_find(uintptr_t *begin, uintptr_t *end);
/** Stores the return addresses of the calls in progress on this thread, innermost first, beginning with that of this call, and returns how
 * many. It follows frame pointers within [begin, end), so code without them ends the walk early or is missing. Takes about 20 ns for 16
 * frames. */
KVO_HIDDEN size_t kvo__stack_walk(uintptr_t begin, uintptr_t end, void **frames, size_t capacity);

/** The function that was called: its frame, and its return address. */
typedef struct kvo_caller {
  const void *frame;
  const void *return_address;
  /** It runs on an alternate signal stack. */
  bool on_signal_stack;
} kvo_caller;

/** The kvo_caller of the function in which it is used. */
#define KVO_CALLER                                                                                                     \
  (kvo_caller) { __builtin_frame_address(0), __builtin_return_address(0), kvo__on_signal_stack() }

/** The same for a fault, beginning with the caller's return address, more thoroughly: it stores only addresses in the code of modules, and
 * uses the unwinder's result if that is longer, because of code without frame pointers. Allocates nothing. In a signal handler it is as
 * safe as the unwinder: entirely with glibc 2.35 and GCC 12 or newer; with older ones unless the handler has interrupted the loading of a
 * library. */
KVO_HIDDEN size_t kvo__stack_at_fault(const kvo_caller *caller, void **frames, size_t capacity);
/** Before a fork, and in its child. Where the unwinder may wait for a lock, the child of a program with several threads does without it. */
KVO_HIDDEN void kvo__stack_before_fork(void);
KVO_HIDDEN void kvo__stack_forked(void);

/** Returns whether a return address is that of a signal handler: then the next frame did not call what is there, but was interrupted by it.
 * The address must be that of code. */
KVO_HIDDEN bool kvo__is_signal_return(const void *return_address);
/** Returns whether this thread runs on an alternate signal stack (sigaltstack(2)). */
KVO_HIDDEN bool kvo__on_signal_stack(void);
/** Returns whether the caller is in a signal handler, as far as the 64 innermost calls show one. */
KVO_HIDDEN bool kvo__in_signal_handler(const kvo_caller *caller);
/** Returns whether this many bytes below a frame are memory, on a stack whose bounds are not known; it may end with a guard page. */
KVO_HIDDEN bool kvo__stack_is_there(const void *frame, size_t bytes);

/** The stack pointer of another thread of this process that waits in the kernel, or 0. A cancellation point. */
KVO_HIDDEN uintptr_t kvo__stack_pointer_of(uint32_t thread);

#endif /* KVO_STACK_H */

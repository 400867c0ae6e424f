/* watching/slow.h - the watchdog for slow callbacks (KVO_SLOW_MS): slow.c. */
#ifndef KVO_INTERNAL_SLOW_H
#define KVO_INTERNAL_SLOW_H

#include "watching/events.h"

/** Adds a delivery that begins in the code of this frame, and starts the watchdog if it does not run. Returns a number that no other
 * delivery has had; 0 without memory: the delivery is not watched. */
KVO_HIDDEN uint64_t kvo__slow_begin(const kvo_event_details *details, const void *frame);
/** Removes the delivery of that number, which has ended, and those of this thread which were left with longjmp(3) or an exception, as the
 * frame of the code that is running shows. Others of this thread may be suspended on another stack. */
KVO_HIDDEN void kvo__slow_end(uint64_t number, const void *frame);
/** Removes the deliveries of a thread that ends: they were left with pthread_exit(3). */
KVO_HIDDEN void kvo__slow_thread_end(const kvo_thread *thread);
/** In the child of a fork, where neither the watchdog nor the other threads exist. */
KVO_HIDDEN void kvo__slow_forked(void);

#endif /* KVO_INTERNAL_SLOW_H */

/* watching/slow.h - the watchdog for slow callbacks (KVO_SLOW_MS): slow.c. */
#ifndef KVO_INTERNAL_SLOW_H
#define KVO_INTERNAL_SLOW_H

#include "watching/events.h"

/** A delivery in progress, as the watchdog sees it. Private to slow.c. */
typedef struct kvo_watched kvo_watched;

/** Adds a delivery that begins, and starts the watchdog if it does not run. NULL without memory: the delivery is not watched. */
KVO_HIDDEN kvo_watched *kvo__slow_begin(const kvo_event_details *details);
/** Removes a delivery that has ended, and those nested in it on this thread which were left with longjmp. */
KVO_HIDDEN void kvo__slow_end(kvo_watched *watched);
/** Removes the deliveries of a thread that ends: they were left with pthread_exit(3). */
KVO_HIDDEN void kvo__slow_thread_end(const kvo_thread *thread);
/** In the child of a fork, where neither the watchdog nor the other threads exist. */
KVO_HIDDEN void kvo__slow_forked(void);

#endif /* KVO_INTERNAL_SLOW_H */

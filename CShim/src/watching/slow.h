/* slow.h - the watchdog of callbacks that take long: slow.c. */
#ifndef KVO_INTERNAL_SLOW_H
#define KVO_INTERNAL_SLOW_H

#include "watching/events.h"

/** A delivery in progress, as the watchdog sees it. Of a file's own. */
typedef struct kvo_watched kvo_watched;

/** A delivery begins; NULL without memory: it is not watched. Starts the watchdog if need be. */
KVO_HIDDEN kvo_watched *kvo__slow_begin(const kvo_event_details *details);
/** It has ended; and so has what began within it, on this thread, and was left by longjmp. */
KVO_HIDDEN void kvo__slow_end(kvo_watched *watched);
/** What has begun on this thread has been left by pthread_exit. */
KVO_HIDDEN void kvo__slow_thread_end(const kvo_thread *thread);
/** In the child of a fork, where neither the watchdog nor the other threads are. */
KVO_HIDDEN void kvo__slow_forked(void);

#endif /* KVO_INTERNAL_SLOW_H */

/* main_queue.h - how a run loop that is not dispatchMain() runs libdispatch's main queue; CoreFoundation uses the same two functions. */
#ifndef MAIN_QUEUE_H
#define MAIN_QUEUE_H

/** Returns an eventfd(2) that can be read when the main queue has work. The caller is the main thread. */
int _dispatch_get_main_queue_handle_4CF(void);
/** Runs the work of the main queue. The caller is the main thread. */
void _dispatch_main_queue_callback_4CF(void *ignored);

#endif

/* staying.h - what tests of waits, deaths and forks share: code that stays until it is let go, children, a
 * sandbox. */
#ifndef KVO_TEST_STAYING_H
#define KVO_TEST_STAYING_H

#include "shared.h"

#include <sys/types.h>

/* Whether code stays, whether it may go on, and how often it has gone on. */
extern _Atomic int inside, let_go, has_left;
/* A callback that stays, and the same for in_slow_getter. */
void stay(const kvo_change *change, void *user_data);
void stay_in_getter(const shared *of);
/* Runs `body(arg)` on a new thread, and returns when something that it calls stays. */
running *start_staying(void (*body)(void *arg), void *arg);
/* Lets it go, and waits for the end of the thread. */
void end_staying(running *thread);

/* Bodies of threads: set `value` of a shared object to 1, or its `next` to NULL. */
void set_once(void *object);
void clear_next(void *object);

/* Runs `body` in the child of a fork, which must end well. There is no leak check: what the parent's other threads
 * held is never freed. */
void fork_and(void (*body)(void));
/* Waits for the end of a child, which must be a good one. */
void await_child(pid_t child);
/* From here on, also in programs that this one executes, membarrier(2) fails. Skips the test where that cannot be
 * arranged. */
void refuse_membarrier(void);
/* Nanoseconds. */
long long now(void);

#endif

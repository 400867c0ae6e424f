/* served.h - an object that is observed in a program that is served, and questions about the process. */
#ifndef KVO_TEST_SERVED_H
#define KVO_TEST_SERVED_H

#include "asking.h"
#include "fixture.h"

/* Makes an object and observes its value with `quiet`. */
extern watcher quiet;
item *observed(void);
/* The same, with KVO_SOCKET: executes the test again if it is not set. */
item *served(void);
/* Waits until a trace is being recorded for a client, or until it is not. */
void wait_for_trace(bool is_recorded);
/* Whether a file exists, which may be a link to none. */
bool exists(const char *path);
/* Waits for the end of a child, and returns its status. */
int status_of(pid_t child);
/* ThreadSanitizer cannot start threads in the child of a fork. */
bool is_under_tsan(void);
/* The number of this process's threads with a name. */
int count_threads(const char *name);

#endif

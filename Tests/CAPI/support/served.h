/* served.h - an object that is observed in a program that is served at KVO_SOCKET, and questions about the process. */
#ifndef KVO_TEST_SERVED_H
#define KVO_TEST_SERVED_H

#include "asking.h"
#include "fixture.h"

/* The watcher of `observed`. */
extern watcher quiet;

/* Makes an object and observes its value. */
item *observed(void);
/* The same, with KVO_SOCKET: executes the test again if it is not set. */
item *served(void);
/* Whether a file exists, which may be a link to none. */
bool exists(const char *path);
/* Waits for the end of a child, and returns its status. */
int status_of(pid_t child);
/* ThreadSanitizer cannot start threads in the child of a fork. */
bool is_under_tsan(void);
/* The number of this process's threads with a name. */
int count_threads(const char *name);

#endif

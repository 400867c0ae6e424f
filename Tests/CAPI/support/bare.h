/* bare.h - a function compiled without frame pointers. */
#ifndef KVO_TEST_BARE_H
#define KVO_TEST_BARE_H

/* Calls bare_inner, which calls `body(arg)`. */
void bare_call(void (*body)(void *arg), void *arg);

#endif

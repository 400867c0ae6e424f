/* below.h - calls in a stack frame far below the caller's, so that the caller's next call of the runtime is above it. */
#ifndef KVO_TEST_BELOW_H
#define KVO_TEST_BELOW_H

#include "fixture.h"

void call_below(void (*body)(void));
void set_below(item *object, int value);

#endif

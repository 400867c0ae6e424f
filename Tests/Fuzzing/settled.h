/* settled.h - what must hold when no change is in progress, whatever the order of deliveries. For runs that the model does not follow:
 * those in which deliveries may nest no deeper than KVO_FUZZ_DEPTH. */
#ifndef KVO_FUZZ_SETTLED_H
#define KVO_FUZZ_SETTLED_H

#include "world.h"

/* The limit, or 0. */
int settled_depth(void);
/* Takes out of a program what changes values without telling. */
void settled_prepare(program *of);
void settled_begin(void);
/* After an operation: who was told knows the present value, and each old value is the new one of the notification before. */
void settled_check(world *in);

#endif

/* runtime.h - the runtime's world: classes, objects and observers of kvo.h. */
#ifndef KVO_FUZZ_RUNTIME_H
#define KVO_FUZZ_RUNTIME_H

#include "world.h"

extern const calls runtime_calls;

/* Call it once per process. */
void runtime_start(void);
/* Call it before each program, with the world to which callbacks log. */
void runtime_begin(world *of);
/* Whether kvo_add_observer succeeded, and how often the user data was destroyed. */
bool runtime_was_registered(int watch);
int runtime_destroyed(int watch);
bool runtime_is_registered(int watch);

#endif

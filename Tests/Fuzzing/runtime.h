/* runtime.h - the world that the runtime makes: classes, objects and observers of kvo.h. */
#ifndef KVO_FUZZ_RUNTIME_H
#define KVO_FUZZ_RUNTIME_H

#include "world.h"

extern const calls runtime_calls;

/* Once a process. */
void runtime_start(void);
/* Before each program; the world is the one that callbacks log to. */
void runtime_begin(world *of);
/* Whether kvo_add_observer succeeded, and how often the user data was destroyed. */
bool runtime_was_registered(int watch);
int runtime_destroyed(int watch);

#endif

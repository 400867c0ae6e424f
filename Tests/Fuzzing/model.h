/* model.h - the model: the promises of Documentation/Design.md, implemented simply and without regard to cost. */
#ifndef KVO_FUZZ_MODEL_H
#define KVO_FUZZ_MODEL_H

#include "world.h"

extern const calls model_calls;

void model_begin(void);
void model_end(void);
bool model_is_registered(int watch);
/* Whether it is of one key that nothing affects. */
bool model_is_direct(const world *in, int watch);
/* Whether a cycle of bindings has come to no end, so that what follows need not be compared. */
bool model_is_endless(void);
/* Whether the user data of an observation that has ended may not be destroyed yet, because an open pair concerns an object with which it
 * was registered. */
bool model_may_keep(int watch);

#endif

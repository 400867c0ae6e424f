/* model.h - the model: the promises of Documentation/Design.md said again, in few words and without any care for cost. */
#ifndef KVO_FUZZ_MODEL_H
#define KVO_FUZZ_MODEL_H

#include "world.h"

extern const calls model_calls;

void model_begin(void);
void model_end(void);
bool model_is_registered(int watch);
/* Whether the user data of an observation that has ended may still wait: an open pair concerns an object that it was
 * registered with. */
bool model_may_keep(int watch);

#endif

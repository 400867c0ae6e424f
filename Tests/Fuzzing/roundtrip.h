/* roundtrip.h - passes values of any encoding through an observed setter. */
#ifndef KVO_FUZZ_ROUNDTRIP_H
#define KVO_FUZZ_ROUNDTRIP_H

#include <stddef.h>

/* Call it with an encoding that the runtime accepts, and its size. Fails if other bytes arrive than were passed. */
void round_trip(const char *type, size_t size);

#endif

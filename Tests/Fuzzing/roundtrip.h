/* roundtrip.h - sends values of any encoding through a setter that is observed, and back. */
#ifndef KVO_FUZZ_ROUNDTRIP_H
#define KVO_FUZZ_ROUNDTRIP_H

#include <stddef.h>

/* The encoding is one that the runtime accepts, of this size. Fails when the bytes that arrive are others than were sent. */
void round_trip(const char *type, size_t size);

#endif

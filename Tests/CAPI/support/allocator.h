/* allocator.h - an allocator that counts blocks and can be made to fail. */
#ifndef KVO_TEST_ALLOCATOR_H
#define KVO_TEST_ALLOCATOR_H

#include <stddef.h>

/* The number of blocks that the runtime holds. */
extern _Atomic long live_blocks;
/* How many calls until the one that fails; 0 or less: none fails. */
extern _Atomic long fail_in;
/* Whether all later calls fail, too. */
extern _Atomic int keeps_failing;
/* Whether a call has failed; the test clears it. */
extern _Atomic int has_failed;
/* Called before each allocation, unless NULL. */
extern void (*before_allocation)(size_t size);

/* Call it before anything else of kvo.h. */
void use_counting_allocator(void);

#endif

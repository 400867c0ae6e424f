/* allocator.h - an allocator that counts blocks and can be told to fail. */
#ifndef KVO_TEST_ALLOCATOR_H
#define KVO_TEST_ALLOCATOR_H

/* Blocks that the runtime holds. */
extern _Atomic long live_blocks;
/* Calls until the one that fails, counted down; 0 or less: none fails. */
extern _Atomic long fail_in;
/* Whether all that come behind that one fail too. */
extern _Atomic int keeps_failing;
/* Whether one has failed since it was last cleared. */
extern _Atomic int has_failed;

/* Must be called before anything else of kvo.h. */
void use_counting_allocator(void);

#endif

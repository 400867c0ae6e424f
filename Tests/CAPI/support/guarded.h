/* guarded.h - an allocator that has a pattern behind each block, and writes one into each that is released. */
#ifndef KVO_TEST_GUARDED_H
#define KVO_TEST_GUARDED_H

/* The number of blocks that the runtime holds. */
extern long guarded_blocks;

/* Call it before anything else of kvo.h, in a test with one thread. A block that was written behind its end fails the test when it is
 * released. */
void guard_memory(void);
/* Checks the blocks that the runtime holds. */
void check_memory(void);

#endif

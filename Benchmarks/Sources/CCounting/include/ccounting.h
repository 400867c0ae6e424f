/* ccounting.h - counts what a process asks of malloc, and has valgrind count its instructions. It replaces malloc. */
#ifndef CCOUNTING_H
#define CCOUNTING_H

#include <stdbool.h>

/** The number of allocations so far, of all threads; a realloc is one. */
long ccounting_allocations(void);

/** Begins to record the blocks that this thread asks for. */
void ccounting_begin_blocks(void);

/** Ends it; returns the bytes asked for by those of the recorded blocks that were not freed. */
long ccounting_end_blocks(void);

/** Tells whether the process runs under valgrind. */
bool ccounting_under_valgrind(void);

/** Begins to count instructions; between it and the end nothing else should be done. */
void ccounting_begin_instructions(void);

/** Ends it, and has callgrind write the count to a file, with this name. */
void ccounting_end_instructions(const char *name);

/** Begins, in a process that callgrind runs without collecting, to collect. */
void ccounting_begin_collecting(void);

/** Ends it: what was collected is in callgrind's summary. */
void ccounting_end_collecting(void);

#endif /* CCOUNTING_H */

/* ccounting.h - counts the allocations of a process, and lets valgrind count its instructions. It replaces malloc. */
#ifndef CCOUNTING_H
#define CCOUNTING_H

#include <stdbool.h>

/** Returns the number of allocations of all threads so far; a realloc counts as one. */
long ccounting_allocations(void);

/** Begins to record the blocks that this thread allocates. */
void ccounting_begin_blocks(void);

/** Ends recording; returns the requested bytes of the recorded blocks that were not freed. */
long ccounting_end_blocks(void);

/** Tells whether the process runs under valgrind. */
bool ccounting_under_valgrind(void);

/** Begins to count instructions. Only the counted work should run until the end. */
void ccounting_begin_instructions(void);

/** Ends counting, and lets callgrind write the count to a file, with this name. */
void ccounting_end_instructions(const char *name);

/** Begins to collect, in a process that callgrind runs without collecting. */
void ccounting_begin_collecting(void);

/** Ends collecting; callgrind's summary contains the counts. */
void ccounting_end_collecting(void);

#endif /* CCOUNTING_H */

/* instructions.c - requests to callgrind; see ccounting.h. */
#include "ccounting.h"

#include <valgrind/callgrind.h>

bool ccounting_under_valgrind(void) { return RUNNING_ON_VALGRIND != 0; }

void ccounting_begin_instructions(void) {
  CALLGRIND_START_INSTRUMENTATION;
  CALLGRIND_ZERO_STATS;
}

void ccounting_end_instructions(const char *name) {
  CALLGRIND_DUMP_STATS_AT(name);
  CALLGRIND_STOP_INSTRUMENTATION;
}

void ccounting_begin_collecting(void) {
  CALLGRIND_START_INSTRUMENTATION;
  CALLGRIND_TOGGLE_COLLECT;
}

void ccounting_end_collecting(void) {
  CALLGRIND_TOGGLE_COLLECT;
  CALLGRIND_STOP_INSTRUMENTATION;
}

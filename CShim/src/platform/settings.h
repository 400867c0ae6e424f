/* knobs.h - what the environment says the runtime is to remember and watch: knobs.c. What it says about faults: policy.c. Part of
 * internal.h. */
#ifndef KVO_KNOBS_H
#define KVO_KNOBS_H

#include <stdbool.h>
#include <stdint.h>

/** The most return addresses of a registration. */
#define KVO_MOST_STACKS 64

/** Read when the library is loaded, then constant. */
extern KVO_HIDDEN struct kvo_knobs {
  /** KVO_STACKS: how many return addresses are kept of each registration and removal. */
  uint32_t stacks;
  /** KVO_STACKS=full: as many as there is room for, and reports leave out no call. */
  bool all_calls;
  /** KVO_ZOMBIES: how many ended observations are remembered. */
  uint32_t zombies;
  /** KVO_HISTORY: how many events are remembered. */
  uint32_t history;
  /** KVO_MAX_DEPTH: how deeply deliveries may nest; 0: as long as they go in no circle and the stack has room. */
  uint32_t max_depth;
  /** KVO_SLOW_MS: which callbacks are told of as slow, in milliseconds; 0: none. */
  uint32_t slow_ms;
  /** KVO_VALUES: reports may contain values of properties. */
  bool values;
  /** KVO_POLICY names KVO0015: observations that end before any change are told. */
  bool unused;
  /** KVO_POLICY names KVO0019: registrations that are there already are told. */
  bool duplicates;
  /** KVO_REPORT=leaks: what has not ended is told at exit. */
  bool leaks;
} kvo__knobs;

/** Tells what is still observed, as KVO0014: leaks.c. At the end of the process; no lock may be held. */
KVO_HIDDEN void kvo__tell_leaks(void);

#endif /* KVO_KNOBS_H */

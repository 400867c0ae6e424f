/* platform/settings.h - what the environment says the runtime is to remember and watch. What it says about faults: faults/policy.c. */
#ifndef KVO_SETTINGS_H
#define KVO_SETTINGS_H

#include "platform/platform.h"

/** The most return addresses of a registration. */
#define KVO_MAX_STACKS 64

/** Read when the library is loaded, then constant. */
extern KVO_HIDDEN struct kvo_settings {
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
  /** KVO_POLICY names KVO0032: expressions are compared with what they are subscribed to before each change of what they read. */
  bool silent_changes;
  /** KVO_REPORT=leaks: what has not ended is told at exit. */
  bool leaks;
} kvo__settings;

/** Reads them. Before threads. */
KVO_HIDDEN void kvo__settings_read(void);

#endif /* KVO_SETTINGS_H */

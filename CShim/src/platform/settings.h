/* platform/settings.h - settings of what the runtime remembers and watches, from the environment. Settings about faults:
 * faults/policy.c. */
#ifndef KVO_SETTINGS_H
#define KVO_SETTINGS_H

#include "platform/platform.h"

/** The maximum of KVO_STACKS. */
#define KVO_MAX_STACKS 64

/** The size of the path of a socket, with its NUL (unix(7)). */
enum { KVO_SOCKET_PATH = 108 };

/** Read when the library is loaded, then constant. */
extern KVO_HIDDEN struct kvo_settings {
  /** KVO_STACKS: how many return addresses are kept of each registration and removal. */
  uint32_t stacks;
  /** KVO_STACKS=full: keep KVO_MAX_STACKS, and leave out no call in reports. */
  bool all_calls;
  /** KVO_ZOMBIES: how many ended observations are remembered. */
  uint32_t zombies;
  /** KVO_HISTORY: how many events are remembered. */
  uint32_t history;
  /** KVO_MAX_DEPTH: how deep deliveries may nest; 0: as deep as the stack allows. */
  uint32_t max_depth;
  /** KVO_MAX_ROUNDS: how often a binding sets its target in answer to itself. */
  uint32_t max_rounds;
  /** KVO_SLOW_MS: the milliseconds after which a running callback is reported; 0: never. */
  uint32_t slow_ms;
  /** KVO_AVALANCHE: how many deliveries an outermost set may cause before it is reported; 0: any number. */
  uint32_t avalanche;
  /** KVO_VALUES: reports may contain values of properties. */
  bool values;
  /** KVO_POLICY names KVO0015: report observations that end before any change. */
  bool unused;
  /** KVO_POLICY names KVO0019: report registrations that exist already. */
  bool duplicates;
  /** KVO_POLICY names KVO0032: before each change of a key that an expression has read, compare its reads with its subscriptions. */
  bool silent_changes;
  /** KVO_REPORT=leaks: report at exit which observations have not ended. */
  bool leaks;
  /** KVO_SOCKET: "1" or an absolute path, where clients can look at the running program; "": nowhere. */
  char socket[KVO_SOCKET_PATH];
} kvo__settings;

/** Reads the settings. Call it before there are threads. */
KVO_HIDDEN void kvo__settings_read(void);

#endif /* KVO_SETTINGS_H */

/* watching/traffic.h - counts of changes and notifications, for clients that look at the running program: traffic.c. */
#ifndef KVO_TRAFFIC_H
#define KVO_TRAFFIC_H

#include "watching/events.h"

/** What has been counted since counting began: the changes of a key of a class, or the notifications of the observations that are
 * registered at one place for one key path of a class. A row of changes has neither an observer nor a place. Rows and their strings are
 * never freed. */
typedef struct kvo_traffic_row {
  uint64_t hash;
  bool is_of_changes;
  const char *class_name, *key_path, *observer_class, *file;
  uint32_t line;
  _Atomic uint64_t count;
  /** Of notifications: the time of the calls that have returned, and of the longest of them, in nanoseconds. A call includes those that it
   * causes. */
  _Atomic uint64_t nanoseconds, longest;
} kvo_traffic_row;

/** Rows are limited in number. What has no row is counted in one of these two. */
enum { KVO_TRAFFIC_ROWS = 4096, KVO_TRAFFIC_OBSERVATIONS = 1 << 16 };
extern KVO_HIDDEN kvo_traffic_row kvo__traffic_other_changes, kvo__traffic_other_notifications;

/** A call of an observer in progress. */
typedef struct kvo_traffic_call {
  /** NULL if it is not counted. */
  kvo_traffic_row *row;
  int64_t begun;
} kvo_traffic_call;

/** Begins to count, from 0. Only the server's thread calls these two. */
KVO_HIDDEN void kvo__traffic_start(void);
KVO_HIDDEN void kvo__traffic_stop(void);
/** In the child of a fork: does not count there. */
KVO_HIDDEN void kvo__traffic_forked(void);

/** Counts a change, and forgets an observation that has ended. */
KVO_HIDDEN void kvo__traffic_note(const kvo_event_details *details);
/** Counts a notification, if the tap is set; the second function counts its time. */
KVO_HIDDEN kvo_traffic_call kvo__traffic_begin(const kvo_event_details *details);
KVO_HIDDEN void kvo__traffic_end(const kvo_traffic_call *call);

/** Visits each row. */
KVO_HIDDEN void kvo__traffic_visit(void (*visit)(const kvo_traffic_row *row, void *arg), void *arg);
/** How often an observation was notified since counting began; false if that was not counted, because there were too many observations. */
KVO_HIDDEN bool kvo__traffic_of(kvo_observation observation, uint64_t *count);

#endif /* KVO_TRAFFIC_H */

/* watching/events.h - the events that are passed to the history, the trace and the watchdog. Start with kvo_event_details.
 *
 * While nobody listens, an event costs one load and a branch that is not taken; everything else is out of line. */
#ifndef KVO_EVENTS_H
#define KVO_EVENTS_H

#include "lifetimes/lifetimes.h"

typedef enum kvo_moment {
  KVO_MOMENT_REGISTERED,
  KVO_MOMENT_ENDED,
  KVO_MOMENT_CHANGE_BEGINS,
  /** For the trace, of a change in a scope: what follows is not caused by it, until its observers are notified. */
  KVO_MOMENT_CHANGE_PAUSES,
  KVO_MOMENT_CHANGE_RESUMES,
  KVO_MOMENT_CHANGE_ENDS,
  KVO_MOMENT_DELIVERY_BEGINS,
  KVO_MOMENT_DELIVERY_ENDS,
  KVO_MOMENT_DIED,
} kvo_moment;

/** The description of an event. Valid during the call, except where a member says otherwise. */
typedef struct kvo_event_details {
  kvo_moment moment;
  /** Identifies a beginning and its end. That of a change in place may be on another thread. For comparison only. */
  const void *token;
  /** The address of the instance, as a binding knows it; for comparison only. `class_name` and `file` are never freed; `file` may be
   * NULL. */
  const void *object;
  const char *class_name;
  /** The key of a change, or the key path of an observation; NULL for a death and for an end. */
  const char *key_path;
  /** 0 for a change and for a death. */
  kvo_observation observation;
  const char *file;
  uint32_t line;
  kvo_options options;
  /** Of an observation, as it was registered; NULL if unknown. */
  const char *observer_class;
  const void *observer;
  void *context;
  void (*callback)(void);
  const char *note;
  /** For a change and for a delivery. */
  kvo_change_kind kind;
  bool is_prior;
  /** For the beginning of a delivery, otherwise NULL. */
  const kvo_raw_change *change;
} kvo_event_details;

/** The members of kvo__hooks. */
KVO_HIDDEN uint32_t kvo__note_change_begins(kvo_frame_content *change);
KVO_HIDDEN void kvo__note_change_pauses(kvo_frame_content *change);
KVO_HIDDEN void kvo__note_change_resumes(kvo_frame_content *change);
KVO_HIDDEN void kvo__note_change_ends(const kvo_frame_content *change);
KVO_HIDDEN void kvo__note_registered(const kvo_node *node);
KVO_HIDDEN void kvo__note_ended(const kvo_node *node);
KVO_HIDDEN void kvo__note_delivery(const kvo_raw_change *change, const kvo_node *node, kvo_raw_callback callback,
                                   void *user_data);
KVO_HIDDEN void kvo__note_death(const kvo_info *info);

/* ---------------------------------------------------------------------------------------------------- avalanche.c -- */

/** Notes where a set begins and ends on this thread. */
KVO_HIDDEN void kvo__avalanche_note(const kvo_event_details *details);
/** Counts a delivery that begins on this thread, of this observation. Returns whether that was reported. No lock may be
 * held. */
KVO_HIDDEN bool kvo__avalanche_count(const kvo_node *delivered);

/** Sets the taps of kvo__attention as the settings say. Call it once, after they have been read. */
KVO_HIDDEN void kvo__tap_start(void);

#endif /* KVO_EVENTS_H */

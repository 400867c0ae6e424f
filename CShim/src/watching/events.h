/* watching/events.h - what happens in the process, as those who listen are told of it: the history, the trace, the watchdog. A newcomer
 * reads kvo_event_record first.
 *
 * Unless somebody listens, a hook is one load and a branch that is not taken; all else is out of line. */
#ifndef KVO_EVENTS_H
#define KVO_EVENTS_H

#include "lifetimes/lifetimes.h"

typedef enum kvo_moment {
  KVO_MOMENT_REGISTERED,
  KVO_MOMENT_ENDED,
  KVO_MOMENT_CHANGE_BEGINS,
  KVO_MOMENT_CHANGE_ENDS,
  KVO_MOMENT_DELIVERY_BEGINS,
  KVO_MOMENT_DELIVERY_ENDS,
  KVO_MOMENT_DIED,
} kvo_moment;

/** What those who listen are told. Valid during the call, but what says otherwise. */
typedef struct kvo_event_details {
  kvo_moment moment;
  /** Of a beginning, and the same of its end, which is on the same thread. For comparison only. */
  const void *token;
  /** As a binding knows it; for comparison only. The class name lives for ever, as does `file`, which may be NULL. */
  const void *object;
  const char *class_name;
  /** The key of a change, the key path of an observation; NULL of a death, and of an end. */
  const char *key_path;
  /** 0 of a change and of a death. */
  kvo_observation observation;
  const char *file;
  uint32_t line;
  kvo_options options;
  /** Of a change and of a delivery. */
  kvo_change_kind kind;
  bool is_prior;
  /** Of a delivery that begins. */
  const kvo_raw_change *change;
} kvo_event_details;

/** For kvo__hooks. */
KVO_HIDDEN uint32_t kvo__note_change_begins(kvo_frame_content *change);
KVO_HIDDEN void kvo__note_change_ends(const kvo_frame_content *change);
KVO_HIDDEN void kvo__note_registered(const kvo_node *node);
KVO_HIDDEN void kvo__note_ended(const kvo_node *node);
KVO_HIDDEN void kvo__note_delivery(const kvo_raw_change *change, const kvo_node *node, kvo_raw_callback callback,
                                   void *user_data);
KVO_HIDDEN void kvo__note_death(const kvo_info *info);

/** Called once, when the settings have been read. */
KVO_HIDDEN void kvo__tap_start(void);

#endif /* KVO_EVENTS_H */

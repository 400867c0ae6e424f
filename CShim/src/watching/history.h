/* watching/history.h - the last events of the process, for reports: history.c. */
#ifndef KVO_INTERNAL_HISTORY_H
#define KVO_INTERNAL_HISTORY_H

#include "watching/events.h"

enum { KVO_PAST = 16, KVO_PAST_KEY = 80 };

/** The last events of an object, with the strings that they point to. */
typedef struct kvo_past {
  kvo_event events[KVO_PAST];
  char key_paths[KVO_PAST][KVO_PAST_KEY], values[KVO_PAST][KVO_VALUE_TEXT];
} kvo_past;

/** Allocates a ring for this many events; false without memory. Call it once, before the first event. */
KVO_HIDDEN bool kvo__history_start(uint32_t capacity);
KVO_HIDDEN void kvo__history_note(const kvo_event_details *details);
/** Stores the last KVO_PAST events, oldest first, of one object or, if it is NULL, of all. Returns how many; 0 unless KVO_HISTORY is set.
 * Takes no lock and allocates nothing, so it may be called in a signal handler. The strings are in `out` or are never freed. */
KVO_HIDDEN size_t kvo__history_of(const void *object, kvo_past *out);

#endif /* KVO_INTERNAL_HISTORY_H */

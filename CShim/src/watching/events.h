/* events.h - one tap of what happens in the process, for all that want to know: the history, the trace, the watchdog. Part of
 * internal.h.
 *
 * Unless somebody listens, a hook is one load and a branch that is not taken; all else is out of line. */
#ifndef KVO_EVENTS_H
#define KVO_EVENTS_H

#include "internal.h"

struct kvo_frame_content;

/** Who listens. */
enum kvo_tap { KVO_TAP_HISTORY = 1, KVO_TAP_TRACE = 2, KVO_TAP_SLOW = 4, KVO_TAP_USE = 8 };

/** Bits of kvo_tap. */
extern KVO_HIDDEN _Atomic uint32_t kvo__tap;

static inline bool kvo__is_tapped(void) {
  return __builtin_expect(atomic_load_explicit(&kvo__tap, memory_order_relaxed) != 0, false);
}

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
typedef struct kvo_happening {
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
} kvo_happening;

/** Returns what the change's begin is to answer. */
KVO_HIDDEN uint32_t kvo__note_change_begins(struct kvo_frame_content *change);
KVO_HIDDEN void kvo__note_change_ends(const struct kvo_frame_content *change);
KVO_HIDDEN void kvo__note_node(const kvo_node *node, kvo_moment moment);
KVO_HIDDEN void kvo__note_delivery(const kvo_raw_change *change, const kvo_node *node, kvo_raw_callback callback,
                                   void *user_data);
KVO_HIDDEN void kvo__note_death(const kvo_info *info);

/** Called once, when the knobs have been read. */
KVO_HIDDEN void kvo__tap_start(void);

/** Copies a text, NUL included, as far as it fits, and marks a cut; `size` is 4 at least. */
enum { KVO_VALUE_TEXT = 64 };
KVO_HIDDEN void kvo__copy_cut(char *to, size_t size, const char *text);
/** The new value as a text of `size` bytes at most, 16 at least, NUL included. False: not told, or not of a type that C knows. */
KVO_HIDDEN bool kvo__new_value_text(const kvo_raw_change *change, char *to, size_t size);

/** Whether two changes are known to have told the same new value. */
KVO_HIDDEN bool kvo__tells_same(const kvo_raw_change *one, const kvo_raw_change *other);

/** An observation's own node, which the caller keeps from being freed. */
static inline void kvo__tap_node(const kvo_node *node, kvo_moment moment) {
  if (kvo__is_tapped()) kvo__note_node(node, moment);
}

/** Calls back, if tapped between a beginning and an end. The node is as above. */
static inline void kvo__call_noted(bool tapped, const kvo_raw_change *change, const kvo_node *node,
                                   kvo_raw_callback callback, void *user_data) {
  if (tapped)
    kvo__note_delivery(change, node, callback, user_data);
  else
    callback(change, user_data);
}

static inline void kvo__tap_death(const kvo_info *info) {
  if (kvo__is_tapped()) kvo__note_death(info);
}

#endif /* KVO_EVENTS_H */

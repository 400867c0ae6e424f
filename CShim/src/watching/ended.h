/* watching/ended.h - the log of observations that have ended: ended.c. */
#ifndef KVO_ENDED_H
#define KVO_ENDED_H

#include "hooks.h"
#include "platform/settings.h"

/** An observation that has ended. Those made by a binding's tokens are not logged, because nobody can remove them twice;
 * nor those that ended because their observer was dead, because nobody has removed them. */
typedef struct kvo_ended {
  kvo_observation id;
  /** The number of this entry, and that of the previous entry in the same bucket. */
  uint64_t number, older;
  const void *object;
  const char *object_class;
  const void *observer;
  const void *context;
  kvo_options options;
  /** Where it was registered, and where it was removed. */
  kvo_place registered, ended;
  uint32_t thread;
  /** It was ended by the death of its object. */
  bool by_death;
  /** The object has died. */
  bool object_died;
  /** The hash of the whole key path, of which `path_copy` may hold only the beginning. */
  kvo_key path_hash;
  int64_t nanoseconds;
  /** The callback of an observation of C, or NULL. */
  void (*callback)(void);
  char observer_class[40];
  /** The name of a property, which is never freed; or NULL if the path is in `path_copy`. */
  const char *property_name;
  char path_copy[80];
} kvo_ended;

/** The calls that registered an observation and those that ended it, innermost first. */
typedef struct kvo_ended_stacks {
  uint32_t registered_count, ended_count;
  void *registered[KVO_MAX_STACKS], *ended[KVO_MAX_STACKS];
} kvo_ended_stacks;

static inline const char *kvo__ended_path(const kvo_ended *entry) {
  return entry->property_name != NULL ? entry->property_name : entry->path_copy;
}

/** Logs an observation that has just ended and whose node is not retired yet. No lock may be held. */
KVO_HIDDEN void kvo__remember_ended(const kvo_node *node, bool by_death, kvo_place place);
/** Marks the entries of an object that is being destroyed: from now on its address may belong to another object. No lock may be held. */
KVO_HIDDEN void kvo__forget_ended(const kvo_info *info);
/** Waits until all removals in progress on other threads have logged their observations. No lock may be held. */
KVO_HIDDEN void kvo__ended_await(void);
/** Copies the newest entry of an id; false if there is none (any more). */
KVO_HIDDEN bool kvo__ended_by_id(kvo_observation id, kvo_ended *out);
/** Copies the newest entry with this observer and key path for the object that is now at this address, or, if `of_dead`, for an earlier one
 * there. */
KVO_HIDDEN bool kvo__ended_find(const void *object, const kvo_observer_identity *observer, const char *key_path,
                                const void *context, bool match_context, bool of_dead, kvo_ended *out);
/** Copies the entries of the object that is now at this address, newest first. Returns how many. */
KVO_HIDDEN size_t kvo__ended_at(const void *object, kvo_ended *out, size_t capacity);
/** Copies the stacks of an entry that was copied before; none without KVO_STACKS, or if the log has overwritten the entry meanwhile. */
KVO_HIDDEN void kvo__ended_stacks(const kvo_ended *entry, kvo_ended_stacks *out);

#endif /* KVO_ENDED_H */

/* ended.h - what is remembered of observations that have ended: ended.c. */
#ifndef KVO_ENDED_H
#define KVO_ENDED_H

#include "hooks.h"

enum { KVO_ENDED_FRAMES = 8 };

/** An observation that has ended. Observations made by tokens of a binding are not remembered: nobody can remove them twice. */
typedef struct kvo_ended {
  kvo_observation id;
  /** Its own number, and that of the one before it in the same bucket. */
  uint64_t number, older;
  const void *object;
  const char *object_class;
  const void *observer;
  const void *context;
  kvo_options options;
  /** Where it was made, and where it was removed. */
  kvo_place registered, ended;
  uint32_t thread;
  /** The object's death ended it. */
  bool by_death;
  /** The object has died, then or later. */
  bool object_died;
  /** Of the whole key path, of which `path_copy` may be the beginning only. */
  kvo_key path_hash;
  int64_t nanoseconds;
  uint32_t frame_count;
  void *frames[KVO_ENDED_FRAMES];
  char observer_class[40];
  /** The name of a property, which lives for ever, or NULL for a copy. */
  const char *property_name;
  char path_copy[80];
} kvo_ended;

static inline const char *kvo__ended_path(const kvo_ended *entry) {
  return entry->property_name != NULL ? entry->property_name : entry->path_copy;
}

/** Of an observation that has just ended, before its node is retired: it is remembered, if it may be. No lock may be held. */
KVO_HIDDEN void kvo__remember_ended(const kvo_node *node, bool by_death, kvo_place place);
/** An observed object dies: what is remembered of it is another one's from now on. No lock may be held. */
KVO_HIDDEN void kvo__forget_ended(const kvo_info *info);
/** Waits until no other thread is just ending an observation: what it ends is remembered then. No lock may be held. */
KVO_HIDDEN void kvo__ended_await(void);
/** The newest entry of an id; false when there is none (any more). */
KVO_HIDDEN bool kvo__ended_by_id(kvo_observation id, kvo_ended *out);
/** The newest entry of what an observer observed of the object that is now at this address, or, if `of_dead`, of one before it. */
KVO_HIDDEN bool kvo__ended_find(const void *object, const void *observer, const char *key_path, const void *context,
                                bool match_context, bool of_dead, kvo_ended *out);
/** What was removed from the object that is now at this address, newest first. */
KVO_HIDDEN size_t kvo__ended_at(const void *object, kvo_ended *out, size_t capacity);

#endif /* KVO_ENDED_H */

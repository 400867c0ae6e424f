/* kvo_track.h - UNSTABLE, part of kvo_binding.h: what a getter and an evaluation tell the runtime about what an expression reads, beyond
 * kvo_track_read. */
#ifndef KVO_TRACK_H
#define KVO_TRACK_H

#include <kvo/kvo_binding.h>

#ifdef __cplusplus
extern "C" {
#endif

KVO_ASSUME_NONNULL_BEGIN

/** kvo_track_read for key-value coding, which calls the getter next: a kvo_track_read that the getter then makes is not counted. */
KVO_API void kvo_track_coded_read(kvo_object *object, kvo_key key);

/** A property that an evaluation has read. */
typedef struct kvo_read {
  /** For comparison only: the object may be dead. */
  kvo_object *object;
  /** NULL for an undefined key. */
  const kvo_property *KVO_NULLABLE property;
} kvo_read;

/** Returns how many reads there were, within `evaluate`, while this thread records, and stores the first of them in order, at most
 * `capacity` and at most 16. NULL stores nothing. */
KVO_API size_t kvo_track_reads(kvo_read *KVO_NULLABLE reads, size_t capacity);

/** Stops recording on this thread. Returns what to pass to kvo_track_resume within the same `evaluate`. */
KVO_API void *KVO_NULLABLE kvo_track_pause(void);

/** Goes on recording on this thread, after kvo_track_pause. */
KVO_API void kvo_track_resume(void *KVO_NULLABLE paused);

/** At the end of `evaluate`: declares that the result is the value of this key. Changes of the key then notify directly, with its property
 * and its values, without evaluating; a last value that is kept is made by `of_property`. Has no effect unless this key was the last read,
 * was read only once, and there were at most 16 reads. The object need not be alive any more. */
KVO_API void kvo_track_value_is_of(kvo_object *object, kvo_key key);

/** Within `evaluate`: declares that the result is a collection with the elements of this key, which was read; for example of a computed
 * property. An indexed change announced for the key is then delivered as such, with its elements and indexes; other changes evaluate the
 * expression. */
KVO_API void kvo_track_elements_are_of(kvo_object *object, kvo_key key);

KVO_ASSUME_NONNULL_END

#ifdef __cplusplus
}
#endif

#endif /* KVO_TRACK_H */

/* effects.h - what callbacks were seen to change: effects.c. Not installed. */
#ifndef KVO_INTERNAL_EFFECTS_H
#define KVO_INTERNAL_EFFECTS_H

#include "internal.h"

/** So many are remembered; of more the first. */
enum { KVO_MOST_EFFECTS = 1024 };

typedef struct kvo_effect {
  kvo_observation by;
  /** As a binding knows it, for comparison; NULL when it has died. */
  const void *object;
  char key[48];
} kvo_effect;

/** A callback of this observation changes a key of an object. */
KVO_HIDDEN void kvo__effect_note(kvo_observation by, const void *object, const char *key);
/** The object dies: another may come to its address. */
KVO_HIDDEN void kvo__effects_forget(const void *object);
/** Copies as many as there is room for, and returns how many there are. */
KVO_HIDDEN size_t kvo__effects_copy(kvo_effect *out, size_t capacity);

#endif /* KVO_INTERNAL_EFFECTS_H */

/* places.h - places in the program's source: places.c. */
#ifndef KVO_PLACES_H
#define KVO_PLACES_H

#include "hooks.h"

/** Where the constants of the executable are, which stay as long as the process. */
extern KVO_HIDDEN struct kvo_constants { uintptr_t begin, size; } kvo__constants;

/** Finds them. At the start of the process, as it takes the loader's lock. */
KVO_HIDDEN void kvo__places_start(void);
KVO_HIDDEN const char *kvo__keep_file_slowly(const char *file);

/** The name of a file as it may be kept: itself, if it is a constant of the executable, and else a copy. NULL of NULL, without memory, and
 * when there are some thousand different ones. */
static inline const char *kvo__keep_file(const char *file) {
  return (uintptr_t)file - kvo__constants.begin < kvo__constants.size ? file : kvo__keep_file_slowly(file);
}

static inline kvo_place kvo__keep(kvo_place place) { return (kvo_place){kvo__keep_file(place.file), place.line}; }

#endif /* KVO_PLACES_H */

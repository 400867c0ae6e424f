/* registry/places.h - source locations that outlive the module which contains their strings: places.c. */
#ifndef KVO_PLACES_H
#define KVO_PLACES_H

#include "hooks.h"

/** The address range of the executable's constants, which stay valid for the life of the process. */
extern KVO_HIDDEN struct kvo_constants { uintptr_t begin, size; } kvo__constants;

/** Finds that range. Call it at the start of the process, because it takes the loader's lock. */
KVO_HIDDEN void kvo__places_start(void);
KVO_HIDDEN const char *kvo__keep_file_slowly(const char *file);

/** A copy of a file name that stays valid for ever: the argument itself if it is a constant of the executable. NULL for NULL, without
 * memory, and once some thousand different names have been copied. */
static inline const char *kvo__keep_file(const char *file) {
  return (uintptr_t)file - kvo__constants.begin < kvo__constants.size ? file : kvo__keep_file_slowly(file);
}

static inline kvo_place kvo__keep(kvo_place place) { return (kvo_place){kvo__keep_file(place.file), place.line}; }

#endif /* KVO_PLACES_H */

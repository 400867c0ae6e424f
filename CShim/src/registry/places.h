/* registry/places.h - source locations that outlive the module which contains their strings: places.c. */
#ifndef KVO_PLACES_H
#define KVO_PLACES_H

#include "hooks.h"

/** A source location in 32 bits, valid for ever: the number of a file name, and the line; or 0. */
typedef uint32_t kvo_site;

/** Finds the executable's constants. Call it at the start of the process, because it takes the loader's lock. */
KVO_HIDDEN void kvo__places_start(void);
/** Keeps a source location, with a copy of the file name unless it is a constant of the executable. 0 for NULL, without memory, for a line
 * above half a million, and for a new name once there are some thousand. */
KVO_HIDDEN kvo_site kvo__site(const char *file, uint32_t line);
/** A location that was kept; for 0 KVO_NOWHERE. */
KVO_HIDDEN kvo_place kvo__site_place(kvo_site site);

/** The same file name in memory that stays valid for ever, or NULL, as for kvo__site. */
static inline const char *kvo__keep_file(const char *file) { return kvo__site_place(kvo__site(file, 0)).file; }

static inline kvo_place kvo__keep(kvo_place place) { return (kvo_place){kvo__keep_file(place.file), place.line}; }

#endif /* KVO_PLACES_H */

/* model_paths.h - key paths in the model's world, and what reading one reads. */
#ifndef KVO_FUZZ_MODEL_PATHS_H
#define KVO_FUZZ_MODEL_PATHS_H

#include "world.h"

enum { READS = 64 };

/* One key of one object that was read, or that an observation hears of, since when. */
typedef struct interest {
  int slot, key;
  long since;
} interest;

typedef struct reads {
  int count;
  interest all[READS];
} reads;

bool model_defines(const world *in, int slot, key of);
/* Whether a key path is well formed. */
kvo_status model_check(const char *path);
/* Moves to the object and key at the end of a path; to slot -1 for a nil or a dead object on the way. What is read goes into
 * `into`, if that is not NULL. */
kvo_status model_walk(world *in, reads *into, int *slot, const char *path, key *last);
/* The value at the end of a path. `end`, if not NULL, is set to the key whose stored value that is, or to slot -1: it is
 * computed, or nil, or the key is on the way too. */
kvo_status model_read(world *in, reads *into, int slot, const char *path, value *out, interest *end);

#endif

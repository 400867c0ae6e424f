/* model_paths.h - key paths in the model's world, and the keys that reading one reads. */
#ifndef KVO_FUZZ_MODEL_PATHS_H
#define KVO_FUZZ_MODEL_PATHS_H

#include "world.h"

enum { READS = 64 };

/* A key of an object that was read, or to which an observation has a link: since when, and when it was read last. */
typedef struct interest {
  int slot, key;
  long linked, read;
} interest;

typedef struct reads {
  int count;
  /** A path has led to an object that has died, to which something still refers. */
  bool has_met_dead;
  interest all[READS];
} reads;

/* Notes a read of a key. Only the first counts: what is read again was first read before it. */
void model_note(const world *in, reads *into, int slot, key of);
bool model_defines(const world *in, int slot, key of);
/* Whether a key path is well formed. */
kvo_status model_check(const char *path);
/* Finds the object and the key at the end of a path; slot -1 if an intermediate value is nil or a dead object. Keys that are read are added
 * to `into`, unless it is NULL. */
kvo_status model_walk(world *in, reads *into, int *slot, const char *path, key *last);
/* The value at the end of a path. Sets `end`, unless NULL, to the key whose stored value it is; to slot -1 if it is computed or nil, or if
 * the key is also an intermediate one. */
kvo_status model_read(world *in, reads *into, int slot, const char *path, value *out, interest *end);

#endif

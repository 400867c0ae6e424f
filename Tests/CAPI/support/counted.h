/* counted.h - a binding of a language with reference counts, in C: objects that live as long as they are referenced, with storage under a
 * lock, and observers of paths through them. */
#ifndef KVO_TEST_COUNTED_H
#define KVO_TEST_COUNTED_H

#include "harness.h"

#include <kvo/kvo_binding.h>

/* Keys: next (@) and count (i). */
typedef struct counted counted;

/* Returns an object with one reference, which the caller owns. */
counted *counted_make(int count);
counted *counted_retain(counted *of);
/* Releases a reference; the last one, which may be that of an evaluation, destroys the object. NULL is ignored. */
void counted_release(counted *of);
kvo_object *counted_object(counted *of);

/* The accessors. A setter takes over the caller's reference and releases the previous value after the store. */
counted *counted_next(counted *of);
void counted_set_next(counted *of, counted *next);
void counted_set_count(counted *of, int count);
/* Stores without the accessors, so without notification. */
void counted_store_next(counted *of, counted *next);

/* Called, unless NULL, after a getter has read `next` and before it returns. */
extern void (*counted_has_read)(counted *of);
/* Called, unless NULL, by the setter of `next`: after it has tested whether the object is observed and before it stores; and after the
 * store. */
extern void (*counted_pause)(void);

/* The last value delivered to an observation, the number of deliveries, and whether it was destroyed. */
typedef struct counted_watcher {
  counted *root;
  int depth;
  kvo_observation id;
  _Atomic int calls, priors, destroyed;
  /* -1: nil. */
  _Atomic int last_old, last_new;
} counted_watcher;

/* Observes the path of `depth` times `next`, then `count`. The caller keeps the root. */
void counted_watch(counted_watcher *watcher, counted *root, int depth, int options);

#endif

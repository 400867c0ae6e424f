/* counted.h - what a binding of a language with reference counts does, in C: objects that live as long as somebody refers to them,
 * whose storage is under a lock, and observers of paths through them. */
#ifndef KVO_TEST_COUNTED_H
#define KVO_TEST_COUNTED_H

#include "harness.h"

#include <kvo/kvo_binding.h>

/* Keys: next (@) and count (i). */
typedef struct counted counted;

/* One reference, the caller's. */
counted *counted_make(int count);
counted *counted_retain(counted *of);
/* Ends the object with its last reference, which may be that of an evaluation. NULL is nothing. */
void counted_release(counted *of);
kvo_object *counted_object(counted *of);

/* Through the accessors. A setter takes over the caller's reference; the one before goes with the store. */
counted *counted_next(counted *of);
void counted_set_next(counted *of, counted *next);
void counted_set_count(counted *of, int count);
/* The same past the accessors. */
void counted_store_next(counted *of, counted *next);

/* Called, unless NULL, when a getter has read `next` and before it is returned. */
extern void (*counted_has_read)(counted *of);
/* Called, unless NULL, when the setter of `next` has asked whether it is observed and not stored yet, and when it has stored. */
extern void (*counted_pause)(void);

/* What one observation was told last, and how often; and its end. */
typedef struct counted_watcher {
  counted *root;
  int depth;
  kvo_observation id;
  _Atomic int calls, priors, destroyed;
  /* -1: nil. */
  _Atomic int last_old, last_new;
} counted_watcher;

/* Observes `next`, `depth` times, and then `count`; the root is the caller's to keep. */
void counted_watch(counted_watcher *watcher, counted *root, int depth, int options);
/* The same without looking at the status. */
kvo_status counted_try_watch(counted_watcher *watcher, counted *root, int depth, int options);

#endif

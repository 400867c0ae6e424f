/* shared.h - objects that several threads may set at once, observers on the heap, and a way to run on several threads. */
#ifndef KVO_TEST_SHARED_H
#define KVO_TEST_SHARED_H

#include "harness.h"

#include <stdatomic.h>

enum { THREADS = 8 };

/* Keys: value (i), next (@), slow (i, read-only, affected by next.next). The storage is atomic, so that threads may set it at once. */
typedef struct shared {
  kvo_object header;
  _Atomic int value;
  _Atomic(struct shared *) next;
  /** How many times the setter of `value` ran. */
  _Atomic int sets;
} shared;

/* What the getter of `slow` calls, unless NULL: it may take its time. */
extern void (*_Atomic in_slow_getter)(const shared *of);

/* Registers a class of such objects. */
kvo_status shared_register(const char *name, kvo_class **out);
shared *shared_make_of(kvo_class *cls);
/* One of the class "Shared". */
shared *shared_make(void);
void shared_destroy(shared *object);

static inline void set(shared *object, int value) { KVO_SET(object, "value", int, value); }
static inline void set_next(shared *object, shared *next) { KVO_SET(object, "next", shared *, next); }

/* Observes with an observer of its own on the heap, which counts into `*calls` and, at its end, `*destroyed`; either may be NULL. A
 * use after the end is seen by the sanitizers, and without them by a check. */
kvo_observation observe(shared *object, const char *key_path, int options, _Atomic int *calls, _Atomic int *destroyed);
/* The same with a callback of the test's. */
kvo_observation observe_with(shared *object, const char *key_path, int options, kvo_callback callback, void *user_data);

/* Runs `body` on THREADS threads at once, with the number of the thread, and waits for them. */
void on_threads(void (*body)(int number));
/* A thread that runs `body(arg)`; the sanitizers know a thread by that function. */
typedef struct running running;
running *start_thread(void (*body)(void *arg), void *arg);
void join_thread(running *thread);

/* Waits for another thread to set the flag. */
void await(const _Atomic int *flag);
/* Long enough for another thread to do what it must not do. */
void a_moment(void);

/* How many rounds to run, fewer under a tool. */
int rounds(int normally);

#endif

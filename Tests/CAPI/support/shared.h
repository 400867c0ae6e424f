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
  /** How often the setter of `value` has run. */
  _Atomic int sets;
} shared;

/* Called by the getter of `slow`, unless NULL; it may take long. */
extern void (*_Atomic in_slow_getter)(const shared *of);

/* Registers a class of such objects. */
kvo_status shared_register(const char *name, kvo_class **out);
shared *shared_make_of(kvo_class *cls);
/* An object of the class "Shared". */
shared *shared_make(void);
void shared_destroy(shared *object);

static inline void set(shared *object, int value) { KVO_SET(object, "value", int, value); }
static inline void set_next(shared *object, shared *next) { KVO_SET(object, "next", shared *, next); }

/* Registers an allocated observer, which counts calls in `*calls` and its destruction in `*destroyed`; either may be NULL. A use after its
 * destruction is detected by the sanitizers, and otherwise by a check. */
kvo_observation observe(shared *object, const char *key_path, int options, _Atomic int *calls, _Atomic int *destroyed);
/* The same with the test's own callback. */
kvo_observation observe_with(shared *object, const char *key_path, int options, kvo_callback callback, void *user_data);

/* Runs `body` on THREADS threads simultaneously, with the number of the thread, and waits for them. */
void on_threads(void (*body)(int number));
/* A thread that runs `body(arg)`. The sanitizers name a thread by this function. */
typedef struct running running;
running *start_thread(void (*body)(void *arg), void *arg);
void join_thread(running *thread);

/* Waits until another thread sets the flag. */
void await(const _Atomic int *flag);
/* Waits long enough for another thread to do what it must not do. */
void a_moment(void);

/* The number of rounds to run: fewer under a tool, and divided by the variable KVO_TEST_FEWER. */
int rounds(int normally);

#endif

/* starving.c - threads that ask about observations without pause: the others go on meanwhile. */
#include "shared.h"

#include <kvo/kvo_binding.h>
#include <stdlib.h>
#include <time.h>

enum { ASKERS = 4, SECONDS = 8 };
static const double enough = 1; /* second */

static shared *object;
static kvo_observation paused;
static _Atomic int asked, is_done, destroyed;

static double now(void) {
  struct timespec time;
  clock_gettime(CLOCK_MONOTONIC, &time);
  return (double)time.tv_sec + (double)time.tv_nsec / 1e9;
}

/* What a thread asks without pause. They stop by themselves after SECONDS; half of that is a failure. */
typedef void (*question)(void);

static void ask(void *arg) {
  for (double begun = now(); is_done == 0 && now() - begun < SECONDS;) {
    (*(question *)arg)();
    asked++;
  }
}

static void is_paused(void) { CHECK(kvo_observation_is_paused(paused)); }
static void pause_again(void) { CHECK_OK(kvo_observation_pause(paused)); }
static void end_none(void) { CHECK_EQ(kvo_binding_end_all(NULL, &asked, NULL, false, NULL, 0), 0); }

static void register_while(question asks) {
  object = shared_make();
  paused = observe(object, "value", KVO_NEW, NULL, NULL);
  CHECK_OK(kvo_observation_pause(paused));
  asked = is_done = destroyed = 0;
  running *askers[ASKERS];
  double begun = now();
  for (int i = 0; i < ASKERS; i++) askers[i] = start_thread(ask, &asks);
  while (asked < ASKERS) a_moment();
  int registered = 0;
  for (; now() - begun < enough; registered++)
    CHECK_OK(kvo_cancel_observer(observe(object, "value", KVO_NEW, NULL, &destroyed)));
  double took = now() - begun;
  is_done = 1;
  for (int i = 0; i < ASKERS; i++) join_thread(askers[i]);
  CHECK_EQ((int)destroyed, registered);
  if (took >= SECONDS / 2) harness_fail(__FILE__, __LINE__, "%d registrations took %.1f s", registered, took);
  CHECK_OK(kvo_cancel_observer(paused));
  shared_destroy(object);
}

TEST("threads that ask without pause whether an observation is paused do not keep others from registering") {
  register_while(is_paused);
}

TEST("threads that pause an observation without pause do not keep others from registering") {
  register_while(pause_again);
}

TEST("threads that search all observations without pause do not keep others from registering") {
  register_while(end_none);
}

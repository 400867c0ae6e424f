/* starving.c - threads that ask about observations without pause: the others go on meanwhile. */
#include "staying.h"

#include <kvo/kvo_binding.h>

enum { ASKERS = 4 };
/* Nanoseconds. The askers stop by themselves after the longer time; half of that is a failure. */
enum { SECOND = 1000000000 };
static const long long enough = SECOND, longest = 8ll * SECOND;

static shared *object;
static kvo_observation paused;
static _Atomic int asked, is_done, destroyed;

/* What a thread asks without pause. */
typedef void (*question)(void);

static void ask(void *arg) {
  for (long long begun = now(); is_done == 0 && now() - begun < longest; asked++) (*(question *)arg)();
}

static void is_paused(void) { CHECK(kvo_observation_is_paused(paused)); }
static void pause_again(void) { CHECK_OK(kvo_observation_pause(paused)); }
static void end_none(void) { CHECK_EQ(kvo_binding_end_all(NULL, &asked, NULL, false, NULL, 0), 0); }

static void register_while(question asks) {
  asked = is_done = destroyed = 0;
  object = shared_make();
  paused = observe(object, "value", KVO_NEW, NULL, NULL);
  CHECK_OK(kvo_observation_pause(paused));
  running *askers[ASKERS];
  long long begun = now();
  for (int i = 0; i < ASKERS; i++) askers[i] = start_thread(ask, &asks);
  while (asked < ASKERS) a_moment();
  int registered = 0;
  for (; now() - begun < enough; registered++)
    CHECK_OK(kvo_cancel_observer(observe(object, "value", KVO_NEW, NULL, &destroyed)));
  CHECK(now() - begun < longest / 2);
  is_done = 1;
  for (int i = 0; i < ASKERS; i++) join_thread(askers[i]);
  CHECK_EQ((int)destroyed, registered);
  CHECK_OK(kvo_cancel_observer(paused));
  shared_destroy(object);
}

TEST("threads that ask about observations, or pause them, without pause do not keep others from registering") {
  static const question questions[] = {is_paused, pause_again, end_none};
  for (size_t i = 0; i < sizeof questions / sizeof *questions; i++) register_while(questions[i]);
}

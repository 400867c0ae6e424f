/* leaving_destroy.c - destroy functions that are left with longjmp, or in which the thread ends. */
#include "fixture.h"
#include "shared.h"

#include <pthread.h>
#include <setjmp.h>
#include <stdint.h>

/* Memory used by calls that a jump crosses is never freed: disable LeakSanitizer. */
const char *__asan_default_options(void);
const char *__asan_default_options(void) { return "detect_leaks=0"; }

static jmp_buf out;

enum { OBSERVED = 4 };
static kvo_observation several[OBSERVED];
static int ended_count[OBSERVED];
static enum { RETURNS, EXITS, JUMPS } how;
static shared *several_of;

static void destroy_and_leave(void *user_data) {
  intptr_t i = (intptr_t)user_data;
  ended_count[i]++;
  if (i == 1 && how == EXITS) pthread_exit(NULL);
  if (i == 1 && how == JUMPS) longjmp(out, 1);
}

static void end_others(const kvo_change *change, void *user_data) {
  (void)change;
  for (int i = 0; (intptr_t)user_data == OBSERVED - 1 && i < OBSERVED - 1; i++) kvo_cancel_observer(several[i]);
}

static void *set_several(void *arg) {
  if (how != JUMPS || setjmp(out) == 0) set(several_of, 1);
  return arg;
}

TEST(
    "a destroy function that is left, or in which the thread ends, keeps no other from being called at the thread's end") {
  for (how = RETURNS; how <= JUMPS; how++) {
    several_of = shared_make();
    for (intptr_t i = 0; i < OBSERVED; i++) {
      ended_count[i] = 0;
      kvo_observer observer = {.struct_size = sizeof observer,
                               .key_path = "value",
                               .options = KVO_ENDS_WITH_OBJECT,
                               .callback = end_others,
                               .user_data = (void *)i,
                               .destroy = destroy_and_leave};
      CHECK_OK(kvo_add_observer(&several_of->header, &observer, &several[i]));
    }
    pthread_t thread;
    CHECK(pthread_create(&thread, NULL, set_several, NULL) == 0);
    CHECK(pthread_join(thread, NULL) == 0);
    shared_destroy(several_of);
    for (int i = 0; i < OBSERVED; i++) CHECK_EQ(ended_count[i], 1);
  }
}

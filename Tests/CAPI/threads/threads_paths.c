/* threads_paths.c - key paths whose intermediate objects several threads replace. */
#include "shared.h"

static shared *object;
static _Atomic int calls, path_calls, destroyed;

enum { MIDDLES = 4 };
static shared *middles[MIDDLES], *leaves[MIDDLES];

static void replace_many(int number) {
  for (int i = 0; i < rounds(5000); i++) {
    int one = (i + number) % MIDDLES, two = i / 3 % MIDDLES;
    if (number % 4 == 0)
      set(leaves[one], i);
    else if (number % 4 == 1)
      set_next(object, middles[one]);
    else
      set_next(middles[one], i % 5 == 0 ? NULL : leaves[two]);
  }
}

/* Sets objects on the path and objects that are not; only the former notify, once. */
static void check_subscribed(_Atomic int *told) {
  for (int i = 0; i < MIDDLES; i++) {
    bool on_path = object->next == middles[i];
    *told = 0;
    set_next(middles[i], middles[i]->next);
    CHECK_EQ((int)*told, on_path);
  }
  for (int i = 0; i < MIDDLES; i++) {
    bool on_path = object->next->next == leaves[i];
    *told = 0;
    set(leaves[i], 1);
    CHECK_EQ((int)*told, on_path);
  }
}

TEST("a path whose intermediate objects several threads replace is in the end subscribed to the last ones only") {
  for (int round = 0; round < rounds(40); round++) {
    object = shared_make();
    for (int i = 0; i < MIDDLES; i++) {
      middles[i] = shared_make();
      leaves[i] = shared_make();
    }
    object->next = middles[0];
    kvo_observation one = observe(object, "next.next.value", KVO_NEW, &calls, &destroyed);
    kvo_observation two = observe(object, "next.next.value", KVO_NEW | KVO_OLD | KVO_PRIOR, &path_calls, &destroyed);
    on_threads(replace_many);
    check_subscribed(&calls);
    check_subscribed(&path_calls);
    CHECK_OK(kvo_remove_observer(one));
    CHECK_OK(kvo_remove_observer(two));
    for (int i = 0; i < MIDDLES; i++) {
      CHECK(!kvo_object_is_observed(&middles[i]->header) && !kvo_object_is_observed(&leaves[i]->header));
      shared_destroy(middles[i]);
      shared_destroy(leaves[i]);
    }
    shared_destroy(object);
  }
  CHECK_EQ((int)destroyed, 2 * rounds(40));
}

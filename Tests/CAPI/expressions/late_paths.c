/* late_paths.c - sets that began before a key path led to the object: the path follows the new value. */
#include "counted.h"
#include "hooked.h"
#include "shared.h"

#include <kvo/kvo_binding.h>
#include <sched.h>
#include <unistd.h>

/* ----------------------------------------------------------------------------------------------- On one thread -- */

static item *root, *end;
static watcher path;

static void bring_onto_path(item *of) {
  in_setter = NULL;
  item_set_next(root, of);
}

TEST("a setter that puts its own object onto an observed path, before it stores, notifies that path") {
  static const char *const rows[] = {"nothing else", "another change is announced", "another key is muted",
                                     "the object is observed for another key"};
  item *unrelated = item_make(0);
  watcher of_unrelated = {0}, of_other_key = {0};
  watch(unrelated, "value", KVO_NONE, &of_unrelated);
  for (int row = 0; row < 4; row++) {
    root = item_make(0);
    end = hooked_make(3);
    path = (watcher){0};
    watch(root, "next.value", KVO_NEW | KVO_OLD, &path);
    kvo_mute mute;
    if (row == 1) CHECK_OK(kvo_will_change(as_object(unrelated), "value"));
    if (row == 2) kvo_mute_begin(&mute, as_object(unrelated), kvo_key_hash("value", 5));
    if (row == 3) watch(end, "next", KVO_NONE, &of_other_key);
    in_setter = bring_onto_path;
    item_set_value(end, 5);
    if (row == 1) CHECK_OK(kvo_did_change(as_object(unrelated), "value"));
    if (row == 2) kvo_mute_end(&mute);
    if (path.calls != 2 || path.old_value.integer != 3 || path.new_value.integer != 5)
      harness_fail(__FILE__, __LINE__, "%s: %d calls, the last one of %lld to %lld", rows[row], path.calls,
                   path.old_value.integer, path.new_value.integer);
    item_set_value(end, 6);
    CHECK_EQ(path.calls, 3);
    CHECK_EQ(path.old_value.integer, 5);
    CHECK_OK(kvo_remove_observer(path.id));
    item_destroy(root);
    if (row == 3) CHECK_OK(kvo_remove_observer(of_other_key.id));
    kvo_object_destroy(as_object(end));
  }
  CHECK_OK(kvo_remove_observer(of_unrelated.id));
  item_destroy(unrelated);
}

/* ----------------------------------------------------------------------------------------------------- Threads -- */

enum { LEVELS = 4 };
static counted *top;
static counted_watcher watcher_of_all;

/* Not destroyed before the end of a round, because the death of a replaced object would be a change, too. */
static counted *kept[256];
static _Atomic int kept_count;

static counted *make_path(int depth) {
  counted *first = counted_make(depth);
  kept[kept_count++] = counted_retain(first);
  if (depth > 0) counted_set_next(first, make_path(depth - 1));
  return first;
}

/* Replaces the object at this depth, reached through those above it. */
static void replace_at(int depth, int value) {
  counted *at = counted_retain(top);
  for (int i = 0; i < depth && at != NULL; i++) {
    counted *next = counted_next(at);
    counted_release(at);
    at = next;
  }
  if (at != NULL && depth == LEVELS)
    counted_set_count(at, value);
  else if (at != NULL)
    counted_set_next(at, make_path(LEVELS - depth - 1));
  counted_release(at);
}

static _Atomic int ready;
static int watched_round;

/* Guards the storage, as a binding's lock does. */
static void pause_in_setter(void) {
  static _Atomic unsigned times;
  usleep(times++ * 2654435761u % 61);
}

static void replace(void *arg) {
  int number = (int)(intptr_t)arg;
  ready++;
  while (ready < 3) sched_yield();
  unsigned random = (unsigned)(watched_round * 3 + number) * 2654435761u;
  for (int i = 0; i < 3; i++, random = random * 1664525u + 1013904223u) replace_at((int)(random >> 16) % LEVELS, i);
}

/* Each object on the path is observed, and the value at the end was delivered last. */
static void check_followed(int round) {
  counted *at = counted_retain(top);
  for (int depth = 0; at != NULL; depth++) {
    if (kvo_object_observation_count(counted_object(at)) != 1 + (depth == 0))
      harness_fail(__FILE__, __LINE__, "round %d: what is on the path at depth %d is not observed", round, depth);
    counted *next = depth < LEVELS ? counted_next(at) : NULL;
    counted_release(at);
    at = next;
  }
  watcher_of_all.last_new = -2;
  int calls = watcher_of_all.calls;
  replace_at(LEVELS, 123456 + round);
  CHECK_EQ((int)watcher_of_all.calls, calls + 1);
  CHECK_EQ((int)watcher_of_all.last_new, 123456 + round);
}

TEST("a path of four levels whose objects three threads replace is in the end subscribed to exactly the last ones") {
  for (int round = 0; round < rounds(2000); round++) {
    top = make_path(LEVELS);
    counted_watch(&watcher_of_all, top, LEVELS, KVO_NEW);
    ready = 0;
    watched_round = round;
    counted_pause = pause_in_setter;
    running *threads[3];
    for (intptr_t i = 0; i < 3; i++) threads[i] = start_thread(replace, (void *)i);
    for (int i = 0; i < 3; i++) join_thread(threads[i]);
    counted_pause = NULL;
    check_followed(round);
    CHECK_OK(kvo_cancel_observer(watcher_of_all.id));
    counted_release(top);
    while (kept_count > 0) counted_release(kept[--kept_count]);
  }
}

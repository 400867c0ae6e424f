/* late_paths.c - sets that began before a key path led to the object: the path follows the new value. */
#include "counted.h"
#include "fixture.h"
#include "shared.h"

#include <kvo/kvo_binding.h>
#include <sched.h>
#include <stdlib.h>
#include <unistd.h>

/* ------------------------------------------------------------------------------------------------- On one thread -- */

/* Called by the setter before it stores. */
static void (*before_store)(void);

typedef struct slow_item {
  kvo_object header;
  int value;
} slow_item;

static int get_value(const slow_item *of) { return of->value; }
static void set_value(slow_item *of, int value) {
  if (before_store != NULL) before_store();
  of->value = value;
}

static slow_item *slow_item_make(void) {
  static kvo_class *cls;
  kvo_property_spec property = {
      .name = "value", .type = "i", .getter = (kvo_function)get_value, .setter = (kvo_function)set_value};
  kvo_class_spec spec = {.struct_size = sizeof spec,
                         .name = "SlowItem",
                         .instance_size = sizeof(slow_item),
                         .properties = &property,
                         .property_count = 1};
  if (cls == NULL) CHECK_OK(kvo_class_register(&spec, &cls));
  kvo_object *made;
  CHECK_OK(kvo_object_create(cls, &made));
  return (slow_item *)made;
}

static item *root;
static slow_item *end;
static watcher path;

static void bring_onto_path(void) {
  before_store = NULL;
  item_set_next(root, (item *)end);
}

TEST("a setter that puts its own object onto an observed path, before it stores, notifies that path") {
  root = item_make(0);
  end = slow_item_make();
  end->value = 3;
  watch(root, "next.value", KVO_NEW | KVO_OLD, &path);
  before_store = bring_onto_path;
  KVO_SET(end, "value", int, 5);
  CHECK_EQ(path.calls, 2);
  CHECK_EQ(path.old_value.integer, 3);
  CHECK_EQ(path.new_value.integer, 5);
  KVO_SET(end, "value", int, 6);
  CHECK_EQ(path.calls, 3);
  CHECK_EQ(path.old_value.integer, 5);
  CHECK_OK(kvo_remove_observer(path.id));
}

TEST("that holds while another change is announced, or another key is muted") {
  item *unrelated = item_make(0);
  watcher w = {0};
  watch(unrelated, "value", KVO_NONE, &w);
  for (int is_mute = 0; is_mute < 2; is_mute++) {
    root = item_make(0);
    end = slow_item_make();
    path = (watcher){0};
    watch(root, "next.value", KVO_NEW, &path);
    before_store = bring_onto_path;
    kvo_mute mute;
    if (is_mute)
      kvo_mute_begin(&mute, as_object(unrelated), kvo_key_hash("value", 5));
    else
      CHECK_OK(kvo_will_change(as_object(unrelated), "value"));
    KVO_SET(end, "value", int, 5);
    if (is_mute)
      kvo_mute_end(&mute);
    else
      CHECK_OK(kvo_did_change(as_object(unrelated), "value"));
    CHECK_EQ(path.calls, 2);
    CHECK_EQ(path.new_value.integer, 5);
    CHECK_OK(kvo_remove_observer(path.id));
  }
}

static void observe_path(void) {
  before_store = NULL;
  watch(root, "next.value", KVO_NEW, &path);
}

TEST("a path that is registered before a setter stores is not notified of that change, and follows it") {
  root = item_make(0);
  end = slow_item_make();
  root->next = (item *)end;
  before_store = observe_path;
  KVO_SET(end, "value", int, 5);
  CHECK_EQ(path.calls, 0);
  KVO_SET(end, "value", int, 6);
  CHECK_EQ(path.calls, 1);
  CHECK_OK(kvo_remove_observer(path.id));
}

static void close_circle(watcher *self, const kvo_change *change) {
  self->then = NULL;
  item_set_next((item *)change->object, (item *)change->object);
}

TEST(
    "a path that an observer of a change leads to the changed property is told of what the observer set, and no more") {
  for (int has_path = 0; has_path < 2; has_path++) { /* before the change; then the slot knows of expressions */
    watcher older = {0}, newer = {.then = close_circle};
    path = (watcher){0};
    root = item_make(1);
    watch(root, "value", KVO_OLD, &older);
    if (has_path) root->next = root;
    watch(root, "next.value", KVO_NEW | KVO_OLD, &path);
    if (has_path) item_set_next(root, NULL);
    watch(root, "value", KVO_OLD, &newer);
    path.calls = 0;
    item_set_value(root, 2);
    CHECK_EQ(newer.calls, 1);
    CHECK_EQ(path.calls, 1);
    CHECK_EQ(path.new_value.integer, 2);
    CHECK_EQ(older.calls, 1);
    item_set_value(root, 3);
    CHECK_EQ(path.calls, 2);
    CHECK_EQ(path.old_value.integer, 2);
    CHECK_OK(kvo_remove_observer(newer.id));
    CHECK_OK(kvo_remove_observer(path.id));
    CHECK_OK(kvo_remove_observer(older.id));
    item_destroy(root);
  }
}

static watcher other_key;

TEST("the same holds if the object is observed for another key") {
  root = item_make(0);
  end = slow_item_make();
  CHECK_OK(kvo_will_change(&end->header, "imaginary")); /* an unobserved will is no misuse */
  CHECK_OK(kvo_did_change(&end->header, "imaginary"));
  watch(root, "next.value", KVO_NEW, &path);
  kvo_observer observer = watcher_observer("imaginary", KVO_NONE, &other_key);
  CHECK_OK(kvo_add_observer(&end->header, &observer, &other_key.id));
  before_store = bring_onto_path;
  KVO_SET(end, "value", int, 5);
  CHECK_EQ(path.calls, 2);
  CHECK_EQ(path.new_value.integer, 5);
  CHECK_OK(kvo_remove_observer(other_key.id));
  CHECK_OK(kvo_remove_observer(path.id));
}

/* ------------------------------------------------------------------------------------------------------- Threads -- */

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

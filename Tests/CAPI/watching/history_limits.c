/* history_limits.c - KVO_HISTORY: how many events a fault lists at most, and of which object. */
#include "fixture.h"

#include <kvo/kvo_binding.h>

static size_t event_count;
static kvo_event events[64];

static kvo_action keep(const kvo_fault *fault, void *arg) {
  (void)arg;
  event_count = fault->event_count;
  for (size_t i = 0; i < event_count && i < 64; i++) events[i] = fault->events[i];
  return KVO_ACTION_IGNORE;
}

/* A fault without a particular object. */
static void misuse(void) {
  kvo_set_fault_handler(keep, NULL);
  kvo_fault_raise(KVO_FAULT_UNHANDLED, "a test", NULL, NULL, NULL, 0, NULL, 0);
}

TEST("a history of one event has the last one") {
  harness_environment("KVO_HISTORY", "1");
  item *object = item_make(0);
  watcher w = {0};
  misuse();
  CHECK_EQ(event_count, 0);
  for (int i = 0; i < 3; i++) {
    watch(object, "value", KVO_NONE, &w);
    misuse();
    CHECK_EQ(event_count, 1);
    CHECK_EQ((int)events[0].kind, KVO_EVENT_REGISTERED);
    CHECK(events[0].observation == w.id);
    CHECK_OK(kvo_remove_observer(w.id));
    misuse();
    CHECK_EQ(event_count, 1);
    CHECK_EQ((int)events[0].kind, KVO_EVENT_ENDED);
    CHECK(events[0].observation == w.id);
  }
  item_destroy(object);
}

TEST("a fault lists the last sixteen events of a longer history, oldest first") {
  enum { MANY = 40, LISTED = 16 };
  harness_environment("KVO_HISTORY", "100");
  item *object = item_make(0);
  static watcher w[MANY];
  for (int count = 1; count <= MANY; count++) {
    watch(object, "value", KVO_NONE, &w[count - 1]);
    misuse();
    size_t expected = count < LISTED ? (size_t)count : LISTED;
    CHECK_EQ(event_count, expected);
    for (size_t i = 0; i < expected; i++) CHECK(events[i].observation == w[(size_t)count - expected + i].id);
  }
  for (int i = 0; i < MANY; i++) CHECK_OK(kvo_remove_observer(w[i].id));
  item_destroy(object);
}

TEST("a history that is full lists as many events as it holds, and in each round the last ones") {
  enum { HELD = 5, MANY = 23 };
  harness_environment("KVO_HISTORY", "5");
  item *object = item_make(0);
  static watcher w[MANY];
  for (int count = 1; count <= MANY; count++) {
    watch(object, "value", KVO_NONE, &w[count - 1]);
    misuse();
    size_t expected = count < HELD ? (size_t)count : HELD;
    CHECK_EQ(event_count, expected);
    for (size_t i = 0; i < expected; i++) CHECK(events[i].observation == w[(size_t)count - expected + i].id);
  }
  for (int i = 0; i < MANY; i++) CHECK_OK(kvo_remove_observer(w[i].id));
  item_destroy(object);
}

TEST("a fault of an object lists the events of that object only") {
  harness_environment("KVO_HISTORY", "100");
  item *objects[] = {item_make(0), item_make(0)};
  watcher w[2] = {{0}}, unregistered = {0};
  kvo_set_fault_handler(keep, NULL);
  for (int round = 0; round < 3; round++)
    for (int i = 0; i < 2; i++) {
      watch(objects[i], "value", KVO_NONE, &w[i]);
      CHECK_OK(kvo_remove_observer(w[i].id));
    }
  for (int i = 0; i < 2; i++) {
    CHECK_STATUS(kvo_remove_observer_for(as_object(objects[i]), &unregistered, "value"), KVO_ERROR_NOT_REGISTERED);
    CHECK_EQ(event_count, 6);
    for (size_t k = 0; k < event_count; k++) CHECK_SAME(events[k].object, objects[i]);
    CHECK(events[5].observation == w[i].id);
  }
  for (int i = 0; i < 2; i++) item_destroy(objects[i]);
}

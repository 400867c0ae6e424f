/* events.c - KVO_HISTORY: the earlier events in a fault. */
#include "fixture.h"

#include <kvo/kvo_binding.h>

#include <stdio.h>
#include <string.h>

/* The events of the last fault, with copies of their strings. */
static struct {
  size_t count;
  kvo_event events[32];
  char key_paths[32][128], values[32][128];
} seen;

static kvo_action keep(const kvo_fault *fault, void *arg) {
  (void)arg;
  seen.count = fault->event_count;
  for (size_t i = 0; i < seen.count && i < 32; i++) {
    seen.events[i] = fault->events[i];
    snprintf(seen.key_paths[i], sizeof seen.key_paths[i], "%s", fault->events[i].key_path);
    const char *value = fault->events[i].value;
    snprintf(seen.values[i], sizeof seen.values[i], "%s", value != NULL ? value : "(none)");
  }
  return KVO_ACTION_IGNORE;
}

/* A fault without a particular object. */
static void misuse(void) {
  kvo_set_fault_handler(keep, NULL);
  kvo_fault_raise(KVO_FAULT_UNHANDLED, "a test", NULL, NULL, NULL, 0, NULL, 0);
}

static void check_event(size_t index, kvo_event_kind kind, const void *object, const char *key_path) {
  CHECK_EQ(seen.events[index].kind, kind);
  CHECK_SAME(seen.events[index].object, object);
  CHECK_EQ(seen.events[index].object_class, "Item");
  CHECK_EQ(seen.key_paths[index], key_path);
}

TEST("no events are remembered unless KVO_HISTORY asks for them") {
  item *object = item_make(0);
  watcher w = {0};
  watch(object, "value", KVO_NEW, &w);
  item_set_value(object, 1);
  misuse();
  CHECK_EQ(seen.count, 0);
  kvo_cancel_observer(w.id);
  item_destroy(object);
}

TEST("a fault lists the events before it, oldest first") {
  harness_environment("KVO_HISTORY", "100");
  item *object = item_make(0);
  watcher w = {0};
  watch(object, "value", KVO_NEW, &w);
  item_set_value(object, 1);
  kvo_cancel_observer(w.id);
  item_destroy(object);
  misuse();
  CHECK_EQ(seen.count, 5);
  check_event(0, KVO_EVENT_REGISTERED, object, "value");
  check_event(1, KVO_EVENT_CHANGED, object, "value");
  check_event(2, KVO_EVENT_DELIVERED, object, "value");
  check_event(3, KVO_EVENT_ENDED, object, "value");
  check_event(4, KVO_EVENT_DIED, object, "");
  uint32_t line = watcher_observer("value", 0, &w).line;
  for (size_t i = 0; i < seen.count; i++) {
    bool of_observation = i == 0 || i == 2 || i == 3;
    CHECK_EQ(seen.events[i].observation, of_observation ? w.id : 0);
    CHECK_EQ(seen.events[i].line, of_observation ? line : 0);
    CHECK(seen.events[i].thread != 0);
    CHECK(seen.events[i].age >= 0 && seen.events[i].age < 200);
    CHECK(i == 0 || seen.events[i].age <= seen.events[i - 1].age);
  }
}

TEST("values are recorded only if KVO_VALUES allows it") {
  harness_environment("KVO_HISTORY", "100");
  item *object = item_make(0);
  watcher w = {0};
  watch(object, "value", KVO_NEW, &w);
  item_set_value(object, 1);
  misuse();
  CHECK_EQ(seen.values[2], "(none)");
  kvo_cancel_observer(w.id);
  item_destroy(object);
}

TEST("values are recorded as text, strings quoted and cut") {
  harness_environment("KVO_HISTORY", "100");
  harness_environment("KVO_VALUES", "1");
  item *object = item_make(0);
  watcher w = {0}, n = {0}, o = {0};
  watch(object, "value", KVO_NEW, &w);
  watch(object, "name", KVO_NEW, &n);
  watch(object, "next", KVO_NEW, &o);
  item_set_value(object, -7);
  item_set_name(object, "Ann");
  char name[200];
  memset(name, 'x', sizeof name);
  name[sizeof name - 1] = '\0';
  item_set_name(object, name);
  item_set_next(object, NULL);
  misuse();
  CHECK_EQ(seen.count, 11);
  CHECK_EQ(seen.values[4], "-7");
  CHECK_EQ(seen.values[6], "\"Ann\"");
  CHECK_CONTAINS(seen.values[8], "xxx...\"");
  CHECK_EQ(seen.values[10], "nil");
  kvo_cancel_observer(w.id);
  kvo_cancel_observer(n.id);
  kvo_cancel_observer(o.id);
  item_destroy(object);
}

TEST("of many events the last ones are listed, and a long key path is cut") {
  harness_environment("KVO_HISTORY", "7");
  item *object = item_make(0);
  watcher w = {0};
  char key_path[300];
  memset(key_path, 'k', sizeof key_path);
  key_path[sizeof key_path - 1] = '\0';
  for (int i = 0; i < 1000; i++) kvo_cancel_observer(watch(object, key_path, KVO_NONE, &w));
  misuse();
  CHECK_EQ(seen.count, 7);
  check_event(6, KVO_EVENT_ENDED, object, seen.key_paths[6]);
  CHECK_EQ(seen.events[6].observation, w.id);
  CHECK_CONTAINS(seen.key_paths[6], "kkk...");
  item_destroy(object);
}

TEST("an observation of a key path is recorded with its root object and its path") {
  harness_environment("KVO_HISTORY", "100");
  item *object = item_make(0), *next = item_make(0);
  object->next = next;
  watcher w = {0};
  watch(object, "next.value", KVO_NEW, &w);
  item_set_value(next, 1);
  kvo_cancel_observer(w.id);
  misuse();
  CHECK_EQ(seen.count, 4);
  check_event(0, KVO_EVENT_REGISTERED, object, "next.value");
  check_event(1, KVO_EVENT_CHANGED, next, "value");
  check_event(2, KVO_EVENT_DELIVERED, object, "next.value");
  check_event(3, KVO_EVENT_ENDED, object, "next.value");
  item_destroy(object);
  item_destroy(next);
}

/* history.c - KVO_HISTORY: the earlier events in a fault, how many, of which object, and their values. */
#include "made.h"

#include <kvo/kvo_binding.h>

#include <stdio.h>

/* The events of the last fault, with copies of their strings. */
static struct {
  size_t count;
  kvo_event events[32];
  char key_paths[32][128], values[32][128];
} seen;

static kvo_action keep(const kvo_fault *fault, void *arg) {
  seen.count = fault->event_count;
  for (size_t i = 0; i < seen.count && i < 32; i++) {
    const char *value = fault->events[i].value;
    seen.events[i] = fault->events[i];
    snprintf(seen.key_paths[i], sizeof seen.key_paths[i], "%s", fault->events[i].key_path);
    snprintf(seen.values[i], sizeof seen.values[i], "%s", value != NULL ? value : "(none)");
  }
  return KVO_ACTION_IGNORE;
}

/* A fault without a particular object. */
static void misuse(void) {
  kvo_set_fault_handler(keep, NULL);
  kvo_fault_raise(KVO_FAULT_UNHANDLED, "a test", NULL, NULL, NULL, 0, NULL, 0);
}

static void watch_and_end(item *object, watcher *by) { CHECK_OK(kvo_cancel_observer(watch(object, "value", 0, by))); }

TEST("a fault lists the events before it, oldest first, and an observation of a key path with its root object") {
  harness_environment("KVO_HISTORY", "100");
  item *object = item_make(0), *next = item_make(0);
  object->next = next;
  watcher w = {0};
  watch(object, "next.value", KVO_NEW, &w);
  item_set_value(next, 1);
  kvo_cancel_observer(w.id);
  item_destroy(object);
  misuse();
  const struct {
    kvo_event_kind kind;
    const item *object;
    const char *key_path;
    bool is_of_observation;
  } rows[] = {{KVO_EVENT_REGISTERED, object, "next.value", true},
              {KVO_EVENT_CHANGED, next, "value", false},
              {KVO_EVENT_DELIVERED, object, "next.value", true},
              {KVO_EVENT_ENDED, object, "next.value", true},
              {KVO_EVENT_DIED, object, "", false}};
  uint32_t line = watcher_observer("value", 0, &w).line;
  CHECK_EQ(seen.count, sizeof rows / sizeof *rows);
  for (size_t i = 0; i < seen.count; i++) {
    const kvo_event *event = &seen.events[i];
    CHECK_EQ(event->kind, rows[i].kind);
    CHECK_SAME(event->object, rows[i].object);
    CHECK_EQ(event->object_class, "Item");
    CHECK_EQ(seen.key_paths[i], rows[i].key_path);
    CHECK_EQ(event->observation, rows[i].is_of_observation ? w.id : 0);
    CHECK_EQ(event->line, rows[i].is_of_observation ? line : 0);
    CHECK_EQ(seen.values[i], "(none)"); /* without KVO_VALUES */
    CHECK(event->thread != 0);
    CHECK(event->age >= 0 && event->age < 200);
    CHECK(i == 0 || event->age <= seen.events[i - 1].age);
  }
  item_destroy(next);
}

TEST("a fault of an object lists the events of that object only") {
  harness_environment("KVO_HISTORY", "100");
  item *objects[] = {item_make(0), item_make(0)};
  watcher w[2] = {{0}}, unregistered = {0};
  kvo_set_fault_handler(keep, NULL);
  for (int i = 0; i < 6; i++) watch_and_end(objects[i % 2], &w[i % 2]);
  for (int i = 0; i < 2; i++) {
    CHECK_STATUS(kvo_remove_observer_for(as_object(objects[i]), &unregistered, "value"), KVO_ERROR_NOT_REGISTERED);
    CHECK_EQ(seen.count, 6);
    for (size_t k = 0; k < seen.count; k++) CHECK_SAME(seen.events[k].object, objects[i]);
    CHECK(seen.events[5].observation == w[i].id);
    item_destroy(objects[i]);
  }
}

/* Checks after each of many events that the last `most` are listed, oldest first. NULL is without KVO_HISTORY. */
static void check_last_events(const char *history, size_t most) {
  enum { MANY = 40 };
  static watcher w[MANY];
  if (history != NULL) harness_environment("KVO_HISTORY", history);
  item *object = item_make(0);
  for (size_t count = 1; count <= MANY; count++) {
    watch(object, "value", KVO_NONE, &w[count - 1]);
    misuse();
    size_t listed = count < most ? count : most;
    CHECK_EQ(seen.count, listed);
    for (size_t i = 0; i < listed; i++) CHECK(seen.events[i].observation == w[count - listed + i].id);
  }
  for (int i = 0; i < MANY; i++) CHECK_OK(kvo_remove_observer(w[i].id));
  item_destroy(object);
}

TEST("without KVO_HISTORY no events are remembered") { check_last_events(NULL, 0); }
TEST("a history of one event has the last one") { check_last_events("1", 1); }
TEST("a history that is full has the last events") { check_last_events("5", 5); }
TEST("of a longer history a fault lists the last sixteen events") { check_last_events("100", 16); }

/* ------------------------------------------------------------------------------------------------------- Texts -- */

static int nothing_to_read(void) { return 0; }

/* How the new value of a change is recorded: one of this type, at `value`. */
static const char *text_of(const char *type, const void *value) {
  static int made;
  char name[32];
  kvo_frame frame;
  snprintf(name, sizeof name, "Any%d", made++);
  kvo_property_spec property = {.name = "any", .type = type, .getter = (kvo_function)nothing_to_read};
  kvo_object *object = object_made(name, sizeof(kvo_object), &property, 1);
  kvo_observation id = observe_by(object, "any", KVO_NEW, ignore_change, NULL);
  CHECK((kvo_frame_begin(&frame, object, kvo_key_hash("any", 3)) & KVO_FRAME_WANTS_NEW) != 0);
  kvo_frame_finish_with(&frame, NULL, value);
  misuse();
  CHECK_OK(kvo_remove_observer(id));
  kvo_object_destroy(object);
  return seen.values[seen.count - 1];
}

#define CHECK_TEXT(type, T, value, expected) CHECK_EQ(text_of(type, &(T){value}), expected)

TEST("with KVO_VALUES the text of a value says its type's value exactly, and of a structure nothing") {
  harness_environment("KVO_HISTORY", "32");
  harness_environment("KVO_VALUES", "1");
  CHECK_TEXT("c", signed char, -5, "-5");
  CHECK_TEXT("C", unsigned char, 200, "200");
  CHECK_TEXT("s", short, -30000, "-30000");
  CHECK_TEXT("S", unsigned short, 60000, "60000");
  CHECK_TEXT("i", int, -2000000000, "-2000000000");
  CHECK_TEXT("I", unsigned, 4000000000u, "4000000000");
  CHECK_TEXT("l", long, -2000000000, "-2000000000");
  CHECK_TEXT("L", unsigned long, 4000000000u, "4000000000");
  CHECK_TEXT("q", long long, -5000000000, "-5000000000");
  CHECK_TEXT("Q", unsigned long long, 18000000000000000000u, "18000000000000000000");
  CHECK_TEXT("f", float, 0.1f, "0.100000001");
  CHECK_TEXT("d", double, 0.1, "0.10000000000000001");
  CHECK_TEXT("D", long double, 0.5L, "0.5");
  CHECK_TEXT("B", bool, true, "true");
  CHECK_TEXT("B", bool, false, "false");
  CHECK_TEXT("@", uintptr_t, 0x1234, "0x1234");
  CHECK_TEXT("@", uintptr_t, 0, "nil");
  CHECK_TEXT("^v", uintptr_t, 0xabcdef, "0xabcdef");
  CHECK_TEXT("*", const char *, "a \"b\"", "\"a \"b\"\"");
  CHECK_TEXT("*", const char *, "ééééééééééééééééééééééééééééééééééé", "\"ééééééééééééééééééééééééééééé...\"");
  CHECK_TEXT("{pair=ii}", uint64_t, 7, "(none)");
}

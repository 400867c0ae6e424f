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

static void ignore_change(const kvo_change *change, void *user_data) { (void)change, (void)user_data; }

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

static int nothing_to_read(void) { return 0; }

/* How the new value of a change is recorded: one of this type, at `value`. */
static const char *text_of(const char *type, const void *value) {
  kvo_class *cls;
  kvo_object *object;
  watcher w = {.then = NULL};
  kvo_property_spec property = {.name = "any", .type = type, .getter = (kvo_function)nothing_to_read};
  kvo_class_spec spec = {.struct_size = sizeof spec, .properties = &property, .property_count = 1};
  char name[32];
  static int made;
  snprintf(name, sizeof name, "Any%d", made++);
  spec.name = name;
  spec.instance_size = sizeof(kvo_object);
  CHECK_OK(kvo_class_register(&spec, &cls));
  CHECK_OK(kvo_object_create(cls, &object));
  kvo_observer observer = {.struct_size = sizeof observer, .key_path = "any", .options = KVO_NEW, .user_data = &w};
  observer.callback = ignore_change;
  CHECK_OK(kvo_add_observer(object, &observer, &w.id));
  kvo_frame frame;
  CHECK((kvo_frame_begin(&frame, object, kvo_key_hash("any", 3)) & KVO_FRAME_WANTS_NEW) != 0);
  kvo_frame_finish_with(&frame, NULL, value);
  misuse();
  CHECK_OK(kvo_remove_observer(w.id));
  kvo_object_destroy(object);
  return seen.values[seen.count - 1];
}

#define CHECK_TEXT(type, T, value, expected) CHECK_EQ(text_of(type, &(T){value}), expected)

TEST("the recorded text of a value says its type's value exactly, and of a structure nothing") {
  harness_environment("KVO_HISTORY", "32");
  harness_environment("KVO_VALUES", "1");
  CHECK_TEXT("c", signed char, -5, "-5");
  CHECK_TEXT("C", unsigned char, 200, "200");
  CHECK_TEXT("s", short, -30000, "-30000");
  CHECK_TEXT("S", unsigned short, 60000, "60000");
  CHECK_TEXT("i", int, -2000000000, "-2000000000");
  CHECK_TEXT("I", unsigned, 4000000000u, "4000000000");
  CHECK_TEXT("l", long, -5000000000, "-5000000000");
  CHECK_TEXT("L", unsigned long, 18000000000000000000u, "18000000000000000000");
  CHECK_TEXT("q", long long, -5000000000, "-5000000000");
  CHECK_TEXT("Q", unsigned long long, 18000000000000000000u, "18000000000000000000");
  CHECK_TEXT("f", float, 0.1f, "0.100000001");
  CHECK_TEXT("d", double, 0.1, "0.10000000000000001");
  CHECK_TEXT("D", long double, 0.5L, "0.5");
  CHECK_TEXT("B", bool, true, "true");
  CHECK_TEXT("B", bool, false, "false");
  CHECK_TEXT("@", uintptr_t, 0x1234, "0x1234");
  CHECK_TEXT("^v", uintptr_t, 0xabcdef, "0xabcdef");
  CHECK_TEXT("*", const char *, "a \"b\"", "\"a \"b\"\"");
  CHECK_TEXT("{pair=ii}", uint64_t, 7, "(none)");
}

/* `count` times `part`, between `before` and `after`. */
static const char *repeated(const char *before, const char *part, size_t count, const char *after) {
  static char made[4][256];
  static int next;
  char *text = made[next++ % 4];
  size_t size = strlen(part), at = strlen(before);
  CHECK(at + count * size + strlen(after) < sizeof made[0]);
  memcpy(text, before, at);
  for (size_t i = 0; i < count; i++, at += size) memcpy(text + at, part, size);
  strcpy(text + at, after);
  return text;
}

TEST("of a string 61 bytes are recorded, and a longer one is cut, but never within a character") {
  enum { SHOWN = 61 }; /* with quotes and the end 64 */
  harness_environment("KVO_HISTORY", "32");
  harness_environment("KVO_VALUES", "1");
  CHECK_TEXT("*", const char *, repeated("", "x", SHOWN, ""), repeated("\"", "x", SHOWN, "\""));
  CHECK_TEXT("*", const char *, repeated("", "x", SHOWN + 1, ""), repeated("\"", "x", SHOWN - 3, "...\""));
  CHECK_TEXT("*", const char *, repeated("", "\u00e9", 99, ""), repeated("\"", "\u00e9", (SHOWN - 3) / 2, "...\""));
  CHECK_TEXT("*", const char *, repeated("x", "\u00e9", 99, ""), repeated("\"x", "\u00e9", (SHOWN - 4) / 2, "...\""));
  CHECK_TEXT("*", const char *, repeated("", "\x80", 99, ""), "\"...\""); /* not UTF-8 */
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

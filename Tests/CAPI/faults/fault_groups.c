/* fault_groups.c - observations that a report lists by source location: what is a group, which of it is shown, and in which order. */
#include "fixture.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { MOST = 64 };

/* The groups of the last fault: "file:line class key-path xcount", each with the id that stands for it. */
static char groups[MOST][96];
static kvo_observation shown[MOST];
static size_t group_count;
static char summary[2048], apple[4096];

static kvo_action keep_groups(const kvo_fault *fault, void *arg) {
  (void)arg;
  group_count = fault->observation_count;
  CHECK(group_count <= MOST);
  for (size_t i = 0; i < group_count; i++) {
    const kvo_fault_observation *of = &fault->observations[i];
    snprintf(groups[i], sizeof groups[i], "%s:%u %s x%zu", of->file != NULL ? of->file : "?", (unsigned)of->line,
             of->key_path, of->duplicate_count + 1);
    shown[i] = of->observation;
  }
  snprintf(summary, sizeof summary, "%s", fault->summary);
  snprintf(apple, sizeof apple, "%s", fault->apple != NULL ? fault->apple : "");
  return KVO_ACTION_IGNORE;
}

/* Where an observation is registered. */
typedef struct registration {
  const char *file;
  uint32_t line;
  const char *key_path;
} registration;

/* Registers them in this order, and destroys the object. */
static void die_with(const registration *all, size_t count, kvo_observation *ids) {
  static watcher watchers[MOST];
  item *object = item_make(0);
  kvo_set_fault_handler(keep_groups, NULL);
  for (size_t i = 0; i < count; i++) {
    kvo_observer observer = watcher_observer(all[i].key_path, KVO_NONE, &watchers[i]);
    observer.file = all[i].file;
    observer.line = all[i].line;
    CHECK_OK(kvo_add_observer(as_object(object), &observer, &ids[i]));
  }
  item_destroy(object);
}

TEST("groups have a source location and a key path each, and are listed by size, then in the order of the source") {
  static const registration all[] = {{"b.c", 1, "value"}, {"a.c", 9, "value"}, {NULL, 0, "value"},  {"a.c", 2, "other"},
                                     {"a.c", 2, "value"}, {"b.c", 1, "value"}, {NULL, 0, "value"},  {"a.c", 9, "value"},
                                     {"a.c", 2, "value"}, {"a.c", 2, "other"}, {"c.c", 5, "value"}, {"c.c", 5, "value"},
                                     {"c.c", 5, "value"}, {"a.c", 3, "quiet"}};
  static const char *const expected[] = {"c.c:5 value x3", "?:0 value x2",   "a.c:2 other x2", "a.c:2 value x2",
                                         "a.c:9 value x2", "b.c:1 value x2", "a.c:3 quiet x1"};
  enum { COUNT = sizeof all / sizeof *all, GROUPS = sizeof expected / sizeof *expected };
  kvo_observation ids[COUNT];
  die_with(all, COUNT, ids);
  CHECK_EQ(group_count, GROUPS);
  for (size_t i = 0; i < GROUPS; i++) CHECK_EQ((const char *)groups[i], expected[i]);
  CHECK_CONTAINS((const char *)summary,
                 "while 14 observations were registered (key paths: \"value\" ×11, \"other\" ×2, \"quiet\")");
}

TEST("the oldest observation of a group stands for it") {
  enum { COUNT = 40 };
  registration all[COUNT];
  kvo_observation ids[COUNT];
  for (size_t i = 0; i < COUNT; i++) all[i] = (registration){i % 2 == 0 ? "a.c" : "b.c", 1, "value"};
  die_with(all, COUNT, ids);
  CHECK_EQ(group_count, 2);
  for (size_t i = 0; i < 2; i++) CHECK_EQ(shown[i], ids[i]);
}

TEST("the first line has the first eight key paths with their counts, and says how many observations are of others") {
  static const char *const paths[] = {"k0", "k1", "k2", "k3", "k4", "k5", "k6", "k7", "k8", "k9"};
  for (size_t distinct = 7; distinct <= 10; distinct++) {
    registration all[2 * 10];
    kvo_observation ids[2 * 10];
    for (size_t i = 0; i < 2 * distinct; i++) all[i] = (registration){"a.c", 1, paths[i % distinct]};
    die_with(all, 2 * distinct, ids);
    char expected[256] = "(key paths: ", more[64] = "";
    for (size_t i = 0; i < distinct && i < 8; i++) {
      char part[16];
      snprintf(part, sizeof part, "%s\"%s\" ×2", i == 0 ? "" : ", ", paths[i]);
      strcat(expected, part);
    }
    if (distinct > 8) snprintf(more, sizeof more, " and %zu of other key paths", 2 * (distinct - 8));
    strcat(strcat(expected, more), "), ");
    CHECK_CONTAINS((const char *)summary, (const char *)expected);
  }
}

TEST("Apple's sentence lists up to eight observations, and says that there are more") {
  for (size_t count = 7; count <= 10; count++) {
    registration all[10];
    kvo_observation ids[10];
    for (size_t i = 0; i < count; i++) all[i] = (registration){"a.c", 1, "value"};
    die_with(all, count, ids);
    size_t length = strlen(apple), listed = 0;
    for (const char *at = apple; (at = strstr(at, "\n<NSKeyValueObservance ")) != NULL; at++) listed++;
    CHECK_EQ(listed, count <= 8 ? count : 0);
    CHECK_EQ(apple + length - (count <= 8 ? 3 : 4), count <= 8 ? ">\n)" : "...)");
  }
}

/* -------------------------------------------------------------------------------------------------------------- Leaks -- */

static kvo_object *make_of(const char *name) {
  static const kvo_property_spec property = {.name = "value", .type = "i", .flags = KVO_PROPERTY_MANUAL};
  kvo_class_spec spec = {.struct_size = sizeof spec,
                         .name = name,
                         .instance_size = sizeof(kvo_object),
                         .properties = &property,
                         .property_count = 1};
  kvo_class *cls;
  kvo_object *object;
  CHECK_OK(kvo_class_register(&spec, &cls));
  CHECK_OK(kvo_object_create(cls, &object));
  return object;
}

static kvo_object *left_behind[2];

static void leave_two_classes(void *arg) {
  static watcher w;
  (void)arg;
  left_behind[0] = make_of("Pen");
  left_behind[1] = make_of("Cap");
  for (int i = 0; i < 6; i++) {
    kvo_observer observer = watcher_observer("value", KVO_NONE, &w);
    observer.file = "a.c";
    observer.line = 1;
    CHECK_OK(kvo_add_observer(left_behind[i % 2], &observer, NULL));
  }
  exit(0);
}

TEST("observations of two classes are two groups, also of one source location") {
  harness_environment("KVO_REPORT", "leaks");
  child_result run = harness_run_child(leave_two_classes, NULL, NULL);
  CHECK_EQ(run.exit_code, 0);
  CHECK_CONTAINS(run.errors, "KVO0014 warning: 6 observations, registered at 1 place, had not ended when the process "
                             "ended; 3 of them: \"value\" of Cap, at a.c:1");
  CHECK_CONTAINS(run.errors, "    \"value\" of Cap@0x");
  CHECK_CONTAINS(run.errors, "    \"value\" of Pen@0x");
}

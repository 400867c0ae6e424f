/* faults.c - the list of all faults, and the observations that a fault has: one by one, or by source location if there are many. */
#include "fixture.h"
#include "reported.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static kvo_fault seen;

static kvo_action keep(const kvo_fault *fault, void *arg) {
  seen = *fault;
  return KVO_ACTION_IGNORE;
}

TEST("each fault is listed once, in the order of the codes, and raised with its severity, exception and reason") {
  int code = 0;
  const kvo_fault_kind *kind;
  kvo_set_fault_handler(keep, NULL);
  for (size_t i = 0; (kind = kvo_fault_kind_at(i)) != NULL; i++) {
    CHECK((int)kind->code > code);
    code = (int)kind->code;
    CHECK(kind->meaning[0] != '\0');
    CHECK(kind->exception == NULL || kind->exception[0] != '\0');
    kvo_fault_raise(kind->code, "a test", NULL, NULL, NULL, 0, NULL, 0);
    CHECK_EQ((int)seen.code, code);
    CHECK_EQ((int)seen.severity, (int)kind->severity);
    CHECK_EQ(seen.exception, kind->exception);
    CHECK(seen.why != NULL);
  }
#define LAST_CODE(name, value, severity, exception, text, why) CHECK(code >= (value));
  KVO_FAULT_MAP(LAST_CODE)
#undef LAST_CODE
  CHECK_SAME(kvo_fault_kind_at(SIZE_MAX), NULL);
}

TEST("a fault has each observation as it was registered") {
  ignore_faults();
  item *object = item_make(0);
  watcher one = {.context = &faults}, two = {0};
  watch(object, "value", KVO_NEW | KVO_PRIOR, &one);
  watch(object, "next.value", KVO_OLD, &two);
  item_destroy(object);
  CHECK_FAULTS(1, KVO_FAULT_DEALLOCATED_WHILE_OBSERVED);
  CHECK_EQ(faults.observation_count, 2);
  CHECK_EQ((const char *)faults.first_key_path, "value");
  CHECK_CONTAINS(faults.first_file, "fixture.c");
  CHECK_EQ(faults.first.line, watcher_observer("", 0, &one).line);
  CHECK_SAME(faults.first.observer, &one);
  CHECK_SAME(faults.first.context, &faults);
  CHECK(faults.first.observation == one.id);
  CHECK_EQ((int)faults.first.options, KVO_NEW | KVO_PRIOR);
}

/* -------------------------------------------------------------------------------------------------------------- Groups -- */

enum { MOST = 64 };

/* The groups of the last fault, as "file:line key-path xcount", and the observation that stands for each. */
static char groups[MOST][96], summary[2048], apple[4096];
static kvo_observation shown[MOST];
static size_t group_count;

static kvo_action keep_groups(const kvo_fault *fault, void *arg) {
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

typedef struct registration {
  const char *file;
  uint32_t line;
  const char *key_path;
} registration;

static item *make_with(const registration *all, size_t count, kvo_observation *ids) {
  static watcher watchers[MOST];
  item *object = item_make(0);
  kvo_set_fault_handler(keep_groups, NULL);
  for (size_t i = 0; i < count; i++) {
    kvo_observer observer = watcher_observer(all[i].key_path, KVO_NONE, &watchers[i]);
    observer.file = all[i].file;
    observer.line = all[i].line;
    CHECK_OK(kvo_add_observer(as_object(object), &observer, &ids[i]));
  }
  return object;
}

TEST("of one source location up to eight observations are listed one by one, and of more the oldest stands for all") {
  static const size_t counts[] = {1, 2, 8, 9, MOST};
  registration all[MOST];
  kvo_observation ids[MOST];
  for (size_t i = 0; i < MOST; i++) all[i] = (registration){"a.c", 1, "value"};
  for (size_t i = 0; i < sizeof counts / sizeof *counts; i++) {
    size_t count = counts[i];
    item *object = make_with(all, count, ids);
    CHECK_STATUS(kvo_remove_observer_for(as_object(object), object, "value"), KVO_ERROR_NOT_REGISTERED);
    CHECK_EQ(group_count, count < 9 ? count : 1);
    item_destroy(object);
    CHECK_EQ(group_count, count < 9 ? count : 1);
    CHECK_EQ(shown[0], ids[0]);
    CHECK_EQ(occurrences(apple, "\n<NSKeyValueObservance "), count < 9 ? count : 0);
    CHECK_EQ(apple + strlen(apple) - (count < 9 ? 3 : 4), count < 9 ? ">\n)" : "...)");
  }
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
  item_destroy(make_with(all, COUNT, ids));
  CHECK_EQ(group_count, GROUPS);
  for (size_t i = 0; i < GROUPS; i++) CHECK_EQ((const char *)groups[i], expected[i]);
  CHECK_CONTAINS((const char *)summary,
                 "while 14 observations were registered (key paths: \"value\" ×11, \"other\" ×2, \"quiet\")");
}

TEST("of 1000 source locations a report lists the first in 16 KiB, and says how many more there are") {
  static char paths[1000][1100];
  static watcher many[1000];
  item *object = item_make(0);
  ignore_faults();
  for (int i = 0; i < 1000; i++) {
    memset(paths[i], 'k', sizeof paths[i] - 1);
    memcpy(paths[i], (const char[]){(char)('a' + i % 26), (char)('a' + i / 26 % 26), (char)('a' + i / 676)}, 3);
    watch(object, paths[i], KVO_NONE, &many[i]);
  }
  item_destroy(object);
  CHECK_EQ(faults.observation_count, 1000);
  CHECK(strlen(faults.report) < sizeof faults.report - 1);
  const char *more = strstr(faults.report, " more; KVO_REPORT=json lists them)\n");
  CHECK(more != NULL);
  while (more[-1] != '(') more--;
  CHECK_EQ(atoi(more) + (int)occurrences(faults.report, "\n        registered at "), 1000);
}

TEST("control characters in a name do not break the first line, and cannot look like a line of the report") {
  item *object = item_make(0);
  watcher w = {0}, unregistered = {0};
  watch(object, "value", KVO_NONE, &w);
  ignore_faults();
  kvo_remove_observer_for(as_object(object), &unregistered, "a\nKVO0001 fatal: b\x1b[2J");
  CHECK_CONTAINS(faults.summary, "\"a\\x0aKVO0001 fatal: b\\x1b[2J\"");
  CHECK_SAME(strchr(faults.summary, '\n'), NULL);
  CHECK_EQ(strncmp(faults.report, faults.summary, strlen(faults.summary)), 0);
  CHECK_SAME(strstr(faults.report, "\nKVO0001"), NULL);
  CHECK_OK(kvo_remove_observer(w.id));
  item_destroy(object);
}

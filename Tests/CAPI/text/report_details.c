/* report_details.c - the details of reports: numbers, notes, long and damaged texts, suggestions, and what the table of faults says. */
#include "fixture.h"

#include <kvo/kvo_binding.h>

#include <stdio.h>
#include <string.h>
#include <unistd.h>

static const char *formatted(const kvo_fault *fault, kvo_report_format format) {
  static char report[1 << 16];
  CHECK(kvo_fault_format(fault, format, report, sizeof report) < sizeof report);
  return report;
}

static kvo_fault plain_fault(const char *summary) {
  return (kvo_fault){.code = KVO_FAULT_NEVER_NOTIFIES, .severity = KVO_SEVERITY_ERROR, .summary = summary};
}

/* ----------------------------------------------------------------------------------------------------------- The table -- */

static kvo_fault seen;

static kvo_action keep(const kvo_fault *fault, void *arg) {
  (void)arg;
  seen = *fault;
  return KVO_ACTION_IGNORE;
}

TEST("each fault is raised with the severity and the exception that the table says, and with a reason") {
  kvo_set_fault_handler(keep, NULL);
  const kvo_fault_kind *kind;
  for (size_t i = 0; (kind = kvo_fault_kind_at(i)) != NULL; i++) {
    kvo_fault_raise(kind->code, "a test", NULL, NULL, NULL, 0, NULL, 0);
    CHECK_EQ((int)seen.code, (int)kind->code);
    CHECK_EQ((int)seen.severity, (int)kind->severity);
    CHECK_EQ(seen.exception, kind->exception);
    CHECK(seen.why != NULL);
  }
}

/* ------------------------------------------------------------------------------------------------------------- Numbers -- */

TEST("the number of a thread is decimal, in a text and in JSON") {
  char expected[80];
  kvo_fault fault = plain_fault("x");
  fault.file = "a.c";
  fault.file_length = 3;
  fault.line = 88;
  fault.thread = (uint32_t)getpid();
  snprintf(expected, sizeof expected, "\n  fault at a.c:88  thread %ld (main)\n", (long)getpid());
  CHECK_CONTAINS(formatted(&fault, KVO_REPORT_TEXT), expected);
  snprintf(expected, sizeof expected, ",\"process\":%ld,\"program\":\"", (long)getpid());
  CHECK_CONTAINS(formatted(&fault, KVO_REPORT_JSON), expected);
  snprintf(expected, sizeof expected, ",\"thread\":%ld,\"threadName\":\"", (long)getpid());
  CHECK_CONTAINS(formatted(&fault, KVO_REPORT_JSON), expected);
}

TEST("numbers of 64 bits are whole in the first line of a report") {
  ignore_faults();
  item *object = item_make(0);
  watcher w = {0};
  char expected[80];
  CHECK_STATUS(kvo_remove_observer(0x7fffffff12345678u), KVO_ERROR_NOT_REGISTERED);
  CHECK_CONTAINS(faults.summary, "0x7fffffff12345678");
  watch(object, "value", KVO_NONE, &w);
  size_t falling[] = {SIZE_MAX - 1, 7};
  CHECK_STATUS(kvo_will_change_indexes(as_object(object), KVO_CHANGE_REMOVAL, "value", falling, 2),
               KVO_ERROR_INVALID_ARGUMENT);
  snprintf(expected, sizeof expected, "number 1 is 7, after %zu", SIZE_MAX - 1);
  CHECK_CONTAINS(faults.summary, expected);
  CHECK_OK(kvo_remove_observer(w.id));
  item_destroy(object);
}

/* -------------------------------------------------------------------------------------------------------------- Texts -- */

TEST("what a registration says about itself is in a text and in JSON") {
  const kvo_fault_observation noted = {.observation = 0x21, .key_path = "title", .note = "on queue com.example.model"};
  kvo_fault fault = plain_fault("x");
  fault.observations = &noted;
  fault.observation_count = 1;
  CHECK_CONTAINS(formatted(&fault, KVO_REPORT_TEXT),
                 "\n        registered at an unknown place, on queue com.example.model\n");
  CHECK_CONTAINS(formatted(&fault, KVO_REPORT_JSON),
                 ",\"context\":\"0x0\",\"note\":\"on queue com.example.model\",\"registeredAt\":null,");
}

TEST("control characters in what a registration says about itself are escaped in a text, as in names") {
  const kvo_fault_observation noted = {.observation = 0x21, .key_path = "title", .note = "a\n  fault at b.c:1\033[2J"};
  kvo_fault fault = plain_fault("x");
  fault.observations = &noted;
  fault.observation_count = 1;
  CHECK_SAME(strstr(formatted(&fault, KVO_REPORT_TEXT), "\n  fault at b.c"), NULL);
  CHECK_SAME(strchr(formatted(&fault, KVO_REPORT_TEXT), '\033'), NULL);
  CHECK_CONTAINS(formatted(&fault, KVO_REPORT_TEXT), ", a\\x0a  fault at b.c:1\\x1b[2J\n");
}

/* Twelve lines: more than a text report usually has. */
static const char *long_summary(void) {
  static char text[12 * 900 + 1];
  memset(text, 'x', sizeof text - 1);
  for (size_t i = 899; i + 1 < sizeof text - 1; i += 900) text[i] = '\n';
  return text;
}

TEST("a text that is already long has the first observation and the first delivery, and counts the others") {
  const kvo_fault_observation observations[] = {{.key_path = "first"}, {.key_path = "second", .duplicate_count = 3}};
  const kvo_fault_step chain[] = {{.observation = {.key_path = "first"}}, {.observation = {.key_path = "second"}}};
  kvo_fault fault = plain_fault(long_summary());
  fault.observations = observations;
  fault.observation_count = 2;
  const char *text = formatted(&fault, KVO_REPORT_TEXT);
  CHECK_CONTAINS(text, "\n  observations:\n    \"first\"  observer ");
  CHECK_CONTAINS(text, "\n    (4 more; KVO_REPORT=json lists them)\n");
  CHECK_SAME(strstr(text, "\"second\""), NULL);
  fault.observation_count = 0;
  fault.chain = chain;
  fault.chain_count = 2;
  text = formatted(&fault, KVO_REPORT_TEXT);
  CHECK_CONTAINS(text, "\n    \"first\" notified ");
  CHECK_CONTAINS(text, "\n    (1 more; KVO_REPORT=json lists them)\n");
  CHECK_SAME(strstr(text, "\"second\""), NULL);
}

TEST("of Apple's sentence the first line is shown, without the beginning of a list at its end") {
  static const char behind_parenthesis[] = "(\nmore"; /* the sentence begins behind it */
  static const struct {
    const char *sentence, *shown;
  } rows[] = {{"(\n<one>\n)", "\n  Apple says: (...)\n"},
              {"info (\n<one>\n)", "\n  Apple says: info (...)\n"},
              {"info (", "\n  Apple says: info (\n"},
              {"one\ntwo\nthree", "\n  Apple says: one ...\n"},
              {behind_parenthesis + 1, "\n  Apple says:  ...\n"}};
  for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
    kvo_fault fault = plain_fault("x");
    fault.apple = rows[i].sentence;
    CHECK_CONTAINS(formatted(&fault, KVO_REPORT_TEXT), rows[i].shown);
  }
}

TEST("a file name that ends inside a character is shown up to its length") {
  kvo_fault fault = plain_fault("x");
  fault.file = "a\xc3\xa4.c";
  fault.file_length = 2;
  fault.line = 7;
  CHECK_CONTAINS(formatted(&fault, KVO_REPORT_TEXT), " at a\\xc3:7\n");
  CHECK_CONTAINS(formatted(&fault, KVO_REPORT_JSON), "\"faultAt\":{\"file\":\"a\\ufffd\",\"line\":7}");
}

TEST("of a long string that is not UTF-8 the beginning and the end are shown, too") {
  static char text[2001];
  memset(text, 0x80, sizeof text - 1);
  kvo_fault fault = plain_fault(text);
  CHECK_CONTAINS(formatted(&fault, KVO_REPORT_TEXT), "\\x80...(1106 bytes left out)...\\x80");
}

/* -------------------------------------------------------------------------------------------------------- Suggestions -- */

TEST("of several names that resemble the missing one the first of the nearest is suggested") {
  ignore_faults();
  kvo_property_spec properties[] = {{.name = "titlexx", .type = "i"},
                                    {.name = "titel", .type = "i"},
                                    {.name = "tittle", .type = "i"},
                                    {.name = "titleyy", .type = "i"}};
  kvo_class_spec spec = {.struct_size = sizeof spec,
                         .name = "Titled",
                         .instance_size = sizeof(kvo_object),
                         .properties = properties,
                         .property_count = 4};
  kvo_class *cls;
  kvo_object *object;
  watcher w = {0};
  kvo_observer observer = watcher_observer("title", KVO_NONE, &w);
  CHECK_OK(kvo_class_register(&spec, &cls));
  CHECK_OK(kvo_object_create(cls, &object));
  CHECK_OK(kvo_add_observer(object, &observer, &w.id));
  CHECK_EQ((int)faults.code, KVO_FAULT_NEVER_NOTIFIES);
  CHECK_CONTAINS(faults.report, "did you mean \"titel\"? the keys of Titled are: titlexx, titel, tittle, titleyy");
  CHECK_OK(kvo_remove_observer(w.id));
  kvo_object_destroy(object);
}

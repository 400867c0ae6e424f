/* judge.c - compares the result of a scenario with its expectations. */
#define _GNU_SOURCE
#include "judge.h"

#include <ctype.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

void crash_fail(kvo_crash_result *result, const char *format, ...) {
  if (!result->passed) return; /* the first reason is the one to look at */
  va_list arguments;
  va_start(arguments, format);
  vsnprintf(result->reason, sizeof result->reason, format, arguments);
  va_end(arguments);
  result->passed = false;
}

void kvo_crash_result_free(kvo_crash_result *result) {
  free(result->report);
  result->report = NULL;
}

/* ------------------------------------------------------------------------------------------------------------- Codes -- */

static bool is_fatal(int code) {
  const kvo_fault_kind *kind;
  for (size_t i = 0; (kind = kvo_fault_kind_at(i)) != NULL; i++)
    if ((int)kind->code == code) return kind->severity == KVO_SEVERITY_FATAL;
  return true;
}

bool crash_note_code(kvo_crash_result *result, int code) {
  if (result->code_count == CRASH_MOST_CODES) return false;
  result->codes[result->code_count++] = code;
  return true;
}

/* Parses the codes of "2 1" and "3*50" into a list. */
static size_t expand(const char *codes, int *into) {
  size_t count = 0;
  while (*codes != '\0') {
    char *end;
    int code = (int)strtol(codes, &end, 10);
    long times = *end == '*' ? strtol(end + 1, &end, 10) : 1;
    while (times-- > 0 && count < CRASH_MOST_CODES) into[count++] = code;
    codes = end + strspn(end, " ");
  }
  return count;
}

bool kvo_crash_expects(const kvo_crash_scenario *scenario, int code) {
  int expected[CRASH_MOST_CODES];
  size_t count = expand(scenario->codes, expected);
  while (count > 0)
    if (expected[--count] == code) return true;
  return false;
}

void crash_describe_codes(const int *codes, size_t count, char *into, size_t size) {
  size_t length = 0;
  snprintf(into, size, "none");
  for (size_t i = 0; i < count && length < size;) {
    size_t same = 1;
    while (i + same < count && codes[i + same] == codes[i]) same++;
    length += (size_t)snprintf(into + length, size - length, "%sKVO%04d", i == 0 ? "" : ", ", codes[i]);
    if (same > 1 && length < size) length += (size_t)snprintf(into + length, size - length, " %zu times", same);
    i += same;
  }
}

/* Returns the number in "KVO0001" at the beginning of a text, 0 if there is none. */
static int code_at(const char *text) {
  if (strncmp(text, "KVO", 3) != 0) return 0;
  for (int i = 3; i < 7; i++)
    if (!isdigit((unsigned char)text[i])) return 0;
  return (int)strtol(text + 3, NULL, 10);
}

void crash_read_codes(kvo_crash_result *result, const char *report) {
  static const char json[] = "{\"schema\":1,\"code\":\"";
  for (const char *line = report; *line != '\0'; line += *line == '\n') {
    bool is_json = strncmp(line, json, sizeof json - 1) == 0;
    int code = code_at(is_json ? line + sizeof json - 1 : line);
    if (code != 0 && (is_json || line[7] == ' ')) crash_note_code(result, code);
    line += strcspn(line, "\n");
  }
}

/* Returns the number of expected codes: in a child nothing follows the first fatal one. */
static size_t expected_codes(const kvo_crash_scenario *scenario, bool in_child, int *codes) {
  size_t count = expand(scenario->codes, codes);
  if (in_child && scenario->ending == KVO_CRASH_ENDS_BY_CODES)
    for (size_t i = 0; i < count; i++)
      if (is_fatal(codes[i])) count = i + 1;
  return count;
}

const char *crash_expected_end(const kvo_crash_scenario *scenario) {
  int codes[CRASH_MOST_CODES];
  size_t count = expected_codes(scenario, true, codes);
  bool dies = scenario->ending == KVO_CRASH_ENDS_ABORTED ||
              (scenario->ending == KVO_CRASH_ENDS_BY_CODES && count > 0 && is_fatal(codes[count - 1]));
  return dies ? "SIGABRT" : "exit 0";
}

static void judge_codes(const kvo_crash_scenario *scenario, bool in_child, kvo_crash_result *result) {
  int expected[CRASH_MOST_CODES];
  size_t count = expected_codes(scenario, in_child, expected), seen = result->code_count;
  bool fits = seen == count && memcmp(expected, result->codes, count * sizeof *expected) == 0;
  if ((scenario->flags & KVO_CRASH_OR_MORE) != 0) {
    fits = seen >= count && memcmp(expected, result->codes, count * sizeof *expected) == 0;
    for (size_t i = count; i < seen; i++) fits = fits && result->codes[i] == expected[count - 1];
  }
  if (fits) return;
  char wanted[160], found[160];
  crash_describe_codes(expected, count, wanted, sizeof wanted);
  crash_describe_codes(result->codes, seen, found, sizeof found);
  crash_fail(result, "expected %s, saw %s", wanted, found);
}

/* ------------------------------------------------------------------------------------------------------------- Texts -- */

/* Calls a function with a copy of each part of a list that is separated by '|'. */
static void each_part(const char *list, kvo_crash_result *result,
                      void (*judge)(const char *part, kvo_crash_result *result)) {
  while (list != NULL && *list != '\0') {
    size_t length = strcspn(list, "|");
    char *part = strndup(list, length);
    judge(part, result);
    free(part);
    list += length + (list[length] == '|');
  }
}

static void judge_present(const char *part, kvo_crash_result *result) {
  if (strstr(result->report, part) == NULL) crash_fail(result, "the report does not say \"%s\"", part);
}

static void judge_absent(const char *part, kvo_crash_result *result) {
  if (strstr(result->report, part) != NULL) crash_fail(result, "the report says \"%s\"", part);
}

/* Finds "Removal.swift:41", but not in "Removal.swift:410". */
static bool names_line(const char *report, const char *site) {
  for (const char *at = strstr(report, site); at != NULL; at = strstr(at + 1, site))
    if (!isdigit((unsigned char)at[strlen(site)])) return true;
  return false;
}

/* Finds the lines of the source that are marked as the scenario's sites. Does nothing without the source. */
static void judge_sites(const kvo_crash_scenario *scenario, kvo_crash_result *result) {
  FILE *source = fopen(scenario->file, "r");
  if (source == NULL) return;
  const char *slash = strrchr(scenario->file, '/');
  char mark[32], line[512];
  snprintf(mark, sizeof mark, " site %s: ", scenario->id);
  for (int number = 1; fgets(line, sizeof line, source) != NULL; number++) {
    const char *words = strstr(line, mark);
    if (words == NULL) continue;
    char site[300];
    line[strcspn(line, "\n")] = '\0';
    snprintf(site, sizeof site, "%s:%d", slash != NULL ? slash + 1 : scenario->file, number);
    if (!names_line(result->report, site)) crash_fail(result, "the report does not name %s (%s)", site, words + 1);
  }
  fclose(source);
}

void crash_judge(const kvo_crash_scenario *scenario, bool in_child, kvo_crash_result *result) {
  if ((scenario->flags & KVO_CRASH_UNREADABLE) == 0 || !in_child) judge_codes(scenario, in_child, result);
  if (!in_child) return;
  bool is_silent = scenario->codes[0] == '\0' && scenario->contains == NULL;
  if (is_silent && result->report[0] != '\0') crash_fail(result, "it is no misuse, but it was reported");
  each_part(scenario->contains, result, judge_present);
  each_part(scenario->lacks, result, judge_absent);
  judge_sites(scenario, result);
}

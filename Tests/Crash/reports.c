/* reports.c - compares the whole reports of the scenarios, as text and as JSON, with those in reports.txt. */
#define _GNU_SOURCE
#include "reports.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* How the reports are made: with default settings; and as JSON, also of what follows the first fault, with events and values. The depth is
 * limited, because what has happened would depend on the size of the stack. */
static const char *const settings[] = {NULL,
                                       "KVO_REPORT=json KVO_POLICY=log KVO_HISTORY=4 KVO_VALUES=1 KVO_MAX_DEPTH=20"};

/* Whether the reports of a scenario are the same in each run and each build. */
static bool is_steady(const kvo_crash_scenario *of) {
  const uint32_t varies = KVO_CRASH_OR_MORE | KVO_CRASH_UNREADABLE;
  static const char *const others[] = {
      "K12c",   /* an object at the address of another one */
      "K44c",   /* the path of the source file is long or short */
      "K90.2c", /* ThreadSanitizer has a report of its own */
  };
  for (size_t i = 0; i < sizeof others / sizeof *others; i++)
    if (strcmp(of->id, others[i]) == 0) return false;
  return (of->flags & varies) == 0;
}

static bool begins_with(const char *text, const char *beginning) {
  return strncmp(text, beginning, strlen(beginning)) == 0;
}

/* ------------------------------------------------------------------------------------------------------------- JSON -- */

/* The length of the name of a member at `text` whose value differs between builds or runs; 0 if it is another. */
static size_t varying_length(const char *text) {
  static const char *const names[] = {"\"buildId\":", "\"program\":", "\"time\":", "\"version\":"};
  for (size_t i = 0; i < sizeof names / sizeof *names; i++)
    if (begins_with(text, names[i])) return strlen(names[i]);
  return 0;
}

/* Returns JSON with each member in a line, and each element of an array that is one. Stacks differ between builds. Free it with free(). */
static char *spread_json(const char *at) {
  char *text = NULL;
  size_t size = 0;
  FILE *out = open_memstream(&text, &size);
  if (out == NULL) abort();
  int depth = 0;
  bool in_string = false;
  for (; *at != '\0'; at++) {
    if (in_string) {
      in_string = *at != '"';
    } else if (begins_with(at, "\"stack\":[{")) {
      fputs("\"stack\":[...]", out);
      at += strcspn(at, "]");
      continue;
    } else if (varying_length(at) > 0) {
      fprintf(out, "%.*s...", (int)varying_length(at), at);
      at += strcspn(at, ",") - 1;
      continue;
    } else if (*at == '"') {
      in_string = true;
    } else {
      depth += *at == '{' || *at == '[' ? 1 : *at == '}' || *at == ']' ? -1 : 0;
    }
    fputc(*at, out);
    if (!in_string && *at == ',' && (depth == 1 || (depth == 2 && at[1] == '{'))) fputs("\n    ", out);
  }
  fclose(out);
  return text;
}

/* ------------------------------------------------------------------------------------------------------------ Reports -- */

/* Appends a report without what differs from run to run, each line after two spaces. JSON is not repeated for a repeated fault. */
static void put_report(const char *report, FILE *out) {
  char *normal = kvo_crash_normalise(report), *before = NULL;
  for (char *rest = normal, *line; (line = strsep(&rest, "\n")) != NULL;) {
    if (line[0] == '{') {
      char *json = spread_json(line);
      if (before == NULL || strcmp(before, json) != 0) fprintf(out, "  %s\n", json);
      free(before);
      before = json;
    } else if (line[0] != '\0') {
      fprintf(out, "  %s\n", line);
    }
  }
  free(before);
  free(normal);
}

/* The reports of a scenario in all settings. Free it with free(). */
static char *reports_of(const kvo_crash_scenario *scenario, const kvo_crash_command *command) {
  char *text = NULL;
  size_t size = 0;
  FILE *out = open_memstream(&text, &size);
  if (out == NULL) abort();
  for (size_t i = 0; i < sizeof settings / sizeof *settings; i++) {
    if (settings[i] != NULL && scenario->environment != NULL) continue;
    kvo_crash_scenario with = *scenario;
    if (settings[i] != NULL) with.environment = settings[i];
    kvo_crash_result result;
    kvo_crash_run(&with, command, &result);
    put_report(result.report, out);
    kvo_crash_result_free(&result);
  }
  fclose(out);
  return text;
}

/* ----------------------------------------------------------------------------------------------------------- The file -- */

static char *read_file(const char *path) {
  FILE *file = fopen(path, "r");
  if (file == NULL) return NULL;
  char *text = NULL;
  size_t size = 0;
  if (getdelim(&text, &size, '\0', file) < 0) {
    free(text);
    text = NULL;
  }
  fclose(file);
  return text;
}

/* Returns the lines after "== id", and stores their length. */
static const char *kept_of(const char *file, const char *id, size_t *length) {
  char heading[40];
  snprintf(heading, sizeof heading, "== %s\n", id);
  const char *found = strstr(file, heading);
  *length = 0;
  if (found == NULL) return "";
  found += strlen(heading);
  const char *end = strstr(found, "\n== ");
  if (begins_with(found, "== ")) return found;
  *length = end != NULL ? (size_t)(end + 1 - found) : strlen(found);
  return found;
}

/* Prints the first line that differs. */
static void print_difference(const char *id, const char *kept, size_t length, const char *present) {
  const char *end = kept + length;
  for (;;) {
    size_t left = kept < end ? strcspn(kept, "\n") : 0, right = strcspn(present, "\n");
    if (left != right || memcmp(kept, present, left) != 0) {
      printf("FAILED: the report of %s is not the one in reports.txt\n", id);
      size_t same = 0; /* of a long line what follows the common part */
      while (same < left && same < right && kept[same] == present[same]) same++;
      same = same < 80 ? 0 : same - 80;
      printf("  - %.*s\n  + %.*s\n", (int)(left - same), kept + same, (int)(right - same), present + same);
      return;
    }
    kept += left + 1;
    present += right + (present[right] == '\n');
  }
}

size_t reports_compare(const kvo_crash_list *list, const char *path) {
  char *file = read_file(path);
  if (file == NULL) {
    printf("FAILED: %s cannot be read\n0 passed, 1 failed\n", path);
    return 1;
  }
  size_t passed = 0, failed = 0;
  for (size_t i = 0; i < list->count; i++) {
    if (!is_steady(list->scenarios[i])) continue;
    const char *id = list->scenarios[i]->id;
    size_t length;
    const char *kept = kept_of(file, id, &length);
    char *present = reports_of(list->scenarios[i], list->command);
    bool same = strlen(present) == length && memcmp(present, kept, length) == 0;
    if (!same) print_difference(id, kept, length, present);
    passed += same;
    failed += !same;
    free(present);
  }
  printf("%zu passed, %zu failed\n", passed, failed);
  free(file);
  return failed;
}

bool reports_keep(const kvo_crash_list *list, const char *path) {
  FILE *file = fopen(path, "w");
  if (file == NULL) return false;
  for (size_t i = 0; i < list->count; i++) {
    if (!is_steady(list->scenarios[i])) continue;
    char *present = reports_of(list->scenarios[i], list->command);
    fprintf(file, "== %s\n%s", list->scenarios[i]->id, present);
    free(present);
  }
  return fclose(file) == 0;
}

/* listing.c - several scenarios: lists, tables and JSON. */
#define _GNU_SOURCE
#include "judge.h"

#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { AT_ONCE = 2 };

/* -------------------------------------------------------------------------------------------------------------- Text -- */

static const char *verdict(const kvo_crash_result *result) { return result->passed ? "pass" : "FAIL"; }

static void print_row(const kvo_crash_scenario *scenario, const kvo_crash_result *result) {
  char codes[160];
  crash_describe_codes(result->codes, result->code_count, codes, sizeof codes);
  printf("%-8s %-72s %-10s %-28s %s\n", scenario->id, kvo_crash_row_of(scenario->id)->title, result->ended, codes,
         verdict(result));
  if (!result->passed) printf("         %s\n", result->reason);
}

bool kvo_crash_show(const kvo_crash_scenario *scenario, const kvo_crash_command *command) {
  const kvo_crash_row *row = kvo_crash_row_of(scenario->id);
  printf("%s (%s): %s\n", scenario->id, row->section, row->title);
  if (scenario->environment != NULL) printf("Environment: %s\n", scenario->environment);
  fflush(stdout);
  kvo_crash_result result;
  kvo_crash_run(scenario, command, &result);
  fputs(result.report != NULL ? result.report : "", stderr);
  char codes[160];
  crash_describe_codes(result.codes, result.code_count, codes, sizeof codes);
  printf("%s ended with %s; codes: %s; %s%s%s\n", scenario->id, result.ended, codes, verdict(&result),
         result.passed ? "" : ": ", result.reason);
  kvo_crash_result_free(&result);
  return result.passed;
}

void kvo_crash_print_list(const kvo_crash_list *list) {
  for (size_t i = 0; i < list->count; i++) {
    const kvo_crash_scenario *each = list->scenarios[i];
    printf("%-8s %-72s %-10s %s\n", each->id, kvo_crash_row_of(each->id)->title, crash_expected_end(each),
           each->codes[0] == '\0' ? "no fault" : each->codes);
  }
}

/* -------------------------------------------------------------------------------------------------------------- JSON -- */

static void print_string(const char *text) {
  putchar('"');
  for (; *text != '\0'; text++) {
    if (*text == '"' || *text == '\\')
      printf("\\%c", *text);
    else if ((unsigned char)*text < 0x20)
      printf("\\u%04x", (unsigned)(unsigned char)*text);
    else
      putchar(*text);
  }
  putchar('"');
}

static void print_member(const char *name, const char *value) {
  printf(",\"%s\":", name);
  if (value != NULL)
    print_string(value);
  else
    printf("null");
}

/* Prints the first line of each report, which has to be the same in all builds. */
static void print_first_lines(const char *report) {
  char *text = kvo_crash_normalise(report);
  const char *separator = "";
  for (char *rest = text, *line; (line = strsep(&rest, "\n")) != NULL;)
    if (strncmp(line, "KVO", 3) == 0) {
      printf("%s", separator);
      print_string(line);
      separator = ",";
    }
  free(text);
}

static void print_json(const kvo_crash_scenario *scenario, const kvo_crash_result *result) {
  const kvo_crash_row *row = kvo_crash_row_of(scenario->id);
  printf("{\"schema\":1");
  print_member("id", scenario->id);
  print_member("section", row->section);
  print_member("title", row->title);
  print_member("language", kvo_crash_is_c(scenario) ? "c" : "swift");
  print_member("ended", result->ended);
  printf(",\"codes\":[");
  for (size_t i = 0; i < result->code_count; i++) printf("%s\"KVO%04d\"", i == 0 ? "" : ",", result->codes[i]);
  printf("],\"firstLines\":[");
  if (result->report != NULL) print_first_lines(result->report);
  printf("],\"passed\":%s", result->passed ? "true" : "false");
  print_member("reason", result->passed ? NULL : result->reason);
  printf("}\n");
}

/* --------------------------------------------------------------------------------------------------------------- All -- */

typedef struct work {
  const kvo_crash_list *list;
  kvo_crash_result *results;
  _Atomic size_t next;
} work;

static void *take_some(void *arg) {
  work *of = arg;
  for (size_t i; (i = atomic_fetch_add(&of->next, 1)) < of->list->count;)
    kvo_crash_run(of->list->scenarios[i], of->list->command, &of->results[i]);
  return NULL;
}

/* Returns one result for each scenario; free the results and the array. */
static kvo_crash_result *run_list(const kvo_crash_list *list) {
  work all = {.list = list, .results = calloc(list->count + 1, sizeof(kvo_crash_result))};
  pthread_t threads[AT_ONCE];
  if (all.results == NULL) abort();
  for (int i = 0; i < AT_ONCE; i++)
    if (pthread_create(&threads[i], NULL, take_some, &all) != 0) abort();
  for (int i = 0; i < AT_ONCE; i++) pthread_join(threads[i], NULL);
  return all.results;
}

static void free_results(kvo_crash_result *results, size_t count) {
  for (size_t i = 0; i < count; i++) kvo_crash_result_free(&results[i]);
  free(results);
}

size_t kvo_crash_run_all(const kvo_crash_list *list) {
  kvo_crash_result *results = run_list(list);
  size_t failed = 0;
  for (size_t i = 0; i < list->count; i++) {
    failed += !results[i].passed;
    (list->json ? print_json : print_row)(list->scenarios[i], &results[i]);
  }
  if (!list->json) printf("%zu passed, %zu failed\n", list->count - failed, failed);
  free_results(results, list->count);
  return failed;
}

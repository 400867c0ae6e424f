/* main.c - kvo_crash: the crash catalogue without Swift.
 *
 *     kvo_crash --list             what there is
 *     kvo_crash K27c               runs one in a child process, shows its report, and says whether it was as it should be
 *     kvo_crash --all [--json]     runs all, two at a time
 *     kvo_crash --reports [FILE]   compares their whole reports with those in reports.txt, or writes them to a file
 *     kvo_crash --record           runs those that can in this process, with a handler that goes on after each fault */
#include "reports.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const kvo_crash_scenario *find(const char *id) {
  const kvo_crash_scenario *each;
  for (size_t i = 0; (each = kvo_crash_c_scenario(i)) != NULL; i++)
    if (strcmp(each->id, id) == 0) return each;
  return NULL;
}

static const kvo_crash_scenario **all(size_t *count) {
  *count = 0;
  while (kvo_crash_c_scenario(*count) != NULL) ++*count;
  const kvo_crash_scenario **list = calloc(*count, sizeof *list);
  if (list == NULL) abort();
  for (size_t i = 0; i < *count; i++) list[i] = kvo_crash_c_scenario(i);
  return list;
}

/* In this process; says which fail. */
static size_t record(const kvo_crash_list *list) {
  size_t passed = 0, failed = 0;
  for (size_t i = 0; i < list->count; i++) {
    if (!kvo_crash_can_record(list->scenarios[i])) continue;
    kvo_crash_result result;
    kvo_crash_record(list->scenarios[i], &result);
    passed += result.passed;
    failed += !result.passed;
    if (!result.passed) printf("FAILED: %s in process: %s\n", list->scenarios[i]->id, result.reason);
  }
  printf("%zu passed, %zu failed\n", passed, failed);
  return failed;
}

static int usage(void) {
  fprintf(stderr, "usage: kvo_crash --list | --all [--json] | --reports [FILE] | --record | ID\n");
  return 64;
}

int main(int argc, char **argv) {
  if (argc == 3 && strcmp(argv[1], "--here") == 0) {
    const kvo_crash_scenario *scenario = find(argv[2]);
    if (scenario == NULL) return usage();
    kvo_crash_perform(scenario);
  }
  const char *const arguments[] = {argv[0], "--here", NULL};
  const char *emulator = getenv("KVO_TEST_EMULATOR"); /* scripts/check-ports.sh */
  const char *const emulated[] = {emulator, argv[0], "--here", NULL};
  const kvo_crash_command command = {.program = emulator != NULL ? emulator : "/proc/self/exe",
                                     .arguments = emulator != NULL ? emulated : arguments};
  kvo_crash_list list = {.command = &command, .json = argc == 3 && strcmp(argv[2], "--json") == 0};
  bool is_of_reports = argc >= 2 && strcmp(argv[1], "--reports") == 0;
  if (argc < 2 || argc > 3 || (argc == 3 && !list.json && !is_of_reports)) return usage();
  const kvo_crash_scenario **scenarios = all(&list.count), *one = find(argv[1]);
  list.scenarios = scenarios;
  bool good = true;
  if (one != NULL)
    good = kvo_crash_show(one, &command);
  else if (strcmp(argv[1], "--list") == 0)
    kvo_crash_print_list(&list);
  else if (strcmp(argv[1], "--all") == 0)
    good = kvo_crash_run_all(&list) == 0;
  else if (is_of_reports)
    good = argc == 3 ? reports_keep(&list, argv[2]) : reports_compare(&list, KVO_CRASH_REPORTS) == 0;
  else if (strcmp(argv[1], "--record") == 0)
    good = record(&list) == 0;
  else
    return usage();
  free(scenarios);
  return good ? 0 : 1;
}

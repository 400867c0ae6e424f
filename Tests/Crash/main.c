/* main.c - kvo_crash: the crash catalogue without Swift. scripts/crashes.py runs it.
 *
 *     kvo_crash --scenarios    what there is, as lines of JSON
 *     kvo_crash --here K27c    runs one, and ends as it does
 *     kvo_crash --record       runs those that can in this process, with a handler that goes on after each fault */
#include <CCrashScenarios.h>

#include <stdio.h>
#include <string.h>

int main(int argc, char **argv) {
  void (*visit)(const kvo_crash_scenario *scenario) = NULL;
  if (argc == 2 && strcmp(argv[1], "--scenarios") == 0) visit = kvo_crash_print;
  if (argc == 2 && strcmp(argv[1], "--record") == 0) visit = kvo_crash_record;
  const char *wanted = argc == 3 && strcmp(argv[1], "--here") == 0 ? argv[2] : "";
  const kvo_crash_scenario *each;
  for (size_t i = 0; (each = kvo_crash_c_scenario(i)) != NULL; i++) {
    if (visit != NULL) visit(each);
    if (strcmp(each->id, wanted) == 0) kvo_crash_perform(each);
  }
  if (visit != NULL) return 0;
  fprintf(stderr, "usage: kvo_crash --scenarios | --record | --here ID\n");
  return 64;
}

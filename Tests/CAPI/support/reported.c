/* reported.c - see reported.h. */
#include "reported.h"

#include "json.h"

#include <stdio.h>
#include <stdlib.h>
#include <time.h>
#include <unistd.h>

CALLED void never_was(void) {
  kvo_remove_observer(0);
  FRAME_STAYS();
}

void fault_once(void *arg) { never_was(); }

void raise_silent(void) { kvo_fault_raise(KVO_FAULT_NEVER_NOTIFIES, "it is silent", NULL, NULL, NULL, 0, NULL, 0); }

kvo_fault fault_of(const char *summary) {
  return (kvo_fault){.code = KVO_FAULT_NEVER_NOTIFIES, .severity = KVO_SEVERITY_ERROR, .summary = summary};
}

const char *formatted(const kvo_fault *fault, kvo_report_format format) {
  static char report[1 << 17];
  CHECK(kvo_fault_format(fault, format, report, sizeof report) < sizeof report);
  if (format == KVO_REPORT_JSON) CHECK(json_is_valid(report));
  return report;
}

double seconds(void) {
  struct timespec now;
  clock_gettime(CLOCK_MONOTONIC, &now);
  return (double)now.tv_sec + (double)now.tv_nsec / 1e9;
}

const char *take_file(const char *path) {
  static char text[1 << 22];
  FILE *file = fopen(path, "r");
  if (file == NULL) harness_fail(__FILE__, __LINE__, "there is no file %s", path);
  size_t size = fread(text, 1, sizeof text - 1, file);
  CHECK(size < sizeof text - 1);
  text[size] = '\0';
  fclose(file);
  CHECK_EQ(unlink(path), 0);
  return text;
}

child_result run_with(const char *variable, const char *value, void (*body)(void *arg), const char *policy) {
  setenv(variable, value, 1);
  child_result run = harness_run_child(body, NULL, policy);
  unsetenv(variable);
  return run;
}

void check_report(const child_result *run) {
  CHECK_EQ(run->signal, 0);
  CHECK_EQ(run->exit_code, 0);
  CHECK_CONTAINS(run->errors, "KVO0008 fatal: 0x0 is not an observation's id: did the registration fail?");
  CHECK_CONTAINS(run->errors, "\n  modules: ");
}

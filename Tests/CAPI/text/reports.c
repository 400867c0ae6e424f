/* reports.c - the form of reports that KVO_REPORT and KVO_HELP choose, settings of the environment, and reports of two threads. */
#include "fixture.h"
#include "reported.h"

#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

static void remove_unregistered(void *arg) {
  item *object = item_make(0);
  kvo_remove_observer_for(as_object(object), &faults, "imaginary");
}

TEST("an unknown form of report is reported, and the report is a text") {
  child_result run = run_with("KVO_REPORT", "xml", remove_unregistered, "log");
  CHECK_CONTAINS(run.errors, "KVO0034 warning: KVO_REPORT: \"xml\" is invalid and ignored");
  CHECK_CONTAINS(run.errors, "\n  help: ");
}

TEST("KVO_HELP lists the variables and every code") {
  child_result run = run_with("KVO_HELP", "1", remove_unregistered, "ignore");
  CHECK_CONTAINS(run.errors, "KVO_REPORT_PATH");
  CHECK_CONTAINS(run.errors, "\n  KVO0001 fatal   an object was deallocated while observed\n");
#define LISTED(name, value, severity, exception, text, why) CHECK_CONTAINS(run.errors, text "\n");
  KVO_FAULT_MAP(LISTED)
#undef LISTED
  CHECK_EQ((const char *)run_with("KVO_HELP", "0", remove_unregistered, "ignore").errors, "");
}

static void fault_three_times(void *arg) {
  remove_unregistered(arg);
  remove_unregistered(arg);
  never_was();
}

TEST("further hints are printed once per code") {
  child_result run = harness_run_child(fault_three_times, NULL, "log");
  CHECK_EQ(occurrences(run.errors, "KVO0002 fatal: "), 2);
  CHECK_EQ(occurrences(run.errors, "\n  more: kvo explain KVO0002;"), 1);
  CHECK_EQ(occurrences(run.errors, "\n  more: kvo explain KVO0008;"), 1);
  CHECK_EQ(occurrences(run.errors, "\n  modules: "), 3);
}

/* -------------------------------------------------------------------------------------------------------------- Settings -- */

/* What a program says that starts with this setting. */
static const char *said_with(const char *setting) {
  static char text[4096];
  char command[9000];
  snprintf(command, sizeof command, "KVO_POLICY=log %s %s 'no such test' 2>&1", setting, harness_command());
  FILE *output = popen(command, "r");
  CHECK(output != NULL);
  text[fread(text, 1, sizeof text - 1, output)] = '\0';
  pclose(output);
  return text;
}

TEST("a misspelt variable is reported with the probable name; one that resembles none is not, whatever its length") {
  char foreign[64] = "KVO_";
  const char *text = said_with("KVO_TEST_OF_MY_OWN=1 KVO_STACK=16 KVO_POLICI=log");
  CHECK_CONTAINS(text, "KVO0034 warning: the environment: \"KVO_STACK\" is not a variable of the library: did you mean "
                       "KVO_STACKS?\n");
  CHECK_CONTAINS(text, "\"KVO_POLICI\" is not a variable of the library: did you mean KVO_POLICY?\n");
  CHECK_EQ(occurrences(text, "KVO0034"), 2);
  for (size_t length = 36; length < 44; length++) {
    memset(foreign + 4, 'A', length - 4);
    strcpy(foreign + length, "=1");
    CHECK_SAME(strstr(said_with(foreign), "KVO0034"), NULL);
  }
}

TEST("each number has limits: beyond them it is reported and ignored") {
  static const char *const good[] = {"KVO_VALUES=0",      "KVO_VALUES=1",           "KVO_ZOMBIES=0",
                                     "KVO_ZOMBIES=9",     "KVO_ZOMBIES=65536",      "KVO_HISTORY=0",
                                     "KVO_HISTORY=90",    "KVO_STACKS=0",           "KVO_STACKS=64",
                                     "KVO_STACKS=full",   "KVO_MAX_DEPTH=99",       "KVO_MAX_DEPTH=1048576",
                                     "KVO_MAX_ROUNDS=95", "KVO_MAX_ROUNDS=1048576", "KVO_SLOW_MS=3600000"};
  static const char *const bad[] = {"KVO_VALUES=2",           "KVO_VALUES=-1",          "KVO_VALUES=x",
                                    "KVO_ZOMBIES=65537",      "KVO_HISTORY=1048577",    "KVO_STACKS=65",
                                    "KVO_STACKS=1x",          "KVO_STACKS=:1",          "KVO_STACKS=/1",
                                    "KVO_MAX_DEPTH=1048577",  "KVO_MAX_ROUNDS=1048577", "KVO_SLOW_MS=3600001",
                                    "KVO_SLOW_MS=99999999999"};
  for (size_t i = 0; i < sizeof good / sizeof *good; i++) CHECK_SAME(strstr(said_with(good[i]), "KVO0034"), NULL);
  for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) CHECK_CONTAINS(said_with(bad[i]), "KVO0034 warning: KVO_");
}

static void *fault_often(void *arg) {
  for (int i = 0; i < 200; i++) never_was();
  return arg;
}

static void fault_on_two_threads(void *arg) {
  pthread_t other;
  pthread_create(&other, NULL, fault_often, arg);
  fault_often(arg);
  pthread_join(other, NULL);
}

TEST("reports of two threads do not mix") {
  static const char begin[] = "KVO0008 fatal: 0x0 is not an observation's id", end[] = "  modules";
  char path[64];
  snprintf(path, sizeof path, "kvo-reports-%ld", (long)getpid());
  run_with("KVO_REPORT_PATH", path, fault_on_two_threads, "log");
  int begun = 0, ended = 0;
  for (const char *line = take_file(path); *line != '\0'; line += strcspn(line, "\n") + 1) {
    bool is_first = begun == ended;
    if (is_first != (strncmp(line, begin, strlen(begin)) == 0))
      harness_fail(__FILE__, __LINE__, "in report %d: %.80s", begun, line);
    begun += is_first;
    ended += strncmp(line, end, strlen(end)) == 0;
  }
  CHECK_EQ(begun, 400);
  CHECK_EQ(ended, 400);
}

TEST("of two threads that fault at the same time, one ends the process after a whole report") {
  for (int i = 0; i < 20; i++) {
    child_result run = harness_run_child(fault_on_two_threads, NULL, NULL);
    CHECK_EQ(run.signal, SIGABRT);
    CHECK_EQ(occurrences(run.errors, "KVO0008 fatal"), 1);
    CHECK_EQ(occurrences(run.errors, "  more: "), 1);
  }
}

/* reports.c - the destinations and formats of reports: text, JSON, files, two threads at the same time, no standard error. */
#include "fixture.h"
#include <kvo/kvo_binding.h>

#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

static void remove_unregistered(void *arg) {
  (void)arg;
  item *object = item_make(0);
  static watcher w, other;
  watch(object, "value", KVO_NEW | KVO_PRIOR, &w);
  kvo_remove_observer_for(as_object(object), &other, "a \"quoted\"\tpath \xff");
}

static void never_notify(void *arg) {
  (void)arg;
  kvo_fault_raise(KVO_FAULT_NEVER_NOTIFIES, "nothing happens", NULL, NULL, NULL, 0, NULL, 0);
  fputs("went on\n", stderr);
}

static size_t count_of(const char *text, const char *part) {
  size_t count = 0;
  for (const char *at = strstr(text, part); at != NULL; at = strstr(at + 1, part)) count++;
  return count;
}

/* The current directory, in the build folder. */
static void make_folder(char *path, size_t size) {
  snprintf(path, size, "kvo-reports-%ld", (long)getpid());
  CHECK_EQ(mkdir(path, 0700), 0);
}

static child_result run_with(void (*body)(void *), void *arg, const char *policy, const char *name, const char *value) {
  setenv(name, value, 1);
  child_result result = harness_run_child(body, arg, policy);
  unsetenv(name);
  return result;
}

TEST("KVO_REPORT=json writes the report as one line, with strings escaped and invalid UTF-8 replaced") {
  child_result run = run_with(remove_unregistered, NULL, "log", "KVO_REPORT", "json");
  CHECK_EQ(count_of(run.errors, "\n"), (size_t)1);
  CHECK_EQ(strncmp(run.errors,
                   "{\"schema\":1,\"code\":\"KVO0002\",\"severity\":\"fatal\",\"summary\":\"KVO0002 fatal: ", 70),
           0);
  CHECK_CONTAINS(
      run.errors,
      "a \\u0022quoted\\u0022\\u005cx09path \\u005cxff\\u0022"); /* the summary is escaped for people first */
  CHECK_CONTAINS(run.errors, "\"exception\":\"NSRangeException\"");
  CHECK_CONTAINS(run.errors, "\"keyPath\":\"value\"");
  CHECK_CONTAINS(run.errors, "\"options\":[\"new\",\"prior\"]");
  CHECK_CONTAINS(run.errors, "\"registeredAt\":{\"file\":\"");
  CHECK_CONTAINS(run.errors, "]}\n");
}

TEST("in a text the content of a name cannot look like a line of the report") {
  child_result run = harness_run_child(remove_unregistered, NULL, "log");
  CHECK_CONTAINS(run.errors, "a \"quoted\"\\x09path");
  CHECK_EQ(count_of(run.errors, "\t"), (size_t)0);
}

TEST("KVO_REPORT_PATH appends to a file, with the process id for %p, and nothing goes to standard error") {
  char folder[32], path[64];
  make_folder(folder, sizeof folder);
  snprintf(path, sizeof path, "%s/%%p.txt", folder);
  child_result run = run_with(remove_unregistered, NULL, "log", "KVO_REPORT_PATH", path);
  CHECK_EQ((const char *)run.errors, "");
  char command[128], line[64] = "";
  snprintf(command, sizeof command, "cat %s/[0-9]*.txt && rm -r %s", folder, folder);
  FILE *found = popen(command, "r");
  CHECK(found != NULL && fgets(line, sizeof line, found) != NULL);
  CHECK_CONTAINS(line, "KVO0002 fatal: cannot remove");
  pclose(found);
}

TEST("a report file that cannot be written is reported, and the report goes to standard error") {
  child_result run = run_with(remove_unregistered, NULL, "log", "KVO_REPORT_PATH", "/nowhere/at/all");
  CHECK_CONTAINS(run.errors, "KVO0034 warning: KVO_REPORT_PATH: \"/nowhere/at/all\"");
  CHECK_CONTAINS(run.errors, "KVO0002 fatal: cannot remove");
}

TEST("an unknown form of report is reported, and the report is a text") {
  child_result run = run_with(remove_unregistered, NULL, "log", "KVO_REPORT", "xml");
  CHECK_CONTAINS(run.errors, "KVO0034 warning: KVO_REPORT: \"xml\" is invalid and ignored");
  CHECK_CONTAINS(run.errors, "\n  help: ");
}

TEST("KVO_HELP lists the variables and every code") {
  child_result run = run_with(remove_unregistered, NULL, "ignore", "KVO_HELP", "1");
  CHECK_CONTAINS(run.errors, "KVO_REPORT_PATH");
  CHECK_CONTAINS(run.errors, "\n  KVO0001 fatal   an object was deallocated while observed\n");
  CHECK_CONTAINS(run.errors, "\n  KVO0011 error   an observation that can never notify\n");
  CHECK_CONTAINS(run.errors, "\n  KVO0015 info    an observation that ended before any change\n");
#define LISTED(name, value, severity, exception, text) CHECK_CONTAINS(run.errors, text "\n");
  KVO_FAULT_MAP(LISTED)
#undef LISTED
  CHECK_EQ((const char *)run_with(remove_unregistered, NULL, "ignore", "KVO_HELP", "0").errors, "");
}

TEST("an item for a severity applies to its codes, unless one of them is named") {
  CHECK_EQ(harness_run_child(never_notify, NULL, NULL).signal, 0);
  CHECK_EQ(harness_run_child(never_notify, NULL, "abort").signal, 0);
  CHECK_EQ(harness_run_child(never_notify, NULL, "error:abort").signal, SIGABRT);
  CHECK_EQ((const char *)harness_run_child(never_notify, NULL, "error:abort,KVO0011:ignore").errors, "went on\n");
  CHECK_EQ(harness_run_child(remove_unregistered, NULL, "fatal:log").signal, 0);
  CHECK_EQ(harness_run_child(remove_unregistered, NULL, "fatal:log,KVO0002:abort").signal, SIGABRT);
}

static void fault_three_times(void *arg) {
  remove_unregistered(arg);
  remove_unregistered(arg);
  kvo_remove_observer(0);
}

TEST("further hints are printed once per code") {
  child_result run = harness_run_child(fault_three_times, NULL, "log");
  CHECK_EQ(count_of(run.errors, "KVO0002 fatal: "), (size_t)2);
  CHECK_EQ(count_of(run.errors, "\n  more: kvo explain KVO0002;"), (size_t)1);
  CHECK_EQ(count_of(run.errors, "\n  more: kvo explain KVO0008;"), (size_t)1);
  CHECK_EQ(count_of(run.errors, "\n  modules: "), (size_t)3);
}

TEST("the first line says where it happened, or where the object of the fault was registered") {
  child_result run = harness_run_child(remove_unregistered, NULL, "log");
  run.errors[strcspn(run.errors, "\n")] = '\0';
  CHECK_CONTAINS(run.errors, ": it is not registered, at ");
  CHECK_CONTAINS(run.errors, "reports.c:");
}

/* What a program says that starts with this setting. */
static const char *said_with(const char *setting) {
  static char text[4096];
  char command[9000];
  snprintf(command, sizeof command, "KVO_POLICY=log %s %s 'no such test' 2>&1", setting, harness_command());
  FILE *output = popen(command, "r");
  text[fread(text, 1, sizeof text - 1, output)] = '\0';
  pclose(output);
  return text;
}

TEST("a misspelt variable is reported with the probable name; one that resembles none is not") {
  harness_environment("KVO_STACK", "16");
  setenv("KVO_TEST_OF_MY_OWN", "1", 1);
  const char *text = said_with("KVO_POLICI=log");
  CHECK_CONTAINS(text, "KVO0034 warning: the environment: \"KVO_STACK\" is not a variable of the library: did you mean "
                       "KVO_STACKS?\n");
  CHECK_CONTAINS(text,
                 "KVO0034 warning: the environment: \"KVO_POLICI\" is not a variable of the library: did you mean "
                 "KVO_POLICY?\n");
  CHECK_EQ(count_of(text, "KVO0034"), (size_t)2);
}

TEST("each number has limits: beyond them it is reported and ignored") {
  static const char *const good[] = {"KVO_VALUES=1",  "KVO_VALUES=0",  "KVO_STACKS=0",    "KVO_STACKS=full",
                                     "KVO_HISTORY=0", "KVO_ZOMBIES=0", "KVO_MAX_DEPTH=5", "KVO_SLOW_MS=1"};
  static const char *const bad[] = {"KVO_VALUES=2",
                                    "KVO_VALUES=-1",
                                    "KVO_VALUES=x",
                                    "KVO_STACKS=1x",
                                    "KVO_STACKS=1000000",
                                    "KVO_HISTORY=99999999999",
                                    "KVO_ZOMBIES=99999999999",
                                    "KVO_MAX_DEPTH=99999999999",
                                    "KVO_SLOW_MS=99999999999"};
  for (size_t i = 0; i < sizeof good / sizeof *good; i++) CHECK_SAME(strstr(said_with(good[i]), "KVO0034"), NULL);
  for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) CHECK_CONTAINS(said_with(bad[i]), "KVO0034 warning: ");
}

TEST("a foreign variable with a name of any length is ignored") {
  static char name[16384] = "KVO_";
  memset(name + 4, 'A', sizeof name - 5);
  harness_environment(name, "1");
  CHECK_SAME(getenv("KVO_AAAA"), NULL);
}

static void close_errors_and_fault(void *arg) {
  close(STDERR_FILENO);
  remove_unregistered(arg);
}

TEST("with standard error closed the process still ends with SIGABRT") {
  CHECK_EQ(harness_run_child(close_errors_and_fault, NULL, NULL).signal, SIGABRT);
}

static void *fault_often(void *arg) {
  (void)arg;
  for (int i = 0; i < 200; i++) kvo_remove_observer(0);
  return NULL;
}

static void fault_from_two_threads(void *arg) {
  pthread_t other;
  pthread_create(&other, NULL, fault_often, arg);
  fault_often(arg);
  pthread_join(other, NULL);
}

TEST("reports of two threads do not mix") {
  static const char begin[] = "KVO0008 fatal: 0x0 is not an observation's id", end[] = "  modules";
  char folder[32], path[64], line[2048];
  make_folder(folder, sizeof folder);
  snprintf(path, sizeof path, "%s/report", folder);
  run_with(fault_from_two_threads, NULL, "log", "KVO_REPORT_PATH", path);
  FILE *written = fopen(path, "r");
  CHECK(written != NULL);
  int begun = 0, ended = 0;
  while (fgets(line, sizeof line, written) != NULL) {
    bool is_first = begun == ended;
    if (is_first != (strncmp(line, begin, strlen(begin)) == 0))
      harness_fail(__FILE__, __LINE__, "in report %d: %s", begun, line);
    begun += is_first;
    ended += strncmp(line, end, strlen(end)) == 0;
  }
  fclose(written);
  unlink(path);
  rmdir(folder);
  CHECK_EQ(begun, 400);
  CHECK_EQ(ended, 400);
}

static void fault_from_two_threads_at_once(void *arg) {
  pthread_t other;
  pthread_create(&other, NULL, fault_often, arg);
  fault_often(arg);
}

TEST("of two threads that fault at the same time, one ends the process after a whole report") {
  for (int i = 0; i < 20; i++) {
    child_result run = harness_run_child(fault_from_two_threads_at_once, NULL, NULL);
    CHECK_EQ(run.signal, SIGABRT);
    CHECK_EQ(count_of(run.errors, "KVO0008 fatal"), (size_t)1);
    CHECK_EQ(count_of(run.errors, "  more: "), (size_t)1);
  }
}

static size_t formatted[3];
static char part[21];
static kvo_action format_it(const kvo_fault *fault, void *arg) {
  (void)arg;
  formatted[0] = kvo_fault_format(fault, KVO_REPORT_TEXT, NULL, 0);
  formatted[1] = kvo_fault_format(fault, KVO_REPORT_TEXT, part, sizeof part);
  CHECK_EQ(fault->thread, (uint32_t)getpid()); /* the main thread's id is that of the process */
  CHECK_EQ((int)fault->severity, KVO_SEVERITY_FATAL);
  CHECK(fault->help != NULL);
  return KVO_ACTION_IGNORE;
}

TEST("a report is formatted into memory like snprintf(3)") {
  kvo_set_fault_handler(format_it, NULL);
  CHECK_STATUS(kvo_remove_observer(0), KVO_ERROR_NOT_REGISTERED);
  CHECK(formatted[0] > 100);
  CHECK_EQ(formatted[0], formatted[1]);
  CHECK_EQ((const char *)part, "KVO0008 fatal: 0x0 i");
  kvo_set_fault_handler(NULL, NULL);
}

static void note_summary(char *into, size_t size) {
  (void)kvo_remove_observer(UINT64_MAX);
  snprintf(into, size, "%s", faults.summary);
}

TEST("a report that is shorter than the previous one contains nothing of it") {
  ignore_faults();
  char alone[512], behind[512];
  note_summary(alone, sizeof alone);
  item *object = item_make(0);
  KVO_SET(as_object(object), "value", double, 1.5);
  CHECK(strlen(faults.summary) > strlen(alone));
  note_summary(behind, sizeof behind);
  CHECK_EQ((const char *)behind, (const char *)alone);
  item_destroy(object);
}

static kvo_action expect_no_place(const kvo_fault *fault, void *arg) {
  CHECK_SAME(fault->file, NULL);
  CHECK_EQ(fault->file_length, (size_t)0);
  *(int *)arg += 1;
  return KVO_ACTION_IGNORE;
}

TEST("a fault without a source location has none, of length 0") {
  int told = 0;
  kvo_set_fault_handler(expect_no_place, &told);
  (void)(kvo_remove_observer)(UINT64_MAX);
  CHECK_EQ(told, 1);
}

/* report_settings.c - settings in the environment that few other tests have: the file of the reports, numbers at their limits, names. */
#include "fixture.h"

#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <unistd.h>

static void never_was(void) { kvo_remove_observer(0); }

static void fault_once(void *arg) {
  (void)arg;
  never_was();
}

static size_t count_of(const char *text, const char *part) {
  size_t count = 0;
  for (const char *at = strstr(text, part); at != NULL; at = strstr(at + 1, part)) count++;
  return count;
}

/* The content of a file, which is removed. Overwritten by the next call. */
static const char *taken_from(const char *path) {
  static char text[1 << 15];
  FILE *file = fopen(path, "r");
  if (file == NULL) harness_fail(__FILE__, __LINE__, "there is no file %s", path);
  text[fread(text, 1, sizeof text - 1, file)] = '\0';
  fclose(file);
  CHECK_EQ(unlink(path), 0);
  return text;
}

/* ------------------------------------------------------------------------------------------------------------- The file -- */

static void fault_and_take_file(void *arg) {
  char path[64];
  (void)arg;
  never_was();
  snprintf(path, sizeof path, "kvo-%ld-settings-%ld.txt", (long)getpid(), (long)getpid());
  CHECK_CONTAINS(taken_from(path), "KVO0008 fatal: ");
}

TEST("each %p in KVO_REPORT_PATH is the number of the process, in decimal, and the rest is taken as it is") {
  setenv("KVO_REPORT_PATH", "kvo-%p-settings-%p.txt", 1);
  child_result run = harness_run_child(fault_and_take_file, NULL, "log");
  CHECK_EQ(run.exit_code, 0);
  CHECK_EQ((const char *)run.errors, "");
}

TEST("reports are appended to what the file has") {
  char path[64];
  snprintf(path, sizeof path, "kvo-appended-%ld.txt", (long)getpid());
  FILE *file = fopen(path, "w");
  CHECK(file != NULL && fputs("before\n", file) >= 0 && fclose(file) == 0);
  setenv("KVO_REPORT_PATH", path, 1);
  for (int i = 0; i < 2; i++) CHECK_EQ((const char *)harness_run_child(fault_once, NULL, "log").errors, "");
  const char *text = taken_from(path);
  CHECK_EQ(strncmp(text, "before\nKVO0008 fatal: ", 22), 0);
  CHECK_EQ(count_of(text, "KVO0008 fatal: "), 2);
  CHECK_EQ(count_of(text, "\n  more: "), 2);
}

/* The file of the reports among the open ones; -1 if it is not open. */
static int number_of_file(const char *name) {
  for (int fd = 0; fd < 256; fd++) {
    char link[64], path[4096];
    snprintf(link, sizeof link, "/proc/self/fd/%d", fd);
    ssize_t length = readlink(link, path, sizeof path - 1);
    if (length < 0) continue;
    path[length] = '\0';
    if (strstr(path, name) != NULL) return fd;
  }
  return -1;
}

static void fault_and_look(void *arg) {
  never_was();
  int fd = number_of_file(arg);
  CHECK(fd > STDERR_FILENO);
  CHECK((fcntl(fd, F_GETFD) & FD_CLOEXEC) != 0);
  CHECK((fcntl(fd, F_GETFL) & O_APPEND) != 0);
}

TEST("programs that the process executes do not inherit the file of the reports") {
  char path[64];
  snprintf(path, sizeof path, "kvo-inherited-%ld.txt", (long)getpid());
  setenv("KVO_REPORT_PATH", path, 1);
  CHECK_EQ(harness_run_child(fault_and_look, path, "log").exit_code, 0);
  unlink(path);
}

/* A path of this length in the current folder: "./././name", with another slash if the length is odd. */
static char *long_path(size_t length, const char *name) {
  char *path = calloc(1, length + 1);
  CHECK(path != NULL);
  size_t in_front = length - strlen(name);
  for (size_t i = 0; i < in_front; i++) path[i] = i % 2 == 0 ? '.' : '/';
  if (in_front % 2 != 0) path[in_front - 1] = '/';
  strcpy(path + in_front, name);
  return path;
}

TEST("a path of 4095 bytes is that of the reports, and a longer one is reported, and none that is cut is used") {
  char name[64];
  snprintf(name, sizeof name, "kvo-long-%ld.txt", (long)getpid());
  for (size_t length = 4094; length < 4099; length++) {
    char *path = long_path(length, name);
    setenv("KVO_REPORT_PATH", path, 1);
    child_result run = harness_run_child(fault_once, NULL, "log");
    if (length < 4096) {
      CHECK_EQ((const char *)run.errors, "");
      CHECK_CONTAINS(taken_from(name), "KVO0008 fatal: ");
    } else {
      CHECK_CONTAINS(run.errors, "KVO0034 warning: KVO_REPORT_PATH: \"./././");
      CHECK_CONTAINS(run.errors, "\nKVO0008 fatal: ");
    }
    for (size_t cut = 1; cut < 4; cut++) {
      char other[64];
      snprintf(other, sizeof other, "%.*s", (int)(strlen(name) - cut), name);
      CHECK(access(other, F_OK) != 0);
    }
    free(path);
  }
}

/* ---------------------------------------------------------------------------------------------------------- Debuggers -- */

static void trap_without_files(void *arg) {
  (void)arg;
  int before = number_of_file("/proc/"), again;
  for (int i = 0; i < 3; i++) never_was();
  again = number_of_file("/proc/");
  CHECK_EQ(before, again);
  fputs("went on\n", stderr);
}

static void trap_with_no_more_files(void *arg) {
  struct rlimit none = {0, 0};
  (void)arg;
  CHECK_EQ(setrlimit(RLIMIT_NOFILE, &none), 0);
  never_was();
  fputs("went on\n", stderr);
}

TEST("a process that can open no file does not stop for a debugger that it cannot look for") {
  if (harness_is_valgrind()) return; /* whose own files are open */
  child_result run = harness_run_child(trap_with_no_more_files, NULL, "trap");
  CHECK_EQ(run.signal, 0);
  CHECK_EQ(run.exit_code, 0);
  CHECK_CONTAINS(run.errors, "KVO0008 fatal: ");
  CHECK_CONTAINS(run.errors, "went on\n");
}

TEST("to look for a debugger leaves no file open") {
  child_result run = harness_run_child(trap_without_files, NULL, "trap");
  CHECK_EQ(run.signal, 0);
  CHECK_EQ(run.exit_code, 0);
  CHECK_CONTAINS(run.errors, "went on\n");
}

/* ------------------------------------------------------------------------------------------------------ Items and names -- */

TEST("only the names of severities and codes have policies") {
  static const char *const wrong[] = {"unknown:ignore", "fatale:ignore", "fata:ignore", "KVO0008x:ignore",
                                      "KVO008:ignore"};
  for (size_t i = 0; i < sizeof wrong / sizeof *wrong; i++) {
    child_result run = harness_run_child(fault_once, NULL, wrong[i]);
    CHECK(run.signal != 0);
    CHECK_CONTAINS(run.errors, "KVO0034 warning: KVO_POLICY: \"");
    CHECK_CONTAINS(run.errors, "\nKVO0008 fatal: ");
  }
  CHECK_EQ((const char *)harness_run_child(fault_once, NULL, "fatal:ignore").errors, "");
}

/* What a program says that starts with this setting. */
static const char *said_with(const char *setting) {
  static char text[4096];
  char command[9000];
  snprintf(command, sizeof command, "%s %s 'no such test' 2>&1", setting, harness_command());
  FILE *output = popen(command, "r");
  CHECK(output != NULL);
  text[fread(text, 1, sizeof text - 1, output)] = '\0';
  pclose(output);
  return text;
}

TEST("a number may begin with each digit, and be as large as its limit") {
  static const char *const good[] = {"KVO_ZOMBIES=9",         "KVO_ZOMBIES=65536", "KVO_HISTORY=90",
                                     "KVO_STACKS=9",          "KVO_STACKS=64",     "KVO_MAX_DEPTH=99",
                                     "KVO_MAX_DEPTH=1048576", "KVO_MAX_ROUNDS=95", "KVO_MAX_ROUNDS=1048576",
                                     "KVO_SLOW_MS=3600000"};
  static const char *const bad[] = {"KVO_ZOMBIES=65537",     "KVO_HISTORY=1048577",    "KVO_STACKS=65",
                                    "KVO_MAX_DEPTH=1048577", "KVO_MAX_ROUNDS=1048577", "KVO_SLOW_MS=3600001",
                                    "KVO_STACKS=:1",         "KVO_STACKS=/1"};
  for (size_t i = 0; i < sizeof good / sizeof *good; i++) CHECK_SAME(strstr(said_with(good[i]), "KVO0034"), NULL);
  for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) CHECK_CONTAINS(said_with(bad[i]), "KVO0034 warning: KVO_");
}

TEST("the path of a socket has at most 107 bytes") {
  for (size_t length = 106; length < 110; length++) {
    char setting[160] = "KVO_SOCKET=/";
    memset(setting + strlen(setting), 's', length - 1);
    const char *text = said_with(setting);
    CHECK_EQ(strstr(text, "is ignored: the path of a socket has at most 107 bytes") != NULL, length > 107);
  }
}

TEST("a foreign variable with a name of any length is ignored") {
  char setting[64];
  for (size_t length = 36; length < 44; length++) {
    memset(setting, 'A', length);
    memcpy(setting, "KVO_", 4);
    strcpy(setting + length, "=1");
    const char *text = said_with(setting);
    CHECK_SAME(strstr(text, "KVO0034"), NULL);
    CHECK_CONTAINS(text, "0 passed, 0 failed\n");
  }
}

/* ---------------------------------------------------------------------------------------------------------------- Infos -- */

static int unused, duplicates;

static kvo_action count_infos(const kvo_fault *fault, void *arg) {
  (void)arg;
  unused += fault->code == KVO_FAULT_ENDED_UNUSED;
  duplicates += fault->code == KVO_FAULT_DUPLICATE;
  return KVO_ACTION_IGNORE;
}

/* Registers an observer twice, and removes both registrations before any change. */
static void register_in_vain(void) {
  item *object = item_make(0);
  watcher w = {0};
  kvo_set_fault_handler(count_infos, NULL);
  kvo_observation first = watch(object, "value", KVO_NONE, &w), second = watch(object, "value", KVO_NONE, &w);
  CHECK_OK(kvo_cancel_observer(first));
  CHECK_OK(kvo_cancel_observer(second));
  item_destroy(object);
}

TEST("infos are looked for if KVO_POLICY names them all") {
  harness_environment("KVO_POLICY", "info:log");
  register_in_vain();
  CHECK_EQ(unused, 2);
  CHECK_EQ(duplicates, 1);
}

TEST("of the infos only that is looked for which KVO_POLICY names") {
  harness_environment("KVO_POLICY", "log,KVO0019:log");
  register_in_vain();
  CHECK_EQ(unused, 0);
  CHECK_EQ(duplicates, 1);
}

static kvo_fault_observation latest;
static char duplicate_text[512];

static kvo_action keep_duplicate(const kvo_fault *fault, void *arg) {
  (void)arg;
  snprintf(duplicate_text, sizeof duplicate_text, "%s", fault->summary);
  latest = fault->observations[0];
  duplicates = (int)fault->observation_count;
  return KVO_ACTION_IGNORE;
}

TEST("a third registration says that each change will notify three times, and lists both that exist, newest first") {
  harness_environment("KVO_POLICY", "KVO0019:log");
  item *object = item_make(0);
  static watcher w;
  kvo_observation ids[6];
  kvo_set_fault_handler(keep_duplicate, NULL);
  for (int i = 0; i < 6; i++) {
    ids[i] = watch(object, "value", KVO_NONE, &w);
    if (i == 2) {
      CHECK_CONTAINS(duplicate_text, "with this context: each change will notify it 3 times, at ");
      CHECK_EQ(duplicates, 2);
      CHECK_EQ(latest.observation, ids[1]);
    }
  }
  CHECK_CONTAINS(duplicate_text, "with this context: each change will notify it 5 times or more, at ");
  for (int i = 0; i < 6; i++) CHECK_OK(kvo_remove_observer(ids[i]));
  item_destroy(object);
}

TEST("infos are not looked for if KVO_POLICY names none") {
  harness_environment("KVO_POLICY", "log,error:abort");
  register_in_vain();
  CHECK_EQ(unused + duplicates, 0);
}

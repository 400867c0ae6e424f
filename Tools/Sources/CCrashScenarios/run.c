/* run.c - runs a scenario in a separate process: starts it, reads its output, and ends it after the time limit. */
#define _GNU_SOURCE
#include "judge.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <spawn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

enum { SECONDS = 30, MOST_ARGUMENTS = 10, LONGEST_REPORT = 1 << 22 };

/* -------------------------------------------------------------------------------------------------------- Environment -- */

/* Returns the environment of the child, as copies. */
typedef struct variables {
  char **all;
  size_t count, capacity;
} variables;

static void add(variables *to, const char *variable, size_t length) {
  if (to->count + 2 > to->capacity) {
    to->capacity = 2 * to->capacity + 64;
    to->all = realloc(to->all, to->capacity * sizeof *to->all);
    if (to->all == NULL) abort();
  }
  to->all[to->count++] = strndup(variable, length);
  to->all[to->count] = NULL;
}

static bool begins_with(const char *text, const char *beginning) {
  return strncmp(text, beginning, strlen(beginning)) == 0;
}

/* The caller's environment must not change the result, nor may a leak caused by misuse change the exit status. */
static variables make_environment(const kvo_crash_scenario *scenario, const kvo_crash_command *command) {
  variables made = {NULL, 0, 0};
  for (char **each = environ; *each != NULL; each++)
    if (!begins_with(*each, "KVO_") && !begins_with(*each, "SWIFT_BACKTRACE=") && !begins_with(*each, "ASAN_OPTIONS="))
      add(&made, *each, strlen(*each));
  const char *backtrace = command->backtrace ? "SWIFT_BACKTRACE=enable=yes,color=no" : "SWIFT_BACKTRACE=enable=no";
  /* AddressSanitizer's fake stacks do not support longjmp: it would search them forever. */
  const char *asan = "ASAN_OPTIONS=detect_leaks=0:handle_abort=0:detect_stack_use_after_return=0";
  bool has_backtrace = scenario->environment != NULL && strstr(scenario->environment, "SWIFT_BACKTRACE=") != NULL;
  if (!has_backtrace) add(&made, backtrace, strlen(backtrace));
  add(&made, asan, strlen(asan));
  for (const char *rest = scenario->environment; rest != NULL && *rest != '\0';) {
    size_t length = strcspn(rest, " ");
    add(&made, rest, length);
    rest += length + (rest[length] == ' ');
  }
  return made;
}

static void free_environment(variables *of) {
  for (size_t i = 0; i < of->count; i++) free(of->all[i]);
  free(of->all);
}

/* ----------------------------------------------------------------------------------------------------------- Children -- */

/* Starts the child with its standard error in a pipe, and stores the other end; returns -1 on failure. */
static pid_t start(const kvo_crash_scenario *scenario, const kvo_crash_command *command, int *errors) {
  char *arguments[MOST_ARGUMENTS] = {NULL};
  size_t count = 0;
  for (; command->arguments[count] != NULL; count++) {
    if (count + 2 == MOST_ARGUMENTS) abort();
    arguments[count] = (char *)(uintptr_t)command->arguments[count];
  }
  arguments[count] = (char *)(uintptr_t)scenario->id;
  int ends[2];
  if (pipe2(ends, O_CLOEXEC) != 0) return -1;
  posix_spawn_file_actions_t actions;
  posix_spawn_file_actions_init(&actions);
  posix_spawn_file_actions_addopen(&actions, STDIN_FILENO, "/dev/null", O_RDONLY, 0);
  posix_spawn_file_actions_addopen(&actions, STDOUT_FILENO, "/dev/null", O_WRONLY, 0);
  posix_spawn_file_actions_adddup2(&actions, ends[1], STDERR_FILENO);
  /* The tests run on libdispatch threads, which block signals. */
  posix_spawnattr_t attributes;
  sigset_t none;
  sigemptyset(&none);
  posix_spawnattr_init(&attributes);
  posix_spawnattr_setsigmask(&attributes, &none);
  posix_spawnattr_setflags(&attributes, POSIX_SPAWN_SETSIGMASK);
  variables environment = make_environment(scenario, command);
  pid_t child = -1;
  if (posix_spawn(&child, command->program, &actions, &attributes, arguments, environment.all) != 0) child = -1;
  posix_spawnattr_destroy(&attributes);
  free_environment(&environment);
  posix_spawn_file_actions_destroy(&actions);
  close(ends[1]);
  *errors = ends[0];
  return child;
}

static double now(void) {
  struct timespec time;
  clock_gettime(CLOCK_MONOTONIC, &time);
  return (double)time.tv_sec + (double)time.tv_nsec / 1e9;
}

/* Reads to the end; returns false after the time limit. */
static bool read_report(int from, double deadline, kvo_crash_result *result) {
  size_t length = 0, capacity = 4096;
  result->report = malloc(capacity);
  if (result->report == NULL) abort();
  for (;;) {
    result->report[length] = '\0';
    double left = deadline - now();
    struct pollfd ready = {.fd = from, .events = POLLIN};
    int polled = left > 0 ? poll(&ready, 1, (int)(left * 1000) + 1) : 0;
    if (polled == 0) return false;
    if (polled < 0 && errno == EINTR) continue;
    if (length + 2048 > capacity) {
      result->report = realloc(result->report, capacity *= 2);
      if (result->report == NULL || capacity > LONGEST_REPORT) abort();
    }
    ssize_t size = read(from, result->report + length, capacity - length - 1);
    if (size < 0 && errno == EINTR) continue;
    if (size <= 0) return true;
    length += (size_t)size;
  }
}

/* Returns the status of the child, which is killed after the time limit. */
static int await_end(pid_t child, double deadline, bool *in_time) {
  int status = 0;
  const struct timespec moment = {0, 2000000};
  while (waitpid(child, &status, WNOHANG) == 0) {
    if (!*in_time || now() > deadline) {
      *in_time = false;
      kill(child, SIGKILL);
      while (waitpid(child, &status, 0) < 0 && errno == EINTR) continue;
      break;
    }
    nanosleep(&moment, NULL);
  }
  return status;
}

/* Returns the time limit; tools that slow down programs set a factor. */
static double time_limit(void) {
  const char *told = getenv("KVO_CRASH_SECONDS");
  return told != NULL && atoi(told) > 0 ? atoi(told) : SECONDS;
}

/* sigabbrev_np of glibc. */
static const char *signal_name(int number) {
  switch (number) {
    case SIGABRT: return "ABRT";
    case SIGSEGV: return "SEGV";
    case SIGBUS: return "BUS";
    case SIGILL: return "ILL";
    case SIGTRAP: return "TRAP";
    case SIGKILL: return "KILL";
    default: return "?";
  }
}

void kvo_crash_run(const kvo_crash_scenario *scenario, const kvo_crash_command *command, kvo_crash_result *result) {
  *result = (kvo_crash_result){.passed = true, .report = NULL};
  int errors = -1;
  double deadline = now() + time_limit();
  pid_t child = start(scenario, command, &errors);
  if (child < 0) {
    crash_fail(result, "%s cannot be started", command->program);
    return;
  }
  bool in_time = read_report(errors, deadline, result);
  int status = await_end(child, deadline, &in_time);
  close(errors);
  crash_read_codes(result, result->report);
  if (!in_time)
    snprintf(result->ended, sizeof result->ended, "time limit");
  else if (WIFSIGNALED(status))
    snprintf(result->ended, sizeof result->ended, "SIG%s", signal_name(WTERMSIG(status)));
  else
    snprintf(result->ended, sizeof result->ended, "exit %d", WEXITSTATUS(status));
  if (WIFEXITED(status) && WEXITSTATUS(status) == CRASH_FAILED_CHECK && in_time)
    crash_fail(result, "%s", result->report);
  const char *expected = crash_expected_end(scenario);
  if (strcmp(result->ended, expected) != 0) crash_fail(result, "expected %s, ended with %s", expected, result->ended);
  crash_judge(scenario, true, result);
}

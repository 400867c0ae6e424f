/* harness.c - runs each test in a forked process and ends with the line "<program>: N passed, N failed". */
#include "harness.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

enum { MAX_TESTS = 512, SECONDS = 240, SKIPPED = 77 };

static struct {
  const char *sentence;
  void (*body)(void);
} tests[MAX_TESTS];
static int test_count;
static const char *running;

void harness_register(const char *sentence, void (*body)(void)) {
  if (test_count == MAX_TESTS) abort();
  tests[test_count].sentence = sentence;
  tests[test_count++].body = body;
}

/* ------------------------------------------------------------------------------------------------------------ Checks -- */

_Noreturn void harness_fail(const char *file, int line, const char *format, ...) {
  char message[1024];
  va_list arguments;
  va_start(arguments, format);
  vsnprintf(message, sizeof message, format, arguments);
  va_end(arguments);
  dprintf(STDOUT_FILENO, "FAILED: %s\n  %s:%d: %s\n", running, file, line, message);
  _exit(1);
}

_Noreturn void harness_skip(const char *reason) {
  dprintf(STDOUT_FILENO, "skipped: %s: %s\n", running, reason);
  _exit(SKIPPED);
}

static const char *emulator(void) { return getenv("KVO_TEST_EMULATOR"); } /* scripts/check-ports.sh */

bool harness_is_emulated(void) { return emulator() != NULL; }

void harness_skip_if_emulated(const char *reason) {
  if (harness_is_emulated()) harness_skip(reason);
}

void harness_skip_without_frames(void) {
#if !defined(__x86_64__) && !defined(__i386__) && !defined(__aarch64__)
  harness_skip("calls of registrations and removals are kept only on x86-64, i386 and aarch64");
#endif
}

harness_operand harness_integer(long long value) { return (harness_operand){HARNESS_INTEGER, value, 0, NULL}; }
harness_operand harness_real(long double value) { return (harness_operand){HARNESS_REAL, 0, value, NULL}; }
harness_operand harness_string(const char *value) { return (harness_operand){HARNESS_STRING, 0, 0, value}; }

static void describe(harness_operand operand, char *out, size_t size) {
  switch (operand.kind) {
    case HARNESS_INTEGER: snprintf(out, size, "%lld", operand.integer); return;
    case HARNESS_REAL: snprintf(out, size, "%.21Lg", operand.real); return;
    case HARNESS_STRING:
      if (operand.string == NULL)
        snprintf(out, size, "NULL");
      else
        snprintf(out, size, "\"%s\"", operand.string);
  }
}

void harness_equal(harness_operand actual, harness_operand expected, const char *actual_text, const char *expected_text,
                   const char *file, int line) {
  bool equal = actual.kind == expected.kind;
  if (equal && actual.kind == HARNESS_INTEGER) equal = actual.integer == expected.integer;
  if (equal && actual.kind == HARNESS_REAL) equal = actual.real == expected.real;
  if (equal && actual.kind == HARNESS_STRING)
    equal = actual.string == expected.string ||
            (actual.string != NULL && expected.string != NULL && strcmp(actual.string, expected.string) == 0);
  if (equal) return;
  char left[256], right[256];
  describe(actual, left, sizeof left);
  describe(expected, right, sizeof right);
  harness_fail(file, line, "%s is %s, but %s is %s", actual_text, left, expected_text, right);
}

void harness_same(const void *actual, const void *expected, const char *actual_text, const char *expected_text,
                  const char *file, int line) {
  if (actual != expected)
    harness_fail(file, line, "%s is %p, but %s is %p", actual_text, actual, expected_text, expected);
}

void harness_status(kvo_status actual, kvo_status expected, const char *text, const char *file, int line) {
  if (actual != expected)
    harness_fail(file, line, "%s is \"%s\" (%d), not \"%s\" (%d)", text, kvo_status_string(actual), (int)actual,
                 kvo_status_string(expected), (int)expected);
}

void harness_bytes(const void *actual, const void *expected, size_t size, const char *actual_text,
                   const char *expected_text, const char *file, int line) {
  const unsigned char *left = actual, *right = expected;
  for (size_t i = 0; i < size; i++)
    if (left[i] != right[i])
      harness_fail(file, line, "%s has 0x%02x at byte %zu, but %s has 0x%02x", actual_text, left[i], i, expected_text,
                   right[i]);
}

void harness_contains(const char *text, const char *part, const char *file, int line) {
  if (text == NULL || strstr(text, part) == NULL)
    harness_fail(file, line, "\"%s\" is not in:\n%s", part, text != NULL ? text : "NULL");
}

bool harness_is_instrumented(void) {
  const char *tool = getenv("KVO_TEST_TOOL"); /* set by check-c.sh */
  return tool != NULL && *tool != '\0';
}

bool harness_is_valgrind(void) { return harness_is_instrumented() && strcmp(getenv("KVO_TEST_TOOL"), "valgrind") == 0; }

/* --------------------------------------------------------------------------------------------------------- Processes -- */

child_result harness_run_child(void (*body)(void *arg), void *arg, const char *policy) {
  child_result result = {0};
  FILE *errors = tmpfile();
  if (errors == NULL) harness_fail(__FILE__, __LINE__, "no temporary file");
  pid_t child = fork();
  if (child < 0) harness_fail(__FILE__, __LINE__, "no process");
  if (child == 0) {
    struct rlimit no_core = {0, 0};
    setrlimit(RLIMIT_CORE, &no_core);
    dup2(fileno(errors), STDERR_FILENO);
    if (policy != NULL)
      setenv("KVO_POLICY", policy, 1);
    else
      unsetenv("KVO_POLICY");
    body(arg);
    _exit(0); /* without a leak check, because a faulty program may leak */
  }
  int status;
  waitpid(child, &status, 0);
  result.signal = WIFSIGNALED(status) ? WTERMSIG(status) : 0;
  result.exit_code = WIFEXITED(status) ? WEXITSTATUS(status) : -1;
  rewind(errors);
  result.errors[fread(result.errors, 1, sizeof result.errors - 1, errors)] = '\0';
  fclose(errors);
  return result;
}

/* Resolved, because executing the link under valgrind would start valgrind itself. */
static char *program_path(void) {
  static char path[4096];
  ssize_t length = readlink("/proc/self/exe", path, sizeof path - 1);
  path[length > 0 ? length : 0] = '\0';
  return path;
}

const char *harness_command(void) {
  static char command[8192];
  snprintf(command, sizeof command, "%s '%s'", emulator() != NULL ? emulator() : "", program_path());
  return command;
}

void harness_execute(char *program, char *const more[2]) {
  char *arguments[] = {(char *)(uintptr_t)emulator(), program, more[0], more[1], NULL};
  char **first = arguments + (emulator() == NULL);
  execv(first[0], first);
}

void harness_environment(const char *variable, const char *value) {
  const char *present = getenv(variable);
  if (present != NULL && strcmp(present, value) == 0) return;
  setenv(variable, value, 1);
  harness_execute(program_path(), (char *[2]){"--run", (char *)(uintptr_t)running});
  harness_fail(__FILE__, __LINE__, "the program cannot be started again");
}

static void run_again(const char *sentence) {
  for (int i = 0; i < test_count; i++) {
    running = tests[i].sentence;
    if (strcmp(running, sentence) == 0) tests[i].body();
  }
  exit(0);
}

/* Prints why a test failed, unless the test did. */
static bool passed(int status, const char *sentence) {
  if (WIFEXITED(status) && WEXITSTATUS(status) == 0) return true;
  if (WIFSIGNALED(status))
    printf("FAILED: %s\n  ended by signal %d (%s)\n", sentence, WTERMSIG(status), strsignal(WTERMSIG(status)));
  else if (WEXITSTATUS(status) != 1)
    printf("FAILED: %s\n  ended with exit status %d: see standard error\n", sentence, WEXITSTATUS(status));
  return false;
}

/* Arguments: parts of the names of tests to run; -v prints each name. */
/* Weak, because other programs use only the checks. */
__attribute__((weak)) int main(int argc, char **argv) {
  bool verbose = argc > 1 && strcmp(argv[1], "-v") == 0;
  const char *filter = argc > 1 + verbose ? argv[1 + verbose] : "";
  int good = 0, bad = 0, skipped = 0;
  setvbuf(stdout, NULL, _IONBF, 0);
  if (argc == 3 && strcmp(argv[1], "--run") == 0) run_again(argv[2]);
  for (int i = 0; i < test_count; i++) {
    running = tests[i].sentence;
    if (strstr(running, filter) == NULL) continue;
    pid_t child = fork();
    if (child == 0) {
      alarm(SECONDS); /* a hanging test fails */
      tests[i].body();
      exit(0); /* with destructors: here the leak checker reports */
    }
    int status = 1;
    if (child > 0) waitpid(child, &status, 0);
    if (WIFEXITED(status) && WEXITSTATUS(status) == SKIPPED) {
      skipped++;
      continue;
    }
    bool ok = passed(status, running);
    if (ok && verbose) printf("ok: %s\n", running);
    good += ok;
    bad += !ok;
  }
  const char *slash = strrchr(argv[0], '/'), *name = slash != NULL ? slash + 1 : argv[0];
  printf("%s: %d passed, %d failed\n", name, good, bad);
  return bad != 0 || good + skipped == 0;
}

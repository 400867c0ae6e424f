/* harness.h - a test framework in one page: each test runs in a process of its own.
 *
 *     TEST("an observer is notified of a set") { CHECK_EQ(1 + 1, 2); }
 *
 * A failed check prints both operands and ends the test. Checks do not depend on NDEBUG and may be used on any thread. */
#ifndef KVO_TEST_HARNESS_H
#define KVO_TEST_HARNESS_H

#include <kvo/kvo.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
#include <string>
#include <type_traits>
#endif

/* Callbacks and accessors of tests need not use all that they are given. */
#pragma GCC diagnostic ignored "-Wunused-parameter"

/* Registers a test; its body follows. */
#define TEST(sentence) HARNESS_TEST(sentence, __LINE__)
/* Whether the library has diagnostics. The same programs run with both. */
#define HAS_REPORTS (kvo_fault_kind_at(0) != NULL)
/* The same for a test that needs reports, and for one that needs a library without them. */
#define TEST_REPORTED(sentence) HARNESS_TEST_IF(HAS_REPORTS, sentence, __LINE__)
#define TEST_UNREPORTED(sentence) HARNESS_TEST_IF(!HAS_REPORTS, sentence, __LINE__)
#define HARNESS_TEST(sentence, line) HARNESS_TEST_AT(true, sentence, line)
#define HARNESS_TEST_IF(condition, sentence, line) HARNESS_TEST_AT(condition, sentence, line)
#define HARNESS_TEST_AT(condition, sentence, line)                                                                     \
  static void test_at_line_##line(void);                                                                               \
  __attribute__((constructor)) static void register_test_at_line_##line(void) {                                        \
    if (condition) harness_register(sentence, test_at_line_##line);                                                    \
  }                                                                                                                    \
  static void test_at_line_##line(void)

#define CHECK(condition) ((condition) ? (void)0 : harness_fail(__FILE__, __LINE__, "%s is false", #condition))

/* Integers, floating-point numbers or strings. */
#define CHECK_EQ(actual, expected)                                                                                     \
  harness_equal(HARNESS_OPERAND(actual), HARNESS_OPERAND(expected), #actual, #expected, __FILE__, __LINE__)
#define CHECK_SAME(actual, expected)                                                                                   \
  harness_same((const void *)(actual), (const void *)(expected), #actual, #expected, __FILE__, __LINE__)
#define CHECK_STATUS(actual, expected) harness_status((actual), (expected), #actual, __FILE__, __LINE__)
#define CHECK_OK(actual) CHECK_STATUS(actual, KVO_OK)
#define CHECK_BYTES(actual, expected, size)                                                                            \
  harness_bytes((actual), (expected), (size), #actual, #expected, __FILE__, __LINE__)
/* Checks that the first string contains the second. */
#define CHECK_CONTAINS(text, part) harness_contains((text), (part), __FILE__, __LINE__)

typedef struct harness_operand {
  enum { HARNESS_INTEGER, HARNESS_REAL, HARNESS_STRING } kind;
  long long integer;
  long double real;
  const char *string;
} harness_operand;

#ifndef __cplusplus
#define HARNESS_OPERAND(x)                                                                                             \
  _Generic((x), char *: harness_string, const char *: harness_string, float: harness_real, double: harness_real,       \
           long double: harness_real, default: harness_integer)(x)
#else
#define _Noreturn [[noreturn]]
#define HARNESS_OPERAND(x) harness_operand_of(x)
extern "C" {
#endif
harness_operand harness_integer(long long value);
harness_operand harness_real(long double value);
harness_operand harness_string(const char *value);

void harness_register(const char *sentence, void (*body)(void));
_Noreturn void harness_fail(const char *file, int line, const char *format, ...) __attribute__((format(printf, 3, 4)));
void harness_equal(harness_operand actual, harness_operand expected, const char *actual_text, const char *expected_text,
                   const char *file, int line);
void harness_same(const void *actual, const void *expected, const char *actual_text, const char *expected_text,
                  const char *file, int line);
void harness_status(kvo_status actual, kvo_status expected, const char *text, const char *file, int line);
void harness_bytes(const void *actual, const void *expected, size_t size, const char *actual_text,
                   const char *expected_text, const char *file, int line);
void harness_contains(const char *text, const char *part, const char *file, int line);

/* The result of a child process. */
typedef struct child_result {
  /** 0 if it exited, otherwise the signal that ended it. */
  int signal;
  int exit_code;
  /** Its standard error, terminated by NUL. */
  char errors[16384];
} child_result;

/* Runs `body(arg)` in a child process with KVO_POLICY set to `policy`, or unset when NULL. */
child_result harness_run_child(void (*body)(void *arg), void *arg, const char *policy);

/* Call it first in a test: starts the test's process again with an environment variable, unless it is set. For settings that are read when
 * the library is loaded. */
void harness_environment(const char *variable, const char *value);

/* Ends the test, which cannot be run here, and prints the reason. It counts neither as passed nor as failed. */
_Noreturn void harness_skip(const char *reason);
/* Whether an emulator of another processor runs the program: its memory, threads and system calls are not those of the program. */
bool harness_is_emulated(void);
void harness_skip_if_emulated(const char *reason);
/* Skips the test where the calls of registrations and removals are not kept: frame pointers do not link frames there. */
void harness_skip_without_frames(void);
/* Executes a program, in the emulator if there is one, with up to two arguments. */
void harness_execute(char *program, char *const more[2]);
/* What starts this program in a shell. */
const char *harness_command(void);

/* Whether the program runs under a tool that makes it many times slower, or allocates memory of its own. */
bool harness_is_instrumented(void);
/* Whether it runs under valgrind, which calculates long doubles with the precision of doubles. */
bool harness_is_valgrind(void);

#ifdef __cplusplus
}
inline harness_operand harness_operand_of(const char *value) { return harness_string(value); }
inline harness_operand harness_operand_of(const std::string &value) { return harness_string(value.c_str()); }
template <class T>
std::enable_if_t<std::is_arithmetic_v<T> || std::is_enum_v<T>, harness_operand> harness_operand_of(T value) {
  if constexpr (std::is_floating_point_v<T>) return harness_real(value);
  return harness_integer(static_cast<long long>(value));
}
#endif

#endif

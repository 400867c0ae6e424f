/* demangled_names.c - names of Swift and C++ functions in reports: which are demangled, how long they may be, and names that were cut. */
#include "harness.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* What the demanglers below return; NULL if the name is none of their language. */
static const char *demangled;
static int demanglings;
/* The Swift name does not fit, and the demangler fills the buffer without a NUL. */
static bool is_too_long;

/* Replaces the Swift runtime's demangler, which is not linked. */
char *swift_demangle(const char *name, size_t length, char *buffer, size_t *size, uint32_t flags);
char *swift_demangle(const char *name, size_t length, char *buffer, size_t *size, uint32_t flags) {
  (void)flags;
  CHECK_EQ(length, strlen(name));
  demanglings++;
  if (demangled == NULL) return NULL;
  snprintf(buffer, *size, "%s", demangled);
  if (is_too_long) memset(buffer, 'n', *size);
  return buffer;
}

/* Replaces that of the C++ runtime, whose result is to be freed. */
char *__cxa_demangle(const char *name, char *buffer, size_t *size, int *status);
char *__cxa_demangle(const char *name, char *buffer, size_t *size, int *status) {
  CHECK_EQ(name, "_Z4demov");
  CHECK_SAME(buffer, NULL);
  CHECK_SAME(size, NULL);
  demanglings++;
  *status = demangled != NULL ? 0 : -2;
  return demangled != NULL ? strdup(demangled) : NULL;
}

/* A function with this symbol; quoted for gcc, because the assembler takes a dollar for an immediate operand. */
#ifdef __clang__
#define SYMBOL(symbol) __asm__(symbol)
#else
#define SYMBOL(symbol) __asm__("\"" symbol "\"")
#endif
#define FUNCTION(name, symbol)                                                                                         \
  void name(void) SYMBOL(symbol);                                                                                      \
  __attribute__((noinline)) void name(void) {                                                                          \
    __asm__ volatile("" : : "i"(__LINE__)); /* unlike the others, which are then not merged */                         \
  }
FUNCTION(of_swift, "$s4demo")
FUNCTION(of_embedded_swift, "$e4demo")
FUNCTION(of_another_language, "$x4demo")
FUNCTION(of_c_plus_plus, "_Z4demov")
FUNCTION(of_c, "demo")

/* The function's name in a report. */
static const char *name_of(void (*function)(void)) {
  static char text[2048];
  kvo_call_format((const char *)(uintptr_t)function + 1, text, sizeof text);
  char *end = strstr(text, "  test_demangled_names+0x");
  CHECK(end != NULL);
  *end = '\0';
  return text;
}

TEST("names of Swift, Embedded Swift and C++ are demangled, and no others") {
  demangled = "App.demo";
  CHECK_EQ(name_of(of_swift), "App.demo");
  CHECK_EQ(name_of(of_embedded_swift), "App.demo");
  CHECK_EQ(name_of(of_c_plus_plus), "App.demo");
  CHECK_EQ(demanglings, 3);
  CHECK_EQ(name_of(of_another_language), "$x4demo");
  CHECK_EQ(name_of(of_c), "demo");
  CHECK_EQ(demanglings, 3);
}

TEST("a name that its language's runtime cannot demangle is shown as it is in the file") {
  CHECK_EQ(name_of(of_swift), "$s4demo");
  CHECK_EQ(name_of(of_c_plus_plus), "_Z4demov");
  CHECK_EQ(demanglings, 2);
}

/* Of a long name a report shows the first 600 bytes and the last 300. */
static void check_length(void (*function)(void), size_t expected) {
  const char *name = name_of(function);
  char left_out[64];
  snprintf(left_out, sizeof left_out, "...(%zu bytes left out)...", expected - 900);
  CHECK_EQ(strspn(name, "n"), 600);
  CHECK_EQ(strncmp(name + 600, left_out, strlen(left_out)), 0);
  CHECK_EQ(strspn(name + 600 + strlen(left_out), "n"), 300);
}

TEST("of a demangled name up to 2047 bytes are taken") {
  enum { MOST = 2047 };
  static const size_t lengths[] = {1500, MOST - 1, MOST, MOST + 1, MOST + 2, 5000};
  for (size_t i = 0; i < sizeof lengths / sizeof *lengths; i++) {
    char *name = calloc(1, lengths[i] + 1);
    CHECK(name != NULL);
    memset(name, 'n', lengths[i]);
    demangled = name;
    check_length(of_c_plus_plus, lengths[i] < MOST ? lengths[i] : MOST);
    check_length(of_swift, lengths[i] < MOST ? lengths[i] : MOST);
    free(name);
  }
  demangled = "";
  is_too_long = true;
  check_length(of_swift, MOST);
}

/* ---------------------------------------------------------------------------------------------------- Short Swift names -- */

static void check(const char *long_name, const char *short_name) {
  demangled = long_name;
  CHECK_EQ(name_of(of_swift), short_name);
}

TEST("parameters whose types are private to a file are left out like others") {
  check("App.close(_: App.(Library in _7FCE)) -> ()", "App.close(_:)");
  check("App.close(_: App.(Library in _7FCE), at: Swift.Int) -> App.(Library in _7FCE)", "App.close(_:at:)");
  check("App.(Editor in _7FCE).open(_: App.(Library in _7FCE)) -> ()", "App.Editor.open(_:)");
  check("App.close(App.(Library in _7FCE)) -> ()", "App.close(_:)");
  check("closure #1 (App.(Library in _7FCE)) -> () in App.(open in _7FCE)() -> ()", "closure in App.open()");
}

TEST("local and resumed functions are shortened whatever their number is") {
  check("inner #10 <A>(_: A) -> () in App.close() -> ()", "inner #10 in App.close()");
  check("inner #9 <A>(_: A) -> () in App.close() -> ()", "inner #9 in App.close()");
  check("(0) await resume partial function for App.close() async -> ()", "App.close()");
  check("(9) suspend resume partial function for App.close() async -> ()", "App.close()");
  check("(10) suspend resume partial function for App.close() async -> ()", "App.close()");
}

TEST("a name that was cut is shortened as far as it goes") {
  check("App.close(_: App.Lib", "App.close(_:)");
  check("App.Box<Swift.Arr", "App.Box");
  check("App.`it works (on", "App.`it works (on");
  check("App.title.setter : Swift.Str", "App.title.setter");
}

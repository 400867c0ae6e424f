/* swift_names.c - names of Swift and C++ functions in reports: which are demangled, how they are shortened, and which are a library's. */
#include "reported.h"

#include <stdio.h>
#include <string.h>

/* What the demanglers below return; NULL if the name is none of their language. */
static const char *demangled;
static int demanglings;

/* Replaces the Swift runtime's demangler, which is not linked. */
char *swift_demangle(const char *name, size_t length, char *buffer, size_t *size, uint32_t flags);
char *swift_demangle(const char *name, size_t length, char *buffer, size_t *size, uint32_t flags) {
  CHECK_EQ(length, strlen(name));
  demanglings++;
  if (demangled == NULL) return NULL;
  snprintf(buffer, *size, "%s", demangled);
  return buffer;
}

/* Replaces that of the C++ runtime, whose result is to be freed. */
char *__cxa_demangle(const char *name, char *buffer, size_t *size, int *status);
char *__cxa_demangle(const char *name, char *buffer, size_t *size, int *status) {
  CHECK_EQ(name, "_Z4demov");
  CHECK(buffer == NULL && size == NULL);
  demanglings++;
  *status = demangled != NULL ? 0 : -2;
  return demangled != NULL ? strdup(demangled) : NULL;
}

/* A symbol of any characters; quoted for gcc, because the assembler takes a dollar for an immediate operand. */
#ifdef __clang__
#define SYMBOL(symbol) __asm__(symbol)
#else
#define SYMBOL(symbol) __asm__("\"" symbol "\"")
#endif
#define FUNCTION(name, symbol)                                                                                         \
  void name(void) SYMBOL(symbol);                                                                                      \
  CALLED void name(void) { __asm__ volatile("" : : "i"(__COUNTER__)); } /* each differs, so that none are merged */

static const void *call_in(void (*function)(void)) { return (const char *)(uintptr_t)function + 1; }

/* ---------------------------------------------------------------------------------------------------------- Demangling -- */

FUNCTION(of_swift, "$s4demo")
FUNCTION(of_embedded_swift, "$e4demo")
FUNCTION(of_another_language, "$x4demo")
FUNCTION(of_c_plus_plus, "_Z4demov")
FUNCTION(of_c, "demo")

/* The function's name in a report. */
static const char *name_of(void (*function)(void)) {
  static char text[2048];
  kvo_call_format(call_in(function), text, sizeof text);
  char *end = strstr(text, "  test_swift_names+0x");
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

/* ------------------------------------------------------------------------------------------------------------ Shortening -- */

TEST("a Swift function is reported with its labels and the function that contains it, without types and its file") {
  static const char *const names[][2] = {
      {"App.close() -> ()", "App.close()"},
      {"App.close(_: App.Library, at: Swift.Int) throws -> Swift.Int", "App.close(_:at:)"},
      {"App.close(Swift.Int) -> ()", "App.close(_:)"},
      {"App.close(from: Swift.Int, to: (Swift.Int, Swift.Int)) -> ()", "App.close(from:to:)"},
      {"App.close(_: Swift.Dictionary<Swift.String, Swift.Int>, then: (Swift.Int) -> ()) -> ()", "App.close(_:then:)"},
      {"App.close((Swift.Int, Swift.Int), [Swift.Int]) -> ()", "App.close(_:_:)"},
      {"static App.Editor.main() -> ()", "static App.Editor.main()"},
      {"static App.Editor.< infix(App.Editor, App.Editor) -> Swift.Bool", "static App.Editor.< infix(_:_:)"},
      {"static App.V2.< infix(App.V2, App.V2) -> Swift.Bool", "static App.V2.< infix(_:_:)"},
      /* What is private to a file, and what the compiler adds. */
      {"App.(close in _7FCE)(_: App.Library) -> ()", "App.close(_:)"},
      {"App.(Editor in _7FCE).(close in _7FCE)() -> ()", "App.Editor.close()"},
      {"App.close(_: App.(Library in _7FCE), at: Swift.Int) -> App.(Library in _7FCE)", "App.close(_:at:)"},
      {"App.close(App.(Library in _7FCE)) -> ()", "App.close(_:)"},
      {"(extension in App):Swift.Array.second() -> A", "Swift.Array.second()"},
      {"partial apply forwarder for App.close() -> ()", "App.close()"},
      {"merged App.close() -> ()", "App.close()"},
      {"@objc App.close() -> ()", "App.close()"},
      {"(0) await resume partial function for App.close() async -> ()", "App.close()"},
      {"(10) suspend resume partial function for App.close() async -> ()", "App.close()"},
      /* Generic arguments, and types of properties. */
      {"App.map<A, B>(_: (A) -> B) -> [B]", "App.map(_:)"},
      {"App.Box<A>.value.getter : A", "App.Box.value.getter"},
      {"App.title.setter : Swift.String", "App.title.setter"},
      {"App.Box.subscript.getter : (Swift.Int) -> A", "App.Box.subscript.getter"},
      /* Closures and local functions. */
      {"closure #1 (Swift.Int) -> () in App.close() -> ()", "closure in App.close()"},
      {"closure #2 () -> () in closure #1 (Swift.Int) -> Swift.Bool in App.close(_: Swift.Int) -> ()",
       "closure in App.close(_:)"},
      {"closure #1 (App.(Library in _7FCE)) -> () in App.(open in _7FCE)() -> ()", "closure in App.open()"},
      {"inner #9 <A>(_: A) -> () in App.close() -> ()", "inner #9 in App.close()"},
      {"inner #10 <A>(_: A) -> () in App.close() -> ()", "inner #10 in App.close()"},
      {"closure #3 () -> () in inner #1 () -> () in closure #2 () -> () in App.close() -> ()",
       "closure in inner #1 in closure in App.close()"},
      {"App.`it works (on Linux)`() -> ()", "App.`it works (on Linux)`()"},
      /* Names that were cut. */
      {"App.closure #", "App.closure #"},
      {"App.close(_: App.Lib", "App.close(_:)"},
      {"App.Box<Swift.Arr", "App.Box"},
      {"App.`it works (on", "App.`it works (on"},
      {"App.title.setter : Swift.Str", "App.title.setter"}};
  for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
    demangled = names[i][0];
    CHECK_EQ(name_of(of_swift), names[i][1]);
  }
}

/* ------------------------------------------------------------------------------------------------- The library's calls -- */

/* Functions with these symbols, and whether each is a library's: those of the program are its own, also if it adds them to a type of a
 * library, whatever words their modules' names have in common with the type's. */
#define FUNCTIONS(X)                                                                                                   \
  X(of_array, "$sSa6appendyyxnF", true)                                                                                \
  X(of_array_slice, "$ss10ArraySliceV6appendyyxnF", true)                                                              \
  X(of_nested, "$sSS8UTF8ViewV5countSivpABTK", true)                                                                   \
  X(of_protocol, "$sSlsE5first7ElementQzSgvpSSTK", true)                                                               \
  X(of_foundation, "$s20FoundationEssentials3URLV4pathSSvpACTK", true)                                                 \
  X(of_foundation_in_string, "$sSS10FoundationE11capitalizedSSvg", true)                                               \
  X(of_observing, "$s17KeyValueObserving6updateyyF", true)                                                             \
  X(with_labels_of_observing, "$s17KeyValueObserving10observeAll2of10everythingySi_SitF", true)                        \
  X(of_class_of_observing, "$s17KeyValueObserving13ExpressionBoxC8evaluateyyxF", true)                                 \
  X(of_protocol_of_observing, "$s17KeyValueObserving0aB10ObservablePAAE5hello5labelySi_tF", true)                      \
  X(of_observing_in_array, "$sSa17KeyValueObservingE2kvSiyF", true)                                                    \
  X(of_observing_in_arrays_of_strings, "$sSa17KeyValueObservingSSRszlE3kvsSiyF", true)                                 \
  X(of_observing_in_type_of_c, "$sSo10kvo_changea17KeyValueObservingE1xSivg", true)                                    \
  X(thunk, "$s3App5closeyyFTA", true)                                                                                  \
  X(reabstraction, "$sIeg_Ieg_TR", true)                                                                               \
  X(witness, "$s3App1PAA5closeyyFTW", true)                                                                            \
  X(of_app, "$s3App5closeyyF", false)                                                                                  \
  X(of_nothing, "$s10Foundation", false)                                                                               \
  X(not_a_thunk, "app_TA", false)                                                                                      \
  X(added_to_array, "$sSa3AppE6secondxvg", false)                                                                      \
  X(added_to_array_slice, "$ss10ArraySliceV3AppE6secondxvg", false)                                                    \
  X(added_to_long_name, "$ss22_ContiguousArrayBufferV3AppE6secondxvg", false)                                          \
  X(added_to_nested, "$sSS8UTF8ViewV3AppE6secondxvg", false)                                                           \
  X(added_to_url, "$s20FoundationEssentials3URLV3AppE6secondxvg", false)                                               \
  X(added_to_string, "$sSS3AppE4loudSivpSSTK", false)                                                                  \
  X(added_to_arrays_of_strings, "$sSa3AppSSRszlE6joinedSSvpSaySSGTK", false)                                           \
  X(added_to_some_sequences, "$sST3AppSi7ElementRtzrlE3sumSivg", false)                                                \
  X(added_to_type_of_c, "$sSo10kvo_changea3AppE1xSivg", false)                                                         \
  X(added_to_observable, "$s17KeyValueObserving0aB10ObservableP3AppE7summarySiyF", false)                              \
  X(added_words_to_observable, "$s17KeyValueObserving0aB10ObservableP3AppE03keyB0yyF", false)                          \
  X(added_to_some_observables, "$s17KeyValueObserving0aB10ObservableP3AppSQRzrlE11constrainedSiyF", false)             \
  X(added_to_class_of_observing, "$s17KeyValueObserving13ExpressionBoxC3AppE5boxedyyF", false)                         \
  X(added_to_date_by_datekit, "$s20FoundationEssentials4DateV0C3KitE9localizedSivg", false)                            \
  X(added_words_to_date_by_datekit, "$s20FoundationEssentials4DateV0C3KitE04dateD0Sivg", false)                        \
  X(added_to_date_by_extensions, "$s20FoundationEssentials4DateV0A10ExtensionsE9localizedSivg", false)                 \
  X(added_to_array_slice_by_tools, "$ss10ArraySliceV0B5ToolsE8sliceKityyF", false)                                     \
  X(like_the_runtime, "kvo__edit", NAMES_OF_RUNTIME_COUNT)                                                             \
  X(like_a_fault, "kvo_fault_raise_often", NAMES_OF_RUNTIME_COUNT)

/* clang puts the runtime's code into a section; that of gcc is recognised by the names of its functions. */
#ifdef __clang__
enum { NAMES_OF_RUNTIME_COUNT = false };
#else
enum { NAMES_OF_RUNTIME_COUNT = true };
#endif

#define DEFINE(name, symbol, is_library) FUNCTION(name, symbol)
FUNCTIONS(DEFINE)

TEST("functions of Swift's libraries, its layer here, and thunks are calls of a library, and the program's are not") {
#define ROW(name, symbol, is_library) {name, symbol, is_library},
  static const struct {
    void (*function)(void);
    const char *symbol;
    bool is_library;
  } rows[] = {FUNCTIONS(ROW)};
  for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
    const void *call = call_in(rows[i].function);
    if (kvo_call_is_library(call) != rows[i].is_library)
      harness_fail(__FILE__, __LINE__, "%s is taken for the other kind", rows[i].symbol);
    kvo_fault fault = fault_of("");
    fault.frames = (void *const *)&call;
    fault.frame_count = 1;
    CHECK_CONTAINS(formatted(&fault, KVO_REPORT_JSON),
                   rows[i].is_library ? "\"isLibrary\":true" : "\"isLibrary\":false");
  }
}

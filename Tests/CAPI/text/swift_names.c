/* swift_names.c - shortened names of Swift functions in reports, with demangled names given by this test. */
#include "harness.h"

#include <stdio.h>
#include <string.h>

static const char *demangled;

/* Replaces the Swift runtime's demangler, which is not linked. */
char *swift_demangle(const char *name, size_t length, char *buffer, size_t *size, uint32_t flags);
char *swift_demangle(const char *name, size_t length, char *buffer, size_t *size, uint32_t flags) {
  (void)flags;
  CHECK_EQ(length, strlen(name));
  snprintf(buffer, *size, "%s", demangled);
  return buffer;
}

static char text[1024];

__attribute__((noinline)) static void format_caller(void) {
  kvo_call_format(__builtin_return_address(0), text, sizeof text);
}

/* A symbol with a Swift name; quoted for gcc, because the assembler takes a dollar for an immediate operand. */
#ifdef __clang__
void demo(void) __asm__("$s4demo");
#else
void demo(void) __asm__("\"$s4demo\"");
#endif
__attribute__((noinline)) void demo(void) {
  format_caller();
  __asm__ volatile("");
}

static void check(const char *long_name, const char *short_name) {
  demangled = long_name;
  demo();
  char *end = strstr(text, "  test_swift_names+0x");
  CHECK(end != NULL);
  *end = '\0';
  CHECK_EQ((const char *)text, short_name);
}

TEST("a function is reported with its argument labels and without types") {
  check("App.close() -> ()", "App.close()");
  check("App.close(_: App.Library, at: Swift.Int) throws -> Swift.Int", "App.close(_:at:)");
  check("App.close(Swift.Int) -> ()", "App.close(_:)");
  check("App.close(from: Swift.Int, to: (Swift.Int, Swift.Int)) -> ()", "App.close(from:to:)");
  check("App.close(_: Swift.Dictionary<Swift.String, Swift.Int>, then: (Swift.Int) -> ()) -> ()", "App.close(_:then:)");
  check("App.close((Swift.Int, Swift.Int), [Swift.Int]) -> ()", "App.close(_:_:)");
  check("static App.Editor.main() -> ()", "static App.Editor.main()");
  check("App.Editor.init(title: Swift.String) -> App.Editor", "App.Editor.init(title:)");
  check("static App.Editor.< infix(App.Editor, App.Editor) -> Swift.Bool", "static App.Editor.< infix(_:_:)");
  check("static App.V2.< infix(App.V2, App.V2) -> Swift.Bool", "static App.V2.< infix(_:_:)");
}

TEST("parts of a name that are not in the source are left out") {
  check("App.(close in _7FCE)(_: App.Library) -> ()", "App.close(_:)");
  check("App.(Editor in _7FCE).(close in _7FCE)() -> ()", "App.Editor.close()");
  check("(extension in App):Swift.Array.second() -> A", "Swift.Array.second()");
  check("partial apply forwarder for App.close() -> ()", "App.close()");
  check("merged App.close() -> ()", "App.close()");
  check("@objc App.close() -> ()", "App.close()");
  check("(1) await resume partial function for App.close() async -> ()", "App.close()");
  check("(2) suspend resume partial function for App.close() async -> ()", "App.close()");
}

TEST("generic arguments and types of properties are left out") {
  check("App.map<A, B>(_: (A) -> B) -> [B]", "App.map(_:)");
  check("App.Box<A>.value.getter : A", "App.Box.value.getter");
  check("App.title.setter : Swift.String", "App.title.setter");
  check("App.Box.subscript.getter : (Swift.Int) -> A", "App.Box.subscript.getter");
}

TEST("a closure or local function is reported with the function that contains it") {
  check("closure #1 (Swift.Int) -> () in App.close() -> ()", "closure in App.close()");
  check("closure #2 () -> () in closure #1 (Swift.Int) -> Swift.Bool in App.close(_: Swift.Int) -> ()",
        "closure in App.close(_:)");
  check("inner #1 <A>(_: A) -> () in App.close() -> ()", "inner #1 in App.close()");
  check("closure #3 () -> () in inner #1 () -> () in closure #2 () -> () in App.close() -> ()",
        "closure in inner #1 in closure in App.close()");
  check("App.closure #", "App.closure #");
}

TEST("a name in backquotes is not changed") {
  check("App.`it works (on Linux)`() -> ()", "App.`it works (on Linux)`()");
}

/* ------------------------------------------------------------------------------------------------- The library's calls -- */

static void *called_from;
__attribute__((noinline)) static void note_caller(void) { called_from = __builtin_return_address(0); }

/* A function with this symbol, which notes an address in itself. */
#ifdef __clang__
#define SYMBOL(symbol) __asm__(symbol)
#else
#define SYMBOL(symbol) __asm__("\"" symbol "\"")
#endif
#define FUNCTION(name, symbol)                                                                                         \
  void name(void) SYMBOL(symbol);                                                                                      \
  __attribute__((noinline)) void name(void) {                                                                          \
    note_caller();                                                                                                     \
    __asm__ volatile("" : : "i"(__LINE__)); /* unlike the others, which are then not merged */                         \
  }
FUNCTION(of_array, "$sSa6appendyyxnF")
FUNCTION(added_to_array, "$sSa3AppE6secondxvg")
FUNCTION(of_array_slice, "$ss10ArraySliceV6appendyyxnF")
FUNCTION(added_to_array_slice, "$ss10ArraySliceV3AppE6secondxvg")
FUNCTION(added_to_long_name, "$ss22_ContiguousArrayBufferV3AppE6secondxvg")
FUNCTION(of_nested, "$sSS8UTF8ViewV5countSivpABTK")
FUNCTION(added_to_nested, "$sSS8UTF8ViewV3AppE6secondxvg")
FUNCTION(of_protocol, "$sSlsE5first7ElementQzSgvpSSTK")
FUNCTION(of_foundation, "$s20FoundationEssentials3URLV4pathSSvpACTK")
FUNCTION(of_foundation_in_string, "$sSS10FoundationE11capitalizedSSvg")
FUNCTION(added_to_url, "$s20FoundationEssentials3URLV3AppE6secondxvg")
FUNCTION(added_to_string, "$sSS3AppE4loudSivpSSTK")
FUNCTION(added_to_arrays_of_strings, "$sSa3AppSSRszlE6joinedSSvpSaySSGTK")
FUNCTION(added_to_some_sequences, "$sST3AppSi7ElementRtzrlE3sumSivg")
FUNCTION(added_to_type_of_c, "$sSo10kvo_changea3AppE1xSivg")
FUNCTION(of_nothing, "$s10Foundation")
FUNCTION(of_app, "$s3App5closeyyF")
FUNCTION(of_observing, "$s17KeyValueObserving6updateyyF")
FUNCTION(with_labels_of_observing, "$s17KeyValueObserving10observeAll2of10everythingySi_SitF")
FUNCTION(of_class_of_observing, "$s17KeyValueObserving13ExpressionBoxC8evaluateyyxF")
FUNCTION(of_protocol_of_observing, "$s17KeyValueObserving0aB10ObservablePAAE5hello5labelySi_tF")
FUNCTION(of_observing_in_array, "$sSa17KeyValueObservingE2kvSiyF")
FUNCTION(of_observing_in_arrays_of_strings, "$sSa17KeyValueObservingSSRszlE3kvsSiyF")
FUNCTION(of_observing_in_type_of_c, "$sSo10kvo_changea17KeyValueObservingE1xSivg")
FUNCTION(added_to_observable, "$s17KeyValueObserving0aB10ObservableP3AppE7summarySiyF")
FUNCTION(added_words_to_observable, "$s17KeyValueObserving0aB10ObservableP3AppE03keyB0yyF")
FUNCTION(added_to_some_observables, "$s17KeyValueObserving0aB10ObservableP3AppSQRzrlE11constrainedSiyF")
FUNCTION(added_to_class_of_observing, "$s17KeyValueObserving13ExpressionBoxC3AppE5boxedyyF")
FUNCTION(added_to_date_by_datekit, "$s20FoundationEssentials4DateV0C3KitE9localizedSivg")
FUNCTION(added_words_to_date_by_datekit, "$s20FoundationEssentials4DateV0C3KitE04dateD0Sivg")
FUNCTION(added_to_date_by_extensions, "$s20FoundationEssentials4DateV0A10ExtensionsE9localizedSivg")
FUNCTION(added_to_array_slice_by_tools, "$ss10ArraySliceV0B5ToolsE8sliceKityyF")
FUNCTION(thunk, "$s3App5closeyyFTA")
FUNCTION(reabstraction, "$sIeg_Ieg_TR")
FUNCTION(witness, "$s3App1PAA5closeyyFTW")
FUNCTION(not_a_thunk, "app_TA")

FUNCTION(like_the_runtime, "kvo__edit")
FUNCTION(like_a_fault, "kvo_fault_raise_often")

static bool is_of_library(void (*function)(void)) {
  demangled = "";
  function();
  kvo_fault fault = {.code = KVO_FAULT_UNHANDLED, .severity = KVO_SEVERITY_ERROR, .summary = ""};
  fault.frames = &called_from;
  fault.frame_count = 1;
  CHECK(kvo_fault_format(&fault, KVO_REPORT_JSON, text, sizeof text) < sizeof text);
  bool is = strstr(text, "\"isLibrary\":true") != NULL;
  CHECK(is == (strstr(text, "\"isLibrary\":false") == NULL));
  CHECK(is == kvo_call_is_library(called_from));
  return is;
}

TEST(
    "specialised functions of the standard library and Foundation, thunks and the Swift layer are calls of a library") {
  CHECK(is_of_library(of_array));
  CHECK(is_of_library(of_array_slice));
  CHECK(is_of_library(of_nested));
  CHECK(is_of_library(of_protocol));
  CHECK(is_of_library(of_foundation));
  CHECK(is_of_library(of_foundation_in_string));
  CHECK(is_of_library(of_observing));
  CHECK(is_of_library(with_labels_of_observing));
  CHECK(is_of_library(of_class_of_observing));
  CHECK(is_of_library(of_protocol_of_observing));
  CHECK(is_of_library(of_observing_in_array));
  CHECK(is_of_library(of_observing_in_arrays_of_strings));
  CHECK(is_of_library(of_observing_in_type_of_c));
  CHECK(is_of_library(thunk));
  CHECK(is_of_library(reabstraction));
  CHECK(is_of_library(witness));
}

TEST("functions of the program are not, not even those that it adds to a type of a library") {
  CHECK(!is_of_library(of_app));
  CHECK(!is_of_library(added_to_array));
  CHECK(!is_of_library(added_to_array_slice));
  CHECK(!is_of_library(added_to_nested));
  CHECK(!is_of_library(added_to_url));
  CHECK(!is_of_library(added_to_string));
  CHECK(!is_of_library(added_to_arrays_of_strings));
  CHECK(!is_of_library(added_to_some_sequences));
  CHECK(!is_of_library(added_to_type_of_c));
  CHECK(!is_of_library(of_nothing));
  CHECK(!is_of_library(added_to_long_name));
  CHECK(!is_of_library(not_a_thunk));
  CHECK(!is_of_library(added_to_observable));
  CHECK(!is_of_library(added_words_to_observable));
  CHECK(!is_of_library(added_to_some_observables));
  CHECK(!is_of_library(added_to_class_of_observing));
}

TEST("the module of an extension may be named with words that the type's name has, too") {
  CHECK(!is_of_library(added_to_date_by_datekit));
  CHECK(!is_of_library(added_words_to_date_by_datekit));
  CHECK(!is_of_library(added_to_date_by_extensions));
  CHECK(!is_of_library(added_to_array_slice_by_tools));
}

/* clang puts the runtime's code into a section; that of gcc is recognised by the names of its functions. */
TEST("functions that are named like the runtime's are the program's where its code has a section of its own") {
#ifdef __clang__
  bool expected = false;
#else
  bool expected = true;
#endif
  CHECK_EQ(is_of_library(like_the_runtime), expected);
  CHECK_EQ(is_of_library(like_a_fault), expected);
}

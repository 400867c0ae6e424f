/* faults.c - each misuse is reported once, with its code and both source locations, to a handler or by a process that ends. */
#include "fixture.h"

#include <kvo/kvo_binding.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>

static const char *line_of(uint32_t line) {
  static char text[64];
  snprintf(text, sizeof text, "fixture.c:%u", (unsigned)line);
  return text;
}

static uint32_t registration_line(void) { /* the line of KVO_HERE in `watcher_observer` */
  watcher w = {0};
  return watcher_observer("value", 0, &w).line;
}

TEST("all faults can be listed, each once, in the order of their codes, as KVO_FAULT_MAP describes them") {
  int code = 0;
  const kvo_fault_kind *kind;
  for (size_t i = 0; (kind = kvo_fault_kind_at(i)) != NULL; i++) {
    CHECK((int)kind->code > code);
    code = (int)kind->code;
    CHECK(kind->meaning[0] != '\0');
    CHECK(kind->exception == NULL || kind->exception[0] != '\0');
    if (code == KVO_FAULT_NOT_REGISTERED) {
      CHECK_EQ(kind->exception, "NSRangeException");
      CHECK_EQ(kvo_severity_name(kind->severity), "fatal");
      CHECK_EQ(kind->meaning, "removal of an observer that is not registered");
    }
  }
#define LAST_CODE(name, value, severity, exception, text) CHECK(code >= (value));
  KVO_FAULT_MAP(LAST_CODE)
#undef LAST_CODE
  CHECK_SAME(kvo_fault_kind_at(SIZE_MAX), NULL);
}

/* ---------------------------------------------------------------------------------------------------------- Handlers -- */

TEST("KVO0001 lists each observation that remained, and where it was registered") {
  ignore_faults();
  item *object = item_make(0);
  watcher one = {.context = &faults}, two = {0};
  watch(object, "value", KVO_NEW | KVO_PRIOR, &one);
  watch(object, "next.value", KVO_OLD, &two);
  item_destroy(object);
  CHECK_EQ(faults.count, 1);
  CHECK_EQ((int)faults.code, 1);
  CHECK_CONTAINS(faults.summary, "KVO0001 fatal: Item@0x");
  CHECK_CONTAINS(faults.summary, "was deallocated while 2 observations were registered (key paths: ");
  CHECK_SAME(strchr(faults.summary, '\n'), NULL);
  CHECK_EQ(faults.observation_count, 2);
  CHECK_EQ((const char *)faults.first_key_path, "value");
  CHECK_CONTAINS(faults.first_file, "fixture.c");
  CHECK_EQ(faults.first.line, registration_line());
  CHECK_SAME(faults.first.observer, &one);
  CHECK_SAME(faults.first.context, &faults);
  CHECK(faults.first.observation == one.id);
  CHECK_EQ((int)faults.first.options, KVO_NEW | KVO_PRIOR);
  CHECK_CONTAINS(faults.apple, "was deallocated while key value observers were still registered with it.");
  CHECK_CONTAINS(faults.report, line_of(registration_line()));
  CHECK_CONTAINS(faults.report, "\"next.value\"");
  CHECK_CONTAINS(faults.report, "new|prior");
}

TEST("KVO0002 names the observer, the key path and the object, and what is registered instead") {
  ignore_faults();
  item *object = item_make(0);
  watcher w = {0}, unregistered = {0};
  watch(object, "value", KVO_NONE, &w);
  CHECK_STATUS(kvo_remove_observer_for(as_object(object), &unregistered, "value"), KVO_ERROR_NOT_REGISTERED);
  CHECK_EQ((int)faults.code, 2);
  CHECK_CONTAINS(faults.summary, "KVO0002 fatal: cannot remove observer@0x");
  CHECK_CONTAINS(faults.summary, "for \"value\" from Item@0x");
  CHECK_CONTAINS(faults.apple, "Cannot remove an observer");
  CHECK_CONTAINS(faults.apple, "because it is not registered as an observer.");
  CHECK_CONTAINS(faults.report, line_of(registration_line()));
  CHECK_EQ(faults.observation_count, 1);
  CHECK_CONTAINS(faults.report, "other observers are registered with the object, but not this one");
  CHECK_STATUS(kvo_remove_observer_for(as_object(object), &w, "valeu"), KVO_ERROR_NOT_REGISTERED);
  CHECK_CONTAINS(faults.report, "did you mean \"value\", which this observer observes?");
  CHECK_STATUS(kvo_remove_observer_for_context(as_object(object), &w, "value", &w), KVO_ERROR_NOT_REGISTERED);
  CHECK_CONTAINS(faults.report, "this observer observes this key path with context 0x0");
  CHECK_OK(kvo_remove_observer(w.id));
  CHECK_STATUS(kvo_remove_observer_for(as_object(object), &w, "value"), KVO_ERROR_NOT_REGISTERED);
  CHECK_EQ((int)faults.code, 3);
  CHECK_STATUS(kvo_remove_observer_for(as_object(object), &unregistered, "value"), KVO_ERROR_NOT_REGISTERED);
  CHECK_CONTAINS(faults.report, "nothing is registered with the object");
  CHECK_STATUS(kvo_remove_observer(w.id), KVO_ERROR_NOT_REGISTERED);
  CHECK_CONTAINS(faults.summary, "KVO0003 fatal: observer@0x");
  CHECK_EQ(faults.count, 6);
  item_destroy(object);
}

TEST("KVO0009 names the undefined key, the source location of the call, and the keys that exist") {
  ignore_faults();
  item *object = item_make(0), *next = item_make(0);
  object->next = next;
  watcher w = {0};
  kvo_observer path = watcher_observer("next.imaginary", KVO_NONE, &w),
               single = watcher_observer("imaginary", KVO_NEW | KVO_INITIAL, &w);
  CHECK_STATUS(kvo_add_observer(as_object(object), &path, NULL), KVO_ERROR_UNDEFINED_KEY);
  CHECK_EQ((int)faults.code, 9);
  CHECK_CONTAINS(faults.summary, "KVO0009 error: cannot observe \"next.imaginary\" of Item@0x");
  CHECK_CONTAINS(faults.apple, "is not KVC-compliant for the");
  CHECK_CONTAINS(faults.file, "fixture.c");
  CHECK_EQ(faults.line, path.line);
  CHECK_CONTAINS(faults.report, "the keys of Item are: value, other, next");
  CHECK_STATUS(kvo_add_observer(as_object(object), &single, NULL), KVO_ERROR_UNDEFINED_KEY);
  CHECK_EQ((int)faults.code, 9);
  CHECK_EQ(faults.count, 2);
  CHECK_EQ(w.calls + w.destroyed, 0);
  CHECK(!kvo_object_is_observed(as_object(object)));
  CHECK(!kvo_object_is_observed(as_object(next)));
  item_destroy(object);
  item_destroy(next);
}

TEST("KVO0009 is raised when an observer wants the value of an undefined key that is announced by hand") {
  ignore_faults();
  item *object = item_make(0);
  watcher w = {0};
  watch(object, "imaginary", KVO_NEW, &w);
  CHECK_EQ((int)faults.code, KVO_FAULT_NEVER_NOTIFIES); /* it may also be a mistake, hence the warning */
  faults.count = 0;
  CHECK_OK(kvo_will_change(as_object(object), "imaginary"));
  CHECK_OK(kvo_did_change(as_object(object), "imaginary"));
  CHECK_EQ(faults.count, 1);
  CHECK_EQ((int)faults.code, 9);
  CHECK_CONTAINS(faults.apple, "this class is not key value coding-compliant for the key imaginary.");
  CHECK_EQ(w.calls, 1); /* the process went on, and so does the notification */
  CHECK(!w.new_value.told);
  CHECK_OK(kvo_remove_observer(w.id));
  item_destroy(object);
}

TEST("KVO0010 is raised for each form of a malformed key path, and says where the empty component is") {
  static const char *const malformed[] = {"", ".", "value.", ".value", "next..value"};
  static const char *const where[] = {"number 1, at position 0", "number 1, at position 0", "number 2, at position 6",
                                      "number 1, at position 0", "number 2, at position 5"};
  ignore_faults();
  item *object = item_make(0);
  watcher w = {0};
  for (int i = 0; i < 5; i++) {
    kvo_observer observer = watcher_observer(malformed[i], KVO_NONE, &w);
    CHECK_STATUS(kvo_add_observer(as_object(object), &observer, NULL), KVO_ERROR_MALFORMED_KEY_PATH);
    CHECK_EQ(faults.count, i + 1);
    CHECK_EQ((int)faults.code, 10);
    CHECK_CONTAINS(faults.summary, "KVO0010 error: cannot observe");
    CHECK_CONTAINS(faults.summary, where[i]);
    CHECK_EQ(faults.line, observer.line);
  }
  item_destroy(object);
}

static char whole[1 << 20];
static size_t whole_length;
static int groups, counted;
static kvo_action keep_whole(const kvo_fault *fault, void *arg) {
  (void)arg;
  whole_length = kvo_fault_format(fault, KVO_REPORT_TEXT, whole, sizeof whole);
  groups = (int)fault->observation_count;
  counted = 0;
  for (int i = 0; i < groups; i++) counted += (int)fault->observations[i].duplicate_count + 1;
  return KVO_ACTION_IGNORE;
}

static void *remove_while_evaluating(void *user_data) {
  kvo_track_read(as_object(user_data), kvo_key_hash("value", 5));
  CHECK_OK(kvo_remove_observer_for(as_object(user_data), NULL, "expression"));
  return user_data;
}

static void *read_nothing(void *user_data) { return user_data; }
static void release_nothing(void *value, void *user_data) { (void)value, (void)user_data; }
static void never_called(const kvo_raw_change *change, void *user_data) {
  (void)change, (void)user_data;
  harness_fail(__FILE__, __LINE__, "the observer was called");
}

TEST("KVO0011 is raised for a key that the class does not have, with the key that was probably meant") {
  ignore_faults();
  item *object = item_make(0);
  static watcher w;
  kvo_set_fault_handler(keep_whole, NULL);
  watch(object, "vlaue", KVO_NONE, &w);
  CHECK_CONTAINS(whole, "KVO0011 warning: the observation of \"vlaue\" of Item@0x");
  CHECK_CONTAINS(whole, "there is no such key");
  CHECK_CONTAINS(whole, "did you mean \"value\"?");
  CHECK_CONTAINS(whole, ". If its changes are announced manually, register it with KVO_PROPERTY_MANUAL\n  more: ");
  CHECK_OK(kvo_remove_observer(w.id));
  item_destroy(object);
}

TEST("KVO0011 is raised for an expression that reads nothing, and not for one that was removed meanwhile") {
  ignore_faults();
  item *object = item_make(0);
  static const kvo_observer_ops removing = {
      .callback = never_called, .evaluate = remove_while_evaluating, .release = release_nothing};
  static const kvo_observer_ops reading_nothing = {
      .callback = never_called, .evaluate = read_nothing, .release = release_nothing};
  kvo_binding_observer described = {.key_path = "expression", .ops = &removing, .user_data = object};
  kvo_observation id;
  CHECK_OK(kvo_binding_observe_tracked(as_object(object), &described, false, &id));
  CHECK_STATUS(kvo_cancel_observer(id), KVO_ERROR_NOT_REGISTERED);
  CHECK_EQ(faults.count, 0);
  described.ops = &reading_nothing;
  CHECK_OK(kvo_binding_observe_tracked(as_object(object), &described, false, &id));
  CHECK_EQ(faults.count, 1);
  CHECK_EQ((int)faults.code, KVO_FAULT_NEVER_NOTIFIES);
  CHECK_OK(kvo_remove_observer(id));
  item_destroy(object);
}

TEST("of 1000 observations a report lists one per source location, exactly counted, in 16 KiB") {
  static watcher many[1000];
  item *object = item_make(0);
  for (int i = 0; i < 1000; i++) watch(object, i < 600 ? "value" : i < 996 ? "other" : "name", KVO_NONE, &many[i]);
  kvo_set_fault_handler(keep_whole, NULL);
  item_destroy(object);
  CHECK_EQ(groups, 3);
  CHECK_EQ(counted, 1000);
  CHECK(whole_length < 16384);
  CHECK_CONTAINS(whole,
                 "while 1000 observations were registered (key paths: \"value\" ×600, \"other\" ×396, \"name\" ×4)");
  CHECK_CONTAINS(whole, "fixture.c:131, as were 599 others like it");
  for (int i = 0; i < 1000; i++) CHECK_EQ(many[i].destroyed, 1);
}

TEST("a failed removal from an object with 1000 observers lists them by source location, too") {
  static watcher many[1000], unregistered;
  item *object = item_make(0);
  for (int i = 0; i < 1000; i++) watch(object, "value", KVO_NONE, &many[i]);
  kvo_set_fault_handler(keep_whole, NULL);
  kvo_remove_observer_for(as_object(object), &unregistered, "value");
  CHECK_EQ(groups, 1);
  CHECK_EQ(counted, 1000);
  CHECK(whole_length < 16384);
}

TEST(
    "of observations from 1000 source locations a report lists the first in 16 KiB, and says how many more there are") {
  static char paths[1000][1100];
  static watcher many[1000];
  item *object = item_make(0);
  ignore_faults(); /* the keys are undefined */
  for (int i = 0; i < 1000; i++) {
    memset(paths[i], 'k', sizeof paths[i] - 1);
    memcpy(paths[i], (const char[]){(char)('a' + i % 26), (char)('a' + i / 26 % 26), (char)('a' + i / 676)}, 3);
    watch(object, paths[i], KVO_NONE, &many[i]);
  }
  kvo_set_fault_handler(keep_whole, NULL);
  item_destroy(object);
  CHECK_EQ(groups, 1000);
  CHECK(whole_length < 16384);
  const char *more = strstr(whole, " more; KVO_REPORT=json lists them)\n");
  CHECK(more != NULL);
  int left = 0, digits = 1;
  for (const char *at = more - 1; *at >= '0' && *at <= '9'; at--, digits *= 10) left += (*at - '0') * digits;
  int shown = 0;
  for (const char *at = strstr(whole, "\n        registered at "); at != NULL;
       at = strstr(at + 1, "\n        registered at "))
    shown++;
  CHECK_EQ(shown + left, 1000);
}

TEST("newlines and other control characters in a name do not break the first line") {
  item *object = item_make(0);
  static watcher w, unregistered;
  watch(object, "value", KVO_NONE, &w);
  kvo_set_fault_handler(keep_whole, NULL);
  kvo_remove_observer_for(as_object(object), &unregistered, "a\nKVO0001 fatal: b\x1b[2J");
  size_t first = strcspn(whole, "\n");
  CHECK_EQ(strncmp(whole, "KVO0002 fatal: ", 15), 0);
  whole[first] = '\0';
  CHECK_CONTAINS(whole, "\"a\\x0aKVO0001 fatal: b\\x1b[2J\"");
  CHECK_CONTAINS(whole, ", at "); /* everything is printed */
  CHECK_SAME(strstr(whole + first + 1, "\nKVO0001"), NULL);
}

static kvo_fault_handler handler_before;
static int inner_faults;
static kvo_action fault_within(const kvo_fault *fault, void *arg) {
  (void)fault, (void)arg;
  CHECK_EQ(++inner_faults, 1); /* it is not called again */
  CHECK_STATUS(kvo_remove_observer(0), KVO_ERROR_NOT_REGISTERED);
  return KVO_ACTION_IGNORE;
}

static void raise_within(void *arg) {
  (void)arg;
  kvo_set_fault_handler(fault_within, NULL);
  CHECK_STATUS(kvo_remove_observer(0), KVO_ERROR_NOT_REGISTERED);
  CHECK_EQ(inner_faults, 1);
}

TEST("a fault inside the handler does not call it again, but takes the policy's action") {
  child_result logged = harness_run_child(raise_within, NULL, "log");
  CHECK_EQ(logged.signal, 0);
  CHECK_EQ(logged.exit_code, 0);
  CHECK_CONTAINS(logged.errors, "KVO0008");
  CHECK_EQ(harness_run_child(raise_within, NULL, NULL).signal, SIGABRT);
}

static kvo_action other_handler(const kvo_fault *fault, void *arg) {
  (void)fault, (void)arg;
  return KVO_ACTION_DEFAULT;
}

TEST("setting a handler returns the previous one") {
  CHECK(kvo_set_fault_handler(other_handler, NULL) == NULL);
  handler_before = kvo_set_fault_handler(NULL, NULL);
  CHECK(handler_before == other_handler);
  CHECK(kvo_set_fault_handler(NULL, NULL) == NULL);
}

static void *thread_asked;
static int process_asked;
static kvo_action thread_answer(const kvo_fault *fault, void *arg) {
  thread_asked = arg;
  CHECK_EQ((int)fault->code, KVO_FAULT_INVALID_ARGUMENT);
  return arg != NULL ? KVO_ACTION_IGNORE : KVO_ACTION_DEFAULT;
}
static kvo_action process_answer(const kvo_fault *fault, void *arg) {
  (void)fault, (void)arg;
  process_asked++;
  return KVO_ACTION_IGNORE;
}

TEST("the thread's handler is called first, and the process's handler if that returns DEFAULT") {
  kvo_set_fault_handler(process_answer, NULL);
  CHECK(kvo_set_thread_fault_handler(thread_answer, &process_asked) == NULL);
  CHECK_STATUS(kvo_remove_observer(0), KVO_ERROR_NOT_REGISTERED);
  CHECK(thread_asked != NULL);
  CHECK_EQ(process_asked, 0);
  void *arg = NULL;
  CHECK(kvo_get_thread_fault_handler(&arg) == thread_answer && arg != NULL);
  CHECK(kvo_set_thread_fault_handler(thread_answer, NULL) == thread_answer);
  CHECK_STATUS(kvo_remove_observer(0), KVO_ERROR_NOT_REGISTERED);
  CHECK_EQ(process_asked, 1);
  kvo_set_thread_fault_handler(NULL, NULL);
  kvo_set_fault_handler(NULL, NULL);
}

/* --------------------------------------------------------------------------------------------- Where it was registered -- */

/* The first line of the fault of an object that dies with two observers, registered at these places. */
static const char *summary_of_two(const char *first, uint32_t first_line, const char *second, uint32_t second_line) {
  ignore_faults();
  static watcher watchers[2];
  item *object = item_make(0);
  kvo_observer observers[] = {watcher_observer("value", KVO_NEW, &watchers[0]),
                              watcher_observer("other", KVO_NEW, &watchers[1])};
  observers[0].file = first, observers[0].line = first_line;
  observers[1].file = second, observers[1].line = second_line;
  for (int i = 0; i < 2; i++) CHECK_OK(kvo_add_observer(as_object(object), &observers[i], &watchers[i].id));
  item_destroy(object);
  CHECK_EQ((int)faults.code, KVO_FAULT_DEALLOCATED_WHILE_OBSERVED);
  return faults.summary;
}

TEST("the first line names where the first observer was registered, and says if others were registered elsewhere") {
  CHECK_CONTAINS(summary_of_two("a.c", 7, "a.c", 7), ", registered at a.c:7");
  CHECK_SAME(strstr(faults.summary, "elsewhere"), NULL);
  CHECK_CONTAINS(summary_of_two("a.c", 7, "a.c", 8), ", registered at a.c:7 and elsewhere");
  CHECK_CONTAINS(summary_of_two("a.c", 7, "b.c", 7), ", registered at a.c:7 and elsewhere");
  CHECK_CONTAINS(summary_of_two("a.c", 7, "b.c", 8), ", registered at a.c:7 and elsewhere");
}

/* trace.c - what a trace has: slices that nest on each thread, with names, places, calls and values; faults. */
#include "scoped.h"
#include "shared.h"
#include "texts.h"
#include "traced.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* ---------------------------------------------------------------------------------------------------- The text -- */

/* The events: one in each line, with its phase first, without process, thread and time. Not the calls that made the
 * changes, and the modules that these are in, which differ between builds. */
static const char *events_of(const char *text) {
  static char made[8192];
  char *to = made;
  for (const char *at = text; *at != '\0'; at += strcspn(at, "\n") + 1) {
    char line[2000];
    snprintf(line, sizeof line, "%.*s", (int)strcspn(at, "\n"), at);
    if (strncmp(line, "{\"ph\":\"", 7) != 0 || strstr(line, "\"kvo_module\"") != NULL) continue;
    char phase = line[7], *rest = strstr(line, "\"ts\":"), *calls = strstr(line, ",\"calls\":[");
    if (calls != NULL) memmove(calls, strchr(calls, ']') + 1, strlen(strchr(calls, ']')));
    to += snprintf(to, sizeof line, "%c%s\n", phase, rest + strcspn(rest, ",}"));
  }
  return made;
}

/* The arguments of the observations below. */
#define OF_VALUE                                                                                                       \
  "\"args\":{\"object\":\"Item@~\",\"key\":\"value\",\"observation\":\"~\",\"observerAddress\":\"~\","                 \
  "\"file\":\"Some/where.c\",\"line\":1234"
#define OF_NAME                                                                                                        \
  "\"args\":{\"object\":\"Item@~\",\"key\":\"name\",\"observation\":\"~\",\"observer\":\"Panel\","                     \
  "\"observerAddress\":\"~\",\"note\":\"on queue com.example.model\""

TEST("the whole text of a trace, in which new values are only if KVO_VALUES allows it") {
  bool has_values = getenv("KVO_VALUES") != NULL;
  item *object = item_make(0);
  watcher w = {0};
  kvo_observer of_value = watcher_observer("value", KVO_NEW | KVO_PRIOR, &w);
  of_value.file = "Some/where.c";
  of_value.line = 1234;
  kvo_binding_observer of_name = {.options = KVO_NEW, .note = "on queue com.example.model"};
  kvo_observation ids[2];
  begin();
  CHECK_OK(kvo_add_observer(as_object(object), &of_value, &ids[0]));
  ids[1] = observe_named(as_object(object), "name", "Panel", object, of_name);
  item_set_value(object, 1234567);
  item_set_name(object, "Ann");
  for (int i = 0; i < 2; i++) CHECK_OK(kvo_cancel_observer(ids[i]));
  item_destroy(object);
  const char *text = ended();
  char part[200];
  snprintf(part, sizeof part, "[\n{\"ph\":\"M\",\"pid\":%ld,\"tid\":%ld,\"ts\":0.000,", (long)getpid(), (long)getpid());
  CHECK_CONTAINS(text, (const char *)part);
  snprintf(part, sizeof part,
           "{\"object\":\"Item@%p\",\"key\":\"value\",\"observation\":\"0x%llx\",\"observerAddress\":\"%p\",",
           (void *)object, (unsigned long long)ids[0], (void *)&w);
  CHECK_CONTAINS(text, (const char *)part);
  CHECK_WHOLE(events_of(text),
              "M,\"name\":\"process_name\",\"args\":{\"name\":\"test_trace\"}},\n"
              "M,\"name\":\"thread_name\",\"args\":{\"name\":\"main\"}},\n"
              "i,\"name\":\"registered where.c:1234 (value)\",\"cat\":\"life\",\"s\":\"t\"," OF_VALUE "}},\n"
              "i,\"name\":\"registered ~ (name) Panel\",\"cat\":\"life\",\"s\":\"t\"," OF_NAME "}},\n"
              "B,\"name\":\"set Item.value\",\"cat\":\"change\",\"args\":{\"object\":\"Item@~\",\"key\":\"value\"}},\n"
              "B,\"name\":\"observer where.c:1234 (value, before)\",\"cat\":\"delivery\"," OF_VALUE "}},\n"
              "E},\n"
              "B,\"name\":\"observer where.c:1234 (value)\",\"cat\":\"delivery\"," OF_VALUE "%s}},\n"
              "E},\n"
              "E},\n"
              "B,\"name\":\"set Item.name\",\"cat\":\"change\",\"args\":{\"object\":\"Item@~\",\"key\":\"name\"}},\n"
              "B,\"name\":\"observer ~ (name) Panel\",\"cat\":\"delivery\"," OF_NAME "%s}},\n"
              "E},\n"
              "E},\n"
              "i,\"name\":\"ended where.c:1234 (value)\",\"cat\":\"life\",\"s\":\"t\"," OF_VALUE "}},\n"
              "i,\"name\":\"ended ~ (name) Panel\",\"cat\":\"life\",\"s\":\"t\"," OF_NAME "}},\n"
              "i,\"name\":\"Item died\",\"cat\":\"life\",\"s\":\"t\",\"args\":{\"object\":\"Item@~\"}}\n",
              has_values ? ",\"new\":\"1234567\"" : "", has_values ? ",\"new\":\"\\u0022Ann\\u0022\"" : "");
  if (!has_values) harness_environment("KVO_VALUES", "1");
}

TEST("a fault is an instant with its code, first line, object, observation and place, unless it is ignored") {
  harness_environment("KVO_REPORT_PATH", "/dev/null");
  harness_environment("KVO_POLICY", "log");
  item *object = item_make(0);
  watcher w = {0};
  kvo_observation id = watch(object, "value", KVO_NONE, &w);
  begin();
  CHECK_OK(kvo_remove_observer(id));
  CHECK_STATUS(kvo_remove_observer_for(as_object(object), object, "value"), KVO_ERROR_NOT_REGISTERED);
  CHECK_STATUS(kvo_remove_observer_at(id, "Else/where.c", 5678), KVO_ERROR_NOT_REGISTERED);
  CHECK_STATUS(kvo_remove_observer_at(0, NULL, 0), KVO_ERROR_NOT_REGISTERED);
  ignore_faults();
  CHECK_STATUS(kvo_remove_observer_at(0, NULL, 0), KVO_ERROR_NOT_REGISTERED);
  const char *text = ended();
  char expected[100];
  CHECK_EQ(occurrences(text, "\"cat\":\"fault\""), 3);
  snprintf(expected, sizeof expected, "\"args\":{\"object\":\"Item@%p\",\"summary\":\"KVO0002 ", (void *)object);
  CHECK_CONTAINS(line_with(text, "\"KVO0002 fatal\""), (const char *)expected);
  snprintf(expected, sizeof expected, ",\"observation\":\"0x%llx\",\"file\":\"Else/where.c\",\"line\":5678}}",
           (unsigned long long)id);
  CHECK_CONTAINS(line_with(text, "\"KVO0003 fatal\""), (const char *)expected);
  CHECK_CONTAINS(line_with(text, "\"KVO0008 fatal\""), "\"s\":\"t\",\"args\":{\"summary\":\"KVO0008 fatal: 0x0 ");
}

/* ------------------------------------------------------------------------------------------------------ Slices -- */

static void set_other(watcher *self, const kvo_change *change) { KVO_SET(change->object, "other", int, 1); }

TEST("what an observer sets is inside its slice, and that is inside the slice of the change") {
  make_items();
  watcher w[2] = {{.then = set_other}, {0}};
  begin();
  watch(a, "value", KVO_NEW, &w[0]);
  watch(a, "other", KVO_NEW, &w[1]);
  item_set_value(a, 5);
  kvo_cancel_observer(w[0].id);
  kvo_cancel_observer(w[1].id);
  destroy_items();
  check_trace("<registered @ (value)><registered @ (other)>"
              "(set Item.value(observer @ (value)(set Item.other(observer @ (other)))))"
              "<ended @ (value)><ended @ (other)><Item died>");
}

TEST("changes announced by hand that end in another order leave slices that nest, named after their kinds") {
  static const kvo_change_kind kinds[] = {KVO_CHANGE_INSERTION, KVO_CHANGE_REMOVAL, KVO_CHANGE_REPLACEMENT};
  static const size_t first[] = {0};
  make_items();
  watcher w = {0};
  watch(a, "value", KVO_NONE, &w);
  watch(a, "other", KVO_NONE, &w);
  begin();
  kvo_will_change(as_object(a), "value");
  kvo_will_change(as_object(a), "other");
  kvo_did_change(as_object(a), "value");
  kvo_did_change(as_object(a), "other");
  for (size_t i = 0; i < 3; i++) {
    kvo_will_change_indexes(as_object(a), kinds[i], "value", first, 1);
    kvo_did_change_indexes(as_object(a), kinds[i], "value", first, 1);
  }
  check_trace("(set Item.value(set Item.other(observer @ (value))(observer @ (other))))"
              "(insert into Item.value(observer @ (value)))"
              "(remove from Item.value(observer @ (value)))"
              "(replace in Item.value(observer @ (value)))");
}

static void begin_there(watcher *self, const kvo_change *change) {
  begin();
  KVO_SET(change->object, "other", int, 1);
}

static kvo_frame moved;

static void finish_moved(void *arg) {
  item *object = arg;
  object->value = 2;
  kvo_frame_finish_with(&moved, NULL, &object->value);
}

TEST("a change that ends on another thread ends the slice of the thread that began it") {
  item *object = item_make(0);
  watcher w = {0};
  watch(object, "value", KVO_NEW | KVO_ENDS_WITH_OBJECT, &w);
  begin();
  CHECK(kvo_frame_begin(&moved, as_object(object), kvo_key_hash("value", 5)) != 0);
  join_thread(start_thread(finish_moved, object));
  item_set_value(object, 3);
  check_trace("(set Item.value(observer @ (value)))(set Item.value(observer @ (value)))");
  item_destroy(object);
}

TEST("a recording has what begins in it, and slices that are open at its end end there") {
  make_items();
  watcher w[2] = {{.then = begin_there}, {0}};
  watch(a, "value", KVO_NONE, &w[0]);
  watch(a, "other", KVO_NONE, &w[1]);
  item_set_value(a, 5);
  item_set_other(a, 2);
  kvo_will_change(as_object(a), "other");
  check_trace("(set Item.other(observer @ (other)))(set Item.other(observer @ (other)))(set Item.other)");
  begin(); /* nothing of the first recording */
  kvo_did_change(as_object(a), "other");
  check_trace("(observer @ (other))");
}

/* ----------------------------------------------------------------------------------------------------- Threads -- */

static item *own_items[THREADS];

static void set_often(int number) {
  for (int i = 0; i < 1000; i++) item_set_value(own_items[number], i);
}

TEST("each thread has slices of its own, also when there are more of them than the buffer holds") {
  static watcher w[THREADS][2];
  for (int i = 0; i < THREADS; i++) {
    own_items[i] = item_make(0);
    w[i][0].then = set_other;
    watch(own_items[i], "value", KVO_NEW, &w[i][0]);
    watch(own_items[i], "other", KVO_NEW, &w[i][1]);
  }
  begin();
  on_threads(set_often);
  CHECK_EQ(occurrences(ended(), "\"set Item.value\""), THREADS * 1000);
}

/* ------------------------------------------------------------------------------------------------------- Calls -- */

#if defined(__x86_64__) || defined(__aarch64__) /* others have no frame pointers */

/* A function with this symbol; quoted for gcc, as in swift_names.c. */
#ifdef __clang__
#define SYMBOL(symbol) __asm__(symbol)
#else
#define SYMBOL(symbol) __asm__("\"" symbol "\"")
#endif
#define ACCESSOR(name, symbol, call)                                                                                   \
  void name(item *object) SYMBOL(symbol);                                                                              \
  __attribute__((noinline)) void name(item *object) {                                                                  \
    call;                                                                                                              \
    __asm__ volatile(""); /* no tail call: the frame is on the stack */                                                \
  }
ACCESSOR(did_set_title, "App.title.didset", item_set_value(object, object->value + 1))
ACCESSOR(modify_title, "App.title.modify", did_set_title(object))
ACCESSOR(set_title, "App.title.setter", modify_title(object))

__attribute__((noinline)) static void edit_title(void *object) {
  set_title(object);
  __asm__ volatile("");
}

TEST("the outermost change of a thread has the calls that made it, without accessors and the C library") {
  make_items();
  watcher w[2] = {{.then = set_other}, {0}};
  watch(a, "value", KVO_NONE, &w[0]);
  watch(a, "other", KVO_NONE, &w[1]);
  begin();
  join_thread(start_thread(edit_title, a));
  const char *text = ended(), *outer = line_with(text, "\"set Item.value\"");
  CHECK_CONTAINS(outer, "\"edit_title  test_trace+0x");
  CHECK_EQ(occurrences(outer, "App.title") + occurrences(outer, " libc.so") + occurrences(outer, " ld-musl"), 0);
  CHECK_EQ(occurrences(line_with(text, "\"set Item.other\""), "\"calls\""), 0);
}

TEST("each recording has the names of its threads, and the files in which the calls are, with their build-ids") {
  make_items();
  watcher w = {0};
  watch(a, "value", KVO_NONE, &w);
  for (int i = 0; i < 2; i++) {
    begin();
    edit_title(a);
    const char *text = ended();
    CHECK_EQ(occurrences(text, "\"name\":\"thread_name\",\"args\":{\"name\":\"main\"}"), 1);
    CHECK_CONTAINS(line_with(text, "\"name\":\"test_trace\",\"path\":\"/"), "/test_trace\",\"buildId\":\"");
  }
}

#endif

/* ------------------------------------------------------------------------------------------------------ Scopes -- */

/* Its name is in the trace, because it is exported. */
void end_the_scope(kvo_scope *scope);
__attribute__((noinline)) void end_the_scope(kvo_scope *scope) {
  kvo_scope_end(scope);
  __asm__ volatile("");
}

TEST("a coalesced change has a slice that is paused where it is made, and one that is resumed at the scope's end") {
  make_items();
  watcher w = {0};
  watch(a, "value", KVO_NEW, &w);
  begin();
  BEGIN(scope, KVO_SCOPE_COALESCES, a);
  item_set_value(a, 5);
  end_the_scope(&scope);
  const char *text = ended();
  CHECK_EQ(occurrences(text, ",\"args\":{\"paused\":true}}"), 1);
  CHECK_CONTAINS(line_with(text, "\"resumed\":true"), "\"calls\":[\"end_the_scope");
}

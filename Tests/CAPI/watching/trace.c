/* trace.c - kvo_trace_begin: slices nest on each thread, and have names, places and, if asked for, values. */
#include "fixture.h"
#include "traced.h"

#include <kvo/kvo_binding.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* ---------------------------------------------------------------------------------------------------------- Slices -- */

static void set_other(watcher *self, const kvo_change *change) {
  (void)self;
  KVO_SET(change->object, "other", int, 1);
}

TEST("what an observer sets is inside its slice, and that is inside the slice of the change") {
  item *object = item_make(0);
  watcher w[2] = {{.then = set_other}, {0}};
  begin();
  watch(object, "value", KVO_NEW, &w[0]);
  watch(object, "other", KVO_NEW, &w[1]);
  item_set_value(object, 1);
  kvo_cancel_observer(w[0].id);
  kvo_cancel_observer(w[1].id);
  item_destroy(object);
  char *text = ended(), expected[1024];
  check_order(text);
  unsigned line = watcher_observer("", 0, &w[0]).line;
  snprintf(expected, sizeof expected,
           "<registered fixture.c:%u (value)><registered fixture.c:%u (other)>"
           "(set Item.value(observer fixture.c:%u (value)(set Item.other(observer fixture.c:%u (other)))))"
           "<ended fixture.c:%u (value)><ended fixture.c:%u (other)><Item died>",
           line, line, line, line, line, line);
  check_shape(text, expected);
  free(text);
}

/* Whether each time has three digits after the point. */
static bool has_nanoseconds(const char *text) {
  size_t times = 0;
  for (const char *at = text; (at = strstr(at, ",\"ts\":")) != NULL; times++) {
    at += strlen(",\"ts\":");
    size_t whole = strspn(at, "0123456789"), rest = strspn(at + whole + 1, "0123456789");
    if (whole == 0 || at[whole] != '.' || rest != 3) return false;
  }
  return times > 0;
}

TEST("a trace contains the names of process and thread, the object, the source location and the id") {
  item *object = item_make(0);
  watcher w = {0};
  begin();
  watch(object, "value", KVO_NEW, &w);
  item_set_value(object, 1234567);
  char *text = ended(), part[300];
  CHECK_CONTAINS(text, "\"name\":\"process_name\",\"args\":{\"name\":\"test_trace\"}");
  CHECK_CONTAINS(text, "\"name\":\"thread_name\",\"args\":{\"name\":\"main\"}");
  snprintf(
      part, sizeof part,
      "\"args\":{\"object\":\"Item@0x%llx\",\"key\":\"value\",\"observation\":\"0x%llx\",\"observerAddress\":\"0x%llx\","
      "\"file\":\"",
      (unsigned long long)(uintptr_t)object, (unsigned long long)w.id, (unsigned long long)(uintptr_t)&w);
  CHECK_CONTAINS(text, part);
  CHECK_SAME(strstr(text, "1234567"), NULL); /* values may be private */
  CHECK(has_nanoseconds(text));
  free(text);
}

/* Replaces each number, decimal or hexadecimal, by N. */
static void mask_numbers(char *text) {
  char *to = text;
  for (const char *at = text; *at != '\0';) {
    size_t length = at[0] == '0' && at[1] == 'x' ? 2 + strspn(at + 2, "0123456789abcdef") : strspn(at, "0123456789");
    *to++ = length > 0 ? 'N' : *at;
    at += length > 0 ? length : 1;
  }
  *to = '\0';
}

/* Removes the calls that made the changes, and the modules that these are in, which differ between builds. */
static void without_calls(char *text) {
  for (char *at; (at = strstr(text, ",\"calls\":[")) != NULL;)
    memmove(at, strchr(at, ']') + 1, strlen(strchr(at, ']')));
  for (char *at; (at = strstr(text, "\"kvo_module\"")) != NULL;) {
    while (*at != '\n') at--; /* the line, which does not end with the array */
    memmove(at, strchr(at + 1, '\n'), strlen(strchr(at + 1, '\n')) + 1);
  }
}

TEST("the whole text of a trace of one change, with its observer and its values") {
  harness_environment("KVO_VALUES", "1");
  item *object = item_make(0);
  watcher w = {0};
  kvo_observer observer = watcher_observer("value", KVO_NEW | KVO_PRIOR, &w);
  observer.file = "Some/where.c";
  begin();
  CHECK_OK(kvo_add_observer(as_object(object), &observer, &w.id));
  item_set_value(object, 5);
  CHECK_OK(kvo_remove_observer(w.id));
  item_destroy(object);
  char *text = ended();
  without_calls(text);
  mask_numbers(text);
#define HEAD(phase) "{\"ph\":\"" phase "\",\"pid\":N,\"tid\":N,\"ts\":N.N"
#define PLACE                                                                                                          \
  "\"args\":{\"object\":\"Item@N\",\"key\":\"value\",\"observation\":\"N\",\"observerAddress\":\"N\",\"file\":\"Some/" \
  "where.c\",\"line\":N"
  CHECK_EQ(
      strncmp(text, "[\n" HEAD("M") ",\"name\":\"process_name\",\"args\":{\"name\":\"", strlen("[\n" HEAD("M")) + 39),
      0);
  CHECK_EQ(
      strchr(text + 2, '\n') + 1,
      HEAD("M") ",\"name\":\"thread_name\",\"args\":{\"name\":\"main\"}},\n" HEAD(
          "i") ",\"name\":\"registered where.c:N (value)\",\"cat\":\"life\",\"s\":\"t\"," PLACE
               "}},\n" HEAD("B") ",\"name\":\"set Item.value\",\"cat\":\"change\",\"args\":{\"object\":\"Item@N\",\"key\":\"value\"}},\n" HEAD(
                   "B") ",\"name\":\"observer where.c:N (value, before)\",\"cat\":\"delivery\"," PLACE
                        "}},\n" HEAD("E") "},\n" HEAD(
                            "B") ",\"name\":\"observer where.c:N (value)\",\"cat\":\"delivery\"," PLACE
                                 ",\"new\":\"N\"}},\n" HEAD("E") "},\n" HEAD("E") "},\n" HEAD(
                                     "i") ",\"name\":\"ended where.c:N (value)\",\"cat\":\"life\",\"s\":\"t\"," PLACE
                                          "}},\n" HEAD(
                                              "i") ",\"name\":\"Item died\",\"cat\":\"life\",\"s\":\"t\",\"args\":{\"object\":\"Item@N\"}}\n"
                                                   "]\n");
#undef HEAD
#undef PLACE
  free(text);
}

static void ignore_raw(const kvo_raw_change *change, void *user_data) {
  (void)change;
  (void)user_data;
}

TEST("a delivery names the class of its observer, and says what the registration said of it") {
  static const kvo_observer_ops ops = {.callback = ignore_raw};
  item *object = item_make(0);
  kvo_binding_observer observer = {.key_path = "value",
                                   .ops = &ops,
                                   .identity = {"Panel", object},
                                   .file = "Some/where.c",
                                   .line = 7,
                                   .note = "on queue com.example.model"};
  kvo_observation id;
  begin();
  CHECK_OK(kvo_binding_observe_key(as_object(object), kvo_key_hash("value", 5), &observer, &id));
  item_set_value(object, 5);
  CHECK_OK(kvo_cancel_observer(id));
  item_destroy(object);
  char *text = ended();
  CHECK_CONTAINS(text, "\"name\":\"observer where.c:7 (value) Panel\",\"cat\":\"delivery\"");
  CHECK_CONTAINS(text, "\"name\":\"ended where.c:7 (value) Panel\"");
  CHECK_CONTAINS(text, "\"observer\":\"Panel\",\"observerAddress\":\"0x");
  CHECK_CONTAINS(text, "\",\"note\":\"on queue com.example.model\",\"file\":\"Some/where.c\"");
  free(text);
}

__attribute__((noinline)) static void set_in_a_function(item *object, int to) {
  item_set_value(object, to);
  __asm__ volatile(""); /* no tail call: the frame is on the stack */
}

/* The text of the slices of that name, up to the end of the line. */
static size_t lines_with(const char *text, const char *name, const char *part, size_t *all) {
  size_t found = 0;
  *all = 0;
  for (const char *at = text; (at = strstr(at, name)) != NULL; at += strlen(name)) {
    const char *end = strchr(at, '\n'), *there = strstr(at, part);
    found += there != NULL && there < end;
    (*all)++;
  }
  return found;
}

TEST(
    "the outermost change of a thread names the calls that made it, and the file in which they are; the changes inside do not") {
  item *object = item_make(0);
  watcher w[2] = {{.then = set_other}, {0}};
  watch(object, "value", KVO_NONE, &w[0]);
  watch(object, "other", KVO_NONE, &w[1]);
  begin();
  set_in_a_function(object, 1);
  set_in_a_function(object, 2);
  char *text = ended();
  size_t all;
  CHECK_EQ(lines_with(text, "\"name\":\"set Item.value\"", "\"calls\":[\"", &all), 2);
  CHECK_EQ(all, 2);
  CHECK_EQ(lines_with(text, "\"name\":\"set Item.other\"", "\"calls\":", &all), 0);
  CHECK_EQ(all, 2);
#if defined(__x86_64__) || defined(__aarch64__) /* others have no frame pointers */
  CHECK_EQ(lines_with(text, "\"name\":\"set Item.value\"", "set_in_a_function  test_trace+0x", &all), 2);
  CHECK(lines_with(text, "\"kvo_module\"", "\"name\":\"test_trace\",\"path\":\"/", &all) > 0);
#endif
  free(text);
}

static kvo_action go_on(const kvo_fault *fault, void *arg) {
  (void)fault;
  return *(kvo_action *)arg;
}

TEST("a fault is an instant with its code and its first line, unless it is ignored") {
  kvo_action action = KVO_ACTION_LOG;
  harness_environment("KVO_REPORT_PATH", "/dev/null");
  kvo_set_fault_handler(go_on, &action);
  item *object = item_make(0);
  begin();
  CHECK(kvo_remove_observer_for(as_object(object), object, "value") != KVO_OK);
  action = KVO_ACTION_IGNORE;
  CHECK(kvo_remove_observer_for(as_object(object), object, "value") != KVO_OK);
  char *text = ended();
  size_t all;
  CHECK_EQ(
      lines_with(text, "\"name\":\"KVO0002 ", "\"cat\":\"fault\",\"s\":\"t\",\"args\":{\"object\":\"Item@0x", &all), 1);
  CHECK_EQ(all, 1);
  CHECK_EQ(lines_with(text, "\"name\":\"KVO0002 ", "\"summary\":\"KVO0002 ", &all), 1);
  check_order(text);
  free(text);
  kvo_set_fault_handler(NULL, NULL);
}

static void *rename_between(void *arg) {
  item *object = arg;
  item_set_value(object, 1);
  pthread_setname_np(pthread_self(), "worker");
  item_set_value(object, 2);
  item_set_value(object, 3);
  return NULL;
}

TEST("a thread that gets a name while it is recorded has that name in the trace, once") {
  item *object = item_make(0);
  watcher w = {0};
  watch(object, "value", KVO_NONE, &w);
  begin();
  pthread_t thread;
  CHECK_EQ(pthread_create(&thread, NULL, rename_between, object), 0);
  pthread_join(thread, NULL);
  char *text = ended();
  size_t all;
  CHECK_EQ(lines_with(text, "\"thread_name\"", "\"args\":{\"name\":\"worker\"}", &all), 1);
  CHECK_EQ(all, 2);
  check_order(text);
  free(text);
}

TEST("a trace contains the new value if KVO_VALUES allows it") {
  harness_environment("KVO_VALUES", "1");
  item *object = item_make(0);
  watcher w = {0};
  begin();
  watch(object, "value", KVO_NEW, &w);
  item_set_value(object, 1234567);
  char *text = ended();
  CHECK_CONTAINS(text, "\"new\":\"1234567\"");
  free(text);
}

TEST("a string in a trace is quoted, and ends where it ends") {
  harness_environment("KVO_VALUES", "1");
  item *object = item_make(0);
  watcher w = {0};
  begin();
  watch(object, "name", KVO_NEW, &w);
  item_set_name(object, "Annabella Maria von Sonnenberg"); /* a buffer on the stack has this text before the next */
  item_set_name(object, "Ann");
  char *text = ended();
  CHECK_CONTAINS(text, "\"new\":\"\\u0022Ann\\u0022\"");
  free(text);
}

TEST("a notification before the change is marked, and an observer without source location has its id") {
  item *object = item_make(0);
  watcher w = {0};
  kvo_observer observer = watcher_observer("value", KVO_PRIOR, &w);
  observer.file = NULL;
  kvo_observation id;
  CHECK_OK(kvo_add_observer(as_object(object), &observer, &id));
  begin();
  item_set_value(object, 1);
  char *text = ended(), expected[300];
  unsigned long long number = id;
  snprintf(expected, sizeof expected, "(set Item.value(observer 0x%llx (value, before))(observer 0x%llx (value)))",
           number, number);
  check_shape(text, expected);
  free(text);
}

TEST("changes announced by hand that end in another order leave slices that nest") {
  item *object = item_make(0);
  watcher w = {0};
  watch(object, "value", KVO_NONE, &w);
  watch(object, "other", KVO_NONE, &w);
  begin();
  kvo_will_change(as_object(object), "value");
  kvo_will_change(as_object(object), "other");
  kvo_did_change(as_object(object), "value");
  kvo_did_change(as_object(object), "other");
  size_t indexes[] = {0};
  static const kvo_change_kind kinds[] = {KVO_CHANGE_INSERTION, KVO_CHANGE_REMOVAL, KVO_CHANGE_REPLACEMENT};
  for (size_t i = 0; i < 3; i++) {
    kvo_will_change_indexes(as_object(object), kinds[i], "value", indexes, 1);
    kvo_did_change_indexes(as_object(object), kinds[i], "value", indexes, 1);
  }
  char *text = ended(), expected[600];
  check_order(text);
  unsigned line = watcher_observer("", 0, &w).line;
  snprintf(expected, sizeof expected,
           "(set Item.value(set Item.other(observer fixture.c:%u (value))(observer fixture.c:%u (other))))"
           "(insert into Item.value(observer fixture.c:%u (value)))"
           "(remove from Item.value(observer fixture.c:%u (value)))"
           "(replace in Item.value(observer fixture.c:%u (value)))",
           line, line, line, line, line);
  check_shape(text, expected);
  free(text);
}

static void begin_there(watcher *self, const kvo_change *change) {
  (void)self;
  begin();
  KVO_SET(change->object, "other", int, 1);
}

TEST("a recording that begins in a callback contains what begins after it, and one that ends there is valid") {
  item *object = item_make(0);
  watcher w[3] = {{.then = begin_there}, {0}, {0}};
  watch(object, "value", KVO_NONE, &w[0]);
  watch(object, "other", KVO_NONE, &w[1]);
  item_set_value(object, 1);
  item_set_other(object, 2);
  kvo_will_change(as_object(object), "other"); /* left open */
  char *text = ended(), expected[300];
  kvo_did_change(as_object(object), "other");
  check_order(text);
  unsigned line = watcher_observer("", 0, &w[0]).line;
  snprintf(
      expected, sizeof expected,
      "(set Item.other(observer fixture.c:%u (other)))(set Item.other(observer fixture.c:%u (other)))(set Item.other)",
      line, line);
  check_shape(text, expected);
  free(text);
}

TEST("a second recording begins with an empty file and contains nothing of the first") {
  item *object = item_make(0);
  watcher w = {0};
  watch(object, "value", KVO_NONE, &w);
  begin();
  kvo_will_change(as_object(object), "value");
  CHECK_OK(kvo_trace_end());
  begin();
  kvo_did_change(as_object(object), "value");
  item_set_value(object, 1);
  char *text = ended(), expected[200];
  check_order(text);
  unsigned line = watcher_observer("", 0, &w).line;
  /* The change began earlier: only its delivery is recorded. */
  snprintf(expected, sizeof expected, "(observer fixture.c:%u (value))(set Item.value(observer fixture.c:%u (value)))",
           line, line);
  check_shape(text, expected);
  free(text);
}

TEST("names with characters special to JSON, and long names, are valid in a trace") {
  item *object = item_make(0);
  watcher w = {0};
  char key[1000];
  memset(key, '"', sizeof key);
  key[sizeof key - 1] = '\0';
  memcpy(key, "\n\\\xff", 3);
  begin();
  watch(object, key, KVO_NONE, &w);
  kvo_will_change(as_object(object), key);
  kvo_did_change(as_object(object), key);
  char *text = ended();
  CHECK_CONTAINS(text, "\\u000a\\u005c\\ufffd\\u0022");
  CHECK_CONTAINS(text, "\\u0022...");
  check_order(text);
  free(text);
}

/* ---------------------------------------------------------------------------------------------------------- Threads -- */

static void *set_often(void *arg) {
  item *object = arg;
  for (int i = 0; i < 2000; i++) item_set_value(object, i);
  return NULL;
}

TEST("each thread has slices of its own, also when there are more of them than the buffer holds") {
  enum { THREADS = 4 };
  item *objects[THREADS];
  watcher w[THREADS][2] = {{{0}}};
  pthread_t threads[THREADS];
  for (int i = 0; i < THREADS; i++) {
    objects[i] = item_make(0);
    w[i][0].then = set_other;
    watch(objects[i], "value", KVO_NEW, &w[i][0]);
    watch(objects[i], "other", KVO_NEW, &w[i][1]);
  }
  begin();
  for (int i = 0; i < THREADS; i++) pthread_create(&threads[i], NULL, set_often, objects[i]);
  for (int i = 0; i < THREADS; i++) pthread_join(threads[i], NULL);
  char *text = ended();
  check_order(text);
  int sets = 0;
  event each;
  for (const char *at = text; next_event(&at, &each);)
    sets += each.phase == 'B' && strcmp(each.name, "set Item.value") == 0;
  CHECK_EQ(sets, THREADS * 2000);
  free(text);
}

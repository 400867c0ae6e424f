/* trace_details.c - the details of a trace: times, threads, lines, the calls that made a change, faults, and what it leaves alone. */
#include "fixture.h"
#include "traced.h"

#include <errno.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

static size_t occurrences(const char *text, const char *part) {
  size_t count = 0;
  for (const char *at = text; (at = strstr(at, part)) != NULL; at += strlen(part)) count++;
  return count;
}

/* The first line of a trace with this part, up to its end. */
static const char *line_with(const char *text, const char *part) {
  static char line[4096];
  const char *at = strstr(text, part);
  CHECK(at != NULL);
  while (at > text && at[-1] != '\n') at--;
  snprintf(line, sizeof line, "%.*s", (int)strcspn(at, "\n"), at);
  return line;
}

static item *observed_item(watcher *by) {
  item *object = item_make(0);
  watch(object, "value", KVO_NONE, by);
  return object;
}

/* ------------------------------------------------------------------------------------------------- Times and numbers -- */

TEST("the times of a trace begin with 0, and the numbers of process and thread are those of the kernel") {
  watcher w = {0};
  item *object = observed_item(&w);
  begin();
  item_set_value(object, 1);
  char *text = ended(), expected[100];
  snprintf(expected, sizeof expected,
           "[\n{\"ph\":\"M\",\"pid\":%ld,\"tid\":%ld,\"ts\":0.000,\"name\":\"process_name\",", (long)getpid(),
           (long)getpid());
  CHECK_EQ(strncmp(text, expected, strlen(expected)), 0);
  event each;
  for (const char *at = text; next_event(&at, &each);) CHECK(each.time < 100e6);
  free(text);
}

TEST("lines are decimal, those of registrations and those of faults") {
  harness_environment("KVO_REPORT_PATH", "/dev/null");
  harness_environment("KVO_POLICY", "log");
  item *object = item_make(0);
  watcher w = {0};
  kvo_observer observer = watcher_observer("value", KVO_NONE, &w);
  observer.file = "Some/where.c";
  observer.line = 1234;
  char expected[200];
  begin();
  CHECK_OK(kvo_add_observer(as_object(object), &observer, &w.id));
  CHECK_OK(kvo_remove_observer_at(w.id, "Else/where.c", 4321));
  CHECK_STATUS(kvo_remove_observer_at(w.id, "Else/where.c", 5678), KVO_ERROR_NOT_REGISTERED);
  CHECK_STATUS(kvo_remove_observer_at(0, NULL, 0), KVO_ERROR_NOT_REGISTERED);
  char *text = ended();
  CHECK_CONTAINS(line_with(text, "\"registered where.c:1234 (value)\""), "\"file\":\"Some/where.c\",\"line\":1234}}");
  snprintf(expected, sizeof expected, "\",\"observation\":\"0x%llx\",\"file\":\"Else/where.c\",\"line\":5678}}",
           (unsigned long long)w.id);
  CHECK_CONTAINS(line_with(text, "\"KVO0003 fatal\""), expected);
  CHECK_CONTAINS(line_with(text, "\"KVO0008 fatal\""), "\"s\":\"t\",\"args\":{\"summary\":\"KVO0008 fatal: 0x0 ");
  free(text);
  item_destroy(object);
}

/* ------------------------------------------------------------------------------------------------------------ Threads -- */

static item *common[2];
static pthread_barrier_t has_begun, has_ended;

static void *leave_open(void *arg) {
  item *object = arg;
  kvo_will_change(as_object(object), "value");
  pthread_barrier_wait(&has_begun);
  pthread_barrier_wait(&has_ended);
  kvo_did_change(as_object(object), "value");
  return NULL;
}

TEST("the end of a trace ends the slices of all threads, also of those that go on") {
  watcher w[2] = {{0}};
  pthread_t threads[2];
  pthread_barrier_init(&has_begun, NULL, 3);
  pthread_barrier_init(&has_ended, NULL, 3);
  begin();
  for (int i = 0; i < 2; i++) {
    common[i] = observed_item(&w[i]);
    pthread_create(&threads[i], NULL, leave_open, common[i]);
  }
  pthread_barrier_wait(&has_begun);
  char *text = ended();
  pthread_barrier_wait(&has_ended);
  for (int i = 0; i < 2; i++) pthread_join(threads[i], NULL);
  check_order(text);
  CHECK_EQ(occurrences(text, "\"set Item.value\""), 2);
  free(text);
}

TEST("each recording has the names of its threads") {
  watcher w = {0};
  item *object = observed_item(&w);
  for (int i = 0; i < 2; i++) {
    begin();
    item_set_value(object, i);
    char *text = ended();
    CHECK_EQ(occurrences(text, "\"name\":\"thread_name\",\"args\":{\"name\":\"main\"}"), 1);
    free(text);
  }
}

TEST("a child that is forked in a change records what it does itself, and nothing of its parent") {
  watcher w = {0};
  item *object = observed_item(&w);
  begin();
  CHECK_OK(kvo_will_change(as_object(object), "value"));
  pid_t child = fork();
  if (child == 0) {
    item *own = observed_item(&w);
    begin(); /* another file: the path has the process id */
    item_set_value(own, 1);
    char *text = ended();
    check_order(text);
    event each;
    for (const char *at = text; next_event(&at, &each);) CHECK_EQ(each.thread, (long)getpid());
    CHECK_CONTAINS(text, "\"args\":{\"name\":\"main\"}");
    free(text);
    exit(0);
  }
  int status;
  CHECK_EQ(waitpid(child, &status, 0), child);
  CHECK_EQ(status, 0);
  CHECK_OK(kvo_did_change(as_object(object), "value"));
  char *text = ended();
  check_order(text);
  free(text);
}

TEST("slices nest as deep as changes do") {
  enum { DEPTH = 100 };
  static watcher w[DEPTH];
  item *objects[DEPTH];
  begin();
  for (int i = 0; i < DEPTH; i++) {
    objects[i] = observed_item(&w[i]);
    CHECK_OK(kvo_will_change(as_object(objects[i]), "value"));
  }
  for (int i = DEPTH - 1; i >= 0; i--) CHECK_OK(kvo_did_change(as_object(objects[i]), "value"));
  char *text = ended();
  check_order(text);
  CHECK_EQ(occurrences(text, "\"set Item.value\""), DEPTH);
  CHECK_EQ(occurrences(text, "{\"ph\":\"E\""), 2 * DEPTH);
  free(text);
}

/* -------------------------------------------------------------------------------------------------------------- Calls -- */

__attribute__((noinline)) static void set_it(item *object, int to) {
  item_set_value(object, to);
  __asm__ volatile(""); /* no tail call: the frame is on the stack */
}

__attribute__((noinline)) static void set_often(item *object, int count) {
  for (volatile int i = 0; i < count; i++) set_it(object, i);
  __asm__ volatile("");
}

/* The build-id of this program as reports tell it: in quotes; "" in quotes if it has none. */
static const char *own_build_id(void) {
  static char text[4096];
  void *call = (char *)(uintptr_t)set_often + 1;
  kvo_fault fault = {.code = KVO_FAULT_NEVER_NOTIFIES, .severity = KVO_SEVERITY_ERROR, .summary = "x"};
  fault.frames = &call;
  fault.frame_count = 1;
  kvo_fault_format(&fault, KVO_REPORT_JSON, text, sizeof text);
  char *id = strstr(text, "\"buildId\":"), *end = strstr(text, ",\"symbol\":");
  CHECK(id != NULL && end != NULL);
  *end = '\0';
  id += strlen("\"buildId\":");
  return strcmp(id, "null") == 0 ? "\"\"" : id;
}

TEST("the module of a call is told in each recording, with its build-id") {
  watcher w = {0};
  item *object = observed_item(&w);
  for (int i = 0; i < 2; i++) {
    begin();
    set_often(object, 3);
    char *text = ended();
#if defined(__x86_64__) || defined(__aarch64__) /* others have no frame pointers */
    char expected[200];
    snprintf(expected, sizeof expected, "\"buildId\":%s}", own_build_id());
    CHECK_CONTAINS(line_with(text, "\"name\":\"test_trace_details\",\"path\":\"/"), expected);
#else
    (void)own_build_id;
#endif
    free(text);
  }
}

static void *set_on_thread(void *arg) {
  volatile int one = 1; /* no copy of the function for a constant, which has another name */
  set_it(arg, one);
  __asm__ volatile("");
  return NULL;
}

TEST("the calls that made a change are not those of the C library that have started the thread") {
  watcher w = {0};
  item *object = observed_item(&w);
  pthread_t thread;
  begin();
  CHECK_EQ(pthread_create(&thread, NULL, set_on_thread, object), 0);
  pthread_join(thread, NULL);
  char *text = ended();
  const char *line = line_with(text, "\"set Item.value\"");
  CHECK_SAME(strstr(line, " libc.so"), NULL);
  CHECK_SAME(strstr(line, " ld-musl"), NULL);
#if defined(__x86_64__) || defined(__aarch64__)
  CHECK_CONTAINS(line, "\"set_it  test_trace_details+0x");
#endif
  free(text);
}

/* A function with this symbol; quoted for gcc, as in swift_names.c. */
#ifdef __clang__
#define SYMBOL(symbol) __asm__(symbol)
#else
#define SYMBOL(symbol) __asm__("\"" symbol "\"")
#endif
#define SETTER(name, symbol)                                                                                           \
  void name(item *object) SYMBOL(symbol);                                                                              \
  __attribute__((noinline)) void name(item *object) {                                                                  \
    item_set_value(object, __LINE__);                                                                                  \
    __asm__ volatile("" : : "i"(__LINE__)); /* unlike the others, which are then not merged */                         \
  }
SETTER(set_title, "App.title.setter")
SETTER(modify_title, "App.title.modify")
SETTER(did_set_title, "App.title.didset")

__attribute__((noinline)) static void edit_title(void (*set)(item *object), item *object) {
  set(object);
  __asm__ volatile("");
}

TEST("a change in a property's setter is that of the setter's caller") {
#if defined(__x86_64__) || defined(__aarch64__)
  void (*const setters[])(item *) = {set_title, modify_title, did_set_title};
  watcher w = {0};
  item *object = observed_item(&w);
  for (int i = 0; i < 3; i++) {
    begin();
    edit_title(setters[i], object);
    char *text = ended();
    const char *line = line_with(text, "\"set Item.value\"");
    CHECK_CONTAINS(line, "\"edit_title  test_trace_details+0x");
    CHECK_SAME(strstr(line, "App.title"), NULL);
    free(text);
  }
#else
  (void)set_title, (void)modify_title, (void)did_set_title, (void)edit_title;
#endif
}

/* ------------------------------------------------------------------------------------------------------- The program -- */

TEST("the program does not see errors of the trace's file") {
  watcher w = {0};
  item *object = observed_item(&w);
  begin();
  struct rlimit small = {20000, RLIM_INFINITY};
  CHECK_EQ(setrlimit(RLIMIT_FSIZE, &small), 0);
  errno = 7;
  for (int i = 0; i < 2000; i++) {
    item_set_value(object, i);
    CHECK_EQ(errno, 7);
  }
  CHECK_STATUS(kvo_trace_end(), KVO_ERROR_FILE);
  unlink(path);
}

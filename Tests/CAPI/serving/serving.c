/* serving.c - KVO_SOCKET: what a client of the socket is told about the running program. */
#include "asking.h"
#include "fixture.h"
#include "json.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static watcher quiet;

/* An object whose "value" is observed, in a program that serves. */
static item *served(watcher *by) {
  harness_environment("KVO_SOCKET", ASKING_SOCKET);
  item *object = item_make(0);
  watch(object, "value", KVO_NEW, by);
  return object;
}

/* Line `number` of an answer, from 0. Free it. */
static char *line_of(const char *answer, int number) {
  for (; number > 0; number--) {
    answer = strchr(answer, '\n');
    CHECK(answer != NULL);
    answer++;
  }
  return strndup(answer, strcspn(answer, "\n"));
}

static void check_lines(const char *answer) {
  while (*answer != '\0') {
    char *line = line_of(answer, 0);
    if (!json_is_valid(line)) harness_fail(__FILE__, __LINE__, "not JSON: %s", line);
    answer += strlen(line) + 1;
    free(line);
  }
}

TEST("the first line of an answer names the protocol, the library, the process and the program") {
  served(&quiet);
  char *answer = ask_well("hello"), expected[200];
  snprintf(expected, sizeof expected,
           "{\"protocol\":1,\"library\":\"%d.%d.%d\",\"pid\":%ld,\"program\":\"test_serving\"}\n", KVO_VERSION_MAJOR,
           KVO_VERSION_MINOR, KVO_VERSION_PATCH, (long)getpid());
  CHECK_EQ(strncmp(answer, expected, strlen(expected)), 0);
  check_lines(answer);
  free(answer);
}

/* ---------------------------------------------------------------------------------------------------------- Figures -- */

TEST("figures tell how many objects, keys and observations there are, and each key path of a class") {
  item *object = served(&quiet), *other = item_make(0);
  watcher w[3] = {{0}};
  watch(other, "value", KVO_NEW, &w[0]);
  watch(other, "name", KVO_NEW, &w[1]);
  watch(object, "next.value", KVO_NEW, &w[2]);
  char *answer = ask_well("stats");
  check_lines(answer);
  CHECK_CONTAINS(answer, ",\"objects\":2,\"keys\":3,\"observations\":4,");
  CHECK_CONTAINS(answer, "{\"class\":\"Item\",\"keyPath\":\"name\",\"objects\":1,\"observations\":1}");
  CHECK_CONTAINS(answer, "{\"class\":\"Item\",\"keyPath\":\"next.value\",\"objects\":1,\"observations\":1}");
  CHECK_CONTAINS(answer, "{\"class\":\"Item\",\"keyPath\":\"value\",\"objects\":2,\"observations\":2}");
  free(answer);
}

TEST("while a client asks, changes are counted by key, and notifications by place, with their time") {
  watcher w = {0}, other = {0};
  item *object = served(&w);
  watch(object, "value", KVO_NEW, &other); /* at the same place */
  int fd = asking_connect(getpid());
  asking_send(fd, "stats 10 0\n");
  CHECK(asking_line(fd) != NULL);
  CHECK_CONTAINS(asking_line(fd), "\"changes\":[],\"notifications\":[],");
  for (int i = 1; i <= 1000; i++) item_set_value(object, i);
  const char *line;
  do line = asking_line(fd);
  while (number_after(line, "\"notifications\":[", "\"count\":") < 2000);
  CHECK_CONTAINS(line, "\"changes\":[{\"class\":\"Item\",\"key\":\"value\",\"count\":1000}]");
  char place[300];
  kvo_observer at = watcher_observer("", 0, &w);
  snprintf(place, sizeof place, "\"registeredAt\":{\"file\":\"%s\",\"line\":%u}", at.file, (unsigned)at.line);
  CHECK_CONTAINS(line, "\"notifications\":[{\"class\":\"Item\",\"keyPath\":\"value\",\"count\":2000,\"nanoseconds\":");
  CHECK_CONTAINS(line, place);
  long long all = number_after(line, "\"notifications\":[", "\"nanoseconds\":"),
            longest = number_after(line, "\"notifications\":[", "\"longest\":");
  CHECK(longest > 0 && all >= longest && all < 2000 * (longest + 1));
  close(fd);
}

TEST("counting begins anew after the last client has gone") {
  watcher w = {0};
  item *object = served(&w);
  int fd = asking_connect(getpid());
  asking_send(fd, "stats 10 0\n");
  CHECK(asking_line(fd) != NULL && asking_line(fd) != NULL);
  item_set_value(object, 1);
  while (number_after(asking_line(fd), "\"notifications\":[", "\"count\":") != 1) continue;
  char *second = ask_well("stats");
  CHECK_EQ(number_after(second, "\"notifications\":[", "\"count\":"), 1); /* while the first one is there, it goes on */
  free(second);
  close(fd);
  for (;;) { /* until the server has noticed */
    second = ask_well("stats");
    bool is_anew = strstr(second, "\"changes\":[],\"notifications\":[]") != NULL;
    free(second);
    if (is_anew) break;
  }
}

TEST("figures tell how many faults of each severity there were") {
  served(&quiet);
  ignore_faults();
  kvo_remove_observer(0x7fffffff00000000u);
  char *answer = ask_well("stats");
  CHECK_CONTAINS(answer, "\"faults\":{\"fatal\":");
  CHECK_EQ(number_after(answer, "\"faults\"", "\"fatal\":") + number_after(answer, "\"faults\"", "\"error\":"),
           faults.count);
  CHECK(faults.count > 0);
  free(answer);
}

TEST("what has more places than the server counts one by one is counted together") {
  item *object = served(&quiet);
  enum { PLACES = 4200 };
  static watcher w[PLACES];
  for (int i = 0; i < PLACES; i++) {
    kvo_observer at = watcher_observer("other", KVO_NEW, &w[i]);
    at.line = (uint32_t)i + 1;
    CHECK_OK(kvo_add_observer(as_object(object), &at, &w[i].id));
  }
  int fd = asking_connect(getpid());
  asking_send(fd, "stats 3600000 2\n");
  CHECK(asking_line(fd) != NULL && asking_line(fd) != NULL);
  item_set_other(object, 1);
  char *answer = ask_well("stats");
  long long counted = 0;
  for (const char *at = strstr(answer, "\"notifications\":["); (at = strstr(at, "\"keyPath\":\"other\"")) != NULL; at++)
    counted += number_after(at, "", "\"count\":");
  CHECK_EQ(counted, 4096 - 1); /* one row is that of the change */
  CHECK_EQ(number_after(answer, "", "\"otherNotifications\":"), PLACES - 4095);
  free(answer);
  close(fd);
}

/* ------------------------------------------------------------------------------------------------------------ Graph -- */

TEST("the graph is the one that the program itself would write, in each form") {
  item *object = served(&quiet), *next = item_make(0);
  watcher w = {0};
  item_set_next(object, next);
  watch(object, "next.value", KVO_NEW, &w);
  static const char *const requests[] = {"graph", "graph dot", "graph mermaid"};
  for (int form = KVO_GRAPH_JSON; form <= KVO_GRAPH_MERMAID; form++) {
    kvo_graph *graph;
    static char text[8192];
    CHECK_OK(kvo_snapshot(&graph));
    size_t size = kvo_graph_format(graph, (kvo_graph_form)form, text, sizeof text);
    kvo_graph_free(graph);
    char *answer = ask_well(requests[form]);
    CHECK_EQ(number_after(answer, "{\"content\":", "\"bytes\":"), size);
    char *content = strchr(strchr(answer, '\n') + 1, '\n') + 1;
    CHECK_EQ(strncmp(content, text, size), 0);
    CHECK_EQ(content + size, "{\"done\":true}\n");
    free(answer);
  }
}

/* ------------------------------------------------------------------------------------------------------------ Trace -- */

/* The content of a trace in an answer. Free it. */
static char *trace_of(const char *answer) {
  char *header = line_of(answer, 2);
  CHECK_CONTAINS(header, "{\"content\":\"trace\",\"bytes\":");
  const char *content = strstr(answer, header) + strlen(header) + 1;
  char *trace = strndup(content, (size_t)number_after(header, "", "\"bytes\":"));
  CHECK_EQ(content + strlen(trace), "{\"done\":true}\n");
  free(header);
  if (!json_is_valid(trace)) harness_fail(__FILE__, __LINE__, "not JSON: %s", trace);
  return trace;
}

/* Waits for the beginning of a trace, or for its end: until the program may not, or may, record one itself. */
static void wait_for_trace(bool begun) {
  for (;;) {
    kvo_status status = kvo_trace_begin("/dev/null");
    CHECK(status == KVO_ERROR_BUSY || status == KVO_ERROR_FILE);
    if ((status == KVO_ERROR_BUSY) == begun) return;
    usleep(500);
  }
}

TEST("a trace has what happened meanwhile, and ends after its time") {
  item *object = served(&quiet);
  int fd = asking_connect(getpid());
  asking_send(fd, "trace 200\n");
  wait_for_trace(true);
  for (int i = 1; i <= 10; i++) item_set_value(object, i);
  char *answer = asking_rest(fd);
  CHECK_CONTAINS(answer, "\"endedBy\":\"time\"}");
  CHECK(number_after(answer, "", "\"recorded\":") == 0);
  char *trace = trace_of(answer);
  int sets = 0;
  for (const char *at = trace; (at = strstr(at, "\"set Item.value\"")) != NULL; at++) sets++;
  CHECK_EQ(sets, 10);
  wait_for_trace(false);
  free(trace);
  free(answer);
}

TEST("a trace that the program records itself is not disturbed, and the client is told") {
  served(&quiet);
  char file[64];
  snprintf(file, sizeof file, "serving-%ld.json", (long)getpid());
  CHECK_OK(kvo_trace_begin(file));
  char *answer = ask("trace 10");
  CHECK_CONTAINS(answer, "{\"error\":\"a trace is being recorded already");
  CHECK_CONTAINS(answer, "\"code\":\"busy\"}");
  CHECK_STATUS(kvo_trace_begin(file), KVO_ERROR_BUSY);
  CHECK_OK(kvo_trace_end());
  unlink(file);
  free(answer);
}

TEST("a program that ends the client's trace and begins its own keeps its own") {
  served(&quiet);
  int fd = asking_connect(getpid());
  asking_send(fd, "trace 60000\n");
  wait_for_trace(true);
  CHECK_OK(kvo_trace_end());
  char file[64];
  snprintf(file, sizeof file, "serving-%ld.json", (long)getpid());
  CHECK_OK(kvo_trace_begin(file));
  char *answer = asking_rest(fd);
  CHECK_CONTAINS(answer, "\"endedBy\":\"program\"}");
  free(trace_of(answer));
  CHECK_STATUS(kvo_trace_begin(file), KVO_ERROR_BUSY);
  CHECK_OK(kvo_trace_end());
  unlink(file);
  free(answer);
}

TEST("a trace ends when its client goes") {
  served(&quiet);
  int fd = asking_connect(getpid());
  asking_send(fd, "trace 3600000\n");
  wait_for_trace(true);
  close(fd);
  wait_for_trace(false);
}

/* -------------------------------------------------------------------------------------------------------------- Who -- */

TEST("who observes a key: each observation with its place, options, observer, note and notifications") {
  watcher w = {0};
  item *object = served(&w);
  int fd = asking_connect(getpid());
  asking_send(fd, "who 1000 Item.value\n");
  CHECK(asking_line(fd) != NULL); /* counting has begun */
  for (int i = 1; i <= 7; i++) item_set_value(object, i);
  char *answer = asking_rest(fd), expected[600];
  check_lines(answer);
  const char *counted =
      "{\"class\":\"Item\",\"keyPath\":\"value\",\"objects\":1,\"observations\":1,\"through\":0,\"seconds\":";
  CHECK_CONTAINS(answer, counted);
  double seconds = strtod(strstr(answer, counted) + strlen(counted), NULL);
  CHECK(seconds >= 1 && seconds < 60);
  kvo_observer at = watcher_observer("", 0, &w);
  snprintf(
      expected, sizeof expected,
      "{\"id\":\"0x%llx\",\"object\":{\"class\":\"Item\",\"address\":\"0x%llx\"},\"keyPath\":\"value\",\"via\":null,"
      "\"options\":[\"new\"],\"endsWithObject\":false,\"observerClass\":null,\"observer\":\"0x%llx\",\"note\":null,"
      "\"registeredAt\":{\"file\":\"%s\",\"line\":%u},\"notifications\":7}\n",
      (unsigned long long)w.id, (unsigned long long)(uintptr_t)object, (unsigned long long)(uintptr_t)&w, at.file,
      (unsigned)at.line);
  CHECK_CONTAINS(answer, expected);
  free(answer);
}

TEST("who observes a key includes those that reach it through a key path, and names the object") {
  item *object = served(&quiet), *next = item_make(0);
  watcher w = {0};
  item_set_next(object, next);
  watch(object, "next.name", KVO_NEW, &w);
  char *answer = ask_well("who 0 Item.name"), expected[200];
  CHECK_CONTAINS(answer, "\"objects\":0,\"observations\":0,\"through\":1,");
  snprintf(expected, sizeof expected, "\"keyPath\":\"next.name\",\"via\":{\"class\":\"Item\",\"address\":\"0x%llx\"},",
           (unsigned long long)(uintptr_t)next);
  CHECK_CONTAINS(answer, expected);
  CHECK_CONTAINS(answer, "\"notifications\":null}"); /* they were not counted */
  free(answer);
  answer = ask_well("who 0 Item.next.name");
  CHECK_CONTAINS(answer, "\"observations\":1,\"through\":0,");
  free(answer);
  answer = ask_well("who 0 Item");
  CHECK_CONTAINS(answer, "\"keyPath\":null,\"objects\":1,\"observations\":2,\"through\":0,");
  free(answer);
}

TEST("a key that nobody observes has no observers, and one that does not exist is an error with the nearest name") {
  served(&quiet);
  char *answer = ask_well("who 0 Item.other");
  CHECK_CONTAINS(answer, "\"objects\":0,\"observations\":0,\"through\":0,");
  free(answer);
  answer = ask("who 0 Item.valeu");
  CHECK_CONTAINS(answer,
                 "Item has no key \\u0022valeu\\u0022; did you mean \\u0022value\\u0022?\",\"code\":\"unknownKey\"}");
  free(answer);
  answer = ask("who 0 Item.elephant");
  CHECK_CONTAINS(answer, "Item has no key \\u0022elephant\\u0022\",\"code\":\"unknownKey\"}");
  free(answer);
  answer = ask("who 0 Itme.value");
  CHECK_CONTAINS(answer, "no class \\u0022Itme\\u0022; did you mean \\u0022Item\\u0022?\",\"code\":\"unknownClass\"}");
  free(answer);
  answer = ask("who 0 Elephant.trunk");
  CHECK_CONTAINS(answer, "\"code\":\"unknownClass\"}");
  free(answer);
}

TEST("an observation that has ended is not counted any more, however many come and go") {
  item *object = served(&quiet);
  int fd = asking_connect(getpid());
  asking_send(fd, "who 3600000 Item.value\n");
  CHECK(asking_line(fd) != NULL);
  for (int i = 0; i < 70000; i++) { /* more than are counted at one time */
    watcher w = {0};
    watch(object, "other", KVO_NEW, &w);
    item_set_other(object, i);
    CHECK_OK(kvo_cancel_observer(w.id));
  }
  watcher last = {0};
  watch(object, "other", KVO_NEW, &last);
  int other = asking_connect(getpid());
  asking_send(other, "who 200 Item.other\n");
  CHECK(asking_line(other) != NULL);
  for (int i = 0; i < 5; i++) item_set_other(object, i);
  char *answer = asking_rest(other);
  CHECK_CONTAINS(answer, "\"notifications\":5}");
  free(answer);
  close(fd);
}

/* --------------------------------------------------------------------------------------------------------- Requests -- */

TEST("a request that is wrong is answered by an error that says what is right") {
  served(&quiet);
  static const char *const wrong[][2] = {
      {"", "there is no request"},           {"nonsense", "there are hello, stats, graph, trace and who"},
      {"hello you", "unexpected"},           {"stats often", "is not a number from 0 to 86400000"},
      {"stats -1", "is not a number"},       {"stats 1 99999999999999999999", "is not a number"},
      {"stats 1 1 1", "unexpected"},         {"graph png", "there are json, dot and mermaid"},
      {"graph dot twice", "unexpected"},     {"trace for ever", "is not a number"},
      {"who", "say how many milliseconds"},  {"who 10", "say how many milliseconds"},
      {"who Item.value", "is not a number"}, {"who 0 .", "no class"},
      {"who 0 ..value", "no class"},         {"\x01\xff\"\\", "there is no request"},
  };
  for (size_t i = 0; i < sizeof wrong / sizeof *wrong; i++) {
    char *answer = ask(wrong[i][0]);
    check_lines(answer);
    CHECK_CONTAINS(answer, "{\"error\":\"");
    CHECK_CONTAINS(answer, wrong[i][1]);
    free(answer);
  }
}

TEST("a request that is too long is refused, and one in pieces or without an end is answered") {
  served(&quiet);
  int fd = asking_connect(getpid());
  for (int i = 0; i < 2000; i++) asking_send(fd, "too long");
  char *answer = asking_rest(fd);
  CHECK_CONTAINS(answer, "a request is one line of at most 1023 bytes");
  free(answer);
  fd = asking_connect(getpid());
  asking_send(fd, "hel");
  usleep(20000);
  asking_send(fd, "lo\r\nand more");
  answer = asking_rest(fd);
  CHECK_CONTAINS(answer, "{\"done\":true}");
  free(answer);
}

/* serving_requests.c - KVO_SOCKET: the form of requests, how often figures come, answers of any size, and what the server costs. */
#include "asking.h"
#include "fixture.h"
#include "json.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/time.h>
#include <time.h>
#include <unistd.h>

static watcher quiet;

/* An object whose "value" is observed, in a program that serves. */
static item *served(void) {
  harness_environment("KVO_SOCKET", ASKING_SOCKET);
  item *object = item_make(0);
  watch(object, "value", KVO_NEW, &quiet);
  return object;
}

static size_t occurrences(const char *text, const char *part) {
  size_t count = 0;
  for (const char *at = text; (at = strstr(at, part)) != NULL; at += strlen(part)) count++;
  return count;
}

/* ---------------------------------------------------------------------------------------------------------- Requests -- */

TEST("a number has only digits, and is at most that of a day's milliseconds") {
  served();
  static const char *const wrong[] = {"stats +5", "stats 5x", "stats 5:", "stats /5", "stats 1 +5", "stats 86400001"};
  for (size_t i = 0; i < sizeof wrong / sizeof *wrong; i++) {
    char *answer = ask(wrong[i]);
    CHECK_CONTAINS(answer, "is not a number from 0 to 86400000\",\"code\":\"request\"}");
    free(answer);
  }
  static const char *const right[] = {"stats 90 1", "stats 86400000 1", "stats 0 2", "who 9 Item.value"};
  for (size_t i = 0; i < sizeof right / sizeof *right; i++) free(ask_well(right[i]));
}

/* The whole answer to a client that sends this and then no more. Free it. */
static char *answer_to(const char *text) {
  int fd = asking_connect(getpid());
  asking_send(fd, text);
  CHECK_EQ(shutdown(fd, SHUT_WR), 0);
  char *answer = asking_rest(fd);
  CHECK(answer != NULL);
  return answer;
}

TEST("the end of what a client sends ends its request, and a client that sends nothing gets no answer") {
  served();
  char *answer = answer_to("hello");
  CHECK_CONTAINS(answer, "{\"done\":true}\n");
  free(answer);
  answer = answer_to("x");
  CHECK_CONTAINS(answer, "there is no request \\u0022x\\u0022");
  free(answer);
  answer = answer_to("");
  CHECK_EQ(answer, "");
  free(answer);
}

TEST("a request may have 1023 bytes") {
  served();
  char request[1024];
  memset(request, 'x', 1023);
  request[1023] = '\0';
  char *answer = ask(request);
  CHECK_CONTAINS(answer, "there is no request \\u0022xxx");
  free(answer);
}

/* -------------------------------------------------------------------------------------------------------------- Times -- */

TEST("figures come as many times as was asked, once unless told") {
  served();
  static const struct {
    const char *request;
    size_t count;
  } rows[] = {{"stats", 1}, {"stats 10", 1}, {"stats 10 1", 1}, {"stats 10 2", 2}, {"stats 10 5", 5}};
  for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
    char *answer = ask_well(rows[i].request);
    CHECK_EQ(occurrences(answer, "{\"time\":"), rows[i].count);
    free(answer);
  }
}

TEST("the first figures come at once, and the next ones not before their time") {
  served();
  int fd = asking_connect(getpid());
  asking_send(fd, "stats 3600000 2\n");
  CHECK(asking_line(fd) != NULL && asking_line(fd) != NULL);
  struct timeval brief = {0, 200000};
  setsockopt(fd, SOL_SOCKET, SO_RCVTIMEO, &brief, sizeof brief);
  CHECK(asking_line(fd) == NULL);
  close(fd);
}

TEST("figures that are asked for every ten milliseconds do not come every second") {
  served();
  struct timespec begun, ended;
  clock_gettime(CLOCK_MONOTONIC, &begun);
  free(ask_well("stats 10 30"));
  clock_gettime(CLOCK_MONOTONIC, &ended);
  CHECK(ended.tv_sec - begun.tv_sec < 20);
}

/* The content of a trace in an answer, which must be JSON; and the seconds that were recorded. Free it. */
static char *trace_of(const char *answer, double *seconds) {
  const char *recorded = strstr(answer, "{\"recorded\":");
  const char *header = strstr(answer, "{\"content\":\"trace\",\"bytes\":");
  CHECK(recorded != NULL && header != NULL);
  *seconds = strtod(recorded + strlen("{\"recorded\":"), NULL);
  const char *content = strchr(header, '\n') + 1;
  char *trace = strndup(content, (size_t)number_after(header, "", "\"bytes\":"));
  CHECK_EQ(content + strlen(trace), "{\"done\":true}\n");
  CHECK(json_is_valid(trace));
  return trace;
}

TEST("a trace is told with the time that it took") {
  served();
  struct timespec begun, ended;
  double seconds;
  clock_gettime(CLOCK_MONOTONIC, &begun);
  char *answer = ask_well("trace 150");
  clock_gettime(CLOCK_MONOTONIC, &ended);
  free(trace_of(answer, &seconds));
  double passed = (double)(ended.tv_sec - begun.tv_sec) + (double)(ended.tv_nsec - begun.tv_nsec) / 1e9;
  CHECK(seconds >= 0.15 && seconds <= passed);
  free(answer);
}

/* -------------------------------------------------------------------------------------------------------------- Sizes -- */

TEST("a trace that is larger than what the server reads at a time is whole") {
  enum { SETS = 2000 };
  item *object = served();
  double seconds;
  int fd = asking_connect(getpid());
  asking_send(fd, "trace 3600000\n");
  while (kvo_trace_begin("/dev/null") != KVO_ERROR_BUSY) usleep(500); /* until it has begun */
  for (int i = 0; i < SETS; i++) item_set_value(object, i);
  CHECK_OK(kvo_trace_end());
  char *answer = asking_rest(fd), *trace = trace_of(answer, &seconds);
  CHECK_CONTAINS(answer, "\"endedBy\":\"program\"}");
  CHECK_EQ(occurrences(trace, "\"set Item.value\""), SETS);
  free(trace);
  free(answer);
}

/* Observes with a file name of this length. */
static void observe_with_name(item *object, size_t length, watcher *w) {
  char file[1001];
  memset(file, 'f', length);
  file[length] = '\0';
  kvo_observer observer = watcher_observer("other", KVO_NEW, w);
  observer.file = file;
  CHECK_OK(kvo_add_observer(as_object(object), &observer, &w->id));
}

static size_t write_graph(char *text, size_t size) {
  kvo_graph *graph;
  CHECK_OK(kvo_snapshot(&graph));
  size_t length = kvo_graph_format(graph, KVO_GRAPH_JSON, text, size);
  kvo_graph_free(graph);
  return length;
}

TEST("a graph is whole that has about the size of the server's buffer, 64 KB") {
  enum { BUFFER = 1 << 16 };
  static char text[2 * BUFFER];
  static watcher w, last;
  item *object = served();
  while (write_graph(NULL, 0) < BUFFER - 1200) observe_with_name(object, 100, &w);
  observe_with_name(object, 1, &last);
  size_t least = write_graph(NULL, 0) - 1;
  CHECK(least < BUFFER - 200);
  for (size_t size = BUFFER - 200; size < BUFFER + 20; size += 5) { /* or a byte more: ids grow */
    CHECK_OK(kvo_cancel_observer(last.id));
    observe_with_name(object, size - least, &last);
    size_t length = write_graph(text, sizeof text);
    char *answer = ask_well("graph");
    const char *content = strchr(strchr(answer, '\n') + 1, '\n') + 1;
    CHECK_EQ(number_after(answer, "{\"content\":", "\"bytes\":"), length);
    CHECK_EQ(strncmp(content, text, length), 0);
    CHECK_EQ(content + length, "{\"done\":true}\n");
    free(answer);
  }
}

/* -------------------------------------------------------------------------------------------------------------- Costs -- */

/* The processor time of this process, in seconds. */
static double used(void) {
  struct rusage usage;
  CHECK_EQ(getrusage(RUSAGE_SELF, &usage), 0);
  return (double)(usage.ru_utime.tv_sec + usage.ru_stime.tv_sec) +
         (double)(usage.ru_utime.tv_usec + usage.ru_stime.tv_usec) / 1e6;
}

static double used_in_a_second(void) {
  double before = used();
  sleep(1);
  return used() - before;
}

TEST("the server sleeps while its clients have nothing to receive, also when there are more than it serves") {
  enum { MOST = 17 };
  int clients[MOST];
  served();
  free(ask_well("hello"));
  CHECK(used_in_a_second() < 0.5);
  clients[0] = asking_connect(getpid());
  asking_send(clients[0], "stats 3600000 2\n");
  CHECK(asking_line(clients[0]) != NULL && asking_line(clients[0]) != NULL);
  clients[1] = asking_connect(getpid());
  asking_send(clients[1], "trace 3600000\n");
  while (kvo_trace_begin("/dev/null") != KVO_ERROR_BUSY) usleep(500); /* until it has begun */
  clients[2] = asking_connect(getpid());
  CHECK(used_in_a_second() < 0.5);
  for (int i = 3; i < MOST; i++) clients[i] = asking_connect(getpid());
  CHECK(used_in_a_second() < 0.5);
  for (int i = 0; i < MOST; i++) close(clients[i]);
}

/* serving.c - KVO_SOCKET: requests and their answers: figures, graphs, traces. Counts: serving_counts.c. */
#include "json.h"
#include "served.h"
#include "texts.h"
#include "traced.h"

#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/time.h>
#include <time.h>
#include <unistd.h>

static double seconds_of(clockid_t clock) {
  struct timespec time;
  clock_gettime(clock, &time);
  return (double)time.tv_sec + (double)time.tv_nsec / 1e9;
}

/* Whether nothing is received for a fifth of a second. */
static bool is_silent(int fd) {
  struct timeval brief = {0, 200000};
  setsockopt(fd, SOL_SOCKET, SO_RCVTIMEO, &brief, sizeof brief);
  return asking_line(fd) == NULL;
}

/* ---------------------------------------------------------------------------------------------------- Requests -- */

TEST("the first line of an answer names the protocol, the library, the process and the program") {
  served();
  int fd = asking_connect(getpid());
  asking_send(fd, "hello\n");
  CHECK_WHOLE(asking_rest(fd),
              "{\"protocol\":1,\"library\":\"%d.%d.%d\",\"pid\":%ld,\"program\":\"test_serving\"}\n{\"done\":true}\n",
              KVO_VERSION_MAJOR, KVO_VERSION_MINOR, KVO_VERSION_PATCH, (long)getpid());
}

TEST("a request that is wrong is answered by an error that says what is right") {
  static const char *const wrong[][2] = {
      {"", "there is no request \\u0022\\u0022; there are hello, stats, graph, trace and who"},
      {"\x01\xff\"\\",
       "there is no request \\u0022\\u005cx01\\u005cxff\\u0022\\u005c\\u0022; there are hello, stats, graph, "
       "trace and who"},
      {"hello you", "unexpected: \\u0022you\\u0022"},
      {"stats 1 1 1", "unexpected: \\u00221\\u0022"},
      {"stats often", "\\u0022often\\u0022 is not a number from 0 to 86400000"},
      {"stats -1", "\\u0022-1\\u0022 is not a number from 0 to 86400000"},
      {"stats 5:", "\\u00225:\\u0022 is not a number from 0 to 86400000"},
      {"stats /5", "\\u0022/5\\u0022 is not a number from 0 to 86400000"},
      {"stats 86400001", "\\u002286400001\\u0022 is not a number from 0 to 86400000"},
      {"stats 1 99999999999999999999", "\\u002299999999999999999999\\u0022 is not a number from 0 to 86400000"},
      {"trace for ever", "\\u0022for\\u0022 is not a number from 0 to 86400000"},
      {"graph png", "there is no graph as \\u0022png\\u0022; there are json, dot and mermaid"},
      {"graph dot twice", "unexpected: \\u0022twice\\u0022"},
      {"who", "say how many milliseconds to count, and whose observers: who 1000 Document.title"},
      {"who 10", "say how many milliseconds to count, and whose observers: who 1000 Document.title"},
      {"who Item.value", "\\u0022Item.value\\u0022 is not a number from 0 to 86400000"},
  };
  served();
  for (size_t i = 0; i < sizeof wrong / sizeof *wrong; i++)
    CHECK_WHOLE(error_of(wrong[i][0]), "{\"error\":\"%s\",\"code\":\"request\"}\n", wrong[i][1]);
}

/* Sends a text and then no more. */
static const char *answer_to_bytes(const char *text) {
  int fd = asking_connect(getpid());
  asking_send(fd, text);
  shutdown(fd, SHUT_WR);
  return asking_rest(fd);
}

TEST("a request is one line of at most 1023 bytes, in pieces or without an end") {
  static char longest[16001];
  served();
  CHECK_CONTAINS(answer_to_bytes("hello"), "{\"done\":true}\n");
  CHECK_CONTAINS(answer_to_bytes("hello\r\nand more"), "{\"done\":true}\n");
  CHECK_EQ(answer_to_bytes(""), "");
  memset(longest, 'x', sizeof longest);
  longest[16000] = '\0';
  CHECK_WHOLE(answer_to_bytes(longest),
              "{\"error\":\"a request is one line of at most ~ bytes\",\"code\":\"request\"}\n");
  longest[1023] = '\0';
  CHECK_CONTAINS(error_of(longest), "there is no request \\u0022xxx");
  int fd = asking_connect(getpid());
  asking_send(fd, "hel");
  usleep(20000);
  asking_send(fd, "lo\n");
  CHECK_CONTAINS(asking_rest(fd), "{\"done\":true}\n");
}

/* ------------------------------------------------------------------------------------------------------- Times -- */

TEST("figures come as many times as was asked, once by default: the first at once, the others after their time") {
  static const struct {
    const char *request;
    size_t count;
  } rows[] = {{"stats", 1}, {"stats 10", 1}, {"stats 0 2", 2}, {"stats 10 30", 30}};
  served();
  double begun = seconds_of(CLOCK_MONOTONIC);
  for (size_t i = 0; i < sizeof rows / sizeof *rows; i++)
    CHECK_EQ(occurrences(answer_to(rows[i].request), "{\"time\":"), rows[i].count);
  CHECK(seconds_of(CLOCK_MONOTONIC) - begun < 20); /* not one in each second */
  int fd = asking_begin("stats 86400000 2");
  CHECK(asking_line(fd) != NULL);
  CHECK(is_silent(fd));
  close(fd);
}

/* ------------------------------------------------------------------------------------------------------- Graph -- */

/* Observes with the name of a file of this length. */
static kvo_observation observe_in_file(item *object, const char *key, size_t length) {
  static watcher w;
  char file[1001] = "";
  kvo_observer observer = watcher_observer(key, KVO_NEW, &w);
  observer.file = memset(file, 'f', length);
  CHECK_OK(kvo_add_observer(as_object(object), &observer, &w.id));
  return w.id;
}

static void check_graph(const char *request, kvo_graph_form form) {
  const char *text = snapshot_text(form), *answer = answer_to(request);
  CHECK_EQ(number_after(answer, "{\"content\":", "\"bytes\":"), strlen(text));
  CHECK_EQ(strchr(answer, '\n') + 1, text);
}

TEST("the graph is the one that the program itself would write, in each form") {
  item *object = served(), *next = item_make(0);
  watcher w = {0};
  item_set_next(object, next);
  watch(object, "next.value", KVO_NEW, &w);
  check_graph("graph", KVO_GRAPH_JSON);
  check_graph("graph json", KVO_GRAPH_JSON);
  check_graph("graph dot", KVO_GRAPH_DOT);
  check_graph("graph mermaid", KVO_GRAPH_MERMAID);
}

TEST("answers of any length are whole, also when they grow, and about the size of the server's buffer, 64 KB") {
  enum { BUFFER = 1 << 16 };
  item *object = served();
  for (size_t length = 600; length < 780; length++) {
    kvo_observation id = observe_in_file(object, "name", length);
    const char *file = strstr(answer_to("who 0 Item.name"), "\"file\":\"");
    CHECK_EQ(strspn(file + strlen("\"file\":\""), "f"), length);
    CHECK_OK(kvo_cancel_observer(id));
  }
  while (strlen(snapshot_text(KVO_GRAPH_JSON)) < BUFFER - 800) observe_in_file(object, "other", 100);
  for (size_t length = 1; length < 820; length += 7) {
    kvo_observation id = observe_in_file(object, "other", length);
    check_graph("graph", KVO_GRAPH_JSON);
    CHECK_OK(kvo_cancel_observer(id));
  }
}

/* ------------------------------------------------------------------------------------------------------- Trace -- */

/* Checks the whole answer about a trace behind its first line, and returns the seconds that were recorded. */
static double check_trace_answer(const char *answer, const char *ended_by, size_t sets) {
  const char *content = strstr(answer, "\n[\n") + 1;
  size_t length = (size_t)number_after(answer, "", "\"bytes\":");
  char *head = strndup(answer, (size_t)(content - answer)), *trace = strndup(content, length);
  CHECK_WHOLE(head, "{\"recorded\":~,\"endedBy\":\"%s\"}\n{\"content\":\"trace\",\"bytes\":~}\n", ended_by);
  CHECK(json_is_valid(trace));
  CHECK_EQ(occurrences(trace, "\"set Item.value\""), sets);
  CHECK_EQ(content + length, "{\"done\":true}\n");
  free(head);
  free(trace);
  return strtod(answer + strlen("{\"recorded\":"), NULL);
}

TEST("a trace has what happened meanwhile, ends after its time, and says how much that was") {
  item *object = served();
  double begun = seconds_of(CLOCK_MONOTONIC);
  int fd = asking_begin("trace 200");
  for (int i = 1; i <= 10; i++) item_set_value(object, i);
  double recorded = check_trace_answer(asking_rest(fd), "time", 10);
  CHECK(recorded >= 0.2 && recorded <= seconds_of(CLOCK_MONOTONIC) - begun);
  wait_for_trace(false);
}

TEST("a program that ends the client's trace and begins its own keeps its own; the client has all of its trace") {
  enum { SETS = 2000 }; /* more than the server reads at a time */
  item *object = served();
  int fd = asking_begin("trace 60000");
  for (int i = 0; i < SETS; i++) item_set_value(object, i);
  CHECK_OK(kvo_trace_end());
  begin();
  check_trace_answer(asking_rest(fd), "program", SETS);
  CHECK_STATUS(kvo_trace_begin(trace_path()), KVO_ERROR_BUSY);
  CHECK_CONTAINS(error_of("trace 10"), "\"a trace is being recorded already, by the program or for another client\"");
  ended();
}

TEST("a trace ends when its client closes the connection") {
  served();
  int fd = asking_begin("trace 3600000");
  close(fd);
  wait_for_trace(false);
}

/* ------------------------------------------------------------------------------------------------------- Costs -- */

static double used_in_a_second(void) {
  double before = seconds_of(CLOCK_PROCESS_CPUTIME_ID);
  sleep(1);
  return seconds_of(CLOCK_PROCESS_CPUTIME_ID) - before;
}

TEST("the server sleeps while its clients have nothing to receive, also when there are more than it serves") {
  enum { MOST = 17 };
  int clients[MOST];
  served();
  clients[0] = asking_begin("stats 3600000 2");
  clients[1] = asking_begin("trace 3600000");
  clients[2] = asking_connect(getpid());
  CHECK(used_in_a_second() < 0.5);
  for (int i = 3; i < MOST; i++) clients[i] = asking_connect(getpid());
  CHECK(used_in_a_second() < 0.5);
  for (int i = 0; i < MOST; i++) close(clients[i]);
}

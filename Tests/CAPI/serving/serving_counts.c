/* serving_counts.c - KVO_SOCKET: what is counted for a client, by key, by place and by observation, and when it begins anew. */
#include "asking.h"
#include "fixture.h"
#include "json.h"

#include <kvo/kvo_binding.h>

#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

static watcher quiet;

/* An object whose "value" is observed, in a program that serves. */
static item *served(watcher *by) {
  harness_environment("KVO_SOCKET", ASKING_SOCKET);
  item *object = item_make(0);
  watch(object, "value", KVO_NEW, by);
  return object;
}

static size_t occurrences(const char *text, const char *part) {
  size_t count = 0;
  for (const char *at = text; (at = strstr(at, part)) != NULL; at += strlen(part)) count++;
  return count;
}

/* A client for which is counted until it closes. */
static int begin_counting(const char *request) {
  int fd = asking_connect(getpid());
  asking_send(fd, request);
  CHECK(asking_line(fd) != NULL); /* counting has begun */
  return fd;
}

/* Waits until the server has noticed that the last client for which it counts has gone. The answer has new counts. Free it. */
static char *anew(void) {
  for (;;) {
    char *answer = ask_well("stats");
    if (strstr(answer, "\"changes\":[],\"notifications\":[]") != NULL) return answer;
    free(answer);
  }
}

/* ---------------------------------------------------------------------------------------------------------- Figures -- */

TEST("figures of one key are those of its observations, down to none") {
  watcher w[2] = {{0}};
  item *object = served(&w[0]);
  watch(object, "value", KVO_NEW, &w[1]);
  char *answer = ask_well("stats");
  CHECK_CONTAINS(answer, ",\"objects\":1,\"keys\":1,\"observations\":2,");
  CHECK_CONTAINS(answer, "\"observed\":[{\"class\":\"Item\",\"keyPath\":\"value\",\"objects\":1,\"observations\":2}],");
  free(answer);
  kvo_cancel_observer(w[1].id);
  answer = ask_well("stats");
  CHECK_CONTAINS(answer, ",\"objects\":1,\"keys\":1,\"observations\":1,");
  free(answer);
  kvo_cancel_observer(w[0].id);
  answer = ask_well("stats");
  CHECK_CONTAINS(answer, ",\"objects\":0,\"keys\":0,\"observations\":0,");
  CHECK_CONTAINS(answer, "\"observed\":[],");
  free(answer);
  item_destroy(object);
}

TEST("the numbers of faults are decimal, one for each severity") {
  served(&quiet);
  ignore_faults();
  for (int i = 0; i < 12; i++) kvo_remove_observer(0x7fffffff00000000u);
  char *answer = ask_well("stats");
  CHECK_CONTAINS(answer, "\"faults\":{\"fatal\":12,\"error\":0,\"warning\":0,\"info\":0}");
  free(answer);
}

static long long now(void) {
  struct timespec time;
  clock_gettime(CLOCK_MONOTONIC, &time);
  return time.tv_sec * 1000000000ll + time.tv_nsec;
}

TEST("figures have the time of the monotonic clock in nanoseconds") {
  served(&quiet);
  long long before = now();
  char *answer = ask_well("stats");
  long long told = number_after(answer, "", "{\"time\":");
  CHECK(told >= before && told <= now());
  free(answer);
}

static void ignore_raw(const kvo_raw_change *change, void *user_data) { (void)change, (void)user_data; }

TEST("figures of several keys and places are JSON, with the class of an observer that has one") {
  static const kvo_observer_ops ops = {.callback = ignore_raw};
  watcher w[2] = {{0}};
  item *object = served(&w[0]);
  watch(object, "other", KVO_NEW, &w[1]);
  kvo_binding_observer observer = {.key_path = "other", .ops = &ops, .identity = {"Panel", object}};
  kvo_observation id;
  CHECK_OK(kvo_binding_observe_key(as_object(object), kvo_key_hash("other", 5), &observer, &id));
  int fd = begin_counting("stats 10 0\n");
  item_set_value(object, 1);
  item_set_other(object, 1);
  const char *line;
  do line = asking_line(fd);
  while (occurrences(line, "\"observerClass\":") < 3);
  CHECK(json_is_valid(line));
  CHECK_CONTAINS(line, "{\"class\":\"Item\",\"key\":\"value\",\"count\":1}");
  CHECK_CONTAINS(line, "{\"class\":\"Item\",\"key\":\"other\",\"count\":1}");
  CHECK_CONTAINS(line, "\"observerClass\":\"Panel\",\"registeredAt\":null}");
  CHECK_EQ(occurrences(line, "\"observerClass\":null"), 2);
  close(fd);
}

/* ------------------------------------------------------------------------------------------------- Beginning and end -- */

TEST("after a client for which nothing is counted, counting begins for one that wants it") {
  watcher w = {0};
  item *object = served(&w);
  free(ask_well("hello"));
  int fd = begin_counting("stats 10 0\n");
  item_set_value(object, 1);
  while (number_after(asking_line(fd), "\"notifications\":[", "\"count\":") != 1) continue;
  close(fd);
}

static void rest_at_first(watcher *self, const kvo_change *change) {
  (void)change;
  if (self->calls == 1) usleep(300000);
}

TEST("the times of notifications begin anew, too") {
  watcher w = {.then = rest_at_first};
  item *object = served(&w);
  int fd = begin_counting("stats 10 0\n");
  item_set_value(object, 1);
  const char *line;
  do line = asking_line(fd);
  while (number_after(line, "\"notifications\":[", "\"longest\":") < 300000000);
  close(fd);
  free(anew());
  fd = begin_counting("stats 10 0\n");
  item_set_value(object, 2);
  do line = asking_line(fd);
  while (number_after(line, "\"notifications\":[", "\"count\":") != 1);
  CHECK(number_after(line, "\"notifications\":[", "\"longest\":") < 300000000);
  CHECK(number_after(line, "\"notifications\":[", "\"nanoseconds\":") < 300000000);
  close(fd);
}

TEST("what has no place of its own is counted together, and begins anew, too") {
  enum { PLACES = 4200 };
  static watcher w[PLACES];
  item *object = served(&quiet);
  for (int i = 0; i < PLACES; i++) {
    kvo_observer at = watcher_observer("other", KVO_NEW, &w[i]);
    at.line = (uint32_t)i + 1;
    CHECK_OK(kvo_add_observer(as_object(object), &at, &w[i].id));
  }
  int fd = begin_counting("stats 3600000 2\n");
  item_set_other(object, 1); /* uses up the places */
  item_set_value(object, 1);
  item_set_value(object, 2);
  char *answer = ask_well("stats");
  CHECK_EQ(number_after(answer, "", "\"otherChanges\":"), 2);
  CHECK_EQ(number_after(answer, "", "\"otherNotifications\":"), PLACES - 4095 + 2);
  free(answer);
  close(fd);
  answer = anew();
  CHECK_EQ(number_after(answer, "", "\"otherChanges\":"), 0);
  CHECK_EQ(number_after(answer, "", "\"otherNotifications\":"), 0);
  free(answer);
}

/* ----------------------------------------------------------------------------------------------------- Observations -- */

TEST("each of many observations has its own count, also after others have ended") {
  enum { MANY = 2000 };
  static watcher w[MANY];
  item *object = served(&quiet);
  int fd = begin_counting("who 3600000 Item.value\n");
  for (int i = 0; i < MANY; i++) watch(object, "other", KVO_NEW, &w[i]);
  item_set_other(object, 1);
  for (int i = 0; i < MANY; i += 2) kvo_cancel_observer(w[i].id);
  item_set_other(object, 2);
  for (int i = 0; i < MANY; i += 2) watch(object, "other", KVO_NEW, &w[i]);
  item_set_other(object, 3);
  char *answer = ask_well("who 10 Item.other");
  CHECK_EQ(occurrences(answer, "\"notifications\":3}"), MANY / 2);
  CHECK_EQ(occurrences(answer, "\"notifications\":1}"), MANY / 2);
  free(answer);
  close(fd);
}

TEST("of more observations than are counted at one time, the others have no count") {
  enum { COUNTED = 65536, MANY = 100000 };
  if (harness_is_instrumented()) return;
  item *object = served(&quiet);
  int fd = begin_counting("who 3600000 Item.value\n");
  for (int i = 0; i < MANY; i++) watch(object, "other", KVO_NEW, &quiet);
  item_set_other(object, 1);
  char *answer = ask_well("who 10 Item.other");
  CHECK_EQ(occurrences(answer, "\"notifications\":1}"), COUNTED);
  CHECK_EQ(occurrences(answer, "\"notifications\":null}"), MANY - COUNTED);
  free(answer);
  close(fd);
}

TEST("who observes a key is told with counts that begin anew after the last client has gone") {
  watcher w = {0};
  item *object = served(&w);
  int fd = begin_counting("who 3600000 Item.value\n");
  for (int i = 0; i < 5; i++) item_set_value(object, i);
  char *answer = ask_well("who 10 Item.value");
  CHECK_CONTAINS(answer, "\"notifications\":5}");
  free(answer);
  close(fd);
  for (bool is_anew = false; !is_anew; free(answer)) { /* until the server has noticed */
    answer = ask_well("who 10 Item.value");
    is_anew = strstr(answer, "\"notifications\":0}") != NULL;
  }
  fd = begin_counting("who 3600000 Item.value\n");
  item_set_value(object, 7);
  answer = ask_well("who 10 Item.value");
  CHECK_CONTAINS(answer, "\"notifications\":1}");
  free(answer);
  close(fd);
}

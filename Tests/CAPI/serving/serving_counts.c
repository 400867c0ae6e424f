/* serving_counts.c - KVO_SOCKET: figures, and what is counted for clients, by key, by place and by observation. */
#include "served.h"
#include "texts.h"

#include <kvo/kvo_binding.h>

#include <stdio.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

/* ----------------------------------------------------------------------------------------------------- Figures -- */

TEST("figures have the numbers of objects, keys, observations and faults, and each key path of a class") {
  served();
  item *other = item_make(0);
  watcher w[3] = {{0}};
  struct timespec now;
  watch(other, "value", KVO_NEW, &w[0]);
  watch(other, "name", KVO_NEW, &w[1]);
  watch(other, "next.value", KVO_NEW, &w[2]);
  ignore_faults();
  for (int i = 0; i < 12; i++) kvo_remove_observer(0x7fffffff00000000u);
  clock_gettime(CLOCK_MONOTONIC, &now);
  const char *answer = answer_to("stats");
  long long seconds = number_after(answer, "", "{\"time\":") / 1000000000 - now.tv_sec; /* of the same clock */
  CHECK(seconds >= 0 && seconds < 60);
  CHECK_WHOLE(answer, "{\"time\":~,\"objects\":2,\"keys\":3,\"observations\":4,"
                      "\"faults\":{\"fatal\":12,\"error\":0,\"warning\":0,\"info\":0},\"observed\":["
                      "{\"class\":\"Item\",\"keyPath\":\"name\",\"objects\":1,\"observations\":1},"
                      "{\"class\":\"Item\",\"keyPath\":\"next.value\",\"objects\":1,\"observations\":1},"
                      "{\"class\":\"Item\",\"keyPath\":\"value\",\"objects\":2,\"observations\":2}],"
                      "\"changes\":[],\"notifications\":[],\"otherChanges\":0,\"otherNotifications\":0}\n");
  kvo_cancel_observer(quiet.id);
  for (int i = 0; i < 3; i++) kvo_cancel_observer(w[i].id);
  CHECK_CONTAINS(answer_to("stats"), "\"objects\":0,\"keys\":0,\"observations\":0,");
}

static void rest_at_first(watcher *self, const kvo_change *change) {
  if (self->calls == 1) usleep(300000);
}

/* Waits for figures with so many notifications of the first place. */
static const char *await_figures(int fd, int count) {
  const char *line;
  do line = asking_line(fd);
  while (number_after(line, "\"notifications\":[", "\"count\":") != count);
  return line;
}

TEST("while a client asks, changes are counted by key, and notifications by place, with their time") {
  quiet.then = rest_at_first;
  item *object = served();
  watcher same_place = {0};
  kvo_observer at = watcher_observer("", 0, &quiet);
  watch(object, "value", KVO_NEW, &same_place);
  observe_named(as_object(object), "other", "Panel", object, (kvo_binding_observer){.options = KVO_NONE});
  int fd = asking_begin("stats 10 0");
  item_set_other(object, 1);
  for (int i = 1; i <= 1000; i++) item_set_value(object, i);
  const char *line;
  do line = asking_line(fd); /* the changes of a line may be read before its notifications */
  while (strstr(line, "\"count\":2000") == NULL || strstr(line, "\"count\":1000}") == NULL);
  char place[300];
  snprintf(place, sizeof place, ",\"observerClass\":null,\"registeredAt\":{\"file\":\"%s\",\"line\":%u}}", at.file,
           at.line);
  CHECK_EQ(occurrences(line, "\"count\":"), 4); /* in any order */
  CHECK_CONTAINS(line, "{\"class\":\"Item\",\"key\":\"value\",\"count\":1000}");
  CHECK_CONTAINS(line, "{\"class\":\"Item\",\"key\":\"other\",\"count\":1}");
  CHECK_CONTAINS(line, "{\"class\":\"Item\",\"keyPath\":\"value\",\"count\":2000,\"nanoseconds\":");
  CHECK_CONTAINS(line, (const char *)place);
  CHECK_CONTAINS(line, "{\"class\":\"Item\",\"keyPath\":\"other\",\"count\":1,\"nanoseconds\":");
  CHECK_CONTAINS(line, ",\"observerClass\":\"Panel\",\"registeredAt\":null}");
  long long all = number_after(line, "\"count\":2000", "\"nanoseconds\":"),
            longest = number_after(line, "\"count\":2000", "\"longest\":");
  CHECK(longest >= 300000000 && all >= longest && all < 2000 * longest);
  close(fd);
}

/* ------------------------------------------------------------------------------------------- Beginning and end -- */

TEST("counting begins with the first client that wants it, and anew after the last has closed its connection") {
  quiet.then = rest_at_first;
  item *object = served();
  answer_to("hello");
  int first = asking_begin("stats 10 0");
  item_set_value(object, 1);
  await_figures(first, 1);
  int second = asking_begin("who 3600000 Item.value");
  close(first);
  usleep(50000);
  CHECK_EQ(number_after(answer_to("stats"), "\"notifications\":[", "\"count\":"), 1);
  CHECK_CONTAINS(answer_to("who 10 Item.value"), "\"notifications\":1}");
  close(second);
  while (strstr(answer_to("stats"), "\"changes\":[],\"notifications\":[]") == NULL) continue; /* until it is noticed */
  int third = asking_begin("stats 10 0");
  item_set_value(object, 2);
  item_set_value(object, 3);
  const char *line = await_figures(third, 2);
  CHECK(number_after(line, "\"notifications\":[", "\"nanoseconds\":") < 300000000); /* the times begin anew, too */
  CHECK_CONTAINS(answer_to("who 10 Item.value"), "\"notifications\":2}");
  close(third);
}

TEST("beyond 4096 keys and places the rest is counted together") {
  enum { PLACES = 4200 };
  static watcher w[PLACES];
  item *object = served();
  for (int i = 0; i < PLACES; i++) {
    kvo_observer at = watcher_observer("other", KVO_NEW, &w[i]);
    at.line = (uint32_t)i + 1;
    CHECK_OK(kvo_add_observer(as_object(object), &at, &w[i].id));
  }
  int fd = asking_begin("stats 3600000 2");
  item_set_other(object, 1); /* uses up the rows: one of the change, the others of places */
  item_set_value(object, 1);
  item_set_value(object, 2);
  const char *answer = answer_to("stats");
  CHECK_EQ(occurrences(strstr(answer, "\"notifications\":["), "\"keyPath\":\"other\",\"count\":1,"), 4095);
  CHECK_EQ(number_after(answer, "", "\"otherChanges\":"), 2);
  CHECK_EQ(number_after(answer, "", "\"otherNotifications\":"), PLACES - 4095 + 2);
  close(fd);
  while (strstr(answer = answer_to("stats"), "\"changes\":[],\"notifications\":[]") == NULL) continue;
  CHECK_CONTAINS(answer, "\"otherChanges\":0,\"otherNotifications\":0}");
}

/* ------------------------------------------------------------------------------------------------ Observations -- */

TEST("each of many observations has its own count, also after others have ended") {
  enum { MANY = 2000 };
  static watcher w[MANY];
  item *object = served();
  int fd = asking_begin("who 3600000 Item.value");
  for (int i = 0; i < MANY; i++) watch(object, "other", KVO_NEW, &w[i]);
  item_set_other(object, 1);
  for (int i = 0; i < MANY; i += 2) kvo_cancel_observer(w[i].id);
  item_set_other(object, 2);
  for (int i = 0; i < MANY; i += 2) watch(object, "other", KVO_NEW, &w[i]);
  item_set_other(object, 3);
  const char *answer = answer_to("who 10 Item.other");
  CHECK_EQ(occurrences(answer, "\"notifications\":3}"), MANY / 2);
  CHECK_EQ(occurrences(answer, "\"notifications\":1}"), MANY / 2);
  close(fd);
}

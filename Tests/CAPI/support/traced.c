/* traced.c - see traced.h. The file of a trace has one event in each line. */
#include "traced.h"
#include "fixture.h"
#include "json.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

const char *trace_path(void) {
  static char path[64];
  snprintf(path, sizeof path, "trace-%ld.json", (long)getpid());
  return path;
}

void begin(void) { CHECK_OK(kvo_trace_begin(trace_path())); }

const char *content(void) {
  static char *text;
  FILE *file = fopen(trace_path(), "r");
  CHECK(file != NULL);
  CHECK_EQ(fseek(file, 0, SEEK_END), 0);
  size_t size = (size_t)ftell(file);
  rewind(file);
  text = realloc(text, size + 1);
  text[fread(text, 1, size, file)] = '\0';
  fclose(file);
  if (!json_is_valid(text)) harness_fail(__FILE__, __LINE__, "this is no JSON:\n%.800s", text);
  return text;
}

/* ------------------------------------------------------------------------------------------------------ Events -- */

typedef struct event {
  char phase;
  long thread;
  double time;
  char name[200];
} event;

/* Reads the next event and moves behind it; false if there is none left. */
static bool next_event(const char **at, event *out) {
  char line[600], fraction[8] = ""; /* a copy: sscanf is slow on the whole text */
  long process;
  do {
    size_t length = strcspn(*at, "\n");
    if (length == 0) return false;
    snprintf(line, sizeof line, "%.*s", (int)length, *at);
    *at += length + 1;
  } while (line[0] != '{');
  out->name[0] = '\0';
  CHECK(sscanf(line, "{\"ph\":\"%c\",\"pid\":%ld,\"tid\":%ld,\"ts\":%lf,\"name\":\"%199[^\"]", &out->phase, &process,
               &out->thread, &out->time, out->name) >= 4);
  CHECK_EQ(process, getpid());
  CHECK(sscanf(line, "%*[^.].%7[0-9]", fraction) == 1 && strlen(fraction) == 3); /* nanoseconds */
  return true;
}

/* On each thread ends follow beginnings, no slice is open at the end, and times do not decrease. */
static void check_order(const char *text) {
  enum { MOST = 64 };
  struct {
    long thread;
    int depth;
    double time;
  } threads[MOST] = {{0, 0, 0}};
  event each;
  for (const char *at = text; next_event(&at, &each);) {
    int i = 0;
    while (i < MOST - 1 && threads[i].thread != 0 && threads[i].thread != each.thread) i++;
    threads[i].thread = each.thread;
    if (each.phase == 'M') continue;
    CHECK(each.time >= threads[i].time);
    threads[i].time = each.time;
    threads[i].depth += (each.phase == 'B') - (each.phase == 'E');
    CHECK(threads[i].depth >= 0);
  }
  for (int i = 0; i < MOST; i++) CHECK_EQ(threads[i].depth, 0);
}

const char *ended(void) {
  CHECK_OK(kvo_trace_end());
  const char *text = content();
  unlink(trace_path());
  check_order(text);
  return text;
}

void check_trace(const char *expected) {
  char shape[4096] = "", full[4096], *to = shape;
  event each;
  for (const char *at = ended(); next_event(&at, &each);) {
    size_t left = (size_t)(shape + sizeof shape - to);
    if (each.phase == 'B') to += snprintf(to, left, "(%s", each.name);
    if (each.phase == 'E') to += snprintf(to, left, ")");
    if (each.phase == 'i') to += snprintf(to, left, "<%s>", each.name);
    CHECK(to < shape + sizeof shape);
  }
  to = full;
  for (const char *at = expected; *at != '\0'; at++)
    to += at[0] == '@' ? snprintf(to, 32, "fixture.c:%u", watcher_observer("", 0, &(watcher){0}).line)
                       : snprintf(to, 2, "%c", *at);
  CHECK_EQ((const char *)shape, (const char *)full);
}

const char *line_with(const char *text, const char *part) {
  static char line[4096];
  const char *at = strstr(text, part);
  if (at == NULL) harness_fail(__FILE__, __LINE__, "no line has %s", part);
  while (at > text && at[-1] != '\n') at--;
  snprintf(line, sizeof line, "%.*s", (int)strcspn(at, "\n"), at);
  return line;
}

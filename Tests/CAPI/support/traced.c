/* traced.c - the recording of a trace, and the reading of its file. */
#include "traced.h"
#include "harness.h"
#include "json.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

char path[64];

void begin(void) {
  snprintf(path, sizeof path, "trace-%ld.json", (long)getpid());
  CHECK_OK(kvo_trace_begin(path));
}

char *content(void) {
  FILE *file = fopen(path, "r");
  CHECK(file != NULL);
  CHECK_EQ(fseek(file, 0, SEEK_END), 0);
  size_t size = (size_t)ftell(file);
  rewind(file);
  char *text = malloc(size + 1);
  text[fread(text, 1, size, file)] = '\0';
  fclose(file);
  if (!json_is_valid(text)) harness_fail(__FILE__, __LINE__, "this is no JSON:\n%.800s", text);
  return text;
}

char *ended(void) {
  CHECK_OK(kvo_trace_end());
  char *text = content();
  unlink(path);
  return text;
}

bool next_event(const char **at, event *out) {
  char line[600] = ""; /* a copy: sscanf, or a sanitizer's strstr, is slow on the whole text */
  while (strncmp(line, "{\"ph\":\"", 7) != 0) {
    size_t length = 0;
    for (; **at != '\n' && **at != '\0'; (*at)++)
      if (length + 1 < sizeof line) line[length++] = **at;
    line[length] = '\0';
    if (**at == '\0') return false;
    (*at)++;
  }
  long process;
  memset(out, 0, sizeof *out);
  CHECK(sscanf(line, "{\"ph\":\"%c\",\"pid\":%ld,\"tid\":%ld,\"ts\":%lf,\"name\":\"%199[^\"]", &out->phase, &process,
               &out->thread, &out->time, out->name) >= 4);
  CHECK_EQ(process, getpid());
  return true;
}

void check_shape(const char *text, const char *expected) {
  char shape[4096] = "";
  event each;
  for (const char *at = text; next_event(&at, &each);) {
    const char *end = strchr(shape, '\0');
    size_t left = sizeof shape - (size_t)(end - shape);
    if (each.phase == 'B') snprintf(shape + (end - shape), left, "(%s", each.name);
    if (each.phase == 'E') snprintf(shape + (end - shape), left, ")");
    if (each.phase == 'i') snprintf(shape + (end - shape), left, "<%s>", each.name);
  }
  CHECK_EQ(shape, expected);
}

void check_order(const char *text) {
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

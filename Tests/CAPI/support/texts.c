/* texts.c - see texts.h. */
#include "texts.h"

#include "harness.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static size_t number_length(const char *at) {
  if (strncmp(at, "0x", 2) == 0) return 2 + strspn(at + 2, "0123456789abcdef");
  size_t whole = strspn(at, "0123456789");
  return whole > 0 && at[whole] == '.' ? whole + 1 + strspn(at + whole + 1, "0123456789") : whole;
}

void check_whole(const char *file, int line, const char *text, const char *format, ...) {
  static _Thread_local char expected[16384];
  va_list arguments;
  va_start(arguments, format);
  int length = vsnprintf(expected, sizeof expected, format, arguments);
  va_end(arguments);
  CHECK(length >= 0 && (size_t)length < sizeof expected);
  const char *actual = text, *next = expected;
  while (*next != '\0') {
    size_t shown = *next == '~' ? number_length(actual) : 0;
    if (shown == 0) shown = *next == *actual;
    if (shown == 0) break;
    actual += shown;
    next++;
  }
  if (*next != '\0' || *actual != '\0')
    harness_fail(file, line, "the text goes on with\n%.450s\nbut this was expected:\n%.450s", actual, next);
}

/* Not with strstr, because a sanitizer's searches the end of the text each time. */
size_t occurrences(const char *text, const char *part) {
  size_t count = 0, length = strlen(part);
  for (; *text != '\0'; text++) count += *text == *part && strncmp(text, part, length) == 0;
  return count;
}

const char *graph_text(const kvo_graph *graph, kvo_graph_form form) {
  static char *text;
  size_t length = kvo_graph_format(graph, form, NULL, 0);
  text = realloc(text, length + 1);
  CHECK(text != NULL);
  CHECK_EQ(kvo_graph_format(graph, form, text, length + 1), length);
  CHECK_EQ(strlen(text), length);
  return text;
}

const char *snapshot_text(kvo_graph_form form) {
  kvo_graph *graph = NULL;
  CHECK_OK(kvo_snapshot(&graph));
  const char *text = graph_text(graph, form);
  kvo_graph_free(graph);
  return text;
}

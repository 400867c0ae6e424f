/* normalise.c - removes the parts of a report that differ from run to run. */
#define _GNU_SOURCE
#include "include/CCrashScenarios.h"

#include <ctype.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static bool is_name(char byte) { return isalnum((unsigned char)byte) || byte == '_'; }

/* Returns the length of the number at `text`, including a fraction; 0 if there is none. */
static size_t number_length(const char *text) {
  size_t length = strspn(text, "0123456789");
  if (length > 0 && text[length] == '.') length += 1 + strspn(text + length + 1, "0123456789");
  return length;
}

/* Copies one line: addresses become ADDRESS, generations #N, thread numbers and depths N, times T; of a source location only the name
 * of the file remains. */
static void normalise_line(const char *line, size_t length, FILE *out) {
  const char *end = line + length;
  for (const char *at = line; at < end;) {
    bool begins = at == line || !is_name(at[-1]);
    size_t digits = begins ? number_length(at) : 0;
    if (begins && at[0] == '0' && at[1] == 'x' && isxdigit((unsigned char)at[2])) {
      fputs("ADDRESS", out);
      at += 2 + strspn(at + 2, "0123456789abcdef");
    } else if (at[0] == '#' && isdigit((unsigned char)at[1])) {
      fputs("#N", out);
      at += 1 + strspn(at + 1, "0123456789");
    } else if (begins && strncmp(at, "thread ", 7) == 0 && isdigit((unsigned char)at[7])) {
      fputs("thread N", out);
      at += 7 + strspn(at + 7, "0123456789");
    } else if (digits > 0 && (strncmp(at + digits, " deep", 5) == 0 || strncmp(at + digits, " more times", 11) == 0 ||
                              strncmp(at + digits, " outer deliver", 14) == 0)) {
      fputc('N', out); /* as deep as the stack allows */
      at += digits;
    } else if (at > line && at[-1] == ':' && digits > 0) {
      fputs("LINE", out);
      at += digits;
    } else if (digits > 0 && (strncmp(at + digits, " s", 2) == 0 || strncmp(at + digits, " ms", 3) == 0) &&
               !is_name(at[digits + (at[digits + 1] == 'm' ? 3 : 2)])) {
      fputs("T", out);
      at += digits;
    } else if (at[0] == '/' && begins) {
      /* A path: the folders before the file name depend on the build. */
      size_t path = strcspn(at, ": \n\"'");
      const char *name = at + path;
      while (name[-1] != '/') name--;
      fwrite(name, 1, (size_t)(at + path - name), out);
      at += path;
    } else {
      fputc(*at++, out);
    }
  }
  fputc('\n', out);
}

/* Returns whether the line belongs to a stack: "#0 ..." after spaces, or the number of further frames. */
static bool is_frame(const char *line) {
  line += strspn(line, " ");
  if (line[0] == '(' && strncmp(line + 1 + strspn(line + 1, "0123456789"), " more frames", 12) == 0) return true;
  return line[0] == '#' && isdigit((unsigned char)line[1]) && strchr("0123456789 ", line[2]) != NULL;
}

char *kvo_crash_normalise(const char *report) {
  char *text = NULL;
  size_t size = 0;
  FILE *out = open_memstream(&text, &size);
  if (out == NULL) abort();
  bool in_stack = false;
  while (*report != '\0') {
    size_t length = strcspn(report, "\n");
    if (strncmp(report, "  modules: ", 11) == 0)
      fputs("  modules: (those of the stacks)\n", out);
    else if (strncmp(report, "  process ", 10) == 0)
      fputs("  process (its id, program, time and version)\n", out);
    else if (!is_frame(report))
      normalise_line(report, length, out);
    else if (!in_stack)
      fputs("        (a stack)\n", out);
    in_stack = is_frame(report);
    report += length + (report[length] == '\n');
  }
  fclose(out);
  return text;
}

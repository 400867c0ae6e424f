/* report.c - a fault as text and as JSON, written piece by piece: no report is too long, and none needs memory. */
#define _GNU_SOURCE
#include "report.h"

#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <unistd.h>

/* -------------------------------------------------------------------------------------------------------------- Text -- */

void kvo__append(kvo_text *to, const char *format, ...) {
  for (;;) {
    va_list arguments;
    va_start(arguments, format);
    int needed = vsnprintf(to->bytes + to->length, to->capacity - to->length, format, arguments);
    va_end(arguments);
    if (needed < 0) return;
    if ((size_t)needed < to->capacity - to->length) {
      to->length += (size_t)needed;
      return;
    }
    size_t larger = 2 * (to->length + (size_t)needed + 1);
    char *grown = kvo__alloc(larger);
    if (grown == NULL) {
      to->length = to->capacity - 1;
      return;
    }
    memcpy(grown, to->bytes, to->length);
    if (to->on_heap) kvo__free(to->bytes);
    to->bytes = grown;
    to->capacity = larger;
    to->on_heap = true;
  }
}

void kvo__discard(kvo_text *of) {
  if (of->on_heap) kvo__free(of->bytes);
}

void kvo__write_all(int fd, const char *bytes, size_t length) {
  while (length > 0) {
    ssize_t written = write(fd, bytes, length);
    if (written < 0 && errno == EINTR) continue;
    if (written <= 0) return;
    bytes += written;
    length -= (size_t)written;
  }
}

/* -------------------------------------------------------------------------------------------------------------- Sink -- */

/* Takes a report: into memory, as far as it fits, or to a file descriptor, a block at a time. */
typedef struct sink {
  /** Of all that was put in. */
  size_t total;
  char *memory;
  size_t capacity;
  int fd;
  size_t buffered;
  char block[1024];
} sink;

static void flush(sink *to) {
  kvo__write_all(to->fd, to->block, to->buffered);
  to->buffered = 0;
}

static void put_byte(sink *to, char byte) {
  if (to->memory != NULL) {
    if (to->total + 1 < to->capacity) to->memory[to->total] = byte;
  } else if (to->fd >= 0) {
    to->block[to->buffered++] = byte;
    if (to->buffered == sizeof to->block) flush(to);
  }
  to->total++;
}

static void put(sink *to, const char *string) {
  while (*string != '\0') put_byte(to, *string++);
}

static void put_number(sink *to, unsigned long long number, unsigned base) {
  char digits[24];
  size_t count = 0;
  do digits[count++] = "0123456789abcdef"[number % base];
  while ((number /= base) != 0);
  while (count > 0) put_byte(to, digits[--count]);
}

static void put_address(sink *to, unsigned long long number) {
  put(to, "0x");
  put_number(to, number, 16);
}

static void put_code(sink *to, kvo_fault_code code) {
  put(to, "KVO");
  for (unsigned digit = 1000; digit > 0; digit /= 10) put_byte(to, "0123456789"[(unsigned)code / digit % 10]);
}

static const struct {
  kvo_options option;
  const char *name;
} option_names[] = {{KVO_NEW, "new"}, {KVO_OLD, "old"}, {KVO_INITIAL, "initial"}, {KVO_PRIOR, "prior"}};
enum { OPTION_COUNT = sizeof option_names / sizeof *option_names };

/* -------------------------------------------------------------------------------------------------------- As a text -- */

/* Names and paths are the program's: a control character in them must not look like the end of a line of ours. */
static void put_clean(sink *to, const char *string, size_t length) {
  for (size_t i = 0; i < length; i++) {
    unsigned char byte = (unsigned char)string[i];
    if (byte >= 0x20 && byte != 0x7f) {
      put_byte(to, string[i]);
    } else {
      put(to, "\\x");
      put_byte(to, "0123456789abcdef"[byte >> 4]);
      put_byte(to, "0123456789abcdef"[byte & 15]);
    }
  }
}

static void put_lines(sink *to, const char *label, const char *string, const char *indent) {
  put(to, label);
  for (const char *line = string;;) {
    size_t length = strcspn(line, "\n");
    put_clean(to, line, length);
    put_byte(to, '\n');
    line += length;
    if (*line++ == '\0') return;
    put(to, indent);
  }
}

static void put_site(sink *to, const char *file, size_t length, uint32_t line) {
  if (file == NULL) {
    put(to, "a place that was not told (KVO_HERE tells it)\n");
    return;
  }
  put_clean(to, file, length);
  put_byte(to, ':');
  put_number(to, line, 10);
  put_byte(to, '\n');
}

static void put_observation(sink *to, const kvo_fault_observation *each) {
  put(to, "    \"");
  put_clean(to, each->key_path, strlen(each->key_path));
  put(to, "\"  observer ");
  if (each->observer_class != NULL) {
    put_clean(to, each->observer_class, strlen(each->observer_class));
    put_byte(to, '@');
  }
  put_address(to, kvo__address(each->observer));
  put(to, "  options ");
  const char *separator = "";
  for (size_t i = 0; i < OPTION_COUNT; i++)
    if ((each->options & option_names[i].option) != 0) {
      put(to, separator);
      put(to, option_names[i].name);
      separator = "|";
    }
  put(to, *separator == '\0' ? "none  context " : "  context ");
  put_address(to, kvo__address(each->context));
  put(to, "  id ");
  put_address(to, each->observation);
  put(to, "\n        registered at ");
  put_site(to, each->file, each->file_length, each->line);
}

static void put_text(sink *to, const kvo_fault *fault) {
  put_lines(to, "", fault->summary, "  ");
  if (fault->apple != NULL) put_lines(to, "  Apple says: ", fault->apple, "    ");
  if (fault->observation_count > 0) put(to, "  observations:\n");
  for (size_t i = 0; i < fault->observation_count; i++) put_observation(to, &fault->observations[i]);
  if (fault->file != NULL) {
    put(to, "  fault at ");
    put_site(to, fault->file, fault->file_length, fault->line);
  }
  if (fault->help != NULL) put_lines(to, "  help: ", fault->help, "    ");
  put(to, "  more: break on kvo_fault_break; KVO_POLICY=log goes on after a fault, KVO_POLICY=");
  put_code(to, fault->code);
  put(to, ":log after this one only; KVO_HELP=1 lists what else there is\n");
}

/* ---------------------------------------------------------------------------------------------------------- As JSON -- */

/* How many bytes of a string are one character in UTF-8; 0 if they are none. */
static size_t character_length(const unsigned char *bytes, size_t left) {
  size_t length = bytes[0] < 0x80 ? 1 : bytes[0] < 0xc2 ? 0 : bytes[0] < 0xe0 ? 2 : bytes[0] < 0xf0 ? 3 : 4;
  if (length == 0 || bytes[0] > 0xf4 || length > left) return 0;
  for (size_t i = 1; i < length; i++)
    if ((bytes[i] & 0xc0) != 0x80) return 0;
  bool overlong = (bytes[0] == 0xe0 && bytes[1] < 0xa0) || (bytes[0] == 0xf0 && bytes[1] < 0x90);
  bool surrogate = bytes[0] == 0xed && bytes[1] > 0x9f, too_large = bytes[0] == 0xf4 && bytes[1] > 0x8f;
  return overlong || surrogate || too_large ? 0 : length;
}

static void put_json_bytes(sink *to, const char *string, size_t length) {
  const unsigned char *bytes = (const unsigned char *)string;
  put_byte(to, '"');
  for (size_t i = 0; i < length;) {
    size_t count = character_length(bytes + i, length - i);
    if (count == 0) {
      put(to, "\\ufffd"); /* what is no text may not be in JSON */
      i++;
    } else if (bytes[i] < 0x20 || bytes[i] == '"' || bytes[i] == '\\') {
      put(to, "\\u00");
      put_byte(to, "0123456789abcdef"[bytes[i] >> 4]);
      put_byte(to, "0123456789abcdef"[bytes[i] & 15]);
      i++;
    } else {
      while (count-- > 0) put_byte(to, string[i++]);
    }
  }
  put_byte(to, '"');
}

static void put_member(sink *to, const char *name) {
  put(to, ",\"");
  put(to, name);
  put(to, "\":");
}

static void put_json_string(sink *to, const char *name, const char *string) {
  put_member(to, name);
  if (string != NULL)
    put_json_bytes(to, string, strlen(string));
  else
    put(to, "null");
}

/* As a string: a number of 64 bits does not fit into what JavaScript calls a number. */
static void put_json_address(sink *to, const char *name, unsigned long long number) {
  put_member(to, name);
  put_byte(to, '"');
  put_address(to, number);
  put_byte(to, '"');
}

static void put_json_site(sink *to, const char *name, const char *file, size_t length, uint32_t line) {
  put_member(to, name);
  if (file == NULL) {
    put(to, "null");
    return;
  }
  put(to, "{\"file\":");
  put_json_bytes(to, file, length);
  put_member(to, "line");
  put_number(to, line, 10);
  put_byte(to, '}');
}

static void put_json_observation(sink *to, const kvo_fault_observation *each) {
  put(to, "{\"id\":\"");
  put_address(to, each->observation);
  put_byte(to, '"');
  put_json_string(to, "keyPath", each->key_path);
  put_json_string(to, "observerClass", each->observer_class);
  put_json_address(to, "observer", kvo__address(each->observer));
  put_member(to, "options");
  const char *separator = "";
  put_byte(to, '[');
  for (size_t i = 0; i < OPTION_COUNT; i++)
    if ((each->options & option_names[i].option) != 0) {
      put(to, separator);
      put_json_bytes(to, option_names[i].name, strlen(option_names[i].name));
      separator = ",";
    }
  put_byte(to, ']');
  put_json_address(to, "context", kvo__address(each->context));
  put_json_site(to, "registeredAt", each->file, each->file_length, each->line);
  put_byte(to, '}');
}

static void put_json(sink *to, const kvo_fault *fault) {
  put(to, "{\"schema\":1,\"code\":\"");
  put_code(to, fault->code);
  put_byte(to, '"');
  put_json_string(to, "severity", kvo_severity_name(fault->severity));
  put_json_string(to, "summary", fault->summary);
  put_json_string(to, "apple", fault->apple);
  put_json_string(to, "exception", fault->exception);
  put_json_string(to, "help", fault->help);
  put_member(to, "process");
  put_number(to, (unsigned long long)getpid(), 10);
  put_member(to, "thread");
  put_number(to, fault->thread, 10);
  put_json_site(to, "faultAt", fault->file, fault->file_length, fault->line);
  put_member(to, "observations");
  put_byte(to, '[');
  for (size_t i = 0; i < fault->observation_count; i++) {
    if (i > 0) put_byte(to, ',');
    put_json_observation(to, &fault->observations[i]);
  }
  put(to, "]}\n");
}

/* ------------------------------------------------------------------------------------------------------------ Writing -- */

static void put_report(sink *to, const kvo_fault *fault, kvo_report_format format) {
  if (format == KVO_REPORT_JSON)
    put_json(to, fault);
  else
    put_text(to, fault);
}

void kvo__report_write(const kvo_fault *fault, kvo_report_format format, int fd) {
  sink to = {.fd = fd};
  put_report(&to, fault, format);
  flush(&to);
}

size_t kvo_fault_format(const kvo_fault *fault, kvo_report_format format, char *buffer, size_t size) {
  sink to = {.memory = size > 0 ? buffer : NULL, .capacity = size, .fd = -1};
  put_report(&to, fault, format);
  if (size > 0) buffer[to.total < size ? to.total : size - 1] = '\0';
  return to.total;
}

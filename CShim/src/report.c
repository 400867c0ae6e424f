/* report.c - a fault as text and as JSON, written piece by piece: no report is too long, and none needs memory. */
#define _GNU_SOURCE
#include "report.h"

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

/* ------------------------------------------------------------------------------------------------------------- Pieces -- */

static void put_code(kvo_sink *to, kvo_fault_code code) {
  kvo__put(to, "KVO");
  for (unsigned digit = 1000; digit > 0; digit /= 10) kvo__put_byte(to, "0123456789"[(unsigned)code / digit % 10]);
}

static const struct {
  kvo_options option;
  const char *name;
} option_names[] = {{KVO_NEW, "new"}, {KVO_OLD, "old"}, {KVO_INITIAL, "initial"}, {KVO_PRIOR, "prior"}};
enum { OPTION_COUNT = sizeof option_names / sizeof *option_names };

/* -------------------------------------------------------------------------------------------------------- As a text -- */

static void put_lines(kvo_sink *to, const char *label, const char *string, const char *indent) {
  kvo__put(to, label);
  for (const char *line = string;;) {
    size_t length = strcspn(line, "\n");
    kvo__put_clean(to, line, length);
    kvo__put_byte(to, '\n');
    line += length;
    if (*line++ == '\0') return;
    kvo__put(to, indent);
  }
}

static void put_site(kvo_sink *to, const char *file, size_t length, uint32_t line) {
  if (file == NULL) {
    kvo__put(to, "a place that was not told (KVO_HERE tells it)\n");
    return;
  }
  kvo__put_clean(to, file, length);
  kvo__put_byte(to, ':');
  kvo__put_number(to, line, 10);
  kvo__put_byte(to, '\n');
}

static void put_observation(kvo_sink *to, const kvo_fault_observation *each) {
  kvo__put(to, "    \"");
  kvo__put_clean(to, each->key_path, strlen(each->key_path));
  kvo__put(to, "\"  observer ");
  if (each->observer_class != NULL) {
    kvo__put_clean(to, each->observer_class, strlen(each->observer_class));
    kvo__put_byte(to, '@');
  }
  kvo__put_address(to, kvo__address(each->observer));
  kvo__put(to, "  options ");
  const char *separator = "";
  for (size_t i = 0; i < OPTION_COUNT; i++)
    if ((each->options & option_names[i].option) != 0) {
      kvo__put(to, separator);
      kvo__put(to, option_names[i].name);
      separator = "|";
    }
  kvo__put(to, *separator == '\0' ? "none  context " : "  context ");
  kvo__put_address(to, kvo__address(each->context));
  kvo__put(to, "  id ");
  kvo__put_address(to, each->observation);
  kvo__put(to, "\n        registered at ");
  put_site(to, each->file, each->file_length, each->line);
}

static void put_text(kvo_sink *to, const kvo_fault *fault) {
  put_lines(to, "", fault->summary, "  ");
  if (fault->apple != NULL) put_lines(to, "  Apple says: ", fault->apple, "    ");
  if (fault->observation_count > 0) kvo__put(to, "  observations:\n");
  for (size_t i = 0; i < fault->observation_count; i++) put_observation(to, &fault->observations[i]);
  if (fault->file != NULL) {
    kvo__put(to, "  fault at ");
    put_site(to, fault->file, fault->file_length, fault->line);
  }
  if (fault->help != NULL) put_lines(to, "  help: ", fault->help, "    ");
  kvo__put(to, "  more: break on kvo_fault_break; KVO_POLICY=log goes on after a fault, KVO_POLICY=");
  put_code(to, fault->code);
  kvo__put(to, ":log after this one only; KVO_HELP=1 lists what else there is\n");
}

/* ---------------------------------------------------------------------------------------------------------- As JSON -- */

void kvo__put_json_site(kvo_sink *to, const char *name, const char *file, size_t length, uint32_t line) {
  kvo__put_member(to, name);
  if (file == NULL) {
    kvo__put(to, "null");
    return;
  }
  kvo__put(to, "{\"file\":");
  kvo__put_json_bytes(to, file, length);
  kvo__put_member(to, "line");
  kvo__put_number(to, line, 10);
  kvo__put_byte(to, '}');
}

void kvo__put_json_options(kvo_sink *to, kvo_options options) {
  kvo__put_member(to, "options");
  const char *separator = "";
  kvo__put_byte(to, '[');
  for (size_t i = 0; i < OPTION_COUNT; i++)
    if ((options & option_names[i].option) != 0) {
      kvo__put(to, separator);
      kvo__put_json_bytes(to, option_names[i].name, strlen(option_names[i].name));
      separator = ",";
    }
  kvo__put_byte(to, ']');
}

static void put_json_observation(kvo_sink *to, const kvo_fault_observation *each) {
  kvo__put(to, "{\"id\":\"");
  kvo__put_address(to, each->observation);
  kvo__put_byte(to, '"');
  kvo__put_json_string(to, "keyPath", each->key_path);
  kvo__put_json_string(to, "observerClass", each->observer_class);
  kvo__put_json_address(to, "observer", kvo__address(each->observer));
  kvo__put_json_options(to, each->options);
  kvo__put_json_address(to, "context", kvo__address(each->context));
  kvo__put_json_site(to, "registeredAt", each->file, each->file_length, each->line);
  kvo__put_byte(to, '}');
}

static void put_json(kvo_sink *to, const kvo_fault *fault) {
  kvo__put(to, "{\"schema\":1,\"code\":\"");
  put_code(to, fault->code);
  kvo__put_byte(to, '"');
  kvo__put_json_string(to, "severity", kvo_severity_name(fault->severity));
  kvo__put_json_string(to, "summary", fault->summary);
  kvo__put_json_string(to, "apple", fault->apple);
  kvo__put_json_string(to, "exception", fault->exception);
  kvo__put_json_string(to, "help", fault->help);
  kvo__put_member(to, "process");
  kvo__put_number(to, (unsigned long long)getpid(), 10);
  kvo__put_member(to, "thread");
  kvo__put_number(to, fault->thread, 10);
  kvo__put_json_site(to, "faultAt", fault->file, fault->file_length, fault->line);
  kvo__put_member(to, "observations");
  kvo__put_byte(to, '[');
  for (size_t i = 0; i < fault->observation_count; i++) {
    if (i > 0) kvo__put_byte(to, ',');
    put_json_observation(to, &fault->observations[i]);
  }
  kvo__put(to, "]}\n");
}

/* ------------------------------------------------------------------------------------------------------------ Writing -- */

static void put_report(kvo_sink *to, const kvo_fault *fault, kvo_report_format format) {
  if (format == KVO_REPORT_JSON)
    put_json(to, fault);
  else
    put_text(to, fault);
}

void kvo__report_write(const kvo_fault *fault, kvo_report_format format, int fd) {
  kvo_sink to = {.fd = fd};
  put_report(&to, fault, format);
  kvo__sink_flush(&to);
}

size_t kvo_fault_format(const kvo_fault *fault, kvo_report_format format, char *buffer, size_t size) {
  kvo_sink to = {.memory = size > 0 ? buffer : NULL, .capacity = size, .fd = -1};
  put_report(&to, fault, format);
  return kvo__sink_end(&to);
}

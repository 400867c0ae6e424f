/* report.c - texts that grow, and reports, which are written piece by piece: none is too long, and none needs memory. */
#define _GNU_SOURCE
#include "report.h"

#include <fcntl.h>
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

void kvo__append_cut(kvo_text *to, const char *string) {
  size_t length = strlen(string);
  kvo_cut cut = kvo__cut(string, length);
  kvo__append(to, "%.*s", (int)cut.head, string);
  if (cut.head == length) return;
  kvo__append(to, "...(%zu bytes left out)...%s", length - cut.head - cut.tail, string + length - cut.tail);
}

/* ------------------------------------------------------------------------------------------------------------- Pieces -- */

void kvo__put_code(kvo_sink *to, kvo_fault_code code) {
  kvo__put(to, "KVO");
  for (unsigned digit = 1000; digit > 0; digit /= 10) kvo__put_byte(to, "0123456789"[(unsigned)code / digit % 10]);
}

void kvo__put_seconds(kvo_sink *to, double seconds) {
  unsigned long long thousandths = seconds < 1e12 ? (unsigned long long)(seconds * 1000 + 0.5) : 1000000000000000;
  kvo__put_number(to, thousandths / 1000, 10);
  kvo__put_byte(to, '.');
  for (unsigned digit = 100; digit > 0; digit /= 10) kvo__put_byte(to, "0123456789"[thousandths / digit % 10]);
}

void kvo__put_build_id(kvo_sink *to, const kvo_module *of) {
  for (size_t i = 0; i < of->build_id_length; i++) {
    kvo__put_byte(to, "0123456789abcdef"[of->build_id[i] >> 4]);
    kvo__put_byte(to, "0123456789abcdef"[of->build_id[i] & 15]);
  }
}

const kvo_named_option kvo__named_options[KVO_OPTION_COUNT] = {
    {KVO_NEW, "new"}, {KVO_OLD, "old"}, {KVO_INITIAL, "initial"}, {KVO_PRIOR, "prior"}};

const char *kvo__thread_name(uint32_t thread, char *buffer, size_t size) {
  char path[64];
  kvo_sink to = {.memory = path, .capacity = sizeof path, .fd = -1};
  kvo__put(&to, "/proc/self/task/");
  kvo__put_number(&to, thread, 10);
  kvo__put(&to, "/comm");
  kvo__sink_end(&to);
  int fd = open(path, O_RDONLY | O_CLOEXEC);
  ssize_t length = fd >= 0 ? read(fd, buffer, size - 1) : 0;
  if (fd >= 0) close(fd);
  if (length > 0 && buffer[length - 1] == '\n') length--;
  buffer[length > 0 ? length : 0] = '\0';
  return buffer;
}

const char *kvo__event_name(kvo_event_kind kind) {
  switch (kind) {
    case KVO_EVENT_REGISTERED: return "registered";
    case KVO_EVENT_ENDED: return "ended";
    case KVO_EVENT_CHANGED: return "changed";
    case KVO_EVENT_DELIVERED: return "delivered";
    case KVO_EVENT_DIED: return "died";
  }
  return "unknown";
}

/* ------------------------------------------------------------------------------------------------------------ Writing -- */

static void put_report(kvo_sink *to, const kvo_fault *fault, kvo_report_format format) {
  to->demangles = kvo__can_demangle();
  if (format == KVO_REPORT_JSON)
    kvo__put_json_report(to, fault);
  else
    kvo__put_text_report(to, fault);
}

void kvo__report_write(const kvo_fault *fault, kvo_report_format format, int fd) {
  kvo_sink to = {.fd = fd};
  put_report(&to, fault, format);
  kvo__sink_flush(&to);
}

/* What a fault that the program has made may lack. */
static kvo_fault completed(const kvo_fault *fault) {
  kvo_fault whole = *fault;
  if (whole.summary == NULL) whole.summary = "";
  if (whole.file == NULL) whole.file_length = 0;
  if (whole.observations == NULL) whole.observation_count = 0;
  if (whole.sites == NULL) whole.site_count = 0;
  if (whole.frames == NULL) whole.frame_count = 0;
  if (whole.chain == NULL) whole.chain_count = 0;
  if (whole.events == NULL) whole.event_count = 0;
  return whole;
}

size_t kvo_fault_format(const kvo_fault *fault, kvo_report_format format, char *buffer, size_t size) {
  kvo_sink to = kvo__sink_of(buffer, size);
  if (fault != NULL) {
    kvo_fault whole = completed(fault);
    put_report(&to, &whole, format);
  }
  return kvo__sink_end(&to);
}

/* sink.c - builds texts in memory or writes them to a file descriptor, with escaping for JSON and for people. */
#define _GNU_SOURCE
#include "text/sink.h"

#include "platform/signals.h"

#include <errno.h>
#include <poll.h>
#include <signal.h>
#include <stdarg.h>
#include <unistd.h>

/* Waits up to a second. Without signals, which would end the wait early. */
static bool sink_await_room(int fd) {
  struct pollfd room = {.fd = fd, .events = POLLOUT};
  const struct timespec patience = {.tv_sec = 1};
  sigset_t all;
  sigfillset(&all);
  return ppoll(&room, 1, &patience, &all) > 0;
}

bool kvo__write_all(int fd, const char *bytes, size_t length) {
  int cancellation = kvo__cancel_hold(), before = errno;
  kvo_held_signals signals;
  kvo__signals_hold(&signals);
  while (length > 0) {
    ssize_t written = write(fd, bytes, length);
    if (written < 0 && errno == EINTR) continue;
    if (written < 0 && errno == EAGAIN && sink_await_room(fd)) continue;
    if (written <= 0) break;
    bytes += written;
    length -= (size_t)written;
  }
  kvo__signals_release(&signals);
  errno = before;
  kvo__cancel_resume(cancellation);
  return length == 0;
}

kvo_sink kvo__sink_of(char *buffer, size_t size) {
  bool has_room = buffer != NULL && size > 0;
  return (kvo_sink){.memory = has_room ? buffer : NULL, .capacity = has_room ? size : 0, .fd = -1};
}

void kvo__sink_flush(kvo_sink *to) {
  if (!to->failed) to->failed = !kvo__write_all(to->fd, to->memory, to->buffered);
  to->buffered = 0;
}

size_t kvo__sink_end(kvo_sink *of) {
  if (of->capacity > 0) of->memory[of->total < of->capacity ? of->total : of->capacity - 1] = '\0';
  return of->total;
}

void kvo__put_byte(kvo_sink *to, char byte) {
  if (to->fd >= 0) {
    to->memory[to->buffered++] = byte;
    if (to->buffered == to->capacity) kvo__sink_flush(to);
  } else if (to->total + 1 < to->capacity) {
    to->memory[to->total] = byte;
  }
  to->total++;
}

void kvo__put(kvo_sink *to, const char *string) {
  while (*string != '\0') kvo__put_byte(to, *string++);
}

void kvo__put_number(kvo_sink *to, unsigned long long number, unsigned base) {
  char digits[24];
  size_t count = 0;
  do digits[count++] = "0123456789abcdef"[number % base];
  while ((number /= base) != 0);
  while (count > 0) kvo__put_byte(to, digits[--count]);
}

void kvo__put_address(kvo_sink *to, unsigned long long number) {
  kvo__put(to, "0x");
  kvo__put_number(to, number, 16);
}

/* ------------------------------------------------------------------------------------------------ The program's strings -- */

size_t kvo__character_length(const unsigned char *bytes, size_t left) {
  size_t length = bytes[0] < 0x80 ? 1 : bytes[0] < 0xc2 ? 0 : bytes[0] < 0xe0 ? 2 : bytes[0] < 0xf0 ? 3 : 4;
  if (length == 0 || bytes[0] > 0xf4 || length > left) return 0;
  for (size_t i = 1; i < length; i++)
    if ((bytes[i] & 0xc0) != 0x80) return 0;
  bool overlong = (bytes[0] == 0xe0 && bytes[1] < 0xa0) || (bytes[0] == 0xf0 && bytes[1] < 0x90);
  bool surrogate = bytes[0] == 0xed && bytes[1] > 0x9f, too_large = bytes[0] == 0xf4 && bytes[1] > 0x8f;
  return overlong || surrogate || too_large ? 0 : length;
}

/* How many bytes at the beginning and at the end of a longer string are shown; whole characters. */
typedef struct cut_ends {
  size_t head, tail;
} cut_ends;

static cut_ends ends_of(const char *string, size_t length) {
  if (length <= KVO_MAX_SHOWN) return (cut_ends){length, 0};
  cut_ends cut = {KVO_MAX_SHOWN * 6 / 10,
                  KVO_MAX_SHOWN * 3 / 10}; /* so that a cut string still fits into a limited text */
  /* Do not cut inside a UTF-8 character, whose further bytes are 10xxxxxx. */
  for (int i = 0; i < 3 && ((unsigned char)string[cut.head] & 0xc0) == 0x80; i++) cut.head--;
  for (int i = 0; i < 3 && ((unsigned char)string[length - cut.tail] & 0xc0) == 0x80; i++) cut.tail--;
  return cut;
}

/* Puts one character, or, with `count` 0, a byte that is not part of one. */
typedef void (*put_character)(kvo_sink *to, const unsigned char *bytes, size_t count);

static void put_characters(kvo_sink *to, const char *string, size_t length, put_character each) {
  for (size_t i = 0; i < length;) {
    const unsigned char *bytes = (const unsigned char *)string + i;
    size_t count = kvo__character_length(bytes, length - i);
    each(to, bytes, count);
    i += count > 0 ? count : 1;
  }
}

static void put_cut(kvo_sink *to, const char *string, size_t length, put_character each) {
  cut_ends cut = ends_of(string, length);
  put_characters(to, string, cut.head, each);
  if (cut.head == length) return;
  kvo__put(to, "...(");
  kvo__put_number(to, length - cut.head - cut.tail, 10);
  kvo__put(to, " bytes left out)...");
  put_characters(to, string + length - cut.tail, cut.tail, each);
}

static void sink_put_escaped(kvo_sink *to, const char *escape, unsigned char byte) {
  kvo__put(to, escape);
  kvo__put_byte(to, "0123456789abcdef"[byte >> 4]);
  kvo__put_byte(to, "0123456789abcdef"[byte & 15]);
}

/* U+0080 to U+009F are control characters, too. */
static void put_clean_character(kvo_sink *to, const unsigned char *bytes, size_t count) {
  bool is_clean = count > 0 && bytes[0] >= 0x20 && bytes[0] != 0x7f && !(bytes[0] == 0xc2 && bytes[1] < 0xa0);
  for (size_t i = 0; i < (count > 0 ? count : 1); i++)
    if (is_clean)
      kvo__put_byte(to, (char)bytes[i]);
    else
      sink_put_escaped(to, "\\x", bytes[i]);
}

static void put_json_character(kvo_sink *to, const unsigned char *bytes, size_t count) {
  if (count == 0)
    kvo__put(to, "\\ufffd"); /* JSON must be valid UTF-8 */
  else if (bytes[0] < 0x20 || bytes[0] == 0x7f || bytes[0] == '"' || bytes[0] == '\\')
    sink_put_escaped(to, "\\u00", bytes[0]);
  else
    for (size_t i = 0; i < count; i++) kvo__put_byte(to, (char)bytes[i]);
}

void kvo__put_clean(kvo_sink *to, const char *string, size_t length) {
  put_cut(to, string, length, put_clean_character);
}

/* --------------------------------------------------------------------------------------------------------- Formatting -- */

/* A conversion of printf(3), as far as the runtime uses them. */
typedef struct conversion {
  bool zeros, left, has_precision;
  size_t width, precision;
  /** 0 for int, 1 for long, 2 for long long, 3 for size_t. */
  int size;
  char kind;
} conversion;

static conversion read_conversion(const char **format) {
  conversion read = {.kind = 0};
  const char *at = *format;
  for (; *at == '0' || *at == '-'; at++) *(*at == '0' ? &read.zeros : &read.left) = true;
  for (; *at >= '0' && *at <= '9'; at++) read.width = 10 * read.width + (size_t)(*at - '0');
  if (at[0] == '.' && at[1] == '*') {
    read.has_precision = true;
    at += 2;
  }
  for (; *at == 'l'; at++) read.size++;
  if (*at == 'z') {
    read.size = 3;
    at++;
  }
  read.kind = *at;
  *format = at + (*at != '\0');
  return read;
}

static void put_padded(kvo_sink *to, const conversion *as, unsigned long long number, bool is_negative) {
  unsigned base = as->kind == 'x' ? 16 : 10;
  size_t digits = 1;
  for (unsigned long long rest = number / base; rest > 0; rest /= base) digits++;
  if (is_negative) kvo__put_byte(to, '-');
  for (; as->zeros && digits < as->width; digits++) kvo__put_byte(to, '0');
  kvo__put_number(to, number, base);
}

void kvo__append_list(kvo_sink *to, const char *format, va_list of) {
  while (*format != '\0') {
    if (*format != '%') {
      kvo__put_byte(to, *format++);
      continue;
    }
    format++;
    conversion as = read_conversion(&format);
    if (as.kind == '%') {
      kvo__put_byte(to, '%');
    } else if (as.kind == 's') {
      if (as.has_precision) as.precision = (size_t)va_arg(of, int);
      const char *string = va_arg(of, const char *);
      size_t length = as.has_precision ? strnlen(string, as.precision) : strlen(string);
      kvo__put_clean(to, string, length);
      for (; as.left && length < as.width; length++) kvo__put_byte(to, ' ');
    } else if (as.kind == 'd') {
      long long number = as.size == 0 ? va_arg(of, int) : as.size == 1 ? va_arg(of, long) : va_arg(of, long long);
      put_padded(to, &as, number < 0 ? 0 - (unsigned long long)number : (unsigned long long)number, number < 0);
    } else {
      unsigned long long number = as.size == 0   ? va_arg(of, unsigned)
                                  : as.size == 1 ? va_arg(of, unsigned long)
                                  : as.size == 2 ? va_arg(of, unsigned long long)
                                                 : va_arg(of, size_t);
      put_padded(to, &as, number, false);
    }
  }
  if (to->fd < 0) kvo__sink_end(to); /* keep the text terminated */
}

void kvo__append(kvo_sink *to, const char *format, ...) {
  va_list of;
  va_start(of, format);
  kvo__append_list(to, format, of);
  va_end(of);
}

/* ------------------------------------------------------------------------------------------------------------- JSON -- */

void kvo__put_json_bytes(kvo_sink *to, const char *string, size_t length) {
  kvo__put_byte(to, '"');
  put_cut(to, string, length, put_json_character);
  kvo__put_byte(to, '"');
}

void kvo__put_member(kvo_sink *to, const char *name) {
  kvo__put(to, ",\"");
  kvo__put(to, name);
  kvo__put(to, "\":");
}

void kvo__put_json_string(kvo_sink *to, const char *name, const char *string) {
  kvo__put_member(to, name);
  if (string != NULL)
    kvo__put_json_bytes(to, string, strlen(string));
  else
    kvo__put(to, "null");
}

/* As a string, because JavaScript's numbers do not hold 64 bits. */
void kvo__put_json_address(kvo_sink *to, const char *name, unsigned long long number) {
  kvo__put_member(to, name);
  kvo__put_byte(to, '"');
  kvo__put_address(to, number);
  kvo__put_byte(to, '"');
}

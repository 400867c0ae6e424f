/* sink.c - texts put together piece by piece, into memory or to a file descriptor, with what JSON and people need escaped. */
#include "sink.h"

#include <errno.h>
#include <unistd.h>

void kvo__write_all(int fd, const char *bytes, size_t length) {
  while (length > 0) {
    ssize_t written = write(fd, bytes, length);
    if (written < 0 && errno == EINTR) continue;
    if (written <= 0) return;
    bytes += written;
    length -= (size_t)written;
  }
}

void kvo__sink_flush(kvo_sink *to) {
  kvo__write_all(to->fd, to->block, to->buffered);
  to->buffered = 0;
}

size_t kvo__sink_end(kvo_sink *of) {
  if (of->capacity > 0) of->memory[of->total < of->capacity ? of->total : of->capacity - 1] = '\0';
  return of->total;
}

void kvo__put_byte(kvo_sink *to, char byte) {
  if (to->memory != NULL) {
    if (to->total + 1 < to->capacity) to->memory[to->total] = byte;
  } else if (to->fd >= 0) {
    to->block[to->buffered++] = byte;
    if (to->buffered == sizeof to->block) kvo__sink_flush(to);
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

void kvo__put_clean(kvo_sink *to, const char *string, size_t length) {
  for (size_t i = 0; i < length; i++) {
    unsigned char byte = (unsigned char)string[i];
    if (byte >= 0x20 && byte != 0x7f) {
      kvo__put_byte(to, string[i]);
    } else {
      kvo__put(to, "\\x");
      kvo__put_byte(to, "0123456789abcdef"[byte >> 4]);
      kvo__put_byte(to, "0123456789abcdef"[byte & 15]);
    }
  }
}

size_t kvo__character_length(const unsigned char *bytes, size_t left) {
  size_t length = bytes[0] < 0x80 ? 1 : bytes[0] < 0xc2 ? 0 : bytes[0] < 0xe0 ? 2 : bytes[0] < 0xf0 ? 3 : 4;
  if (length == 0 || bytes[0] > 0xf4 || length > left) return 0;
  for (size_t i = 1; i < length; i++)
    if ((bytes[i] & 0xc0) != 0x80) return 0;
  bool overlong = (bytes[0] == 0xe0 && bytes[1] < 0xa0) || (bytes[0] == 0xf0 && bytes[1] < 0x90);
  bool surrogate = bytes[0] == 0xed && bytes[1] > 0x9f, too_large = bytes[0] == 0xf4 && bytes[1] > 0x8f;
  return overlong || surrogate || too_large ? 0 : length;
}

void kvo__put_json_bytes(kvo_sink *to, const char *string, size_t length) {
  const unsigned char *bytes = (const unsigned char *)string;
  kvo__put_byte(to, '"');
  for (size_t i = 0; i < length;) {
    size_t count = kvo__character_length(bytes + i, length - i);
    if (count == 0) {
      kvo__put(to, "\\ufffd"); /* what is no text may not be in JSON */
      i++;
    } else if (bytes[i] < 0x20 || bytes[i] == '"' || bytes[i] == '\\') {
      kvo__put(to, "\\u00");
      kvo__put_byte(to, "0123456789abcdef"[bytes[i] >> 4]);
      kvo__put_byte(to, "0123456789abcdef"[bytes[i] & 15]);
      i++;
    } else {
      while (count-- > 0) kvo__put_byte(to, string[i++]);
    }
  }
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

/* As a string: a number of 64 bits does not fit into what JavaScript calls a number. */
void kvo__put_json_address(kvo_sink *to, const char *name, unsigned long long number) {
  kvo__put_member(to, name);
  kvo__put_byte(to, '"');
  kvo__put_address(to, number);
  kvo__put_byte(to, '"');
}

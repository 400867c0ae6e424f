/* text/sink.h - builds the texts of reports, graphs and traces: sink.c. Async-signal-safe: allocates nothing and takes no lock. */
#ifndef KVO_INTERNAL_SINK_H
#define KVO_INTERNAL_SINK_H

#include "platform/platform.h"

#include <stdarg.h>

/** A destination of text. With a file descriptor `memory` is a block that is written when it is full; if `fd` is negative the text goes to
 * `memory`, as far as it fits into `capacity`; if `memory` is NULL the text is only measured. */
typedef struct kvo_sink {
  /** The length of everything that was put. */
  size_t total;
  char *memory;
  size_t capacity;
  int fd;
  size_t buffered;
  /** Not everything could be written. */
  bool failed;
  /** Demangle names of functions (symbols.h). */
  bool demangles;
} kvo_sink;

/** A sink for a caller's buffer, which may be NULL or empty. */
KVO_HIDDEN kvo_sink kvo__sink_of(char *buffer, size_t size);
/** Writes the rest of the block. */
KVO_HIDDEN void kvo__sink_flush(kvo_sink *to);
/** Terminates the text of a sink in memory with NUL, if there is room, and returns the length of the whole text. */
KVO_HIDDEN size_t kvo__sink_end(kvo_sink *of);
/** Writes bytes; false if not all could be written. Does not raise SIGPIPE or SIGXFSZ, and is no cancellation point. */
KVO_HIDDEN bool kvo__write_all(int fd, const char *bytes, size_t length);

KVO_HIDDEN void kvo__put_byte(kvo_sink *to, char byte);
/** Formats like printf(3): %s, %.*s, %d, %u, %lu, %zu, %llu, %llx and %%, with a width in %0Nd and %-Ns. %s escapes the string as
 * kvo__put_clean does, so strings of the program are safe. */
KVO_HIDDEN void kvo__append(kvo_sink *to, const char *format, ...) __attribute__((format(printf, 2, 3)));
KVO_HIDDEN void kvo__append_list(kvo_sink *to, const char *format, va_list of) __attribute__((format(printf, 2, 0)));
KVO_HIDDEN void kvo__put(kvo_sink *to, const char *string);
KVO_HIDDEN void kvo__put_number(kvo_sink *to, unsigned long long number, unsigned base);
/** Puts a number in hexadecimal, with 0x. */
KVO_HIDDEN void kvo__put_address(kvo_sink *to, unsigned long long number);
/** At most this many bytes of a program's string are put. */
#define KVO_MAX_SHOWN 1000
/** Puts a string for people, cut. It may be the program's, so control characters are escaped: they must not look like the end of a line,
 * nor control a terminal. */
KVO_HIDDEN void kvo__put_clean(kvo_sink *to, const char *string, size_t length);

/** Puts a JSON string, cut; invalid UTF-8 is replaced. */
KVO_HIDDEN void kvo__put_json_bytes(kvo_sink *to, const char *string, size_t length);
/** Puts a comma and the name of a member. */
KVO_HIDDEN void kvo__put_member(kvo_sink *to, const char *name);
/** Puts a member that is a string, or null. */
KVO_HIDDEN void kvo__put_json_string(kvo_sink *to, const char *name, const char *string);
KVO_HIDDEN void kvo__put_json_address(kvo_sink *to, const char *name, unsigned long long number);
/** The length of the UTF-8 character at the beginning of a string; 0 if it is invalid. */
KVO_HIDDEN size_t kvo__character_length(const unsigned char *bytes, size_t left);

#endif /* KVO_INTERNAL_SINK_H */

/* sink.h - texts put together piece by piece: reports, graphs, traces. It needs no memory of its own, takes no lock, and may be used in
 * a signal handler. */
#ifndef KVO_INTERNAL_SINK_H
#define KVO_INTERNAL_SINK_H

#include "platform/platform.h"

/** Takes a text: to `fd`, with `memory` as a block that is written when it is full; if that is negative into `memory`, as far as it
 * fits in `capacity`; if there is none, the text is only measured. */
typedef struct kvo_sink {
  /** Of all that was put in. */
  size_t total;
  char *memory;
  size_t capacity;
  int fd;
  size_t buffered;
  /** The file descriptor did not take it all. */
  bool failed;
  /** Names of functions are put as their language writes them (symbols.h). */
  bool demangles;
} kvo_sink;

/** A sink of a caller's buffer, which may be NULL or of no size. */
KVO_HIDDEN kvo_sink kvo__sink_of(char *buffer, size_t size);
/** Writes what is left in the block. */
KVO_HIDDEN void kvo__sink_flush(kvo_sink *to);
/** Of a sink in memory: ends it with NUL, if there is any room, and returns the length of the whole. */
KVO_HIDDEN size_t kvo__sink_end(kvo_sink *of);
/** Writes bytes; false when the file descriptor did not take them all. The signals by which the kernel tells a broken pipe and a file
 * that is too large do not arrive, and it is no cancellation point. */
KVO_HIDDEN bool kvo__write_all(int fd, const char *bytes, size_t length);

KVO_HIDDEN void kvo__put_byte(kvo_sink *to, char byte);
/** As printf, with %s, %.*s, %d, %u, %lu, %zu, %llu, %llx and %%, and a width for %0Nd and %-Ns. A string of the program's comes to no
 * harm: %s is put as kvo__put_clean puts it, in one line. */
KVO_HIDDEN void kvo__append(kvo_sink *to, const char *format, ...) __attribute__((format(printf, 2, 3)));
KVO_HIDDEN void kvo__put(kvo_sink *to, const char *string);
KVO_HIDDEN void kvo__put_number(kvo_sink *to, unsigned long long number, unsigned base);
/** Hexadecimal, with 0x. */
KVO_HIDDEN void kvo__put_address(kvo_sink *to, unsigned long long number);
/** The most bytes of a string of the program's that are put. */
#define KVO_MAX_SHOWN 1000
/** Of a string that is longer: how many bytes of its beginning and of its end are shown, whole characters. */
typedef struct kvo_cut {
  size_t head, tail;
} kvo_cut;
KVO_HIDDEN kvo_cut kvo__cut(const char *string, size_t length);

/** For people, cut. Names and paths are the program's: a control character in them must not look like the end of a line of ours, nor
 * steer a terminal. */
KVO_HIDDEN void kvo__put_clean(kvo_sink *to, const char *string, size_t length);

/** A string of JSON, cut; what is no UTF-8 is replaced. */
KVO_HIDDEN void kvo__put_json_bytes(kvo_sink *to, const char *string, size_t length);
/** A comma, and the name of a member. */
KVO_HIDDEN void kvo__put_member(kvo_sink *to, const char *name);
/** A member that is a string, or null. */
KVO_HIDDEN void kvo__put_json_string(kvo_sink *to, const char *name, const char *string);
KVO_HIDDEN void kvo__put_json_address(kvo_sink *to, const char *name, unsigned long long number);
/** How many bytes of a string are one character in UTF-8; 0 if they are none. */
KVO_HIDDEN size_t kvo__character_length(const unsigned char *bytes, size_t left);

#endif /* KVO_INTERNAL_SINK_H */

/* serving/output.h - what a client is to receive: text, and the content of a file: output.c. */
#ifndef KVO_OUTPUT_H
#define KVO_OUTPUT_H

#include "text/sink.h"

#include <sys/types.h>

/** Memory is from the C library, because the program may count what its allocator handed out. */
typedef struct kvo_output {
  char *text;
  size_t length, capacity, sent;
  /** A file whose content follows the text, or -1; how much of it has been read, and its size. */
  _Atomic int file;
  off_t read, size;
} kvo_output;

typedef enum kvo_sent { KVO_SENT_ALL, KVO_SENT_SOME, KVO_SENT_NOTHING, KVO_SENT_TO_NOBODY } kvo_sent;

/** Puts a text; it may be called several times for one text. */
typedef void (*kvo_put_text)(kvo_sink *to, void *arg);
/** Appends a text; false without memory, and then nothing is appended. */
KVO_HIDDEN bool kvo__output_put(kvo_output *to, kvo_put_text put, void *arg);
/** Makes room for this many bytes and returns where; NULL without memory. Add what is used to `length`. */
KVO_HIDDEN char *kvo__output_room(kvo_output *to, size_t size);
/** Sends what the socket takes without blocking. */
KVO_HIDDEN kvo_sent kvo__output_send(kvo_output *of, int fd);
KVO_HIDDEN void kvo__output_free(kvo_output *of);
/** Closes a file descriptor that another thread's fork may look at, unless it is -1. */
KVO_HIDDEN void kvo__output_close(_Atomic int *fd);

#endif /* KVO_OUTPUT_H */

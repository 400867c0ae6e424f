/* serving/client.h - a connection: what has been asked, and what remains to be done: answers.c, who.c. Only the server's thread uses it. */
#ifndef KVO_CLIENT_H
#define KVO_CLIENT_H

#include "serving/output.h"

enum { KVO_REQUEST = 1024 };

typedef enum kvo_stage {
  /** The request is not complete. */
  KVO_READS,
  /** At `due`: further figures; a look at the trace; the end of counting for `who`. */
  KVO_STREAMS,
  KVO_TRACES,
  KVO_COUNTS,
  /** The answer is complete, or, while `is_whole` is false, only lacks its last line. */
  KVO_ENDS,
} kvo_stage;

typedef struct kvo_client {
  /** -1 if there is none. Also read in the child of a fork. */
  _Atomic int fd;
  kvo_stage stage;
  /** When the stage continues, and when the client is given up because it neither reads nor writes; INT64_MAX for never. */
  int64_t due, patience;
  char request[KVO_REQUEST];
  size_t request_length;
  kvo_output output;
  bool is_whole;
  /** Traffic is counted for it. */
  bool counts;
  /** When the stage began, and how long it lasts or how often it comes, in nanoseconds; how many figures remain, 0 for no limit. */
  int64_t begun, interval;
  uint32_t left;
  /** A trace: its number, and the file in memory. 0 if there is none. */
  uint64_t recording;
  _Atomic int traced;
  /** For `who`: the part of the request. */
  const char *name;
} kvo_client;

/** The line of a request is complete: answers it, or begins what takes time. */
KVO_HIDDEN void kvo__client_answer(kvo_client *of);
/** Its time has come. */
KVO_HIDDEN void kvo__client_continue(kvo_client *of);
/** Ends the answer with {"done":true}. */
KVO_HIDDEN void kvo__client_finish(kvo_client *of);
/** Ends the answer with an error. `code` is for programs. */
KVO_HIDDEN void kvo__client_fail(kvo_client *of, const char *code, const char *format, ...)
    __attribute__((format(printf, 3, 4)));
/** It has gone: ends what was being done for it. */
KVO_HIDDEN void kvo__client_leave(kvo_client *of);
/** In the child of a fork, where no client is. */
KVO_HIDDEN void kvo__client_forked(void);

/** Appends who observes the name, or an error: who.c. `seconds` is how long notifications were counted. */
KVO_HIDDEN void kvo__client_who(kvo_client *of, const char *name, double seconds);

#endif /* KVO_CLIENT_H */

/* traced.h - the recording of a trace, and the reading of its file. */
#ifndef KVO_TEST_TRACED_H
#define KVO_TEST_TRACED_H

#include <stdbool.h>

/* The file of the trace. */
extern char path[64];

/* Begins a recording into a file whose name has the process id. */
void begin(void);
/* The content of the file, which must be JSON. Free it. */
char *content(void);
/* Ends the recording, deletes the file and returns its content. Free it. */
char *ended(void);

/* One event per line. */
typedef struct event {
  char phase;
  long thread;
  double time;
  char name[200];
} event;

/* Reads the next event and moves behind it; false if there is none left. */
bool next_event(const char **at, event *out);
/* The slices and instants of a thread, or of all, as "(set Item.value (observer ...) )". */
void check_shape(const char *text, const char *expected);
/* On each thread ends follow beginnings, no slice is open at the end, and times do not decrease. */
void check_order(const char *text);

#endif

/* traced.h - the recording of a trace, and the reading of its file. */
#ifndef KVO_TEST_TRACED_H
#define KVO_TEST_TRACED_H

/* The file of the trace, whose name has the process id. */
const char *trace_path(void);
void begin(void);
/* The content of the file, which must be JSON. Valid until the next call, like the following. */
const char *content(void);
/* Ends the recording and deletes the file. Its content, in which the slices of each thread must nest and end. */
const char *ended(void);
/* Ends the recording, and compares its slices and instants: "(set Item.value(observer @ (value)))<Item died>". Each @
 * stands for the file and line of `watch`. */
void check_trace(const char *expected);
/* The first line of a text with this part. */
const char *line_with(const char *text, const char *part);

#endif

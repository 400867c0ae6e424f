/* texts.h - whole texts in which addresses, numbers and times differ from run to run; and those of graphs. */
#ifndef KVO_TEST_TEXTS_H
#define KVO_TEST_TEXTS_H

#include <kvo/kvo.h>

/* Checks a whole text. The expected one is as for printf; a ~ in it stands for any number, decimal or hexadecimal. */
#define CHECK_WHOLE(text, ...) check_whole(__FILE__, __LINE__, text, __VA_ARGS__)
void check_whole(const char *file, int line, const char *text, const char *format, ...)
    __attribute__((format(printf, 4, 5)));

/* How often a text contains a part. */
size_t occurrences(const char *text, const char *part);

/* A graph as a text, and one of all observations. Valid until the next call of either. */
const char *graph_text(const kvo_graph *graph, kvo_graph_form form);
const char *snapshot_text(kvo_graph_form form);

#endif

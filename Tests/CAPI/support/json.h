/* json.h - checks whether a text is JSON. */
#ifndef KVO_TEST_JSON_H
#define KVO_TEST_JSON_H

#include <stdbool.h>

/* Whether a text is exactly one JSON value, with white space around it. */
bool json_is_valid(const char *text);

#endif

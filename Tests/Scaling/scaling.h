/* scaling.h - a row for each operation whose cost could grow faster than what it is done to.
 *
 *     ROW("remove n observers by id") {
 *       ... make n observations ...
 *       MEASURE { ... remove them ... }
 *     }
 *
 * scripts/check-scaling.sh runs each at n and at 4n, and counts the instructions of what is measured. */
#ifndef KVO_SCALING_H
#define KVO_SCALING_H

#include "counted.h"
#include "made.h"

#include <stdlib.h>

/* Registers a row; its body follows and has the parameter `n`. */
#define ROW(name) SCALING_ROW(name, __LINE__)
#define SCALING_ROW(name, line) SCALING_ROW_AT(name, line)
#define SCALING_ROW_AT(name, line)                                                                                     \
  static void row_at_line_##line(size_t n);                                                                            \
  __attribute__((constructor)) static void register_row_at_line_##line(void) {                                         \
    scaling_register(name, row_at_line_##line);                                                                        \
  }                                                                                                                    \
  static void row_at_line_##line(size_t n)

/* The block that is counted; once per row. */
#define MEASURE for (bool scaling_on = scaling_begin(); scaling_on; scaling_on = scaling_end())

void scaling_register(const char *name, void (*body)(size_t n));
bool scaling_begin(void);
bool scaling_end(void);

/* The numbers below n in a pseudo-random order, which is always the same; freed at exit. */
const size_t *scaling_shuffled(size_t n);

/* A zeroed array of n elements; freed at exit. */
void *scaling_array(size_t n, size_t size);

/* An observer that does nothing; each has a distinct address. */
typedef struct listener {
  kvo_observation id;
} listener;
void listen(listener *by, kvo_object *object, const char *key_path, int options);
void listen_for(listener *by, kvo_object *object, const char *key_path, int options, void *context);

#endif

/* holder.h - a binding's class: its values are ints on the heap, and the header is not at the beginning of its
 * objects. */
#ifndef KVO_TEST_HOLDER_H
#define KVO_TEST_HOLDER_H

#include "scoped.h"

#include <string.h>

/* Keys: first, second (i), and compared (i, the value of second), the only one whose values can be compared. */
typedef struct holder {
  int first, second;
  uint64_t unrelated[3];
  kvo_object header;
} holder;

/* The object of a test. */
extern holder held;
void hold(int first, int second);
/* The same for `watch` and `will`, which use only the header. */
#define HELD ((item *)(void *)&held.header)
static inline kvo_key key(const char *name) { return kvo_key_hash(name, strlen(name)); }

/* Makes a value. */
void *holder_value(int number);
/* How often the runtime has copied a value of an object, and how many values have not been released. */
extern int holder_reads, holder_values;

#endif

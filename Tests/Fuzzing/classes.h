/* classes.h - the objects of the runtime's world, and their classes. */
#ifndef KVO_FUZZ_CLASSES_H
#define KVO_FUZZ_CLASSES_H

#include "schema.h"

#include <kvo/kvo.h>

typedef struct box {
  double real;
  int whole;
} box;

typedef struct wide {
  long long parts[40];
} wide;

typedef struct item item;
struct item {
  kvo_object header;
  long long value;
  int other, quiet, sink, pair, left, right;
  item *next, *owned;
  char *name;
  box box;
  wide wide;
};

/* Not allocated: pointers to a dead object may remain, and its address is reused. */
extern item items[SLOTS];

/* The class of a shape, registered when it is first needed, because classes exist for ever. */
kvo_class *class_of_shape(int shape);

/* Calls a setter of the key. */
void call_setter(kvo_function setter, item *object, key of, int number);
/* What a setter of the program does; implemented by the world. */
void program_sets(item *object, key of, int number);

int item_load(const item *object, key of);
void item_store(item *object, key of, int number);
void item_clear(item *object);

/* Converts from and to a value of the runtime; the latter is valid until the next call. */
value value_seen(const kvo_value *seen);
kvo_value value_made(value from, key of);

#endif

/* schema.h - common parts of both worlds of fuzz_sequences: keys, shapes of classes, key paths, values. */
#ifndef KVO_FUZZ_SCHEMA_H
#define KVO_FUZZ_SCHEMA_H

#include <stdbool.h>
#include <stdint.h>

/* Callbacks and accessors need not use all that they are given. */
#pragma GCC diagnostic ignored "-Wunused-parameter"

/* Few objects and observations, so that they interact often; Tests/Stress defines other limits. */
#ifndef SLOTS
enum { SLOTS = 4, WATCHES = 32 };
#endif
enum { SHAPES = 64, PATHS = 40 };

/* The keys of the classes; those from `SINK` on are only in subclasses, or those from `OWNED` on (see shape_defines). */
typedef enum key {
  VALUE,   /* i; KVO_PROPERTY_MANUAL in some shapes; in others q at an offset, which the runtime stores itself */
  NEXT,    /* @ */
  SUM,     /* i, read-only: value + other; affected by different paths */
  OTHER,   /* i; affected by "value" in some shapes, and can still be set */
  OWNED,   /* @, whose setter ends the object that it replaces */
  QUIET,   /* i, KVO_PROPERTY_MANUAL */
  FAR,     /* i, read-only, affected by "next.value" */
  NAME,    /* *, copied by the setter */
  BOX,     /* a structure */
  SINK,    /* i, without a getter */
  PAIR,    /* i, whose setter sets "other" too */
  LEFT,    /* i, affected by "right" */
  RIGHT,   /* i, affected by "left" */
  WIDE,    /* a structure that is larger than what a trampoline keeps on the stack */
  FARTHER, /* i, read-only, affected by "next.sum" and "owned.value" */
  KEYS,
  IMAGINARY = KEYS, /* a key that no class has */
} key;

/* A value as observers see it. A string or a structure is made from a number. TORN: parts of a structure that do not belong together. */
typedef enum value_kind { ABSENT, NIL, INTEGER, OBJECT, STRING, BOXED, WIDTH, TORN } value_kind;

typedef struct value {
  value_kind kind;
  int number;
} value;

typedef struct key_info {
  const char *name;
  const char *type;
  value_kind kind;
  bool readable, settable;
} key_info;

extern const key_info key_infos[KEYS + 1];

/* Key paths to observe, read and set; some are wrong. */
extern const char *const key_paths[PATHS];
int path_named(const char *path);

/* The key named by the `length` bytes at `name`. */
key key_named(const char *name, int length);

/* Shapes: the bits of a number decide what a class has. */
bool shape_is_manual(int shape, key of);
bool shape_is_at_offset(int shape, key of);
bool shape_defines(int shape, key of);
/* Paths, terminated by NULL, or NULL. */
const char *const *shape_affected_by(int shape, key of);
/* How many keys the superclass has; an object of a shape without subclass has only these. */
int shape_base_keys(int shape);
bool shape_has_subclass(int shape);

/* The value in storage as observers see it: objects are numbers of slots, -1 for nil; strings are nil for 0. */
value value_of(key of, int stored);
/* The value that a set with this argument from the input stores. */
int stored_for(key of, int argument);

#endif

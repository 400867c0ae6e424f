/* expressions/walk.h - the walk along key paths, through objects and collections.
 * circle: gathered.c, operators.c, foreign.c, paths.c: an object holds a collection, and an element of a collection is an object. */
#ifndef KVO_WALK_H
#define KVO_WALK_H

#include "expressions/deliver.h"

/** What is left of a key path: up to its NUL, or up to the component that begins at `end`, unless that is NULL. `at` is NULL after the last
 * component. */
typedef struct kvo_path {
  const char *at, *end;
} kvo_path;

typedef struct kvo_component {
  const char *name;
  size_t length;
  kvo_key key;
} kvo_component;

/** Takes the first component of a path that is not at its end. */
static inline kvo_component kvo__path_take(kvo_path *path) {
  kvo_component first = {path->at, 0, 0};
  uint64_t hash = UINT64_C(0xcbf29ce484222325);
  const char *at = path->at;
  for (; *at != '.' && *at != '\0'; at++) hash = (hash ^ (unsigned char)*at) * UINT64_C(0x100000001b3);
  first.length = (size_t)(at - path->at);
  first.key = hash != KVO_KEY_LIFETIME && hash != KVO_KEY_DEATH ? hash : 1;
  path->at = *at == '.' && at + 1 != path->end ? at + 1 : NULL;
  return first;
}

static inline bool kvo__component_is(const kvo_component *of, const char *name) {
  return strncmp(of->name, name, of->length) == 0 && name[of->length] == '\0';
}

/** One walk along a path. */
typedef struct kvo_walk {
  kvo_path_use use;
  /** NULL, or what is done at the end of the path instead of reading a value. */
  kvo_path_visitor visit;
  void *visit_arg;
  /** How many collections and undefined keys of C the walk is inside. */
  unsigned depth;
  /** Passed to the functions for a binding's values. */
  void *user;
} kvo_walk;

enum { KVO_WALK_DEPTH = 32 };

/** Passes the value at the end of a path from an object, from a value, or from a collection to `reader`; or, if the walk has a visitor,
 * calls that. */
KVO_HIDDEN kvo_status kvo__walk_object(kvo_walk *walk, kvo_object *object, kvo_path path, bool is_whole,
                                       kvo_value_reader reader, void *arg);
KVO_HIDDEN kvo_status kvo__walk_value(kvo_walk *walk, const kvo_value *value, kvo_path path, kvo_value_reader reader,
                                      void *arg);
KVO_HIDDEN kvo_status kvo__walk_collection(kvo_walk *walk, const kvo_value *collection, kvo_path path,
                                           kvo_value_reader reader, void *arg);

/* ------------------------------------------------------------------------------------------------------- foreign.c -- */

static inline kvo_binding_value kvo__foreign_nil(const kvo_binding_values *ops) {
  return (kvo_binding_value){ops, KVO_KIND_NIL, {NULL}};
}

/** The view of a binding's value as a value that readers get. */
static inline kvo_value kvo__foreign_view(const kvo_binding_value *of) {
  return (kvo_value){kvo__foreign_type, sizeof *of, of->kind != KVO_KIND_NIL ? of : NULL};
}

/** The kind, never KVO_KIND_UNKNOWN. */
KVO_HIDDEN kvo_binding_kind kvo__foreign_kind(const kvo_binding_value *of);
/** kvo__walk_value for a binding's value that is not nil, and a path that is not at its end. */
KVO_HIDDEN kvo_status kvo__walk_foreign(kvo_walk *walk, const kvo_binding_value *of, kvo_path path, bool is_whole,
                                        kvo_value_reader reader, void *arg);
/** Tells a binding why one of its values refuses. */
KVO_HIDDEN void kvo__foreign_refuse(kvo_walk *walk, const kvo_binding_refusal *refusal);

/** A collection, and what is done with its elements: an operator, or "self" if there is none. */
typedef struct kvo_operation {
  kvo_walk *walk;
  const kvo_value *value;
  kvo_component name;
} kvo_operation;

/** Says that the operation cannot take a value. Returns TYPE_MISMATCH. */
KVO_HIDDEN kvo_status kvo__refuse_operand(const kvo_operation *of, const kvo_value *operand, kvo_binding_reason reason,
                                          const kvo_value *other);

/* ------------------------------------------------------------------------------------------------------ gathered.c -- */

/** A collection that is being made of the elements' values. */
typedef struct kvo_gathered {
  kvo_operation of;
  bool without_nil, makes_set, is_distinct;
  /** For a binding's values. */
  const kvo_binding_values *ops;
  void *made;
  /** For C's. */
  kvo_boxed **items;
  size_t count, room;
} kvo_gathered;

/** Adds a copy of a value to a kvo_gathered. */
KVO_HIDDEN kvo_status kvo__gather(const kvo_value *value, void *gathered);
KVO_HIDDEN void kvo__gathered_drop(kvo_gathered *of);
/** Goes on with the collection, and frees it. */
KVO_HIDDEN kvo_status kvo__gathered_finish(kvo_gathered *of, kvo_path rest, kvo_value_reader reader, void *arg);

#endif /* KVO_WALK_H */

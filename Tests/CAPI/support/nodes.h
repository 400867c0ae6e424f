/* nodes.h - the values of a small binding: numbers, texts, lists, sets, dictionaries and objects, made from a text. */
#ifndef KVO_TEST_NODES_H
#define KVO_TEST_NODES_H

#include <kvo/kvo_binding.h>

/** What the functions are called with. */
typedef struct node_walk {
  /** What was refused, as "REASON name of VALUE" and the operand. */
  char refusal[256];
  /** The keys that were read or set, with "!" behind one that is the last of an observed path. */
  char keys[256];
} node_walk;

/** Makes a value: 1, 1.5, 'text', nil, null, [list], <set>, {key: dictionary}, (key: object). Keys may be quoted. */
kvo_binding_value node_value(const char *text);
/** Destroys it. */
void node_destroy(kvo_binding_value *value);
/** The value as a text, valid until the next call. */
const char *node_text(const kvo_binding_value *value);
/** How many nodes there are. */
extern long node_count;
/** How many calls until a collection cannot be made; 0 or less: all can. */
extern long node_fail_in;
extern const kvo_binding_values node_ops;

#endif

/* expression.h - an observed expression: the test says what it reads, and it counts evaluations and notifications. */
#ifndef KVO_TEST_EXPRESSION_H
#define KVO_TEST_EXPRESSION_H

#include "fixture.h"

#include <kvo/kvo_binding.h>

enum { NO_VALUE = -1 };

typedef struct expression expression;
struct expression {
  kvo_object *root;
  /** Reads what the value depends on, and returns the value. */
  int (*body)(expression *self);
  /** NULL: "expression". */
  const char *key_path;
  bool keeps_last;
  kvo_observation id;
  _Atomic int evaluated, notified, priors;
  /** How often it was notified of a property's own change, without an evaluation; and how many values were freed. */
  _Atomic int passed, released;
  /** The values of the last notification, or NO_VALUE. */
  _Atomic int old_value, new_value;
};

void expression_begin(expression *self, int options);
/* Removes the observation, and checks that all values were released. */
void expression_end(expression *self);

/* The functions of an expression, for a test that adds others. */
extern const kvo_observer_ops expression_ops;

kvo_key key_of(const char *name);
/* Reads keys of an item. */
void read_key(item *of, const char *key);
int read_value(item *of);
item *read_next(item *of);

#endif

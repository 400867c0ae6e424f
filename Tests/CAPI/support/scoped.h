/* scoped.h - what the tests of changes have in common: three objects, changes announced by hand, scopes, objects of
 * other classes, and an expression that reads objects. */
#ifndef KVO_TEST_SCOPED_H
#define KVO_TEST_SCOPED_H

#include "made.h"

#include <kvo/kvo_binding.h>

/* Their values are 1, 2 and 3. */
extern item *a, *b, *c;

/* Makes them, and ignores faults. They need not be destroyed before the test makes others, or ends. */
void make_items(void);
void destroy_items(void);

/* Announce a change by hand, and check the statuses. */
static inline void will(item *object, const char *key) { CHECK_OK(kvo_will_change(as_object(object), key)); }
static inline void did(item *object, const char *key) { CHECK_OK(kvo_did_change(as_object(object), key)); }
/* Sets the property that notifies only by hand, and announces it. */
void set_quietly(item *object, int value);

/* What a binding's setter does whose property owns its value: the store releases the old one, which dies with all that it owns. */
void replace_next(item *object, item *next);

/* Makes an object; the caller knows its type. */
void *make_of(kvo_class *cls);

/* Evaluates the sum of all values of these items. */
typedef struct total {
  item *of[4];
  kvo_observation id;
  int calls, priors, old_value, new_value;
} total;

void watch_total(total *of, int options);

#endif

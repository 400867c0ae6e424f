/* nested.h - what the tests of nested deliveries have in common: observers that set, and that only look. */
#ifndef KVO_TEST_NESTED_H
#define KVO_TEST_NESTED_H

#include "fixture.h"

/* How often the callbacks below, and those of the test, were called. */
extern int notified;

/* Sets the object that is its user data to one more than the object that has changed. */
void set_other(const kvo_change *change, void *user_data);
/* Sets the object that has changed to one less, until it is 0. */
void set_down(const kvo_change *change, void *user_data);
/* Changes nothing: stores the value in the int that is its user data. */
void look(const kvo_change *change, void *user_data);

/* Sets an object that set_down observes, and checks that it is 0 in the end. */
void count_down(int from);

/* Observe the value of an object. */
static inline kvo_observation observe_with(item *object, int options, kvo_callback callback, void *user_data) {
  kvo_observer observer = {.struct_size = sizeof observer,
                           .key_path = "value",
                           .options = (kvo_options)options,
                           .callback = callback,
                           .user_data = user_data,
                           KVO_HERE};
  kvo_observation id = 0;
  CHECK_OK(kvo_add_observer(as_object(object), &observer, &id));
  return id;
}

static inline kvo_observation observe_value(item *object, kvo_callback callback, void *user_data) {
  return observe_with(object, KVO_NONE, callback, user_data);
}

#endif

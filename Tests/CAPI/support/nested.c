/* nested.c - what the tests of nested deliveries have in common. */
#include "nested.h"

/* AddressSanitizer has a table of frames that thousands of nested deliveries fill; then each call searches it all. */
const char *__asan_default_options(void);
const char *__asan_default_options(void) { return "detect_stack_use_after_return=0"; }

int notified;

void set_other(const kvo_change *change, void *user_data) {
  notified++;
  item_set_value(user_data, ((item *)change->object)->value + 1);
}

void look(const kvo_change *change, void *user_data) { *(int *)user_data = ((item *)change->object)->value; }

void set_down(const kvo_change *change, void *user_data) {
  item *object = (item *)change->object;
  notified++;
  if (object->value > 0) item_set_value(object, object->value - 1);
}

void count_down(int from) {
  item *object = item_make(0);
  int seen = -1;
  kvo_observation first = observe_value(object, look, &seen), id = observe_value(object, set_down, NULL);
  item_set_value(object, from);
  CHECK_EQ(object->value, 0);
  CHECK_EQ(seen, 0);
  CHECK_OK(kvo_remove_observer(id));
  CHECK_OK(kvo_remove_observer(first));
  item_destroy(object);
}

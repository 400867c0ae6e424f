/* closures.c - observers of a binding that are Swift closures: `deliver` is called in Swift's calling convention, which clang knows. */
#include "fixture.h"

#include <kvo/kvo_binding.h>
#include <stdlib.h>
#include <string.h>

#ifndef __has_attribute
#define __has_attribute(name) 0
#endif

#if __has_attribute(swiftcall)

static kvo_key key(const char *name) { return kvo_key_hash(name, strlen(name)); }

/* What a closure of the test captures. */
typedef struct captured {
  int calls, priors, last_old, last_new, destroyed;
} captured;

static captured first, second;

static void closure(const kvo_raw_change *change, void *context) {
  (void)change;
  ((captured *)context)->calls++;
}

static __attribute__((swiftcall)) void deliver(const kvo_raw_change *change, kvo_raw_callback given, void *its_context,
                                               __attribute__((swift_context)) void *context) {
  captured *of = context;
  CHECK_SAME(context, its_context);
  CHECK(given == closure);
  if (change->is_prior) {
    of->priors++;
    return;
  }
  if (change->old_value != NULL) of->last_old = *(const int *)change->old_value;
  if (change->new_value != NULL) of->last_new = *(const int *)change->new_value;
  given(change, its_context);
}

static void never(const kvo_raw_change *change, void *user_data) {
  (void)change, (void)user_data;
  abort();
}
static void count_end(void *user_data) { ((captured *)user_data)->destroyed++; }

static kvo_observation observe(item *object, int options, captured *by) {
  static const kvo_observer_ops ops = {.callback = never, .destroy = count_end};
  kvo_binding_observer observer = {.key_path = "value",
                                   .options = (kvo_options)options,
                                   .ops = &ops,
                                   .user_data = by,
                                   .deliver = (kvo_raw_callback)(void *)deliver,
                                   .closure = closure};
  kvo_observation id;
  CHECK_OK(kvo_binding_observe_key(as_object(object), key("value"), &observer, &id));
  return id;
}

static void set_framed(item *object, int value) {
  kvo_frame frame;
  int old_value = object->value;
  uint32_t wants = kvo_frame_enter(&frame, as_object(object), key("value"));
  if ((wants & KVO_FRAME_WANTS_WILL) != 0) kvo_frame_will(&frame, &old_value);
  object->value = value;
  if (wants != 0) kvo_frame_finish_with(&frame, &old_value, &object->value);
}

TEST("a closure is called for each change, with its context, however the change is made, and destroyed once") {
  item *object = item_make(1);
  kvo_observation ids[] = {observe(object, KVO_NEW | KVO_OLD, &first), observe(object, KVO_PRIOR | KVO_NEW, &second)};
  set_framed(object, 2);
  CHECK_EQ(first.calls, 1);
  CHECK_EQ(first.last_old, 1);
  CHECK_EQ(first.last_new, 2);
  CHECK_EQ(first.priors, 0);
  CHECK_EQ(second.priors, 1);
  CHECK_EQ(second.last_new, 2);
  CHECK_OK(kvo_remove_observer(ids[1]));
  set_framed(object, 3);
  kvo_change_word(as_object(object), key("value"), &(uint64_t){0}, 4);
  CHECK_EQ(first.calls, 3);
  CHECK_EQ(second.calls, 1);
  CHECK_OK(kvo_observation_pause(ids[0]));
  set_framed(object, 5);
  CHECK_EQ(first.calls, 3);
  CHECK_OK(kvo_observation_resume(ids[0], false));
  CHECK_OK(kvo_will_change(as_object(object), "value"));
  CHECK_OK(kvo_did_change(as_object(object), "value"));
  CHECK_EQ(first.calls, 4);
  CHECK_OK(kvo_cancel_observer_and_wait(ids[0]));
  CHECK_EQ(first.destroyed, 1);
  CHECK_EQ(second.destroyed, 1);
  item_destroy(object);
}

TEST("closures and callbacks of one key are notified newest first") {
  item *object = item_make(1);
  watcher w = {.tag = 'w'};
  kvo_observation id = observe(object, KVO_NONE, &first);
  watch(object, "value", KVO_NEW, &w);
  kvo_observation other = observe(object, KVO_NEW, &second);
  item_set_value(object, 2);
  set_framed(object, 3);
  CHECK_EQ(first.calls, 2);
  CHECK_EQ(second.calls, 2);
  CHECK_EQ(w.calls, 2);
  CHECK_OK(kvo_remove_observer(id));
  CHECK_OK(kvo_remove_observer(other));
  CHECK_OK(kvo_remove_observer(w.id));
  item_destroy(object);
}

#else

TEST("the compiler does not know Swift's calling convention") { harness_skip("it is gcc"); }

#endif

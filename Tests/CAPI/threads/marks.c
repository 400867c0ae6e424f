/* marks.c - what a thread has told or evaluated before holds up nobody: who waits for it waits only while it runs. */
#include "shared.h"

#include <unistd.h>

static _Atomic int inside, let_go;

/* ------------------------------------------------------------------------------------------------- A slow setter -- */

typedef struct held {
  kvo_object header;
  _Atomic int value;
} held;

static int get_value(const held *of) { return of->value; }
static void set_value(held *of, int value) {
  of->value = value;
  atomic_store(&inside, 1);
  await(&let_go);
}

static kvo_object *held_make(void) {
  static const kvo_property_spec value = {
      .name = "value", .type = "i", .getter = (kvo_function)get_value, .setter = (kvo_function)set_value};
  kvo_class_spec spec = {.struct_size = sizeof spec,
                         .name = "Held",
                         .instance_size = sizeof(held),
                         .properties = &value,
                         .property_count = 1};
  kvo_class *cls;
  kvo_object *made;
  CHECK_OK(kvo_class_register(&spec, &cls));
  CHECK_OK(kvo_object_create(cls, &made));
  return made;
}

static shared *object, *other;
static kvo_object *slow;
static _Atomic int calls, destroyed;

static void set_both(void *arg) {
  (void)arg;
  set(object, 1);
  set(object, 2);
  KVO_SET(slow, "value", int, 1);
}

TEST("a wait for an observation does not wait for a setter that runs after its callback has returned") {
  alarm(60); /* instead of a hang */
  object = shared_make();
  slow = held_make();
  kvo_observation told_before = observe(object, "value", KVO_NONE, &calls, &destroyed);
  kvo_observation told_after = observe((shared *)(void *)slow, "value", KVO_NEW, &calls, &destroyed);
  running *setter = start_thread(set_both, NULL);
  await(&inside);
  CHECK_EQ((int)calls, 2);
  CHECK_OK(kvo_cancel_observer_and_wait(told_before));
  CHECK_EQ((int)destroyed, 1);
  atomic_store(&let_go, 1);
  join_thread(setter);
  CHECK_EQ((int)calls, 3);
  CHECK_OK(kvo_cancel_observer(told_after));
  shared_destroy(object);
  kvo_object_destroy(slow);
}

/* ------------------------------------------------------------------------------------------------- An evaluation -- */

static bool stays; /* used by one thread only */

static void stay(const kvo_change *change, void *user_data) {
  (void)change, (void)user_data;
  if (!stays) return;
  atomic_store(&inside, 1);
  await(&let_go);
}

static void evaluate_and_stay(void *arg) {
  (void)arg;
  set(other, 1);
  (void)observe(object, "next.value", KVO_NEW | KVO_ENDS_WITH_OBJECT, &calls, &destroyed);
  stays = true;
  set(other, 2);
}

TEST("the death of an object does not wait for the callback of another one on a thread that has evaluated it before") {
  alarm(60);
  object = shared_make();
  other = shared_make();
  set_next(object, other);
  kvo_observation staying = observe_with(other, "value", KVO_NONE, stay, NULL);
  running *setter = start_thread(evaluate_and_stay, NULL);
  await(&inside);
  shared_destroy(object);
  atomic_store(&let_go, 1);
  join_thread(setter);
  CHECK_EQ((int)destroyed, 1);
  CHECK_OK(kvo_cancel_observer(staying));
  shared_destroy(other);
}

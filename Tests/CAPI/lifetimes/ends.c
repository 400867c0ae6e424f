/* ends.c - who is told of an end: of an observation, and of an object; and the end of many observations at once. */
#include "allocator.h"
#include "fixture.h"

#include <kvo/kvo_binding.h>
#include <stdlib.h>
#include <string.h>

/* ------------------------------------------------------------------------------------------------ Of an observation -- */

typedef struct ending {
  int calls;
  kvo_end reason;
  int destroyed_before;
  const watcher *of;
} ending;

static void note_end(kvo_end end, void *arg) {
  ending *into = arg;
  into->calls++;
  into->reason = end;
  if (into->of != NULL) into->destroyed_before = into->of->destroyed;
}

TEST("the end of an observation is told once, with its reason, after the user data was destroyed") {
  item *object = item_make(1);
  watcher removed = {.tag = 'r'}, died = {.tag = 'd'};
  ending of_removed = {.of = &removed}, of_died = {.of = &died}, second = {0};
  watch(object, "value", KVO_NEW | KVO_ENDS_WITH_OBJECT, &removed);
  watch(object, "value", KVO_NEW | KVO_ENDS_WITH_OBJECT, &died);
  CHECK_OK(kvo_observation_on_end(removed.id, note_end, &of_removed));
  CHECK_OK(kvo_observation_on_end(died.id, note_end, &of_died));
  CHECK_OK(kvo_observation_on_end(died.id, note_end, &second));
  CHECK_OK(kvo_cancel_observer(removed.id));
  CHECK_EQ(of_removed.calls, 1);
  CHECK_EQ((int)of_removed.reason, KVO_END_REMOVED);
  CHECK_EQ(of_removed.destroyed_before, 1);
  CHECK_EQ(of_died.calls, 0);
  item_destroy(object);
  CHECK_EQ(of_died.calls, 1);
  CHECK_EQ(second.calls, 1);
  CHECK_EQ((int)of_died.reason, KVO_END_OBJECT_DIED);
  CHECK_EQ(of_died.destroyed_before, 1);
  CHECK_EQ(of_removed.calls, 1);
}

TEST("the end of an expression's observation is told in the same way") {
  item *object = item_make(1), *next = item_make(2);
  object->next = next;
  watcher removed = {.tag = 'r'}, died = {.tag = 'd'};
  ending of_removed = {.of = &removed}, of_died = {.of = &died};
  watch(object, "next.value", KVO_NEW | KVO_ENDS_WITH_OBJECT, &removed);
  watch(object, "next.value", KVO_NEW | KVO_ENDS_WITH_OBJECT, &died);
  CHECK_OK(kvo_observation_on_end(removed.id, note_end, &of_removed));
  CHECK_OK(kvo_observation_on_end(died.id, note_end, &of_died));
  CHECK_OK(kvo_cancel_observer(removed.id));
  CHECK_EQ(of_removed.calls, 1);
  CHECK_EQ((int)of_removed.reason, KVO_END_REMOVED);
  item_destroy(object);
  CHECK_EQ(of_died.calls, 1);
  CHECK_EQ((int)of_died.reason, KVO_END_OBJECT_DIED);
  CHECK_EQ(of_died.destroyed_before, 1);
  item_destroy(next);
}

static ending told_within;

static void end_within(watcher *self, const kvo_change *change) {
  (void)change;
  CHECK_OK(kvo_cancel_observer(self->id));
  CHECK_EQ(told_within.calls, 0);
}

TEST("an end within the callback is told when the callback has returned") {
  item *object = item_make(1);
  watcher own = {.tag = 'o', .then = end_within};
  watch(object, "value", KVO_NEW, &own);
  told_within = (ending){.of = &own};
  CHECK_OK(kvo_observation_on_end(own.id, note_end, &told_within));
  item_set_value(object, 2);
  CHECK_EQ(told_within.calls, 1);
  CHECK_EQ(told_within.destroyed_before, 1);
  item_destroy(object);
}

TEST("an observation that has ended tells nothing more") {
  item *object = item_make(1);
  watcher own = {.tag = 'o'};
  watch(object, "value", KVO_NEW, &own);
  CHECK_OK(kvo_cancel_observer(own.id));
  ending never = {0};
  CHECK_EQ(kvo_observation_on_end(own.id, note_end, &never), KVO_ERROR_NOT_REGISTERED);
  CHECK_EQ(kvo_observation_on_end(0, note_end, &never), KVO_ERROR_NOT_REGISTERED);
  CHECK_EQ(never.calls, 0);
  item_destroy(object);
}

/* ----------------------------------------------------------------------------------------------------- Of an object -- */

static void count(void *user_data) { ++*(int *)user_data; }
static const kvo_observer_ops death_ops = {.destroy = count};

TEST("a watch of an object's death is called once, at the death") {
  item *object = item_make(1);
  int calls = 0, others = 0;
  kvo_observation id, other;
  CHECK_OK(kvo_binding_observe_death(as_object(object), &death_ops, &calls, &id));
  CHECK_OK(kvo_binding_observe_death(as_object(object), &death_ops, &others, &other));
  CHECK_OK(kvo_cancel_observer(other));
  CHECK_EQ(others, 1);
  CHECK_EQ(calls, 0);
  item_destroy(object);
  CHECK_EQ(calls, 1);
  CHECK_EQ(others, 1);
  CHECK_EQ(kvo_cancel_observer(id), KVO_ERROR_NOT_REGISTERED);
}

TEST("a watch of its death does not make an object an observed one") {
  item *object = item_make(1);
  kvo_function plain = kvo_object_setter(as_object(object), "value");
  int calls = 0;
  kvo_observation ids[3];
  for (int i = 0; i < 3; i++) CHECK_OK(kvo_binding_observe_death(as_object(object), &death_ops, &calls, &ids[i]));
  CHECK(!kvo_object_is_observed(as_object(object)));
  CHECK(kvo_object_setter(as_object(object), "value") == plain);
  watcher own = {.tag = 'o'};
  watch(object, "value", KVO_NEW, &own);
  CHECK(kvo_object_is_observed(as_object(object)));
  item_set_value(object, 2);
  CHECK_EQ(own.calls, 1);
  CHECK_OK(kvo_cancel_observer(own.id));
  CHECK(!kvo_object_is_observed(as_object(object)));
  CHECK_OK(kvo_cancel_observer(ids[1]));
  CHECK(!kvo_object_is_observed(as_object(object)));
  watch(object, "value", KVO_NEW, &own);
  for (int i = 0; i < 3; i += 2) CHECK_OK(kvo_cancel_observer(ids[i]));
  CHECK(kvo_object_is_observed(as_object(object)));
  CHECK_EQ(calls, 3);
  CHECK_OK(kvo_cancel_observer(own.id));
  CHECK(!kvo_object_is_observed(as_object(object)));
  item_destroy(object);
}

static void observe_again(void *user_data) {
  kvo_observation id;
  CHECK_EQ(kvo_binding_observe_death(user_data, &death_ops, NULL, &id), KVO_ERROR_DYING_OBJECT);
}

TEST("nothing is registered with an object in the watch of its death") {
  static const kvo_observer_ops ops = {.destroy = observe_again};
  item *object = item_make(1);
  kvo_observation id;
  CHECK_OK(kvo_binding_observe_death(as_object(object), &ops, as_object(object), &id));
  item_destroy(object);
}

static size_t seen_observations;
static void see_observation(const kvo_fault_observation *each, void *arg) {
  (void)each, (void)arg;
  seen_observations++;
}

TEST("a watch of a death is no observation of the object") {
  item *object = item_make(1);
  int calls = 0;
  kvo_observation id;
  CHECK_OK(kvo_binding_observe_death(as_object(object), &death_ops, &calls, &id));
  seen_observations = 0;
  kvo_object_visit_observations(as_object(object), see_observation, NULL);
  CHECK_EQ((int)seen_observations, 0);
  CHECK_EQ((int)kvo_object_observation_count(as_object(object)), 0);
  item_destroy(object);
}

/* ------------------------------------------------------------------------------------------------ Of many at once -- */

static void ignore(const kvo_raw_change *change, void *user_data) { (void)change, (void)user_data; }
static const kvo_observer_ops ops = {.callback = ignore, .destroy = count};

static kvo_observation receive(item *object, const char *key, const void *receiver, bool is_receiver, int *ended) {
  kvo_binding_observer observer = {.key_path = key,
                                   .ops = &ops,
                                   .user_data = ended,
                                   .identity = {"Receiver", receiver},
                                   .options = KVO_ENDS_WITH_OBJECT,
                                   .note = "on a queue",
                                   .is_receiver = is_receiver};
  kvo_observation id;
  CHECK_OK(kvo_binding_observe_key(as_object(object), kvo_key_hash(key, strlen(key)), &observer, &id));
  return id;
}

TEST("the observations of one receiver are ended by object and key path, by object, or everywhere") {
  item *first = item_make(1), *second = item_make(2);
  int ended = 0, others = 0;
  char me = 0, other = 0;
  for (int i = 0; i < 20; i++) receive(first, "value", &me, true, &ended);
  receive(first, "other", &me, true, &ended);
  receive(second, "value", &me, true, &ended);
  receive(first, "value", &other, true, &others);
  kvo_observation classic = receive(first, "value", &me, false, &others);
  CHECK_EQ((int)kvo_binding_end_all(as_object(first), &me, "name", true, NULL, 0), 0);
  CHECK_EQ((int)kvo_binding_end_all(as_object(first), &me, "value", true, NULL, 0), 20);
  CHECK_EQ(ended, 20);
  CHECK_EQ((int)kvo_binding_end_all(as_object(first), &me, NULL, true, NULL, 0), 1);
  CHECK_EQ((int)kvo_binding_end_all(as_object(first), &me, NULL, true, NULL, 0), 0);
  for (int i = 0; i < 20; i++) receive(i % 2 == 0 ? first : second, "value", &me, true, &ended);
  CHECK_EQ((int)kvo_binding_end_all(NULL, &me, NULL, true, NULL, 0), 21);
  CHECK_EQ(ended, 42);
  CHECK_EQ(others, 0);
  CHECK(kvo_observation_is_registered(classic));
  CHECK_EQ((int)kvo_binding_end_all(NULL, &me, NULL, false, NULL, 0), 1);
  CHECK_EQ(others, 1);
  item_destroy(first);
  item_destroy(second);
}

static item *growing;
static char busy;
static int late, late_ended;

/* As another thread does that goes on observing. */
static void observe_more(size_t size) {
  enum { NODES = 64 }; /* larger than these blocks is only the array of what was found */
  static bool within;
  if (within || size < NODES * sizeof(kvo_observation) || late == 1000) return;
  within = true;
  receive(growing, "value", &busy, true, &late_ended);
  late++;
  within = false;
}

TEST("the end of many observations comes to its end while others are registered") {
  use_counting_allocator();
  growing = item_make(1);
  int ended = 0;
  for (int i = 0; i < 200; i++) receive(growing, "value", &busy, true, &ended);
  before_allocation = observe_more;
  CHECK_EQ((int)kvo_binding_end_all(as_object(growing), &busy, "value", true, NULL, 0), 200);
  before_allocation = NULL;
  CHECK(late > 0);
  CHECK_EQ((int)kvo_binding_end_all(NULL, &busy, NULL, true, NULL, 0), late);
  CHECK_EQ(late_ended, late);
  CHECK_EQ(ended, 200);
  item_destroy(growing);
}

TEST_REPORTED("removal by observer and key path does not find the observation of a receiver") {
  item *object = item_make(1);
  int ended = 0;
  char me = 0;
  receive(object, "value", &me, true, &ended);
  ignore_faults();
  CHECK_EQ(kvo_remove_observer_for(as_object(object), &me, "value"), KVO_ERROR_NOT_REGISTERED);
  CHECK_EQ(ended, 0);
  item_destroy(object);
  CHECK_EQ(ended, 1);
}

typedef struct link {
  kvo_object header;
  kvo_object *next;
  double value;
} link_of;

static int finalized;
static void finalize_link(kvo_object *object) { finalized += ((link_of *)(void *)object)->next == NULL ? 1 : 10; }

static void note_old(const kvo_change *change, void *user_data) {
  const kvo_value *old = change->old_value;
  *(double *)user_data += old->bytes != NULL ? *(const double *)old->bytes : 1000;
}

TEST("objects of one path end in any order when their memory stays, and are nil on it from then on") {
  kvo_property_spec properties[] = {
      {.name = "next", .type = "@", .flags = KVO_PROPERTY_AT_OFFSET, .offset = offsetof(link_of, next)},
      {.name = "value", .type = "d", .flags = KVO_PROPERTY_AT_OFFSET, .offset = offsetof(link_of, value)}};
  kvo_class_spec spec = {.struct_size = sizeof spec,
                         .name = "Link",
                         .instance_size = sizeof(link_of),
                         .properties = properties,
                         .property_count = 2,
                         .finalize = finalize_link};
  kvo_class *cls;
  CHECK_OK(kvo_class_register(&spec, &cls));
  CHECK_EQ((int)kvo_class_instance_size(cls), (int)sizeof(link_of));
  link_of *links[3];
  for (int i = 0; i < 3; i++) {
    links[i] = calloc(1, sizeof(link_of));
    CHECK_OK(kvo_object_init(&links[i]->header, cls));
    links[i]->next = i > 0 ? &links[i - 1]->header : NULL;
    links[i]->value = i + 1;
  }
  double told = 0;
  kvo_observer observer = {.struct_size = sizeof observer,
                           .key_path = "next.next.value",
                           .options = KVO_OLD | KVO_ENDS_WITH_OBJECT,
                           .callback = note_old,
                           .user_data = &told};
  kvo_observation id;
  CHECK_OK(kvo_add_observer(&links[2]->header, &observer, &id));
  CHECK(kvo_object_end(&links[0]->header)); /* the end of the path: 1 becomes nil */
  CHECK_EQ((int)told, 1);
  CHECK_SAME(kvo_object_class(&links[0]->header), NULL);
  CHECK(kvo_object_end(&links[1]->header)); /* which refers to one that has ended: nil stays nil */
  CHECK(told == 1 || told == 1001);
  CHECK(kvo_object_end(&links[2]->header));
  CHECK(!kvo_observation_is_registered(id));
  CHECK(kvo_object_end(&links[2]->header)); /* again: nothing happens */
  CHECK_EQ(finalized, 21);
  for (int i = 0; i < 3; i++) free(links[i]);
  CHECK_OK(kvo_class_unregister(cls));
}

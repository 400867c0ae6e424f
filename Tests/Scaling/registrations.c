/* registrations.c - the cost of registering, removing and listing among n observations. */
#include "scaling.h"

#include <kvo/kvo_binding.h>
#include <stddef.h>
#include <stdio.h>

static listener *listeners(size_t n) { return scaling_array(n, sizeof(listener)); }

static listener *listening(size_t n, item *to, const char *key_path) {
  listener *all = listeners(n);
  for (size_t i = 0; i < n; i++) listen(&all[i], as_object(to), key_path, KVO_NEW);
  return all;
}

ROW("register n observers of a key") {
  item *object = item_make(0);
  listener *all = listeners(n);
  MEASURE for (size_t i = 0; i < n; i++) listen(&all[i], as_object(object), "value", KVO_NEW);
}

ROW("register n observers of a path") {
  item *object = item_make(0), *next = item_make(1);
  item_set_next(object, next);
  listener *all = listeners(n);
  MEASURE for (size_t i = 0; i < n; i++) listen(&all[i], as_object(object), "next.value", KVO_NEW);
}

ROW("remove n observers of a key by id, at random") {
  item *object = item_make(0);
  const size_t *order = scaling_shuffled(n);
  listener *all = listening(n, object, "value");
  MEASURE for (size_t i = 0; i < n; i++) CHECK_OK(kvo_remove_observer(all[order[i]].id));
}

ROW("remove n observers of a key by observer, at random") {
  item *object = item_make(0);
  const size_t *order = scaling_shuffled(n);
  listener *all = listening(n, object, "value");
  MEASURE for (size_t i = 0; i < n; i++) CHECK_OK(kvo_remove_observer_for(as_object(object), &all[order[i]], "value"));
}

ROW("remove n observers of a key by observer, oldest first") {
  item *object = item_make(0);
  listener *all = listening(n, object, "value");
  MEASURE for (size_t i = 0; i < n; i++) CHECK_OK(kvo_remove_observer_for(as_object(object), &all[i], "value"));
}

ROW("remove n observers of a path by observer, at random") {
  item *object = item_make(0), *next = item_make(1);
  item_set_next(object, next);
  const size_t *order = scaling_shuffled(n);
  listener *all = listening(n, object, "next.value");
  MEASURE for (size_t i = 0; i < n; i++)
      CHECK_OK(kvo_remove_observer_for(as_object(object), &all[order[i]], "next.value"));
}

ROW("remove one observer that is registered n times") {
  item *object = item_make(0);
  listener *one = listeners(1);
  for (size_t i = 0; i < n; i++) listen(one, as_object(object), "value", KVO_NEW);
  MEASURE for (size_t i = 0; i < n; i++) CHECK_OK(kvo_remove_observer_for(as_object(object), one, "value"));
}

ROW("remove one observer that is registered with n contexts, by context at random") {
  item *object = item_make(0);
  const size_t *order = scaling_shuffled(n);
  listener *one = listeners(1);
  char *contexts = scaling_array(n, 1);
  for (size_t i = 0; i < n; i++) listen_for(one, as_object(object), "value", KVO_NEW, &contexts[i]);
  MEASURE for (size_t i = 0; i < n; i++)
      CHECK_OK(kvo_remove_observer_for_context(as_object(object), one, "value", &contexts[order[i]]));
}

ROW("end all observations of each of n observers of a key, at random") {
  item *object = item_make(0);
  const size_t *order = scaling_shuffled(n);
  listener *all = listening(n, object, "value");
  MEASURE for (size_t i = 0; i < n; i++)
      CHECK_EQ((int)kvo_binding_end_all(as_object(object), &all[order[i]], NULL, false, NULL, 0), 1);
}

ROW("end all observations of each of n observers of a path, oldest first") {
  item *object = item_make(0), *next = item_make(1);
  item_set_next(object, next);
  listener *all = listening(n, object, "next.value");
  MEASURE for (size_t i = 0; i < n; i++)
      CHECK_EQ((int)kvo_binding_end_all(as_object(object), &all[i], NULL, false, NULL, 0), 1);
}

ROW("remove n observers and wait") {
  item *object = item_make(0);
  listener *all = listening(n, object, "value");
  MEASURE for (size_t i = 0; i < n; i++) CHECK_OK(kvo_cancel_observer_and_wait(all[i].id));
}

static void count_one(const kvo_fault_observation *observation, void *arg) { ++*(size_t *)arg; }

ROW("list n observations") {
  item *object = item_make(0);
  listening(n, object, "value");
  size_t count = 0;
  MEASURE kvo_object_visit_observations(as_object(object), count_one, &count);
  CHECK_EQ(count, n);
}

ROW("an object with n observers dies") {
  item *object = item_make(0);
  listener *all = listeners(n);
  for (size_t i = 0; i < n; i++) listen(&all[i], as_object(object), "value", KVO_ENDS_WITH_OBJECT);
  MEASURE item_destroy(object);
}

ROW("one observer observes n objects, and is removed from each") {
  item **objects = scaling_array(n, sizeof *objects);
  listener *one = listeners(1);
  for (size_t i = 0; i < n; i++) objects[i] = item_make(0);
  MEASURE {
    for (size_t i = 0; i < n; i++) listen(one, as_object(objects[i]), "value", KVO_NEW);
    for (size_t i = 0; i < n; i++) CHECK_OK(kvo_remove_observer_for(as_object(objects[i]), one, "value"));
  }
}

ROW("n objects are observed and die") {
  listener *all = listeners(n);
  MEASURE for (size_t i = 0; i < n; i++) {
    item *object = item_make(0);
    listen(&all[i], as_object(object), "value", KVO_ENDS_WITH_OBJECT);
    item_destroy(object);
  }
}

static void ignore_end(kvo_end end, void *arg) {}

ROW("remove n observers of a key, each with a function that is notified of the end") {
  item *object = item_make(0);
  listener *all = listeners(n);
  for (size_t i = 0; i < n; i++) {
    listen(&all[i], as_object(object), "value", KVO_NEW);
    CHECK_OK(kvo_observation_on_end(all[i].id, ignore_end, NULL));
  }
  MEASURE for (size_t i = 0; i < n; i++) kvo_cancel_observer(all[i].id);
}

ROW("remove n observers without user data by context, at random") {
  item *object = item_make(0);
  const size_t *order = scaling_shuffled(n);
  listener *contexts = listeners(n);
  for (size_t i = 0; i < n; i++) {
    kvo_observer observer = observer_by("value", KVO_NONE, ignore_change, NULL);
    observer.context = &contexts[i];
    CHECK_OK(kvo_add_observer(as_object(object), &observer, NULL));
  }
  MEASURE for (size_t i = 0; i < n; i++)
      CHECK_OK(kvo_remove_observer_for_context(as_object(object), NULL, "value", &contexts[order[i]]));
}

static kvo_action ignore_fault(const kvo_fault *fault, void *arg) { return KVO_ACTION_IGNORE; }

ROW("report an object that dies with n observed keys") {
  enum { LONGEST = 24 };
  kvo_property_spec *keys = scaling_array(n, sizeof *keys);
  char *names = scaling_array(n, LONGEST);
  for (size_t i = 0; i < n; i++) {
    snprintf(names + LONGEST * i, LONGEST, "key%zu", i);
    keys[i] = (kvo_property_spec){
        .name = names + LONGEST * i, .type = "i", .flags = KVO_PROPERTY_AT_OFFSET, .offset = offsetof(item, value)};
  }
  kvo_object *object = object_made("Wide", sizeof(item), keys, n);
  listener *all = listeners(n);
  for (size_t i = 0; i < n; i++) listen(&all[i], object, keys[i].name, KVO_NEW);
  kvo_set_fault_handler(ignore_fault, NULL);
  MEASURE kvo_object_destroy(object);
}

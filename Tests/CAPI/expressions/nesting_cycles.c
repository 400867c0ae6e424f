/* nesting_cycles.c - what is a cycle of nested deliveries, and what is not; and who is reported to form it. */
#include "nested.h"

#include <string.h>

/* -------------------------------------------------------------------------------------------- What is reported -- */

static void set_again(const kvo_change *change, void *user_data) {
  notified++;
  item *object = (item *)change->object;
  item_set_value(object, object->value + 1);
}

static void look_at_new(const kvo_change *change, void *user_data) {
  *(int *)user_data = (int)see(change->new_value).integer;
}

TEST("an observer that sets what it observes is KVO0023, which names the limit; if ignored, the program goes on") {
  ignore_faults();
  item *object = item_make(0);
  int seen = 0, seen_new = 0;
  kvo_observation ids[] = {observe_value(object, look, &seen), observe_value(object, set_again, NULL),
                           observe_with(object, KVO_NEW, look_at_new, &seen_new)};
  item_set_value(object, 1);
  CHECK_FAULTS(1, KVO_FAULT_RECURSION);
  CHECK_CONTAINS(faults.summary, "KVO0023 fatal: an observer sets the property that it observes; it nests ");
  CHECK_CONTAINS(faults.summary, " deep, and the stack is full: \"value\" of Item@0x");
  CHECK_CONTAINS(faults.report, "set_again");
  /* Passive observers have the last value. */
  CHECK_EQ(seen, object->value);
  CHECK_EQ(seen_new, object->value);
  /* The cycle has ended: the next change notifies as usual. */
  notified = 0;
  item_set_value(object, 1);
  CHECK(notified > 1000);
  CHECK_EQ(faults.count, 2);
  for (int i = 0; i < 3; i++) CHECK_OK(kvo_remove_observer(ids[i]));
  item_destroy(object);
}

static void set_to_three(const kvo_change *change, void *user_data) {
  notified++;
  item_set_value(user_data, 3);
}

static void set_to_next(const kvo_change *change, void *user_data) {
  notified++;
  item_set_value(user_data, ((item *)change->object)->value % 2 + 1);
}

TEST("two observers that set what the other observes, with repeating values, are KVO0024, which shows both") {
  ignore_faults();
  item *a = item_make(0), *b = item_make(0);
  int seen[2] = {0};
  kvo_observation ids[] = {observe_with(a, KVO_NEW, set_to_next, b), observe_with(b, KVO_NEW, set_to_three, a),
                           observe_value(a, look, &seen[0]), observe_value(b, look, &seen[1])};
  item_set_value(a, 1);
  CHECK_FAULTS(1, KVO_FAULT_UNSETTLED);
  CHECK_CONTAINS(faults.summary, "KVO0024 error: 2 observations form a cycle and receive the same values again");
  CHECK_CONTAINS(faults.summary, " -> \"value\" of Item@0x");
  CHECK_EQ(faults.observation_count, 2);
  CHECK_CONTAINS(faults.report, "callback set_to_next");
  CHECK_CONTAINS(faults.report, "callback set_to_three");
  CHECK_SAME(strstr(faults.report, "deliveries in progress"), NULL); /* they are those of the list */
  CHECK(notified < 50000); /* a cycle with repeating values is not tried again */
  CHECK_EQ(seen[0], a->value);
  CHECK_EQ(seen[1], b->value);
  for (int i = 0; i < 4; i++) CHECK_OK(kvo_remove_observer(ids[i]));
  item_destroy(a);
  item_destroy(b);
}

TEST("two observers whose values do not repeat, or are not delivered, are KVO0023, because they might end") {
  ignore_faults();
  item *a = item_make(0), *b = item_make(0);
  kvo_observation ids[] = {observe_with(a, KVO_NEW, set_other, b), observe_with(b, KVO_NEW, set_other, a)};
  item_set_value(a, 1);
  CHECK_EQ((int)faults.code, KVO_FAULT_RECURSION);
  CHECK_CONTAINS(faults.summary, "KVO0023 fatal: 2 observations form a cycle; they nest ");
  for (int i = 0; i < 2; i++) CHECK_OK(kvo_remove_observer(ids[i]));
  ids[0] = observe_value(a, set_to_next, b);
  ids[1] = observe_value(b, set_to_three, a);
  item_set_value(a, 1);
  CHECK_FAULTS(2, KVO_FAULT_RECURSION);
  for (int i = 0; i < 2; i++) CHECK_OK(kvo_remove_observer(ids[i]));
  item_destroy(a);
  item_destroy(b);
}

/* Three observers, each of which sets what the next one observes, from these files; returns those of the report's first line in order. */
static void check_order(const char *const files[3], const char *expected) {
  item *ring[] = {item_make(0), item_make(0), item_make(0)};
  kvo_observation ids[3];
  for (int i = 0; i < 3; i++) {
    kvo_observer observer = observer_by("value", KVO_NONE, set_other, ring[(i + 1) % 3]);
    observer.file = files[i];
    CHECK_OK(kvo_add_observer(as_object(ring[i]), &observer, &ids[i]));
  }
  item_set_value(ring[0], 1);
  char found[16] = "";
  size_t count = 0;
  for (const char *at = faults.summary; (at = strstr(at, "\"value\" of Item@0x")) != NULL; at++) {
    const char *end = strstr(at, " -> "), *file = strchr(at, '(');
    bool has_file = file != NULL && (end == NULL || file < end);
    if (count + 1 < sizeof found) found[count++] = has_file ? file[1] : '-';
  }
  CHECK_EQ(&found[0], expected);
  for (int i = 0; i < 3; i++) CHECK_OK(kvo_remove_observer(ids[i]));
  for (int i = 0; i < 3; i++) item_destroy(ring[i]);
}

TEST("the report of a cycle begins with the observer that is first in the sources, whichever was first to be called") {
  ignore_faults();
  check_order((const char *[]){"b.c", "a.c", "c.c"}, "acb");
  check_order((const char *[]){"c.c", "b.c", NULL}, "-cb");
}

/* ----------------------------------------------------------------------------------------- Which values repeat -- */

static void set_both(const kvo_change *change, void *user_data) {
  item **pair = user_data;
  notified++;
  for (int i = 0; i < 2; i++) item_set_value(pair[i], pair[i]->value + 1);
}

TEST("a cycle that branches ends after one report, not in time exponential in its depth") {
  ignore_faults();
  item *pair[] = {item_make(0), item_make(0)};
  int seen[2] = {0};
  kvo_observation ids[] = {observe_value(pair[0], set_both, pair), observe_value(pair[1], set_both, pair),
                           observe_value(pair[0], look, &seen[0]), observe_value(pair[1], look, &seen[1])};
  item_set_value(pair[0], 1);
  CHECK_EQ(faults.count, 1);
  CHECK(notified < 1000000);
  for (int i = 0; i < 2; i++) CHECK_EQ(seen[i], pair[i]->value);
  for (int i = 0; i < 4; i++) CHECK_OK(kvo_remove_observer(ids[i]));
  for (int i = 0; i < 2; i++) item_destroy(pair[i]);
}

static void name_the_same(watcher *self, const kvo_change *change) { item_set_name(self->then_arg, "same"); }

TEST("strings of C are compared as they were delivered, although a nested change may have freed them") {
  ignore_faults();
  item *pair[] = {item_make(0), item_make(0)};
  watcher w[2] = {{.then = name_the_same, .then_arg = pair[1]}, {.then = name_the_same, .then_arg = pair[0]}};
  for (int i = 0; i < 2; i++) watch(pair[i], "name", KVO_NEW, &w[i]);
  item_set_name(pair[0], "first");
  CHECK_EQ((int)faults.code, KVO_FAULT_UNSETTLED);
  for (int i = 0; i < 2; i++) CHECK_OK(kvo_remove_observer(w[i].id));
  for (int i = 0; i < 2; i++) item_destroy(pair[i]);
}

/* ---------------------------------------------------------------------------------------- How many are a cycle -- */

static void set_other_value(const kvo_change *change, void *user_data) {
  if (++notified < 20) item_set_value((item *)change->object, !((item *)change->object)->value);
}

/* Has an observer whose values alternate nest as deep as KVO_MAX_DEPTH allows, and checks the report. */
static void check_alternating(const char *expected) {
  ignore_faults();
  item *object = item_make(0);
  kvo_observation id = observe_with(object, KVO_NEW, set_other_value, NULL);
  item_set_value(object, 1);
  CHECK_EQ(faults.count, 1);
  CHECK_CONTAINS(faults.summary, expected);
  CHECK_OK(kvo_remove_observer(id));
  item_destroy(object);
}

TEST("three deliveries to an observer are no cycle yet") {
  harness_environment("KVO_MAX_DEPTH", "3");
  check_alternating("a long chain of 3 nested deliveries without a cycle");
}

TEST("the fifth delivery repeats a round of values that alternate") {
  harness_environment("KVO_MAX_DEPTH", "5");
  check_alternating(
      "an observer sets the property that it observes, and receives the same values again and again; it nests 5");
}

/* The Thue-Morse sequence, in which nothing occurs three times in a row. */
static void set_either(const kvo_change *change, void *user_data) {
  item *next = ((item **)user_data)[__builtin_parity((unsigned)++notified)];
  if (notified < 200) item_set_value(next, next->value + 1);
}

TEST("two observers that set each other irregularly are reported as such when each was called four times") {
  harness_environment("KVO_MAX_DEPTH", "8");
  ignore_faults();
  item *objects[] = {item_make(0), item_make(0)};
  for (int i = 0; i < 2; i++) observe_value(objects[i], set_either, objects);
  item_set_value(objects[0], 1);
  CHECK_CONTAINS(faults.summary, "2 observations call each other again and again, 8 deep");
  CHECK_CONTAINS(faults.report, "find out which of their callbacks sets which property, and let one of them not.");
}

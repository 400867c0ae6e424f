/* nesting_cycles.c - nested deliveries that form a cycle are broken, and the report says which observations form it. */
#include "nested.h"

#include <stdio.h>
#include <string.h>

static void set_again(const kvo_change *change, void *user_data) {
  (void)user_data;
  told++;
  item *object = (item *)change->object;
  item_set_value(object, object->value + 1);
}

static void look_at_new(const kvo_change *change, void *user_data) {
  *(int *)user_data = (int)see(change->new_value).integer;
}

TEST(
    "an observer that sets what it observes is KVO0023, which names the limit; if a handler goes on, so does the program") {
  ignore_faults();
  item *object = item_make(0);
  int seen = 0, seen_new = 0;
  kvo_observation ids[] = {observe_value(object, look, &seen), observe_value(object, set_again, NULL),
                           observe_with(object, KVO_NEW, look_at_new, &seen_new)};
  item_set_value(object, 1);
  CHECK_EQ((int)faults.code, KVO_FAULT_RECURSION);
  CHECK_EQ(faults.count, 1);
  CHECK_CONTAINS(faults.summary, "KVO0023 fatal: an observer sets the property that it observes; it nests ");
  CHECK_CONTAINS(faults.summary, " deep, and the stack is full: \"value\" of Item@0x");
  CHECK_CONTAINS(faults.report, "set_again");
  /* Passive observers have the last value. */
  CHECK_EQ(seen, object->value);
  CHECK_EQ(seen_new, object->value);
  /* The cycle has ended: the next change notifies as usual. */
  told = 0;
  item_set_value(object, 1);
  CHECK(told > 1000);
  CHECK_EQ(faults.count, 2);
  for (int i = 0; i < 3; i++) CHECK_OK(kvo_remove_observer(ids[i]));
  item_destroy(object);
}

static void set_to_three(const kvo_change *change, void *user_data) {
  (void)change;
  told++;
  item_set_value(user_data, 3);
}

static void set_to_next(const kvo_change *change, void *user_data) {
  told++;
  item_set_value(user_data, ((item *)change->object)->value % 2 + 1);
}

TEST(
    "two observers that set what the other observes, with repeating values, are KVO0024, with both in the first line and in the list") {
  ignore_faults();
  item *a = item_make(0), *b = item_make(0);
  int seen[2] = {0};
  kvo_observation ids[] = {observe_with(a, KVO_NEW, set_to_next, b), observe_with(b, KVO_NEW, set_to_three, a),
                           observe_value(a, look, &seen[0]), observe_value(b, look, &seen[1])};
  item_set_value(a, 1);
  CHECK_EQ((int)faults.code, KVO_FAULT_UNSETTLED);
  CHECK_EQ(faults.count, 1);
  CHECK_CONTAINS(faults.summary, "KVO0024 error: 2 observations form a cycle and receive the same values again");
  CHECK_CONTAINS(faults.summary, " -> \"value\" of Item@0x");
  CHECK_EQ(faults.observation_count, 2);
  CHECK_CONTAINS(faults.report, "callback set_to_next");
  CHECK_CONTAINS(faults.report, "callback set_to_three");
  CHECK_SAME(strstr(faults.report, "deliveries in progress"), NULL); /* they are those of the list */
  CHECK(told < 50000); /* a cycle with repeating values is not tried again */
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
  CHECK_EQ((int)faults.code, KVO_FAULT_RECURSION);
  CHECK_EQ(faults.count, 2);
  for (int i = 0; i < 2; i++) CHECK_OK(kvo_remove_observer(ids[i]));
  item_destroy(a);
  item_destroy(b);
}

/* An object whose number is read in place: what observers of enclosing changes were told is not there any more. */
typedef struct counter {
  kvo_object header;
  int number, told, most;
  struct counter *next;
} counter;

static kvo_object *counter_make(void) {
  static const kvo_property_spec number = {
      .name = "number", .type = "i", .flags = KVO_PROPERTY_AT_OFFSET, .offset = offsetof(counter, number)};
  static kvo_class *cls;
  kvo_class_spec spec = {.struct_size = sizeof spec,
                         .name = "Counter",
                         .instance_size = sizeof(counter),
                         .properties = &number,
                         .property_count = 1};
  kvo_object *made;
  if (cls == NULL) CHECK_OK(kvo_class_register(&spec, &cls));
  CHECK_OK(kvo_object_create(cls, &made));
  return made;
}

static void count_on(const kvo_change *change, void *user_data) {
  counter *self = (counter *)change->object;
  (void)user_data;
  self->told = *(const int *)change->new_value->bytes;
  if (self->told < self->most) KVO_SET(&self->next->header, "number", int, self->told + 1);
}

static void set_back(const kvo_change *change, void *user_data) {
  counter *self = (counter *)change->object;
  (void)user_data;
  self->told = *(const int *)change->new_value->bytes;
  KVO_SET(&self->next->header, "number", int, self->told > 3 ? 3 : self->told + 1);
}

/* Lets two counters set each other. */
static void count(kvo_callback callback, int most, bool has_second) {
  counter *pair[] = {(counter *)counter_make(), (counter *)counter_make()};
  kvo_observation ids[4] = {0};
  watcher others[2] = {0};
  for (int i = 0; i < 2; i++) {
    *pair[i] = (counter){.header = pair[i]->header, .most = most, .next = pair[1 - i]};
    kvo_observer observer = {
        .struct_size = sizeof observer, .key_path = "number", .options = KVO_NEW, .callback = callback};
    CHECK_OK(kvo_add_observer(&pair[i]->header, &observer, &ids[i]));
    observer = watcher_observer("number", KVO_NONE, &others[i]);
    if (has_second) CHECK_OK(kvo_add_observer(&pair[i]->header, &observer, &ids[2 + i])); /* it is told before */
  }
  KVO_SET(&pair[0]->header, "number", int, 1);
  for (int i = 0; i < 2 && most > 0; i++) CHECK_EQ(pair[i]->told, pair[i]->number);
  if (most > 0) CHECK_EQ(pair[most % 2 == 0]->told, most);
  for (int i = 0; i < 4; i++)
    if (ids[i] != 0) CHECK_OK(kvo_remove_observer(ids[i]));
  for (int i = 0; i < 2; i++) kvo_object_destroy(&pair[i]->header);
}

TEST("numbers that are read in place and count up do not repeat: where a limit stops them the last one is told") {
  harness_environment("KVO_MAX_DEPTH", "16");
  ignore_faults();
  for (int has_second = 0; has_second < 2; has_second++) {
    for (int most = 50; most < 54; most++) count(count_on, most, has_second);
    CHECK_EQ((int)faults.code, KVO_FAULT_RECURSION);
  }
}

TEST("the same holds at the end of the stack") {
  ignore_faults();
  count(count_on, 30000, false);
  CHECK_EQ((int)faults.code, KVO_FAULT_RECURSION);
}

TEST("numbers that are read in place and do repeat are a cycle") {
  ignore_faults();
  for (int has_second = 0; has_second < 2; has_second++) {
    faults.code = 0;
    count(set_back, 0, has_second);
    CHECK_EQ((int)faults.code, KVO_FAULT_UNSETTLED);
  }
}

static void name_the_same(const kvo_change *change, void *user_data) {
  (void)change;
  item_set_name(user_data, "same");
}

TEST("strings of C are compared as they were told, although a nested change may have freed them") {
  ignore_faults();
  item *pair[] = {item_make(0), item_make(0)};
  kvo_observation ids[2];
  for (int i = 0; i < 2; i++) {
    kvo_observer observer = {.struct_size = sizeof observer,
                             .key_path = "name",
                             .options = KVO_NEW,
                             .callback = name_the_same,
                             .user_data = pair[1 - i]};
    CHECK_OK(kvo_add_observer(as_object(pair[i]), &observer, &ids[i]));
  }
  item_set_name(pair[0], "first");
  CHECK_EQ((int)faults.code, KVO_FAULT_UNSETTLED);
  for (int i = 0; i < 2; i++) CHECK_OK(kvo_remove_observer(ids[i]));
  for (int i = 0; i < 2; i++) item_destroy(pair[i]);
}

typedef struct place {
  const char *file;
  uint32_t line;
} place;

/* Makes a cycle of two observations from these places, by a change of either object, and checks that the first line begins with the first
 * observation. */
static void check_cycle(place first, place second, bool begins_with_first) {
  item *pair[] = {item_make(0), item_make(0)};
  const place places[] = {first, second};
  kvo_observation ids[2];
  char shown[2][64], expected[192];
  for (int i = 0; i < 2; i++) {
    kvo_observer observer = {.struct_size = sizeof observer,
                             .key_path = "value",
                             .callback = set_other,
                             .user_data = pair[1 - i],
                             .file = places[i].file,
                             .line = places[i].line};
    CHECK_OK(kvo_add_observer(as_object(pair[i]), &observer, &ids[i]));
    shown[i][0] = '\0';
    if (places[i].file != NULL)
      snprintf(shown[i], sizeof shown[i], " (%s:%u)", places[i].file, (unsigned)places[i].line);
  }
  snprintf(expected, sizeof expected, ": \"value\" of Item@%p%s -> \"value\" of Item@%p%s", (void *)pair[0], shown[0],
           (void *)pair[1], shown[1]);
  item_set_value(pair[begins_with_first ? 0 : 1], 1);
  CHECK_CONTAINS(faults.summary, expected);
  /* The first one's memory is used again first: of two from one place the one with the lesser id begins. */
  for (int i = 1; i >= 0; i--) CHECK_OK(kvo_remove_observer(ids[i]));
  for (int i = 0; i < 2; i++) item_destroy(pair[i]);
}

TEST("the first line shows a cycle in the order of the source locations, wherever it was cut") {
  harness_environment("KVO_MAX_DEPTH", "40");
  static const place pairs[][2] = {{{NULL, 0}, {"a.c", 1}},
                                   {{"a.c", 9}, {"b.c", 2}},
                                   {{"a.c", 9}, {"a.cc", 2}},
                                   {{"a.c", 2}, {"a.c", 9}},
                                   {{"a.c", 2}, {"a.c", 2}}};
  ignore_faults();
  for (size_t i = 0; i < 10; i++) check_cycle(pairs[i / 2][0], pairs[i / 2][1], i % 2 == 0);
}

static void set_both(const kvo_change *change, void *user_data) {
  item **pair = user_data;
  (void)change;
  told++;
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
  CHECK(told < 1000000);
  for (int i = 0; i < 2; i++) CHECK_EQ(seen[i], pair[i]->value);
  for (int i = 0; i < 4; i++) CHECK_OK(kvo_remove_observer(ids[i]));
  for (int i = 0; i < 2; i++) item_destroy(pair[i]);
}

/* The Thue-Morse sequence, in which nothing occurs three times in a row. */
static void set_either(const kvo_change *change, void *user_data) {
  item **pair = user_data;
  (void)change;
  if (++told > 20000) return;
  item *next = pair[__builtin_parity((unsigned)told)];
  item_set_value(next, next->value + 1);
}

TEST("two observers that set each other irregularly are KVO0023, which says that and nothing else") {
  ignore_faults();
  item *pair[] = {item_make(0), item_make(0)};
  kvo_observation ids[] = {observe_value(pair[0], set_either, pair), observe_value(pair[1], set_either, pair)};
  item_set_value(pair[0], 1);
  CHECK_EQ((int)faults.code, KVO_FAULT_RECURSION);
  CHECK_CONTAINS(faults.summary, "2 observations call each other again and again, ");
  CHECK_CONTAINS(faults.report,
                 "help: find out which of their callbacks sets which property, and let one of them not.");
  CHECK_SAME(strstr(faults.report, "without a cycle"), NULL);
  CHECK_SAME(strstr(faults.report, "shorten the chain"), NULL);
  for (int i = 0; i < 2; i++) CHECK_OK(kvo_remove_observer(ids[i]));
  for (int i = 0; i < 2; i++) item_destroy(pair[i]);
}

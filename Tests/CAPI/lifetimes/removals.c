/* removals.c - ends of observations: which of several a removal takes, also of those without an observer; ids; who is told of an end; and
 * the order of what a death does. */
#include "allocator.h"
#include "fixture.h"

#include <kvo/kvo_binding.h>
#include <stdio.h>
#include <string.h>

static kvo_key key_of(const char *key) { return kvo_key_hash(key, strlen(key)); }
static void ignore_change(const kvo_change *change, void *user_data) { (void)change, (void)user_data; }
static void ignore_raw(const kvo_raw_change *change, void *user_data) { (void)change, (void)user_data; }
static void count(void *user_data) { ++*(int *)user_data; }

/* ----------------------------------------------------------------------------------------------- By the observer -- */

TEST("observations without an observer are removed by key path, newest first, however many there are") {
  enum { MANY = 40 };
  item *object = item_make(0);
  kvo_observer observer = {.struct_size = sizeof observer, .key_path = "value", .callback = ignore_change};
  kvo_observation ids[MANY];
  for (int i = 0; i < MANY; i++) CHECK_OK(kvo_add_observer(as_object(object), &observer, &ids[i]));
  for (int i = MANY; i-- > 0;) {
    CHECK_OK(kvo_remove_observer_for(as_object(object), NULL, "value"));
    CHECK(!kvo_observation_is_registered(ids[i]));
    CHECK_EQ((int)kvo_object_observation_count(as_object(object)), i);
  }
  item_destroy(object);
}

static char me, contexts[6];
static const kvo_observer_identity identity = {NULL, &me};
static int fault_count;
static kvo_fault_code fault_code;
static kvo_observation listed[8];
static size_t listed_count;

static kvo_action list_observations(const kvo_fault *fault, void *arg) {
  (void)arg;
  fault_count++;
  fault_code = fault->code;
  listed_count = fault->observation_count;
  for (size_t i = 0; i < listed_count && i < 8; i++) listed[i] = fault->observations[i].observation;
  return KVO_ACTION_IGNORE;
}

/* Of a computed key: every second one as an expression. */
static void observe_in_turn(item *object, kvo_observation ids[6]) {
  static const kvo_observer_ops ops = {.callback = ignore_raw};
  for (int i = 0; i < 6; i++) {
    kvo_observer expression = {.struct_size = sizeof expression,
                               .key_path = "doubled",
                               .callback = ignore_change,
                               .user_data = &me,
                               .context = &contexts[i]};
    kvo_binding_observer direct = {
        .key_path = "doubled", .ops = &ops, .context = &contexts[i], .identity = {NULL, &me}};
    if (i % 2 == 0)
      CHECK_OK(kvo_add_observer(as_object(object), &expression, &ids[i]));
    else
      CHECK_OK(kvo_binding_observe_key(as_object(object), key_of("doubled"), &direct, &ids[i]));
  }
}

TEST_REPORTED(
    "an ambiguous removal takes the newest, and the fault lists the newest four, for a key as for an expression") {
  item *object = item_make(0);
  kvo_observation ids[6];
  kvo_set_fault_handler(list_observations, NULL);
  observe_in_turn(object, ids);
  for (int i = 6; i-- > 0;) {
    fault_count = 0;
    CHECK_OK(kvo_binding_remove(as_object(object), &identity, "doubled", NULL, false, NULL, 0));
    CHECK(!kvo_observation_is_registered(ids[i]));
    CHECK_EQ(fault_count, i > 0);
    if (i == 0) break;
    CHECK_EQ((int)fault_code, KVO_FAULT_AMBIGUOUS_REMOVAL);
    CHECK_EQ(listed_count, i < 3 ? i + 1 : 4);
    for (size_t n = 0; n < listed_count; n++) CHECK(listed[n] == ids[i - (int)n]);
  }
  item_destroy(object);
}

static char help[256];
static kvo_action keep_help(const kvo_fault *fault, void *arg) {
  (void)arg;
  CHECK_EQ((int)fault->code, KVO_FAULT_NOT_REGISTERED);
  snprintf(help, sizeof help, "%s", fault->help);
  return KVO_ACTION_IGNORE;
}

TEST_REPORTED(
    "a failed removal names what ends the observation of a receiver, and the context of an observer beside it") {
  static const kvo_observer_ops ops = {.callback = ignore_raw};
  static const char *const keys[] = {"value", "doubled"}; /* the second one is observed as an expression, too */
  item *object = item_make(0);
  kvo_set_fault_handler(keep_help, NULL);
  for (int i = 0; i < 2; i++) {
    kvo_binding_observer receiver = {.key_path = keys[i], .ops = &ops, .identity = {NULL, &me}, .is_receiver = true};
    kvo_observation of_receiver, classic;
    CHECK_OK(kvo_binding_observe_key(as_object(object), key_of(keys[i]), &receiver, &of_receiver));
    for (int with_context = 0; with_context < 2; with_context++) {
      kvo_status status =
          kvo_binding_remove(as_object(object), &identity, keys[i], &contexts[0], with_context != 0, NULL, 0);
      CHECK_STATUS(status, KVO_ERROR_NOT_REGISTERED);
      CHECK_CONTAINS((const char *)help, "as the receiver of a closure, not as an observer");
      CHECK_CONTAINS((const char *)help, "stopObserving(_:for:)");
    }
    kvo_observer observer = {.struct_size = sizeof observer,
                             .key_path = keys[i],
                             .callback = ignore_change,
                             .user_data = &me,
                             .context = &contexts[1]};
    CHECK_OK(kvo_add_observer(as_object(object), &observer, &classic));
    CHECK_STATUS(kvo_binding_remove(as_object(object), &identity, keys[i], &contexts[0], true, NULL, 0),
                 KVO_ERROR_NOT_REGISTERED);
    char expected[128];
    snprintf(expected, sizeof expected,
             "this observer observes this key path with context 0x%llx:", (unsigned long long)(uintptr_t)&contexts[1]);
    CHECK_CONTAINS((const char *)help, (const char *)expected);
    CHECK_OK(kvo_remove_observer(classic));
    CHECK_OK(kvo_remove_observer(of_receiver));
  }
  item_destroy(object);
}

TEST("all observations of a receiver are ended also without memory for a list of them") {
  static const kvo_observer_ops ops = {.callback = ignore_raw, .destroy = count};
  enum { MANY = 30 };
  use_counting_allocator();
  item *object = item_make(0);
  int ended = 0;
  kvo_binding_observer observer = {
      .key_path = "value", .ops = &ops, .user_data = &ended, .identity = {NULL, &me}, .is_receiver = true};
  kvo_observation id;
  for (int i = 0; i < MANY; i++) CHECK_OK(kvo_binding_observe_key(as_object(object), key_of("value"), &observer, &id));
  keeps_failing = 1;
  fail_in = 1;
  size_t count_of_ended = kvo_binding_end_all(as_object(object), &me, "value", true, NULL, 0);
  fail_in = 0;
  keeps_failing = 0;
  CHECK_EQ(count_of_ended, MANY);
  CHECK_EQ(ended, MANY);
  item_destroy(object);
}

/* ----------------------------------------------------------------------------------------------------------- Ids -- */

TEST("thousands of observations that are registered and removed again and again need no more memory") {
  enum { MANY = 3000 };
  use_counting_allocator();
  item *object = item_make(0);
  watcher w = {0};
  static kvo_observation ids[MANY];
  long before = 0;
  for (int round = 0; round < 4; round++) {
    for (int i = 0; i < MANY; i++) ids[i] = watch(object, "value", KVO_NONE, &w);
    for (int i = 0; i < MANY; i++) CHECK_OK(kvo_remove_observer(ids[i]));
    if (round == 0) before = live_blocks;
  }
  CHECK(live_blocks <= before + 2); /* the free nodes that the thread keeps may be in one slab or in two */
  CHECK_EQ(w.destroyed, 4 * MANY);
  item_destroy(object);
}

TEST(
    "the memory of thousands of observations goes back when they end, and their ids name nothing when it is used again") {
  static const kvo_observer_ops ops = {.callback = ignore_raw, .destroy = count};
  enum { MANY = 5000 };
  use_counting_allocator();
  item *object = item_make(0);
  int ended = 0;
  kvo_binding_observer observer = {.key_path = "value", .ops = &ops, .user_data = &ended};
  static kvo_observation ids[MANY], later[MANY];
  for (int i = 0; i < MANY; i++)
    CHECK_OK(kvo_binding_observe_key(as_object(object), key_of("value"), &observer, &ids[i]));
  long most = live_blocks;
  for (int i = 0; i < MANY; i++) CHECK_OK(kvo_cancel_observer(ids[(long long)i * 7919 % MANY]));
  /* Some slabs stay, and those of the free nodes that the thread keeps; with AddressSanitizer more of them. */
  if (!harness_is_instrumented()) CHECK(live_blocks < most - 10);
  for (int i = 0; i < MANY; i++)
    CHECK_OK(kvo_binding_observe_key(as_object(object), key_of("value"), &observer, &later[i]));
  for (int i = 0; i < MANY; i++) {
    CHECK(!kvo_observation_is_registered(ids[i]));
    CHECK_STATUS(kvo_cancel_observer(ids[i]), KVO_ERROR_NOT_REGISTERED);
  }
  CHECK_EQ(ended, MANY);
  for (int i = 0; i < MANY; i++) CHECK_OK(kvo_cancel_observer(later[i]));
  CHECK_EQ(ended, 2 * MANY);
  item_destroy(object);
}

/* ---------------------------------------------------------------------------------------------------------- Ends -- */

typedef struct ending {
  int calls;
  kvo_end reason;
} ending;

static void note_end(kvo_end end, void *arg) {
  ending *into = arg;
  into->calls++;
  into->reason = end;
}

static ending refused;

static void end_and_ask(watcher *self, const kvo_change *change) {
  (void)change;
  CHECK_OK(kvo_cancel_observer(self->id));
  CHECK_STATUS(kvo_observation_on_end(self->id, note_end, &refused), KVO_ERROR_NOT_REGISTERED);
}

TEST("who asks too late for the end of an observation is not told of it, and who has asked before is") {
  item *object = item_make(1);
  watcher w = {.then = end_and_ask};
  ending before = {0};
  watch(object, "value", KVO_NONE, &w);
  CHECK_OK(kvo_observation_on_end(w.id, note_end, &before));
  item_set_value(object, 2);
  CHECK_EQ(before.calls, 1);
  CHECK_EQ((int)before.reason, KVO_END_REMOVED);
  CHECK_EQ(refused.calls, 0);
  item_destroy(object);
}

TEST("all who have asked for the end of an observation are told that its object died") {
  item *object = item_make(1);
  watcher w = {0};
  ending all[3] = {{0}};
  watch(object, "value", KVO_ENDS_WITH_OBJECT, &w);
  for (int i = 0; i < 3; i++) CHECK_OK(kvo_observation_on_end(w.id, note_end, &all[i]));
  item_destroy(object);
  for (int i = 0; i < 3; i++) {
    CHECK_EQ(all[i].calls, 1);
    CHECK_EQ((int)all[i].reason, KVO_END_OBJECT_DIED);
  }
}

/* -------------------------------------------------------------------------------------------------------- Deaths -- */

static watcher of_dying;
static int destroyed_before;
static void look_at_death(void *user_data) { *(int *)user_data = of_dying.destroyed; }

TEST("the watch of an object's death is told after the observations of the object have ended") {
  static const kvo_observer_ops ops = {.destroy = look_at_death};
  item *object = item_make(1);
  kvo_observation id;
  watch(object, "value", KVO_ENDS_WITH_OBJECT, &of_dying);
  CHECK_OK(kvo_binding_observe_death(as_object(object), &ops, &destroyed_before, &id));
  item_destroy(object);
  CHECK_EQ(destroyed_before, 1);
}

TEST("the death of an object of a class without properties can be watched, and the watch cannot be paused") {
  static const kvo_observer_ops ops = {.destroy = count};
  kvo_class_spec spec = {.struct_size = sizeof spec, .name = "Bare", .instance_size = sizeof(kvo_object)};
  kvo_class *cls;
  kvo_object *object;
  kvo_observation id;
  int deaths = 0;
  CHECK_OK(kvo_class_register(&spec, &cls));
  CHECK_OK(kvo_object_create(cls, &object));
  CHECK_OK(kvo_binding_observe_death(object, &ops, &deaths, &id));
  CHECK(!kvo_object_is_observed(object));
  CHECK_STATUS(kvo_observation_pause(id), KVO_ERROR_NOT_REGISTERED);
  CHECK_STATUS(kvo_observation_resume(id, true), KVO_ERROR_NOT_REGISTERED);
  CHECK(!kvo_observation_is_paused(id));
  CHECK_EQ(deaths, 0);
  kvo_object_destroy(object);
  CHECK_EQ(deaths, 1);
}

TEST("the death of an object is told to two paths through it newest first") {
  item *one = item_make(0), *two = item_make(0), *near = item_make(5);
  item_set_next(one, near);
  item_set_next(two, near);
  watcher direct = {0}, older = {.tag = 'O'}, newer = {.tag = 'N'};
  watch(near, "value", KVO_ENDS_WITH_OBJECT, &direct);
  watch(one, "next.other", KVO_NONE, &older);
  watch(two, "next.value", KVO_NONE, &newer);
  one->next = two->next = NULL;
  item_destroy(near);
  CHECK_EQ((const char *)trace, "NO");
  CHECK_OK(kvo_remove_observer(older.id));
  CHECK_OK(kvo_remove_observer(newer.id));
  item_destroy(one);
  item_destroy(two);
}

/* -------------------------------------------------------------------------------------------------------- Errors -- */

static void see_nothing(const kvo_value *value, void *arg) { (void)value, (void)arg; }

TEST("the last error is that of the last call that failed, of an id or of a key path, however often it is asked for") {
  ignore_faults();
  item *object = item_make(1);
  for (int i = 0; i < 2; i++) {
    CHECK_STATUS(kvo_cancel_observer(12345), KVO_ERROR_NOT_REGISTERED);
    for (int n = 0; n < 2; n++) CHECK_CONTAINS(kvo_last_error(), "kvo_cancel_observer: observation 12345: ");
    CHECK_STATUS(kvo_get_value(as_object(object), "imaginary", see_nothing, NULL), KVO_ERROR_UNDEFINED_KEY);
    for (int n = 0; n < 2; n++) CHECK_CONTAINS(kvo_last_error(), "kvo_get_value: \"imaginary\" of class 'Item'");
  }
  item_destroy(object);
}

TEST("the error of a key path names it, whole or cut, whatever its length") {
  ignore_faults();
  item *object = item_make(1);
  static char path[700];
  for (size_t length = 1; length < sizeof path; length++) {
    memset(path, 'k', length);
    path[length] = '\0';
    CHECK_STATUS(kvo_get_value(as_object(object), path, see_nothing, NULL), KVO_ERROR_UNDEFINED_KEY);
    CHECK(strncmp(kvo_last_error(), "kvo_get_value: \"k", 17) == 0);
    CHECK(strlen(kvo_last_error()) < 512);
  }
  item_destroy(object);
}

TEST("a removal that fails keeps nothing of the object's memory") {
  use_counting_allocator();
  watcher w = {0}, unregistered = {0};
  long before = 0;
  ignore_faults();
  for (int round = 0; round < 3; round++) {
    item *object = item_make(0);
    watch(object, "value", KVO_NONE, &w);
    CHECK_STATUS(kvo_remove_observer_for(as_object(object), &unregistered, "value"), KVO_ERROR_NOT_REGISTERED);
    CHECK_OK(kvo_remove_observer(w.id));
    item_destroy(object);
    if (round == 0) before = live_blocks;
  }
  CHECK_EQ((long)live_blocks, before);
}

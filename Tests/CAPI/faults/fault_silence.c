/* fault_silence.c - faults of observations that nothing will notify, that ended before a change, or that exist twice. */
#include "made.h"
#include "zeros.h"

#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* ------------------------------------------------------------------------------------------------- Nothing will notify -- */

static struct {
  kvo_severity severity;
  char summary[512], help[2048];
} seen;

static kvo_action keep(const kvo_fault *fault, void *arg) {
  CHECK_EQ((int)fault->code, KVO_FAULT_NEVER_NOTIFIES);
  seen.severity = fault->severity;
  snprintf(seen.summary, sizeof seen.summary, "%s", fault->summary);
  snprintf(seen.help, sizeof seen.help, "%s", fault->help);
  return KVO_ACTION_IGNORE;
}

TEST("each reason why nothing notifies an observation has a detail, a severity, and a help in its language") {
  static const struct {
    kvo_silence silence;
    kvo_severity severity;
    const char *detail, *in_swift, *in_c;
  } rows[] = {
      {KVO_SILENCE_NOTHING_READ, KVO_SEVERITY_ERROR,
       " can never notify: its evaluation reads nothing observable, at h.",
       "mark with @KeyValueObservable the class that declares it",
       "has to read properties that notify, in C with kvo_get"},
      {KVO_SILENCE_BY_HAND, KVO_SEVERITY_WARNING, ": no setter notifies, and it reads nothing observable, at h.",
       "return false for it from automaticallyNotifiesObservers(forKey:)", "register it with KVO_PROPERTY_MANUAL"},
      {KVO_SILENCE_UNDEFINED, KVO_SEVERITY_WARNING, ": there is no such key, at h.",
       "did you mean \"value\"? the keys of Item are: value, other, next, name, doubled, quiet, far. If its changes",
       "register it with KVO_PROPERTY_MANUAL"},
      {KVO_SILENCE_CONSTANT, KVO_SEVERITY_ERROR, " can never notify: it is a constant, at h.",
       "make it a var, or observe a property of its value: \"vlaue.…\"", "make it a var"}};
  item *object = item_make(0);
  kvo_set_fault_handler(keep, NULL);
  for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
    kvo_binding_never_notifies(as_object(object), "vlaue", NULL, rows[i].silence, "h.swift", 3);
    CHECK_CONTAINS((const char *)seen.help, rows[i].in_swift);
    CHECK_CONTAINS((const char *)seen.summary, rows[i].detail);
    CHECK_CONTAINS((const char *)seen.summary, ": the observation of \"vlaue\" of Item@0x");
    CHECK_EQ((int)seen.severity, (int)rows[i].severity);
    kvo_binding_never_notifies(as_object(object), "vlaue", NULL, rows[i].silence, "h.c", 3);
    CHECK_CONTAINS((const char *)seen.help, rows[i].in_c);
    kvo_binding_never_notifies(as_object(object), "vlaue", NULL, rows[i].silence, NULL, 0);
    CHECK_CONTAINS((const char *)seen.help, rows[i].in_c); /* Swift's runtime is not linked */
  }
  kvo_binding_never_notifies(as_object(object), "länge", NULL, KVO_SILENCE_NOTHING_READ, "h.swift", 3);
  CHECK_CONTAINS((const char *)seen.help, "keyPathsForValuesAffectingLänge()");
  kvo_binding_never_notifies(as_object(object), "über", NULL, KVO_SILENCE_NOTHING_READ, "h.swift", 3);
  CHECK_CONTAINS((const char *)seen.help, "keyPathsForValuesAffectingüber()");
  item_destroy(object);
}

/* ----------------------------------------------------------------------------------------------------------- Declarations -- */

typedef struct knot {
  kvo_object header;
  int value, sum;
  struct knot *next;
} knot;

/* Observes "sum", which these paths affect, and "next", which others affect, of an object of a new class. */
static kvo_object *observe_knot(const char *cls_name, const char *const *of_sum, const char *const *of_next,
                                const kvo_coding_hooks *hooks, watcher watchers[2]) {
#define AT(key, encoding, member, ...)                                                                                 \
  { .name = key, .type = encoding, .offset = offsetof(knot, member), .flags = KVO_PROPERTY_AT_OFFSET, __VA_ARGS__ }
  const kvo_property_spec properties[] = {AT("value", "i", value, .affected_by = NULL),
                                          AT("sum", "i", sum, .affected_by = of_sum),
                                          AT("next", "@", next, .affected_by = of_next)};
  kvo_object *object = object_of(register_class((kvo_class_spec){.name = cls_name,
                                                                 .instance_size = sizeof(knot),
                                                                 .properties = properties,
                                                                 .property_count = 3,
                                                                 .coding = hooks}));
  ignore_faults();
  faults.count = 0;
  watch_object(object, "sum", KVO_NEW, &watchers[0]);
  return object;
}

static void end_knot(kvo_object *object, watcher watchers[2]) {
  for (int i = 0; i < 2; i++)
    if (watchers[i].id != 0) CHECK_OK(kvo_remove_observer(watchers[i].id));
  kvo_object_destroy(object);
}

static kvo_status provide(kvo_object *object, const char *key, kvo_value_reader reader, void *arg, void *user) {
  static const int zero = 0;
  kvo_value value = {"i", sizeof zero, &zero};
  reader(&value, arg);
  return KVO_OK;
}

TEST("a key that is declared to affect another one, and that the class does not have, is a warning with both") {
  static const char *const wrong[] = {"vlaue.far", "value", "@count", NULL}, *const right[] = {"value", NULL};
  static const kvo_coding_hooks hooks = {.struct_size = sizeof hooks, .value_for_undefined_key = provide};
  watcher watchers[2] = {{0}};
  end_knot(observe_knot("Right", right, NULL, NULL, watchers), watchers);
  end_knot(observe_knot("Providing", wrong, NULL, &hooks, watchers), watchers);
  CHECK_EQ(faults.count, 0);
  end_knot(observe_knot("Sum", wrong, NULL, NULL, watchers), watchers);
  CHECK_EQ(faults.count, 1);
  CHECK_CONTAINS(faults.summary, "KVO0011 warning: \"vlaue.far\", which is declared to affect \"sum\" of Sum@0x");
  CHECK_CONTAINS(faults.summary, " notifies only if its changes are announced manually: there is no such key, at ");
  CHECK_CONTAINS(faults.report, "did you mean \"value\"? the keys of Sum are: value, sum, next. ");
}

TEST("a key that is declared to affect itself is reported when observed, and observed without the declaration") {
  static const char *const own[] = {"value", "sum", NULL}, *const begun[] = {"value", "next.value", NULL};
  watcher watchers[2] = {{0}};
  kvo_object *object = observe_knot("Knot", own, begun, NULL, watchers), *other = object_of(kvo_object_class(object));
  CHECK_EQ(faults.count, 1);
  CHECK_CONTAINS(faults.summary, "KVO0039 fatal: \"sum\" is declared to affect \"sum\" of Knot, at ");
  CHECK_CONTAINS(faults.apple, "includes the same key that was passed in, which is not valid.\n"
                               "Passed-in key: sum\nReturned key path set: {(\n    value,\n    sum\n)}");
  CHECK_CONTAINS(faults.report, "  help: remove \"sum\" from what is declared to affect \"sum\"\n");
  CHECK_OK(KVO_SET(object, "next", kvo_object *, other));
  watch_object(object, "next", KVO_NEW, &watchers[1]);
  CHECK_CONTAINS(faults.summary, ": \"next.value\" is declared to affect \"next\" of Knot, at ");
  CHECK_CONTAINS(faults.apple, " includes a key path that starts with the same key that was passed in");
  CHECK_OK(KVO_SET(other, "value", int, 1));
  CHECK_EQ(watchers[1].calls, 0);
  CHECK_OK(KVO_SET(object, "value", int, 1));
  CHECK_EQ(watchers[0].calls, 1);
  CHECK_EQ(watchers[1].calls, 1);
  end_knot(object, watchers);
  kvo_object_destroy(other);
}

TEST("a property that the program stores and announces, and is declared to be, is observed without a warning") {
  const kvo_property_spec property = {.name = "value",
                                      .type = "i",
                                      .flags = KVO_PROPERTY_AT_OFFSET | KVO_PROPERTY_READ_ONLY,
                                      .offset = offsetof(knot, value)};
  kvo_object *object = object_made("Meter", sizeof(knot), &property, 1);
  watcher w = {0};
  ignore_faults();
  watch_object(object, "value", KVO_NEW, &w);
  CHECK_EQ(faults.count, 0);
  CHECK_OK(kvo_remove_observer(w.id));
  kvo_object_destroy(object);
}

/* ------------------------------------------------------------------------------------------------------------ Expressions -- */

/* What an expression does: it reads keys of an object, or removes itself. */
typedef struct reading {
  kvo_object *object;
  const char *keys[2];
  bool removes_itself;
} reading;

static void *evaluate(void *user_data) {
  reading *self = user_data;
  for (int i = 0; i < 2 && self->keys[i] != NULL; i++)
    kvo_track_read(self->object, kvo_key_hash(self->keys[i], strlen(self->keys[i])));
  if (self->removes_itself) CHECK_OK(kvo_remove_observer_for(self->object, NULL, "expression"));
  return calloc(1, 1);
}

/* How many faults the registration of an expression has. */
static int faults_of(reading of) {
  static const kvo_observer_ops ops = {.callback = ignore_raw, .evaluate = evaluate, .release = release_copy};
  kvo_binding_observer observer = {.key_path = "expression", .ops = &ops, .user_data = &of, KVO_HERE};
  kvo_observation id;
  faults.count = 0;
  CHECK_OK(kvo_binding_observe_tracked(of.object, &observer, false, &id));
  CHECK_STATUS(kvo_cancel_observer(id), of.removes_itself ? KVO_ERROR_NOT_REGISTERED : KVO_OK);
  return faults.count;
}

TEST("an expression that reads nothing but a computed key is reported, unless the key says how it is announced") {
  static const kvo_binding_property properties[] = {
      {.name = "stored", .type = "i", .ops = &zeros},
      {.name = "computed", .type = "i", .ops = &zeros, .flags = KVO_PROPERTY_COMPUTED},
      {.name = "announced", .type = "i", .ops = &zeros, .flags = KVO_PROPERTY_COMPUTED | KVO_PROPERTY_MANUAL},
      {.name = "told", .type = "i", .ops = &zeros, .flags = KVO_PROPERTY_COMPUTED | KVO_PROPERTY_TOLD}};
  kvo_class *cls;
  kvo_object object = {0};
  ignore_faults();
  CHECK_OK(kvo_binding_class_register("Computing", NULL, 0, properties, 4, &cls));
  CHECK_OK(kvo_object_init(&object, cls));
  CHECK_EQ(faults_of((reading){&object, {"computed"}, false}), 1);
  CHECK_CONTAINS(faults.summary, "KVO0011 warning: the observation of \"expression\" of Computing@");
  CHECK_CONTAINS(faults.summary, " notifies only if its changes are announced manually: no setter notifies");
  CHECK_EQ(faults_of((reading){&object, {"announced"}, false}), 0);
  CHECK_EQ(faults_of((reading){&object, {"told"}, false}), 0);
  CHECK_EQ(faults_of((reading){&object, {"stored"}, false}), 0);
  CHECK_EQ(faults_of((reading){&object, {"computed", "stored"}, false}), 0);
  CHECK_EQ(faults_of((reading){&object, {NULL}, false}), 1);
  CHECK_CONTAINS(faults.summary, "KVO0011 error: ");
  CHECK_CONTAINS(faults.summary, " can never notify: its evaluation reads nothing observable");
  CHECK_EQ(faults_of((reading){&object, {NULL}, true}), 0);
  kvo_object_finish(&object);
}

/* -------------------------------------------------------------------------------------------------- In vain, and twice -- */

/* A binding's observer, of a receiver or a classic one. */
static kvo_observation observe_for(item *object, const int *observer, bool is_receiver) {
  static int user_data;
  return observe_named(as_object(object), "value", "Panel", observer,
                       (kvo_binding_observer){.user_data = &user_data, .is_receiver = is_receiver});
}

TEST("an observation that ends before a change is reported if that is asked for, also one that got the initial value") {
  static const char *const paths[] = {"value", "next.value"};
  harness_environment("KVO_POLICY", "KVO0015:log");
  ignore_faults();
  item *object = item_make(0);
  watcher w = {0};
  item_set_next(object, object);
  for (int i = 0; i < 8; i++) {
    bool changes = i & 1, initial = i & 2;
    kvo_observation id = watch(object, paths[i / 4], initial ? KVO_INITIAL | KVO_NEW : KVO_NONE, &w);
    if (changes) item_set_value(object, 1);
    faults.count = 0;
    CHECK_OK(kvo_cancel_observer(id));
    CHECK_EQ(faults.count, !changes);
    if (!changes) CHECK_EQ((int)faults.code, KVO_FAULT_ENDED_UNUSED);
  }
  item_destroy(object);
}

TEST("an observation that is removed explicitly, or that has an observer, may end before a change") {
  harness_environment("KVO_POLICY", "KVO0015:log");
  ignore_faults();
  int panel = 0;
  item *object = item_make(0);
  watcher w = {0};
  CHECK_OK(kvo_remove_observer(watch(object, "value", KVO_NONE, &w)));
  CHECK_OK(kvo_cancel_observer(observe_for(object, &panel, false)));
  CHECK_OK(kvo_cancel_observer(observe_for(object, &panel, true)));
  observe_for(object, &panel, true);
  CHECK_EQ(kvo_binding_end_all(as_object(object), &panel, NULL, true, NULL, 0), 1);
  CHECK_EQ(faults.count, 0);
  item_destroy(object);
}

TEST("a third registration says that each change will notify three times, and lists both that exist, newest first") {
  harness_environment("KVO_POLICY", "KVO0019:log");
  item *object = item_make(0);
  watcher w = {0};
  kvo_observation ids[6];
  ignore_faults();
  for (int i = 0; i < 6; i++) {
    ids[i] = watch(object, "value", KVO_NONE, &w);
    if (i != 2) continue;
    CHECK_CONTAINS(faults.summary, "with this context: each change will notify it 3 times, at ");
    CHECK_EQ(faults.observation_count, 2);
    CHECK_EQ(faults.first.observation, ids[1]);
  }
  CHECK_CONTAINS(faults.summary, "with this context: each change will notify it 5 times or more, at ");
  for (int i = 0; i < 6; i++) CHECK_OK(kvo_remove_observer(ids[i]));
  item_destroy(object);
}

/* Registers an observer twice, and ends both registrations before any change: each is an info. */
static void check_infos(int in_vain, int twice) {
  item *object = item_make(0);
  watcher w = {0};
  ignore_faults();
  kvo_observation first = watch(object, "value", KVO_NONE, &w), second = watch(object, "value", KVO_NONE, &w);
  CHECK_EQ(faults.count, twice);
  CHECK_OK(kvo_cancel_observer(first));
  CHECK_OK(kvo_cancel_observer(second));
  CHECK_EQ(faults.count, twice + in_vain);
  item_destroy(object);
}

TEST("of the infos only that is raised which KVO_POLICY names") {
  harness_environment("KVO_POLICY", "log,KVO0019:log");
  check_infos(0, 1);
}

TEST("infos are not raised if KVO_POLICY names none") {
  harness_environment("KVO_POLICY", "log,error:abort");
  check_infos(0, 0);
}

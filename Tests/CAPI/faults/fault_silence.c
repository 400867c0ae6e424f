/* fault_silence.c - what the faults of keys contain whose observers will not be notified, or that are declared wrongly. */
#include "fixture.h"
#include "seen_fault.h"

#include <kvo/kvo_binding.h>

#define IN_SWIFT                                                                                                       \
  "mark with @KeyValueObservable the class that declares it and those whose properties it reads; or declare what it "  \
  "reads, also computed properties: class func keyPathsForValuesAffectingVlaue() -> Set<String> { [\"…\"] }"
#define IN_C "list in affected_by the key paths that it reads, also those of computed properties"
#define KEYS "did you mean \"value\"? the keys of Item are: value, other, next, name, doubled, quiet, far"
#define MANUALLY_IN_SWIFT                                                                                              \
  ". If its changes are announced manually, return false for it from automaticallyNotifiesObservers(forKey:)"
#define MANUALLY_IN_C ". If its changes are announced manually, register it with KVO_PROPERTY_MANUAL"

TEST(
    "for each reason why nothing will notify a binding's observation there is a detail, a severity, and a help in its language") {
  static const struct {
    kvo_silence silence;
    kvo_severity severity;
    const char *detail, *in_swift, *in_c;
  } rows[] = {
      {KVO_SILENCE_NOTHING_READ, KVO_SEVERITY_ERROR,
       " can never notify: its evaluation reads nothing observable, at h.", IN_SWIFT, IN_C},
      {KVO_SILENCE_BY_HAND, KVO_SEVERITY_WARNING,
       " notifies only if its changes are announced manually: no setter notifies, and it reads nothing observable, at "
       "h.",
       IN_SWIFT MANUALLY_IN_SWIFT, IN_C MANUALLY_IN_C},
      {KVO_SILENCE_UNDEFINED, KVO_SEVERITY_WARNING,
       " notifies only if its changes are announced manually: there is no such key, at h.", KEYS MANUALLY_IN_SWIFT,
       KEYS MANUALLY_IN_C},
      {KVO_SILENCE_CONSTANT, KVO_SEVERITY_ERROR, " can never notify: it is a constant, at h.",
       "make it a var, or observe a property of its value: \"vlaue.…\"",
       "make it a var, or observe a property of its value: \"vlaue.…\""}};
  item *object = item_make(0);
  kvo_set_fault_handler(keep, NULL);
  for (size_t i = 0; i < 2 * sizeof rows / sizeof *rows; i++) {
    bool is_swift = i % 2 == 0;
    kvo_binding_never_notifies(as_object(object), "vlaue", NULL, rows[i / 2].silence, is_swift ? "h.swift" : "h.c", 3);
    CHECK_EQ((int)seen[0].code, KVO_FAULT_NEVER_NOTIFIES);
    CHECK_EQ((int)seen[0].severity, (int)rows[i / 2].severity);
    check_object(&seen[0], object, "Item", ": the observation of \"vlaue\" of ", rows[i / 2].detail);
    CHECK_EQ((const char *)seen[0].help, is_swift ? rows[i / 2].in_swift : rows[i / 2].in_c);
  }
  item_destroy(object);
}

static int get_zero(const kvo_object *of) { return (void)of, 0; }
static kvo_status provide(kvo_object *object, const char *key, kvo_value_reader reader, void *arg, void *user) {
  static const int zero = 0;
  kvo_value value = {"i", sizeof zero, &zero};
  (void)object, (void)key, (void)user;
  reader(&value, arg);
  return KVO_OK;
}

/* Observes "sum", which these paths affect, in a class of this name. Afterwards `seen` has the faults. */
static void observe_sum(const char *cls_name, const char *const *paths, const kvo_coding_hooks *hooks) {
  const kvo_property_spec properties[] = {
      {.name = "value", .type = "i", .getter = (kvo_function)get_zero},
      {.name = "sum", .type = "i", .getter = (kvo_function)get_zero, .affected_by = paths}};
  kvo_class_spec spec = {.struct_size = sizeof spec,
                         .name = cls_name,
                         .instance_size = sizeof(kvo_object),
                         .properties = properties,
                         .property_count = 2,
                         .coding = hooks};
  kvo_class *cls;
  kvo_object *object;
  watcher w = {0};
  CHECK_OK(kvo_class_register(&spec, &cls));
  CHECK_OK(kvo_object_create(cls, &object));
  kvo_set_fault_handler(keep, NULL);
  seen[0] = seen[1] = (seen_fault){0};
  kvo_observer observer = watcher_observer("sum", KVO_NEW, &w);
  CHECK_OK(kvo_add_observer(object, &observer, &w.id));
  CHECK_OK(kvo_remove_observer(w.id));
  kvo_object_destroy(object);
}

TEST("a key that is declared to affect another one, and that the class does not have, is a warning with both") {
  static const char *const wrong[] = {"vlaue.far", "value", "@count", NULL}, *const right[] = {"value", NULL};
  static const kvo_coding_hooks hooks = {.struct_size = sizeof hooks, .value_for_undefined_key = provide};
  observe_sum("Right", right, NULL);
  CHECK_EQ((int)seen[0].code, 0);
  observe_sum("Providing", wrong, &hooks);
  CHECK_EQ((int)seen[0].code, 0);
  observe_sum("Sum", wrong, NULL);
  CHECK_EQ((int)seen[0].code, KVO_FAULT_NEVER_NOTIFIES);
  CHECK_EQ((int)seen[1].code, 0);
  CHECK_EQ((int)seen[0].severity, KVO_SEVERITY_WARNING);
  CHECK_CONTAINS((const char *)seen[0].summary, ": \"vlaue.far\", which is declared to affect \"sum\" of Sum@0x");
  CHECK_CONTAINS((const char *)seen[0].summary,
                 " notifies only if its changes are announced manually: there is no such key, at ");
  CHECK_CONTAINS((const char *)seen[0].help, "did you mean \"value\"? the keys of Sum are: value, sum. ");
}

typedef struct knot {
  kvo_object header;
  int value, sum;
  struct knot *next;
} knot;

TEST("a key that is declared to affect itself is reported when it is observed, and observed without the declaration") {
  static const char *const own[] = {"value", "sum", NULL}, *const begun[] = {"value", "next.value", NULL};
  const kvo_property_spec properties[] = {
      {.name = "value", .type = "i", .flags = KVO_PROPERTY_AT_OFFSET, .offset = offsetof(knot, value)},
      {.name = "sum", .type = "i", .flags = KVO_PROPERTY_AT_OFFSET, .offset = offsetof(knot, sum), .affected_by = own},
      {.name = "next",
       .type = "@",
       .flags = KVO_PROPERTY_AT_OFFSET,
       .offset = offsetof(knot, next),
       .affected_by = begun}};
  kvo_class_spec spec = {.struct_size = sizeof spec,
                         .name = "Knot",
                         .instance_size = sizeof(knot),
                         .properties = properties,
                         .property_count = 3};
  kvo_class *cls;
  kvo_object *object, *other;
  watcher of_sum = {0}, of_next = {0};
  CHECK_OK(kvo_class_register(&spec, &cls));
  CHECK_OK(kvo_object_create(cls, &object));
  CHECK_OK(kvo_object_create(cls, &other));
  CHECK_OK(KVO_SET(object, "next", kvo_object *, other));
  kvo_set_fault_handler(keep, NULL);
  kvo_observer observer = watcher_observer("sum", KVO_NEW, &of_sum);
  CHECK_OK(kvo_add_observer(object, &observer, &of_sum.id));
  CHECK_EQ((int)seen[0].code, KVO_FAULT_SELF_DEPENDENCY);
  CHECK_EQ((int)seen[1].code, 0);
  CHECK_CONTAINS((const char *)seen[0].summary, "KVO0039 fatal: \"sum\" is declared to affect \"sum\" of Knot, at ");
  CHECK_CONTAINS((const char *)seen[0].apple, "includes the same key that was passed in, which is not valid.\n"
                                              "Passed-in key: sum\nReturned key path set: {(\n    value,\n    sum\n)}");
  CHECK_EQ((const char *)seen[0].help, "remove \"sum\" from what is declared to affect \"sum\"");
  observer = watcher_observer("next", KVO_NEW, &of_next);
  CHECK_OK(kvo_add_observer(object, &observer, &of_next.id));
  CHECK_CONTAINS((const char *)seen[0].summary, ": \"next.value\" is declared to affect \"next\" of Knot, at ");
  CHECK_CONTAINS((const char *)seen[0].apple, " includes a key path that starts with the same key that was passed in");
  CHECK_OK(KVO_SET(object, "sum", int, 1));
  CHECK_EQ(of_sum.calls, 1);
  CHECK_OK(KVO_SET(other, "value", int, 1));
  CHECK_EQ(of_next.calls, 0);
  CHECK_OK(KVO_SET(object, "value", int, 1));
  CHECK_EQ(of_sum.calls, 2);
  CHECK_EQ(of_next.calls, 1);
  CHECK_OK(KVO_SET(object, "next", kvo_object *, NULL));
  CHECK_EQ(of_next.calls, 2);
  CHECK_OK(kvo_remove_observer(of_sum.id));
  CHECK_OK(kvo_remove_observer(of_next.id));
  kvo_object_destroy(object);
  kvo_object_destroy(other);
}

/* fault_innocent.c - faults name what is wrong, and not what is right beside it. */
#include "fixture.h"

#include <stddef.h>

TEST("an observation that wants no value is not blamed for an undefined key whose value another one wants") {
  item *object = item_make(0);
  watcher innocent = {0}, guilty = {0};
  kvo_observer observer = watcher_observer("status", KVO_NONE, &innocent);
  ignore_faults();
  CHECK_OK(kvo_add_observer(as_object(object), &observer, &innocent.id));
  observer = watcher_observer("status", KVO_NEW, &guilty);
  CHECK_OK(kvo_add_observer(as_object(object), &observer, &guilty.id));
  kvo_will_change(as_object(object), "status");
  kvo_did_change(as_object(object), "status");
  CHECK_EQ((int)faults.code, KVO_FAULT_UNDEFINED_KEY);
  CHECK_EQ(faults.first.observation, guilty.id);
  CHECK_OK(kvo_remove_observer(innocent.id));
  CHECK_OK(kvo_remove_observer(guilty.id));
  item_destroy(object);
}

typedef struct meter {
  kvo_object header;
  int value;
} meter;

TEST("a property that the program stores and announces, and is declared to be, is observed without a warning") {
  const kvo_property_spec property = {.name = "value",
                                      .type = "i",
                                      .flags = KVO_PROPERTY_AT_OFFSET | KVO_PROPERTY_READ_ONLY,
                                      .offset = offsetof(meter, value)};
  kvo_class_spec spec = {.struct_size = sizeof spec,
                         .name = "Meter",
                         .instance_size = sizeof(meter),
                         .properties = &property,
                         .property_count = 1};
  kvo_class *cls;
  kvo_object *object;
  watcher w = {0};
  CHECK_OK(kvo_class_register(&spec, &cls));
  CHECK_OK(kvo_object_create(cls, &object));
  ignore_faults();
  kvo_observer observer = watcher_observer("value", KVO_NEW, &w);
  CHECK_OK(kvo_add_observer(object, &observer, &w.id));
  CHECK_EQ(faults.count, 0);
  kvo_will_change(object, "value");
  ((meter *)object)->value = 2;
  kvo_did_change(object, "value");
  CHECK_EQ(w.calls, 1);
  CHECK_OK(kvo_remove_observer(w.id));
  kvo_object_destroy(object);
}

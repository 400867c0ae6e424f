/* alarm.c - a plug-in: observes the thermometer of whatever plug-in provides it, and counts how often its threshold is passed. */
#include "plugin.h"

#include <string.h>

typedef struct alarm {
  kvo_object header;
  _Atomic double threshold, count;
} alarm;

static kvo_class *cls;
static kvo_object *own;
static kvo_observation observation;

/* The value is nil while there is no thermometer. */
static void changed(const kvo_change *change, void *user_data) {
  alarm *of = user_data;
  if (change->new_value == NULL || change->new_value->bytes == NULL) return;
  double celsius;
  memcpy(&celsius, change->new_value->bytes, sizeof celsius);
  if (celsius > atomic_load(&of->threshold)) KVO_SET(of, "count", double, atomic_load(&of->count) + 1);
}

static kvo_object *start(kvo_object *host) {
  kvo_property_spec properties[] = {PLUGIN_NUMBER("threshold", alarm, threshold), PLUGIN_NUMBER("count", alarm, count)};
  kvo_class_spec spec = {.struct_size = sizeof spec,
                         .name = "Alarm",
                         .instance_size = sizeof(alarm),
                         .properties = properties,
                         .property_count = 2,
                         .property_size = sizeof *properties};
  if (kvo_class_register(&spec, &cls) != KVO_OK || kvo_object_create(cls, &own) != KVO_OK) return NULL;
  kvo_observer observer = {.struct_size = sizeof observer,
                           .key_path = "thermometer.celsius",
                           .options = KVO_NEW,
                           .callback = changed,
                           .user_data = own,
                           KVO_HERE};
  return kvo_add_observer(host, &observer, &observation) == KVO_OK ? own : NULL;
}

static kvo_status stop(void) {
  kvo_cancel_observer_and_wait(observation); /* the code of the callback is going to be unloaded */
  kvo_object_destroy(own);
  return kvo_class_unregister(cls);
}

PLUGIN_EXPORT const plugin *plugin_main(void);
const plugin *plugin_main(void) {
  static const plugin this_one = {"alarm", start, stop};
  return &this_one;
}

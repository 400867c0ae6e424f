/* thermometer.c - a plug-in: an object with a temperature, which others set, and the highest one that it has seen. */
#include "plugin.h"

typedef struct thermometer {
  kvo_object header;
  _Atomic double celsius, highest;
} thermometer;

static kvo_class *cls;
static kvo_object *own;
static kvo_observation observation;

static void changed(const kvo_change *change, void *user_data) {
  (void)user_data;
  thermometer *of = (thermometer *)change->object;
  double celsius = *(const double *)change->new_value->bytes;
  if (celsius > atomic_load(&of->highest)) KVO_SET(of, "highest", double, celsius);
}

static kvo_object *start(kvo_object *host) {
  (void)host;
  kvo_property_spec properties[] = {PLUGIN_NUMBER("celsius", thermometer, celsius),
                                    PLUGIN_NUMBER("highest", thermometer, highest)};
  kvo_class_spec spec = {.struct_size = sizeof spec,
                         .name = "Thermometer",
                         .instance_size = sizeof(thermometer),
                         .properties = properties,
                         .property_count = 2,
                         .property_size = sizeof *properties};
  kvo_observer observer = {.struct_size = sizeof observer,
                           .key_path = "celsius",
                           .options = KVO_NEW | KVO_ENDS_WITH_OBJECT,
                           .callback = changed,
                           KVO_HERE};
  if (kvo_class_register(&spec, &cls) != KVO_OK || kvo_object_create(cls, &own) != KVO_OK) return NULL;
  return kvo_add_observer(own, &observer, &observation) == KVO_OK ? own : NULL;
}

static kvo_status stop(void) {
  kvo_object_destroy(own);
  return kvo_class_unregister(cls);
}

PLUGIN_EXPORT const plugin *plugin_main(void);
const plugin *plugin_main(void) {
  static const plugin this_one = {"thermometer", start, stop};
  return &this_one;
}

/* plugin.c - a plug-in that observes: on the thread that calls it, and on one that it starts and that the program ends later. */
#include <kvo/kvo.h>

typedef struct thing {
  kvo_object header;
  int value;
} thing;

static int get(const thing *of) { return of->value; }
static void set(thing *of, int value) { of->value = value; }
static int calls;
static void count(const kvo_change *change, void *user_data) {
  (void)change, (void)user_data;
  calls++;
}

/* Returns how often the observer was called, which must be 2. `during` is called between the two sets. */
KVO_API int plugin_use(void (*during)(void));
int plugin_use(void (*during)(void)) {
  kvo_property_spec property = {.name = "value", .type = "i", .getter = (kvo_function)get, .setter = (kvo_function)set};
  kvo_class_spec spec = {.struct_size = sizeof spec,
                         .name = "Plugged",
                         .instance_size = sizeof(thing),
                         .properties = &property,
                         .property_count = 1};
  static kvo_class *cls;
  kvo_object *object;
  kvo_observation id;
  if (cls == NULL && kvo_class_register(&spec, &cls) != KVO_OK) return -1;
  if (kvo_object_create(cls, &object) != KVO_OK) return -2;
  kvo_observer observer = {.struct_size = sizeof observer, .key_path = "value", .callback = count};
  calls = 0;
  if (kvo_add_observer(object, &observer, &id) != KVO_OK) return -3;
  KVO_SET(object, "value", int, 1);
  during();
  KVO_SET(object, "value", int, 2);
  if (kvo_remove_observer(id) != KVO_OK) return -4;
  kvo_object_destroy(object);
  return calls;
}

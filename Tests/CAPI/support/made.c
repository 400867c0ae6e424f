/* made.c - see made.h. */
#include "made.h"

kvo_class *subclass_made(kvo_class *superclass, const char *name, size_t size, const kvo_property_spec *properties,
                         size_t count) {
  kvo_class_spec spec = {.struct_size = sizeof spec,
                         .name = name,
                         .superclass = superclass,
                         .instance_size = size,
                         .properties = properties,
                         .property_count = count,
                         .property_size = sizeof *properties};
  kvo_class *cls = NULL;
  CHECK_OK(kvo_class_register(&spec, &cls));
  return cls;
}

kvo_class *class_made(const char *name, size_t size, const kvo_property_spec *properties, size_t count) {
  return subclass_made(NULL, name, size, properties, count);
}

kvo_object *object_of(kvo_class *cls) {
  kvo_object *object = NULL;
  CHECK_OK(kvo_object_create(cls, &object));
  return object;
}

kvo_object *object_made(const char *name, size_t size, const kvo_property_spec *properties, size_t count) {
  return object_of(class_made(name, size, properties, count));
}

static void count(const kvo_change *change, void *user_data) {
  __atomic_add_fetch((int *)user_data, 1, __ATOMIC_RELAXED);
}

kvo_observation count_changes(kvo_object *object, const char *key_path, int options, int *calls) {
  kvo_observer observer = {.struct_size = sizeof observer,
                           .key_path = key_path,
                           .options = (kvo_options)options,
                           .callback = count,
                           .user_data = calls,
                           KVO_HERE};
  kvo_observation id = 0;
  CHECK_OK(kvo_add_observer(object, &observer, &id));
  return id;
}

/* made.c - see made.h. */
#include "made.h"

kvo_class *register_class(kvo_class_spec spec) {
  kvo_class *cls = NULL;
  spec.struct_size = sizeof spec;
  spec.property_size = sizeof(kvo_property_spec);
  spec.collection_size = sizeof(kvo_collection_spec);
  if (spec.instance_size == 0) spec.instance_size = sizeof(kvo_object);
  CHECK_OK(kvo_class_register(&spec, &cls));
  return cls;
}

kvo_class *subclass_made(kvo_class *superclass, const char *name, size_t size, const kvo_property_spec *properties,
                         size_t count) {
  return register_class((kvo_class_spec){.name = name,
                                         .superclass = superclass,
                                         .instance_size = size,
                                         .properties = properties,
                                         .property_count = count});
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
  return observe_by(object, key_path, options, count, calls);
}

/* registered.h - classes that only one test has, and their objects. */
#ifndef KVO_TEST_REGISTERED_H
#define KVO_TEST_REGISTERED_H

#include "harness.h"

/* Registers a class; what the description leaves out is its sizes. */
static inline kvo_class *register_class(kvo_class_spec spec) {
  kvo_class *cls;
  spec.struct_size = sizeof spec;
  spec.property_size = sizeof(kvo_property_spec);
  spec.collection_size = sizeof(kvo_collection_spec);
  if (spec.instance_size == 0) spec.instance_size = sizeof(kvo_object);
  CHECK_OK(kvo_class_register(&spec, &cls));
  return cls;
}

static inline kvo_object *object_of(kvo_class *cls) {
  kvo_object *object;
  CHECK_OK(kvo_object_create(cls, &object));
  return object;
}

#endif

/* made.h - classes that a test registers by their properties only, objects of them, and observers that count. */
#ifndef KVO_TEST_MADE_H
#define KVO_TEST_MADE_H

#include "fixture.h"

/* The number of elements of an array. */
#define COUNT(array) (sizeof(array) / sizeof *(array))

/* A property with accessors, of which either may be NULL; PROPERTY_WITH has further members. */
#define PROPERTY(key, encoding, get, set)                                                                              \
  { .name = key, .type = encoding, .getter = (kvo_function)(get), .setter = (kvo_function)(set) }
#define PROPERTY_WITH(key, encoding, get, set, ...)                                                                    \
  { .name = key, .type = encoding, .getter = (kvo_function)(get), .setter = (kvo_function)(set), __VA_ARGS__ }
/* A property whose value is at the offset of a member; its key is the member's name. */
#define AT_OFFSET(T, member, encoding)                                                                                 \
  { .name = #member, .type = encoding, .flags = KVO_PROPERTY_AT_OFFSET, .offset = offsetof(T, member) }

/* What sets and gets this key now, to be called with the object. SETTER takes the types of the further arguments. */
#define SETTER(object, key, ...) ((void (*)(kvo_object *, __VA_ARGS__))kvo_object_setter(object, key))
#define GETTER(object, key, T) ((T(*)(const kvo_object *))kvo_object_getter(object, key))

/* Registers a class; what the description leaves out is its sizes. */
kvo_class *register_class(kvo_class_spec spec);
kvo_class *class_made(const char *name, size_t size, const kvo_property_spec *properties, size_t count);
kvo_class *subclass_made(kvo_class *superclass, const char *name, size_t size, const kvo_property_spec *properties,
                         size_t count);
kvo_object *object_of(kvo_class *cls);
/* An object of a new class. */
kvo_object *object_made(const char *name, size_t size, const kvo_property_spec *properties, size_t count);

/* Observes a key path, and counts the notifications, on any threads. */
kvo_observation count_changes(kvo_object *object, const char *key_path, int options, int *calls);

#endif

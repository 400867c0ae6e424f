/* plugin.h - what a host and its plug-ins agree on, and accessors that all of them use. */
#ifndef PLUGIN_H
#define PLUGIN_H

#include <kvo/kvo.h>
#include <stdatomic.h>

/* A plug-in. The functions are called on the host's main thread, while no other thread uses the host's objects. */
typedef struct plugin {
  /* The property of the host's object where its own object is. */
  const char *slot;
  /* Makes its object, and observes what it wants to; NULL if that fails. */
  kvo_object *(*start)(kvo_object *host);
  /* Ends its observations, its object and its class. KVO_OK, or why its class cannot end. */
  kvo_status (*stop)(void);
} plugin;

/* What a plug-in in C exports. */
typedef const plugin *(*plugin_entry)(void);
#define PLUGIN_EXPORT __attribute__((visibility("default")))

/* Accessors of any property that is an _Atomic double in the object: `user` is its offset. Several threads may set it. */
static inline double plugin_get(const kvo_object *object, void *user) {
  return atomic_load((_Atomic double *)(void *)((char *)object + (uintptr_t)user));
}
static inline void plugin_set(kvo_object *object, double value, void *user) {
  atomic_store((_Atomic double *)(void *)((char *)object + (uintptr_t)user), value);
}
#define PLUGIN_NUMBER(key, structure, member)                                                                          \
  {                                                                                                                    \
    .name = key, .type = "d", .getter = (kvo_function)plugin_get, .setter = (kvo_function)plugin_set,                  \
    .flags = KVO_PROPERTY_WITH_USER, .user = (void *)offsetof(structure, member)                                       \
  }

#endif

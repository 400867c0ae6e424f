/* csupport.h - a small program in C for the tests: it observes any object, and has a class of its own. */
#ifndef CSUPPORT_H
#define CSUPPORT_H

#include <kvo/kvo.h>

/** A C object: a rectangle and a count. */
typedef struct csupport_shape {
  kvo_object header;
  struct csupport_rect {
    double x, y, width, height;
  } rect;
  int count;
  char name[32];
  kvo_object *_Nullable next;
  /** The lists "corners" and "parts" and the set "tags", of at most 16 elements. */
  double corners[16];
  kvo_object *_Nullable parts[16];
  const char *_Nullable tags[16];
  size_t counts[3];
} csupport_shape;
typedef struct csupport_rect csupport_rect;

/** Creates a shape of the class "CShape", registered at the first call; the caller destroys it with kvo_object_destroy. */
csupport_shape *_Nonnull csupport_shape_create(void);

/** Sets through the setter to call now, as C code does. */
void csupport_shape_set_count(csupport_shape *_Nonnull shape, int count);
void csupport_shape_set_rect(csupport_shape *_Nonnull shape, csupport_rect rect);

/** An object of a third language, of the class "Meter", with the property "level" of type "i". */
kvo_object *_Nonnull csupport_meter_create(void);
void csupport_meter_set(kvo_object *_Nonnull meter, int level);
void csupport_meter_destroy(kvo_object *_Nonnull meter);

/** Sets a key of `to` to the value that a key of `from` has. */
kvo_status csupport_copy_value(kvo_object *_Nonnull from, const char *_Nonnull from_key, kvo_object *_Nonnull to,
                               const char *_Nonnull to_key);

/** A C observer: writes each change as "path old>new;" into a text. A collection is written as its type and elements, "[d]1,2,", followed
 * by the indexes, "@0@1". */
typedef struct csupport_watcher {
  char text[1024];
  kvo_observation observation;
  int destroyed;
} csupport_watcher;

/** Observes a key path with old and new values, and ends with the object. Returns the status of kvo_add_observer. */
kvo_status csupport_watch(csupport_watcher *_Nonnull watcher, kvo_object *_Nonnull object,
                          const char *_Nonnull key_path);

/** How many bytes the process has allocated and not freed. */
size_t csupport_allocated(void);

#endif /* CSUPPORT_H */

/* meter.c - an object of a third language: its class is registered with kvo_raw.h, as the modules for Python and Lua do. */
#include "csupport.h"

#include <kvo/kvo_raw.h>
#include <pthread.h>
#include <stdlib.h>

typedef struct meter {
  kvo_object header;
  int level;
} meter;

/* What a property of this language points to is no object of Swift. */
static int description;

static void *copy(void *instance, void *user, const kvo_selection *selection) {
  (void)user, (void)selection;
  int *level = malloc(sizeof *level);
  if (level != NULL) *level = ((meter *)instance)->level;
  return level;
}
static void release(void *value, void *user) {
  (void)user;
  free(value);
}
static void view(const void *value, void *user, kvo_value_reader reader, void *arg) {
  (void)user;
  kvo_value passed = {"i", sizeof(int), value};
  reader(&passed, arg);
}
static kvo_status assign(void *instance, void *user, const kvo_value *value) {
  (void)user;
  int64_t level;
  kvo_status status = kvo_value_int64(value, &level);
  if (status == KVO_OK) csupport_meter_set(instance, (int)level);
  return status;
}

static kvo_class *meter_class;
static void register_meter(void) {
  static const kvo_value_ops ops = {.copy = copy, .release = release, .view = view, .assign = assign};
  static const kvo_raw_property level = {.name = "level", .type = "i", .ops = &ops, .user = &description};
  kvo_raw_class described = {.struct_size = sizeof described,
                             .name = "Meter",
                             .properties = &level,
                             .property_count = 1,
                             .property_size = sizeof level};
  if (kvo_raw_class_register(&described, &meter_class) != KVO_OK) abort();
}

kvo_object *csupport_meter_create(void) {
  static pthread_once_t once = PTHREAD_ONCE_INIT;
  pthread_once(&once, register_meter);
  meter *made = calloc(1, sizeof *made);
  if (made == NULL) abort();
  kvo_object_adopt(&made->header, meter_class);
  return &made->header;
}

void csupport_meter_set(kvo_object *object, int level) {
  kvo_frame frame;
  kvo_key key = kvo_key_hash("level", 5);
  meter *of = (meter *)object;
  int old = of->level;
  uint32_t wants = kvo_frame_begin(&frame, object, key);
  of->level = level;
  if (wants != 0) kvo_frame_finish_with(&frame, &old, &level);
}

void csupport_meter_destroy(kvo_object *object) {
  kvo_object_finish(object);
  free(object);
}

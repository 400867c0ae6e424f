/* csupport.c - see csupport.h. */
#include "csupport.h"

#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static csupport_rect get_rect(const kvo_object *object) { return ((const csupport_shape *)object)->rect; }
static void set_rect(kvo_object *object, csupport_rect rect) { ((csupport_shape *)object)->rect = rect; }
static int get_count(const kvo_object *object) { return ((const csupport_shape *)object)->count; }
static void set_count(kvo_object *object, int count) { ((csupport_shape *)object)->count = count; }
static const char *get_name(const kvo_object *object) { return ((const csupport_shape *)object)->name; }
static void set_name(kvo_object *object, const char *name) {
  snprintf(((csupport_shape *)object)->name, sizeof ((csupport_shape *)object)->name, "%s", name != NULL ? name : "");
}
static kvo_object *get_next(const kvo_object *object) { return ((const csupport_shape *)object)->next; }
static void set_next(kvo_object *object, kvo_object *next) { ((csupport_shape *)object)->next = next; }

static kvo_class *registered_class;

static void register_shape(void) {
  static const kvo_property_spec properties[] = {
      {.name = "rect", .type = "{rect=dddd}", .getter = (kvo_function)get_rect, .setter = (kvo_function)set_rect},
      {.name = "count", .type = "i", .getter = (kvo_function)get_count, .setter = (kvo_function)set_count},
      {.name = "name", .type = "*", .getter = (kvo_function)get_name, .setter = (kvo_function)set_name},
      {.name = "next", .type = "@", .getter = (kvo_function)get_next, .setter = (kvo_function)set_next},
  };
  kvo_class_spec spec = {.struct_size = sizeof spec,
                         .name = "CShape",
                         .instance_size = sizeof(csupport_shape),
                         .properties = properties,
                         .property_count = sizeof properties / sizeof *properties};
  kvo_status status = kvo_class_register(&spec, &registered_class);
  if (status == KVO_OK) return;
  fprintf(stderr, "CShape cannot be registered: %s\n", kvo_status_string(status));
  abort();
}

/* Tests run on several threads at once. */
static kvo_class *shape_class(void) {
  static pthread_once_t once = PTHREAD_ONCE_INIT;
  pthread_once(&once, register_shape);
  return registered_class;
}

csupport_shape *csupport_shape_create(void) {
  kvo_object *object;
  if (kvo_object_create(shape_class(), &object) != KVO_OK) abort();
  return (csupport_shape *)object;
}

void csupport_shape_set_count(csupport_shape *shape, int count) { KVO_SET(shape, "count", int, count); }
void csupport_shape_set_rect(csupport_shape *shape, csupport_rect rect) { KVO_SET(shape, "rect", csupport_rect, rect); }

static void append_value(char *text, size_t size, const kvo_value *value) {
  size_t length = strlen(text);
  char *end = text + length;
  size_t left = size - length;
  if (value == NULL)
    snprintf(end, left, "-");
  else if (value->bytes == NULL)
    snprintf(end, left, "nil");
  else
    switch (value->type[0]) {
      case 'q': snprintf(end, left, "%lld", *(const long long *)value->bytes); break;
      case 'i': snprintf(end, left, "%d", *(const int *)value->bytes); break;
      case 'd': snprintf(end, left, "%g", *(const double *)value->bytes); break;
      case 'B': snprintf(end, left, "%s", *(const bool *)value->bytes ? "true" : "false"); break;
      case '*': snprintf(end, left, "%s", *(char *const *)value->bytes); break;
      default: snprintf(end, left, "(%s)", value->type); break;
    }
}

static void changed(const kvo_change *change, void *user_data) {
  csupport_watcher *watcher = user_data;
  size_t length = strlen(watcher->text), size = sizeof watcher->text;
  snprintf(watcher->text + length, size - length, "%s ", change->key_path);
  append_value(watcher->text, size, change->old_value);
  length = strlen(watcher->text);
  snprintf(watcher->text + length, size - length, ">");
  append_value(watcher->text, size, change->new_value);
  length = strlen(watcher->text);
  snprintf(watcher->text + length, size - length, ";");
}

static void destroyed(void *user_data) { ((csupport_watcher *)user_data)->destroyed++; }

kvo_status csupport_watch(csupport_watcher *watcher, kvo_object *object, const char *key_path) {
  kvo_observer observer = {.struct_size = sizeof observer,
                           .key_path = key_path,
                           .options = (kvo_options)(KVO_OLD | KVO_NEW | KVO_ENDS_WITH_OBJECT),
                           .callback = changed,
                           .user_data = watcher,
                           .destroy = destroyed,
                           KVO_HERE};
  return kvo_add_observer(object, &observer, &watcher->observation);
}

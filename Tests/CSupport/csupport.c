/* csupport.c - see csupport.h. */
#include "csupport.h"

#include <malloc.h>
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
  snprintf(((csupport_shape *)object)->name, sizeof((csupport_shape *)object)->name, "%s", name != NULL ? name : "");
}
static kvo_object *get_next(const kvo_object *object) { return ((const csupport_shape *)object)->next; }
static void set_next(kvo_object *object, kvo_object *next) { ((csupport_shape *)object)->next = next; }
/* A property whose accessors have a pointer: the offset of the value. */
static double get_member(const kvo_object *object, void *user) {
  return *(const double *)((const char *)object + (uintptr_t)user);
}
static void set_member(kvo_object *object, double value, void *user) {
  *(double *)((char *)object + (uintptr_t)user) = value;
}

/* The collections. `user` is the one of the three that is meant: 0 and 1 are lists, 2 is a set. */
static size_t count_of(const kvo_object *object, void *user) {
  return ((const csupport_shape *)object)->counts[(uintptr_t)user];
}
static void *elements_of(const kvo_object *object, void *user, size_t *size) {
  csupport_shape *shape = (csupport_shape *)(uintptr_t)object;
  *size = user == (void *)0 ? sizeof(double) : sizeof(void *);
  return user == (void *)0 ? (void *)shape->corners : user == (void *)1 ? (void *)shape->parts : (void *)shape->tags;
}
static void get_at(const kvo_object *object, size_t index, void *element, void *user) {
  size_t size;
  const char *elements = elements_of(object, user, &size);
  memcpy(element, elements + index * size, size);
}
static kvo_status insert_at(kvo_object *object, size_t index, const void *element, void *user) {
  size_t size, *count = &((csupport_shape *)object)->counts[(uintptr_t)user];
  char *elements = elements_of(object, user, &size);
  if (*count == 16) return KVO_ERROR_OUT_OF_MEMORY;
  memmove(elements + (index + 1) * size, elements + index * size, (*count - index) * size);
  memcpy(elements + index * size, element, size);
  ++*count;
  return KVO_OK;
}
static kvo_status remove_at(kvo_object *object, size_t index, void *user) {
  size_t size, *count = &((csupport_shape *)object)->counts[(uintptr_t)user];
  char *elements = elements_of(object, user, &size);
  --*count;
  memmove(elements + index * size, elements + (index + 1) * size, (*count - index) * size);
  return KVO_OK;
}

static size_t tag_at(const kvo_object *object, const void *element) {
  const csupport_shape *shape = (const csupport_shape *)object;
  size_t i = 0;
  while (i < shape->counts[2] && strcmp(shape->tags[i], *(char *const *)element) != 0) i++;
  return i;
}
static bool contains(const kvo_object *object, const void *element, void *user) {
  return tag_at(object, element) < count_of(object, user);
}
static void for_each(const kvo_object *object, void (*visit)(const void *element, void *arg), void *arg, void *user) {
  for (size_t i = 0; i < count_of(object, user); i++) visit(&((const csupport_shape *)object)->tags[i], arg);
}
/* The strings of a test are few, and not freed. */
static kvo_status add(kvo_object *object, const void *element, void *user) {
  char *copy = strdup(*(char *const *)element);
  return copy == NULL ? KVO_ERROR_OUT_OF_MEMORY : insert_at(object, 0, &copy, user);
}
static kvo_status remove_tag(kvo_object *object, const void *element, void *user) {
  return remove_at(object, tag_at(object, element), user);
}

static kvo_class *registered_class;

static void register_shape(void) {
  static const kvo_property_spec properties[] = {
      {.name = "rect", .type = "{rect=dddd}", .getter = (kvo_function)get_rect, .setter = (kvo_function)set_rect},
      {.name = "count", .type = "i", .getter = (kvo_function)get_count, .setter = (kvo_function)set_count},
      {.name = "name", .type = "*", .getter = (kvo_function)get_name, .setter = (kvo_function)set_name},
      {.name = "next", .type = "@", .getter = (kvo_function)get_next, .setter = (kvo_function)set_next},
      {.name = "width",
       .type = "d",
       .getter = (kvo_function)get_member,
       .setter = (kvo_function)set_member,
       .flags = KVO_PROPERTY_WITH_USER,
       .user = (void *)(offsetof(csupport_shape, rect) + offsetof(csupport_rect, width))},
  };
  kvo_list_accessors lists[2];
  for (uintptr_t i = 0; i < 2; i++)
    lists[i] = (kvo_list_accessors){.struct_size = sizeof *lists,
                                    .count = count_of,
                                    .get_at = get_at,
                                    .insert_at = insert_at,
                                    .remove_at = remove_at,
                                    .user = (void *)i};
  kvo_member_accessors members = {.struct_size = sizeof members,
                                  .count = count_of,
                                  .contains = contains,
                                  .for_each = for_each,
                                  .add = add,
                                  .remove = remove_tag,
                                  .user = (void *)2};
  const kvo_collection_spec collections[] = {{.name = "corners", .element_type = "d", .list = &lists[0]},
                                             {.name = "parts", .element_type = "@", .list = &lists[1]},
                                             {.name = "tags", .element_type = "*", .members = &members}};
  kvo_class_spec spec = {.struct_size = sizeof spec,
                         .collections = collections,
                         .collection_count = sizeof collections / sizeof *collections,
                         .collection_size = sizeof *collections,
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

static void append_value(char *text, size_t size, const kvo_value *value);

typedef struct appended {
  char *text;
  size_t size;
} appended;
static void append_element(const kvo_value *value, void *arg) {
  const appended *to = arg;
  append_value(to->text, to->size, value);
  snprintf(to->text + strlen(to->text), to->size - strlen(to->text), ",");
}
static void append_collection(char *text, size_t size, const kvo_value *value) {
  appended to = {text, size};
  snprintf(text + strlen(text), size - strlen(text), "%s", value->type);
  for (size_t i = 0; i < kvo_value_count(value); i++) kvo_value_element(value, i, append_element, &to);
}

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
      case '@': snprintf(end, left, "%s", kvo_class_name(kvo_object_class(*(kvo_object *const *)value->bytes))); break;
      case '[':
      case '<': append_collection(text, size, value); break;
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
  for (size_t i = 0; i < change->index_count; i++) {
    length = strlen(watcher->text);
    snprintf(watcher->text + length, size - length, "@%zu", change->indexes[i]);
  }
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

typedef struct copying {
  kvo_object *to;
  const char *key;
  kvo_status status;
} copying;

static void copy_value(const kvo_value *value, void *arg) {
  copying *copied = arg;
  copied->status = kvo_set_value(copied->to, copied->key, value);
}

kvo_status csupport_copy_value(kvo_object *from, const char *from_key, kvo_object *to, const char *to_key) {
  copying copied = {to, to_key, KVO_OK};
  kvo_status status = kvo_get_value(from, from_key, copy_value, &copied);
  return status != KVO_OK ? status : copied.status;
}

size_t csupport_allocated(void) { return mallinfo2().uordblks + mallinfo2().hblkhd; }

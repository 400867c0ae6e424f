/* objects.c - classes of C that the tests use from Python, and an observer in C that writes down what it is told. */
#define _POSIX_C_SOURCE 200809L
#include <kvo/kvo.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

typedef struct pair {
  double first;
  int second;
} pair;

typedef struct point {
  kvo_object header;
  double x;
  int count;
  bool visible;
  char *name;
  kvo_object *next;
  pair both;
} point;

static char *point_name(const point *p) { return p->name; }
static void point_set_name(point *p, char *name) {
  free(p->name);
  p->name = name != NULL ? strdup(name) : NULL;
}
static bool set_count(point *p, int count) {
  if (count < 0) return false;
  p->count = count;
  return true;
}
static void point_end(kvo_object *object) { free(((point *)object)->name); }

static kvo_class *point_class(void) {
  static kvo_class *made;
  enum { AT = KVO_PROPERTY_AT_OFFSET };
  kvo_property_spec properties[] = {
      {.name = "x", .type = "d", .flags = AT, .offset = offsetof(point, x)},
      {.name = "count",
       .type = "i",
       .flags = AT,
       .offset = offsetof(point, count),
       .setter = (kvo_function)set_count,
       .setter_type = "B@i"},
      {.name = "visible", .type = "B", .flags = AT, .offset = offsetof(point, visible)},
      {.name = "name", .type = "*", .getter = (kvo_function)point_name, .setter = (kvo_function)point_set_name},
      {.name = "next", .type = "@", .flags = AT, .offset = offsetof(point, next)},
      {.name = "both", .type = "{pair=di}", .flags = AT, .offset = offsetof(point, both)},
      {.name = "fixed", .type = "d", .flags = AT | KVO_PROPERTY_READ_ONLY, .offset = offsetof(point, x)},
  };
  kvo_class_spec spec = {.struct_size = sizeof spec,
                         .name = "CPoint",
                         .instance_size = sizeof(point),
                         .finalize = point_end,
                         .properties = properties,
                         .property_count = sizeof properties / sizeof *properties};
  if (made == NULL && kvo_class_register(&spec, &made) != KVO_OK) abort();
  return made;
}

kvo_object *make_point(void) {
  kvo_object *made;
  return kvo_object_create(point_class(), &made) == KVO_OK ? made : NULL;
}

void destroy(kvo_object *object) { kvo_object_destroy(object); }

/* A class that ends. */
static kvo_class *passing;
int begin_class(const char *name) {
  kvo_property_spec x = {.name = "x", .type = "d", .flags = KVO_PROPERTY_AT_OFFSET, .offset = offsetof(point, x)};
  kvo_class_spec spec = {
      .struct_size = sizeof spec, .name = name, .instance_size = sizeof(point), .properties = &x, .property_count = 1};
  return kvo_class_register(&spec, &passing);
}
int end_class(void) { return kvo_class_unregister(passing); }

/* ---------------------------------------------------------------------------------------------------- A list and a set -- */

typedef struct order {
  kvo_object header;
  double prices[64];
  size_t price_count;
  kvo_object *items[64];
  size_t item_count;
} order;

#define LIST(name, T)                                                                                                  \
  static size_t name##_count(const kvo_object *o, void *user) {                                                        \
    (void)user;                                                                                                        \
    return ((const order *)o)->name##_count;                                                                           \
  }                                                                                                                    \
  static void name##_get(const kvo_object *o, size_t index, void *element, void *user) {                               \
    (void)user;                                                                                                        \
    memcpy(element, &((const order *)o)->name##s[index], sizeof(T));                                                   \
  }                                                                                                                    \
  static kvo_status name##_insert(kvo_object *o, size_t index, const void *element, void *user) {                      \
    (void)user;                                                                                                        \
    order *of = (order *)o;                                                                                            \
    if (of->name##_count == 64) return KVO_ERROR_REFUSED;                                                              \
    memmove(&of->name##s[index + 1], &of->name##s[index], (of->name##_count++ - index) * sizeof(T));                   \
    memcpy(&of->name##s[index], element, sizeof(T));                                                                   \
    return KVO_OK;                                                                                                     \
  }                                                                                                                    \
  static kvo_status name##_remove(kvo_object *o, size_t index, void *user) {                                           \
    (void)user;                                                                                                        \
    order *of = (order *)o;                                                                                            \
    memmove(&of->name##s[index], &of->name##s[index + 1], (--of->name##_count - index) * sizeof(T));                   \
    return KVO_OK;                                                                                                     \
  }
LIST(price, double)
LIST(item, kvo_object *)

static size_t place(const order *of, double price) {
  size_t at = 0;
  while (at < of->price_count && of->prices[at] != price) at++;
  return at;
}
static bool set_contains(const kvo_object *o, const void *element, void *user) {
  (void)user;
  return place((const order *)o, *(const double *)element) < ((const order *)o)->price_count;
}
static void set_each(const kvo_object *o, void (*visit)(const void *, void *), void *arg, void *user) {
  (void)user;
  for (size_t i = 0; i < ((const order *)o)->price_count; i++) visit(&((const order *)o)->prices[i], arg);
}
static kvo_status set_add(kvo_object *o, const void *element, void *user) {
  return price_insert(o, price_count(o, user), element, user);
}
static kvo_status set_remove(kvo_object *o, const void *element, void *user) {
  return price_remove(o, place((const order *)o, *(const double *)element), user);
}

kvo_object *make_order(void) {
  static kvo_class *made;
  kvo_list_accessors prices = {.struct_size = sizeof prices,
                               .count = price_count,
                               .get_at = price_get,
                               .insert_at = price_insert,
                               .remove_at = price_remove};
  kvo_list_accessors items = {.struct_size = sizeof items,
                              .count = item_count,
                              .get_at = item_get,
                              .insert_at = item_insert,
                              .remove_at = item_remove};
  kvo_member_accessors set = {.struct_size = sizeof set,
                              .count = price_count,
                              .contains = set_contains,
                              .for_each = set_each,
                              .add = set_add,
                              .remove = set_remove};
  kvo_collection_spec collections[] = {{.name = "prices", .element_type = "d", .list = &prices},
                                       {.name = "items", .element_type = "@", .list = &items},
                                       {.name = "priceSet", .element_type = "d", .members = &set}};
  kvo_class_spec spec = {.struct_size = sizeof spec,
                         .name = "COrder",
                         .instance_size = sizeof(order),
                         .collections = collections,
                         .collection_count = 3,
                         .collection_size = sizeof *collections};
  if (made == NULL && kvo_class_register(&spec, &made) != KVO_OK) abort();
  kvo_object *object;
  return kvo_object_create(made, &object) == KVO_OK ? object : NULL;
}

int insert_item(kvo_object *object, size_t index, double value) {
  return kvo_list_insert(object, "prices", index, &(kvo_value){"d", sizeof value, &value});
}

/* ------------------------------------------------------------------------------------------------------- An observer -- */

static char told_text[1 << 16];
static kvo_observation watching;

static void write_value(const char *label, const kvo_value *value) {
  char *end = told_text + strlen(told_text);
  size_t room = (size_t)(told_text + sizeof told_text - end);
  if (value == NULL) return;
  if (value->bytes == NULL)
    snprintf(end, room, " %s=nil", label);
  else if (value->type[0] == 'd')
    snprintf(end, room, " %s=%g", label, *(const double *)value->bytes);
  else if (value->type[0] == 'q')
    snprintf(end, room, " %s=%lld", label, *(const long long *)value->bytes);
  else if (value->type[0] == 'B')
    snprintf(end, room, " %s=%s", label, *(const bool *)value->bytes ? "true" : "false");
  else if (value->type[0] == '*')
    snprintf(end, room, " %s='%s'", label, *(char *const *)value->bytes);
  else if (kvo_value_collection(value) != NULL)
    snprintf(end, room, " %s:%zu", label, kvo_value_count(value));
  else
    snprintf(end, room, " %s:%s", label, value->type);
}

static void write_element(const kvo_value *value, void *arg) { write_value(arg, value); }

static void write_down(const kvo_change *change, void *user_data) {
  (void)user_data;
  if (strlen(told_text) > sizeof told_text / 2) told_text[0] = 0;
  sprintf(told_text + strlen(told_text), "%s", change->key_path);
  write_value("old", change->old_value);
  write_value("new", change->new_value);
  for (size_t i = 0; i < kvo_change_count(change, KVO_NEW); i++)
    kvo_change_element(change, KVO_NEW, i, write_element, "element");
  strcat(told_text, "\n");
}

int watch(kvo_object *object, const char *key_path, int options) {
  kvo_observer observer = {.struct_size = sizeof observer,
                           .key_path = key_path,
                           .options = (kvo_options)options,
                           .callback = write_down,
                           KVO_HERE};
  told_text[0] = 0;
  return kvo_add_observer(object, &observer, &watching);
}
void unwatch(void) { kvo_cancel_observer(watching); }
const char *told(void) { return told_text; }

/* -------------------------------------------------------------------------------------------------- Values, from C -- */

int set_number(kvo_object *object, const char *key_path, double value) {
  return kvo_set_value(object, key_path, &(kvo_value){"d", sizeof value, &value});
}
int set_string(kvo_object *object, const char *key_path, const char *value) {
  return kvo_set_value(object, key_path, &(kvo_value){"*", sizeof value, value != NULL ? &value : NULL});
}
static void read_number(const kvo_value *value, void *arg) { memcpy(arg, value->bytes, sizeof(double)); }
double get_number(kvo_object *object, const char *key_path) {
  double number = -1;
  kvo_get_value(object, key_path, read_number, &number);
  return number;
}

typedef struct work {
  kvo_object *object;
  int count;
} work;
static void *set_often(void *arg) {
  work *of = arg;
  for (int i = 0; i < of->count; i++) set_number(of->object, "zoom", i);
  return NULL;
}
void set_on_thread(kvo_object *object, int count) {
  pthread_t thread;
  work of = {object, count};
  if (pthread_create(&thread, NULL, set_often, &of) == 0) pthread_join(thread, NULL);
}

/* Sets a property that is an object, on this thread or on one of C. */
void set_next(kvo_object *object, kvo_object *next, int count) {
  for (int i = 0; i < count; i++)
    kvo_set_value(object, "next", &(kvo_value){"@", sizeof next, next != NULL ? &next : NULL});
}
typedef struct next_work {
  kvo_object *object, *next;
  int count;
} next_work;
static void *set_next_of(void *arg) {
  next_work *of = arg;
  set_next(of->object, of->next, of->count);
  return NULL;
}
void set_next_on_thread(kvo_object *object, kvo_object *next, int count) {
  pthread_t thread;
  next_work of = {object, next, count};
  if (pthread_create(&thread, NULL, set_next_of, &of) == 0) pthread_join(thread, NULL);
}

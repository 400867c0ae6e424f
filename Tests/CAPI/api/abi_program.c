/* abi_program.c - a program of the last blessed version: built with CShim/abi/blessed.h, run with the present library. Uses each structure
 * that a caller fills, with the sizes of those headers, and reads each that the library fills. Do not change it for a new version: when a
 * version is blessed, add what it has. */
#include "blessed.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define CHECK(condition) ((condition) ? (void)0 : fail(__LINE__, #condition))
static void fail(int line, const char *condition) {
  fprintf(stderr, "abi_program.c:%d: %s; %s\n", line, condition, kvo_last_error());
  exit(1);
}

typedef struct order {
  kvo_object header;
  int total;
  double rate;
  struct order *next;
  size_t count;
  int items[8];
} order;

static int order_total(const order *of) { return of->total; }
static int order_set_total(order *of, int total) {
  if (total < 0) return 5;
  of->total = total;
  return 0;
}

static size_t item_count(const kvo_object *object, void *user) {
  (void)user;
  return ((const order *)object)->count;
}
static void item_at(const kvo_object *object, size_t index, void *element, void *user) {
  (void)user;
  memcpy(element, &((const order *)object)->items[index], sizeof(int));
}
static kvo_status insert_item(kvo_object *object, size_t index, const void *element, void *user) {
  order *of = (order *)object;
  (void)user;
  memmove(&of->items[index + 1], &of->items[index], (of->count++ - index) * sizeof(int));
  memcpy(&of->items[index], element, sizeof(int));
  return KVO_OK;
}
static kvo_status remove_item(kvo_object *object, size_t index, void *user) {
  order *of = (order *)object;
  (void)user;
  memmove(&of->items[index], &of->items[index + 1], (--of->count - index) * sizeof(int));
  return KVO_OK;
}

static int calls, destroyed;
static long long last_new;

static void changed(const kvo_change *change, void *user_data) {
  CHECK(user_data == &calls);
  CHECK(change->object != NULL && change->key_path != NULL && change->observation != 0);
  CHECK(change->context == &last_new);
  calls++;
  if (change->kind == KVO_CHANGE_SETTING && change->new_value != NULL && strcmp(change->new_value->type, "i") == 0)
    last_new = *(const int *)change->new_value->bytes;
  if (change->kind == KVO_CHANGE_INSERTION) last_new = (long long)change->index_count;
}

static void destroy(void *user_data) {
  CHECK(user_data == &calls);
  destroyed++;
}

static kvo_fault_code code;
static kvo_action note(const kvo_fault *fault, void *arg) {
  CHECK(arg == &code);
  code = fault->code;
  CHECK(fault->summary != NULL);
  return KVO_ACTION_IGNORE;
}

static kvo_observation observe(kvo_object *object, const char *key_path) {
  kvo_observer observer = {.struct_size = sizeof observer,
                           .key_path = key_path,
                           .options = (kvo_options)(KVO_NEW | KVO_OLD),
                           .callback = changed,
                           .user_data = &calls,
                           .destroy = destroy,
                           .context = &last_new,
                           KVO_HERE};
  kvo_observation id;
  CHECK(kvo_add_observer(object, &observer, &id) == KVO_OK);
  return id;
}

int main(void) {
  CHECK(kvo_version() >= KVO_VERSION_NUMBER);
  const kvo_property_spec properties[] = {
      {.name = "total",
       .type = "i",
       .getter = (kvo_function)order_total,
       .setter = (kvo_function)order_set_total,
       .setter_type = "i@i"},
      {.name = "rate", .type = "d", .flags = KVO_PROPERTY_AT_OFFSET, .offset = offsetof(order, rate)},
      {.name = "next", .type = "@", .flags = KVO_PROPERTY_AT_OFFSET, .offset = offsetof(order, next)}};
  kvo_list_accessors items = {.struct_size = sizeof items,
                              .count = item_count,
                              .get_at = item_at,
                              .insert_at = insert_item,
                              .remove_at = remove_item};
  kvo_collection_spec collections[] = {{.name = "items", .element_type = "i", .list = &items}};
  kvo_class_spec spec = {.struct_size = sizeof spec,
                         .name = "Order",
                         .instance_size = sizeof(order),
                         .properties = properties,
                         .property_count = 3,
                         .collections = collections,
                         .collection_count = 1,
                         .collection_size = sizeof *collections};
  kvo_class *cls;
  kvo_object *object, *other;
  CHECK(kvo_class_register(&spec, &cls) == KVO_OK);
  CHECK(kvo_object_create(cls, &object) == KVO_OK);
  CHECK(kvo_object_create(cls, &other) == KVO_OK);
  kvo_observation ids[] = {observe(object, "total"), observe(object, "rate"), observe(object, "next.total"),
                           observe(object, "items")};
  CHECK(KVO_SET(object, "total", int, 7) == KVO_OK);
  CHECK(last_new == 7);
  CHECK(KVO_SET(object, "total", int, -1) == KVO_ERROR_REFUSED && kvo_last_refusal() == 5);
  CHECK(KVO_SET(object, "rate", double, 0.5) == KVO_OK);
  CHECK(KVO_SET(object, "next", kvo_object *, other) == KVO_OK);
  CHECK(KVO_SET(other, "total", int, 9) == KVO_OK);
  CHECK(last_new == 9);
  int element = 3;
  kvo_value value = {"i", sizeof element, &element};
  CHECK(kvo_list_insert(object, "items", 0, &value) == KVO_OK);
  CHECK(((order *)object)->items[0] == 3);
  CHECK(calls == 5);
  for (size_t i = 0; i < sizeof ids / sizeof *ids; i++) CHECK(kvo_remove_observer(ids[i]) == KVO_OK);
  CHECK(destroyed == 4);
  kvo_set_fault_handler(note, &code);
  CHECK(kvo_remove_observer(ids[0]) == KVO_ERROR_NOT_REGISTERED);
  CHECK(KVO_SET(object, "total", double, 1.0) == KVO_ERROR_TYPE_MISMATCH);
  kvo_graph *graph;
  if (kvo_snapshot(&graph) == KVO_OK) {
    CHECK(code == KVO_FAULT_TYPE_MISMATCH);
    CHECK(graph->observation_count == 0);
    kvo_graph_free(graph);
  }
  kvo_object_destroy(object);
  kvo_object_destroy(other);
  return 0;
}

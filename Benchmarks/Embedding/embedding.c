/* embedding.c - libkvo and GLib at the same work: an insertion into an observed list, and a value read by its name.
 *
 *   embedding            times all, and prints nanoseconds and ratios
 *   embedding NAME N     makes one of them N times, for callgrind: kvo-list, glib-list, kvo-get, glib-get */
#define _GNU_SOURCE
#include <gio/gio.h>
#include <kvo/kvo.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

enum { LENGTH = 1000 };
static volatile long seen;

/* -------------------------------------------------------------------------------------------------------------- libkvo -- */

typedef struct row {
  kvo_object header;
  double price;
  struct row *next;
  kvo_object *items[LENGTH + 1];
  size_t count;
} row;

static double get_price(const row *of) { return of->price; }
static void set_price(row *of, double price) { of->price = price; }
static row *get_next(const row *of) { return of->next; }

static size_t count_items(const kvo_object *object, void *user) { return (void)user, ((const row *)object)->count; }
static void get_item(const kvo_object *object, size_t index, void *element, void *user) {
  (void)user;
  *(kvo_object **)element = ((const row *)object)->items[index];
}
static kvo_status insert_item(kvo_object *object, size_t index, const void *element, void *user) {
  row *of = (row *)object;
  (void)user;
  memmove(&of->items[index + 1], &of->items[index], (of->count - index) * sizeof of->items[0]);
  of->items[index] = *(kvo_object *const *)element;
  of->count++;
  return KVO_OK;
}
static kvo_status remove_item(kvo_object *object, size_t index, void *user) {
  row *of = (row *)object;
  (void)user;
  of->count--;
  memmove(&of->items[index], &of->items[index + 1], (of->count - index) * sizeof of->items[0]);
  return KVO_OK;
}

static row *root;

static void told(const kvo_change *change, void *user_data) {
  (void)user_data;
  seen += (long)change->indexes[0];
}

static void make_rows(void) {
  if (root != NULL) return;
  static const kvo_property_spec properties[] = {
      {.name = "price", .type = "d", .getter = (kvo_function)get_price, .setter = (kvo_function)set_price},
      {.name = "next", .type = "@", .getter = (kvo_function)get_next}};
  kvo_list_accessors items = {.struct_size = sizeof items,
                              .count = count_items,
                              .get_at = get_item,
                              .insert_at = insert_item,
                              .remove_at = remove_item};
  kvo_collection_spec collection = {.name = "items", .element_type = "@", .list = &items};
  kvo_class_spec spec = {.struct_size = sizeof spec,
                         .name = "Row",
                         .instance_size = sizeof(row),
                         .properties = properties,
                         .property_count = 2,
                         .collections = &collection,
                         .collection_count = 1,
                         .collection_size = sizeof collection};
  kvo_class *cls;
  kvo_object *objects[2];
  if (kvo_class_register(&spec, &cls) != KVO_OK) abort();
  for (int i = 0; i < 2; i++)
    if (kvo_object_create(cls, &objects[i]) != KVO_OK) abort();
  root = (row *)objects[0];
  root->next = (row *)objects[1];
  root->next->price = 2.5;
  kvo_observer observer = {.struct_size = sizeof observer, .key_path = "items", .callback = told, KVO_HERE};
  if (kvo_add_observer(objects[0], &observer, NULL) != KVO_OK) abort();
}

/* Inserts at the end, and begins again when the list is full. */
static void kvo_list(long count) {
  make_rows();
  kvo_object *item = &root->next->header;
  kvo_value value = {"@", sizeof item, &item};
  for (long i = 0; i < count; i++) {
    if (root->count == LENGTH) root->count = 0;
    if (kvo_list_insert(&root->header, "items", root->count, &value) != KVO_OK) abort();
  }
}

static void kvo_get(long count) {
  make_rows();
  double price = 0;
  for (long i = 0; i < count; i++) {
    kvo_get_double(&root->header, "next.price", &price);
    seen += (long)price;
  }
}

/* ---------------------------------------------------------------------------------------------------------------- GLib -- */

#define SUBJECT_TYPE (subject_get_type())
G_DECLARE_FINAL_TYPE(Subject, subject, BENCH, SUBJECT, GObject)
struct _Subject {
  GObject parent;
  gdouble price;
};
G_DEFINE_FINAL_TYPE(Subject, subject, G_TYPE_OBJECT)

static void get_property(GObject *object, guint id, GValue *value, GParamSpec *spec) {
  (void)id, (void)spec;
  g_value_set_double(value, BENCH_SUBJECT(object)->price);
}
static void subject_class_init(SubjectClass *cls) {
  G_OBJECT_CLASS(cls)->get_property = get_property;
  g_object_class_install_property(
      G_OBJECT_CLASS(cls), 1,
      g_param_spec_double("price", NULL, NULL, 0, 1e9, 0, G_PARAM_READABLE | G_PARAM_STATIC_STRINGS));
}
static void subject_init(Subject *self) { self->price = 2.5; }

static void items_changed(GListModel *list, guint position, guint removed, guint added, gpointer data) {
  (void)list, (void)removed, (void)added, (void)data;
  seen += (long)position;
}

static void glib_list(long count) {
  static GListStore *store;
  static Subject *item;
  if (store == NULL) {
    store = g_list_store_new(SUBJECT_TYPE);
    item = g_object_new(SUBJECT_TYPE, NULL);
    g_signal_connect(store, "items-changed", G_CALLBACK(items_changed), NULL);
  }
  guint length = g_list_model_get_n_items(G_LIST_MODEL(store));
  for (long i = 0; i < count; i++) {
    if (length == LENGTH) g_list_store_remove_all(store), length = 0;
    g_list_store_insert(store, length++, item);
  }
}

static void glib_get(long count) {
  static Subject *item;
  if (item == NULL) item = g_object_new(SUBJECT_TYPE, NULL);
  for (long i = 0; i < count; i++) {
    gdouble price;
    g_object_get(item, "price", &price, NULL);
    seen += (long)price;
  }
}

/* ------------------------------------------------------------------------------------------------------------- Measuring -- */

static const struct {
  const char *name;
  void (*run)(long count);
} all[] = {{"kvo-list", kvo_list}, {"glib-list", glib_list}, {"kvo-get", kvo_get}, {"glib-get", glib_get}};
enum { COUNT = sizeof all / sizeof *all };

/* The best of several runs, in nanoseconds for one. */
static double time_of(void (*run)(long count)) {
  double best = 1e9;
  enum { RUNS = 15, EACH = 200000 };
  run(1000);
  for (int i = 0; i < RUNS; i++) {
    struct timespec before, after;
    clock_gettime(CLOCK_MONOTONIC, &before);
    run(EACH);
    clock_gettime(CLOCK_MONOTONIC, &after);
    double taken = ((double)(after.tv_sec - before.tv_sec) * 1e9 + (double)(after.tv_nsec - before.tv_nsec)) / EACH;
    if (taken < best) best = taken;
  }
  return best;
}

int main(int count, char **arguments) {
  if (count == 3) {
    for (int i = 0; i < COUNT; i++)
      if (strcmp(all[i].name, arguments[1]) == 0) all[i].run(atol(arguments[2]));
    return 0;
  }
  double times[COUNT];
  for (int i = 0; i < COUNT; i++) printf("%-10s %6.1f ns\n", all[i].name, times[i] = time_of(all[i].run));
  printf("list insert / GListStore             %.2f\n", times[0] / times[1]);
  printf("kvo_get_double of a path / g_object_get %.2f\n", times[2] / times[3]);
  return 0;
}

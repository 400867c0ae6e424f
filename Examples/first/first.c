/* first.c - properties, a key path and a list in C.  gcc first.c $(pkg-config --cflags --libs kvo) */
#include <kvo/kvo.h>
#include <stdio.h>
#include <string.h>

typedef struct author {
  kvo_object header;
  char name[32];
} author;

static char *author_name(const author *a) { return (char *)a->name; }
static void author_set_name(author *a, char *name) {
  snprintf(a->name, sizeof a->name, "%s", name != NULL ? name : "");
}

typedef struct document {
  kvo_object header;
  double zoom;
  kvo_object *author;
  long long marks[8];
  size_t count;
} document;

static size_t mark_count(const kvo_object *o, void *user) {
  (void)user;
  return ((const document *)o)->count;
}
static void mark_at(const kvo_object *o, size_t index, void *element, void *user) {
  (void)user;
  *(long long *)element = ((const document *)o)->marks[index];
}
static kvo_status insert_mark(kvo_object *o, size_t index, const void *element, void *user) {
  (void)user;
  document *d = (document *)o;
  if (d->count == 8) return KVO_ERROR_REFUSED;
  memmove(&d->marks[index + 1], &d->marks[index], (d->count++ - index) * sizeof *d->marks);
  d->marks[index] = *(const long long *)element;
  return KVO_OK;
}
static kvo_status remove_mark(kvo_object *o, size_t index, void *user) {
  (void)user;
  document *d = (document *)o;
  memmove(&d->marks[index], &d->marks[index + 1], (--d->count - index) * sizeof *d->marks);
  return KVO_OK;
}

static void zoomed(const kvo_change *change, void *user_data) {
  (void)user_data;
  printf("zoom %g -> %g\n", *(const double *)change->old_value->bytes, *(const double *)change->new_value->bytes);
}
static void renamed(const kvo_change *change, void *user_data) {
  (void)user_data;
  printf("author %s\n", change->new_value->bytes != NULL ? *(char *const *)change->new_value->bytes : "nobody");
}
static void print_mark(const kvo_value *value, void *arg) {
  printf("mark %zu is %lld\n", *(const size_t *)arg, *(const long long *)value->bytes);
}
static void marked(const kvo_change *change, void *user_data) {
  (void)user_data;
  for (size_t i = 0; i < kvo_change_count(change, KVO_NEW); i++)
    kvo_change_element(change, KVO_NEW, i, print_mark, (void *)&change->indexes[i]);
}

static void observe(kvo_object *object, const char *key_path, kvo_callback callback) {
  kvo_observer observer = {.struct_size = sizeof observer,
                           .key_path = key_path,
                           .options = KVO_NEW | KVO_OLD | KVO_ENDS_WITH_OBJECT,
                           .callback = callback,
                           KVO_HERE};
  kvo_add_observer(object, &observer, NULL);
}

int main(void) {
  kvo_property_spec name = {
      .name = "name", .type = "*", .getter = (kvo_function)author_name, .setter = (kvo_function)author_set_name};
  kvo_class_spec author_spec = {.struct_size = sizeof author_spec,
                                .name = "Author",
                                .instance_size = sizeof(author),
                                .properties = &name,
                                .property_count = 1};
  kvo_property_spec properties[] = {
      {.name = "zoom", .type = "d", .flags = KVO_PROPERTY_AT_OFFSET, .offset = offsetof(document, zoom)},
      {.name = "author", .type = "@", .flags = KVO_PROPERTY_AT_OFFSET, .offset = offsetof(document, author)}};
  kvo_list_accessors marks = {.struct_size = sizeof marks,
                              .count = mark_count,
                              .get_at = mark_at,
                              .insert_at = insert_mark,
                              .remove_at = remove_mark};
  kvo_collection_spec collection = {.name = "marks", .element_type = "q", .list = &marks};
  kvo_class_spec document_spec = {.struct_size = sizeof document_spec,
                                  .name = "Document",
                                  .instance_size = sizeof(document),
                                  .properties = properties,
                                  .property_count = 2,
                                  .collections = &collection,
                                  .collection_count = 1,
                                  .collection_size = sizeof collection};
  kvo_class *author_class, *document_class;
  kvo_object *ada, *report;
  if (kvo_class_register(&author_spec, &author_class) != KVO_OK ||
      kvo_class_register(&document_spec, &document_class) != KVO_OK ||
      kvo_object_create(author_class, &ada) != KVO_OK || kvo_object_create(document_class, &report) != KVO_OK) {
    fprintf(stderr, "%s\n", kvo_last_error());
    return 1;
  }
  KVO_SET(ada, "name", char *, "Ada");

  observe(report, "zoom", zoomed);
  observe(report, "author.name", renamed);
  observe(report, "marks", marked);
  KVO_SET(report, "zoom", double, 2);
  KVO_SET(report, "author", kvo_object *, ada);
  KVO_SET(ada, "name", char *, "Grace");
  long long mark = 7;
  kvo_list_insert(report, "marks", 0, &(kvo_value){"q", sizeof mark, &mark});
  KVO_SET(report, "author", kvo_object *, NULL);

  kvo_object_destroy(report);
  kvo_object_destroy(ada);
  return 0;
}

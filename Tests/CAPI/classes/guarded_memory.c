/* guarded_memory.c - types, classes and graphs use only the memory that the runtime has asked for. */
#include "fixture.h"
#include "guarded.h"

#include <kvo/kvo_binding.h>

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* --------------------------------------------------------------------------------------------------------- Types -- */

static void check_size(const char *type, size_t expected) {
  size_t found = 0;
  if (kvo_type_size(type, &found, NULL) != KVO_OK) harness_fail(__FILE__, __LINE__, "\"%s\"", type);
  CHECK_EQ(found, expected);
  CHECK_EQ(guarded_blocks, 0);
}

/* Writes "{s=", `count` times the member, and the end. */
static const char *structure_of(const char *member, size_t count, const char *end) {
  static char type[512];
  strcpy(type, "{s=");
  for (size_t i = 0; i < count; i++) strcat(type, member);
  return strcat(type, end);
}

typedef struct mixed_member {
  char letter;
  double real;
} mixed_member;

TEST("a structure with any number of members is described in its own memory") {
  guard_memory();
  for (size_t count = 1; count <= 20; count++) {
    check_size(structure_of("i", count, "}"), count * sizeof(int));
    check_size(structure_of("{t=cd}", count, "}"), count * sizeof(mixed_member));
    check_size(structure_of("[3s]", count, "}"), count * 3 * sizeof(short));
    char array[32];
    snprintf(array, sizeof array, "[%zu{t=ii}]", count);
    check_size(structure_of(array, 1, "}"), count * 2 * sizeof(int));
    CHECK_STATUS(kvo_type_size(structure_of("{t=ii}", count, "v}"), NULL, NULL), KVO_ERROR_BAD_TYPE_ENCODING);
    CHECK_EQ(guarded_blocks, 0);
  }
}

/* ------------------------------------------------------------------------------------------------------- Classes -- */

typedef struct small {
  kvo_object header;
  int value;
} small;

static int get_value(const small *of) { return of->value; }
static void set_value(small *of, int value) { of->value = value; }

static int changes;
static void count_change(const kvo_change *change, void *user_data) {
  (void)change, (void)user_data;
  changes++;
}

static kvo_class *register_class(const char *name, kvo_class *superclass, const char *prefix, size_t count) {
  static const char *const affecting[] = {"x0", "x1.x2", "x3", NULL};
  char names[10][16];
  kvo_property_spec properties[10] = {{.name = NULL}};
  for (size_t i = 0; i < count; i++) {
    snprintf(names[i], sizeof names[i], "%s%u", prefix, (unsigned)i);
    properties[i] = (kvo_property_spec){.name = names[i],
                                        .type = "i",
                                        .getter = (kvo_function)get_value,
                                        .setter = (kvo_function)set_value,
                                        .affected_by = i % 5 == 0 ? NULL : affecting + i % 5 - 1};
  }
  kvo_class_spec spec = {.struct_size = sizeof spec,
                         .name = name,
                         .superclass = superclass,
                         .instance_size = sizeof(small),
                         .properties = properties,
                         .property_count = count};
  kvo_class *cls = NULL;
  CHECK_OK(kvo_class_register(&spec, &cls));
  return cls;
}

TEST("classes with any number of properties, their subclasses and their observed objects keep to their memory") {
  guard_memory();
  for (size_t count = 0; count < 10; count++) {
    char names[2][32];
    for (int i = 0; i < 2; i++)
      snprintf(names[i], sizeof names[i], "%s%u", i == 0 ? "Base" : "Derived", (unsigned)count);
    kvo_class *base = register_class(names[0], NULL, "a", count);
    kvo_class *derived = register_class(names[1], base, "b", 1);
    CHECK_EQ(kvo_class_property_count(derived), count + 1);
    kvo_object *object;
    kvo_observation id;
    kvo_observer observer = {.struct_size = sizeof observer, .key_path = "b0", .callback = count_change, KVO_HERE};
    CHECK_OK(kvo_object_create(derived, &object));
    CHECK_OK(kvo_add_observer(object, &observer, &id));
    changes = 0;
    ((void (*)(kvo_object *, int))kvo_object_setter(object, "b0"))(object, 7);
    CHECK_EQ(changes, 1);
    CHECK_EQ(((small *)object)->value, 7);
    char isa[64];
    snprintf(isa, sizeof isa, "KVONotifying_%s", names[1]);
    CHECK_EQ(kvo_class_name(kvo_object_isa(object)), (const char *)isa);
    check_memory();
    CHECK_OK(kvo_remove_observer(id));
    kvo_object_destroy(object);
    CHECK_OK(kvo_class_unregister(derived));
    CHECK_OK(kvo_class_unregister(base));
  }
  check_memory();
}

static void *copy_nothing(void *instance, void *user, const kvo_selection *selection) {
  (void)instance, (void)user, (void)selection;
  return NULL;
}
static void release_nothing(void *value, void *user) { (void)value, (void)user; }
static void view_nothing(const void *value, void *user, kvo_value_reader reader, void *arg) {
  (void)value, (void)user, (void)reader, (void)arg;
}
static kvo_status assign_nothing(void *instance, void *user, const kvo_value *value) {
  (void)instance, (void)user, (void)value;
  return KVO_ERROR_READ_ONLY;
}

static const kvo_value_ops no_ops = {copy_nothing, release_nothing, view_nothing, assign_nothing, NULL};

TEST("a refused class of a binding that replaces inherited properties leaves nothing behind") {
  guard_memory();
  static const char *const paths[] = {"first", NULL};
  kvo_class *base, *derived = NULL;
  kvo_binding_property properties[] = {{.name = "first", .type = "i", .ops = &no_ops},
                                       {.name = "second", .type = "i", .ops = &no_ops, .affected_by = paths}};
  CHECK_OK(kvo_binding_class_register("Base", NULL, 0, properties, 2, &base));
  kvo_binding_property replacing[] = {{.name = "first", .type = "i", .ops = &no_ops, .affected_by = paths},
                                      {.name = "second", .type = "i", .ops = &no_ops},
                                      {.name = "third", .type = "i", .ops = &no_ops},
                                      {.name = "fourth", .type = NULL, .ops = &no_ops}};
  long before = guarded_blocks;
  for (int i = 0; i < 3; i++) {
    CHECK_STATUS(kvo_binding_class_register("Derived", base, 0, replacing, 4, &derived), KVO_ERROR_INVALID_ARGUMENT);
    CHECK_SAME(derived, NULL);
    CHECK_EQ(guarded_blocks, before);
  }
  CHECK_EQ(kvo_property_name(kvo_class_property(base, "first")), "first");
  CHECK_EQ(kvo_property_name(kvo_class_property(base, "second")), "second");
  CHECK_OK(kvo_binding_class_register("Derived", base, 0, replacing, 3, &derived));
  CHECK_EQ(kvo_class_property_count(derived), 3);
  check_memory();
}

TEST("classes of bindings that have one name take the same memory each, from the second one on") {
  enum { TWINS = 12 };
  guard_memory();
  long taken[TWINS];
  for (int i = 0; i < TWINS; i++) {
    kvo_class *cls;
    long before = guarded_blocks;
    CHECK_OK(kvo_binding_class_register("Twin", NULL, 0, NULL, 0, &cls));
    taken[i] = guarded_blocks - before;
  }
  for (int i = 2; i < TWINS; i++) CHECK_EQ(taken[i], taken[1]);
  check_memory();
}

/* -------------------------------------------------------------------------------------------------------- Graphs -- */

static void write_graph(const kvo_graph *graph, kvo_graph_form form) {
  size_t length = kvo_graph_format(graph, form, NULL, 0);
  char *text = malloc(length + 1);
  CHECK(text != NULL);
  CHECK(length > 0);
  CHECK_EQ(kvo_graph_format(graph, form, text, length + 1), length);
  CHECK_EQ(strlen(text), length);
  free(text);
}

TEST_REPORTED("graphs of any number of objects, observations and edges are made and drawn in their own memory") {
  enum { MOST = 6 };
  guard_memory();
  for (int count = 0; count <= MOST; count++) {
    item *objects[MOST + 1];
    watcher w[2 * MOST] = {{0}};
    for (int i = 0; i <= count; i++) objects[i] = item_make(i);
    for (int i = 0; i < count; i++) objects[i]->next = objects[i + 1];
    for (int i = 0; i < count; i++) {
      watch(objects[i], "value", KVO_NONE, &w[2 * i]);
      watch(objects[i], "next.value", KVO_NONE, &w[2 * i + 1]);
    }
    kvo_graph *graph = NULL;
    CHECK_OK(kvo_snapshot(&graph));
    CHECK_EQ(graph->observation_count, 2 * count);
    CHECK_EQ(graph->edge_count, 2 * count);
    check_memory();
    for (int form = 0; form < 3; form++)
      write_graph(graph, form == 0 ? KVO_GRAPH_JSON : form == 1 ? KVO_GRAPH_DOT : KVO_GRAPH_MERMAID);
    check_memory();
    kvo_graph_free(graph);
    for (int i = 0; i < 2 * count; i++) CHECK_OK(kvo_remove_observer(w[i].id));
    for (int i = 0; i <= count; i++) item_destroy(objects[i]);
  }
  check_memory();
}

TEST_REPORTED("two key paths of an object are sorted in a graph, and equal ones are one") {
  guard_memory();
  static const char *const pairs[][2] = {{"value", "other"}, {"other", "value"}, {"value", "value"}};
  for (size_t i = 0; i < sizeof pairs / sizeof *pairs; i++) {
    item *object = item_make(0);
    watcher w[2] = {{0}};
    for (int k = 0; k < 2; k++) watch(object, pairs[i][k], KVO_NONE, &w[k]);
    kvo_graph *graph = NULL;
    CHECK_OK(kvo_snapshot(&graph));
    CHECK_SAME(graph->objects[0].object, object);
    CHECK_EQ(graph->objects[0].key_path_count, i < 2 ? 2 : 1);
    CHECK_EQ(graph->objects[0].key_paths[0], i < 2 ? "other" : "value");
    if (i < 2) CHECK_EQ(graph->objects[0].key_paths[1], "value");
    kvo_graph_free(graph);
    for (int k = 0; k < 2; k++) CHECK_OK(kvo_remove_observer(w[k].id));
    item_destroy(object);
  }
}

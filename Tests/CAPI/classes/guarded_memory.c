/* guarded_memory.c - whatever the number of elements, the runtime uses only the memory that it has asked for. */
#include "basket.h"
#include "boxed.h"
#include "guarded.h"
#include "made.h"

#include <kvo/kvo_binding.h>

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static void check_size(const char *type, size_t expected) {
  size_t found = 0;
  if (kvo_type_size(type, &found, NULL) != KVO_OK) harness_fail(__FILE__, __LINE__, "\"%s\"", type);
  CHECK_EQ(found, expected);
  CHECK_EQ(guarded_blocks, 0);
}

/* "{s=", `count` times the member, and the end. */
static const char *structure_of(const char *member, size_t count, const char *end) {
  static char type[512];
  strcpy(type, "{s=");
  for (size_t i = 0; i < count; i++) strcat(type, member);
  return strcat(type, end);
}

TEST("a structure with any number of members is described in its own memory") {
  struct mixed {
    char letter;
    double real;
  };
  guard_memory();
  for (size_t count = 1; count <= 20; count++) {
    check_size(structure_of("i", count, "}"), count * sizeof(int));
    check_size(structure_of("{t=cd}", count, "}"), count * sizeof(struct mixed));
    check_size(structure_of("[3s]", count, "}"), count * 3 * sizeof(short));
    char array[32];
    snprintf(array, sizeof array, "[%zu{t=ii}]", count);
    check_size(structure_of(array, 1, "}"), count * 2 * sizeof(int));
    CHECK_STATUS(kvo_type_size(structure_of("{t=ii}", count, "v}"), NULL, NULL), KVO_ERROR_BAD_TYPE_ENCODING);
    CHECK_EQ(guarded_blocks, 0);
  }
}

static kvo_class *register_class(const char *name, kvo_class *superclass, char prefix, size_t count) {
  static const char *const affecting[] = {"x0", "x1.x2", "x3", NULL};
  char names[10][4];
  kvo_property_spec properties[10];
  for (size_t i = 0; i < count; i++) {
    snprintf(names[i], sizeof names[i], "%c%u", prefix, (unsigned char)i);
    properties[i] = (kvo_property_spec)AT_OFFSET(item, value, "i");
    properties[i].name = names[i];
    properties[i].affected_by = i % 5 == 0 ? NULL : affecting + i % 5 - 1;
  }
  kvo_class_spec spec = {.struct_size = sizeof spec,
                         .name = name,
                         .superclass = superclass,
                         .instance_size = sizeof(item),
                         .properties = properties,
                         .property_count = count};
  kvo_class *cls = NULL;
  CHECK_OK(kvo_class_register(&spec, &cls));
  return cls;
}

TEST("classes with any number of properties, their subclasses and their observed objects keep to their memory") {
  guard_memory();
  for (size_t count = 0; count < 10; count++) {
    kvo_class *base = register_class("Base", NULL, 'a', count);
    kvo_class *derived = register_class("Derived", base, 'b', 1);
    CHECK_EQ(kvo_class_property_count(derived), count + 1);
    kvo_object *object = object_of(derived);
    int calls = 0;
    kvo_observation id = count_changes(object, "b0", KVO_NEW, &calls);
    SETTER(object, "b0", int)(object, 7);
    CHECK_EQ(calls, 1);
    CHECK_EQ(kvo_class_name(kvo_object_isa(object)), "KVONotifying_Derived");
    check_memory();
    CHECK_OK(kvo_remove_observer(id));
    kvo_object_destroy(object);
    CHECK_OK(kvo_class_unregister(derived));
    CHECK_OK(kvo_class_unregister(base));
  }
  check_memory();
}

/* Adds a hook of one of the three kinds, which proceeds if it is to. */
static kvo_hook add_one(kvo_object *object, kvo_class *cls, int number) {
  static const kvo_hook_when kinds[] = {KVO_HOOK_BEFORE, KVO_HOOK_INSTEAD, KVO_HOOK_AFTER};
  kvo_hook_when when = kinds[number % 3];
  return add(object, cls, "area", when, number % 4, when == KVO_HOOK_INSTEAD ? around : letter, "");
}

TEST("any number of hooks on an object, on its class, or on both are called from their own memory") {
  enum { MOST = 9 };
  guard_memory();
  kvo_object *object = box_make(2, 3);
  for (int of_object = 0; of_object <= MOST; of_object++)
    for (int of_class = 0; of_class <= MOST; of_class += 3) {
      kvo_hook hooks[2 * MOST];
      int count = of_object + of_class;
      for (int i = 0; i < count; i++) {
        hooks[i] = i < of_object ? add_one(object, NULL, i) : add_one(NULL, box_class(), i - of_object + 1);
        check_area(object, "f");
      }
      check_memory();
      for (int first = 0; first < 3; first++) /* each third one */
        for (int i = first; i < count; i += 3) {
          CHECK_OK(kvo_hook_remove(hooks[i]));
          check_area(object, "f");
        }
    }
  CHECK(kvo_object_method(object, "area") == (kvo_function)area);
  kvo_object_destroy(object);
  check_memory();
}

TEST("lists and sets of any number of elements are read, changed and delivered in their own memory") {
  static const char *const keys[] = {"names", "prices", "tags", "words"};
  guard_memory();
  basket *object = basket_make("b", 0);
  scribe to[4] = {{{0}, 0, 0, 0}};
  for (int i = 0; i < 4; i++) scribe_watch(object, keys[i], KVO_NEW | KVO_OLD, &to[i]);
  for (size_t i = 0; i < 10; i++) {
    char name[16];
    snprintf(name, sizeof name, "n%u", (unsigned)i);
    CHECK_OK(kvo_list_insert(as_kvo(object), "names", i / 2, VALUE("*", const char *, name)));
    CHECK_OK(kvo_list_insert(as_kvo(object), "prices", i, VALUE("d", double, (double)i)));
    CHECK_OK(kvo_members_add(as_kvo(object), "tags", VALUE("i", int, (int)i)));
    CHECK_OK(kvo_members_add(as_kvo(object), "words", VALUE("*", const char *, name)));
    for (int k = 0; k < 4; k++) {
      CHECK(text_at(object, keys[k])[0] == '(');
      CHECK_EQ(to[k].calls, (int)i + 1);
    }
    check_memory();
  }
  CHECK_EQ(text_at(object, "names"), "(\"n1\",\"n3\",\"n5\",\"n7\",\"n9\",\"n8\",\"n6\",\"n4\",\"n2\",\"n0\")");
  CHECK_EQ(text_at(object, "prices.@sum.self"), "45");
  for (size_t i = 0; i < 10; i++) {
    CHECK_OK(kvo_list_remove(as_kvo(object), "names", i % 3 == 0 ? 0 : 9 - i));
    CHECK_OK(kvo_members_remove(as_kvo(object), "tags", VALUE("i", int, (int)i)));
    check_memory();
  }
  CHECK_EQ(text_at(object, "names"), "()");
  for (int i = 0; i < 4; i++) CHECK_OK(kvo_remove_observer(to[i].id));
  basket_destroy(object);
  check_memory();
}

TEST("several elements are inserted, replaced and removed at a time, as many as a buffer holds and one more") {
  static const size_t indexes[] = {0, 1, 2, 3, 4, 5, 6, 7, 8, 9};
  guard_memory();
  for (size_t count = 1; count <= 10; count++) {
    basket *object = basket_make("b", 0);
    double number = 3;
    kvo_value values[10];
    for (size_t i = 0; i < 10; i++) values[i] = (kvo_value){"d", sizeof number, &number};
    CHECK_OK(kvo_list_insert_several(as_kvo(object), "prices", indexes, count, values));
    CHECK_EQ(object->prices[count - 1], 3.0);
    number = 2;
    CHECK_OK(kvo_list_replace_several(as_kvo(object), "prices", indexes, count, values));
    CHECK_EQ(object->prices[count - 1], 2.0);
    CHECK_OK(kvo_list_remove_several(as_kvo(object), "prices", indexes, count));
    CHECK_EQ(object->price_count, 0);
    basket_destroy(object);
    check_memory();
  }
}

TEST_REPORTED("graphs of any number of objects, observations and edges are made and drawn in their own memory") {
  enum { MOST = 6 };
  guard_memory();
  for (int count = 0; count <= MOST; count++) {
    item *objects[MOST + 1];
    watcher w[2 * MOST] = {{0}};
    for (int i = 0; i <= count; i++) objects[i] = item_make(i);
    for (int i = 0; i < count; i++) {
      objects[i]->next = objects[i + 1];
      watch(objects[i], "value", KVO_NONE, &w[2 * i]);
      watch(objects[i], "next.value", KVO_NONE, &w[2 * i + 1]);
    }
    kvo_graph *graph = NULL;
    CHECK_OK(kvo_snapshot(&graph));
    CHECK_EQ(graph->observation_count, 2 * count);
    CHECK_EQ(graph->edge_count, 2 * count);
    static const kvo_graph_form forms[] = {KVO_GRAPH_JSON, KVO_GRAPH_DOT, KVO_GRAPH_MERMAID};
    for (int form = 0; form < 3; form++) {
      size_t length = kvo_graph_format(graph, forms[form], NULL, 0);
      char *text = malloc(length + 1);
      CHECK_EQ(kvo_graph_format(graph, forms[form], text, length + 1), length);
      CHECK_EQ(strlen(text), length);
      free(text);
    }
    check_memory();
    kvo_graph_free(graph);
    for (int i = 0; i < 2 * count; i++) CHECK_OK(kvo_remove_observer(w[i].id));
    for (int i = 0; i <= count; i++) item_destroy(objects[i]);
  }
  check_memory();
}

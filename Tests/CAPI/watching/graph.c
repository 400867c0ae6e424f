/* graph.c - kvo_snapshot: all observations at one moment, and the graph as JSON, DOT and Mermaid. */
#include "allocator.h"
#include "fixture.h"

#include <kvo/kvo_binding.h>

#include <ctype.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static kvo_graph *snapshot(void) {
  kvo_graph *graph = NULL;
  CHECK_OK(kvo_snapshot(&graph));
  return graph;
}

static char *text_of(const kvo_graph *graph, kvo_graph_form form) {
  size_t length = kvo_graph_format(graph, form, NULL, 0);
  char *text = malloc(length + 1);
  CHECK_EQ(kvo_graph_format(graph, form, text, length + 1), length);
  CHECK_EQ(strlen(text), length);
  return text;
}

/* ------------------------------------------------------------------------------------------------------ The content -- */

TEST("without observations the graph is empty") {
  item *object = item_make(0);
  watcher w = {0};
  kvo_cancel_observer(watch(object, "value", KVO_NEW, &w));
  kvo_graph *graph = snapshot();
  CHECK_EQ(graph->object_count + graph->observation_count + graph->edge_count, 0);
  kvo_graph_free(graph);
  kvo_graph_free(NULL);
  item_destroy(object);
}

TEST("objects are sorted by their first observation, observations by registration") {
  item *first = item_make(0), *second = item_make(0);
  watcher w[4] = {{0}};
  w[1].context = &w;
  watch(second, "value", KVO_NEW, &w[0]);
  watch(first, "value", KVO_NEW | KVO_OLD, &w[1]);
  watch(second, "name", KVO_PRIOR, &w[2]);
  watch(second, "value", KVO_ENDS_WITH_OBJECT, &w[3]);
  kvo_graph *graph = snapshot();
  CHECK_EQ(graph->object_count, 2 + 4);
  CHECK_EQ(graph->observation_count, 4);
  CHECK_EQ(graph->edge_count, 0);

  const kvo_graph_object *objects = graph->objects;
  CHECK_SAME(objects[0].object, second);
  CHECK_EQ(objects[0].class_name, "Item");
  CHECK_EQ(objects[0].first_observation, 0);
  CHECK_EQ(objects[0].observation_count, 3);
  CHECK_EQ(objects[0].key_path_count, 2);
  CHECK_EQ(objects[0].key_paths[0], "name");
  CHECK_EQ(objects[0].key_paths[1], "value");
  CHECK_SAME(objects[1].object, first);
  CHECK_EQ(objects[1].first_observation, 3);
  CHECK_EQ(objects[1].observation_count, 1);

  const int expected[] = {0, 2, 3, 1};
  for (size_t i = 0; i < 4; i++) {
    const kvo_graph_observation *each = &graph->observations[i];
    CHECK_EQ(each->observation, w[expected[i]].id);
    CHECK_EQ(each->kind, KVO_GRAPH_DIRECT);
    CHECK_EQ(each->object, i == 3);
    CHECK_SAME(each->observer, &w[expected[i]]);
    CHECK_EQ(each->observer_object, 2 + expected[i]);
    CHECK_CONTAINS(each->file, "fixture.c");
    CHECK_EQ(each->line, watcher_observer("value", 0, &w[0]).line);
    CHECK_EQ(each->edge_count, 0);
  }
  CHECK_EQ(graph->observations[1].key_path, "name");
  CHECK_EQ(graph->observations[1].options, KVO_PRIOR);
  CHECK_EQ(graph->observations[2].options, KVO_ENDS_WITH_OBJECT);
  CHECK_SAME(graph->observations[3].context, &w);
  for (int i = 0; i < 4; i++) kvo_cancel_observer(w[i].id);
  CHECK_EQ(graph->observations[1].key_path, "name"); /* the graph has copies */
  kvo_graph_free(graph);
  item_destroy(first);
  item_destroy(second);
}

TEST("an observation of a key path has an edge for each key on it, and follows changes of it") {
  item *root = item_make(0), *near = item_make(0), *far = item_make(0);
  root->next = near;
  near->next = far;
  watcher w = {0};
  watch(root, "next.next.value", KVO_NEW, &w);
  kvo_graph *graph = snapshot();
  CHECK_EQ(graph->object_count, 3 + 1);
  CHECK_EQ(graph->observation_count, 1);
  CHECK_EQ(graph->observations[0].kind, KVO_GRAPH_EXPRESSION);
  CHECK_EQ(graph->observations[0].key_path, "next.next.value");
  CHECK_EQ(graph->observations[0].edge_count, 3);
  const void *objects[] = {root, near, far};
  const char *keys[] = {"next", "next", "value"};
  for (size_t i = 0; i < 3; i++) {
    const kvo_graph_edge *edge = &graph->edges[graph->observations[0].first_edge + i];
    CHECK_EQ(edge->observation, 0);
    CHECK_SAME(graph->objects[edge->object].object, objects[i]);
    CHECK_EQ(graph->objects[edge->object].edge_count, 1);
    CHECK_EQ(edge->key, keys[i]);
    CHECK_EQ(edge->is_value, i == 2);
  }
  CHECK_EQ(graph->objects[graph->edges[2].object].observation_count, 0);
  kvo_graph_free(graph);

  item_set_next(root, far); /* far->next is nil */
  graph = snapshot();
  CHECK_EQ(graph->edge_count, 2);
  CHECK_SAME(graph->objects[graph->edges[0].object].object, root);
  CHECK_SAME(graph->objects[graph->edges[1].object].object, far);
  CHECK_EQ(graph->edges[1].key, "next");
  kvo_graph_free(graph);
  kvo_cancel_observer(w.id);
  item_destroy(root);
  item_destroy(near);
  item_destroy(far);
}

static void ignore(const kvo_change *change, void *user_data) {
  (void)change;
  (void)user_data;
}

static void ignore_raw(const kvo_raw_change *change, void *user_data) {
  (void)change;
  (void)user_data;
}

TEST("an observer that is observed itself is one of the objects") {
  item *left = item_make(0), *right = item_make(0);
  kvo_observation ids[2];
  item *pair[] = {left, right};
  for (int i = 0; i < 2; i++) {
    kvo_observer observer = {
        .struct_size = sizeof observer, .key_path = "value", .callback = ignore, .user_data = pair[1 - i]};
    CHECK_OK(kvo_add_observer(as_object(pair[i]), &observer, &ids[i]));
  }
  kvo_graph *graph = snapshot();
  CHECK_EQ(graph->observations[0].observer_object, 1);
  CHECK_EQ(graph->observations[1].observer_object, 0);
  CHECK_SAME(graph->observations[0].file, NULL);
  char *dot = text_of(graph, KVO_GRAPH_DOT);
  CHECK_CONTAINS(dot, "o0 -> o1 [color=red, penwidth=2, label=\"value\"];");
  CHECK_CONTAINS(dot, "o1 -> o0 [color=red, penwidth=2, label=\"value\"];");
  free(dot);
  kvo_graph_free(graph);
  for (int i = 0; i < 2; i++) kvo_cancel_observer(ids[i]);
  item_destroy(left);
  item_destroy(right);
}

/* Observes for an observer of a binding, which has an address and perhaps a class, and says where it is called. */
static kvo_observation observe_for(item *object, const void *address, const char *class_name, const char *note) {
  static const kvo_observer_ops ops = {.callback = ignore_raw};
  kvo_binding_observer observer = {.key_path = "value",
                                   .options = KVO_ENDS_WITH_OBJECT,
                                   .ops = &ops,
                                   .identity = {class_name, address},
                                   .note = note,
                                   .is_receiver = true};
  kvo_observation id;
  CHECK_OK(kvo_binding_observe_key(as_object(object), kvo_key_hash("value", 5), &observer, &id));
  return id;
}

TEST("each observer with an address is one node, after the objects, and an arrow with key and queue leads to it") {
  item *first = item_make(0), *second = item_make(0);
  char panel = 0, plain = 0;
  observe_for(first, &panel, NULL, "on queue com.example.model");
  observe_for(second, &plain, NULL, NULL);
  observe_for(second, &panel, "Panel", NULL);
  observe_for(second, second, "Other", "on an actor");
  observe_for(second, NULL, NULL, NULL);
  kvo_graph *graph = snapshot();
  CHECK_EQ(graph->object_count, 4);
  CHECK_SAME(graph->objects[0].object, first);
  CHECK_SAME(graph->objects[1].object, second);
  CHECK_EQ(graph->objects[1].class_name, "Item");
  CHECK_EQ(graph->objects[1].observation_count, 4);
  CHECK_SAME(graph->objects[2].object, &panel);
  CHECK_EQ(graph->objects[2].class_name, "Panel");
  CHECK_EQ(graph->objects[2].observation_count + graph->objects[2].edge_count + graph->objects[2].key_path_count, 0);
  CHECK_SAME(graph->objects[3].object, &plain);
  CHECK_EQ(graph->objects[3].class_name, "");
  const size_t expected[] = {2, 3, 2, 1, KVO_GRAPH_NONE};
  for (size_t i = 0; i < 5; i++) CHECK_EQ(graph->observations[i].observer_object, expected[i]);
  char *dot = text_of(graph, KVO_GRAPH_DOT), *mermaid = text_of(graph, KVO_GRAPH_MERMAID), box[64];
  CHECK_CONTAINS(dot, "  o0 -> o2 [label=\"value\\non queue com.example.model\"];\n");
  CHECK_CONTAINS(dot, "  o1 -> o3 [label=\"value\"];\n");
  CHECK_CONTAINS(dot, "  o1 -> o2 [label=\"value\"];\n");
  CHECK_CONTAINS(dot, "  o1 -> o1 [label=\"value\\non an actor\"];\n");
  CHECK_CONTAINS(dot, "  p4 [style=rounded, label=\"observer\"];\n");
  CHECK_CONTAINS(dot, "  o1 -> p4 [label=\"value\"];\n");
  snprintf(box, sizeof box, "  o3 [label=\"%p\"];\n", (void *)&plain);
  CHECK_CONTAINS(dot, box);
  CHECK_CONTAINS(mermaid, "  o0 -- \"value<br/>on queue com.example.model\" --> o2\n");
  snprintf(box, sizeof box, "  o2[\"Panel<br/>%p\"]\n", (void *)&panel);
  CHECK_CONTAINS(mermaid, box);
  free(dot);
  free(mermaid);
  kvo_graph_free(graph);
  item_destroy(first);
  item_destroy(second);
}

static void take_one(watcher *self, const kvo_change *change) {
  kvo_graph *graph = snapshot();
  self->then_arg = (void *)(uintptr_t)graph->observation_count;
  CHECK_EQ(graph->observations[0].observation, change->observation);
  kvo_graph_free(graph);
}

TEST("a snapshot can be taken in a callback") {
  item *object = item_make(0);
  watcher w = {.then = take_one};
  watch(object, "value", KVO_NEW, &w);
  item_set_value(object, 1);
  CHECK_EQ((uintptr_t)w.then_arg, 1);
  kvo_cancel_observer(w.id);
  item_destroy(object);
}

/* ---------------------------------------------------------------------------------------------------------- The text -- */

/* A graph made by the program, with names that are special in each of the languages. */
static kvo_graph hostile(void) {
  static const char *const key_paths[] = {"a\"b\\c"};
  static const kvo_graph_object objects[] = {{.object = (const void *)0x10,
                                              .class_name = "X\"<b>\n#1;`\xff|",
                                              .observation_count = 1,
                                              .key_paths = key_paths,
                                              .key_path_count = 1,
                                              .edge_count = 1}};
  static const kvo_graph_observation observations[] = {{.observation = 0x100000001,
                                                        .kind = KVO_GRAPH_EXPRESSION,
                                                        .key_path = "a\"b\\c",
                                                        .options = KVO_NEW | KVO_PRIOR,
                                                        .observer_class = "Gr\xc3\xbc\xc3\x9f",
                                                        .observer_object = KVO_GRAPH_NONE,
                                                        .file = "some/where.c",
                                                        .line = 41,
                                                        .edge_count = 1}};
  static const kvo_graph_edge edges[] = {{.key = NULL}};
  kvo_graph graph = {objects, 1, observations, 1, edges, 1};
  return graph;
}

TEST("JSON escapes what it must, and has numbers of 64 bits as strings") {
  kvo_graph graph = hostile();
  char *json = text_of(&graph, KVO_GRAPH_JSON);
  CHECK_EQ(json, "{\"schema\":1,\"objects\":[{\"class\":\"X\\u0022<b>\\u000a#1;`\\ufffd|\",\"address\":\"0x10\","
                 "\"observations\":1,\"edges\":1,\"keyPaths\":[\"a\\u0022b\\u005cc\"]}],"
                 "\"observations\":[{\"id\":\"0x100000001\",\"kind\":\"expression\",\"object\":0,"
                 "\"keyPath\":\"a\\u0022b\\u005cc\",\"options\":[\"new\",\"prior\"],\"endsWithObject\":false,"
                 "\"observerClass\":\"Gr\xc3\xbc\xc3\x9f\","
                 "\"observer\":\"0x0\",\"observerObject\":null,\"context\":\"0x0\","
                 "\"registeredAt\":{\"file\":\"some/where.c\",\"line\":41}}],"
                 "\"edges\":[{\"observation\":0,\"object\":0,\"key\":null,\"isValue\":false}]}\n");
  free(json);
}

TEST("DOT escapes what it must") {
  kvo_graph graph = hostile();
  char *text = text_of(&graph, KVO_GRAPH_DOT);
  CHECK_EQ(text, "digraph observations {\n"
                 "  rankdir=LR;\n"
                 "  node [shape=box];\n"
                 "  o0 [label=\"X\\\"<b> #1;`\xef\xbf\xbd|\\n0x10\"];\n"
                 "  p1 [style=rounded, label=\"Gr\xc3\xbc\xc3\x9f\\nwhere.c:41\"];\n"
                 "  o0 -> p1 [label=\"a\\\"b\\\\c\"];\n"
                 "}\n");
  free(text);
}

TEST("Mermaid escapes what it must") {
  kvo_graph graph = hostile();
  char *text = text_of(&graph, KVO_GRAPH_MERMAID);
  CHECK_EQ(text, "flowchart LR\n"
                 "  o0[\"X#34;#60;b#62; #35;1#59;#96;\xef\xbf\xbd#124;<br/>0x10\"]\n"
                 "  p1([\"Gr\xc3\xbc\xc3\x9f<br/>where.c:41\"])\n"
                 "  o0 -- \"a#34;b#92;c\" --> p1\n");
  free(text);
}

/* Several of everything, with and without names. */
static kvo_graph several(void) {
  static const char *const key_paths[] = {"a.b", "c"};
  static const kvo_graph_object objects[] = {
      {.object = (const void *)0x10,
       .class_name = "A",
       .observation_count = 2,
       .key_paths = key_paths,
       .key_path_count = 2},
      {.object = (const void *)0x20, .observation_count = 1, .edge_count = 3, .key_path_count = 1}};
  static const kvo_graph_observation observations[] = {
      {.observation = 1,
       .kind = KVO_GRAPH_DIRECT,
       .key_path = "c",
       .options = KVO_OLD | KVO_ENDS_WITH_OBJECT,
       .observer = (const void *)0x20,
       .observer_object = 1,
       .context = (void *)0x30,
       .file = "plain.c",
       .line = 7},
      {.observation = 2, .kind = KVO_GRAPH_EXPRESSION, .object = 1, .observer_object = KVO_GRAPH_NONE}};
  static const kvo_graph_edge edges[] = {{.observation = 1, .object = 0, .key = "a", .is_value = false},
                                         {.observation = 1, .object = 1, .key = "b", .is_value = true}};
  kvo_graph graph = {objects, 2, observations, 2, edges, 2};
  return graph;
}

static void check_form(kvo_graph_form form, const char *expected) {
  kvo_graph graph = several();
  char *text = text_of(&graph, form);
  CHECK_EQ(text, expected);
  free(text);
}

TEST("several objects, observations and edges are each separated, and what has no name is empty or null") {
  check_form(
      KVO_GRAPH_JSON,
      "{\"schema\":1,\"objects\":[{\"class\":\"A\",\"address\":\"0x10\",\"observations\":2,\"edges\":0,"
      "\"keyPaths\":[\"a.b\",\"c\"]},"
      "{\"class\":\"\",\"address\":\"0x20\",\"observations\":1,\"edges\":3,\"keyPaths\":[]}],"
      "\"observations\":[{\"id\":\"0x1\",\"kind\":\"direct\",\"object\":0,\"keyPath\":\"c\",\"options\":[\"old\"],"
      "\"endsWithObject\":true,\"observerClass\":null,\"observer\":\"0x20\",\"observerObject\":1,"
      "\"context\":\"0x30\",\"registeredAt\":{\"file\":\"plain.c\",\"line\":7}},"
      "{\"id\":\"0x2\",\"kind\":\"expression\",\"object\":1,\"keyPath\":null,\"options\":[],"
      "\"endsWithObject\":false,\"observerClass\":null,\"observer\":\"0x0\",\"observerObject\":null,"
      "\"context\":\"0x0\",\"registeredAt\":null}],"
      "\"edges\":[{\"observation\":1,\"object\":0,\"key\":\"a\",\"isValue\":false},"
      "{\"observation\":1,\"object\":1,\"key\":\"b\",\"isValue\":true}]}\n");
  check_form(KVO_GRAPH_DOT, "digraph observations {\n"
                            "  rankdir=LR;\n"
                            "  node [shape=box];\n"
                            "  o0 [label=\"A\\n0x10\"];\n"
                            "  o1 [label=\"0x20\"];\n"
                            "  p2 [style=rounded, label=\"observer\"];\n"
                            "  o0 -> o1 [label=\"c\\nplain.c:7\"];\n"
                            "  o0 -> p2 [style=dashed, label=\"a\"];\n"
                            "  o1 -> p2 [label=\"\"];\n"
                            "}\n");
  check_form(KVO_GRAPH_MERMAID, "flowchart LR\n"
                                "  o0[\"A<br/>0x10\"]\n"
                                "  o1[\"0x20\"]\n"
                                "  p2([\"observer\"])\n"
                                "  o0 -- \"c<br/>plain.c:7\" --> o1\n"
                                "  o0 -. \"a\" .-> p2\n"
                                "  o1 -- \"\" --> p2\n");
}

TEST("the numbers in JSON are decimal") {
  const kvo_graph_object object = {.class_name = "A", .observation_count = 10, .edge_count = 20};
  const kvo_graph_observation observation = {.object = 10, .observer_object = 20};
  const kvo_graph_edge edge = {.observation = 10, .object = 20};
  kvo_graph graph = {&object, 1, &observation, 1, &edge, 1};
  char *json = text_of(&graph, KVO_GRAPH_JSON);
  CHECK_CONTAINS(json, "\"observations\":10,\"edges\":20,");
  CHECK_CONTAINS(json, "\"object\":10,\"keyPath\":null,");
  CHECK_CONTAINS(json, "\"observerObject\":20,");
  CHECK_CONTAINS(json, "{\"observation\":10,\"object\":20,");
  free(json);
}

TEST("each ASCII character is plain or escaped in DOT and Mermaid") {
  char name[2] = "", expected[64];
  kvo_graph_object object = {.class_name = name};
  kvo_graph graph = {.objects = &object, .object_count = 1};
  for (char letter = 1; letter > 0; letter++) { /* to 127 */
    name[0] = letter;
    char shown[2] = {letter < 0x20 || letter == 0x7f ? ' ' : letter};
    char *text = text_of(&graph, KVO_GRAPH_DOT);
    snprintf(expected, sizeof expected, "  o0 [label=\"%s%s\\n0x0\"];\n", strchr("\"\\", letter) != NULL ? "\\" : "",
             shown);
    CHECK_CONTAINS(text, expected);
    free(text);
    bool is_plain = isalnum((unsigned char)shown[0]) || strchr(" _.:/@-(),+", shown[0]) != NULL;
    snprintf(expected, sizeof expected, is_plain ? "  o0[\"%c<br/>0x0\"]\n" : "  o0[\"#%d;<br/>0x0\"]\n", shown[0]);
    text = text_of(&graph, KVO_GRAPH_MERMAID);
    CHECK_CONTAINS(text, expected);
    free(text);
    if (letter == 127) break;
  }
}

TEST("a buffer that is too small gets the beginning, and the length of the whole is returned") {
  kvo_graph graph = hostile();
  char *whole = text_of(&graph, KVO_GRAPH_DOT), part[16];
  memset(part, 'x', sizeof part);
  CHECK_EQ(kvo_graph_format(&graph, KVO_GRAPH_DOT, part, 10), strlen(whole));
  CHECK_EQ(strlen(part), 9);
  CHECK_EQ(strncmp(whole, part, 9), 0);
  CHECK_EQ(part[10], 'x');
  free(whole);
}

/* ------------------------------------------------------------------------------------------------- Size and memory -- */

TEST("a graph of a hundred thousand observations is complete") {
  enum { OBJECTS = 100, EACH = 1000 };
  static watcher w;
  item *objects[OBJECTS];
  kvo_observation *ids = malloc(sizeof *ids * OBJECTS * EACH);
  for (int i = 0; i < OBJECTS; i++) {
    objects[i] = item_make(0);
    for (int j = 0; j < EACH; j++) ids[i * EACH + j] = watch(objects[i], "value", KVO_NEW, &w);
  }
  kvo_graph *graph = snapshot();
  CHECK_EQ(graph->object_count, OBJECTS + 1);
  CHECK_EQ(graph->observation_count, OBJECTS * EACH);
  for (size_t i = 0; i < OBJECTS * EACH; i++) CHECK_EQ(graph->observations[i].observation, ids[i]);
  char *json = text_of(graph, KVO_GRAPH_JSON);
  CHECK(strlen(json) > (size_t)OBJECTS * EACH * 50);
  free(json);
  kvo_graph_free(graph);
  for (int i = 0; i < OBJECTS * EACH; i++) kvo_cancel_observer(ids[i]);
  for (int i = 0; i < OBJECTS; i++) item_destroy(objects[i]);
  free(ids);
}

TEST("without memory there is no graph, and nothing is lost") {
  use_counting_allocator();
  item *root = item_make(0), *next = item_make(0);
  root->next = next;
  watcher w[2] = {{0}};
  watch(root, "next.value", KVO_NEW, &w[0]);
  watch(next, "value", KVO_NEW, &w[1]);
  long before = live_blocks, refused = 0;
  kvo_status status = KVO_ERROR_OUT_OF_MEMORY;
  for (long fail = 1; status != KVO_OK; fail++) {
    kvo_graph *graph = NULL;
    fail_in = fail;
    status = kvo_snapshot(&graph);
    fail_in = 0;
    if (status != KVO_OK) {
      CHECK_STATUS(status, KVO_ERROR_OUT_OF_MEMORY);
      CHECK_SAME(graph, NULL);
      refused++;
    }
    kvo_graph_free(graph);
    CHECK_EQ(live_blocks, before);
  }
  CHECK(refused >= 2);
  for (int i = 0; i < 2; i++) kvo_cancel_observer(w[i].id);
  item_destroy(root);
  item_destroy(next);
}

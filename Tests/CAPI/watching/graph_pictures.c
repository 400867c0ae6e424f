/* graph_pictures.c - what DOT and Mermaid draw: one node per object and observer, merged arrows, circles, classes when there are many. */
#include "allocator.h"
#include "fixture.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* A graph made by the test. */
enum { MOST = 1000 };
static kvo_graph_object objects[MOST];
static kvo_graph_observation observations[MOST];
static kvo_graph_edge edges[8];
static size_t object_count, observation_count, edge_count;

static size_t add_object(const char *class_name) {
  objects[object_count] =
      (kvo_graph_object){.object = (const void *)(0x10 * (object_count + 1)), .class_name = class_name};
  return object_count++;
}

static kvo_graph_observation *add(size_t object, const char *key_path, size_t observer, const char *file,
                                  uint32_t line) {
  observations[observation_count] = (kvo_graph_observation){.observation = observation_count + 1,
                                                            .kind = KVO_GRAPH_DIRECT,
                                                            .object = object,
                                                            .key_path = key_path,
                                                            .observer_object = observer,
                                                            .file = file,
                                                            .line = line};
  return &observations[observation_count++];
}

static char *drawn(kvo_graph_form form) {
  kvo_graph graph = {objects, object_count, observations, observation_count, edges, edge_count};
  size_t length = kvo_graph_format(&graph, form, NULL, 0);
  char *text = malloc(length + 1);
  CHECK_EQ(kvo_graph_format(&graph, form, text, length + 1), length);
  return text;
}

static size_t occurrences(const char *text, const char *part) {
  size_t count = 0;
  for (const char *at = text; (at = strstr(at, part)) != NULL; at += strlen(part)) count++;
  return count;
}

TEST("the observations of one object by one observer are one arrow, with each key path, its number and the places") {
  size_t document = add_object("Document"), panel = add_object("Panel");
  add(document, "title", panel, "App/Panel.swift", 12);
  static char name[] = "author.name", file[] = "App/Panel.swift",
              note[] = "on MainActor"; /* the same at other addresses */
  add(document, "author.name", panel, "App/Panel.swift", 17)->note = "on MainActor";
  add(document, name, panel, file, 17)->note = note;
  add(document, "author.name", panel, "App/Panel.swift", 18);
  char *dot = drawn(KVO_GRAPH_DOT), *mermaid = drawn(KVO_GRAPH_MERMAID);
  CHECK_EQ(occurrences(dot, " -> "), 1);
  CHECK_CONTAINS(dot, "  o0 -> o1 [label=\"author.name \xc3\x97"
                      "3, title\\nPanel.swift:17, Panel.swift:18, Panel.swift:12\\non MainActor\"];\n");
  CHECK_CONTAINS(mermaid, "  o0 -- \"author.name \xc3\x97"
                          "3, title<br/>Panel.swift:17, Panel.swift:18, Panel.swift:12<br/>on MainActor\" --> o1\n");
  free(dot);
  free(mermaid);
}

TEST("of many key paths, places and notes an arrow shows a few, and says that there are others") {
  static char names[9][8];
  size_t document = add_object("Document"), panel = add_object("Panel");
  for (int i = 0; i < 9; i++) {
    snprintf(names[i], sizeof names[i], "k%d", i);
    add(document, names[i], panel, "Panel.swift", (uint32_t)i)->note = names[i];
  }
  char *dot = drawn(KVO_GRAPH_DOT);
  CHECK_CONTAINS(dot, "label=\"k0, k1, k2, k3 and 5 more\\nPanel.swift:0, Panel.swift:1, Panel.swift:2, and others"
                      "\\nk0\\nk1\\nand others\"];\n");
  free(dot);
}

TEST("an arrow shows as many key paths, places and notes as it has room for, and no more is said") {
  const char *names[] = {"k0", "k1", "k2", "k3"};
  size_t document = add_object("Document"), panel = add_object("Panel");
  for (int i = 0; i < 4; i++)
    add(document, names[i], panel, "Panel.swift", (uint32_t)(i % 3))->note = i < 2 ? names[i] : NULL;
  char *dot = drawn(KVO_GRAPH_DOT);
  CHECK_CONTAINS(dot, "label=\"k0, k1, k2, k3\\nPanel.swift:0, Panel.swift:1, Panel.swift:2\\nk0\\nk1\"];\n");
  free(dot);
}

TEST("closures that were registered at one place are one node, and its arrows do not repeat the place") {
  size_t first = add_object("Row"), second = add_object("Row");
  add(first, "value", KVO_GRAPH_NONE, "Table.swift", 5);
  add(second, "value", KVO_GRAPH_NONE, "Table.swift", 5);
  add(second, "value", KVO_GRAPH_NONE, "Table.swift", 6);
  char *dot = drawn(KVO_GRAPH_DOT);
  CHECK_CONTAINS(dot, "  p2 [style=rounded, label=\"observer \xc3\x97"
                      "2\\nTable.swift:5\"];\n");
  CHECK_CONTAINS(dot, "  p3 [style=rounded, label=\"observer\\nTable.swift:6\"];\n");
  CHECK_CONTAINS(dot, "  o0 -> p2 [label=\"value\"];\n");
  CHECK_CONTAINS(dot, "  o1 -> p2 [label=\"value\"];\n");
  CHECK_CONTAINS(dot, "  o1 -> p3 [label=\"value\"];\n");
  free(dot);
}

TEST("an observation of a path leads from its object, and from each object on the path, to the observer") {
  size_t document = add_object("Document"), author = add_object("Author"), panel = add_object("Panel");
  add(document, "author.name", panel, NULL, 0)->kind = KVO_GRAPH_EXPRESSION;
  edges[edge_count++] = (kvo_graph_edge){.object = document, .key = "author"};
  edges[edge_count++] = (kvo_graph_edge){.object = author, .key = "name", .is_value = true};
  char *dot = drawn(KVO_GRAPH_DOT);
  CHECK_CONTAINS(dot, "  o0 -> o2 [label=\"author.name\"];\n");
  CHECK_CONTAINS(dot, "  o1 -> o2 [label=\"name\"];\n");
  CHECK_EQ(occurrences(dot, " -> "), 2);
  free(dot);
  edges[1] = (kvo_graph_edge){.object = author};
  dot = drawn(KVO_GRAPH_DOT);
  CHECK_CONTAINS(dot, "  o1 -> o2 [style=dashed, label=\"(its death)\"];\n");
  free(dot);
}

TEST("each circle is marked and has a number, and what only leads to it or from it is not marked") {
  size_t before = add_object("Before");
  size_t nodes[5];
  static const char *const names[] = {"A", "B", "C", "D", "E"};
  for (size_t i = 0; i < 5; i++) nodes[i] = add_object(names[i]);
  size_t after = add_object("After"), itself = add_object("Itself");
  add(before, "k", nodes[0], NULL, 0);
  add(nodes[0], "k", nodes[1], NULL, 0);
  add(nodes[1], "k", nodes[2], NULL, 0);
  add(nodes[2], "k", nodes[0], NULL, 0);
  add(nodes[2], "k", nodes[3], NULL, 0);
  add(nodes[3], "k", nodes[4], NULL, 0);
  add(nodes[4], "k", nodes[3], NULL, 0);
  add(nodes[4], "k", after, NULL, 0);
  add(itself, "k", itself, NULL, 0);
  char *dot = drawn(KVO_GRAPH_DOT), *mermaid = drawn(KVO_GRAPH_MERMAID);
  CHECK_CONTAINS(dot, "  o1 [label=\"A\\n0x20\\ncircle 1\", color=red, penwidth=2];\n");
  CHECK_CONTAINS(dot, "  o4 [label=\"D\\n0x50\\ncircle 2\", color=red, penwidth=2];\n");
  CHECK_CONTAINS(dot, "  o0 [label=\"Before\\n0x10\"];\n");
  CHECK_CONTAINS(dot, "  o0 -> o1 [label=\"k\"];\n");
  CHECK_CONTAINS(dot, "  o3 -> o1 [color=red, penwidth=2, label=\"k\"];\n");
  CHECK_CONTAINS(dot, "  o3 -> o4 [label=\"k\"];\n");
  CHECK_CONTAINS(dot, "  o7 -> o7 [label=\"k\"];\n");
  CHECK_EQ(occurrences(dot, "circle 1"), 3);
  CHECK_EQ(occurrences(dot, "circle 2"), 2);
  CHECK_EQ(occurrences(dot, "color=red"), 5 + 5);
  CHECK_CONTAINS(mermaid, "flowchart LR\n  classDef circle stroke:red,stroke-width:2px\n");
  CHECK_CONTAINS(mermaid, "  o1[\"A<br/>0x20<br/>circle 1\"]:::circle\n");
  CHECK_CONTAINS(mermaid, "  o1 == \"k\" ==> o2\n");
  CHECK_CONTAINS(mermaid, "  o5 -- \"k\" --> o6\n");
  free(dot);
  free(mermaid);
}

TEST(
    "with more than 200 nodes each class is one node, with numbers of objects and of observations, and the text says so") {
  enum { ROWS = 199 };
  size_t table = add_object("Table");
  for (size_t i = 0; i < ROWS; i++) {
    size_t row = add_object("Row");
    add(row, "value", table, "Table.swift", 5);
  }
  char *dot = drawn(KVO_GRAPH_DOT);
  CHECK_EQ(occurrences(dot, " -> "), ROWS);
  CHECK_SAME(strstr(dot, "grouped"), NULL);
  free(dot);
  size_t unknown = add_object("");
  add(table, "count", unknown, NULL, 0);
  add(table, "count", KVO_GRAPH_NONE, "Main.swift", 3);
  dot = drawn(KVO_GRAPH_DOT);
  CHECK_EQ(dot, "digraph observations {\n"
                "  rankdir=LR;\n"
                "  node [shape=box];\n"
                "  labelloc=t;\n"
                "  label=\"201 objects, grouped by class\";\n"
                "  o0 [peripheries=2, label=\"Table\"];\n"
                "  o1 [peripheries=2, label=\"Row \xc3\x97"
                "199\"];\n"
                "  o2 [peripheries=2, label=\"objects\"];\n"
                "  p3 [style=rounded, label=\"observer\\nMain.swift:3\"];\n"
                "  o0 -> o2 [label=\"count\"];\n"
                "  o0 -> p3 [label=\"count\"];\n"
                "  o1 -> o0 [label=\"value \xc3\x97"
                "199\\nTable.swift:5\"];\n"
                "}\n");
  free(dot);
  char *mermaid = drawn(KVO_GRAPH_MERMAID);
  CHECK_CONTAINS(mermaid, "flowchart LR\n  %% 201 objects, grouped by class\n  o0[[\"Table\"]]\n");
  free(mermaid);
}

TEST("a chain as long as the graph is followed without recursion") {
  for (size_t i = 0; i < MOST; i++) add_object(i % 2 == 0 ? "Even" : "Odd");
  for (size_t i = 0; i < MOST; i++) add(i, "next", (i + 1) % MOST, NULL, 0);
  char *dot = drawn(KVO_GRAPH_DOT);
  CHECK_CONTAINS(dot, "  o0 [peripheries=2, label=\"Even \xc3\x97"
                      "500\\ncircle 1\", color=red, penwidth=2];\n");
  free(dot);
}

TEST("without memory a picture is empty, and nothing is lost") {
  use_counting_allocator();
  size_t document = add_object("Document"), panel = add_object("Panel");
  add(document, "title", panel, "Panel.swift", 1);
  kvo_graph graph = {objects, object_count, observations, observation_count, NULL, 0};
  char *whole = drawn(KVO_GRAPH_DOT), text[1000];
  long before = live_blocks, refused = 0;
  for (long fail = 1; fail < 100; fail++) {
    fail_in = fail;
    size_t length = kvo_graph_format(&graph, KVO_GRAPH_DOT, text, sizeof text);
    bool is_refused = fail_in == 0;
    fail_in = 0;
    CHECK_EQ(live_blocks, before);
    CHECK_EQ(length, is_refused ? 0 : strlen(whole));
    CHECK_EQ(text, is_refused ? "" : whole);
    refused += is_refused;
    if (!is_refused) break;
  }
  CHECK(refused >= 5);
  free(whole);
}

/* ------------------------------------------------------------------------------------------------------------- Circles -- */

static void add_objects(size_t count) {
  for (size_t i = 0; i < count; i++) add_object("Node");
}

TEST("a shortcut in a circle, and an arrow from one circle to an earlier one, do not change what the circles are") {
  static const size_t arrows[][2] = {{0, 1}, {1, 2}, {2, 0}, {0, 2}, {3, 4}, {4, 3}, {3, 0}, {6, 8}, {8, 7}, {7, 8}};
  add_objects(9);
  for (size_t i = 0; i < sizeof arrows / sizeof *arrows; i++) add(arrows[i][0], "k", arrows[i][1], NULL, 0);
  char *dot = drawn(KVO_GRAPH_DOT);
  CHECK_EQ(occurrences(dot, "circle 1"), 3);
  CHECK_EQ(occurrences(dot, "circle 2"), 2);
  CHECK_EQ(occurrences(dot, "circle 3"), 2);
  CHECK_CONTAINS(dot, "  o3 -> o0 [label=\"k\"];\n");
  CHECK_CONTAINS(dot, "  o6 -> o8 [label=\"k\"];\n");
  CHECK_EQ(occurrences(dot, "color=red"), 7 + 8);
  free(dot);
}

TEST("circles are numbered in the order of their first nodes") {
  static const size_t arrows[][2] = {{0, 3}, {3, 0}, {1, 2}, {2, 1}};
  add_objects(4);
  for (size_t i = 0; i < sizeof arrows / sizeof *arrows; i++) add(arrows[i][0], "k", arrows[i][1], NULL, 0);
  char *dot = drawn(KVO_GRAPH_DOT);
  CHECK_CONTAINS(dot, "  o0 [label=\"Node\\n0x10\\ncircle 1\"");
  CHECK_CONTAINS(dot, "  o1 [label=\"Node\\n0x20\\ncircle 2\"");
  CHECK_CONTAINS(dot, "  o2 [label=\"Node\\n0x30\\ncircle 2\"");
  CHECK_CONTAINS(dot, "  o3 [label=\"Node\\n0x40\\ncircle 1\"");
  free(dot);
}

TEST("a picture with one circle has its colour, also in Mermaid") {
  add_objects(2);
  add(0, "k", 1, NULL, 0);
  add(1, "k", 0, NULL, 0);
  char *mermaid = drawn(KVO_GRAPH_MERMAID);
  CHECK_EQ(mermaid, "flowchart LR\n"
                    "  classDef circle stroke:red,stroke-width:2px\n"
                    "  o0[\"Node<br/>0x10<br/>circle 1\"]:::circle\n"
                    "  o1[\"Node<br/>0x20<br/>circle 1\"]:::circle\n"
                    "  o0 == \"k\" ==> o1\n"
                    "  o1 == \"k\" ==> o0\n");
  free(mermaid);
}

TEST("each of many circles has a number of its own, and each of many nodes a name") {
  enum { NODES = 22 };
  add_objects(NODES);
  for (size_t i = 0; i < NODES; i++) add(i, "k", i ^ 1, NULL, 0);
  char *dot = drawn(KVO_GRAPH_DOT);
  CHECK_CONTAINS(dot, "  o16 [label=\"Node\\n0x110\\ncircle 9\"");
  CHECK_CONTAINS(dot, "  o18 [label=\"Node\\n0x130\\ncircle 10\"");
  CHECK_CONTAINS(dot, "  o21 [label=\"Node\\n0x160\\ncircle 11\"");
  CHECK_CONTAINS(dot, "  o21 -> o20 [color=red");
  free(dot);
}

/* ------------------------------------------------------------------------------------------------------------- Places -- */

TEST("closures at one line of different files, or of different classes, are different nodes") {
  size_t row = add_object("Row");
  add(row, "value", KVO_GRAPH_NONE, "b.c", 5);
  add(row, "value", KVO_GRAPH_NONE, "a.c", 5);
  add(row, "value", KVO_GRAPH_NONE, "b.c", 5);
  add(row, "value", KVO_GRAPH_NONE, "b.c", 5)->observer_class = "Chart";
  char *dot = drawn(KVO_GRAPH_DOT);
  CHECK_CONTAINS(dot, "  p1 [style=rounded, label=\"observer \xc3\x97"
                      "2\\nb.c:5\"];\n");
  CHECK_CONTAINS(dot, "  p2 [style=rounded, label=\"observer\\na.c:5\"];\n");
  CHECK_CONTAINS(dot, "  p3 [style=rounded, label=\"Chart\\nb.c:5\"];\n");
  CHECK_EQ(occurrences(dot, "style=rounded"), 3);
  free(dot);
}

TEST("the places of a key path are sorted by file and line, and its notes by text") {
  size_t document = add_object("Document"), panel = add_object("Panel");
  add(document, "title", panel, "b.c", 1);
  add(document, "title", panel, "a.c", 3)->note = "on two";
  add(document, "title", panel, "a.c", 3)->note = "on one";
  add(document, "title", panel, "a.c", 2);
  char *dot = drawn(KVO_GRAPH_DOT);
  CHECK_CONTAINS(dot, "  o0 -> o1 [label=\"title \xc3\x97"
                      "4\\na.c:2, a.c:3, b.c:1\\non one\\non two\"];\n");
  free(dot);
}

TEST("the number of key paths that an arrow does not show is decimal") {
  static char names[14][8];
  size_t document = add_object("Document"), panel = add_object("Panel");
  for (int i = 0; i < 14; i++) {
    snprintf(names[i], sizeof names[i], "k%02d", i);
    add(document, names[i], panel, NULL, 0);
  }
  char *dot = drawn(KVO_GRAPH_DOT);
  CHECK_CONTAINS(dot, "label=\"k00, k01, k02, k03 and 10 more\"];\n");
  free(dot);
}

/* ---------------------------------------------------------------------------------------------------- Unusual graphs -- */

TEST("the picture of an empty graph has no nodes") {
  char *dot = drawn(KVO_GRAPH_DOT), *mermaid = drawn(KVO_GRAPH_MERMAID);
  CHECK_EQ(dot, "digraph observations {\n  rankdir=LR;\n  node [shape=box];\n}\n");
  CHECK_EQ(mermaid, "flowchart LR\n");
  free(dot);
  free(mermaid);
}

TEST("what refers to an object or an observation that the graph does not have is left out of its picture") {
  size_t document = add_object("Document"), panel = add_object("Panel");
  add(2, "wrong", KVO_GRAPH_NONE, NULL, 0); /* there is no such object */
  add(document, "title", 2, NULL, 0);       /* no such observer: it is drawn like one without an address */
  edges[edge_count++] = (kvo_graph_edge){.observation = 2, .object = panel, .key = "k"};
  edges[edge_count++] = (kvo_graph_edge){.observation = 1, .object = 2, .key = "k"};
  edges[edge_count++] = (kvo_graph_edge){.observation = 0, .object = panel, .key = "k"};
  char *dot = drawn(KVO_GRAPH_DOT);
  CHECK_EQ(dot, "digraph observations {\n"
                "  rankdir=LR;\n"
                "  node [shape=box];\n"
                "  o0 [label=\"Document\\n0x10\"];\n"
                "  o1 [label=\"Panel\\n0x20\"];\n"
                "  p2 [style=rounded, label=\"observer\"];\n"
                "  o0 -> p2 [label=\"title\"];\n"
                "}\n");
  free(dot);
}

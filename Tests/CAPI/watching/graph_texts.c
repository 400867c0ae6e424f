/* graph_texts.c - kvo_graph_format: what JSON, DOT and Mermaid have of a graph, and what pictures merge and mark. */
#include "harness.h"
#include "texts.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* A graph made by the test. */
enum { MOST = 1000 };
static kvo_graph_object objects[MOST];
static kvo_graph_observation observations[MOST];
static kvo_graph_edge edges[8];
static kvo_graph graph = {.objects = objects, .observations = observations, .edges = edges};

static size_t add_object(const char *class_name) {
  size_t number = graph.object_count++;
  objects[number] = (kvo_graph_object){.object = (const void *)(0x10 * (number + 1)), .class_name = class_name};
  return number;
}

static kvo_graph_observation *add(size_t object, const char *key_path, size_t observer, const char *file,
                                  uint32_t line) {
  size_t number = graph.observation_count++;
  observations[number] = (kvo_graph_observation){.observation = number + 1,
                                                 .kind = KVO_GRAPH_DIRECT,
                                                 .object = object,
                                                 .key_path = key_path,
                                                 .observer_object = observer,
                                                 .file = file,
                                                 .line = line};
  return &observations[number];
}

static void add_edge(size_t observation, size_t object, const char *key, bool is_value) {
  edges[graph.edge_count++] = (kvo_graph_edge){observation, object, key, is_value};
}

static const char *text(kvo_graph_form form) { return graph_text(&graph, form); }

/* Checks the lines of the picture between its beginning and its end. */
#define DOT_BEGIN "digraph observations {\n  rankdir=LR;\n  node [shape=box];\n"
#define CHECK_DOT(lines) CHECK_WHOLE(text(KVO_GRAPH_DOT), DOT_BEGIN "%s}\n", lines)
#define TIMES "\xc3\x97"

/* ------------------------------------------------------------------------------------------------------- Forms -- */

/* Names that are special in each of the languages, something without a name, and numbers of two digits. */
static void make_unusual(void) {
  static const char *const key_paths[] = {"a\"b\\c", "d"};
  size_t object = add_object("X\"<b>\n#1;`\xff|"), other = add_object(NULL);
  objects[object].observation_count = 10;
  objects[object].edge_count = 20;
  objects[object].key_paths = key_paths;
  objects[object].key_path_count = 2;
  kvo_graph_observation *first = add(object, "a\"b\\c", other, "some/where.c", 41);
  first->options = KVO_NEW | KVO_PRIOR | KVO_ENDS_WITH_OBJECT;
  first->context = (void *)0x30;
  kvo_graph_observation *second = add(other, NULL, KVO_GRAPH_NONE, NULL, 0);
  second->observation = 0x100000001;
  second->kind = KVO_GRAPH_EXPRESSION;
  second->observer_class = "Gr\xc3\xbc\xc3\x9f";
  add_edge(1, object, "a", false);
  add_edge(1, other, "b", true);
  add_edge(1, object, NULL, false);
}

TEST("JSON has all of a graph, escapes what it must, and has numbers of 64 bits as strings") {
  make_unusual();
  CHECK_WHOLE(text(KVO_GRAPH_JSON),
              "{\"schema\":1,\"objects\":["
              "{\"class\":\"X\\u0022<b>\\u000a#1;`\\ufffd|\",\"address\":\"0x10\","
              "\"observations\":10,\"edges\":20,\"keyPaths\":[\"a\\u0022b\\u005cc\",\"d\"]},"
              "{\"class\":\"\",\"address\":\"0x20\",\"observations\":0,\"edges\":0,\"keyPaths\":[]}],"
              "\"observations\":["
              "{\"id\":\"0x1\",\"kind\":\"direct\",\"object\":0,\"keyPath\":\"a\\u0022b\\u005cc\","
              "\"options\":[\"new\",\"prior\"],\"endsWithObject\":true,\"observerClass\":null,\"observer\":\"0x0\","
              "\"observerObject\":1,\"context\":\"0x30\",\"registeredAt\":{\"file\":\"some/where.c\",\"line\":41}},"
              "{\"id\":\"0x100000001\",\"kind\":\"expression\",\"object\":1,\"keyPath\":null,"
              "\"options\":[],\"endsWithObject\":false,\"observerClass\":\"Gr\xc3\xbc\xc3\x9f\",\"observer\":\"0x0\","
              "\"observerObject\":null,\"context\":\"0x0\",\"registeredAt\":null}],"
              "\"edges\":["
              "{\"observation\":1,\"object\":0,\"key\":\"a\",\"isValue\":false},"
              "{\"observation\":1,\"object\":1,\"key\":\"b\",\"isValue\":true},"
              "{\"observation\":1,\"object\":0,\"key\":null,\"isValue\":false}]}\n");
}

TEST("DOT and Mermaid have one picture: arrows from objects to observers, dashed if a change is not the value's") {
  make_unusual();
  CHECK_DOT("  o0 [label=\"X\\\"<b> #1;`\xef\xbf\xbd|\\n0x10\"];\n"
            "  o1 [label=\"0x20\"];\n"
            "  p2 [style=rounded, label=\"Gr\xc3\xbc\xc3\x9f\"];\n"
            "  o0 -> o1 [label=\"a\\\"b\\\\c\\nwhere.c:41\"];\n"
            "  o0 -> p2 [style=dashed, label=\"(its death), a\"];\n"
            "  o1 -> p2 [label=\"\"];\n");
  CHECK_WHOLE(text(KVO_GRAPH_MERMAID), "flowchart LR\n"
                                       "  o0[\"X#34;#60;b#62; #35;1#59;#96;\xef\xbf\xbd#124;<br/>0x10\"]\n"
                                       "  o1[\"0x20\"]\n"
                                       "  p2([\"Gr\xc3\xbc\xc3\x9f\"])\n"
                                       "  o0 -- \"a#34;b#92;c<br/>where.c:41\" --> o1\n"
                                       "  o0 -. \"(its death), a\" .-> p2\n"
                                       "  o1 -- \"\" --> p2\n");
}

TEST("a buffer that is too small gets the beginning, and the length of the whole is returned") {
  char part[16] = "xxxxxxxxxxxxxxx";
  CHECK_EQ(kvo_graph_format(&graph, KVO_GRAPH_DOT, part, 10), strlen(text(KVO_GRAPH_DOT)));
  CHECK_EQ((const char *)part, "digraph o");
  CHECK_EQ(part[10], 'x');
}

/* ------------------------------------------------------------------------------------------------------ Arrows -- */

TEST("the observations of one object by one observer are one arrow: sorted key paths, places and notes") {
  static char name[] = "name", file[] = "App/b.c", note[] = "on two"; /* the same at other addresses */
  size_t document = add_object("Document"), panel = add_object("Panel");
  add(document, "title", panel, "App/b.c", 12);
  add(document, "name", panel, "App/b.c", 17)->note = "on two";
  add(document, name, panel, file, 17)->note = note;
  add(document, "name", panel, "App/a.c", 18)->note = "on one";
  CHECK_DOT("  o0 [label=\"Document\\n0x10\"];\n"
            "  o1 [label=\"Panel\\n0x20\"];\n"
            "  o0 -> o1 [label=\"name " TIMES "3, title\\na.c:18, b.c:17, b.c:12\\non one\\non two\"];\n");
}

TEST("an arrow shows four key paths, three places and two notes, and says whether there are others") {
  static const struct {
    int key_paths, places, notes;
    const char *label;
  } rows[] = {{4, 3, 2, "k00, k01, k02, k03\\nb.c:0, b.c:1, b.c:2\\nk00\\nk01"},
              {14, 4, 3, "k00, k01, k02, k03 and 10 more\\nb.c:0, b.c:1, b.c:2, and others\\nk00\\nk01\\nand others"}};
  static char names[14][16];
  size_t document = add_object("Document"), panel = add_object("Panel");
  for (size_t i = 0; i < 2; i++) {
    graph.observation_count = 0;
    for (int k = 0; k < rows[i].key_paths; k++) {
      snprintf(names[k], sizeof names[k], "k%02d", k);
      add(document, names[k], panel, "b.c", (uint32_t)(k % rows[i].places))->note = k < rows[i].notes ? names[k] : NULL;
    }
    CHECK_WHOLE(text(KVO_GRAPH_DOT),
                DOT_BEGIN "  o0 [label=\"Document\\n0x10\"];\n  o1 [label=\"Panel\\n0x20\"];\n"
                          "  o0 -> o1 [label=\"%s\"];\n}\n",
                rows[i].label);
  }
}

TEST("closures of one class that were registered at one place are one node, and its arrows do not repeat the place") {
  size_t first = add_object("Row"), second = add_object("Row");
  add(first, "value", KVO_GRAPH_NONE, "b.c", 5);
  add(second, "value", KVO_GRAPH_NONE, "b.c", 5);
  add(second, "value", KVO_GRAPH_NONE, "b.c", 6);
  add(second, "value", KVO_GRAPH_NONE, "a.c", 5);
  add(second, "value", KVO_GRAPH_NONE, "b.c", 5)->observer_class = "Chart";
  CHECK_DOT("  o0 [label=\"Row\\n0x10\"];\n"
            "  o1 [label=\"Row\\n0x20\"];\n"
            "  p2 [style=rounded, label=\"observer " TIMES "2\\nb.c:5\"];\n"
            "  p3 [style=rounded, label=\"observer\\nb.c:6\"];\n"
            "  p4 [style=rounded, label=\"observer\\na.c:5\"];\n"
            "  p5 [style=rounded, label=\"Chart\\nb.c:5\"];\n"
            "  o0 -> p2 [label=\"value\"];\n"
            "  o1 -> p2 [label=\"value\"];\n"
            "  o1 -> p3 [label=\"value\"];\n"
            "  o1 -> p4 [label=\"value\"];\n"
            "  o1 -> p5 [label=\"value\"];\n");
}

TEST("an observation of a path leads from its object, and from each object on the path, to the observer") {
  size_t document = add_object("Document"), author = add_object("Author"), panel = add_object("Panel");
  add(document, "author.name", panel, NULL, 0)->kind = KVO_GRAPH_EXPRESSION;
  add_edge(0, document, "author", false);
  add_edge(0, author, "name", true);
  CHECK_DOT("  o0 [label=\"Document\\n0x10\"];\n"
            "  o1 [label=\"Author\\n0x20\"];\n"
            "  o2 [label=\"Panel\\n0x30\"];\n"
            "  o0 -> o2 [label=\"author.name\"];\n"
            "  o1 -> o2 [label=\"name\"];\n");
}

/* ----------------------------------------------------------------------------------------------------- Circles -- */

TEST("a circle is red and has a number, and what only leads to it or from it, or from a node to itself, is neither") {
  static const char *const names[] = {"A", "B", "C", "D"};
  for (int i = 0; i < 4; i++) add_object(names[i]);
  add(0, "k", 1, NULL, 0);
  add(1, "k", 2, NULL, 0);
  add(2, "k", 1, NULL, 0);
  add(2, "k", 3, NULL, 0);
  add(3, "k", 3, NULL, 0);
  CHECK_DOT("  o0 [label=\"A\\n0x10\"];\n"
            "  o1 [label=\"B\\n0x20\\ncircle 1\", color=red, penwidth=2];\n"
            "  o2 [label=\"C\\n0x30\\ncircle 1\", color=red, penwidth=2];\n"
            "  o3 [label=\"D\\n0x40\"];\n"
            "  o0 -> o1 [label=\"k\"];\n"
            "  o1 -> o2 [color=red, penwidth=2, label=\"k\"];\n"
            "  o2 -> o1 [color=red, penwidth=2, label=\"k\"];\n"
            "  o2 -> o3 [label=\"k\"];\n"
            "  o3 -> o3 [label=\"k\"];\n");
  CHECK_WHOLE(text(KVO_GRAPH_MERMAID), "flowchart LR\n"
                                       "  classDef circle stroke:red,stroke-width:2px\n"
                                       "  o0[\"A<br/>0x10\"]\n"
                                       "  o1[\"B<br/>0x20<br/>circle 1\"]:::circle\n"
                                       "  o2[\"C<br/>0x30<br/>circle 1\"]:::circle\n"
                                       "  o3[\"D<br/>0x40\"]\n"
                                       "  o0 -- \"k\" --> o1\n"
                                       "  o1 == \"k\" ==> o2\n"
                                       "  o2 == \"k\" ==> o1\n"
                                       "  o2 -- \"k\" --> o3\n"
                                       "  o3 -- \"k\" --> o3\n");
}

TEST("circles are numbered in the order of their first nodes, whatever shortcuts and arrows between them there are") {
  static const struct {
    const char *arrows, *circle_of_each_node;
  } rows[] = {
      {"AB BC CA AC", "111"},
      {"AB BC CA DE ED DA", "11122"},
      {"AB BC CA CD DE ED EF", "111220"},
      {"AD DA BC CB", "1221"},
      {"AC CB BC", "011"},
      {"AA BB AB", "00"},
  };
  for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
    char expected[64], *at = expected;
    graph.object_count = graph.observation_count = 0;
    for (const char *each = rows[i].circle_of_each_node; *each != '\0'; each++) add_object("Node");
    for (const char *each = rows[i].arrows; *each != '\0'; each += strspn(each + 2, " ") + 2)
      add((size_t)(each[0] - 'A'), "k", (size_t)(each[1] - 'A'), NULL, 0);
    const char *dot = text(KVO_GRAPH_DOT);
    for (size_t k = 0; k < graph.object_count; k++) {
      char node[32];
      int circle = 0;
      snprintf(node, sizeof node, "\\n0x%zx\\ncircle ", 0x10 * (k + 1));
      const char *found = strstr(dot, node);
      if (found != NULL) circle = atoi(found + strlen(node));
      at += snprintf(at, 12, "%d", circle);
    }
    CHECK_EQ((const char *)expected, rows[i].circle_of_each_node);
  }
}

TEST("a chain as long as the graph is followed without recursion") {
  for (size_t i = 0; i < MOST; i++) add_object(i % 2 == 0 ? "Even" : "Odd");
  for (size_t i = 0; i < MOST; i++) add(i, "next", (i + 1) % MOST, NULL, 0);
  CHECK_CONTAINS(text(KVO_GRAPH_DOT),
                 "  o0 [peripheries=2, label=\"Even " TIMES "500\\ncircle 1\", color=red, penwidth=2];\n");
}

TEST("with more than 200 nodes each class is one node, with its numbers, and the text says so") {
  enum { ROWS = 199 };
  size_t table = add_object("Table");
  for (size_t i = 0; i < ROWS; i++) add(add_object("Row"), "value", table, "Table.swift", 5);
  CHECK_EQ(occurrences(text(KVO_GRAPH_DOT), " -> "), ROWS);
  CHECK_EQ(occurrences(text(KVO_GRAPH_DOT), "grouped"), 0);
  add(table, "count", add_object(""), NULL, 0);
  add(table, "count", KVO_GRAPH_NONE, "Main.swift", 3);
  CHECK_DOT("  labelloc=t;\n"
            "  label=\"201 objects, grouped by class\";\n"
            "  o0 [peripheries=2, label=\"Table\"];\n"
            "  o1 [peripheries=2, label=\"Row " TIMES "199\"];\n"
            "  o2 [peripheries=2, label=\"objects\"];\n"
            "  p3 [style=rounded, label=\"observer\\nMain.swift:3\"];\n"
            "  o0 -> o2 [label=\"count\"];\n"
            "  o0 -> p3 [label=\"count\"];\n"
            "  o1 -> o0 [label=\"value " TIMES "199\\nTable.swift:5\"];\n");
  CHECK_CONTAINS(text(KVO_GRAPH_MERMAID), "flowchart LR\n  %% 201 objects, grouped by class\n  o0[[\"Table\"]]\n");
}

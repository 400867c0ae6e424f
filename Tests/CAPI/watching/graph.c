/* graph.c - kvo_snapshot: all observations at one moment. */
#include "allocator.h"
#include "fixture.h"
#include "texts.h"

#include <kvo/kvo_binding.h>

static kvo_graph *snapshot(void) {
  kvo_graph *graph = NULL;
  CHECK_OK(kvo_snapshot(&graph));
  return graph;
}

TEST("without observations the graph is empty") {
  item *object = item_make(0);
  watcher w = {0};
  kvo_cancel_observer(watch(object, "value", KVO_NEW, &w));
  CHECK_WHOLE(snapshot_text(KVO_GRAPH_JSON), "{\"schema\":1,\"objects\":[],\"observations\":[],\"edges\":[]}\n");
  CHECK_WHOLE(snapshot_text(KVO_GRAPH_DOT), "digraph observations {\n  rankdir=LR;\n  node [shape=box];\n}\n");
  CHECK_WHOLE(snapshot_text(KVO_GRAPH_MERMAID), "flowchart LR\n");
  kvo_graph_free(NULL);
  item_destroy(object);
}

TEST("objects are sorted by their first observation, observations by registration; observers follow the objects") {
  item *first = item_make(0), *second = item_make(0);
  watcher w[3] = {{0}};
  w[1].context = w;
  kvo_observer at = watcher_observer("", 0, w);
  watch(second, "value", KVO_NEW, &w[0]);
  watch(first, "value", KVO_NEW | KVO_OLD, &w[1]);
  watch(second, "name", KVO_PRIOR | KVO_ENDS_WITH_OBJECT, &w[2]);
  CHECK_WHOLE(
      snapshot_text(KVO_GRAPH_JSON),
      "{\"schema\":1,\"objects\":["
      "{\"class\":\"Item\",\"address\":\"%p\",\"observations\":2,\"edges\":0,\"keyPaths\":[\"name\",\"value\"]},"
      "{\"class\":\"Item\",\"address\":\"%p\",\"observations\":1,\"edges\":0,\"keyPaths\":[\"value\"]},"
      "{\"class\":\"\",\"address\":\"%p\",\"observations\":0,\"edges\":0,\"keyPaths\":[]},"
      "{\"class\":\"\",\"address\":\"%p\",\"observations\":0,\"edges\":0,\"keyPaths\":[]},"
      "{\"class\":\"\",\"address\":\"%p\",\"observations\":0,\"edges\":0,\"keyPaths\":[]}],"
      "\"observations\":["
      "{\"id\":\"0x%llx\",\"kind\":\"direct\",\"object\":0,\"keyPath\":\"value\",\"options\":[\"new\"],"
      "\"endsWithObject\":false,\"observerClass\":null,\"observer\":\"%p\",\"observerObject\":2,"
      "\"context\":\"0x0\",\"registeredAt\":{\"file\":\"%s\",\"line\":%u}},"
      "{\"id\":\"0x%llx\",\"kind\":\"direct\",\"object\":0,\"keyPath\":\"name\",\"options\":[\"prior\"],"
      "\"endsWithObject\":true,\"observerClass\":null,\"observer\":\"%p\",\"observerObject\":4,"
      "\"context\":\"0x0\",\"registeredAt\":{\"file\":\"%s\",\"line\":%u}},"
      "{\"id\":\"0x%llx\",\"kind\":\"direct\",\"object\":1,\"keyPath\":\"value\",\"options\":[\"new\",\"old\"],"
      "\"endsWithObject\":false,\"observerClass\":null,\"observer\":\"%p\",\"observerObject\":3,"
      "\"context\":\"%p\",\"registeredAt\":{\"file\":\"%s\",\"line\":%u}}],"
      "\"edges\":[]}\n",
      (void *)second, (void *)first, (void *)&w[0], (void *)&w[1], (void *)&w[2], (unsigned long long)w[0].id,
      (void *)&w[0], at.file, at.line, (unsigned long long)w[2].id, (void *)&w[2], at.file, at.line,
      (unsigned long long)w[1].id, (void *)&w[1], (void *)w, at.file, at.line);
  kvo_graph *graph = snapshot();
  for (int i = 0; i < 3; i++) kvo_cancel_observer(w[i].id);
  CHECK_EQ(graph->objects[0].first_observation, 0);
  CHECK_EQ(graph->objects[1].first_observation, 2);
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
  CHECK_WHOLE(
      snapshot_text(KVO_GRAPH_JSON),
      "{\"schema\":1,\"objects\":["
      "{\"class\":\"Item\",\"address\":\"%p\",\"observations\":1,\"edges\":1,\"keyPaths\":[\"next.next.value\"]},"
      "{\"class\":\"Item\",\"address\":\"%p\",\"observations\":0,\"edges\":1,\"keyPaths\":[]},"
      "{\"class\":\"Item\",\"address\":\"%p\",\"observations\":0,\"edges\":1,\"keyPaths\":[]},"
      "{\"class\":\"\",\"address\":\"%p\",\"observations\":0,\"edges\":0,\"keyPaths\":[]}],"
      "\"observations\":["
      "{\"id\":\"~\",\"kind\":\"expression\",\"object\":0,\"keyPath\":\"next.next.value\","
      "\"options\":[\"new\"],\"endsWithObject\":false,\"observerClass\":null,\"observer\":\"~\","
      "\"observerObject\":3,\"context\":\"0x0\",\"registeredAt\":{\"file\":\"%s\",\"line\":~}}],"
      "\"edges\":["
      "{\"observation\":0,\"object\":0,\"key\":\"next\",\"isValue\":false},"
      "{\"observation\":0,\"object\":1,\"key\":\"next\",\"isValue\":false},"
      "{\"observation\":0,\"object\":2,\"key\":\"value\",\"isValue\":true}]}\n",
      (void *)root, (void *)near, (void *)far, (void *)&w, watcher_observer("", 0, &w).file);
  item_set_next(root, far); /* far->next is nil */
  kvo_graph *graph = snapshot();
  CHECK_EQ(graph->observations[0].first_edge, 0);
  CHECK_EQ(graph->observations[0].edge_count, 2);
  CHECK_SAME(graph->objects[graph->edges[1].object].object, far);
  CHECK_EQ(graph->edges[1].key, "next");
  kvo_graph_free(graph);
  kvo_cancel_observer(w.id);
  item_destroy(root);
  item_destroy(near);
  item_destroy(far);
}

/* Observes for an observer of a binding, which has an address and perhaps a class, and says where it is called. */
static void observe_for(item *object, const void *address, const char *class_name, const char *note) {
  kvo_binding_observer observer = {.options = KVO_ENDS_WITH_OBJECT, .note = note, .is_receiver = true};
  observe_named(as_object(object), "value", class_name, address, observer);
}

TEST("each observer with an address is one node, after the objects, and one that is observed is that object") {
  item *first = item_make(0), *second = item_make(0);
  char panel = 0, plain = 0;
  observe_for(first, &panel, NULL, "on queue com.example.model");
  observe_for(second, &plain, NULL, NULL);
  observe_for(second, &panel, "Panel", NULL);
  observe_for(second, second, "Other", "on an actor");
  observe_for(second, first, NULL, NULL);
  observe_for(first, second, NULL, NULL);
  observe_for(second, NULL, NULL, NULL);
  CHECK_WHOLE(snapshot_text(KVO_GRAPH_DOT),
              "digraph observations {\n"
              "  rankdir=LR;\n"
              "  node [shape=box];\n"
              "  o0 [label=\"Item\\n%p\\ncircle 1\", color=red, penwidth=2];\n"
              "  o1 [label=\"Item\\n%p\\ncircle 1\", color=red, penwidth=2];\n"
              "  o2 [label=\"Panel\\n%p\"];\n"
              "  o3 [label=\"%p\"];\n"
              "  p4 [style=rounded, label=\"observer\"];\n"
              "  o0 -> o1 [color=red, penwidth=2, label=\"value\"];\n"
              "  o0 -> o2 [label=\"value\\non queue com.example.model\"];\n"
              "  o1 -> o0 [color=red, penwidth=2, label=\"value\"];\n"
              "  o1 -> o1 [color=red, penwidth=2, label=\"value\\non an actor\"];\n"
              "  o1 -> o2 [label=\"value\"];\n"
              "  o1 -> o3 [label=\"value\"];\n"
              "  o1 -> p4 [label=\"value\"];\n"
              "}\n",
              (void *)first, (void *)second, (void *)&panel, (void *)&plain);
  item_destroy(first);
  item_destroy(second);
}

static void take_one(watcher *self, const kvo_change *change) {
  kvo_graph *graph = snapshot();
  CHECK_EQ(graph->observation_count, 1);
  CHECK_EQ(graph->observations[0].observation, change->observation);
  kvo_graph_free(graph);
}

TEST("a snapshot can be taken in a callback") {
  item *object = item_make(0);
  watcher w = {.then = take_one};
  watch(object, "value", KVO_NEW | KVO_ENDS_WITH_OBJECT, &w);
  item_set_value(object, 1);
  CHECK_EQ(w.calls, 1);
  item_destroy(object);
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
  for (; status != KVO_OK; refused += status != KVO_OK) {
    kvo_graph *graph = NULL;
    fail_in = refused + 1;
    status = kvo_snapshot(&graph);
    fail_in = 0;
    CHECK(status == KVO_OK || (status == KVO_ERROR_OUT_OF_MEMORY && graph == NULL));
    kvo_graph_free(graph);
    CHECK_EQ(live_blocks, before);
  }
  CHECK(refused >= 2);
  for (int i = 0; i < 2; i++) kvo_cancel_observer(w[i].id);
  item_destroy(root);
  item_destroy(next);
}

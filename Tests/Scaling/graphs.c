/* graphs.c - the cost of the graph of n objects, and of drawing it. */
#include "scaling.h"

/* A ring, so that all of it is one circle: each object is observed for the next one. */
static kvo_graph *ring(size_t n) {
  kvo_graph *made = NULL;
  kvo_graph_object *objects = scaling_array(n, sizeof *objects);
  kvo_graph_observation *observations = scaling_array(n, sizeof *observations);
  made = scaling_array(1, sizeof *made);
  const size_t *order = scaling_shuffled(n);
  for (size_t i = 0; i < n; i++) {
    objects[i] = (kvo_graph_object){.object = &objects[i], .class_name = i % 3 == 0 ? "Row" : "Cell"};
    observations[i] = (kvo_graph_observation){
        .kind = KVO_GRAPH_DIRECT, .object = order[i], .key_path = "value", .observer_object = order[(i + 1) % n]};
  }
  *made = (kvo_graph){objects, n, observations, n, NULL, 0};
  return made;
}

ROW("take the graph of n objects") {
  item **items = scaling_array(n, sizeof *items);
  listener *all = scaling_array(n, sizeof *all);
  for (size_t i = 0; i < n; i++) {
    items[i] = item_make(0);
    listen(&all[i], as_object(items[i]), "value", KVO_NEW);
  }
  MEASURE {
    kvo_graph *graph = NULL;
    CHECK_OK(kvo_snapshot(&graph));
    kvo_graph_free(graph);
  }
}

ROW("draw the graph of n objects, grouped by class") {
  kvo_graph *graph = ring(n);
  MEASURE CHECK(kvo_graph_format(graph, KVO_GRAPH_DOT, NULL, 0) > 0);
}

ROW("write the graph of n objects as JSON") {
  kvo_graph *graph = ring(n);
  MEASURE CHECK(kvo_graph_format(graph, KVO_GRAPH_JSON, NULL, 0) > 0);
}

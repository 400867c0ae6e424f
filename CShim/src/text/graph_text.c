/* graph_text.c - the graph of observations as JSON, DOT and Mermaid; graph_picture.c and graph_languages.c draw the latter two. */
#include "text/graph_picture.h"
#include "text/report.h"

/* ------------------------------------------------------------------------------------------------------------- JSON -- */

/* In a graph made by the program names may be NULL. */
static const char *graph_text_text_of(const char *name) { return name != NULL ? name : ""; }

static void graph_text_put_count(kvo_sink *to, const char *name, size_t count) {
  kvo__put_member(to, name);
  kvo__put_number(to, count, 10);
}

static void put_json_object(kvo_sink *to, const kvo_graph_object *each) {
  kvo__put(to, "{\"class\":");
  kvo__put_json_bytes(to, graph_text_text_of(each->class_name), strlen(graph_text_text_of(each->class_name)));
  kvo__put_json_address(to, "address", kvo__address(each->object));
  graph_text_put_count(to, "observations", each->observation_count);
  graph_text_put_count(to, "edges", each->edge_count);
  kvo__put_member(to, "keyPaths");
  size_t count = each->key_paths != NULL ? each->key_path_count : 0;
  for (size_t i = 0; i < count; i++) {
    kvo__put_byte(to, i == 0 ? '[' : ',');
    kvo__put_json_bytes(to, graph_text_text_of(each->key_paths[i]), strlen(graph_text_text_of(each->key_paths[i])));
  }
  kvo__put(to, count == 0 ? "[]}" : "]}");
}

static void put_json_observation(kvo_sink *to, const kvo_graph_observation *each) {
  kvo__put(to, "{\"id\":\"");
  kvo__put_address(to, each->observation);
  kvo__put(to, each->kind == KVO_GRAPH_DIRECT ? "\",\"kind\":\"direct\"" : "\",\"kind\":\"expression\"");
  graph_text_put_count(to, "object", each->object);
  kvo__put_json_string(to, "keyPath", each->key_path);
  kvo__put_json_options(to, each->options);
  kvo__put_member(to, "endsWithObject");
  kvo__put(to, (each->options & KVO_ENDS_WITH_OBJECT) != 0 ? "true" : "false");
  kvo__put_json_string(to, "observerClass", each->observer_class);
  kvo__put_json_address(to, "observer", kvo__address(each->observer));
  kvo__put_member(to, "observerObject");
  if (each->observer_object != KVO_GRAPH_NONE)
    kvo__put_number(to, each->observer_object, 10);
  else
    kvo__put(to, "null");
  kvo__put_json_address(to, "context", kvo__address(each->context));
  if (each->note != NULL) kvo__put_json_string(to, "note", each->note);
  kvo__put_json_site(to, "registeredAt", each->file, each->file != NULL ? strlen(each->file) : 0, each->line);
  kvo__put_byte(to, '}');
}

static void put_json_edge(kvo_sink *to, const kvo_graph_edge *each) {
  kvo__put(to, "{\"observation\":");
  kvo__put_number(to, each->observation, 10);
  graph_text_put_count(to, "object", each->object);
  kvo__put_json_string(to, "key", each->key);
  kvo__put(to, each->is_value ? ",\"isValue\":true}" : ",\"isValue\":false}");
}

static void put_json(kvo_sink *to, const kvo_graph *graph) {
  kvo__put(to, "{\"schema\":1,\"objects\":[");
  for (size_t i = 0; i < graph->object_count; i++) {
    if (i > 0) kvo__put_byte(to, ',');
    put_json_object(to, &graph->objects[i]);
  }
  kvo__put(to, "],\"observations\":[");
  for (size_t i = 0; i < graph->observation_count; i++) {
    if (i > 0) kvo__put_byte(to, ',');
    put_json_observation(to, &graph->observations[i]);
  }
  kvo__put(to, "],\"edges\":[");
  for (size_t i = 0; i < graph->edge_count; i++) {
    if (i > 0) kvo__put_byte(to, ',');
    put_json_edge(to, &graph->edges[i]);
  }
  kvo__put(to, "]}\n");
}

static void draw(kvo_sink *to, const kvo_graph *graph, void (*put)(kvo_sink *to, const kvo_picture *picture)) {
  kvo_picture picture;
  if (!kvo__picture_make(graph, &picture)) return;
  put(to, &picture);
  kvo__picture_free(&picture);
}

size_t kvo_graph_format(const kvo_graph *graph, kvo_graph_form form, char *buffer, size_t size) {
  kvo_sink to = kvo__sink_of(buffer, size);
  if (graph == NULL) return kvo__sink_end(&to);
  kvo_graph whole = *graph; /* a graph made by the program may have NULL arrays */
  if (whole.objects == NULL) whole.object_count = 0;
  if (whole.observations == NULL) whole.observation_count = 0;
  if (whole.edges == NULL) whole.edge_count = 0;
  switch (form) {
    case KVO_GRAPH_JSON: put_json(&to, &whole); break;
    case KVO_GRAPH_DOT: draw(&to, &whole, kvo__put_dot); break;
    case KVO_GRAPH_MERMAID: draw(&to, &whole, kvo__put_mermaid); break;
  }
  return kvo__sink_end(&to);
}

/* graph_text.c - the graph of observations as JSON, DOT and Mermaid. */
#include "text/report.h"

/* ------------------------------------------------------------------------------------------------------------- JSON -- */

/* In a graph made by the program names may be NULL. */
static const char *text_of(const char *name) { return name != NULL ? name : ""; }

static void put_count(kvo_sink *to, const char *name, size_t count) {
  kvo__put_member(to, name);
  kvo__put_number(to, count, 10);
}

static void put_json_object(kvo_sink *to, const kvo_graph_object *each) {
  kvo__put(to, "{\"class\":");
  kvo__put_json_bytes(to, text_of(each->class_name), strlen(text_of(each->class_name)));
  kvo__put_json_address(to, "address", kvo__address(each->object));
  put_count(to, "observations", each->observation_count);
  put_count(to, "edges", each->edge_count);
  kvo__put_member(to, "keyPaths");
  size_t count = each->key_paths != NULL ? each->key_path_count : 0;
  for (size_t i = 0; i < count; i++) {
    kvo__put_byte(to, i == 0 ? '[' : ',');
    kvo__put_json_bytes(to, text_of(each->key_paths[i]), strlen(text_of(each->key_paths[i])));
  }
  kvo__put(to, count == 0 ? "[]}" : "]}");
}

static void put_json_observation(kvo_sink *to, const kvo_graph_observation *each) {
  kvo__put(to, "{\"id\":\"");
  kvo__put_address(to, each->observation);
  kvo__put(to, each->kind == KVO_GRAPH_DIRECT ? "\",\"kind\":\"direct\"" : "\",\"kind\":\"expression\"");
  put_count(to, "object", each->object);
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
  put_count(to, "object", each->object);
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

/* --------------------------------------------------------------------------------------------------------- Pictures -- */

/* The style of an arrow: a change notifies an observation of just that key; a change evaluates an expression; an observation notifies its
 * observer. */
typedef enum style { PLAIN, DASHED, BOLD } style;

/* An output language: boxes for objects, rounded boxes for observations, arrows in the direction of notifications. */
typedef struct language {
  const char *begin, *end;
  /** The text around the label of an object and of an observation, after its name; and the line break in a label. */
  const char *object[2], *observation[2], *line_break;
  void (*put_text)(kvo_sink *to, const char *text);
  void (*put_arrow)(kvo_sink *to, const char *from, const char *target, style as, const char *label);
} language;

/* The name of a node: o for an object or n for an observation, and its index. */
typedef struct name {
  char text[24];
} name;

static name name_of(char kind, size_t index) {
  name made;
  kvo_sink to = {.memory = made.text, .capacity = sizeof made.text, .fd = -1};
  kvo__put_byte(&to, kind);
  kvo__put_number(&to, index, 10);
  kvo__sink_end(&to);
  return made;
}

static void put_object(kvo_sink *to, const language *in, size_t index, const kvo_graph_object *each) {
  kvo__put(to, "  ");
  kvo__put(to, name_of('o', index).text);
  kvo__put(to, in->object[0]);
  if (text_of(each->class_name)[0] != '\0') {
    in->put_text(to, each->class_name);
    kvo__put(to, in->line_break);
  }
  kvo__put_address(to, kvo__address(each->object));
  kvo__put(to, in->object[1]);
}

/* The source location of the registration comes first, because it is the most useful. */
static void put_observation(kvo_sink *to, const language *in, size_t index, const kvo_graph_observation *each) {
  kvo__put(to, "  ");
  kvo__put(to, name_of('n', index).text);
  kvo__put(to, in->observation[0]);
  if (each->file != NULL) {
    const char *slash = strrchr(each->file, '/');
    in->put_text(to, slash != NULL ? slash + 1 : each->file);
    kvo__put_byte(to, ':');
    kvo__put_number(to, each->line, 10);
    kvo__put(to, in->line_break);
  }
  if (each->observer_class != NULL) {
    in->put_text(to, each->observer_class);
    kvo__put(to, in->line_break);
  }
  in->put_text(to, text_of(each->key_path));
  kvo__put(to, in->observation[1]);
}

static void put_arrows(kvo_sink *to, const language *in, size_t index, const kvo_graph_observation *each) {
  name own = name_of('n', index);
  if (each->kind == KVO_GRAPH_DIRECT)
    in->put_arrow(to, name_of('o', each->object).text, own.text, PLAIN, text_of(each->key_path));
  if (each->observer_object != KVO_GRAPH_NONE)
    in->put_arrow(to, own.text, name_of('o', each->observer_object).text, BOLD, each->note);
}

static void put_picture(kvo_sink *to, const kvo_graph *graph, const language *in) {
  kvo__put(to, in->begin);
  for (size_t i = 0; i < graph->object_count; i++) put_object(to, in, i, &graph->objects[i]);
  for (size_t i = 0; i < graph->observation_count; i++) put_observation(to, in, i, &graph->observations[i]);
  for (size_t i = 0; i < graph->observation_count; i++) put_arrows(to, in, i, &graph->observations[i]);
  for (size_t i = 0; i < graph->edge_count; i++) {
    const kvo_graph_edge *each = &graph->edges[i];
    in->put_arrow(to, name_of('o', each->object).text, name_of('n', each->observation).text,
                  each->is_value ? PLAIN : DASHED, each->key != NULL ? each->key : "(its death)");
  }
  kvo__put(to, in->end);
}

/* Control characters become spaces, and invalid UTF-8 becomes replacement characters, in both languages. */
static void put_escaped(kvo_sink *to, const char *text, void (*put_special)(kvo_sink *to, char byte)) {
  size_t left = strlen(text);
  while (left > 0) {
    size_t count = kvo__character_length((const unsigned char *)text, left);
    if (count == 0) {
      kvo__put(to, "\xef\xbf\xbd");
      count = 1;
    } else if (count == 1) {
      bool is_control = (unsigned char)*text < 0x20 || *text == 0x7f;
      put_special(to, is_control ? ' ' : *text);
    } else {
      for (size_t i = 0; i < count; i++) kvo__put_byte(to, text[i]);
    }
    text += count;
    left -= count;
  }
}

static void put_dot_byte(kvo_sink *to, char byte) {
  if (byte == '"' || byte == '\\') kvo__put_byte(to, '\\');
  kvo__put_byte(to, byte);
}

static void put_dot_text(kvo_sink *to, const char *text) { put_escaped(to, text, put_dot_byte); }

static void put_dot_arrow(kvo_sink *to, const char *from, const char *target, style as, const char *label) {
  static const char *const styles[] = {"solid", "dashed", "bold"};
  kvo__put(to, "  ");
  kvo__put(to, from);
  kvo__put(to, " -> ");
  kvo__put(to, target);
  kvo__put(to, " [style=");
  kvo__put(to, styles[as]);
  if (label != NULL) {
    kvo__put(to, ", label=\"");
    put_dot_text(to, label);
    kvo__put_byte(to, '"');
  }
  kvo__put(to, "];\n");
}

static const language dot = {
    .begin = "digraph observations {\n  rankdir=LR;\n  node [shape=box];\n",
    .end = "}\n",
    .object = {" [label=\"", "\"];\n"},
    .observation = {" [style=rounded, label=\"", "\"];\n"},
    .line_break = "\\n",
    .put_text = put_dot_text,
    .put_arrow = put_dot_arrow,
};

/* Characters that are special in Mermaid, or in the HTML that it makes, are written as character references. */
static void put_mermaid_byte(kvo_sink *to, char byte) {
  bool is_plain = (byte >= 'a' && byte <= 'z') || (byte >= 'A' && byte <= 'Z') || (byte >= '0' && byte <= '9') ||
                  (byte != '\0' && strchr(" _.:/@-(),+", byte) != NULL);
  if (is_plain) {
    kvo__put_byte(to, byte);
    return;
  }
  kvo__put_byte(to, '#');
  kvo__put_number(to, (unsigned char)byte, 10);
  kvo__put_byte(to, ';');
}

static void put_mermaid_text(kvo_sink *to, const char *text) { put_escaped(to, text, put_mermaid_byte); }

static void put_mermaid_arrow(kvo_sink *to, const char *from, const char *target, style as, const char *label) {
  static const char *const begins[] = {" -- \"", " -. \"", " == \""}, *const ends[] = {"\" --> ", "\" .-> ", "\" ==> "};
  static const char *const bare[] = {" --> ", " -.-> ", " ==> "};
  kvo__put(to, "  ");
  kvo__put(to, from);
  if (label != NULL) {
    kvo__put(to, begins[as]);
    put_mermaid_text(to, label);
    kvo__put(to, ends[as]);
  } else {
    kvo__put(to, bare[as]);
  }
  kvo__put(to, target);
  kvo__put_byte(to, '\n');
}

static const language mermaid = {
    .begin = "flowchart LR\n",
    .end = "",
    .object = {"[\"", "\"]\n"},
    .observation = {"([\"", "\"])\n"},
    .line_break = "<br/>",
    .put_text = put_mermaid_text,
    .put_arrow = put_mermaid_arrow,
};

size_t kvo_graph_format(const kvo_graph *graph, kvo_graph_form form, char *buffer, size_t size) {
  kvo_sink to = kvo__sink_of(buffer, size);
  if (graph == NULL) return kvo__sink_end(&to);
  kvo_graph whole = *graph; /* a graph made by the program may have NULL arrays */
  if (whole.objects == NULL) whole.object_count = 0;
  if (whole.observations == NULL) whole.observation_count = 0;
  if (whole.edges == NULL) whole.edge_count = 0;
  switch (form) {
    case KVO_GRAPH_JSON: put_json(&to, &whole); break;
    case KVO_GRAPH_DOT: put_picture(&to, &whole, &dot); break;
    case KVO_GRAPH_MERMAID: put_picture(&to, &whole, &mermaid); break;
  }
  return kvo__sink_end(&to);
}

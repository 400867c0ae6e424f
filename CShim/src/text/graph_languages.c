/* graph_languages.c - a picture of a graph as DOT and as Mermaid. */
#include "text/graph_picture.h"

/* An output language. Arrows have the direction of notifications. */
typedef struct language {
  const char *begin, *end;
  /** The text around the label of a node of each kind, after its name; and the line break in a label. */
  const char *shapes[3][2], *line_break;
  /** What follows the shape of a node in a circle, and of each node. */
  const char *circle, *node_end;
  void (*put_text)(kvo_sink *to, const char *text);
  void (*put_remark)(kvo_sink *to, const kvo_picture *picture);
  void (*put_link)(kvo_sink *to, const kvo_picture *picture, const kvo_picture_link *link);
} language;

/* ------------------------------------------------------------------------------------------------------------ Labels -- */

enum { MOST_LABELS = 4, MOST_PLACES = 3, MOST_NOTES = 2 };

static bool graph_languages_is_same(const char *a, const char *b) {
  return a == b || (a != NULL && b != NULL && strcmp(a, b) == 0);
}

static void put_times(kvo_sink *to, size_t count) {
  if (count < 2) return;
  kvo__put(to, " \xc3\x97");
  kvo__put_number(to, count, 10);
}

static void graph_languages_put_place(kvo_sink *to, const language *in, const char *file, uint32_t line) {
  const char *slash = strrchr(file, '/');
  in->put_text(to, slash != NULL ? slash + 1 : file);
  kvo__put_byte(to, ':');
  kvo__put_number(to, line, 10);
}

/* Names what the objects of a picture are: an object, or the number of those of a class, or where closures were registered. */
static void put_node_label(kvo_sink *to, const language *in, const kvo_picture_node *each) {
  bool has_class = each->class_name != NULL && each->class_name[0] != '\0';
  if (has_class) in->put_text(to, each->class_name);
  if (each->kind == KVO_PICTURE_OBJECT) {
    if (has_class) kvo__put(to, in->line_break);
    kvo__put_address(to, (unsigned long long)(uintptr_t)each->object);
  }
  if (!has_class && each->kind == KVO_PICTURE_CLASS) kvo__put(to, "objects");
  if (!has_class && each->kind == KVO_PICTURE_PLACE) kvo__put(to, "observer");
  put_times(to, each->count);
  if (each->kind == KVO_PICTURE_PLACE && each->file != NULL) {
    kvo__put(to, in->line_break);
    graph_languages_put_place(to, in, each->file, each->line);
  }
  if (each->circle == 0) return;
  kvo__put(to, in->line_break);
  kvo__put(to, "circle ");
  kvo__put_number(to, each->circle, 10);
}

/* The distinct labels, with the number of arrows that have each. They are sorted. */
static void put_names(kvo_sink *to, const language *in, const kvo_picture_arrow *arrows, size_t count) {
  size_t names = 0;
  for (size_t i = 0, same; i < count; i += same, names++) {
    for (same = 1; i + same < count && graph_languages_is_same(arrows[i].label, arrows[i + same].label);) same++;
    if (names >= MOST_LABELS) continue;
    if (names > 0) kvo__put(to, ", ");
    in->put_text(to, arrows[i].label);
    put_times(to, same);
  }
  if (names <= MOST_LABELS) return;
  kvo__put(to, " and ");
  kvo__put_number(to, names - MOST_LABELS, 10);
  kvo__put(to, " more");
}

/* The distinct places of the registrations, on a line of their own. */
static void put_places(kvo_sink *to, const language *in, const kvo_picture_arrow *arrows, size_t count) {
  const kvo_picture_arrow *shown[MOST_PLACES];
  size_t places = 0;
  for (size_t i = 0; i < count; i++) {
    size_t known = 0;
    while (known < places &&
           (shown[known]->line != arrows[i].line || !graph_languages_is_same(shown[known]->file, arrows[i].file)))
      known++;
    if (known < places || arrows[i].file == NULL) continue;
    kvo__put(to, places == 0 ? in->line_break : ", ");
    if (places == MOST_PLACES) {
      kvo__put(to, "and others");
      return;
    }
    graph_languages_put_place(to, in, arrows[i].file, arrows[i].line);
    shown[places++] = &arrows[i];
  }
}

/* The distinct notes, each on a line. */
static void put_notes(kvo_sink *to, const language *in, const kvo_picture_arrow *arrows, size_t count) {
  const char *shown[MOST_NOTES];
  size_t notes = 0;
  for (size_t i = 0; i < count; i++) {
    size_t known = 0;
    while (known < notes && !graph_languages_is_same(shown[known], arrows[i].note)) known++;
    if (known < notes || arrows[i].note == NULL) continue;
    kvo__put(to, in->line_break);
    if (notes == MOST_NOTES) {
      kvo__put(to, "and others");
      return;
    }
    in->put_text(to, arrows[i].note);
    shown[notes++] = arrows[i].note;
  }
}

static void put_link_label(kvo_sink *to, const language *in, const kvo_picture *picture, const kvo_picture_link *link) {
  const kvo_picture_arrow *arrows = &picture->arrows[link->first_arrow];
  put_names(to, in, arrows, link->arrow_count);
  if (picture->nodes[arrows->target].kind != KVO_PICTURE_PLACE) put_places(to, in, arrows, link->arrow_count);
  put_notes(to, in, arrows, link->arrow_count);
}

/* ------------------------------------------------------------------------------------------------------- The picture -- */

/* The name of a node: o for objects or p for a place, and its number. */
static void graph_languages_put_name(kvo_sink *to, const kvo_picture *picture, size_t node) {
  kvo__put_byte(to, picture->nodes[node].kind == KVO_PICTURE_PLACE ? 'p' : 'o');
  kvo__put_number(to, node, 10);
}

static void put_picture(kvo_sink *to, const kvo_picture *picture, const language *in) {
  kvo__put(to, in->begin);
  in->put_remark(to, picture);
  for (size_t i = 0; i < picture->node_count; i++) {
    const kvo_picture_node *each = &picture->nodes[i];
    kvo__put(to, "  ");
    graph_languages_put_name(to, picture, i);
    kvo__put(to, in->shapes[each->kind][0]);
    put_node_label(to, in, each);
    kvo__put(to, in->shapes[each->kind][1]);
    if (each->circle != 0) kvo__put(to, in->circle);
    kvo__put(to, in->node_end);
  }
  for (size_t i = 0; i < picture->link_count; i++) in->put_link(to, picture, &picture->links[i]);
  kvo__put(to, in->end);
}

/* Says that objects are grouped. */
static void put_grouping(kvo_sink *to, const kvo_picture *picture) {
  kvo__put_number(to, picture->object_count, 10);
  kvo__put(to, " objects, grouped by class");
}

/* --------------------------------------------------------------------------------------------------------------- DOT -- */

/* Control characters become spaces, and invalid UTF-8 becomes replacement characters, in both languages. */
static void graph_languages_put_escaped(kvo_sink *to, const char *text, void (*put_special)(kvo_sink *to, char byte)) {
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

static void put_dot_text(kvo_sink *to, const char *text) { graph_languages_put_escaped(to, text, put_dot_byte); }

static void put_dot_remark(kvo_sink *to, const kvo_picture *picture) {
  if (!picture->is_grouped) return;
  kvo__put(to, "  labelloc=t;\n  label=\"");
  put_grouping(to, picture);
  kvo__put(to, "\";\n");
}

static const language dot;

static void put_dot_link(kvo_sink *to, const kvo_picture *picture, const kvo_picture_link *link) {
  const kvo_picture_arrow *arrow = &picture->arrows[link->first_arrow];
  kvo__put(to, "  ");
  graph_languages_put_name(to, picture, arrow->from);
  kvo__put(to, " -> ");
  graph_languages_put_name(to, picture, arrow->target);
  kvo__put(to, link->has_value ? " [" : " [style=dashed, ");
  if (link->is_in_circle) kvo__put(to, "color=red, penwidth=2, ");
  kvo__put(to, "label=\"");
  put_link_label(to, &dot, picture, link);
  kvo__put(to, "\"];\n");
}

static const language dot = {
    .begin = "digraph observations {\n  rankdir=LR;\n  node [shape=box];\n",
    .end = "}\n",
    .shapes = {{" [label=\"", "\""}, {" [peripheries=2, label=\"", "\""}, {" [style=rounded, label=\"", "\""}},
    .line_break = "\\n",
    .circle = ", color=red, penwidth=2",
    .node_end = "];\n",
    .put_text = put_dot_text,
    .put_remark = put_dot_remark,
    .put_link = put_dot_link,
};

void kvo__put_dot(kvo_sink *to, const kvo_picture *picture) { put_picture(to, picture, &dot); }

/* ---------------------------------------------------------------------------------------------------------- Mermaid -- */

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

static void put_mermaid_text(kvo_sink *to, const char *text) {
  graph_languages_put_escaped(to, text, put_mermaid_byte);
}

static void put_mermaid_remark(kvo_sink *to, const kvo_picture *picture) {
  if (picture->is_grouped) {
    kvo__put(to, "  %% ");
    put_grouping(to, picture);
    kvo__put_byte(to, '\n');
  }
  if (picture->circle_count > 0) kvo__put(to, "  classDef circle stroke:red,stroke-width:2px\n");
}

static const language mermaid;

static void put_mermaid_link(kvo_sink *to, const kvo_picture *picture, const kvo_picture_link *link) {
  const kvo_picture_arrow *arrow = &picture->arrows[link->first_arrow];
  kvo__put(to, "  ");
  graph_languages_put_name(to, picture, arrow->from);
  kvo__put(to, link->is_in_circle ? " == \"" : link->has_value ? " -- \"" : " -. \"");
  put_link_label(to, &mermaid, picture, link);
  kvo__put(to, link->is_in_circle ? "\" ==> " : link->has_value ? "\" --> " : "\" .-> ");
  graph_languages_put_name(to, picture, arrow->target);
  kvo__put_byte(to, '\n');
}

static const language mermaid = {
    .begin = "flowchart LR\n",
    .end = "",
    .shapes = {{"[\"", "\"]"}, {"[[\"", "\"]]"}, {"([\"", "\"])"}},
    .line_break = "<br/>",
    .circle = ":::circle",
    .node_end = "\n",
    .put_text = put_mermaid_text,
    .put_remark = put_mermaid_remark,
    .put_link = put_mermaid_link,
};

void kvo__put_mermaid(kvo_sink *to, const kvo_picture *picture) { put_picture(to, picture, &mermaid); }

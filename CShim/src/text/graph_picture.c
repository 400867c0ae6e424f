/* graph_picture.c - makes the picture of a graph: its nodes, grouped if there are many, and the links between them. */
#include "text/graph_picture.h"

#include <stdlib.h>

/* ------------------------------------------------------------------------------------------------------------ Nodes -- */

/* What makes two objects, or two observers without address, one node. */
typedef struct member {
  const char *name, *file;
  uint32_t line;
  size_t index;
} member;

/* A graph made by the program may have NULL for any name. */
static int graph_picture_compare_texts(const char *a, const char *b) {
  return strcmp(a != NULL ? a : "", b != NULL ? b : "");
}

static int compare_sizes(size_t a, size_t b) { return (a > b) - (a < b); }

static int compare_members(const member *a, const member *b) {
  int result = graph_picture_compare_texts(a->name, b->name);
  if (result == 0) result = graph_picture_compare_texts(a->file, b->file);
  return result != 0 ? result : compare_sizes(a->line, b->line);
}

static int by_member(const void *left, const void *right) {
  const member *a = left, *b = right;
  int result = compare_members(a, b);
  return result != 0 ? result : compare_sizes(a->index, b->index);
}

/* A picture in the making. */
typedef struct making {
  const kvo_graph *graph;
  kvo_picture *picture;
  /** The node of each object, and of the observer of each observation; KVO_GRAPH_NONE if the graph is wrong. */
  size_t *of_object, *of_observer, *firsts;
  member *members;
  size_t member_count;
} making;

/* Adds a node for each set of equal members, in the order of their first ones, and stores the node of each member in `nodes`, whose other
 * elements are KVO_GRAPH_NONE. */
static void add_groups(making *in, size_t *nodes, kvo_picture_kind kind) {
  kvo_picture *picture = in->picture;
  qsort(in->members, in->member_count, sizeof *in->members, by_member);
  for (size_t i = 0; i < in->member_count; i++) { /* for now the index of the first one, which is the smallest */
    const member *each = &in->members[i];
    bool is_first = i == 0 || compare_members(each - 1, each) != 0;
    nodes[each->index] = is_first ? each->index : nodes[each[-1].index];
    if (is_first) in->firsts[each->index] = i;
  }
  size_t total = kind == KVO_PICTURE_PLACE ? in->graph->observation_count : in->graph->object_count;
  for (size_t i = 0; i < total; i++) {
    if (nodes[i] == KVO_GRAPH_NONE) continue;
    if (nodes[i] == i) {
      const member *first = &in->members[in->firsts[i]];
      picture->nodes[picture->node_count] =
          (kvo_picture_node){.kind = kind, .class_name = first->name, .file = first->file, .line = first->line};
      in->firsts[i] = picture->node_count++;
    }
    nodes[i] = in->firsts[nodes[i]]; /* now the number of its node */
    picture->nodes[nodes[i]].count++;
  }
}

static void add_objects(making *in) {
  const kvo_graph *graph = in->graph;
  for (size_t i = 0; i < graph->object_count; i++) {
    const kvo_graph_object *each = &graph->objects[i];
    in->picture->nodes[i] = (kvo_picture_node){
        .kind = KVO_PICTURE_OBJECT, .class_name = each->class_name, .object = each->object, .count = 1};
    in->of_object[i] = i;
  }
  in->picture->node_count = graph->object_count;
}

static void add_classes(making *in) {
  const kvo_graph *graph = in->graph;
  for (size_t i = 0; i < graph->object_count; i++)
    in->members[i] = (member){.name = graph->objects[i].class_name, .index = i};
  in->member_count = graph->object_count;
  in->picture->node_count = 0;
  add_groups(in, in->of_object, KVO_PICTURE_CLASS);
}

/* The observers that are objects have their nodes; the others get one per place. */
static void add_observers(making *in) {
  const kvo_graph *graph = in->graph;
  in->member_count = 0;
  for (size_t i = 0; i < graph->observation_count; i++) {
    const kvo_graph_observation *each = &graph->observations[i];
    in->of_observer[i] = KVO_GRAPH_NONE;
    if (each->object >= graph->object_count || each->observer_object < graph->object_count) continue;
    in->members[in->member_count++] = (member){each->observer_class, each->file, each->line, i};
  }
  add_groups(in, in->of_observer, KVO_PICTURE_PLACE);
  for (size_t i = 0; i < graph->observation_count; i++) {
    const kvo_graph_observation *each = &graph->observations[i];
    if (each->object < graph->object_count && each->observer_object < graph->object_count)
      in->of_observer[i] = in->of_object[each->observer_object];
  }
}

static void add_nodes(making *in) {
  const kvo_graph *graph = in->graph;
  add_objects(in);
  add_observers(in);
  in->picture->object_count = graph->object_count;
  in->picture->is_grouped = in->picture->node_count > KVO_PICTURE_NODES;
  if (!in->picture->is_grouped) return;
  add_classes(in);
  add_observers(in);
}

/* ------------------------------------------------------------------------------------------------------------ Links -- */

static int by_ends(const void *left, const void *right) {
  const kvo_picture_arrow *a = left, *b = right;
  int result = compare_sizes(a->from, b->from);
  if (result == 0) result = compare_sizes(a->target, b->target);
  if (result == 0) result = graph_picture_compare_texts(a->label, b->label);
  if (result == 0) result = graph_picture_compare_texts(a->file, b->file);
  if (result == 0) result = compare_sizes(a->line, b->line);
  return result != 0 ? result : graph_picture_compare_texts(a->note, b->note);
}

/* An arrow leads from the observed object to the observer, and others from the other objects on which the observation depends. */
static void add_arrows(making *in) {
  const kvo_graph *graph = in->graph;
  kvo_picture *picture = in->picture;
  for (size_t i = 0; i < graph->observation_count; i++) {
    const kvo_graph_observation *of = &graph->observations[i];
    if (in->of_observer[i] == KVO_GRAPH_NONE) continue;
    picture->arrows[picture->arrow_count++] = (kvo_picture_arrow){.from = in->of_object[of->object],
                                                                  .target = in->of_observer[i],
                                                                  .label = of->key_path != NULL ? of->key_path : "",
                                                                  .file = of->file,
                                                                  .line = of->line,
                                                                  .note = of->note,
                                                                  .is_value = true};
  }
  for (size_t i = 0; i < graph->edge_count; i++) {
    const kvo_graph_edge *each = &graph->edges[i];
    if (each->observation >= graph->observation_count || each->object >= graph->object_count) continue;
    const kvo_graph_observation *of = &graph->observations[each->observation];
    if (in->of_observer[each->observation] == KVO_GRAPH_NONE || each->object == of->object) continue;
    picture->arrows[picture->arrow_count++] =
        (kvo_picture_arrow){.from = in->of_object[each->object],
                            .target = in->of_observer[each->observation],
                            .label = each->key != NULL ? each->key : "(its death)",
                            .file = of->file,
                            .line = of->line,
                            .is_value = each->is_value};
  }
  qsort(picture->arrows, picture->arrow_count, sizeof *picture->arrows, by_ends);
}

static void add_links(kvo_picture *in) {
  for (size_t i = 0; i < in->arrow_count; i++) {
    const kvo_picture_arrow *each = &in->arrows[i];
    bool is_same = i > 0 && each[-1].from == each->from && each[-1].target == each->target;
    if (!is_same) {
      kvo_picture_node *from = &in->nodes[each->from];
      if (from->link_count++ == 0) from->first_link = in->link_count;
      in->links[in->link_count++] = (kvo_picture_link){.first_arrow = i};
    }
    kvo_picture_link *link = &in->links[in->link_count - 1];
    link->arrow_count++;
    link->has_value = link->has_value || each->is_value;
  }
}

/* ------------------------------------------------------------------------------------------------------- The picture -- */

void kvo__picture_free(kvo_picture *picture) {
  if (picture->nodes != NULL) kvo__free(picture->nodes);
  if (picture->arrows != NULL) kvo__free(picture->arrows);
  if (picture->links != NULL) kvo__free(picture->links);
}

bool kvo__picture_make(const kvo_graph *graph, kvo_picture *out) {
  size_t most = graph->object_count + graph->observation_count, arrows = graph->observation_count + graph->edge_count;
  *out = (kvo_picture){.nodes = kvo__alloc((most + 1) * sizeof *out->nodes),
                       .arrows = kvo__alloc((arrows + 1) * sizeof *out->arrows),
                       .links = kvo__alloc((arrows + 1) * sizeof *out->links)};
  size_t *numbers = kvo__alloc((2 * most + 1) * sizeof *numbers);
  member *members = kvo__alloc((most + 1) * sizeof *members);
  bool has_room = out->nodes != NULL && out->arrows != NULL && out->links != NULL && numbers != NULL && members != NULL;
  if (has_room) {
    making in = {graph, out, numbers, numbers + graph->object_count, numbers + most, members, 0};
    add_nodes(&in);
    add_arrows(&in);
    add_links(out);
  }
  if (numbers != NULL) kvo__free(numbers);
  if (members != NULL) kvo__free(members);
  if (has_room && kvo__picture_find_circles(out)) return true;
  kvo__picture_free(out);
  return false;
}

/* graph_circles.c - finds the circles of a picture, by Tarjan's algorithm without recursion. */
#include "text/graph_picture.h"

/* The state of a node: when it was reached, the earliest node that it reaches, and where its walk goes on. */
typedef struct graph_circles_visit {
  /** From 1; 0: not reached yet. */
  size_t number, lowest, next_link;
  bool is_open;
  /** The node from which it was reached. */
  size_t caller;
  /** The next one on the stack of open nodes. */
  size_t below;
} graph_circles_visit;

typedef struct graph_circles_search {
  kvo_picture *in;
  graph_circles_visit *visits;
  size_t count, top;
} graph_circles_search;

static void graph_circles_enter(graph_circles_search *of, size_t node, size_t caller) {
  of->count++;
  of->visits[node] = (graph_circles_visit){of->count, of->count, of->in->nodes[node].first_link, true, caller, of->top};
  of->top = node;
}

/* Ends a set of nodes that reach each other; of one node alone no circle. `circle` marks its nodes for number_circles. */
static void close_set(graph_circles_search *of, size_t root) {
  bool is_circle = of->top != root;
  size_t node;
  do {
    node = of->top;
    of->top = of->visits[node].below;
    of->visits[node].is_open = false;
    of->in->nodes[node].circle = is_circle ? root + 1 : 0;
  } while (node != root);
}

/* Follows the next link of a node. Returns the node to go on with. */
static size_t step(graph_circles_search *of, size_t node) {
  graph_circles_visit *at = &of->visits[node];
  const kvo_picture_node *present = &of->in->nodes[node];
  if (at->next_link < present->first_link + present->link_count) {
    size_t target = of->in->arrows[of->in->links[at->next_link++].first_arrow].target;
    if (of->visits[target].number == 0) {
      graph_circles_enter(of, target, node);
      return target;
    }
    if (of->visits[target].is_open && of->visits[target].number < at->lowest) at->lowest = of->visits[target].number;
    return node;
  }
  size_t caller = at->caller;
  if (at->lowest == at->number) close_set(of, node);
  if (caller != KVO_GRAPH_NONE && at->lowest < of->visits[caller].lowest) of->visits[caller].lowest = at->lowest;
  return caller;
}

/* Numbers the circles in the order of their first nodes. `visits` is used for the numbers. */
static void number_circles(graph_circles_search *of) {
  kvo_picture *in = of->in;
  for (size_t i = 0; i < in->node_count; i++) of->visits[i].number = 0;
  for (size_t i = 0; i < in->node_count; i++) {
    if (in->nodes[i].circle == 0) continue;
    size_t *number = &of->visits[in->nodes[i].circle - 1].number;
    if (*number == 0) *number = ++in->circle_count;
    in->nodes[i].circle = *number;
  }
  for (size_t i = 0; i < in->link_count; i++) {
    const kvo_picture_arrow *arrow = &in->arrows[in->links[i].first_arrow];
    size_t circle = in->nodes[arrow->from].circle;
    in->links[i].is_in_circle = circle != 0 && circle == in->nodes[arrow->target].circle;
  }
}

bool kvo__picture_find_circles(kvo_picture *in) {
  graph_circles_search of = {
      .in = in, .visits = kvo__alloc((in->node_count + 1) * sizeof(graph_circles_visit)), .top = KVO_GRAPH_NONE};
  if (of.visits == NULL) return false;
  for (size_t i = 0; i < in->node_count; i++) {
    if (of.visits[i].number != 0) continue;
    graph_circles_enter(&of, i, KVO_GRAPH_NONE);
    for (size_t node = i; node != KVO_GRAPH_NONE;) node = step(&of, node);
  }
  number_circles(&of);
  kvo__free(of.visits);
  return true;
}

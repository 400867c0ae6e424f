/* snapshot.c - the graph of all observations at one moment: copied while other threads are stopped, sorted afterwards. */
#include "lifetimes/lifetimes.h"

#include <stdlib.h>

/* ----------------------------------------------------------------------------------------------------------- Copying -- */

/* A copied observation with its sort keys. Objects are identified by their addresses, as a binding knows them. */
typedef struct raw_observation {
  kvo_graph_observation made;
  const void *object;
  uint64_t order;
} raw_observation;

typedef struct raw_edge {
  kvo_graph_edge made;
  const void *object;
  kvo_observation of;
  uint64_t order;
} raw_edge;

/* An object that an observation or an edge refers to, or an observer. */
typedef struct raw_object {
  kvo_graph_object made;
  /** It is not known to be observed: the class is what the registration says, and "" if that says nothing. */
  bool is_observer;
  /** The order of the first reference to it. */
  uint64_t order;
  size_t index;
} raw_object;

/* The copy. A first pass counts, a second one fills. */
typedef struct copy {
  raw_observation *observations;
  size_t observation_count;
  raw_edge *edges;
  size_t edge_count;
  raw_object *objects;
  size_t object_count;
  char *strings;
  size_t string_size;
  bool is_filling;
} copy;

static const char *copy_string(copy *into, const char *string) {
  if (string == NULL) return NULL;
  size_t size = strlen(string) + 1;
  char *to = into->is_filling ? memcpy(into->strings + into->string_size, string, size) : NULL;
  into->string_size += size;
  return to;
}

static void add_object(copy *into, raw_object raw) {
  if (into->is_filling) into->objects[into->object_count] = raw;
  into->object_count++;
}

static const void *copy_object(copy *into, const kvo_info *info, uint64_t order) {
  raw_object raw = {.order = order};
  raw.made.object = (const char *)info->object - info->cls->header_offset;
  raw.made.class_name = info->cls->display_name;
  add_object(into, raw);
  return raw.made.object;
}

static void copy_observer(copy *into, const void *observer, const char *class_name, uint64_t order) {
  if (observer == NULL) return;
  raw_object raw = {.is_observer = true, .order = order};
  raw.made.object = observer;
  raw.made.class_name = class_name != NULL ? class_name : "";
  add_object(into, raw);
}

static void copy_edge(copy *into, const kvo_dependency *dependency, kvo_observation of) {
  kvo_slot *slot = atomic_load(&dependency->node.slot);
  const kvo_info *info = kvo__slot_info(slot);
  uint64_t order = atomic_load(&dependency->node.birth);
  const void *object = copy_object(into, info, order);
  const char *key = slot->key != KVO_KEY_LIFETIME ? copy_string(into, kvo__slot_name(info, slot)) : NULL;
  if (into->is_filling) {
    raw_edge raw = {.object = object, .of = of, .order = order};
    raw.made.key = key;
    raw.made.is_value = kvo__node_kind(&dependency->node) == KVO_NODE_LEAF;
    into->edges[into->edge_count] = raw;
  }
  into->edge_count++;
}

static void copy_node(kvo_node *node, void *arg) {
  copy *into = arg;
  kvo_fault_observation described;
  kvo__describe_node(node, &described);
  const kvo_info *info = kvo__slot_info(atomic_load(&node->slot));
  bool is_expression = kvo__node_kind(node) == KVO_NODE_ANCHOR;
  uint64_t order = kvo__node_order(node);
  const void *object = copy_object(into, info, order);
  const char *key_path = copy_string(into, described.key_path);
  const char *observer_class = copy_string(into, described.observer_class);
  const char *note = copy_string(into, described.note);
  copy_observer(into, described.observer, observer_class, order);
  if (into->is_filling) {
    raw_observation raw = {.object = object, .order = order};
    kvo_graph_observation made = {.observation = node->id,
                                  .kind = is_expression ? KVO_GRAPH_EXPRESSION : KVO_GRAPH_DIRECT,
                                  .key_path = key_path,
                                  .options = described.options,
                                  .observer_class = observer_class,
                                  .observer = described.observer,
                                  .context = described.context,
                                  .note = note,
                                  .file = described.file,
                                  .line = described.line};
    raw.made = made;
    into->observations[into->observation_count] = raw;
  }
  into->observation_count++;
  if (!is_expression) return;
  const kvo_tracked *tracked = node->user_data;
  for (const kvo_dependency *each = tracked->dependencies; each != NULL; each = each->to)
    copy_edge(into, each, node->id);
}

/* Allocates one block for everything; it is freed with the observations. The world must be stopped. */
static bool snapshot_make_room(copy *of) {
  size_t observations = of->observation_count * sizeof *of->observations, edges = of->edge_count * sizeof *of->edges,
         objects = of->object_count * sizeof *of->objects;
  char *block = kvo__alloc(observations + edges + objects + of->string_size + 1);
  if (block == NULL) return false;
  copy empty = {.observations = (raw_observation *)(void *)block,
                .edges = (raw_edge *)(void *)(block + observations),
                .objects = (raw_object *)(void *)(block + observations + edges),
                .strings = block + observations + edges + objects,
                .is_filling = true};
  *of = empty;
  return true;
}

static bool copy_world(copy *into) {
  kvo__world_stop();
  kvo__ids_visit(KVO_NODE_ANCHOR, copy_node, into);
  bool has_room = snapshot_make_room(into);
  if (has_room) kvo__ids_visit(KVO_NODE_ANCHOR, copy_node, into);
  kvo__world_resume();
  return has_room;
}

/* ----------------------------------------------------------------------------------------------------------- Ordering -- */

static int snapshot_compare(uint64_t a, uint64_t b) { return (a > b) - (a < b); }

/* Observers that are not known to be observed come last, and of the same order. */
static int by_role(const raw_object *a, const raw_object *b) {
  int result = (int)a->is_observer - (int)b->is_observer;
  return result != 0 ? result : snapshot_compare(a->order, b->order);
}

/* Of several with one address the first names its class, if one does. */
static int snapshot_by_address(const void *left, const void *right) {
  const raw_object *a = left, *b = right;
  int result = snapshot_compare((uintptr_t)a->made.object, (uintptr_t)b->made.object);
  if (result == 0) result = (a->made.class_name[0] == '\0') - (b->made.class_name[0] == '\0');
  return result != 0 ? result : by_role(a, b);
}

static int snapshot_by_place(const void *left, const void *right) {
  return by_role(*(raw_object *const *)left, *(raw_object *const *)right);
}

static int by_object(const void *left, const void *right) {
  const raw_observation *a = left, *b = right;
  int result = snapshot_compare(a->made.object, b->made.object);
  return result != 0 ? result : snapshot_compare(a->order, b->order);
}

static int by_observation(const void *left, const void *right) {
  const raw_edge *a = left, *b = right;
  int result = snapshot_compare(a->of, b->of);
  return result != 0 ? result : snapshot_compare(a->order, b->order);
}

static int by_text(const void *left, const void *right) {
  return strcmp(*(const char *const *)left, *(const char *const *)right);
}

static size_t index_of(const copy *in, const void *object) {
  size_t low = 0, high = in->object_count;
  while (low + 1 < high) {
    size_t middle = low + (high - low) / 2;
    if ((uintptr_t)in->objects[middle].made.object <= (uintptr_t)object)
      low = middle;
    else
      high = middle;
  }
  return in->objects[low].index;
}

/* Removes duplicates of objects, sorted by address, and numbers them in the order in which they were first referred to. */
static bool number_objects(copy *in) {
  qsort(in->objects, in->object_count, sizeof *in->objects, snapshot_by_address);
  size_t count = 0;
  for (size_t i = 0; i < in->object_count; i++) {
    raw_object *next = &in->objects[i], *last = count > 0 ? &in->objects[count - 1] : NULL;
    if (last == NULL || last->made.object != next->made.object) {
      in->objects[count++] = *next;
    } else if (by_role(next, last) < 0) {
      last->is_observer = next->is_observer;
      last->order = next->order;
    }
  }
  in->object_count = count;
  if (count == 0) return true;
  raw_object **sorted = kvo__alloc(count * sizeof *sorted);
  if (sorted == NULL) return false;
  for (size_t i = 0; i < count; i++) sorted[i] = &in->objects[i];
  qsort(sorted, count, sizeof *sorted, snapshot_by_place);
  for (size_t i = 0; i < count; i++) sorted[i]->index = i;
  kvo__free(sorted);
  return true;
}

/* ------------------------------------------------------------------------------------------------------- The result -- */

/* The graph, followed by its arrays, and the block that holds its strings. */
typedef struct owned_graph {
  kvo_graph graph;
  void *copied;
} owned_graph;

static void fill_edges(const copy *from, kvo_graph_observation *observations, kvo_graph_edge *edges,
                       kvo_graph_object *objects) {
  size_t next = 0;
  for (size_t i = 0; i < from->observation_count; i++) {
    kvo_graph_observation *of = &observations[i];
    of->first_edge = next;
    /* The raw edges are sorted by id. */
    size_t low = 0, high = from->edge_count;
    while (low < high) {
      size_t middle = low + (high - low) / 2;
      if (from->edges[middle].of < of->observation)
        low = middle + 1;
      else
        high = middle;
    }
    for (; low < from->edge_count && from->edges[low].of == of->observation; low++) {
      kvo_graph_edge *edge = &edges[next++];
      *edge = from->edges[low].made;
      edge->observation = i;
      edge->object = index_of(from, from->edges[low].object);
      objects[edge->object].edge_count++;
    }
    of->edge_count = next - of->first_edge;
  }
}

static void fill_key_paths(kvo_graph_object *of, const kvo_graph_observation *observations, const char **key_paths) {
  size_t count = of->observation_count, kept = 0;
  for (size_t i = 0; i < count; i++) key_paths[i] = observations[of->first_observation + i].key_path;
  if (count > 1) qsort(key_paths, count, sizeof *key_paths, by_text);
  for (size_t i = 0; i < count; i++)
    if (kept == 0 || strcmp(key_paths[kept - 1], key_paths[i]) != 0) key_paths[kept++] = key_paths[i];
  of->key_paths = key_paths;
  of->key_path_count = kept;
}

static kvo_graph *make_graph(copy *from) {
  if (!number_objects(from)) return NULL;
  for (size_t i = 0; i < from->observation_count; i++) {
    kvo_graph_observation *made = &from->observations[i].made;
    made->object = index_of(from, from->observations[i].object);
    made->observer_object = made->observer != NULL ? index_of(from, made->observer) : KVO_GRAPH_NONE;
  }
  qsort(from->observations, from->observation_count, sizeof *from->observations, by_object);
  qsort(from->edges, from->edge_count, sizeof *from->edges, by_observation);

  size_t objects_size = from->object_count * sizeof(kvo_graph_object),
         observations_size = from->observation_count * sizeof(kvo_graph_observation),
         edges_size = from->edge_count * sizeof(kvo_graph_edge),
         key_paths_size = from->observation_count * sizeof(char *);
  char *block = kvo__alloc(sizeof(owned_graph) + objects_size + observations_size + edges_size + key_paths_size);
  if (block == NULL) return NULL;
  char *at = block + sizeof(owned_graph);
  kvo_graph_object *objects = (kvo_graph_object *)(void *)at;
  kvo_graph_observation *observations = (kvo_graph_observation *)(void *)(at += objects_size);
  kvo_graph_edge *edges = (kvo_graph_edge *)(void *)(at += observations_size);
  const char **key_paths = (const char **)(void *)(at += edges_size);

  for (size_t i = 0; i < from->object_count; i++) objects[from->objects[i].index] = from->objects[i].made;
  for (size_t i = 0; i < from->observation_count; i++) {
    observations[i] = from->observations[i].made;
    kvo_graph_object *object = &objects[observations[i].object];
    if (object->observation_count++ == 0) object->first_observation = i;
  }
  fill_edges(from, observations, edges, objects);
  for (size_t i = 0; i < from->object_count; i++)
    fill_key_paths(&objects[i], observations, key_paths + objects[i].first_observation);

  owned_graph *owned = (owned_graph *)(void *)block;
  owned_graph filled = {{objects, from->object_count, observations, from->observation_count, edges, from->edge_count},
                        from->observations};
  *owned = filled;
  return &owned->graph;
}

kvo_status kvo_snapshot(kvo_graph **out) {
  if (out == NULL) return kvo__fail(KVO_ERROR_INVALID_ARGUMENT, "kvo_snapshot: out is NULL");
  copy all = {.is_filling = false};
  if (!copy_world(&all)) return kvo__fail(KVO_ERROR_OUT_OF_MEMORY, "kvo_snapshot: out of memory");
  *out = make_graph(&all);
  if (*out != NULL) return KVO_OK;
  kvo__free(all.observations);
  return kvo__fail(KVO_ERROR_OUT_OF_MEMORY, "kvo_snapshot: out of memory");
}

void kvo_graph_free(kvo_graph *graph) {
  if (graph == NULL) return;
  owned_graph *owned = (owned_graph *)(void *)graph;
  kvo__free(owned->copied);
  kvo__free(owned);
}

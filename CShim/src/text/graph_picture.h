/* text/graph_picture.h - what the pictures of a graph show: a node for each object and observer, an arrow for each pair of them.
 *
 * Start with kvo__picture_make in graph_picture.c; graph_languages.c writes a picture as DOT or Mermaid. */
#ifndef KVO_TEXT_GRAPH_PICTURE_H
#define KVO_TEXT_GRAPH_PICTURE_H

#include "text/sink.h"

/** With more nodes than this a picture has one node per class. */
enum { KVO_PICTURE_NODES = 200 };

typedef enum kvo_picture_kind {
  KVO_PICTURE_OBJECT,
  /** The objects of a class, in a picture that is grouped. */
  KVO_PICTURE_CLASS,
  /** The observers without an address that were registered at one source line: closures. */
  KVO_PICTURE_PLACE,
} kvo_picture_kind;

typedef struct kvo_picture_node {
  kvo_picture_kind kind;
  /** The class of the object, or of the observers at a place; may be NULL or "". */
  const char *class_name;
  /** Of KVO_PICTURE_OBJECT. */
  const void *object;
  /** Of KVO_PICTURE_PLACE; the file is NULL if it is not known. */
  const char *file;
  uint32_t line;
  /** How many objects or observations it stands for. */
  size_t count;
  /** The number of the circle that it is in, from 1 in the order of the nodes; or 0. */
  size_t circle;
  /** The links from it, a range of kvo_picture.links. */
  size_t first_link, link_count;
} kvo_picture_node;

/** What leads from one node to another because of one observation: a key path, or a key on which an expression depends. */
typedef struct kvo_picture_arrow {
  size_t from, target;
  const char *label;
  const char *file;
  uint32_t line;
  const char *note;
  /** Its changes are changes of the observed value; otherwise they cause an evaluation. */
  bool is_value;
} kvo_picture_arrow;

/** All arrows from one node to another. */
typedef struct kvo_picture_link {
  /** A range of kvo_picture.arrows, sorted by label. */
  size_t first_arrow, arrow_count;
  bool has_value;
  /** Both ends are in the same circle. */
  bool is_in_circle;
} kvo_picture_link;

typedef struct kvo_picture {
  kvo_picture_node *nodes;
  size_t node_count;
  kvo_picture_arrow *arrows;
  size_t arrow_count;
  kvo_picture_link *links;
  size_t link_count;
  size_t object_count, circle_count;
  /** There is one node per class. */
  bool is_grouped;
} kvo_picture;

/** Makes the picture of a graph, which has to exist as long as the picture. Takes n log n. False without memory; otherwise
 * kvo__picture_free frees it. */
KVO_HIDDEN bool kvo__picture_make(const kvo_graph *graph, kvo_picture *out);
KVO_HIDDEN void kvo__picture_free(kvo_picture *picture);

/** Numbers the circles of a picture: sets of nodes in which each is reached from each. False without memory. */
KVO_HIDDEN bool kvo__picture_find_circles(kvo_picture *in);

KVO_HIDDEN void kvo__put_dot(kvo_sink *to, const kvo_picture *picture);
KVO_HIDDEN void kvo__put_mermaid(kvo_sink *to, const kvo_picture *picture);

#endif /* KVO_TEXT_GRAPH_PICTURE_H */

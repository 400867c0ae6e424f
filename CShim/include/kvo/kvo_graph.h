/* kvo_graph.h - tools to inspect a running program: a graph of all observations at one moment, and a trace of changes and deliveries
 * over time. Part of kvo.h. */
#ifndef KVO_GRAPH_H
#define KVO_GRAPH_H

#include <kvo/kvo.h>

#ifdef __cplusplus
extern "C" {
#endif

KVO_ASSUME_NONNULL_BEGIN

/* ------------------------------------------------------------------------------------------------------------ Graph -- */

/** An object that is observed, or that an observation of another object depends on; or an observer. */
typedef struct kvo_graph_object {
  /** The address as a binding knows it. For comparison only: the object may be dead. */
  const void *object;
  /** Of an observer that is not observed itself: as it was registered, "" if that named none. */
  const char *class_name;
  /** Its observations: a range of kvo_graph.observations. */
  size_t first_observation;
  size_t observation_count;
  /** The key paths of these, without duplicates, sorted by bytes. */
  const char *KVO_NONNULL const *KVO_NONNULL key_paths;
  size_t key_path_count;
  /** How many edges refer to it. */
  size_t edge_count;
} kvo_graph_object;

/** How an observation is notified. */
typedef enum kvo_graph_kind {
  /** By the setter of its key. */
  KVO_GRAPH_DIRECT = 1,
  /** By changes of the keys that its key path or expression has read: its edges. */
  KVO_GRAPH_EXPRESSION = 2,
} kvo_graph_kind;

/** No index. */
#define KVO_GRAPH_NONE SIZE_MAX

/** An observation. */
typedef struct kvo_graph_observation {
  /** The id. */
  kvo_observation observation;
  /** How it is notified. */
  kvo_graph_kind kind;
  /** The index of the object with which it was registered. */
  size_t object;
  /** The key path, as registered. */
  const char *key_path;
  /** The options, as registered. */
  kvo_options options;
  /** The class name of the observer; NULL if unknown. */
  const char *KVO_NULLABLE observer_class;
  /** The observer's address; NULL if unknown. */
  const void *KVO_NULLABLE observer;
  /** The index of the observer among the objects; KVO_GRAPH_NONE if `observer` is NULL. Observations with the same observer have the same
   * one, and an observer that is observed itself is that object. */
  size_t observer_object;
  /** The context, as registered. */
  void *KVO_NULLABLE context;
  /** What the registration said about itself, such as the queue that delivers; NULL if nothing. */
  const char *KVO_NULLABLE note;
  /** Where it was registered, terminated by NUL, or NULL. Not copied. */
  const char *KVO_NULLABLE file;
  uint32_t line;
  /** For an expression: its edges, a range of kvo_graph.edges. */
  size_t first_edge;
  size_t edge_count;
} kvo_graph_observation;

/** A key on which an expression depends. */
typedef struct kvo_graph_edge {
  /** The index of the observation. */
  size_t observation;
  /** The index of the object that has the key. */
  size_t object;
  /** NULL: the observation is notified of the object's death only. */
  const char *KVO_NULLABLE key;
  /** The value of the expression is the value of this key. */
  bool is_value;
} kvo_graph_edge;

/** All observations at one moment. Objects are sorted by when they were first referred to, and observers that are not observed themselves
 * follow, sorted by registration; the observations of an object are sorted by registration, the edges of an observation by when they were
 * first read. */
typedef struct kvo_graph {
  /** The objects. */
  const kvo_graph_object *objects;
  size_t object_count;
  /** The observations, sorted by their objects. */
  const kvo_graph_observation *observations;
  size_t observation_count;
  /** The edges, sorted by their observations. */
  const kvo_graph_edge *edges;
  size_t edge_count;
} kvo_graph;

/** Copies all observations of the process into a graph and stores it in `*out`, which must not be NULL.
 *
 * The caller owns the graph with everything that it points to, and frees it with kvo_graph_free. During the copy other threads wait when
 * they register or remove observations; setters go on. Any thread, also in a callback. Fails with INVALID_ARGUMENT, OUT_OF_MEMORY, or
 * NO_DIAGNOSTICS in a library built with -DKVO_DIAGNOSTICS=OFF. Our decision. */
KVO_API kvo_status kvo_snapshot(kvo_graph *KVO_NULLABLE *KVO_NONNULL out);

/** Frees a graph. NULL is ignored. */
KVO_API void kvo_graph_free(kvo_graph *KVO_NULLABLE graph);

/** The text forms of a graph. */
typedef enum kvo_graph_form {
  /** One line of JSON, whose member "schema" is 1. Addresses and ids are strings. */
  KVO_GRAPH_JSON = 0,
  /** The DOT language of Graphviz, for `dot -Tsvg`: a picture. */
  KVO_GRAPH_DOT = 1,
  /** A Mermaid flowchart, as Markdown documents show it: the same picture. */
  KVO_GRAPH_MERMAID = 2,
} kvo_graph_form;

/** Writes a graph as text into `buffer` of `size` bytes, terminated by NUL, and cut if it does not fit. Returns the length of the whole
 * text without the NUL. The program may have made the graph; names in it may be NULL. An unknown form, and NULL for the graph, write an
 * empty text; NULL for the buffer only measures.
 *
 * JSON is complete, except that of a string longer than 1000 bytes it has the beginning and the end. A picture has one node for each object
 * and each observer; observers without an address are one node per source line that registered them. One arrow leads from an object to an
 * observer, with the key paths, their numbers, the source lines and the notes of all observations between these two; it shows a few of each
 * and says that there are others. Further arrows lead to the observer from the objects on which a key path depends, dashed if their change
 * is not one of the observed value. Nodes that reach each other are a circle: it is red, and its nodes have its number. With more than 200
 * nodes a picture has one node per class, with the number of its objects, and says so. A picture takes memory from the allocator meanwhile;
 * without it the text is empty. */
KVO_API size_t kvo_graph_format(const kvo_graph *graph, kvo_graph_form form, char *KVO_NULLABLE buffer, size_t size);

/* ------------------------------------------------------------------------------------------------------------ Trace -- */

/** Begins to record changes and deliveries as a Chrome trace, which https://ui.perfetto.dev opens. Creates or truncates the file.
 *
 * Each thread has nested slices: a change ("set Host.load"), within it the observers that it notifies, with the class of each if it is
 * known ("observer Watch.swift:41 (load) Chart"), and within these the changes that they make. Instants mark where observations begin and
 * end, where observed objects die, and faults that are reported, with their first lines. The arguments of a slice are object and key;
 * observation, observer, observerAddress and note, as kvo_graph_observation has them, cut if they are long; file and line of the
 * registration; and with KVO_VALUES=1 the new value. A change that a scope coalesces has two slices: the first, whose end has the argument
 * paused, where it is made, and the second, with resumed, where its observers are notified. The outermost change of a thread has calls: up
 * to three calls of the program, innermost first, that made it, as in a report; metadata named kvo_module say where their files are.
 * Threads have the names that they have at their last outermost change. The file is valid JSON at any time; if the process is killed, the
 * last events are missing, but not if it exits or a fault ends it. The child of a fork is not recorded. `kvo view` makes a page of a trace
 * and a graph.
 *
 * Any thread. Fails with BUSY if a trace is being recorded, FILE if `path` cannot be written or is not a regular file, INVALID_ARGUMENT for
 * NULL, and NO_DIAGNOSTICS as kvo_snapshot does. Our decision. */
KVO_API kvo_status kvo_trace_begin(const char *path);

/** Ends the recording; without one does nothing. Slices in progress end here. Returns FILE if part of the file could not be written; the
 * file is then valid up to that point. Any thread. Our decision. */
KVO_API kvo_status kvo_trace_end(void);

KVO_ASSUME_NONNULL_END

#ifdef __cplusplus
}
#endif

#endif /* KVO_GRAPH_H */

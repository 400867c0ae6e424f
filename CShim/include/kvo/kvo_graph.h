/* kvo_graph.h - pictures of a running program: who observes what at one moment, and who told whom in the course of time. Part of
 * kvo.h.
 */
#ifndef KVO_GRAPH_H
#define KVO_GRAPH_H

#include <kvo/kvo.h>

#ifdef __cplusplus
extern "C" {
#endif

KVO_ASSUME_NONNULL_BEGIN

/* ------------------------------------------------------------------------------------------------------------ Graph -- */

/** An object that is observed, or on which an observation of another object depends. */
typedef struct kvo_graph_object {
  /** As a binding knows it; for comparison: it need not live any more. */
  const void *object;
  const char *class_name;
  /** Its observations: where they begin in kvo_graph.observations, in which they stand in a row, and how many they are. */
  size_t first_observation, observation_count;
  /** Their key paths, each once, in alphabetical order. */
  const char *KVO_NONNULL const *KVO_NONNULL key_paths;
  size_t key_path_count;
  /** How many edges come from it. */
  size_t edge_count;
} kvo_graph_object;

/** How an observation learns of changes. */
typedef enum kvo_graph_kind {
  /** From the setter of its one key. */
  KVO_GRAPH_DIRECT = 1,
  /** From whatever its key path, or its expression, read last: its edges. */
  KVO_GRAPH_EXPRESSION = 2,
} kvo_graph_kind;

/** No index. */
#define KVO_GRAPH_NONE SIZE_MAX

/** An observation. */
typedef struct kvo_graph_observation {
  kvo_observation observation;
  kvo_graph_kind kind;
  /** The index of the object that it was registered with. */
  size_t object;
  const char *key_path;
  kvo_options options;
  /** Class name of the observer, or NULL when only its address is known, or neither. */
  const char *KVO_NULLABLE observer_class;
  const void *KVO_NULLABLE observer;
  /** Of the observer, if it is itself an object of this graph; else KVO_GRAPH_NONE. */
  size_t observer_object;
  void *KVO_NULLABLE context;
  /** Where it was made, ended with NUL, or NULL; not copied. */
  const char *KVO_NULLABLE file;
  uint32_t line;
  /** Of an expression: where its edges begin in kvo_graph.edges, and how many they are. */
  size_t first_edge, edge_count;
} kvo_graph_observation;

/** A key whose change an expression is told of. */
typedef struct kvo_graph_edge {
  /** Indexes of the observation and of the object that has the key. */
  size_t observation, object;
  /** NULL: the observation is told of the object's death only. */
  const char *KVO_NULLABLE key;
  /** The value of the observation is just that of this key. */
  bool is_value;
} kvo_graph_edge;

/** All that was observed at one moment. Objects are in the order of their first observation, those of each object in the order of
 * registration, and edges in the order in which they were read. */
typedef struct kvo_graph {
  const kvo_graph_object *objects;
  size_t object_count;
  const kvo_graph_observation *observations;
  size_t observation_count;
  const kvo_graph_edge *edges;
  size_t edge_count;
} kvo_graph;

/** Takes a picture of all observations of the process and stores it in `*out`, which must not be NULL.
 *
 * The caller owns the graph, with all that it points to, and frees it with kvo_graph_free. While it is taken, other threads wait
 * where they register, remove or begin to end observations; sets go on. May be called from any thread, also within a callback.
 * Fails with OUT_OF_MEMORY or INVALID_ARGUMENT, and with NO_DIAGNOSTICS in a library built with
 * -DKVO_DIAGNOSTICS=OFF. Our decision: Apple has only the debugger's. */
KVO_API kvo_status kvo_snapshot(kvo_graph *KVO_NULLABLE *KVO_NONNULL out);

/** Frees a graph. NULL is harmless. */
KVO_API void kvo_graph_free(kvo_graph *KVO_NULLABLE graph);

/** The forms of a graph as text. */
typedef enum kvo_graph_form {
  /** One line of JSON; its member "schema" is 1. Addresses and ids are strings. */
  KVO_GRAPH_JSON = 0,
  /** For Graphviz: `dot -Tsvg`. */
  KVO_GRAPH_DOT = 1,
  /** A flowchart of Mermaid, as documentation in Markdown shows it. */
  KVO_GRAPH_MERMAID = 2,
} kvo_graph_form;

/** Writes a graph as text into `buffer`, of `size` bytes, ended by NUL and cut short if it does not fit. Returns the length of the
 * whole without the NUL. The graph may be one of the program's own, whose names may be NULL. An
 * unknown form, and NULL for the graph, give an empty text; NULL for the buffer only measures. */
KVO_API size_t kvo_graph_format(const kvo_graph *graph, kvo_graph_form form, char *KVO_NULLABLE buffer, size_t size);

/* ------------------------------------------------------------------------------------------------------------ Trace -- */

/** Begins to record what happens into a file, which is made, or made empty: a Chrome trace, which https://ui.perfetto.dev opens.
 *
 * Each thread has nested slices: a change ("set Host.load"), within it the observers that are told ("observer Watch.swift:41
 * (load)"), within them what they change in turn; and marks where observations begin and end and where observed objects die.
 * Arguments of the slices tell object, observation, file and line, and with KVO_VALUES=1 the new value. The file is valid JSON
 * however the process ends; if it is killed the last moments are missing, not if it exits or a fault ends it.
 * The child of a fork is not recorded. Fails with BUSY if a trace is being recorded, FILE if `path` cannot be written or is no
 * regular file, INVALID_ARGUMENT if it is NULL, NO_DIAGNOSTICS as kvo_snapshot does. Our decision. */
KVO_API kvo_status kvo_trace_begin(const char *path);

/** Ends the recording; without one it does nothing. Slices that are not over end here. Returns FILE if not all could be written: the
 * file then has the beginning. */
KVO_API kvo_status kvo_trace_end(void);

KVO_ASSUME_NONNULL_END

#ifdef __cplusplus
}
#endif

#endif /* KVO_GRAPH_H */

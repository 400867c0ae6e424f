/* serving/figures.h - how much is observed, and how much happens: figures.c. */
#ifndef KVO_FIGURES_H
#define KVO_FIGURES_H

#include "serving/output.h"

/** A key path of a class, as far as it is observed. The strings are those of the graph. */
typedef struct kvo_observed_key {
  const char *class_name, *key_path;
  size_t objects, observations;
} kvo_observed_key;

typedef struct kvo_figures {
  kvo_graph *graph;
  size_t objects;
  kvo_observed_key *keys;
  size_t key_count;
  int64_t time;
  /** Scratch of kvo__put_figures. */
  bool of_changes, is_first;
  kvo_sink *to;
} kvo_figures;

/** False without memory; free them all the same. */
KVO_HIDDEN bool kvo__figures_take(kvo_figures *out);
/** Puts a line of JSON; `figures` is a kvo_figures. */
KVO_HIDDEN void kvo__put_figures(kvo_sink *to, void *figures);
KVO_HIDDEN void kvo__figures_free(kvo_figures *of);

#endif /* KVO_FIGURES_H */

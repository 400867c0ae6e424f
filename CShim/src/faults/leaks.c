/* leaks.c - KVO_REPORT=leaks: reports at the end of the process what is still observed, and where it was registered. */
#include "faults/reporting.h"

static void leaks_fill(kvo_fault_observation *all, const kvo_graph *graph) {
  for (size_t i = 0; i < graph->observation_count; i++) {
    const kvo_graph_observation *from = &graph->observations[i];
    kvo_fault_observation filled = {.observation = from->observation,
                                    .key_path = from->key_path,
                                    .options = from->options,
                                    .observer_class = from->observer_class,
                                    .observer = from->observer,
                                    .context = from->context,
                                    .note = from->note,
                                    .file = from->file,
                                    .file_length = from->file != NULL ? strlen(from->file) : 0,
                                    .line = from->line,
                                    .object = graph->objects[from->object].object,
                                    .object_class = graph->objects[from->object].class_name};
    all[i] = filled;
  }
}

void kvo__report_leaks(void) {
  kvo_graph *graph = NULL;
  if (kvo_snapshot(&graph) != KVO_OK) return;
  kvo_fault_observation *all = graph->observation_count > 0 ? kvo__alloc(graph->observation_count * sizeof *all) : NULL;
  if (all != NULL) {
    leaks_fill(all, graph);
    size_t lines, places = kvo__group(all, graph->observation_count, &lines);
    kvo__fault_never_ended(all, places, lines, graph->observation_count);
    kvo__free(all);
  }
  kvo_graph_free(graph);
}

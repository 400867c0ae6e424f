/* leaks.c - KVO_REPORT=leaks: reports at the end of the process what is still observed, and where it was registered. */
#include "expressions/deliver.h"
#include "faults/reporting.h"
#include "platform/settings.h"
#include "registry/registry.h"

typedef struct leak {
  kvo_fault_observation *of;
  void **frames;
} leak;

/* A graph has neither callbacks nor stacks. */
static void leaks_add_stack(kvo_node *node, void *arg) {
  const leak *to = arg;
  kvo_fault_observation described;
  kvo__describe_node(node, &described);
  to->of->callback = described.callback;
  to->of->frame_count = described.frame_count;
  to->of->frames = to->frames;
  if (described.frame_count > 0) memcpy(to->frames, described.frames, described.frame_count * sizeof *to->frames);
}

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
  size_t count = graph->observation_count, stacks = kvo__settings.stacks;
  kvo_fault_observation *all = count > 0 ? kvo__alloc(count * (sizeof *all + stacks * sizeof(void *))) : NULL;
  if (all != NULL) {
    leaks_fill(all, graph);
    void **frames = (void **)(all + count);
    for (size_t i = 0; i < count; i++)
      (void)kvo__id_look_up(all[i].observation, leaks_add_stack, &(leak){&all[i], frames + i * stacks});
    size_t lines, places = kvo__group(all, count, &lines);
    kvo__fault_never_ended(all, places, lines, count);
    kvo__free(all);
  }
  kvo_graph_free(graph);
}

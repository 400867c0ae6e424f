/* leaks.c - KVO_REPORT=leaks: tells at the end of the process what is still observed, and where that was registered. */
#include "report.h"

#include <stdlib.h>

static int compare(uint64_t a, uint64_t b) { return (a > b) - (a < b); }

static int compare_texts(const char *a, const char *b) {
  return a == NULL || b == NULL ? (a != NULL) - (b != NULL) : strcmp(a, b);
}

/* What was made at the same place, of objects of the same class, stands together, the oldest first. */
static int by_place(const void *left, const void *right) {
  const kvo_fault_observation *a = left, *b = right;
  int result = compare_texts(a->file, b->file);
  if (result == 0) result = compare(a->line, b->line);
  if (result == 0) result = compare_texts(a->object_class, b->object_class);
  return result != 0 ? result : strcmp(a->key_path, b->key_path);
}

static int by_age(const void *left, const void *right) {
  const kvo_fault_observation *a = left, *b = right;
  int result = by_place(left, right);
  return result != 0 ? result : compare(a->alike, b->alike);
}

static int by_number(const void *left, const void *right) {
  const kvo_fault_observation *a = left, *b = right;
  int result = compare(b->alike, a->alike);
  return result != 0 ? result : by_place(left, right);
}

/* Puts one of each place first, with how many are alike, and returns how many places there are. */
static size_t gather(kvo_fault_observation *all, size_t count) {
  size_t places = 0;
  for (size_t i = 0; i < count; i++) all[i].alike = i; /* they come in a sensible order: by object, and by age */
  qsort(all, count, sizeof *all, by_age);
  for (size_t i = 0, next; i < count; i = next) {
    next = i + 1;
    while (next < count && by_place(&all[i], &all[next]) == 0) next++;
    all[places] = all[i];
    all[places++].alike = next - i - 1;
  }
  qsort(all, places, sizeof *all, by_number);
  return places;
}

static void fill(kvo_fault_observation *all, const kvo_graph *graph) {
  for (size_t i = 0; i < graph->observation_count; i++) {
    const kvo_graph_observation *from = &graph->observations[i];
    kvo_fault_observation filled = {.observation = from->observation,
                                    .key_path = from->key_path,
                                    .options = from->options,
                                    .observer_class = from->observer_class,
                                    .observer = from->observer,
                                    .context = from->context,
                                    .file = from->file,
                                    .file_length = from->file != NULL ? strlen(from->file) : 0,
                                    .line = from->line,
                                    .object = graph->objects[from->object].object,
                                    .object_class = graph->objects[from->object].class_name};
    all[i] = filled;
  }
}

void kvo__tell_leaks(void) {
  kvo_graph *graph = NULL;
  if (kvo_snapshot(&graph) != KVO_OK) return;
  kvo_fault_observation *all = graph->observation_count > 0 ? kvo__alloc(graph->observation_count * sizeof *all) : NULL;
  if (all != NULL) {
    fill(all, graph);
    kvo__fault_never_ended(all, gather(all, graph->observation_count), graph->observation_count);
    kvo__free(all);
  }
  kvo_graph_free(graph);
}

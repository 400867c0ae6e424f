/* figures.c - counts what is observed, by class and key path, and writes it with the counts of what happens. */
#include "serving/figures.h"

#include "faults/faults.h"
#include "text/report.h"
#include "watching/traffic.h"

#include <stdlib.h>

typedef struct entry {
  const char *class_name, *key_path;
  size_t object;
} entry;

static int by_key(const void *left, const void *right) {
  const entry *a = left, *b = right;
  int result = strcmp(a->class_name, b->class_name);
  if (result == 0) result = strcmp(a->key_path, b->key_path);
  return result != 0 ? result : (a->object > b->object) - (a->object < b->object);
}

static bool is_same_key(const entry *a, const entry *b) {
  return strcmp(a->class_name, b->class_name) == 0 && strcmp(a->key_path, b->key_path) == 0;
}

bool kvo__figures_take(kvo_figures *out) {
  *out = (kvo_figures){.time = kvo__now()};
  if (kvo_snapshot(&out->graph) != KVO_OK) return false;
  const kvo_graph *graph = out->graph;
  size_t count = graph->observation_count;
  for (size_t i = 0; i < graph->object_count; i++) out->objects += graph->objects[i].observation_count > 0;
  if (count == 0) return true;
  /* From the C library, because the program may count what its allocator handed out. */
  entry *entries = calloc(count, sizeof *entries);
  out->keys = calloc(count, sizeof *out->keys);
  if (entries == NULL || out->keys == NULL) {
    free(entries);
    return false;
  }
  for (size_t i = 0; i < count; i++) {
    const kvo_graph_observation *each = &graph->observations[i];
    entries[i] = (entry){graph->objects[each->object].class_name, each->key_path, each->object};
  }
  qsort(entries, count, sizeof *entries, by_key);
  for (size_t i = 0; i < count; i++) {
    bool is_same = i > 0 && is_same_key(&entries[i - 1], &entries[i]);
    if (!is_same) out->keys[out->key_count++] = (kvo_observed_key){entries[i].class_name, entries[i].key_path, 0, 0};
    kvo_observed_key *key = &out->keys[out->key_count - 1];
    key->observations++;
    key->objects += !is_same || entries[i - 1].object != entries[i].object;
  }
  free(entries);
  return true;
}

void kvo__figures_free(kvo_figures *of) {
  free(of->keys);
  kvo_graph_free(of->graph);
}

/* ------------------------------------------------------------------------------------------------------------- JSON -- */

static uint64_t figures_load(const _Atomic uint64_t *from) { return atomic_load_explicit(from, memory_order_relaxed); }

static void figures_put_count(kvo_sink *to, const char *name, uint64_t count) {
  kvo__put_member(to, name);
  kvo__put_number(to, count, 10);
}

static void put_row(const kvo_traffic_row *row, void *arg) {
  kvo_figures *of = arg;
  uint64_t count = figures_load(&row->count);
  if (row->is_of_changes != of->of_changes || count == 0) return;
  kvo_sink *to = of->to;
  kvo__put(to, of->is_first ? "{\"class\":" : ",{\"class\":");
  of->is_first = false;
  kvo__put_json_bytes(to, row->class_name, strlen(row->class_name));
  kvo__put_json_string(to, of->of_changes ? "key" : "keyPath", row->key_path);
  figures_put_count(to, "count", count);
  if (!of->of_changes) {
    figures_put_count(to, "nanoseconds", figures_load(&row->nanoseconds));
    figures_put_count(to, "longest", figures_load(&row->longest));
    kvo__put_json_string(to, "observerClass", row->observer_class);
    kvo__put_json_site(to, "registeredAt", row->file, row->file != NULL ? strlen(row->file) : 0, row->line);
  }
  kvo__put_byte(to, '}');
}

static void put_rows(kvo_figures *of, const char *name, bool of_changes) {
  kvo__put_member(of->to, name);
  kvo__put_byte(of->to, '[');
  of->of_changes = of_changes;
  of->is_first = true;
  kvo__traffic_visit(put_row, of);
  kvo__put_byte(of->to, ']');
}

void kvo__put_figures(kvo_sink *to, void *figures) {
  kvo_figures *of = figures;
  of->to = to;
  kvo__append(to, "{\"time\":%llu", (unsigned long long)of->time);
  figures_put_count(to, "objects", of->objects);
  figures_put_count(to, "keys", of->key_count);
  figures_put_count(to, "observations", of->graph->observation_count);
  kvo__put_member(to, "faults");
  for (int severity = 0; severity < KVO_SEVERITY_COUNT; severity++) {
    kvo__put(to, severity == 0 ? "{\"" : ",\"");
    kvo__put(to, kvo_severity_name((kvo_severity)severity));
    kvo__put(to, "\":");
    kvo__put_number(to, kvo__fault_count((kvo_severity)severity), 10);
  }
  kvo__put_byte(to, '}');
  kvo__put_member(to, "observed");
  kvo__put_byte(to, '[');
  for (size_t i = 0; i < of->key_count; i++) {
    const kvo_observed_key *key = &of->keys[i];
    kvo__put(to, i == 0 ? "{\"class\":" : ",{\"class\":");
    kvo__put_json_bytes(to, key->class_name, strlen(key->class_name));
    kvo__put_json_string(to, "keyPath", key->key_path);
    figures_put_count(to, "objects", key->objects);
    figures_put_count(to, "observations", key->observations);
    kvo__put_byte(to, '}');
  }
  kvo__put_byte(to, ']');
  put_rows(of, "changes", true);
  put_rows(of, "notifications", false);
  /* Of what has no row, because there are too many. */
  figures_put_count(to, "otherChanges", figures_load(&kvo__traffic_other_changes.count));
  figures_put_count(to, "otherNotifications", figures_load(&kvo__traffic_other_notifications.count));
  kvo__put(to, "}\n");
}

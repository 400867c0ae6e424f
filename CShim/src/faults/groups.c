/* groups.c - groups many observations of a report by source location. */
#include "faults/reporting.h"

#include <stdlib.h>

static int groups_compare(uint64_t a, uint64_t b) { return (a > b) - (a < b); }

static int groups_compare_texts(const char *a, const char *b) {
  return a == NULL || b == NULL ? (a != NULL) - (b != NULL) : strcmp(a, b);
}

/* Sorts by source location, class of the object, and key path. */
static int groups_by_place(const void *left, const void *right) {
  const kvo_fault_observation *a = left, *b = right;
  int result = groups_compare_texts(a->file, b->file);
  if (result == 0) result = groups_compare(a->line, b->line);
  if (result == 0) result = groups_compare_texts(a->object_class, b->object_class);
  return result != 0 ? result : strcmp(a->key_path, b->key_path);
}

static int by_age(const void *left, const void *right) {
  const kvo_fault_observation *a = left, *b = right;
  int result = groups_by_place(left, right);
  return result != 0 ? result : groups_compare(a->duplicate_count, b->duplicate_count);
}

static int by_number(const void *left, const void *right) {
  const kvo_fault_observation *a = left, *b = right;
  int result = groups_compare(b->duplicate_count, a->duplicate_count);
  return result != 0 ? result : groups_by_place(left, right);
}

static bool is_same_line(const kvo_fault_observation *a, const kvo_fault_observation *b) {
  return a->line == b->line && groups_compare_texts(a->file, b->file) == 0;
}

size_t kvo__group(kvo_fault_observation *all, size_t count, size_t *lines) {
  size_t places = 0;
  if (lines != NULL) *lines = 0;
  for (size_t i = 0; i < count; i++) all[i].duplicate_count = i; /* keeps the given order: by object, and by age */
  qsort(all, count, sizeof *all, by_age);
  for (size_t i = 0, next; i < count; i = next) {
    next = i + 1;
    while (next < count && groups_by_place(&all[i], &all[next]) == 0) next++;
    if (lines != NULL) *lines += places == 0 || !is_same_line(&all[places - 1], &all[i]);
    all[places] = all[i];
    all[places++].duplicate_count = next - i - 1;
  }
  qsort(all, places, sizeof *all, by_number);
  return places;
}

/* Whether two observations have the same key path. */
static bool is_same_path(const kvo_fault_observation *a, const kvo_fault_observation *b) {
  return strcmp(a->key_path, b->key_path) == 0;
}

void kvo__append_key_paths(kvo_sink *to, const kvo_fault_observation *groups, size_t count) {
  enum { MAX = 8 };
  bool is_one = true;
  for (size_t i = 1; i < count && is_one; i++) is_one = is_same_path(&groups[0], &groups[i]);
  kvo__append(to, is_one ? "key path: " : "key paths: ");
  size_t shown[MAX], count_shown = 0, left = 0;
  for (size_t i = 0; i < count; i++) {
    size_t before = 0, same = 0;
    while (before < count_shown && !is_same_path(&groups[shown[before]], &groups[i])) before++;
    if (before < count_shown) continue;
    if (count_shown == MAX) {
      left += groups[i].duplicate_count + 1;
      continue;
    }
    for (size_t k = i; k < count; k++)
      if (is_same_path(&groups[k], &groups[i])) same += groups[k].duplicate_count + 1;
    kvo__append(to, "%s\"%s\"", count_shown == 0 ? "" : ", ", groups[i].key_path);
    if (same > 1) kvo__append(to, " ×%zu", same);
    shown[count_shown++] = i;
  }
  if (left > 0) kvo__append(to, " and %zu of other key paths", left);
}

/* nearest.c - finds the name that was probably meant by a misspelt one. */
#include "text/report.h"

/* Only this many characters of longer names are compared. */
enum { NEAREST_MOST = 48 };

static size_t least(size_t a, size_t b) { return a < b ? a : b; }

static unsigned char lower(char c) { return (unsigned char)(c >= 'A' && c <= 'Z' ? c - 'A' + 'a' : c); }

/* The edit distance: letters to insert, remove, replace or swap with their neighbour; case is ignored. */
static size_t distance(const char *a, const char *b) {
  size_t rows[3][NEAREST_MOST + 1], length_a = least(strlen(a), NEAREST_MOST),
                                    length_b = least(strlen(b), NEAREST_MOST);
  size_t *before = rows[0], *above = rows[1], *row = rows[2];
  for (size_t j = 0; j <= length_b; j++) above[j] = before[j] = j;
  for (size_t i = 1; i <= length_a; i++) {
    row[0] = i;
    for (size_t j = 1; j <= length_b; j++) {
      bool same = lower(a[i - 1]) == lower(b[j - 1]);
      row[j] = least(least(row[j - 1], above[j]) + 1, above[j - 1] + !same);
      if (i > 1 && j > 1 && lower(a[i - 1]) == lower(b[j - 2]) && lower(a[i - 2]) == lower(b[j - 1]))
        row[j] = least(row[j], before[j - 2] + 1);
    }
    size_t *done = before;
    before = above;
    above = row;
    row = done;
  }
  return above[length_b];
}

/* Whether `getter` is the getter's name of the key: "isEnabled" of "enabled". */
static bool is_getter_of(const char *getter, const char *key) {
  return getter[0] == 'i' && getter[1] == 's' && key[0] != '\0' && lower(getter[2]) == lower(key[0]) &&
         strcmp(getter + 3, key + 1) == 0;
}

size_t kvo_name_distance(const char *written, const char *meant) {
  if (written == NULL || meant == NULL) return 0;
  kvo_nearest search = {.name = written};
  kvo__nearest(&search, meant);
  return search.found != NULL ? search.away : 0;
}

void kvo__nearest(kvo_nearest *search, const char *candidate) {
  if (strcmp(search->name, candidate) == 0) return; /* it is not misspelt */
  size_t length = strlen(search->name);
  size_t limit = length <= 3 ? 1 : length <= 6 ? 2 : 3;
  bool getter = is_getter_of(search->name, candidate) || is_getter_of(candidate, search->name);
  size_t away = getter ? 1 : distance(search->name, candidate);
  if (away > limit || away >= length || (search->found != NULL && away >= search->away)) return;
  search->found = candidate;
  search->away = away;
}

/* main.c - runs one row of the scaling check: kvo_scaling ROW N, or lists them: kvo_scaling --list. */
#include "scaling.h"

#include <stdio.h>
#include <string.h>
#if __has_include(<valgrind/callgrind.h>)
#include <valgrind/callgrind.h>
#else /* the rows run without being counted */
#define CALLGRIND_START_INSTRUMENTATION (void)0
#define CALLGRIND_STOP_INSTRUMENTATION (void)0
#define CALLGRIND_TOGGLE_COLLECT (void)0
#endif

enum { MOST_ROWS = 128 };
static struct {
  const char *name;
  void (*body)(size_t n);
} rows[MOST_ROWS];
static size_t row_count;

void scaling_register(const char *name, void (*body)(size_t n)) {
  CHECK(row_count < MOST_ROWS);
  rows[row_count].name = name;
  rows[row_count++].body = body;
}

bool scaling_begin(void) {
  CALLGRIND_START_INSTRUMENTATION;
  CALLGRIND_TOGGLE_COLLECT;
  return true;
}

bool scaling_end(void) {
  CALLGRIND_TOGGLE_COLLECT;
  CALLGRIND_STOP_INSTRUMENTATION;
  return false;
}

static void *kept[64];
static size_t kept_count;

void *scaling_array(size_t n, size_t size) {
  CHECK(kept_count < sizeof kept / sizeof *kept);
  void *made = calloc(n + 1, size);
  CHECK(made != NULL);
  return kept[kept_count++] = made;
}

const size_t *scaling_shuffled(size_t n) {
  size_t *order = scaling_array(n, sizeof *order);
  uint64_t state = 88172645463325252u;
  for (size_t i = 0; i < n; i++) {
    state ^= state << 13;
    state ^= state >> 7;
    state ^= state << 17;
    size_t other = state % (i + 1);
    order[i] = order[other];
    order[other] = i;
  }
  return order;
}

void listen(listener *by, kvo_object *object, const char *key_path, int options) {
  listen_for(by, object, key_path, options, NULL);
}

void listen_for(listener *by, kvo_object *object, const char *key_path, int options, void *context) {
  kvo_observer observer = observer_by(key_path, options, ignore_change, by);
  observer.context = context;
  CHECK_OK(kvo_add_observer(object, &observer, &by->id));
}

int main(int count, char **arguments) {
  if (count == 2 && strcmp(arguments[1], "--list") == 0) {
    for (size_t i = 0; i < row_count; i++) puts(rows[i].name);
    return 0;
  }
  for (size_t i = 0; count == 3 && i < row_count; i++)
    if (strcmp(rows[i].name, arguments[1]) == 0) {
      rows[i].body(strtoul(arguments[2], NULL, 10));
      while (kept_count > 0) free(kept[--kept_count]);
      return 0;
    }
  fprintf(stderr, "usage: kvo_scaling --list | ROW N\n");
  return 2;
}

/* bad_input_sizes.c - strings of a megabyte, key paths of a hundred thousand keys, type encodings of 64 KB: refused or accepted, and
 * fast. */
#include "bad_input.h"

#include <stdlib.h>
#include <string.h>
#include <time.h>

enum { MEGABYTE = 1 << 20, KEYS = 100000 };

/* Processor time, so that a busy machine does not fail the test: a second is allowed for what takes milliseconds. */
#define SOON(call)                                                                                                     \
  do {                                                                                                                 \
    clock_t began = clock();                                                                                           \
    call;                                                                                                              \
    double seconds = (double)(clock() - began) / CLOCKS_PER_SEC;                                                       \
    if (!harness_is_instrumented() && seconds > 1) harness_fail(__FILE__, __LINE__, "it takes %.1f s", seconds);       \
  } while (0)

/* `count` times a piece, then the end. Free it. */
static char *many(size_t count, const char *piece, const char *end) {
  size_t length = strlen(piece);
  char *text = malloc(count * length + strlen(end) + 1);
  for (size_t i = 0; i < count; i++) memcpy(text + i * length, piece, length);
  strcpy(text + count * length, end);
  return text;
}

TEST("unknown keys and malformed key paths of a megabyte are refused, in time, and reported cut short") {
  const struct {
    char *key_path;
    kvo_status status;
  } rows[] = {{many(MEGABYTE, "k", ""), KVO_ERROR_UNDEFINED_KEY},
              {many(MEGABYTE / 2, "k.", "k"), KVO_ERROR_UNDEFINED_KEY},
              {many(MEGABYTE, "@", ""), KVO_ERROR_UNDEFINED_KEY},
              {many(MEGABYTE, ".", ""), KVO_ERROR_MALFORMED_KEY_PATH},
              {many(MEGABYTE, "k", "."), KVO_ERROR_MALFORMED_KEY_PATH}};
  item *object = item_make(1);
  watcher w = {0};
  ignore_faults();
  for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
    kvo_observer observer = watcher_observer(rows[i].key_path, KVO_INITIAL | KVO_NEW, &w);
    SOON(CHECK_STATUS(kvo_get_value(as_object(object), rows[i].key_path, read_nothing, NULL), rows[i].status));
    SOON(CHECK_STATUS(kvo_add_observer(as_object(object), &observer, NULL), rows[i].status));
    CHECK(strlen(faults.report) < 10000);
    SOON(CHECK_STATUS(kvo_remove_observer_for(as_object(object), NULL, rows[i].key_path), KVO_ERROR_NOT_REGISTERED));
    CHECK(strlen(faults.report) < 10000);
    free(rows[i].key_path);
  }
  CHECK_EQ(faults.count, 10);
  item_destroy(object);
}

TEST("a key path of a hundred thousand keys is read, set and observed") {
  item *object = item_make(1);
  object->next = object;
  char *path = many(KEYS, "next.", "value");
  SOON(CHECK_OK(kvo_get_value(as_object(object), path, read_nothing, NULL)));
  SOON(CHECK_OK(kvo_set_value(as_object(object), path, KVO_VALUE(int, 2))));
  CHECK_EQ(object->value, 2);
  watcher w = {0};
  kvo_observer observer = watcher_observer(path, KVO_NEW, &w);
  SOON(CHECK_OK(kvo_add_observer(as_object(object), &observer, &w.id)));
  SOON(item_set_value(object, 3));
  CHECK_EQ(w.calls, 1);
  SOON(CHECK_OK(kvo_remove_observer(w.id)));
  object->next = NULL;
  item_destroy(object);
  free(path);
}

/* A head, 64 KB of repetitions of a piece, and a tail. */
static void check_encoding(const char *head, const char *piece, const char *tail, size_t expected) {
  char *middle = many(65536 / strlen(piece), piece, tail), *text = many(1, head, middle);
  size_t size = 0;
  SOON((void)kvo_type_size(text, &size, NULL));
  if (expected > 0) CHECK_EQ(size, expected);
  free(middle);
  free(text);
}

TEST(
    "type encodings of 64 KB are parsed in time proportional to their length, and the type of an array's elements once") {
  static const char *const pieces[] = {"i", "[2i]",      "[4096c]", "{x=i}",     "^{x=[4096[4096i]]}",
                                       "r", "\"name\"i", "^^^v",    "[1[1[1i]]]"};
  for (size_t i = 0; i < sizeof pieces / sizeof *pieces; i++) check_encoding("{s=", pieces[i], "}", 0);
  /* A name, a field name or a pointee of 64 KB, in an array of the maximum length. */
  check_encoding("{s=[7[4096{", "x", "=i}]]}", 7 * 4096 * sizeof(int));
  check_encoding("{s=[7[4096{s=\"", "x", "\"i}]]}", 7 * 4096 * sizeof(int));
  check_encoding("{s=[15[4096^{", "x", "=i}]]}", 15 * 4096 * sizeof(void *));
  check_encoding("{s=[30[30[30{", "x", "=i}]]]}", 30 * 30 * 30 * sizeof(int));
}

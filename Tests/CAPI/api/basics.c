/* basics.c - statuses, and the sizes of types. */
#include "harness.h"

#include <string.h>

TEST("each status has a distinct text") {
  static const kvo_status all[] = {
#define EACH(name, value, text) name,
      KVO_STATUS_MAP(EACH)
#undef EACH
  };
  for (size_t i = 0; i < sizeof all / sizeof *all; i++) {
    CHECK_EQ((int)all[i], -(int)i); /* the values have no gap */
    CHECK(strlen(kvo_status_string(all[i])) > 3);
    for (size_t j = 0; j < i; j++) CHECK(strcmp(kvo_status_string(all[i]), kvo_status_string(all[j])) != 0);
  }
}

typedef struct {
  char a;
  double b;
} char_double;
typedef struct {
  char_double inner[3];
  short tail;
} nested;

/* A row of the following table. */
#define SIZE(encoding, T)                                                                                              \
  { encoding, sizeof(T), _Alignof(T) }

TEST("the size and alignment of an encoding are those of the C type") {
  const struct {
    const char *encoding;
    size_t size, alignment;
  } rows[] = {SIZE("c", signed char),
              SIZE("C", unsigned char),
              SIZE("s", short),
              SIZE("S", unsigned short),
              SIZE("i", int),
              SIZE("I", unsigned),
              SIZE("l", long),
              SIZE("L", unsigned long),
              SIZE("q", long long),
              SIZE("Q", unsigned long long),
              SIZE("f", float),
              SIZE("d", double),
              SIZE("D", long double),
              SIZE("B", bool),
              SIZE("*", char *),
              SIZE("r*", const char *),
              SIZE("ri", const int),
              SIZE("@", kvo_object *),
              SIZE("^v", void *),
              SIZE(":", void *),
              SIZE("#", void *),
              SIZE("{cd=cd}", char_double),
              SIZE("{n=[3{cd=cd}]s}", nested)};
  size_t size, alignment;
  for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
    if (kvo_type_size(rows[i].encoding, &size, &alignment) != KVO_OK || size != rows[i].size ||
        alignment != rows[i].alignment)
      harness_fail(__FILE__, __LINE__, "\"%s\": %zu, %zu", rows[i].encoding, size, alignment);
  }
  CHECK_STATUS(kvo_type_size("", &size, NULL), KVO_ERROR_BAD_TYPE_ENCODING);
  CHECK_STATUS(kvo_type_size("ii", &size, NULL), KVO_ERROR_BAD_TYPE_ENCODING);
}

/* basics.c - statuses, the version, and the sizes of types. */
#include "harness.h"

#include <stdio.h>
#include <string.h>

TEST("each status has a distinct text") {
  static const kvo_status all[] = {
#define EACH(name, value, text) name,
      KVO_STATUS_MAP(EACH)
#undef EACH
  };
  size_t count = sizeof all / sizeof *all;
  for (size_t i = 0; i < count; i++) {
    CHECK_EQ((int)all[i], -(int)i); /* the values have no gap */
    CHECK(strlen(kvo_status_string(all[i])) > 3);
    for (size_t j = 0; j < i; j++) CHECK(strcmp(kvo_status_string(all[i]), kvo_status_string(all[j])) != 0);
  }
}

TEST("an unknown status has a text, too") {
  CHECK_EQ(kvo_status_string((kvo_status)-99), "unknown status");
  CHECK_EQ(kvo_status_string((kvo_status)1), "unknown status");
}

TEST("the version of the library is that of the header") {
  CHECK_EQ(kvo_version(), KVO_VERSION_MAJOR * 10000 + KVO_VERSION_MINOR * 100 + KVO_VERSION_PATCH);
  char text[32];
  snprintf(text, sizeof text, "%d.%d.%d", KVO_VERSION_MAJOR, KVO_VERSION_MINOR, KVO_VERSION_PATCH);
  CHECK_EQ(kvo_version_string(), text);
}

typedef struct {
  char a;
  double b;
} char_double;
typedef struct {
  char_double inner[3];
  short tail;
} nested;

TEST("the size and alignment of an encoding are those of the C type") {
  static const struct {
    const char *encoding;
    size_t size, alignment;
  } rows[] = {
#define ROW(encoding, T) {encoding, sizeof(T), _Alignof(T)}
      ROW("c", signed char),
      ROW("C", unsigned char),
      ROW("s", short),
      ROW("S", unsigned short),
      ROW("i", int),
      ROW("I", unsigned),
      ROW("l", long),
      ROW("L", unsigned long),
      ROW("q", long long),
      ROW("Q", unsigned long long),
      ROW("f", float),
      ROW("d", double),
      ROW("D", long double),
      ROW("B", bool),
      ROW("*", char *),
      ROW("@", kvo_object *),
      ROW("^v", void *),
      ROW("^i", int *),
      ROW("^^d", double **),
      ROW("^{opaque}", void *),
      ROW(":", void *),
      ROW("#", void *),
      ROW("r*", const char *),
      ROW("ri", const int),
      ROW("^(u=if)", void *),
      ROW("^[4i]", void *),
      ROW("{cd=cd}", char_double),
      ROW("{n=[3{cd=cd}]s}", nested),
#undef ROW
  };
  for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
    size_t size = 0, alignment = 0;
    CHECK_OK(kvo_type_size(rows[i].encoding, &size, &alignment));
    CHECK_EQ(size, rows[i].size);
    CHECK_EQ(alignment, rows[i].alignment);
  }
}

TEST("kvo_type_size accepts NULL for either result, and refuses an invalid encoding") {
  size_t size = 77;
  CHECK_OK(kvo_type_size("i", NULL, NULL));
  CHECK_STATUS(kvo_type_size("", &size, NULL), KVO_ERROR_BAD_TYPE_ENCODING);
  CHECK_STATUS(kvo_type_size("ii", &size, NULL), KVO_ERROR_BAD_TYPE_ENCODING);
  CHECK_STATUS(kvo_type_size(NULL, &size, NULL), KVO_ERROR_BAD_TYPE_ENCODING);
  CHECK_EQ(size, 77);
}

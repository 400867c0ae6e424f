/* bad_input_coding.c - the rows of key-value coding with C types. */
#include "bad_input.h"

#include <string.h>

static const kvo_value untyped = {NULL, 8, ""}, text = {"*", sizeof(char *), &(const char *){"text"}},
                       nil = {"d", 8, NULL}, odd = {"", 8, ""}, small = {"q", 1, ""};

/* A conversion of a value, whose result is of type T. */
#define VALUE_ROW(function, T)                                                                                         \
  ROW(function) {                                                                                                      \
    T out;                                                                                                             \
    T before;                                                                                                          \
    memset(&out, 1, sizeof out);                                                                                       \
    memset(&before, 1, sizeof before);                                                                                 \
    REFUSED(function(NULL, &out));                                                                                     \
    REFUSED(function(&untyped, &out));                                                                                 \
    REFUSED(function(&text, NULL));                                                                                    \
    CHECK_STATUS(function(&odd, &out), KVO_ERROR_TYPE_MISMATCH);                                                       \
    CHECK_STATUS(function(&small, &out), KVO_ERROR_TYPE_MISMATCH);                                                     \
    CHECK_BYTES(&out, &before, sizeof out);                                                                            \
  }
VALUE_ROW(kvo_value_int64, int64_t)
VALUE_ROW(kvo_value_uint64, uint64_t)
VALUE_ROW(kvo_value_double, double)
VALUE_ROW(kvo_value_bool, bool)
VALUE_ROW(kvo_value_string, const char *)
VALUE_ROW(kvo_value_object, kvo_object *)

#define GET_ROW(function, T, key)                                                                                      \
  ROW(function) {                                                                                                      \
    T out;                                                                                                             \
    memset(&out, 0, sizeof out);                                                                                       \
    NEEDS_BOTH(function, made_basket(), key, &out);                                                                    \
    FAULTS_AND_REFUSED(function(made_basket(), key, NULL));                                                            \
    CHECK_STATUS(function(made_basket(), "", &out), KVO_ERROR_MALFORMED_KEY_PATH);                                     \
    CHECK_STATUS(function(made_basket(), "none", &out), KVO_ERROR_UNDEFINED_KEY);                                      \
    CHECK_STATUS(function(made_basket(), "prices", &out), KVO_ERROR_TYPE_MISMATCH);                                    \
    T before;                                                                                                          \
    memset(&before, 0, sizeof before);                                                                                 \
    CHECK_BYTES(&out, &before, sizeof out);                                                                            \
  }
GET_ROW(kvo_get_int64, int64_t, "total")
GET_ROW(kvo_get_uint64, uint64_t, "total")
GET_ROW(kvo_get_double, double, "total")
GET_ROW(kvo_get_bool, bool, "total")
GET_ROW(kvo_get_string, char *, "title")
GET_ROW(kvo_get_object, kvo_object *, "best")

ROW(kvo_string_free) { kvo_string_free(NULL); }

#define SET_ROW(function, key, value)                                                                                  \
  ROW(function) {                                                                                                      \
    NEEDS_BOTH(function, made_basket(), key, value);                                                                   \
    CHECK_STATUS(function(made_basket(), ".", value), KVO_ERROR_MALFORMED_KEY_PATH);                                   \
    CHECK_STATUS(function(made_basket(), "none", value), KVO_ERROR_UNDEFINED_KEY);                                     \
    CHECK_STATUS(function(made_basket(), "prices", value), KVO_ERROR_READ_ONLY);                                       \
    CHECK_OK(function(made_basket(), key, value));                                                                     \
  }
SET_ROW(kvo_set_int64, "total", INT64_MIN)
SET_ROW(kvo_set_uint64, "total", 7)
SET_ROW(kvo_set_double, "total", -1.5)
SET_ROW(kvo_set_bool, "total", true)
SET_ROW(kvo_set_string, "title", "a title")
SET_ROW(kvo_set_object, "best", NULL)

ROW(kvo_validate_value) {
  NEEDS_BOTH(kvo_validate_value, made_basket(), "total", &text, read_nothing, NULL);
  FAULTS_AND_REFUSED(kvo_validate_value(made_basket(), "total", NULL, read_nothing, NULL));
  FAULTS_AND_REFUSED(kvo_validate_value(made_basket(), "total", &untyped, read_nothing, NULL));
  FAULTS_AND_REFUSED(kvo_validate_value(made_basket(), "total", &text, NULL, NULL));
  CHECK_STATUS(kvo_validate_value(made_basket(), "a..b", &text, read_nothing, NULL), KVO_ERROR_MALFORMED_KEY_PATH);
  CHECK_OK(kvo_validate_value(made_basket(), "total", &nil, read_nothing, NULL));
}

TEST("hooks of coding of another size are not registered") {
  kvo_coding_hooks hooks = {.struct_size = sizeof hooks - 1};
  kvo_class_spec spec = {
      .struct_size = sizeof spec, .name = "Bad", .instance_size = sizeof(kvo_object), .coding = &hooks};
  kvo_class *out = NULL;
  REFUSED(kvo_class_register(&spec, &out));
  hooks.struct_size = 0;
  REFUSED(kvo_class_register(&spec, &out));
  CHECK_CONTAINS(kvo_last_error(), "class 'Bad': coding->struct_size is not");
  CHECK_SAME(kvo_class_find("Bad"), NULL);
}

/* encodings.c - type encodings that are nested, point to anything, or end in the middle, and what their parsing leaves behind. */
#include "allocator.h"
#include "harness.h"

#include <stdlib.h>
#include <string.h>

/* `count` times the opening, the middle, and as many times the closing. Free it. */
static char *nested(const char *begin, const char *open, int count, const char *middle, const char *close,
                    const char *end) {
  size_t length = strlen(begin) + (size_t)count * (strlen(open) + strlen(close)) + strlen(middle) + strlen(end);
  char *text = malloc(length + 1), *at = text;
  CHECK(text != NULL);
  at = strcpy(at, begin) + strlen(begin);
  for (int i = 0; i < count; i++) at = strcpy(at, open) + strlen(open);
  at = strcpy(at, middle) + strlen(middle);
  for (int i = 0; i < count; i++) at = strcpy(at, close) + strlen(close);
  strcpy(at, end);
  return text;
}

static void check_size(char *text, size_t expected) {
  size_t size = 0;
  if (kvo_type_size(text, &size, NULL) != KVO_OK) harness_fail(__FILE__, __LINE__, "\"%s\"", text);
  CHECK_EQ(size, expected);
  free(text);
}

TEST("structures, arrays, pointers and qualifiers may be nested twenty deep") {
  check_size(nested("", "{a=", 20, "i", "}", ""), sizeof(int));
  check_size(nested("{a=", "[1", 20, "i", "]", "}"), sizeof(int));
  check_size(nested("{a=", "[2{b=", 6, "c", "}]", "}"), 64);
  check_size(nested("", "^", 20, "v", "", ""), sizeof(void *));
  check_size(nested("{a=", "^", 20, "v", "", "}"), sizeof(void *));
  check_size(nested("{a=", "r", 20, "i", "", "}"), sizeof(int));
  check_size(nested("{a=^", "r", 20, "i", "", "}"), sizeof(void *));
}

TEST("a pointer to what is qualified without end is refused without overflowing the stack") {
  static const char *const opens[] = {"r", "^", "A", "^r"};
  for (size_t i = 0; i < sizeof opens / sizeof *opens; i++) {
    char *text = nested("{a=^", opens[i], 100000, "v", "", "}");
    CHECK_STATUS(kvo_type_size(text, NULL, NULL), KVO_ERROR_BAD_TYPE_ENCODING);
    free(text);
  }
}

typedef struct around_pointer {
  char before;
  void *pointer;
  char after;
  short last;
} around_pointer;

TEST("a pointer may point to anything that is well-formed, and what follows it is the next member") {
  static const char *const pointees[] = {
      "v",  "?",  "c",       "*",   "@",       "(u=if)", "(u)",        "[4i]",          "[]",      "rv",
      "Ai", "^v", "nNoORVc", "{a}", "{a={b}}", "{a=b3}", "(u=(w=i)f)", "{a=[2i](u=i)}", "[2[3i]]", "^{a=\"x\"i}"};
  for (size_t i = 0; i < sizeof pointees / sizeof *pointees; i++) {
    check_size(nested("^", pointees[i], 1, "", "", ""), sizeof(void *));
    check_size(nested("{s=c^", pointees[i], 1, "", "", "cs}"), sizeof(around_pointer));
  }
}

TEST("an encoding that ends in the middle is refused, wherever that is") {
  static const char good[] = "{a=\"x\"i^{b=[2i](u=f)}[3{c=r*d}]\"y\"i}";
  static const char *const bad[] = {"^", "^r", "^A", "{s=^}", "^]", "^x", "{s=i\"a", "{s=i\"a\"", "{s=\"a\"i\"", "^4"};
  CHECK_OK(kvo_type_size(good, NULL, NULL));
  for (size_t length = 0; length < sizeof good - 1; length++) {
    char *text = malloc(length + 1); /* exactly, so that AddressSanitizer sees a read beyond the end */
    CHECK(text != NULL);
    memcpy(text, good, length);
    text[length] = '\0';
    if (kvo_type_size(text, NULL, NULL) != KVO_ERROR_BAD_TYPE_ENCODING) harness_fail(__FILE__, __LINE__, "%s", text);
    free(text);
  }
  for (size_t i = 0; i < sizeof bad / sizeof *bad; i++)
    if (kvo_type_size(bad[i], NULL, NULL) != KVO_ERROR_BAD_TYPE_ENCODING)
      harness_fail(__FILE__, __LINE__, "\"%s\"", bad[i]);
}

TEST("whichever allocation fails while a type is parsed, nothing is left behind") {
  use_counting_allocator();
  static const char *const types[] = {"{a={b=i{c=dd}}[3{d=cc}][2[2{e=s}]]}", "{a=[2{b=dd}]{c=i}{d=i}{e=i}{f=i}}"};
  for (size_t i = 0; i < 2; i++) {
    long n = 1;
    for (;; n++) {
      fail_in = n;
      kvo_status status = kvo_type_size(types[i], NULL, NULL);
      bool has_passed = fail_in > 0;
      fail_in = 0;
      CHECK_EQ((long)live_blocks, 0);
      if (has_passed) {
        CHECK_OK(status);
        break;
      }
      CHECK_STATUS(status, KVO_ERROR_BAD_TYPE_ENCODING);
    }
    CHECK(n > 5);
  }
  static const char *const refused[] = {"{a={b=i}v}", "{a=[2{b=i}]v}", "{a=[2{b=i}}", "{a=[4096[16{b=i}]]}",
                                        "{a={b=i}}i"};
  for (size_t i = 0; i < sizeof refused / sizeof *refused; i++) {
    CHECK_STATUS(kvo_type_size(refused[i], NULL, NULL), KVO_ERROR_BAD_TYPE_ENCODING);
    CHECK_EQ((long)live_blocks, 0);
  }
}

/* encodings.c - type encodings that are nested, point to anything, or end in the middle, and what their parsing leaves behind. */
#include "allocator.h"
#include "harness.h"

#include <stdlib.h>
#include <string.h>

/* `begin`, `count` times `open`, `middle`, `count` times `close`, `end`. Free it. */
static char *nested(const char *begin, const char *open, size_t count, const char *middle, const char *close,
                    const char *end) {
  size_t size = strlen(begin) + count * (strlen(open) + strlen(close)) + strlen(middle) + strlen(end) + 1;
  char *text = malloc(size), *at = text;
  CHECK(text != NULL);
  at = stpcpy(at, begin);
  for (size_t i = 0; i < count; i++) at = stpcpy(at, open);
  at = stpcpy(at, middle);
  for (size_t i = 0; i < count; i++) at = stpcpy(at, close);
  stpcpy(at, end);
  return text;
}

static void check_size(char *text, size_t expected) {
  size_t size = 0;
  if (kvo_type_size(text, &size, NULL) != KVO_OK) harness_fail(__FILE__, __LINE__, "\"%s\"", text);
  CHECK_EQ(size, expected);
  free(text);
}

static void check_refused(const char *text) {
  if (kvo_type_size(text, NULL, NULL) != KVO_ERROR_BAD_TYPE_ENCODING) harness_fail(__FILE__, __LINE__, "%.99s", text);
}

TEST("structures, arrays, pointers and qualifiers may be nested twenty deep, and not without end") {
  check_size(nested("", "{a=", 20, "i", "}", ""), sizeof(int));
  check_size(nested("{a=", "[1", 20, "i", "]", "}"), sizeof(int));
  check_size(nested("{a=", "[2{b=", 6, "c", "}]", "}"), 64);
  check_size(nested("{a=", "^", 20, "v", "", "}"), sizeof(void *));
  check_size(nested("{a=", "r", 20, "i", "", "}"), sizeof(int));
  static const char *const opens[] = {"r", "^", "A", "^r"};
  for (size_t i = 0; i < sizeof opens / sizeof *opens; i++) {
    char *text = nested("{a=^", opens[i], 100000, "v", "", "}");
    check_refused(text); /* without overflowing the stack */
    free(text);
  }
}

TEST("a pointer may point to anything that is well-formed, and what follows it is the next member") {
  static const char *const pointees[] = {
      "v",  "?",  "c",       "*",   "@",       "(u=if)", "(u)",        "[4i]",          "[]",      "rv",
      "Ai", "^v", "nNoORVc", "{a}", "{a={b}}", "{a=b3}", "(u=(w=i)f)", "{a=[2i](u=i)}", "[2[3i]]", "^{a=\"x\"i}"};
  for (size_t i = 0; i < sizeof pointees / sizeof *pointees; i++)
    check_size(nested("{s=c^", pointees[i], 1, "", "", "cs}"), 3 * sizeof(void *));
}

TEST("an encoding that ends in the middle is refused, wherever that is") {
  static const char good[] = "{a=\"x\"i^{b=[2i](u=f)}[3{c=r*d}]\"y\"i}";
  static const char *const bad[] = {"^", "^r", "^A", "{s=^}", "^]", "^x", "{s=i\"a", "{s=i\"a\"", "{s=\"a\"i\"", "^4"};
  CHECK_OK(kvo_type_size(good, NULL, NULL));
  for (size_t length = 0; length < sizeof good - 1; length++) {
    char *text = strndup(good, length); /* in memory of its own, so that AddressSanitizer sees a read beyond the end */
    check_refused(text);
    free(text);
  }
  for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) check_refused(bad[i]);
}

TEST("whichever allocation fails while a type is parsed, and wherever a type is refused, nothing is left behind") {
  use_counting_allocator();
  static const char *const types[] = {"{a={b=i{c=dd}}[3{d=cc}][2[2{e=s}]]}", "{a=[2{b=dd}]{c=i}{d=i}{e=i}{f=i}}"};
  for (size_t i = 0; i < 2; i++) {
    bool has_passed = false;
    for (long n = 1; !has_passed; n++) {
      fail_in = n;
      kvo_status status = kvo_type_size(types[i], NULL, NULL);
      has_passed = fail_in > 0;
      CHECK_STATUS(status, has_passed ? KVO_OK : KVO_ERROR_BAD_TYPE_ENCODING);
      CHECK_EQ((long)live_blocks, 0);
      CHECK(!has_passed || n > 5);
    }
  }
  fail_in = 0;
  static const char *const refused[] = {"{a={b=i}v}", "{a=[2{b=i}]v}", "{a=[2{b=i}}", "{a=[4096[16{b=i}]]}",
                                        "{a={b=i}}i"};
  for (size_t i = 0; i < sizeof refused / sizeof *refused; i++) {
    check_refused(refused[i]);
    CHECK_EQ((long)live_blocks, 0);
  }
}

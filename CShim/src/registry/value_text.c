/* value_text.c - the new value of a change as a short text, for reports and traces (KVO_VALUES). */
#include "registry/registry.h"

#include <stdio.h>

bool kvo__copy_cut(char *to, size_t size, const char *text) {
  static const char more[] = "...";
  size_t length = strlen(text);
  if (length < size) {
    memcpy(to, text, length + 1);
    return false;
  }
  size_t kept = size - sizeof more;
  while (kept > 0 && ((unsigned char)text[kept] & 0xc0) == 0x80) kept--; /* do not cut a UTF-8 character */
  memcpy(to, text, kept);
  memcpy(to + kept, more, sizeof more);
  return true;
}

typedef struct text {
  char *bytes;
  size_t size;
  bool is_known, is_cut;
} text;

/* Quoted, so that it cannot be taken for a number or nil. What prints the text escapes the rest. */
static void print_string(text *to, const char *string) {
  to->bytes[0] = '"';
  to->is_cut = kvo__copy_cut(to->bytes + 1, to->size - 2, string);
  size_t length = strlen(to->bytes);
  to->bytes[length] = '"';
  to->bytes[length + 1] = '\0';
}

static void print(const kvo_value *value, void *arg) {
  text *to = arg;
  const void *bytes = value->bytes;
  to->is_known = true;
  if (bytes == NULL) {
    kvo__copy_cut(to->bytes, to->size, "nil");
    return;
  }
  switch (kvo__type_unqualified(value->type)[0]) {
#define PRINT(code, T, format, as)                                                                                     \
  case code: snprintf(to->bytes, to->size, format, (as)(*(const T *)bytes)); return;
    PRINT('c', signed char, "%d", int)
    PRINT('C', unsigned char, "%u", unsigned)
    PRINT('s', short, "%d", int)
    PRINT('S', unsigned short, "%u", unsigned)
    PRINT('i', int, "%d", int)
    PRINT('I', unsigned int, "%u", unsigned)
    PRINT('l', long, "%ld", long)
    PRINT('L', unsigned long, "%lu", unsigned long)
    PRINT('q', long long, "%lld", long long)
    PRINT('Q', unsigned long long, "%llu", unsigned long long)
    PRINT('f', float, "%.9g", double)
    PRINT('d', double, "%.17g", double)
    PRINT('D', long double, "%.18Lg", long double)
    PRINT('@', uintptr_t, "0x%llx", unsigned long long)
    PRINT('^', uintptr_t, "0x%llx", unsigned long long)
#undef PRINT
    case 'B': kvo__copy_cut(to->bytes, to->size, *(const bool *)bytes ? "true" : "false"); return;
    case '*': print_string(to, *(const char *const *)bytes); return;
    default: to->is_known = false;
  }
}

static text text_of(const kvo_raw_change *change, char *to, size_t size) {
  text made = {to, size, false, false};
  if (change->property != NULL && change->new_value != NULL)
    kvo__property_view(change->property, change->new_value, print, &made);
  return made;
}

bool kvo__new_value_text(const kvo_raw_change *change, char *to, size_t size) {
  return text_of(change, to, size).is_known;
}

/* A string of C may have been freed since the change: its setter did that when a nested change set another one. */
static bool is_kept(const kvo_raw_change *change) {
  return change->property != NULL &&
         (change->property->ops != NULL || kvo__type_unqualified(change->property->type)[0] != '*');
}

bool kvo__tells_same(const kvo_raw_change *one, const kvo_raw_change *other) {
  if (!is_kept(one) || !is_kept(other)) return false;
  char texts[2][KVO_VALUE_TEXT * 2]; /* texts of numbers are exact */
  text first = text_of(one, texts[0], sizeof texts[0]), second = text_of(other, texts[1], sizeof texts[1]);
  return first.is_known && second.is_known && !first.is_cut && !second.is_cut && strcmp(texts[0], texts[1]) == 0;
}

/* value_text.c - the new value of a change as a short text, for reports and traces (KVO_VALUES). */
#define _GNU_SOURCE
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
  bool is_known;
} text;

/* Quoted, so that it cannot be taken for a number or nil. What prints the text escapes the rest. */
static void print_string(text *to, const char *string) {
  to->bytes[0] = '"';
  (void)kvo__copy_cut(to->bytes + 1, to->size - 2, string);
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

static text value_text_text_of(const kvo_raw_change *change, char *to, size_t size) {
  text made = {to, size, false};
  if (change->property != NULL && change->new_value != NULL)
    kvo__property_view(change->property, change->new_value, print, &made);
  return made;
}

bool kvo__new_value_text(const kvo_raw_change *change, char *to, size_t size) {
  return value_text_text_of(change, to, size).is_known;
}

/* ------------------------------------------------------------------------------------------------------------ Comparing -- */

/* A hash of bytes that is not 0 (FNV-1a). */
static uint32_t value_text_hash_of(const void *bytes, size_t size) {
  const unsigned char *at = bytes;
  uint32_t hash = UINT32_C(2166136261);
  for (size_t i = 0; i < size; i++) hash = (hash ^ at[i]) * UINT32_C(16777619);
  return hash != 0 ? hash : 1;
}

static void hash_value(const kvo_value *value, void *arg) {
  uint32_t *hash = arg;
  char code = kvo__type_unqualified(value->type)[0];
  if (value->bytes == NULL) {
    *hash = value_text_hash_of("", 0);
  } else if (code == '*') {
    enum { LONGEST = 4096 }; /* a longer one is not compared */
    const char *string = *(const char *const *)value->bytes;
    size_t length = string != NULL ? strnlen(string, LONGEST) : 0;
    if (length < LONGEST) *hash = value_text_hash_of(string, length);
  } else if (code == 'D') { /* which has bytes that mean nothing */
    long double number = *(const long double *)value->bytes;
    double parts[] = {(double)number, (double)(number - (double)number)};
    *hash = value_text_hash_of(parts, sizeof parts);
  } else if (strchr("cCsSiIlLqQfdB@^", code) != NULL) {
    *hash = value_text_hash_of(value->bytes, value->size);
  }
}

uint32_t kvo__told(const kvo_raw_change *change) {
  uint32_t hash = 0;
  if (change->property != NULL && change->new_value != NULL)
    kvo__property_view(change->property, change->new_value, hash_value, &hash);
  return hash;
}

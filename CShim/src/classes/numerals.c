/* numerals.c - decimal notations: of texts, of integers, and the shortest one of a floating-point number. */
#include "classes/numbers.h"

#include <float.h>
#include <stdio.h>
#include <stdlib.h>

static bool numerals_is_digit(char c) { return c >= '0' && c <= '9'; }

void kvo__numeral_normalise(kvo_numeral *of) {
  uint8_t zeros = 0;
  while (zeros < of->count && of->digits[zeros] == 0) zeros++;
  memmove(of->digits, of->digits + zeros, (size_t)(of->count - zeros));
  of->count = (uint8_t)(of->count - zeros);
  for (; of->count > 0 && of->digits[of->count - 1] == 0; of->count--) of->exponent++;
  if (of->count > 0) return;
  of->exponent = 0;
  of->is_negative = false;
}

/* Appends a digit: `is_whole` if it is before the point. Zeros at the beginning do not count. */
static void numerals_append(kvo_numeral *to, char digit, bool is_whole) {
  if (to->count < KVO_DIGITS) {
    if (to->count > 0 || digit != '0') to->digits[to->count++] = (uint8_t)(digit - '0');
    to->exponent -= !is_whole;
  } else {
    to->is_cut = to->is_cut || digit != '0';
    to->exponent += is_whole;
  }
}

static bool parse_exponent(const char **text, int32_t *to) {
  const char *at = *text + 1;
  bool is_negative = *at == '-';
  if (*at == '-' || *at == '+') at++;
  int32_t value = 0;
  int count = 0;
  for (; numerals_is_digit(*at); at++, count++)
    if (count < 6) value = value * 10 + (*at - '0');
  if (count == 0 || count > 6) return false;
  *to = is_negative ? -value : value;
  *text = at;
  return true;
}

bool kvo__numeral_parse(const char *text, kvo_numeral *to) {
  *to = (kvo_numeral){.is_negative = *text == '-'};
  if (*text == '-' || *text == '+') text++;
  const char *begin = text;
  for (; numerals_is_digit(*text); text++) numerals_append(to, *text, true);
  bool has_digits = text != begin;
  if (*text == '.') {
    if (!numerals_is_digit(*++text)) return false;
    for (; numerals_is_digit(*text); text++) numerals_append(to, *text, false);
    has_digits = true;
  }
  if (!has_digits || text - begin > INT32_MAX / 2) return false;
  int32_t exponent = 0;
  if ((*text == 'e' || *text == 'E') && !parse_exponent(&text, &exponent)) return false;
  if (*text != '\0') return false;
  to->exponent += exponent;
  kvo__numeral_normalise(to);
  return true;
}

kvo_numeral kvo__numeral_of_integer(bool is_negative, uint64_t magnitude) {
  kvo_numeral made = {.is_negative = is_negative};
  uint8_t reversed[20], count = 0;
  for (; magnitude > 0; magnitude /= 10) reversed[count++] = (uint8_t)(magnitude % 10);
  while (count > 0) made.digits[made.count++] = reversed[--count];
  kvo__numeral_normalise(&made);
  return made;
}

/* The digits and the exponent of a text made by "%e", whose point depends on the locale. */
static kvo_numeral scan(const char *text) {
  kvo_numeral made = {.is_negative = *text == '-'};
  for (; *text != 'e'; text++)
    if (numerals_is_digit(*text)) numerals_append(&made, *text, true);
  int32_t digits = made.count, exponent = 0;
  parse_exponent(&text, &exponent);
  made.exponent = exponent - digits + 1;
  kvo__numeral_normalise(&made);
  return made;
}

kvo_numeral kvo__numeral_of_real(long double real, char type) {
  static const int exact[] = {FLT_DIG, DBL_DIG, LDBL_DIG}; /* so many digits of any decimal survive */
  int precision = exact[type == 'f' ? 0 : type == 'd' ? 1 : 2];
  for (;; precision++) {
    char text[KVO_DIGITS + 24];
    snprintf(text, sizeof text, "%.*Le", precision - 1, real);
    kvo_numeral made = scan(text);
    if (precision >= KVO_DIGITS - 2 || kvo__numeral_real(&made, type) == real) return made;
  }
}

bool kvo__numeral_same(const kvo_numeral *one, const kvo_numeral *other) {
  return !one->is_cut && !other->is_cut && one->is_negative == other->is_negative && one->count == other->count &&
         one->exponent == other->exponent && memcmp(one->digits, other->digits, one->count) == 0;
}

int kvo__numeral_compare(const kvo_numeral *one, const kvo_numeral *other) {
  if (one->is_negative != other->is_negative) return one->is_negative ? -1 : 1;
  int sign = one->is_negative ? -1 : 1;
  if (one->count == 0 || other->count == 0) return sign * ((one->count > 0) - (other->count > 0));
  int32_t places[] = {one->count + one->exponent, other->count + other->exponent};
  if (places[0] != places[1]) return places[0] < places[1] ? -sign : sign;
  uint8_t common = one->count < other->count ? one->count : other->count;
  int order = memcmp(one->digits, other->digits, common);
  if (order != 0) return order < 0 ? -sign : sign;
  return sign * ((one->count > common) - (other->count > common));
}

const char *kvo__numeral_text(const kvo_numeral *of, char text[KVO_SUM_TEXT]) {
  size_t length = 0;
  if (of->is_negative) text[length++] = '-';
  for (uint8_t i = 0; i < of->count; i++) text[length++] = (char)('0' + of->digits[i]);
  if (of->count == 0) text[length++] = '0';
  snprintf(text + length, KVO_SUM_TEXT - length, "e%d", (int)of->exponent);
  return text;
}

long double kvo__numeral_real(const kvo_numeral *of, char type) {
  char text[KVO_SUM_TEXT];
  kvo__numeral_text(of, text); /* without a point, which depends on the locale */
  switch (type) {
    case 'f': return strtof(text, NULL);
    case 'd': return strtod(text, NULL);
    default: return strtold(text, NULL);
  }
}

bool kvo__numeral_integer(const kvo_numeral *of, uint64_t *magnitude) {
  if (of->is_cut || of->exponent < 0 || of->count + of->exponent > 20) return false;
  uint64_t value = 0;
  for (int i = 0; i < of->count + of->exponent; i++) {
    uint64_t digit = i < of->count ? of->digits[i] : 0;
    if (value > (UINT64_MAX - digit) / 10) return false;
    value = value * 10 + digit;
  }
  *magnitude = value;
  return true;
}

/* numbers.c - numbers of any C type: reading them from values, conversion that loses nothing, comparison. */
#include "classes/numbers.h"

/* 2^64; no floating-point number from here on is a 64-bit integer. */
#define TOO_LARGE 18446744073709551616.0L

/* ------------------------------------------------------------------------------------------------------------ Reading -- */

static void set_signed(kvo_number *to, int64_t value, char type) {
  to->type = type;
  to->form = KVO_INTEGER;
  to->is_negative = value < 0;
  to->magnitude = value < 0 ? -(uint64_t)value : (uint64_t)value;
}

static void set_unsigned(kvo_number *to, uint64_t value, char type) {
  to->type = type;
  to->form = KVO_INTEGER;
  to->is_negative = false;
  to->magnitude = value;
}

static void set_real(kvo_number *to, long double value, char type) {
  to->form = KVO_REAL;
  to->type = type;
  to->real = value;
}

bool kvo__number_read(const kvo_value *value, bool texts, kvo_number *to) {
  if (value->bytes == NULL || value->type == NULL) return false;
  const char *type = kvo__type_unqualified(value->type);
  if (type[0] == '\0' || type[1] != '\0') return false;
  switch (type[0]) {
#define READ(code, T, set)                                                                                             \
  case code:                                                                                                           \
    if (value->size != sizeof(T)) return false;                                                                        \
    set(to, *(const T *)value->bytes, code);                                                                           \
    return true;
    READ('c', signed char, set_signed)
    READ('C', unsigned char, set_unsigned)
    READ('s', short, set_signed)
    READ('S', unsigned short, set_unsigned)
    READ('i', int, set_signed)
    READ('I', unsigned int, set_unsigned)
    READ('l', long, set_signed)
    READ('L', unsigned long, set_unsigned)
    READ('q', long long, set_signed)
    READ('Q', unsigned long long, set_unsigned)
    READ('B', bool, set_unsigned)
    READ('f', float, set_real)
    READ('d', double, set_real)
    READ('D', long double, set_real)
#undef READ
    case '*': {
      const char *text = value->size == sizeof text ? *(const char *const *)value->bytes : NULL;
      to->form = KVO_NUMERAL;
      return texts && text != NULL && kvo__numeral_parse(text, &to->numeral);
    }
    default: return false;
  }
}

/* ---------------------------------------------------------------------------------------------------------- Comparing -- */

long double kvo__number_real(const kvo_number *of) {
  switch (of->form) {
    case KVO_INTEGER: return of->is_negative ? -(long double)of->magnitude : (long double)of->magnitude;
    case KVO_REAL: return of->real;
    default: return kvo__numeral_real(&of->numeral, 'D');
  }
}

/* The integer that a number is; false if it is none of 64 bits and a sign. */
static bool integer_of(const kvo_number *of, bool *is_negative, uint64_t *magnitude) {
  switch (of->form) {
    case KVO_INTEGER: *is_negative = of->is_negative, *magnitude = of->magnitude; return true;
    case KVO_REAL: {
      long double size = of->real < 0 ? -of->real : of->real;
      if (!(size < TOO_LARGE)) return false; /* nor NaN */
      *is_negative = of->real < 0;
      *magnitude = (uint64_t)size;
      return (long double)*magnitude == size;
    }
    default: *is_negative = of->numeral.is_negative; return kvo__numeral_integer(&of->numeral, magnitude);
  }
}

static bool is_finite(long double real) { return real - real == 0; }

static kvo_numeral numeral_of(const kvo_number *of) {
  switch (of->form) {
    case KVO_INTEGER: return kvo__numeral_of_integer(of->is_negative, of->magnitude);
    case KVO_REAL: return kvo__numeral_of_real(of->real, of->type);
    default: return of->numeral;
  }
}

int kvo__number_compare(const kvo_number *one, const kvo_number *other) {
  bool negative[2];
  uint64_t magnitudes[2];
  if (integer_of(one, &negative[0], &magnitudes[0]) && integer_of(other, &negative[1], &magnitudes[1])) {
    if (negative[0] != negative[1]) return negative[0] ? -1 : 1;
    int by_size = (magnitudes[0] > magnitudes[1]) - (magnitudes[0] < magnitudes[1]);
    return negative[0] ? -by_size : by_size;
  }
  long double reals[] = {kvo__number_real(one), kvo__number_real(other)};
  bool has_text = one->form == KVO_NUMERAL || other->form == KVO_NUMERAL;
  if (has_text && is_finite(reals[0]) && is_finite(reals[1])) {
    kvo_numeral numerals[] = {numeral_of(one), numeral_of(other)};
    return kvo__numeral_compare(&numerals[0], &numerals[1]);
  }
  return (reals[0] > reals[1]) - (reals[0] < reals[1]);
}

bool kvo__number_is_nan(const kvo_number *of) { return of->form == KVO_REAL && of->real != of->real; }

bool kvo__number_equal(const kvo_number *one, const kvo_number *other) {
  return (one->type == 'B') == (other->type == 'B') && kvo__number_is_nan(one) == kvo__number_is_nan(other) &&
         kvo__number_compare(one, other) == 0;
}

/* ------------------------------------------------------------------------------------------------------------ Storing -- */

static bool store_integer(const kvo_number *of, char type, void *to) {
  bool is_negative;
  uint64_t magnitude;
  if (!integer_of(of, &is_negative, &magnitude)) return false;
  is_negative = is_negative && magnitude != 0;
  switch (type) {
#define SIGNED(code, T)                                                                                                \
  case code: {                                                                                                         \
    const uint64_t most = ((uint64_t)1 << (sizeof(T) * 8 - 1)) - 1;                                                    \
    if (magnitude > most + is_negative) return false;                                                                  \
    *(T *)to = (T)(is_negative ? -(int64_t)(magnitude - 1) - 1 : (int64_t)magnitude);                                  \
    return true;                                                                                                       \
  }
#define UNSIGNED(code, T)                                                                                              \
  case code:                                                                                                           \
    if (is_negative || magnitude > (T)-1) return false;                                                                \
    *(T *)to = (T)magnitude;                                                                                           \
    return true;
    SIGNED('c', signed char)
    UNSIGNED('C', unsigned char)
    SIGNED('s', short)
    UNSIGNED('S', unsigned short)
    SIGNED('i', int)
    UNSIGNED('I', unsigned int)
    SIGNED('l', long)
    UNSIGNED('L', unsigned long)
    SIGNED('q', long long)
    UNSIGNED('Q', unsigned long long)
#undef SIGNED
#undef UNSIGNED
    default: /* bool */
      if (is_negative || magnitude > 1) return false;
      *(bool *)to = magnitude != 0;
      return true;
  }
}

static long double rounded(long double real, char type) {
  return type == 'f' ? (long double)(float)real : type == 'd' ? (long double)(double)real : real;
}

/* The number of a floating-point type that is equal, or has the same shortest notation. */
static bool numbers_real_of(const kvo_number *of, char type, long double *to) {
  long double real = kvo__number_real(of);
  *to = rounded(real, type);
  if (of->form == KVO_REAL && (!is_finite(real) || *to == real)) return true;
  if (of->form == KVO_INTEGER) {
    kvo_number made = {.form = KVO_REAL, .real = *to};
    if (kvo__number_compare(&made, of) == 0 && *to < TOO_LARGE) return true;
  }
  kvo_numeral wanted = numeral_of(of);
  *to = kvo__numeral_real(&wanted, type); /* rounded once */
  if (!is_finite(*to)) return false;
  kvo_numeral made = kvo__numeral_of_real(*to, type);
  return kvo__numeral_same(&made, &wanted);
}

bool kvo__number_store(const kvo_number *of, char type, void *to) {
  if (strchr("fdD", type) == NULL) return store_integer(of, type, to);
  long double real;
  if (!numbers_real_of(of, type, &real)) return false;
  switch (type) {
    case 'f': *(float *)to = (float)real; break;
    case 'd': *(double *)to = (double)real; break;
    default: *(long double *)to = real;
  }
  return true;
}

/* sums.c - exact sums of decimal numbers. Each number is added with the digits of its shortest notation, so there is no rounding before the
 * end, and 0.1 and 0.2 make 0.3. */
#include "classes/numbers.h"

#include <stdlib.h>

enum { LIMB = 1000000000, LIMB_DIGITS = 9 };

static const int64_t powers[LIMB_DIGITS] = {1, 10, 100, 1000, 10000, 100000, 1000000, 10000000, 100000000};

/* Carries, so that all limbs but the last are of one sign or less than a limb. */
static void carry(kvo_sum *of) {
  for (int i = 0; i + 1 < KVO_LIMBS; i++) {
    of->limbs[i + 1] += of->limbs[i] / LIMB;
    of->limbs[i] %= LIMB;
  }
  of->additions = 0;
}

/* Adds an integer times a power of ten. False outside of the range. */
static bool add_scaled(kvo_sum *to, bool is_negative, uint64_t magnitude, int32_t exponent) {
  if (exponent < KVO_LOWEST || exponent > KVO_LOWEST + (KVO_LIMBS - 4) * LIMB_DIGITS) return false;
  int place = exponent - KVO_LOWEST, limb = place / LIMB_DIGITS;
  int64_t power = is_negative ? -powers[place % LIMB_DIGITS] : powers[place % LIMB_DIGITS];
  for (; magnitude > 0; magnitude /= LIMB, limb++) {
    int64_t product = (int64_t)(magnitude % LIMB) * power;
    to->limbs[limb] += product % LIMB;
    to->limbs[limb + 1] += product / LIMB;
  }
  if (++to->additions == UINT32_MAX) carry(to);
  return true;
}

static bool add_numeral(kvo_sum *to, const kvo_numeral *numeral) {
  if (numeral->is_cut) return false;
  /* Up to 18 digits at a time. */
  int32_t exponent = numeral->exponent;
  for (int end = numeral->count; end > 0; end -= 18, exponent += 18) {
    uint64_t part = 0;
    for (int i = end > 18 ? end - 18 : 0; i < end; i++) part = part * 10 + numeral->digits[i];
    if (!add_scaled(to, numeral->is_negative, part, exponent)) return false;
  }
  return true;
}

/* Adds a number with at most four decimals and fifteen digits, as most have. Different decimals of so many digits are different numbers, so
 * one that is equal is the shortest notation. */
static bool add_short(kvo_sum *to, long double real) {
  double number = (double)real, size = number < 0 ? -number : number;
  static const double scales[] = {1, 10, 100, 1000, 10000};
  if (!(size < 1e15) || (long double)number != real) return false;
  for (int decimals = 0; decimals <= 4; decimals++) {
    double scaled = size * scales[decimals] + 0.5;
    if (scaled >= 1e15) return false;
    uint64_t count = (uint64_t)scaled;
    if ((double)count / scales[decimals] == size) return add_scaled(to, number < 0, count, -decimals);
  }
  return false;
}

/* The nearest number, or nearly so for a numeral with few digits, whose text need not be made and read. */
static long double sums_real_of(const kvo_number *number) {
  if (number->form != KVO_NUMERAL) return kvo__number_real(number);
  const kvo_numeral *numeral = &number->numeral;
  uint64_t digits = 0;
  if (numeral->is_cut || numeral->count > 18 || numeral->exponent > 18 || numeral->exponent < -18)
    return kvo__number_real(number);
  for (int i = 0; i < numeral->count; i++) digits = digits * 10 + numeral->digits[i];
  int32_t places = numeral->exponent < 0 ? -numeral->exponent : numeral->exponent;
  long double power = (long double)powers[places % 8];
  for (; places >= 8; places -= 8) power *= 1e8L;
  long double size = numeral->exponent < 0 ? (long double)digits / power : (long double)digits * power;
  return numeral->is_negative ? -size : size;
}

void kvo__sum_add(kvo_sum *to, const kvo_number *number) {
  bool is_added;
  to->has_real = to->has_real || number->form != KVO_INTEGER;
  to->binary += sums_real_of(number);
  if (number->form == KVO_INTEGER) {
    is_added = add_scaled(to, number->is_negative, number->magnitude, 0);
  } else if (number->form == KVO_NUMERAL) {
    is_added = add_numeral(to, &number->numeral);
  } else if (number->real - number->real != 0) {
    is_added = false; /* infinite, or NaN */
  } else {
    is_added = number->type == 'd' && add_short(to, number->real);
    if (!is_added) {
      kvo_numeral numeral = kvo__numeral_of_real(number->real, number->type);
      is_added = add_numeral(to, &numeral);
    }
  }
  to->is_binary = to->is_binary || !is_added;
}

/* Makes all limbs of one sign, and returns whether it is negative. */
static bool sums_settle(kvo_sum *of) {
  carry(of);
  bool is_negative = false;
  for (int i = 0; i < KVO_LIMBS; i++)
    if (of->limbs[i] != 0) is_negative = of->limbs[i] < 0;
  for (int i = 0; i + 1 < KVO_LIMBS; i++) {
    if (is_negative ? of->limbs[i] <= 0 : of->limbs[i] >= 0) continue;
    of->limbs[i] += is_negative ? -LIMB : LIMB;
    of->limbs[i + 1] += is_negative ? 1 : -1;
  }
  return is_negative;
}

bool kvo__sum_integer(kvo_sum *of, int64_t *to) {
  if (of->has_real || of->is_binary) return false;
  bool is_negative = sums_settle(of);
  uint64_t magnitude = 0, most = (uint64_t)INT64_MAX + is_negative;
  for (int i = KVO_LIMBS - 1; i >= -KVO_LOWEST / LIMB_DIGITS; i--) {
    uint64_t limb = (uint64_t)(of->limbs[i] < 0 ? -of->limbs[i] : of->limbs[i]);
    if (magnitude > (most - limb) / LIMB) return false;
    magnitude = magnitude * LIMB + limb;
  }
  *to = is_negative && magnitude != 0 ? -(int64_t)(magnitude - 1) - 1 : (int64_t)magnitude;
  return true;
}

/* Stores the digits of settled limbs, rounded to `most` digits; the sign and is_cut are left as they are. */
static void round_digits(const kvo_sum *of, int most, kvo_numeral *to) {
  int high = KVO_LIMBS - 1, low = 0, digits = 0;
  while (high > 0 && of->limbs[high] == 0) high--;
  while (low < high && of->limbs[low] == 0) low++;
  bool rounds_up = false;
  to->count = 0;
  for (int place = (high + 1) * LIMB_DIGITS - 1; place >= low * LIMB_DIGITS && digits <= most; place--) {
    int64_t limb = of->limbs[place / LIMB_DIGITS];
    uint8_t digit = (uint8_t)((limb < 0 ? -limb : limb) / powers[place % LIMB_DIGITS] % 10);
    if (digits == 0 && digit == 0) continue;
    if (digits == most) rounds_up = digit >= 5;
    if (digits++ < most) {
      to->digits[to->count++] = digit;
      to->exponent = place + KVO_LOWEST;
    }
  }
  if (!rounds_up) return;
  int last = most - 1;
  for (; last >= 0 && to->digits[last] == 9; last--) to->digits[last] = 0;
  if (last >= 0) {
    to->digits[last]++;
  } else { /* all were 9 */
    to->digits[0] = 1;
    to->exponent++;
  }
}

/* The digits of 2^128. */
static const uint8_t limit[] = {3, 4, 0, 2, 8, 2, 3, 6, 6, 9, 2, 0, 9, 3, 8, 4, 6, 3, 4, 6,
                                3, 3, 7, 4, 6, 0, 7, 4, 3, 1, 7, 6, 8, 2, 1, 1, 4, 5, 6};

bool kvo__sum_numeral(kvo_sum *of, kvo_numeral *to) {
  if (of->is_binary) return false;
  *to = (kvo_numeral){.is_negative = sums_settle(of)};
  round_digits(of, sizeof limit, to);
  if (to->count == sizeof limit && memcmp(to->digits, limit, sizeof limit) >= 0)
    round_digits(of, (int)sizeof limit - 1, to);
  kvo__numeral_normalise(to);
  return true;
}

double kvo__sum_quotient(kvo_sum *of, uint32_t count) {
  if (of->is_binary) return (double)(of->binary / count);
  bool is_negative = sums_settle(of);
  /* One character for the sign, those of all limbs, and an exponent. */
  char text[1 + KVO_LIMBS * LIMB_DIGITS + 8], *at = text;
  if (is_negative) *at++ = '-';
  uint64_t rest = 0;
  for (int i = KVO_LIMBS - 1; i >= 0; i--) {
    uint64_t limb = (uint64_t)(of->limbs[i] < 0 ? -of->limbs[i] : of->limbs[i]), whole = rest * LIMB + limb;
    uint64_t quotient = whole / count;
    rest = whole % count;
    for (int digit = LIMB_DIGITS - 1; digit >= 0; digit--)
      *at++ = (char)('0' + quotient / (uint64_t)powers[digit] % 10);
  }
  memcpy(at, "e-360", sizeof "e-360");
  _Static_assert(KVO_LOWEST == -360, "the exponent");
  return strtod(text, NULL);
}

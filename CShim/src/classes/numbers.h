/* classes/numbers.h - numbers of any C type and numeric texts: exact conversion, comparison, sums. */
#ifndef KVO_NUMBERS_H
#define KVO_NUMBERS_H

#include "classes/classes.h"

/* ----------------------------------------------------------------------------------------------------- numerals.c -- */

/** The digits that the shortest notation of any floating-point type needs, and some more. */
enum { KVO_DIGITS = 40 };

/** A decimal number: `digits` times ten to the power of `exponent`. Normalised: no zeros at either end, and no digits for zero. */
typedef struct kvo_numeral {
  bool is_negative;
  /** A text had more digits; the last ones are missing. */
  bool is_cut;
  uint8_t count;
  /** 0 to 9, not characters. */
  uint8_t digits[KVO_DIGITS];
  int32_t exponent;
} kvo_numeral;

/** Drops zeros at both ends. */
KVO_HIDDEN void kvo__numeral_normalise(kvo_numeral *of);
/** Parses a sign, digits, a point with digits, and an exponent of at most six digits; each is optional, but there must be a digit. False
 * for any other text. */
KVO_HIDDEN bool kvo__numeral_parse(const char *text, kvo_numeral *to);
KVO_HIDDEN kvo_numeral kvo__numeral_of_integer(bool is_negative, uint64_t magnitude);
/** The shortest notation that is read as this number: of type "f", "d" or "D". The number is finite. */
KVO_HIDDEN kvo_numeral kvo__numeral_of_real(long double real, char type);
KVO_HIDDEN bool kvo__numeral_same(const kvo_numeral *one, const kvo_numeral *other);
/** The nearest number of type "f", "d" or "D". */
KVO_HIDDEN long double kvo__numeral_real(const kvo_numeral *of, char type);
/** Less than, equal to or greater than 0, as the numbers are; approximately for one that is cut. */
KVO_HIDDEN int kvo__numeral_compare(const kvo_numeral *one, const kvo_numeral *other);
/** The size of a buffer for the text of a numeral. */
enum { KVO_SUM_TEXT = KVO_DIGITS + 16 };
/** Writes digits and an exponent, such as "-12e-1"; returns the text. */
KVO_HIDDEN const char *kvo__numeral_text(const kvo_numeral *of, char text[KVO_SUM_TEXT]);
/** Stores the magnitude. False if it is no integer, or larger than 64 bits. */
KVO_HIDDEN bool kvo__numeral_integer(const kvo_numeral *of, uint64_t *magnitude);

/* ------------------------------------------------------------------------------------------------------ numbers.c -- */

/** A number as a value has it. */
typedef struct kvo_number {
  enum { KVO_INTEGER, KVO_REAL, KVO_NUMERAL } form;
  /** The code of the C type; a KVO_NUMERAL has none. */
  char type;
  /** Of a KVO_INTEGER. */
  bool is_negative;
  uint64_t magnitude;
  long double real;
  kvo_numeral numeral;
} kvo_number;

/** Reads a value that is a number, or, if `texts`, exactly a numeric text. False for any other, and for nil. */
KVO_HIDDEN bool kvo__number_read(const kvo_value *value, bool texts, kvo_number *to);
/** Less than, equal to or greater than 0, as the numbers are; numeric texts are compared with the shortest notations of others. NaN is
 * equal to all. */
KVO_HIDDEN int kvo__number_compare(const kvo_number *one, const kvo_number *other);
/** Whether two numbers are equal, whatever their types are. A bool is equal only to a bool, and NaN only to NaN. */
KVO_HIDDEN bool kvo__number_equal(const kvo_number *one, const kvo_number *other);
KVO_HIDDEN bool kvo__number_is_nan(const kvo_number *of);
/** The nearest number. */
KVO_HIDDEN long double kvo__number_real(const kvo_number *of);
/** Stores a number as the C type of an encoding. False if the type cannot represent it: between floating-point types, and between these and
 * integers or texts, numbers are equal if they are or if their shortest decimal notations are. */
KVO_HIDDEN bool kvo__number_store(const kvo_number *of, char type, void *to);

/* --------------------------------------------------------------------------------------------------------- sums.c -- */

/** How a sum keeps its digits: limbs of nine digits, the first of them for ten to the power of -360. */
enum { KVO_LIMBS = 80, KVO_LOWEST = -360 };

/** An exact sum of decimals: 0.1 and 0.2 add up to 0.3. Zero at first. */
typedef struct kvo_sum {
  int64_t limbs[KVO_LIMBS];
  uint32_t additions;
  /** What has no decimal, such as infinity, and the sum of all as a binary number in that case. */
  bool is_binary;
  long double binary;
  /** A number that is no integer has been added. */
  bool has_real;
} kvo_sum;

KVO_HIDDEN void kvo__sum_add(kvo_sum *to, const kvo_number *number);
/** Stores the sum as an int64_t. False if it has added others than integers, or is too large. */
KVO_HIDDEN bool kvo__sum_integer(kvo_sum *of, int64_t *to);
/** Stores the sum, rounded to the 38 or 39 digits that an integer of 128 bits has. False if it has added what has no decimal. */
KVO_HIDDEN bool kvo__sum_numeral(kvo_sum *of, kvo_numeral *to);
/** The number nearest to the sum divided by a count that is not 0. */
KVO_HIDDEN double kvo__sum_quotient(kvo_sum *of, uint32_t count);

#endif /* KVO_NUMBERS_H */

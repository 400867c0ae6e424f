/* value.c - values that C can read: the elements of collections, comparison, and storing one of a known type. */
#include "classes/numbers.h"

#include <stdio.h>

/* ------------------------------------------------------------------------------------------------------- Collections -- */

const kvo_collection *kvo_value_collection(const kvo_value *value) {
  if (value == NULL || value->type == NULL) return NULL;
  return value->type[0] == '[' || value->type[0] == '<' ? value->bytes : NULL;
}

size_t kvo_value_count(const kvo_value *value) {
  const kvo_collection *collection = kvo_value_collection(value);
  return collection != NULL ? collection->count : 0;
}

kvo_status kvo_value_element(const kvo_value *value, size_t position, kvo_value_reader reader, void *arg) {
  if (value == NULL || reader == NULL)
    return kvo__fail(KVO_ERROR_INVALID_ARGUMENT, "kvo_value_element: value or reader is NULL");
  const kvo_collection *collection = kvo_value_collection(value);
  if (collection == NULL) return kvo__fail(KVO_ERROR_TYPE_MISMATCH, "kvo_value_element: the value is no collection");
  if (position >= collection->count)
    return kvo__fail(KVO_ERROR_OUT_OF_RANGE, "kvo_value_element: position %zu of %zu", position, collection->count);
  return collection->element(collection, position, reader, arg);
}

static const kvo_value *value_of(const kvo_change *change, kvo_options which) {
  if (change == NULL || (which != KVO_OLD && which != KVO_NEW)) return NULL;
  return which == KVO_OLD ? change->old_value : change->new_value;
}

size_t kvo_change_count(const kvo_change *change, kvo_options which) {
  return kvo_value_count(value_of(change, which));
}

kvo_status kvo_change_element(const kvo_change *change, kvo_options which, size_t position, kvo_value_reader reader,
                              void *arg) {
  const kvo_value *value = value_of(change, which);
  if (value == NULL) return kvo__fail(KVO_ERROR_INVALID_ARGUMENT, "kvo_change_element: the change has no such value");
  return kvo_value_element(value, position, reader, arg);
}

/* ---------------------------------------------------------------------------------------------------------- Comparing -- */

/* Compares an element with one of another collection. */
typedef struct comparison {
  const kvo_value *one;
  bool is_same;
} comparison;

static void value_compare(const kvo_value *other, void *arg) {
  comparison *of = arg;
  of->is_same = kvo__value_same(of->one, other);
}

typedef struct pairing {
  const kvo_collection *other;
  size_t position;
  bool is_same;
} pairing;

static void compare_with_other(const kvo_value *one, void *arg) {
  pairing *of = arg;
  comparison inner = {one, false};
  bool is_read = of->other->element(of->other, of->position, value_compare, &inner) == KVO_OK;
  of->is_same = is_read && inner.is_same;
}

static bool are_same_elements(const kvo_collection *one, const kvo_collection *other) {
  if (one->count != other->count) return false;
  for (size_t i = 0; i < one->count; i++) {
    pairing of = {other, i, false};
    if (one->element(one, i, compare_with_other, &of) != KVO_OK || !of.is_same) return false;
  }
  return true;
}

bool kvo__value_is_nil(const kvo_value *value) {
  if (value->bytes == NULL) return true;
  bool is_text = value->type != NULL && kvo__type_unqualified(value->type)[0] == '*';
  return is_text && *(char *const *)value->bytes == NULL;
}

/* Whether two values of different types are numbers that are equal. A bool is not equal to a number. */
static bool are_equal_numbers(const kvo_value *one, const kvo_value *other) {
  kvo_number numbers[2];
  if (!kvo__number_read(one, false, &numbers[0]) || !kvo__number_read(other, false, &numbers[1])) return false;
  return kvo__number_equal(&numbers[0], &numbers[1]) && !kvo__number_is_nan(&numbers[0]);
}

bool kvo__value_same(const kvo_value *one, const kvo_value *other) {
  bool is_nil = kvo__value_is_nil(one);
  if (is_nil || kvo__value_is_nil(other)) return is_nil && kvo__value_is_nil(other);
  const kvo_collection *collections[] = {kvo_value_collection(one), kvo_value_collection(other)};
  if (collections[0] != NULL && collections[1] != NULL) return are_same_elements(collections[0], collections[1]);
  char code = one->type != NULL ? kvo__type_unqualified(one->type)[0] : '?';
  bool is_comparable =
      code != '?' && other->type != NULL && strcmp(one->type, other->type) == 0 && one->size == other->size;
  if (!is_comparable) return are_equal_numbers(one, other);
  switch (code) {
    case '*': return strcmp(*(char *const *)one->bytes, *(char *const *)other->bytes) == 0;
    case 'f': return *(const float *)one->bytes == *(const float *)other->bytes;
    case 'd': return *(const double *)one->bytes == *(const double *)other->bytes;
    case 'D': return *(const long double *)one->bytes == *(const long double *)other->bytes;
    default: return memcmp(one->bytes, other->bytes, one->size) == 0;
  }
}

/* ------------------------------------------------------------------------------------------------------------ Storing -- */

static const struct {
  const char *text;
  bool truth;
} truths[] = {{"true", true}, {"false", false}, {"YES", true}, {"NO", false}};

static bool store_truth(const char *text, bool *to) {
  for (size_t i = 0; i < sizeof truths / sizeof *truths; i++)
    if (strcmp(text, truths[i].text) == 0) {
      *to = truths[i].truth;
      return true;
    }
  return false;
}

size_t kvo__type_number_size(const char *type) {
  if (type[0] == '\0' || type[1] != '\0') return 0;
  switch (type[0]) {
    case 'c':
    case 'C':
    case 'B': return sizeof(char);
    case 's':
    case 'S': return sizeof(short);
    case 'i':
    case 'I': return sizeof(int);
    case 'l':
    case 'L': return sizeof(long);
    case 'q':
    case 'Q': return sizeof(long long);
    case 'f': return sizeof(float);
    case 'd': return sizeof(double);
    case 'D': return sizeof(long double);
    default: return 0;
  }
}

/* A value as a text for an error. */
static void value_describe(const kvo_value *value, char *to, size_t size) {
  kvo_number number;
  const char *type = kvo__type_unqualified(value->type);
  bool is_text = type[0] == '*' && value->size == sizeof(char *) && value->bytes != NULL;
  const char *text = is_text ? *(char *const *)value->bytes : NULL;
  if (text != NULL)
    snprintf(to, size, "the text '%.40s'", text);
  else if (!kvo__number_read(value, false, &number))
    snprintf(to, size, "a value of type \"%.40s\" and %zu bytes", type, value->size);
  else if (number.form == KVO_INTEGER)
    snprintf(to, size, "the number %s%llu", number.is_negative ? "-" : "", (unsigned long long)number.magnitude);
  else
    snprintf(to, size, "the number %.17Lg", number.real);
}

static kvo_status cannot_hold(const kvo_value *value, const char *type) {
  char text[128];
  value_describe(value, text, sizeof text);
  return kvo__fail(KVO_ERROR_TYPE_MISMATCH, "%s cannot be converted to the type \"%s\" without loss", text, type);
}

/* Whether a value's type is this one, apart from qualifiers. Most types have one character. */
static bool is_type(const char *given, const char *type) {
  if (given[0] == type[0] && given[1] == '\0' && type[1] == '\0') return true;
  return strcmp(kvo__type_unqualified(given), type) == 0;
}

kvo_status kvo__value_store(const kvo_value *value, const char *type, size_t size, void *to) {
  bool is_reference = type[0] == '@' || type[0] == '*';
  if (value->bytes == NULL) {
    if (!is_reference) return kvo__fail(KVO_ERROR_NO_VALUE, "nil cannot be converted to the type \"%s\"", type);
    memset(to, 0, size);
    return KVO_OK;
  }
  if (value->size == size && is_type(value->type, type)) {
    if (size == 8)
      memcpy(to, value->bytes, 8); /* without a call */
    else
      memcpy(to, value->bytes, size);
    return KVO_OK;
  }
  const char *given = kvo__type_unqualified(value->type);
  if (kvo__type_number_size(type) == 0) return cannot_hold(value, type);
  kvo_number number;
  bool is_text = given[0] == '*' && value->size == sizeof(char *) && *(char *const *)value->bytes != NULL;
  if (is_text && type[0] == 'B' && store_truth(*(char *const *)value->bytes, to)) return KVO_OK;
  bool fits = kvo__number_read(value, true, &number) && kvo__number_store(&number, type[0], to);
  return fits ? KVO_OK : cannot_hold(value, type);
}

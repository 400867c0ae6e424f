/* value.c - values that C can read: the elements of collections, comparison, and storing one of a known type. */
#include "classes/classes.h"

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
  if (value == NULL || reader == NULL) return KVO_ERROR_INVALID_ARGUMENT;
  const kvo_collection *collection = kvo_value_collection(value);
  if (collection == NULL) return KVO_ERROR_TYPE_MISMATCH;
  if (position >= collection->count) return KVO_ERROR_OUT_OF_RANGE;
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
  return value != NULL ? kvo_value_element(value, position, reader, arg) : KVO_ERROR_INVALID_ARGUMENT;
}

/* ---------------------------------------------------------------------------------------------------------- Comparing -- */

/* Compares an element with one of another collection. */
typedef struct comparison {
  const kvo_value *one;
  bool is_same;
} comparison;

static void compare(const kvo_value *other, void *arg) {
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
  bool is_read = of->other->element(of->other, of->position, compare, &inner) == KVO_OK;
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

bool kvo__value_same(const kvo_value *one, const kvo_value *other) {
  if (one->bytes == NULL || other->bytes == NULL) return one->bytes == other->bytes;
  const kvo_collection *collections[] = {kvo_value_collection(one), kvo_value_collection(other)};
  if (collections[0] != NULL && collections[1] != NULL) return are_same_elements(collections[0], collections[1]);
  char code = one->type != NULL ? kvo__type_unqualified(one->type)[0] : '?';
  bool is_comparable =
      code != '?' && other->type != NULL && strcmp(one->type, other->type) == 0 && one->size == other->size;
  if (!is_comparable) return false;
  switch (code) {
    case '*': {
      const char *texts[] = {*(char *const *)one->bytes, *(char *const *)other->bytes};
      return texts[0] == texts[1] || (texts[0] != NULL && texts[1] != NULL && strcmp(texts[0], texts[1]) == 0);
    }
    case 'f': return *(const float *)one->bytes == *(const float *)other->bytes;
    case 'd': return *(const double *)one->bytes == *(const double *)other->bytes;
    case 'D': return *(const long double *)one->bytes == *(const long double *)other->bytes;
    default: return memcmp(one->bytes, other->bytes, one->size) == 0;
  }
}

/* ------------------------------------------------------------------------------------------------------------ Storing -- */

kvo_status kvo__value_store(const kvo_value *value, const char *type, size_t size, void *to) {
  if (value->bytes == NULL) {
    if (type[0] != '@' && type[0] != '*') return KVO_ERROR_TYPE_MISMATCH;
    memset(to, 0, size);
    return KVO_OK;
  }
  if (strcmp(kvo__type_unqualified(value->type), type) != 0 || value->size != size) return KVO_ERROR_TYPE_MISMATCH;
  memcpy(to, value->bytes, size);
  return KVO_OK;
}

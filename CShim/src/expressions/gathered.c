/* gathered.c - collections that a walk makes: of copies of C values, or by the functions of a binding. */
#include "classes/numbers.h"
#include "expressions/walk.h"

/* ---------------------------------------------------------------------------------------------------------- Gathering -- */

/* The collection is made by the binding whose values it gets. */
static kvo_status gathered_begin(kvo_gathered *to) {
  kvo_gathering how = to->makes_set ? KVO_GATHER_SET : to->is_distinct ? KVO_GATHER_DISTINCT : KVO_GATHER_LIST;
  to->made = to->ops->gather(how, to->ops->count(kvo__foreign(to->of.value)));
  return to->made != NULL ? KVO_OK : KVO_ERROR_OUT_OF_MEMORY;
}

static kvo_status add_own(kvo_gathered *to, const kvo_value *value) {
  kvo_binding_value nil = kvo__foreign_nil(to->ops);
  kvo_status status = to->made != NULL ? KVO_OK : gathered_begin(to);
  if (status == KVO_OK) status = to->ops->add(to->made, value->bytes != NULL ? value->bytes : &nil);
  if (status != KVO_ERROR_TYPE_MISMATCH) return status;
  return kvo__refuse_operand(&to->of, value, to->makes_set ? KVO_REFUSED_NO_MEMBER : KVO_REFUSED_NOT_DISTINCT, NULL);
}

kvo_status kvo__gather(const kvo_value *value, void *arg) {
  kvo_gathered *to = arg;
  if (to->without_nil && value->bytes == NULL) return KVO_OK;
  if (to->ops != NULL) return add_own(to, value);
  if (to->count == to->room) {
    size_t room = to->room == 0 ? 16 : 2 * to->room;
    kvo_boxed **items = kvo__alloc(room * sizeof *items);
    if (items == NULL) return KVO_ERROR_OUT_OF_MEMORY;
    if (to->count > 0) memcpy(items, to->items, to->count * sizeof *items);
    kvo__free(to->items);
    to->items = items;
    to->room = room;
  }
  to->items[to->count] = kvo__box(value);
  if (to->items[to->count] == NULL) return KVO_ERROR_OUT_OF_MEMORY;
  to->count++;
  return KVO_OK;
}

void kvo__gathered_drop(kvo_gathered *of) {
  if (of->made != NULL) of->ops->finish(of->made, NULL);
  for (size_t i = 0; i < of->count; i++) kvo__unbox(of->items[i]);
  kvo__free(of->items);
}

/* ------------------------------------------------------------------------------------------------- Distinct C values -- */

static uint64_t mix(uint64_t hash, const void *bytes, size_t size) {
  for (size_t i = 0; i < size; i++) hash = (hash ^ ((const unsigned char *)bytes)[i]) * UINT64_C(0x100000001b3);
  return hash;
}

/* The same for values that are equal: numbers of all types are compared as such, but not with bools. */
static uint64_t gathered_hash_of(const kvo_value *value) {
  kvo_number number;
  if (kvo__number_read(value, false, &number)) {
    double real = (double)kvo__number_real(&number) + 0.0; /* no negative zero */
    return mix(1, &real, sizeof real);
  }
  if (value->bytes == NULL) return 2;
  const kvo_collection *collection = kvo_value_collection(value);
  if (collection != NULL) return mix(3, &collection->count, sizeof collection->count);
  const char *text = kvo__type_unqualified(value->type)[0] == '*' ? *(char *const *)value->bytes : NULL;
  return text != NULL ? mix(4, text, strlen(text)) : mix(5, value->bytes, value->size);
}

static bool gathered_are_equal(const kvo_value *one, const kvo_value *other) {
  kvo_number numbers[2];
  if (!kvo__number_read(one, false, &numbers[0]) || !kvo__number_read(other, false, &numbers[1]))
    return kvo__value_same(one, other);
  return kvo__number_equal(&numbers[0], &numbers[1]);
}

/* Drops what is equal to an earlier one. */
static kvo_status make_distinct(kvo_gathered *of) {
  size_t size = 16;
  while (size < 2 * of->count) size *= 2;
  const kvo_boxed **table = kvo__alloc(size * sizeof *table);
  if (table == NULL) return KVO_ERROR_OUT_OF_MEMORY;
  size_t kept = 0;
  for (size_t i = 0; i < of->count; i++) {
    uint64_t hash = gathered_hash_of(&of->items[i]->value);
    size_t at = (size_t)(hash ^ hash >> 32) & (size - 1);
    while (table[at] != NULL && !gathered_are_equal(&table[at]->value, &of->items[i]->value))
      at = (at + 1) & (size - 1);
    if (table[at] != NULL)
      kvo__unbox(of->items[i]);
    else
      table[at] = of->items[kept++] = of->items[i];
  }
  of->count = kept;
  kvo__free(table);
  return KVO_OK;
}

/* --------------------------------------------------------------------------------------------------------- The result -- */

/* The type of a collection of these values. */
static char *type_of(const kvo_gathered *of) {
  const char *common = NULL;
  for (size_t i = 0; i < of->count; i++) {
    const kvo_value *value = &of->items[i]->value;
    if (value->bytes == NULL) continue;
    if (common != NULL && strcmp(common, value->type) != 0) {
      common = NULL;
      break;
    }
    common = value->type;
  }
  if (common == NULL) common = "?";
  size_t length = strlen(common);
  char *type = kvo__alloc(length + 3);
  if (type == NULL) return NULL;
  type[0] = of->makes_set ? '<' : '[';
  memcpy(type + 1, common, length);
  type[length + 1] = of->makes_set ? '>' : ']';
  return type;
}

static kvo_status finish_own(kvo_gathered *of, kvo_path rest, kvo_value_reader reader, void *arg) {
  kvo_status status = of->made != NULL ? KVO_OK : gathered_begin(of);
  if (status != KVO_OK) return status;
  kvo_binding_value made = kvo__foreign_nil(of->ops);
  of->ops->finish(of->made, &made);
  kvo_value value = kvo__foreign_view(&made);
  status = kvo__walk_value(of->of.walk, &value, rest, reader, arg);
  of->ops->destroy(&made);
  return status;
}

kvo_status kvo__gathered_finish(kvo_gathered *of, kvo_path rest, kvo_value_reader reader, void *arg) {
  if (of->ops != NULL) return finish_own(of, rest, reader, arg);
  kvo_status status = of->makes_set || of->is_distinct ? make_distinct(of) : KVO_OK;
  char *type = status == KVO_OK ? type_of(of) : NULL;
  if (type == NULL) {
    kvo__gathered_drop(of);
    return KVO_ERROR_OUT_OF_MEMORY;
  }
  kvo_boxed *made = kvo__box_of(type, of->items, of->count);
  kvo__free(type);
  kvo__free(of->items);
  if (made == NULL) return KVO_ERROR_OUT_OF_MEMORY;
  status = kvo__walk_value(of->of.walk, &made->value, rest, reader, arg);
  kvo__unbox(made);
  return status;
}

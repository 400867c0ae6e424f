/* operators.c - the walk along key paths through collections: the elements' values, and the operators that begin with "@". */
#include "classes/numbers.h"
#include "expressions/walk.h"

/* -------------------------------------------------------------------------------------------------------- Each element -- */

typedef kvo_status (*taker)(const kvo_value *value, void *arg);

typedef struct element_walk {
  kvo_walk *walk;
  kvo_path path;
  taker take;
  void *arg;
  kvo_status status;
} element_walk;

static void take_value(const kvo_value *value, void *arg) {
  element_walk *of = arg;
  of->status = of->take(value, of->arg);
}

static void walk_element(const kvo_value *element, void *arg) {
  element_walk *of = arg;
  kvo_status status = kvo__walk_value(of->walk, element, of->path, take_value, of);
  if (status != KVO_OK) of->status = status;
}

/* Passes each element's value for a path to `take`, in order, until it or the walk fails. */
static kvo_status each(kvo_walk *walk, const kvo_value *collection, kvo_path path, taker take, void *arg) {
  const kvo_collection *elements = kvo_value_collection(collection);
  element_walk of = {walk, path, take, arg, KVO_OK};
  for (size_t i = 0; i < elements->count && of.status == KVO_OK; i++) {
    kvo_status status = elements->element(elements, i, walk_element, &of);
    if (status != KVO_OK) return status;
  }
  return of.status;
}

static bool is_set(const kvo_value *collection) { return collection->type[0] == '<'; }

/* ------------------------------------------------------------------------------------------------------------ Results -- */

/* A collection that is being made. */
typedef struct boxes {
  kvo_boxed **items;
  size_t count, room;
  bool without_nil;
} boxes;

static kvo_status add(const kvo_value *value, void *arg) {
  boxes *to = arg;
  if (to->without_nil && value->bytes == NULL) return KVO_OK;
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

static void drop(boxes *of) {
  for (size_t i = 0; i < of->count; i++) kvo__unbox(of->items[i]);
  kvo__free(of->items);
}

static uint64_t mix(uint64_t hash, const void *bytes, size_t size) {
  for (size_t i = 0; i < size; i++) hash = (hash ^ ((const unsigned char *)bytes)[i]) * UINT64_C(0x100000001b3);
  return hash;
}

/* The same for values that are equal: numbers of all types are compared as such, but not with bools. */
static uint64_t hash_of(const kvo_value *value) {
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

static bool is_bool(const kvo_value *value) { return kvo__type_unqualified(value->type)[0] == 'B'; }

static bool are_equal(const kvo_value *one, const kvo_value *other) {
  kvo_number numbers[2];
  if (!kvo__number_read(one, false, &numbers[0]) || !kvo__number_read(other, false, &numbers[1]))
    return kvo__value_same(one, other);
  return is_bool(one) == is_bool(other) && kvo__number_compare(&numbers[0], &numbers[1]) == 0;
}

/* Drops what is equal to an earlier one. */
static kvo_status make_distinct(boxes *of) {
  size_t size = 16;
  while (size < 2 * of->count) size *= 2;
  const kvo_boxed **table = kvo__alloc(size * sizeof *table);
  if (table == NULL) return KVO_ERROR_OUT_OF_MEMORY;
  size_t kept = 0;
  for (size_t i = 0; i < of->count; i++) {
    uint64_t hash = hash_of(&of->items[i]->value);
    size_t at = (size_t)(hash ^ hash >> 32) & (size - 1);
    while (table[at] != NULL && !are_equal(&table[at]->value, &of->items[i]->value)) at = (at + 1) & (size - 1);
    if (table[at] != NULL)
      kvo__unbox(of->items[i]);
    else
      table[at] = of->items[kept++] = of->items[i];
  }
  of->count = kept;
  kvo__free(table);
  return KVO_OK;
}

/* The type of a collection of these values. */
static char *type_of(const boxes *of, bool makes_set) {
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
  type[0] = makes_set ? '<' : '[';
  memcpy(type + 1, common, length);
  type[length + 1] = makes_set ? '>' : ']';
  return type;
}

/* Goes on with the values as a collection, which is freed then; so are the values. */
static kvo_status finish(kvo_walk *walk, boxes *of, bool makes_set, kvo_path rest, kvo_value_reader reader, void *arg) {
  kvo_status status = makes_set ? make_distinct(of) : KVO_OK;
  char *type = status == KVO_OK ? type_of(of, makes_set) : NULL;
  if (type == NULL) {
    drop(of);
    return KVO_ERROR_OUT_OF_MEMORY;
  }
  kvo_boxed *made = kvo__box_of(type, of->items, of->count);
  kvo__free(type);
  kvo__free(of->items);
  if (made == NULL) return KVO_ERROR_OUT_OF_MEMORY;
  status = kvo__walk_value(walk, &made->value, rest, reader, arg);
  kvo__unbox(made);
  return status;
}

/* ------------------------------------------------------------------------------------------------------------ Numbers -- */

static kvo_status wrong_operand(const kvo_value *value, const char *need) {
  return kvo__fail(KVO_ERROR_TYPE_MISMATCH, "an operand of type \"%s\" is not %s", value->type, need);
}

static kvo_status add_number(const kvo_value *value, void *arg) {
  kvo_number number;
  if (value->bytes == NULL) return KVO_OK;
  if (!kvo__number_read(value, true, &number)) return wrong_operand(value, "a number");
  kvo__sum_add(arg, &number);
  return KVO_OK;
}

static kvo_status sum(kvo_walk *walk, const kvo_value *collection, kvo_path path, bool is_average,
                      kvo_value_reader reader, void *arg) {
  kvo_sum total = {0};
  size_t count = is_average ? kvo_value_count(collection) : 1;
  kvo_value result = {"d", sizeof(double), NULL};
  if (count > UINT32_MAX) return KVO_ERROR_OUT_OF_RANGE;
  if (count > 0) {
    kvo_status status = each(walk, collection, path, add_number, &total);
    if (status != KVO_OK) return status;
  }
  int64_t integer;
  double real = 0;
  if (count > 0 && !is_average && kvo__sum_integer(&total, &integer)) {
    result = (kvo_value){"q", sizeof integer, &integer};
  } else if (count > 0) {
    real = kvo__sum_quotient(&total, (uint32_t)count);
    result.bytes = &real;
  }
  reader(&result, arg);
  return KVO_OK;
}

typedef struct extreme {
  bool is_max;
  kvo_boxed *found;
} extreme;

/* Whether a value is before the one found so far; both are numbers, or both strings. */
static kvo_status compare(const kvo_value *value, const kvo_value *found, int *order) {
  kvo_number numbers[2];
  bool are[] = {kvo__number_read(value, false, &numbers[0]), kvo__number_read(found, false, &numbers[1])};
  if (are[0] && are[1]) {
    *order = kvo__number_compare(&numbers[0], &numbers[1]);
    return KVO_OK;
  }
  bool are_strings =
      kvo__type_unqualified(value->type)[0] == '*' && kvo__type_unqualified(found->type)[0] == '*' && !are[0];
  if (!are_strings) return wrong_operand(value, "comparable with the others");
  *order = strcmp(*(char *const *)value->bytes, *(char *const *)found->bytes);
  return KVO_OK;
}

static kvo_status compare_with_found(const kvo_value *value, void *arg) {
  extreme *of = arg;
  if (value->bytes == NULL) return KVO_OK;
  int order = 0;
  kvo_status status = of->found != NULL ? compare(value, &of->found->value, &order) : KVO_OK;
  bool is_better = of->found == NULL || (of->is_max ? order >= 0 : order < 0);
  if (status != KVO_OK || !is_better) return status;
  kvo_boxed *box = kvo__box(value);
  if (box == NULL) return KVO_ERROR_OUT_OF_MEMORY;
  kvo__unbox(of->found);
  of->found = box;
  return KVO_OK;
}

static kvo_status find_extreme(kvo_walk *walk, const kvo_value *collection, kvo_path path, bool is_max,
                               kvo_value_reader reader, void *arg) {
  extreme of = {is_max, NULL};
  kvo_status status = each(walk, collection, path, compare_with_found, &of);
  kvo_value nil = {"@", sizeof(void *), NULL};
  if (status == KVO_OK) reader(of.found != NULL ? &of.found->value : &nil, arg);
  kvo__unbox(of.found);
  return status;
}

/* ------------------------------------------------------------------------------------------------------------- Unions -- */

/* Adds the values of the elements of an element. */
typedef struct leaves {
  kvo_walk *walk;
  kvo_path path;
  bool of_sets;
  boxes to;
} leaves;

static kvo_status add_leaves(const kvo_value *value, void *arg) {
  leaves *of = arg;
  bool is_right = kvo_value_collection(value) != NULL && is_set(value) == of->of_sets;
  return is_right ? each(of->walk, value, of->path, add, &of->to)
                  : wrong_operand(value, of->of_sets ? "a set" : "a list");
}

static const kvo_path no_path = {NULL, NULL};

/* Makes a union: of the elements' values, or, of `nested` collections, of their elements' values. */
static kvo_status unite(kvo_walk *walk, const kvo_value *collection, kvo_path path, bool nested, bool of_sets,
                        bool distinct, kvo_value_reader reader, void *arg) {
  leaves of = {walk, path, of_sets, {.without_nil = true}};
  kvo_status status =
      nested ? each(walk, collection, no_path, add_leaves, &of) : each(walk, collection, path, add, &of.to);
  if (status == KVO_OK && distinct) status = make_distinct(&of.to);
  if (status == KVO_OK) return finish(walk, &of.to, of_sets || (distinct && is_set(collection)), no_path, reader, arg);
  drop(&of.to);
  return status;
}

/* ----------------------------------------------------------------------------------------------------------- The walk -- */

static kvo_status no_operator(const kvo_component *name, const char *why) {
  return kvo__fail(KVO_ERROR_UNDEFINED_KEY, "'%.*s' %s", (int)(name->length < 64 ? name->length : 64), name->name, why);
}

static kvo_status apply(kvo_walk *walk, const kvo_value *collection, const kvo_component *name, kvo_path right,
                        kvo_value_reader reader, void *arg) {
  if (kvo__component_is(name, "@count")) {
    int64_t count = (int64_t)kvo_value_count(collection);
    kvo_value value = {"q", sizeof count, &count};
    reader(&value, arg);
    return KVO_OK;
  }
  if (right.at == NULL) return no_operator(name, "needs a key on its right, or is none");
  if (kvo__component_is(name, "@sum")) return sum(walk, collection, right, false, reader, arg);
  if (kvo__component_is(name, "@avg")) return sum(walk, collection, right, true, reader, arg);
  if (kvo__component_is(name, "@min")) return find_extreme(walk, collection, right, false, reader, arg);
  if (kvo__component_is(name, "@max")) return find_extreme(walk, collection, right, true, reader, arg);
  static const struct {
    const char *name;
    bool nested, of_sets, distinct;
  } unions[] = {
      {"@unionOfObjects", false, false, false},   {"@distinctUnionOfObjects", false, false, true},
      {"@unionOfArrays", true, false, false},     {"@distinctUnionOfArrays", true, false, true},
      {"@distinctUnionOfSets", true, true, true},
  };
  for (size_t i = 0; i < sizeof unions / sizeof *unions; i++) {
    bool is_defined = unions[i].distinct || !is_set(collection); /* a set has no duplicates to keep */
    if (is_defined && kvo__component_is(name, unions[i].name))
      return unite(walk, collection, right, unions[i].nested, unions[i].of_sets, unions[i].distinct, reader, arg);
  }
  return no_operator(name, is_set(collection) ? "is no operator of sets" : "is no operator");
}

/* The part of a path before its first operator. */
static kvo_path until_operator(kvo_path *path) {
  kvo_path part = *path;
  while (path->at != NULL && path->at[0] != '@') kvo__path_take(path);
  if (path->at != NULL) part.end = path->at;
  return part;
}

static kvo_status take_nothing(const kvo_value *value, void *arg) {
  (void)value, (void)arg;
  return KVO_OK;
}

kvo_status kvo__walk_collection(kvo_walk *walk, const kvo_value *collection, kvo_path path, kvo_value_reader reader,
                                void *arg) {
  if (path.at[0] == '@') {
    kvo_component name = kvo__path_take(&path);
    return walk->visit == NULL ? apply(walk, collection, &name, path, reader, arg)
                               : no_operator(&name, "cannot be set");
  }
  if (walk->visit != NULL) return each(walk, collection, path, take_nothing, NULL);
  kvo_path rest = path;
  kvo_component first = kvo__path_take(&rest);
  if (rest.at == NULL && kvo__component_is(&first, "self")) {
    reader(collection, arg);
    return KVO_OK;
  }
  if (walk->use != KVO_PATH_READ)
    return kvo__fail(KVO_ERROR_NOT_AN_OBJECT, "an observed key path goes through a collection only by an operator");
  kvo_path part = until_operator(&path);
  boxes to = {.without_nil = is_set(collection)};
  kvo_status status = each(walk, collection, part, add, &to);
  if (status == KVO_OK) return finish(walk, &to, is_set(collection), path, reader, arg);
  drop(&to);
  return status;
}

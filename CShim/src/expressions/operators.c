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

static kvo_status visit_own(kvo_binding_value *element, void *arg) {
  kvo_value value = kvo__foreign_view(element);
  walk_element(&value, arg);
  return ((element_walk *)arg)->status;
}

/* Passes each element's value for a path to `take`, in order, until it or the walk fails. */
static kvo_status each(kvo_walk *walk, const kvo_value *collection, kvo_path path, taker take, void *arg) {
  element_walk of = {walk, path, take, arg, KVO_OK};
  const kvo_binding_value *own = kvo__foreign(collection);
  if (own != NULL) return own->ops->each(own, visit_own, &of, walk->user);
  const kvo_collection *elements = kvo_value_collection(collection);
  for (size_t i = 0; i < elements->count && of.status == KVO_OK; i++) {
    kvo_status status = elements->element(elements, i, walk_element, &of);
    if (status != KVO_OK) return status;
  }
  return of.status;
}

static bool is_set(const kvo_value *collection) {
  const kvo_binding_value *own = kvo__foreign(collection);
  return own != NULL ? kvo__foreign_kind(own) == KVO_KIND_SET : collection->type[0] == '<';
}

static bool operators_is_collection(const kvo_value *value) {
  const kvo_binding_value *own = kvo__foreign(value);
  if (own == NULL) return kvo_value_collection(value) != NULL;
  return kvo__foreign_kind(own) == KVO_KIND_LIST || kvo__foreign_kind(own) == KVO_KIND_SET;
}

static size_t operators_count_of(const kvo_value *collection) {
  const kvo_binding_value *own = kvo__foreign(collection);
  return own != NULL ? own->ops->count(own) : kvo_value_count(collection);
}

/* ------------------------------------------------------------------------------------------------------------ Numbers -- */

static const char *const needs[] = {"a number", "comparable with the others", "a list", "a set"};

kvo_status kvo__refuse_operand(const kvo_operation *of, const kvo_value *operand, kvo_binding_reason reason,
                               const kvo_value *other) {
  const kvo_binding_value *own = kvo__foreign(of->value);
  if (own != NULL) {
    bool is_operator = of->name.name[0] == '@';
    kvo__foreign_refuse(of->walk,
                        &(kvo_binding_refusal){reason, own, of->name.name + is_operator, of->name.length - is_operator,
                                               kvo__foreign(operand), other != NULL ? kvo__foreign(other) : NULL});
  }
  bool is_named = reason <= KVO_REFUSED_NO_SET;
  return kvo__fail(KVO_ERROR_TYPE_MISMATCH, "an operand of type \"%s\" is not %s", operand->type,
                   is_named ? needs[reason - KVO_REFUSED_NO_NUMBER] : "comparable for equality");
}

typedef struct number_view {
  kvo_number *to;
  bool is_number;
} number_view;

static void read_view(const kvo_value *value, void *arg) {
  number_view *of = arg;
  of->is_number = kvo__number_read(value, true, of->to);
}

static bool operators_read_number(const kvo_value *value, bool texts, kvo_number *to) {
  const kvo_binding_value *own = kvo__foreign(value);
  if (own == NULL) return kvo__number_read(value, texts, to);
  number_view view = {to, false};
  own->ops->number(own, texts, read_view, &view);
  return view.is_number;
}

/* Whether a value that is not nil stands for nil. */
static bool is_null(const kvo_value *value) {
  const kvo_binding_value *own = kvo__foreign(value);
  return own != NULL && kvo__foreign_kind(own) == KVO_KIND_NULL;
}

/* A sum, or an average. */
typedef struct addition {
  const kvo_operation *of;
  kvo_sum total;
} addition;

static kvo_status add_number(const kvo_value *value, void *arg) {
  addition *to = arg;
  kvo_number number;
  if (value->bytes == NULL) return KVO_OK;
  if (operators_read_number(value, true, &number))
    kvo__sum_add(&to->total, &number);
  else if (!is_null(value))
    return kvo__refuse_operand(to->of, value, KVO_REFUSED_NO_NUMBER, NULL);
  return KVO_OK;
}

static void pass_own_sum(kvo_sum *total, size_t count, const kvo_binding_value *collection, kvo_value_reader reader,
                         void *arg) {
  char text[KVO_SUM_TEXT];
  kvo_numeral numeral;
  kvo_binding_sum sum = {.count = count, .quotient = kvo__sum_quotient(total, (uint32_t)count)};
  if (kvo__sum_numeral(total, &numeral)) {
    sum.text = kvo__numeral_text(&numeral, text);
    sum.is_short = numeral.count <= 18;
    sum.is_negative = numeral.is_negative;
    sum.exponent = numeral.exponent;
    for (int i = 0; sum.is_short && i < numeral.count; i++) sum.magnitude = sum.magnitude * 10 + numeral.digits[i];
  }
  kvo_binding_value made = kvo__foreign_nil(collection->ops);
  collection->ops->sum(&sum, &made);
  kvo_value result = kvo__foreign_view(&made);
  reader(&result, arg);
  collection->ops->destroy(&made);
}

static kvo_status sum(const kvo_operation *of, kvo_path path, bool is_average, kvo_value_reader reader, void *arg) {
  addition to = {.of = of};
  size_t count = is_average ? operators_count_of(of->value) : 1;
  kvo_value result = {"d", sizeof(double), NULL};
  if (count > UINT32_MAX) return KVO_ERROR_OUT_OF_RANGE;
  if (count > 0) {
    kvo_status status = each(of->walk, of->value, path, add_number, &to);
    if (status != KVO_OK) return status;
  }
  int64_t integer;
  double real = 0;
  if (count > 0 && kvo__foreign(of->value) != NULL) {
    pass_own_sum(&to.total, count, kvo__foreign(of->value), reader, arg);
    return KVO_OK;
  }
  if (count > 0 && !is_average && kvo__sum_integer(&to.total, &integer)) {
    result = (kvo_value){"q", sizeof integer, &integer};
  } else if (count > 0) {
    real = kvo__sum_quotient(&to.total, (uint32_t)count);
    result.bytes = &real;
  }
  reader(&result, arg);
  return KVO_OK;
}

typedef struct extreme {
  const kvo_operation *of;
  bool is_max;
  kvo_boxed *found;
} extreme;

/* Whether a value is before the one found so far; both are numbers, or both strings. */
static kvo_status operators_compare(const kvo_operation *of, const kvo_value *value, const kvo_value *found,
                                    int *order) {
  kvo_number numbers[2];
  const kvo_binding_value *own[] = {kvo__foreign(value), kvo__foreign(found)};
  bool is_less;
  if (own[0] != NULL && own[0]->ops->is_less(own[0], own[1], &is_less)) {
    *order = is_less ? -1 : 0;
    return KVO_OK;
  }
  bool are[] = {operators_read_number(value, false, &numbers[0]), operators_read_number(found, false, &numbers[1])};
  if (are[0] && are[1]) {
    *order = kvo__number_compare(&numbers[0], &numbers[1]);
    return KVO_OK;
  }
  bool are_strings =
      kvo__type_unqualified(value->type)[0] == '*' && kvo__type_unqualified(found->type)[0] == '*' && !are[0];
  if (!are_strings) return kvo__refuse_operand(of, value, KVO_REFUSED_INCOMPARABLE, found);
  *order = strcmp(*(char *const *)value->bytes, *(char *const *)found->bytes);
  return KVO_OK;
}

static kvo_status compare_with_found(const kvo_value *value, void *arg) {
  extreme *to = arg;
  if (value->bytes == NULL || is_null(value)) return KVO_OK;
  int order = 0;
  kvo_status status = to->found != NULL ? operators_compare(to->of, value, &to->found->value, &order) : KVO_OK;
  bool is_better = to->found == NULL || (to->is_max ? order >= 0 : order < 0);
  if (status != KVO_OK || !is_better) return status;
  kvo_boxed *box = kvo__box(value);
  if (box == NULL) return KVO_ERROR_OUT_OF_MEMORY;
  kvo__unbox(to->found);
  to->found = box;
  return KVO_OK;
}

static kvo_status find_extreme(const kvo_operation *of, kvo_path path, bool is_max, kvo_value_reader reader,
                               void *arg) {
  extreme to = {of, is_max, NULL};
  kvo_status status = each(of->walk, of->value, path, compare_with_found, &to);
  kvo_value nil = {"@", sizeof(void *), NULL};
  if (status == KVO_OK) reader(to.found != NULL ? &to.found->value : &nil, arg);
  kvo__unbox(to.found);
  return status;
}

/* ------------------------------------------------------------------------------------------------------------- Unions -- */

static kvo_gathered gathered_of(const kvo_operation *of) {
  const kvo_binding_value *own = kvo__foreign(of->value);
  return (kvo_gathered){.of = *of, .ops = own != NULL ? own->ops : NULL};
}

/* Adds the values of the elements of an element. */
typedef struct leaves {
  kvo_path path;
  bool of_sets;
  kvo_gathered to;
} leaves;

static bool is_nil(const kvo_value *value) {
  const kvo_binding_value *own = kvo__foreign(value);
  return own != NULL ? kvo__foreign_kind(own) == KVO_KIND_NIL : value->bytes == NULL;
}

static const kvo_path no_path = {NULL, NULL};

/* Adds the values for a path of the elements of a collection of the right kind. */
static kvo_status operators_add_collection(leaves *of, const kvo_value *value, kvo_path path) {
  bool is_right = !is_nil(value) && operators_is_collection(value) && is_set(value) == of->of_sets;
  if (is_right) return each(of->to.of.walk, value, path, kvo__gather, &of->to);
  return kvo__refuse_operand(&of->to.of, value, of->of_sets ? KVO_REFUSED_NO_SET : KVO_REFUSED_NO_LIST, NULL);
}

/* Adds the elements of an object's collection; nil has none. */
static kvo_status add_elements(const kvo_value *value, void *arg) {
  return is_nil(value) ? KVO_OK : operators_add_collection(arg, value, no_path);
}

/* The path is that of each element: of a collection it is that of its elements, and of an object it leads to a collection. */
static kvo_status add_leaves(const kvo_value *value, void *arg) {
  leaves *of = arg;
  if (is_nil(value) || operators_is_collection(value)) return operators_add_collection(of, value, of->path);
  element_walk of_object = {of->to.of.walk, of->path, add_elements, of, KVO_OK};
  walk_element(value, &of_object);
  return of_object.status;
}

/* Makes a union: of the elements' values, or, if it is `nested`, of the elements of these values, which are collections. */
static kvo_status unite(const kvo_operation *of, kvo_path path, bool nested, bool of_sets, bool distinct,
                        kvo_value_reader reader, void *arg) {
  leaves all = {path, of_sets, gathered_of(of)};
  all.to.without_nil = true;
  all.to.is_distinct = distinct;
  all.to.makes_set = of_sets || (distinct && is_set(of->value));
  kvo_status status = nested ? each(of->walk, of->value, no_path, add_leaves, &all)
                             : each(of->walk, of->value, path, kvo__gather, &all.to);
  if (status == KVO_OK) return kvo__gathered_finish(&all.to, no_path, reader, arg);
  kvo__gathered_drop(&all.to);
  return status;
}

/* ----------------------------------------------------------------------------------------------------------- The walk -- */

/* Without a key on its right the name of an operator is a key, and collections have no other keys. */
static kvo_status no_operator(const kvo_operation *of, kvo_binding_reason reason, const char *why) {
  const kvo_component *name = &of->name;
  if (kvo__foreign(of->value) != NULL)
    kvo__foreign_refuse(of->walk, &(kvo_binding_refusal){.reason = reason,
                                                         .of = kvo__foreign(of->value),
                                                         .name = name->name + 1,
                                                         .length = name->length - 1});
  return kvo__fail(KVO_ERROR_UNDEFINED_KEY, "'%.*s' %s", (int)(name->length < 64 ? name->length : 64), name->name, why);
}

static void pass_count(const kvo_value *collection, kvo_value_reader reader, void *arg) {
  int64_t count = (int64_t)operators_count_of(collection);
  kvo_value value = {"q", sizeof count, &count};
  const kvo_binding_value *own = kvo__foreign(collection);
  if (own == NULL) {
    reader(&value, arg);
    return;
  }
  kvo_binding_value made = kvo__foreign_nil(own->ops);
  own->ops->integer(count, &made);
  value = kvo__foreign_view(&made);
  reader(&value, arg);
  own->ops->destroy(&made);
}

static kvo_status operators_apply(const kvo_operation *of, kvo_path right, kvo_value_reader reader, void *arg) {
  const kvo_component *name = &of->name;
  if (kvo__component_is(name, "@count")) {
    pass_count(of->value, reader, arg);
    return KVO_OK;
  }
  if (right.at == NULL) return no_operator(of, KVO_REFUSED_KEY, "needs a key on its right, or is none");
  if (kvo__component_is(name, "@sum")) return sum(of, right, false, reader, arg);
  if (kvo__component_is(name, "@avg")) return sum(of, right, true, reader, arg);
  if (kvo__component_is(name, "@min")) return find_extreme(of, right, false, reader, arg);
  if (kvo__component_is(name, "@max")) return find_extreme(of, right, true, reader, arg);
  static const struct {
    const char *name;
    bool nested, of_sets, distinct;
  } unions[] = {
      {"@unionOfObjects", false, false, false},   {"@distinctUnionOfObjects", false, false, true},
      {"@unionOfArrays", true, false, false},     {"@distinctUnionOfArrays", true, false, true},
      {"@distinctUnionOfSets", true, true, true},
  };
  bool of_set = is_set(of->value);
  for (size_t i = 0; i < sizeof unions / sizeof *unions; i++) {
    bool is_defined = unions[i].distinct || !of_set; /* a set has no duplicates to keep */
    if (is_defined && kvo__component_is(name, unions[i].name))
      return unite(of, right, unions[i].nested, unions[i].of_sets, unions[i].distinct, reader, arg);
  }
  return no_operator(of, KVO_REFUSED_OPERATOR, of_set ? "is no operator of sets" : "is no operator");
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

static kvo_status observed_without_operator(kvo_walk *walk, const kvo_value *collection, const char *path) {
  if (kvo__foreign(collection) != NULL)
    kvo__foreign_refuse(walk, &(kvo_binding_refusal){.reason = KVO_REFUSED_COLLECTION,
                                                     .of = kvo__foreign(collection),
                                                     .name = path,
                                                     .length = strlen(path)});
  return kvo__fail(KVO_ERROR_NOT_AN_OBJECT, "an observed key path goes through a collection only by an operator");
}

kvo_status kvo__walk_collection(kvo_walk *walk, const kvo_value *collection, kvo_path path, kvo_value_reader reader,
                                void *arg) {
  kvo_operation of = {walk, collection, {"self", 4, 0}};
  if (path.at[0] == '@') {
    of.name = kvo__path_take(&path);
    return walk->visit == NULL ? operators_apply(&of, path, reader, arg)
                               : no_operator(&of, KVO_REFUSED_SETTING, "cannot be set");
  }
  if (walk->visit != NULL) return each(walk, collection, path, take_nothing, NULL);
  kvo_path rest = path;
  kvo_component first = kvo__path_take(&rest);
  if (rest.at == NULL && kvo__component_is(&first, "self")) {
    reader(collection, arg);
    return KVO_OK;
  }
  if (walk->use != KVO_PATH_READ) return observed_without_operator(walk, collection, path.at);
  kvo_path part = until_operator(&path);
  kvo_gathered to = gathered_of(&of);
  to.makes_set = to.without_nil = is_set(collection);
  kvo_status status = each(walk, collection, part, kvo__gather, &to);
  if (status == KVO_OK) return kvo__gathered_finish(&to, path, reader, arg);
  kvo__gathered_drop(&to);
  return status;
}

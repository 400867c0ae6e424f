/* numbers.c - numbers of different types in one list: their order, their equality, their sums, and conversions at the limits of types. */
#include "basket.h"

#include <kvo/kvo_scope.h>
#include <limits.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* An object whose key "n" has some type. A list of baskets holds it as well. */
typedef struct number {
  kvo_object header;
  union {
    long double aligned;
    unsigned char bytes[32];
  } n;
} number;

static kvo_object *number_of(const char *type, const void *bytes, size_t size) {
  char name[32];
  kvo_object *object;
  snprintf(name, sizeof name, "Number %s", type);
  kvo_class *cls = kvo_class_find(name);
  if (cls == NULL) {
    const kvo_property_spec property = {
        .name = "n", .type = type, .flags = KVO_PROPERTY_AT_OFFSET, .offset = offsetof(number, n)};
    kvo_class_spec spec = {.struct_size = sizeof spec,
                           .name = name,
                           .instance_size = sizeof(number),
                           .properties = &property,
                           .property_count = 1};
    CHECK_OK(kvo_class_register(&spec, &cls));
  }
  CHECK_OK(kvo_object_create(cls, &object));
  memcpy(((number *)object)->n.bytes, bytes, size);
  return object;
}

#define NUMBER(encoding, T, value) number_of(encoding, &(T){value}, sizeof(T))

static basket *list_of(kvo_object *const *objects, size_t count) {
  basket *root = basket_make("root", 0);
  for (size_t i = 0; i < count; i++)
    CHECK_OK(kvo_list_insert(as_kvo(root), "items", i, KVO_VALUE(kvo_object *, objects[i])));
  return root;
}

static void destroy_list(basket *root) {
  for (size_t i = 0; i < root->item_count; i++) kvo_object_destroy((kvo_object *)root->items[i]);
  basket_destroy(root);
}

/* Appends a value with its type, such as "i3" or "(d0.5,nil)", to a char[256]. */
static void write_typed(const kvo_value *value, void *arg) {
  char *to = arg;
  int64_t integer;
  uint64_t natural;
  double real;
  size_t length = strlen(to);
  if (kvo_value_collection(value) != NULL) {
    strcat(to, "(");
    for (size_t i = 0; i < kvo_value_count(value); i++) {
      if (i > 0) strcat(to, ",");
      CHECK_OK(kvo_value_element(value, i, write_typed, to));
    }
    strcat(to, ")");
  } else if (value->bytes == NULL) {
    strcat(to, "nil");
  } else if (value->type[0] == '*') {
    snprintf(to + length, 256 - length, "'%s'", *(const char *const *)value->bytes);
  } else if (kvo_value_int64(value, &integer) == KVO_OK) {
    snprintf(to + length, 256 - length, "%c%lld", value->type[0], (long long)integer);
  } else if (kvo_value_uint64(value, &natural) == KVO_OK) {
    snprintf(to + length, 256 - length, "%c%llu", value->type[0], (unsigned long long)natural);
  } else {
    CHECK_OK(kvo_value_double(value, &real));
    snprintf(to + length, 256 - length, "%c%.15g", value->type[0], real);
  }
}

static const char *typed_at(kvo_object *object, const char *key_path) {
  static char text[256];
  text[0] = '\0';
  kvo_status status = kvo_get_value(object, key_path, write_typed, text);
  if (status != KVO_OK) snprintf(text, sizeof text, "%s", kvo_status_string(status));
  return text;
}

/* --------------------------------------------------------------------------------------------------------------- Order -- */

static void check_order(kvo_object *less, kvo_object *greater) {
  kvo_object *const pairs[2][2] = {{less, greater}, {greater, less}};
  char expected[256];
  for (int i = 0; i < 2; i++) {
    basket *root = list_of(pairs[i], 2);
    strcpy(expected, typed_at(less, "n"));
    CHECK_EQ(typed_at(as_kvo(root), "items.@min.n"), (const char *)expected);
    strcpy(expected, typed_at(greater, "n"));
    CHECK_EQ(typed_at(as_kvo(root), "items.@max.n"), (const char *)expected);
    root->item_count = 0;
    basket_destroy(root);
  }
  kvo_object_destroy(less);
  kvo_object_destroy(greater);
}

TEST("numbers of any two types are compared as numbers, whichever is first") {
  check_order(NUMBER("c", signed char, -3), NUMBER("i", int, 2));
  check_order(NUMBER("i", int, -3), NUMBER("Q", unsigned long long, 2));
  check_order(NUMBER("i", int, -20), NUMBER("s", short, -3));
  check_order(NUMBER("i", int, -3), NUMBER("i", int, 3));
  check_order(NUMBER("i", int, -1), NUMBER("d", double, 0));
  check_order(NUMBER("d", double, -1), NUMBER("C", unsigned char, 0));
  check_order(NUMBER("i", int, 2), NUMBER("d", double, 2.5));
  check_order(NUMBER("d", double, -0.5), NUMBER("S", unsigned short, 0));
  check_order(NUMBER("f", float, 0.5f), NUMBER("I", unsigned, 1));
  check_order(NUMBER("d", double, 0.25), NUMBER("f", float, 0.5f));
  check_order(NUMBER("d", double, -2.5), NUMBER("d", double, -1.5));
  check_order(NUMBER("l", long, 9), NUMBER("d", double, 1e300));
  check_order(NUMBER("d", double, -1e300), NUMBER("L", unsigned long, 0));
  check_order(NUMBER("q", long long, LLONG_MIN), NUMBER("q", long long, LLONG_MAX));
  check_order(NUMBER("Q", unsigned long long, ULLONG_MAX), NUMBER("d", double, (double)INFINITY));
}

TEST("numbers that differ only beyond the precision of a double are compared exactly") {
  kvo_object *pair[] = {NUMBER("d", double, 9007199254740992.0), NUMBER("q", long long, 9007199254740993)};
  for (int i = 0; i < 2; i++) {
    basket *root = list_of(pair, 2);
    int64_t most = 0;
    CHECK_OK(kvo_get_int64(as_kvo(root), "items.@max.n", &most));
    CHECK_EQ(most, 9007199254740993);
    CHECK_OK(kvo_get_int64(as_kvo(root), "items.@min.n", &most));
    CHECK_EQ(most, 9007199254740992);
    root->item_count = 0;
    basket_destroy(root);
    kvo_object *first = pair[0];
    pair[0] = pair[1];
    pair[1] = first;
  }
  for (int i = 0; i < 2; i++) kvo_object_destroy(pair[i]);
}

TEST("a text is never compared with a number, not even one that could be converted") {
  kvo_object *pair[] = {NUMBER("*", const char *, "1"), NUMBER("i", int, 2)};
  for (int i = 0; i < 2; i++) {
    basket *root = list_of(pair, 2);
    CHECK_EQ(typed_at(as_kvo(root), "items.@max.n"), kvo_status_string(KVO_ERROR_TYPE_MISMATCH));
    CHECK_EQ(typed_at(as_kvo(root), "items.@min.n"), kvo_status_string(KVO_ERROR_TYPE_MISMATCH));
    CHECK_EQ(typed_at(as_kvo(root), "items.@sum.n"), "d3"); /* here it is converted */
    root->item_count = 0;
    basket_destroy(root);
    kvo_object *first = pair[0];
    pair[0] = pair[1];
    pair[1] = first;
  }
  for (int i = 0; i < 2; i++) kvo_object_destroy(pair[i]);
}

/* ------------------------------------------------------------------------------------------------------------ Equality -- */

TEST("equal numbers of different types are one in a distinct union, zeros too; a bool is equal to bools only") {
  kvo_object *objects[] = {NUMBER("i", int, 1),      NUMBER("d", double, 1),    NUMBER("Q", unsigned long long, 1),
                           NUMBER("f", float, 1),    NUMBER("B", bool, true),   NUMBER("i", int, 0),
                           NUMBER("d", double, 0),   NUMBER("d", double, -0.0), NUMBER("B", bool, false),
                           NUMBER("i", int, -3),     NUMBER("d", double, -3),   NUMBER("B", bool, true),
                           NUMBER("f", float, 0.5f), NUMBER("d", double, 0.5),  NUMBER("*", const char *, "1")};
  basket *root = list_of(objects, sizeof objects / sizeof *objects);
  CHECK_EQ(typed_at(as_kvo(root), "items.@distinctUnionOfObjects.n"), "(i1,B1,i0,B0,i-3,f0.5,'1')");
  destroy_list(root);
}

static void keep_type(const kvo_value *value, void *arg) { snprintf(arg, 64, "%s", value->type); }

TEST("a list of values of several types has the type \"[?]\", wherever the other type is") {
  for (int other = 0; other < 4; other++) {
    kvo_object *objects[3];
    for (int i = 0; i < 3; i++) objects[i] = i == other ? NUMBER("i", int, 1) : NUMBER("d", double, 2);
    basket *root = list_of(objects, 3);
    char type[64];
    CHECK_OK(kvo_get_value(as_kvo(root), "items.n", keep_type, type));
    CHECK_EQ((const char *)type, other < 3 ? "[?]" : "[d]");
    destroy_list(root);
  }
}

static void keep_count(const kvo_value *value, void *arg) { *(size_t *)arg = kvo_value_count(value); }

static size_t distinct_prices(basket *root) {
  size_t count = 0;
  CHECK_OK(kvo_get_value(as_kvo(root), "prices.@distinctUnionOfObjects.self", keep_count, &count));
  return count;
}

TEST("different numbers are never taken for equal ones, and equal ones always, whatever their hashes are") {
  basket *root = basket_make("root", 0);
  root->price_count = BASKET_ROOM;
  for (int divisor = 1; divisor <= 60; divisor++)
    for (int sign = -1; sign <= 1; sign += 2) {
      for (int i = 0; i < BASKET_ROOM; i++) root->prices[i] = (double)(sign * (i + 1)) / divisor;
      CHECK_EQ(distinct_prices(root), BASKET_ROOM);
      for (int i = 0; i < BASKET_ROOM; i++) root->prices[i] = (double)(sign * (BASKET_ROOM - i)) / divisor;
      CHECK_EQ(distinct_prices(root), BASKET_ROOM);
      for (int i = 0; i < BASKET_ROOM; i++) root->prices[i] = (double)(sign * (i % 7 + 1)) / divisor;
      CHECK_EQ(distinct_prices(root), 7);
      for (int i = 0; i < BASKET_ROOM; i++) root->prices[i] = (double)((i % 2 == 0 ? 1 : -1) * (i + 1) * divisor);
      CHECK_EQ(distinct_prices(root), BASKET_ROOM);
    }
  root->price_count = 0;
  basket_destroy(root);
}

static int changes;
static void count_change(const kvo_change *change, void *user_data) {
  (void)change, (void)user_data;
  changes++;
}

/* Puts each object at the start of a path, in a scope that tells differences; `told` are the counts of notifications after each. */
static void check_told(kvo_object *const *next, const int *told, size_t count) {
  basket *root = basket_make("root", 0);
  root->best = (basket *)next[0];
  kvo_observer observer = {.struct_size = sizeof observer,
                           .key_path = "best.n",
                           .options = KVO_NEW | KVO_OLD,
                           .callback = count_change,
                           KVO_HERE};
  kvo_observation id;
  CHECK_OK(kvo_add_observer(as_kvo(root), &observer, &id));
  changes = 0;
  for (size_t i = 0; i < count; i++) {
    kvo_scope scope;
    kvo_object *of[] = {as_kvo(root)};
    CHECK_OK(kvo_scope_begin(&scope, KVO_SCOPE_COALESCES_IF_CHANGED, of, 1, NULL, 0));
    CHECK_OK(kvo_set_object(as_kvo(root), "best", next[i]));
    kvo_scope_end(&scope);
    CHECK_EQ(changes, told[i]);
  }
  CHECK_OK(kvo_remove_observer(id));
  root->best = NULL;
  basket_destroy(root);
  for (size_t i = 0; i < count; i++) kvo_object_destroy(next[i]);
}

TEST("in a scope that tells differences equal numbers of different types are the same value") {
  kvo_object *equal[] = {NUMBER("i", int, 7), NUMBER("I", unsigned, 7), NUMBER("d", double, 7),
                         NUMBER("c", signed char, 7)};
  check_told(equal, (const int[]){0, 0, 0, 0}, 4);
  kvo_object *zeros[] = {NUMBER("q", long long, 0), NUMBER("d", double, -0.0), NUMBER("f", float, 0)};
  check_told(zeros, (const int[]){0, 0, 0}, 3);
}

TEST(
    "in a scope that tells differences numbers that differ beyond the precision of a double, bools, texts and NaN are different") {
  kvo_object *large[] = {NUMBER("q", long long, 9007199254740993), NUMBER("d", double, 9007199254740992.0),
                         NUMBER("f", float, 0.1f), NUMBER("d", double, 0.1)};
  check_told(large, (const int[]){0, 1, 2, 3}, 4);
  kvo_object *others[] = {NUMBER("i", int, 1), NUMBER("B", bool, true), NUMBER("*", const char *, "1"),
                          NUMBER("i", int, -1), NUMBER("I", unsigned, UINT_MAX)}; /* the same bytes */
  check_told(others, (const int[]){0, 1, 2, 3, 4}, 5);
  kvo_object *nans[] = {NUMBER("i", int, 1), NUMBER("d", double, (double)NAN), NUMBER("f", float, NAN),
                        NUMBER("i", int, 1)};
  check_told(nans, (const int[]){0, 1, 2, 3}, 4);
}

TEST("in a scope that tells differences the sum of no elements is the same as one that is zero") {
  basket *root = basket_make("root", 0);
  kvo_observer observer = {.struct_size = sizeof observer,
                           .key_path = "prices.@sum.self",
                           .options = KVO_NEW | KVO_OLD,
                           .callback = count_change,
                           KVO_HERE};
  kvo_observation id;
  CHECK_OK(kvo_add_observer(as_kvo(root), &observer, &id));
  changes = 0;
  kvo_scope scope;
  kvo_object *of[] = {as_kvo(root)};
  CHECK_OK(kvo_scope_begin(&scope, KVO_SCOPE_COALESCES_IF_CHANGED, of, 1, NULL, 0));
  CHECK_OK(kvo_list_insert(as_kvo(root), "prices", 0, KVO_VALUE(double, 0)));
  kvo_scope_end(&scope);
  CHECK_EQ(changes, 0);
  CHECK_OK(kvo_remove_observer(id));
  basket_destroy(root);
}

TEST("a distinct union keeps NaN beside other numbers, whatever their hashes are, and once") {
  basket *root = basket_make("root", 0);
  for (int number = 1; number <= 200; number++) {
    double prices[] = {number, (double)NAN, number + 1, (double)NAN, 2.0 * number + 1};
    memcpy(root->prices, prices, sizeof prices);
    root->price_count = 5;
    CHECK_EQ(distinct_prices(root), 4);
  }
  root->price_count = 0;
  basket_destroy(root);
}

/* ---------------------------------------------------------------------------------------------------------------- Sums -- */

static double sum_of_names(basket *root, const char *first, const char *second) {
  const char *names[] = {first, second};
  double sum = -1;
  for (size_t i = 0; i < 2; i++) CHECK_OK(kvo_list_insert(as_kvo(root), "names", i, KVO_VALUE(const char *, names[i])));
  CHECK_OK(kvo_get_double(as_kvo(root), "names.@sum.self", &sum));
  for (size_t i = 0; i < 2; i++) CHECK_OK(kvo_list_remove(as_kvo(root), "names", 0));
  return sum;
}

TEST("a text that is too small or too long to be added exactly is added approximately, with those of any size") {
  basket *root = basket_make("b", 0);
  static const struct {
    const char *text;
    double value;
  } rows[] = {{"2.5", 2.5},
              {"-2.5e-3", -0.0025},
              {"3e7", 3e7},
              {"3e-7", 3e-7},
              {"3e8", 3e8},
              {"3e-8", 3e-8},
              {"3e9", 3e9},
              {"25e14", 2.5e15},
              {"-25e15", -2.5e16},
              {"3e17", 3e17},
              {"25e-10", 25e-10},
              {"7e-16", 7e-16},
              {"12345678901234567", 12345678901234567.0},
              {"0", 0}};
  for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
    double sum = sum_of_names(root, "1e-400", rows[i].text);
    CHECK(fabs(sum - rows[i].value) <= fabs(rows[i].value) * 1e-15);
  }
  double large = sum_of_names(root, "123456789012345678901234567890123456789012345", "1e44");
  CHECK(fabs(large - 2.23456789012345678e44) <= 1e30);
  CHECK(isinf(sum_of_names(root, "1e400", "1")));
  basket_destroy(root);
}

/* --------------------------------------------------------------------------------------------------------- Conversions -- */

typedef struct target {
  kvo_object header;
  signed char c;
  int i;
  double d;
  unsigned long long Q;
  bool B;
  void *pointer;
  pair both;
} target;

static target *target_make(void) {
#define AT(member, encoding)                                                                                           \
  { .name = #member, .type = encoding, .flags = KVO_PROPERTY_AT_OFFSET, .offset = offsetof(target, member) }
  static const kvo_property_spec properties[] = {AT(c, "c"), AT(i, "i"),        AT(d, "d"),           AT(Q, "Q"),
                                                 AT(B, "B"), AT(pointer, "^v"), AT(both, "{pair=id}")};
#undef AT
  kvo_class_spec spec = {.struct_size = sizeof spec,
                         .name = "Target",
                         .instance_size = sizeof(target),
                         .properties = properties,
                         .property_count = sizeof properties / sizeof *properties};
  kvo_class *cls;
  kvo_object *object;
  CHECK_OK(kvo_class_register(&spec, &cls));
  CHECK_OK(kvo_object_create(cls, &object));
  return (target *)object;
}

TEST("the exponent of a text has at most six digits, its zeros do not count, and its sign is that of a number") {
  target *of = target_make();
  static const struct {
    const char *text;
    int value;
  } rows[] = {{"12e3", 12000},   {"2E2", 200},   {"+5", 5},  {"0e-5", 0},  {"0.00", 0},          {"-0.0", 0},
              {"1e000002", 100}, {"1.50e1", 15}, {"007", 7}, {"70e-1", 7}, {"1200e-000002", 12}, {"0e99999", 0}};
  for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
    of->i = -1;
    if (kvo_set_string(&of->header, "i", rows[i].text) != KVO_OK) harness_fail(__FILE__, __LINE__, "%s", rows[i].text);
    CHECK_EQ(of->i, rows[i].value);
  }
  CHECK_OK(kvo_set_string(&of->header, "d", "1e000012"));
  CHECK_EQ(of->d, 1e12);
  CHECK_STATUS(kvo_set_string(&of->header, "d", "1e0000001"), KVO_ERROR_TYPE_MISMATCH);
  CHECK_OK(kvo_set_string(&of->header, "d", "-0"));
  CHECK(of->d == 0 && !signbit(of->d));
  kvo_object_destroy(&of->header);
}

TEST("zeros at either end of a text are no digits, and other digits beyond the fortieth make it too long") {
  target *of = target_make();
  char text[128];
  memset(text, '0', sizeof text);
  text[0] = '1';
  text[51] = '\0';
  CHECK_OK(kvo_set_string(&of->header, "d", text));
  CHECK_EQ(of->d, 1e50);
  text[40] = '1';
  text[41] = '\0';
  CHECK_STATUS(kvo_set_string(&of->header, "d", text), KVO_ERROR_TYPE_MISMATCH);
  memset(text, '0', sizeof text);
  strcpy(text + 60, "7.5");
  CHECK_OK(kvo_set_string(&of->header, "d", text));
  CHECK_EQ(of->d, 7.5);
  kvo_object_destroy(&of->header);
}

TEST("a large integer becomes a double if it is its shortest notation, and a number no structure and no pointer") {
  target *of = target_make();
  CHECK_OK(kvo_set_uint64(&of->header, "d", UINT64_C(9999999999999990000)));
  CHECK_EQ(of->d, 9999999999999990000.0);
  CHECK_STATUS(kvo_set_uint64(&of->header, "d", UINT64_C(9999999999999990001)), KVO_ERROR_TYPE_MISMATCH);
  const target before = *of;
  void *somewhere = of;
  CHECK_STATUS(kvo_set_int64(&of->header, "both", 1), KVO_ERROR_TYPE_MISMATCH);
  CHECK_STATUS(kvo_set_int64(&of->header, "pointer", 1), KVO_ERROR_TYPE_MISMATCH);
  CHECK_STATUS(kvo_set_value(&of->header, "pointer", &(kvo_value){"^", sizeof somewhere, &somewhere}),
               KVO_ERROR_TYPE_MISMATCH);
  CHECK_EQ(of->both.number, before.both.number);
  CHECK_SAME(of->pointer, NULL);
  CHECK_OK(kvo_set_value(&of->header, "pointer", &(kvo_value){"r^v", sizeof somewhere, &somewhere}));
  CHECK_SAME(of->pointer, of);
  kvo_object_destroy(&of->header);
}

TEST("a refused conversion names the number, the text or the type that was given, and the type that was wanted") {
  target *of = target_make();
  const pair both = {1, 2};
  CHECK_STATUS(kvo_set_int64(&of->header, "c", -129), KVO_ERROR_TYPE_MISMATCH);
  CHECK_CONTAINS(kvo_last_error(), "the number -129 cannot be converted to the type \"c\" without loss");
  CHECK_STATUS(kvo_set_uint64(&of->header, "i", UINT64_MAX), KVO_ERROR_TYPE_MISMATCH);
  CHECK_CONTAINS(kvo_last_error(), "the number 18446744073709551615 cannot be converted to the type \"i\"");
  CHECK_STATUS(kvo_set_double(&of->header, "Q", -2.5), KVO_ERROR_TYPE_MISMATCH);
  CHECK_CONTAINS(kvo_last_error(), "the number -2.5 cannot be converted to the type \"Q\"");
  CHECK_STATUS(kvo_set_string(&of->header, "i", "1.5"), KVO_ERROR_TYPE_MISMATCH);
  CHECK_CONTAINS(kvo_last_error(), "the text '1.5' cannot be converted to the type \"i\" without loss");
  CHECK_STATUS(kvo_set_value(&of->header, "d", &(kvo_value){"{pair=id}", sizeof both, &both}), KVO_ERROR_TYPE_MISMATCH);
  CHECK_CONTAINS(kvo_last_error(), "a value of type \"{pair=id}\" and ");
  CHECK_STATUS(kvo_set_int64(&of->header, "both", 1), KVO_ERROR_TYPE_MISMATCH);
  CHECK_CONTAINS(kvo_last_error(), "the number 1 cannot be converted to the type \"{pair=id}\"");
  kvo_object_destroy(&of->header);
}

/* numbers.c - numbers of different types in one list: their order, their equality, and their sums, which are exact. */
#include "basket.h"
#include "made.h"

#include <float.h>
#include <kvo/kvo_scope.h>
#include <limits.h>
#include <math.h>
#include <stdio.h>
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
  snprintf(name, sizeof name, "Number %s", type);
  kvo_property_spec property = AT_OFFSET(number, n, type);
  kvo_class *cls = kvo_class_find(name);
  kvo_object *object = object_of(cls != NULL ? cls : class_made(name, sizeof(number), &property, 1));
  memcpy(((number *)object)->n.bytes, bytes, size);
  return object;
}

#define NUMBER(encoding, T, value) number_of(encoding, &(T){value}, sizeof(T))

static basket *list_of(kvo_object *const *objects, size_t count) {
  basket *root = basket_make("root", 0);
  for (size_t i = 0; i < count; i++) root->items[i] = (basket *)objects[i];
  root->item_count = count;
  return root;
}

static void destroy_list(basket *root) {
  for (size_t i = 0; i < root->item_count; i++) kvo_object_destroy((kvo_object *)root->items[i]);
  basket_destroy(root);
}

/* --------------------------------------------------------------------------------------------------------------- Order -- */

static const char *n_of(kvo_object *object) { return text_at((basket *)object, "n"); }

static void check_order(kvo_object *less, kvo_object *greater) {
  kvo_object *const pairs[2][2] = {{less, greater}, {greater, less}};
  char expected[256];
  for (int i = 0; i < 2; i++) {
    basket *root = list_of(pairs[i], 2);
    strcpy(expected, n_of(less));
    CHECK_EQ(text_at(root, "items.@min.n"), (const char *)expected);
    strcpy(expected, n_of(greater));
    CHECK_EQ(text_at(root, "items.@max.n"), (const char *)expected);
    root->item_count = i == 0 ? 0 : 2;
    destroy_list(root);
  }
}

TEST("numbers of any two types are compared as numbers, exactly, whichever is first") {
  check_order(NUMBER("c", signed char, -3), NUMBER("i", int, 2));
  check_order(NUMBER("i", int, -3), NUMBER("Q", unsigned long long, 2));
  check_order(NUMBER("i", int, -20), NUMBER("s", short, -3));
  check_order(NUMBER("i", int, -1), NUMBER("d", double, 0));
  check_order(NUMBER("d", double, -1), NUMBER("C", unsigned char, 0));
  check_order(NUMBER("i", int, 2), NUMBER("d", double, 2.5));
  check_order(NUMBER("d", double, -0.5), NUMBER("S", unsigned short, 0));
  check_order(NUMBER("f", float, 0.5f), NUMBER("I", unsigned, 1));
  check_order(NUMBER("d", double, 0.25), NUMBER("f", float, 0.5f));
  check_order(NUMBER("l", long, 9), NUMBER("d", double, 1e300));
  check_order(NUMBER("d", double, -1e300), NUMBER("L", unsigned long, 0));
  check_order(NUMBER("q", long long, LLONG_MIN), NUMBER("q", long long, LLONG_MAX));
  check_order(NUMBER("Q", unsigned long long, ULLONG_MAX), NUMBER("d", double, (double)INFINITY));
  check_order(NUMBER("d", double, 9007199254740992.0), NUMBER("q", long long, 9007199254740993));
}

TEST("a text is never compared with a number, not even one that could be converted") {
  kvo_object *text = NUMBER("*", const char *, "1"), *two = NUMBER("i", int, 2);
  kvo_object *const pairs[2][2] = {{text, two}, {two, text}};
  for (int i = 0; i < 2; i++) {
    basket *root = list_of(pairs[i], 2);
    CHECK_CONTAINS(text_at(root, "items.@max.n"), kvo_status_string(KVO_ERROR_TYPE_MISMATCH));
    CHECK_CONTAINS(text_at(root, "items.@min.n"), kvo_status_string(KVO_ERROR_TYPE_MISMATCH));
    CHECK_EQ(text_at(root, "items.@sum.n"), "3"); /* here it is converted */
    root->item_count = i == 0 ? 0 : 2;
    destroy_list(root);
  }
}

/* ------------------------------------------------------------------------------------------------------------ Equality -- */

TEST("equal numbers of different types are one in a distinct union, zeros too; a bool is equal to bools only") {
  kvo_object *objects[] = {NUMBER("i", int, 1),      NUMBER("d", double, 1),    NUMBER("Q", unsigned long long, 1),
                           NUMBER("f", float, 1),    NUMBER("B", bool, true),   NUMBER("i", int, 0),
                           NUMBER("d", double, 0),   NUMBER("d", double, -0.0), NUMBER("B", bool, false),
                           NUMBER("i", int, -3),     NUMBER("d", double, -3),   NUMBER("B", bool, true),
                           NUMBER("f", float, 0.5f), NUMBER("d", double, 0.5),  NUMBER("*", const char *, "1")};
  basket *root = list_of(objects, COUNT(objects));
  CHECK_EQ(text_at(root, "items.@distinctUnionOfObjects.n"), "(1,1,0,0,-3,0.5,\"1\")");
  destroy_list(root);
}

/* Puts each object at the start of a path, in a scope that compares; `notified` are the numbers of notifications after each. */
static void check_notified(kvo_object *const *next, const int *notified, size_t count) {
  basket *root = basket_make("root", 0);
  int calls = 0;
  root->best = (basket *)next[0];
  kvo_observation id = count_changes(as_kvo(root), "best.n", KVO_NEW | KVO_OLD, &calls);
  for (size_t i = 0; i < count; i++) {
    kvo_scope scope;
    kvo_object *of[] = {as_kvo(root)};
    CHECK_OK(kvo_scope_begin(&scope, KVO_SCOPE_COALESCES_IF_CHANGED, of, 1, NULL, 0));
    CHECK_OK(kvo_set_object(as_kvo(root), "best", next[i]));
    kvo_scope_end(&scope);
    CHECK_EQ(calls, notified[i]);
  }
  CHECK_OK(kvo_remove_observer(id));
  root->best = NULL;
  basket_destroy(root);
  for (size_t i = 0; i < count; i++) kvo_object_destroy(next[i]);
}

TEST("a scope that compares takes equal numbers of different types for one value, and zeros of both signs") {
  kvo_object *equal[] = {NUMBER("i", int, 7), NUMBER("I", unsigned, 7), NUMBER("d", double, 7),
                         NUMBER("c", signed char, 7)};
  check_notified(equal, (const int[]){0, 0, 0, 0}, 4);
  kvo_object *zeros[] = {NUMBER("q", long long, 0),  NUMBER("d", double, -0.0), NUMBER("d", double, 0),
                         NUMBER("f", float, 0),      NUMBER("f", float, -0.0f), NUMBER("D", long double, -0.0L),
                         NUMBER("D", long double, 0)};
  check_notified(zeros, (const int[]){0, 0, 0, 0, 0, 0, 0}, 7);
}

TEST("a scope that compares tells apart what differs beyond the precision of a double, bools, texts and NaN") {
  kvo_object *large[] = {NUMBER("q", long long, 9007199254740993), NUMBER("d", double, 9007199254740992.0),
                         NUMBER("f", float, 0.1f), NUMBER("d", double, 0.1)};
  check_notified(large, (const int[]){0, 1, 2, 3}, 4);
  kvo_object *others[] = {NUMBER("i", int, 1), NUMBER("B", bool, true), NUMBER("*", const char *, "1"),
                          NUMBER("i", int, -1), NUMBER("I", unsigned, UINT_MAX)}; /* the same bytes */
  check_notified(others, (const int[]){0, 1, 2, 3, 4}, 5);
  kvo_object *nans[] = {NUMBER("i", int, 1), NUMBER("d", double, (double)NAN), NUMBER("d", double, (double)NAN),
                        NUMBER("f", float, NAN), NUMBER("D", long double, (long double)NAN)};
  check_notified(nans, (const int[]){0, 1, 2, 3, 4}, 5);
}

/* ---------------------------------------------------------------------------------------------------------------- Sums -- */

static double of_prices(basket *root, const char *path, size_t count, const double *prices) {
  double result = -1;
  root->price_count = count;
  memcpy(root->prices, prices, count * sizeof *prices);
  CHECK_OK(kvo_get_double(as_kvo(root), path, &result));
  return result;
}

TEST("sums are exact: of decimals, of numbers of very different sizes, with carries and borrows of both signs") {
  static const struct {
    double numbers[3], sum;
  } rows[] = {{{0.1, 0.2, 0}, 0.3},
              {{-0.3, 0.1, 0.2}, 0},
              {{1, -0.3, 0}, 0.7},
              {{1e9, -1, 0}, 999999999},
              {{1e18, -1e-9, 0}, 1e18},
              {{-1e18, 1e-18, 1e18}, 1e-18},
              {{999999999.5, 0.5, 0}, 1e9},
              {{1e200, -1e-200, -1e200}, -1e-200},
              {{1e300, 1, -1e300}, 1},
              {{1e-300, 5e-324, 0}, 1e-300},
              {{DBL_MAX, DBL_MAX, -DBL_MAX}, DBL_MAX}};
  static const double tenths[] = {0.1, 0.1, 0.1}, infinite[] = {(double)INFINITY, 1, -(double)INFINITY};
  basket *root = basket_make("b", 0);
  for (size_t i = 0; i < COUNT(rows); i++)
    CHECK_EQ(of_prices(root, "prices.@sum.self", 3, rows[i].numbers), rows[i].sum);
  CHECK_EQ(of_prices(root, "prices.@avg.self", 3, tenths), 0.1);
  CHECK(isinf(of_prices(root, "prices.@sum.self", 2, infinite)));
  CHECK(isnan(of_prices(root, "prices.@sum.self", 3, infinite)));
  basket_destroy(root);
}

TEST("a sum of integers is an integer, unless it is too large") {
  kvo_object *pair[] = {NUMBER("q", long long, INT64_MIN), NUMBER("q", long long, INT64_MAX)};
  basket *root = list_of(pair, 2);
  CHECK_EQ(text_at(root, "items.@sum.n"), "-1");
  memcpy(((number *)pair[0])->n.bytes, &(long long){INT64_MAX}, sizeof(long long));
  double sum;
  CHECK_OK(kvo_get_double(as_kvo(root), "items.@sum.n", &sum));
  CHECK_EQ(sum, 18446744073709551614.0);
  root->item_count = 1;
  CHECK_EQ(text_at(root, "items.@sum.n"), "9223372036854775807");
  root->item_count = 2;
  destroy_list(root);
}

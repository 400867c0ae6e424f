/* conversion.c - key-value coding with C types: conversions that lose nothing, and nil. */
#include "basket.h"

#include <float.h>
#include <kvo/kvo_binding.h>
#include <limits.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

typedef struct wide {
  kvo_object header;
  signed char c;
  unsigned char C;
  short s;
  unsigned short S;
  int i;
  unsigned I;
  long l;
  unsigned long L;
  long long q;
  unsigned long long Q;
  float f;
  double d;
  long double D;
  bool B;
  char *text;
} wide;

#define ACCESSORS(name, T)                                                                                             \
  static T get_##name(const wide *of) { return of->name; }                                                             \
  static void set_##name(wide *of, T value) { of->name = value; }
ACCESSORS(c, signed char)
ACCESSORS(C, unsigned char)
ACCESSORS(s, short)
ACCESSORS(S, unsigned short)
ACCESSORS(i, int)
ACCESSORS(I, unsigned)
ACCESSORS(l, long)
ACCESSORS(L, unsigned long)
ACCESSORS(q, long long)
ACCESSORS(Q, unsigned long long)
ACCESSORS(f, float)
ACCESSORS(d, double)
ACCESSORS(D, long double)
ACCESSORS(B, bool)
ACCESSORS(text, char *)

static wide *made(void) {
  kvo_class *cls = kvo_class_find("Wide");
  kvo_object *object;
  if (cls == NULL) {
#define PROPERTY(key, encoding)                                                                                        \
  {.name = #key, .type = encoding, .getter = (kvo_function)get_##key, .setter = (kvo_function)set_##key}
    kvo_property_spec properties[] = {PROPERTY(c, "c"), PROPERTY(C, "C"), PROPERTY(s, "s"),   PROPERTY(S, "S"),
                                      PROPERTY(i, "i"), PROPERTY(I, "I"), PROPERTY(l, "l"),   PROPERTY(L, "L"),
                                      PROPERTY(q, "q"), PROPERTY(Q, "Q"), PROPERTY(f, "f"),   PROPERTY(d, "d"),
                                      PROPERTY(D, "D"), PROPERTY(B, "B"), PROPERTY(text, "*")};
    kvo_class_spec spec = {.struct_size = sizeof spec,
                           .name = "Wide",
                           .instance_size = sizeof(wide),
                           .properties = properties,
                           .property_count = sizeof properties / sizeof *properties};
    CHECK_OK(kvo_class_register(&spec, &cls));
  }
  CHECK_OK(kvo_object_create(cls, &object));
  return (wide *)object;
}

/* Variables, because some compilers keep constants with more precision than their types have. */
static volatile double tenth = 0.1, fifth = 0.2;
static volatile float tenth_of_float = 0.1f;
static volatile long double tenth_of_long = 0.1L;

#define O(object) (&(object)->header)
#define REFUSED(call) CHECK_STATUS(call, KVO_ERROR_TYPE_MISMATCH)

TEST("integers are converted if the type holds them, and refused otherwise") {
  wide *of = made();
  static const struct {
    const char *key;
    int64_t least;
    uint64_t most;
  } types[] = {{"c", INT8_MIN, INT8_MAX},
               {"C", 0, UINT8_MAX},
               {"s", INT16_MIN, INT16_MAX},
               {"S", 0, UINT16_MAX},
               {"i", INT32_MIN, INT32_MAX},
               {"I", 0, UINT32_MAX},
               {"l", LONG_MIN, LONG_MAX},
               {"L", 0, ULONG_MAX},
               {"q", INT64_MIN, INT64_MAX},
               {"Q", 0, UINT64_MAX},
               {"B", 0, 1}};
  for (size_t i = 0; i < sizeof types / sizeof *types; i++) {
    const char *key = types[i].key;
    int64_t back = 1;
    uint64_t large = 1;
    CHECK_OK(kvo_set_int64(O(of), key, types[i].least));
    CHECK_OK(kvo_get_int64(O(of), key, &back));
    CHECK_EQ(back, types[i].least);
    CHECK_OK(kvo_set_uint64(O(of), key, types[i].most));
    CHECK_OK(kvo_get_uint64(O(of), key, &large));
    CHECK_EQ(large, types[i].most);
    if (types[i].least > INT64_MIN) REFUSED(kvo_set_int64(O(of), key, types[i].least - 1));
    if (types[i].most < UINT64_MAX) REFUSED(kvo_set_uint64(O(of), key, types[i].most + 1));
    CHECK_OK(kvo_get_uint64(O(of), key, &large));
    CHECK_EQ(large, types[i].most);
  }
  uint64_t none;
  of->i = -1;
  REFUSED(kvo_get_uint64(O(of), "i", &none));
  kvo_object_destroy(O(of));
}

TEST("an integer and a floating-point number are converted if they are equal") {
  wide *of = made();
  CHECK_OK(kvo_set_double(O(of), "i", -3.0));
  CHECK_EQ(of->i, -3);
  REFUSED(kvo_set_double(O(of), "i", 2.5));
  REFUSED(kvo_set_double(O(of), "i", 2147483648.0));
  REFUSED(kvo_set_double(O(of), "i", NAN));
  REFUSED(kvo_set_double(O(of), "q", INFINITY));
  REFUSED(kvo_set_double(O(of), "q", 9223372036854775808.0));
  CHECK_OK(kvo_set_double(O(of), "Q", 9223372036854775808.0));
  REFUSED(kvo_set_double(O(of), "Q", 18446744073709551616.0));
  REFUSED(kvo_set_double(O(of), "Q", -1));
  CHECK_OK(kvo_set_double(O(of), "Q", -0.0));
  CHECK_OK(kvo_set_double(O(of), "B", 1.0));
  REFUSED(kvo_set_double(O(of), "B", 2));
  CHECK_OK(kvo_set_int64(O(of), "d", INT64_C(1) << 53));
  REFUSED(kvo_set_int64(O(of), "d", (INT64_C(1) << 53) + 1));
  REFUSED(kvo_set_int64(O(of), "f", (INT64_C(1) << 24) + 1));
  REFUSED(kvo_set_int64(O(of), "d", INT64_MAX));
  CHECK_OK(kvo_set_int64(O(of), "d", INT64_MIN));
  CHECK_EQ(of->d, -9223372036854775808.0);
  REFUSED(kvo_set_uint64(O(of), "d", UINT64_MAX));
  CHECK_OK(kvo_set_bool(O(of), "d", true));
  CHECK_EQ(of->d, 1.0);
  kvo_object_destroy(O(of));
}

TEST("floating-point numbers are converted if they are equal, or have the same shortest notation") {
  wide *of = made();
  CHECK_OK(kvo_set_double(O(of), "f", tenth));
  CHECK(of->f == tenth_of_float);
  CHECK_OK(kvo_set_double(O(of), "f", 0.5));
  volatile double sum = tenth + fifth;
  REFUSED(kvo_set_double(O(of), "f", sum));
  REFUSED(kvo_set_double(O(of), "f", 1e300));
  REFUSED(kvo_set_double(O(of), "f", 123456789.0));
  CHECK_OK(kvo_set_double(O(of), "f", INFINITY));
  CHECK(isinf(of->f));
  CHECK_OK(kvo_set_double(O(of), "f", NAN));
  CHECK(isnan(of->f));
  double back;
  of->f = 0.25f;
  CHECK_OK(kvo_get_double(O(of), "f", &back));
  CHECK_EQ(back, 0.25);
  of->f = tenth_of_float;
  CHECK_OK(kvo_get_double(O(of), "f", &back));
  CHECK(back == (double)tenth_of_float); /* which is exact */
  of->D = tenth_of_long;
  if (!harness_is_valgrind()) {
    CHECK_OK(kvo_get_double(O(of), "D", &back));
    CHECK(back == tenth);
  }
  kvo_object_destroy(O(of));
}

TEST("a long double is set to what it can hold, and keeps what is more exact than a double") {
  wide *of = made();
  CHECK_OK(kvo_set_value(O(of), "D", KVO_VALUE(long double, tenth_of_long)));
  CHECK(of->D == tenth_of_long);
  CHECK_OK(kvo_set_int64(O(of), "D", -7));
  CHECK(of->D == -7);
  CHECK_OK(kvo_set_double(O(of), "D", 0.5));
  CHECK(of->D == 0.5L);
  kvo_object_destroy(O(of));
}

static void count_change(const kvo_change *change, void *user_data) {
  (void)change;
  ++*(int *)user_data;
}

TEST("values are the same in a scope that tells differences only if they are equal, whatever their bytes") {
  wide *of = made();
  static const char *const keys[] = {"f", "d", "D", "l"};
  int calls[4] = {0};
  kvo_observation ids[4];
  for (size_t i = 0; i < 4; i++) {
    kvo_observer observer = {.struct_size = sizeof observer,
                             .key_path = keys[i],
                             .options = KVO_OLD | KVO_NEW,
                             .callback = count_change,
                             .user_data = &calls[i]};
    CHECK_OK(kvo_add_observer(O(of), &observer, &ids[i]));
  }
  static const struct {
    double real;
    int integer, told;
  } steps[] = {{-0.0, 0, 0}, {0.5, 1, 1}, {0.5, 1, 1}, {NAN, 2, 2}, {NAN, 2, 3}};
  for (size_t i = 0; i < 5; i++) {
    kvo_scope scope;
    kvo_object *object = O(of);
    CHECK_OK(kvo_scope_begin(&scope, KVO_SCOPE_COALESCES_IF_CHANGED, &object, 1, __FILE__, __LINE__));
    for (int before = 1; before >= 0; before--) {
      CHECK_OK(KVO_SET(O(of), "f", float, before ? 7 : (float)steps[i].real));
      CHECK_OK(KVO_SET(O(of), "d", double, before ? 7 : steps[i].real));
      CHECK_OK(KVO_SET(O(of), "D", long double, before ? 7 : (long double)steps[i].real));
      CHECK_OK(KVO_SET(O(of), "l", long, before ? 7 : steps[i].integer));
    }
    kvo_scope_end(&scope);
    for (size_t key = 0; key < 3; key++) CHECK_EQ(calls[key], steps[i].told);
    CHECK_EQ(calls[3], i == 4 ? 2 : steps[i].told);
  }
  for (size_t i = 0; i < 4; i++) CHECK_OK(kvo_remove_observer(ids[i]));
  kvo_object_destroy(O(of));
}

TEST("a text is converted if it is exactly a number, and a number never becomes a text") {
  wide *of = made();
  CHECK_OK(kvo_set_string(O(of), "i", "42"));
  CHECK_EQ(of->i, 42);
  CHECK_OK(kvo_set_string(O(of), "i", "-4.20e1"));
  CHECK_EQ(of->i, -42);
  CHECK_OK(kvo_set_string(O(of), "Q", "18446744073709551615"));
  CHECK(of->Q == UINT64_MAX);
  CHECK_OK(kvo_set_string(O(of), "d", "0.1"));
  CHECK(of->d == tenth);
  CHECK_OK(kvo_set_string(O(of), "d", ".5"));
  CHECK_OK(kvo_set_string(O(of), "f", "0.1"));
  static const char *const wrong[] = {"",
                                      " 1",
                                      "1 ",
                                      "0x1",
                                      "1.",
                                      "e1",
                                      "1e",
                                      "1e1234567",
                                      "abc",
                                      "--1",
                                      "1-",
                                      "nan",
                                      "inf",
                                      "1,5",
                                      "+",
                                      "-",
                                      ".",
                                      "1e+",
                                      "0.1000000000000000055511151231257827",
                                      "123456789012345678901234567890123456789012345"};
  for (size_t i = 0; i < sizeof wrong / sizeof *wrong; i++) REFUSED(kvo_set_string(O(of), "d", wrong[i]));
  REFUSED(kvo_set_string(O(of), "i", "1.5"));
  REFUSED(kvo_set_string(O(of), "i", "1e99999"));
  REFUSED(kvo_set_string(O(of), "Q", "18446744073709551616"));
  static const char *const truths[] = {"true", "YES", "1"}, *const lies[] = {"false", "NO", "0", "-0", "0e5"};
  for (size_t i = 0; i < 3; i++) {
    of->B = false;
    CHECK_OK(kvo_set_string(O(of), "B", truths[i]));
    CHECK(of->B);
  }
  for (size_t i = 0; i < 5; i++) {
    of->B = true;
    CHECK_OK(kvo_set_string(O(of), "B", lies[i]));
    CHECK(!of->B);
  }
  REFUSED(kvo_set_string(O(of), "B", "yes"));
  REFUSED(kvo_set_string(O(of), "B", "2"));
  REFUSED(kvo_set_int64(O(of), "text", 1));
  of->text = (char *)"12";
  int64_t back;
  CHECK_OK(kvo_get_int64(O(of), "text", &back));
  CHECK_EQ(back, 12);
  char *string;
  REFUSED(kvo_get_string(O(of), "i", &string));
  kvo_object_destroy(O(of));
}

TEST("a refused conversion says why, and leaves the result as it was") {
  wide *of = made();
  of->d = 2.5;
  int64_t integer = 77;
  REFUSED(kvo_get_int64(O(of), "d", &integer));
  CHECK_EQ(integer, 77);
  CHECK_CONTAINS(kvo_last_error(), "2.5");
  CHECK_CONTAINS(kvo_last_error(), "\"q\"");
  const double value = 2.5;
  REFUSED(kvo_value_int64(&(kvo_value){"d", sizeof value, &value}, &integer));
  CHECK_CONTAINS(kvo_last_error(), "kvo_value_int64: the number 2.5");
  CHECK_STATUS(kvo_value_bool(NULL, NULL), KVO_ERROR_INVALID_ARGUMENT);
  CHECK_CONTAINS(kvo_last_error(), "kvo_value_bool: value");
  kvo_object_destroy(O(of));
}

TEST("nil is NULL for strings and objects, and NO_VALUE for numbers") {
  basket *root = basket_make(NULL, 1);
  char *title = (char *)"x";
  kvo_object *best = as_kvo(root);
  double number = 5;
  bool truth;
  CHECK_OK(kvo_get_string(as_kvo(root), "title", &title));
  CHECK_SAME(title, NULL);
  CHECK_OK(kvo_get_object(as_kvo(root), "best", &best));
  CHECK_SAME(best, NULL);
  CHECK_STATUS(kvo_get_double(as_kvo(root), "best.total", &number), KVO_ERROR_NO_VALUE);
  CHECK_STATUS(kvo_get_bool(as_kvo(root), "best.total", &truth), KVO_ERROR_NO_VALUE);
  CHECK_EQ(number, 5.0);
  CHECK_OK(kvo_set_string(as_kvo(root), "title", "a title"));
  CHECK_OK(kvo_get_string(as_kvo(root), "title", &title));
  CHECK_EQ((const char *)title, "a title");
  kvo_string_free(title);
  CHECK_OK(kvo_set_string(as_kvo(root), "title", NULL));
  CHECK_SAME(root->title, NULL);
  CHECK_OK(kvo_set_object(as_kvo(root), "best", as_kvo(root)));
  CHECK_OK(kvo_get_object(as_kvo(root), "best.best.self", &best));
  CHECK_SAME(best, root);
  CHECK_OK(kvo_set_object(as_kvo(root), "best", NULL));
  CHECK_SAME(root->best, NULL);
  REFUSED(kvo_set_object(as_kvo(root), "total", as_kvo(root)));
  basket_destroy(root);
}

TEST("elements are converted when they are inserted") {
  basket *root = basket_make("b", 0);
  CHECK_OK(kvo_list_insert(as_kvo(root), "prices", 0, KVO_VALUE(int, 3)));
  CHECK_OK(kvo_list_insert(as_kvo(root), "prices", 1, KVO_VALUE(const char *, "0.25")));
  CHECK_OK(kvo_members_add(as_kvo(root), "tags", KVO_VALUE(double, 4)));
  CHECK_STATUS(kvo_members_add(as_kvo(root), "tags", KVO_VALUE(double, 4.5)), KVO_ERROR_TYPE_MISMATCH);
  CHECK_EQ(text_at(root, "prices"), "(3,0.25)");
  CHECK_EQ(text_at(root, "tags"), "(4)");
  basket_destroy(root);
}

TEST("KVO_ENCODING knows the types, and KVO_VALUE of another is refused") {
  CHECK_EQ(KVO_ENCODING(int), "i");
  CHECK_EQ(KVO_ENCODING(unsigned long), "L");
  CHECK_EQ(KVO_ENCODING(bool), "B");
  CHECK_EQ(KVO_ENCODING(const char *), "*");
  CHECK_EQ(KVO_ENCODING(kvo_object *), "@");
  CHECK_EQ(KVO_ENCODING(pair), "?");
  basket *root = basket_make("b", 0);
  pair value = {1, 2};
  CHECK_STATUS(kvo_set_value(as_kvo(root), "total", KVO_VALUE(pair, value)), KVO_ERROR_TYPE_MISMATCH);
  basket_destroy(root);
}

TEST("zero is not negative: of an integer, and of a text without a sign") {
  wide *of = made();
  double back = -1;
  CHECK_OK(kvo_get_double(O(of), "i", &back));
  CHECK(back == 0 && !signbit(back));
  CHECK_OK(kvo_set_int64(O(of), "d", 0));
  CHECK(of->d == 0 && !signbit(of->d));
  CHECK_OK(kvo_set_string(O(of), "d", "0"));
  CHECK(!signbit(of->d));
  kvo_object_destroy(O(of));
}

TEST("sums are exact: of decimals, of large integers, of numbers of very different sizes") {
  basket *root = basket_make("b", 0);
  double sum;
  for (int i = 0; i < 10; i++) CHECK_OK(kvo_list_insert(as_kvo(root), "prices", 0, KVO_VALUE(double, 0.1)));
  CHECK_OK(kvo_get_double(as_kvo(root), "prices.@sum.self", &sum));
  CHECK(sum == 1);
  root->price_count = 3;
  double mixed[][3] = {{1e300, 1, -1e300}, {1e-300, 5e-324, 0}, {-0.3, 0.1, 0.2}, {DBL_MAX, DBL_MAX, -DBL_MAX}};
  static const double sums[] = {1, 1e-300, 0, DBL_MAX};
  for (size_t i = 0; i < 4; i++) {
    memcpy(root->prices, mixed[i], sizeof mixed[i]);
    CHECK_OK(kvo_get_double(as_kvo(root), "prices.@sum.self", &sum));
    CHECK(sum == sums[i]);
  }
  root->prices[0] = INFINITY;
  CHECK_OK(kvo_get_double(as_kvo(root), "prices.@sum.self", &sum));
  CHECK(isinf(sum));
  root->prices[1] = -INFINITY;
  CHECK_OK(kvo_get_double(as_kvo(root), "prices.@sum.self", &sum));
  CHECK(isnan(sum));
  root->prices[0] = 0.1, root->prices[1] = 0.1, root->prices[2] = 0.1;
  CHECK_OK(kvo_get_double(as_kvo(root), "prices.@avg.self", &sum));
  CHECK(sum == tenth);
  CHECK_OK(kvo_list_insert(as_kvo(root), "names", 0, KVO_VALUE(const char *, "12.5")));
  CHECK_OK(kvo_list_insert(as_kvo(root), "names", 0, KVO_VALUE(const char *, "-0.25")));
  CHECK_OK(kvo_get_double(as_kvo(root), "names.@sum.self", &sum));
  CHECK(sum == 12.25);
  wide *large = made(), *other = made();
  large->q = INT64_MAX, other->q = INT64_MAX - 1;
  CHECK_OK(kvo_list_insert(as_kvo(root), "items", 0, KVO_VALUE(kvo_object *, O(large))));
  int64_t integer;
  CHECK_OK(kvo_get_int64(as_kvo(root), "items.@sum.q", &integer));
  CHECK_EQ(integer, INT64_MAX);
  large->q = INT64_MIN;
  CHECK_OK(kvo_get_int64(as_kvo(root), "items.@sum.q", &integer));
  CHECK_EQ(integer, INT64_MIN);
  CHECK_OK(kvo_list_insert(as_kvo(root), "items", 0, KVO_VALUE(kvo_object *, O(other))));
  CHECK_OK(kvo_get_int64(as_kvo(root), "items.@sum.q", &integer));
  CHECK_EQ(integer, -2);
  large->q = INT64_MAX;
  CHECK_OK(kvo_get_double(as_kvo(root), "items.@sum.q", &sum)); /* too large for an integer */
  CHECK_EQ(sum, 18446744073709551613.0);
  kvo_object_destroy(O(large));
  kvo_object_destroy(O(other));
  basket_destroy(root);
}

/* conversion.c - key-value coding with C types: conversions that lose nothing, and nil. */
#include "basket.h"
#include "made.h"

#include <limits.h>
#include <math.h>

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
  void *pointer;
  pair both;
} wide;

static wide *wide_make(void) {
#define AT(member, encoding) AT_OFFSET(wide, member, encoding)
  const kvo_property_spec properties[] = {
      AT(c, "c"), AT(C, "C"), AT(s, "s"),    AT(S, "S"),        AT(i, "i"),           AT(I, "I"),
      AT(l, "l"), AT(L, "L"), AT(q, "q"),    AT(Q, "Q"),        AT(f, "f"),           AT(d, "d"),
      AT(D, "D"), AT(B, "B"), AT(text, "*"), AT(pointer, "^v"), AT(both, "{pair=id}")};
#undef AT
  return (wide *)object_made("Wide", sizeof(wide), properties, COUNT(properties));
}

#define REFUSED(call) CHECK_STATUS(call, KVO_ERROR_TYPE_MISMATCH)

TEST("integers are converted if the type holds them, and refused otherwise") {
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
  kvo_object *object = &wide_make()->header;
  uint64_t large = 1;
  for (size_t i = 0; i < COUNT(types); i++) {
    const char *key = types[i].key;
    int64_t back = 1;
    CHECK_OK(kvo_set_int64(object, key, types[i].least));
    CHECK_OK(kvo_get_int64(object, key, &back));
    CHECK_EQ(back, types[i].least);
    CHECK_OK(kvo_set_uint64(object, key, types[i].most));
    CHECK_OK(kvo_get_uint64(object, key, &large));
    CHECK_EQ(large, types[i].most);
    if (types[i].least > INT64_MIN) REFUSED(kvo_set_int64(object, key, types[i].least - 1));
    if (types[i].most < UINT64_MAX) REFUSED(kvo_set_uint64(object, key, types[i].most + 1));
    CHECK_OK(kvo_get_uint64(object, key, &large));
    CHECK_EQ(large, types[i].most);
  }
  ((wide *)object)->i = -1;
  REFUSED(kvo_get_uint64(object, "i", &large));
  kvo_object_destroy(object);
}

TEST("a double is converted if the type has the same number, or one with the same shortest notation") {
  /* Variables, because some compilers keep constants with more precision than their types have. */
  static volatile double tenth = 0.1, fifth = 0.2;
  const struct {
    const char *key;
    double value;
    bool is_taken;
  } rows[] = {{"i", -3, true},
              {"i", 2.5, false},
              {"i", 2147483648.0, false},
              {"i", NAN, false},
              {"q", INFINITY, false},
              {"q", 9223372036854775808.0, false},
              {"Q", 9223372036854775808.0, true},
              {"Q", 18446744073709551616.0, false},
              {"Q", -1, false},
              {"Q", -0.0, true},
              {"B", 1, true},
              {"B", 2, false},
              {"f", tenth, true},
              {"f", 0.5, true},
              {"f", tenth + fifth, false},
              {"f", 1e300, false},
              {"f", 123456789.0, false},
              {"f", INFINITY, true},
              {"f", NAN, true},
              {"D", 0.5, true}};
  kvo_object *object = &wide_make()->header;
  for (size_t i = 0; i < COUNT(rows); i++) {
    double back = 0;
    if ((kvo_set_double(object, rows[i].key, rows[i].value) == KVO_OK) != rows[i].is_taken)
      harness_fail(__FILE__, __LINE__, "%g for %s", rows[i].value, rows[i].key);
    if (!rows[i].is_taken) continue;
    CHECK_OK(kvo_get_double(object, rows[i].key, &back));
    CHECK(isnan(rows[i].value) ? isnan(back) : back == rows[i].value || (float)back == (float)rows[i].value);
  }
  kvo_object_destroy(object);
}

TEST("an integer is converted to a floating-point number that is equal, or has it as its shortest notation") {
  wide *of = wide_make();
  kvo_object *object = &of->header;
  CHECK_OK(kvo_set_int64(object, "d", INT64_C(1) << 53));
  REFUSED(kvo_set_int64(object, "d", (INT64_C(1) << 53) + 1));
  REFUSED(kvo_set_int64(object, "f", (INT64_C(1) << 24) + 1));
  REFUSED(kvo_set_int64(object, "d", INT64_MAX));
  REFUSED(kvo_set_uint64(object, "d", UINT64_MAX));
  CHECK_OK(kvo_set_int64(object, "d", INT64_MIN));
  CHECK_EQ(of->d, -9223372036854775808.0);
  CHECK_OK(kvo_set_uint64(object, "d", UINT64_C(9999999999999990000)));
  CHECK_EQ(of->d, 9999999999999990000.0);
  REFUSED(kvo_set_uint64(object, "d", UINT64_C(9999999999999990001)));
  CHECK_OK(kvo_set_bool(object, "d", true));
  CHECK_EQ(of->d, 1.0);
  CHECK_OK(kvo_set_int64(object, "d", 0));
  CHECK(of->d == 0 && !signbit(of->d));
  CHECK_OK(kvo_set_int64(object, "D", -7));
  CHECK(of->D == -7);
  static volatile long double tenth = 0.1L; /* more exact than a double */
  double back = 0;
  CHECK_OK(kvo_set_value(object, "D", KVO_VALUE(long double, tenth)));
  CHECK(of->D == tenth);
  if (!harness_is_valgrind()) CHECK_OK(kvo_get_double(object, "D", &back));
  if (!harness_is_valgrind()) CHECK_EQ(back, 0.1);
  kvo_object_destroy(object);
}

TEST("a text is converted if it is exactly a number, and a number never becomes a text") {
  static const struct {
    const char *key, *text;
    double value;
  } rows[] = {{"i", "42", 42},
              {"i", "-4.20e1", -42},
              {"i", "12e3", 12000},
              {"i", "2E2", 200},
              {"i", "+5", 5},
              {"i", "0e-5", 0},
              {"i", "0.00", 0},
              {"i", "-0.0", 0},
              {"i", "1e000002", 100},
              {"i", "007", 7},
              {"i", "70e-1", 7},
              {"i", "1200e-000002", 12},
              {"i", "0e99999", 0},
              {"d", "0.1", 0.1},
              {"d", ".5", 0.5},
              {"f", "0.5", 0.5},
              {"d", "1e000012", 1e12},
              {"d", "0000000000000000000000000000000000000000000007.5", 7.5},
              {"d", "100000000000000000000000000000000000000000000000000", 1e50},
              {"B", "true", 1},
              {"B", "YES", 1},
              {"B", "1", 1},
              {"B", "false", 0},
              {"B", "NO", 0},
              {"B", "0", 0},
              {"B", "-0", 0},
              {"B", "0e5", 0}};
  wide *of = wide_make();
  kvo_object *object = &of->header;
  for (size_t i = 0; i < COUNT(rows); i++) {
    double back = -1;
    of->i = -1, of->d = -1, of->B = rows[i].value == 0;
    if (kvo_set_string(object, rows[i].key, rows[i].text) != KVO_OK)
      harness_fail(__FILE__, __LINE__, "'%s' for %s", rows[i].text, rows[i].key);
    CHECK_OK(kvo_get_double(object, rows[i].key, &back));
    CHECK_EQ(back, rows[i].value);
  }
  CHECK_OK(kvo_set_string(object, "Q", "18446744073709551615"));
  CHECK(of->Q == UINT64_MAX);
  for (int is_negative = 0; is_negative < 2; is_negative++) {
    CHECK_OK(kvo_set_string(object, "d", is_negative ? "-0" : "0"));
    CHECK(of->d == 0 && !signbit(of->d));
  }
  REFUSED(kvo_set_int64(object, "text", 1));
  of->text = (char *)"12";
  int64_t back;
  CHECK_OK(kvo_get_int64(object, "text", &back));
  CHECK_EQ(back, 12);
  char *string;
  REFUSED(kvo_get_string(object, "i", &string));
  kvo_object_destroy(object);
}

TEST("a text that is no number, has too many digits, or is none of the type is refused") {
  static const char *const wrong[] = {"",    " 1", "1 ", "0x1", "1.", "e1",  "1e",  "1e+", "abc",
                                      "--1", "1-", "+",  "-",   ".",  "nan", "inf", "1,5"};
  wide *of = wide_make();
  for (size_t i = 0; i < COUNT(wrong); i++)
    if (kvo_set_string(&of->header, "d", wrong[i]) != KVO_ERROR_TYPE_MISMATCH)
      harness_fail(__FILE__, __LINE__, "\"%s\"", wrong[i]);
  REFUSED(kvo_set_string(&of->header, "d", "1e0000001")); /* an exponent has at most six digits */
  REFUSED(kvo_set_string(&of->header, "d", "0.1000000000000000055511151231257827"));
  REFUSED(kvo_set_string(&of->header, "d", "10000000000000000000000000000000000000001"));
  REFUSED(kvo_set_string(&of->header, "i", "1.5"));
  REFUSED(kvo_set_string(&of->header, "i", "1e99999"));
  REFUSED(kvo_set_string(&of->header, "Q", "18446744073709551616"));
  REFUSED(kvo_set_string(&of->header, "B", "yes"));
  REFUSED(kvo_set_string(&of->header, "B", "2"));
  CHECK(of->d == 0 && of->i == 0 && of->Q == 0 && !of->B);
  kvo_object_destroy(&of->header);
}

TEST("a refused conversion names what was given and the type that was wanted, and leaves the result as it was") {
  wide *of = wide_make();
  kvo_object *object = &of->header;
  const pair both = {1, 2};
  const double value = 2.5;
  int64_t integer = 77;
#define SAYS(call, text)                                                                                               \
  do {                                                                                                                 \
    REFUSED(call);                                                                                                     \
    CHECK_CONTAINS(kvo_last_error(), text);                                                                            \
  } while (0)
  SAYS(kvo_set_int64(object, "c", -129), "the number -129 cannot be converted to the type \"c\" without loss");
  SAYS(kvo_set_uint64(object, "i", UINT64_MAX),
       "the number 18446744073709551615 cannot be converted to the type \"i\"");
  SAYS(kvo_set_double(object, "Q", -2.5), "the number -2.5 cannot be converted to the type \"Q\"");
  SAYS(kvo_set_string(object, "i", "1.5"), "the text '1.5' cannot be converted to the type \"i\" without loss");
  SAYS(kvo_set_value(object, "d", &(kvo_value){"{pair=id}", sizeof both, &both}), "a value of type \"{pair=id}\" and ");
  SAYS(kvo_set_int64(object, "both", 1), "the number 1 cannot be converted to the type \"{pair=id}\"");
  SAYS(kvo_set_int64(object, "pointer", 1), "the number 1 cannot be converted to the type \"^v\"");
  of->d = 2.5;
  SAYS(kvo_get_int64(object, "d", &integer), "the number 2.5 cannot be converted to the type \"q\"");
  SAYS(kvo_value_int64(&(kvo_value){"d", sizeof value, &value}, &integer), "kvo_value_int64: the number 2.5");
#undef SAYS
  CHECK_EQ(integer, 77);
  CHECK_STATUS(kvo_value_bool(NULL, NULL), KVO_ERROR_INVALID_ARGUMENT);
  CHECK_CONTAINS(kvo_last_error(), "kvo_value_bool: value");
  CHECK(of->c == 0 && of->i == 0 && of->Q == 0 && of->both.number == 0 && of->pointer == NULL);
  kvo_object_destroy(object);
}

TEST("nil is NULL for strings and objects, and NO_VALUE for numbers") {
  basket *root = basket_make(NULL, 1);
  kvo_object *object = as_kvo(root), *best = object;
  char *title = (char *)"x";
  double number = 5;
  bool truth;
  CHECK_OK(kvo_get_string(object, "title", &title));
  CHECK_SAME(title, NULL);
  CHECK_OK(kvo_get_object(object, "best", &best));
  CHECK_SAME(best, NULL);
  CHECK_STATUS(kvo_get_double(object, "best.total", &number), KVO_ERROR_NO_VALUE);
  CHECK_STATUS(kvo_get_bool(object, "best.total", &truth), KVO_ERROR_NO_VALUE);
  CHECK_EQ(number, 5.0);
  CHECK_OK(kvo_set_string(object, "title", "a title"));
  CHECK_EQ((const char *)root->title, "a title");
  CHECK_OK(kvo_set_string(object, "title", NULL));
  CHECK_SAME(root->title, NULL);
  CHECK_OK(kvo_set_object(object, "best", object));
  CHECK_OK(kvo_get_object(object, "best.best.self", &best));
  CHECK_SAME(best, root);
  CHECK_OK(kvo_set_object(object, "best", NULL));
  CHECK_SAME(root->best, NULL);
  REFUSED(kvo_set_object(object, "total", object));
  basket_destroy(root);
}

TEST("elements are converted when they are inserted") {
  basket *root = basket_make("b", 0);
  CHECK_OK(kvo_list_insert(as_kvo(root), "prices", 0, KVO_VALUE(int, 3)));
  CHECK_OK(kvo_list_insert(as_kvo(root), "prices", 1, KVO_VALUE(const char *, "0.25")));
  CHECK_OK(kvo_members_add(as_kvo(root), "tags", KVO_VALUE(double, 4)));
  REFUSED(kvo_members_add(as_kvo(root), "tags", KVO_VALUE(double, 4.5)));
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
  wide *of = wide_make();
  REFUSED(kvo_set_value(&of->header, "both", KVO_VALUE(pair, {1, 2})));
  kvo_object_destroy(&of->header);
}

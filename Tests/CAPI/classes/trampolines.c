/* trampolines.c - setters of any scalar type can be intercepted, and values are passed unchanged. */
#include "made.h"
#include "roundtrip.h"

#include <float.h>
#include <limits.h>
#include <math.h>

/* Defines a test of one scalar type with these values. */
#define TEST_SCALAR(sentence, tag, T, encoding, same, ...)                                                             \
  DEFINE_ROUNDTRIP(tag, T, encoding, same)                                                                             \
  TEST(sentence) {                                                                                                     \
    static T values[] = {__VA_ARGS__};                                                                                 \
    check_##tag(values, COUNT(values));                                                                                \
  }

TEST_SCALAR("a signed char passes with its sign", char_c, signed char, "c", SAME_BYTES, 0, 1, -1, SCHAR_MIN, SCHAR_MAX)
TEST_SCALAR("an unsigned char passes", char_C, unsigned char, "C", SAME_BYTES, 0, 1, 127, 128, UCHAR_MAX)
TEST_SCALAR("a short passes with its sign", short_s, short, "s", SAME_BYTES, 0, 1, -1, SHRT_MIN, SHRT_MAX)
TEST_SCALAR("an unsigned short passes", short_S, unsigned short, "S", SAME_BYTES, 0, 1, 0x8000, USHRT_MAX)
TEST_SCALAR("an int passes with its sign", int_i, int, "i", SAME_BYTES, 0, 1, -1, INT_MIN, INT_MAX)
TEST_SCALAR("an unsigned int passes", int_I, unsigned, "I", SAME_BYTES, 0, 1, 0x80000000u, UINT_MAX)
TEST_SCALAR("a long passes with its sign", long_l, long, "l", SAME_BYTES, 0, 1, -1, LONG_MIN, LONG_MAX, INT_MIN)
TEST_SCALAR("an unsigned long passes", long_L, unsigned long, "L", SAME_BYTES, 0, 1, ULONG_MAX, 1ul << 63)
TEST_SCALAR("a long long passes with its sign", long_q, long long, "q", SAME_BYTES, 0, -1, LLONG_MIN, LLONG_MAX)
TEST_SCALAR("an unsigned long long passes", long_Q, unsigned long long, "Q", SAME_BYTES, 0, 1, ULLONG_MAX, 1ull << 63)
TEST_SCALAR("a float passes bit by bit", float_f, float, "f", SAME_BYTES, 0.0f, -0.0f, 1.5f, FLT_MAX, -FLT_MAX,
            FLT_TRUE_MIN, INFINITY, -INFINITY, NAN, -NAN)
TEST_SCALAR("a double passes bit by bit", double_d, double, "d", SAME_BYTES, 0.0, -0.0, 1.5, DBL_MAX, -DBL_MAX,
            DBL_TRUE_MIN, (double)INFINITY, -(double)INFINITY, (double)NAN, -(double)NAN)
TEST_SCALAR("a bool passes", bool_B, bool, "B", SAME_BYTES, false, true, false)

/* Of the x87 format 10 bytes; the others are padding. */
#define SAME_LONG_DOUBLE(a, b) (memcmp(&(a), &(b), LDBL_MANT_DIG == 64 ? 10 : sizeof(long double)) == 0)
DEFINE_ROUNDTRIP(long_double, long double, "D", SAME_LONG_DOUBLE)
TEST("a long double is passed bit by bit") {
  static const long double values[] = {
      0.0L, -0.0L, 1.5L, LDBL_MAX, -LDBL_MAX, LDBL_TRUE_MIN, (long double)INFINITY, (long double)NAN, 1.0L / 3};
  if (!harness_is_valgrind()) check_long_double(values, COUNT(values));
}

typedef char *text;
typedef void *pointer;
typedef struct opaque *opaque_pointer;
typedef kvo_object *object_pointer;

/* A record has a copy of the string, so only the texts are equal. */
static bool same_text(const char *a, const char *b) { return a == NULL || b == NULL ? a == b : strcmp(a, b) == 0; }
#define SAME_TEXT(a, b) same_text(a, b)
TEST_SCALAR("a string passes, NULL and empty ones too", string, text, "*", SAME_TEXT, NULL, (char *)"", (char *)"text",
            NULL, (char *)"a longer text than any small buffer would hold, with no end in sight; or so it seems")

static int pointed;
static kvo_object some_object;
TEST_SCALAR("a pointer to void passes", pointer_v, pointer, "^v", SAME_BYTES, NULL, &pointed, (void *)-1, NULL)
TEST_SCALAR("a pointer to an opaque structure passes", pointer_o, opaque_pointer, "^{opaque}", SAME_BYTES, NULL,
            (opaque_pointer)(void *)&pointed)
TEST_SCALAR("an object passes, nil too", object, object_pointer, "@", SAME_BYTES, NULL, &some_object, NULL)
TEST_SCALAR("a selector passes", selector, pointer, ":", SAME_BYTES, NULL, &pointed, NULL)
TEST_SCALAR("a class passes", class_pointer, pointer, "#", SAME_BYTES, NULL, &pointed, NULL)

/* ---------------------------------------------------------------------------------------------------- Special setters -- */

/* A callee may rely on its caller to widen an argument that is narrower than a register, and clang's code does. */
static long long widened;

#define DEFINE_WIDENING(tag, T)                                                                                        \
  static void widen_##tag(kvo_object *of, T value) { widened = value; }                                                \
  static void check_##tag(kvo_object *object, const char *encoding, T value) {                                         \
    kvo_value boxed = {encoding, sizeof value, &value};                                                                \
    widened = 42;                                                                                                      \
    KVO_SET(object, encoding, T, value);                                                                               \
    CHECK_EQ(widened, (long long)value);                                                                               \
    widened = 42;                                                                                                      \
    CHECK_OK(kvo_set_value(object, encoding, &boxed));                                                                 \
    CHECK_EQ(widened, (long long)value);                                                                               \
  }
DEFINE_WIDENING(schar, signed char)
DEFINE_WIDENING(uchar, unsigned char)
DEFINE_WIDENING(ushort, unsigned short)
DEFINE_WIDENING(boolean, bool)

TEST("a setter gets small integers widened with their own sign") {
  static const kvo_property_spec properties[] = {
      PROPERTY("c", "c", NULL, widen_schar), PROPERTY("C", "C", NULL, widen_uchar),
      PROPERTY("S", "S", NULL, widen_ushort), PROPERTY("B", "B", NULL, widen_boolean)};
  kvo_object *object = object_made("Wide", sizeof(kvo_object), properties, COUNT(properties));
  int calls = 0;
  for (size_t i = 0; i < COUNT(properties); i++)
    count_changes(object, properties[i].name, KVO_ENDS_WITH_OBJECT, &calls);
  check_schar(object, "c", SCHAR_MIN);
  check_uchar(object, "C", UCHAR_MAX);
  check_ushort(object, "S", USHRT_MAX);
  check_boolean(object, "B", true);
  CHECK_EQ(calls, 8);
  kvo_object_destroy(object);
}

typedef struct owner {
  kvo_object header;
  char *name;
} owner;

static const char *owner_name(const owner *of) { return of->name; }
static void owner_set_name(owner *of, const char *name) {
  memset(of->name, '#', strlen(of->name)); /* so that a reader of the freed string sees a difference */
  of->name = (char *)name;
}

TEST("the old string of a record stays valid while the setter overwrites it, also if its encoding says const") {
  static const kvo_property_spec properties[] = {PROPERTY("plain", "*", owner_name, owner_set_name),
                                                 PROPERTY("constant", "r*", owner_name, owner_set_name)};
  kvo_object *object = object_made("Owner", sizeof(owner), properties, 2);
  for (int i = 0; i < 2; i++) {
    char first[] = "first", second[] = "second";
    watcher w = {0};
    ((owner *)object)->name = first;
    watch((item *)object, properties[i].name, KVO_OLD, &w);
    KVO_SET(object, properties[i].name, const char *, second);
    CHECK_EQ((const char *)w.old_value.text, "first");
    CHECK_OK(kvo_remove_observer(w.id));
  }
  kvo_object_destroy(object);
}

static double halves;
static void set_half(kvo_object *of, double value) { halves = value / 2; }

TEST("without a getter the record has the setter's argument as new value and no old one") {
  const kvo_property_spec property = PROPERTY("half", "d", NULL, set_half);
  kvo_object *object = object_made("Half", sizeof(kvo_object), &property, 1);
  watcher w = {0};
  watch((item *)object, "half", KVO_NEW | KVO_OLD, &w);
  KVO_SET(object, "half", double, 5.0);
  CHECK_EQ(halves, 2.5);
  CHECK_EQ(w.new_value.real, 5.0);
  CHECK(!w.old_value.delivered);
  CHECK_OK(kvo_remove_observer(w.id));
  kvo_object_destroy(object);
}

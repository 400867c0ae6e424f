/* structures.c - setters of structures by value, as a compiler passes them. The fuzzer of the parsers passes those of any encoding. */
#include "roundtrip.h"

/* clang-format off */
typedef struct { char a, b, c; } three_bytes;
typedef struct { long long a, b; } two_longs;
typedef struct { double a, b; } two_doubles;
typedef struct { float a, b, c; } three_floats;
typedef struct { int a; float b; } int_float;
typedef struct { long long a; double b; } long_and_double;
typedef struct { float a; int b; double c; } mixed_half;
typedef struct { double a, b, c, d; } rectangle;
typedef struct { struct { short a, b; } inner; int c; struct { float x, y; } d; } nested;
typedef struct { struct { short a, b; } pairs[3]; } array_of_structures;
typedef struct { void *a; int *b; } two_pointers;
typedef struct { unsigned char bytes[257]; } beyond_inline;
typedef struct { short a; int b; char c; } padded;
typedef struct { double a; float b; } double_float;
typedef struct { long double a; int b; } with_long_double;
typedef struct { struct { long double a[1]; } inner; } only_long_double;
typedef struct { bool a; char b; bool c; } with_bools;
/* clang-format on */

/* Compares member by member if there is padding. */
#define SAME_MEMBER(x, y, m) (memcmp(&(x).m, &(y).m, sizeof(x).m) == 0)
#define SAME_AB(x, y) (SAME_MEMBER(x, y, a) && SAME_MEMBER(x, y, b))
#define SAME_ABC(x, y) (SAME_AB(x, y) && SAME_MEMBER(x, y, c))
/* Of the x87 format 10 bytes; the others are padding. */
#define SAME_LONG_DOUBLE(x, y) (memcmp(&(x).a, &(y).a, 10) == 0 && (x).b == (y).b)
#define SAME_INNER(x, y) (memcmp(&(x).inner, &(y).inner, 10) == 0)

TEST_STRUCTURE("three bytes pass", three_bytes, three_bytes, "{three_bytes=ccc}", SAME_BYTES)
TEST_STRUCTURE("two long longs pass in two registers", two_longs, two_longs, "{two_longs=qq}", SAME_BYTES)
TEST_STRUCTURE("two doubles pass, with names in the encoding", two_doubles, two_doubles, "{point=\"x\"d\"y\"d}",
               SAME_BYTES)
TEST_STRUCTURE("three floats pass in two registers", three_floats, three_floats, "{three_floats=fff}", SAME_BYTES)
TEST_STRUCTURE("int and float share an integer register", int_float, int_float, "{int_float=if}", SAME_BYTES)
TEST_STRUCTURE("long long and double pass, one class each", long_and_double, long_and_double, "{ld=qd}", SAME_BYTES)
TEST_STRUCTURE("a mixed first half and a double second half pass", mixed_half, mixed_half, "{m=fid}", SAME_BYTES)
TEST_STRUCTURE("more than 16 bytes pass in memory", rectangle, rectangle, "{rectangle=dddd}", SAME_BYTES)
TEST_STRUCTURE("nested structures pass", nested, nested, "{n={i=ss}i{two_floats=ff}}", SAME_BYTES)
TEST_STRUCTURE("an array of structures passes", array_of_structures, array_of_structures, "{a=[3{p=ss}]}", SAME_BYTES)
TEST_STRUCTURE("pointers inside pass", two_pointers, two_pointers, "{two_pointers=^v^i}", SAME_BYTES)
TEST_STRUCTURE("one byte more than the trampoline's own block passes", beyond_inline, beyond_inline, "{b=[257C]}",
               SAME_BYTES)
TEST_STRUCTURE("padding between and after members is accounted for", padded, padded, "{padded=sic}", SAME_ABC)
TEST_STRUCTURE("padding after a float is accounted for", double_float, double_float, "{double_float=df}", SAME_AB)

DEFINE_ROUNDTRIP(with_long_double, with_long_double, "{w=Di}", SAME_LONG_DOUBLE)
DEFINE_ROUNDTRIP(only_long_double, only_long_double, "{n={o=[1D]}}", SAME_INNER)
DEFINE_ROUNDTRIP(with_bools, with_bools, "{w=BcB}", SAME_BYTES)

TEST("structures with a long double, and of one only, are passed and returned") {
  if (harness_is_valgrind()) return;
  static const with_long_double values[] = {{1.0L / 3, -1}, {-0.0L, 7}, {1e4000L, 0}};
  static const only_long_double nested[] = {{{{2.5L}}}, {{{-0.0L}}}, {{{1e4000L}}}};
  check_with_long_double(values, 3);
  check_only_long_double(nested, 3);
}

TEST("a structure with bools is passed") {
  static const with_bools values[] = {{true, -1, false}, {false, 127, true}, {true, 0, true}};
  check_with_bools(values, 3);
}

/* structures.c - setters of structures by value: every class of the x86-64 calling convention, and more. */
#include "roundtrip.h"

/* clang-format off */
typedef struct { char a; } one_byte;
typedef struct { char a, b, c; } three_bytes;
typedef struct { int a; } one_int;
typedef struct { int a, b, c; } three_ints;
typedef struct { long long a, b; } two_longs;
typedef struct { double a; } one_double;
typedef struct { double a, b; } two_doubles;
typedef struct { float a; } one_float;
typedef struct { float a, b; } two_floats;
typedef struct { float a, b, c; } three_floats;
typedef struct { float a, b, c, d; } four_floats;
typedef struct { int a; float b; } int_float;
typedef struct { double a; long long b; } double_long;
typedef struct { long long a; double b; } long_double_pair;
typedef struct { float a; int b; double c; } mixed_eightbyte;
typedef struct { long long a, b, c; } three_longs;
typedef struct { double a, b, c, d; } rectangle;
typedef struct { two_doubles origin, size; } nested_rectangle;
typedef struct { struct { short a; short b; } inner; int c; two_floats d; } nested_small;
typedef struct { int values[1]; } array_of_one;
typedef struct { unsigned char bytes[7]; } seven_bytes;
typedef struct { unsigned char bytes[16]; } sixteen_bytes;
typedef struct { float values[2]; } float_array;
typedef struct { int grid[2][3]; } int_grid;
typedef struct { struct { short a, b; } pairs[3]; } array_of_structures;
typedef struct { void *a; int *b; } two_pointers;
typedef struct { long long values[50]; } four_hundred_bytes;
typedef struct { unsigned char bytes[257]; } beyond_inline;
typedef struct { char a; double b; } char_double;
typedef struct { short a; int b; char c; } padded;
typedef struct { double a; float b; } double_float;
/* clang-format on */

/* Compares member by member if there is padding. */
#define SAME_MEMBER(a, b, m) (memcmp(&(a).m, &(b).m, sizeof(a).m) == 0)
#define SAME_AB(x, y) (SAME_MEMBER(x, y, a) && SAME_MEMBER(x, y, b))
#define SAME_ABC(x, y) (SAME_AB(x, y) && SAME_MEMBER(x, y, c))

TEST_STRUCTURE("a structure of one byte passes", one_byte, one_byte, "{one_byte=c}", SAME_BYTES)
TEST_STRUCTURE("a structure of three bytes passes", three_bytes, three_bytes, "{three_bytes=ccc}", SAME_BYTES)
TEST_STRUCTURE("a structure of one int passes", one_int, one_int, "{one_int=i}", SAME_BYTES)
TEST_STRUCTURE("a structure of three ints passes in two registers", three_ints, three_ints, "{three_ints=iii}",
               SAME_BYTES)
TEST_STRUCTURE("a structure of two long longs passes", two_longs, two_longs, "{two_longs=qq}", SAME_BYTES)
TEST_STRUCTURE("a structure of one double passes", one_double, one_double, "{one_double=d}", SAME_BYTES)
TEST_STRUCTURE("a structure of two doubles passes", two_doubles, two_doubles, "{two_doubles=dd}", SAME_BYTES)
TEST_STRUCTURE("a structure of one float passes", one_float, one_float, "{one_float=f}", SAME_BYTES)
TEST_STRUCTURE("two floats pass in one register", two_floats, two_floats, "{two_floats=ff}", SAME_BYTES)
TEST_STRUCTURE("three floats pass in two registers", three_floats, three_floats, "{three_floats=fff}", SAME_BYTES)
TEST_STRUCTURE("four floats pass", four_floats, four_floats, "{four_floats=ffff}", SAME_BYTES)
TEST_STRUCTURE("int and float share an integer register", int_float, int_float, "{int_float=if}", SAME_BYTES)
TEST_STRUCTURE("double and long long pass, one class each", double_long, double_long, "{double_long=dq}", SAME_BYTES)
TEST_STRUCTURE("long long and double pass, one class each", long_double_pair, long_double_pair, "{ld=qd}", SAME_BYTES)
TEST_STRUCTURE("a mixed first half and a double second half pass", mixed_eightbyte, mixed_eightbyte, "{m=fid}",
               SAME_BYTES)
TEST_STRUCTURE("more than 16 bytes of integers pass in memory", three_longs, three_longs, "{three_longs=qqq}",
               SAME_BYTES)
TEST_STRUCTURE("more than 16 bytes of doubles pass in memory", rectangle, rectangle, "{rectangle=dddd}", SAME_BYTES)
TEST_STRUCTURE("nested structures pass", nested_rectangle, nested_rectangle, "{r={p=dd}{s=dd}}", SAME_BYTES)
TEST_STRUCTURE("small nested structures pass", nested_small, nested_small, "{n={i=ss}i{two_floats=ff}}", SAME_BYTES)
TEST_STRUCTURE("an array of one int inside passes", array_of_one, array_of_one, "{array_of_one=[1i]}", SAME_BYTES)
TEST_STRUCTURE("an array of seven bytes inside passes", seven_bytes, seven_bytes, "{seven=[7C]}", SAME_BYTES)
TEST_STRUCTURE("an array of sixteen bytes inside passes", sixteen_bytes, sixteen_bytes, "{sixteen=[16C]}", SAME_BYTES)
TEST_STRUCTURE("an array of floats inside passes", float_array, float_array, "{float_array=[2f]}", SAME_BYTES)
TEST_STRUCTURE("an array of arrays inside passes", int_grid, int_grid, "{int_grid=[2[3i]]}", SAME_BYTES)
TEST_STRUCTURE("an array of structures inside passes", array_of_structures, array_of_structures, "{a=[3{p=ss}]}",
               SAME_BYTES)
TEST_STRUCTURE("pointers inside pass", two_pointers, two_pointers, "{two_pointers=^v^i}", SAME_BYTES)
TEST_STRUCTURE("400 bytes pass", four_hundred_bytes, four_hundred_bytes, "{big=[50q]}", SAME_BYTES)
TEST_STRUCTURE("257 bytes, one more than the trampoline's own block, pass", beyond_inline, beyond_inline, "{b=[257C]}",
               SAME_BYTES)
TEST_STRUCTURE("padding before a double is accounted for", char_double, char_double, "{char_double=cd}", SAME_AB)
TEST_STRUCTURE("padding between and after small members is accounted for", padded, padded, "{padded=sic}", SAME_ABC)
TEST_STRUCTURE("padding after a float is accounted for", double_float, double_float, "{double_float=df}", SAME_AB)
TEST_STRUCTURE("field names in the encoding are skipped", named_fields, two_doubles, "{point=\"x\"d\"y\"d}", SAME_BYTES)

typedef struct {
  long double a;
  int b;
} with_long_double;
#define SAME_LONG_DOUBLE_MEMBER(x, y) (memcmp(&(x).a, &(y).a, 10) == 0 && (x).b == (y).b)
DEFINE_ROUNDTRIP(with_long_double, with_long_double, "{w=Di}", SAME_LONG_DOUBLE_MEMBER)
TEST("a structure with a long double is passed") {
  if (harness_is_valgrind()) return;
  static const with_long_double values[] = {{1.0L / 3, -1}, {-0.0L, 7}, {1e4000L, 0}};
  check_with_long_double(values, 3);
}

typedef struct {
  long double a;
} only_long_double;
typedef struct {
  only_long_double inner;
} nested_long_double;
typedef struct {
  long double a[1];
} array_of_long_double;
#define SAME_LONG_DOUBLE(x, y) (memcmp(&(x), &(y), 10) == 0)
DEFINE_ROUNDTRIP(only_long_double, only_long_double, "{o=D}", SAME_LONG_DOUBLE)
DEFINE_ROUNDTRIP(nested_long_double, nested_long_double, "{n={o=D}}", SAME_LONG_DOUBLE)
DEFINE_ROUNDTRIP(array_of_long_double, array_of_long_double, "{a=[1D]}", SAME_LONG_DOUBLE)
TEST("a structure of one long double is passed and returned, also nested and as an array of one") {
  if (harness_is_valgrind()) return;
  static const only_long_double values[] = {{2.5L}, {-0.0L}, {1e4000L}};
  static const nested_long_double nested[] = {{{2.5L}}, {{-0.0L}}, {{1e4000L}}};
  static const array_of_long_double arrays[] = {{{2.5L}}, {{-0.0L}}, {{1e4000L}}};
  check_only_long_double(values, 3);
  check_nested_long_double(nested, 3);
  check_array_of_long_double(arrays, 3);
}

typedef struct {
  bool a;
  char b;
  bool c;
} with_bools;
DEFINE_ROUNDTRIP(with_bools, with_bools, "{w=BcB}", SAME_BYTES)
TEST("a structure with bools is passed") {
  static const with_bools values[] = {{true, -1, false}, {false, 127, true}, {true, 0, true}};
  check_with_bools(values, 3);
}

/* foreign.c - key paths through the values of a binding: reading, operators, sums, order, setting and refusals. */
#include "allocator.h"
#include "harness.h"
#include "nodes.h"

#include <stdio.h>
#include <string.h>

static node_walk walk;

/* The text of a value, or if the call failed of the refusal or the status. What is stored on failure must be nil. */
static const char *result_of(kvo_status status, const char *prefix, const kvo_binding_value *value,
                             const kvo_binding_value *stored) {
  static char result[600];
  if (status == KVO_OK)
    snprintf(result, sizeof result, "%s%s", prefix, node_text(value));
  else
    snprintf(result, sizeof result, "%s", walk.refusal[0] != '\0' ? walk.refusal : kvo_status_string(status));
  if (status != KVO_OK) CHECK_EQ((int)stored->kind, KVO_KIND_NIL);
  return result;
}

/* Reads a path, and returns the value or the refusal; no node is left afterwards. */
static const char *read_as(const char *value, const char *path, bool is_observed) {
  kvo_binding_value of = node_value(value), to;
  memset(&to, 0x5a, sizeof to);
  walk = (node_walk){"", ""};
  kvo_status status = kvo_binding_value_for_path(&of, path, is_observed, &to, &walk);
  const char *result = result_of(status, "", &to, &to);
  node_destroy(&to);
  node_destroy(&of);
  CHECK_EQ(node_count, 0);
  return result;
}

static const char *read_value(const char *value, const char *path) { return read_as(value, path, false); }

/* Sets a path, and returns the changed copy, the value itself if there is none, or the refusal. */
static const char *set_value(const char *value, const char *path, const char *given) {
  kvo_binding_value of = node_value(value), to, new_value = node_value(given);
  memset(&to, 0x5a, sizeof to);
  walk = (node_walk){"", ""};
  kvo_status status = kvo_binding_set_value_for_path(&of, path, &new_value, &to, &walk);
  bool is_copy = to.kind != KVO_KIND_NIL;
  const char *result = result_of(status, is_copy ? "copy " : "", is_copy ? &to : &of, &to);
  node_destroy(&to);
  node_destroy(&of);
  node_destroy(&new_value);
  CHECK_EQ(node_count, 0);
  return result;
}

/* ----------------------------------------------------------------------------------------------------- Reading -- */

TEST("a path leads through objects and dictionaries, and ends at nil") {
  CHECK_EQ(read_value("(a: {b: (c: 5)})", "a.b.c"), "5");
  CHECK_EQ(read_value("(a: {b: (c: nil)})", "a.b.c.d"), "nil");
  CHECK_EQ(read_value("(a: {})", "a.b.c"), "nil");
  CHECK_EQ(read_value("nil", "a"), "nil");
  CHECK_EQ(read_value("(a: 5)", "a.self.self"), "5");
  CHECK_EQ(read_value("(a: null)", "a.self"), "null");
  CHECK_EQ(read_value("('': {'': 1})", "."), "1");
}

TEST("an entry whose key is the rest of the path has precedence") {
  CHECK_EQ(read_value("{'a.b': 1, a: {b: 2}}", "a.b"), "1");
  CHECK_EQ(read_value("{'a.b': nil, a: {b: 2}}", "a.b"), "nil");
  CHECK_EQ(read_value("{'a.b': 1, a: {b: 2}}", "a"), "{b:2}");
  CHECK_EQ(read_value("[{'a.b': 1, a: {b: 2}}]", "a.b.@count"), "1");
  CHECK_EQ(read_value("[{'a.b': 1, a: {b: 2}}]", "a.b.@max.self"), "1");
}

TEST("a key of a collection is that of each element, with null for nil in a list and without it in a set") {
  CHECK_EQ(read_value("[{a: 1}, {}, nil, {a: 1}]", "a"), "[1,null,null,1]");
  CHECK_EQ(read_value("<{a: 1}, {}, nil, {a: 1}>", "a"), "<1>");
  CHECK_EQ(read_value("[[{a: 1}], []]", "a"), "[[1],[]]");
  CHECK_EQ(read_value("[1, 2]", "self"), "[1,2]");
  CHECK_EQ(read_value("[]", "a.@count"), "0");
  CHECK_EQ(read_value("[{a: 1}, {a: 2}]", "a.@sum.self"), "'#3e0/1'");
}

TEST("operators of a binding's values") {
  CHECK_EQ(read_value("[1, nil]", "@count.whatever"), "2");
  CHECK_EQ(read_value("{a: 1}", "@count"), "1");
  CHECK_EQ(read_value("[1, 2.5, nil, null, '1.5']", "@sum.self"), "'#5e0/1'");
  CHECK_EQ(read_value("[]", "@sum.self"), "'#0e0/1'");
  CHECK_EQ(read_value("[1, 2, nil]", "@avg.self"), "1");
  CHECK_EQ(read_value("[]", "@avg.self"), "nil");
  CHECK_EQ(read_value("[3, 1.5, null, nil, 2]", "@min.self"), "1.5");
  CHECK_EQ(read_value("[null, 3, 1.5, nil, 2]", "@max.self"), "3");
  CHECK_EQ(read_value("['10', '9']", "@min.self"), "'10'");
  CHECK_EQ(read_value("[null, nil]", "@max.self"), "nil");
  CHECK_EQ(read_value("[{a: 1}, {a: nil}, {a: 1}]", "@unionOfObjects.a"), "[1,1]");
  CHECK_EQ(read_value("[{a: 1}, {a: nil}, {a: 1}]", "@distinctUnionOfObjects.a"), "[1]");
  CHECK_EQ(read_value("[[1, 2], [2, nil]]", "@unionOfArrays.self"), "[1,2,2]");
  CHECK_EQ(read_value("[[1, 2], [2]]", "@distinctUnionOfArrays.self"), "[1,2]");
  CHECK_EQ(read_value("<<1, 2>, <2>>", "@distinctUnionOfSets.self"), "<1,2>");
  CHECK_EQ(read_value("<1, 1>", "@distinctUnionOfObjects.self"), "<1>");
  CHECK_EQ(read_value("[[1, 2], [5]]", "@max.@count"), "2");
}

TEST("an observed path goes through a collection only by an operator, and says which key is its last") {
  CHECK_EQ(read_as("(a: [{b: 1}])", "a.b.c", true), "COLLECTION b.c of [{b:1}]");
  CHECK_EQ(read_as("(a: [{b: 1}])", "a.@max.b", true), "1");
  CHECK_EQ(walk.keys, "a b");
  CHECK_EQ(read_as("(a: (b: 1))", "a.b", true), "1");
  CHECK_EQ(walk.keys, "a b!");
  read_value("(a: (b: 1))", "a.b");
  CHECK_EQ(walk.keys, "a b");
}

/* ---------------------------------------------------------------------------------------------- Order and sums -- */

/* Checks what an operator makes of the list of two values. */
static void check_pair(const char *one, const char *other, const char *path, const char *expected) {
  char list[64], wanted[64];
  snprintf(list, sizeof list, "[%s, %s]", one, other);
  snprintf(wanted, sizeof wanted, "%s", read_value(expected, "self"));
  const char *found = read_value(list, path);
  if (strcmp(found, wanted) != 0) harness_fail(__FILE__, __LINE__, "%s of %s is %s", path, list, found);
}

TEST("decimals are ordered by their signs, their size, and then by their digits, whichever is first") {
  static const char *const rows[][2] = {
      {"'#0'", "'#0.5'"},      {"'#-0.5'", "'#0'"},   {"'#-0.5'", "'#0.5'"},   {"'#9.5'", "'#10.5'"},
      {"'#-10.5'", "'#-9.5'"}, {"'#0.1'", "'#0.11'"}, {"'#-0.11'", "'#-0.1'"}, {"'#0.099'", "'#0.1'"},
      {"'#11.5'", "12"},       {"12", "'#12.5'"},     {"-21", "'#-20.5'"},     {"19", "'#2e1'"},
      {"-3", "'#-29e-1'"},     {"'#99.5'", "100"},    {"-0.5", "'#0.25'"},     {"'#0.25'", "0.5"},
      {"'#1.5e300'", "inf."},  {"-inf.", "'#-1.5'"},  {"'#5e-1'", "'#51e-2'"}};
  for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
    const char *least = rows[i][0], *most = rows[i][1];
    check_pair(least, most, "@min.self", least);
    check_pair(most, least, "@min.self", least);
    check_pair(least, most, "@max.self", most);
    check_pair(most, least, "@max.self", most);
  }
  check_pair("0.1", "'#0.10000000000000000000000000001'", "@min.self", "0.1");
  check_pair("0.1", "'#0.09999999999999999999999999999'", "@max.self", "0.1");
}

TEST("of equal numbers @min gives the first, and zero has no sign") {
  static const char *const rows[][2] = {{"'#0.5'", "0.5"}, {"0.5", "'#0.5'"},     {"'#0.5'", "'#0.50'"},
                                        {"'#0'", "'#-0'"}, {"'#0.0'", "'#-0.0'"}, {"1", "1.0"},
                                        {"1.0", "'#1'"},   {"-3", "'#-30e-1'"}};
  for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) check_pair(rows[i][0], rows[i][1], "@min.self", rows[i][0]);
}

TEST("a sum is exact, and is rounded to the digits of 128 bits, once") {
  static const char *const rows[][2] = {
      {"[0.1, 0.2, -0.7]", "'#-4e-1/1'"},
      {"['9999999999999999999', '1']", "'#1e19/1'"},
      {"['0.1', '2e-20', '1e18']", "'#100000000000000000010000000000000000002e-20/1'"},
      {"['340282366920938463463374607431768211455', '0.4']", "'#340282366920938463463374607431768211455e0/1'"},
      {"['340282366920938463463374607431768211455', '0.5']", "'#34028236692093846346337460743176821146e1/1'"},
      {"['-12345678901234567890123456789012345678', '-0.45']", "'#-123456789012345678901234567890123456785e-1/1'"},
      {"['99999999999999999999999999999999999999', '0.95']", "'#1e38/1'"},
      {"['-99999999999999999999999999999999999999', '-0.95']", "'#-1e38/1'"},
      {"['19999999999999999999999999999999999999', '0.95']", "'#2e37/1'"},
      {"['12999999999999999999999999999999999999', '0.95']", "'#13e36/1'"},
      {"['1e300', '-1e300', '0.25']", "'#25e-2/1'"},
      {"['1e400', '1']", "inf"},
      {"['999999999e-360', '1e-360']", "'#1e-351/1'"},
      {"['1e-351', '-1e-360']", "'#999999999e-360/1'"},
      {"['999999999e315', '1e315']", "'#1e324/1'"},
      {"['123456789012345678', '1000000000000000000']", "'#1123456789012345678e0/1'"},
      {"['123456789012345678', '-123456789012345678']", "'#0e0/1'"},
      {"[123456789012345678]", "'#123456789012345678e0/1'"}};
  for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
    const char *sum = read_value(rows[i][0], "@sum.self");
    if (strcmp(sum, rows[i][1]) != 0) harness_fail(__FILE__, __LINE__, "the sum of %s is %s", rows[i][0], sum);
  }
}

/* ---------------------------------------------------------------------------------------------------- Refusals -- */

TEST("what a path asks of a value that does not have it is refused, with the value and the name") {
  static const char *const rows[][3] = {
      {"5", "a", "KEY a of 5"},
      {"5", "@count", "KEY @count of 5"},
      {"5", "@", "KEY @ of 5"},
      {"[1]", "@sum", "KEY sum of [1]"},
      {"{a: 1}", "@sum", "KEY sum of {a:1}"},
      {"{a: 1}", "@", "KEY  of {a:1}"},
      {"{a: 1}", "@.a", "OPERATOR  of {a:1}"},
      {"(a: 1)", "@.a", "OPERATOR  of (a:1)"},
      {"[1]", "@.self", "OPERATOR  of [1]"},
      {"{a: 1}", "@count.a", "OPERATOR count of {a:1}"},
      {"(a: 1)", "@sum.a", "OPERATOR sum of (a:1)"},
      {"[1]", "@median.self", "OPERATOR median of [1]"},
      {"<1>", "@unionOfObjects.self", "OPERATOR unionOfObjects of <1>"},
      {"[1, 'x']", "@sum.self", "NO_NUMBER sum of [1,'x']: 'x'"},
      {"[[1]]", "@avg.self", "NO_NUMBER avg of [[1]]: [1]"},
      {"['x', 1]", "@min.self", "INCOMPARABLE min of ['x',1]: 1 and 'x'"},
      {"[2, '1']", "@max.self", "INCOMPARABLE max of [2,'1']: '1' and 2"},
      {"['1', '#2']", "@min.self", "INCOMPARABLE min of ['1','#2']: '#2' and '1'"},
      {"[[1], <1>]", "@unionOfArrays.self", "NO_LIST unionOfArrays of [[1],<1>]: <1>"},
      {"[nil]", "@unionOfArrays.self", "NO_LIST unionOfArrays of [nil]: nil"},
      {"<[1]>", "@distinctUnionOfSets.self", "NO_SET distinctUnionOfSets of <[1]>: [1]"},
      {"[{b: (a: 1)}]", "@distinctUnionOfObjects.b", "DISTINCT distinctUnionOfObjects of [{b:(a:1)}]: (a:1)"},
      {"<{a: (b: 1)}>", "a", "NO_MEMBER self of <{a:(b:1)}>: (b:1)"},
      {"{a@: 1}", "a@", "1"}, /* no operator */
      {"(a: (b@: 2))", "a.b@", "2"}};
  for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
    const char *found = read_value(rows[i][0], rows[i][1]);
    if (strcmp(found, rows[i][2]) != 0) harness_fail(__FILE__, __LINE__, "%s of %s: %s", rows[i][1], *rows[i], found);
  }
}

TEST("a status of the binding's own function ends the walk and is returned") {
  CHECK_EQ(read_value("(a: 1)", "b"), kvo_status_string(KVO_ERROR_NO_GETTER));
  CHECK_EQ(read_value("[(a: 1), (b: 2)]", "a"), kvo_status_string(KVO_ERROR_NO_GETTER));
  CHECK_EQ(walk.keys, "a a");
  CHECK_EQ(set_value("(a: 1)", "b", "2"), kvo_status_string(KVO_ERROR_READ_ONLY));
}

/* ----------------------------------------------------------------------------------------------------- Setting -- */

TEST("setting changes objects in place and dictionaries as copies, through collections too") {
  CHECK_EQ(set_value("(a: 1)", "a", "2"), "(a:2)");
  CHECK_EQ(set_value("{a: 1}", "b", "2"), "copy {a:1,b:2}");
  CHECK_EQ(set_value("(a: {b: {c: 1}})", "a.b.c", "2"), "(a:{b:{c:2}})");
  CHECK_EQ(walk.keys, "a b c b a");
  CHECK_EQ(set_value("(a: [{b: 1}, nil, (b: 1)])", "a.b", "nil"), "(a:[{b:nil},nil,(b:nil)])");
  CHECK_EQ(set_value("[{b: 2}, {b: 3}]", "b", "1"), "copy [{b:1},{b:1}]");
  CHECK_EQ(set_value("[(b: 1), (b: 2)]", "b", "3"), "[(b:3),(b:3)]");
}

TEST("nothing is changed, and no copy is made, where setting is refused or reaches nothing") {
  CHECK_EQ(set_value("(a: nil)", "a.b", "1"), "(a:nil)");
  CHECK_EQ(set_value("{a: nil}", "a.b", "1"), "{a:nil}");
  CHECK_EQ(set_value("[nil, nil]", "b", "1"), "[nil,nil]");
  CHECK_EQ(set_value("{}", "a.b", "1"), "{}");
  CHECK_EQ(set_value("nil", "a", "1"), "nil");
  CHECK_EQ(set_value("5", "a", "1"), "SETTING a of 5");
  CHECK_EQ(set_value("(a: 1)", "a.b", "1"), "SETTING b of 1");
  CHECK_EQ(set_value("{a: [5]}", "a.b", "1"), "SETTING b of 5");
  CHECK_EQ(set_value("[{b: 1}, 5]", "b", "1"), "SETTING b of 5");
}

/* ------------------------------------------------------------------------------------------------------ Limits -- */

TEST("without memory a walk fails, names the call, and loses nothing") {
  use_counting_allocator();
  static const char *const paths[] = {"a", "a.@max.self", "@max.a", "@distinctUnionOfObjects.a",
                                      "a.@unionOfObjects.self"};
  read_value("[1]", "@median.self"); /* the text of the last error is kept */
  long blocks = live_blocks;
  for (size_t i = 0; i < sizeof paths / sizeof *paths; i++) {
    long failures = 0;
    for (long n = 1; failures < n; n++) {
      fail_in = node_fail_in = n;
      has_failed = 0;
      bool failed =
          strcmp(read_value("[{a: 1}, {a: 2}, {a: 3}]", paths[i]), kvo_status_string(KVO_ERROR_OUT_OF_MEMORY)) == 0;
      bool expected = has_failed || node_fail_in == 0;
      CHECK(failed == expected);
      fail_in = node_fail_in = 0;
      if (!failed) break;
      failures++;
    }
    CHECK(failures > 0);
  }
  CHECK_EQ((long)live_blocks, blocks);
  static const char *const rows[][2] = {
      {"[{b: 2}]", "b"}, {"{a: [{b: 2}]}", "a.b"}, {"(a: [{b: 2}])", "a.b"}, {"[[{b: 2}]]", "b"}};
  for (size_t i = 0; i < 4; i++) {
    node_fail_in = 1; /* a collection of the binding cannot be made */
    CHECK_EQ(set_value(rows[i][0], rows[i][1], "1"), kvo_status_string(KVO_ERROR_OUT_OF_MEMORY));
    CHECK_EQ(kvo_last_error(), "kvo_binding_set_value_for_path: out of memory");
    node_fail_in = 1;
    CHECK_EQ(read_value(rows[i][0], rows[i][1]), kvo_status_string(KVO_ERROR_OUT_OF_MEMORY));
    CHECK_EQ(kvo_last_error(), "kvo_binding_value_for_path: out of memory");
    CHECK_EQ(node_fail_in, 0);
  }
}

TEST("a path of many components needs no more stack") {
  enum { DEPTH = 50000 };
  static char path[2 * DEPTH];
  for (size_t i = 0; i < sizeof path; i += 2) path[i] = 'a', path[i + 1] = '.';
  path[sizeof path - 1] = '\0';
  kvo_binding_value of = node_value("(a: nil)"), self = of, nothing = {.ops = &node_ops}, to, changed;
  CHECK_OK(kvo_binding_set_value_for_path(&of, "a", &self, &changed, &walk)); /* the object is its own value */
  CHECK_OK(kvo_binding_value_for_path(&of, path, false, &to, &walk));
  CHECK_SAME(to.words[0], of.words[0]);
  node_destroy(&to);
  CHECK_OK(kvo_binding_set_value_for_path(&of, "a", &nothing, &changed, &walk));
  node_destroy(&of);
  CHECK_EQ(node_count, 0);
}

/* foreign.c - key paths through the values of a binding: reading, operators, setting, and what is refused. */
#include "allocator.h"
#include "harness.h"
#include "nodes.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static node_walk walk;

/* Reads a path, and returns the value or the refusal; all nodes are gone afterwards. */
static const char *read_as(const char *value, const char *path, bool is_observed) {
  static char result[600];
  kvo_binding_value of = node_value(value), to;
  walk = (node_walk){"", ""};
  kvo_status status = kvo_binding_value_for_path(&of, path, is_observed, &to, &walk);
  if (status == KVO_OK)
    snprintf(result, sizeof result, "%s", node_text(&to));
  else
    snprintf(result, sizeof result, "%s", walk.refusal[0] != '\0' ? walk.refusal : kvo_status_string(status));
  if (status != KVO_OK) CHECK_EQ((int)to.kind, KVO_KIND_NIL);
  node_destroy(&to);
  node_destroy(&of);
  CHECK_EQ(node_count, 0);
  return result;
}

static const char *read_value(const char *value, const char *path) { return read_as(value, path, false); }

/* Sets a path, and returns the changed copy, the value itself if there is none, or the refusal. */
static const char *set_value(const char *value, const char *path, const char *given) {
  static char result[600];
  kvo_binding_value of = node_value(value), to, new_value = node_value(given);
  walk = (node_walk){"", ""};
  kvo_status status = kvo_binding_set_value_for_path(&of, path, &new_value, &to, &walk);
  bool is_copy = to.kind != KVO_KIND_NIL;
  if (status == KVO_OK)
    snprintf(result, sizeof result, "%s%s", is_copy ? "copy " : "", node_text(is_copy ? &to : &of));
  else
    snprintf(result, sizeof result, "%s", walk.refusal[0] != '\0' ? walk.refusal : kvo_status_string(status));
  node_destroy(&to);
  node_destroy(&of);
  node_destroy(&new_value);
  CHECK_EQ(node_count, 0);
  return result;
}

TEST("a path leads through objects and dictionaries, and ends at nil") {
  CHECK_EQ(read_value("(a: {b: (c: 5)})", "a.b.c"), "5");
  CHECK_EQ(read_value("(a: {b: (c: nil)})", "a.b.c.d"), "nil");
  CHECK_EQ(read_value("(a: {})", "a.b.c"), "nil");
  CHECK_EQ(read_value("nil", "a"), "nil");
  CHECK_EQ(read_value("(a: 5)", "a.self.self"), "5");
  CHECK_EQ(read_value("(a: null)", "a.self"), "null");
  CHECK_EQ(read_value("('': {'': 1})", "."), "1");
  CHECK_EQ(read_value("(a: [1, 2])", "a"), "[1,2]");
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
  CHECK_EQ(read_value("[0.1, 0.2, -0.7]", "@sum.self"), "'#-4e-1/1'");
  CHECK_EQ(read_value("[]", "@sum.self"), "'#0e0/1'");
  CHECK_EQ(read_value("[1, 2, nil]", "@avg.self"), "1");
  CHECK_EQ(read_value("[]", "@avg.self"), "nil");
  CHECK_EQ(read_value("[3, 1.5, null, nil, 2]", "@min.self"), "1.5");
  CHECK_EQ(read_value("[null, 3, 1.5, nil, 2]", "@max.self"), "3");
  CHECK_EQ(read_value("['b', 'a']", "@max.self"), "'b'");
  CHECK_EQ(read_value("[null, nil]", "@max.self"), "nil");
  CHECK_EQ(read_value("[{a: 1}, {a: nil}, {a: 1}]", "@unionOfObjects.a"), "[1,1]");
  CHECK_EQ(read_value("[{a: 1}, {a: nil}, {a: 1}]", "@distinctUnionOfObjects.a"), "[1]");
  CHECK_EQ(read_value("[[1, 2], [2, nil]]", "@unionOfArrays.self"), "[1,2,2]");
  CHECK_EQ(read_value("[[1, 2], [2]]", "@distinctUnionOfArrays.self"), "[1,2]");
  CHECK_EQ(read_value("<<1, 2>, <2>>", "@distinctUnionOfSets.self"), "<1,2>");
  CHECK_EQ(read_value("<1, 1>", "@distinctUnionOfObjects.self"), "<1>");
  CHECK_EQ(read_value("[[1, 2], [5]]", "@max.@count"), "2");
}

TEST("a decimal of the language is compared by its digits") {
  CHECK_EQ(read_value("['#0.1', 0.1, '#0.10000000000000000000000000001']", "@max.self"),
           "'#0.10000000000000000000000000001'");
  CHECK_EQ(read_value("[0.1, '#0.09999999999999999999999999999', 1]", "@min.self"),
           "'#0.09999999999999999999999999999'");
  CHECK_EQ(read_value("[-3, '#-30e-1', '#-0.5', '#2e1']", "@min.self"), "-3");
  CHECK_EQ(read_value("['#2e1', 19, '#0', 1.5]", "@max.self"), "'#2e1'");
  CHECK_EQ(read_value("['#0', '#-1', '#1']", "@min.self"), "'#-1'");
}

TEST("a sum is rounded to the digits of 128 bits, once") {
  CHECK_EQ(read_value("['9999999999999999999', '1']", "@sum.self"), "'#1e19/1'");
  CHECK_EQ(read_value("['0.1', '2e-20', '1e18']", "@sum.self"), "'#100000000000000000010000000000000000002e-20/1'");
  CHECK_EQ(read_value("['340282366920938463463374607431768211455', '0.4']", "@sum.self"),
           "'#340282366920938463463374607431768211455e0/1'");
  CHECK_EQ(read_value("['340282366920938463463374607431768211455', '0.5']", "@sum.self"),
           "'#34028236692093846346337460743176821146e1/1'");
  CHECK_EQ(read_value("['-12345678901234567890123456789012345678', '-0.45']", "@sum.self"),
           "'#-123456789012345678901234567890123456785e-1/1'");
  CHECK_EQ(read_value("['99999999999999999999999999999999999999', '0.95']", "@sum.self"), "'#1e38/1'");
  CHECK_EQ(read_value("['1e300', '-1e300', '0.25']", "@sum.self"), "'#25e-2/1'");
  CHECK_EQ(read_value("['1e400', '1']", "@sum.self"), "inf");
}

TEST("what a path asks of a value that does not have it is refused, with the value and the name") {
  CHECK_EQ(read_value("5", "a"), "KEY a of 5");
  CHECK_EQ(read_value("5", "@count"), "KEY @count of 5");
  CHECK_EQ(read_value("[1]", "@sum"), "KEY sum of [1]");
  CHECK_EQ(read_value("{a: 1}", "@sum"), "KEY sum of {a:1}");
  CHECK_EQ(read_value("{a: 1}", "@count.a"), "OPERATOR count of {a:1}");
  CHECK_EQ(read_value("(a: 1)", "@sum.a"), "OPERATOR sum of (a:1)");
  CHECK_EQ(read_value("[1]", "@median.self"), "OPERATOR median of [1]");
  CHECK_EQ(read_value("<1>", "@unionOfObjects.self"), "OPERATOR unionOfObjects of <1>");
  CHECK_EQ(read_value("[1, 'x']", "@sum.self"), "NO_NUMBER sum of [1,'x']: 'x'");
  CHECK_EQ(read_value("[[1]]", "@avg.self"), "NO_NUMBER avg of [[1]]: [1]");
  CHECK_EQ(read_value("['x', 1]", "@min.self"), "INCOMPARABLE min of ['x',1]: 1 and 'x'");
  CHECK_EQ(read_value("[[1], <1>]", "@unionOfArrays.self"), "NO_LIST unionOfArrays of [[1],<1>]: <1>");
  CHECK_EQ(read_value("[nil]", "@unionOfArrays.self"), "NO_LIST unionOfArrays of [nil]: nil");
  CHECK_EQ(read_value("<[1]>", "@distinctUnionOfSets.self"), "NO_SET distinctUnionOfSets of <[1]>: [1]");
  CHECK_EQ(read_value("[{b: (a: 1)}]", "@distinctUnionOfObjects.b"),
           "DISTINCT distinctUnionOfObjects of [{b:(a:1)}]: (a:1)");
  CHECK_EQ(read_value("<{a: (b: 1)}>", "a"), "NO_MEMBER self of <{a:(b:1)}>: (b:1)");
}

TEST("a status of the binding's own function ends the walk and is returned") {
  CHECK_EQ(read_value("(a: 1)", "b"), kvo_status_string(KVO_ERROR_NO_GETTER));
  CHECK_EQ(read_value("[(a: 1), (b: 2)]", "a"), kvo_status_string(KVO_ERROR_NO_GETTER));
  CHECK_EQ(walk.keys, "a a");
  CHECK_EQ(set_value("(a: 1)", "b", "2"), kvo_status_string(KVO_ERROR_READ_ONLY));
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

TEST("setting changes objects in place and dictionaries as copies, through collections too") {
  CHECK_EQ(set_value("(a: 1)", "a", "2"), "(a:2)");
  CHECK_EQ(set_value("{a: 1}", "b", "2"), "copy {a:1,b:2}");
  CHECK_EQ(set_value("(a: {b: {c: 1}})", "a.b.c", "2"), "(a:{b:{c:2}})");
  CHECK_EQ(walk.keys, "a b c b a");
  CHECK_EQ(set_value("(a: [{b: 1}, nil, (b: 1)])", "a.b", "nil"), "(a:[{b:nil},nil,(b:nil)])");
  CHECK_EQ(set_value("[(b: 1), (b: 2)]", "b", "3"), "[(b:3),(b:3)]");
  CHECK_EQ(set_value("(a: nil)", "a.b", "1"), "(a:nil)");
  CHECK_EQ(set_value("{}", "a.b", "1"), "{}");
  CHECK_EQ(set_value("nil", "a", "1"), "nil");
  CHECK_EQ(set_value("(a: 1)", "a.b", "1"), "SETTING b of 1");
  CHECK_EQ(set_value("[{b: 1}, 5]", "b", "1"), "SETTING b of 5");
}

TEST("without memory a walk fails, and loses nothing") {
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
  node_fail_in = 1;
  CHECK_EQ(set_value("[{b: 1}]", "b", "2"), kvo_status_string(KVO_ERROR_OUT_OF_MEMORY));
  node_fail_in = 0;
}

TEST("a path of many components needs no more stack") {
  enum { DEPTH = 50000 };
  static char path[2 * DEPTH];
  for (size_t i = 0; i < sizeof path; i += 2) path[i] = 'a', path[i + 1] = '.';
  path[sizeof path - 1] = '\0';
  kvo_binding_value of = node_value("(a: nil)"), to;
  /* The object is its own value. */
  kvo_binding_value self = of;
  kvo_binding_value changed;
  CHECK_OK(kvo_binding_set_value_for_path(&of, "a", &self, &changed, &walk));
  CHECK_OK(kvo_binding_value_for_path(&of, path, false, &to, &walk));
  CHECK_SAME(to.words[0], of.words[0]);
  node_destroy(&to);
  kvo_binding_value nothing = {.ops = &node_ops};
  CHECK_OK(kvo_binding_set_value_for_path(&of, "a", &nothing, &changed, &walk));
  node_destroy(&of);
  CHECK_EQ(node_count, 0);
}

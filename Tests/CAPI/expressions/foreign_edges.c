/* foreign_edges.c - the values of a binding at their edges: order of decimals, rounding of sums, names of refusals, results of failures. */
#include "harness.h"
#include "nodes.h"

#include <stdio.h>
#include <string.h>

static node_walk walk;

/* Reads a path, and returns the value or the refusal. What is stored on failure must be nil, whatever was there before. */
static const char *read_value(const char *value, const char *path) {
  static char result[600];
  kvo_binding_value of = node_value(value), to;
  memset(&to, 0x5a, sizeof to);
  walk = (node_walk){"", ""};
  kvo_status status = kvo_binding_value_for_path(&of, path, false, &to, &walk);
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

/* Sets a path to 1, and returns the changed copy, "none" if there is none, or the refusal. */
static const char *set_value(const char *value, const char *path) {
  static char result[600];
  kvo_binding_value of = node_value(value), to, new_value = node_value("1");
  memset(&to, 0x5a, sizeof to);
  walk = (node_walk){"", ""};
  kvo_status status = kvo_binding_set_value_for_path(&of, path, &new_value, &to, &walk);
  if (status == KVO_OK)
    snprintf(result, sizeof result, "%s", to.kind != KVO_KIND_NIL ? node_text(&to) : "none");
  else
    snprintf(result, sizeof result, "%s", walk.refusal[0] != '\0' ? walk.refusal : kvo_status_string(status));
  if (status != KVO_OK) CHECK_EQ((int)to.kind, KVO_KIND_NIL);
  node_destroy(&to);
  node_destroy(&of);
  node_destroy(&new_value);
  CHECK_EQ(node_count, 0);
  return result;
}

/* ------------------------------------------------------------------------------------------------------------- Order -- */

TEST("decimals are ordered by their signs, their size, and then by their digits, whichever is first") {
  static const char *const rows[][2] = {
      {"'#0'", "'#0.5'"},      {"'#-0.5'", "'#0'"},   {"'#-0.5'", "'#0.5'"},   {"'#9.5'", "'#10.5'"},
      {"'#-10.5'", "'#-9.5'"}, {"'#0.1'", "'#0.11'"}, {"'#-0.11'", "'#-0.1'"}, {"'#0.099'", "'#0.1'"},
      {"'#11.5'", "12"},       {"12", "'#12.5'"},     {"'#20.5'", "21"},       {"-21", "'#-20.5'"},
      {"'#99.5'", "100"},      {"100", "'#100.5'"},   {"-0.5", "'#0.25'"},     {"'#0.25'", "0.5"},
      {"'#1.5e300'", "inf."},  {"-inf.", "'#-1.5'"},  {"'#-1.5'", "inf."},     {"'#5e-1'", "'#51e-2'"}};
  for (size_t i = 0; i < sizeof rows / sizeof *rows; i++)
    for (int swapped = 0; swapped < 2; swapped++) {
      char list[64], least[64], most[64], found[64];
      snprintf(list, sizeof list, "[%s, %s]", rows[i][swapped], rows[i][1 - swapped]);
      snprintf(least, sizeof least, "%s", read_value(rows[i][0], "self"));
      snprintf(most, sizeof most, "%s", read_value(rows[i][1], "self"));
      snprintf(found, sizeof found, "%s", read_value(list, "@min.self"));
      if (strcmp(found, least) != 0) harness_fail(__FILE__, __LINE__, "@min of %s is %s", list, found);
      snprintf(found, sizeof found, "%s", read_value(list, "@max.self"));
      if (strcmp(found, most) != 0) harness_fail(__FILE__, __LINE__, "@max of %s is %s", list, found);
    }
}

TEST("of equal numbers @min gives the first, and zero has no sign") {
  CHECK_EQ(read_value("['#0.5', 0.5]", "@min.self"), "'#0.5'");
  CHECK_EQ(read_value("[0.5, '#0.5']", "@min.self"), "0.5");
  CHECK_EQ(read_value("['#0.5', '#0.50']", "@min.self"), "'#0.5'");
  CHECK_EQ(read_value("['#0', '#-0']", "@min.self"), "'#0'");
  CHECK_EQ(read_value("['#0.0', '#-0.0']", "@min.self"), "'#0.0'");
  CHECK_EQ(read_value("[1, 1.0, '#1']", "@min.self"), "1");
}

TEST("a text is compared with texts only, also if it could be converted") {
  CHECK_EQ(read_value("['1', 2]", "@max.self"), "INCOMPARABLE max of ['1',2]: 2 and '1'");
  CHECK_EQ(read_value("[2, '1']", "@max.self"), "INCOMPARABLE max of [2,'1']: '1' and 2");
  CHECK_EQ(read_value("['1', '#2']", "@min.self"), "INCOMPARABLE min of ['1','#2']: '#2' and '1'");
  CHECK_EQ(read_value("['10', '9']", "@min.self"), "'10'");
}

/* -------------------------------------------------------------------------------------------------------------- Sums -- */

TEST("a sum carries from its lowest digit to its highest, and is rounded up through nines") {
  CHECK_EQ(read_value("['999999999e-360', '1e-360']", "@sum.self"), "'#1e-351/1'");
  CHECK_EQ(read_value("['1e-351', '-1e-360']", "@sum.self"), "'#999999999e-360/1'");
  CHECK_EQ(read_value("['999999999e315', '1e315']", "@sum.self"), "'#1e324/1'");
  CHECK_EQ(read_value("['19999999999999999999999999999999999999', '0.95']", "@sum.self"), "'#2e37/1'");
  CHECK_EQ(read_value("['12999999999999999999999999999999999999', '0.95']", "@sum.self"), "'#13e36/1'");
  CHECK_EQ(read_value("['-99999999999999999999999999999999999999', '-0.95']", "@sum.self"), "'#-1e38/1'");
  CHECK_EQ(read_value("['123456789012345678', '1000000000000000000']", "@sum.self"), "'#1123456789012345678e0/1'");
  CHECK_EQ(read_value("['123456789012345678', '-123456789012345678']", "@sum.self"), "'#0e0/1'");
  CHECK_EQ(read_value("[123456789012345678]", "@sum.self"), "'#123456789012345678e0/1'");
}

/* ---------------------------------------------------------------------------------------------------------- Refusals -- */

TEST("the name of an operator may be empty, and a key that only contains \"@\" is none") {
  CHECK_EQ(read_value("{a: 1}", "@"), "KEY  of {a:1}");
  CHECK_EQ(read_value("{a: 1}", "@.a"), "OPERATOR  of {a:1}");
  CHECK_EQ(read_value("(a: 1)", "@.a"), "OPERATOR  of (a:1)");
  CHECK_EQ(read_value("[1]", "@.self"), "OPERATOR  of [1]");
  CHECK_EQ(read_value("5", "@"), "KEY @ of 5");
  CHECK_EQ(read_value("{a@: 1}", "a@"), "1");
  CHECK_EQ(read_value("(a: (b@: 2))", "a.b@"), "2");
}

TEST("nothing is changed, and no copy is made, where setting is refused or reaches nothing") {
  CHECK_EQ(set_value("[{b: 2}, 5]", "b"), "SETTING b of 5");
  CHECK_EQ(set_value("[{b: 2}, {b: 3}]", "b"), "[{b:1},{b:1}]");
  CHECK_EQ(set_value("[(b: 2), (b: 3)]", "b"), "none");
  CHECK_EQ(set_value("[nil, nil]", "b"), "none");
  CHECK_EQ(set_value("(a: nil)", "a.b"), "none");
  CHECK_EQ(set_value("{a: nil}", "a.b"), "none");
  CHECK_EQ(set_value("nil", "a"), "none");
  CHECK_EQ(set_value("5", "a"), "SETTING a of 5");
  CHECK_EQ(set_value("{a: 5}", "a.b"), "SETTING b of 5");
  CHECK_EQ(set_value("{a: [5]}", "a.b"), "SETTING b of 5");
  CHECK_EQ(set_value("{}", "a.b"), "none");
}

TEST(
    "a collection that cannot be made is lack of memory, also inside of a dictionary, and the error says in which call") {
  static const char *const values[] = {"[{b: 2}]", "{a: [{b: 2}]}", "(a: [{b: 2}])", "[[{b: 2}]]"}, *const paths[] = {
                                                                                                        "b", "a.b",
                                                                                                        "a.b", "b"};
  for (size_t i = 0; i < 4; i++) {
    node_fail_in = 1;
    CHECK_EQ(set_value(values[i], paths[i]), kvo_status_string(KVO_ERROR_OUT_OF_MEMORY));
    CHECK_EQ(kvo_last_error(), "kvo_binding_set_value_for_path: out of memory");
    node_fail_in = 1;
    CHECK_EQ(read_value(values[i], paths[i]), kvo_status_string(KVO_ERROR_OUT_OF_MEMORY));
    CHECK_EQ(kvo_last_error(), "kvo_binding_value_for_path: out of memory");
    CHECK_EQ(node_fail_in, 0);
  }
}

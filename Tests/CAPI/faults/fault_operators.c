/* fault_operators.c - faults of observed key paths that go through a list or a set: their code, first line, Apple's sentence and help. */
#include "basket.h"

#include <stdio.h>

/* The last fault. */
static struct {
  int count;
  kvo_fault_code code;
  char summary[1024], apple[1024], help[1024];
} seen;

static kvo_action keep(const kvo_fault *fault, void *arg) {
  (void)arg;
  seen.count++;
  seen.code = fault->code;
  snprintf(seen.summary, sizeof seen.summary, "%s", fault->summary);
  snprintf(seen.apple, sizeof seen.apple, "%s", fault->apple != NULL ? fault->apple : "");
  snprintf(seen.help, sizeof seen.help, "%s", fault->help != NULL ? fault->help : "");
  return KVO_ACTION_IGNORE;
}

static void call_nothing(const kvo_change *change, void *user_data) { (void)change, (void)user_data; }

/* Observes a path of a basket that holds another one, and that must be refused, with a single fault. */
static void refuse(const char *key_path, kvo_status expected, kvo_fault_code code) {
  basket *root = basket_make("root", 0), *leaf = basket_make("leaf", 1);
  CHECK_OK(kvo_list_insert(as_kvo(root), "items", 0, KVO_VALUE(kvo_object *, as_kvo(leaf))));
  CHECK_OK(kvo_set_object(as_kvo(root), "best", as_kvo(leaf)));
  kvo_observer observer = {.struct_size = sizeof observer, .key_path = key_path, .callback = call_nothing, KVO_HERE};
  kvo_set_fault_handler(keep, NULL);
  seen.count = 0;
  CHECK_STATUS(kvo_add_observer(as_kvo(root), &observer, NULL), expected);
  CHECK_EQ(seen.count, 1);
  CHECK_EQ((int)seen.code, (int)code);
  basket_destroy(root);
  basket_destroy(leaf);
}

TEST("an observed operator that cannot compute with the values there is KVO0026, with the reason") {
  refuse("items.@sum.items", KVO_ERROR_TYPE_MISMATCH, KVO_FAULT_TYPE_MISMATCH);
  CHECK_CONTAINS((const char *)seen.summary, "KVO0026 error: cannot observe \"items.@sum.items\" of Basket@0x");
  CHECK_CONTAINS((const char *)seen.summary,
                 ": its operator cannot be computed, an operand of type \"[@]\" is not a number, at ");
  CHECK_CONTAINS((const char *)seen.help, "numbers for @sum and @avg");
}

TEST("an observed operator that gets such a value later is KVO0026 at that change") {
  basket *root = basket_make("root", 0), *leaf = basket_make("leaf", 1);
  kvo_observer observer = {
      .struct_size = sizeof observer, .key_path = "items.@sum.items", .callback = call_nothing, KVO_HERE};
  kvo_observation id;
  kvo_set_fault_handler(keep, NULL);
  seen.count = 0;
  CHECK_OK(kvo_add_observer(as_kvo(root), &observer, &id));
  CHECK_EQ(seen.count, 0);
  CHECK_OK(kvo_list_insert(as_kvo(root), "items", 0, KVO_VALUE(kvo_object *, as_kvo(leaf))));
  CHECK_EQ(seen.count, 1);
  CHECK_EQ((int)seen.code, KVO_FAULT_TYPE_MISMATCH);
  CHECK_CONTAINS((const char *)seen.summary, " cannot be followed: its operator cannot be computed, ");
  CHECK_OK(kvo_remove_observer(id));
  basket_destroy(root);
  basket_destroy(leaf);
}

TEST("a key of a collection that is no operator is reported as such, with what can be observed instead") {
  refuse("prices.foo", KVO_ERROR_NOT_AN_OBJECT, KVO_FAULT_THROUGH_COLLECTION);
  CHECK_CONTAINS((const char *)seen.summary, "KVO0018 error: cannot observe \"prices.foo\" of Basket@0x");
  CHECK_CONTAINS((const char *)seen.summary,
                 ": \"prices\" on it is a list, and \"foo\" is no operator of collections, at ");
  CHECK_EQ((const char *)seen.apple,
           "[<NSArray> addObserver:forKeyPath:options:context:] is not supported. Key path: foo");
  CHECK_EQ((const char *)seen.help,
           "observe \"prices\" itself, an operator of it, such as \"prices.@count\" or \"prices.@sum.self\"");
  refuse("best.items.total", KVO_ERROR_NOT_AN_OBJECT, KVO_FAULT_THROUGH_COLLECTION);
  CHECK_EQ((const char *)seen.help,
           "observe \"best.items\" itself, an operator of it, such as \"best.items.@count\" or "
           "\"best.items.@sum.total\", or its elements one by one");
  refuse("tags.self.foo", KVO_ERROR_NOT_AN_OBJECT, KVO_FAULT_THROUGH_COLLECTION);
  CHECK_CONTAINS((const char *)seen.summary,
                 ": \"tags\" on it is a set, and \"self\" is no operator of collections, at ");
}

TEST("an operator that a collection does not have is reported with the most similar one and with those that it has") {
  refuse("prices.@foo.self", KVO_ERROR_UNDEFINED_KEY, KVO_FAULT_BAD_OPERATOR);
  CHECK_CONTAINS((const char *)seen.summary, "KVO0036 error: cannot observe \"prices.@foo.self\" of Basket@0x");
  CHECK_CONTAINS((const char *)seen.summary, ": \"prices\" on it is a list, which has no operator \"@foo\", at ");
  CHECK_EQ((const char *)seen.apple, "[<NSArray> valueForKeyPath:]: this class does not implement the foo operation.");
  CHECK_EQ((const char *)seen.help,
           "the operators of a list are @count, @sum, @avg, @min, @max, @distinctUnionOfObjects, "
           "@distinctUnionOfArrays, @distinctUnionOfSets, @unionOfObjects, @unionOfArrays");
  refuse("prices.@cuont", KVO_ERROR_UNDEFINED_KEY, KVO_FAULT_BAD_OPERATOR);
  CHECK_CONTAINS((const char *)seen.help, "did you mean \"@count\"? the operators of a list are @count, ");
  refuse("tags.@unionOfObjects.self", KVO_ERROR_UNDEFINED_KEY, KVO_FAULT_BAD_OPERATOR);
  CHECK_CONTAINS((const char *)seen.summary,
                 ": \"tags\" on it is a set, which has no operator \"@unionOfObjects\", at ");
  CHECK_EQ((const char *)seen.help, "the operators of a set are @count, @sum, @avg, @min, @max, "
                                    "@distinctUnionOfObjects, @distinctUnionOfArrays, @distinctUnionOfSets");
}

TEST("an operator without a key on its right is reported with the form that it should have") {
  refuse("prices.@sum", KVO_ERROR_UNDEFINED_KEY, KVO_FAULT_BAD_OPERATOR);
  CHECK_CONTAINS((const char *)seen.summary,
                 ": \"prices\" on it is a list, whose operator \"@sum\" needs a key on its right, at ");
  CHECK_EQ((const char *)seen.help,
           "the operator is followed by what it takes of each element: \"@sum.self\", or a key instead of self");
}

TEST("an operator of an object is reported as one of no collection") {
  refuse("best.@sum.total", KVO_ERROR_UNDEFINED_KEY, KVO_FAULT_BAD_OPERATOR);
  CHECK_CONTAINS((const char *)seen.summary, ": Basket has no operator \"@sum\": it is not a collection, at ");
  CHECK_EQ((const char *)seen.help, "put a key of a list or a set before the operator");
  refuse("best.@count", KVO_ERROR_UNDEFINED_KEY, KVO_FAULT_UNDEFINED_KEY);
  CHECK_CONTAINS((const char *)seen.summary, ": Basket has no key \"@count\", at ");
}

TEST("what the elements of a collection do not have is an undefined key, not a wrong operator") {
  refuse("items.@sum.imaginary", KVO_ERROR_UNDEFINED_KEY, KVO_FAULT_UNDEFINED_KEY);
  CHECK_CONTAINS((const char *)seen.summary, ": an object on it has no such key, at ");
  refuse("items.@sum.total.foo", KVO_ERROR_NOT_AN_OBJECT, KVO_FAULT_UNDEFINED_KEY);
  CHECK_CONTAINS((const char *)seen.summary, ": a value on it is not an observable object, so it has no keys, at ");
}

/* operators.c - key paths through lists and sets of C objects, and collection operators; also observed ones. */
#include "basket.h"
#include "made.h"

#include <stdio.h>
#include <string.h>

/* An item with the prices 0, 1, …, number, and the tag number / 2. */
static basket *make_item(const char *title, double total, int number) {
  basket *item = basket_make(title, total);
  for (int i = 0; i <= number; i++) CHECK_OK(kvo_list_insert(as_kvo(item), "prices", (size_t)i, KVO_VALUE(double, i)));
  CHECK_OK(kvo_members_add(as_kvo(item), "tags", KVO_VALUE(int, number / 2)));
  return item;
}

static void append_item(basket *to, basket *item) {
  CHECK_OK(kvo_list_insert(as_kvo(to), "items", to->item_count, KVO_VALUE(kvo_object *, as_kvo(item))));
}

/* A basket with the tags 3, 2 and 1, no prices, and the items pear 0.1, fig 0.2, whose best is the next one, and pear 3. */
static basket *fruit(void) {
  basket *root = basket_make("root", 0);
  append_item(root, make_item("pear", 0.1, 0));
  append_item(root, make_item("fig", 0.2, 1));
  append_item(root, make_item("pear", 3, 2));
  root->items[1]->best = root->items[2];
  for (int i = 3; i > 0; i--) CHECK_OK(kvo_members_add(as_kvo(root), "tags", KVO_VALUE(int, i)));
  return root;
}

static void destroy_all(basket *root) {
  for (size_t i = 0; i < root->item_count; i++)
    if (root->items[i] != NULL) basket_destroy(root->items[i]);
  basket_destroy(root);
}

/* A key path and the text of its value, and unless NULL its type; or the status in parentheses, and what the error says. */
typedef struct row {
  const char *key_path, *value, *more;
} row;

static void keep_type(const kvo_value *value, void *arg) { snprintf(arg, 64, "%s", value->type); }

static void check_rows(basket *root, const row *rows, size_t count) {
  for (size_t i = 0; i < count; i++) {
    char type[64] = "";
    const char *value = text_at(root, rows[i].key_path), *more = type;
    if (kvo_get_value(as_kvo(root), rows[i].key_path, keep_type, type) != KVO_OK) more = kvo_last_error();
    if (strcmp(value, rows[i].value) != 0 || (rows[i].more != NULL && strstr(more, rows[i].more) == NULL))
      harness_fail(__FILE__, __LINE__, "\"%s\" is %s, %s", rows[i].key_path, value, more);
  }
  destroy_all(root);
}
#define CHECK_ROWS(of, rows) check_rows(of, rows, sizeof rows / sizeof *rows)

TEST("a key of a list is the list of its elements' values, with nil and with their type; that of nil is nil") {
  static const row rows[] = {{"items", "(<pear>,<fig>,<pear>)", "[@]"},
                             {"items.self", "(<pear>,<fig>,<pear>)", "[@]"},
                             {"items.total", "(0.1,0.2,3)", "[d]"},
                             {"items.self.total", "(0.1,0.2,3)", "[d]"},
                             {"items.title", "(\"pear\",\"fig\",\"pear\")", "[*]"},
                             {"items.best.total", "(nil,3,nil)", "[d]"},
                             {"items.best.best.total", "(nil,nil,nil)", "[?]"},
                             {"items.prices", "((0),(0,1),(0,1,2))", "[[d]]"},
                             {"fixed.self", "(7,8,9)", "[i]"},
                             {"best.items.title", "nil", NULL},
                             {"self.total.self", "0", "d"},
                             {"self", "<root>", "@"}};
  CHECK_ROWS(fruit(), rows);
}

typedef struct whole {
  kvo_object header;
  int total;
} whole;

TEST("the list of values of several types has no type of its elements, wherever the other one is") {
  static const kvo_property_spec total = AT_OFFSET(whole, total, "i");
  basket *root = fruit();
  whole *other = (whole *)object_of(class_made("Whole", sizeof(whole), &total, 1));
  for (size_t i = 0; i < root->item_count; i++) {
    char type[64] = "";
    basket *held = root->items[i];
    root->items[i] = (basket *)other;
    CHECK_OK(kvo_get_value(as_kvo(root), "items.total", keep_type, type));
    CHECK_EQ((const char *)type, "[?]");
    root->items[i] = held;
  }
  kvo_object_destroy(&other->header);
  destroy_all(root);
}

TEST("an object that is NULL is a nil element, alone and on a key path") {
  static const row rows[] = {{"items", "(<pear>,<fig>,<pear>,nil)", "[@]"},
                             {"items.self", "(<pear>,<fig>,<pear>,nil)", "[@]"},
                             {"items.total", "(0.1,0.2,3,nil)", "[d]"},
                             {"items.@sum.total", "3.3", NULL},
                             {"items.@unionOfObjects.self", "(<pear>,<fig>,<pear>)", "[@]"}};
  basket *root = fruit();
  scribe to = {0};
  scribe_watch(root, "items", KVO_NEW | KVO_OLD, &to);
  CHECK_OK(kvo_list_insert(as_kvo(root), "items", 3, &(kvo_value){"@", sizeof(kvo_object *), NULL}));
  CHECK_OK(kvo_remove_observer(to.id));
  CHECK_EQ((const char *)to.text, "insert[3]+nil ");
  CHECK_ROWS(root, rows);
}

TEST("operators count, add, and find the least and the greatest of the values that are not nil") {
  static const row rows[] = {{"items.@count", "3", NULL},          {"items.@count.whatever", "3", NULL},
                             {"items.@sum.total", "3.3", NULL},    {"items.@avg.total", "1.1", NULL},
                             {"items.@min.total", "0.1", "d"},     {"items.@max.total", "3", "d"},
                             {"items.@min.title", "\"fig\"", "*"}, {"items.@max.title", "\"pear\"", "*"},
                             {"items.total.@max.self", "3", NULL}, {"fixed.@sum.self", "24", NULL},
                             {"fixed.@avg.self", "8", NULL},       {"items.@sum.best.total", "3", NULL},
                             {"items.@avg.best.total", "1", NULL}, /* of three: nil is 0 */
                             {"items.@max.best.total", "3", NULL}, {"prices.@count", "0", NULL},
                             {"prices.@sum.self", "0", NULL},      {"prices.@avg.self", "nil", NULL},
                             {"prices.@min.self", "nil", NULL},    {"prices.@unionOfObjects.self", "()", NULL}};
  CHECK_ROWS(fruit(), rows);
}

TEST("unions keep the order and leave nil out, and distinct ones keep the first of equal values") {
  static const row rows[] = {
      {"items.@unionOfObjects.title", "(\"pear\",\"fig\",\"pear\")", "[*]"},
      {"items.@unionOfObjects.best.title", "(\"pear\")", "[*]"},
      {"items.@distinctUnionOfObjects.title", "(\"pear\",\"fig\")", "[*]"},
      {"items.title.@distinctUnionOfObjects.self", "(\"pear\",\"fig\")", "[*]"},
      {"items.@distinctUnionOfObjects.total", "(0.1,0.2,3)", "[d]"},
      {"items.prices.@unionOfArrays.self", "(0,0,1,0,1,2)", "[d]"},
      {"items.prices.@distinctUnionOfArrays.self", "(0,1,2)", "[d]"},
      {"items.prices.@count", "3", NULL},
      {"items.@unionOfArrays.prices", "(0,0,1,0,1,2)", "[d]"}, /* the path is that of each element */
      {"items.@distinctUnionOfArrays.prices", "(0,1,2)", "[d]"},
      {"items.@unionOfArrays.best.prices", "(0,1,2)", "[d]"}, /* nil has no elements */
      {"items.@unionOfArrays.best.best.prices", "()", NULL}};
  CHECK_ROWS(fruit(), rows);
}

TEST("a set has no order: keys give sets, and only distinct unions are defined") {
  static const row rows[] = {{"tags.@count", "3", NULL},
                             {"tags.@sum.self", "6", NULL},
                             {"tags.@max.self", "3", NULL},
                             {"tags.@distinctUnionOfObjects.self", "(3,2,1)", "<i>"},
                             {"items.tags.@distinctUnionOfSets.self", "(0,1)", "<i>"},
                             {"items.@distinctUnionOfSets.tags", "(0,1)", "<i>"},
                             {"tags.@unionOfObjects.self", "(the class has no such key)", NULL},
                             {"tags.@unionOfArrays.self", "(the class has no such key)", NULL}};
  CHECK_ROWS(fruit(), rows);
}

TEST("operators that are unknown, lack their key, or cannot take their operands are refused, with the operand's type") {
  static const char undefined[] = "(the class has no such key)",
                    wrong_type[] = "(the value is not of the property's type)",
                    no_object[] = "(a key path leads through a value that is not an observable object)";
  static const row rows[] = {
      {"items.@sum", undefined, NULL},
      {"items.@nothing.total", undefined, NULL},
      {"items.@", undefined, NULL},
      {"items.@sum.@", undefined, NULL},
      {"@count", undefined, NULL},
      {"@sum.total", undefined, NULL},
      {"items.@sum.nothing", undefined, NULL},
      {"items.nothing", undefined, NULL},
      {"items.@counts", undefined, NULL},
      {"items.@coun", undefined, NULL},
      {"best.nothing.@count", "nil", NULL},
      {"total.@sum.self", no_object, NULL},
      {"items.total.nothing", no_object, NULL},
      {"items..total", "(malformed key path)", NULL},
      {"items.@sum.title", wrong_type, "an operand of type \"*\" is not a number"},
      {"items.@avg.self", wrong_type, "an operand of type \"@\" is not a number"},
      {"items.@min.self", wrong_type, "an operand of type \"@\" is not comparable with the others"},
      {"items.@unionOfArrays.title", wrong_type, "an operand of type \"*\" is not a list"},
      {"items.@unionOfArrays.tags", wrong_type, "an operand of type \"<i>\" is not a list"},
      {"items.tags.@unionOfArrays.self", wrong_type, "an operand of type \"<i>\" is not a list"},
      {"items.@distinctUnionOfSets.prices", wrong_type, "an operand of type \"[d]\" is not a set"}};
  CHECK_ROWS(fruit(), rows);
}

TEST("a key of a list is set for every element, through the setters") {
  basket *root = fruit();
  scribe to = {0};
  scribe_watch(root->items[1], "total", KVO_NEW, &to);
  CHECK_OK(kvo_set_int64(as_kvo(root), "items.total", 5));
  CHECK_EQ(text_at(root, "items.total"), "(5,5,5)");
  CHECK_EQ((const char *)to.text, "set+5 ");
  CHECK_STATUS(kvo_set_int64(as_kvo(root), "items.@max.total", 5), KVO_ERROR_UNDEFINED_KEY);
  CHECK_STATUS(kvo_set_int64(as_kvo(root), "items", 5), KVO_ERROR_READ_ONLY);
  CHECK_STATUS(kvo_set_int64(as_kvo(root), "prices.self", 5), KVO_OK); /* there are none */
  CHECK_STATUS(kvo_set_int64(as_kvo(root), "fixed.self", 5), KVO_ERROR_NOT_AN_OBJECT);
  CHECK_OK(kvo_remove_observer(to.id));
  destroy_all(root);
}

/* ---------------------------------------------------------------------------------------------------------- Observed -- */

TEST(
    "an observed operator notifies of changes of the list and of what it has read; without one no elements are observed") {
  basket *root = fruit(), *more = basket_make("more", 10);
  watcher elements = {0};
  kvo_observer observer = watcher_observer("items.total", KVO_NEW, &elements);
  ignore_faults();
  CHECK_STATUS(kvo_add_observer(as_kvo(root), &observer, NULL), KVO_ERROR_NOT_AN_OBJECT);
  scribe count = {0}, sum = {0};
  scribe_watch(root, "items.@count", KVO_NEW | KVO_OLD, &count);
  scribe_watch(root, "items.@sum.total", KVO_NEW | KVO_OLD, &sum);
  CHECK_OK(kvo_set_double(as_kvo(root->items[0]), "total", 1));
  append_item(root, more);
  CHECK_OK(kvo_set_double(as_kvo(more), "total", 20));
  CHECK_OK(kvo_list_remove(as_kvo(root), "items", 3));
  CHECK_OK(kvo_set_double(as_kvo(more), "total", 30));
  CHECK_EQ((const char *)count.text, "set-3+4 set-4+3 ");
  CHECK_EQ((const char *)sum.text, "set-3.3+4.2 set-4.2+14.2 set-14.2+24.2 set-24.2+4.2 ");
  CHECK_OK(kvo_remove_observer(count.id));
  CHECK_OK(kvo_remove_observer(sum.id));
  CHECK(!kvo_object_is_observed(as_kvo(root->items[0])));
  destroy_all(root);
  basket_destroy(more);
}

TEST("a property may be affected by what an operator reads") {
  basket *plain = basket_make("plain", 0), *item = basket_make("item", 1);
  static const char *const affecting[] = {"items.@sum.total", NULL};
  kvo_property_spec property = {
      .name = "sum", .type = "d", .affected_by = affecting, .getter = kvo_object_getter(as_kvo(plain), "total")};
  basket *root = (basket *)object_of(register_class((kvo_class_spec){.name = "Summing",
                                                                     .superclass = basket_class(),
                                                                     .instance_size = sizeof(basket),
                                                                     .properties = &property,
                                                                     .property_count = 1}));
  root->allowed = -1;
  scribe to = {0};
  scribe_watch(root, "sum", KVO_NONE, &to);
  append_item(root, item);
  CHECK_OK(kvo_set_double(as_kvo(item), "total", 2));
  CHECK_EQ(to.calls, 2);
  CHECK_OK(kvo_remove_observer(to.id));
  destroy_all(root);
  basket_destroy(plain);
}

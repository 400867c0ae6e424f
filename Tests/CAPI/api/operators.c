/* operators.c - key paths through lists and sets of C objects, and collection operators; also observed ones. */
#include "basket.h"

#include <stdlib.h>
#include <string.h>

/* A basket with three items: pear 0.1, fig 0.2, pear 3. */
static basket *fruit(void) {
  basket *root = basket_make("root", 0);
  static const char *const titles[] = {"pear", "fig", "pear"};
  static const double totals[] = {0.1, 0.2, 3};
  for (size_t i = 0; i < 3; i++) {
    basket *item = basket_make(titles[i], totals[i]);
    CHECK_OK(kvo_list_insert(as_kvo(root), "items", i, KVO_VALUE(kvo_object *, as_kvo(item))));
  }
  return root;
}

static void destroy_all(basket *root) {
  for (size_t i = 0; i < root->item_count; i++) basket_destroy(root->items[i]);
  basket_destroy(root);
}

TEST("a key of a list is the list of its elements' values, with nil; that of nil is nil") {
  basket *root = fruit();
  CHECK_EQ(text_at(root, "items.total"), "(0.1,0.2,3)");
  CHECK_EQ(text_at(root, "items.title"), "(\"pear\",\"fig\",\"pear\")");
  CHECK_EQ(text_at(root, "items.best.title"), "(nil,nil,nil)");
  CHECK_EQ(text_at(root, "items.self.total"), "(0.1,0.2,3)");
  CHECK_EQ(text_at(root, "items.self"), "(<pear>,<fig>,<pear>)");
  CHECK_EQ(text_at(root, "best.items.title"), "nil");
  CHECK_EQ(text_at(root, "self.total.self"), "0");
  CHECK_EQ(text_at(root, "self"), "<root>");
  CHECK_EQ(text_at(root, "fixed.self"), "(7,8,9)");
  destroy_all(root);
}

TEST("@count, @sum, @avg, @min and @max") {
  basket *root = fruit();
  CHECK_EQ(text_at(root, "items.@count"), "3");
  CHECK_EQ(text_at(root, "items.@count.whatever"), "3");
  CHECK_EQ(text_at(root, "items.@avg.total"), "1.1");
  CHECK_EQ(text_at(root, "items.@min.total"), "0.1");
  CHECK_EQ(text_at(root, "items.@max.total"), "3");
  CHECK_EQ(text_at(root, "items.@min.title"), "\"fig\"");
  CHECK_EQ(text_at(root, "items.@max.title"), "\"pear\"");
  CHECK_EQ(text_at(root, "fixed.@sum.self"), "24");
  CHECK_EQ(text_at(root, "fixed.@avg.self"), "8");
  CHECK_EQ(text_at(root, "items.total.@max.self"), "3");
  double sum;
  volatile double exact = 3.3; /* not 3.3000000000000003 */
  CHECK_OK(kvo_get_double(as_kvo(root), "items.@sum.total", &sum));
  CHECK(sum == exact);
  destroy_all(root);
}

TEST("operators of no elements, and of elements without a value") {
  basket *root = basket_make("root", 0);
  CHECK_EQ(text_at(root, "items.@count"), "0");
  CHECK_EQ(text_at(root, "items.@sum.total"), "0");
  CHECK_EQ(text_at(root, "items.@avg.total"), "nil");
  CHECK_EQ(text_at(root, "items.@min.total"), "nil");
  CHECK_EQ(text_at(root, "items.@unionOfObjects.title"), "()");
  basket *filled = fruit();
  filled->items[1]->best = root;
  root->total = 6;
  CHECK_EQ(text_at(filled, "items.@sum.best.total"), "6");
  CHECK_EQ(text_at(filled, "items.@avg.best.total"), "2");
  CHECK_EQ(text_at(filled, "items.@max.best.total"), "6");
  CHECK_EQ(text_at(filled, "items.@unionOfObjects.best.title"), "(\"root\")");
  destroy_all(filled);
  basket_destroy(root);
}

TEST("unions keep the order, and distinct ones the first of equal values") {
  basket *root = fruit();
  CHECK_EQ(text_at(root, "items.@unionOfObjects.title"), "(\"pear\",\"fig\",\"pear\")");
  CHECK_EQ(text_at(root, "items.@distinctUnionOfObjects.title"), "(\"pear\",\"fig\")");
  CHECK_EQ(text_at(root, "items.title.@distinctUnionOfObjects.self"), "(\"pear\",\"fig\")");
  for (size_t i = 0; i < 3; i++)
    for (size_t j = 0; j <= i; j++)
      CHECK_OK(kvo_list_insert(as_kvo(root->items[i]), "prices", j, KVO_VALUE(double, (double)j)));
  CHECK_EQ(text_at(root, "items.prices"), "((0),(0,1),(0,1,2))");
  CHECK_EQ(text_at(root, "items.prices.@unionOfArrays.self"), "(0,0,1,0,1,2)");
  CHECK_EQ(text_at(root, "items.prices.@distinctUnionOfArrays.self"), "(0,1,2)");
  CHECK_EQ(text_at(root, "items.prices.@count"), "3");
  CHECK_EQ(text_at(root, "items.@unionOfArrays.prices"), "(0,0,1,0,1,2)"); /* the path is that of each element */
  CHECK_EQ(text_at(root, "items.@distinctUnionOfArrays.prices"), "(0,1,2)");
  CHECK_EQ(text_at(root, "items.@unionOfArrays.best.prices"), "()"); /* nil has no elements */
  root->items[1]->best = root->items[2];
  CHECK_EQ(text_at(root, "items.@unionOfArrays.best.prices"), "(0,1,2)");
  CHECK_EQ(text_at(root, "items.@unionOfArrays.title"), "(the value is not of the property's type)");
  destroy_all(root);
}

TEST("a set has no order: keys give sets, and only distinct unions are defined") {
  basket *root = fruit();
  for (int i = 3; i > 0; i--) CHECK_OK(kvo_members_add(as_kvo(root), "tags", KVO_VALUE(int, i)));
  CHECK_EQ(text_at(root, "tags.@count"), "3");
  CHECK_EQ(text_at(root, "tags.@sum.self"), "6");
  CHECK_EQ(text_at(root, "tags.@max.self"), "3");
  CHECK_EQ(text_at(root, "tags.@distinctUnionOfObjects.self"), "(3,2,1)");
  CHECK_EQ(text_at(root, "tags.@unionOfObjects.self"), "(the class has no such key)");
  CHECK_EQ(text_at(root, "tags.@unionOfArrays.self"), "(the class has no such key)");
  for (size_t i = 0; i < 3; i++) CHECK_OK(kvo_members_add(as_kvo(root->items[i]), "tags", KVO_VALUE(int, (int)i / 2)));
  CHECK_EQ(text_at(root, "items.tags.@distinctUnionOfSets.self"), "(0,1)");
  CHECK_EQ(text_at(root, "items.@distinctUnionOfSets.tags"), "(0,1)");
  CHECK_EQ(text_at(root, "items.@distinctUnionOfSets.prices"), "(the value is not of the property's type)");
  CHECK_EQ(text_at(root, "items.tags.@unionOfArrays.self"), "(the value is not of the property's type)");
  destroy_all(root);
}

TEST("operators that are unknown, lack their key, or are applied to something else are refused") {
  basket *root = fruit();
  static const char *const undefined[] = {
      "items.@sum",    "items.@nothing.total", "items.@",         "items.@sum.@",
      "@count",        "@sum.total",           "total.@sum.self", "items.@sum.nothing",
      "items.nothing", "best.nothing.@count",  "items.@counts",   "items.@coun"};
  for (size_t i = 0; i < sizeof undefined / sizeof *undefined; i++) {
    const char *text = text_at(root, undefined[i]);
    if (strcmp(undefined[i], "best.nothing.@count") == 0)
      CHECK_EQ(text, "nil");
    else if (strcmp(undefined[i], "total.@sum.self") == 0)
      CHECK_EQ(text, "(a key path leads through a value that is not an observable object)");
    else
      CHECK_EQ(text, "(the class has no such key)");
  }
  CHECK_EQ(text_at(root, "items.@sum.title"), "(the value is not of the property's type)");
  CHECK_EQ(text_at(root, "items.@min.self"), "(the value is not of the property's type)");
  CHECK_EQ(text_at(root, "items.total.nothing"), "(a key path leads through a value that is not an observable object)");
  CHECK_EQ(text_at(root, "items..total"), "(malformed key path)");
  destroy_all(root);
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

TEST("an observed operator is told of changes of the list and of what it has read in the elements") {
  basket *root = fruit(), *more = basket_make("more", 10);
  scribe count = {0}, sum = {0};
  scribe_watch(root, "items.@count", KVO_NEW | KVO_OLD, &count);
  scribe_watch(root, "items.@sum.total", KVO_NEW | KVO_OLD, &sum);
  CHECK_OK(kvo_set_double(as_kvo(root->items[0]), "total", 1));
  CHECK_OK(kvo_list_insert(as_kvo(root), "items", 0, KVO_VALUE(kvo_object *, as_kvo(more))));
  CHECK_OK(kvo_set_double(as_kvo(more), "total", 20));
  CHECK_OK(kvo_list_remove(as_kvo(root), "items", 0));
  CHECK_OK(kvo_set_double(as_kvo(more), "total", 30));
  CHECK_EQ((const char *)count.text, "set-3+4 set-4+3 ");
  CHECK_EQ((const char *)sum.text, "set-3.3+4.2 set-4.2+14.2 set-14.2+24.2 set-24.2+4.2 ");
  CHECK_OK(kvo_remove_observer(count.id));
  CHECK_OK(kvo_remove_observer(sum.id));
  CHECK(!kvo_object_is_observed(as_kvo(root->items[0])));
  destroy_all(root);
  basket_destroy(more);
}

TEST_REPORTED("a path through a list is observed only by an operator") {
  ignore_faults();
  basket *root = fruit();
  kvo_observer observer = {.struct_size = sizeof observer,
                           .key_path = "items.total",
                           .callback = (kvo_callback)abort,
                           .options = KVO_NEW,
                           KVO_HERE};
  CHECK_STATUS(kvo_add_observer(as_kvo(root), &observer, NULL), KVO_ERROR_NOT_AN_OBJECT);
  CHECK_EQ(faults.count, 1);
  destroy_all(root);
}

TEST("collections nested too deeply are refused, however long the path is") {
  basket *root = basket_make("root", 0);
  CHECK_OK(kvo_list_insert(as_kvo(root), "items", 0, KVO_VALUE(kvo_object *, as_kvo(root))));
  enum { LENGTH = 100000 };
  char *path = malloc(LENGTH * 6 + 1);
  for (int i = 0; i < LENGTH; i++) memcpy(path + 6 * i, "items.", 6);
  path[6 * LENGTH - 1] = '\0';
  CHECK_EQ(text_at(root, path), "(malformed key path)");
  for (int i = 0; i < LENGTH; i++) memcpy(path + 6 * i, "self..", 5);
  for (int i = 0; i < LENGTH; i++) memcpy(path + 5 * i, "self.", 5);
  path[5 * LENGTH - 1] = '\0';
  CHECK_EQ(text_at(root, path), "<root>");
  free(path);
  root->item_count = 0;
  basket_destroy(root);
}

TEST("a property may be affected by what an operator reads") {
  basket *plain = basket_make("plain", 0);
  static const char *const affecting[] = {"items.@sum.total", NULL};
  kvo_property_spec property = {
      .name = "sum", .type = "d", .affected_by = affecting, .getter = kvo_object_getter(as_kvo(plain), "total")};
  kvo_class_spec spec = {.struct_size = sizeof spec,
                         .name = "Summing",
                         .superclass = basket_class(),
                         .instance_size = sizeof(basket),
                         .properties = &property,
                         .property_count = 1};
  kvo_class *cls;
  kvo_object *made;
  CHECK_OK(kvo_class_register(&spec, &cls));
  CHECK_OK(kvo_object_create(cls, &made));
  basket *root = (basket *)made, *item = basket_make("item", 1);
  root->allowed = -1;
  scribe to = {0};
  scribe_watch(root, "sum", KVO_NONE, &to);
  CHECK_OK(kvo_list_insert(made, "items", 0, KVO_VALUE(kvo_object *, as_kvo(item))));
  CHECK_OK(kvo_set_double(as_kvo(item), "total", 2));
  CHECK_EQ(to.calls, 2);
  CHECK_OK(kvo_remove_observer(to.id));
  basket_destroy(root);
  basket_destroy(item);
  basket_destroy(plain);
}

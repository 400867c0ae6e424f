/* lists_edges.c - lists and sets at their edges: nil elements, positions beyond the end, sets that miscount, strings without memory; the
 * types of lists that key paths make. */
#include "allocator.h"
#include "basket.h"

#include <stdio.h>
#include <string.h>

static basket *with_prices(size_t count) {
  basket *object = basket_make("b", 0);
  for (size_t i = 0; i < count; i++)
    CHECK_OK(kvo_list_insert(as_kvo(object), "prices", i, KVO_VALUE(double, 1.0 + (double)i)));
  return object;
}

TEST("an object that is NULL is a nil element, alone and on a key path") {
  basket *root = basket_make("root", 0), *item = basket_make("pear", 3);
  const kvo_value nil = {"@", sizeof(kvo_object *), NULL};
  scribe to = {0};
  scribe_watch(root, "items", KVO_NEW | KVO_OLD, &to);
  CHECK_OK(kvo_list_insert(as_kvo(root), "items", 0, KVO_VALUE(kvo_object *, as_kvo(item))));
  CHECK_OK(kvo_list_insert(as_kvo(root), "items", 1, &nil));
  CHECK_EQ(text_at(root, "items"), "(<pear>,nil)");
  CHECK_EQ(text_at(root, "items.self"), "(<pear>,nil)");
  CHECK_EQ(text_at(root, "items.total"), "(3,nil)");
  CHECK_EQ(text_at(root, "items.@sum.total"), "3");
  CHECK_EQ(text_at(root, "items.@unionOfObjects.self"), "(<pear>)");
  CHECK_OK(kvo_list_remove(as_kvo(root), "items", 1));
  CHECK_EQ((const char *)to.text, "insert[0]+<pear> insert[1]+nil remove[1]-nil ");
  CHECK_OK(kvo_remove_observer(to.id));
  basket_destroy(root);
  basket_destroy(item);
}

static void never(const kvo_value *value, void *arg) {
  (void)value, (void)arg;
  harness_fail(__FILE__, __LINE__, "the reader was called");
}

static void look_beyond(const kvo_value *value, void *arg) {
  const size_t *count = arg;
  CHECK_EQ(kvo_value_count(value), *count);
  CHECK_STATUS(kvo_value_element(value, *count, never, NULL), KVO_ERROR_OUT_OF_RANGE);
  CHECK_STATUS(kvo_value_element(value, SIZE_MAX, never, NULL), KVO_ERROR_OUT_OF_RANGE);
}

static void look_beyond_change(const kvo_change *change, void *user_data) {
  look_beyond(change->new_value, user_data);
  CHECK_STATUS(kvo_change_element(change, KVO_NEW, 1, never, NULL), KVO_ERROR_OUT_OF_RANGE);
}

TEST("a position at the end of a list, or beyond it, has no element") {
  for (size_t count = 0; count < 3; count++) {
    basket *object = with_prices(count);
    CHECK_OK(kvo_get_value(as_kvo(object), "prices", look_beyond, &count));
    CHECK_OK(kvo_get_value(as_kvo(object), "prices.@distinctUnionOfObjects.self", look_beyond, &count));
    basket_destroy(object);
  }
  basket *object = with_prices(2);
  size_t one = 1;
  kvo_observer observer = {.struct_size = sizeof observer,
                           .key_path = "prices",
                           .options = KVO_NEW,
                           .callback = look_beyond_change,
                           .user_data = &one,
                           KVO_HERE};
  kvo_observation id;
  CHECK_OK(kvo_add_observer(as_kvo(object), &observer, &id));
  CHECK_OK(kvo_list_insert(as_kvo(object), "prices", 1, KVO_VALUE(double, 7)));
  CHECK_OK(kvo_remove_observer(id));
  basket_destroy(object);
}

TEST("indexes beyond the end of a list, announced by hand, have no elements") {
  basket *object = with_prices(2);
  scribe to = {0};
  scribe_watch(object, "prices", KVO_NEW | KVO_OLD, &to);
  const size_t indexes[] = {1, 2, 9};
  CHECK_OK(kvo_will_change_indexes(as_kvo(object), KVO_CHANGE_REPLACEMENT, "prices", indexes, 3));
  object->prices[1] = 6;
  CHECK_OK(kvo_did_change_indexes(as_kvo(object), KVO_CHANGE_REPLACEMENT, "prices", indexes, 3));
  CHECK_EQ((const char *)to.text, "replace[1,2,9]-2+6 ");
  CHECK_OK(kvo_remove_observer(to.id));
  basket_destroy(object);
}

static size_t count_two(const kvo_object *object, void *user) {
  (void)object, (void)user;
  return 2;
}
static bool contains_none(const kvo_object *object, const void *element, void *user) {
  (void)object, (void)element, (void)user;
  return false;
}
static void visit_several(const kvo_object *object, void (*visit)(const void *element, void *arg), void *arg,
                          void *user) {
  (void)object;
  for (int i = 1; i <= *(const int *)user; i++) visit(&i, arg);
}

TEST("of a set that enumerates more members than it counts only so many are read, and of one with fewer those") {
  static int several;
  kvo_member_accessors members = {.struct_size = sizeof members,
                                  .count = count_two,
                                  .contains = contains_none,
                                  .for_each = visit_several,
                                  .user = &several};
  kvo_collection_spec collection = {.name = "some", .element_type = "i", .members = &members};
  kvo_class_spec spec = {.struct_size = sizeof spec,
                         .name = "Miscounting",
                         .instance_size = sizeof(basket),
                         .collections = &collection,
                         .collection_count = 1,
                         .collection_size = sizeof collection};
  kvo_class *cls;
  kvo_object *object;
  CHECK_OK(kvo_class_register(&spec, &cls));
  CHECK_OK(kvo_object_create(cls, &object));
  static const char *const texts[] = {"()", "(1)", "(1,2)", "(1,2)", "(1,2)"};
  for (several = 0; several < 5; several++) CHECK_EQ(text_at((basket *)object, "some"), texts[several]);
  kvo_object_destroy(object);
}

/* ------------------------------------------------------------------------------------------------------ Without memory -- */

TEST("strings that cannot be copied are no nil elements: all are told, or none") {
  use_counting_allocator();
  basket *object = basket_make("b", 0);
  static const char *const names[] = {"Ada", "Grace", "Joan"};
  for (size_t i = 0; i < 3; i++)
    CHECK_OK(kvo_list_insert(as_kvo(object), "names", i, KVO_VALUE(const char *, names[i])));
  char text[1024] = "";
  CHECK_OK(kvo_get_value(as_kvo(object), "names", write_value, text)); /* makes what stays */
  long before = live_blocks, n = 1;
  for (bool has_passed = false; !has_passed; n++) {
    text[0] = '\0';
    fail_in = n;
    kvo_status status = kvo_get_value(as_kvo(object), "names", write_value, text);
    has_passed = fail_in > 0;
    fail_in = 0;
    CHECK_STATUS(status, has_passed ? KVO_OK : KVO_ERROR_OUT_OF_MEMORY);
    CHECK_EQ((const char *)text, has_passed ? "(\"Ada\",\"Grace\",\"Joan\")" : "");
    CHECK_EQ((long)live_blocks, before);
  }
  CHECK(n > 4);
  static const size_t both[] = {0, 1};
  for (bool has_passed = false; !has_passed;) {
    static int failing;
    scribe to = {0};
    scribe_watch(object, "names", KVO_OLD, &to);
    fail_in = ++failing;
    kvo_status status = kvo_will_change_indexes(as_kvo(object), KVO_CHANGE_REPLACEMENT, "names", both, 2);
    has_passed = fail_in > 0;
    fail_in = 0;
    if (status == KVO_OK) {
      CHECK_OK(kvo_did_change_indexes(as_kvo(object), KVO_CHANGE_REPLACEMENT, "names", both, 2));
      bool is_unknown = strcmp(to.text, "replace[0,1] ") == 0;
      if (has_passed || !is_unknown) CHECK_EQ((const char *)to.text, "replace[0,1]-\"Ada\",\"Grace\" ");
    } else {
      CHECK_STATUS(status, KVO_ERROR_OUT_OF_MEMORY);
      CHECK(!has_passed);
    }
    CHECK_OK(kvo_remove_observer(to.id));
  }
  basket_destroy(object);
}

/* ------------------------------------------------------------------------------------------------------------- Types -- */

static void keep_type(const kvo_value *value, void *arg) { snprintf(arg, 64, "%s", value->type); }

static const char *type_at(basket *object, const char *key_path) {
  static char type[64];
  CHECK_OK(kvo_get_value(as_kvo(object), key_path, keep_type, type));
  return type;
}

TEST("a list that a key path makes has the type of its elements, whichever of them are nil, and a set that of a set") {
  basket *root = basket_make("root", 0), *items[3];
  for (size_t i = 0; i < 3; i++) {
    items[i] = basket_make("item", (double)i);
    CHECK_OK(kvo_list_insert(as_kvo(root), "items", i, KVO_VALUE(kvo_object *, as_kvo(items[i]))));
  }
  CHECK_EQ(type_at(root, "items"), "[@]");
  CHECK_EQ(type_at(root, "items.total"), "[d]");
  CHECK_EQ(type_at(root, "items.title"), "[*]");
  CHECK_EQ(type_at(root, "items.best.total"), "[?]"); /* all are nil */
  items[1]->best = items[2];
  CHECK_EQ(type_at(root, "items.best.total"), "[d]");
  items[0]->best = items[2];
  CHECK_EQ(type_at(root, "items.best.total"), "[d]");
  CHECK_EQ(type_at(root, "items.@unionOfObjects.total"), "[d]");
  CHECK_EQ(type_at(root, "items.@distinctUnionOfObjects.total"), "[d]");
  CHECK_EQ(type_at(root, "items.prices"), "[[d]]");
  CHECK_OK(kvo_members_add(as_kvo(items[0]), "tags", KVO_VALUE(int, 1)));
  CHECK_EQ(type_at(root, "items.tags.@distinctUnionOfSets.self"), "<i>");
  CHECK_EQ(type_at(items[0], "tags.@distinctUnionOfObjects.self"), "<i>");
  for (size_t i = 0; i < 3; i++) basket_destroy(items[i]);
  root->item_count = 0;
  basket_destroy(root);
}

TEST("an operand that an operator cannot take is named with its type, and with what the operator needs") {
  basket *root = basket_make("root", 0), *item = basket_make("item", 1);
  CHECK_OK(kvo_list_insert(as_kvo(root), "items", 0, KVO_VALUE(kvo_object *, as_kvo(item))));
  CHECK_OK(kvo_list_insert(as_kvo(root), "items", 1, KVO_VALUE(kvo_object *, as_kvo(item))));
  static const char *const rows[][2] = {
      {"items.@sum.title", "an operand of type \"*\" is not a number"},
      {"items.@avg.self", "an operand of type \"@\" is not a number"},
      {"items.@min.self", "an operand of type \"@\" is not comparable with the others"},
      {"items.@unionOfArrays.title", "an operand of type \"*\" is not a list"},
      {"items.@unionOfArrays.tags", "an operand of type \"<i>\" is not a list"},
      {"items.@distinctUnionOfSets.prices", "an operand of type \"[d]\" is not a set"}};
  for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
    CHECK_STATUS(kvo_get_value(as_kvo(root), rows[i][0], never, NULL), KVO_ERROR_TYPE_MISMATCH);
    CHECK_CONTAINS(kvo_last_error(), rows[i][1]);
  }
  basket_destroy(item);
  root->item_count = 0;
  basket_destroy(root);
}

TEST("the values of twenty elements are gathered in their order, distinct or not") {
  basket *root = basket_make("root", 0), *items[BASKET_ROOM];
  char expected[256] = "(", one[16];
  for (int i = 0; i < BASKET_ROOM; i++) {
    items[i] = basket_make("item", i);
    CHECK_OK(kvo_list_insert(as_kvo(root), "items", (size_t)i, KVO_VALUE(kvo_object *, as_kvo(items[i]))));
    snprintf(one, sizeof one, "%s%d", i > 0 ? "," : "", i);
    strcat(expected, one);
  }
  strcat(expected, ")");
  CHECK_EQ(text_at(root, "items.total"), (const char *)expected);
  CHECK_EQ(text_at(root, "items.@unionOfObjects.total"), (const char *)expected);
  CHECK_EQ(text_at(root, "items.@distinctUnionOfObjects.total"), (const char *)expected);
  CHECK_EQ(text_at(root, "items.@distinctUnionOfObjects.title"), "(\"item\")");
  for (int i = 0; i < BASKET_ROOM; i++) basket_destroy(items[i]);
  root->item_count = 0;
  basket_destroy(root);
}

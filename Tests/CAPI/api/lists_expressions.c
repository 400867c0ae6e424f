/* lists_expressions.c - a list or set that an expression reads and that is observed itself: both are notified, in any order of
 * registration, and no fault is raised. */
#include "basket.h"

#include <string.h>

static _Atomic int faults_raised;

static kvo_action count_fault(const kvo_fault *fault, void *arg) {
  (void)fault, (void)arg;
  faults_raised++;
  return KVO_ACTION_IGNORE;
}

static basket *with_items(size_t count) {
  kvo_set_fault_handler(count_fault, NULL);
  basket *root = basket_make("root", 1);
  for (size_t i = 0; i < count; i++)
    CHECK_OK(kvo_list_insert(as_kvo(root), "items", i, KVO_VALUE(kvo_object *, as_kvo(basket_make("item", 1)))));
  return root;
}

static void destroy_all(basket *root) {
  for (size_t i = 0; i < root->item_count; i++) basket_destroy(root->items[i]);
  basket_destroy(root);
}

/* Observes an expression and what it reads, in this order or the other, changes what it reads, and expects that both are notified. */
static void expect_both(const char *expression, const char *list, int options, bool is_first,
                        void (*change)(basket *)) {
  basket *root = with_items(1), *owner = with_items(1);
  CHECK_OK(kvo_list_insert(as_kvo(owner), "prices", 0, VALUE("d", double, 2)));
  KVO_SET(as_kvo(root), "best", kvo_object *, as_kvo(owner));
  scribe first = {0}, second = {0};
  scribe_watch(root, is_first ? expression : list, options, &first);
  scribe_watch(root, is_first ? list : expression, options, &second);
  change(owner);
  change(owner);
  CHECK_EQ(first.calls, 2);
  CHECK_EQ(second.calls, 2);
  CHECK_EQ(faults_raised, 0);
  CHECK_OK(kvo_remove_observer(first.id));
  CHECK_OK(kvo_remove_observer(second.id));
  KVO_SET(as_kvo(root), "best", kvo_object *, NULL);
  destroy_all(owner);
  destroy_all(root);
}

static void insert_price(basket *of) { CHECK_OK(kvo_list_insert(as_kvo(of), "prices", 0, VALUE("d", double, 1.5))); }

static void insert_prices(basket *of) {
  double reals[] = {1, 2};
  kvo_value values[] = {{"d", 8, &reals[0]}, {"d", 8, &reals[1]}};
  size_t indexes[] = {0, 2};
  CHECK_OK(kvo_list_insert_several(as_kvo(of), "prices", indexes, 2, values));
}

static void replace_price(basket *of) {
  CHECK_OK(kvo_list_replace(as_kvo(of), "prices", 0, VALUE("d", double, of->prices[0] + 1)));
}

static void add_tag(basket *of) { CHECK_OK(kvo_members_add(as_kvo(of), "tags", VALUE("i", int, (int)of->tag_count))); }

TEST("an observer of a list and an older or newer one of an expression that reads the list are both notified") {
  static void (*const changes[])(basket *) = {insert_price, insert_prices, replace_price};
  static const char *const expressions[] = {"best.prices.@sum.self", "best.prices.@count", "best.prices.@max.self"};
  static const int options[] = {KVO_NONE, KVO_NEW, KVO_OLD, KVO_NEW | KVO_OLD, KVO_NEW | KVO_OLD | KVO_PRIOR};
  for (size_t i = 0; i < 3; i++)
    for (size_t j = 0; j < 3; j++)
      for (size_t k = 0; k < 4; k++) {
        expect_both(expressions[i], "best.prices", options[k], true, changes[j]);
        expect_both(expressions[i], "best.prices", options[k], false, changes[j]);
      }
}

TEST("an observer of a set and an older or newer one of an expression that reads the set are both notified") {
  for (int options = 0; options < 4; options++) {
    expect_both("best.tags.@count", "best.tags", options, true, add_tag);
    expect_both("best.tags.@count", "best.tags", options, false, add_tag);
  }
}

/* The same on one object, where the list's observer is a direct one. */
static void expect_direct(const char *expression, const char *list, int options, void (*change)(basket *)) {
  basket *root = with_items(2);
  CHECK_OK(kvo_list_insert(as_kvo(root), "prices", 0, VALUE("d", double, 2)));
  scribe older = {0}, newer = {0};
  scribe_watch(root, expression, options, &older);
  scribe_watch(root, list, options, &newer);
  change(root);
  CHECK_EQ(older.calls, 1);
  CHECK_EQ(newer.calls, 1);
  CHECK_EQ(faults_raised, 0);
  CHECK_OK(kvo_remove_observer(older.id));
  CHECK_OK(kvo_remove_observer(newer.id));
  destroy_all(root);
}

static void insert_item(basket *of) {
  CHECK_OK(kvo_list_insert(as_kvo(of), "items", 1, KVO_VALUE(kvo_object *, as_kvo(basket_make("new", 3)))));
}

static void insert_by_accessor(basket *of) {
  kvo_list_accessors list = {.struct_size = sizeof list};
  CHECK_OK(kvo_object_list_accessors(as_kvo(of), "prices", &list));
  double price = 4;
  CHECK_OK(list.insert_at(as_kvo(of), 0, &price, list.user));
}

TEST("an evaluation after the delivery of a list's new elements is not taken for one that was left") {
  for (int options = 0; options < 4; options++) {
    expect_direct("prices.@sum.self", "prices", options, insert_price);
    expect_direct("prices.@count", "prices", options, insert_prices);
    expect_direct("prices.@count", "prices", options, insert_by_accessor);
    expect_direct("prices.@avg.self", "prices", options, replace_price);
    expect_direct("items.@sum.total", "items", options, insert_item);
    expect_direct("tags.@count", "tags", options, add_tag);
  }
}

/* An observer of a list that changes the list again, once. */
typedef struct again {
  basket *of;
  int left;
} again;

static void insert_again(const kvo_change *change, void *user_data) {
  (void)change;
  again *to = user_data;
  if (to->left-- > 0) insert_item(to->of);
}

TEST("a change of a list within the delivery of another one is no change without notification") {
  static const char *const expressions[] = {"items.@sum.total", "items.@count", "items.@max.total"};
  for (size_t i = 0; i < 3; i++) {
    basket *root = with_items(2);
    scribe older = {0};
    scribe_watch(root, expressions[i], KVO_OLD, &older);
    again nested = {root, 2};
    kvo_observation id;
    CHECK_OK(kvo_add_observer(as_kvo(root),
                              &(kvo_observer){.struct_size = sizeof(kvo_observer),
                                              .key_path = "items",
                                              .callback = insert_again,
                                              .user_data = &nested,
                                              KVO_HERE},
                              &id));
    insert_item(root);
    CHECK_EQ(root->item_count, 5);
    CHECK(older.calls >= 1);
    CHECK_EQ(faults_raised, 0);
    CHECK_OK(kvo_remove_observer(id));
    CHECK_OK(kvo_remove_observer(older.id));
    destroy_all(root);
  }
}

static basket *other_best;

static void set_best(const kvo_change *change, void *user_data) {
  (void)change;
  KVO_SET(as_kvo(user_data), "best", kvo_object *, as_kvo(other_best));
}

TEST("replacing an object on a path within the delivery of a change of its list is no change without notification") {
  basket *root = with_items(0), *child = with_items(2);
  other_best = with_items(1);
  KVO_SET(as_kvo(root), "best", kvo_object *, as_kvo(child));
  scribe older = {0};
  scribe_watch(root, "best.items.@sum.total", KVO_OLD, &older);
  kvo_observation id;
  CHECK_OK(kvo_add_observer(
      as_kvo(child),
      &(kvo_observer){
          .struct_size = sizeof(kvo_observer), .key_path = "items", .callback = set_best, .user_data = root, KVO_HERE},
      &id));
  insert_item(child);
  CHECK_EQ(text_at(root, "best.items.@sum.total"), "1");
  CHECK(older.calls >= 1);
  CHECK_EQ(faults_raised, 0);
  CHECK_OK(kvo_remove_observer(id));
  CHECK_OK(kvo_remove_observer(older.id));
  KVO_SET(as_kvo(root), "best", kvo_object *, NULL);
  destroy_all(other_best);
  destroy_all(child);
  destroy_all(root);
}

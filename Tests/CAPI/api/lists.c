/* lists.c - to-many properties of C classes: lists, their mutable proxies, and the changes that observers are notified of. */
#include "basket.h"

#include <string.h>

/* What most tests begin with: a basket with the prices 1, 2, …, and an observer of one of its lists. */
static basket *object;
static scribe to;

static kvo_status insert_price(basket *into, size_t index, double price) {
  return kvo_list_insert(as_kvo(into), "prices", index, KVO_VALUE(double, price));
}
static kvo_status replace_price(size_t index, double price) {
  return kvo_list_replace(as_kvo(object), "prices", index, KVO_VALUE(double, price));
}
static kvo_status remove_price(size_t index) { return kvo_list_remove(as_kvo(object), "prices", index); }

static basket *with_prices(size_t count) {
  basket *made = basket_make("b", 0);
  for (size_t i = 0; i < count; i++) CHECK_OK(insert_price(made, i, 1.0 + (double)i));
  return made;
}

static void begin(size_t prices, const char *list, int options) {
  object = with_prices(prices);
  memset(&to, 0, sizeof to);
  scribe_watch(object, list, options, &to);
}

static void end(void) {
  CHECK_OK(kvo_remove_observer(to.id));
  basket_destroy(object);
}

#define CHECK_CHANGES(expected) CHECK_EQ((const char *)to.text, expected)

/* Values for several elements. */
static const kvo_value values[] = {
    {"d", sizeof(double), &(double){10}}, {"d", sizeof(double), &(double){11}}, {"d", sizeof(double), &(double){12}}};

/* ----------------------------------------------------------------------------------------------------------- Changes -- */

TEST("elements are inserted, read, replaced and removed by their index, and an observer gets what it asks for") {
  static const struct {
    int options;
    const char *changes;
  } rows[] = {{KVO_NONE, "insert[1] replace[0] remove[2] "},
              {KVO_NEW, "insert[1]+2.5 replace[0]+9 remove[2] "},
              {KVO_OLD, "insert[1] replace[0]-1 remove[2]-2 "},
              {KVO_NEW | KVO_INITIAL, "set+(1,2) insert[1]+2.5 replace[0]+9 remove[2] "},
              {KVO_PRIOR | KVO_OLD | KVO_NEW, "will insert[1] insert[1]+2.5 will replace[0]-1 replace[0]-1+9 "
                                              "will remove[2]-2 remove[2]-2 "}};
  for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
    begin(2, "prices", rows[i].options);
    CHECK_OK(insert_price(object, 1, 2.5));
    CHECK_OK(replace_price(0, 9));
    CHECK_OK(remove_price(2));
    CHECK_CHANGES(rows[i].changes);
    size_t count = 99;
    char element[1024] = "";
    CHECK_OK(kvo_list_count(as_kvo(object), "prices", &count));
    CHECK_EQ(count, 2);
    CHECK_OK(kvo_list_get(as_kvo(object), "prices", 1, write_value, element));
    CHECK_EQ((const char *)element, "2.5");
    CHECK_EQ(text_at(object, "prices"), "(9,2.5)");
    end();
  }
  CHECK_EQ(kvo_property_type(kvo_class_property(basket_class(), "prices")), "[d]");
  CHECK_EQ(kvo_property_type(kvo_class_property(basket_class(), "names")), "[*]");
}

TEST("several elements are one change, with all indexes and elements") {
  static const size_t inserted[] = {0, 2, 5}, others[] = {1, 5};
  begin(3, "prices", KVO_NEW | KVO_OLD);
  CHECK_OK(kvo_list_insert_several(as_kvo(object), "prices", inserted, 3, values));
  CHECK_EQ(text_at(object, "prices"), "(10,1,11,2,3,12)");
  CHECK_OK(kvo_list_replace_several(as_kvo(object), "prices", others, 2, values));
  CHECK_OK(kvo_list_remove_several(as_kvo(object), "prices", others, 2));
  CHECK_EQ(text_at(object, "prices"), "(10,11,2,3)");
  CHECK_CHANGES("insert[0,2,5]+10,11,12 replace[1,5]-1,12+10,11 remove[1,5]-10,11 ");
  CHECK_OK(kvo_list_insert_several(as_kvo(object), "prices", NULL, 0, NULL));
  CHECK_OK(kvo_list_remove_several(as_kvo(object), "prices", NULL, 0));
  CHECK_EQ(to.calls, 3);
  end();
}

static void copy_text(const kvo_value *value, void *text) { strcpy(text, *(char *const *)value->bytes); }

static void remove_and_look(const kvo_change *change, void *user_data) {
  if (change->kind != KVO_CHANGE_INSERTION) return;
  CHECK_OK(kvo_list_remove(change->object, "names", 0));
  CHECK_OK(kvo_change_element(change, KVO_NEW, 0, copy_text, user_data));
}

TEST("strings are copied: observers see those that the list has freed, also in the callback that removes them") {
  begin(0, "names", KVO_NEW | KVO_OLD);
  kvo_object *o = as_kvo(object);
  CHECK_OK(kvo_list_insert(o, "names", 0, KVO_VALUE(const char *, "Ada")));
  CHECK_OK(kvo_list_insert(o, "names", 1, &(kvo_value){"*", sizeof(char *), NULL}));
  CHECK_OK(kvo_list_replace(o, "names", 0, VALUE("r*", const char *, "Grace")));
  CHECK_OK(kvo_list_remove(o, "names", 0));
  CHECK_OK(kvo_list_remove(o, "names", 0));
  CHECK_CHANGES("insert[0]+\"Ada\" insert[1]+nil replace[0]-\"Ada\"+\"Grace\" remove[0]-\"Grace\" remove[0]-nil ");
  char text[32] = "";
  kvo_observation id = observe_by(o, "names", KVO_NEW, remove_and_look, text);
  CHECK_OK(kvo_list_insert(o, "names", 0, KVO_VALUE(const char *, "an element")));
  CHECK_EQ((const char *)text, "an element");
  CHECK_OK(kvo_remove_observer(id));
  end();
}

/* ---------------------------------------------------------------------------------------------------------- Refusals -- */

TEST("an index that the list does not have is refused: nothing is changed, and no observer is notified") {
  static const size_t far[] = {0, 2, 5}, none[] = {1, 2};
  begin(2, "prices", KVO_NEW | KVO_PRIOR);
  kvo_object *o = as_kvo(object);
  int accesses = object->accesses;
  CHECK_STATUS(insert_price(object, 3, 1), KVO_ERROR_OUT_OF_RANGE);
  CHECK_STATUS(insert_price(object, SIZE_MAX, 1), KVO_ERROR_OUT_OF_RANGE);
  CHECK_STATUS(remove_price(2), KVO_ERROR_OUT_OF_RANGE);
  CHECK_STATUS(replace_price(2, 1), KVO_ERROR_OUT_OF_RANGE);
  CHECK_STATUS(kvo_list_insert_several(o, "prices", far, 3, values), KVO_ERROR_OUT_OF_RANGE);
  CHECK_STATUS(kvo_list_remove_several(o, "prices", none, 2), KVO_ERROR_OUT_OF_RANGE);
  CHECK_STATUS(kvo_list_replace_several(o, "prices", none, 2, values), KVO_ERROR_OUT_OF_RANGE);
  CHECK_STATUS(kvo_list_get(o, "prices", 2, never_read, NULL), KVO_ERROR_OUT_OF_RANGE);
  CHECK_EQ(kvo_last_error(), "kvo_list_get: key 'prices' of class 'Basket': there is no such index");
  CHECK_EQ(object->accesses, accesses);
  CHECK_EQ(to.calls + to.priors, 0);
  end();
}

static void look_beyond(const kvo_value *value, void *arg) {
  const size_t *count = arg;
  CHECK_EQ(kvo_value_count(value), *count);
  CHECK_STATUS(kvo_value_element(value, *count, never_read, NULL), KVO_ERROR_OUT_OF_RANGE);
  CHECK_STATUS(kvo_value_element(value, SIZE_MAX, never_read, NULL), KVO_ERROR_OUT_OF_RANGE);
}

static void look_beyond_change(const kvo_change *change, void *user_data) {
  look_beyond(change->new_value, user_data);
  CHECK_STATUS(kvo_change_element(change, KVO_NEW, 1, never_read, NULL), KVO_ERROR_OUT_OF_RANGE);
}

TEST("a position at the end of the list that a reader or an observer gets, or beyond it, has no element") {
  object = with_prices(2);
  CHECK_OK(kvo_get_value(as_kvo(object), "prices", look_beyond, &(size_t){2}));
  CHECK_OK(kvo_get_value(as_kvo(object), "names", look_beyond, &(size_t){0}));
  CHECK_OK(kvo_get_value(as_kvo(object), "prices.@distinctUnionOfObjects.self", look_beyond, &(size_t){2}));
  to.id = observe_by(as_kvo(object), "prices", KVO_NEW, look_beyond_change, &(size_t){1});
  CHECK_OK(insert_price(object, 1, 7));
  end();
}

TEST("an accessor's refusal is returned and no change, and of several elements those before it are changed") {
  static const size_t indexes[] = {0, 1, 2};
  begin(3, "prices", KVO_NEW | KVO_OLD);
  kvo_object *o = as_kvo(object);
  object->allowed = 0;
  CHECK_STATUS(insert_price(object, 0, 2), KVO_ERROR_BUSY);
  object->allowed = 0;
  CHECK_STATUS(remove_price(0), KVO_ERROR_BUSY);
  CHECK_EQ(to.calls, 0);
  object->allowed = 2;
  CHECK_STATUS(kvo_list_insert_several(o, "prices", indexes, 3, values), KVO_ERROR_BUSY);
  CHECK_EQ(text_at(object, "prices"), "(10,11,1,2,3)");
  object->allowed = 2;
  CHECK_STATUS(kvo_list_remove_several(o, "prices", indexes, 3), KVO_ERROR_BUSY);
  CHECK_EQ(text_at(object, "prices"), "(10,2,3)");
  object->allowed = 1;
  CHECK_STATUS(kvo_list_replace_several(o, "prices", indexes, 3, values), KVO_ERROR_BUSY);
  CHECK_CHANGES("insert[0,1]+10,11 remove[1,2]-11,1 replace[0]-10+10 ");
  end();
}

/* Lists without an accessor that replaces. */
TEST("without an accessor for it a replacement is an insertion and a removal, and one change") {
  static const pair one = {1, 1}, two = {2, 2};
  static const kvo_value both[] = {{"{pair=id}", sizeof one, &one}, {"{pair=id}", sizeof two, &two}};
  static const struct { /* how many accesses and removals succeed, and the number of pairs afterwards */
    int accesses, removals, count;
    kvo_status status;
    const char *changes, *counts;
  } rows[] = {
      {-1, -1, 2, KVO_OK, "will replace[0,1]-1/1,2/2 replace[0,1]-1/1,2/2+2/2,1/1 ", "set-2+2 "},
      {1, -1, 2, KVO_ERROR_BUSY, "will replace[0,1]-1/1,2/2 ", ""}, /* the insertion is undone */
      {-1, 0, 3, KVO_ERROR_REFUSED, "will replace[0,1]-1/1,2/2 insert[0]+2/2 ", "set-2+3 "},
      {-1, 1, 3, KVO_ERROR_REFUSED, "will replace[0,1]-1/1,2/2 replace[0]-1/1+2/2 insert[1]+1/1 ", "set-2+3 set-3+3 "}};
  for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
    scribe count = {0};
    begin(0, "pairs", KVO_NONE);
    CHECK_OK(kvo_remove_observer(to.id));
    CHECK_OK(kvo_list_insert_several(as_kvo(object), "pairs", (size_t[]){0, 1}, 2, both));
    to.text[0] = '\0';
    scribe_watch(object, "pairs", KVO_NEW | KVO_OLD | KVO_PRIOR, &to);
    scribe_watch(object, "pairs.@count", KVO_NEW | KVO_OLD, &count);
    object->allowed = rows[i].accesses;
    object->removable = rows[i].removals;
    kvo_status status =
        kvo_list_replace_several(as_kvo(object), "pairs", (size_t[]){0, 1}, 2, (kvo_value[]){both[1], both[0]});
    CHECK_STATUS(status, rows[i].status);
    CHECK_EQ(object->pair_count, rows[i].count);
    CHECK_CHANGES(rows[i].changes);
    CHECK_EQ((const char *)count.text, rows[i].counts);
    CHECK_OK(kvo_remove_observer(count.id));
    end();
  }
}

/* ------------------------------------------------------------------------------------- Accessors, paths, classes -- */

TEST("the program's accessors, looked up, notify while the object is observed, and are its own otherwise") {
  object = with_prices(1);
  kvo_object *o = as_kvo(object);
  kvo_list_accessors own = {.struct_size = sizeof own}, present = own;
  CHECK_OK(kvo_object_list_accessors(o, "prices", &own));
  scribe_watch(object, "prices", KVO_NEW | KVO_OLD, &to);
  CHECK_OK(kvo_object_list_accessors(o, "prices", &present));
  CHECK(own.insert_at != present.insert_at);
  double price = 4, read;
  CHECK_OK(present.insert_at(o, 1, &price, present.user));
  CHECK_OK(present.replace_at(o, 0, &price, present.user));
  CHECK_OK(present.remove_at(o, 1, present.user));
  CHECK_STATUS(present.remove_at(o, 1, present.user), KVO_ERROR_OUT_OF_RANGE);
  CHECK_EQ(present.count(o, present.user), 1);
  present.get_at(o, 0, &read, present.user);
  CHECK_EQ(read, 4.0);
  CHECK_CHANGES("insert[1]+4 replace[0]-1+4 remove[1]-4 ");
  CHECK_OK(kvo_remove_observer(to.id));
  CHECK_OK(kvo_object_list_accessors(o, "prices", &present));
  CHECK(own.insert_at == present.insert_at && own.user == present.user);
  CHECK_OK(kvo_object_list_accessors(o, "fixed", &present));
  CHECK(present.insert_at == NULL && present.remove_at == NULL && present.replace_at == NULL);
  basket_destroy(object);
}

TEST("a list at the end of a path is delivered with its indexes, also after the path leads elsewhere") {
  basket *leaf = with_prices(1), *other = with_prices(2);
  object = with_prices(0);
  object->best = leaf;
  scribe_watch(object, "best.prices", KVO_NEW | KVO_OLD, &to);
  CHECK_OK(insert_price(leaf, 0, 8));
  KVO_SET(object, "best", basket *, other);
  CHECK_OK(insert_price(leaf, 0, 9));
  CHECK_OK(kvo_list_remove(as_kvo(other), "prices", 0));
  CHECK_CHANGES("insert[0]+8 set-(8,1)+(1,2) remove[0]-1 ");
  end();
  basket_destroy(leaf);
  basket_destroy(other);
}

/* -------------------------------------------------------------------------------- Announced, coalesced, and missed -- */

TEST("a change announced by hand has the elements that the list has, a list with KVO_PROPERTY_MANUAL only such ones") {
  scribe quiet = {0};
  begin(2, "prices", KVO_NEW | KVO_OLD);
  scribe_watch(object, "quiet", KVO_NEW | KVO_OLD, &quiet);
  kvo_object *o = as_kvo(object);
  CHECK_OK(kvo_will_change_indexes(o, KVO_CHANGE_REPLACEMENT, "prices", (size_t[]){1, 2, 9}, 3));
  object->prices[1] = 6;
  CHECK_OK(kvo_did_change_indexes(o, KVO_CHANGE_REPLACEMENT, "prices", (size_t[]){1, 2, 9}, 3));
  CHECK_OK(kvo_will_change(o, "prices"));
  object->price_count = 0;
  CHECK_OK(kvo_did_change(o, "prices"));
  CHECK_CHANGES("replace[1,2,9]-2+6 set-(1,6)+() ");
  CHECK_OK(kvo_list_insert(o, "quiet", 0, KVO_VALUE(int, 1)));
  CHECK_EQ(quiet.calls, 0);
  CHECK_OK(kvo_will_change_indexes(o, KVO_CHANGE_INSERTION, "quiet", &(size_t){0}, 1));
  CHECK_OK(kvo_list_insert(o, "quiet", 0, KVO_VALUE(int, 5)));
  CHECK_OK(kvo_did_change_indexes(o, KVO_CHANGE_INSERTION, "quiet", &(size_t){0}, 1));
  CHECK_EQ((const char *)quiet.text, "insert[0]+5 ");
  CHECK_OK(kvo_remove_observer(quiet.id));
  end();
}

TEST("a pause delivers the changes of a list that it has missed, and a scope all of its own, once, as a setting") {
  kvo_scope scope;
  begin(1, "prices", KVO_NEW | KVO_OLD);
  kvo_object *objects[] = {as_kvo(object)};
  CHECK_OK(kvo_observation_pause(to.id));
  CHECK_OK(insert_price(object, 0, 3));
  CHECK_OK(remove_price(1));
  CHECK_OK(kvo_observation_resume(to.id, true));
  CHECK_CHANGES("set-(1)+(3) ");
  CHECK_OK(kvo_scope_begin(&scope, KVO_SCOPE_COALESCES_IF_CHANGED, objects, 1, NULL, 0));
  CHECK_OK(insert_price(object, 0, 4));
  CHECK_OK(insert_price(object, 0, 5));
  kvo_scope_end(&scope);
  CHECK_CHANGES("set-(1)+(3) set-(3)+(5,4,3) ");
  CHECK_OK(kvo_scope_begin(&scope, KVO_SCOPE_COALESCES_IF_CHANGED, objects, 1, NULL, 0));
  CHECK_OK(insert_price(object, 0, 3));
  CHECK_OK(remove_price(0));
  kvo_scope_end(&scope);
  CHECK_EQ(to.calls, 2); /* the elements are the same as before */
  end();
}

static bool is_removing;
static void change_again(const kvo_change *change, void *user_data) {
  int *left = user_data;
  if ((*left)-- == 0) return;
  CHECK_OK(is_removing ? kvo_list_remove(change->object, "prices", 1)
                       : kvo_list_insert(change->object, "prices", 0, KVO_VALUE(double, 50)));
}

TEST("an observer may change the list that it observes, and an older one gets no element that it has removed") {
  for (int i = 0; i < 2; i++) {
    is_removing = i == 1;
    begin(1, "prices", KVO_NEW); /* older, so notified after the nested change */
    kvo_observation id = observe_by(as_kvo(object), "prices", KVO_NONE, change_again, &(int){1});
    CHECK_OK(insert_price(object, 1, 3));
    CHECK_CHANGES(is_removing ? "remove[1] insert[1]+ " : "insert[0]+50 insert[1]+1 ");
    CHECK_EQ(text_at(object, "prices"), is_removing ? "(1)" : "(50,1,3)");
    CHECK_OK(kvo_remove_observer(id));
    end();
  }
}

/* lists.c - to-many properties of C classes: lists, their mutable proxies, and the changes that observers get. */
#include "allocator.h"
#include "basket.h"

#include <kvo/kvo_binding.h>
#include <stdlib.h>
#include <string.h>

static kvo_status insert_price(basket *object, size_t index, double price) {
  return kvo_list_insert(as_kvo(object), "prices", index, VALUE("d", double, price));
}

static basket *with_prices(size_t count) {
  basket *object = basket_make("b", 0);
  for (size_t i = 0; i < count; i++) CHECK_OK(insert_price(object, i, 1.0 + (double)i));
  return object;
}

static const char *element_text(basket *object, const char *key, size_t index) {
  static char text[1024];
  text[0] = '\0';
  CHECK_OK(kvo_list_get(as_kvo(object), key, index, write_value, text));
  return text;
}

static size_t count_of(basket *object, const char *key) {
  size_t count = 99;
  CHECK_OK(kvo_list_count(as_kvo(object), key, &count));
  return count;
}

TEST("elements are inserted, read, replaced and removed by their index") {
  basket *object = with_prices(3);
  CHECK_EQ(count_of(object, "prices"), 3);
  CHECK_EQ(element_text(object, "prices", 1), "2");
  CHECK_OK(kvo_list_replace(as_kvo(object), "prices", 1, VALUE("d", double, 7)));
  CHECK_OK(kvo_list_remove(as_kvo(object), "prices", 0));
  CHECK_EQ(text_at(object, "prices"), "(7,3)");
  CHECK_EQ(kvo_property_type(kvo_class_property(basket_class(), "prices")), "[d]");
  CHECK_EQ(kvo_property_type(kvo_class_property(basket_class(), "names")), "[*]");
  basket_destroy(object);
}

TEST("an observer gets the kind of a change, its index, and the elements that belong to it") {
  basket *object = with_prices(2);
  scribe to = {0};
  scribe_watch(object, "prices", KVO_NEW | KVO_OLD, &to);
  CHECK_OK(insert_price(object, 1, 2.5));
  CHECK_OK(kvo_list_replace(as_kvo(object), "prices", 0, VALUE("d", double, 9)));
  CHECK_OK(kvo_list_remove(as_kvo(object), "prices", 2));
  CHECK_EQ((const char *)to.text, "insert[1]+2.5 replace[0]-1+9 remove[2]-2 ");
  CHECK_OK(kvo_remove_observer(to.id));
  basket_destroy(object);
}

TEST("an observer that asks for no values gets the index only, and one before the change what is about to go") {
  basket *object = with_prices(1);
  scribe plain = {0}, prior = {0};
  scribe_watch(object, "prices", KVO_NONE, &plain);
  scribe_watch(object, "prices", KVO_PRIOR | KVO_OLD | KVO_NEW, &prior);
  CHECK_OK(insert_price(object, 0, 5));
  CHECK_OK(kvo_list_remove(as_kvo(object), "prices", 1));
  CHECK_EQ((const char *)plain.text, "insert[0] remove[1] ");
  CHECK_EQ((const char *)prior.text, "will insert[0] insert[0]+5 will remove[1]-1 remove[1]-1 ");
  CHECK_OK(kvo_remove_observer(plain.id));
  CHECK_OK(kvo_remove_observer(prior.id));
  basket_destroy(object);
}

TEST("a list is not the target of a binding: it is changed by its elements") {
  basket *object = with_prices(1);
  kvo_observation id;
  CHECK_STATUS(kvo_bind(as_kvo(object), "prices", as_kvo(object), "names", &id), KVO_ERROR_READ_ONLY);
  CHECK_CONTAINS(kvo_last_error(), "\"prices\" of class");
  CHECK_EQ(count_of(object, "prices"), 1);
  basket_destroy(object);
}

TEST("several elements are one change, with all indexes and elements") {
  basket *object = with_prices(3);
  scribe to = {0};
  scribe_watch(object, "prices", KVO_NEW | KVO_OLD, &to);
  double reals[] = {10, 11, 12};
  kvo_value values[] = {{"d", 8, &reals[0]}, {"d", 8, &reals[1]}, {"d", 8, &reals[2]}};
  size_t inserted[] = {0, 2, 5}, others[] = {1, 5};
  CHECK_OK(kvo_list_insert_several(as_kvo(object), "prices", inserted, 3, values));
  CHECK_EQ(text_at(object, "prices"), "(10,1,11,2,3,12)");
  CHECK_OK(kvo_list_replace_several(as_kvo(object), "prices", others, 2, values));
  CHECK_OK(kvo_list_remove_several(as_kvo(object), "prices", others, 2));
  CHECK_EQ(text_at(object, "prices"), "(10,11,2,3)");
  CHECK_EQ((const char *)to.text, "insert[0,2,5]+10,11,12 replace[1,5]-1,12+10,11 remove[1,5]-10,11 ");
  CHECK_OK(kvo_list_insert_several(as_kvo(object), "prices", NULL, 0, NULL));
  CHECK_OK(kvo_list_remove_several(as_kvo(object), "prices", NULL, 0));
  CHECK_EQ(to.calls, 3);
  CHECK_OK(kvo_remove_observer(to.id));
  basket_destroy(object);
}

TEST("an index that the list does not have is refused: nothing is changed, and nobody is told") {
  basket *object = with_prices(2);
  scribe to = {0};
  scribe_watch(object, "prices", KVO_NEW | KVO_PRIOR, &to);
  size_t far[] = {0, 2, 5}, none[] = {1, 2};
  double reals[3] = {0};
  kvo_value values[] = {{"d", 8, &reals[0]}, {"d", 8, &reals[1]}, {"d", 8, &reals[2]}};
  int accesses = object->accesses;
  CHECK_STATUS(insert_price(object, 3, 1), KVO_ERROR_OUT_OF_RANGE);
  CHECK_STATUS(insert_price(object, SIZE_MAX, 1), KVO_ERROR_OUT_OF_RANGE);
  CHECK_STATUS(kvo_list_remove(as_kvo(object), "prices", 2), KVO_ERROR_OUT_OF_RANGE);
  CHECK_STATUS(kvo_list_replace(as_kvo(object), "prices", 2, values), KVO_ERROR_OUT_OF_RANGE);
  CHECK_STATUS(kvo_list_get(as_kvo(object), "prices", 2, write_value, NULL), KVO_ERROR_OUT_OF_RANGE);
  CHECK_EQ(kvo_last_error(), "kvo_list_get: key 'prices' of class 'Basket': there is no such index");
  CHECK_STATUS(kvo_list_insert_several(as_kvo(object), "prices", far, 3, values), KVO_ERROR_OUT_OF_RANGE);
  CHECK_STATUS(kvo_list_remove_several(as_kvo(object), "prices", none, 2), KVO_ERROR_OUT_OF_RANGE);
  CHECK_STATUS(kvo_list_replace_several(as_kvo(object), "prices", none, 2, values), KVO_ERROR_OUT_OF_RANGE);
  CHECK_EQ(object->accesses, accesses);
  CHECK_EQ(to.calls + to.priors, 0);
  CHECK_OK(kvo_remove_observer(to.id));
  basket_destroy(object);
}

TEST_REPORTED("indexes that are not ascending are refused, and the fault names the two") {
  ignore_faults();
  basket *object = with_prices(6);
  size_t equal[] = {1, 2, 4, 4}, descending[] = {0, 5, 3};
  double reals[4] = {0};
  kvo_value values[] = {{"d", 8, &reals[0]}, {"d", 8, &reals[1]}, {"d", 8, &reals[2]}, {"d", 8, &reals[3]}};
  CHECK_STATUS(kvo_list_remove_several(as_kvo(object), "prices", equal, 4), KVO_ERROR_INVALID_ARGUMENT);
  CHECK_EQ((int)faults.code, KVO_FAULT_BAD_INDEXES);
  CHECK_CONTAINS(faults.summary, "number 3 is 4, after 4");
  CHECK_STATUS(kvo_list_replace_several(as_kvo(object), "prices", descending, 3, values), KVO_ERROR_INVALID_ARGUMENT);
  CHECK_CONTAINS(faults.summary, "number 2 is 3, after 5");
  CHECK_STATUS(kvo_list_insert_several(as_kvo(object), "prices", descending, 3, values), KVO_ERROR_INVALID_ARGUMENT);
  CHECK_EQ(faults.count, 3);
  CHECK_EQ(text_at(object, "prices"), "(1,2,3,4,5,6)");
  basket_destroy(object);
}

TEST("a value that is no element, and a key that is no list, are refused") {
  basket *object = with_prices(1);
  size_t count;
  CHECK_STATUS(kvo_list_insert(as_kvo(object), "prices", 0, VALUE("*", char *, "text")), KVO_ERROR_TYPE_MISMATCH);
  CHECK_STATUS(kvo_list_insert(as_kvo(object), "prices", 0, &(kvo_value){"d", 8, NULL}), KVO_ERROR_TYPE_MISMATCH);
  CHECK_STATUS(kvo_list_insert(as_kvo(object), "names", 0, VALUE("d", double, 1)), KVO_ERROR_TYPE_MISMATCH);
  CHECK_STATUS(kvo_list_insert(as_kvo(object), "total", 0, VALUE("d", double, 1)), KVO_ERROR_TYPE_MISMATCH);
  CHECK_STATUS(kvo_list_insert(as_kvo(object), "tags", 0, VALUE("i", int, 1)), KVO_ERROR_TYPE_MISMATCH);
  CHECK_STATUS(kvo_list_insert(as_kvo(object), "nothing", 0, VALUE("d", double, 1)), KVO_ERROR_UNDEFINED_KEY);
  CHECK_STATUS(kvo_list_count(as_kvo(object), "total", &count), KVO_ERROR_TYPE_MISMATCH);
  CHECK_STATUS(kvo_list_count(as_kvo(object), "tags", &count), KVO_ERROR_TYPE_MISMATCH);
  CHECK_STATUS(kvo_list_insert(as_kvo(object), "fixed", 0, VALUE("i", int, 1)), KVO_ERROR_READ_ONLY);
  CHECK_STATUS(kvo_list_remove(as_kvo(object), "fixed", 0), KVO_ERROR_READ_ONLY);
  CHECK_EQ(text_at(object, "fixed"), "(7,8,9)");
  CHECK_EQ(object->accesses, 1);
  basket_destroy(object);
}

TEST("what an accessor refuses is no change, and its status is returned") {
  basket *object = with_prices(1);
  scribe to = {0};
  scribe_watch(object, "prices", KVO_NEW | KVO_OLD, &to);
  object->allowed = 0;
  CHECK_STATUS(insert_price(object, 0, 2), KVO_ERROR_BUSY);
  object->allowed = 0;
  CHECK_STATUS(kvo_list_remove(as_kvo(object), "prices", 0), KVO_ERROR_BUSY);
  CHECK_EQ(to.calls, 0);
  CHECK_EQ(text_at(object, "prices"), "(1)");
  CHECK_OK(kvo_remove_observer(to.id));
  basket_destroy(object);
}

TEST("if an accessor refuses one of several elements, those before it are changed, and told") {
  basket *object = with_prices(3);
  scribe to = {0};
  scribe_watch(object, "prices", KVO_NEW | KVO_OLD, &to);
  double reals[] = {10, 11, 12};
  kvo_value values[] = {{"d", 8, &reals[0]}, {"d", 8, &reals[1]}, {"d", 8, &reals[2]}};
  size_t indexes[] = {0, 1, 2};
  object->allowed = 2;
  CHECK_STATUS(kvo_list_insert_several(as_kvo(object), "prices", indexes, 3, values), KVO_ERROR_BUSY);
  CHECK_EQ(text_at(object, "prices"), "(10,11,1,2,3)");
  object->allowed = 2;
  CHECK_STATUS(kvo_list_remove_several(as_kvo(object), "prices", indexes, 3), KVO_ERROR_BUSY);
  CHECK_EQ(text_at(object, "prices"), "(10,2,3)");
  object->allowed = 1;
  CHECK_STATUS(kvo_list_replace_several(as_kvo(object), "prices", indexes, 3, values), KVO_ERROR_BUSY);
  CHECK_EQ((const char *)to.text, "insert[0,1]+10,11 remove[1,2]-11,1 replace[0]-10+10 ");
  CHECK_OK(kvo_remove_observer(to.id));
  basket_destroy(object);
}

TEST("without an accessor for it, a replacement is an insertion and a removal, and one change") {
  basket *object = basket_make("b", 0);
  scribe to = {0};
  CHECK_OK(kvo_list_insert(as_kvo(object), "pairs", 0, VALUE("{pair=id}", pair, 1, 2.5)));
  scribe_watch(object, "pairs", KVO_NEW | KVO_OLD, &to);
  CHECK_OK(kvo_list_replace(as_kvo(object), "pairs", 0, VALUE("{pair=id}", pair, 3, 4.5)));
  CHECK_EQ((const char *)to.text, "replace[0]-1/2.5+3/4.5 ");
  object->allowed = 1; /* the removal is refused, and the insertion undone */
  CHECK_STATUS(kvo_list_replace(as_kvo(object), "pairs", 0, VALUE("{pair=id}", pair, 5, 6)), KVO_ERROR_BUSY);
  CHECK_EQ(to.calls, 1);
  CHECK_OK(kvo_remove_observer(to.id));
  basket_destroy(object);
}

TEST("the insertion of a replacement is told if the list refuses to remove an element") {
  for (size_t before = 0; before < 2; before++) {
    basket *object = basket_make("b", 0);
    scribe to = {0}, count = {0};
    pair pairs[] = {{1, 1}, {2, 2}};
    kvo_value values[] = {{"{pair=id}", sizeof(pair), &pairs[0]}, {"{pair=id}", sizeof(pair), &pairs[1]}};
    for (size_t i = 0; i < 2; i++) CHECK_OK(kvo_list_insert(as_kvo(object), "pairs", i, &values[i]));
    scribe_watch(object, "pairs", KVO_NEW | KVO_OLD | KVO_PRIOR, &to);
    scribe_watch(object, "pairs.@count", KVO_NEW | KVO_OLD, &count);
    object->removable = (int)before;
    CHECK_STATUS(
        kvo_list_replace_several(as_kvo(object), "pairs", (size_t[]){0, 1}, 2, (kvo_value[]){values[1], values[0]}),
        KVO_ERROR_REFUSED);
    CHECK_EQ(count_of(object, "pairs"), 3);
    const char *told = before == 0 ? "will replace[0,1]-1/1,2/2 insert[0]+2/2 "
                                   : "will replace[0,1]-1/1,2/2 replace[0]-1/1+2/2 insert[1]+1/1 ";
    CHECK_EQ((const char *)to.text, told);
    CHECK_EQ((const char *)count.text, before == 0 ? "set-2+3 " : "set-2+3 set-3+3 ");
    CHECK_OK(kvo_remove_observer(to.id));
    CHECK_OK(kvo_remove_observer(count.id));
    basket_destroy(object);
  }
}

TEST("strings are copied: an observer sees one that the list has freed") {
  basket *object = basket_make("b", 0);
  scribe to = {0};
  CHECK_OK(kvo_list_insert(as_kvo(object), "names", 0, VALUE("*", char *, "Ada")));
  CHECK_OK(kvo_list_insert(as_kvo(object), "names", 1, &(kvo_value){"*", sizeof(char *), NULL}));
  scribe_watch(object, "names", KVO_NEW | KVO_OLD, &to);
  CHECK_OK(kvo_list_replace(as_kvo(object), "names", 0, VALUE("r*", const char *, "Grace")));
  CHECK_OK(kvo_list_remove(as_kvo(object), "names", 0));
  CHECK_OK(kvo_list_remove(as_kvo(object), "names", 0));
  CHECK_EQ((const char *)to.text, "replace[0]-\"Ada\"+\"Grace\" remove[0]-\"Grace\" remove[0]-nil ");
  CHECK_OK(kvo_remove_observer(to.id));
  basket_destroy(object);
}

TEST("many elements, more than fit on the stack, are told completely") {
  basket *object = basket_make("b", 0);
  scribe to = {0};
  scribe_watch(object, "pairs", KVO_NEW | KVO_OLD, &to);
  pair pairs[BASKET_ROOM];
  kvo_value values[BASKET_ROOM];
  size_t indexes[BASKET_ROOM];
  for (int i = 0; i < BASKET_ROOM; i++) {
    pairs[i] = (pair){i, i};
    values[i] = (kvo_value){"{pair=id}", sizeof(pair), &pairs[i]};
    indexes[i] = (size_t)i;
  }
  CHECK_OK(kvo_list_insert_several(as_kvo(object), "pairs", indexes, BASKET_ROOM, values));
  CHECK_CONTAINS(to.text, "+0/0,1/1,2/2");
  CHECK_CONTAINS(to.text, ",19/19 ");
  CHECK_OK(kvo_list_remove_several(as_kvo(object), "pairs", indexes, BASKET_ROOM));
  CHECK_EQ(count_of(object, "pairs"), 0);
  CHECK_OK(kvo_remove_observer(to.id));
  basket_destroy(object);
}

TEST("the program's accessors, looked up, notify while the object is observed, and are its own otherwise") {
  basket *object = with_prices(1);
  kvo_list_accessors own = {.struct_size = sizeof own}, present = own;
  CHECK_OK(kvo_object_list_accessors(as_kvo(object), "prices", &own));
  scribe to = {0};
  scribe_watch(object, "prices", KVO_NEW | KVO_OLD, &to);
  CHECK_OK(kvo_object_list_accessors(as_kvo(object), "prices", &present));
  CHECK(own.insert_at != present.insert_at);
  double price = 4, read;
  CHECK_OK(present.insert_at(as_kvo(object), 1, &price, present.user));
  CHECK_OK(present.replace_at(as_kvo(object), 0, &price, present.user));
  CHECK_OK(present.remove_at(as_kvo(object), 1, present.user));
  CHECK_STATUS(present.remove_at(as_kvo(object), 1, present.user), KVO_ERROR_OUT_OF_RANGE);
  CHECK_EQ(present.count(as_kvo(object), present.user), 1);
  present.get_at(as_kvo(object), 0, &read, present.user);
  CHECK_EQ(read, 4.0);
  CHECK_EQ((const char *)to.text, "insert[1]+4 replace[0]-1+4 remove[1]-4 ");
  CHECK_OK(kvo_remove_observer(to.id));
  CHECK_OK(kvo_object_list_accessors(as_kvo(object), "prices", &present));
  CHECK(own.insert_at == present.insert_at && own.user == present.user);
  CHECK_OK(kvo_object_list_accessors(as_kvo(object), "fixed", &present));
  CHECK(present.insert_at == NULL && present.remove_at == NULL && present.replace_at == NULL);
  basket_destroy(object);
}

TEST("a list at the end of a path is told with its indexes, also after the path leads elsewhere") {
  basket *root = basket_make("root", 0), *leaf = with_prices(1), *other = with_prices(2);
  root->best = leaf;
  scribe to = {0};
  scribe_watch(root, "best.prices", KVO_NEW | KVO_OLD, &to);
  CHECK_OK(insert_price(leaf, 0, 8));
  KVO_SET(as_kvo(root), "best", basket *, other);
  CHECK_OK(insert_price(leaf, 0, 9));
  CHECK_OK(kvo_list_remove(as_kvo(other), "prices", 0));
  CHECK_EQ((const char *)to.text, "insert[0]+8 set-(8,1)+(1,2) remove[0]-1 ");
  CHECK_OK(kvo_remove_observer(to.id));
  basket_destroy(root);
  basket_destroy(leaf);
  basket_destroy(other);
}

TEST("a change announced by hand has its elements, and a list with KVO_PROPERTY_MANUAL tells nothing by itself") {
  basket *object = with_prices(2);
  scribe to = {0}, quiet = {0};
  scribe_watch(object, "prices", KVO_NEW | KVO_OLD, &to);
  scribe_watch(object, "quiet", KVO_NEW | KVO_OLD, &quiet);
  size_t index = 1;
  CHECK_OK(kvo_will_change_indexes(as_kvo(object), KVO_CHANGE_REPLACEMENT, "prices", &index, 1));
  object->prices[1] = 6;
  CHECK_OK(kvo_did_change_indexes(as_kvo(object), KVO_CHANGE_REPLACEMENT, "prices", &index, 1));
  CHECK_OK(kvo_will_change(as_kvo(object), "prices"));
  object->price_count = 0;
  CHECK_OK(kvo_did_change(as_kvo(object), "prices"));
  CHECK_EQ((const char *)to.text, "replace[1]-2+6 set-(1,6)+() ");
  index = 0;
  CHECK_OK(kvo_list_insert(as_kvo(object), "quiet", 0, VALUE("i", int, 1)));
  CHECK_EQ(quiet.calls, 0);
  CHECK_OK(kvo_will_change_indexes(as_kvo(object), KVO_CHANGE_INSERTION, "quiet", &index, 1));
  CHECK_OK(kvo_list_insert(as_kvo(object), "quiet", 0, VALUE("i", int, 5)));
  CHECK_OK(kvo_did_change_indexes(as_kvo(object), KVO_CHANGE_INSERTION, "quiet", &index, 1));
  CHECK_EQ((const char *)quiet.text, "insert[0]+5 ");
  CHECK_OK(kvo_remove_observer(to.id));
  CHECK_OK(kvo_remove_observer(quiet.id));
  basket_destroy(object);
}

static int allocations;
static void count_allocation(size_t size) { (void)size, allocations++; }

TEST("a change of few elements allocates only the old elements that an observer has asked for") {
  static const int options[] = {KVO_NONE, KVO_NEW, KVO_OLD};
  use_counting_allocator();
  for (int i = 0; i < 3; i++) {
    basket *object = with_prices(3);
    scribe to = {0};
    scribe_watch(object, "prices", options[i], &to);
    CHECK_OK(insert_price(object, 0, 1)); /* what a thread needs once */
    allocations = 0;
    before_allocation = count_allocation;
    CHECK_OK(insert_price(object, 0, 7));
    CHECK_EQ(allocations, 0);
    CHECK_OK(kvo_list_replace(as_kvo(object), "prices", 0, VALUE("d", double, 8)));
    CHECK_OK(kvo_list_remove(as_kvo(object), "prices", 0));
    CHECK_EQ(allocations, options[i] == KVO_OLD ? 2 : 0);
    before_allocation = NULL;
    CHECK_EQ(to.calls, 4);
    CHECK_OK(kvo_remove_observer(to.id));
    basket_destroy(object);
  }
}

TEST("an initial notification has the whole list") {
  basket *object = with_prices(2);
  scribe to = {0};
  scribe_watch(object, "prices", KVO_NEW | KVO_INITIAL, &to);
  CHECK_EQ((const char *)to.text, "set+(1,2) ");
  CHECK_OK(kvo_remove_observer(to.id));
  basket_destroy(object);
}

static void insert_again(const kvo_change *change, void *user_data) {
  int *left = user_data;
  if ((*left)-- > 0) CHECK_OK(kvo_list_insert(change->object, "prices", 0, VALUE("d", double, 50)));
}

TEST("an observer may change the list that it observes") {
  basket *object = with_prices(1);
  scribe to = {0};
  int left = 1;
  kvo_observer nested = {
      .struct_size = sizeof nested, .key_path = "prices", .callback = insert_again, .user_data = &left};
  kvo_observation id;
  scribe_watch(object, "prices", KVO_NEW, &to); /* older, so it is told after the nested change */
  CHECK_OK(kvo_add_observer(as_kvo(object), &nested, &id));
  CHECK_OK(insert_price(object, 0, 3));
  CHECK_EQ(to.calls, 2);
  CHECK_EQ(text_at(object, "prices"), "(50,3,1)");
  CHECK_OK(kvo_remove_observer(to.id));
  CHECK_OK(kvo_remove_observer(id));
  basket_destroy(object);
}

TEST("a scope tells the changes of a list once, as a setting") {
  basket *object = with_prices(1);
  scribe to = {0};
  scribe_watch(object, "prices", KVO_NEW | KVO_OLD, &to);
  kvo_scope scope;
  kvo_object *objects[] = {as_kvo(object)};
  CHECK_OK(kvo_scope_begin(&scope, KVO_SCOPE_COALESCES_IF_CHANGED, objects, 1, NULL, 0));
  CHECK_OK(insert_price(object, 0, 3));
  CHECK_OK(insert_price(object, 0, 4));
  kvo_scope_end(&scope);
  CHECK_EQ((const char *)to.text, "set-(1)+(4,3,1) ");
  CHECK_OK(kvo_scope_begin(&scope, KVO_SCOPE_COALESCES_IF_CHANGED, objects, 1, NULL, 0));
  CHECK_OK(insert_price(object, 0, 3));
  CHECK_OK(kvo_list_remove(as_kvo(object), "prices", 0));
  kvo_scope_end(&scope);
  CHECK_EQ(to.calls, 1); /* the elements are the same as before */
  CHECK_OK(kvo_remove_observer(to.id));
  basket_destroy(object);
}

TEST("a paused observation is told of what it has missed as a setting of the list") {
  basket *object = with_prices(1);
  scribe to = {0};
  scribe_watch(object, "prices", KVO_NEW | KVO_OLD, &to);
  CHECK_OK(kvo_observation_pause(to.id));
  CHECK_OK(insert_price(object, 0, 3));
  CHECK_OK(kvo_list_remove(as_kvo(object), "prices", 1));
  CHECK_OK(kvo_observation_resume(to.id, true));
  CHECK_EQ((const char *)to.text, "set-(1)+(3) ");
  CHECK_OK(kvo_remove_observer(to.id));
  basket_destroy(object);
}

TEST("a subclass inherits lists, and the accessors of a class are copied") {
  kvo_class_spec spec = {
      .struct_size = sizeof spec, .name = "Sub", .superclass = basket_class(), .instance_size = sizeof(basket)};
  kvo_class *cls;
  kvo_object *made;
  CHECK_OK(kvo_class_register(&spec, &cls));
  CHECK_OK(kvo_object_create(cls, &made));
  basket *object = (basket *)made;
  object->allowed = -1;
  scribe to = {0};
  scribe_watch(object, "prices", KVO_NEW, &to);
  CHECK_OK(insert_price(object, 0, 3));
  CHECK_EQ((const char *)to.text, "insert[0]+3 ");
  CHECK_OK(kvo_remove_observer(to.id));
  basket_destroy(object);
}

TEST("elements of a value that is none, or of a position beyond the end, are refused") {
  double real = 1;
  kvo_value scalar = {"d", sizeof real, &real};
  CHECK_EQ(kvo_value_count(&scalar), 0);
  CHECK_SAME(kvo_value_collection(&scalar), NULL);
  CHECK_STATUS(kvo_value_element(&scalar, 0, write_value, NULL), KVO_ERROR_TYPE_MISMATCH);
}

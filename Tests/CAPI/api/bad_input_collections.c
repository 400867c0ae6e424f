/* bad_input_collections.c - the rows of lists and sets. */
#include "bad_input.h"

static const kvo_value untyped = {NULL, 8, ""}, one = {"d", 8, &(double){1}}, number = {"i", 4, &(int){1}};

ROW(kvo_value_collection) {
  kvo_value nil = {"[d]", sizeof(kvo_collection), NULL};
  CHECK_SAME(kvo_value_collection(NULL), NULL);
  CHECK_SAME(kvo_value_collection(&untyped), NULL);
  CHECK_SAME(kvo_value_collection(&one), NULL);
  CHECK_SAME(kvo_value_collection(&nil), NULL);
}

ROW(kvo_value_count) {
  CHECK_EQ(kvo_value_count(NULL), 0);
  CHECK_EQ(kvo_value_count(&untyped), 0);
  CHECK_EQ(kvo_value_count(&one), 0);
}

ROW(kvo_value_element) {
  REFUSED(kvo_value_element(NULL, 0, read_nothing, NULL));
  REFUSED(kvo_value_element(&one, 0, NULL, NULL));
  CHECK_STATUS(kvo_value_element(&untyped, 0, read_nothing, NULL), KVO_ERROR_TYPE_MISMATCH);
  CHECK_STATUS(kvo_value_element(&one, 0, read_nothing, NULL), KVO_ERROR_TYPE_MISMATCH);
}

ROW(kvo_change_count) {
  kvo_change change = {0};
  CHECK_EQ(kvo_change_count(NULL, KVO_NEW), 0);
  CHECK_EQ(kvo_change_count(&change, KVO_NEW), 0);
  CHECK_EQ(kvo_change_count(&change, (kvo_options)99), 0);
}

ROW(kvo_change_element) {
  kvo_change change = {.new_value = &one};
  REFUSED(kvo_change_element(NULL, KVO_NEW, 0, read_nothing, NULL));
  REFUSED(kvo_change_element(&change, KVO_OLD, 0, read_nothing, NULL));
  REFUSED(kvo_change_element(&change, (kvo_options)99, 0, read_nothing, NULL));
  REFUSED(kvo_change_element(&change, KVO_NEW, 0, NULL, NULL));
  CHECK_STATUS(kvo_change_element(&change, KVO_NEW, 0, read_nothing, NULL), KVO_ERROR_TYPE_MISMATCH);
}

ROW(kvo_object_list_accessors) {
  kvo_list_accessors good = {.struct_size = sizeof good}, small = {.struct_size = sizeof small - 1};
  REFUSED(kvo_object_list_accessors(NULL, "prices", &good));
  REFUSED(kvo_object_list_accessors(made_basket(), NULL, &good));
  REFUSED(kvo_object_list_accessors(made_basket(), "prices", NULL));
  REFUSED(kvo_object_list_accessors(made_basket(), "prices", &small));
  CHECK_STATUS(kvo_object_list_accessors(made_basket(), "none", &good), KVO_ERROR_UNDEFINED_KEY);
  CHECK_STATUS(kvo_object_list_accessors(made_basket(), "tags", &good), KVO_ERROR_TYPE_MISMATCH);
}

ROW(kvo_object_member_accessors) {
  kvo_member_accessors good = {.struct_size = sizeof good}, small = {.struct_size = sizeof small - 1};
  REFUSED(kvo_object_member_accessors(NULL, "tags", &good));
  REFUSED(kvo_object_member_accessors(made_basket(), NULL, &good));
  REFUSED(kvo_object_member_accessors(made_basket(), "tags", NULL));
  REFUSED(kvo_object_member_accessors(made_basket(), "tags", &small));
  CHECK_STATUS(kvo_object_member_accessors(made_basket(), "none", &good), KVO_ERROR_UNDEFINED_KEY);
  CHECK_STATUS(kvo_object_member_accessors(made_basket(), "prices", &good), KVO_ERROR_TYPE_MISMATCH);
}

#define COUNT_ROW(function, key)                                                                                       \
  ROW(function) {                                                                                                      \
    size_t count;                                                                                                      \
    NEEDS_BOTH(function, made_basket(), key, &count);                                                                  \
    FAULTS_AND_REFUSED(function(made_basket(), key, NULL));                                                            \
    CHECK_STATUS(function(bound_make(), "value", &count), KVO_ERROR_TYPE_MISMATCH);                                    \
  }
COUNT_ROW(kvo_list_count, "prices")
COUNT_ROW(kvo_members_count, "tags")

ROW(kvo_list_get) {
  NEEDS_BOTH(kvo_list_get, made_basket(), "prices", 0, read_nothing, NULL);
  FAULTS_AND_REFUSED(kvo_list_get(made_basket(), "prices", 0, NULL, NULL));
  CHECK_STATUS(kvo_list_get(made_basket(), "prices", SIZE_MAX, read_nothing, NULL), KVO_ERROR_OUT_OF_RANGE);
  CHECK_STATUS(kvo_list_get(bound_make(), "value", 0, read_nothing, NULL), KVO_ERROR_TYPE_MISMATCH);
}

ROW(kvo_list_insert) {
  NEEDS_BOTH(kvo_list_insert, made_basket(), "prices", 0, &one);
  FAULTS_AND_REFUSED(kvo_list_insert(made_basket(), "prices", 0, NULL));
  FAULTS_AND_REFUSED(kvo_list_insert(made_basket(), "prices", 0, &untyped));
  CHECK_STATUS(kvo_list_insert(bound_make(), "value", 0, &one), KVO_ERROR_TYPE_MISMATCH);
}

ROW(kvo_list_remove) {
  NEEDS_BOTH(kvo_list_remove, made_basket(), "prices", 0);
  CHECK_STATUS(kvo_list_remove(made_basket(), "prices", SIZE_MAX), KVO_ERROR_OUT_OF_RANGE);
}

ROW(kvo_list_replace) {
  NEEDS_BOTH(kvo_list_replace, made_basket(), "prices", 0, &one);
  FAULTS_AND_REFUSED(kvo_list_replace(made_basket(), "prices", 0, NULL));
  FAULTS_AND_REFUSED(kvo_list_replace(made_basket(), "prices", 0, &untyped));
}

/* Indexes that are not ascending are a fault of their own. */
#define UNORDERED(call)                                                                                                \
  faults_clear();                                                                                                      \
  REFUSED(call);                                                                                                       \
  CHECK_EQ((int)faults.code, KVO_FAULT_BAD_INDEXES);                                                                   \
  CHECK_CONTAINS(faults.summary, "number 1 is 0, after ")

static const size_t equal[] = {0, 0}, falling[] = {9, 0}, rising[] = {0, 1};

ROW(kvo_list_insert_several) {
  kvo_value values[] = {one, one}, wrong[] = {one, untyped};
  NEEDS_BOTH(kvo_list_insert_several, made_basket(), "prices", rising, 2, values);
  FAULTS_AND_REFUSED(kvo_list_insert_several(made_basket(), "prices", NULL, 2, values));
  FAULTS_AND_REFUSED(kvo_list_insert_several(made_basket(), "prices", rising, 2, NULL));
  FAULTS_AND_REFUSED(kvo_list_insert_several(made_basket(), "prices", rising, 2, wrong));
  UNORDERED(kvo_list_insert_several(made_basket(), "prices", equal, 2, values));
  UNORDERED(kvo_list_insert_several(made_basket(), "prices", falling, 2, values));
}

ROW(kvo_list_remove_several) {
  NEEDS_BOTH(kvo_list_remove_several, made_basket(), "prices", rising, 2);
  FAULTS_AND_REFUSED(kvo_list_remove_several(made_basket(), "prices", NULL, 2));
  CHECK_OK(kvo_list_insert(made_basket(), "prices", 0, &one));
  UNORDERED(kvo_list_remove_several(made_basket(), "prices", equal, 2));
  UNORDERED(kvo_list_remove_several(made_basket(), "prices", falling, 2)); /* also beyond the end */
}

ROW(kvo_list_replace_several) {
  kvo_value values[] = {one, one};
  NEEDS_BOTH(kvo_list_replace_several, made_basket(), "prices", rising, 2, values);
  FAULTS_AND_REFUSED(kvo_list_replace_several(made_basket(), "prices", NULL, 2, values));
  FAULTS_AND_REFUSED(kvo_list_replace_several(made_basket(), "prices", rising, 2, NULL));
  CHECK_OK(kvo_list_insert(made_basket(), "prices", 0, &one));
  UNORDERED(kvo_list_replace_several(made_basket(), "prices", equal, 2, values));
  UNORDERED(kvo_list_replace_several(made_basket(), "prices", falling, 2, values));
}

ROW(kvo_members_contain) {
  bool contains;
  NEEDS_BOTH(kvo_members_contain, made_basket(), "tags", &number, &contains);
  FAULTS_AND_REFUSED(kvo_members_contain(made_basket(), "tags", NULL, &contains));
  FAULTS_AND_REFUSED(kvo_members_contain(made_basket(), "tags", &untyped, &contains));
  FAULTS_AND_REFUSED(kvo_members_contain(made_basket(), "tags", &number, NULL));
}

ROW(kvo_members_for_each) {
  NEEDS_BOTH(kvo_members_for_each, made_basket(), "tags", read_nothing, NULL);
  FAULTS_AND_REFUSED(kvo_members_for_each(made_basket(), "tags", NULL, NULL));
}

#define MEMBER_ROW(function)                                                                                           \
  ROW(function) {                                                                                                      \
    NEEDS_BOTH(function, made_basket(), "tags", &number);                                                              \
    FAULTS_AND_REFUSED(function(made_basket(), "tags", NULL));                                                         \
    FAULTS_AND_REFUSED(function(made_basket(), "tags", &untyped));                                                     \
  }
MEMBER_ROW(kvo_members_add)
MEMBER_ROW(kvo_members_remove)

TEST("a class with a wrong description of a collection is not registered") {
  kvo_list_accessors list = {.struct_size = sizeof list}, whole;
  kvo_member_accessors members = {.struct_size = sizeof members};
  kvo_list_accessors present = {.struct_size = sizeof present};
  CHECK_OK(kvo_object_list_accessors(made_basket(), "prices", &present));
  kvo_collection_spec collection = {.name = "a", .element_type = "d", .list = &whole};
  kvo_class_spec good = {.struct_size = sizeof good,
                         .name = "Bad",
                         .instance_size = sizeof(kvo_object),
                         .collections = &collection,
                         .collection_count = 1,
                         .collection_size = sizeof collection};
  kvo_class_spec bad;
  kvo_class *out = NULL;
#define TRY(change, expected)                                                                                          \
  (bad = good, whole = present, collection = (kvo_collection_spec){.name = "a", .element_type = "d", .list = &whole},  \
   change, CHECK_STATUS(kvo_class_register(&bad, &out), expected))
  TRY(bad.collections = NULL, KVO_ERROR_INVALID_ARGUMENT);
  TRY(bad.collection_size = 0, KVO_ERROR_INVALID_ARGUMENT);
  TRY(bad.collection_size = sizeof collection - 1, KVO_ERROR_INVALID_ARGUMENT);
  TRY(bad.collection_count = SIZE_MAX, KVO_ERROR_INVALID_ARGUMENT);
  TRY(bad.collection_count = UINT16_MAX, KVO_ERROR_INVALID_ARGUMENT);
  TRY(collection.name = NULL, KVO_ERROR_INVALID_ARGUMENT);
  TRY(collection.name = "", KVO_ERROR_INVALID_ARGUMENT);
  TRY(collection.name = "a.b", KVO_ERROR_INVALID_ARGUMENT);
  TRY(collection.element_type = NULL, KVO_ERROR_INVALID_ARGUMENT);
  TRY(collection.element_type = "", KVO_ERROR_BAD_TYPE_ENCODING);
  TRY(collection.element_type = "dd", KVO_ERROR_BAD_TYPE_ENCODING);
  TRY(collection.element_type = "[4i]", KVO_ERROR_UNSUPPORTED_SETTER);
  TRY(collection.flags = ~0u, KVO_ERROR_INVALID_ARGUMENT);
  TRY(collection.list = NULL, KVO_ERROR_INVALID_ARGUMENT);
  TRY(collection.members = &members, KVO_ERROR_INVALID_ARGUMENT);
  TRY((collection.list = NULL, collection.members = &members), KVO_ERROR_INVALID_ARGUMENT);
  TRY(collection.list = &list, KVO_ERROR_INVALID_ARGUMENT);
  TRY(whole.struct_size--, KVO_ERROR_INVALID_ARGUMENT);
  TRY(whole.count = NULL, KVO_ERROR_INVALID_ARGUMENT);
  TRY(whole.get_at = NULL, KVO_ERROR_INVALID_ARGUMENT);
  TRY(whole.insert_at = NULL, KVO_ERROR_INVALID_ARGUMENT);
  TRY(whole.remove_at = NULL, KVO_ERROR_INVALID_ARGUMENT);
  TRY((whole.insert_at = NULL, whole.remove_at = NULL), KVO_ERROR_INVALID_ARGUMENT); /* and a replacement */
  CHECK_OK(kvo_object_member_accessors(made_basket(), "tags", &members));
  const kvo_member_accessors present_members = members;
#define TRY_SET(change)                                                                                                \
  members = present_members;                                                                                           \
  TRY((collection.list = NULL, collection.members = &members, collection.element_type = "i", change),                  \
      KVO_ERROR_INVALID_ARGUMENT)
  TRY_SET(members.struct_size--);
  TRY_SET(members.count = NULL);
  TRY_SET(members.contains = NULL);
  TRY_SET(members.for_each = NULL);
  TRY_SET(members.add = NULL);
  TRY_SET(members.remove = NULL);
  TRY((bad.superclass = basket_class(), bad.instance_size = sizeof(basket), collection.name = "prices"),
      KVO_ERROR_DUPLICATE_KEY);
  CHECK_SAME(out, NULL);
  CHECK_SAME(kvo_class_find("Bad"), NULL);
}

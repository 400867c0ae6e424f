/* sets.c - to-many properties of C classes: sets, their mutable proxies, and the changes that observers get. */
#include "basket.h"

#include <string.h>

static kvo_status add_tag(basket *object, int tag) {
  return kvo_members_add(as_kvo(object), "tags", VALUE("i", int, tag));
}
static kvo_status remove_tag(basket *object, int tag) {
  return kvo_members_remove(as_kvo(object), "tags", VALUE("i", int, tag));
}

TEST("members are added, found, enumerated and removed, and observers get them") {
  basket *object = basket_make("b", 0);
  scribe to = {0};
  scribe_watch(object, "tags", KVO_NEW | KVO_OLD, &to);
  CHECK_OK(add_tag(object, 4));
  CHECK_OK(add_tag(object, 5));
  size_t count = 0;
  bool contains = false;
  CHECK_OK(kvo_members_count(as_kvo(object), "tags", &count));
  CHECK_EQ(count, 2);
  CHECK_OK(kvo_members_contain(as_kvo(object), "tags", VALUE("i", int, 5), &contains));
  CHECK(contains);
  char text[1024] = "";
  CHECK_OK(kvo_members_for_each(as_kvo(object), "tags", write_value, text));
  CHECK_EQ((const char *)text, "45");
  CHECK_OK(remove_tag(object, 4));
  CHECK_OK(kvo_members_contain(as_kvo(object), "tags", VALUE("i", int, 4), &contains));
  CHECK(!contains);
  CHECK_EQ((const char *)to.text, "insert+4 insert+5 remove-4 ");
  CHECK_EQ(kvo_property_type(kvo_class_property(basket_class(), "tags")), "<i>");
  CHECK_OK(kvo_remove_observer(to.id));
  basket_destroy(object);
}

TEST("adding a member twice, or removing one that is none, changes and tells nothing") {
  basket *object = basket_make("b", 0);
  scribe to = {0};
  CHECK_OK(add_tag(object, 4));
  scribe_watch(object, "tags", KVO_NEW | KVO_OLD | KVO_PRIOR, &to);
  int accesses = object->accesses;
  CHECK_OK(add_tag(object, 4));
  CHECK_OK(remove_tag(object, 5));
  CHECK_EQ(object->accesses, accesses);
  CHECK_EQ(to.calls + to.priors, 0);
  object->allowed = 0;
  CHECK_STATUS(add_tag(object, 6), KVO_ERROR_BUSY);
  CHECK_EQ(to.calls, 0);
  CHECK_OK(kvo_remove_observer(to.id));
  basket_destroy(object);
}

TEST("a member that is a string of the set itself is removed, and the observer sees it") {
  basket *object = basket_make("b", 0);
  scribe to = {0};
  CHECK_OK(kvo_members_add(as_kvo(object), "words", VALUE("*", char *, "pear")));
  scribe_watch(object, "words", KVO_NEW | KVO_OLD, &to);
  CHECK_OK(kvo_members_remove(as_kvo(object), "words", VALUE("*", char *, object->words[0])));
  CHECK_EQ((const char *)to.text, "remove-\"pear\" ");
  CHECK_OK(kvo_remove_observer(to.id));
  basket_destroy(object);
}

static void remove_it(const kvo_value *value, void *arg) { CHECK_OK(kvo_members_remove(arg, "tags", value)); }

TEST("members may be removed while they are enumerated") {
  basket *object = basket_make("b", 0);
  for (int i = 0; i < 5; i++) CHECK_OK(add_tag(object, i));
  CHECK_OK(kvo_members_for_each(as_kvo(object), "tags", remove_it, object));
  CHECK_EQ(object->tag_count, 0);
  basket_destroy(object);
}

static int visited;
static void visit(const void *element, void *arg) { *(int *)arg += *(const int *)element; }

static size_t count_of_one(const kvo_object *object, void *user) { return (void)object, (void)user, 1; }
static bool is_seven(const kvo_object *object, const void *element, void *user) {
  (void)object, (void)user;
  return *(const int *)element == 7;
}
static void pass_seven(const kvo_object *object, void (*each)(const void *element, void *arg), void *arg, void *user) {
  int seven = 7;
  (void)object, (void)user;
  each(&seven, arg);
}

TEST("a set without accessors that change it is read, also observed, and refuses additions and removals") {
  kvo_member_accessors sevens = {
      .struct_size = sizeof sevens, .count = count_of_one, .contains = is_seven, .for_each = pass_seven};
  kvo_collection_spec collection = {.name = "sevens", .element_type = "i", .members = &sevens};
  kvo_class_spec spec = {.struct_size = sizeof spec,
                         .name = "Sevens",
                         .instance_size = sizeof(kvo_object),
                         .collections = &collection,
                         .collection_count = 1,
                         .collection_size = sizeof collection};
  kvo_class *cls;
  kvo_object *object;
  CHECK_OK(kvo_class_register(&spec, &cls));
  CHECK_OK(kvo_object_create(cls, &object));
  scribe to = {0};
  for (int observed = 0; observed < 2; observed++) {
    if (observed != 0) scribe_watch((basket *)object, "sevens", KVO_NEW, &to);
    bool contains = false;
    char text[1024] = "";
    CHECK_OK(kvo_members_contain(object, "sevens", VALUE("i", int, 7), &contains));
    CHECK(contains);
    CHECK_OK(kvo_members_for_each(object, "sevens", write_value, text));
    CHECK_EQ((const char *)text, "7");
    CHECK_STATUS(kvo_members_add(object, "sevens", VALUE("i", int, 8)), KVO_ERROR_READ_ONLY);
    CHECK_EQ(kvo_last_error(), "kvo_members_add: key 'sevens' of class 'Sevens': it is read-only");
    CHECK_STATUS(kvo_members_remove(object, "sevens", VALUE("i", int, 7)), KVO_ERROR_READ_ONLY);
    CHECK_EQ(kvo_last_error(), "kvo_members_remove: key 'sevens' of class 'Sevens': it is read-only");
    kvo_member_accessors found = {.struct_size = sizeof found};
    CHECK_OK(kvo_object_member_accessors(object, "sevens", &found));
    CHECK(found.add == NULL && found.remove == NULL);
    visited = 0;
    found.for_each(object, visit, &visited, found.user);
    CHECK_EQ(visited, 7);
  }
  CHECK_EQ(to.calls, 0);
  CHECK_OK(kvo_remove_observer(to.id));
  kvo_object_destroy(object);
}

TEST("the program's accessors of a set, looked up, notify while the object is observed") {
  basket *object = basket_make("b", 0);
  scribe to = {0};
  scribe_watch(object, "tags", KVO_NEW | KVO_OLD, &to);
  kvo_member_accessors tags = {.struct_size = sizeof tags};
  CHECK_OK(kvo_object_member_accessors(as_kvo(object), "tags", &tags));
  int one = 1;
  CHECK_OK(tags.add(as_kvo(object), &one, tags.user));
  CHECK_OK(tags.add(as_kvo(object), &one, tags.user));
  CHECK(tags.contains(as_kvo(object), &one, tags.user));
  visited = 0;
  tags.for_each(as_kvo(object), visit, &visited, tags.user);
  CHECK_EQ(visited, 1);
  CHECK_OK(tags.remove(as_kvo(object), &one, tags.user));
  CHECK_EQ(tags.count(as_kvo(object), tags.user), 0);
  CHECK_EQ((const char *)to.text, "insert+1 remove-1 ");
  CHECK_OK(kvo_remove_observer(to.id));
  basket_destroy(object);
}

TEST("a set and a list have functions of their own") {
  basket *object = basket_make("b", 0);
  kvo_list_accessors list = {.struct_size = sizeof list};
  kvo_member_accessors members = {.struct_size = sizeof members};
  size_t count;
  bool contains;
  CHECK_STATUS(kvo_members_add(as_kvo(object), "prices", VALUE("d", double, 1)), KVO_ERROR_TYPE_MISMATCH);
  CHECK_STATUS(kvo_members_count(as_kvo(object), "prices", &count), KVO_ERROR_TYPE_MISMATCH);
  CHECK_STATUS(kvo_members_contain(as_kvo(object), "total", VALUE("d", double, 1), &contains), KVO_ERROR_TYPE_MISMATCH);
  CHECK_STATUS(kvo_members_for_each(as_kvo(object), "names", write_value, NULL), KVO_ERROR_TYPE_MISMATCH);
  CHECK_STATUS(kvo_object_list_accessors(as_kvo(object), "tags", &list), KVO_ERROR_TYPE_MISMATCH);
  CHECK_STATUS(kvo_object_member_accessors(as_kvo(object), "prices", &members), KVO_ERROR_TYPE_MISMATCH);
  CHECK_STATUS(kvo_object_member_accessors(as_kvo(object), "none", &members), KVO_ERROR_UNDEFINED_KEY);
  CHECK_STATUS(add_tag(object, 1), KVO_OK);
  CHECK_STATUS(kvo_members_add(as_kvo(object), "tags", VALUE("*", char *, "x")), KVO_ERROR_TYPE_MISMATCH);
  CHECK_EQ(object->tag_count, 1);
  basket_destroy(object);
}

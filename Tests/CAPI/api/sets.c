/* sets.c - to-many properties of C classes: sets, their mutable proxies, and the changes that observers are notified of. */
#include "basket.h"
#include "made.h"

/* What most tests begin with: a basket, and an observer of one of its sets. */
static basket *object;
static scribe to;

static void begin(const char *set, int options) {
  object = basket_make("b", 0);
  scribe_watch(object, set, options, &to);
}
static void end(void) {
  CHECK_OK(kvo_remove_observer(to.id));
  basket_destroy(object);
}

static kvo_status add_tag(int tag) { return kvo_members_add(as_kvo(object), "tags", KVO_VALUE(int, tag)); }
static kvo_status remove_tag(int tag) { return kvo_members_remove(as_kvo(object), "tags", KVO_VALUE(int, tag)); }
static bool has_tag(int tag) {
  bool contains;
  CHECK_OK(kvo_members_contain(as_kvo(object), "tags", KVO_VALUE(int, tag), &contains));
  return contains;
}

TEST("members are added, found, enumerated and removed, and observers get them") {
  size_t count = 0;
  char text[1024] = "";
  begin("tags", KVO_NEW | KVO_OLD);
  CHECK_OK(add_tag(4));
  CHECK_OK(add_tag(5));
  CHECK_OK(kvo_members_count(as_kvo(object), "tags", &count));
  CHECK_EQ(count, 2);
  CHECK_OK(kvo_members_for_each(as_kvo(object), "tags", write_value, text));
  CHECK_EQ((const char *)text, "45");
  CHECK(has_tag(4) && has_tag(5));
  CHECK_OK(remove_tag(4));
  CHECK(!has_tag(4));
  CHECK_EQ((const char *)to.text, "insert+4 insert+5 remove-4 ");
  CHECK_EQ(kvo_property_type(kvo_class_property(basket_class(), "tags")), "<i>");
  end();
}

TEST("adding a member twice, removing one that is none, and what an accessor refuses is no change") {
  begin("tags", KVO_NEW | KVO_OLD | KVO_PRIOR);
  CHECK_OK(add_tag(4));
  int accesses = object->accesses;
  CHECK_OK(add_tag(4));
  CHECK_OK(remove_tag(5));
  CHECK_EQ(object->accesses, accesses);
  CHECK_EQ((const char *)to.text, "will insert insert+4 ");
  object->allowed = 0;
  kvo_member_accessors own = {.struct_size = sizeof own};
  CHECK_OK(kvo_object_member_accessors(as_kvo(object), "tags", &own));
  CHECK_STATUS(own.add(as_kvo(object), &(int){6}, own.user), KVO_ERROR_BUSY);
  CHECK_CONTAINS(kvo_last_error(), "add: key 'tags' of class 'Basket': ");
  CHECK_EQ(to.calls, 1);
  end();
}

TEST("a scope for differences does not notify of a set that has the members again that it had before") {
  kvo_scope scope;
  begin("tags", KVO_NEW | KVO_OLD);
  CHECK_OK(add_tag(4));
  for (int removed = 5; removed >= 4; removed--) {
    CHECK_OK(kvo_scope_begin(&scope, KVO_SCOPE_COALESCES_IF_CHANGED, &(kvo_object *){as_kvo(object)}, 1, NULL, 0));
    CHECK_OK(add_tag(5));
    CHECK_OK(remove_tag(removed));
    kvo_scope_end(&scope);
    CHECK_EQ(to.calls, removed == 4 ? 2 : 1);
  }
  end();
}

TEST("a member that is a string of the set itself is removed, and the observer sees it") {
  begin("words", KVO_NEW | KVO_OLD);
  CHECK_OK(kvo_members_add(as_kvo(object), "words", KVO_VALUE(const char *, "pear")));
  CHECK_OK(kvo_members_remove(as_kvo(object), "words", KVO_VALUE(char *, object->words[0])));
  CHECK_EQ((const char *)to.text, "insert+\"pear\" remove-\"pear\" ");
  end();
}

static void remove_it(const kvo_value *value, void *arg) { CHECK_OK(kvo_members_remove(arg, "tags", value)); }

TEST("members may be removed while they are enumerated") {
  begin("tags", KVO_NONE);
  for (int i = 0; i < 5; i++) CHECK_OK(add_tag(i));
  CHECK_OK(kvo_members_for_each(as_kvo(object), "tags", remove_it, object));
  CHECK_EQ(object->tag_count, 0);
  end();
}

/* --------------------------------------------------------------------------------------------------------- Accessors -- */

static void add_up(const void *element, void *arg) { *(int *)arg += *(const int *)element; }

/* A set that has as many of the members 7, 8, … as it is to enumerate, and counts two. */
static int enumerated;
static size_t count_two(const kvo_object *object, void *user) { return 2; }
static bool is_seven(const kvo_object *object, const void *element, void *user) { return *(const int *)element == 7; }
static void enumerate(const kvo_object *object, void (*visit)(const void *element, void *arg), void *arg, void *user) {
  for (int i = 0; i < enumerated; i++) visit(&(int){7 + i}, arg);
}

static kvo_object *make_fixed(void) {
  kvo_member_accessors members = {
      .struct_size = sizeof members, .count = count_two, .contains = is_seven, .for_each = enumerate};
  kvo_collection_spec collection = {.name = "fixed", .element_type = "i", .members = &members};
  return object_of(
      register_class((kvo_class_spec){.name = "Fixed", .collections = &collection, .collection_count = 1}));
}

TEST("a set without accessors that change it is read, also observed, and refuses additions and removals") {
  kvo_object *fixed = make_fixed();
  enumerated = 2;
  for (int observed = 0; observed < 2; observed++) {
    if (observed != 0) scribe_watch((basket *)fixed, "fixed", KVO_NEW, &to);
    bool contains = false;
    int sum = 0;
    CHECK_OK(kvo_members_contain(fixed, "fixed", KVO_VALUE(int, 7), &contains));
    CHECK(contains);
    CHECK_STATUS(kvo_members_add(fixed, "fixed", KVO_VALUE(int, 8)), KVO_ERROR_READ_ONLY);
    CHECK_STATUS(kvo_members_remove(fixed, "fixed", KVO_VALUE(int, 7)), KVO_ERROR_READ_ONLY);
    CHECK_EQ(kvo_last_error(), "kvo_members_remove: key 'fixed' of class 'Fixed': it is read-only");
    kvo_member_accessors found = {.struct_size = sizeof found};
    CHECK_OK(kvo_object_member_accessors(fixed, "fixed", &found));
    CHECK(found.add == NULL && found.remove == NULL);
    found.for_each(fixed, add_up, &sum, found.user);
    CHECK_EQ(sum, 15);
  }
  CHECK_EQ(to.calls, 0);
  CHECK_OK(kvo_remove_observer(to.id));
  kvo_object_destroy(fixed);
}

TEST("a set that enumerates more members than it counts is read up to its count, and one with fewer to its end") {
  static const char *const texts[] = {"()", "(7)", "(7,8)", "(7,8)", "(7,8)"};
  kvo_object *fixed = make_fixed();
  for (enumerated = 0; enumerated < 5; enumerated++) CHECK_EQ(text_at((basket *)fixed, "fixed"), texts[enumerated]);
  kvo_object_destroy(fixed);
}

TEST("observers are notified of members that the functions of kvo_object_member_accessors add and remove") {
  begin("tags", KVO_NEW | KVO_OLD);
  kvo_object *o = as_kvo(object);
  kvo_member_accessors tags = {.struct_size = sizeof tags};
  CHECK_OK(kvo_object_member_accessors(o, "tags", &tags));
  int one = 1, sum = 0;
  CHECK_OK(tags.add(o, &one, tags.user));
  CHECK_OK(tags.add(o, &one, tags.user));
  CHECK(tags.contains(o, &one, tags.user));
  tags.for_each(o, add_up, &sum, tags.user);
  CHECK_EQ(sum, 1);
  CHECK_OK(tags.remove(o, &one, tags.user));
  CHECK_EQ(tags.count(o, tags.user), 0);
  CHECK_EQ((const char *)to.text, "insert+1 remove-1 ");
  end();
}

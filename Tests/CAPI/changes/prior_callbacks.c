/* prior_callbacks.c - observers that change a list or a set while they are told that it will change. */
#include "basket.h"

#include <kvo/kvo_scope.h>

#include <string.h>

/* What an observer does, once, when it is told that the collection will change. */
typedef struct meddler {
  void (*act)(kvo_object *object);
  int done;
  kvo_observation id;
} meddler;

static void meddle(const kvo_change *change, void *user_data) {
  meddler *self = user_data;
  if (change->is_prior && self->done++ == 0) self->act(change->object);
}

/* The observer is told before those that were registered earlier get the change, and after they get the prior. */
static void add_meddler(basket *object, const char *key, void (*act)(kvo_object *object), meddler *self) {
  *self = (meddler){.act = act};
  kvo_observer observer = {.struct_size = sizeof observer,
                           .key_path = key,
                           .options = KVO_PRIOR | KVO_OLD,
                           .callback = meddle,
                           .user_data = self,
                           KVO_HERE};
  CHECK_OK(kvo_add_observer(as_kvo(object), &observer, &self->id));
}

/* A basket with the prices 1, 2, ..., observed by a scribe, and by a meddler. */
typedef struct scene {
  basket *object;
  scribe to;
  meddler by;
} scene;

static void insert_prices(basket *object, int count) {
  for (int i = 0; i < count; i++)
    CHECK_OK(kvo_list_insert(as_kvo(object), "prices", (size_t)i, VALUE("d", double, i + 1)));
}

static void begin(scene *of, const char *key, int options, void (*act)(kvo_object *object)) {
  *of = (scene){.object = basket_make("b", 0)};
  insert_prices(of->object, 3);
  scribe_watch(of->object, key, options, &of->to);
  add_meddler(of->object, key, act, &of->by);
  of->object->accesses = 0;
}

static void end(scene *of) {
  CHECK_OK(kvo_remove_observer(of->to.id));
  CHECK_OK(kvo_remove_observer(of->by.id));
  basket_destroy(of->object);
}

static void remove_first(kvo_object *object) { CHECK_OK(kvo_list_remove(object, "prices", 0)); }
static void insert_first(kvo_object *object) { CHECK_OK(kvo_list_insert(object, "prices", 0, VALUE("d", double, 9))); }

/* Without notification, as a program does that changes its own memory. */
static void empty_it(kvo_object *object) { ((basket *)object)->price_count = 0; }

/* ------------------------------------------------------------------------------------------------------------- Lists -- */

TEST("an index that a prior callback has taken away is out of range: no accessor is called, and nothing more is told") {
  scene of;
  begin(&of, "prices", KVO_PRIOR, remove_first);
  CHECK_STATUS(kvo_list_remove(as_kvo(of.object), "prices", 2), KVO_ERROR_OUT_OF_RANGE);
  CHECK_EQ(kvo_last_error(), "kvo_list_remove: key 'prices' of class 'Basket': index 2 of 2 elements");
  CHECK_EQ(of.object->accesses, 1);
  CHECK_EQ((const char *)of.to.text, "will remove[2] will remove[0] remove[0] ");
  CHECK_EQ(text_at(of.object, "prices"), "(2,3)");
  CHECK_OK(kvo_list_remove(as_kvo(of.object), "prices", 1));
  CHECK_EQ(text_at(of.object, "prices"), "(2)");
  end(&of);

  begin(&of, "prices", KVO_NEW, remove_first);
  CHECK_STATUS(kvo_list_insert(as_kvo(of.object), "prices", 3, VALUE("d", double, 4)), KVO_ERROR_OUT_OF_RANGE);
  CHECK_EQ(of.object->accesses, 1);
  CHECK_EQ((const char *)of.to.text, "remove[0] ");
  CHECK_EQ(text_at(of.object, "prices"), "(2,3)");
  end(&of);

  begin(&of, "prices", KVO_NEW, remove_first);
  CHECK_STATUS(kvo_list_replace(as_kvo(of.object), "prices", 2, VALUE("d", double, 4)), KVO_ERROR_OUT_OF_RANGE);
  CHECK_EQ(of.object->accesses, 1);
  CHECK_EQ((const char *)of.to.text, "remove[0] ");
  end(&of);
}

TEST("of several indexes none is changed if a prior callback has taken one away") {
  scene of;
  static const size_t removed[] = {0, 2}, inserted[] = {0, 4};
  const kvo_value values[] = {*VALUE("d", double, 8), *VALUE("d", double, 9)};
  begin(&of, "prices", KVO_OLD, remove_first);
  CHECK_STATUS(kvo_list_remove_several(as_kvo(of.object), "prices", removed, 2), KVO_ERROR_OUT_OF_RANGE);
  CHECK_EQ((const char *)of.to.text, "remove[0]-1 ");
  CHECK_EQ(text_at(of.object, "prices"), "(2,3)");
  end(&of);

  begin(&of, "prices", KVO_NEW, remove_first);
  CHECK_STATUS(kvo_list_insert_several(as_kvo(of.object), "prices", inserted, 2, values), KVO_ERROR_OUT_OF_RANGE);
  CHECK_EQ((const char *)of.to.text, "remove[0] ");
  CHECK_EQ(text_at(of.object, "prices"), "(2,3)");
  end(&of);

  begin(&of, "prices", KVO_NEW, remove_first);
  CHECK_STATUS(kvo_list_replace_several(as_kvo(of.object), "prices", removed, 2, values), KVO_ERROR_OUT_OF_RANGE);
  CHECK_EQ((const char *)of.to.text, "remove[0] ");
  CHECK_EQ(text_at(of.object, "prices"), "(2,3)");
  end(&of);
}

TEST("a list that a prior callback has emptied without notification is not changed") {
  scene of;
  begin(&of, "prices", KVO_NONE, empty_it);
  CHECK_STATUS(kvo_list_remove(as_kvo(of.object), "prices", 0), KVO_ERROR_OUT_OF_RANGE);
  CHECK_EQ(of.object->accesses, 0);
  CHECK_EQ(of.to.calls, 0);
  end(&of);
}

TEST("the accessors of an observed list, looked up, check again what a prior callback has changed") {
  scene of;
  begin(&of, "prices", KVO_NONE, remove_first);
  kvo_list_accessors list = {.struct_size = sizeof list};
  CHECK_OK(kvo_object_list_accessors(as_kvo(of.object), "prices", &list));
  CHECK_STATUS(list.remove_at(as_kvo(of.object), 2, list.user), KVO_ERROR_OUT_OF_RANGE);
  CHECK_EQ(of.object->accesses, 1);
  CHECK_EQ(text_at(of.object, "prices"), "(2,3)");
  end(&of);
}

TEST("the old elements are those that are removed or replaced, also after a prior callback has changed the list") {
  scene of;
  begin(&of, "prices", KVO_PRIOR | KVO_OLD, insert_first);
  CHECK_OK(kvo_list_remove(as_kvo(of.object), "prices", 1));
  CHECK_EQ((const char *)of.to.text, "will remove[1]-2 will insert[0] insert[0] remove[1]-1 ");
  CHECK_EQ(text_at(of.object, "prices"), "(9,2,3)");
  end(&of);

  begin(&of, "prices", KVO_OLD | KVO_NEW, insert_first);
  CHECK_OK(kvo_list_replace(as_kvo(of.object), "prices", 1, VALUE("d", double, 7)));
  CHECK_EQ((const char *)of.to.text, "insert[0]+9 replace[1]-1+7 ");
  CHECK_EQ(text_at(of.object, "prices"), "(9,7,2,3)");
  end(&of);
}

TEST("a change in a coalescing scope is checked again after the prior callback at its beginning") {
  scene of;
  begin(&of, "prices", KVO_OLD | KVO_NEW, empty_it);
  kvo_object *objects[] = {as_kvo(of.object)};
  kvo_scope scope;
  CHECK_OK(kvo_scope_begin(&scope, KVO_SCOPE_COALESCES, objects, 1, NULL, 0));
  CHECK_STATUS(kvo_list_remove(as_kvo(of.object), "prices", 2), KVO_ERROR_OUT_OF_RANGE);
  CHECK_EQ(of.by.done, 1);
  CHECK_EQ(of.object->accesses, 0);
  kvo_scope_end(&scope);
  end(&of);
}

/* A list whose insertions set a property; an observer of that empties the list. */

typedef struct shelf {
  kvo_object header;
  size_t count;
  int touched, wrong;
} shelf;

static size_t shelf_count(const kvo_object *object, void *user) { return (void)user, ((const shelf *)object)->count; }
static void shelf_get(const kvo_object *object, size_t index, void *element, void *user) {
  (void)object, (void)user;
  *(int *)element = (int)index;
}
static kvo_status shelf_insert(kvo_object *object, size_t index, const void *element, void *user) {
  shelf *of = (shelf *)object;
  (void)element, (void)user;
  if (index > of->count) of->wrong++;
  of->count++;
  return KVO_SET(object, "touched", int, of->touched + 1);
}
static kvo_status shelf_remove(kvo_object *object, size_t index, void *user) {
  shelf *of = (shelf *)object;
  (void)user;
  if (index >= of->count) of->wrong++;
  of->count--;
  return KVO_SET(object, "touched", int, of->touched + 1);
}
static void empty_shelf(const kvo_change *change, void *user_data) {
  (void)user_data;
  ((shelf *)change->object)->count = 0;
}

TEST("of several elements those are told that were changed before an accessor's own observers emptied the list") {
  kvo_list_accessors list = {.struct_size = sizeof list,
                             .count = shelf_count,
                             .get_at = shelf_get,
                             .insert_at = shelf_insert,
                             .remove_at = shelf_remove};
  kvo_collection_spec collection = {.name = "books", .element_type = "i", .list = &list};
  kvo_property_spec touched = {
      .name = "touched", .type = "i", .flags = KVO_PROPERTY_AT_OFFSET, .offset = offsetof(shelf, touched)};
  kvo_class_spec spec = {.struct_size = sizeof spec,
                         .name = "Shelf",
                         .instance_size = sizeof(shelf),
                         .properties = &touched,
                         .property_count = 1,
                         .collections = &collection,
                         .collection_count = 1,
                         .collection_size = sizeof collection};
  kvo_class *cls;
  kvo_object *object;
  CHECK_OK(kvo_class_register(&spec, &cls));
  CHECK_OK(kvo_object_create(cls, &object));
  shelf *of = (shelf *)object;
  of->count = 3;
  scribe to = {0};
  scribe_watch((basket *)object, "books", KVO_NONE, &to);
  kvo_observer observer = {.struct_size = sizeof observer, .key_path = "touched", .callback = empty_shelf, KVO_HERE};
  kvo_observation id;
  CHECK_OK(kvo_add_observer(object, &observer, &id));
  static const size_t removed[] = {0, 2}, inserted[] = {0, 1};
  const kvo_value values[] = {*VALUE("i", int, 8), *VALUE("i", int, 9)};
  CHECK_STATUS(kvo_list_remove_several(object, "books", removed, 2), KVO_ERROR_OUT_OF_RANGE);
  CHECK_STATUS(kvo_list_insert_several(object, "books", inserted, 2, values), KVO_ERROR_OUT_OF_RANGE);
  CHECK_EQ(of->wrong, 0);
  CHECK_EQ((const char *)to.text, "remove[2] insert[0] ");
  CHECK_OK(kvo_remove_observer(id));
  CHECK_OK(kvo_remove_observer(to.id));
  kvo_object_destroy(object);
}

/* -------------------------------------------------------------------------------------------------------------- Sets -- */

static void add_five(kvo_object *object) { CHECK_OK(kvo_members_add(object, "tags", VALUE("i", int, 5))); }
static void remove_five(kvo_object *object) { CHECK_OK(kvo_members_remove(object, "tags", VALUE("i", int, 5))); }

TEST("a member that a prior callback has added or removed already is not added or removed again, nor told") {
  scene of;
  begin(&of, "tags", KVO_PRIOR | KVO_NEW | KVO_OLD, add_five);
  CHECK_OK(kvo_members_add(as_kvo(of.object), "tags", VALUE("i", int, 5)));
  CHECK_EQ(of.object->accesses, 1);
  CHECK_EQ((const char *)of.to.text, "will insert will insert insert+5 ");
  of.by.act = remove_five;
  of.by.done = 0;
  of.to.text[0] = '\0';
  CHECK_OK(kvo_members_remove(as_kvo(of.object), "tags", VALUE("i", int, 5)));
  CHECK_EQ(of.object->accesses, 2);
  CHECK_EQ((const char *)of.to.text, "will remove-5 will remove-5 remove-5 ");
  kvo_member_accessors tags = {.struct_size = sizeof tags};
  CHECK_OK(kvo_object_member_accessors(as_kvo(of.object), "tags", &tags));
  of.by.act = add_five;
  of.by.done = 0;
  CHECK_OK(tags.add(as_kvo(of.object), &(int){5}, tags.user));
  CHECK_EQ(of.object->accesses, 3);
  CHECK_EQ(of.object->tag_count, 1);
  end(&of);
}

static void remove_pear(kvo_object *object) {
  CHECK_OK(kvo_members_remove(object, "words", VALUE("*", char *, "pear")));
}

TEST("a string of the set itself, whose memory a prior callback frees, can be removed") {
  scene of;
  begin(&of, "words", KVO_OLD, remove_pear);
  of.by.done = 1;
  CHECK_OK(kvo_members_add(as_kvo(of.object), "words", VALUE("*", char *, "pear")));
  of.by.done = 0;
  of.to.text[0] = '\0';
  CHECK_OK(kvo_members_remove(as_kvo(of.object), "words", VALUE("*", char *, of.object->words[0])));
  CHECK_EQ((const char *)of.to.text, "remove-\"pear\" ");
  CHECK_EQ(of.object->word_count, 0);
  end(&of);
}

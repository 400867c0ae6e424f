/* prior_callbacks.c - observers that change a list or a set before a change of it that they are notified of. */
#include "basket.h"

/* Acts once, before the first change of its collection. */
typedef struct meddler {
  void (*act)(kvo_object *object);
  int done;
  kvo_observation id;
} meddler;

static void meddle(const kvo_change *change, void *user_data) {
  meddler *self = user_data;
  if (change->is_prior && self->done++ == 0) self->act(change->object);
}

/* A basket with the prices 1, 2 and 3, observed by a scribe, and by a newer meddler, which acts before the scribe gets
 * the notification before the change. */
typedef struct scene {
  basket *object;
  scribe to;
  meddler by;
} scene;

static void begin(scene *of, const char *key, int options, void (*act)(kvo_object *object)) {
  *of = (scene){.object = basket_make("b", 0), .by = {.act = act}};
  for (int i = 0; i < 3; i++)
    CHECK_OK(kvo_list_insert(as_kvo(of->object), "prices", (size_t)i, VALUE("d", double, i + 1)));
  scribe_watch(of->object, key, options, &of->to);
  of->by.id = observe_by(as_kvo(of->object), key, KVO_PRIOR | KVO_OLD, meddle, &of->by);
  of->object->accesses = 0;
}

static void end(scene *of) {
  CHECK_OK(kvo_remove_observer(of->to.id));
  CHECK_OK(kvo_remove_observer(of->by.id));
  basket_destroy(of->object);
}

/* Lets the meddler act once more. */
static void meddle_again(scene *of, void (*act)(kvo_object *object)) {
  of->by.act = act;
  of->by.done = 0;
  of->to.text[0] = '\0';
}

/* ------------------------------------------------------------------------------------------------------- Lists -- */

static void remove_first(kvo_object *object) { CHECK_OK(kvo_list_remove(object, "prices", 0)); }
static void insert_first(kvo_object *object) { CHECK_OK(kvo_list_insert(object, "prices", 0, VALUE("d", double, 9))); }

/* Changes of a list of three prices that one of two cannot make. */
static const size_t removed[] = {0, 2}, inserted[] = {0, 4};
static const kvo_value four = {"d", sizeof(double), &(double){4}};
static const kvo_value fours[] = {{"d", sizeof(double), &(double){4}}, {"d", sizeof(double), &(double){4}}};

static kvo_status remove_last(kvo_object *of) { return kvo_list_remove(of, "prices", 2); }
static kvo_status insert_last(kvo_object *of) { return kvo_list_insert(of, "prices", 3, &four); }
static kvo_status replace_last(kvo_object *of) { return kvo_list_replace(of, "prices", 2, &four); }
static kvo_status remove_two(kvo_object *of) { return kvo_list_remove_several(of, "prices", removed, 2); }
static kvo_status insert_two(kvo_object *of) { return kvo_list_insert_several(of, "prices", inserted, 2, fours); }
static kvo_status replace_two(kvo_object *of) { return kvo_list_replace_several(of, "prices", removed, 2, fours); }
static kvo_status remove_looked_up(kvo_object *of) {
  kvo_list_accessors list = {.struct_size = sizeof list};
  CHECK_OK(kvo_object_list_accessors(of, "prices", &list));
  return list.remove_at(of, 2, list.user);
}

TEST("an index that an observer has taken away before the change is out of range: nothing is changed or notified") {
  static const struct {
    kvo_status (*change)(kvo_object *of);
    int options;
    const char *text;
  } rows[] = {{remove_last, KVO_PRIOR, "will remove[2] will remove[0] remove[0] "},
              {insert_last, KVO_NEW, "remove[0] "},
              {replace_last, KVO_NEW, "remove[0] "},
              {remove_two, KVO_OLD, "remove[0]-1 "},
              {insert_two, KVO_NEW, "remove[0] "},
              {replace_two, KVO_NEW, "remove[0] "},
              {remove_looked_up, KVO_NONE, "remove[0] "}};
  for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
    scene of;
    begin(&of, "prices", rows[i].options, remove_first);
    CHECK_STATUS(rows[i].change(as_kvo(of.object)), KVO_ERROR_OUT_OF_RANGE);
    if (i == 0) CHECK_EQ(kvo_last_error(), "kvo_list_remove: key 'prices' of class 'Basket': index 2 of 2 elements");
    CHECK_EQ(of.object->accesses, 1); /* that of the observer */
    CHECK_EQ((const char *)of.to.text, rows[i].text);
    CHECK_EQ(text_at(of.object, "prices"), "(2,3)");
    CHECK_OK(kvo_list_remove(as_kvo(of.object), "prices", 1));
    end(&of);
  }
}

static void remove_first_before(const kvo_change *change, void *object) {
  size_t count;
  if (change->is_prior && kvo_list_count(object, "prices", &count) == KVO_OK && count == 3) remove_first(object);
}

static void destroy_basket(const kvo_change *change, void *object) { basket_destroy(object); }

TEST("a change of a list that fails says why, also after an observer has destroyed the object") {
  scene of;
  begin(&of, "prices", KVO_NONE, remove_first);
  CHECK_OK(kvo_remove_observer(of.to.id));
  CHECK_OK(kvo_remove_observer(of.by.id));
  kvo_object *object = as_kvo(of.object);
  observe_by(object, "prices.@sum.self", KVO_PRIOR | KVO_ENDS_WITH_OBJECT, remove_first_before, object);
  observe_by(object, "prices.@count", KVO_ENDS_WITH_OBJECT, destroy_basket, of.object);
  CHECK_STATUS(remove_last(object), KVO_ERROR_OUT_OF_RANGE);
  CHECK_EQ(kvo_last_error(), "kvo_list_remove: key 'prices' of class 'Basket': index 2 of 2 elements");
}

TEST("the old elements are those that are removed or replaced, also after an observer has changed the list") {
  scene of;
  begin(&of, "prices", KVO_PRIOR | KVO_OLD, insert_first);
  CHECK_OK(kvo_list_remove(as_kvo(of.object), "prices", 1));
  CHECK_EQ((const char *)of.to.text, "will remove[1]-2 will insert[0] insert[0] remove[1]-1 ");
  CHECK_EQ(text_at(of.object, "prices"), "(9,2,3)");
  end(&of);

  begin(&of, "prices", KVO_OLD | KVO_NEW, insert_first);
  CHECK_OK(kvo_list_replace(as_kvo(of.object), "prices", 1, &four));
  CHECK_EQ((const char *)of.to.text, "insert[0]+9 replace[1]-1+4 ");
  CHECK_EQ(text_at(of.object, "prices"), "(9,4,2,3)");
  end(&of);
}

/* -------------------------------------------------------------------------------------------------------- Sets -- */

static const kvo_value five = {"i", sizeof(int), &(int){5}};
static void add_five(kvo_object *object) { CHECK_OK(kvo_members_add(object, "tags", &five)); }
static void remove_five(kvo_object *object) { CHECK_OK(kvo_members_remove(object, "tags", &five)); }

TEST("a member that an observer has added or removed before the change is not added or removed again, nor notified") {
  scene of;
  begin(&of, "tags", KVO_PRIOR | KVO_NEW | KVO_OLD, add_five);
  CHECK_OK(kvo_members_add(as_kvo(of.object), "tags", &five));
  CHECK_EQ(of.object->accesses, 1);
  CHECK_EQ((const char *)of.to.text, "will insert will insert insert+5 ");
  meddle_again(&of, remove_five);
  CHECK_OK(kvo_members_remove(as_kvo(of.object), "tags", &five));
  CHECK_EQ(of.object->accesses, 2);
  CHECK_EQ((const char *)of.to.text, "will remove-5 will remove-5 remove-5 ");
  kvo_member_accessors tags = {.struct_size = sizeof tags};
  CHECK_OK(kvo_object_member_accessors(as_kvo(of.object), "tags", &tags));
  meddle_again(&of, add_five);
  CHECK_OK(tags.add(as_kvo(of.object), five.bytes, tags.user));
  CHECK_EQ(of.object->accesses, 3);
  CHECK_EQ(of.object->tag_count, 1);
  end(&of);
}

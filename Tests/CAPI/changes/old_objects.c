/* old_objects.c - setters and accessors that own objects, and destroy the one that they replace; and who may destroy
 * an object. */
#include "scoped.h"

#include <setjmp.h>
#include <stdlib.h>
#include <string.h>

/* An owner owns its next one, and the elements of its list. There is one list for all. */
static item *list[4];
static size_t list_count;
static int finalized;

static item *get_next(const item *of) { return of->next; }
static void set_next(item *of, item *next) {
  item *old = of->next;
  of->next = next;
  if (old != NULL) item_destroy(old);
}
static item *get_both(const item *of) { return NULL; }
static void set_both(item *of, item *next) { item_set_next(of, next); }

static size_t count_of(const kvo_object *object, void *user) { return list_count; }
static void get_at(const kvo_object *object, size_t index, void *element, void *user) {
  memcpy(element, &list[index], sizeof *list);
}
static kvo_status insert_at(kvo_object *object, size_t index, const void *element, void *user) {
  memmove(list + index + 1, list + index, (list_count++ - index) * sizeof *list);
  memcpy(list + index, element, sizeof *list);
  return KVO_OK;
}
static kvo_status remove_at(kvo_object *object, size_t index, void *user) {
  item *old = list[index];
  memmove(list + index, list + index + 1, (--list_count - index) * sizeof *list);
  item_destroy(old);
  return KVO_OK;
}

static void finalize(kvo_object *object) {
  item *of = (item *)object;
  finalized++;
  free(of->name);
  of->name = NULL;
  if (of->next != NULL) item_destroy(of->next);
}

static kvo_class *owner_class(void) {
  static kvo_class *cls;
  if (cls != NULL) return cls;
  kvo_property_spec properties[] = {PROPERTY("next", "@", get_next, set_next),
                                    PROPERTY("both", "@", get_both, set_both)};
  kvo_list_accessors accessors = {.struct_size = sizeof accessors,
                                  .count = count_of,
                                  .get_at = get_at,
                                  .insert_at = insert_at,
                                  .remove_at = remove_at};
  kvo_collection_spec collection = {.name = "list", .element_type = "@", .list = &accessors};
  return cls = register_class((kvo_class_spec){.name = "Owner",
                                               .instance_size = sizeof(item),
                                               .properties = properties,
                                               .property_count = 2,
                                               .finalize = finalize,
                                               .collections = &collection,
                                               .collection_count = 1});
}

static item *make(const char *name) {
  item *made = make_of(owner_class());
  made->name = strdup(name);
  return made;
}

/* The names of the old objects that observers got, and how many objects had been finalized before the last one. */
static char seen[64];
static int finalized_then;

static void append(const kvo_value *value, void *arg) {
  const item *of = see(value).object;
  strcat(seen, of != NULL ? of->name : "-");
}

static jmp_buf away;
static bool leaves;

static void note(const kvo_change *change, void *user_data) {
  finalized_then = finalized;
  if (change->old_value == NULL) return;
  if (change->kind == KVO_CHANGE_SETTING) append(change->old_value, NULL);
  for (size_t i = 0; change->kind != KVO_CHANGE_SETTING && i < kvo_change_count(change, KVO_OLD); i++)
    CHECK_OK(kvo_change_element(change, KVO_OLD, i, append, NULL));
  if (leaves) longjmp(away, 1);
}

static kvo_observation observe(item *of, const char *key_path, int options) {
  return observe_by(as_object(of), key_path, options, note, NULL);
}

static void set_by_key(item *of, item *next) { KVO_SET(of, "next", item *, next); }
static void set_by_trampoline(item *of, item *next) {
  ((void (*)(item *, item *))kvo_object_setter(as_object(of), "next"))(of, next);
}

TEST("observers get the old object, unharmed, that an owning setter destroys; then it is finalized") {
  static void (*const ways[])(item * of, item * next) = {set_by_key, set_by_trampoline};
  for (int i = 0; i < 2; i++) {
    item *of = make("of");
    seen[0] = '\0';
    finalized = 0;
    observe(of, "next", KVO_OLD);
    observe(of, "next", KVO_OLD | KVO_NEW);
    ways[i](of, make("a"));
    CHECK_EQ((const char *)seen, "--");
    ways[i](of, make("b"));
    CHECK_EQ((const char *)seen, "--aa");
    CHECK_EQ(finalized_then, 0);
    CHECK_EQ(finalized, 1);
    ways[i](of, NULL);
    CHECK_EQ((const char *)seen, "--aabb");
    CHECK_EQ(finalized, 2);
  }
}

TEST("what the old object owns is destroyed after it") {
  item *of = make("of"), *old = make("a");
  item_set_next(old, make("inner"));
  item_set_next(of, old);
  observe(of, "next", KVO_OLD);
  observe(of, "next.next", KVO_OLD);
  item_set_next(of, NULL);
  CHECK_CONTAINS(seen, "inner");
  CHECK_CONTAINS(seen, "a");
  CHECK_EQ(finalized_then, 0);
  CHECK_EQ(finalized, 2);
}

TEST("without observers of the old value the object is finalized at once") {
  item *of = make("of");
  observe(of, "next", KVO_NEW);
  item_set_next(of, make("a"));
  item_set_next(of, NULL);
  CHECK_EQ(finalized_then, 1);
}

TEST("the elements that a list destroys are finalized after the observers have got them") {
  item *of = make("of");
  observe(of, "list", KVO_OLD);
  CHECK_OK(kvo_list_insert(as_object(of), "list", 0, KVO_VALUE(kvo_object *, as_object(make("a")))));
  CHECK_OK(kvo_list_replace(as_object(of), "list", 0, KVO_VALUE(kvo_object *, as_object(make("b")))));
  CHECK_EQ((const char *)seen, "a");
  CHECK_EQ(finalized_then, 0);
  CHECK_EQ(finalized, 1);
  CHECK_OK(kvo_list_remove(as_object(of), "list", 0));
  CHECK_EQ((const char *)seen, "ab");
  CHECK_EQ(finalized_then, 1);
  CHECK_EQ(finalized, 2);
}

TEST("an object that a set in a setter destroys lives until the outermost set has notified") {
  item *of = make("of");
  item_set_next(of, make("a"));
  observe(of, "next", KVO_OLD);
  observe(of, "both", KVO_OLD);
  KVO_SET(of, "both", item *, NULL);
  CHECK_EQ((const char *)seen, "a-");
  CHECK_EQ(finalized_then, 0);
  CHECK_EQ(finalized, 1);
}

/* --------------------------------------------------------------------------------------------- Who may destroy -- */

TEST_REPORTED("kvo_object_destroy of an object in memory of the program is a fault, and does nothing") {
  ignore_faults();
  item own = {.name = NULL};
  CHECK_OK(kvo_object_init(as_object(&own), owner_class()));
  kvo_object_destroy(as_object(&own));
  CHECK_FAULTS(1, KVO_FAULT_INVALID_ARGUMENT);
  CHECK_CONTAINS(faults.summary, "KVO0008 fatal: kvo_object_destroy: kvo_object_create has not made Owner@0x");
  CHECK_CONTAINS(faults.report, "kvo_object_finish");
  CHECK_EQ((int)faults.line, __LINE__ - 4);
  kvo_observation id = observe(&own, "next", KVO_OLD);
  kvo_object_destroy(as_object(&own));
  CHECK_EQ(faults.count, 2);
  CHECK_OK(kvo_remove_observer(id));
  CHECK_EQ(finalized, 0);
  kvo_object_finish(as_object(&own));
  CHECK_EQ(faults.count, 2);
}

TEST("an object of kvo_object_create is destroyed whether or not it is, or was, observed") {
  item *never = make("never"), *was = make("was"), *is = make("is");
  CHECK_OK(kvo_remove_observer(observe(was, "next", KVO_OLD)));
  observe(is, "next", KVO_OLD | KVO_ENDS_WITH_OBJECT);
  item *const all[] = {never, was, is};
  for (int i = 0; i < 3; i++) item_destroy(all[i]);
  CHECK_EQ(finalized, 3);
  CHECK_OK(kvo_class_unregister(owner_class()));
}

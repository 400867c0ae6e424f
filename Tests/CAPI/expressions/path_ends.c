/* path_ends.c - the key at the end of a path, whose changes are passed on unevaluated, and what is led there. */
#include "hooked.h"
#include "made.h"

static item *first, *second, *third;
static watcher path;

static void make_path(void) {
  first = item_make(1), second = item_make(2), third = item_make(3);
  first->next = second;
  path = (watcher){0};
}

static void end_path(void) {
  CHECK_OK(kvo_remove_observer(path.id));
  item_destroy(first);
  item_destroy(second);
  item_destroy(third);
}

/* --------------------------------------------------------------------------------------------------- Passed on -- */

static int reads;
static void count_read(item *of) { reads++; }

TEST("a change of the key at the end of a path reads nothing for an observer that wants no values") {
  item *leaf = hooked_make(1);
  make_path();
  first->next = leaf;
  watcher prior = {0};
  watch(first, "next.value", KVO_NONE, &path);
  in_getter = count_read;
  for (int i = 0; i < 2; i++) {
    if (i == 1) watch(leaf, "value", KVO_PRIOR, &prior);
    reads = 0;
    item_set_value(leaf, i);
    CHECK_OK(kvo_will_change(as_object(leaf), "value"));
    CHECK_OK(kvo_did_change(as_object(leaf), "value"));
    CHECK_EQ(path.calls, 2 * i + 2);
    CHECK_EQ(prior.priors, 2 * i);
    CHECK_EQ(reads, 0);
  }
  CHECK_OK(kvo_remove_observer(prior.id));
  end_path();
  kvo_object_destroy(as_object(leaf));
}

/* ----------------------------------------------------------------------------------------- Led there meanwhile -- */

static void register_in_nested(watcher *self, const kvo_change *change) {
  if (!change->is_prior) return;
  if (self->priors == 1)
    item_set_next(first, second);
  else
    watch(first, "next.value", KVO_NEW | KVO_OLD, &path);
}

TEST("a path registered during changes that are nested is notified of none of them, and follows later changes") {
  make_path();
  first->next = NULL;
  watcher registrar = {.then = register_in_nested};
  watch(first, "next", KVO_PRIOR, &registrar);
  item_set_next(first, third);
  CHECK_EQ(path.calls, 0);
  item_set_value(third, 30);
  CHECK_NOTIFIED(path, 1, 3, 30);
  CHECK_OK(kvo_remove_observer(registrar.id));
  end_path();
}

static watcher late;

static void set_again_once(watcher *self, const kvo_change *change) {
  if (self->calls == 2) item_set_value(second, 22); /* the first is the initial call */
}

static void register_setter(watcher *self, const kvo_change *change) {
  if (change->is_prior && self->priors == 1) watch(second, "value", KVO_NEW | KVO_OLD | KVO_INITIAL, &late);
}

TEST("what an observer changes that was registered during a change is left to that change, for older paths") {
  make_path();
  late = (watcher){.then = set_again_once};
  watcher registrar = {.then = register_setter};
  watch(first, "next.value", KVO_NEW, &path);
  watch(second, "value", KVO_PRIOR, &registrar);
  item_set_value(second, 20);
  CHECK_EQ(late.calls, 3);
  CHECK_NEW(path, 1, 22);
  CHECK_OK(kvo_remove_observer(late.id));
  CHECK_OK(kvo_remove_observer(registrar.id));
  end_path();
}

/* ----------------------------------------------------------------------------------------------- Led elsewhere -- */

/* Sets the object that the path has been led away from. */
static void set_left(watcher *self, const kvo_change *change) { item_set_value(second, second->value + 1); }

/* The observer of the path must always get the value that the path has then. */
static void check_present(watcher *self, const kvo_change *change) {
  if (change->is_prior || change->new_value == NULL) return;
  CHECK_EQ(self->new_value.integer, first->next->value);
}

TEST("a path gets its own value when an observer of an object on it sets the object that the path has left") {
  static const int options[] = {KVO_NONE, KVO_NEW, KVO_NEW | KVO_PRIOR, KVO_OLD | KVO_NEW};
  for (int i = 0; i < 4; i++) {
    make_path();
    path.then = check_present;
    watcher setting = {.then = set_left};
    watch(first, "next.value", options[i], &path);
    watch(first, "next", KVO_NONE, &setting);
    item_set_next(first, third);
    CHECK_EQ(path.calls, 1);
    item_set_value(third, 78);
    CHECK_EQ(path.calls, 2);
    item_set_value(second, 5);
    CHECK_EQ(path.calls, 2);
    CHECK_OK(kvo_remove_observer(setting.id));
    end_path();
  }
}

TEST("a path gets its own value between the announcement of a change of an object on it and its end") {
  make_path();
  path.then = check_present;
  watch(first, "next.value", KVO_NEW, &path);
  CHECK_OK(kvo_will_change(as_object(first), "next"));
  item_set_value(second, 10);
  CHECK_EQ(path.calls, 1);
  first->next = third;
  item_set_value(second, 11);
  CHECK_EQ(path.calls, 2);
  CHECK_OK(kvo_did_change(as_object(first), "next"));
  int calls = path.calls;
  item_set_value(third, 78);
  CHECK_EQ(path.calls, calls + 1);
  end_path();
}

static void set_new_object(watcher *self, const kvo_change *change) {
  item_set_value(third, 5);
  item_set_value(third, 6);
}

TEST("a path is notified once, with the last value, of what newer observers set in the object that it is led to") {
  make_path();
  watcher newer = {.then = set_new_object};
  watch(first, "next.value", KVO_OLD | KVO_NEW, &path);
  watch(first, "next", KVO_NONE, &newer);
  item_set_next(first, third);
  CHECK_EQ(newer.calls, 1);
  CHECK_NEW(path, 1, 6);
  item_set_value(third, 7);
  CHECK_EQ(path.calls, 2);
  CHECK_EQ(path.old_value.integer, 6);
  CHECK_OK(kvo_remove_observer(newer.id));
  end_path();
}

/* An object whose values the runtime stores by itself. */
typedef struct plain {
  kvo_object header;
  int64_t value;
  struct plain *next;
} plain;

static plain *plains[3];
static int64_t delivered;

static void keep_delivered(const kvo_change *change, void *user_data) {
  delivered = *(const int64_t *)change->new_value->bytes;
}

static void lead_and_set(const kvo_change *change, void *user_data) {
  int *calls = user_data;
  if ((*calls)++ > 0) return;
  KVO_SET(&plains[0]->header, "next", plain *, plains[1]);
  KVO_SET(&plains[1]->header, "value", int64_t, 24);
}

TEST("a path that a newer one's observer leads to the changing object is notified of what that sets next") {
  static const kvo_property_spec properties[] = {AT_OFFSET(plain, value, "q"), AT_OFFSET(plain, next, "@")};
  kvo_class *cls = class_made("Plain", sizeof(plain), properties, 2);
  for (int i = 0; i < 3; i++) plains[i] = (plain *)object_of(cls);
  int calls = 0;
  plains[0]->next = plains[2];
  plains[2]->next = plains[1];
  int options = KVO_NEW | KVO_ENDS_WITH_OBJECT;
  observe_by(&plains[0]->header, "next.value", options, keep_delivered, NULL);
  observe_by(&plains[0]->header, "next.next.value", options, lead_and_set, &calls);
  CHECK_OK(KVO_SET(&plains[1]->header, "value", int64_t, 39));
  CHECK_EQ((int)delivered, 24);
  for (int i = 0; i < 3; i++) kvo_object_destroy(&plains[i]->header);
}

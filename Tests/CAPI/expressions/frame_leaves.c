/* frame_leaves.c - changes of the key at the end of a path, whose observation is passed the change and not evaluated: what it then gets,
 * and what happens if the path comes to end at that key while the change is in progress. */
#include "fixture.h"

#include <kvo/kvo_binding.h>
#include <stdlib.h>
#include <string.h>

static kvo_key key(const char *name) { return kvo_key_hash(name, strlen(name)); }

TEST("a path that ends in a key gets a change's kind and indexes, whatever the frame's memory held") {
  for (int fill = 0; fill < 2; fill++) {
    item *root = item_make(0), *leaf = item_make(1);
    root->next = leaf;
    watcher path = {0};
    watch(root, "next.value", KVO_NEW, &path);
    kvo_frame frame;
    memset(&frame, fill == 0 ? 0 : 0xff, sizeof frame);
    size_t index = 4;
    int elements = 7;
    CHECK(kvo_frame_begin_change(&frame, as_object(leaf), key("value"), KVO_CHANGE_INSERTION, &index, 1) != 0);
    while (kvo_frame_next(&frame)) kvo_frame_deliver(&frame, NULL, &elements);
    kvo_frame_end(&frame);
    CHECK_EQ(path.calls, 1);
    CHECK_EQ((int)path.kind, KVO_CHANGE_INSERTION);
    CHECK_EQ(path.index_count, 1);
    CHECK_EQ(path.indexes[0], 4);
    CHECK_EQ(path.new_value.integer, 7);
    CHECK_OK(kvo_remove_observer(path.id));
    item_destroy(root);
    item_destroy(leaf);
  }
}

static void set_by_word(item *object, int value) {
  uint64_t storage = 0, word = 0;
  memcpy(&word, &value, sizeof value);
  kvo_change_word(as_object(object), key("value"), &storage, word);
}

TEST("the observer of a path is told of its own observation, in whichever way the key is set") {
  static void (*const ways[])(item * object, int value) = {item_set_value, set_by_word};
  item *root = item_make(0), *leaf = item_make(1);
  root->next = leaf;
  watcher path = {0};
  watch(root, "next.value", KVO_NONE, &path);
  for (int i = 0; i < 6; i++) {
    path.seen_id = 0;
    ways[i % 2](leaf, i);
    CHECK_EQ(path.calls, i + 1);
    CHECK(path.seen_id == path.id);
    CHECK_EQ((const char *)path.key_path, "next.value");
  }
  CHECK_OK(kvo_remove_observer(path.id));
  item_destroy(root);
  item_destroy(leaf);
}

/* ----------------------------------------------------------------------------------------------------- Not evaluated -- */

static int reads;

static int read_value(const item *of) {
  reads++;
  return of->value;
}

static void store_value(item *of, int value) { of->value = value; }

static item *read_make(void) {
  static const kvo_property_spec value = {
      .name = "value", .type = "i", .getter = (kvo_function)read_value, .setter = (kvo_function)store_value};
  kvo_class_spec spec = {.struct_size = sizeof spec,
                         .name = "ReadLeaf",
                         .instance_size = sizeof(item),
                         .properties = &value,
                         .property_count = 1};
  kvo_class *cls;
  kvo_object *made;
  CHECK_OK(kvo_class_register(&spec, &cls));
  CHECK_OK(kvo_object_create(cls, &made));
  return (item *)made;
}

TEST("a change of the key at the end of a path reads nothing for an observer that wants no values") {
  item *root = item_make(0), *leaf = read_make();
  root->next = leaf;
  watcher path = {0}, prior = {0};
  watch(root, "next.value", KVO_NONE, &path);
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
  CHECK_OK(kvo_remove_observer(path.id));
  CHECK_OK(kvo_remove_observer(prior.id));
  item_destroy(root);
  kvo_object_destroy(as_object(leaf));
}

/* ------------------------------------------------------------------------------------------- Led there meanwhile -- */

static void lead_between(uint32_t (*begin)(kvo_frame *frame, kvo_object *object, kvo_key key)) {
  item *root = item_make(0), *end = item_make(1);
  watcher path = {0}, own = {0};
  watch(root, "next.value", KVO_NEW, &path);
  watch(end, "value", KVO_NONE, &own);
  kvo_frame frame;
  memset(&frame, 0, sizeof frame);
  int old_value = 1;
  CHECK(begin(&frame, as_object(end), key("value")) != 0);
  item_set_next(root, end);
  CHECK_EQ(path.calls, 1);
  CHECK_EQ(path.new_value.integer, 1);
  end->value = 2;
  kvo_frame_finish_with(&frame, &old_value, &end->value);
  CHECK_EQ(own.calls, 1);
  CHECK_EQ(path.calls, 2);
  CHECK_EQ(path.new_value.integer, 2);
  CHECK_OK(kvo_remove_observer(path.id));
  CHECK_OK(kvo_remove_observer(own.id));
  item_destroy(root);
  item_destroy(end);
}

TEST("a path that is led to an object between the two calls of a change of it is told of the value before and after") {
  lead_between(kvo_frame_begin);
  lead_between(kvo_frame_enter);
}

/* The object that three times `next` lead to. */
typedef struct third {
  item *root;
  int calls;
  kvo_change_kind kind;
  bool has_old, has_new;
  const item *new_value;
  /* Called at the end of each callback. */
  void (*then)(int calls);
} third;

static void *evaluate_third(void *user_data) {
  third *self = user_data;
  item *at = self->root, *last = at, **value = malloc(sizeof *value);
  CHECK(value != NULL);
  for (int i = 0; i < 3 && at != NULL; i++) {
    last = at;
    kvo_track_read(as_object(at), key("next"));
    at = at->next;
  }
  kvo_track_value_is_of(as_object(last), key("next"));
  *value = at;
  return value;
}

static void free_third(void *value, void *user_data) { (void)user_data, free(value); }

static void note_third(const kvo_raw_change *change, void *user_data) {
  third *self = user_data;
  self->calls++;
  self->kind = change->kind;
  self->has_old = change->old_value != NULL;
  self->has_new = change->new_value != NULL;
  self->new_value = self->has_new ? *(item *const *)change->new_value : NULL;
  if (self->then != NULL) self->then(self->calls);
}

static kvo_observation watch_third(third *of, int options) {
  static const kvo_observer_ops ops = {.callback = note_third, .evaluate = evaluate_third, .release = free_third};
  kvo_binding_observer observer = {.key_path = "third", .options = (kvo_options)options, .ops = &ops, .user_data = of};
  kvo_observation id;
  CHECK_OK(kvo_binding_observe_tracked(as_object(of->root), &observer, true, &id));
  return id;
}

/* first -> second -> third_one -> one; before_second leads to second, too. */
static item *first, *second, *third_one, *one, *other, *before_second;

static void make_row(void) {
  item **all[] = {&first, &second, &third_one, &one, &other, &before_second};
  for (size_t i = 0; i < sizeof all / sizeof *all; i++) *all[i] = item_make(0);
  first->next = second;
  second->next = third_one;
  third_one->next = one;
  before_second->next = second;
}

static void destroy_row(void) {
  item *all[] = {first, second, third_one, one, other};
  for (size_t i = 0; i < sizeof all / sizeof *all; i++) item_destroy(all[i]);
}

/* Between the will and the did of second's key the expression comes to end there, instead of one object later. */
static void change_second(bool by_indexes) {
  size_t index = 0;
  if (by_indexes)
    CHECK_OK(kvo_will_change_indexes(as_object(second), KVO_CHANGE_REPLACEMENT, "next", &index, 1));
  else
    CHECK_OK(kvo_will_change(as_object(second), "next"));
  item_set_next(first, before_second);
  second->next = other;
  if (by_indexes)
    CHECK_OK(kvo_did_change_indexes(as_object(second), KVO_CHANGE_REPLACEMENT, "next", &index, 1));
  else
    CHECK_OK(kvo_did_change(as_object(second), "next"));
}

TEST(
    "an expression whose value becomes that of a key while the key changes gets the values that it wants, as of a setting") {
  static const int options[] = {KVO_NONE, KVO_OLD, KVO_NEW, KVO_OLD | KVO_NEW};
  for (int i = 0; i < 8; i++) {
    bool wants_old = (options[i / 2] & KVO_OLD) != 0, wants_new = (options[i / 2] & KVO_NEW) != 0;
    make_row();
    third of = {.root = first};
    kvo_observation id = watch_third(&of, options[i / 2]);
    change_second(i % 2 != 0);
    CHECK_EQ(of.calls, 2);
    CHECK_EQ(of.has_old, wants_old);
    CHECK_EQ(of.has_new, wants_new);
    if (wants_new) CHECK_SAME(of.new_value, other);
    if (wants_new || wants_old) CHECK_EQ((int)of.kind, KVO_CHANGE_SETTING);
    CHECK_OK(kvo_remove_observer(id));
    destroy_row();
    item_destroy(before_second);
  }
}

static void destroy_in_between(int calls) {
  if (calls != 2) return;
  first->next = NULL; /* a weak reference */
  item_destroy(before_second);
}

TEST("an expression that was told of a change already is told of a death that its observer then causes") {
  make_row();
  third of = {.root = first, .then = destroy_in_between};
  kvo_observation id = watch_third(&of, KVO_NONE);
  change_second(false);
  CHECK_EQ(of.calls, 3);
  CHECK_OK(kvo_remove_observer(id));
  destroy_row();
}

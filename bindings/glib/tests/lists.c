/* lists.c - kvo_glib_list_model, beside GListStore with the same edits. */
#include "support.h"

/* An owner with a list of persons, its model, and a GListStore that gets the same edits. */
typedef struct lists {
  kvo_object *owner;
  GListModel *model;
  GListStore *store;
  GPtrArray *made;
} lists;

static void begin(lists *of, int count) {
  of->owner = person_new("owner", 0);
  of->store = g_list_store_new(KVO_GLIB_TYPE_OBJECT);
  of->made = g_ptr_array_new();
  for (int i = 0; i < count; i++) {
    kvo_object *each = person_new("friend", i);
    g_ptr_array_add(of->made, each);
    person_add_friend(of->owner, -1, each);
    GObject *wrapper = kvo_glib_wrap(each);
    g_list_store_append(of->store, wrapper);
    g_object_unref(wrapper);
  }
  of->model = kvo_glib_list_model(of->owner, "friends");
  g_signal_connect(of->model, "items-changed", G_CALLBACK(note_items), NULL);
}

static void end(lists *of) {
  g_object_unref(of->model);
  g_object_unref(of->store);
  kvo_object_destroy(of->owner);
  for (guint i = 0; i < of->made->len; i++) kvo_object_destroy(of->made->pdata[i]);
  g_ptr_array_unref(of->made);
  g_free(noted());
}

static void assert_same(lists *of) {
  guint count = g_list_model_get_n_items(of->model);
  g_assert_cmpuint(count, ==, g_list_model_get_n_items(G_LIST_MODEL(of->store)));
  for (guint i = 0; i < count; i++) {
    gpointer one = g_list_model_get_item(of->model, i), other = g_list_model_get_item(G_LIST_MODEL(of->store), i);
    g_assert_true(one == other);
    g_object_unref(one);
    g_object_unref(other);
  }
  g_assert_null(g_list_model_get_item(of->model, count));
}

/* The edits of one list, then of the other, in a random order that both share. */
static void edit(lists *of, GRand *random) {
  guint count = g_list_model_get_n_items(of->model), at = count != 0 ? g_rand_int_range(random, 0, (gint)count) : 0;
  guint several = count - at < 3 ? count - at : 3;
  kvo_object *added[3];
  gpointer wrappers[3];
  kvo_value values[3];
  size_t indexes[3];
  for (int i = 0; i < 3; i++) {
    added[i] = person_new("more", i);
    g_ptr_array_add(of->made, added[i]);
    wrappers[i] = kvo_glib_wrap(added[i]);
    values[i] = (kvo_value){"@", sizeof added[i], &added[i]};
    indexes[i] = at + (size_t)i;
  }
  int kind = g_rand_int_range(random, 0, count < 50 ? 3 : 6);
  kvo_status status = KVO_OK;
  switch (kind) {
    case 0:
      status = kvo_list_insert(of->owner, "friends", at, &values[0]);
      note("|");
      g_list_store_insert(of->store, at, wrappers[0]);
      break;
    case 1:
      status = kvo_list_insert_several(of->owner, "friends", indexes, 3, values);
      note("|");
      g_list_store_splice(of->store, at, 0, wrappers, 3);
      break;
    case 2:
      status = kvo_list_insert(of->owner, "friends", count, &values[0]);
      note("|");
      g_list_store_append(of->store, wrappers[0]);
      break;
    case 3:
      status = kvo_list_remove(of->owner, "friends", at);
      note("|");
      g_list_store_remove(of->store, at);
      break;
    case 4:
      status = kvo_list_remove_several(of->owner, "friends", indexes, several);
      note("|");
      g_list_store_splice(of->store, at, several, NULL, 0);
      break;
    default:
      status = kvo_list_replace_several(of->owner, "friends", indexes, several, values);
      note("|");
      g_list_store_splice(of->store, at, several, wrappers, several);
  }
  g_assert_cmpint(status, ==, KVO_OK);
  for (int i = 0; i < 3; i++) g_object_unref(wrappers[i]);
}

static void test_beside(void) {
  lists of;
  begin(&of, 5);
  g_signal_connect(of.store, "items-changed", G_CALLBACK(note_items), NULL);
  GRand *random = g_rand_new_with_seed(7);
  for (int i = 0; i < 2000; i++) {
    edit(&of, random);
    char *text = noted(), **sides = g_strsplit(text, " | ", 2);
    g_assert_cmpstr(sides[0], ==, sides[1]);
    g_strfreev(sides);
    g_free(text);
    if (i % 50 == 0) assert_same(&of);
  }
  assert_same(&of);
  g_rand_free(random);
  end(&of);
}

static void test_scattered(void) {
  lists of;
  begin(&of, 10);
  size_t removed[] = {1, 2, 5, 8, 9}, inserted[] = {0, 1, 6};
  g_assert_cmpint(kvo_list_remove_several(of.owner, "friends", removed, 5), ==, KVO_OK);
  assert_noted("8-2+0/8 5-1+0/7 1-2+0/5");
  kvo_value values[3];
  for (int i = 0; i < 3; i++) values[i] = (kvo_value){"@", sizeof(void *), &of.made->pdata[i]};
  g_assert_cmpint(kvo_list_insert_several(of.owner, "friends", inserted, 3, values), ==, KVO_OK);
  assert_noted("0-0+2/7 6-0+1/8");
  end(&of);
}

/* A list that is announced as a whole, or whose changes a scope coalesces. */
static void test_whole(void) {
  lists of;
  begin(&of, 10);
  GPtrArray *friends = ((person *)of.owner)->friends;
  kvo_will_change(of.owner, "friends");
  g_ptr_array_remove_index(friends, 4);
  g_ptr_array_remove_index(friends, 4);
  kvo_did_change(of.owner, "friends");
  assert_noted("4-2+0/8");
  kvo_will_change(of.owner, "friends");
  kvo_did_change(of.owner, "friends");
  assert_noted("");
  kvo_scope scope;
  kvo_scope_begin(&scope, KVO_SCOPE_COALESCES, &of.owner, 1, __FILE__, __LINE__);
  kvo_list_remove(of.owner, "friends", 2);
  kvo_list_remove(of.owner, "friends", 2);
  person_add_friend(of.owner, 2, of.made->pdata[5]);
  kvo_scope_end(&scope);
  assert_noted("2-2+1/7");
  end(&of);
}

static void test_values(void) {
  kvo_object *owner = person_new("owner", 0);
  person_add_tag(owner, -1, "red");
  person_add_tag(owner, -1, "blue");
  GListModel *model = kvo_glib_list_model(owner, "tags");
  g_signal_connect(model, "items-changed", G_CALLBACK(note_items), NULL);
  g_assert_true(g_list_model_get_item_type(model) == KVO_GLIB_TYPE_VALUE);
  person_add_tag(owner, 1, "green");
  kvo_list_replace(owner, "tags", 0, KVO_VALUE(const char *, "17"));
  kvo_will_change(owner, "tags");
  kvo_did_change(owner, "tags");
  assert_noted("1-0+1/3 0-1+1/3");
  static const char *const expected[] = {"17", "green", "blue"};
  for (guint i = 0; i < 3; i++) {
    GObject *item = g_list_model_get_item(model, i);
    char *string;
    double number;
    GValue *value;
    g_object_get(item, "string", &string, "number", &number, "value", &value, NULL);
    g_assert_cmpstr(string, ==, expected[i]);
    g_assert_cmpstr(g_value_get_string(value), ==, expected[i]);
    g_boxed_free(G_TYPE_VALUE, value);
    g_free(string);
    g_object_unref(item);
  }
  kvo_object_destroy(owner);
  assert_noted("0-3+0/0");
  g_object_unref(model);
}

static void test_property(void) {
  lists of;
  begin(&of, 3);
  GObject *wrapper = kvo_glib_wrap(of.owner);
  GListModel *friends;
  g_object_get(wrapper, "friends", &friends, NULL);
  g_assert_cmpuint(g_list_model_get_n_items(friends), ==, 3);
  g_object_unref(friends);
  g_object_unref(wrapper);
  end(&of);
}

/* ---------------------------------------------------------------------------------------------------------------- Nested -- */

static void check_items(GListModel *model, guint position, guint removed, guint added, gpointer user_data) {
  /* What a handler keeps by the signals alone: that it agrees with the model says that they are complete. */
  GPtrArray *mirror = user_data;
  g_assert_cmpuint(position + removed, <=, mirror->len);
  if (removed != 0) g_ptr_array_remove_range(mirror, position, removed);
  for (guint i = 0; i < added; i++) g_ptr_array_insert(mirror, (gint)(position + i), NULL);
  g_assert_cmpuint(mirror->len, ==, g_list_model_get_n_items(model));
}

static void edit_again(GListModel *model, guint position, guint removed, guint added, gpointer user_data) {
  static int times;
  (void)model, (void)position, (void)removed, (void)added;
  if (times++ < 3) kvo_list_remove(user_data, "friends", 0);
}

static void edit_first(const kvo_change *change, void *user_data) {
  static int depth;
  if (depth++ < 1) {
    if (user_data == NULL)
      kvo_list_remove(change->object, "friends", 3);
    else
      person_add_friend(change->object, 0, user_data);
  }
  depth--;
}

static void test_nested(void) {
  lists of;
  begin(&of, 20);
  GPtrArray *mirror = g_ptr_array_new(), *friends = ((person *)of.owner)->friends;
  g_ptr_array_set_size(mirror, 20);
  g_signal_connect(of.model, "items-changed", G_CALLBACK(check_items), mirror);
  gulong again = g_signal_connect(of.model, "items-changed", G_CALLBACK(edit_again), of.owner);
  size_t removed[] = {1, 2, 5};
  kvo_list_remove_several(of.owner, "friends", removed, 3);
  kvo_list_remove(of.owner, "friends", 2);
  g_signal_handler_disconnect(of.model, again);
  for (int i = 0; i < 2;
       i++) { /* an observer that is notified first changes the list: the model gets that change before the other */
    kvo_observer observer = {.struct_size = sizeof observer,
                             .key_path = "friends",
                             .callback = edit_first,
                             .user_data = i == 0 ? NULL : of.made->pdata[9],
                             KVO_HERE};
    kvo_observation id;
    kvo_add_observer(of.owner, &observer, &id);
    kvo_list_replace(of.owner, "friends", 0, KVO_VALUE(kvo_object *, of.made->pdata[8]));
    person_add_friend(of.owner, 1, of.made->pdata[7]);
    kvo_remove_observer(id);
    g_assert_cmpuint(g_list_model_get_n_items(of.model), ==, friends->len);
    for (guint j = 0; j < friends->len; j++) {
      gpointer item = g_list_model_get_item(of.model, j);
      g_assert_true(kvo_glib_object_get_kvo_object(item) == friends->pdata[j]);
      g_object_unref(item);
    }
  }
  g_ptr_array_unref(mirror);
  end(&of);
}

/* What takes a change back, once: an observer that is notified before the model. */
typedef struct undoing {
  kvo_change_kind kind;
  kvo_object *owner, *friend;
  gboolean is_removed;
} undoing;

static void take_back(const kvo_change *change, void *user_data) {
  undoing *of = user_data;
  if (of->owner == NULL || change->kind != of->kind) return;
  kvo_object *owner = of->owner;
  of->owner = NULL;
  if (of->kind == KVO_CHANGE_REMOVAL)
    kvo_list_insert(owner, "friends", 1, KVO_VALUE(kvo_object *, of->friend));
  else
    kvo_list_replace(owner, "friends", 1, KVO_VALUE(kvo_object *, of->friend));
}

static void remove_second(GListModel *model, guint position, guint removed, guint added, gpointer user_data) {
  (void)model, (void)position, (void)removed, (void)added;
  undoing *of = user_data;
  if (of->is_removed) return;
  of->is_removed = TRUE;
  kvo_list_remove(of->owner, "friends", 1);
}

static void check_row(GListModel *model, guint position, guint removed, guint added, gpointer owner) {
  (void)removed, (void)owner;
  for (guint i = position; i < position + added; i++) {
    gpointer item = g_list_model_get_item(model, i);
    g_assert_nonnull(kvo_glib_object_get_kvo_object(item));
    g_object_unref(item);
  }
}

static void test_taken_back(void) {
  kvo_object *owner = person_new("owner", 0), *friends[4];
  for (int i = 0; i < 4; i++) friends[i] = person_new("friend", i);
  for (int i = 0; i < 3; i++) person_add_friend(owner, -1, friends[i]);
  GListModel *model = kvo_glib_list_model(owner, "friends");
  g_signal_connect(model, "items-changed", G_CALLBACK(check_row), NULL);
  undoing of = {.kind = KVO_CHANGE_REPLACEMENT, .owner = owner, .friend = friends[1]};
  kvo_observer observer = {.struct_size = sizeof observer,
                           .key_path = "friends",
                           .options = KVO_ENDS_WITH_OBJECT,
                           .callback = take_back,
                           .user_data = &of,
                           KVO_HERE};
  g_assert_cmpint(kvo_add_observer(owner, &observer, NULL), ==, KVO_OK);
  kvo_list_replace(owner, "friends", 1, KVO_VALUE(kvo_object *, friends[3]));
  g_assert_null(of.owner);
  GObject *item = g_list_model_get_item(model, 1);
  g_assert_true(kvo_glib_object_get_kvo_object((KvoGlibObject *)item) == friends[1]);
  g_object_unref(item);
  /* The same of a removal, while the model emits. */
  of = (undoing){.kind = KVO_CHANGE_REMOVAL, .owner = owner, .friend = friends[1]};
  g_signal_connect(model, "items-changed", G_CALLBACK(remove_second), &of);
  person_add_friend(owner, -1, friends[3]);
  g_assert_null(of.owner);
  g_assert_cmpuint(g_list_model_get_n_items(model), ==, 4);
  g_object_unref(model);
  kvo_object_destroy(owner);
  for (int i = 0; i < 4; i++) kvo_object_destroy(friends[i]);
}

/* Keeps two friends: the oldest is destroyed as soon as it has left the list. */
static void trim(GListModel *model, guint position, guint removed, guint added, gpointer owner) {
  (void)model, (void)position, (void)removed, (void)added;
  GPtrArray *friends = ((person *)owner)->friends;
  if (friends->len < 3) return;
  kvo_object *oldest = friends->pdata[0];
  g_assert_cmpint(kvo_list_remove(owner, "friends", 0), ==, KVO_OK);
  kvo_object_destroy(oldest);
}

static void read_first(GListModel *model, guint position, guint removed, guint added, gpointer owner) {
  (void)position, (void)removed, (void)added;
  GPtrArray *friends = ((person *)owner)->friends;
  gpointer item = g_list_model_get_item(model, 0);
  gboolean is_shown = g_list_model_get_n_items(model) == friends->len;
  g_assert_true(kvo_glib_object_get_kvo_object(item) == (is_shown ? friends->pdata[0] : NULL));
  g_object_unref(item);
}

static void test_trimmed(void) {
  kvo_object *owner = person_new("owner", 0);
  GListModel *model = kvo_glib_list_model(owner, "friends");
  g_signal_connect(model, "items-changed", G_CALLBACK(note_items), NULL);
  g_signal_connect(model, "items-changed", G_CALLBACK(trim), owner);
  g_signal_connect(model, "items-changed", G_CALLBACK(read_first), owner);
  for (int i = 0; i < 5; i++) person_add_friend(owner, -1, person_new("friend", i));
  assert_noted("0-0+1/1 1-0+1/2 2-0+1/3 0-1+0/2 2-0+1/3 0-1+0/2 2-0+1/3 0-1+0/2");
  g_signal_handlers_disconnect_by_data(model, owner);
  GPtrArray *left = g_ptr_array_copy(((person *)owner)->friends, NULL, NULL);
  kvo_object_destroy(owner);
  assert_noted("0-2+0/0");
  g_object_unref(model);
  g_ptr_array_set_free_func(left, (GDestroyNotify)kvo_object_destroy);
  g_ptr_array_unref(left);
}

static void test_many(void) {
  lists of;
  begin(&of, 10000);
  gint64 start = g_get_monotonic_time();
  GRand *random = g_rand_new_with_seed(3);
  for (int i = 0; i < 300; i++) edit(&of, random);
  assert_same(&of);
  g_test_message("300 edits of 10 000 rows, and all rows read: %.1f ms",
                 (double)(g_get_monotonic_time() - start) / 1000);
  g_rand_free(random);
  end(&of);
}

/* Many at either end of few, and the reverse. */
static void test_ends(void) {
  lists of;
  begin(&of, 2);
  kvo_object *added[500];
  kvo_value values[500];
  size_t indexes[500];
  for (size_t i = 0; i < 500; i++) {
    added[i] = person_new("more", (int)i);
    g_ptr_array_add(of.made, added[i]);
    values[i] = (kvo_value){"@", sizeof added[i], &added[i]};
  }
  for (int round = 0; round < 6; round++) {
    size_t at = round % 2 == 0 ? 0 : ((person *)of.owner)->friends->len;
    for (size_t i = 0; i < 500; i++) indexes[i] = at + i;
    g_assert_cmpint(kvo_list_insert_several(of.owner, "friends", indexes, 500, values), ==, KVO_OK);
    if (round == 3) g_assert_cmpint(kvo_list_remove_several(of.owner, "friends", indexes, 500), ==, KVO_OK);
    for (size_t i = 0; round == 4 && i < 300; i++) g_assert_cmpint(kvo_list_remove(of.owner, "friends", 0), ==, KVO_OK);
    GPtrArray *friends = ((person *)of.owner)->friends;
    g_assert_cmpuint(g_list_model_get_n_items(of.model), ==, friends->len);
    for (guint i = 0; i < friends->len; i++) {
      gpointer item = g_list_model_get_item(of.model, i);
      g_assert_true(kvo_glib_object_get_kvo_object(item) == friends->pdata[i]);
      g_object_unref(item);
    }
  }
  end(&of);
}

static void test_owner_dies(void) {
  lists of;
  begin(&of, 3);
  GObject *first = g_list_model_get_item(of.model, 0);
  kvo_object_destroy(of.owner);
  assert_noted("0-3+0/0");
  g_assert_cmpuint(g_list_model_get_n_items(of.model), ==, 0);
  g_assert_true(kvo_glib_object_get_kvo_object(KVO_GLIB_OBJECT(first)) == of.made->pdata[0]);
  of.owner = person_new("another", 0);
  g_object_unref(first);
  end(&of);
}

static void test_wrong(void) {
  kvo_object *ann = person_new("Ann", 5);
  g_test_expect_message("kvo-glib", G_LOG_LEVEL_CRITICAL, "*object != NULL*");
  g_assert_null(kvo_glib_list_model(NULL, "friends"));
  g_test_expect_message("kvo-glib", G_LOG_LEVEL_CRITICAL, "*key != NULL*");
  g_assert_null(kvo_glib_list_model(ann, NULL));
  g_test_expect_message("kvo-glib", G_LOG_LEVEL_CRITICAL, "*name*");
  g_assert_null(kvo_glib_list_model(ann, "name"));
  g_test_expect_message("kvo-glib", G_LOG_LEVEL_CRITICAL, "*enemies*");
  g_assert_null(kvo_glib_list_model(ann, "enemies"));
  g_test_assert_expected_messages();
  kvo_object_destroy(ann);
}

/* An item that nobody else has is the same when it is asked for again. */
static void test_kept(void) {
  kvo_object *owner = person_new("owner", 0), *ann = person_new("Ann", 5), *bo = person_new("Bo", 6);
  person_add_friend(owner, -1, ann);
  person_add_friend(owner, -1, bo);
  GListModel *model = kvo_glib_list_model(owner, "friends");
  GObject *first = g_list_model_get_item(model, 0), *second = g_list_model_get_item(model, 1);
  g_object_add_weak_pointer(first, (gpointer *)&first);
  g_object_add_weak_pointer(second, (gpointer *)&second);
  g_object_unref(first);
  g_object_unref(second);
  g_assert_true(first != NULL && second != NULL);
  kvo_scope scope;
  kvo_scope_begin(&scope, KVO_SCOPE_COALESCES, &owner, 1, NULL, 0);
  kvo_list_remove(owner, "friends", 0);
  person_add_friend(owner, -1, ann);
  kvo_scope_end(&scope);
  GObject *moved = g_list_model_get_item(model, 1);
  g_assert_true(moved == first);
  g_object_unref(moved);
  kvo_list_remove(owner, "friends", 1);
  g_assert_null(first);
  kvo_object_destroy(owner);
  g_assert_null(second);
  g_object_unref(model);
  kvo_object_destroy(ann);
  kvo_object_destroy(bo);
}

int main(int argc, char **argv) {
  g_test_init(&argc, &argv, NULL);
  g_test_add_func("/lists/random edits emit what GListStore emits, and have its items", test_beside);
  g_test_add_func("/lists/each range of scattered indexes is emitted", test_scattered);
  g_test_add_func("/lists/a list that is set as a whole emits the range that differs", test_whole);
  g_test_add_func("/lists/values are items with a value, a text and a number", test_values);
  g_test_add_func("/lists/a list is a property of the wrapper", test_property);
  g_test_add_func("/lists/a handler or an observer may edit the list again", test_nested);
  g_test_add_func("/lists/an observer may take a change back before the model is notified", test_taken_back);
  g_test_add_func("/lists/a handler may destroy an object that it has removed, while the next shows the list",
                  test_trimmed);
  g_test_add_func("/lists/ten thousand rows are edited and read", test_many);
  g_test_add_func("/lists/many are inserted and removed at either end", test_ends);
  g_test_add_func("/lists/a model is empty when its owner is destroyed", test_owner_dies);
  g_test_add_func("/lists/the wrapper of an item is kept until the item leaves the list", test_kept);
  g_test_add_func("/lists/what is no list is a critical warning that says why", test_wrong);
  return g_test_run();
}

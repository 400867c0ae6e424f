/* lives.c - either side is destroyed at each moment: before, in handlers, in transforms. */
#include "support.h"

/* What a handler destroys, and when. */
typedef struct scene {
  kvo_object *model, *boss;
  Board *board;
  GObject *wrapper;
  GListModel *list;
  KvoGlibBinding *binding;
  enum { MODEL, BOSS, BOARD, WRAPPER, LIST, BINDING, TARGET_DISPOSED, ENDS } what;
  gboolean is_done;
} scene;

static void destroy(scene *of) {
  if (of->is_done) return;
  of->is_done = TRUE;
  switch (of->what) {
    case MODEL: g_clear_pointer(&of->model, kvo_object_destroy); break;
    case BOSS:
      kvo_set_object(of->model, "boss", NULL);
      g_clear_pointer(&of->boss, kvo_object_destroy);
      break;
    case BOARD: g_clear_object(&of->board); break;
    case WRAPPER: g_clear_object(&of->wrapper); break;
    case LIST: g_clear_object(&of->list); break;
    case BINDING: kvo_glib_binding_unbind(of->binding); break;
    default: g_object_run_dispose(G_OBJECT(of->board));
  }
}

static gboolean destroy_in_transform(GBinding *binding, const GValue *from, GValue *to, gpointer user_data) {
  (void)binding;
  destroy(user_data);
  return g_value_transform(from, to);
}
static void destroy_in_notify(GObject *object, GParamSpec *spec, gpointer user_data) {
  (void)object, (void)spec;
  destroy(user_data);
}
static void destroy_in_items_changed(GListModel *model, guint position, guint removed, guint added,
                                     gpointer user_data) {
  (void)model, (void)position, (void)removed, (void)added;
  destroy(user_data);
}
static void destroy_in_observer(const kvo_change *change, void *user_data) {
  (void)change;
  destroy(user_data);
}

/* The moments: by the transform to or from, a handler of the target, of the wrapper, of the list, or an observer older or newer than
 * those of the library. */
enum { TO, FROM, TARGET, NOTIFY, ITEMS, OLDER, NEWER, BEFORE, MOMENTS };

static void add_observer(scene *of, const char *key) {
  kvo_observer observer = {.struct_size = sizeof observer,
                           .key_path = key,
                           .options = KVO_ENDS_WITH_OBJECT,
                           .callback = destroy_in_observer,
                           .user_data = of,
                           KVO_HERE};
  g_assert_cmpint(kvo_add_observer(of->model, &observer, NULL), ==, KVO_OK);
}

static void play(int moment, int what) {
  scene of = {.model = person_new("Ann", 5), .boss = person_new("Bo", 6), .board = board_new(), .what = what};
  kvo_set_object(of.model, "boss", of.boss);
  if (moment == OLDER) {
    add_observer(&of, "boss.name");
    add_observer(&of, "friends");
  }
  of.binding = kvo_glib_bind_full(
      of.model, "boss.name", of.board, "text", G_BINDING_BIDIRECTIONAL | G_BINDING_SYNC_CREATE,
      moment == TO ? destroy_in_transform : NULL, moment == FROM ? destroy_in_transform : NULL, &of, NULL);
  if (of.binding != NULL) g_object_ref(of.binding); /* NULL if the transform has ended it */
  if (of.is_done && what == BINDING) return;
  of.wrapper = of.model != NULL ? kvo_glib_wrap(of.model) : NULL;
  of.list = of.model != NULL ? kvo_glib_list_model(of.model, "friends") : NULL;
  GObject *item = NULL;
  kvo_object *friend = person_new("friend", 1);
  if (moment == TARGET && of.board != NULL)
    g_signal_connect(of.board, "notify::text", G_CALLBACK(destroy_in_notify), &of);
  if (moment == NOTIFY && of.wrapper != NULL)
    g_signal_connect(of.wrapper, "notify", G_CALLBACK(destroy_in_notify), &of);
  if (moment == ITEMS && of.list != NULL)
    g_signal_connect(of.list, "items-changed", G_CALLBACK(destroy_in_items_changed), &of);
  if (moment == NEWER && of.model != NULL) {
    add_observer(&of, "boss.name");
    add_observer(&of, "friends");
  }
  if (moment == BEFORE) destroy(&of);
  if (of.boss != NULL) person_set_name(of.boss, "Bob");
  if (of.board != NULL) g_object_set(of.board, "text", "entered", NULL);
  if (of.model != NULL) person_set_age(of.model, 9);
  if (of.wrapper != NULL) g_object_set(of.wrapper, "name", "Anna", NULL);
  if (of.model != NULL) person_add_friend(of.model, -1, friend);
  if (of.list != NULL) item = g_list_model_get_item(of.list, 0);
  run_ready();
  g_clear_pointer(&of.model, kvo_object_destroy);
  if (of.wrapper != NULL) {
    char *name;
    g_object_get(of.wrapper, "name", &name, NULL);
    g_assert_null(name);
  }
  if (of.list != NULL) g_assert_cmpuint(g_list_model_get_n_items(of.list), ==, 0);
  g_clear_pointer(&of.boss, kvo_object_destroy);
  kvo_object_destroy(friend);
  if (item != NULL) g_object_unref(item);
  g_clear_object(&of.board);
  g_clear_object(&of.wrapper);
  g_clear_object(&of.list);
  run_ready();
  if (of.binding != NULL) {
    g_assert_cmpint(G_OBJECT(of.binding)->ref_count, ==, 1);
    g_object_unref(of.binding);
  }
}

static void test_moments(void) {
  for (int moment = 0; moment < MOMENTS; moment++)
    for (int what = 0; what < ENDS; what++) {
      if (moment == TO && what == BINDING) continue; /* it is not known yet */
      play(moment, what);
    }
}

static gboolean unbind_in_transform(GBinding *binding, const GValue *from, GValue *to, gpointer user_data) {
  ++*(int *)user_data;
  kvo_glib_binding_unbind((KvoGlibBinding *)(gpointer)binding);
  return g_value_transform(from, to);
}
static void count_end(gpointer user_data) { *(int *)user_data += 100; }

static void unbind_first(gpointer binding, GObject *target) {
  (void)target;
  kvo_glib_binding_unbind(*(KvoGlibBinding **)binding);
}

static void test_unbound_in_dispose(void) {
  kvo_object *ann = person_new("Ann", 5);
  int calls = 0;
  for (int by_hand = 0; by_hand < 2; by_hand++) {
    Board *board = board_new();
    KvoGlibBinding *of = NULL;
    g_object_weak_ref(G_OBJECT(board), unbind_first, &of); /* called before the binding's own */
    of = kvo_glib_bind_full(ann, "name", board, "text", G_BINDING_BIDIRECTIONAL, NULL, NULL, &calls, count_end);
    g_object_ref(of);
    if (by_hand) g_object_run_dispose(G_OBJECT(board));
    g_object_unref(board);
    g_assert_cmpint(calls, ==, 100 * (by_hand + 1));
    g_assert_cmpint(G_OBJECT(of)->ref_count, ==, 1);
    g_object_unref(of);
  }
  g_assert_false(kvo_object_is_observed(ann));
  kvo_object_destroy(ann);
}

static void enter_text(const kvo_change *change, void *user_data) {
  (void)change;
  g_object_set(((scene *)user_data)->board, "text", "entered", NULL);
}

static void test_destroyed_within_observer(void) {
  scene of = {.model = person_new("Ann", 5), .board = board_new(), .what = MODEL};
  kvo_observer observer = {.struct_size = sizeof observer,
                           .key_path = "age",
                           .options = KVO_ENDS_WITH_OBJECT,
                           .callback = enter_text,
                           .user_data = &of,
                           KVO_HERE};
  g_assert_cmpint(kvo_add_observer(of.model, &observer, NULL), ==, KVO_OK);
  g_assert_nonnull(kvo_glib_bind_full(of.model, "name", of.board, "text", G_BINDING_BIDIRECTIONAL, NULL,
                                      destroy_in_transform, &of, NULL));
  person_set_age(of.model, 6);
  g_assert_true(of.is_done);
  g_object_unref(of.board);
}

static void test_unbound_in_transform(void) {
  kvo_object *ann = person_new("Ann", 5);
  Board *board = board_new();
  int calls = 0;
  g_assert_null(kvo_glib_bind_full(ann, "name", board, "text", G_BINDING_SYNC_CREATE, unbind_in_transform, NULL, &calls,
                                   count_end));
  g_assert_cmpint(calls, ==, 101);
  g_assert_nonnull(kvo_glib_bind_full(ann, "name", board, "text", 0, unbind_in_transform, NULL, &calls, count_end));
  person_set_name(ann, "Bob");
  person_set_name(ann, "Cid");
  g_assert_cmpint(calls, ==, 202);
  char *text;
  g_object_get(board, "text", &text, NULL);
  g_assert_null(text);
  kvo_object_destroy(ann);
  g_object_unref(board);
}

/* The address of an object that is destroyed in its own callback may be another's before the callback has returned. */
static void reuse(GObject *object, GParamSpec *spec, gpointer user_data) {
  kvo_object **model = user_data;
  (void)spec;
  kvo_object_destroy(*model);
  int age = 0;
  g_object_get(object, "age", &age, NULL);
  g_assert_cmpint(age, ==, 0);
  for (int i = 0; i < 20; i++) {
    kvo_object *next = person_new("Next", i);
    GObject *wrapper = kvo_glib_wrap(next);
    g_assert_true(wrapper != object);
    g_object_get(wrapper, "age", &age, NULL);
    g_assert_cmpint(age, ==, i);
    g_object_unref(wrapper);
    if (i == 19)
      *model = next;
    else
      kvo_object_destroy(next);
  }
}
static void test_reused(void) {
  kvo_object *ann = person_new("Ann", 5);
  GObject *wrapper = kvo_glib_wrap(ann);
  gulong handler = g_signal_connect(wrapper, "notify::age", G_CALLBACK(reuse), &ann);
  person_set_age(ann, 8);
  g_signal_handler_disconnect(wrapper, handler);
  GObject *next = kvo_glib_wrap(ann);
  g_assert_true(next != wrapper);
  g_object_unref(next);
  g_object_unref(wrapper);
  kvo_object_destroy(ann);
}

/* Nothing is left of many. */
static void test_many(void) {
  for (int round = 0; round < 200; round++) {
    kvo_object *ann = person_new("Ann", round), *friends[10];
    Board *board = board_new();
    kvo_glib_bind(ann, "name", board, "text", G_BINDING_BIDIRECTIONAL);
    GListModel *model = kvo_glib_list_model(ann, "friends");
    for (int i = 0; i < 10; i++) {
      friends[i] = person_new("friend", i);
      person_add_friend(ann, 0, friends[i]);
      GObject *item = g_list_model_get_item(model, 0);
      person_set_age(friends[i], 3);
      if (i % 2 == 0) g_object_unref(item);
      if (i % 2 == 1)
        g_object_set_data_full(G_OBJECT(board),
                               i == 1   ? "a"
                               : i == 3 ? "b"
                               : i == 5 ? "c"
                               : i == 7 ? "d"
                                        : "e",
                               item, g_object_unref);
    }
    if (round % 2 == 0) g_object_unref(model);
    kvo_object_destroy(ann);
    for (int i = 0; i < 10; i++) kvo_object_destroy(friends[i]);
    g_object_unref(board);
    if (round % 2 == 1) g_object_unref(model);
  }
}

int main(int argc, char **argv) {
  g_test_init(&argc, &argv, NULL);
  g_test_add_func("/lives/either side may be destroyed at each moment", test_moments);
  g_test_add_func("/lives/a binding may be unbound while its target is disposed of", test_unbound_in_dispose);
  g_test_add_func("/lives/a model may be destroyed by a transform while an observer of it runs",
                  test_destroyed_within_observer);
  g_test_add_func("/lives/a binding may be unbound in its transform, and sets nothing then", test_unbound_in_transform);
  g_test_add_func("/lives/an object at the address of one that has died in its callback is another", test_reused);
  g_test_add_func("/lives/nothing is left of many", test_many);
  return g_test_run();
}

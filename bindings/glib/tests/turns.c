/* turns.c - a worker that changes the model all the time, and the main loop, which goes on. */
#include "support.h"

#include <pthread.h>

enum { CHANGES = 2000, REDRAW = G_PRIORITY_HIGH_IDLE + 20 /* of GTK */ };

static kvo_object *owner, *friend;
static int changes, ticks;

static void run(void *(*function)(void *), void *argument) {
  pthread_t thread;
  g_assert_cmpint(pthread_create(&thread, NULL, function, argument), ==, 0);
  pthread_join(thread, NULL);
}

static gboolean tick(gpointer user_data) {
  (void)user_data;
  ticks++;
  return G_SOURCE_CONTINUE;
}

/* Runs the loop until all changes have arrived, and a timeout of each millisecond, which has the priority of a redraw, beside it. */
static void run_loop(void) {
  g_main_context_acquire(NULL);
  ticks = 0;
  guint source = g_timeout_add_full(REDRAW, 1, tick, NULL, NULL);
  while (changes < CHANGES) g_main_context_iteration(NULL, TRUE);
  g_source_remove(source);
  g_main_context_release(NULL);
  g_assert_cmpint(ticks, >=, 10);
}

static void begin(void) {
  owner = person_new("owner", 0);
  friend = person_new("friend", 0);
  changes = 0;
}

static void end(void) {
  kvo_object_destroy(owner);
  kvo_object_destroy(friend);
}

/* --------------------------------------------------------------------------------------------------------------- Lists -- */

static void *insert(void *object) {
  person_add_friend(owner, 0, object);
  return NULL;
}
static void *insert_and_remove(void *object) {
  person_add_friend(owner, 0, object);
  kvo_list_remove(owner, "friends", 0);
  return NULL;
}

static void insert_another(GListModel *model, guint position, guint removed, guint added, gpointer user_data) {
  (void)model, (void)position, (void)removed, (void)added, (void)user_data;
  if (changes++ < CHANGES) run(insert, friend);
}

static void test_list(void) {
  begin();
  g_main_context_acquire(NULL);
  GListModel *model = kvo_glib_list_model(owner, "friends");
  g_signal_connect(model, "items-changed", G_CALLBACK(insert_another), NULL);
  run(insert, friend);
  run_loop();
  run_ready();
  g_assert_cmpuint(g_list_model_get_n_items(model), ==, ((person *)owner)->friends->len);
  g_main_context_release(NULL);
  g_object_unref(model);
  end();
}

static void *insert_many(void *object) {
  for (int i = 0; i < CHANGES; i++) person_add_friend(owner, 0, object);
  return NULL;
}
static void take_long(GListModel *model, guint position, guint removed, guint added, gpointer user_data) {
  (void)model, (void)position, (void)removed, (void)added, (void)user_data;
  changes++;
  g_usleep(50);
}

static void test_backlog(void) {
  begin();
  g_main_context_acquire(NULL);
  GListModel *model = kvo_glib_list_model(owner, "friends");
  g_signal_connect(model, "items-changed", G_CALLBACK(take_long), NULL);
  run(insert_many, friend);
  run_loop();
  g_assert_cmpuint(g_list_model_get_n_items(model), ==, CHANGES);
  g_main_context_release(NULL);
  g_object_unref(model);
  end();
}

/* ------------------------------------------------------------------------------------------------- Bindings, wrappers -- */

static void *rename_owner(void *number) {
  char *name = g_strdup_printf("%d", *(int *)number);
  person_set_name(owner, name);
  g_free(name);
  return NULL;
}
static void rename_again(GObject *object, GParamSpec *spec, gpointer user_data) {
  (void)object, (void)spec, (void)user_data;
  if (changes++ < CHANGES) run(rename_owner, &changes);
}

static void test_binding(void) {
  begin();
  g_main_context_acquire(NULL);
  Board *board = board_new();
  kvo_glib_bind(owner, "name", board, "text", G_BINDING_DEFAULT);
  g_signal_connect(board, "notify::text", G_CALLBACK(rename_again), NULL);
  run(rename_owner, &changes);
  run_loop();
  g_main_context_release(NULL);
  g_object_unref(board);
  end();
}

static void test_wrapper(void) {
  begin();
  g_main_context_acquire(NULL);
  GObject *wrapper = kvo_glib_wrap(owner);
  g_signal_connect(wrapper, "notify::name", G_CALLBACK(rename_again), NULL);
  run(rename_owner, &changes);
  run_loop();
  g_main_context_release(NULL);
  g_object_unref(wrapper);
  end();
}

/* ---------------------------------------------------------------------------------------------- Items that are not there -- */

static void note_types(GListModel *model, guint position, guint removed, guint added, gpointer user_data) {
  (void)removed, (void)user_data;
  for (guint i = 0; i < added; i++) {
    GObject *item = g_list_model_get_item(model, position + i);
    char *name;
    g_object_get(item, "name", &name, NULL);
    note("%s:%s", G_OBJECT_TYPE_NAME(item), name);
    g_free(name);
    g_object_unref(item);
  }
}

static void test_items(void) {
  kvo_class_spec spec = {
      .struct_size = sizeof spec, .name = "Manager", .superclass = person_class(), .instance_size = sizeof(person)};
  kvo_class *manager_class;
  kvo_object *manager, *other;
  g_assert_cmpint(kvo_class_register(&spec, &manager_class), ==, KVO_OK);
  kvo_object_create(manager_class, &manager);
  kvo_object_create(manager_class, &other);
  kvo_set_string(manager, "name", "Meg");
  begin();
  g_main_context_acquire(NULL);
  GListModel *model = kvo_glib_list_model(owner, "friends");
  gulong handler = g_signal_connect(model, "items-changed", G_CALLBACK(note_types), NULL);
  run(insert, manager);
  run(insert_and_remove, other);
  run_ready();
  assert_noted("KvoManager:Meg KvoManager:(null)");
  person_add_friend(owner, 0, NULL);
  kvo_list_remove(owner, "friends", 0);
  person_add_friend(owner, 0, friend); /* of which all are from now on */
  run(insert_and_remove, other);
  run_ready();
  assert_noted("KvoManager:(null) KvoPerson:friend KvoPerson:(null)");
  GListModel *fresh = kvo_glib_list_model(owner, "friends");
  g_signal_connect(fresh, "items-changed", G_CALLBACK(note_types), NULL);
  g_signal_handler_disconnect(model, handler);
  run(insert_and_remove, other); /* the class of what is there */
  run_ready();
  assert_noted("KvoPerson:(null)");
  g_object_unref(fresh);
  kvo_list_remove(owner, "friends", 0);
  kvo_list_remove(owner, "friends", 0);
  g_main_context_release(NULL);
  g_object_unref(model);
  end();
  for (int i = 0; i < 2; i++) {
    person *of = (person *)(i == 0 ? manager : other);
    of->friends = g_ptr_array_new();
    of->tags = g_ptr_array_new();
    kvo_object_destroy(&of->header);
  }
}

int main(int argc, char **argv) {
  g_test_init(&argc, &argv, NULL);
  g_test_add_func("/turns/the loop goes on while a worker changes a list", test_list);
  g_test_add_func("/turns/the loop goes on while many changes of a list are made good", test_backlog);
  g_test_add_func("/turns/the loop goes on while a worker changes what is bound", test_binding);
  g_test_add_func("/turns/the loop goes on while a worker changes what is wrapped", test_wrapper);
  g_test_add_func("/turns/an item that is not there is of the class of the items", test_items);
  return g_test_run();
}

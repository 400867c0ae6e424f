/* threads.c - other threads change the model while the main loop runs. */
#include "support.h"

#include <pthread.h>
#include <stdatomic.h>

enum { CHANGES = 20000 };

/* The model's own lock, which a program with several threads needs: the setters of a Person take none. */
static pthread_mutex_t model_lock = PTHREAD_MUTEX_INITIALIZER;
static pthread_t main_thread;
static _Atomic int done;

static void set_age(kvo_object *object, int age) {
  pthread_mutex_lock(&model_lock);
  person_set_age(object, age);
  pthread_mutex_unlock(&model_lock);
}

static gboolean wake(gpointer data) {
  (void)data;
  return G_SOURCE_REMOVE;
}

static void finish(void) {
  atomic_fetch_add(&done, 1);
  g_main_context_invoke(NULL, wake, NULL);
  g_main_context_wakeup(NULL);
}

static void start(pthread_t *thread, void *(*run)(void *), void *argument) {
  g_assert_cmpint(pthread_create(thread, NULL, run, argument), ==, 0);
}

static void run_until(int count) {
  while (atomic_load(&done) < count) g_main_context_iteration(NULL, TRUE);
  run_ready();
  atomic_store(&done, 0);
}

/* ------------------------------------------------------------------------------------------------------------- Bindings -- */

typedef struct series {
  int last, count;
  gboolean is_ordered;
} series;

static void check_series(GObject *object, GParamSpec *spec, gpointer user_data) {
  series *of = user_data;
  int number;
  g_assert_true(pthread_equal(pthread_self(), main_thread));
  g_object_get(object, spec->name, &number, NULL);
  of->is_ordered &= number >= of->last;
  of->last = number;
  of->count++;
}

static void *count_up(void *object) {
  for (int i = 1; i <= CHANGES; i++) set_age(object, i);
  finish();
  return NULL;
}

static void test_bind(void) {
  kvo_object *ann = person_new("Ann", 0);
  Board *board = board_new();
  series bound = {0, 0, TRUE}, wrapped = bound;
  kvo_glib_bind(ann, "age", board, "number", G_BINDING_SYNC_CREATE);
  GObject *wrapper = kvo_glib_wrap(ann);
  g_signal_connect(board, "notify::number", G_CALLBACK(check_series), &bound);
  gulong handler = g_signal_connect(wrapper, "notify::age", G_CALLBACK(check_series), &wrapped);
  g_signal_handler_block(wrapper, handler); /* it would read the model, which takes no lock */
  pthread_t thread;
  start(&thread, count_up, ann);
  run_until(1);
  pthread_join(thread, NULL);
  g_assert_true(bound.is_ordered);
  g_assert_cmpint(bound.last, ==, CHANGES);
  g_test_message("%d changes of another thread set the target %d times", CHANGES, bound.count);
  g_signal_handler_unblock(wrapper, handler);
  /* Nothing arrives on another thread, and nothing before the context runs. */
  int before = bound.count;
  start(&thread, count_up, ann);
  pthread_join(thread, NULL);
  g_assert_cmpint(bound.count, ==, before);
  person_set_age(ann, CHANGES + 1); /* at once, and what has waited is older */
  g_assert_cmpint(bound.count, ==, before + 1);
  g_assert_cmpint(wrapped.last, ==, CHANGES + 1);
  run_until(1);
  g_assert_cmpint(bound.count, ==, before + 1);
  g_assert_cmpint(wrapped.last, ==, CHANGES + 1);
  g_object_unref(wrapper);
  g_object_unref(board);
  kvo_object_destroy(ann);
}

/* Another thread sets it while a binding reads its first value. */
typedef struct slow {
  kvo_object header;
  int number;
  gboolean is_set;
} slow;

static void slow_set_number(slow *of, int number) { of->number = number; }
static void *set_slow(void *of) {
  g_assert_cmpint(KVO_SET(of, "number", int, 2), ==, KVO_OK);
  return NULL;
}
static int slow_number(slow *of) {
  int number = of->number;
  if (!of->is_set && kvo_object_is_observed(&of->header)) {
    of->is_set = TRUE;
    pthread_t thread;
    start(&thread, set_slow, of);
    pthread_join(thread, NULL);
  }
  return number;
}

typedef struct slow_binding {
  kvo_object *object;
  Board *board;
} slow_binding;
static void *bind_slow(void *binding) {
  const slow_binding *of = binding;
  kvo_glib_bind(of->object, "number", of->board, "number", G_BINDING_SYNC_CREATE);
  return NULL;
}

static void test_changed_while_read(void) {
  kvo_property_spec number = {
      .name = "number", .type = "i", .getter = (kvo_function)slow_number, .setter = (kvo_function)slow_set_number};
  kvo_class_spec spec = {.struct_size = sizeof spec,
                         .name = "Slow",
                         .instance_size = sizeof(slow),
                         .properties = &number,
                         .property_count = 1,
                         .property_size = sizeof number};
  kvo_class *cls;
  kvo_object *object;
  g_assert_cmpint(kvo_class_register(&spec, &cls), ==, KVO_OK);
  g_assert_cmpint(kvo_object_create(cls, &object), ==, KVO_OK);
  for (int i = 0; i < 2; i++) {
    Board *board = board_new();
    slow_binding binding = {object, board};
    ((slow *)object)->is_set = FALSE;
    KVO_SET(object, "number", int, 1);
    if (i == 0) {
      bind_slow(&binding);
    } else {
      pthread_t thread;
      start(&thread, bind_slow, &binding);
      pthread_join(thread, NULL);
    }
    run_ready();
    int shown;
    g_object_get(board, "number", &shown, NULL);
    g_assert_true(((slow *)object)->is_set);
    g_assert_cmpint(shown, ==, 2);
    g_object_unref(board);
  }
  kvo_object_destroy(object);
}

static void *set_names(void *object) {
  for (int i = 0; i < CHANGES / 10; i++) {
    char *name = g_strdup_printf("%d", i);
    pthread_mutex_lock(&model_lock);
    person_set_name(object, name);
    pthread_mutex_unlock(&model_lock);
    g_free(name);
  }
  finish();
  return NULL;
}

/* The target comes and goes while others set the model. */
static void test_targets(void) {
  kvo_object *ann = person_new("Ann", 0);
  pthread_t threads[2];
  for (int i = 0; i < 2; i++) start(&threads[i], set_names, ann);
  int rounds = 0;
  while (atomic_load(&done) < 2 || rounds < 10) {
    Board *board = board_new();
    pthread_mutex_lock(&model_lock);
    KvoGlibBinding *binding = kvo_glib_bind(ann, "name", board, "text", G_BINDING_SYNC_CREATE);
    pthread_mutex_unlock(&model_lock);
    g_main_context_iteration(NULL, FALSE);
    if (rounds++ % 2 == 0) kvo_glib_binding_unbind(binding);
    g_object_unref(board);
  }
  run_until(2);
  for (int i = 0; i < 2; i++) pthread_join(threads[i], NULL);
  run_ready();
  g_assert_false(kvo_object_is_observed(ann));
  kvo_object_destroy(ann);
}

/* Models are destroyed by another thread. */
static kvo_object *shared[64];

static void *destroy_shared(void *unused) {
  (void)unused;
  for (int i = 0; i < 64; i++) {
    person_set_age(shared[i], i);
    kvo_object_destroy(shared[i]);
  }
  finish();
  return NULL;
}

static void test_destroyed(void) {
  for (int round = 0; round < 20; round++) {
    GObject *wrappers[64];
    Board *boards[64];
    GListModel *lists[64];
    for (int i = 0; i < 64; i++) {
      shared[i] = person_new("shared", 0);
      boards[i] = board_new();
      wrappers[i] = kvo_glib_wrap(shared[i]);
      lists[i] = kvo_glib_list_model(shared[i], "friends");
      kvo_glib_bind(shared[i], "name", boards[i], "text", G_BINDING_BIDIRECTIONAL);
    }
    pthread_t thread;
    start(&thread, destroy_shared, NULL);
    while (atomic_load(&done) == 0) {
      for (int i = 0; i < 64; i++) {
        char *name;
        double weight; /* what no thread sets */
        g_object_get(wrappers[i], "name", &name, "weight", &weight, NULL);
        g_free(name);
      }
      g_main_context_iteration(NULL, FALSE);
    }
    pthread_join(thread, NULL);
    run_until(1);
    for (int i = 0; i < 64; i++) {
      g_object_set(boards[i], "text", "later", NULL);
      g_assert_null(kvo_glib_object_get_kvo_object(KVO_GLIB_OBJECT(wrappers[i])));
      g_object_unref(wrappers[i]);
      g_object_unref(boards[i]);
      g_object_unref(lists[i]);
    }
  }
}

/* A wrapper is used while another thread destroys its object, which waits for each use. */
static void *destroy_one(void *object) {
  kvo_object_destroy(object);
  return NULL;
}

static void use_object(kvo_object *object, gpointer board) {
  GListModel *list = kvo_glib_list_model(object, "friends");
  g_assert_cmpuint(g_list_model_get_n_items(list), ==, 1);
  g_object_unref(list);
  GObject *wrapper = kvo_glib_wrap(object);
  g_assert_nonnull(wrapper);
  g_object_unref(wrapper);
  g_assert_nonnull(kvo_glib_bind(object, "name", board, "text", G_BINDING_SYNC_CREATE));
  g_assert_nonnull(kvo_glib_bind(object, "boss.age", board, "number", G_BINDING_BIDIRECTIONAL));
}

static void test_used(void) {
  kvo_object *friend = person_new("friend", 0);
  Board *board = board_new();
  for (int round = 0; round < CHANGES / 40; round++) {
    kvo_object *ann = person_new("Ann", 5);
    person_add_friend(ann, 0, friend);
    GObject *wrapper = kvo_glib_wrap(ann);
    GListModel *list, *last = NULL;
    pthread_t thread;
    start(&thread, destroy_one, ann);
    do {
      g_object_get(wrapper, "friends", &list, NULL);
      if (list != NULL) g_set_object(&last, list);
      g_clear_object(&list);
    } while (kvo_glib_object_call(KVO_GLIB_OBJECT(wrapper), use_object, board));
    pthread_join(thread, NULL);
    run_ready();
    if (last != NULL) g_assert_cmpuint(g_list_model_get_n_items(last), ==, 0);
    g_clear_object(&last);
    g_object_unref(wrapper);
  }
  g_object_unref(board);
  kvo_object_destroy(friend);
}

/* ----------------------------------------------------------------------------------------------------------------- Lists -- */

/* Inserts and removes, and destroys what it has removed. */
static void *edit(void *owner) {
  GRand *random = g_rand_new_with_seed(11);
  for (int i = 0; i < CHANGES / 4; i++) {
    guint count = ((person *)owner)->friends->len;
    if (count < 20 || g_rand_boolean(random)) {
      person_add_friend(owner, g_rand_int_range(random, 0, (gint)count + 1), person_new("friend", i));
    } else {
      guint at = (guint)g_rand_int_range(random, 0, (gint)count);
      kvo_object *friend = ((person *)owner)->friends->pdata[at];
      kvo_list_remove(owner, "friends", at);
      kvo_object_destroy(friend);
    }
  }
  g_rand_free(random);
  finish();
  return NULL;
}

static void mirror(GListModel *model, guint position, guint removed, guint added, gpointer user_data) {
  GPtrArray *items = user_data;
  g_assert_true(pthread_equal(pthread_self(), main_thread));
  g_assert_cmpuint(position + removed, <=, items->len);
  if (removed != 0) g_ptr_array_remove_range(items, position, removed);
  for (guint i = 0; i < added; i++)
    g_ptr_array_insert(items, (gint)(position + i), g_list_model_get_item(model, position + i));
  g_assert_cmpuint(items->len, ==, g_list_model_get_n_items(model));
}

static void test_list(void) {
  kvo_object *owner = person_new("owner", 0);
  GListModel *model = kvo_glib_list_model(owner, "friends");
  GPtrArray *items = g_ptr_array_new_with_free_func(g_object_unref);
  g_signal_connect(model, "items-changed", G_CALLBACK(mirror), items);
  pthread_t thread;
  start(&thread, edit, owner);
  while (atomic_load(&done) == 0) {
    g_main_context_iteration(NULL, FALSE);
    for (guint i = 0; i < MIN(items->len, 5); i++) {
      GObject *item = g_list_model_get_item(model, i); /* perhaps of an object that has been destroyed */
      g_assert_true(KVO_GLIB_IS_OBJECT(item));
      g_object_unref(item);
    }
  }
  run_until(1);
  pthread_join(thread, NULL);
  GPtrArray *friends = ((person *)owner)->friends;
  g_assert_cmpuint(g_list_model_get_n_items(model), ==, friends->len);
  for (guint i = 0; i < friends->len; i++) {
    gpointer item = g_list_model_get_item(model, i);
    g_assert_true(kvo_glib_object_get_kvo_object(item) == friends->pdata[i]);
    g_object_unref(item);
  }
  g_signal_handlers_disconnect_by_data(model, items);
  g_ptr_array_unref(items);
  GPtrArray *left = g_ptr_array_ref(friends);
  kvo_object_destroy(owner);
  for (guint i = 0; i < left->len; i++) kvo_object_destroy(left->pdata[i]);
  g_ptr_array_unref(left);
  g_object_unref(model);
}

/* Wrappers of one object, made and dropped by several threads. */
static void *wrap_often(void *object) {
  for (int i = 0; i < CHANGES; i++) {
    GObject *one = kvo_glib_wrap(object), *other = kvo_glib_wrap(object);
    g_assert_true(one == other);
    g_object_unref(one);
    g_object_unref(other);
  }
  finish();
  return NULL;
}

static void test_wrap(void) {
  kvo_object *ann = person_new("Ann", 0);
  pthread_t threads[3];
  for (int i = 0; i < 3; i++) start(&threads[i], wrap_often, ann);
  run_until(3);
  for (int i = 0; i < 3; i++) pthread_join(threads[i], NULL);
  g_assert_false(kvo_object_is_observed(ann));
  kvo_object_destroy(ann);
}

/* A context of another thread gets what belongs to it. */
static void *run_context(void *argument) {
  GMainContext *context = g_main_context_new();
  g_main_context_push_thread_default(context);
  Board *board = board_new();
  kvo_glib_bind(argument, "age", board, "number", G_BINDING_SYNC_CREATE);
  int number = 0;
  finish();
  while (number != 77) {
    g_main_context_iteration(context, TRUE);
    g_object_get(board, "number", &number, NULL);
  }
  g_object_unref(board);
  g_main_context_pop_thread_default(context);
  g_main_context_unref(context);
  return NULL;
}

static void test_context(void) {
  kvo_object *ann = person_new("Ann", 0);
  pthread_t thread;
  start(&thread, run_context, ann);
  run_until(1);
  person_set_age(ann, 76);
  person_set_age(ann, 77);
  pthread_join(thread, NULL);
  kvo_object_destroy(ann);
}

/* An object that another thread sets is wrapped for the context of the binding, whatever that thread's is. */
static void *set_boss(void *object) {
  GMainContext *context = g_main_context_new();
  g_main_context_push_thread_default(context);
  kvo_set_object(object, "boss", shared[0]);
  g_main_context_pop_thread_default(context);
  g_main_context_unref(context);
  finish();
  return NULL;
}

static void test_wrapped_elsewhere(void) {
  kvo_object *ann = person_new("Ann", 0);
  shared[0] = person_new("Bo", 1);
  Board *board = board_new();
  kvo_glib_bind(ann, "boss", board, "object", 0);
  pthread_t thread;
  start(&thread, set_boss, ann);
  run_until(1);
  pthread_join(thread, NULL);
  run_ready();
  GObject *boss;
  g_object_get(board, "object", &boss, NULL);
  series ages = {0, 0, TRUE};
  g_signal_connect(boss, "notify::age", G_CALLBACK(check_series), &ages);
  person_set_age(shared[0], 5);
  g_assert_cmpint(ages.count, ==, 1);
  g_object_unref(boss);
  g_object_unref(board);
  kvo_object_destroy(ann);
  kvo_object_destroy(shared[0]);
}

int main(int argc, char **argv) {
  g_test_init(&argc, &argv, NULL);
  main_thread = pthread_self();
  g_test_add_func("/threads/changes of another thread arrive on the context, in order, and the last one does",
                  test_bind);
  g_test_add_func("/threads/a change made while a binding reads its first value arrives", test_changed_while_read);
  g_test_add_func("/threads/targets come and go while others set the model", test_targets);
  g_test_add_func("/threads/another thread destroys the models", test_destroyed);
  g_test_add_func("/threads/a wrapper is used while another thread destroys its object", test_used);
  g_test_add_func("/threads/a list is edited by another thread, which destroys what it removes", test_list);
  g_test_add_func("/threads/several threads get one wrapper", test_wrap);
  g_test_add_func("/threads/a binding belongs to the context of the thread that makes it", test_context);
  g_test_add_func("/threads/an object that another thread sets is wrapped for the context of the binding",
                  test_wrapped_elsewhere);
  return g_test_run();
}

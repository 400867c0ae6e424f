/* keeps.c - the wrappers that wrappers keep: those of the objects that their properties have. */
#include "support.h"

#include <pthread.h>

static kvo_object *ann, *bo, *cy;

static void begin(void) {
  ann = person_new("Ann", 5);
  bo = person_new("Bo", 50);
  cy = person_new("Cy", 51);
  kvo_set_object(ann, "boss", bo);
}

static void end(void) {
  kvo_object_destroy(ann);
  if (bo != NULL) kvo_object_destroy(bo);
  kvo_object_destroy(cy);
}

/* Reads the boss, as an expression does, notes its name when that changes, and lets go of it. */
static void follow_boss(GObject *wrapper) {
  GObject *boss;
  g_object_get(wrapper, "boss", &boss, NULL);
  g_signal_connect(boss, "notify::name", G_CALLBACK(note_notify), NULL);
  g_object_unref(boss);
}

static void test_kept(void) {
  begin();
  GObject *wrapper = kvo_glib_wrap(ann);
  follow_boss(wrapper);
  person_set_name(bo, "Bob");
  kvo_set_object(ann, "boss", bo); /* the same one */
  person_set_name(bo, "Rob");
  assert_noted("name=\"Bob\" name=\"Rob\"");
  kvo_set_object(ann, "boss", cy);
  person_set_name(bo, "Tom");
  assert_noted("");
  follow_boss(wrapper);
  person_set_name(cy, "Cyd");
  assert_noted("name=\"Cyd\"");
  g_object_unref(wrapper);
  g_assert_false(kvo_object_is_observed(cy));
  end();
}

static void watch(kvo_object *of, gpointer *pointer) {
  GObject *wrapper = kvo_glib_wrap(of);
  *pointer = wrapper;
  g_object_add_weak_pointer(wrapper, pointer);
  g_object_unref(wrapper);
}

static void read_boss(kvo_object *of) {
  GObject *wrapper = kvo_glib_wrap(of), *boss;
  g_object_get(wrapper, "boss", &boss, NULL);
  g_clear_object(&boss);
  g_object_unref(wrapper);
}

static void test_released(void) {
  gpointer left;
  begin();
  GObject *wrapper = kvo_glib_wrap(ann);
  read_boss(ann);
  watch(bo, &left);
  g_assert_nonnull(left);
  kvo_set_object(ann, "boss", NULL);
  g_assert_null(left);

  kvo_set_object(ann, "boss", bo);
  read_boss(ann);
  watch(bo, &left);
  ((person *)ann)->boss = cy; /* nobody is notified: the next one who reads it sees */
  read_boss(ann);
  g_assert_null(left);

  watch(cy, &left);
  g_assert_nonnull(left);
  g_object_unref(wrapper);
  g_assert_null(left);

  wrapper = kvo_glib_wrap(ann);
  read_boss(ann);
  watch(cy, &left);
  kvo_object_destroy(ann);
  g_assert_null(left);
  g_object_unref(wrapper);
  ann = person_new("Ann", 5);

  kvo_set_object(ann, "boss", bo);
  wrapper = kvo_glib_wrap(ann);
  read_boss(ann);
  kvo_object_destroy(bo);
  bo = NULL;
  ((person *)ann)->boss = NULL;
  read_boss(ann);
  g_object_unref(wrapper);
  end();
}

static void test_cycle(void) {
  gpointer left[3];
  begin();
  kvo_object *all[] = {ann, bo, cy};
  kvo_set_object(bo, "boss", cy);
  kvo_set_object(cy, "boss", ann);
  for (int round = 0; round < 6; round++) {
    GObject *wrapper = kvo_glib_wrap(all[round % 3]);
    for (int i = 0; i < 3; i++) read_boss(all[(round + (round < 3 ? i : 6 - i)) % 3]);
    for (int i = 0; i < 3; i++) watch(all[i], &left[i]);
    g_object_unref(wrapper);
    for (int i = 0; i < 3; i++) {
      g_assert_null(left[i]);
      g_assert_false(kvo_object_is_observed(all[i]));
    }
  }
  kvo_set_object(ann, "boss", ann);
  read_boss(ann);
  g_assert_false(kvo_object_is_observed(ann));
  end();
}

/* The wrappers of a long chain are released one after the other, not one in the other. */
static void test_chain(void) {
  enum { LENGTH = 30000 };
  kvo_object **all = g_new(kvo_object *, LENGTH);
  for (int i = 0; i < LENGTH; i++) {
    all[i] = person_new("one", i);
    if (i != 0) kvo_set_object(all[i - 1], "boss", all[i]);
  }
  GObject *first = kvo_glib_wrap(all[0]), *wrapper = g_object_ref(first);
  for (int i = 0; i < LENGTH; i++) {
    GObject *next;
    g_object_get(wrapper, "boss", &next, NULL);
    g_object_unref(wrapper);
    wrapper = next;
  }
  g_assert_null(wrapper);
  g_assert_true(kvo_object_is_observed(all[LENGTH - 1]));
  g_object_unref(first);
  g_assert_false(kvo_object_is_observed(all[LENGTH - 1]));
  for (int i = 0; i < LENGTH; i++) kvo_object_destroy(all[i]);
  g_free(all);
}

/* ------------------------------------------------------------------------------------------------------------ Threads -- */

/* Who sets the boss and who reads it need one, as everywhere in KVO. */
static pthread_mutex_t boss_lock = PTHREAD_MUTEX_INITIALIZER;

static GObject *locked_boss(GObject *wrapper) {
  GObject *boss;
  pthread_mutex_lock(&boss_lock);
  g_object_get(wrapper, "boss", &boss, NULL);
  pthread_mutex_unlock(&boss_lock);
  return boss;
}

static gpointer keeps_change(gpointer data) {
  for (int i = 0; i < 300; i++) {
    pthread_mutex_lock(&boss_lock);
    kvo_set_object(ann, "boss", i % 3 == 0 ? NULL : i % 3 == 1 ? bo : cy);
    pthread_mutex_unlock(&boss_lock);
    person_set_name(bo, "B");
  }
  g_atomic_int_set((gint *)data, TRUE);
  return NULL;
}

static gint thread_is_elsewhere;
static void follow_on(GObject *wrapper, GParamSpec *spec, gpointer self) {
  (void)spec;
  if (g_thread_self() != self) g_atomic_int_set(&thread_is_elsewhere, TRUE);
  GObject *boss = locked_boss(wrapper);
  g_clear_object(&boss);
}
static void closed_on(gpointer self, GClosure *closure) {
  (void)closure;
  if (g_thread_self() != self) g_atomic_int_set(&thread_is_elsewhere, TRUE);
}
static void nothing(void) {}

static void test_thread(void) {
  begin();
  gint is_done = FALSE;
  g_main_context_acquire(NULL);
  GObject *wrapper = kvo_glib_wrap(ann);
  g_signal_connect(wrapper, "notify::boss", G_CALLBACK(follow_on), g_thread_self());
  GThread *thread = g_thread_new("changes", keeps_change, &is_done);
  while (!g_atomic_int_get(&is_done)) {
    g_main_context_iteration(NULL, FALSE);
    GObject *boss = locked_boss(wrapper);
    if (boss != NULL)
      g_signal_connect_data(boss, "notify::name", G_CALLBACK(nothing), g_thread_self(), closed_on, G_CONNECT_SWAPPED);
    g_clear_object(&boss);
  }
  g_thread_join(thread);
  run_ready();
  g_object_unref(wrapper);
  run_ready();
  g_main_context_release(NULL);
  g_assert_false(g_atomic_int_get(&thread_is_elsewhere));
  g_assert_false(kvo_object_is_observed(bo));
  end();
}

int main(int argc, char **argv) {
  g_test_init(&argc, &argv, NULL);
  g_test_add_func("/keeps/the object of a property can be followed as long as the property has it", test_kept);
  g_test_add_func("/keeps/a wrapper is released with the property, with the wrapper and with the object",
                  test_released);
  g_test_add_func("/keeps/objects that refer to each other are released", test_cycle);
  g_test_add_func("/keeps/a chain of thirty thousand objects is released", test_chain);
  g_test_add_func("/keeps/another thread changes the property, and handlers stay on the context's", test_thread);
  return g_test_run();
}

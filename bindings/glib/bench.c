/* bench.c - what a binding, a list and a wrapper cost beside GLib's own. Prints a line for each bar; times vary, so a missed one is no
 * failure. */
#include "tests/support.h"

#include <malloc.h>
#include <stdio.h>

enum { ROUNDS = 80 };

static double best[2];

static double now(void) { return (double)g_get_monotonic_time() * 1000; }

/* The best of several rounds of both, in turns: nanoseconds for one. */
static void measure(void (*one)(int count), void (*other)(int count), int count) {
  best[0] = best[1] = 1e18;
  for (int round = 0; round < ROUNDS; round++) {
    void (*runs[2])(int) = {one, other};
    for (int i = 0; i < 2; i++) {
      double start = now();
      runs[i](count);
      best[i] = MIN(best[i], (now() - start) / count);
    }
  }
}

static void bar(const char *what, double is, const char *unit, double at_most) {
  gboolean is_met = is <= at_most;
  printf("%-58s %7.2f %-5s at most %5.2f  %s\n", what, is, unit, at_most, is_met ? "met" : "MISSED");
}

static void compare(const char *what, double at_most) {
  char text[128];
  snprintf(text, sizeof text, "%s (%.0f ns / %.0f ns)", what, best[0], best[1]);
  bar(text, best[0] / best[1], "", at_most);
}

/* --------------------------------------------------------------------------------------------------------------- Bindings -- */

static kvo_object *model;
static Board *source;
static const kvo_property *age;

static void set_kvo(int count) {
  for (int i = 0; i < count; i++) kvo_object_store(model, age, &i);
}
static void set_glib(int count) {
  for (int i = 0; i < count; i++) g_object_set(source, "number", i, NULL);
}
static void set_kvo_text(int count) {
  for (int i = 0; i < count; i++) kvo_set_string(model, "name", i % 2 == 0 ? "one text" : "another text");
}
static void set_glib_text(int count) {
  for (int i = 0; i < count; i++) g_object_set(source, "text", i % 2 == 0 ? "one text" : "another text", NULL);
}

static void bench_bind(void) {
  model = person_new("Ann", 5);
  source = board_new();
  Board *board = board_new(), *other = board_new();
  age = kvo_class_property(person_class(), "age");
  kvo_glib_bind(model, "age", board, "number", 0);
  g_object_bind_property(source, "number", other, "number", 0);
  measure(set_kvo, set_glib, 10000);
  compare("bind / GBinding, an int", 0.7);
  kvo_glib_bind(model, "name", board, "text", 0);
  g_object_bind_property(source, "text", other, "text", 0);
  measure(set_kvo_text, set_glib_text, 10000);
  compare("bind / GBinding, a text", 0.7);
  g_object_unref(board);
  g_object_unref(other);
  g_object_unref(source);
  kvo_object_destroy(model);
}

/* ----------------------------------------------------------------------------------------------------------------- Lists -- */

enum { ROWS = 10000 };

static kvo_object *rows[ROWS];
static gpointer wrappers[ROWS];
static kvo_object *owner;
static GListStore *store;
static GListModel *list;
static guint (*place)(guint count);

static guint at_end(guint count) { return count; }
static guint at_random(guint count) {
  static guint32 seed = 1;
  seed = seed * 1664525 + 1013904223;
  return (guint)(((guint64)seed * (count + 1)) >> 32);
}

static void insert_kvo(int count) {
  for (int i = 0; i < count; i++) kvo_list_insert(owner, "friends", place((guint)i), KVO_VALUE(kvo_object *, rows[i]));
  g_ptr_array_set_size(((person *)owner)->friends, 0);
  kvo_will_change(owner, "friends");
  kvo_did_change(owner, "friends");
}
static void insert_glib(int count) {
  for (int i = 0; i < count; i++) g_list_store_insert(store, place((guint)i), wrappers[i]);
  g_list_store_remove_all(store);
}

static void bench_lists(void) {
  owner = person_new("owner", 0);
  store = g_list_store_new(KVO_GLIB_TYPE_OBJECT);
  list = kvo_glib_list_model(owner, "friends");
  for (int i = 0; i < ROWS; i++) {
    rows[i] = person_new("row", i);
    wrappers[i] = kvo_glib_wrap(rows[i]);
  }
  place = at_end;
  measure(insert_kvo, insert_glib, ROWS);
  compare("list insert / GListStore, at the end", 1.2);
  place = at_random; /* the program's own array moves its elements, too */
  measure(insert_kvo, insert_glib, ROWS);
  double with_model = best[0], with_store = best[1];
  g_clear_object(&list);
  measure(insert_kvo, insert_glib, ROWS);
  printf("  anywhere in up to 10 000: %.0f ns, of which %.0f ns without the model\n", with_model, best[0]);
  best[0] = with_model - best[0];
  best[1] = with_store;
  compare("what the model adds / GListStore, anywhere", 1.2);
  g_object_unref(store);
  kvo_object_destroy(owner);
  for (int i = 0; i < ROWS; i++) {
    g_object_unref(wrappers[i]);
    kvo_object_destroy(rows[i]);
  }
}

/* -------------------------------------------------------------------------------------------------------------- Wrappers -- */

static size_t used(void) {
  struct mallinfo2 info = mallinfo2();
  return info.uordblks + info.hblkhd;
}

static size_t runtime;
static void *count_allocate(size_t size, void *arg) {
  (void)arg;
  size_t *memory = malloc(size + 16);
  if (memory == NULL) return NULL;
  memory[0] = malloc_usable_size(memory) + 8;
  runtime += memory[0];
  return memory + 2;
}
static void count_release(void *memory, void *arg) {
  (void)arg;
  if (memory == NULL) return;
  size_t *begin = (size_t *)memory - 2;
  runtime -= begin[0];
  free(begin);
}

/* Objects of this library and of GLib: what the runtime takes for the observations is counted apart. */
static void bench_wrappers(void) {
  static gpointer plain[ROWS];
  g_object_unref(board_new());
  kvo_object *first = person_new("first", 0);
  GObject *wrapper = kvo_glib_wrap(first);
  size_t before = used();
  for (int i = 0; i < ROWS; i++) plain[i] = g_object_new(G_TYPE_OBJECT, NULL);
  double plain_bytes = (double)(used() - before) / ROWS;
  for (int i = 0; i < ROWS; i++) rows[i] = person_new("row", i);
  size_t before_runtime = runtime;
  before = used();
  double start = now();
  for (int i = 0; i < ROWS; i++) wrappers[i] = kvo_glib_wrap(rows[i]);
  double time = (now() - start) / ROWS;
  double own = (double)(used() - before - (runtime - before_runtime)) / ROWS;
  bar("a wrapper beyond a plain GObject", own - plain_bytes, "bytes", 64);
  printf("  the runtime's, for the death and 5 observed keys: %.0f bytes; to make one %.0f ns\n",
         (double)(runtime - before_runtime) / ROWS, time);
  start = now();
  for (int i = 0; i < ROWS; i++) g_object_unref(wrappers[i]);
  printf("  to drop one %.0f ns\n", (now() - start) / ROWS);
  for (int i = 0; i < ROWS; i++) {
    kvo_object_destroy(rows[i]);
    g_object_unref(plain[i]);
  }
  g_object_unref(wrapper);
  kvo_object_destroy(first);
}

int main(void) {
  g_main_context_acquire(NULL); /* as the main loop does */
  kvo_set_allocator(count_allocate, count_release, NULL);
  bench_wrappers();
  bench_bind();
  bench_lists();
  return 0;
}
